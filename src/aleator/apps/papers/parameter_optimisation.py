"""Brown's thesis, Fig. 4.6 and 4.7: Leduc's bet sizes that are best for the second player."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.abstraction.parameter_optimisation import ADAPTIVE, RATE, Optimum, StepRule, optimise
from aleator.abstraction.parameters import Values, parametric_game
from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.apps.papers.parallel import run_beside
from aleator.games import load_game
from aleator.solvers.linear_program import solve_linear_program
from aleator.solvers.regret_rule import PDCFR_PLUS
from aleator.trees import build_tree

_ONE, _BOTH = "leduc:bets=2/{second}", "leduc:bets={first}/{second}"
_PLAYER = 1
_ONE_STARTS: tuple[Values, ...] = ({"second": 4.0}, {"second": 8.0}, {"second": 13.0})
_BOTH_STARTS: tuple[Values, ...] = (
    {"first": 2.0, "second": 4.0},
    {"first": 4.0, "second": 8.0},
    {"first": 4.0, "second": 2.0},
)
_THESIS_ONE, _THESIS_BOTH = (9.75,), (1.69, 8.56)
_THESIS_VALUES, _SURE = {_ONE: 0.1611, _BOTH: 0.1645}, 0.002
_CHECKED = (3.0, 13.0, 0.25)  # first, last and step of the sizes at which the value is looked up


class _Task(NamedTuple):
    """A run: the family, where it begins, and how it moves."""

    game: str
    start: Values
    rule: StepRule


class _Optimum(NamedTuple):
    """What a run found: parameters by name, what the game is worth there exactly, and the way: (iterations, values)."""

    parameters: dict[str, float]
    value: float
    iterations: int
    path: list[tuple[int, dict[str, float]]]


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns what was found from every start, and the exact values around it; quick: one start each, rougher."""
    one = StepRule(
        moves=ADAPTIVE, tolerance=0.05 if settings.quick else 0.002, iterations=100 if settings.quick else 300
    )
    both = one if settings.quick else StepRule(moves=RATE, iterations=100, steps=250)
    few = slice(1) if settings.quick else slice(None)
    tasks = {_name(start): _Task(_ONE, start, one) for start in _ONE_STARTS[few]}
    tasks |= {_name(start): _Task(_BOTH, start, both) for start in _BOTH_STARTS[few]}
    runs = run_beside(_solve, tasks, on_progress, settings.workers)
    first, last, step = _CHECKED
    sizes = np.arange(first, last + step / 2, 2.0 if settings.quick else step)
    exact = {float(size): _worth(_ONE, {"second": float(size)}) for size in sizes}
    on_progress(1.0, "")
    return Report(
        title="Leduc's bet sizes that are best for the second player (thesis, Fig. 4.6 and 4.7)",
        setting=f"{len(runs)} runs{settings.mode}",
        convention="Values are the linear program's at the sizes found, in antes, to the player who acts second.",
        columns=("start", "first", "second", "value", "thesis", "value in the thesis", "iterations"),
        rows=tuple(_row(name, tasks[name], optimum) for name, optimum in runs.items()),
        claims=_claims({name: (tasks[name].game, optimum) for name, optimum in runs.items()}, exact),
        panels={
            "second bet": {
                name: [(float(at), where["second"]) for at, where in optimum.path] for name, optimum in runs.items()
            },
            "first bet": {
                name: [(float(at), where["first"]) for at, where in optimum.path]
                for name, optimum in runs.items()
                if "first" in optimum.parameters
            },
        },
        x_label="iterations",
        y_label="chips",
        y_scale="linear",
        deviations=(
            "One size: adaptive moves. Two sizes: steps of g 50 / s^(3/4) with K = 100, as Theorem 17 needs; the "
            "thesis prints s^(-3/4), which diverges. Gradients are those of average policies; earlier iterations weigh "
            "1/2 after a step (aleator.abstraction.parameter_optimisation)."
        ),
    )  # fmt: skip


def _row(name: str, task: _Task, optimum: _Optimum) -> tuple[Cell, ...]:
    thesis = _THESIS_ONE if task.game == _ONE else _THESIS_BOTH
    return (
        name, optimum.parameters.get("first"), optimum.parameters["second"], optimum.value, ", ".join(map(str, thesis)),
        _THESIS_VALUES[task.game], optimum.iterations,
    )  # fmt: skip


def _claims(runs: dict[str, tuple[str, _Optimum]], exact: dict[float, float]) -> tuple[Claim, ...]:
    one = [optimum for game, optimum in runs.values() if game == _ONE]
    both = [optimum for game, optimum in runs.values() if game == _BOTH]
    top = max(exact, key=lambda size: exact[size])
    best = max(both, key=lambda optimum: optimum.value)
    return (
        Claim(
            text="the second bet alone ends at 9.75 ± .01 from every start",
            measured=", ".join(f"{optimum.parameters['second']:.3f}" for optimum in one),
            agrees=all(abs(optimum.parameters["second"] - _THESIS_ONE[0]) <= 0.01 for optimum in one),
        ),
        Claim(
            text="the game is worth .1611 ± .002 there",
            measured=", ".join(f"{optimum.value:.4f}" for optimum in one),
            agrees=all(abs(optimum.value - _THESIS_VALUES[_ONE]) <= _SURE for optimum in one),
        ),
        Claim(
            text="of the second bets 3, 3.25 … 13 9.75 is worth most",
            measured=f"{top:g}, worth {exact[top]:.5f}",
            agrees=top == _THESIS_ONE[0],
        ),
        Claim(
            text="both bets end at (1.69, 8.56) ± .01 from every start",
            measured=", ".join(
                f"({optimum.parameters['first']:.3f}, {optimum.parameters['second']:.3f})" for optimum in both
            ),
            agrees=all(
                abs(optimum.parameters[name] - thesis) <= 0.01
                for optimum in both
                for name, thesis in zip(("first", "second"), _THESIS_BOTH, strict=True)
            ),
        ),
        Claim(
            text="the game is worth .1645 ± .002 there, more than with one",
            measured=f"{best.value:.4f} at the best; at (1.69, 8.56) {_worth(_BOTH, _at(_THESIS_BOTH)):.4f}",
            agrees=abs(best.value - _THESIS_VALUES[_BOTH]) <= _SURE
            and best.value > max(optimum.value for optimum in one),
        ),
    )


def _at(sizes: tuple[float, ...]) -> dict[str, float]:
    return dict(zip(("first", "second"), sizes, strict=True))


def _name(start: Values) -> str:
    return f"({', '.join(f'{size:g}' for size in start.values())})"


def _worth(game: str, sizes: Values) -> float:
    """Returns what the game with these sizes is worth to the second player, exactly."""
    return -float(solve_linear_program(build_tree(load_game(game.format(**sizes))))[0])


def _solve(task: _Task) -> _Optimum:
    """Returns what one start leads to."""
    family = parametric_game(task.game, task.start)
    optimum: Optimum = optimise(family, task.start, player=_PLAYER, rule=PDCFR_PLUS, step_rule=task.rule)
    return _Optimum(
        optimum.parameters,
        _worth(task.game, optimum.parameters),
        optimum.steps[-1].iterations,
        [(step.iterations, step.parameters) for step in optimum.steps],
    )
