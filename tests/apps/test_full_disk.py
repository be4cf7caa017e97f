"""A disk that is full: a clear line, what was there stays, and with space again everything goes on.

Processes may write files up to a size only (RLIMIT_FSIZE), which their parent can raise again.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from aleator.abstraction.blueprint.file import Blueprint
from aleator.learning.rebel.checkpoint import RunDirectory
from aleator.solvers.solution import open_solution
from tests.abstraction.blueprint.small import small_buckets
from tests.apps.calls import call
from tests.apps.processes import PATIENCE, newer, start, wait_for
from tests.apps.test_train_cli import TINY
from tests.learning.runs import contents

SPOT = Path(__file__).parents[2] / "examples" / "river.toml"
LITTLE = 2_000  # bytes


def start_with_little_space(*arguments: str) -> subprocess.Popen[str]:
    """Returns a process that can write little: not even code that it compiles."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    return start(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LITTLE, hard)))


@pytest.mark.parametrize(
    "command", [("solve", "leduc", "--iterations", "50"), ("holdem", "solve", str(SPOT), "--iterations", "50")]
)
def test_what_was_there_stays(command: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.solution"
    assert call(capsys, *command, "--out", str(file))[0] == 0
    before = file.read_bytes()
    process = start_with_little_space(*command, "--out", str(file))
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2 and error.strip() == f"error: cannot write {file}: File too large"
    assert file.read_bytes() == before and os.listdir(tmp_path) == [file.name]
    assert call(capsys, *command, "--out", str(file))[0] == 0


def test_a_solve_goes_on_and_saves_when_there_is_space_again(tmp_path: Path) -> None:
    file = tmp_path / "x.solution"
    process = start_with_little_space(
        "solve", "leduc", "--iterations", "1000000000", "--out", str(file), "--checkpoint-every", "0", "--json"
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.strip() == f"cannot write {file}: File too large; the solve goes on", line
    assert os.listdir(tmp_path) == []
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (hard, hard))
    wait_for(newer(file), process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    open_solution(file).verify()
    assert os.listdir(tmp_path) == [file.name]


def test_a_blueprint_is_trained_on_and_saved_when_there_is_space_again(tmp_path: Path) -> None:
    buckets, folder = tmp_path / "small.bin", tmp_path / "made"
    small_buckets().save(buckets)
    folder.mkdir()
    file = folder / "flop.blueprint"
    process = start_with_little_space(
        "train", "blueprint", "--game", "flop-holdem", "--abstraction", str(buckets), "--out", str(file),
        "--deals", "1000000000", "--checkpoint-every", "0", "--threads", "1", "--json",
    )  # fmt: skip
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.strip() == f"cannot write {file}: File too large; the training goes on", line
    assert os.listdir(folder) == []
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (hard, hard))
    wait_for(newer(file), process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143 and os.listdir(folder) == [file.name]
    assert Blueprint(file).progress.deals > 0 and Blueprint(file).table().any()


def test_a_training_run_resumes_when_there_is_space_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    settings = ("--game", "liars-dice:1x2", *TINY, "--playthroughs", "0", "--json")
    folder, straight = tmp_path / "run", tmp_path / "straight"
    process = start_with_little_space("train", "rebel", *settings, "--out", str(folder))
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2 and error.count("\n") == 1 and "File too large" in error, error
    assert not [path.name for path in folder.iterdir() if path.suffix == ".tmp"]
    resume = ("train", "rebel", "--resume", str(folder), "--device", "cpu", "--threads", "1", "--playthroughs", "0")
    assert call(capsys, *resume)[0] == 0
    assert call(capsys, "train", "rebel", *settings, "--out", str(straight))[0] == 0
    assert contents(RunDirectory(folder)) == contents(RunDirectory(straight))


def test_a_match_names_its_file_and_goes_on_when_there_is_space_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, straight = tmp_path / "match.jsonl", tmp_path / "straight.jsonl"
    match = ("match", "hunl", "always-call", "random", "--hands", "40", "--aivat", "raw", "--json", "--out")
    _, error = (process := start_with_little_space(*match, str(file))).communicate(timeout=PATIENCE)
    assert process.returncode == 2 and error.strip() == f"error: cannot write {file}: File too large"
    assert 0 < file.stat().st_size <= LITTLE
    for path in (file, straight):
        assert call(capsys, *match, str(path))[0] == 0
    assert file.read_text() == straight.read_text()


def fill(path: Path) -> None:
    """Writes zeros to a file until there is no space left."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(1024)):
            pass


def test_a_file_system_without_space(tmp_path: Path) -> None:
    """A real one, of 64 KiB, where this machine lets us make one."""
    script = f"mount -t tmpfs -o size=64k none {tmp_path} && echo ready && exec sleep 600"
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    holder = subprocess.Popen(["unshare", "-rm", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        if holder.stdout.readline() != b"ready\n":
            pytest.skip("this machine makes no file systems for us")
        root = Path(f"/proc/{holder.pid}/root{tmp_path}")
        small, big = root / "small", root / "big"
        process = start("solve", "kuhn", "--iterations", "5", "--out", str(small))
        _, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, error
        before = small.read_bytes()
        for game, file in (("leduc", big), ("kuhn", small)):
            process = start("solve", game, "--iterations", "6", "--out", str(file))
            _, error = process.communicate(timeout=PATIENCE)
            assert process.returncode == 2 and error.strip().endswith(f"{file}: No space left on device"), error
            fill(root / "filler")
        assert small.read_bytes() == before and set(os.listdir(root)) == {"small", "filler"}
    finally:
        holder.kill()
        holder.communicate()
