"""The betting of a blueprint as arrays: decisions by number, and where each of their actions leads.

Cards are not part of it: a decision has a row of numbers for each bucket of its street, and all rows lie in one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.buckets import AbstractionError, BucketConfig
from aleator.errors import shown
from aleator.games.holdem.bet_menu import BetMenu, BetSizeError
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, build_tree_from_state
from aleator.games.holdem.level_menu import LevelMenu
from aleator.games.holdem.variants import load_hand_game

FOLDED: Final = -1
SHOWN: Final = -2
MOST_ACTIONS: Final = 16

STANDARD_MENU: Final = (
    "75% 150%; 100% all-in; all-in",
    "50% 100% all-in; 100% all-in; all-in",
    "75% 150% all-in; 100% all-in; all-in",
    "75% 150% all-in; 100% all-in; all-in",
)
"""The sizes of no-limit by street, and by how many bets the street has seen, unless others are asked for."""


class BettingArrays(NamedTuple):
    """The betting, an argument of the compiled functions; D decisions, E actions of all of them, 0 is the first one."""

    player: npt.NDArray[np.int8]  # [D] who acts
    street: npt.NDArray[np.int8]  # [D]
    first: npt.NDArray[np.int32]  # [D + 1] where its actions begin
    row: npt.NDArray[np.int64]  # [D] where its rows begin in the table
    target: npt.NDArray[np.int32]  # [E] the decision after an action, or FOLDED or SHOWN
    stake: npt.NDArray[np.float32]  # [E] at an end: what player 0 wins by a fold, what the winner of a showdown wins


@dataclass(frozen=True, slots=True, kw_only=True)
class Betting:
    """The betting of a game with a menu, with rows for buckets.

    Attributes:
        root: of the betting tree.
        arrays: the same for compiled functions.
        decision_of: the decision of each node of the tree, -1 for others, ``[N]``.
        size: numbers in the table: for each decision, bucket and action a regret and a sum of policies.
        infostates: decisions times buckets.
        stack: chips that a player can lose.
    """

    root: BettingNode
    arrays: BettingArrays
    decision_of: npt.NDArray[np.int32]
    size: int
    infostates: int
    stack: int

    @property
    def decisions(self) -> int:
        """How many there are."""
        return len(self.arrays.player)


def parse_menu(streets: tuple[str, ...] | None) -> BetMenu | None:
    """Returns the bet menu of four texts (`LevelMenu.parse`); None for limit.

    Raises:
        AbstractionError: a text is not a list of sizes.
    """
    if streets is None:
        return None
    try:
        return LevelMenu.parse(*streets)
    except BetSizeError as error:
        raise AbstractionError(f"menu {shown(' / '.join(streets))}: {error}") from error


def build_betting(game: str, menu: tuple[str, ...] | None, buckets: BucketConfig) -> Betting:
    """Returns the betting of a heads-up game of whole hands.

    Args:
        game: its name.
        menu: sizes of bets by street; None in limit.
        buckets: how many numbers hands have on each street.

    Raises:
        AbstractionError: the game has more players, begins late, or ends on another street than the buckets' game.
    """
    variant = load_hand_game(game)
    if variant.rules.num_players != 2 or variant.first_street:
        raise AbstractionError(f"a blueprint needs a game of two players from the blinds on, not {game}")
    if variant.rules.num_streets - 1 != buckets.last_street:
        raise AbstractionError(f"the buckets were made for {buckets.game}, whose hands end on another street: {game}")
    if (menu is None) != (variant.rules.fixed_bets is not None):
        raise AbstractionError(f"{game}: no-limit games need a bet menu, limit games take none")
    root = build_tree_from_state(variant.start(), parse_menu(menu))
    tree = root.tree
    nodes = np.flatnonzero(tree.kind == NodeKind.DECISION)
    decision_of = np.full(tree.num_nodes, -1, np.int32)
    decision_of[nodes] = np.arange(len(nodes))
    first, row, target, stake = [0], [], [], []
    size = infostates = 0
    for node in nodes.tolist():
        for child in tree.children(node):
            while tree.kind[child] == NodeKind.NEXT_STREET:
                child += 1  # the street that follows, or all-in the next card
            loser = int(tree.player[child])
            chips = tree.chips[child]
            if tree.kind[child] == NodeKind.DECISION:
                target.append(int(decision_of[child]))
                stake.append(0.0)
            elif tree.kind[child] == NodeKind.FOLD:
                target.append(FOLDED)
                stake.append(float(chips[loser]) * (-1.0 if loser == 0 else 1.0))
            else:
                target.append(SHOWN)
                stake.append(float(chips.min()))
        actions = len(target) - first[-1]
        if actions > MOST_ACTIONS:
            raise AbstractionError(f"a decision has {actions} actions: at most {MOST_ACTIONS} are allowed")
        first.append(len(target))
        row.append(size)
        count = buckets.count(int(tree.street[node]))
        infostates += count
        size += count * 2 * actions
    arrays = BettingArrays(
        player=tree.player[nodes].astype(np.int8),
        street=tree.street[nodes].astype(np.int8),
        first=np.array(first, np.int32),
        row=np.array(row, np.int64),
        target=np.array(target, np.int32),
        stake=np.array(stake, np.float32),
    )
    return Betting(
        root=root, arrays=arrays, decision_of=decision_of, size=size, infostates=infostates, stack=variant.stack
    )
