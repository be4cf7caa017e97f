"""Self-play by workers: networks go out as versions, examples come back in stints; see `aleator.learning.rebel.blocks`.

In step, an epoch is every block's next stint with the networks at its beginning: as this process would play alone, bit
by bit. Otherwise nobody waits for anybody: a block is played on as soon as its stint has come back, with the newest
networks, and an epoch is made of the stints that come first. Workers run ahead of the learner by an epoch at most.

Reference: ReBeL App. F and G: data from many machines, one that trains.
Deviations: the paper does not say how far data generation and training may be apart.
Status: tests/learning/rebel/test_crew_blocks.py; with a real cluster tests/workers/test_ray_training.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from aleator.learning.rebel.blocks import (
    Made,
    Networks,
    Standing,
    Stint,
    new_networks,
    new_self_play,
    play_stint,
    standing_of,
)
from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.decisions import Decisions
from aleator.learning.rebel.replay import Examples
from aleator.learning.rebel.self_play import SelfPlayed
from aleator.learning.rebel.subgames import Subgames
from aleator.learning.worker_game import WorkerGame
from aleator.workers.base import Crew, Workers
from aleator.workers.publications import Arrays

if TYPE_CHECKING:
    from aleator.learning.rebel.training import Trainer

_LOOK_SECONDS = 0.02  # between two looks at what has come back, while the networks are trained


class PlayedStint(NamedTuple):
    """What comes back: examples as arrays (inputs, targets, masks) of each network, and where the games stand now."""

    examples: tuple[tuple[Any, ...], ...]
    standing: Standing


class StintPlayer:
    """Plays stints in a worker."""

    def __init__(self, config: RebelConfig, game: WorkerGame, device: str) -> None:
        """Prepares a worker of a run to compute on a device.

        Raises:
            SolveError: the game here is another one.
        """
        self.subgames = Subgames(game.load(), config.depth, encoding=config.encoding, device=device)
        game.check(self.subgames.fingerprint)
        decisions = Decisions(self.subgames, kind=config.encoding) if config.policy else None
        self._networks = Networks(config, self.subgames, decisions, *new_networks(config, self.subgames, decisions))
        self._play = new_self_play(config, self.subgames, decisions, 1)
        self._numbers: dict[tuple[int, ...], int] = {}  # of subgames, by moves

    def receive(self, parameters: Arrays) -> None:
        """Takes over the parameters of the networks."""
        for prefix, network in _by_prefix(self._networks).items():
            network.load_state_dict(
                {
                    name.removeprefix(prefix): torch.tensor(values)
                    for name, values in parameters.items()
                    if name.startswith(prefix)
                }
            )

    def __call__(self, stint: Stint) -> PlayedStint:
        """Plays a stint."""
        play, standing = self._play, stint.standing
        self._stand(standing)
        examples = play_stint(
            play, self._networks.config.seed, stint.block, standing.stints, self._networks.searchers()
        )
        made = tuple(tuple(part.cpu().numpy() for part in some) for some in examples if some)
        return PlayedStint(made, standing_of(play, standing.stints + 1))

    def _stand(self, standing: Standing) -> None:
        """Puts the games where a stint begins, and forgets subgames that no game stands at, if there are many."""
        play, device = self._play, self.subgames.shapes.device
        rows = [tuple(move for move in row if move >= 0) for row in standing.moves.tolist()]
        for row in rows:
            if row not in self._numbers:
                self._numbers[row] = self.subgames.find(row)
        play.root = torch.tensor([self._numbers[row] for row in rows], device=device)
        first, second = (torch.tensor(reach, device=device) for reach in standing.reach)
        play.reach = first, second
        renumbered = self.subgames.renumbered
        play.forget()
        if self.subgames.renumbered > renumbered:
            self._numbers.clear()


def _by_prefix(networks: Networks) -> dict[str, torch.nn.Module]:
    """Returns the networks by what the names of their published parameters begin with."""
    named = {"values.": networks.values, "policies.": networks.policies}
    return {prefix: network for prefix, network in named.items() if network is not None}


def _parameters(networks: Networks) -> dict[str, Any]:
    """Returns the parameters of the networks as arrays."""
    return {
        prefix + name: value.detach().cpu().numpy()
        for prefix, network in _by_prefix(networks).items()
        for name, value in network.state_dict().items()
    }


@contextmanager
def played_by(
    workers: Workers, trainer: Trainer, game: str | None, *, in_step: bool, device: torch.device | str = "cpu"
) -> Iterator[None]:
    """Has workers play the games of a run from where they stand, until the end of the block.

    Args:
        workers: who.
        trainer: the run, new or restored.
        game: one of one's own, as workers can load it; None for the one that the settings name.
        in_step: an epoch is one stint of every block, as this process would play it; otherwise nobody waits.
        device: of the workers.
    """
    rules = WorkerGame(trainer.config.game, game, trainer.subgames.fingerprint)
    prepare = partial(StintPlayer, trainer.config, rules, str(device))
    with workers.hire(prepare, most=trainer.config.blocks) as crew:
        trainer.source = CrewBlocks(crew, trainer.source.standings(), in_step=in_step, device=trainer.device)
        yield


class _Returned(NamedTuple):
    """A stint that came back: its block, what it made, and the steps of the networks that searched."""

    block: int
    played: PlayedStint
    steps: int


class CrewBlocks:
    """All blocks, played by a crew of `StintPlayer`s.

    Args:
        crew: who plays.
        standings: where the games of each block stand.
        in_step: an epoch is one stint of every block; otherwise of those that come first.
        device: of the networks that are trained.
    """

    def __init__(self, crew: Crew, standings: list[Standing], *, in_step: bool, device: torch.device | str) -> None:
        self._crew, self._in_step, self._device = crew, in_step, device
        self._collected = list(standings)
        self._latest = list(standings)  # of stints that came back
        self._idle = list(range(len(standings)))  # blocks that nobody plays
        self._steps = [0] * len(standings)  # of the networks that a block is played with
        self._returned: list[_Returned] = []
        self._published = -1
        self._busy = 0.0  # seconds of all workers
        self._began = self._looked = time.monotonic()

    def start(self, networks: Networks, steps: int) -> None:
        """Publishes the networks if they have learnt something, and has idle blocks played."""
        if steps != self._published:
            self._crew.publish(_parameters(networks))
            self._published = steps
        self._busy, self._began = 0.0, time.monotonic()
        self._give()

    def tend(self) -> None:
        """Takes what has come back, and has those blocks played on."""
        if time.monotonic() - self._looked >= _LOOK_SECONDS:
            self._take(wait=False)

    def collect(self) -> list[Made]:
        """Returns the examples of an epoch; waits for those that are missing, of whichever worker."""
        blocks = len(self._collected)
        while len(self._returned) < blocks:
            self._take(wait=True)
        returned, self._returned = self._returned[:blocks], self._returned[blocks:]
        if self._in_step:
            returned.sort(key=lambda stint: stint.block)
        for stint in returned:
            self._collected[stint.block] = stint.played.standing
        return [Made(self._examples(stint.played), stint.steps) for stint in returned]

    def standings(self) -> list[Standing]:
        """Returns where the games of each block stand after what was collected; what came back since is played again
        by who resumes."""
        return list(self._collected)

    def facts(self) -> dict[str, float]:
        """Returns who worked in this epoch: how many, what share of the time; and how many died so far."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        return {
            "workers": self._crew.count,
            "replaced": self._crew.replaced,
            "busy": self._busy / (seconds * self._crew.count),
        }

    def _give(self) -> None:
        """Has idle blocks played, as long as the learner keeps up."""
        room = max(len(self._collected) - len(self._returned), 0)
        for block in self._idle[:room]:
            self._steps[block] = self._published
            self._crew.give(block, Stint(block, self._latest[block]))
        del self._idle[:room]

    def _take(self, *, wait: bool) -> None:
        taken = self._crew.take(wait=wait)
        so_far = time.monotonic() - self._began  # what a stint took before that is of the epoch before
        for done in taken:
            block = done.number
            self._returned.append(_Returned(block, done.result, self._steps[block]))
            self._latest[block] = done.result.standing
            self._idle.append(block)
            self._busy += min(done.seconds, so_far)
        if not self._in_step:
            self._give()
        self._looked = time.monotonic()

    def _examples(self, played: PlayedStint) -> SelfPlayed:
        """Returns examples on the device of the learner."""
        parts = [
            Examples(*(torch.from_numpy(np.array(part)).to(self._device) for part in some)) for some in played.examples
        ]
        return SelfPlayed(parts[0], parts[1] if len(parts) > 1 else None)
