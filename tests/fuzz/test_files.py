"""Whatever a file says: it is read as written, or refused in one line; nothing hangs, and nothing is wrong in silence.

*Damaged* files are what a disk or a network makes of them: bits, cuts, parts that are missing or come twice. What of
them is still accepted must be equal to what was written. *Forged* files are made by somebody who knows the format:
their checksums are right, but headers, settings and arrays say anything. What of them is accepted must make sense.

`make test` takes a few inputs per door, `make test-slow` 20,000.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from aleator.errors import AleatorError
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.spot_file import parse_spot
from aleator.learning.rebel.checkpoint import RunDirectory
from aleator.learning.rebel.model import Model, ModelSearch, load_model
from aleator.learning.rebel.run import Pace, train
from aleator.learning.rebel.training import Trainer
from aleator.learning.run_files import CHECKPOINT, CONFIG
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.limits import Limits
from aleator.solvers.solution import TreeSolution, open_solution
from aleator.solvers.solve import solve
from aleator.storage import ArrayFile, StorageError, write_arrays
from aleator.storage.tensors import write_tensors
from tests.apps.web.fuzzing import Fuzz
from tests.learning.runs import tiny
from tests.patience import patience

FEW, MANY = 200, 20_000
SPOT = """
board = "As Kd 7h 4c"
pot = 10
stack = 20
oop = "AA,KQs,76s"
ip = "KK,QJs,22"
[turn.oop]
bet = ["50%"]
[river.oop]
bet = ["all-in"]
[lock."r:0"]
c = 0.5
b5 = "rest"
"""
TYPES = ("<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "i1", "u1", "?")
NUMBERS = (0.0, -1.0, np.nan, np.inf, -np.inf, 1e30, 127.0, 0.5)

Values = dict[str, Any]
Write = Callable[[Path, dict[str, npt.NDArray[Any]], dict[str, str]], None]


class Door(NamedTuple):
    """A way for files to come in.

    Attributes:
        files: good ones; earlier versions have no checksum of the header, so that not all damage is noticed in them.
        read: reads everything in a file, checks that it makes sense, and returns it.
        write: writes arrays and metadata as the door wants them; None for a file of JSON.
    """

    files: list[Path]
    read: Callable[[Path], Values]
    write: Write | None = write_arrays


def in_bytes(arrays: Any) -> Values:
    """Returns arrays as bytes, to be compared."""
    return {name: np.asarray(array).tobytes() for name, array in arrays.items()}


def read_solution(path: Path) -> Values:
    solution = open_solution(path)
    assert isinstance(solution, TreeSolution)
    policy = solution.policy
    policy.check()
    for node in range(0, policy.tree.num_nodes, 3):
        if policy.tree.actor[node] >= 0:
            assert np.array_equal(solution.probabilities(node), policy[node])
    return {"summary": solution.summary.report(), "state": in_bytes(solution.state)} | in_bytes(
        {"0": policy.probabilities[0], "1": policy.probabilities[1]}
    )


def read_spot(path: Path) -> Values:
    solution = HoldemSolution.open(path)
    blocks = {}
    for number, node in enumerate(solution.root.walk()):
        level = node.street - solution.spot.street
        if node.kind is NodeKind.DECISION and (solution.has_last_street or level < len(solution.boards) - 1):
            block = blocks[str(number)] = solution.blocks(level, slice(None), node)
            assert block.min() >= 0.0 and block.max() <= 1.0 and np.allclose(block.sum(axis=1), 1.0)
    solution.verify()
    boards = [(board.cards, board.parent, board.maps) for boards in solution.boards for board in boards]
    spot = (solution.spot.board, solution.spot.pot, solution.spot.stack, solution.spot.weights().tobytes())
    state = in_bytes(solution.state)
    return {"summary": solution.summary.report(), "boards": boards, "spot": spot, "state": state} | in_bytes(blocks)


def read_network(path: Path) -> Values:
    model = load_model(path)
    networks = [network for network in (model.network, model.policy) if network is not None]
    parameters = [value.numpy() for network in networks for value in network.state_dict().values()]
    assert all(np.isfinite(value).all() for value in parameters)
    if model.config.game == "liars-dice:1x2" and model.config.depth < 4:
        ModelSearch(model)
    arrays = in_bytes({str(number): value for number, value in enumerate(parameters)})
    return {"config": model.config.to_dict(), "report": json.dumps(model.report), **arrays}


def read_config(path: Path) -> Values:
    config = RunDirectory(path.parent).config()
    trainer = Trainer(config)
    run = RunDirectory(path.parent)
    run._check_game(run._settings()[1], trainer.subgames.fingerprint, trainer)
    return config.to_dict()


def read_checkpoint(path: Path) -> Values:
    run = RunDirectory(path.parent)
    trainer = Trainer(run.config())
    run.restore(trainer)
    parameters = [value.numpy() for value in trainer.network.state_dict().values()]
    facts = {"epoch": trainer.epoch, "steps": trainer.steps, "owed": trainer.owed, "seconds": trainer.seconds}
    trainer.run_epoch()
    return facts | in_bytes({str(number): value for number, value in enumerate(parameters)})


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Door]:
    """All doors for files, with good files."""
    folder = tmp_path_factory.mktemp("good")
    solve("kuhn", limits=Limits(iterations=20)).save(folder / "kuhn")
    solve("goofspiel:3", "mccfr", limits=Limits(iterations=20)).save(folder / "goofspiel")
    solved = solve(parse_spot(SPOT), limits=Limits(iterations=20), keep_state=True)
    solved.save(folder / "spot")
    solved.save(folder / "without river", river=False)
    run = RunDirectory(folder / "run")
    trainer = Trainer(tiny(policy=True, zero_sum=True))
    run.create(trainer.config, trainer.subgames.fingerprint)
    train(trainer, run, Pace(playthroughs=0), stopped=lambda: trainer.epoch >= 3)
    assert trainer.policies is not None
    known = trainer.subgames.fingerprint
    Model(trainer.config, trainer.searcher, {"loss": 0.5}, trainer.policies.searcher, known).save(folder / "network")
    Model(tiny(), Trainer(tiny()).network).save(folder / "plain")
    return {
        "solution": Door([folder / "kuhn", folder / "goofspiel"], read_solution),
        "hold'em": Door([folder / "spot", folder / "without river"], read_spot),
        "network": Door([folder / "network", folder / "plain"], read_network, write_tensors),
        "config": Door([folder / "run" / CONFIG], read_config, None),
        "checkpoint": Door([folder / "run" / CHECKPOINT], read_checkpoint),
    }


def forge(fuzz: Fuzz, door: Door, source: Path, target: Path) -> None:
    """Writes a file that keeps its checksums right but says something else."""
    if door.write is None:
        values = json.loads(source.read_bytes())
        values.pop("crc32")
        target.write_text(json.dumps(fuzz.value([values])))
        return
    file = ArrayFile(source)
    arrays, metadata = {name: file.read(name) for name in file.names}, dict(file.metadata)
    for _ in range(fuzz.rng.choice((1, 1, 2))):
        if fuzz.rng.random() < 0.5:
            name = fuzz.rng.choice(list(metadata))
            metadata[name] = _changed_text(fuzz, metadata[name])
        elif arrays:
            _change_array(fuzz, arrays)
    door.write(target, arrays, metadata)


def _changed_text(fuzz: Fuzz, text: str) -> str:
    try:
        return json.dumps(fuzz.value([json.loads(text)])) if fuzz.rng.random() < 0.8 else fuzz.text([text])
    except ValueError:
        return fuzz.text([text])


def _change_array(fuzz: Fuzz, arrays: dict[str, npt.NDArray[Any]]) -> None:
    name = fuzz.rng.choice(list(arrays))
    array = arrays.pop(name)
    match fuzz.rng.randrange(6):
        case 0:
            return
        case 1:
            with np.errstate(all="ignore"):
                array = array.astype(fuzz.rng.choice(TYPES))
        case 2:
            array = array.reshape(-1)[: fuzz.rng.randrange(array.size + 1)]
        case 3:
            array = np.resize(array, fuzz.rng.choice([(1,), (2, 3), (0,), (5, 0), (), (7, 1, 2), (1000,)]))
        case 4:
            arrays[fuzz.text([name])] = array
        case _:
            array = np.array(array)
            if array.size:
                with np.errstate(all="ignore"):
                    place = fuzz.rng.randrange(array.size)
                    array.reshape(-1)[place] = np.array(fuzz.rng.choice(NUMBERS)).astype(array.dtype)
    arrays[name] = array


def attack(door: Door, folder: Path, count: int, seed: int) -> tuple[int, int]:
    """Puts so many bad files through a door; returns how many were accepted, of the damaged and of the forged ones."""
    good = {path: door.read(path) for path in door.files}
    accepted = [0, 0]
    for number in range(count):
        fuzz = Fuzz(seed * 1_000_003 + number)
        source, is_forged = fuzz.rng.choice(door.files), number % 2
        target = folder / source.name
        if is_forged:
            try:
                forge(fuzz, door, source, target)
            except (UnicodeError, StorageError):  # no file can say that
                is_forged = 0
        if not is_forged:
            target.write_bytes(fuzz.bytes([source.read_bytes()]))
        try:
            with patience(10.0 if count == MANY else 60.0):
                found = door.read(target)
        except AleatorError as error:
            message = str(error)
            assert message and "\n" not in message and len(message) < 2000, (number, message)
            continue
        except BaseException as error:
            raise AssertionError(f"input {number} of seed {seed}: {type(error).__name__}: {error}") from error
        accepted[is_forged] += 1
        assert is_forged or found == good[source], f"input {number} of seed {seed} is wrong in silence"
    return accepted[0], accepted[1]


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["solution", "hold'em", "network", "config", "checkpoint"])
def test_bad_files_are_refused_in_one_line(name: str, count: int, doors: dict[str, Door], tmp_path: Path) -> None:
    if name == "checkpoint":
        (tmp_path / CONFIG).write_bytes((doors["config"].files[0]).read_bytes())
    for path in doors[name].files:
        doors[name].read(path)  # what is imported and compiled takes memory, too
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    damaged, forged = attack(doors[name], tmp_path, count, seed=1)
    assert damaged < count // 20, "only damage that says the same is accepted"
    assert forged < count // 2
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 500_000, f"{grown:,} KB were taken for files of a few"
