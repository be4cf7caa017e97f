"""Brown's thesis, Tables 5.1 to 5.3: safe search on every flop, or every turn, of hold'em with the whole deck."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from aleator.abstraction.buckets import BucketConfig
from aleator.abstraction.build import build_buckets
from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.apps.papers.kept import keep_run, read_run, run_file
from aleator.apps.papers.safe_subgames import PAPER, TRUNK
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.search.safe import METHODS, SafeSearch
from aleator.search.safe_on_boards import BoardSearch
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.problem import prepare_spots
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.regret_rule import CFR_PLUS


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the thesis.

    Attributes:
        game: its name here.
        number: of the table.
        title: the game in words.
        paper: its key in `PAPER`.
        buckets: of the blueprints, on the last street.
        blueprint: iterations of each of the blueprints: more buckets need more.
    """

    game: str
    number: str
    title: str
    paper: str
    buckets: tuple[int, ...]
    blueprint: tuple[int, ...]


TABLES: Final = {
    "small-flop": Table(
        game="nolimit-flop:small",
        number="5.1",
        title="small no-limit flop hold'em",
        paper="paper, small flop hold'em",
        buckets=(200, 2000, 30_000),
        blueprint=(100, 100, 200),
    ),
    "large-flop": Table(
        game="nolimit-flop:large",
        number="5.2",
        title="large no-limit flop hold'em",
        paper="paper, large flop hold'em",
        buckets=(200, 2000, 30_000),
        blueprint=(100, 100, 200),
    ),
    "turn": Table(
        game="nolimit-turn:small",
        number="5.3",
        title="no-limit turn hold'em",
        paper="paper, turn hold'em",
        buckets=(200, 2000, 20_000),
        blueprint=(100, 100, 200),
    ),
}
SEARCH_RULE = "sharp-dcfr+"
_FIT_BOARDS = 4000
_FACTOR = 2.0
_SLACK = 1.05  # re-solving leaves open which of several policies it finds
_BETTER = (
    ("safe techniques are never worse than the trunk",
     tuple((name, TRUNK) for name in ("resolve", "maxmargin", "reach-maxmargin"))),
    ("maxmargin is better than resolve", (("maxmargin", "resolve"),)),
    ("Reach-Maxmargin is no worse than maxmargin", (("reach-maxmargin", "maxmargin"),)),
    ("... and better with gifts that are not split", (("reach-maxmargin (not split)", "reach-maxmargin"),)),
    ("estimates are better than re-solving", (("estimate", "resolve"),)),
    ("distributional payoffs improve estimates", (("estimate + distributional", "estimate"),)),
    ("gifts improve that", (("reach-estimate + distributional", "estimate + distributional"),)),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRun:
    """How blueprints are made and searched.

    Attributes:
        iterations: of each search.
        flops: how many are searched; None for all.
        threads: that share them.
        seed: of the buckets, and of the flops that are drawn.
    """

    iterations: int = 100
    flops: int | None = None
    threads: int = 1
    seed: int = 0


def techniques(iterations: int) -> dict[str, SafeSearch]:
    """Returns the techniques of the tables: reach-resolve is not among them."""
    rule = parse_rule(SEARCH_RULE)
    configs = {name: replace(method, rule=rule, iterations=iterations) for name, method in METHODS.items()}
    return {name: config for name, config in configs.items() if name in PAPER[TABLES["turn"].paper]}


def make_blueprint(
    plan: BoardPlan, count: int, iterations: int, run: BoardRun, on_progress: OnProgress
) -> HoldemSolver:
    """Returns a solver with a blueprint of so many buckets on the last street, exact before it."""
    whole = plan.spot
    assert isinstance(whole, WholeGame)
    exact = whole.num_streets - 2  # streets with a board before the last
    config = BucketConfig(
        game=whole.variant.name,
        buckets=(1,) * exact + (count,),
        features=("equity",) * exact + ("ochs",),
        boards=_FIT_BOARDS,
        seed=run.seed,
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "last.buckets"
        on_progress(0.0, f"{count:,} buckets")
        buckets = build_buckets(config, path, threads=run.threads)
        solver = HoldemSolver(plan, CFR_PLUS, threads=run.threads, buckets=buckets.numbers)
    while solver.iteration < iterations:
        on_progress(solver.iteration / iterations, f"blueprint of {count:,} buckets, iteration {solver.iteration}")
        solver.run(min(10, iterations - solver.iteration))
    return solver


def measure(
    solver: HoldemSolver, run: BoardRun, names: Sequence[str], on_progress: OnProgress
) -> Iterator[tuple[str, float]]:
    """Yields for the trunk and each technique the exploitability in thousandths of a big blind a hand."""
    whole = solver.spot
    assert isinstance(whole, WholeGame)
    unit, every = 1000.0 / whole.big_blind / 2, len(solver.plan.boards[1])
    chosen = None
    if run.flops is not None and run.flops < every:
        chosen = np.random.default_rng(run.seed).choice(every, run.flops, replace=False).tolist()
    searches = [BoardSearch(solver, searcher, flops=chosen, threads=run.threads) for searcher in (0, 1)]
    yield TRUNK, unit * sum(search.best.mean for search in searches)
    configs = techniques(run.iterations)
    for number, name in enumerate(names):
        total = 0.0
        for searcher, search in enumerate(searches):

            def on_flop(
                done: int,
                number: int = number,
                searcher: int = searcher,
                name: str = name,
                flops: int = len(search.flops),
            ) -> None:
                on_progress((number + (searcher + done / flops) / 2) / len(names), f"{name}, flop {done:,}")

            total += search.search(configs[name], on_flop)
        yield name, unit * total


def scores_of(
    table: Table, column: int, run: BoardRun, on_progress: OnProgress, *, keep: Path | None = None
) -> dict[str, float]:
    """Returns the exploitability of the trunk and every technique for one of the blueprints.

    Args:
        table: of the thesis.
        column: the number of the blueprint there.
        run: how.
        on_progress: told the share of what is done, and what is done now.
        keep: a folder where numbers are kept as they are found, and read if they are there.
    """
    count, iterations = table.buckets[column], table.blueprint[column]
    about = {"experiment": f"Table {table.number}", **asdict(replace(run, threads=1)), "blueprint": iterations}
    names = (TRUNK, *techniques(1))
    files = {name: run_file(keep, f"{table.number}-{count}-{_letters(name)}") for name in names}
    scores = {name: read_run(files[name], {**about, "technique": name}, float) for name in names}
    left = [name for name in names if scores[name] is None]
    if left:
        solver = make_blueprint(
            BoardPlan(load_whole_game(table.game)),
            count,
            iterations,
            run,
            lambda share, what: on_progress(0.2 * share, what),
        )
        wanted = [name for name in left if name != TRUNK]
        for name, score in measure(solver, run, wanted, lambda share, what: on_progress(0.2 + 0.8 * share, what)):
            scores[name] = score
            keep_run(files[name], {**about, "technique": name}, score)
    return {name: score for name, score in scores.items() if score is not None}


def _letters(name: str) -> str:
    return "".join(letter for letter in name if letter.isalpha() or letter in " -").replace("  ", " ")


def run(settings: Settings, on_progress: OnProgress, table: str) -> Report:
    """Returns a table; quick: one blueprint of few iterations, and a few flops that stand for all."""
    on_progress(0.0, "compiling (first run only)")
    prepare_spots("cfr+")
    how, what = BoardRun(threads=os.cpu_count() or 1, seed=settings.seed), TABLES[table]
    if settings.quick:
        how = replace(how, iterations=30, flops=20)
        what = replace(what, buckets=what.buckets[:1], blueprint=(20,))
    elif settings.full:
        how = replace(how, iterations=400)
    scores: dict[str, list[float]] = {name: [] for name in (TRUNK, *techniques(1))}
    for column, count in enumerate(what.buckets):

        def part(share: float, text: str, column: int = column, count: int = count) -> None:
            on_progress((column + share) / len(what.buckets), f"{count:,} buckets: {text}")

        for name, score in scores_of(what, column, how, part, keep=settings.keep).items():
            scores[name].append(score)
    on_progress(1.0, "")
    return make_report(what, how, scores, settings.mode)


def make_report(table: Table, how: BoardRun, scores: dict[str, list[float]], mode: str = "") -> Report:
    """Returns the report of what was measured for each of the blueprints."""
    paper = PAPER[table.paper]
    rows: list[tuple[Cell, ...]] = []
    for name, ours in scores.items():
        for column, (count, score) in enumerate(zip(table.buckets, ours, strict=True)):
            theirs, base = paper[name][column], paper[TRUNK][column]
            shares = 100 * theirs / base, 100 * score / scores[TRUNK][column]
            rows.append((name, count, theirs, score, *shares, shares[1] / shares[0]))
    flops = "every flop" if how.flops is None else f"{how.flops} flops that stand for all 1,755: estimates, not exact"
    made = ", ".join(str(count) for count in table.blueprint)
    return Report(
        title=f"Exploitability in {table.title} (thesis Table {table.number})",
        setting=f"blueprints of {made} iterations of CFR+, then {how.iterations} iterations of {SEARCH_RULE} "
        f"in each subgame, on {flops}{mode}",
        convention="mbb/h: thousandths of a big blind a hand, mean of both players (NashConv / 2), by exact best "
        "responses over all boards and hands. Each player searches each board of the last street after each line on "
        "its own. The shares are of the trunk's exploitability.",
        columns=("technique", "buckets", "thesis, mbb/h", "ours, mbb/h", "thesis, %", "ours, %", "ours / thesis"),
        rows=tuple(rows),
        claims=_claims(rows, scores),
        panels={
            table.title: {
                name: list(zip(map(float, table.buckets), numbers, strict=True)) for name, numbers in scores.items()
            }
        },
        x_label="buckets of the blueprint",
        y_label="exploitability, mbb/h",
        deviations="The thesis does not say which bets its games have: here the pot (small), and half the pot and the "
        "pot (large), one raise preflop and two bets on the flop, or the pot once a street (turn hold'em); stacks of "
        "200 big blinds. Buckets are k-means of OCHS; the thesis' are potential-aware, but a game's last street has no "
        f"potential. Subgames are solved by {SEARCH_RULE}, which needs a quarter of CFR+'s iterations. Gifts that are "
        "not split are multiplied by the number of boards.",
    )


def _claims(rows: Sequence[tuple[Cell, ...]], scores: dict[str, list[float]]) -> tuple[Claim, ...]:
    ratios = [float(row[-1]) for row in rows if row[0] != TRUNK and isinstance(row[-1], float)]
    near = sum(1 / _FACTOR <= ratio <= _FACTOR for ratio in ratios)
    claims = [
        Claim(
            text="each technique leaves the thesis' share of the trunk's exploitability, within a factor of 2",
            measured=f"in {near} of {len(ratios)} cases, ratios from {min(ratios):.2f} to {max(ratios):.2f}",
            agrees=near == len(ratios),
        )
    ]
    for text, pairs in _BETTER:
        compared = [
            (low, high) for better, worse in pairs for low, high in zip(scores[better], scores[worse], strict=True)
        ]
        right = sum(low <= high * _SLACK for low, high in compared)
        claims.append(Claim(text=text, measured=f"in {right} of {len(compared)} cases", agrees=right == len(compared)))
    return tuple(claims)
