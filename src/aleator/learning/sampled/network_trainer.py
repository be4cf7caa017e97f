"""What Deep CFR and NFSP share: their average policy is a network, and they train on flop hold'em, too, whose
infostates nobody lists."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from aleator.errors import SolveError
from aleator.games.base import Game
from aleator.games.holdem.game import WholeHoldemGame
from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.encoding import Encoding, InfostateEncoding
from aleator.learning.sampled.fitting import Fit, probabilities
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.play import SampledGame, TreePlay
from aleator.learning.sampled.trainer import (
    NetworkPolicies,
    SampledConfig,
    SampledTrainer,
    policy_on_tree,
    set_parameters,
)
from aleator.learning.settings import check_at_least
from aleator.trees.policy import Policy
from aleator.trees.public_tree import build_tree

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRunConfig(SampledConfig):
    """What the settings of Deep CFR and NFSP have; see `SampledConfig` for what all methods have.

    Attributes:
        memory: samples that a memory holds.
        flat: networks without branches for cards and betting.
        batch: samples in a step; 0 for all of a memory.
    """

    memory: int = 2_000_000
    flat: bool = True
    batch: int = 0

    def __post_init__(self) -> None:
        SampledConfig.__post_init__(self)
        check_at_least(self, 1, "memory")
        check_at_least(self, 0, "batch")

    def fit(self, steps: int) -> Fit:
        """Returns a fit of so many steps."""
        return Fit(steps=steps, batch=self.batch, learning_rate=self.learning_rate, clip=self.clip)


class NetworkTrainer(SampledTrainer):
    """A run whose average policy is a network."""

    config: NetworkRunConfig

    def _open(self, device: torch.device | str) -> tuple[SampledGame, Encoding]:
        """Returns sampled play of the game, also of flop hold'em, and what networks are told."""
        return open_game(self.game, device)

    @abstractmethod
    def _average_network(self) -> InfostateNetwork:
        """Returns the network whose outputs are logits of the average policy."""

    def _new_network(self, generator: torch.Generator | None) -> InfostateNetwork:
        """Returns a network with random parameters; with none that are of use without a generator."""
        network = InfostateNetwork.of(self.encoding, self.config.width, generator, flat=self.config.flat)
        return network.to(self.device)

    def _loaded_network(self, vector: Tensor) -> InfostateNetwork:
        """Returns a network with the parameters of a vector."""
        network = self._new_network(None)
        set_parameters(network, vector)
        return network

    def network_policy(self) -> Policy:
        """Returns what the network of the average policy says about every infostate.

        Raises:
            SolveError: the game has too many.
        """
        if not isinstance(self.play, TreePlay):
            raise SolveError(
                f"{self.config.game} has too many infostates to list a policy; its exploitability is known"
            )
        return policy_on_tree(self.play, average_policies(self.play, self._average_network(), self.encoding))

    @property
    def unit(self) -> str:
        """What exploitability is counted in, if the game does not say it."""
        return "chips a hand" if isinstance(self.play, BoardPlay) else super().unit

    def exploitability(self, stopped: Callable[[], bool] = lambda: False) -> float | None:
        """Returns the exact exploitability of the average policy; in flop hold'em over all flops, in chips, which takes
        minutes: `stopped` is asked on the way whether to give it up."""
        if not isinstance(self.play, BoardPlay):
            return super().exploitability(stopped)
        if stopped():
            return None
        policies = average_policies(self.play, self._average_network(), self.encoding)
        return self.play.exploitability(policies, stopped)


def open_game(game: Game[Any], device: torch.device | str, *, strength: bool = False) -> tuple[SampledGame, Encoding]:
    """Returns sampled play of a game on a device, and what networks are told: on its tree, or of flop hold'em, there
    also how strong hands are, if asked for."""
    if isinstance(game, WholeHoldemGame):
        boards = BoardPlay(game.whole, device=device)
        return boards, BoardEncoding(boards, strength=strength)
    play = TreePlay(build_tree(game), device=device)
    return play, InfostateEncoding(play)


def average_policies(play: SampledGame, network: InfostateNetwork, encoding: Encoding) -> NetworkPolicies:
    """Returns the policies whose logits a network gives."""

    def answer(infostates: Tensor, legal: Tensor) -> Tensor:
        return probabilities(encoding.of_actions(infostates, network(encoding.inputs(infostates))), legal)

    return NetworkPolicies(play, answer)
