"""The command line: output, JSON, files, and one clear line with exit code 2 for every mistake."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from aleator import meter
from aleator.apps.benchmarking import benchmark_names, load_benchmark
from aleator.apps.cli import output
from aleator.apps.cli.stopping import interruptible
from aleator.games.registry import load_game
from aleator.solvers.limits import Progress
from aleator.solvers.solution import Solution, open_solution
from aleator.solvers.solve import solve
from aleator.storage import write_arrays
from aleator.trees.public_tree import build_tree
from tests.apps.calls import call
from tests.patience import patience


def test_games_lists_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = call(capsys, "games", "--json")
    rows = {row["game"]: row for row in json.loads(text)}
    assert code == 0
    assert rows["leduc"]["infostates"] == 288
    assert rows["liars-dice:1x6"]["public_states"] == 8191
    code, text, _ = call(capsys, "games", "liars-dice:2x2")
    assert code == 0 and "liars-dice:2x2" in text


@pytest.mark.parametrize("words", [["games"], ["--help"]], ids=" ".join)
def test_what_solves_nothing_loads_neither_torch_nor_openspiel_nor_the_compiler(words: list[str]) -> None:
    script = (
        "import sys; from aleator.apps.cli.main import main\n"
        "import aleator.trees, aleator.games.holdem.game\n"
        f"try: main({words})\n"
        "except SystemExit: pass\n"
        "print([name for name in ('torch', 'pyspiel', 'numba', 'matplotlib', 'scipy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_solve_evaluate_resume(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, plot = tmp_path / "kuhn.solution", tmp_path / "kuhn.png"
    code, text, _ = call(
        capsys, "solve", "kuhn", "--iterations", "100", "--out", str(file), "--plot", str(plot), "--json"
    )
    summary = json.loads(text)
    assert code == 0
    assert {
        "game",
        "algorithm",
        "iterations",
        "nash_conv",
        "exploitability",
        "value",
        "seconds",
        "nodes",
        "infostates",
    } <= set(summary)
    assert summary["exploitability"] == summary["nash_conv"] / 2 < 0.01
    assert plot.read_bytes().startswith(b"\x89PNG")
    code, text, _ = call(capsys, "evaluate", str(file), "--json")
    assert code == 0
    assert json.loads(text)["nash_conv"] == pytest.approx(summary["nash_conv"], abs=1e-12)
    code, text, _ = call(capsys, "solve", "kuhn", "--resume", str(file), "--iterations", "200", "--json")
    assert json.loads(text)["iterations"] == 200
    code, text, _ = call(capsys, "solve", "kuhn", "--algorithm", "lp")
    assert code == 0 and "value            -0.055556" in text
    code, text, _ = call(capsys, "evaluate", str(file))
    assert code == 0 and "NashConv / 2" in text


def test_plots_over_nodes_touched(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plot = tmp_path / "kuhn.svg"
    arguments = (
        "solve",
        "kuhn",
        "--algorithm",
        "mccfr",
        "--iterations",
        "50",
        "--plot",
        str(plot),
        "--plot-over",
        "nodes",
    )
    code, text, _ = call(capsys, *arguments)
    assert code == 0 and "nodes touched    " in text
    assert "<svg" in plot.read_text()
    summary = json.loads(call(capsys, *arguments, "--json")[1])
    assert summary["nodes_touched"] == summary["curve"][-1]["nodes_touched"] > 50


def test_mistakes_end_with_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_text("not a solution")
    other = tmp_path / "other"
    write_arrays(other, {"a": np.zeros(2)}, {})
    leduc = tmp_path / "leduc.solution"
    call(capsys, "solve", "leduc", "--iterations", "2", "--out", str(leduc))
    before = leduc.read_bytes()
    damaged = tmp_path / "damaged"
    length = int.from_bytes(before[:8], "little")
    place = 8 + length + json.loads(before[8 : 8 + length])["policy0"]["data_offsets"][0]
    damaged.write_bytes(before[:place] + b"\xff" * 8 + before[place + 8 :])
    cases = [
        (("solve", "chess"), "unknown game 'chess'"),
        (("games", "chess"), "unknown game 'chess'"),
        (("solve", "liars-dice:9x9"), "1 to 6 dice"),
        (("solve", "liars-dice:3x6"), "public states"),
        (("solve", "kuhn", "--algorithm", "magic"), "unknown algorithm 'magic'"),
        (("solve", "kuhn", "--iterations", "0"), "at least 1"),
        (("solve", "kuhn", "--target", "-3"), "must be positive and finite, not -3"),
        (("solve", "kuhn", "--dtype", "int8"), "float64, float32"),
        (("solve", "kuhn", "--out", str(tmp_path / "no" / "x")), "does not exist"),
        (("solve", "kuhn", "--plot", str(tmp_path / "x.gif")), ".png, .svg or .pdf"),
        (("solve", "kuhn", "--resume", str(leduc)), "is a solution of leduc, not of kuhn"),
        (("solve", "leduc", "--algorithm", "cfr", "--resume", str(leduc)), "made by dcfr"),
        (("evaluate", str(tmp_path / "missing")), "No such file"),
        (("evaluate", str(foreign)), "is not a file of arrays"),
        (("evaluate", str(other)), "is not a solution: its format is None"),
        (("evaluate", "kuhn"), "kuhn is a game: evaluate an agent there with --agent"),
        (
            ("evaluate", "my.safetensors"),
            "my.safetensors is a network: name its game, with --agent rebel:my.safetensors",
        ),
        (("serve", "--port", "0"), "the port must be 1 to 65535, not 0"),
        (("serve", "--data-dir", str(leduc)), "cannot make the directory"),
        (("serve", "--data-dir", str(tmp_path / "new"), "--runs", str(leduc)), "cannot make the directory"),
        (("bench", "nothing"), "unknown benchmark"),
        (("solve", "leduc", "--iterations", "2", "--resume", str(leduc)), "has 2 iterations already"),
        (("solve", "kuhn", "--algorithm", "lp", "--plot", str(tmp_path / "x.png")), "no convergence to plot"),
        (("solve", "kuhn", "--algorithm", "lp", "--iterations", "9"), "exactly in one step: leave out --iterations"),
        (("solve", "leduc", "--algorithm", "lp", "--resume", str(leduc)), "exactly in one step: leave out --resume"),
        (("solve", "kuhn", "--plot-over", "hours"), "iterations, seconds, nodes, not over 'hours'"),
        (("solve", "kuhn", "--plot-over", "nodes"), "dcfr does not count the nodes"),
        (("solve", "kuhn", "--plot-over", "seconds"), "--plot-over seconds is for --plot, which is not given"),
        (("solve", "kuhn", "--weight", "0.5"), "--weight 0.5 is for --transfer"),
        (("solve", "kuhn", "--resumable"), "every solution of kuhn can be resumed"),
        (("solve", "kuhn", "--out", str(foreign)), "of another kind, and would be lost"),
        (("solve", "kuhn", "--out", str(leduc)), "it holds leduc, which would be lost"),
        (("solve", "kuhn", "--out", str(other)), "it holds 'arrays', which would be lost"),
        (("solve", "turn.toml"), "a spot is named holdem:turn.toml"),
        (("solve", "my.py:Mine"), "a game of your own is named python:my.py:Mine"),
        (("show", "kuhn", "--json", "--csv"), "choose one"),
        (("solve", "leduc:bets=nan/4"), "a bet of Leduc must be a number"),
        (("solve", "leduc:bets=0/4"), "positive and distinct"),
        (("games", "one-card:x"), "the number after one-card: must be a whole number"),
        (("evaluate", str(damaged)), "is damaged: the content of policy0"),
    ]
    for arguments, message in cases:
        code, text, error = call(capsys, *arguments)
        assert code == 2, arguments
        assert message in error.replace("\n", " "), (arguments, error)
        assert len(error.strip().splitlines()) == 1 and "Traceback" not in error, error
        assert text == ""
    assert foreign.read_text() == "not a solution"
    assert leduc.read_bytes() == before, "existing files are untouched"


def test_the_package_is_a_command() -> None:
    result = subprocess.run([sys.executable, "-m", "aleator", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("aleator ")


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "--version")[1].startswith("aleator ")
    code, text, _ = call(capsys, "--help")
    assert code == 0
    assert all(verb in text for verb in ("games", "solve", "evaluate", "paper", "bench", "demo"))
    code, text, _ = call(capsys, "solve", "--help")
    assert "--exploitability,--target  " in text, "names of options are not cut"
    shown = text.partition("Examples:")[2].partition("Arguments")[0]
    examples = [" ".join(line.split()) for line in re.sub(r" \\ *\n", " ", shown).splitlines()]
    dice = "aleator solve liars-dice:1x6 --algorithm pcfr+ --iterations 2000 --out dice.solution --plot dice.png"
    assert dice in examples, "a long example can be pasted as it is"
    assert (
        code == 0
        and "aleator solve leduc --exploitability 1e-4" in examples
        and "aleator solve kuhn --algorithm lp --json" in examples
    )
    assert "such as examples/river.toml" in call(capsys, "holdem", "solve", "--help")[1]


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("train deep-cfr", "--game kuhn --preset demo"),
        ("train nfsp", "--game kuhn --preset demo --out runs/nfsp"),
        ("train double-neural", "--game kuhn --preset demo"),
        ("train rebel", "--game liars-dice:1x3"),
        ("train holdem", "--street river --preset small --device cpu"),
        ("abstraction build", "few.bin --game flop-holdem --buckets 10"),
        ("holdem report", "examples/srp-flop.toml --flops 25 --node r:0:c --out srp.report"),
    ],
)
def test_what_takes_long_begins_with_a_short_example_and_says_how_long_that_takes(
    capsys: pytest.CaptureFixture[str], command: str, first: str
) -> None:
    code, text, _ = call(capsys, *command.split(), "--help")
    said, _, examples = re.sub(r" \\ *\n *", " ", text).partition("Examples:")
    shown = [" ".join(line.split()) for line in examples.splitlines() if line.strip()]
    assert code == 0 and shown[0] == f"aleator {command} {first}"
    assert re.search(r"first example (takes|\w+ an hour)", " ".join(said.split()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fly",), "No such command 'fly' (see aleator --help)"),
        (("solve",), "Missing argument 'GAME' (see aleator solve --help)"),
        (("solve", "kuhn", "--iterations", "many"), "'many' is not a whole number (see aleator solve --help)"),
        (("solve", "kuhn", "--height", "3"), "No such option: --height"),
        (("holdem", "fly"), "No such command 'fly' (see aleator holdem --help)"),
        *(
            (
                (*command, "--seed", "-1"),
                f"-1 is not in the range 0<=x<2^63 (see aleator {command[0]} --help)",
            )
            for command in (("solve", "kuhn"), ("play", "kuhn"), ("match", "kuhn", "uniform", "uniform"), ("paper",))
        ),
    ],
)
def test_arguments_that_are_not_understood_are_one_line_too(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text, error = call(capsys, *arguments)
    assert (code, text) == (2, "") and message in error and len(error.strip().splitlines()) == 1, error


@pytest.mark.parametrize("arguments", [(), ("holdem",)])
def test_nothing_at_all_shows_the_help(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, text, error = call(capsys, *arguments)
    assert code == 2 and "Usage: aleator" in text + error and "Commands" in text + error


def test_benchmarks_are_listed_without_what_they_need(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # not installed
    code, text, _ = call(capsys, "bench", "--json")
    assert code == 0 and list(json.loads(text)) == benchmark_names()
    assert json.loads(text)["tabular"] == load_benchmark("tabular").SUMMARY


def test_ctrl_c_keeps_what_was_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from aleator.apps.cli import solving as command

    file, presses = tmp_path / "kuhn.solution", [signal.SIGINT]

    def interrupted(*arguments: Any, on_progress: Callable[[Progress], bool], **settings: Any) -> Solution:
        def press(progress: Progress) -> bool:
            if progress.iteration >= 10 and presses:  # once: twice ends the program at once
                signal.raise_signal(presses.pop())
            return on_progress(progress)

        return solve(*arguments, on_progress=press, **settings)

    monkeypatch.setattr(command, "solve", interrupted)
    code, text, error = call(capsys, "solve", "kuhn", "--iterations", "100000000", "--out", str(file), "--json")
    assert code == 130 and "stopped early" in error
    assert 10 <= json.loads(text)["iterations"] < 100
    assert open_solution(file).summary.iterations == json.loads(text)["iterations"]


def test_ctrl_c_elsewhere_and_disks_that_fail(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for raised, code, message in (
        (KeyboardInterrupt(), 130, ""),
        (
            OSError(28, "No space left on device", "runs/metrics.jsonl"),
            2,
            "runs/metrics.jsonl: No space left on device",
        ),
        (MemoryError(), 2, "out of memory"),
    ):

        def fail(name: str, raised: BaseException = raised) -> None:
            raise raised

        monkeypatch.setattr("aleator.apps.cli.games.load_game", fail)
        ended, text, error = call(capsys, "games", "kuhn")
        assert (ended, text) == (code, "") and message in error and "Traceback" not in error


def test_tables_break_neither_words_nor_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, row = ["game", "exploitability", "seconds", "machine"], ["liars-dice:1x4", "0.00663", "29.8", "a machine"]
    for width, blocks in ((60, False), (30, True)):
        monkeypatch.setattr(output, "out", Console(width=width, highlight=False))
        output.print_table("", columns, [row])
        lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
        assert {"liars-dice:1x4", "0.00663", "29.8"} <= {word for line in lines for word in line}
        assert (["exploitability", "0.00663"] in lines) == blocks


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal shows, where every walk is shown at once."""
    shown = io.StringIO()
    monkeypatch.setattr(output, "err", Console(file=shown, force_terminal=True, width=120))
    monkeypatch.setattr(output, "_SOON", 0.0)
    monkeypatch.setattr(meter, "_SHORT", 0.0)
    return shown


