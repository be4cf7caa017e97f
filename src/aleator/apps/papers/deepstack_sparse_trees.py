"""DeepStack's Table 5: how well counterfactual values of rivers are estimated with few bet sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.apps.papers.parallel import run_beside
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.spot import Spot
from aleator.learning.holdem.situations import random_ranges, random_stacks
from aleator.search.whole_hands.exact import solve_exactly
from aleator.search.whole_hands.rounds import RoundGame, round_decisions
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.order import order_of
from aleator.solvers.holdem.problem import prepare_spots

_ALL = ("1%", "25%", "50%", "75%", "100%", "200%", "300%", "1000%", "all-in")  # below the minimum it is the minimum
# sizes, and the paper's L1, L2 and L-infinity in mbb/g
MENUS: tuple[tuple[tuple[str, ...], tuple[float, float, float]], ...] = (
    (_ALL, (18.06, 0.891, 0.2724)),
    (("200%", "all-in"), (64.79, 2.672, 0.3445)),
    (("50%", "all-in"), (58.24, 3.426, 0.7376)),
    (("100%", "all-in"), (25.51, 1.272, 0.3372)),
    (("50%", "100%", "all-in"), (41.42, 1.541, 0.2955)),
    (("100%", "200%", "all-in"), (27.69, 1.390, 0.2543)),
    (("50%", "100%", "200%", "all-in"), (20.96, 1.059, 0.2653)),
)
_STACK, _BIG_BLIND = 20_000, 100
_MOST_BETS = 3  # bets and raises: with the smallest ones and no limit a tree has no end
_CONVENTION = (
    "A counterfactual value of a hand is weighed by the chance of being dealt it, 1 / 1,326, and counted in "
    "thousandths of a big blind: so read, the paper's three norms fit together (L1 is then the mean error of a hand). "
    "Means over both players and all situations. Situations are DeepStack's: random boards, pots, and ranges R(S, p)."
)
_DEVIATIONS = (
    "Solved by sharp DCFR+ instead of the paper's mixture of CFR and CFR+, to four times as many iterations for the "
    "ground truth, as there: what is left of the first row is the error of the solver, of the others that of the menu. "
    "A line has at most three bets and raises; the paper does not say what limits its trees, nor how the situations of "
    "this table were drawn."
)


class River(NamedTuple):
    """A situation: five cards, chips in the middle and behind, and both players' beliefs [2, 1326]."""

    board: tuple[int, ...]
    pot: int
    stack: int
    reach: FloatArray


class Solved(NamedTuple):
    """What a menu gives: cfvs at the root [2, 1326] in chips, and how many actions of hands were solved."""

    cfvs: FloatArray
    actions: int


def random_rivers(count: int, seed: int) -> list[River]:
    """Returns situations of DeepStack's distribution."""
    deck, generator = Deck(), torch.Generator().manual_seed(seed)
    boards = deck.random_boards(count, 5, generator)
    order = order_of(deck, boards, generator)
    reach = order.unsort(random_ranges(2 * count, order.num_hands, generator).view(count, 2, -1), NUM_HANDS)
    stacks = random_stacks(count, generator)
    rivers = []
    for board, stack, rows in zip(boards.tolist(), stacks.tolist(), reach.double().numpy(), strict=True):
        chips = round(_STACK / (2.0 * stack + 1.0))  # that each player has put in
        rivers.append(River(tuple(board), 2 * chips, _STACK - chips, rows))
    return rivers


def solved(river: River, sizes: tuple[str, ...], iterations: int) -> Solved:
    """Returns the values of a river with a menu of bets and raises."""
    menu = BetMenu.uniform(bets=sizes, raises=sizes, max_raises=_MOST_BETS)
    spot = Spot(
        board=river.board, pot=river.pot, stack=river.stack, oop="random", ip="random", min_bet=_BIG_BLIND, menu=menu
    )
    game = RoundGame(river.board, river.pot, river.stack, _BIG_BLIND, spot.build_tree(), river.reach)
    tree = game.root.tree
    actions = sum(len(tree.children(number)) for number in round_decisions(game.root))
    return Solved(solve_exactly(game, iterations).root_cfvs, actions * int((river.reach[0] > 0).sum()))


def norms(error: FloatArray) -> FloatArray:
    """Returns L1, L2 and the maximum of errors [2, 1326] in chips, in mbb, the mean of both players."""
    weighed = np.abs(error) * (1000.0 / _BIG_BLIND / NUM_HANDS)
    both: FloatArray = np.stack([weighed.sum(1), np.sqrt(np.square(weighed).sum(1)), weighed.max(1)]).mean(axis=1)
    return both


class Measured(NamedTuple):
    """What all menus give on one river: their norms [menus, 3] and sizes [menus]."""

    errors: FloatArray
    sizes: FloatArray


def measure(task: tuple[River, int]) -> Measured:
    """Returns how far all menus are from the largest one, which is given four times as many iterations."""
    river, iterations = task
    truth = solved(river, _ALL, 4 * iterations)
    solutions = [solved(river, menu, iterations) for menu, _ in MENUS]
    errors = np.stack([norms(one.cfvs - truth.cfvs) for one in solutions])
    return Measured(errors, np.array([float(one.actions) for one in solutions]))


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns a row per menu."""
    count, iterations = int(settings.choose(2, 6, 100)), 50 if settings.quick else 1_000
    on_progress(0.0, "compiling (first run only)")
    prepare_spots("sharp-dcfr+")
    rivers = random_rivers(count, settings.seed)
    tasks = {f"river {number}": (river, iterations) for number, river in enumerate(rivers, 1)}
    measured = run_beside(measure, tasks, on_progress, settings.workers).values()
    errors, sizes = np.stack([one.errors for one in measured]), np.stack([one.sizes for one in measured])
    means = errors.mean(0)
    rows: list[tuple[Cell, ...]] = []
    for (menu, paper), size, mean in zip(MENUS, sizes.mean(0), means, strict=True):
        name = ", ".join(["F", "C", *(("min" if text == "1%" else text) for text in menu)])
        rows.append(
            (name, round(float(size)), paper[0], float(mean[0]), paper[1], float(mean[1]), paper[2], float(mean[2]))
        )
    by_menu = {menu: mean for (menu, _), mean in zip(MENUS, means, strict=True)}
    pot, half, double = (by_menu[(text, "all-in")][0] for text in ("100%", "50%", "200%"))
    most = by_menu["50%", "100%", "200%", "all-in"][0]
    return Report(
        title="Counterfactual values of rivers with few bet sizes (DeepStack, Table 5)",
        setting=f"{count} situations, {iterations:,} iterations, ground truth {4 * iterations:,}{settings.mode}",
        convention=_CONVENTION,
        columns=("betting", "size", "paper L1", "L1", "paper L2", "L2", "paper max", "max"),
        rows=tuple(rows),
        claims=(
            Claim(
                text="one bet of the pot is better than one of half or of twice the pot",
                measured=f"{pot:.1f} against {half:.1f} and {double:.1f} mbb",
                agrees=bool(pot < min(half, double)),
            ),
            Claim(
                text="more sizes than the pot and all-in do not substantially improve errors (less than a factor of 2)",
                measured=f"{pot:.1f} with one size, {most:.1f} with three",
                agrees=bool(most > pot / 2),
            ),
        ),
        panels={
            "L1": {"ours": [(float(size), float(mean[0])) for size, mean in zip(sizes.mean(0), means, strict=True)]}
        },
        x_label="actions of hands in the tree",
        y_label="L1 error, mbb",
        deviations=_DEVIATIONS,
    )
