"""`aleator show` with many players: a profile as tables, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from aleator.solvers.multiplayer.problem import MultiplayerSolution
from aleator.solvers.solve import solve
from tests.apps.calls import call


@pytest.mark.parametrize(("game", "start"), [("kuhn:players=3", "start"), ("leduc:players=3,cap=1", "((), '')")])
def test_a_profile_is_shown_whole_and_where_one_asks(
    game: str, start: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    solution, file = solve(game, iterations=5), str(tmp_path / "many.solution")
    assert isinstance(solution, MultiplayerSolution)
    solution.save(file)
    rows = list(csv.DictReader(io.StringIO(call(capsys, "show", file, "--csv")[1])))
    assert [float(row["probability"]) for row in rows] == solution.profile.tolist()
    assert {row["player"] for row in rows} == {"0", "1", "2"}
    whole = json.loads(call(capsys, "show", file, "--json")[1])
    assert whole["game"] == game
    assert [{name: str(value) for name, value in row.items()} for row in whole["profile"]] == rows
    code, text, error = call(capsys, "show", file)
    assert code == 0 and f"{game}, {start}: player 0 acts" in text, error
    there = [row for row in rows if row["public"] == ("" if start == "start" else start)]
    for row in there:
        assert f"{100 * float(row['probability']):.1f} %" in text
    code, text, error = call(capsys, "show", file, rows[-1]["public"])
    assert code == 0 and "player 2 acts" in text, error
    code, _, error = call(capsys, "show", file, "nowhere")
    assert code == 2 and f"unknown public state of {game} 'nowhere'; allowed: " in error and error.count("\n") == 1
