"""`aleator play`: a game in the terminal, by hand and by agents."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from aleator.agents.registry import known_agents
from aleator.agents.whole_hands import known_hand_agents
from aleator.games import known_games
from tests.apps.calls import call
from tests.games import subtraction

RIVER = """
board = "Qs Jh 2h 8c 3d"
pot = 100
stack = 300
oop = "AA,KQs"
ip = "QQ,98s"
[river.oop]
bet = ["75%"]
"""


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard input, to be written to."""
    lines = io.StringIO()
    monkeypatch.setattr("sys.stdin", lines)
    return lines


def test_a_game_by_hand(capsys: pytest.CaptureFixture[str], typed: io.StringIO) -> None:
    typed.write("what\nbet\n0\n0\n0\nq\n")
    typed.seek(0)
    code, text, _ = call(capsys, "play", "kuhn", "--agent", "first", "--seat", "0", "--seed", "4", "--deals", "1")
    assert code == 0
    assert "'what' is not one of the actions" in text
    assert "you:    bet" in text and "agent:  fold" in text
    assert "the agent held" in text and "You won 1; 1 in 1 deal." in text
    assert text.count("  you hold") == 1


def test_the_rules_and_the_way_out(capsys: pytest.CaptureFixture[str], typed: io.StringIO) -> None:
    typed.write("?\n\nq\n")
    typed.seek(0)
    code, text, _ = call(capsys, "play", "kuhn", "--agent", "first", "--seat", "0", "--seed", "4")
    assert code == 0 and "? shows the rules, q quits" in text
    assert "Each player antes 1 and gets one of three cards" in " ".join(text.split())
    assert text.count("your choice:   0 check   1 bet") == 3, "asked, after the rules, and after an empty line"
    assert "pot 2" in text and text.endswith("Goodbye.\n")
    assert "believed" not in text


def test_ctrl_c_says_goodbye(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["bet"])

    def read(prompt: str = "") -> str:
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", read)
    code, text, _ = call(capsys, "play", "kuhn", "--agent", "last", "--seat", "0", "--seed", "0")
    assert code == 130 and text.count("deal 2") == 1
    assert "You lost 2; -2 in 1 deal." in text and "You lost 2 in 1 deal. Goodbye." in text


def test_choices_with_numbers_for_names_are_chosen_by_name(
    capsys: pytest.CaptureFixture[str], typed: io.StringIO
) -> None:
    typed.write("0\n1\n3\n2\n")
    typed.seek(0)
    arguments = ("play", "goofspiel:3", "--agent", "first", "--seat", "0", "--seed", "4", "--deals", "1")
    code, text, _ = call(capsys, *arguments)
    assert code == 0 and "'0' is not one of the actions" in text
    assert "your hand: 1   your choice:   2   3" in text and "you 1 3" in text
    assert "  you:    1 (bid)" in text and "  agent:  tie" in text, (
        "your own secret moves are shown, the agent's are not"
    )
    assert "prize 2 is up; points: you 0.5, the agent 0.5" in text


