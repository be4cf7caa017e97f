"""A trained value network in a file, with the settings of its training.

A model is one safetensors file: the parameters by name, and as metadata the training settings, the fingerprint of the
game and a report (searches, seconds, device, exploitability). Nothing in it is executed or unpickled, and it chooses no
code: a game of one's own is given by who opens it, and must have the fingerprint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from aleator.errors import one_line, shown
from aleator.games.base import Game
from aleator.games.registry import is_recorded_elsewhere, load_recorded_game
from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.decisions import Decisions, NetworkPolicies
from aleator.learning.rebel.subgames import Subgames
from aleator.learning.value_network.leaf_values import leaf_values
from aleator.learning.value_network.networks import Perceptron, PolicyNetwork, ValueNetwork
from aleator.solvers.engines.batched.engine import BatchedValue
from aleator.solvers.engines.batched.warm_start import WarmStart
from aleator.storage import ArrayFile, StorageError, parse_json
from aleator.storage.tensors import TensorFile, write_tensors
from aleator.trees.fingerprint import Fingerprint, parse_fingerprint

_FORMAT, _EARLIER = "aleator value network 2", "aleator value network 1"
_POLICY = "policy."  # what the names of the policy network's parameters begin with


@dataclass(frozen=True, eq=False)
class Model:
    """A value network and what it was trained with.

    Attributes:
        config: the settings of the training run.
        network: the network.
        report: what the run cost and what came of it.
        policy: the policy network, if one was trained.
        fingerprint: of the game's subgames; None if it is not known.
    """

    config: RebelConfig
    network: ValueNetwork
    report: dict[str, Any] = field(default_factory=dict)
    policy: PolicyNetwork | None = None
    fingerprint: Fingerprint | None = None

    def save(self, path: Path | str) -> None:
        """Writes the model to a file, replacing it atomically."""
        tensors = dict(self.network.state_dict())
        if self.policy:
            tensors |= {_POLICY + name: value for name, value in self.policy.state_dict().items()}
        arrays = {name: value.detach().cpu().numpy() for name, value in tensors.items()}
        metadata = {
            "format": _FORMAT,
            "config": json.dumps(self.config.to_dict()),
            "report": json.dumps(self.report),
            "size": str(self.network.size),
            "hands": str(self.network.num_hands),
        }
        if self.fingerprint:
            metadata["fingerprint"] = json.dumps(self.fingerprint.to_dict())
        write_tensors(path, arrays, metadata)

    def check_game(self, game: Game[Any], fingerprint: Fingerprint) -> None:
        """Raises StorageError if the network was trained for another game than `game`, by its fingerprint."""
        trained = self.config.game
        if self.fingerprint is not None:
            fits = self.fingerprint.fits(fingerprint)
        else:
            fits = trained == game.name or is_recorded_elsewhere(trained)
        if not fits:
            which = "another game of that name" if trained == game.name else game.name
            raise StorageError(f"the network was trained for {one_line(trained)}, not for {which}: the rules differ")


def load_model(path: Path | str) -> Model:
    """Returns the model in a file. Nothing is taken from memory before the file is seen to be as large as it says.

    Raises:
        StorageError: the file cannot be read, or is not a model.
    """
    file = _open(Path(path))
    metadata = file.metadata
    if metadata.get("format") not in (_FORMAT, _EARLIER):
        form = shown(metadata.get("format"))
        raise StorageError(f"{path} is not a value network: its format is {form}, not {_FORMAT!r}")
    try:
        if metadata["format"] == _FORMAT and not file.checked:
            raise ValueError("its checksums are missing")
        config = RebelConfig.from_dict(_object(metadata["config"]))
        size, hands = _count(metadata["size"]), _count(metadata["hands"])
        own = {name for name in file.shapes if name.startswith(_POLICY)}
        shapes = {name: shape for name, shape in file.shapes.items() if name not in own}
        _check_layers(config, shapes)
        with torch.device("meta"):  # shapes without numbers
            network = ValueNetwork(size, hands, config.network, generator=None)
            policy = _policy_network(config, hands, file.shapes) if config.policy else None
        _fill(network, file, "", set(shapes))
        if policy is not None:
            _fill(policy, file, _POLICY, own)
        elif own:
            raise ValueError("it has a policy network, but its settings have none")
        saved_fingerprint = metadata.get("fingerprint")
        known = parse_fingerprint(parse_json(saved_fingerprint)) if saved_fingerprint is not None else None
        return Model(config, network, _object(metadata["report"]), policy, known)
    except StorageError:
        raise
    except (KeyError, ValueError, TypeError, RuntimeError, OverflowError) as error:
        raise StorageError(f"{path} is damaged: {one_line(error)}") from error


def _open(path: Path) -> TensorFile | ArrayFile:
    """Returns an open file; one of an earlier version may have gaps, which the safetensors library does not read."""
    try:
        return TensorFile(path)
    except StorageError as refusal:
        try:
            file = ArrayFile(path)
        except StorageError:
            raise refusal from None
        if file.metadata.get("format") != _EARLIER:
            raise refusal from None
        return file


def _object(text: str) -> dict[str, Any]:
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, not {shown(value)}")
    return value


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text) > 0):
        raise ValueError(f"{shown(text)} is not a size")
    return int(text)


def _check_layers(config: RebelConfig, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raises ValueError if the settings want more layers than the file has arrays: making modules takes memory, too."""
    if config.layers > len(shapes):
        raise ValueError(f"it has {len(shapes)} arrays, too few for {config.layers:,} layers")


