"""Charts before the flop of a blueprint of several players, as the worker tells them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aleator.agents.whole_hands.preflop import preflop_charts
from aleator.apps.web.models_reports import ChartsInfo, PreflopNode
from aleator.apps.web.worker import preflop
from aleator.apps.web.worker.advice import advice_of, table_advice
from aleator.apps.web.worker.blueprints import blueprint_game, with_charts
from aleator.apps.web.worker.preflop import chart
from aleator.errors import AleatorError
from aleator.games.holdem.cards import parse_hand
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from tests.apps.web.running import Silent
from tests.search.pluribus.ring.small import three_players


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(three_players(tmp_path_factory.mktemp("charts")))


def node(file: str, path: str) -> PreflopNode:
    """Returns a place as a route would."""
    params: dict[str, Any] = {"game": "hunl:100bb", "blueprint": file, "path": path}
    return PreflopNode.model_validate(chart(params, Silent()))


def test_blueprints_with_charts_are_listed_without_their_places(file: str, tmp_path: Path) -> None:
    found = with_charts({"blueprints": [str(tmp_path / "gone.blueprint"), file]}, Silent())
    (info,) = [ChartsInfo.model_validate(row) for row in found]
    assert (info.number, info.players, info.stack) == (2, 3, 100)
    assert info.title == Path(file).stem


def test_a_line_of_three_players_leads_to_a_spot_of_two(file: str) -> None:
    root = node(file, "r:0")
    assert (root.positions, root.to_act) == (["SB", "BB", "BTN"], "BTN")
    assert [place.position for place in root.folds] == ["SB"]
    opens = next(action.token for action in root.actions if action.kind == "raise")
    faced = node(file, f"r:0:{opens}")
    assert faced.to_act == "SB" and [place.position for place in faced.folds] == ["BB"]
    flop = node(file, f"r:0:{opens}:f:c")
    assert flop.is_flop and flop.spot is not None
    assert [(step.position, step.name.split()[0]) for step in flop.line] == [
        ("BTN", "raise"), ("SB", "fold"), ("BB", "call"),
    ]  # fmt: skip
    raised = int(opens[1:])
    assert flop.spot["pot"] == 2 * raised + 50 and flop.spot["min_bet"] == flop.big_blind == 100
    assert "AA" in flop.spot["ip"]


def test_every_pair_of_positions_has_its_chart(file: str) -> None:
    pairs = node(file, "r:0").pairs
    assert {(pair.opener, pair.position) for pair in pairs} == {("BTN", "SB"), ("BTN", "BB"), ("SB", "BB")}
    for pair in pairs:
        shown = node(file, pair.path)
        assert shown.to_act == pair.position
        moved = [step for step in shown.line if step.name != "fold"]
        assert [step.position for step in moved] == [pair.opener]


def test_at_a_table_the_blueprint_tells_what_it_does_with_a_hand(file: str) -> None:
    files = ["gone.blueprint", file]
    hands = (parse_hand("AsAh"), parse_hand("TcTd"), parse_hand("7c2d"))
    played = HandRecord(setup=blueprint_game(file).setup, hands=hands, board=(), actions=parse_actions("f r300 f"))
    (told,) = advice_of(played, 0, files, {1})
    assert advice_of(played, 0, files, {3}) == [], "which others decided"
    assert told["name"] == "AA" and sum(action["policy"] for action in told["actions"]) == pytest.approx(1)
    assert told["actions"][told["taken"]]["kind"] == "raise"
    assert table_advice(played.setup.start(), hands[2], files[:1]) is None, "it is gone"
    other = replace(played.setup, stacks=(5_000,) * 3).start()
    assert table_advice(other, hands[2], files) is None, "it is of another game"
    assert table_advice(played.setup.start(), hands[2], files) is not None


def test_a_solve_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="searches need PyTorch")
    monkeypatch.setattr(preflop, "ITERATIONS", 20)
    monkeypatch.setattr(preflop, "preflop_charts", partial(preflop_charts, iterations=20))
    channel = Silent()
    asked = {"game": "hunl:12bb", "blueprint": None, "path": "r:0"}
    assert PreflopNode.model_validate(chart(asked, channel)).to_act == "SB"
    assert [event["done"] for event in channel.events] == [0.5, 1.0]
    chart(asked, channel)
    assert len(channel.events) == 2, "it is solved once"


def test_a_line_that_is_not_there_is_refused(file: str) -> None:
    with pytest.raises(AleatorError, match="no action b7 here"):
        node(file, "r:0:b7")
