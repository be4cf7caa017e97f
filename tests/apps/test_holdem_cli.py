"""`aleator holdem`: what it prints, the files it writes, and one clear line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from aleator.apps.cli import holdem_grid
from aleator.solvers.holdem import estimate as holdem_estimate
from aleator.storage import write_arrays
from tests.apps.calls import call

SPOT = """
board = "3s 7h Td Ks"
pot = 100
stack = 300
oop = "AA,76s,AKo,T9s:0.3"
ip = "KK-TT,A7s,98s:0.6"
[turn.oop]
bet = ["50%", "all-in"]
[turn.ip]
bet = ["100%"]
[river.oop]
bet = ["all-in"]
[river.ip]
bet = ["75%"]
[solve]
target = 0.01
"""


@pytest.fixture
def spot(tmp_path: Path) -> Path:
    file = tmp_path / "turn.toml"
    file.write_text(SPOT)
    return file


def test_a_device_solves_the_same_spot(capsys: pytest.CaptureFixture[str], spot: Path, tmp_path: Path) -> None:
    file = tmp_path / "device.solution"
    shorter = ("--iterations", "30", "--target", "0", "--json")
    found = []
    for more in (("--device", "cpu", "--out", str(file)), ()):
        code, text, error = call(capsys, "holdem", "solve", str(spot), *shorter, *more)
        assert code == 0, error
        found.append(json.loads(text))
    bound = sum(each["exploitability"] for each in found)
    assert bound < 4 and found[0]["value"] == pytest.approx(found[1]["value"], abs=bound)
    assert found[0]["nodes"] == found[1]["nodes"] and found[0]["actions"][0].keys() == found[1]["actions"][0].keys()
    assert call(capsys, "holdem", "show", str(file), "r:0:c")[0] == 0
    code, _, error = call(capsys, "holdem", "solve", str(spot), "--device", "tpu")
    assert code == 2 and "unknown device 'tpu'; did you mean 'cpu'? allowed: auto, cpu, cuda" in error
    code, _, error = call(capsys, "holdem", "solve", str(spot), "--device", "cpu", "--bits", "16")
    assert code == 2 and "keeps rows in float32, not in float16" in error


def test_estimate_solve_show(capsys: pytest.CaptureFixture[str], spot: Path, tmp_path: Path) -> None:
    code, text, _ = call(capsys, "holdem", "estimate", str(spot), "--json")
    estimate = json.loads(text)
    assert code == 0 and estimate["fits"] and estimate["seconds"] > 0
    code, text, _ = call(capsys, "holdem", "estimate", str(spot))
    assert code == 0 and "rule of thumb" in text and "MiB" in text

    file = tmp_path / "turn.solution"
    code, text, _ = call(capsys, "holdem", "solve", str(spot), "--out", str(file), "--json")
    found = json.loads(text)
    assert code == 0
    assert found["nodes"] == estimate["nodes"] == sum(found["nodes_per_street"].values())
    assert 0 <= found["exploitability"] <= 1.0 and found["exploitability_fraction"] == found["exploitability"] / 100
    assert found["value"] == found["ev"]["oop"]["zero_sum"]
    assert sum(ev["zero_sum"] for ev in found["ev"].values()) == pytest.approx(0.0, abs=1e-3)
    assert sum(ev["with_pot_share"] for ev in found["ev"].values()) == pytest.approx(100.0, abs=1e-3)
    assert sum(found["equity"].values()) == pytest.approx(1.0)
    assert [entry["token"] for entry in found["actions"]] == ["c", "b50", "b300"]
    assert [entry["action"] for entry in found["actions"]] == ["check", "bet 50", "all-in 300"]
    assert sum(entry["frequency"] for entry in found["actions"]) == pytest.approx(1.0)
    assert found["files"] == [str(file)] and found["iterations"] > 10 and found["seconds"] > 0

    code, text, _ = call(capsys, "holdem", "show", str(file), "r:0", "--json")
    node = json.loads(text)
    assert code == 0 and (node["node"], node["to_act"]) == ("r:0", "oop")
    assert node["ev"]["oop"] == pytest.approx(found["ev"]["oop"]["with_pot_share"], abs=0.01)
    assert node["equity"] == found["equity"] and node["actions"] == found["actions"]
    assert len(node["hands"]) == 6 + 3 + 9 + 3
    for hand in node["hands"]:
        assert sum(hand["policy"].values()) == pytest.approx(1.0)
        assert sum(hand["policy"][token] * hand["action_ev"][token] for token in hand["policy"]) == pytest.approx(
            hand["ev"]
        )
        assert 0 <= hand["equity"] <= 1 and hand["weight"] in (1.0, 0.3)

    code, text, _ = call(capsys, "holdem", "show", str(file), "r:0:c:c:2c", "--json", "--player", "ip")
    node = json.loads(text)
    assert code == 0 and (node["board"], node["to_act"], node["player"]) == ("3s 7h Td Ks 2c", "oop", "ip")
    assert all(hand["policy"] == {} for hand in node["hands"])


def test_a_rake_of_nearly_all_leaves_the_rest(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "rake.toml"
    file.write_text('board = "As Kd 7h 4c 2d"\npot = 100\nstack = 50\noop = "AA"\nip = "KK"\n[rake]\nrate = 0.9\n')
    code, text, _ = call(capsys, "holdem", "solve", str(file))
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert code == 0 and rows["oop"][1:3] == ["10.00", "-40.00"] and rows["ip"][1:3] == ["0.00", "-50.00"]
    assert rows["exploitability"][1:5] == ["0.000", "chips,", "0.000", "%"], "nothing can be gained, nor less than that"


def test_show_prints_a_grid_in_colour(
    capsys: pytest.CaptureFixture[str], spot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "turn.solution"
    code, text, _ = call(capsys, "holdem", "solve", str(spot), "--iterations", "20", "--out", str(file))
    assert code == 0 and "20 of sharp-dcfr+" in text and "EV with the pot share" in text and str(file.name) in text
    code, text, _ = call(capsys, "holdem", "show", str(file))
    lines = text.splitlines()
    assert code == 0 and "oop to act" in lines[0]
    assert [line.split()[0] for line in lines[4::2]] == [
        "AA", "AKo", "AQo", "AJo", "ATo", "A9o", "A8o", "A7o", "A6o", "A5o", "A4o", "A3o", "A2o",
    ]  # fmt: skip
    assert all(len(line) <= 79 for line in lines)
    code, text, _ = call(capsys, "holdem", "show", str(file), "r:0:c", "--hands", "A7s")
    assert code == 0 and text.count("A7s") == 0
    assert {line.split()[0] for line in text.splitlines() if line.split()[:1] and line.split()[0].startswith("A")} == {
        "As7s", "Ad7d", "Ac7c",
    }  # fmt: skip
    code, text, _ = call(capsys, "holdem", "show", str(file), "--player", "ip")
    assert code == 0 and "how many of 100 of its hands ip holds here" in text.splitlines()[3]
    console = Console(force_terminal=True, color_system="truecolor", width=100, highlight=False)
    monkeypatch.setattr(holdem_grid, "out", console)
    with console.capture() as captured:
        call(capsys, "holdem", "show", str(file))
    colours = (holdem_grid.CALL_COLOUR, *holdem_grid.BET_COLOURS[:2])
    assert all(f"48;2;{red};{green};{blue}m" in captured.get() for red, green, blue in colours)
    assert "mAA" in captured.get() and "mKK" not in captured.get().replace("\x1b[2mKK", "")


def test_a_spot_is_solved_to_be_shown_and_rivers_can_be_left_out(
    capsys: pytest.CaptureFixture[str], spot: Path, tmp_path: Path
) -> None:
    code, text, _ = call(capsys, "holdem", "show", str(spot), "r:0:b50", "--json")
    assert code == 0 and json.loads(text)["to_act"] == "ip"
    file = tmp_path / "small"
    code, text, _ = call(capsys, "holdem", "solve", str(spot), "--no-river", "--out", str(file))
    code, text, error = call(capsys, "holdem", "show", str(file), "r:0:c:c:2c", "--json")
    assert code == 0 and json.loads(text)["resolved"] and "solved again" in error
    code, text, error = call(capsys, "holdem", "show", str(file), "--json")
    assert code == 0 and json.loads(text)["ev"]["oop"] is None and "unknown" in error


def test_a_policy_can_be_locked_and_a_solve_resumed(
    capsys: pytest.CaptureFixture[str], spot: Path, tmp_path: Path
) -> None:
    file = tmp_path / "turn.solution"
    lock = ("--lock", "r:0 c=1", "--lock", "r:0:c:c:2c b300=AA c=rest")
    code, text, _ = call(
        capsys, "holdem", "solve", str(spot), *lock, "--iterations", "20", "--out", str(file), "--resumable", "--json"
    )
    found = json.loads(text)
    assert code == 0 and found["locks"] == [lock[1], lock[3]]
    assert [entry["frequency"] for entry in found["actions"]] == pytest.approx([1.0, 0.0, 0.0])
    for position, ev in found["ev"].items():
        share = ev["with_pot_share"] / (100 * found["equity"][position])
        assert found["realised_equity"][position] == pytest.approx(share)
    code, text, _ = call(
        capsys, "holdem", "solve", str(spot), *lock, "--iterations", "40", "--resume", str(file), "--json"
    )
    assert code == 0 and json.loads(text)["iterations"] == 40
    code, text, _ = call(capsys, "holdem", "solve", str(spot), *lock, "--iterations", "2")
    assert code == 0 and "locked          r:0 c=1" in text and "realised" in text
    code, text, _ = call(capsys, "holdem", "runouts", str(file), "r:0:c:c", "--json")
    cards = json.loads(text)["cards"]
    assert code == 0 and len(cards) == 48 and sum(entry["chance"] for entry in cards) == pytest.approx(1.0)
    locked = next(entry for entry in cards if entry["card"] == "2c")
    assert 0 < locked["actions"][1]["frequency"] < 1 and locked["to_act"] == "oop"
    code, text, _ = call(capsys, "holdem", "runouts", str(file), "r:0:c:c")
    assert code == 0 and "what oop does first" in text and text.count(" %") > 48
    code, text, _ = call(capsys, "holdem", "show", str(file), "r:0:c", "--json")
    node = json.loads(text)
    assert code == 0 and all(hand["realised_equity"] > 0 for hand in node["hands"] if hand["equity"] > 0.5)
    cases = [
        (("solve", str(spot), "--resume", str(file)), "only on the spot"),
        (("solve", str(spot), "--resumable"), "--out"),
        (("solve", str(spot), "--lock", "r:0 b60=1"), "possible are c, b50, b300"),
        (("runouts", str(file), "r:0"), "no card is dealt"),
    ]
    for arguments, message in cases:
        code, text, error = call(capsys, "holdem", *arguments)
        assert code == 2 and message in error.replace("\n", " ") and text == ""


def test_mistakes_end_with_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], spot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    river = tmp_path / "river.toml"
    river.write_text(SPOT.replace("Td Ks", "Td Ks 2c"))
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SPOT.replace("pot =", "pott ="))
    empty = tmp_path / "empty.toml"
    empty.write_text(SPOT.replace("3s 7h Td Ks", "3s 7h Td 3s"))
    nested = tmp_path / "nested.toml"
    nested.write_text("x=" + "[" * 5_000)
    other = tmp_path / "other"
    write_arrays(other, {"a": np.zeros(2)}, {})
    file = tmp_path / "turn.solution"
    call(capsys, "holdem", "solve", str(spot), "--iterations", "2", "--out", str(file))
    cases = [
        (("solve", str(tmp_path / "missing.toml")), "No such file"),
        (("solve", str(wrong)), "did you mean 'pot'"),
        (("estimate", str(empty)), "comes twice"),
        (("solve", str(nested)), "nested at most 16 deep"),
        (("solve", str(spot), "--lock", ""), "path '' must begin with 'r'"),
        (("solve", str(spot), "--rule", "magic"), "unknown regret rule 'magic'"),
        (("solve", str(spot), "--rule", "hedge"), "Hedge is not available"),
        (("solve", str(spot), "--iterations", "0"), "at least 1"),
        (("estimate", str(spot), "--iterations", "0"), "at least 1"),
        (("solve", str(spot), "--target", "-1"), "fraction of the pot"),
        (("solve", str(spot), "--threads", "0"), "threads must be at least 1"),
        (("solve", str(spot), "--bits", "8"), "must be 32, or 16 for half the memory, not 8"),
        (("solve", str(spot), "--out", str(tmp_path / "no" / "x")), "does not exist"),
        (("solve", str(river), "--no-river"), "begins on the river"),
        (("show", str(other)), "is not a solution: its format is None"),
        (("show", str(tmp_path / "nothing")), "No such file"),
        (("show", str(file), "r:0:b77"), "possible are c, b50, b300"),
        (("show", str(spot), "r:0:b77"), "possible are c, b50, b300"),
        (("show", str(file), "r:0:c:c:7h"), "dealt already"),
        (("show", str(file), "r", "--hands", "ZZ"), "'ZZ'"),
        (("show", str(file), "r", "--hands", "QQ"), "no hand of 'QQ'"),
        (("show", str(file), "r", "--player", "me"), "oop or ip"),
    ]
    for arguments, message in cases:
        code, text, error = call(capsys, "holdem", *arguments)
        assert code == 2, arguments
        assert message in error.replace("\n", " "), (arguments, error)
        assert len(error.strip().splitlines()) == 1 and "Traceback" not in error, error
        assert text == ""
    monkeypatch.setattr(holdem_estimate, "available_memory", lambda: 1000)
    for verb in ("estimate", "solve"):
        code, _, error = call(capsys, "holdem", verb, str(spot))
        assert code == 2 and "fewer bet sizes" in error


def test_solve_estimates_games_from_the_blinds_on(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = call(capsys, "solve", "nolimit-flop:small", "--iterations", "7", "--estimate", "--json")
    document = json.loads(text)
    assert code == 0 and document["boards_per_street"] == {"preflop": 1, "flop": 1755}
    assert document["iterations"] == 7 and document["seconds_per_iteration"] > 0
    assert 0.6 < document["memory"] / 2**30 < 0.8, "42 rows of 1,184 hands on 1,755 flops, twice"
    code, _, error = call(capsys, "solve", "kuhn", "--estimate")
    assert code == 2 and "--estimate is for hold'em" in error
