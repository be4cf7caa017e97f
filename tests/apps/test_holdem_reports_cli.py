"""`aleator holdem report`: tables, files that go on, and one line for every mistake."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.apps.calls import call
from tests.solvers.holdem.small import FLOP_SPOT

FLOPS = "9s6s2s,8s8h8d"


@pytest.fixture(scope="module")
def spot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("reports") / "flop.toml"
    file.write_text(FLOP_SPOT)
    return file


def test_a_report_is_made_kept_sorted_filtered_and_written(
    capsys: pytest.CaptureFixture[str], spot: Path, tmp_path: Path
) -> None:
    kept, table = tmp_path / "flops.report", tmp_path / "flops.csv"
    command = ("holdem", "report", str(spot), "--flops", FLOPS, "--node", "r:0:c", "--out", str(kept), "--processes")
    code, text, error = call(capsys, *command, "1", "--csv", str(table))
    assert code == 0, error
    assert "2 flops, one at a time: about" in error and "all flops" in text and "8s 8h 8d" in text
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["flop"] for row in rows] == ["9s 6s 2s", "8s 8h 8d"]
    assert float(rows[0]["ev oop"]) + float(rows[0]["ev ip"]) == pytest.approx(20)
    before = kept.read_bytes()
    code, text, error = call(capsys, *command, "2")  # nothing is left to be solved
    assert code == 0 and "2 flops are there already" in error and kept.read_bytes() == before
    code, text, _ = call(capsys, "holdem", "report", str(kept), "--only", "pairing=trips", "--json")
    document = json.loads(text)
    assert code == 0 and document["solved"] == document["wanted"] == 2
    assert [flop["cards"] for flop in document["flops"]] == ["8s 8h 8d"]
    assert document["flops"][0]["node"]["actions"][0]["token"] == "c"
    code, text, _ = call(capsys, "holdem", "report", str(kept), "--only", "pairing=trips")
    assert code == 0 and "these flops" in text and "9s 6s 2s" not in text
    orders = []
    for sort in ("ev", "-ev"):
        _, text, _ = call(capsys, "holdem", "report", str(kept), "--sort", sort, "--json")
        orders.append([flop["cards"] for flop in json.loads(text)["flops"]])
    assert orders[0] == orders[1][::-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--flops", "26"), "there are subsets of 25, 49, 85, 184 flops, and all 1,755; not 26"),
        (("--flops", "AsKd"), "a flop has three cards, not 2"),
        (("--flops", FLOPS, "--node", "r:0:b99"), "b99"),
        (("--flops", FLOPS, "--only", "suits=pink"), "suits must be monotone, two-tone, rainbow, not 'pink'"),
        (("--flops", FLOPS, "--only", "colour=red"), "flops are chosen by suits, pairing, high, connection"),
        (("--flops", FLOPS, "--bits", "8"), "--bits must be 32"),
        (("--flops", FLOPS, "--out", "/nowhere/flops.report"), "/nowhere"),
    ],
)
def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], spot: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, text, error = call(capsys, "holdem", "report", str(spot), *arguments)
    assert code == 2 and not text and message in error and len(error.strip().splitlines()) == 1


def test_what_a_report_cannot_be_sorted_by_is_said(
    capsys: pytest.CaptureFixture[str], spot: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "one.report"
    command = ("holdem", "report", str(spot), "--flops", "8s8h8d", "--out", str(kept), "--processes", "1")
    assert call(capsys, *command)[0] == 0
    code, _, error = call(capsys, "holdem", "report", str(kept), "--sort", "luck")
    unsolved = tmp_path / "two.report"
    assert call(capsys, *command[:-4], "--out", str(unsolved), "--sort", "luck")[2] == error and not unsolved.exists()
    assert code == 2 and "--sort must be ev, equity, chance, high, c, b20" in error
    code, _, error = call(capsys, *command[:-4], "--out", str(spot))
    assert code == 2 and "not a JSON object" in error and spot.read_text() == FLOP_SPOT


def test_flops_are_solved_by_the_batched_engine_and_subsets_need_all_of_them(
    capsys: pytest.CaptureFixture[str], spot: Path, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="the batched engine needs PyTorch")
    kept = tmp_path / "batched.report"
    command = ("holdem", "report", str(spot), "--flops", "8s8h8d", "--device", "cpu", "--out", str(kept), "--json")
    code, text, error = call(capsys, *command)
    assert code == 0 and json.loads(text)["solved"] == 1, error
    code, text, error = call(capsys, "holdem", "report", str(kept), "--subsets")
    assert code == 2 and not text and "this report has 1 flops" in error and "--flops all" in error


def test_two_solutions_are_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    river = tmp_path / "river.toml"
    river.write_text('board = "Qs Jh 2h 8c 3d"\npot = 100\nstack = 200\noop = "AA,JTs,T9s"\nip = "QQ,KQs,98s"\n'
                     '[river.oop]\nbet = ["75%"]\n')  # fmt: skip
    files = [str(tmp_path / name) for name in ("plain.solution", "locked.solution")]
    for file, lock in zip(files, ((), ("--lock", "r:0 b75=1")), strict=True):
        assert call(capsys, "holdem", "solve", str(river), "--out", file, *lock)[0] == 0
    code, text, error = call(capsys, "holdem", "compare", *files)
    assert code == 0, error
    assert "EV oop" in text and "where play differs most" in text and "act otherwise" in text
    code, text, _ = call(capsys, "holdem", "compare", *files, "--json")
    document = json.loads(text)
    bets = next(action for action in document["actions"] if action["token"] == "b75")
    assert bets["second"] == pytest.approx(1) and bets["difference"] == pytest.approx(1 - bets["first"])
    assert document["classes"]["AA"]["raise"]["second"] == pytest.approx(1)
    assert document["lines"][0]["node"] == "r:0"
    assert call(capsys, "holdem", "compare", *files, "r:0:b75", "--show", "ev")[0] == 0
    code, _, error = call(capsys, "holdem", "compare", *files, "--show", "luck")
    assert code == 2 and "--show must be fold, call, raise or ev, not 'luck'" in error
    code, _, error = call(capsys, "holdem", "compare", *files, "r:0:b99")
    assert code == 2 and "b99" in error


def test_a_chart_and_the_spot_that_its_line_leads_to(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    game = ("--game", "hunl:20bb", "--iterations", "20")
    code, text, error = call(capsys, "holdem", "preflop", *game)
    assert code == 0, error
    assert "SB to act" in text and "fold" in text and "AKs" in text
    code, text, _ = call(capsys, "holdem", "preflop", *game, "--json")
    document = json.loads(text)
    assert document["to_act"] == "SB" and len(document["actions"][0]["classes"]) == 169
    opened = document["actions"][2]["token"]
    file = tmp_path / "spot.toml"
    code, text, error = call(capsys, "holdem", "preflop", f"r:0:{opened}:c", *game, "--out", str(file))
    assert code == 0 and "the flop" in text, error
    from aleator.games.holdem.spot_file import load_spot

    assert load_spot(file).pot == 2 * int(opened[1:])
    code, _, error = call(capsys, "holdem", "preflop", "r:0:b7", *game)
    assert code == 2 and "no action b7 here; allowed: f, c" in error
    code, _, error = call(capsys, "holdem", "preflop", *game, "--out", str(tmp_path / "none.toml"))
    assert code == 2 and "does not lead to a flop" in error and not (tmp_path / "none.toml").exists()
    code, _, error = call(capsys, "holdem", "preflop", "--game", "ring:6")
    assert code == 2 and "heads-up" in error