def test_long_menus_break_between_choices(
    capsys: pytest.CaptureFixture[str], typed: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aleator.apps.cli.play.out", Console(width=40, highlight=False))
    typed.write("q\n")
    typed.seek(0)
    _, text, _ = call(capsys, "play", "liars-dice:1x6", "--agent", "first", "--seat", "0")
    menu = [line for line in text.splitlines() if line.startswith("    ")]
    assert len(menu) > 1 and all(len(line) <= 40 for line in menu)
    assert all(line.split()[0].isdecimal() and "x" in line.split()[-1] for line in menu), "none is broken"


def test_agents_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = call(capsys, "agents", "--json")
    listed = [entry for entry in json.loads(text) if not entry["whole_hands"]]
    assert code == 0 and [entry["agent"] for entry in listed] == [known.family for known in known_agents()]
    of_hands = [entry["agent"] for entry in json.loads(text) if entry["whole_hands"]]
    assert of_hands == [known.family for known in known_hand_agents()]
    code, text, _ = call(capsys, "agents")
    assert all(entry["usage"] in text for entry in listed)
    code, text, _ = call(capsys, "agents", "rebel")
    assert code == 0 and "NETWORK" in text and "exact-turn=N" in text and "of whole hands" in text
    code, _, error = call(capsys, "agents", "serch")
    assert code == 2 and "unknown agent 'serch'; did you mean 'search'? allowed: equilibrium, " in " ".join(
        error.split()
    )


def test_moves_before_a_card_are_told_apart_from_it(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(4):
        arguments = ("play", "leduc", "--agent", "first", "--you", "first", "--seat", "1", "--seed", str(seed))
        code, text, error = call(capsys, *arguments)
        assert code == 0, error
        moves = [line.split() for line in text.splitlines() if line.startswith(("  you: ", "  agent: ", "  chance: "))]
        checks = [["agent:", "check"], ["you:", "check"]]
        assert moves[:2] == moves[3:] == checks and moves[2][0] == "chance:" and moves[2][1] in "JQK"


def test_a_holdem_spot_is_played_in_the_words_of_players(
    capsys: pytest.CaptureFixture[str], typed: io.StringIO, tmp_path: Path
) -> None:
    spot = tmp_path / "river.toml"
    spot.write_text(RIVER)
    typed.write("bet\n")
    typed.seek(0)
    arguments = ("play", f"holdem:{spot}", "--agent", "last", "--seat", "0", "--seed", "1", "--deals", "1")
    code, text, error = call(capsys, *arguments)
    assert code == 0, error
    assert "    Qs Jh 2h 8c 3d, pot 100\n" in text and "your choice:   0 check   1 bet 75" in text
    assert "  you:    bet 75\n  agent:  call 75\n    Qs Jh 2h 8c 3d, pot 250\n" in text


def test_stopping(capsys: pytest.CaptureFixture[str], typed: io.StringIO) -> None:
    typed.write("q\n")
    typed.seek(0)
    code, text, _ = call(capsys, "play", "leduc", "--agent", "uniform", "--seat", "0")
    assert code == 0 and text.endswith("\nGoodbye.\n")
    code, text, _ = call(capsys, "play", "leduc", "--agent", "uniform", "--seat", "0")  # the end of the input
    assert code == 0 and "Goodbye" in text


def test_json_is_the_same_for_the_same_seed(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (
        "play",
        "kuhn",
        "--agent",
        "equilibrium:50",
        "--you",
        "uniform",
        "--deals",
        "20",
        "--seed",
        "8",
        "--json",
    )
    first, second = (json.loads(call(capsys, *arguments)[1]) for _ in range(2))
    assert first == second
    assert first["won"] == pytest.approx(sum(deal["won"] for deal in first["deals"]))
    assert {deal["seat"] for deal in first["deals"]} == {0, 1}
    for deal in first["deals"]:
        for turn in deal["turns"]:
            assert sum(turn["probabilities"]) == pytest.approx(1.0) and sum(turn["belief"]) == pytest.approx(1.0)
            held = ("J", "Q", "K").index(deal["hands"][1 - deal["seat"]])
            assert turn["belief"][held] == pytest.approx(0.0)  # nobody else has that card


@pytest.mark.parametrize("name", [known.examples[0] for known in known_games() if known.examples])
def test_every_family_of_games_can_be_played(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, error = call(capsys, "play", name, "--agent", "uniform", "--you", "uniform", "--seed", "1")
    assert code == 0, error
    assert "  you:" in text and "in 1 deal." in text


def test_a_searching_agent_shows_what_it_believed(capsys: pytest.CaptureFixture[str]) -> None:
    agent = "search:cfr-d,iterations=10"
    code, text, error = call(capsys, "play", "kuhn", "--agent", agent, "--you", "first", "--seat", "0", "--seed", "2")
    assert code == 0, error
    assert "it believed you hold" in text and "against search" in text


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (("kuhn", "--agent", "bluff"), "unknown agent 'bluff'; allowed: equilibrium"),
        (("kuhn", "--json"), "--json needs --you"),
        (("poker",), "unknown game 'poker'"),
    ):
        code, _, error = call(capsys, "play", *arguments)
        assert code == 2 and message in error, error


def test_agents_can_be_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, error = call(capsys, "evaluate", "kuhn", "--agent", "uniform", "--json")
    assert code == 0, error
    assert json.loads(text)["nash_conv"] == pytest.approx(11 / 12)
    search = ("evaluate", "kuhn", "--agent", "search:cfr-d,moves=2,iterations=30")
    exact = json.loads(call(capsys, *search, "--json")[1])["exploitability"]
    drawn = json.loads(call(capsys, *search, "--repeats", "30", "--json")[1])["exploitability"]
    assert exact < 0.08 and drawn < 0.2
    code, text, _ = call(capsys, *search, "--repeats", "3")
    assert code == 0 and "the agent search:cfr-d,moves=2,iterations=30, 3 draws" in text.replace("\n", " ")
    code, _, error = call(capsys, "evaluate", "kuhn", "--agent", "uniform", "--repeats", "3")
    assert code == 2 and "--repeats is for agents that search" in error


def test_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    match = ("match", "kuhn", "equilibrium:200", "uniform")
    code, text, error = call(capsys, *match, "--deals", "60")
    assert code == 0, error
    assert text.startswith("kuhn: what equilibrium:200 wins against uniform, 60 deals")
    assert "without luck" in text and "in the second seat" in text and "standard error" in text
    exact = json.loads(call(capsys, *match, "--exact", "--json")[1])
    drawn, again = (json.loads(call(capsys, *match, "--deals", "200", "--json")[1]) for _ in range(2))
    times = [[found.pop("first_moves"), found.pop("second_moves")] for found in (drawn, again)]
    assert [moves["moves"] for moves in times[0]] == [moves["moves"] for moves in times[1]]
    assert drawn == again and drawn["deals"] == 200 and exact["deals"] == 0 and exact["won"] is None
    assert abs(drawn["score"]["mean"] - exact["score"]["mean"]) < 4 * drawn["score"]["standard_error"]
    assert drawn["score"]["standard_error"] < drawn["won"]["standard_error"]
    code, text, _ = call(capsys, *match, "--deals", "1", "--raw")
    assert code == 0 and "1 deal" in text and "luck" not in text


def test_a_match_says_how_long_moves_take(capsys: pytest.CaptureFixture[str]) -> None:
    match = ("match", "kuhn", "first", "uniform", "--deals", "20", "--raw")
    columns = ("moves", "median", "mean", "slowest")
    code, text, error = call(capsys, *match, "--seconds-per-move", "1e-9")
    assert code == 0, error
    assert all(column in text for column in (*columns, "over 1e-09 s"))
    text = call(capsys, *match)[1]
    assert all(column in text for column in columns) and "over" not in text
    limited, free = (
        json.loads(call(capsys, *match, "--json", *more)[1]) for more in (("--seconds-per-move", "1e-9"), ())
    )
    assert limited["seconds_per_move"] == 1e-9 and free["seconds_per_move"] is None
    for moves in ("first_moves", "second_moves"):
        assert list(free[moves]) == [*columns, "over"] and free[moves]["over"] is None
        assert limited[moves]["over"] == limited[moves]["moves"] == free[moves]["moves"]
        assert 0.0 < free[moves]["median"] <= free[moves]["slowest"]
    assert limited["score"] == free["score"]


def test_a_match_of_a_game_that_is_too_big_to_measure_luck_by(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, error = call(capsys, "match", "liars-dice:2x6", "last", "first", "--deals", "4")
    assert code == 0 and "luck stays in the result: liars-dice:2x6 has" in error and "as won" in text


def test_mistakes_in_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (("kuhn", "uniform", "bluff"), "unknown agent 'bluff'; allowed: equilibrium, search"),
        (("kuhn", "uniform", "first", "--exact", "--raw"), "--exact plays no deals"),
        (("kuhn", "uniform", "first", "--exact", "--seconds-per-move", "1"), "--seconds-per-move has nothing to time"),
        (
            ("kuhn", "uniform", "first", "--seconds-per-move", "0"),
            "seconds per move must be a positive number, not 0.0",
        ),
        (("kuhn", "uniform", "first", "--seconds-per-move", "soon"), "'soon' is not a number"),
        (("kuhn", "search:seconds=1", "first", "--exact"), "depends on the clock"),
        (
            ("kuhn", "pluribus:seconds=soon", "first"),
            "pluribus: seconds must be a number above 0 and below 1e+09, not 'soon'",
        ),
        (("liars-dice:2x6", "continual", "first"), "at most 20,000,000 are allowed"),
        (("liars-dice:2x6", "search:seconds=0.01", "first", "--raw"), "subgames of liars-dice:2x6 has"),
    ):
        code, _, error = call(capsys, "match", *arguments)
        assert code == 2 and message in " ".join(error.split()), error


def test_the_board_is_shown_where_there_is_one(capsys: pytest.CaptureFixture[str], typed: io.StringIO) -> None:
    game = f"python:{subtraction.__file__}:Subtraction"
    typed.write("take 3\nq\n")
    typed.seek(0)
    code, text, _ = call(capsys, "play", game, "--agent", "last", "--seat", "0")
    assert code == 0
    assert "    ||||||||||\n" in text and "agent:  take 3\n    ||||\n" in text  # ten matches, and four after two moves
    assert "you hold" not in text and "your hand" not in text
