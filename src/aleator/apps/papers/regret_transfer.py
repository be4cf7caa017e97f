"""Brown's thesis, Fig. 4.5: CFR on Leduc that goes on when both bet sizes grow by 0.1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.abstraction.parameters import parametric_game
from aleator.abstraction.regret_transfer import PAYOFF, UNSCALED, ParametricMCCFR, Weight
from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.curves import powers_of_two
from aleator.apps.papers.parallel import SeedsCurve, run_beside
from aleator.games.base import FloatArray
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.sampling_rule import CHANCE, SamplingRule

_OLD, _NEW = {"first": 2.0, "second": 4.0}, {"first": 2.1, "second": 4.1}
_SCRATCH, _UNSCALED, _WEIGHED = "from scratch", "transfer without weight", "transfer with weight"
_WEIGHTS: dict[str, Weight | None] = {_SCRATCH: None, _UNSCALED: UNSCALED, _WEIGHED: PAYOFF}
_BEFORE, _BEFORE_QUICK = 1_000_000, 20_000
_AFTER, _AFTER_QUICK, _AFTER_FULL = 1_048_576, 16_384, 4_194_304
_FIRST = 4096
_THESIS_WEIGHT, _THESIS_SAVING = 0.125, 125_000


class _Task(NamedTuple):
    """A run of all three: its seed, the iterations before the change, and where to look after it."""

    seed: int
    before: int
    looks: tuple[int, ...]


class _Run(NamedTuple):
    """What a run found: curves [looks] by name, and the weight that was chosen."""

    curves: dict[str, list[float]]
    weight: float


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the curves of the figure over several seeds, and how many iterations transfer saves."""
    runs = int(settings.choose(2, 6, 20))
    before = _BEFORE_QUICK if settings.quick else _BEFORE
    looks = powers_of_two(
        1024 if settings.quick else _FIRST, int(settings.choose(_AFTER_QUICK, _AFTER, _AFTER_FULL)), per_octave=2
    )
    tasks = {f"run {index + 1}": _Task(settings.seed + index, before, looks) for index in range(runs)}
    results = list(run_beside(_solve, tasks, on_progress, settings.workers).values())
    at = np.tile(np.array(looks, np.float64), (runs, 1))
    curves = {name: SeedsCurve(at, np.array([result.curves[name] for result in results])) for name in _WEIGHTS}
    weight = float(np.mean([result.weight for result in results]))
    means = {name: curve.quality.mean(axis=0) for name, curve in curves.items()}
    saved = {name: _saved(at[0], means[_SCRATCH], means[name]) for name in (_UNSCALED, _WEIGHED)}
    last = {name: float(mean[-1]) for name, mean in means.items()}
    on_progress(1.0, "")
    return Report(
        title=f"Leduc from bets of 2 and 4 to 2.1 and 4.1 after {before:,} iterations (thesis, Fig. 4.5)",
        setting=f"{runs} runs of {looks[-1]:,} iterations after the change{settings.mode}",
        convention=(
            "CFR with chance sampling: without sampling all runs would be equal. Exploitability in the new game over "
            "iterations run there. Saved: how many more iterations a run from scratch takes to the same exploitability "
            "(means over runs), the median over all looks; at most what it ran."
        ),
        columns=("start", "weight", "iterations saved", f"after {looks[0]:,}", f"after {looks[-1]:,}"),
        rows=tuple(
            (name, factor, saved.get(name), float(means[name][0]), last[name])
            for name, factor in ((_SCRATCH, None), (_UNSCALED, 1.0), (_WEIGHED, weight))
        ),
        claims=(
            Claim(
                text=f"the weight is {_THESIS_WEIGHT}", measured=f"{weight:.3f}", agrees=0.06 < weight < 0.25,
            ),
            Claim(
                text=f"transfer with weight saves about {_THESIS_SAVING:,} iterations",
                measured=f"{saved[_WEIGHED]:,.0f}",
                agrees=0.5 < saved[_WEIGHED] / _THESIS_SAVING < 2.0,
            ),
            Claim(
                text="transfer without weight helps at first",
                measured=f"{means[_UNSCALED][0]:.4f} against {means[_SCRATCH][0]:.4f} after {looks[0]:,}",
                agrees=bool(means[_UNSCALED][0] < means[_SCRATCH][0]),
            ),
            Claim(
                text="in the long run it is worse than starting from scratch",
                measured=f"{last[_UNSCALED]:.5f} against {last[_SCRATCH]:.5f} after {looks[-1]:,}",
                agrees=last[_UNSCALED] > last[_SCRATCH],
            ),
            Claim(
                text="with weight it is not",
                measured=f"{last[_WEIGHED]:.5f} against {last[_SCRATCH]:.5f} after {looks[-1]:,}",
                agrees=last[_WEIGHED] <= 1.05 * last[_SCRATCH],
            ),
        ),
        panels={"Leduc ⟨2.1, 4.1⟩": {name: curve.points() for name, curve in curves.items()}},
        bands={"Leduc ⟨2.1, 4.1⟩": {name: curve.interval() for name, curve in curves.items()}},
        x_label="iterations in the new game (each updates both players)",
        y_label="exploitability (NashConv / 2, chips)",
        deviations=(
            "The thesis does not say what its 20 runs sample, nor what its average payoff is; ours is the mean of |u|. "
            "Bands are 95 % intervals of the mean, as in the figure."
        ),
    )  # fmt: skip


def _solve(task: _Task) -> _Run:
    """Returns the curves of one seed."""
    family, rule = parametric_game("leduc:bets={first}/{second}", _OLD), SamplingRule(scheme=CHANCE)
    source = ParametricMCCFR(family, _OLD, rule, seed=task.seed)
    source.run(task.before)
    curves, chosen = {}, 1.0
    for name, weight in _WEIGHTS.items():
        solver = MCCFR(family.tree(_NEW), rule, seed=task.seed)
        if weight is not None:
            moved = ParametricMCCFR(family, _OLD, rule)
            moved.restore(source.iteration, source.state())
            chosen = moved.transfer(_NEW, weight)
            solver.restore(moved.iteration, moved.state())  # derivatives are not needed any more
        begin, curve = solver.iteration, []
        for look in task.looks:
            solver.run(begin + look - solver.iteration)
            curve.append(solver.nash_conv() / 2)
        curves[name] = curve
    return _Run(curves, chosen)


def _saved(at: FloatArray, scratch: FloatArray, curve: FloatArray) -> float:
    """Returns the median over looks of the iterations that a start from scratch takes longer to the same quality.

    Where it never gets there it counts as if it did at its last look.
    """
    best = np.minimum.accumulate(scratch)
    same = np.exp(np.interp(-np.log(curve), -np.log(best), np.log(at)))
    return float(np.median(same - at))
