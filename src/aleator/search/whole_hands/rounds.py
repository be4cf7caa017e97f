"""The rest of a betting round of a whole hand: what is solved, and what comes back.

A *round* begins at a decision of a `HandState`, at the start of a street or in the middle of one, with both players'
reach. Its betting is a tree of a sparse menu; what somebody really bet there is added, so that no bet is ever
rounded to another one. Chips count from the start of the street: the pot of the streets before is in the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.caching import lru_cache
from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting import Action, ActionKind, BettingState
from aleator.games.holdem.betting_tree import BettingNode, BettingTreeError, NodeKind, build_tree_from_state
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.node_path import NodePath

_KEPT_TREES = 512
LEAST_REACH = 1e-7  # of the most likely hand: nothing is impossible, so that every hand has a policy


@dataclass(frozen=True, eq=False)
class RoundGame:
    """The betting from a decision on, and both players' reach there.

    Attributes:
        board: the cards on it.
        pot: chips in the middle at the start of the street.
        stack: chips behind of each player at the start of the street.
        min_bet: the smallest bet.
        root: the betting, to the end of the street or of the hand; chips count from the start of the street.
        reach: ``[2, 1326]``, 0 for hands that the board blocks and nowhere else, at most 1.
    """

    board: tuple[int, ...]
    pot: int
    stack: int
    min_bet: int
    root: BettingNode
    reach: FloatArray

    @property
    def player(self) -> int:
        """Who acts first."""
        return self.root.player


class Constraint(NamedTuple):
    """What re-solving promises an opponent: at most these values.

    Attributes:
        player: the opponent.
        cfvs: ``[1326]`` its cfvs in chips for the searcher's reach as the round has it.
        dealt: ``[1326]`` how much of each of its hands may choose to enter.
    """

    player: int
    cfvs: FloatArray
    dealt: FloatArray


class RoundTask(NamedTuple):
    """A round to solve, and how.

    Attributes:
        game: the round.
        constraint: what the opponent may take instead of entering; None if it is in with its reach.
        draw: from the weights of iterations ``[iterations]``, which sum to 1, to the number of the one that is
            played; None to play the average policy.
    """

    game: RoundGame
    constraint: Constraint | None = None
    draw: Callable[[FloatArray], int] | None = None


class RowPolicies(Mapping[int, FloatArray]):
    """Policies by the number of a decision, ``[A, 1326]``, from rows over some hands that are spread out when asked.

    Args:
        rows: ``[R, H]`` probabilities by row of a betting shape.
        slices: the rows of each decision by its number.
        places: ``[1326]`` which of the H columns each hand reads; -1 for hands that are not there, which get a uniform
            policy.
    """

    def __init__(
        self, rows: npt.NDArray[np.floating], slices: Mapping[int, slice], places: npt.NDArray[np.int64]
    ) -> None:
        self._rows, self._slices, self._places = rows, slices, places

    def __getitem__(self, number: int) -> FloatArray:
        rows = self._rows[self._slices[number]][:, self._places].astype(np.float64)
        return normalised(np.where(self._places >= 0, rows, 0.0))

    def __iter__(self) -> Iterator[int]:
        return iter(self._slices)

    def __len__(self) -> int:
        return len(self._slices)


@dataclass(frozen=True, eq=False)
class SolvedRound:
    """A round after its solve.

    Attributes:
        game: what was solved.
        policies: by the number of a decision of the round, ``[A, 1326]``: the average policy.
        played: likewise, the policy to play: of a drawn iteration, or the average.
        root_cfvs: ``[2, 1326]`` both players' cfvs at the root in chips, for the reach of ``game``.
        after: for each action of the root, ``[1326]``: the cfvs there of the player who does not act at the root.
        cfvs: by the number of a decision, ``[1326]`` the watched player's cfvs there, if somebody was watched.
        next_cfvs: from the number of an end of the street and the card that comes then to the watched player's cfvs
            ``[1326]`` behind it; None if nobody was watched or no card comes.
        own_after: for each action of the root, ``[1326]``: the cfvs there of the player who acts: what it is worth.
    """

    game: RoundGame
    policies: Mapping[int, FloatArray]
    played: Mapping[int, FloatArray]
    root_cfvs: FloatArray
    after: tuple[FloatArray, ...]
    cfvs: Mapping[int, FloatArray] = field(default_factory=dict)
    next_cfvs: Callable[[int, int], FloatArray] | None = None
    own_after: tuple[FloatArray, ...] = ()


def round_game(
    state: HandState, menu: BetMenu, reach: FloatArray, *, to_the_end: bool, added: Action | None = None
) -> RoundGame:
    """Returns the round that begins at a decision.

    Args:
        state: where a player acts, heads-up, with equal stacks before the hand.
        menu: the bets.
        reach: both players', ``[2, 1326]``, of any scale.
        to_the_end: whether the betting goes to the end of the hand; else to the end of the street.
        added: an action at the root that the tree must have.

    Raises:
        SolveError: stacks differ, or the action is not legal.
    """
    betting = from_street_start(state.betting)
    lines = (NodePath((f"b{added.amount}",)),) if added is not None and added.kind is ActionKind.RAISE else ()
    root = _tree(betting, menu, lines, to_the_end)
    blocked = blocked_hands(state.board)
    rows = np.where(blocked, 0.0, reach)
    assert np.isfinite(rows).all() and (rows >= 0.0).all()
    most = rows.max(axis=1, keepdims=True)
    rows = np.where(most > 0.0, rows / np.where(most > 0.0, most, 1.0), 1.0)  # nobody left: it may be anybody
    rows = np.where(blocked, 0.0, np.maximum(rows, LEAST_REACH))
    stack = betting.stacks[0] + betting.bets[0]
    return RoundGame(state.board, betting.dead, stack, state.setup.rules.big_blind, root, rows)


@lru_cache(maxsize=_KEPT_TREES)
def _tree(betting: BettingState, menu: BetMenu, lines: tuple[NodePath, ...], to_the_end: bool) -> BettingNode:
    """Returns the betting from a decision on; the last few are kept, since hands on many boards share them."""
    try:
        return build_tree_from_state(betting, menu, added=lines, one_street=not to_the_end)
    except BettingTreeError as error:
        raise SolveError(f"this hand cannot be searched: {error}") from None


def from_street_start(betting: BettingState) -> BettingState:
    """Returns the same betting with chips counted from the start of its street."""
    stacks = tuple(stack + bet for stack, bet in zip(betting.stacks, betting.bets, strict=True))
    dead = betting.pot - sum(betting.bets)
    return replace(betting, contributions=betting.bets, dead=dead, start_stacks=stacks)


def child_of(node: BettingNode, action: Action) -> BettingNode | None:
    """Returns the node after an action, None if the tree does not have it."""
    actions = node.actions
    return node.children[actions.index(action)] if action in actions else None


def nearest_action(node: BettingNode, action: Action) -> int:
    """Returns the place of the action of a node that is most like ``action``: of raises the nearest amount."""
    return nearest_of(node.actions, action)


def nearest_of(actions: Sequence[Action], action: Action) -> int:
    """Returns the place of the action that is most like ``action``; one of them is a call."""
    if action in actions:
        return list(actions).index(action)
    raises = [number for number, other in enumerate(actions) if other.kind is ActionKind.RAISE]
    if action.kind is not ActionKind.RAISE or not raises:
        return next(number for number, other in enumerate(actions) if other.kind is ActionKind.CALL)
    return min(raises, key=lambda number: abs(np.log(actions[number].amount / action.amount)))


def round_decisions(root: BettingNode) -> list[int]:
    """Returns the numbers of the decisions on the street of a round, in order."""
    tree = root.tree
    on_street = (tree.kind == NodeKind.DECISION) & (tree.street == root.street)
    return [int(number) for number in np.flatnonzero(on_street)]


def normalised(rows: FloatArray) -> FloatArray:
    """Returns policies [A, 1326] in proportion to rows that are not negative; uniform where all are 0."""
    total = rows.sum(axis=0)
    policy: FloatArray = np.where(total > 0.0, rows / np.where(total > 0.0, total, 1.0), 1.0 / len(rows))
    return policy


def spread_rows(rows: FloatArray, hands: np.ndarray[tuple[int], np.dtype[np.integer]]) -> FloatArray:
    """Returns rows [..., H] over some hands as [..., 1326], 0 elsewhere."""
    whole = np.zeros((*rows.shape[:-1], NUM_HANDS))
    whole[..., hands] = rows
    return whole
