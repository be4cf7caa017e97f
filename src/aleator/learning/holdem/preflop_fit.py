"""Fits the preflop table to solved flops; `python -m aleator.learning.holdem.preflop_fit` writes it.

See `preflop_table` for the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import torch

from aleator.games.base import FloatArray
from aleator.games.holdem.betting import ActionKind
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import HAND_CLASSES, NUM_CARDS, NUM_HAND_CLASSES, NUM_HANDS
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.level_menu import LevelMenu
from aleator.games.holdem.variants import HUNL
from aleator.learning.holdem.preflop_table import FILE, ClassLeaves, PreflopTable, smoothed
from aleator.learning.holdem.street_values import StreetValues, street_values
from aleator.learning.value_network.shipped import directory
from aleator.search.whole_hands.depth_limited import solve_to_leaves
from aleator.search.whole_hands.menus import MENU
from aleator.search.whole_hands.rounds import SolvedRound, round_game

_FLOP_MENU: Final = LevelMenu.parse("100%", "100% all-in", "100% all-in", "100% all-in", max_raises=3)
_STACKS: Final = (0.5, 1.2, 2.5, 5.0, 10.0, 18.0, 32.0, 49.0, 99.0)  # about which, in pots, a line is looked for


class Line(NamedTuple):
    """A way to the flop: the state before its cards, both players' reach there, and how likely it is."""

    state: HandState
    reach: FloatArray
    weight: float

    @property
    def stack(self) -> float:
        """Behind, in pots."""
        return self.state.betting.stacks[0] / self.state.betting.pot


def solve_preflop(table: PreflopTable | None, iterations: int) -> SolvedRound:
    """Returns the betting before the flop, solved with a table at its leaves; None: checking down."""
    game = round_game(HUNL.setup.start(), MENU, np.ones((2, NUM_HANDS)), to_the_end=False)
    return solve_to_leaves(game, ClassLeaves(table, torch.device("cpu")), iterations)


def lines_of(solved: SolvedRound) -> list[Line]:
    """Returns the most likely line to about each of some stacks, by stack ascending."""
    ends: list[Line] = []

    def walk(node: BettingNode, state: HandState, reach: FloatArray) -> None:
        if node.kind is NodeKind.NEXT_STREET:
            if min(state.betting.stacks) > 0:
                ends.append(Line(state, reach, float(reach[0].mean() * reach[1].mean())))
        elif node.kind is NodeKind.DECISION:
            for action, child, row in zip(node.actions, node.children, solved.policies[node.number], strict=True):
                if action.kind is not ActionKind.FOLD:
                    later = reach.copy()
                    later[node.player] *= row
                    walk(child, state.act(action), later)

    walk(solved.game.root, HUNL.setup.start(), solved.game.reach)
    lines: dict[int, Line] = {}
    for line in ends:
        near = int(np.argmin([abs(np.log(line.stack / stack)) for stack in _STACKS]))
        if near not in lines or line.weight > lines[near].weight:
            lines[near] = line
    return [lines[near] for near in sorted(lines)]


def corrections_of(line: Line, flops: list[tuple[int, ...]], values: StreetValues, iterations: int) -> FloatArray:
    """Returns [2, 169]: what hands of a line win beyond checking down, in pots, measured on some flops and smoothed."""
    won, met = np.zeros((2, NUM_HANDS)), np.zeros((2, NUM_HANDS))
    for flop in flops:
        state = line.state.deal(flop)
        game = round_game(state, _FLOP_MENU, line.reach, to_the_end=False)
        leaves = values.on([flop])
        hands = leaves.hands[0]
        cfvs = solve_to_leaves(game, leaves, iterations).root_cfvs / game.pot
        rows = torch.from_numpy(game.reach[:, hands]).float()[None, None]
        checked = leaves.leaves(np.ones((1, 1)), np.zeros((1, 1)))(rows)[0, 0]
        compatible = leaves.payoffs.compatible(rows[0].flip(1))[0]
        won[:, hands] += cfvs[:, hands] - checked.double().numpy()
        met[:, hands] += compatible.double().numpy()
    by_class = [np.zeros((2, NUM_HAND_CLASSES)) for _ in range(2)]
    for player in (0, 1):
        for total, rows_of in zip(by_class, (won, met), strict=True):
            np.add.at(total[player], HAND_CLASSES, rows_of[player])
    mean = by_class[0] / np.maximum(by_class[1], 1e-12)
    reach = np.zeros((2, NUM_HAND_CLASSES))
    for player in (0, 1):
        np.add.at(reach[player], HAND_CLASSES, 0.1 + line.reach[player] / line.reach[player].max())
    return np.stack([smoothed(mean[player], reach[player]) for player in (0, 1)])


def fit_table(
    *,
    start: PreflopTable | None = None,
    rounds: int = 3,
    flops: int = 16,
    iterations: int = 12,
    seed: int = 0,
    report: Callable[[str], None] = print,
) -> PreflopTable:
    """Returns a table.

    Args:
        start: where the first ranges come from; None for checking down.
        rounds: how often ranges and corrections are found in turn.
        flops: that are solved for each line.
        iterations: of each of these solves.
        seed: of the flops.
        report: is told how it goes.
    """
    rng, values = np.random.default_rng(seed), street_values("flop")
    table = start
    for number in range(rounds):
        lines = lines_of(solve_preflop(table, 150))
        boards = [tuple(int(card) for card in rng.permutation(NUM_CARDS)[:3]) for _ in range(flops)]
        measured = [corrections_of(line, boards, values, iterations) for line in lines]
        made = PreflopTable(
            np.array([0.0, *(line.stack for line in lines)]), np.stack([np.zeros((2, NUM_HAND_CLASSES)), *measured])
        )
        if number and table is not None:
            made = made._replace(corrections=0.5 * (made.corrections + table.at(made.stacks)))
        table = made
        report(f"round {number + 1}: " + ", ".join(f"{line.stack:.1f} pots ({line.weight:.1e})" for line in lines))
    assert table is not None
    return table


if __name__ == "__main__":
    torch.set_num_threads(1)
    fit_table().save(directory() / "holdem" / FILE)
