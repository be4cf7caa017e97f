"""Exact linear CFR on limit flop hold'em with the whole deck: the dotted line of the thesis' Fig. 4.3."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from aleator.apps.benchmarking import memory_bandwidth
from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.problem import prepare_spots
from aleator.solvers.holdem.solver import HoldemSolver

PUBLISHED = {20: 118.0, 30: 65.0, 50: 31.0}  # mbb/g
INFOSTATE_ACTIONS = 234_199_693
_WITHIN = 0.03
_POINTS = (1, 2, 5, 10, 15, 20, 25, 30, 40, 50)
_OTHERS = ("dcfr", "cfr+", "sharp-dcfr+")  # with --full


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeCurve:
    """How a rule converges.

    Attributes:
        points: (iterations, NashConv in thousandths of a big blind).
        button: what the button wins at the end, in the same unit.
        seconds_per_iteration: the best of the stretches between points.
        moved: bytes that an iteration must move.
        memory: bytes taken.
    """

    points: tuple[tuple[float, float], ...]
    button: float
    seconds_per_iteration: float
    moved: float
    memory: int


def whole_curve(plan: BoardPlan, rule: str, points: tuple[int, ...], on_progress: OnProgress) -> WholeCurve:
    """Returns the convergence of a rule on a game from the blinds on, looked at after so many iterations."""
    whole = plan.spot
    assert isinstance(whole, WholeGame)
    unit = 1000.0 / whole.big_blind
    solver, curve, best = HoldemSolver(plan, parse_rule(rule)), list[tuple[float, float]](), float("inf")
    for point in points:
        before = solver.iteration
        for done in range(before, point):
            on_progress(done / points[-1], f"{rule}, iteration {done + 1} of {points[-1]}")
            started = perf_counter()
            solver.run(1)
            best = min(best, perf_counter() - started)
        curve.append((float(point), unit * solver.nash_conv()))
    memory = solver.engine.memory()
    return WholeCurve(
        points=tuple(curve),
        button=unit * solver.values()[1],
        seconds_per_iteration=best,
        moved=5 * memory["storage"] / 2,  # regrets and sums are read and written, regrets read once more
        memory=sum(memory.values()),
    )


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns what linear CFR reaches after 20, 30 and 50 iterations, beside the thesis."""
    on_progress(0.0, "compiling (first run only)")
    prepare_spots("lcfr")
    plan = BoardPlan(load_whole_game("flop-holdem"))
    most = 20 if settings.quick else 50
    points = tuple(point for point in _POINTS if point <= most)
    rules = ("lcfr", *(_OTHERS if settings.full else ()))
    curves, bandwidth = {}, memory_bandwidth()
    for number, rule in enumerate(rules):

        def move(share: float, what: str, number: int = number) -> None:
            on_progress((number + share) / len(rules), what)

        curves[rule] = whole_curve(plan, rule, points, move)
        bandwidth = max(bandwidth, memory_bandwidth())
    on_progress(1.0, "")
    rows: list[tuple[Cell, ...]] = []
    for rule, curve in curves.items():
        for iterations, quality in curve.points:
            paper = PUBLISHED.get(int(iterations)) if rule == "lcfr" else None
            rows.append((rule, int(iterations), paper, quality, quality / 2, quality / paper if paper else None))
    linear = curves["lcfr"]
    published = {int(iterations): quality for iterations, quality in linear.points if int(iterations) in PUBLISHED}
    counted = plan.num_infostate_actions()
    roofline = linear.moved / bandwidth
    return Report(
        title="Linear CFR on limit flop hold'em, exactly",
        setting=f"{most} iterations of {', '.join(rules)} on 1,755 flops{settings.mode}; one thread: "
        f"{linear.seconds_per_iteration:.2f} s an iteration, {linear.seconds_per_iteration / roofline:.1f} times what "
        f"moving {linear.moved / 1e9:.1f} GB at the {bandwidth / 1e9:.1f} GB/s of this run would take; "
        f"{linear.memory / 2**30:.2f} GiB; the button wins {linear.button:.1f} mbb a hand",
        convention=(
            "mbb: thousandths of a big blind a hand. An iteration updates both players. Our exploitability is NashConv "
            "/ 2, the mean of both players' gains; the thesis' numbers for this game equal the sum of both gains, that "
            "is NashConv (it names the halved number for Leduc only, in a footnote), and so most likely do its 37 mbb "
            "for Deep CFR and 47 for NFSP. Best responses are exact, over all flops and hands."
        ),
        columns=("rule", "iterations", "thesis, mbb", "NashConv, mbb", "exploitability, mbb", "ours / thesis"),
        rows=tuple(rows),
        claims=(
            Claim(
                text=f"the lossless game has {INFOSTATE_ACTIONS:,} actions of infostates",
                measured=f"{counted:,}",
                agrees=counted == INFOSTATE_ACTIONS,
            ),
            *(
                Claim(
                    text=f"{PUBLISHED[iterations]:.0f} mbb after {iterations} iterations, within 3 %",
                    measured=f"{quality:.1f} mbb (NashConv)",
                    agrees=abs(quality / PUBLISHED[iterations] - 1.0) <= _WITHIN,
                )
                for iterations, quality in published.items()
            ),
        ),
        panels={"limit flop hold'em": {rule: curve.points for rule, curve in curves.items()}},
        x_label="iterations, each updates both players",
        y_label="NashConv, mbb a hand",
        deviations="Averages as `aleator.solvers.holdem.solver` takes them: the first player's is one iteration ahead. "
        "Regrets and sums are float32.",
    )