def test_a_walk_that_takes_its_time_gets_a_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: io.StringIO
) -> None:
    assert call(capsys, "games", "leduc")[0] == 0
    assert "counting the states of leduc" in terminal.getvalue()
    shown: list[str] = []
    monkeypatch.setattr(output, "_moves", [lambda share, text: shown.append(text)])  # a bar that is there already
    with output.walks_shown(quiet=False):
        build_tree(load_game("leduc"))
    assert shown[-1].startswith("building the tree of leduc: ") and shown[-1].endswith(" public states")
    shown.clear()
    assert call(capsys, "games", "leduc", "--json")[0] == 0
    assert not shown


def test_a_game_that_is_too_big_is_seen_to_grow_and_refused(
    capsys: pytest.CaptureFixture[str], terminal: io.StringIO
) -> None:
    with meter.watch(most=20_000):
        code, text, _ = call(capsys, "solve", "leduc:nolimit25")
    assert (code, text) == (2, "")
    assert "counting the states of leduc:nolimit25" in terminal.getvalue()
    assert "leduc:nolimit25 has more than the 20,000 different public states that are allowed" in terminal.getvalue()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leduc:cap=5000", "goes on after 10,000 moves in a row"),
        ("goofspiel:" + "9" * 5_000, "goofspiel"),
        ("leduc:cap=" + "9" * 5_000, "cap"),
        ("openspiel:go(board_size=99999)", "board size up to 19"),
    ],
    ids=lambda text: text[:20],
)
def test_names_that_ended_in_a_traceback_or_never(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("solve", "games"):
        with patience(60):
            code, text, error = call(capsys, verb, name)
        assert (code, text) == (2, "") and message in error
        assert error.startswith("error: ") and error.count("\n") == 1 and len(error) <= 520


def test_ctrl_c_ends_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "_SHORT", 0.0)
    with output.walks_shown(quiet=True), interruptible() as pressed:
        signal.raise_signal(signal.SIGINT)
        assert pressed()
        with pytest.raises(KeyboardInterrupt):
            build_tree(load_game("leduc"))


