"""Signals: what has been found is kept, as after Ctrl-C, and the exit code says which signal it was."""

from __future__ import annotations

import json
import os
import pty
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.apps.cli.stopping import cut_short, end, exit_code, interruptible, stopped
from aleator.games.holdem.spot_file import load_spot
from aleator.solvers.limits import Limits
from aleator.solvers.solution import Solution, open_solution
from aleator.solvers.solve import solve
from tests.abstraction.blueprint.small import small_buckets
from tests.apps.processes import COMMAND, PATIENCE, kill_at_random, kinds_of_end, newer, start, wait_for

SPOT = Path(__file__).parents[2] / "examples" / "river.toml"
ENDLESS = ("solve", "leduc", "--iterations", "100000000", "--checkpoint-every", "0", "--json")


def assert_equal(first: Solution, second: Solution) -> None:
    """Asserts that two solutions are equal, bit by bit."""
    assert first.summary.iterations == second.summary.iterations
    assert first.summary.exploitability == second.summary.exploitability
    assert list(first.state) == list(second.state) != []
    for name, vector in first.state.items():
        assert np.asarray(vector).tobytes() == np.asarray(second.state[name]).tobytes(), name


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_solve_that_is_told_to_end_is_saved_and_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    file = tmp_path / "x.solution"
    process = start(*ENDLESS, "--out", str(file))
    wait_for(newer(file), process)  # a checkpoint
    process.send_signal(number)
    text, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number, error
    assert f"stopped early; this is what was found so far; go on with --resume {file}" in error
    saved = open_solution(file)
    assert saved.summary.iterations == json.loads(text)["iterations"]
    assert os.listdir(tmp_path) == [file.name]
    limits = Limits(iterations=saved.summary.iterations + 100)
    assert_equal(solve("leduc", limits=limits, resume=saved), solve("leduc", limits=limits))


def test_ctrl_c_saves_a_spot_with_its_state(tmp_path: Path) -> None:
    file = tmp_path / "x.solution"
    command = ("holdem", "solve", str(SPOT), "--iterations", "100000000", "--out", str(file), "--checkpoint-every", "0")
    process = start(*command)
    wait_for(newer(file), process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "stopped early" in error, error
    saved, spot = open_solution(file), load_spot(SPOT)
    limits = Limits(iterations=saved.summary.iterations + 10)
    resumed = solve(spot, limits=limits, resume=saved, keep_state=True)
    assert_equal(resumed, solve(spot, limits=limits, keep_state=True))


def test_a_terminal_that_is_closed_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x.solution"
    child, terminal = pty.fork()
    if child == 0:  # with a terminal of its own, whose bar moves
        os.execv(sys.executable, [*COMMAND, *ENDLESS[:-1], "--out", str(file)])
    saved_once = newer(file)
    while not saved_once():
        os.read(terminal, 1 << 16)
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 129
    saved = open_solution(file)
    saved.verify()
    assert saved.summary.iterations > 0 and os.listdir(tmp_path) == [file.name]


def test_what_nohup_protects_is_not_ended(tmp_path: Path) -> None:
    file = tmp_path / "x.solution"
    process = start(*ENDLESS, "--out", str(file), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(newer(file), process)
    process.send_signal(signal.SIGHUP)
    wait_for(newer(file), process)  # it goes on
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143


def test_the_second_signal_ends_at_once() -> None:
    with interruptible() as told:
        signal.raise_signal(signal.SIGTERM)
        assert told() and stopped()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert not stopped() and exit_code() == 143, "the code is that of the first"
    with pytest.raises(SystemExit) as ended:
        end(stopped=True)
    assert ended.value.code == 143
    end(stopped=False)
    for number in (signal.SIGTERM, signal.SIGHUP):
        assert signal.getsignal(number) == signal.SIG_DFL


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["dcfr", "rbp:cfr+,skip=25", "mccfr"])
def test_twenty_kills_of_a_solve_lose_nothing(algorithm: str, tmp_path: Path) -> None:
    found = kill_at_random(("solve", "leduc", "--algorithm", algorithm), tmp_path / "x", 20, seed=1)
    assert_equal(found, solve("leduc", algorithm, limits=Limits(iterations=found.summary.iterations)))


@pytest.mark.slow
def test_twenty_kills_of_a_spot_lose_nothing(tmp_path: Path) -> None:
    found = kill_at_random(("holdem", "solve", str(SPOT), "--resumable"), tmp_path / "x", 20, seed=2)
    limits = Limits(iterations=found.summary.iterations)
    assert_equal(found, solve(load_spot(SPOT), limits=limits, keep_state=True))


@pytest.mark.slow
def test_kills_of_a_blueprint_in_training_lose_nothing(tmp_path: Path) -> None:
    """Whatever the moment, the file is whole and goes on; in the end it is what training without a stop finds."""
    buckets, folder, rng, deals = tmp_path / "small.bin", tmp_path / "made", random.Random(3), 0
    small_buckets().save(buckets)
    folder.mkdir()
    file = folder / "flop.blueprint"
    command = ("train", "blueprint", "--game", "flop-holdem", "--abstraction", str(buckets), "--out", str(file))
    command = (*command, "--threads", "1", "--checkpoint-every", "0", "--json", "--deals")
    for kind in kinds_of_end(8, rng):
        process = start(*command, "1000000000")
        wait_for(newer(file), process)
        time.sleep(rng.random() * 0.5)
        process.send_signal(kind)
        _, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == (-signal.SIGKILL if kind == signal.SIGKILL else 128 + kind), error
        now = Blueprint(file).progress.deals
        assert now > deals and Blueprint(file).table().any(), "what was saved before is trained further"
        deals = now
    process = start(*command, str(deals + 1000))
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error
    assert [path.name for path in folder.iterdir()] == [file.name], "nothing is left behind"
    straight = BlueprintTrainer(BlueprintConfig.of("flop-holdem"), small_buckets(), buckets)
    straight.run(deals=deals + 1000)
    np.testing.assert_array_equal(Blueprint(file).table(), straight.table)


NEVER = """
from pathlib import Path
from aleator.agents.whole_hands import HandAgent

class Never(HandAgent):
    name = "never"

    def policy_at(self, state):
        Path("asked").touch()
        while True:
            pass
"""


@pytest.mark.parametrize("processes", [(), ("--processes", "2")], ids=["here", "processes"])
def test_a_match_is_stopped_in_the_middle_of_a_search(processes: tuple[str, ...], tmp_path: Path) -> None:
    """Whatever an agent does then: this one never answers."""
    (tmp_path / "never.py").write_text(NEVER)
    command = ("match", "hunl", "python:never.py:Never", "always-call", "--hands", "40", "--out", "m.jsonl", *processes)
    process = start(*command, cwd=tmp_path)
    wait_for((tmp_path / "asked").exists, process)
    process.send_signal(signal.SIGINT)
    text, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, error
    assert "stopped after 0 of 40 hands; the same command goes on from there" in error.replace("\n", " ")
    assert "wins against always-call" in text and "nan" not in text


def test_a_signal_cuts_a_block_short_and_is_remembered() -> None:
    done = []
    with interruptible() as told:
        with cut_short():
            done.append("begun")
        with cut_short():
            signal.raise_signal(signal.SIGTERM)
            done.append("after the signal")
        assert done == ["begun"] and told()
        with pytest.raises(KeyboardInterrupt), cut_short():
            signal.raise_signal(signal.SIGINT)
    assert exit_code() == 143
