"""Files never choose code: a game of one's own is named by the user, and must be the one of the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aleator.errors import AleatorError, GameError, SolutionError
from aleator.games import load_game
from aleator.games.registry import load_recorded_game
from aleator.learning.rebel.checkpoint import RunDirectory
from aleator.learning.rebel.model import ModelSearch, load_model
from aleator.learning.rebel.training import Trainer
from aleator.solvers.limits import Limits
from aleator.solvers.solution import TreeSolution, open_solution
from aleator.solvers.solve import solve
from tests.apps.calls import call
from tests.apps.test_train_cli import TINY

GAME = """
from pathlib import Path
from aleator.games.one_card import OneCardPoker

Path(__file__).with_name("was-run").touch()


class Mine(OneCardPoker):
    def __init__(self):
        super().__init__(3)

    def utility(self, state):
        return super().utility(state) * STAKE
"""


class Own:
    """A folder with a game of one's own, which notes when its code is run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "notes.py"
        self.name = f"python:{self.file}:Mine"
        self.write(1)

    def write(self, stake: int) -> None:
        """Writes the rules anew."""
        self.file.write_text(GAME.replace("STAKE", str(stake)))

    def was_run(self) -> bool:
        """Returns whether the code has been run since this was asked last."""
        mark = self.folder / "was-run"
        found = mark.exists()
        mark.unlink(missing_ok=True)
        return found


@pytest.fixture
def own(tmp_path: Path) -> Own:
    """A game of one's own."""
    return Own(tmp_path)


def refused(capsys: pytest.CaptureFixture[str], own: Own, *arguments: str) -> str:
    """Returns the one line with which a command refuses, without having run the code unless the user named it."""
    code, _, error = call(capsys, *arguments)
    assert code == 2 and error.count("\n") == 1, error
    named = any(argument == own.name for argument in arguments)
    assert own.was_run() == named
    return error


def test_a_solution_does_not_choose_code(capsys: pytest.CaptureFixture[str], own: Own, tmp_path: Path) -> None:
    file = tmp_path / "mine.solution"
    assert call(capsys, "solve", own.name, "--iterations", "50", "--out", str(file))[0] == 0
    assert own.was_run()
    saved = open_solution(file)
    assert isinstance(saved, TreeSolution)
    assert saved.probabilities(0).shape == (2, 3), "looking at nodes needs no rules"
    with pytest.raises(SolutionError, match=r"notes.py:Mine' is in another file, which is opened only if you name it"):
        _ = saved.policy
    assert not own.was_run()
    assert "--game python:FILE" in refused(capsys, own, "evaluate", str(file))

    code, text, error = call(capsys, "evaluate", str(file), "--game", own.name, "--json")
    assert code == 0 and json.loads(text)["exploitability"] > 0, error
    for arguments in (
        ("solve", own.name, "--iterations", "60", "--resume", str(file)),
        ("match", own.name, str(file), "uniform", "--deals", "4"),
        ("play", own.name, "--agent", str(file), "--you", "uniform", "--seed", "1"),
    ):
        code, _, error = call(capsys, *arguments)
        assert code == 0, error

    own.write(stake=3)
    own.was_run()
    for arguments in (
        ("evaluate", str(file), "--game", own.name),
        ("solve", own.name, "--iterations", "60", "--resume", str(file)),
        ("match", own.name, str(file), "uniform", "--deals", "4"),
        ("play", own.name, "--agent", str(file), "--you", "uniform"),
    ):
        assert "another game of that name: the rules differ" in refused(capsys, own, *arguments)
    assert "not of leduc: the rules differ" in refused(capsys, own, "evaluate", str(file), "--game", "leduc")


def test_a_game_that_has_moved_is_still_the_same_game(own: Own, tmp_path: Path) -> None:
    solve(load_game(own.name), limits=Limits(iterations=20)).save(tmp_path / "mine.solution")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = load_game(Own(elsewhere).name)
    found = open_solution(tmp_path / "mine.solution", moved)
    resumed = solve(moved, limits=Limits(iterations=30), resume=found).summary
    assert resumed.iterations == 30 and resumed.game == moved.name
    assert found.policy.tree.game is moved


def test_a_run_and_a_network_do_not_choose_code(capsys: pytest.CaptureFixture[str], own: Own, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code, _, error = call(capsys, "train", "rebel", "--game", own.name, *TINY, "--out", str(folder))
    assert code == 0, error
    own.was_run()
    network = folder / "network.safetensors"
    config, model = RunDirectory(folder).config(), load_model(network)
    for opened in (lambda: Trainer(config), lambda: ModelSearch(model), lambda: load_recorded_game(config.game)):
        with pytest.raises(GameError, match="which is opened only if you name it"):
            opened()
    assert "--game python:FILE" in refused(capsys, own, "train", "rebel", "--resume", str(folder), "--device", "cpu")
    for arguments in (
        ("train", "rebel", "--resume", str(folder), "--device", "cpu", "--game", own.name),
        ("match", own.name, f"rebel:{network},iterations=4", "uniform", "--deals", "4"),
    ):
        code, _, error = call(capsys, *arguments)
        assert code == 0, error
    own.write(stake=3)
    own.was_run()
    for arguments in (
        ("train", "rebel", "--resume", str(folder), "--device", "cpu", "--game", own.name),
        ("match", own.name, f"rebel:{network},iterations=4", "uniform", "--deals", "4"),
    ):
        assert "another game of that name: the rules differ" in refused(capsys, own, *arguments)


@pytest.mark.parametrize("name", ["python:notes.py:X", "holdem:/dev/stdin", "openspiel:efg_game(filename=/etc/passwd)"])
def test_names_in_files_open_no_other_file(name: str) -> None:
    with pytest.raises(AleatorError, match=r"its game .* is in another file") as caught:
        load_recorded_game(name)
    assert "\n" not in str(caught.value)
