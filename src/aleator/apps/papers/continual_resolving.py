"""DeepStack, Theorem 1 and Fig. 6: continual re-solving on Leduc, with self-play and with best-response values."""

from __future__ import annotations

from dataclasses import replace

from aleator.apps.papers.base import Cell, Claim, OnProgress, Points, Report, Settings, less
from aleator.games import load_game
from aleator.search.continual_resolving import BEST_RESPONSE, SELF_PLAY, ContinualSearch, continual_policy
from aleator.search.leaf_value import LeafValue
from aleator.search.oracle import OracleValue
from aleator.solvers.best_response import exploitability
from aleator.solvers.solve import prepare
from aleator.trees.public_tree import PublicTree, build_tree
from aleator.trees.subgame import DepthLimit

_ITERATIONS = (10, 20, 40, 80, 160)
_QUICK = (10, 40)
_ORACLE = (10, 20, 40)
_CONVENTION = (
    "Exploitability (NashConv / 2, exact, in antes) of the policy of a player who re-solves at each of its decisions; "
    "all situations are enumerated, in both seats. An iteration updates both players."
)
_DEVIATIONS = (
    "The paper's Fig. 6 is about one river of no-limit hold'em and shows no numbers in the text. Ours is all of "
    "Leduc, to the end of the game, or to the end of the betting round with an oracle that solves below the leaves to "
    "a NashConv of 0.01. CFR+ with linear averages where the paper leaves out early iterations. Expected ranges are "
    "used at every re-solve, the aggressive way only where the opponent has not acted since; forced upon it "
    "everywhere, exploitability stays near 0.8, which is what the paper warns of."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns exploitability over iterations; quick: two points, no oracle."""
    prepare("cfr+")
    tree = build_tree(load_game("leduc"))
    points: tuple[int, ...] = _QUICK if settings.quick else _ITERATIONS
    kinds = {
        SELF_PLAY: ContinualSearch(),
        BEST_RESPONSE: ContinualSearch(carried=BEST_RESPONSE),
        "conservative range": ContinualSearch(ranges="conservative"),
        "aggressive range": ContinualSearch(ranges="aggressive"),
    }
    curves: dict[str, Points] = {}
    work = [(name, config, points) for name, config in kinds.items()]
    if not settings.quick:
        work.append(("oracle at the leaves", ContinualSearch(limit=DepthLimit(deals=1)), _ORACLE))
    total, done = sum(sum(counts) for _, _, counts in work), 0
    for name, config, counts in work:
        curve: list[tuple[float, float]] = []
        for count in counts:
            on_progress(done / total, f"{name}, {count} iterations")
            leaf_value = OracleValue(0.01) if config.limit.deals else None
            curve.append((float(count), play(tree, config, count, leaf_value)))
            done += count
        curves[name] = curve
    on_progress(1.0, "")
    scores = {name: dict(curve) for name, curve in curves.items()}
    rows: list[tuple[Cell, ...]] = [
        (int(count), *(scores[name].get(float(count)) for name in scores)) for count in points
    ]
    first, last = float(points[0]), float(points[-1])
    return Report(
        title="Exploitability of continual re-solving on Leduc (DeepStack Theorem 1, Fig. 6 in kind)",
        setting=f"{points[0]} to {points[-1]} iterations per re-solve",
        convention=_CONVENTION,
        columns=("iterations", *scores),
        rows=tuple(rows),
        panels={"leduc": curves},
        x_label="iterations per re-solve",
        y_label="exploitability (NashConv / 2)",
        deviations=_DEVIATIONS,
        claims=(
            Claim(
                text="exploitability goes to 0 with iterations",
                measured=f"{scores[SELF_PLAY][first]:.3g} to {scores[SELF_PLAY][last]:.3g}",
                agrees=scores[SELF_PLAY][last] < 0.3 * scores[SELF_PLAY][first] and scores[SELF_PLAY][last] < 0.1,
            ),
            Claim(
                text="self-play values converge as best-response values do, and are less exploitable at first",
                measured=f"{scores[SELF_PLAY][first]:.3g} against {scores[BEST_RESPONSE][first]:.3g}, then "
                f"{scores[SELF_PLAY][last]:.3g} against {scores[BEST_RESPONSE][last]:.3g}",
                agrees=scores[SELF_PLAY][first] < scores[BEST_RESPONSE][first]
                and scores[SELF_PLAY][last] < 2 * scores[BEST_RESPONSE][last],
            ),
            less(
                "with an expected range, re-solving needs fewer iterations (conservative)",
                scores["conservative range"][first],
                scores[SELF_PLAY][first],
            ),
        ),
    )


def play(tree: PublicTree, config: ContinualSearch, iterations: int, leaf_value: LeafValue | None) -> float:
    """Returns the exploitability of re-solving in both seats."""
    config = replace(config, iterations=iterations)
    first, second = (continual_policy(tree, searcher, config, leaf_value) for searcher in (0, 1))
    return exploitability(first.with_player(1, second.probabilities[1]))
