"""What Deep CFR and NFSP share: their average policy is a network, and they train on flop hold'em, too, whose
infostates nobody lists."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import torch

from aleator.errors import SolveError
from aleator.games.base import Game
from aleator.games.holdem.game import WholeHoldemGame
from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.encoding import Encoding, InfostateEncoding
from aleator.learning.sampled.fitting import probabilities
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.play import SampledGame, TreePlay
from aleator.learning.sampled.trainer import NetworkPolicies, SampledTrainer, policy_on_tree
from aleator.trees.policy import Policy
from aleator.trees.public_tree import build_tree

Tensor = torch.Tensor


class NetworkTrainer(SampledTrainer):
    """A run whose average policy is a network."""

    def _open(self, device: torch.device | str) -> tuple[SampledGame, Encoding]:
        """Returns sampled play of the game, also of flop hold'em, and what networks are told."""
        return open_game(self.game, device)

    @abstractmethod
    def _average_network(self) -> InfostateNetwork:
        """Returns the network whose outputs are logits of the average policy."""

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
