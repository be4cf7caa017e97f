"""Models: what is saved is what is loaded, and nothing else is taken for a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from aleator.learning.training import Trainer
from aleator.learning.value_network.model import Model, Searcher, load_model
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
    searcher = Searcher(model)
    assert searcher.subgames.encoding.size == model.network.size
    assert path.stem == model.config.game.replace(":", "-")
    assert model.policy is None and searcher.warm_start is None  # from before there were policy networks


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
