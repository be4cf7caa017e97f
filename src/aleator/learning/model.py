"""A trained value network in a file, with the settings of its training.

A model is one file in the safetensors layout: the parameters by name, and as metadata the training settings and a report
(searches, seconds, device, exploitability). Nothing in it is executed or unpickled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from aleator.errors import one_line
from aleator.games.base import Game
from aleator.games.registry import load_game
from aleator.learning.config import RebelConfig
from aleator.learning.decisions import Decisions, NetworkPolicies
from aleator.learning.encoding import Encoding
from aleator.learning.networks import PolicyNetwork, ValueNetwork
from aleator.learning.subgames import Subgames
from aleator.learning.training import leaf_values
from aleator.solvers.engines.batched.engine import LeafValues
from aleator.solvers.engines.batched.warm_start import WarmStart
from aleator.storage import ArrayFile, StorageError, write_arrays

_FORMAT = "aleator value network 1"
_POLICY = "policy."  # what the names of the policy network's parameters begin with


@dataclass(frozen=True, eq=False)
class Model:
    """A value network and what it was trained with.

    Attributes:
        config: the settings of the training run.
        network: the network.
        report: what the run cost and what came of it.
        policy: the policy network, if one was trained.
    """

    config: RebelConfig
    network: ValueNetwork
    report: dict[str, Any] = field(default_factory=dict)
    policy: PolicyNetwork | None = None

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
        write_arrays(path, arrays, metadata)


def load_model(path: Path | str) -> Model:
    """Returns the model in a file.

    Raises:
        StorageError: the file cannot be read, or is not a model.
    """
    file = ArrayFile(path)
    metadata = file.metadata
    if metadata.get("format") != _FORMAT:
        raise StorageError(f"{path} is not a value network: its format is {metadata.get('format')!r}, not {_FORMAT!r}")
    try:
        config = RebelConfig.from_dict(json.loads(metadata["config"]))
        network = ValueNetwork(
            int(metadata["size"]), int(metadata["hands"]), config.network, generator=torch.Generator().manual_seed(0)
        )
        tensors = {name: torch.from_numpy(file.read(name)) for name in file.names}
        network.load_state_dict({name: value for name, value in tensors.items() if not name.startswith(_POLICY)})
        policy = _policy_network(config, network.num_hands, tensors) if config.policy else None
        return Model(config, network, json.loads(metadata["report"]), policy)
    except (KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        raise StorageError(f"{path} is damaged: {one_line(error)}") from error


def _policy_network(config: RebelConfig, hands: int, tensors: dict[str, torch.Tensor]) -> PolicyNetwork:
    """Returns the policy network among the parameters in a file."""
    own = {name.removeprefix(_POLICY): value for name, value in tensors.items() if name.startswith(_POLICY)}
    network = PolicyNetwork(
        own["hidden.0.weight"].shape[1],
        len(own["output.bias"]) // hands,
        hands,
        config.network,
        generator=torch.Generator().manual_seed(0),
    )
    network.load_state_dict(own)
    return network


class Searcher:
    """A model made ready to search: the subgames of its game on a device, and the network at their leaves.

    Attributes:
        warm_start: what searches start with: the policy network, if there is one and its training did so, too.
    """

    def __init__(self, model: Model, *, device: torch.device | str = "cpu", low_precision: bool = False) -> None:
        self.model, self.config = model, model.config
        self.game: Game[Any] = load_game(model.config.game)
        self.subgames = Subgames(self.game, model.config.depth, device=device)
        hands = self.subgames.shapes.num_hands
        self.encoding = Encoding(self.game, self.subgames.roots, hands, kind=model.config.encoding, device=device)
        leaves = self.encoding.of([self.subgames.roots[number] for number in self.subgames.next.tolist()])
        self.leaf_values: LeafValues = leaf_values(model.network.to(device), leaves, low_precision=low_precision)
        self.warm_start: WarmStart | None = None
        if model.policy and model.config.warm_start:
            decisions = Decisions(self.subgames, kind=model.config.encoding)
            self.warm_start = WarmStart(NetworkPolicies(model.policy.to(device), decisions), model.config.warm_start)
