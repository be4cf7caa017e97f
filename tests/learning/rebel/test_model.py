"""Models: what is saved is what is loaded, and nothing else is taken for a model."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import SafetensorError, safe_open

from aleator.learning.rebel.model import Model, ModelSearch, load_model
from aleator.learning.rebel.training import Trainer
from aleator.storage import ArrayFile, StorageError
from aleator.storage.tensors import write_tensors
from tests.learning.runs import tiny

MODELS = Path(__file__).parents[3] / "models"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A model of an untrained network."""
    trainer = Trainer(tiny())
    Model(trainer.config, trainer.network, {"searches": 5}).save(tmp_path / "a.safetensors")
    return tmp_path / "a.safetensors"


def test_a_model_is_read_back(saved: Path) -> None:
    model, trainer = load_model(saved), Trainer(tiny())
    assert model.config == trainer.config and model.report == {"searches": 5}
    inputs = torch.rand((4, model.network.size), generator=torch.Generator().manual_seed(0))
    assert torch.equal(model.network(inputs), trainer.network(inputs))


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.safetensors")), ids=lambda path: path.stem)
def test_shipped_models_fit_their_games(path: Path) -> None:
    model = load_model(path)
    searcher = ModelSearch(model)
    assert searcher.subgames.encoding.size == model.network.size
    assert path.stem == model.config.game.replace(":", "-")
    assert model.policy is None and searcher.warm_start is None  # from before there were policy networks
    assert model.fingerprint is not None and model.fingerprint.fits(searcher.subgames.fingerprint)
    with safe_open(path, "pt") as file:
        parameters = model.network.state_dict()
        assert set(file.keys()) == set(parameters)
        assert all(torch.equal(file.get_tensor(name), value) for name, value in parameters.items())


def test_other_files_are_refused(saved: Path, tmp_path: Path) -> None:
    file = ArrayFile(saved)
    arrays = {name: np.array(file.read(name)) for name in file.names}
    with pytest.raises(StorageError, match="cannot read"):
        load_model(tmp_path / "nothing")
    write_tensors(tmp_path / "b", arrays, {"format": "a poem"})
    with pytest.raises(StorageError, match="not a value network: its format is 'a poem'"):
        load_model(tmp_path / "b")
    name = next(iter(arrays))
    write_tensors(tmp_path / "c", {**arrays, name: arrays[name][:1]}, file.metadata)
    with pytest.raises(StorageError, match=rf"is damaged: {name} has shape") as caught:
        load_model(tmp_path / "c")
    assert "\n" not in str(caught.value), "a message is one line"
    for broken in ("{}}", "[]", '{"game": 3}', '{"width": 8}'):
        write_tensors(tmp_path / "d", arrays, {**file.metadata, "config": broken})
        with pytest.raises(StorageError, match="is damaged"):
            load_model(tmp_path / "d")
    saved.write_bytes(saved.read_bytes()[:-100])
    with pytest.raises(StorageError, match=r"damaged|cut short"):
        load_model(saved)


def test_numbers_that_are_not_finite_are_refused(saved: Path, tmp_path: Path) -> None:
    file = ArrayFile(saved)
    for number in (np.nan, np.inf):
        arrays = {name: np.array(file.read(name)) for name in file.names}
        arrays["output.bias"][0] = number
        write_tensors(tmp_path / "b", arrays, file.metadata)
        with pytest.raises(StorageError, match=r"is damaged: output.bias has numbers that are NaN or infinite"):
            load_model(tmp_path / "b")


_READ = """
import resource, sys
from aleator.learning.rebel.model import load_model
for file in sys.argv[1:]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        load_model(file)
    except ValueError as error:
        print(error)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_no_memory_is_taken_for_what_a_small_file_says(saved: Path, tmp_path: Path) -> None:
    file = ArrayFile(saved)
    arrays = {name: file.read(name) for name in file.names}
    said = [
        ("100000", {"width": 10_000}),
        ("999999999", {}),
        ("6", {"layers": 100, "width": 1_000_000}),
        ("6", {"width": 2**62}),
    ]
    files = [tmp_path / str(number) for number in range(len(said))]
    for path, (size, changes) in zip(files, said, strict=True):
        write_tensors(path, arrays, {**file.metadata, "size": size, "config": json.dumps(tiny(**changes).to_dict())})
        assert path.stat().st_size < 9_000
    read = subprocess.run([sys.executable, "-c", _READ, *files], capture_output=True, text=True, check=True)
    lines = read.stdout.splitlines()
    assert len(lines) == 2 * len(said)
    for message, kilobytes in zip(lines[::2], lines[1::2], strict=True):
        assert "is damaged" in message and int(kilobytes) < 100_000


def test_networks_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """They had gaps, which the safetensors library refuses, and neither a seal nor a fingerprint."""
    saved = tmp_path / "new"
    Model(tiny(width=7), Trainer(tiny(width=7)).network).save(saved)
    file = ArrayFile(saved)
    metadata, entries, data = {**file.metadata, "format": "aleator value network 1"}, {}, b""
    for name in file.names:
        array = file.read(name)
        raw = array.tobytes()
        metadata[f"crc32:{name}"] = str(zlib.crc32(raw))
        entries[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw + bytes(-len(raw) % 8)
    text = json.dumps({"__metadata__": metadata, **entries}).encode()
    (tmp_path / "old").write_bytes(len(text).to_bytes(8, "little") + text + data)
    with pytest.raises(SafetensorError, match=r"offset|covered"):
        safe_open(tmp_path / "old", "np").__enter__()
    old, new = load_model(tmp_path / "old"), load_model(saved)
    assert old.fingerprint is None and ModelSearch(old).game.name == "liars-dice:1x2"
    for mine, other in zip(old.network.parameters(), new.network.parameters(), strict=True):
        assert torch.equal(mine, other)
