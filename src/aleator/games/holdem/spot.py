"""Spots: a board, a pot, two hand ranges, a bet menu, a rake and how to solve it; `spot_file` reads and writes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.caching import lru_cache
from aleator.errors import AleatorError, shown
from aleator.games.holdem.bet_menu import CHECK_DOWN, POSITION_NAMES, BetMenu
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.betting_tree import BettingNode, TreeConfig, build_tree
from aleator.games.holdem.cards import (
    HANDS,
    NUM_CARDS,
    WHOLE_DECK,
    CardError,
    blocked_hands,
    check_cards,
    format_cards,
    format_hand,
)
from aleator.games.holdem.hand_range import HandRangeError, parse_hand_range
from aleator.games.holdem.lock import Lock
from aleator.games.holdem.node_path import NodePath, check_cards_of_path

# A flop's tree of so many nodes takes tens of GB with ranges of a hundred hands, a river's takes half a minute to
# build.
MAX_NODES: Final = {1: 40_000, 2: 80_000, 3: 160_000}
MAX_CHIPS: Final = 1_000_000_000  # of pot, stack and smallest bet: sums of them are exact in every engine
MAX_ITERATIONS: Final = 1_000_000_000
LEAST_WEIGHT: Final = 1e-6  # of the most frequent hand of a range
LEAST_SHARE: Final = 1e-4  # of the other range that a hand must be able to meet, if it can meet any
DEFAULT_RULE: Final = "sharp-dcfr+"  # the experiment `holdem-rules` compares it with others


class SpotError(AleatorError):
    """A spot that cannot be read or played; the message names the key, the bad value and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rake:
    """What the house takes from the final matched pot, folds included; a tie shares the rest.

    Attributes:
        rate: fraction of the pot in [0, 1].
        cap: the most chips taken, infinite for no cap.
    """

    rate: float = 0.0
    cap: float = math.inf

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise SpotError(f"rake.rate must be in [0, 1], not {self.rate}")
        if not self.cap >= 0:
            raise SpotError(f"rake.cap must not be negative, not {self.cap}")

    def amount(self, matched_pot: int) -> float:
        """Returns the chips taken from a pot without uncalled bets."""
        return min(self.rate * matched_pot, self.cap)


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveSettings:
    """How a spot is solved unless told otherwise.

    Attributes:
        rule: name of the regret rule.
        target: exploitability to stop at, as a fraction of the pot.
        max_iterations: when to stop at the latest.
    """

    rule: str = DEFAULT_RULE
    target: float = 0.003
    max_iterations: int = 2_000

    def __post_init__(self) -> None:
        if not self.rule:
            raise SpotError("solve.rule must name a regret rule, not ''")
        if not 0 <= self.target < math.inf:
            raise SpotError(f"solve.target must be a number from 0 up, not {self.target}")
        if not 1 <= self.max_iterations <= MAX_ITERATIONS:
            raise SpotError(
                f"solve.max_iterations must be from 1 to {MAX_ITERATIONS:,}, not {shown(self.max_iterations)}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A postflop situation of two players.

    Attributes:
        board: 3, 4 or 5 cards.
        pot: chips in the middle, 1 to `MAX_CHIPS`.
        stack: chips behind of each player, 1 to `MAX_CHIPS`.
        oop: hand range of the player out of position, who acts first, as text.
        ip: hand range of the player in position.
        min_bet: the smallest bet, at least 1.
        rake: what the house takes.
        menu: the bet sizes.
        added: off-tree lines; see `TreeConfig`.
        locks: nodes whose policy is fixed.
        solve: how to solve it.
    """

    board: tuple[int, ...]
    pot: int
    stack: int
    oop: str
    ip: str
    min_bet: int = 1
    rake: Rake = Rake()
    menu: BetMenu = CHECK_DOWN
    added: tuple[NodePath, ...] = ()
    locks: tuple[Lock, ...] = ()
    solve: SolveSettings = SolveSettings()

    def __post_init__(self) -> None:
        try:
            check_cards(self.board)
        except CardError as error:
            raise SpotError(f"board: {error}") from None
        if not 3 <= len(self.board) <= 5:
            raise SpotError(f"board must have 3, 4 or 5 cards, not {len(self.board)} ({format_cards(self.board)})")
        for name in ("pot", "stack", "min_bet"):
            if not 1 <= getattr(self, name) <= MAX_CHIPS:
                raise SpotError(
                    f"{name} must be a whole number from 1 to {MAX_CHIPS:,}, not {shown(getattr(self, name))}"
                )
        weights = self.weights()
        for position, row in zip(POSITION_NAMES, weights, strict=True):
            if not row.any():
                board, text = format_cards(self.board), getattr(self, position)
                raise SpotError(f"{position}: the board {board} leaves no hand of {shown(text)}")
        apart, free = _without_common_card(weights)
        if not (apart[0][weights[0] > 0] > 0).any():
            raise SpotError("oop and ip: every hand of one shares a card with every hand of the other")
        self._check_shares(weights, apart, free)
        if self.added:
            try:
                self.build_tree()
            except AleatorError as error:
                raise SpotError(f"added: {error}") from None
        if self.locks:
            self._check_locks(weights)

    def _check_shares(
        self, weights: npt.NDArray[np.float64], apart: npt.NDArray[np.int64], free: npt.NDArray[np.float64]
    ) -> None:
        """Raises SpotError unless all hands are dealt often enough to compute with (see `_without_common_card`).

        Solvers add up the reach of a whole range to about 9 digits. What one hand meets must not be lost in that.
        """
        for player, position in enumerate(POSITION_NAMES):
            largest = float(weights[player].max())
            if largest < LEAST_WEIGHT:
                raise SpotError(
                    f"{position}: no hand weighs more than {largest:.1g}; some hand needs {LEAST_WEIGHT:g} or more"
                )
            share = free[player] / weights[1 - player].sum()
            rare = np.flatnonzero((weights[player] > 0) & (apart[player] > 0) & (share < LEAST_SHARE))
            if len(rare):
                hand, other = int(rare[np.argmin(share[rare])]), POSITION_NAMES[1 - player]
                raise SpotError(
                    f"{position}: all but {max(share[hand], 0.0):.1g} of {other}'s weight shares a card with "
                    f"{format_hand(hand)}, {LEAST_SHARE:g} or more must not: leave {other}'s rarest hands out or weigh "
                    "them more"
                )

    def _check_locks(self, weights: npt.NDArray[np.float64]) -> None:
        """Raises SpotError unless every lock fits its node and gives every hand of its player's range a policy."""
        root, seen = self.build_tree(), set()
        for lock in self.locks:
            try:
                check_cards_of_path(lock.path, self.board)
                locked = lock.find(root)
            except AleatorError as error:
                raise SpotError(str(error)) from None
            if locked.steps in seen:
                raise SpotError(f"lock {lock.path}: this node is locked twice")
            seen.add(locked.steps)
            policy = lock.policy(locked.node)
            missing = np.flatnonzero((policy.sum(axis=0) == 0) & (weights[locked.node.player] > 0))
            if len(missing):
                hand = format_hand(int(missing[-1]))
                raise SpotError(f"lock {lock.path}: {hand} takes no action; give one the 'rest'")

    @property
    def street(self) -> int:
        """The street of the board: 1 flop, 2 turn, 3 river."""
        return len(self.board) - 2

    @property
    def num_streets(self) -> int:
        """Betting rounds of a whole hand."""
        return len(STREET_NAMES)

    @property
    def deck(self) -> tuple[int, ...]:
        """The cards that are played with: all."""
        return WHOLE_DECK

    def weights(self) -> npt.NDArray[np.float64]:
        """Returns the weights of both hand ranges, 0 for hands that the board blocks: float64 ``[2, 1326]``, 0 to 1."""
        rows = []
        for position in POSITION_NAMES:
            try:
                rows.append(parse_hand_range(getattr(self, position)))
            except HandRangeError as error:
                raise SpotError(f"{position}: {error}") from None
        return np.where(blocked_hands(self.board), 0.0, np.stack(rows))

    def tree_config(self) -> TreeConfig:
        """Returns what the betting tree is built from."""
        return TreeConfig(
            pot=self.pot, stack=self.stack, street=self.street, menu=self.menu, min_bet=self.min_bet, added=self.added
        )

    def build_tree(self) -> BettingNode:
        """Returns the root of the betting tree.

        Raises:
            TooBigError: more than `MAX_NODES` nodes.
        """
        return _built(self.tree_config(), MAX_NODES[self.street])


@lru_cache(maxsize=8)  # whoever looks at a spot asks for its tree, and some have a hundred thousand nodes
def _built(config: TreeConfig, max_nodes: int) -> BettingNode:
    return build_tree(config, max_nodes=max_nodes)


def _without_common_card(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Returns how many hands of the other's range share no card with each hand, ``[2, 1326]``, and what they weigh."""
    counts, sums = np.zeros(weights.shape, dtype=np.int64), np.zeros(weights.shape)
    for player, row in enumerate(weights[::-1]):
        for entry, entries in ((counts[player], (row > 0).astype(np.int64)), (sums[player], row)):
            with_card = np.zeros(NUM_CARDS, dtype=entries.dtype)
            np.add.at(with_card, HANDS, entries[:, None])
            entry[:] = entries.sum() - with_card[HANDS].sum(axis=1) + entries
    return counts, sums
