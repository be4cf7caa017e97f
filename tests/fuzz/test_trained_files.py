"""Files of what was trained, damaged and forged as in `test_files`: blueprints, buckets, networks, profiles.

`make test` takes a few inputs per door, `make test-slow` 20,000.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.policy import open_blueprint, open_policy
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.buckets import BucketConfig, Buckets, open_buckets
from aleator.abstraction.packed.buckets import pack_buckets
from aleator.abstraction.packed.packing import pack_blueprint
from aleator.abstraction.ring.file import RingBlueprint
from aleator.abstraction.ring.policy import open_ring_policy
from aleator.abstraction.ring.training import RingConfig, RingTrainer
from aleator.errors import AleatorError
from aleator.games import load_game
from aleator.games.holdem.cards import parse_cards
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.model import HoldemModel, load_holdem_model
from aleator.learning.holdem.network import NetworkShape
from aleator.learning.sampled.methods import METHODS
from aleator.learning.sampled.model import SampledModel, TrainedPolicies, load_model
from aleator.solvers.limits import Limits
from aleator.solvers.multiplayer.problem import MultiplayerSolution
from aleator.solvers.solution import open_solution
from aleator.solvers.solve import solve
from aleator.storage import ArrayFile, StorageError, write_arrays
from aleator.storage.tensors import TensorFile, write_tensors
from tests.abstraction.ring.test_walk import THREE
from tests.fuzz.test_files import Door, Values, attack, in_bytes

FEW, MANY = 100, 20_000


def random_buckets(game: str = "flop-holdem") -> Buckets:
    """Returns buckets that mean nothing, on the flop alone."""
    table = np.random.default_rng(3).integers(0, 3, (1755, 1326)).astype(np.uint8)
    config = BucketConfig(game=game, buckets=(3,), features=("equity",))
    centres = [np.array([[800.0], [2000.0], [3300.0]], np.float32)]
    flops, report = np.zeros(1755, np.int16), {"fingerprint": "random"}
    return Buckets(config, [table], [np.array([0.2, 0.5, 0.8])], flops, report, centres)


def read_buckets(path: Path) -> Values:
    buckets = open_buckets(path)
    seen = buckets.numbers(parse_cards("Ah 7c 2d"))
    assert seen.min() >= 0 and seen.max() < buckets.config.count(1)
    buckets.table(1)
    return {"config": buckets.config, "report": json.dumps(buckets.report)} | in_bytes(
        {"seen": seen, "flops": buckets.flops, "equities": buckets.equities[0]}
    )


def read_blueprint(path: Path, trainer: BlueprintTrainer) -> Values:
    policy = open_policy(path, path.parent / "buckets")
    found = {}
    for number in np.flatnonzero(policy.betting.decision_of >= 0).tolist()[::7]:
        found[str(number)] = block = policy.at(number)
        sums = block.sum(axis=1)
        assert block.min() >= 0.0 and (np.isclose(sums, 1.0) | (sums == 0.0)).all()
    blueprint = Blueprint(path)
    trainer.restore(blueprint)
    return {"config": blueprint.config_text, "progress": blueprint.progress} | in_bytes(found)


def read_packed_blueprint(path: Path) -> Values:
    policy = open_policy(path, path.parent / "buckets")
    found = {}
    for number in np.flatnonzero(policy.betting.decision_of >= 0).tolist()[::7]:
        found[str(number)] = block = policy.at(number)
        sums = block.sum(axis=1)
        assert block.min() >= 0.0 and (np.isclose(sums, 1.0) | (sums == 0.0)).all()
    blueprint = open_blueprint(path)
    return {"config": blueprint.config_text, "progress": blueprint.progress} | in_bytes(found)


def read_ring_blueprint(path: Path, trainer: RingTrainer) -> Values:
    policy = open_ring_policy(path, abstraction=path.parent / "buckets", game=THREE)
    probabilities = policy.probabilities
    assert probabilities.min() >= 0.0 and probabilities.max() <= 1.0 + 1e-6
    blueprint = RingBlueprint(path)
    trainer.restore(blueprint)
    return {"config": blueprint.config_text, "progress": blueprint.progress} | in_bytes({"table": probabilities})


def read_street_network(path: Path) -> Values:
    model = load_holdem_model(path)
    parameters = {name: value.numpy() for name, value in model.network.state_dict().items()}
    assert all(np.isfinite(value).all() for value in parameters.values())
    return {"shape": model.network.shape, "cards": model.network.num_cards, "report": model.report} | in_bytes(
        parameters
    )


def read_sampled(path: Path) -> Values:
    model = load_model(path)
    policy = TrainedPolicies(model, load_game("kuhn")).average()
    policy.check()
    tensors = {name: tensor.numpy() for name, tensor in model.tensors.items()}
    return {"kind": model.kind, "config": model.config, "report": model.report} | in_bytes(tensors)


def read_profile(path: Path) -> Values:
    solution = open_solution(path)
    assert isinstance(solution, MultiplayerSolution)
    return {"summary": solution.summary.report(), "state": in_bytes(solution.state)} | in_bytes(
        {"profile": solution.profile}
    )


def make_buckets(folder: Path) -> Door:
    random_buckets().save(folder / "file")
    return Door([folder / "file"], read_buckets)


def make_blueprint(folder: Path) -> Door:
    buckets = random_buckets()
    trainer = BlueprintTrainer(BlueprintConfig.of("flop-holdem"), buckets, folder / "buckets")
    trainer.table[:] = np.random.default_rng(1).random(len(trainer.table))
    trainer.save(folder / "file")
    return Door([folder / "file"], partial(read_blueprint, trainer=trainer))


def make_ring_blueprint(folder: Path) -> Door:
    buckets = random_buckets()
    trainer = RingTrainer(RingConfig(menu=None), buckets, folder / "buckets", game=THREE)
    trainer.sums[:] = np.random.default_rng(1).random(len(trainer.sums))
    trainer.save(folder / "file")
    return Door([folder / "file"], partial(read_ring_blueprint, trainer=trainer))


def make_packed_buckets(folder: Path) -> Door:
    pack_buckets(random_buckets(), folder / "file", deals=1_000)
    return Door([folder / "file"], read_buckets)


def make_packed_blueprint(folder: Path) -> Door:
    random_buckets().save(folder / "buckets")
    source = make_blueprint(folder).files[0].rename(folder / "trained")
    pack_blueprint(source, folder / "file", deals=1)
    return Door([folder / "file"], read_packed_blueprint)


def make_street_network(folder: Path) -> Door:
    shape = NetworkShape(width=8, layers=2, knots=4, levels=2, bands=2, band_knots=3)
    HoldemModel(KnotNetwork(shape, 8), {"errors": {"weighted": 0.1}}).save(folder / "river")
    shape = NetworkShape(street="preflop", width=4, layers=1, knots=4, bands=2, band_knots=3, by_class=True)
    HoldemModel(KnotNetwork(shape, 52)).save(folder / "preflop")
    return Door([folder / "river", folder / "preflop"], read_street_network)


def make_sampled(folder: Path) -> Door:
    small = {"game": "kuhn", "iterations": 2, "width": 8, "steps": 3, "policy_steps": 3}
    wanted: dict[str, tuple[str, dict[str, Any]]] = {
        "average": ("deep-cfr", {"traversals": 30, "memory": 300}),
        "mixture": ("deep-cfr", {"traversals": 30, "memory": 300, "average": "mixture"}),
        "nfsp": ("nfsp", {"games": 30, "memory": 300, "window": 300, "recent": 1.0}),
        "roots": ("double-neural", {"traversals": 30, "policy_width": 8}),
    }
    for name, (kind, changes) in wanted.items():
        trainer = METHODS[kind].trainer(METHODS[kind].settings(small | changes))
        while not trainer.done:
            trainer.run_epoch()
        SampledModel.of(trainer, {}).save(folder / name)
    return Door([folder / name for name in wanted], read_sampled, write_tensors)


def make_profile(folder: Path) -> Door:
    solve("kuhn:players=3", limits=Limits(iterations=20)).save(folder / "file")
    return Door([folder / "file"], read_profile)


MAKERS: dict[str, Callable[[Path], Door]] = {
    "buckets": make_buckets,
    "blueprint": make_blueprint,
    "ring blueprint": make_ring_blueprint,
    "packed buckets": make_packed_buckets,
    "packed blueprint": make_packed_blueprint,
    "street network": make_street_network,
    "sampled networks": make_sampled,
    "profile": make_profile,
}


def forged(source: Path, target: Path, arrays: dict[str, Any], metadata: dict[str, str]) -> Path:
    """Writes a copy of a file in which something else stands, with the right checksums."""
    file = ArrayFile(source)
    write_arrays(target, {name: file.read(name) for name in file.names} | arrays, dict(file.metadata) | metadata)
    return target


def test_a_blueprint_and_its_buckets_open_no_other_file(tmp_path: Path) -> None:
    random_buckets().save(tmp_path / "buckets")
    for maker, opened in ((make_buckets, open_buckets), (make_blueprint, open_policy)):
        good = maker(tmp_path).files[0]
        config = json.loads(ArrayFile(good).metadata["config"]) | {"game": "spot:/dev/stdin"}
        path = forged(good, tmp_path / "forged", {}, {"config": json.dumps(config)})
        with pytest.raises(AleatorError, match="its game 'spot:/dev/stdin' is in another file"):
            opened(path)


def test_kernels_are_given_no_table_that_they_would_read_past(tmp_path: Path) -> None:
    """A forged file may have right checksums: what it says about places is compared before a kernel goes there."""
    random_buckets().save(tmp_path / "buckets")
    good = make_ring_blueprint(tmp_path).files[0]
    path = forged(good, tmp_path / "forged", {"sums": np.zeros(7, np.float32)}, {})
    with pytest.raises(StorageError, match=r"its sums \[7\]"):
        open_ring_policy(path, abstraction=tmp_path / "buckets", game=THREE)
    table = np.full((1755, 1326), 3, np.uint8)
    buckets = open_buckets(forged(tmp_path / "buckets", tmp_path / "forged", {"flop": table}, {}))
    with pytest.raises(StorageError, match="the buckets of the flop are damaged: no bucket 3"):
        buckets.table(1)
    with pytest.raises(StorageError, match="no bucket 3"):
        buckets.numbers(parse_cards("Ah 7c 2d"))


def test_no_network_is_made_that_is_wider_than_its_file(tmp_path: Path) -> None:
    for good in make_sampled(tmp_path).files:
        file = TensorFile(good)
        config = json.loads(file.metadata["config"]) | {"width": 10**9, "policy_width": 10**9}
        known = json.loads(file.metadata["config"])
        metadata = dict(file.metadata) | {"config": json.dumps({name: config[name] for name in known})}
        write_tensors(tmp_path / "forged", {name: file.read(name) for name in file.shapes}, metadata)
        with pytest.raises(StorageError, match="a network of width 1,000,000,000 has more parameters than"):
            read_sampled(tmp_path / "forged")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_policies_of_blueprints_that_are_none_are_refused(wrong: float, tmp_path: Path) -> None:
    random_buckets().save(tmp_path / "buckets")
    for maker, table, read in (
        (make_blueprint, "table", lambda path: open_policy(path, tmp_path / "buckets").at(0)),
        (make_ring_blueprint, "sums", lambda path: open_ring_policy(path, game=THREE).policy(0)),
    ):
        good = maker(tmp_path).files[0]
        bad = np.full_like(ArrayFile(good).read(table), wrong)
        with pytest.raises(StorageError, match=r"NaN or infinite|negative sums"):
            read(forged(good, tmp_path / "forged", {table: bad}, {}))


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", list(MAKERS))
def test_bad_files_are_refused_in_one_line(name: str, count: int, tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.mkdir()
    bad.mkdir()
    for folder in (good, bad):
        random_buckets().save(folder / "buckets")
    door = MAKERS[name](good)
    for path in door.files:
        door.read(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    damaged, forged = attack(door, bad, count, seed=1)
    assert damaged < count // 20, "only damage that says the same is accepted"
    assert forged < count // 2
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 500_000, f"{grown:,} KB were taken for files of a few"
