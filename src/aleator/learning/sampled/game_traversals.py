"""Deep CFR's traversals: single histories, and what games on a tree can do besides.

Algorithm:
    In an iteration the traverser makes K traversals of single histories (`traversal`), in one batch or in blocks with
    random numbers of their own, which workers can make. On a tree the policies of all networks are added up as a table
    on the way, weighted by the iteration and by own reach: this mixture is exact.

Reference: thesis 4.1, Algorithm 1; Steinberger 2019 (SD-CFR).
Deviations: the mixture of SD-CFR is added up, whichever average is asked for, since it costs nothing.
Status: tests/learning/sampled/test_deep_cfr.py, tests/learning/sampled/test_crew_traversals.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch

from aleator.errors import SolveError
from aleator.learning.sampled.deep_cfr_config import MIXTURE, DeepCfrConfig
from aleator.learning.sampled.encoding import Encoding
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.network_trainer import average_policies
from aleator.learning.sampled.play import SampledGame, TreePlay
from aleator.learning.sampled.trainer import BothPolicies, Mixture, as_vectors, policy_on_tree
from aleator.learning.sampled.traversal import (
    TraversalBlock,
    Traversals,
    join_traversals,
    parse_sampling,
    traverse,
    traverse_block,
)
from aleator.solvers.best_response import exploitability
from aleator.trees.policy import Policy

Tensor = torch.Tensor


class GameTraversals(ABC):
    """How a kind of games is traversed, and how policies are mixed and measured there.

    Attributes:
        by_workers: makes blocks of traversals with the networks as they are, and tells who worked; None if nobody else
            works.
    """

    def __init__(self, config: DeepCfrConfig, play: SampledGame) -> None:
        self.by_workers: Callable[[list[TraversalBlock]], tuple[Traversals, dict[str, float]]] | None = None
        self._config, self._play, self._rule = config, play, parse_sampling(config.sampling)

    def find(
        self, both: BothPolicies, player: int, iteration: int, generator: torch.Generator
    ) -> tuple[Traversals, dict[str, float]]:
        """Returns what the traversals of a player find in an iteration, and who worked, if not this process."""
        config = self._config
        if config.blocks == 1:
            return traverse(self._play, both, player, config.traversals, self._rule, generator), {}
        sizes = [len(part) for part in np.array_split(np.empty(config.traversals), config.blocks)]
        blocks = [TraversalBlock(player, size, iteration, block, config.seed) for block, size in enumerate(sizes)]
        if self.by_workers is not None:
            return self.by_workers(blocks)
        return join_traversals([traverse_block(self._play, both, block, self._rule) for block in blocks]), {}

    def forget(self, player: int) -> None:
        """Forgets what was known of a player's network, which changes."""
        return

    @property
    @abstractmethod
    def keeps_networks(self) -> bool:
        """Whether a run needs the networks of all iterations."""

    @abstractmethod
    def mix(self, both: BothPolicies, player: int, weight: float) -> None:
        """Adds what a player does now to the mixture."""

    @abstractmethod
    def mixture_policy(self) -> Policy:
        """Returns the mixture.

        Raises:
            SolveError: there are too many infostates.
        """

    @abstractmethod
    def mixture_exploitability(self, stopped: Callable[[], bool]) -> float | None:
        """Returns the exact exploitability of the mixture; None if it was stopped.

        Raises:
            SolveError: policies are not mixed.
        """

    @abstractmethod
    def exploitability(self, average: Callable[[], InfostateNetwork], stopped: Callable[[], bool]) -> float | None:
        """Returns the exact exploitability of a network of the average policy; None if it was stopped.

        Args:
            average: fits the network.
            stopped: asked before that and on the way, where it takes long, whether to give it up.
        """

    @abstractmethod
    def tensors(self, player: int) -> dict[str, Tensor]:
        """Returns what a checkpoint has to keep of a player's mixture besides the networks."""

    @abstractmethod
    def load(self, tensors: Mapping[str, Tensor], player: int, mixed: Iterable[tuple[InfostateNetwork, float]]) -> None:
        """Takes over a player's mixture.

        Args:
            tensors: what `tensors` gave, among others.
            player: whose.
            mixed: the networks that a run kept, with their weights.

        Raises:
            ValueError, KeyError: it is not that of a run with these settings.
        """


class TreeTraversals(GameTraversals):
    """Traversals of a game on a tree.

    Attributes:
        mixture: of all networks' policies.
    """

    _play: TreePlay

    def __init__(self, config: DeepCfrConfig, play: TreePlay, encoding: Encoding) -> None:
        if config.flops or config.cards or config.strength:
            raise SolveError(f"flops, cards and strength are of flop-holdem, not of {config.game}")
        super().__init__(config, play)
        self._encoding = encoding
        self.mixture = Mixture(play)

    @property
    def keeps_networks(self) -> bool:
        """Whether a network of the mixture is to be drawn for a game."""
        return self._config.average == MIXTURE

    def mix(self, both: BothPolicies, player: int, weight: float) -> None:
        """Adds what a player does now to the mixture."""
        self.mixture.add(policy_on_tree(self._play, both), player, weight)

    def mixture_policy(self) -> Policy:
        """Returns the mixture."""
        return self.mixture.policy()

    def mixture_exploitability(self, stopped: Callable[[], bool]) -> float | None:
        """Returns the exact exploitability of the mixture."""
        return exploitability(self.mixture.policy())

    def exploitability(self, average: Callable[[], InfostateNetwork], stopped: Callable[[], bool]) -> float | None:
        """Returns the exact exploitability of a network of the average policy."""
        return exploitability(policy_on_tree(self._play, average_policies(self._play, average(), self._encoding)))

    def tensors(self, player: int) -> dict[str, Tensor]:
        """Returns the sums of a player's mixture."""
        return {f"sum.{player}": torch.from_numpy(self.mixture.sums[player])}

    def load(self, tensors: Mapping[str, Tensor], player: int, mixed: Iterable[tuple[InfostateNetwork, float]]) -> None:
        """Takes over the sums of a player's mixture."""
        sums = as_vectors(tensors[f"sum.{player}"])
        if sums.shape != self.mixture.sums[player].shape:
            raise ValueError(f"a mixture of player {player} has shape {sums.shape}")
        self.mixture.sums[player] = sums
