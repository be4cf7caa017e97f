"""Experiments with the shipped networks of hold'em."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.apps.papers.deepstack_networks import errors_on
from aleator.apps.papers.holdem_curves import HoldemCurve
from aleator.apps.papers.rebel_turn_endgame import endgame, worth
from aleator.errors import SolveError
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.network import NetworkShape
from tests.apps.calls import quick_paper


def test_the_endgame_is_that_of_the_paper() -> None:
    spot = endgame()
    assert (spot.pot, spot.stack, len(spot.board)) == (2_000, 19_000, 4)
    root = spot.build_tree()
    assert root.tokens == ("c", "b1000", "b2000", "b19000")
    assert root.children[2].tokens == ("f", "c", "b6500", "b19000"), "three quarters of the pot after calling"


def test_iterations_of_equal_quality_lie_between_looks() -> None:
    curve = HoldemCurve([(4.0, 8.0), (8.0, 4.0), (16.0, 1.0)], 1.0)
    assert worth(curve, 9.0) == 4.0 and worth(curve, 0.5) == 16.0
    assert worth(curve, 4.0) == pytest.approx(8.0) and worth(curve, 2.0) == pytest.approx(8 * 2**0.5)


def test_only_what_can_be_solved_to_the_end_is_measured() -> None:
    flop = KnotNetwork(NetworkShape(street="flop", width=8, layers=1, knots=4, levels=2), 49)
    with pytest.raises(SolveError, match="of the end of the flop cannot be solved to the end; allowed: river, turn"):
        errors_on(flop, 1, 1, "cpu")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deepstack-networks", "rebel-turn-endgame"])
def test_short_runs_agree_with_their_claims(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, name, tmp_path)
    assert document["claims"] and all(claim["agrees"] for claim in document["claims"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deepstack-lbr", "rebel-hunl"])
def test_whole_hands_are_played_against_responses(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Four hands a row say nothing about the claims: they show that every row can be played."""
    _, document = quick_paper(capsys, name, tmp_path)
    assert len(document["claims"]) == len(document["rows"]) >= 3
    assert all(row["hands"] == 4 and "±" in row["ours"] for row in document["rows"])
