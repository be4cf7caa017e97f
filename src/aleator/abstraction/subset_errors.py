"""How near the few flops of a subset come to all of them, by a report in which every flop was solved.

The means over a subset are those that a report of these flops would have: the rows are there already. As a yardstick
the same is done with as many flops drawn at random, each as often as it is dealt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from aleator.abstraction.flop_subsets import SUBSETS, load_subset
from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.flops import all_flops
from aleator.solvers.holdem.flop_report import FlopReport
from aleator.solvers.holdem.flop_rows import WeightedFlop

_DRAWS: Final = 200  # of random flops
_SEED: Final = 0


class SubsetError(NamedTuple):
    """How far means over a subset are from those over all flops, at the node that a report looks at.

    Attributes:
        flops: of the subset.
        ev: of the first player, as a share of the pot.
        equity: of the first player.
        frequency: of the action that is furthest off.
        random_ev, random_equity, random_frequency: the same with flops drawn at random, the mean over many draws.
    """

    flops: int
    ev: float
    equity: float
    frequency: float
    random_ev: float
    random_equity: float
    random_frequency: float


def subset_errors(report: FlopReport, *, draws: int = _DRAWS) -> list[SubsetError]:
    """Returns how far each subset of the package is from all flops.

    Args:
        report: in which all flops were solved.
        draws: of random flops.

    Raises:
        SolveError: flops are missing.
    """
    flops = report.config.flops
    if len(flops) != len(all_flops()) or not report.is_done:
        raise SolveError(
            f"this report has {len(report.rows):,} flops: --subsets needs one of all {len(all_flops()):,} "
            "(--flops all), solved to its end"
        )
    whole, rng = _means(report), np.random.default_rng(_SEED)
    weights = np.array([flop.weight for flop in flops])
    weights /= weights.sum()  # which are rounded in a file
    errors = []
    for count in SUBSETS:
        drawn = [[flops[number] for number in rng.choice(len(flops), count, p=weights)] for _ in range(draws)]
        off = np.mean([_off(_means(_only(report, _counted(some))), whole) for some in drawn], axis=0)
        errors.append(SubsetError(count, *_off(_means(_only(report, load_subset(count))), whole), *map(float, off)))
    return errors


def _counted(drawn: list[WeightedFlop]) -> tuple[WeightedFlop, ...]:
    """Returns flops that were drawn, each once, with how often it was."""
    times: dict[tuple[int, ...], float] = {}
    for flop in drawn:
        times[flop.cards] = times.get(flop.cards, 0.0) + 1.0 / len(drawn)
    return tuple(WeightedFlop(cards, weight) for cards, weight in times.items())


def _only(report: FlopReport, flops: tuple[WeightedFlop, ...]) -> FlopReport:
    """Returns the report that would have been made of some flops only."""
    config = replace(report.config, flops=flops)
    rows = {flop.cards: report.rows[flop.cards] for flop in flops if flop.cards in report.rows}
    return FlopReport(config, rows, config.chances())


def _means(report: FlopReport) -> FloatArray:
    """Returns the first player's EV as a share of the pot and its equity, and how often actions are taken, [2 + A]."""
    node = report.mean("node")
    shares = [action.frequency for action in node.actions]
    return np.array([node.ev[0] / report.config.spot.pot, node.equity[0], *shares])


def _off(means: FloatArray, whole: FloatArray) -> tuple[float, float, float]:
    off = np.abs(means - whole)
    return float(off[0]), float(off[1]), float(off[2:].max())
