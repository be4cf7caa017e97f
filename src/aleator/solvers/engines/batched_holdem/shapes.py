"""Betting shapes: the betting of one round as flat arrays, with the amounts left out.

Games whose betting has the same structure share a shape, and with it arrays and kernels; what differs, the pot and the
stacks, is
data: a row of stakes per game. A *stake* is what the loser of a terminal loses in the zero-sum form: half of the pot at
the root plus the chips that this round has matched, in pots of the root. A leaf of stake s is a pot of 2 s.

Nodes are in sibling order: the children of a decision are numbered consecutively. Every node but the root is an action
of the decision above it, so that *row* r (of regrets, of policies, of reach) belongs to node r + 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.caching import cache
from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind

DECISION: Final = 0
FOLD: Final = 1
SHOWDOWN: Final = 2
LEAF: Final = 3  # the round is over, the next card has not come

_KINDS: Final = {
    NodeKind.DECISION: DECISION,
    NodeKind.FOLD: FOLD,
    NodeKind.SHOWDOWN: SHOWDOWN,
    NodeKind.NEXT_STREET: LEAF,
}


@dataclass(frozen=True)
class BettingShape:
    """The structure of one betting round; equal shapes are equal values, so that a shape is its own signature.

    Attributes:
        kind: [N] DECISION, FOLD, SHOWDOWN or LEAF.
        player: [N] who acts at a decision, who has folded at a fold, -1 elsewhere.
        parent: [N] the decision above; -1 at the root.
        stake: [N] which of the game's stakes is lost here; -1 at decisions.
    """

    kind: tuple[int, ...]
    player: tuple[int, ...]
    parent: tuple[int, ...]
    stake: tuple[int, ...]

    @property
    def num_nodes(self) -> int:
        """N, the root included."""
        return len(self.kind)

    @property
    def num_rows(self) -> int:
        """How many actions there are at all decisions together."""
        return len(self.kind) - 1

    @cached_property
    def num_stakes(self) -> int:
        """K, how many different stakes a game has."""
        return max(self.stake) + 1

    @cached_property
    def children(self) -> tuple[range, ...]:
        """The nodes below each node, consecutive; empty at terminals and leaves."""
        first: dict[int, int] = {}
        count: dict[int, int] = {}
        for node, parent in enumerate(self.parent):
            first.setdefault(parent, node)
            count[parent] = count.get(parent, 0) + 1
        return tuple(range(first.get(n, 0), first.get(n, 0) + count.get(n, 0)) for n in range(self.num_nodes))

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The nodes where the round ends before a card."""
        return tuple(node for node, kind in enumerate(self.kind) if kind == LEAF)

    @cached_property
    def decisions(self) -> tuple[int, ...]:
        """The nodes where somebody acts, parents first."""
        return tuple(node for node, kind in enumerate(self.kind) if kind == DECISION)

    def rows(self, node: int) -> slice:
        """Returns the rows of a decision's actions."""
        below = self.children[node]
        return slice(below.start - 1, below.stop - 1)


class Betting(NamedTuple):
    """A shape and the stakes of one game: `constant + slope * stack`, all in pots of the root.

    Attributes:
        shape: the structure.
        constant, slope: [K].
        above, up_to: the stacks (in pots) for which menu and shape agree, an interval open below.
    """

    shape: BettingShape
    constant: FloatArray
    slope: FloatArray
    above: float
    up_to: float

    def stakes(self, stacks: npt.ArrayLike) -> FloatArray:
        """Returns [B, K]: the stakes of games with these stacks [B]."""
        return self.constant + self.slope * np.asarray(stacks, dtype=np.float64)[:, None]


def betting_of(root: BettingNode, pot: int) -> tuple[BettingShape, FloatArray]:
    """Returns the shape of a tree of one round and its stakes [K] in pots.

    Args:
        root: `build_tree(..., one_street=True)`, or a river's tree.
        pot: chips in the middle at the root, at least 1.
    """
    if pot < 1:
        raise SolveError(f"stakes are fractions of the pot, which must be at least 1, not {pot}")
    nodes, parents = [root], [-1]
    kinds: list[int] = []
    players, stakes = [], []
    amounts: dict[int, int] = {}

    def visit(number: int) -> None:
        node = nodes[number]
        below = node.children if node.kind is NodeKind.DECISION else ()
        first = len(nodes)
        nodes.extend(below)
        parents.extend([number] * len(below))
        for child in range(first, first + len(below)):
            visit(child)

    visit(0)
    for node in nodes:
        kinds.append(_KINDS[node.kind])
        players.append(node.player)
        ends = node.kind is not NodeKind.DECISION
        stakes.append(amounts.setdefault(min(node.chips), len(amounts)) if ends else -1)
    shape = BettingShape(tuple(kinds), tuple(players), tuple(parents), tuple(stakes))
    return shape, 0.5 + np.array(list(amounts), dtype=np.float64) / pot


