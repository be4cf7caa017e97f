"""Experiments on hold'em: the spots are what they say, short runs agree with their claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from aleator.apps.papers import safe_search_holdem
from aleator.apps.papers.base import PaperError
from aleator.apps.papers.dcfr_hunl import BIG_BLIND, STACK, subgame
from aleator.apps.papers.fhp_linear_cfr import whole_curve
from aleator.apps.papers.holdem_curves import TYPICAL, HoldemCurve, holdem_curve, make_spot
from aleator.apps.papers.safe_search_holdem import TABLES, BoardRun, make_report, measure, scores_of, techniques
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.regret_rule import CFR_PLUS, DCFR
from tests.apps.calls import quick_paper
from tests.search.test_safe_on_boards import GAME as SMALL_DECK
from tests.solvers.holdem.test_buckets import by_pairs


def test_the_four_subgames_have_the_pots_of_the_thesis() -> None:
    spots = [subgame(number) for number in (1, 2, 3, 4)]
    assert [spot.pot for spot in spots] == [500, 4780, 500, 3750]
    assert [len(spot.board) for spot in spots] == [4, 4, 5, 5]
    assert all(spot.pot / 2 + spot.stack == STACK and spot.min_bet == BIG_BLIND for spot in spots)
    root = spots[3].build_tree()
    assert root.tokens == ("c", "b1875", "b3750", "b18125"), "half the pot, the pot, all-in"
    assert root.children[2].tokens == ("f", "c", "b15000", "b18125"), "the pot after calling, all-in"


def test_curves_stop_at_their_target_and_find_the_first_iteration_below_one() -> None:
    spot = make_spot("Td 9d 6h Qc Ks", 1000, 2500, TYPICAL, bets='"100%"', raises='"all-in"')
    points = (8, 16, 32, 64, 128, 256, 512)
    curve = holdem_curve(spot, DCFR, points, until=0.5)
    first = curve.iterations_to(0.5)
    assert first == curve.points[-1][0] and 8 < first < 512 and curve.seconds_per_iteration > 0
    assert curve.iterations_to(0.0) is None
    slower = holdem_curve(spot, CFR_PLUS, (int(first),))
    assert slower.points[0][1] > curve.points[-1][1], "CFR+ takes longer here"
    assert HoldemCurve([(1.0, 3.0), (2.0, 1.0), (4.0, 2.0)], 1.0).iterations_to(2.0) == 2.0


@pytest.mark.slow
def test_the_default_rule_is_among_the_best(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "holdem-rules", tmp_path)
    assert len(document["rows"]) == 22 and len(document["panels"]) == 4
    default, _, predictions = document["claims"]
    assert default["agrees"] and predictions["agrees"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "firm"), [("dcfr-hunl", (0, 3, 5)), ("mccfr-hunl", (0,))])
def test_short_runs_agree_with_the_thesis(
    name: str, firm: tuple[int, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, document = quick_paper(capsys, name, tmp_path)
    for number in firm:
        assert document["claims"][number]["agrees"], document["claims"][number]


def test_curves_of_games_from_the_blinds_on_fall() -> None:
    small = WholeGame(variant=load_whole_game("flop-holdem").variant, deck=tuple(range(43, 52)))
    curve = whole_curve(BoardPlan(small), "lcfr", (1, 5, 50), lambda share, what: None)
    found = [quality for _, quality in curve.points]
    assert found[0] > found[1] > found[2] > 0.0 and found[2] < found[0] / 10
    assert curve.seconds_per_iteration > 0.0 and curve.memory > curve.moved / 5


@pytest.mark.slow
def test_linear_cfr_on_flop_holdem_has_the_exploitability_of_the_thesis(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, document = quick_paper(capsys, "fhp-linear-cfr", tmp_path)
    assert len(document["claims"]) == 2 and all(claim["agrees"] for claim in document["claims"]), document["claims"]


def test_flops_are_searched_by_every_technique_of_the_table() -> None:
    """On a small deck: what is measured goes into the report beside the thesis' numbers."""
    solver = HoldemSolver(SMALL_DECK, CFR_PLUS, buckets=by_pairs)
    solver.run(30)
    how, table = BoardRun(iterations=60), replace(TABLES["small-flop"], buckets=(200,), blueprint=(30,))
    names = tuple(techniques(1))
    found = dict(measure(solver, how, names, lambda share, what: None))
    trunk = found.pop("trunk")
    assert trunk == pytest.approx(1000 / 100 * solver.exploitability(), rel=1e-4)
    assert len(found) == 9 and all(value < 1.02 * trunk for value in found.values())
    report = make_report(table, how, {name: [score] for name, score in {"trunk": trunk, **found}.items()})
    rows = {row[0]: row for row in report.rows}
    assert rows["trunk"][2:] == pytest.approx((88.69, trunk, 100.0, 100.0, 1.0))
    share = 100 * found["unsafe"] / trunk
    assert rows["unsafe"][2:6] == pytest.approx((14.68, found["unsafe"], 16.55, share), rel=1e-3)
    some = dict(measure(solver, replace(how, flops=12, iterations=20), ("unsafe",), lambda share, what: None))
    assert some["trunk"] == pytest.approx(trunk) and some["unsafe"] < trunk
    scores = {name: [1.0] for name in ("trunk", *names)}
    assert "estimates, not exact" in make_report(table, replace(how, flops=12), scores).setting


def test_what_was_measured_is_kept_and_only_the_rest_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table, asked = TABLES["turn"], list[tuple[str, ...]]()

    def measured(
        solver: object, run: BoardRun, names: Sequence[str], on_progress: object
    ) -> Iterator[tuple[str, float]]:
        asked.append(tuple(names))
        yield from ((name, float(len(name))) for name in ("trunk", *names))

    monkeypatch.setattr(safe_search_holdem, "BoardPlan", lambda game: None)
    monkeypatch.setattr(safe_search_holdem, "make_blueprint", lambda *given: None)
    monkeypatch.setattr(safe_search_holdem, "measure", measured)
    first = scores_of(table, 1, BoardRun(threads=2), lambda share, what: None, keep=tmp_path)
    assert len(first) == 10 and first["unsafe"] == 6.0
    (tmp_path / "5.3-2000-unsafe.json").unlink()
    assert scores_of(table, 1, BoardRun(threads=1), lambda share, what: None, keep=tmp_path) == first
    assert asked == [tuple(techniques(1)), ("unsafe",)]
    with pytest.raises(PaperError, match="other settings"):
        scores_of(table, 1, BoardRun(flops=5), lambda share, what: None, keep=tmp_path)
    scores_of(table, 0, BoardRun(), lambda share, what: None, keep=tmp_path)
    assert len(asked) == 3, "another column has files of its own"


@pytest.mark.slow
def test_flops_of_the_whole_deck_are_searched(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "safe-search-small-flop", tmp_path / "new")
    rows = {row["technique"]: row for row in document["rows"]}
    assert rows["trunk"]["ours, mbb/h"] > 50
    assert rows["unsafe"]["ours, %"] < 70 and rows["maxmargin"]["ours, %"] < 90
