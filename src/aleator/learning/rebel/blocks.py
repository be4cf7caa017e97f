"""Blocks of games: the pieces that ReBeL's self-play is made of, and whoever plays them.

All games of a run are split into blocks. A *stint* moves every game of a block one search further; where the games
stand afterwards and the examples follow from the stint, the seed and the networks alone, so that anybody can play it,
twice if need be. A `Source` is whoever plays: this process (`LocalBlocks`), or workers
(`aleator.learning.rebel.crew_blocks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch

from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.decisions import Decisions, NetworkPolicies
from aleator.learning.rebel.self_play import SelfPlay, SelfPlayed
from aleator.learning.rebel.subgames import Subgames
from aleator.learning.seeds import derived_seed
from aleator.learning.value_network.leaf_values import leaf_values
from aleator.learning.value_network.networks import PolicyNetwork, ValueNetwork
from aleator.solvers.engines.batched.engine import BatchedValue
from aleator.solvers.engines.batched.warm_start import WarmStart

Tensor = torch.Tensor


class Standing(NamedTuple):
    """Where the games of a block stand.

    Attributes:
        stints: played so far.
        moves: [G, longest] the moves that lead there, -1 behind them.
        reach: per player [G, H].
    """

    stints: int
    moves: npt.NDArray[np.int32]
    reach: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


class Stint(NamedTuple):
    """What somebody is to play: a block, and where its games stand."""

    block: int
    standing: Standing


class Made(NamedTuple):
    """The examples of a stint, and `steps`, how far the training was of the networks that searched."""

    examples: SelfPlayed
    steps: int


class Searchers(NamedTuple):
    """What searches use of the networks, as they are now."""

    values: BatchedValue
    start: WarmStart | None


class Source(Protocol):
    """Whoever plays the blocks of a run."""

    def start(self, networks: Networks, steps: int) -> None:
        """Begins the stints of an epoch, with the networks as they are after so many steps of training."""

    def tend(self) -> None:
        """Keeps everybody busy; called often while the networks are trained, and returns at once."""

    def collect(self) -> list[Made]:
        """Returns the examples of an epoch: of as many stints as there are blocks."""

    def standings(self) -> list[Standing]:
        """Returns where the games of each block stand, after the stints that were collected."""

    def facts(self) -> dict[str, float]:
        """Returns what there is to say about an epoch: who worked, and who died."""


class Networks(NamedTuple):
    """The networks of a run that search, and what they are asked about."""

    config: RebelConfig
    subgames: Subgames
    decisions: Decisions | None
    values: ValueNetwork
    policies: PolicyNetwork | None

    def searchers(self) -> Searchers:
        """Returns the networks, as they are now, as a value function and as what searches start with."""
        values = leaf_values(self.values, self.subgames.encoding)
        if not (self.policies and self.decisions and self.config.warm_start):
            return Searchers(values, None)
        return Searchers(values, WarmStart(NetworkPolicies(self.policies, self.decisions), self.config.warm_start))


def new_networks(
    config: RebelConfig, subgames: Subgames, decisions: Decisions | None
) -> tuple[ValueNetwork, PolicyNetwork | None]:
    """Returns networks that know nothing; drawn on the CPU, so that they are the same on every device."""
    generator, device = torch.Generator().manual_seed(config.seed), subgames.shapes.device
    encoding, hands = subgames.encoding, subgames.shapes.num_hands
    values = ValueNetwork(encoding.size, hands, config.network, generator=generator, first_flag=encoding.first_flag).to(
        device
    )
    if decisions is None:
        return values, None
    size, actions = decisions.encoding.size, len(decisions.names)
    return values, PolicyNetwork(size, actions, hands, config.network, generator=generator).to(device)


def block_sizes(games: int, blocks: int) -> list[int]:
    """Returns how many games each block has: as equal as can be."""
    return [len(part) for part in np.array_split(np.empty(games), blocks)]


def new_self_play(config: RebelConfig, subgames: Subgames, decisions: Decisions | None, games: int) -> SelfPlay:
    """Returns so many games that stand at their beginning."""
    generator = torch.Generator(subgames.shapes.device)
    return SelfPlay(subgames, config.rule, config.updates, config.self_play(games), generator, decisions)


def play_stint(play: SelfPlay, seed: int, block: int, stints: int, searchers: Searchers) -> SelfPlayed:
    """Moves the games of a block one search further, with random numbers of its own, and returns the examples."""
    play.generator.manual_seed(derived_seed(seed, block, stints))
    return play.play(*searchers)


def standing_of(play: SelfPlay, stints: int) -> Standing:
    """Returns where some games stand."""
    rows = [play.subgames.moves(number) for number in play.root.tolist()]
    moves = np.full((len(rows), max(map(len, rows))), -1, np.int32)
    for number, row in enumerate(rows):
        moves[number, : len(row)] = row
    first, second = (reach.cpu().numpy() for reach in play.reach)
    return Standing(stints, moves, (first, second))


class LocalBlocks:
    """All blocks in this process, one after the other; each is searched by as many threads as torch has.

    Attributes:
        blocks: the games.
    """

    def __init__(self, config: RebelConfig, subgames: Subgames, decisions: Decisions | None) -> None:
        self._seed, self._subgames = config.seed, subgames
        self.blocks = [
            new_self_play(config, subgames, decisions, size) for size in block_sizes(config.games, config.blocks)
        ]
        self._stints = [0] * config.blocks
        self._made: list[Made] = []

    def start(self, networks: Networks, steps: int) -> None:
        """Plays all blocks; on CUDA that is only queued, and the host does not wait for it."""
        self._forget()
        searchers = networks.searchers()
        for block, play in enumerate(self.blocks):
            examples = play_stint(play, self._seed, block, self._stints[block], searchers)
            self._made.append(Made(examples, steps))
            self._stints[block] += 1

    def tend(self) -> None:
        """Does nothing: everything was done by `start`."""

    def collect(self) -> list[Made]:
        """Returns the examples of all blocks."""
        made, self._made = self._made, []
        return made

    def standings(self) -> list[Standing]:
        """Returns where the games of each block stand."""
        return [standing_of(play, stints) for play, stints in zip(self.blocks, self._stints, strict=True)]

    def stand(self, roots: Sequence[Tensor], reach: Sequence[tuple[Tensor, Tensor]], stints: Sequence[int]) -> None:
        """Puts the games of each block where a checkpoint says."""
        for play, root, reached in zip(self.blocks, roots, reach, strict=True):
            play.root, play.reach = root, reached
        self._stints = list(stints)

    def facts(self) -> dict[str, float]:
        """Returns nothing: nobody else works."""
        return {}

    def _forget(self) -> None:
        """Lets go of subgames that no game stands at, once there are too many to remember them all."""
        roots = self._subgames.forget(torch.cat([play.root for play in self.blocks]))
        for play, root in zip(self.blocks, torch.split(roots, [len(play.root) for play in self.blocks]), strict=True):
            play.root = root
