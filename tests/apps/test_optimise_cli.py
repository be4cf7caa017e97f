"""`aleator optimise` and `aleator solve --transfer`."""

from __future__ import annotations

import json

import pytest

from tests.apps.calls import call, quick_paper

GAME = "leduc:bets={a}/{b}"


def test_optimise_prints_and_plots(capsys, tmp_path):
    plot = tmp_path / "bets.png"
    arguments = ("optimise", "leduc:bets=2/{b}", "--parameter", "b=4", "--player", "second", "--iterations", "20",
                 "--steps", "4", "--plot", str(plot))  # fmt: skip
    code, text, error = call(capsys, *arguments)
    assert code == 0, error
    assert "best for the second player" in text and plot.read_bytes().startswith(b"\x89PNG")
    code, text, _ = call(capsys, *arguments[:-2], "--json")
    document = json.loads(text)
    assert code == 0 and len(document["steps"]) == 4 and document["parameters"]["b"] > 4.5
    assert document["steps"][-1]["gradient"]["b"] > 0


def test_solve_goes_on_at_other_bets(capsys, tmp_path):
    old = tmp_path / "old.solution"
    solve = ("solve", GAME, "--algorithm", "cfr", "--iterations", "3000")
    assert call(capsys, *solve, "--parameter", "a=2", "--parameter", "b=4", "--out", str(old))[0] == 0
    near = ("--parameter", "a=2.1", "--parameter", "b=4.1")
    code, text, error = call(capsys, *solve, *near, "--transfer", str(old), "--weight", "0.5")
    assert code == 0, error
    assert "with weight 0.5" in text
    code, text, _ = call(capsys, *solve, *near, "--transfer", str(old), "--json")
    scratch = json.loads(call(capsys, *solve[:-1], "1000", *near, "--json")[1])
    assert json.loads(text)["exploitability"] < scratch["exploitability"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solve", "leduc", "--transfer", "x.solution"), "--transfer needs the game's parameters"),
        (("solve", GAME, "--parameter", "a=2"), "needs a value of b"),
        (("solve", GAME, "--parameter", "a=2", "--parameter", "b=4", "--weight", "1"), "--weight 1 is for --transfer"),
        (
            ("solve", GAME, "--parameter", "a=2", "--parameter", "b=4", "--transfer", "x", "--weight", "2"),
            "above 0 and at most 1",
        ),
        (("optimise", GAME, "--parameter", "a=two", "--parameter", "b=4"), "the parameter a"),
        (("optimise", GAME, "--parameter", "a=2", "--parameter", "b=4", "--player", "third"), "first, second"),
        (("optimise", GAME, "--parameter", "a=2", "--parameter", "b=4", "--between", "b=5"), "NAME=LEAST:MOST"),
    ],
)
def test_mistakes_are_one_line(capsys, arguments, words):
    code, _, error = call(capsys, *arguments)
    assert code == 2 and words in error and error.count("\n") == 1


@pytest.mark.slow
def test_the_paper_runs(capsys, tmp_path):
    _, document = quick_paper(capsys, "regret-transfer", tmp_path)
    rows = {row["start"]: row for row in document["rows"]}
    assert rows["transfer with weight"]["after 1,024"] < rows["from scratch"]["after 1,024"] / 2
