"""Brown's thesis, 3.1.2: how long CFR remembers one bad first iteration, and how soon discounting forgets it."""

from __future__ import annotations

from aleator.apps.papers.base import Cell, OnProgress, Points, Report, Settings
from aleator.games.matrix import MatrixGame
from aleator.solvers.solve import make_solver, prepare
from aleator.solvers.state import TreeSolver
from aleator.trees.public_tree import PublicTree, build_tree

_PAYOFFS = (0.0, 1.0, -1_000_000.0)
_BEST = 1
_PAPER = {"cfr+": 471_407, "lcfr": 970}
_ALGORITHMS = {"CFR": "cfr", "CFR+": "cfr+", "DCFR(3/2, 0, 2)": "dcfr", "LCFR": "lcfr", "LCFR+": "lcfr+"}
_CONVENTION = (
    "One player chooses among three payoffs: a matrix game of 3 rows and 1 column. An iteration plays a policy, then "
    "updates regrets; iteration 1 plays uniformly. 'first' is the number of the first iteration that plays the second "
    "action with probability exactly 1; 'between' is how many mixed iterations lie between the uniform one and that "
    "one, which is 2 less. The paper's 471,407 for CFR+ is 'first', its 970 for LCFR is 'between'."
)
_DEVIATIONS = (
    "No single way of counting gives both numbers of the paper: with CFR+'s, LCFR would have 972, with LCFR's, CFR+ "
    "would have 471,405. (The weights 1 + 2 + ... + n must reach what CFR+ needs as a count of iterations, and "
    "970 x 971 / 2 = 470,935 falls short of it.) The regrets, which begin near 333,333, need float64: in float32, "
    "where numbers of that size are 0.03 apart, CFR+ comes out at 471,442."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the iterations that each algorithm takes; a second or two, so a quick run is the same."""
    tree = build_tree(MatrixGame([[payoff] for payoff in _PAYOFFS], name="three payoffs"))
    rows: list[tuple[Cell, ...]] = []
    curves: dict[str, Points] = {}
    for done, (shown, algorithm) in enumerate(_ALGORITHMS.items()):
        on_progress(done / len(_ALGORITHMS), shown)
        prepare(algorithm)
        first = first_pure_iteration(make_solver(tree, algorithm))
        rows.append((shown, _PAPER.get(algorithm), first, first - 2))
        curves[shown] = _doubts(tree, algorithm, first)
    on_progress(1.0, "")
    return Report(
        title="Payoffs 0, 1, -1,000,000: iterations until the second action is certain (thesis 3.1.2)",
        setting="the full run; --quick changes nothing" if settings.quick else "the full run",
        convention=_CONVENTION,
        columns=("algorithm", "paper", "first", "between"),
        rows=tuple(rows),
        panels={"payoffs 0, 1, -1,000,000": _merged(curves)},
        x_label="iteration",
        y_label="probability of the other actions",
        deviations=_DEVIATIONS,
    )


def best_action_probability(solver: TreeSolver) -> float:
    """Returns the probability of the second action in the coming iteration."""
    return float(solver.current_policy()[0][_BEST, 0])


def first_pure_iteration(solver: TreeSolver) -> int:
    """Returns the number of the first iteration that plays the second action with probability 1.

    From then on all do, since the regrets of the others only fall. So the steps double until one goes too far, is taken
    back and halved.
    """
    step, rising = 1, True
    while True:
        iteration, state = solver.iteration, {name: vector.copy() for name, vector in solver.state().items()}
        solver.run(step)
        if best_action_probability(solver) == 1.0:
            if step == 1:
                return solver.iteration + 1
            solver.restore(iteration, state)
            rising = False
        step = 2 * step if rising else max(1, step // 2)


def _merged(curves: dict[str, Points]) -> dict[str, Points]:
    """Returns the curves with those that lie on each other drawn as one."""
    labels: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for label, points in curves.items():
        labels.setdefault(tuple(points), []).append(label)
    return {" and ".join(shared): points for points, shared in labels.items()}


def _doubts(tree: PublicTree, algorithm: str, first: int) -> Points:
    """Returns (iteration, probability of not playing the second action) for iterations up to the first pure one."""
    solver = make_solver(tree, algorithm)
    points = [(1.0, 1 - best_action_probability(solver))]
    while solver.iteration + 1 < first:
        solver.run(min(max(1, solver.iteration // 10), first - 1 - solver.iteration))
        points.append((solver.iteration + 1.0, 1 - best_action_probability(solver)))
    return points
