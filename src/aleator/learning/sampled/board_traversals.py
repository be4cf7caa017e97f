"""Deep CFR's traversals of flop hold'em: single deals, some flops with all hands, or all flops.

Algorithm:
    With `flops` some flops are drawn in every iteration, all hands are walked on them at once (`board_walk`), and
    memories get samples of what is found. With `cards` all flops are walked; at the decisions with some cards, drawn
    once, exact regrets and policies are summed up in place of memories. Otherwise single deals are traversed as on a
    tree. Mixtures and networks are evaluated exactly over all flops.

Reference: thesis 4.1.2 (flop hold'em); Johanson et al. 2012 (public chance sampling); Steinberger 2019 (SD-CFR).
Deviations: the thesis samples single deals; a walk has none of their noise and takes a second on a GPU.
Status: tests/learning/sampled/test_board_walk.py, tests/learning/sampled/test_board_play.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch

from aleator.errors import SolveError
from aleator.learning.sampled.board_asks import Ask, ask_network, ask_policies, remembered
from aleator.learning.sampled.board_mixture import BoardMixture
from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.board_walk import BoardWalk, Dealt, PlayerPolicy
from aleator.learning.sampled.deep_cfr_config import DRAWS_OF_CARDS, MIXTURE, DeepCfrConfig
from aleator.learning.sampled.fitting import probabilities
from aleator.learning.sampled.game_traversals import GameTraversals
from aleator.learning.sampled.matching import regret_policies
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.network_trainer import average_policies
from aleator.learning.sampled.trainer import BothPolicies
from aleator.learning.sampled.traversal import Traversals
from aleator.learning.seeds import new_generator
from aleator.trees.policy import Policy

Tensor = torch.Tensor


class BoardTraversals(GameTraversals):
    """Traversals of flop hold'em.

    Attributes:
        mixture: of all networks' policies; None unless it is asked for or there are cards: it takes gigabytes.
    """

    _play: BoardPlay

    def __init__(
        self,
        config: DeepCfrConfig,
        play: BoardPlay,
        encoding: BoardEncoding,
        networks: Sequence[InfostateNetwork | None],
    ) -> None:
        """Prepares walks; `networks` are those of a trainer, as they are at any time."""
        if (config.average == MIXTURE and config.flat) or not config.batch:
            raise SolveError(
                f"{config.game} has too many infostates for average={config.average}, flat={config.flat}, "
                f"batch={config.batch}: it needs batches, and mixtures need flat=false, as --preset fhp has them"
            )
        super().__init__(config, play)
        self._encoding, self._networks = encoding, networks
        self._walk = walk = BoardWalk(play)
        drawing = new_generator(play.device, config.seed, DRAWS_OF_CARDS)
        self._cards = walk.draw_cards(config.cards, drawing) if config.cards else None
        self.mixture = BoardMixture(walk) if config.average == MIXTURE or config.cards else None
        self._asks: list[Ask | None] = [None, None]  # of each player, until its network changes

    def find(
        self, both: BothPolicies, player: int, iteration: int, generator: torch.Generator
    ) -> tuple[Traversals, dict[str, float]]:
        """Returns what the traversals of a player find in an iteration, and who worked, if not this process."""
        config, walk = self._config, self._walk
        if self._cards is not None:
            return walk.traverse_all((self._ask(0), self._ask(1)), player, self._cards), {}
        if config.flops:
            flops = walk.draw_flops(config.flops, generator)
            return walk.traverse((self._ask(0), self._ask(1)), player, flops, config.samples, generator), {}
        return super().find(both, player, iteration, generator)

    def _ask(self, player: int) -> Ask:
        """Returns what a player does now, as walks ask it."""
        known = self._asks[player]
        if known is None:
            ask = self._ask_network(self._networks[player])
            known = self._asks[player] = ask if self._cards is None else remembered(ask)
        return known

    def _ask_network(self, network: InfostateNetwork | None) -> Ask:
        """Returns the policies that match what a network of regrets says, as walks ask them."""
        matching = self._config.matching
        if network is None or network.flat:
            return ask_policies(self._play, regret_policies(self._play, network, self._encoding, matching))
        return ask_network(self._play, self._encoding, network, matching.policy)

    def forget(self, player: int) -> None:
        """Forgets what a player answered."""
        self._asks[player] = None

    @property
    def keeps_networks(self) -> bool:
        """Whether there is a mixture, which a checkpoint has as its networks."""
        return self.mixture is not None

    def mix(self, both: BothPolicies, player: int, weight: float) -> None:
        """Adds what a player does now to the mixture."""
        if self.mixture is not None:
            self.mixture.add(self._ask(player), player, weight)

    def mixture_policy(self) -> Policy:
        """Raises SolveError: there are too many infostates."""
        raise SolveError(f"{self._config.game} has too many infostates to mix policies")

    def mixture_exploitability(self, stopped: Callable[[], bool]) -> float | None:
        """Returns the exact exploitability of the mixture over all flops."""
        if self.mixture is None:
            raise SolveError(f"policies of {self._config.game} are mixed with average=mixture or with cards only")
        return self.mixture.exploitability(stopped)

    def exploitability(self, average: Callable[[], InfostateNetwork], stopped: Callable[[], bool]) -> float | None:
        """Returns the exact exploitability of a network of the average policy over all flops."""
        if stopped():
            return None
        network = average()
        if network.flat:
            return self._play.exploitability(average_policies(self._play, network, self._encoding), stopped)
        walk, ask = self._walk, ask_network(self._play, self._encoding, network, probabilities)
        early = [walk.ask_early(ask, player) for player in (0, 1)]

        def policies(dealt: Dealt) -> list[PlayerPolicy]:
            return [PlayerPolicy(early[player], walk.ask_late(ask, player, dealt)) for player in (0, 1)]

        return walk.exploitability(policies, stopped)

    def tensors(self, player: int) -> dict[str, Tensor]:
        """Returns nothing: the mixture is made of its networks again."""
        return {}

    def load(self, tensors: Mapping[str, Tensor], player: int, mixed: Iterable[tuple[InfostateNetwork, float]]) -> None:
        """Makes a player's mixture again."""
        if self.mixture is not None:
            for network, weight in mixed:
                self.mixture.add(self._ask_network(network), player, weight)