def test_an_error_is_one_line_of_printable_characters(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("x" * 1_000_000, "a\nb\x1b[2Jc", "\ud800", "\u202e"):
        for arguments in (
            ("solve", name),
            ("solve", "kuhn", "--algorithm", name),
            ("solve", "kuhn", "--iterations", name),
        ):
            code, text, error = call(capsys, *arguments)
            assert (code, text) == (2, "")
            assert error.startswith("error: ") and error.count("\n") == 1 and error.strip().isprintable()
            assert len(error) <= 520


def test_names_with_brackets_and_colons_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, terminal: io.StringIO
) -> None:
    folder = tmp_path / "a ["
    folder.mkdir()
    for name in ("bold].solution", "c[red] :star:.solution"):
        code, text, error = call(capsys, "solve", "kuhn", "--iterations", "5", "--out", str(folder / name))
        assert code == 0, error
        assert f"written          {folder / name} (" in text
    with output.progress_bar("[/d] :star:", quiet=False) as move:
        move(0.5, "[/e]")
    assert "[/d] :star:" in terminal.getvalue() and "[/e]" in terminal.getvalue()


def test_results_go_through_links_to_devices_and_not_into_pipes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pipe, link, target, null = (tmp_path / name for name in ("pipe", "link", "target", "null"))
    os.mkfifo(pipe)
    link.symlink_to(target)
    null.symlink_to("/dev/null")
    target.touch(0o600)
    command = ("solve", "kuhn", "--iterations", "5", "--out")
    code, _, error = call(capsys, *command, str(pipe))
    assert code == 2 and error == f"error: cannot write {pipe}: it is a pipe\n" and pipe.is_fifo()
    for path in (link, null):
        assert call(capsys, *command, str(path))[0] == 0 and path.is_symlink()
    assert open_solution(target).summary.iterations == 5 and target.stat().st_mode & 0o777 == 0o600
    assert Path("/dev/null").is_char_device()