def _policy_network(config: RebelConfig, hands: int, shapes: Mapping[str, tuple[int, ...]]) -> PolicyNetwork:
    """Returns a policy network with the shapes of the arrays in a file."""
    inputs, outputs = shapes[_POLICY + "hidden.0.weight"], shapes[_POLICY + "output.bias"]
    if len(inputs) != 2 or len(outputs) != 1 or outputs[0] % hands or min(*inputs, *outputs) < 1:
        raise ValueError(f"its policy network has the shapes {list(inputs)} and {list(outputs)}")
    return PolicyNetwork(inputs[1], outputs[0] // hands, hands, config.network, generator=None)


def _fill(network: Perceptron, file: TensorFile | ArrayFile, prefix: str, names: set[str]) -> None:
    """Takes the parameters of a network from a file.

    Raises:
        ValueError: there are others, they have other shapes or types, or are not finite.
    """
    wanted = {prefix + name: value for name, value in network.state_dict().items()}
    if difference := sorted(names ^ set(wanted)):
        raise ValueError(f"{shown(difference[0])} is {'missing' if difference[0] in wanted else 'unknown'}")
    for name, value in wanted.items():
        if tuple(value.shape) != tuple(file.shapes[name]):
            raise ValueError(f"{name} has shape {list(file.shapes[name])}, not {list(value.shape)}")
    tensors = {}
    for name, value in wanted.items():
        tensors[name.removeprefix(prefix)] = tensor = torch.from_numpy(file.read(name))
        if tensor.dtype != value.dtype:
            raise ValueError(f"{name} is of type {tensor.dtype}, not {value.dtype}")
        if not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} has numbers that are NaN or infinite")
    network.load_state_dict(tensors, assign=True)


class ModelSearch:
    """A model made ready to search: the subgames of its game on a device, and the network at their leaves.

    Args:
        model: the network.
        game: what it is to play; None for the game of this package that the model was trained for.
        device: where it computes.

    Attributes:
        warm_start: what searches start with: the policy network, if there is one and its training did so, too.
    """

    def __init__(self, model: Model, game: Game[Any] | None = None, *, device: torch.device | str = "cpu") -> None:
        self.model, self.config = model, model.config
        self.game: Game[Any] = load_recorded_game(model.config.game) if game is None else game
        self.subgames = Subgames(self.game, model.config.depth, encoding=model.config.encoding, device=device)
        model.check_game(self.game, self.subgames.fingerprint)
        network, encoding, hands = model.network, self.subgames.encoding, self.subgames.shapes.num_hands
        if (encoding.size, hands) != (network.size, network.num_hands):
            raise StorageError(
                f"the network takes {network.size:,} inputs and {network.num_hands:,} hands; {self.game.name} has "
                f"{encoding.size:,} and {hands:,}"
            )
        self.leaf_values: BatchedValue = leaf_values(network.to(device), encoding)
        self.warm_start: WarmStart | None = None
        if model.policy and model.config.warm_start:
            decisions = Decisions(self.subgames, kind=model.config.encoding)
            self.warm_start = WarmStart(NetworkPolicies(model.policy.to(device), decisions), model.config.warm_start)
