"""`aleator show`: tables, JSON and CSV of a policy, from a game or a file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from tests.apps.calls import call

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def test_a_game_is_solved_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = call(capsys, "show", "kuhn", "check/bet")
    assert code == 0 and "K" in text and "100.0 %" in text and "exploitability" in text


def test_a_file_is_shown_as_json_and_csv(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "kuhn.solution"
    solve("kuhn", limits=Limits(iterations=50)).save(file)
    code, text, _ = call(capsys, "show", str(file), "--json")
    table = json.loads(text)
    assert code == 0 and table["game"] == "kuhn" and set(table["policy"]["start"]["J"]) == {"check", "bet"}
    rows = list(csv.DictReader(io.StringIO(call(capsys, "show", str(file), "--csv")[1])))
    assert len(rows) == 24 and float(rows[0]["probability"]) == table["policy"]["start"]["J"]["check"]


def test_a_file_of_ones_own_game_is_shown_with_the_game(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, game = tmp_path / "customs.solution", f"python:{EXAMPLES / 'customs.py'}:Customs"
    solve(game, limits=Limits(iterations=20)).save(file)
    code, _, error = call(capsys, "show", str(file))
    assert code == 2 and "--game" in error
    code, text, _ = call(capsys, "show", str(file), "--game", game)
    assert code == 0 and "declare 3" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kuhn", "check/fly"), "no 'fly' after check"),
        (("kuhn", "check/check"), "nobody acts"),
        (("chess",), "chess"),
        (("kuhn", "--game", "kuhn"), "--game is for files, and 'kuhn' is none"),
        (("some.blueprint",), "aleator holdem preflop --game GAME --agent blueprint:some.blueprint shows its charts"),
    ],
)
def test_what_is_not_there_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, _, error = call(capsys, "show", *arguments)
    assert code == 2 and message in error
