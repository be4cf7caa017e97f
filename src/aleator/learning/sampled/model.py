"""What a method that samples histories has trained, in a file; and the policies that it stands for.

A model is one safetensors file: networks as vectors of parameters, and as metadata the method, its settings, the
fingerprint of the game and a report. `average` [parameters] is a network of logits of the average policy; `mixture.P`
[networks, 1 + parameters] has the networks of regrets of player P, each behind its weight; `roots` [parameters] is a
network of Double Neural CFR of square roots of sums of policies, `table` [I, A] the average policy itself, where such a
run keeps no network of it. Nothing in a file is executed or
unpickled, and it chooses no code: a game of one's own is given by who opens it, and must have the fingerprint.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from aleator.errors import one_line, shown
from aleator.games.base import Game
from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.deep_cfr_config import DeepCfrConfig
from aleator.learning.sampled.double_neural import DoubleNeuralCFR, trained_policies
from aleator.learning.sampled.encoding import InfostateEncoding
from aleator.learning.sampled.matching import regret_policies
from aleator.learning.sampled.methods import METHODS, to_dict
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.network_trainer import average_policies
from aleator.learning.sampled.nfsp import NfspConfig
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.trainer import (
    Mixture,
    SampledConfig,
    SampledTrainer,
    check_width,
    policy_on_tree,
    set_parameters,
)
from aleator.learning.sampled.traversal import Policies
from aleator.storage import StorageError, parse_json
from aleator.storage.tensors import TensorFile, write_tensors
from aleator.trees.fingerprint import Fingerprint, parse_fingerprint, tree_fingerprint
from aleator.trees.policy import Policy
from aleator.trees.public_tree import build_tree

Tensor = torch.Tensor
_FORMAT = "aleator sampled networks 1"


@dataclass(frozen=True, eq=False)
class SampledModel:
    """What was trained.

    Attributes:
        kind: the method.
        config: its settings.
        tensors: the networks, by name.
        fingerprint: of the game.
        report: what the run cost and what came of it.
    """

    kind: str
    config: SampledConfig
    tensors: dict[str, Tensor]
    fingerprint: Fingerprint
    report: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, trainer: SampledTrainer, report: dict[str, Any]) -> SampledModel:
        """Returns what a run has trained so far."""
        cost = {"nodes": trainer.nodes, "epochs": trainer.epoch, "seconds": round(trainer.seconds, 1)}
        return cls(trainer.kind, trainer.config, trainer.trained(), trainer.fingerprint, {**cost, **report})

    def save(self, path: Path | str) -> None:
        """Writes the model to a file, replacing it atomically."""
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in self.tensors.items()}
        metadata = {
            "format": _FORMAT,
            "kind": self.kind,
            "config": json.dumps(to_dict(self.config)),
            "fingerprint": json.dumps(self.fingerprint.to_dict()),
            "report": json.dumps(self.report),
        }
        write_tensors(path, arrays, metadata)


def load_model(path: Path | str) -> SampledModel:
    """Returns the model in a file.

    Raises:
        StorageError: the file cannot be read, or is not a model.
    """
    file = TensorFile(path)
    form = file.metadata.get("format")
    if form != _FORMAT:
        raise StorageError(f"{path} has no networks of a sampling method: its format is {shown(form)}, not {_FORMAT!r}")
    try:
        if not file.checked:
            raise ValueError("its checksums are missing")
        kind = file.metadata["kind"]
        if kind not in METHODS:
            raise ValueError(f"its method is {shown(kind)}, not one of {', '.join(METHODS)}")
        config = METHODS[kind].settings(parse_json(file.metadata["config"]))
        fingerprint = parse_fingerprint(parse_json(file.metadata["fingerprint"]))
        report = parse_json(file.metadata["report"])
        if not isinstance(report, dict):
            raise ValueError(f"its report is {shown(report)}")
        tensors = {name: torch.from_numpy(file.read(name)) for name in file.shapes}
        for name, tensor in tensors.items():
            if tensor.dtype != torch.float32 or not bool(tensor.isfinite().all()):
                raise ValueError(f"{name} is not made of finite numbers of 32 bits")
        return SampledModel(kind, config, tensors, fingerprint, report)
    except StorageError:
        raise
    except (KeyError, ValueError, TypeError, RuntimeError, OverflowError) as error:
        raise StorageError(f"{path} is damaged: {one_line(error)}") from error


def board_policies(model: SampledModel, play: BoardPlay) -> Policies:
    """Returns the average policy of what Deep CFR or NFSP has trained on a game of whole hands.

    Raises:
        StorageError: it was trained for another game.
    """
    name, config = play.whole.variant.name, model.config
    if not (isinstance(config, DeepCfrConfig | NfspConfig) and model.fingerprint.fits(play.fingerprint)):
        raise StorageError(f"the networks were trained for {one_line(config.game)}, not for {name}: the rules differ")
    encoding = BoardEncoding(play, strength=isinstance(config, DeepCfrConfig) and config.strength)
    try:
        check_width(config.width, model.tensors["average"])
        network = InfostateNetwork.of(encoding, config.width, None, flat=config.flat)
        set_parameters(network, model.tensors["average"])
    except (KeyError, ValueError) as error:
        raise StorageError(f"the networks do not fit {name}: {one_line(error)}") from error
    return average_policies(play, network.to(play.device), encoding)


class TrainedPolicies:
    """A model made ready to play: for each player one or more policies, and how likely each is drawn for a game.

    Args:
        model: what was trained.
        game: what it is to play.

    Attributes:
        chances: per player [n]: of each of its policies.
    """

    def __init__(self, model: SampledModel, game: Game[Any]) -> None:
        self.play = TreePlay(build_tree(game))
        trained = model.config.game
        if not model.fingerprint.fits(tree_fingerprint(self.play.tree)):
            which = "another game of that name" if trained == game.name else game.name
            raise StorageError(f"the networks were trained for {one_line(trained)}, not for {which}: the rules differ")
        self._config: Any = model.config
        self._encoding = InfostateEncoding(self.play)
        try:
            self._average = self._average_of(model)
            rows: Sequence[Tensor] = [torch.ones(1, 1)] * 2
            if self._average is None:
                rows = [model.tensors[f"mixture.{player}"] for player in (0, 1)]
                for row in rows:
                    if row.ndim != 2 or 0 in row.shape or not bool((row[:, 0] > 0).all()):
                        raise ValueError(f"a mixture of {list(row.shape)} networks without positive weights")
                    self._network(row[0, 1:])
        except (KeyError, ValueError) as error:
            raise StorageError(f"the networks do not fit {game.name}: {one_line(error)}") from error
        self._rows = rows
        self.chances = [(row[:, 0].double() / row[:, 0].double().sum()).numpy() for row in rows]
        self._known: dict[tuple[int, int], Policy] = {}

    def _average_of(self, model: SampledModel) -> Policies | None:
        """Returns the average policies, if they are trained themselves."""
        if model.kind == DoubleNeuralCFR.kind:
            return trained_policies(self.play, self._encoding, self._config, model.tensors)
        if "average" in model.tensors:
            return average_policies(self.play, self._network(model.tensors["average"]), self._encoding)
        return None

    def _network(self, vector: Tensor) -> InfostateNetwork:
        check_width(self._config.width, vector)
        network = InfostateNetwork.of(self._encoding, self._config.width, None, flat=self._config.flat)
        set_parameters(network, vector)
        return network

    def policy(self, player: int, number: int) -> Policy:
        """Returns one of a player's policies, on the game's tree; only the player's own part means anything."""
        if (player, number) not in self._known:
            policies = self._average
            if policies is None:
                network = self._network(self._rows[player][number, 1:])
                policies = regret_policies(self.play, network, self._encoding, self._config.matching)
            self._known[player, number] = policy_on_tree(self.play, policies)
        return self._known[player, number]

    def average(self) -> Policy:
        """Returns what is played in expectation."""
        if self._average is not None:
            return self.policy(0, 0)
        mixture = Mixture(self.play)
        for player in (0, 1):
            for number, chance in enumerate(self.chances[player]):
                mixture.add(self.policy(player, number), player, float(chance))
        return mixture.policy()