@dataclass(frozen=True, slots=True, kw_only=True)
class PotMenu:
    """Bets in fractions of the pot, and always all-in.

    Attributes:
        bets: openings.
        raises: raises, as fractions of the pot after the call.
        most: how many bets and raises below all-in a line may have; then only all-in is left.
        to_showdown: whether the round ends in a showdown (the river) or before a card.
        blinds: whether it is the round before the flop: player 1 acts first and has put in half of what player 0 has.
            Pots and stacks are then counted from the big blind on: the pot is two of them, the stack what lies behind
            one.
    """

    bets: tuple[float, ...] = (1.0,)
    raises: tuple[float, ...] = (1.0,)
    most: int = 3
    to_showdown: bool = True
    blinds: bool = False

    def __post_init__(self) -> None:
        if any(not 0.0 < size < inf for size in (*self.bets, *self.raises)):
            raise SolveError(f"bet sizes must be positive fractions of the pot, not {(*self.bets, *self.raises)}")
        if self.most < 0:
            raise SolveError(f"the number of bets below all-in must be at least 0, not {self.most}")
        if self.blinds and self.to_showdown:
            raise SolveError("the round with the blinds ends before the flop: to_showdown must be False")

    def betting(self, stack: float) -> Betting:
        """Returns the betting with a stack of so many pots: bets that would take all of it are the all-in."""
        if not 0.0 < stack < inf:
            raise SolveError(f"a stack must be a positive number of pots, not {stack}")
        return _build(self, stack)

    def split(self, stacks: FloatArray) -> Iterator[tuple[Betting, npt.NDArray[np.int64]]]:
        """Yields each betting that occurs among games with these stacks [B], and the games' numbers."""
        left = np.arange(len(stacks))
        while len(left):
            betting = self.betting(float(stacks[left[0]]))
            inside = (stacks[left] > betting.above) & (stacks[left] <= betting.up_to)
            yield betting, left[inside]
            left = left[~inside]


@cache
def _interval(menu: PotMenu, above: float, up_to: float) -> tuple[BettingShape, FloatArray, FloatArray]:
    """Returns shape, constants and slopes for stacks in an interval; built once."""
    builder = _Builder(menu, up_to if up_to < inf else 2 * above + 1)
    builder.build()
    return builder.shape(), np.array(builder.constants), np.array(builder.slopes)


def _build(menu: PotMenu, stack: float) -> Betting:
    amounts = _bet_amounts(menu)
    above = max((x for x in amounts if x < stack), default=0.0)
    up_to = min((x for x in amounts if x >= stack), default=inf)
    return Betting(*_interval(menu, above, up_to), above, up_to)


@cache
def _bet_amounts(menu: PotMenu) -> frozenset[float]:
    """Returns every bet below all-in that lines of the menu can have: where the shape changes with the stack."""
    amounts: set[float] = set()
    lines = list(menu.bets) if menu.most else []
    for level in range(1, menu.most + 1):
        amounts.update(lines)
        lines = [_raised(x, size) for x in lines for size in menu.raises] if level < menu.most else []
    return frozenset(amounts)


def _raised(faced: float, size: float) -> float:
    """Returns the raise-to of a raise by a fraction of the pot after the call, in pots of the root."""
    return round(faced + size * (1.0 + 2.0 * faced), 9)


class _Builder:
    """Grows the betting round of a menu in sibling order for one stack."""

    def __init__(self, menu: PotMenu, stack: float) -> None:
        self.menu, self.stack = menu, stack
        self.kinds, self.players, self.parents, self.stakes = [DECISION], [0], [-1], [-1]
        self.constants: list[float] = []
        self.slopes: list[float] = []
        self.known: dict[float, int] = {}

    def shape(self) -> BettingShape:
        return BettingShape(tuple(self.kinds), tuple(self.players), tuple(self.parents), tuple(self.stakes))

    def build(self) -> None:
        """Opens the round: player 0 checks or bets; before the flop player 1 folds, calls or raises."""
        if self.menu.blinds:
            self.players[0] = 1
            self._small_blind()
        else:
            self._opening(0, 0, checked=False)

    def _small_blind(self) -> None:
        """Half a big blind is a quarter of the pot of two; who calls it leaves the other a check."""
        self._add(0, FOLD, 1, -0.25)
        call = self._add(0, DECISION, 0, None)
        bets = self._bets(self.menu.bets, 0)
        places = [self._add(0, DECISION, 0, None) for _ in bets]
        self._opening(call, 0, checked=True)
        for child, bet in zip(places, bets, strict=True):
            self._facing(child, 0, bet, 0.0, 1)

    def _stake(self, amount: float) -> int:
        if amount not in self.known:
            self.known[amount] = len(self.constants)
            self.constants.append(0.5 + (0.0 if amount == inf else amount))
            self.slopes.append(1.0 if amount == inf else 0.0)
        return self.known[amount]

    def _add(self, parent: int, kind: int, player: int, amount: float | None) -> int:
        self.kinds.append(kind)
        self.players.append(player)
        self.parents.append(parent)
        self.stakes.append(-1 if amount is None else self._stake(amount))
        return len(self.kinds) - 1

    def _bets(self, sizes: Sequence[float], level: int) -> list[float]:
        """Returns bets below all-in, and inf for all-in; `level` bets have been made."""
        if level == self.menu.most:
            return [inf]
        return [*sorted({x for x in sizes if x < self.stack}), inf]

    def _opening(self, node: int, player: int, *, checked: bool) -> None:
        end = SHOWDOWN if self.menu.to_showdown else LEAF
        check = self._add(node, end if checked else DECISION, -1 if checked else 1 - player, 0.0 if checked else None)
        bets = self._bets(self.menu.bets, 0)
        places = [self._add(node, DECISION, 1 - player, None) for _ in bets]
        if not checked:
            self._opening(check, 1 - player, checked=True)
        for child, bet in zip(places, bets, strict=True):
            self._facing(child, 1 - player, bet, 0.0, 1)

    def _facing(self, node: int, player: int, bet: float, own: float, level: int) -> None:
        self._add(node, FOLD, player, own)
        self._add(node, SHOWDOWN if self.menu.to_showdown else LEAF, -1, bet)
        if bet == inf:
            return
        raises = self._bets([_raised(bet, size) for size in self.menu.raises], level)
        places = [self._add(node, DECISION, 1 - player, None) for _ in raises]
        for child, to in zip(places, raises, strict=True):
            self._facing(child, 1 - player, to, bet, level + 1)
