"""Brown's thesis, Fig. 4.5: CFR on Leduc that goes on when both bet sizes grow by 0.1."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aleator.abstraction.parameters import ParametricGame, parametric_game
from aleator.abstraction.regret_transfer import (
    PAYOFF,
    UNSCALED,
    ParametricCFR,
    ParametricMCCFR,
    ParametricSolver,
    Weight,
)
from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.apps.papers.curves import powers_of_two
from aleator.apps.papers.kept import keep_run, read_run, run_file
from aleator.apps.papers.parallel import SeedsCurve, run_beside
from aleator.games.base import FloatArray
from aleator.solvers.cfr import CFR
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.solvers.sampling_rule import CHANCE, SamplingRule
from aleator.solvers.state import TreeSolver
from aleator.storage import check_object

_OLD, _NEW = {"first": 2.0, "second": 4.0}, {"first": 2.1, "second": 4.1}
_SCRATCH, _UNSCALED, _WEIGHED = "from scratch", "transfer without weight", "transfer with weight"
_WEIGHTS: dict[str, Weight | None] = {_SCRATCH: None, _UNSCALED: UNSCALED, _WEIGHED: PAYOFF}
_BEFORE, _BEFORE_QUICK = 1_000_000, 20_000
_AFTER, _AFTER_QUICK, _AFTER_FULL = 1_048_576, 16_384, 4_194_304
_FIRST = 4096
_THESIS_WEIGHT, _THESIS_SAVING = 0.125, 125_000
_PANEL = "Leduc ⟨2.1, 4.1⟩"


class _Task(NamedTuple):
    """A run of all three: its seed (None: without sampling), the iterations before the change, where to look after it.

    Attributes:
        scheme: what is sampled.
        file: where it is kept; None for nowhere.
    """

    seed: int | None
    scheme: str
    before: int
    looks: tuple[int, ...]
    file: Path | None


class _Run(NamedTuple):
    """What a run found: curves [looks] by name, and the weight that was chosen."""

    curves: dict[str, list[float]]
    weight: float


def run(settings: Settings, on_progress: OnProgress, *, scheme: str = CHANCE) -> Report:
    """Returns the curves of the figure over several seeds, and how many iterations transfer saves."""
    runs = int(settings.choose(2, 6, 20))
    before = _BEFORE_QUICK if settings.quick else _BEFORE
    looks = powers_of_two(
        1024 if settings.quick else _FIRST, int(settings.choose(_AFTER_QUICK, _AFTER, _AFTER_FULL)), per_octave=2
    )
    seeds: dict[str, int | None] = {f"run {index + 1}": settings.seed + index for index in range(runs)}
    seeds["without sampling"] = None
    tasks = {name: _Task(seed, scheme, before, looks, run_file(settings.keep, name)) for name, seed in seeds.items()}
    results = run_beside(_solve, tasks, on_progress, settings.workers)
    exact = results.pop("without sampling")
    at = np.tile(np.array(looks, np.float64), (runs, 1))
    curves = {name: SeedsCurve(at, np.array([result.curves[name] for result in results.values()])) for name in _WEIGHTS}
    weight = float(np.mean([result.weight for result in results.values()]))
    on_progress(1.0, "")
    return Report(
        title=f"Leduc from bets of 2 and 4 to 2.1 and 4.1 after {before:,} iterations (thesis, Fig. 4.5)",
        setting=f"{runs} runs of {looks[-1]:,} iterations after the change{settings.mode}",
        convention=(
            f"CFR with {scheme} sampling; without sampling all runs would be equal, and one is shown. Exploitability "
            "in the new game over iterations there. Saved: how many more iterations a run from scratch takes to the "
            "same exploitability (means over runs), the median over all looks; at most what it ran. Worse by: the mean "
            "over runs and over looks at the last half of the iterations, ± half of a 95 % interval."
        ),
        columns=("start", "weight", "iterations saved", f"after {looks[0]:,}", f"after {looks[-1]:,}", "±"),
        rows=(
            *_rows("", curves, weight),
            *_rows(
                "without sampling: ",
                {name: SeedsCurve(at[:1], np.array([curve])) for name, curve in exact.curves.items()},
                exact.weight,
            ),
        ),
        claims=_claims(curves, weight, exact),
        panels={
            _PANEL: {name: curve.points() for name, curve in curves.items()},
            "without sampling": {
                name: [(float(look), quality) for look, quality in zip(looks, curve, strict=True)]
                for name, curve in exact.curves.items()
            },
        },
        bands={_PANEL: {name: curve.interval() for name, curve in curves.items()}},
        x_label="iterations in the new game (each updates both players)",
        y_label="exploitability (NashConv / 2, chips)",
        deviations=(
            "The thesis does not say what its 20 runs sample, nor what its average payoff is; ours is the mean of |u|. "
            "Bands are 95 % intervals of the mean, as in the figure."
        ),
    )


def _rows(kind: str, curves: dict[str, SeedsCurve], weight: float) -> list[tuple[Cell, ...]]:
    """Returns the rows of the table for one way to sample."""
    means = {name: curve.quality.mean(axis=0) for name, curve in curves.items()}
    rows: list[tuple[Cell, ...]] = []
    for name, factor in ((_SCRATCH, None), (_UNSCALED, 1.0), (_WEIGHED, weight)):
        curve = curves[name]
        saved = None if factor is None else _saved(curve.at[0], means[_SCRATCH], means[name])
        error = None if len(curve.at) == 1 else float(curve.interval()[-1][2] - means[name][-1])
        rows.append((kind + name, factor, saved, float(means[name][0]), float(means[name][-1]), error))
    return rows


def _claims(curves: dict[str, SeedsCurve], weight: float, exact: _Run) -> tuple[Claim, ...]:
    at = curves[_SCRATCH].at[0]
    first, last = f"{at[0]:,.0f}", f"{at[-1]:,.0f}"
    means = {name: curve.quality.mean(axis=0) for name, curve in curves.items()}
    saved = _saved(at, means[_SCRATCH], means[_WEIGHED])
    unscaled, weighed = (_worse(curves[name], curves[_SCRATCH]) for name in (_UNSCALED, _WEIGHED))
    ends = {name: curve[-1] for name, curve in exact.curves.items()}
    return (
        Claim(text=f"the weight is {_THESIS_WEIGHT}", measured=f"{weight:.3f}", agrees=0.06 < weight < 0.25),
        Claim(
            text=f"transfer with weight saves about {_THESIS_SAVING:,} iterations",
            measured=f"{saved:,.0f}",
            agrees=0.5 < saved / _THESIS_SAVING < 2.0,
        ),
        Claim(
            text="transfer without weight helps at first",
            measured=f"{means[_UNSCALED][0]:.4f} against {means[_SCRATCH][0]:.4f} after {first}",
            agrees=bool(means[_UNSCALED][0] < means[_SCRATCH][0]),
        ),
        Claim(
            text="in the long run it is worse than starting from scratch",
            measured=f"worse by {_percent(unscaled)} up to {last}",
            agrees=unscaled[0] - unscaled[1] > 0.0,
        ),
        Claim(
            text="with weight it is not",
            measured=f"worse by {_percent(weighed)} up to {last}",
            agrees=weighed[0] - weighed[1] <= 0.0,
        ),
        Claim(
            text="without sampling: without weight it is worse than with weight in the long run",
            measured=", ".join(f"{name} {end:.5f}" for name, end in ends.items()),
            agrees=ends[_UNSCALED] > ends[_WEIGHED],
        ),
    )  # fmt: skip


def _worse(curve: SeedsCurve, scratch: SeedsCurve) -> tuple[float, float]:
    """Returns by what share a curve lies above another one in the last half of the iterations, ± at 95 %.

    Runs with one seed have the same deals and are compared with one another.
    """
    late = curve.at[0] >= 0.5 * curve.at[0, -1]
    ratios = (curve.quality[:, late] / scratch.quality[:, late]).mean(axis=1) - 1.0
    return float(ratios.mean()), float(1.96 * ratios.std(ddof=1) / len(ratios) ** 0.5)


def _percent(share: tuple[float, float]) -> str:
    return f"{share[0]:.1%} ± {share[1]:.1%}"


def _solve(task: _Task) -> _Run:
    """Returns the curves of one seed, those that were kept and the others; each is kept when it ends."""
    about = {"experiment": "regret-transfer", **task._replace(file=None)._asdict()}
    if task.scheme == CHANCE:
        del about["scheme"]  # runs of all chance are kept without a word about it
    result = read_run(task.file, about, _decode) or _Run({}, 1.0)
    source: ParametricSolver | None = None
    for name, weight in list(_WEIGHTS.items())[len(result.curves) :]:
        chosen = 1.0
        solver = _new_solver(task)
        if weight is not None:
            if source is None:
                source = _parametric(task)
                source.run(task.before)
            moved = _parametric(task)
            moved.restore(source.iteration, source.state())
            chosen = moved.transfer(_NEW, weight)
            solver.restore(moved.iteration, moved.state())  # derivatives are not needed any more
        result = _Run({**result.curves, name: _curve(solver, task.looks)}, chosen)
        keep_run(task.file, about, result._asdict())
    return result


def _parametric(task: _Task) -> ParametricSolver:
    """Returns a solver of the old game that keeps derivatives."""
    family = _family()
    if task.seed is None:
        return ParametricCFR(family, _OLD, CFR_RULE)
    return ParametricMCCFR(family, _OLD, SamplingRule(scheme=task.scheme), seed=task.seed)


def _new_solver(task: _Task) -> TreeSolver:
    """Returns a solver of the new game at its beginning."""
    tree = _family().tree(_NEW)
    return CFR(tree, CFR_RULE) if task.seed is None else MCCFR(tree, SamplingRule(scheme=task.scheme), seed=task.seed)


def _family() -> ParametricGame:
    return parametric_game("leduc:bets={first}/{second}", _OLD)


def _curve(solver: TreeSolver, looks: tuple[int, ...]) -> list[float]:
    """Returns the exploitability at so many iterations from here."""
    begin, curve = solver.iteration, []
    for look in looks:
        solver.run(begin + look - solver.iteration)
        curve.append(solver.nash_conv() / 2)
    return curve


def _decode(value: Any) -> _Run:
    fields = check_object(value, {"curves": dict, "weight": float})
    if list(fields["curves"]) != list(_WEIGHTS)[: len(fields["curves"])]:
        raise ValueError("its curves are not those of this experiment")
    return _Run(**fields)


def _saved(at: FloatArray, scratch: FloatArray, curve: FloatArray) -> float:
    """Returns the median over looks of the iterations that a start from scratch takes longer to the same quality.

    Where it never gets there it counts as if it did at its last look.
    """
    best = np.minimum.accumulate(scratch)
    same = np.exp(np.interp(-np.log(curve), -np.log(best), np.log(at)))
    return float(np.median(same - at))
