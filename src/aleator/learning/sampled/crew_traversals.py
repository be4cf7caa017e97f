"""Deep CFR's traversals by workers: networks go out as versions, what the traversals of a block found comes back.

An iteration's traversals of a player are split into blocks with random numbers of their own. Since a fit needs all of
them, and the other player's traversals the fit, everybody is in step: the run is that of one process with the same
blocks, bit by bit.

Reference: thesis 4.1.1, whose traversals do not depend on each other.
Deviations: none.
Status: tests/learning/sampled/test_crew_traversals.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

from aleator.errors import SolveError
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import DeepCfrConfig
from aleator.learning.sampled.matching import regret_policies
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.network_trainer import open_game
from aleator.learning.sampled.trainer import BothPolicies, parameters, set_parameters
from aleator.learning.sampled.traversal import (
    Samples,
    TraversalBlock,
    Traversals,
    join_traversals,
    parse_sampling,
    traverse_block,
)
from aleator.learning.worker_game import WorkerGame
from aleator.workers.base import Crew, Workers
from aleator.workers.publications import Arrays

_Arrays = tuple[tuple[Any, ...], tuple[Any, ...], Any, int]  # the fields of `Traversals` as arrays


class BlockTraverser:
    """Makes blocks of traversals in a worker."""

    def __init__(self, config: DeepCfrConfig, game: WorkerGame, device: str) -> None:
        """Prepares a worker of a run to compute on a device.

        Raises:
            SolveError: the game here is another one.
        """
        self._play, self._encoding = open_game(game.load(), device, strength=config.strength)
        game.check(self._play.fingerprint)
        self._config, self._rule = config, parse_sampling(config.sampling)
        self.receive({})

    def receive(self, vectors: Arrays) -> None:
        """Takes over the parameters of the networks of regrets, of players that have one."""
        policies = [self._policies(vectors.get(f"network.{player}")) for player in (0, 1)]
        self._both = BothPolicies(self._play, (policies[0], policies[1]))

    def _policies(self, vector: Any) -> Any:
        network = None
        if vector is not None:
            network = InfostateNetwork.of(self._encoding, self._config.width, None, flat=self._config.flat)
            set_parameters(network, torch.tensor(vector))
            network = network.to(self._play.device)
        return regret_policies(self._play, network, self._encoding, self._config.matching)

    def __call__(self, block: TraversalBlock) -> _Arrays:
        """Returns what a block finds, as arrays."""
        traversals = traverse_block(self._play, self._both, block, self._rule)
        regrets, policies = (
            tuple(part.cpu().numpy() for part in some) for some in (traversals.regrets, traversals.policies)
        )
        return regrets, policies, traversals.values.cpu().numpy(), traversals.touched


class CrewTraversals(NamedTuple):
    """A crew of `BlockTraverser`s, and the device of the networks that are fitted."""

    crew: Crew
    device: torch.device

    def find(self, trainer: DeepCFR, blocks: list[TraversalBlock]) -> tuple[Traversals, dict[str, float]]:
        """Returns what some blocks find with the networks as they are now, and who worked."""
        begin, busy = time.perf_counter(), 0.0
        networks = [(player, network) for player, network in enumerate(trainer.networks) if network is not None]
        self.crew.publish({f"network.{player}": parameters(network).cpu().numpy() for player, network in networks})
        for number, block in enumerate(blocks):
            self.crew.give(number, block)
        traversals: dict[int, Traversals] = {}
        while len(traversals) < len(blocks):
            for done in self.crew.take():
                traversals[done.number] = self._traversals(*done.result)
                busy += done.seconds
        spent = max(time.perf_counter() - begin, 1e-9)
        work = {"workers": self.crew.count, "replaced": self.crew.replaced, "busy": busy / (spent * self.crew.count)}
        return join_traversals([traversals[number] for number in range(len(blocks))]), work

    def _traversals(self, regrets: tuple[Any, ...], policies: tuple[Any, ...], values: Any, touched: int) -> Traversals:
        def tensor(array: Any) -> torch.Tensor:
            return torch.from_numpy(np.array(array)).to(self.device)

        return Traversals(Samples(*map(tensor, regrets)), Samples(*map(tensor, policies)), tensor(values), touched)


def check_shared(config: DeepCfrConfig) -> None:
    """Raises SolveError if a run has no traversals that workers can make."""
    if not config.traverses:
        walked = f"cards={config.cards:,}" if config.cards else f"flops={config.flops:,}"
        raise SolveError(
            f"{walked} walks flops in one process; workers share traversals, which need cards=0 and flops=0"
        )


@contextmanager
def traversed_by(
    workers: Workers, trainer: DeepCFR, game: str | None, *, device: torch.device | str = "cpu"
) -> Iterator[None]:
    """Has workers make the traversals of a run, until the end of the block.

    Args:
        workers: who.
        trainer: the run, new or restored.
        game: one of one's own, as workers can load it; None for the one that the settings name.
        device: of the workers.

    Raises:
        SolveError: the traversals are in one block, or there are none.
    """
    check_shared(trainer.config)
    if trainer.config.blocks < 2:
        raise SolveError("workers need traversals in several blocks: set blocks to 2 or more")
    rules = WorkerGame(trainer.config.game, game, trainer.fingerprint)
    prepare = partial(BlockTraverser, trainer.config, rules, str(device))
    with workers.hire(prepare, most=trainer.config.blocks) as crew:
        trainer.traversals.by_workers = partial(CrewTraversals(crew, trainer.device).find, trainer)
        try:
            yield
        finally:
            trainer.traversals.by_workers = None
