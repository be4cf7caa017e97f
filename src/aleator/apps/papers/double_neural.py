"""What the tabular experiments of Double Neural CFR share: several runs of sampling solvers, their mean and spread."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from aleator.apps.papers.base import Band, Cell, Claim, OnProgress, Points, Report, Settings
from aleator.games.base import FloatArray
from aleator.games.registry import load_game
from aleator.solvers.algorithms import rule_of
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.sampling_rule import SamplingRule
from aleator.solvers.solve import prepare
from aleator.trees.public_tree import build_tree

BATCHES = (1, 1000, 5000, 10_000)
BATCH = 5000  # of all experiments but the first
_LAST, _LAST_QUICK = 1000, 32
_RUNS, _RUNS_QUICK = 5, 2
# a factor that is hardly seen on a logarithmic axis
SAME = 1.5
X_LABEL = "iterations, each updates both players (A, B); nodes touched (C)"
Y_LABEL = "exploitability (NashConv / 2, chips)"
COLUMNS = ("panel", "method", "batch", "paper", "ours", "lowest", "highest", "million nodes")


class Method(NamedTuple):
    """A solver in a panel: its label there, our name of the algorithm, and what the paper says it reaches."""

    panel: str
    label: str
    algorithm: str
    paper: Cell = None


class Curve(NamedTuple):
    """Several runs of one solver; all vectors [points].

    Attributes:
        iterations, touched: where the runs were looked at; nodes touched on average.
        mean, low, high: exploitability of the average policy over the runs.
    """

    iterations: FloatArray
    touched: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def final(self) -> float:
        """The mean after the last iteration."""
        return float(self.mean[-1])

    def after(self, touched: float) -> float:
        """Returns the mean when so many nodes had been touched, interpolated on logarithmic axes."""
        return float(np.exp(np.interp(np.log(touched), np.log(self.touched), np.log(self.mean))))

    def points(self, *, nodes: bool = False) -> Points:
        """Returns the mean over iterations, or over nodes touched."""
        x = self.touched if nodes else self.iterations
        return [(float(at), float(y)) for at, y in zip(x, self.mean, strict=True)]

    def band(self, *, nodes: bool = False) -> Band:
        """Returns the lowest and the highest run over iterations, or over nodes touched."""
        x = self.touched if nodes else self.iterations
        return [(float(at), float(y), float(z)) for at, y, z in zip(x, self.low, self.high, strict=True)]


def figure(
    number: int,
    game: str,
    name: str,
    methods: Sequence[Method],
    settings: Settings,
    on_progress: OnProgress,
    *,
    nodes: str,
    claims: Callable[[dict[str, Curve], int], tuple[Claim, ...]],
    convention: str,
    deviations: str,
) -> Report:
    """Returns the curves of a figure and whether what the paper says about them holds.

    Args:
        number: of the figure.
        game, name: what is played, and in words.
        methods: of the panels.
        settings, on_progress: of the experiment.
        nodes: the panel that is over nodes touched.
        claims: besides those about batches, given the curves and the last iteration.
        convention, deviations: see `Report`.
    """
    curves, last = sampled_curves(game, methods, settings, on_progress), iterations(settings)
    shown, bands = panels(methods, curves, nodes)
    return Report(
        title=f"Exploitability on {name}, after {last:,} iterations (Double Neural CFR, Fig. {number})",
        setting=setting(settings),
        convention=convention,
        columns=COLUMNS,
        rows=rows(methods, curves),
        claims=(*batch_claims(curves), *claims(curves, last)),
        panels=shown,
        bands=bands,
        x_label=X_LABEL,
        y_label=Y_LABEL,
        deviations=deviations,
    )


def sampled_curves(
    game: str, methods: Sequence[Method], settings: Settings, on_progress: OnProgress
) -> dict[str, Curve]:
    """Returns the runs of each algorithm (each is run once, however many panels show it)."""
    last, runs = iterations(settings), number_of_runs(settings)
    points = sorted({round(last ** (k / 24)) for k in range(25)})
    tree = build_tree(load_game(game))
    algorithms = list(dict.fromkeys(method.algorithm for method in methods))
    on_progress(0.0, "compiling (first run only)")
    prepare(algorithms[0])
    rules = {algorithm: rule_of(SamplingRule, algorithm) for algorithm in algorithms}
    total, done = runs * last * sum(rule.batch for rule in rules.values()), 0
    curves = {}
    for algorithm, rule in rules.items():
        quality, touched = np.zeros((runs, len(points))), np.zeros((runs, len(points)))
        for run in range(runs):
            solver = MCCFR(tree, rule, seed=settings.seed + run, threads=os.cpu_count() or 1)
            for number, point in enumerate(points):
                while solver.iteration < point:
                    on_progress(done / total, f"{algorithm}, run {run + 1} of {runs}")
                    chunk = min(point - solver.iteration, max(1, 200_000 // rule.batch))
                    solver.run(chunk)
                    done += chunk * rule.batch
                quality[run, number], touched[run, number] = solver.nash_conv() / 2, solver.nodes_touched
        low, high = quality.min(axis=0), quality.max(axis=0)
        curves[algorithm] = Curve(np.array(points, float), touched.mean(axis=0), quality.mean(axis=0), low, high)
    on_progress(1.0, "")
    return curves


def iterations(settings: Settings) -> int:
    """Returns how many iterations a run has."""
    return _LAST_QUICK if settings.quick else _LAST


def number_of_runs(settings: Settings) -> int:
    """Returns how many runs there are of each solver."""
    return _RUNS_QUICK if settings.quick else _RUNS


def setting(settings: Settings) -> str:
    """Returns how the runs were made, in words."""
    last, runs = iterations(settings), number_of_runs(settings)
    seeds = f"{settings.seed} to {settings.seed + runs - 1}"
    text = f"{last:,} iterations, {runs} runs (seeds {seeds}); bands are the lowest and the highest run"
    return text + f" (quick; the paper has {_LAST:,} iterations)" * settings.quick


def panels(
    methods: Sequence[Method], curves: dict[str, Curve], nodes: str
) -> tuple[dict[str, dict[str, Points]], dict[str, dict[str, Band]]]:
    """Returns the panels and bands of a report; the panel `nodes` is over nodes touched."""
    shown: dict[str, dict[str, Points]] = {}
    bands: dict[str, dict[str, Band]] = {}
    for method in methods:
        curve = curves[method.algorithm]
        shown.setdefault(method.panel, {})[method.label] = curve.points(nodes=method.panel == nodes)
        bands.setdefault(method.panel, {})[method.label] = curve.band(nodes=method.panel == nodes)
    return shown, bands


def rows(methods: Sequence[Method], curves: dict[str, Curve]) -> tuple[tuple[Cell, ...], ...]:
    """Returns the rows of the table, one per solver."""
    first = {method.algorithm: method for method in reversed(methods)}
    table: list[tuple[Cell, ...]] = []
    for method in methods:
        if first[method.algorithm] is method:
            curve, batch = curves[method.algorithm], rule_of(SamplingRule, method.algorithm).batch
            spread = float(curve.low[-1]), float(curve.high[-1])
            table.append(
                (method.panel[:1], method.label, batch, method.paper, curve.final, *spread, curve.touched[-1] / 1e6)
            )
    return tuple(table)


def batch_claims(curves: dict[str, Curve]) -> tuple[Claim, ...]:
    """Returns what the paper says about mini-batches."""
    final = [curves[batched("mccfr", size)].final for size in BATCHES]
    return (
        Claim(
            text="larger batches generally lead to better policies",
            measured=", ".join(f"{quality:.3g} with {size:,}" for size, quality in zip(BATCHES, final, strict=True)),
            agrees=final[0] > final[1] > min(final[2:]),
        ),
        Claim(
            text="a batch of 5,000 is as good as one of 10,000",
            measured=f"{final[2] / final[3]:.2f} times as much",
            agrees=final[2] < SAME * final[3],
        ),
    )


def batched(name: str, batch: int = BATCH) -> str:
    """Returns the name of an algorithm with a size of batches, as in mccfr:robust3,batch=5000."""
    return f"{name}{',' if ':' in name else ':'}batch={batch}"
