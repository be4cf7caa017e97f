"""What runs of methods that sample histories share: a game, networks as policies, epochs, checkpoints."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from aleator.errors import TooBigError
from aleator.games.base import Game
from aleator.games.registry import load_recorded_game
from aleator.learning.sampled.encoding import Encoding, InfostateEncoding
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.play import SampledGame, TreePlay
from aleator.learning.sampled.traversal import Policies
from aleator.learning.settings import check_at_least, check_positive
from aleator.memory import available_memory, format_gib
from aleator.solvers.best_response import exploitability
from aleator.solvers.engines.cpu.engine import shared_engine
from aleator.trees.fingerprint import Fingerprint
from aleator.trees.policy import Policy, normalised
from aleator.trees.public_tree import build_tree

Tensor = torch.Tensor
_PARAMETER = 4 * 4  # bytes: itself, its gradient, two moments of Adam
_KEPT = 10_000_000  # infostates whose policies are kept in a table
_GAME = 400  # bytes of a game that is played beside others, at the least


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledConfig:
    """What the settings of all methods have.

    Attributes:
        game: name of the game.
        iterations: T; each updates both players.
        width: units of a layer.
        steps: of a fit of what is learnt first: regrets, or values of actions.
        policy_steps: of a fit of the average policy.
        learning_rate: of Adam at the start of a fit.
        clip: largest norm of a gradient.
        seed: of all randomness.
    """

    game: str = "leduc"
    iterations: int = 1000
    width: int = 128
    steps: int = 30
    policy_steps: int = 2000
    learning_rate: float = 1e-3
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least(self, 1, "iterations", "width", "steps", "policy_steps")
        check_at_least(self, 0, "seed")
        check_positive(self, "learning_rate", "clip")

    @staticmethod
    def upgraded(values: Any) -> Any:
        """Returns settings from a file of any version, JSON values, as they are written now."""
        return values

    @property
    def epochs(self) -> int:
        """Iterations."""
        return self.iterations


class NetworkPolicies(Policies):
    """Policies of a function of infostates; uniform where there is no function yet.

    In games with few infostates each is asked for once and kept.
    """

    def __init__(self, play: SampledGame, answer: Callable[[Tensor, Tensor], Tensor] | None) -> None:
        """Takes `answer`, from infostates [n] and their legal actions [n, A] to policies [n, A]."""
        self._play, self._answer = play, answer
        self._keeps = play.num_infostates <= _KEPT
        if self._keeps:
            shape = (play.num_infostates, play.num_actions)
            self._table = torch.zeros(shape, dtype=torch.float64, device=play.device)
            self._known = torch.zeros(play.num_infostates, dtype=torch.bool, device=play.device)

    def probabilities(self, infostates: Tensor) -> Tensor:
        """Returns [n, A]."""
        if not self._keeps:
            return self._ask(infostates)
        new = infostates[~self._known[infostates]]
        if len(new):
            new = torch.unique(new)
            self._table[new] = self._ask(new)
            self._known[new] = True
        return self._table[infostates]

    def _ask(self, infostates: Tensor) -> Tensor:
        legal = self._play.legal(infostates)
        if self._answer is None:
            return legal.double() / legal.sum(dim=1, keepdim=True).clamp(min=1)
        with torch.no_grad():
            return self._answer(infostates, legal).double()


class BothPolicies(Policies):
    """The policies of two players as one."""

    def __init__(self, play: SampledGame, policies: tuple[Policies, Policies]) -> None:
        self._play, self.policies = play, policies

    def probabilities(self, infostates: Tensor) -> Tensor:
        """Returns [n, A]."""
        player = self._play.player(infostates)
        policy = torch.zeros((len(infostates), self._play.num_actions), dtype=torch.float64, device=infostates.device)
        for number, policies in enumerate(self.policies):
            own = (player == number).nonzero().squeeze(1)
            if len(own):
                policy[own] = policies.probabilities(infostates[own])
        return policy


def policy_on_tree(play: TreePlay, policies: Policies) -> Policy:
    """Returns policies on the game's tree."""
    return play.policy(policies.probabilities(torch.arange(play.num_infostates, device=play.device)))


class Mixture:
    """A mixture of policies, of which a player draws one for a whole game: its average, weighted by own reach, exactly.

    Attributes:
        sums: per player a flat vector as in `Policy`: weight x own reach x policy, summed.
    """

    def __init__(self, play: TreePlay) -> None:
        self._tree = play.tree
        self.sums = [np.zeros(size) for size in play.tree.policy_size]

    def add(self, policy: Policy, player: int, weight: float) -> None:
        """Adds a player's part of a policy."""
        self.sums[player] += weight * reach_of_actions(policy, player)

    def policy(self) -> Policy:
        """Returns the average; uniform where nobody comes."""
        return normalised(self._tree, (self.sums[0], self.sums[1]))


def reach_of_actions(policy: Policy, player: int) -> npt.NDArray[np.float64]:
    """Returns a flat vector as in `Policy`: own reach x policy, of a player."""
    engine = shared_engine(policy.tree)
    reach = engine.layout.new_reach(player, None)
    engine.push_reach(player, engine.layout.pad(player, policy.probabilities[player]), reach)
    # the reach after an action stands where the action's probability does
    return engine.layout.unpad(player, reach)


class SampledTrainer(ABC):
    """A training run that can be stepped, asked, saved and resumed.

    Attributes:
        kind: what the method is called in files and on the command line.
        title: the same in words.
        config: the settings.
        game: what is played.
        play: sampled play of it.
        encoding: what networks are told.
        generator: of all random numbers.
        epoch, nodes, seconds: epochs done, histories visited, time spent so far.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    play: SampledGame
    encoding: Encoding

    def __init__(self, config: SampledConfig, game: Game[Any] | None, device: torch.device | str) -> None:
        self.config = config
        self.game: Game[Any] = load_recorded_game(config.game) if game is None else game
        self.play, self.encoding = self._open(device)
        self.generator = torch.Generator(device).manual_seed(config.seed)
        self.epoch, self.nodes, self.seconds = 0, 0, 0.0

    def _open(self, device: torch.device | str) -> tuple[SampledGame, Encoding]:
        """Returns sampled play of the game, and what networks are told: here of a game whose tree can be built."""
        play = TreePlay(build_tree(self.game), device=device)
        return play, InfostateEncoding(play)

    def _check_memory(self, *, samples: int, width: int, flat: bool, games: int = 0) -> None:
        """Raises TooBigError if memories of so many samples, networks of that width or games do not fit."""
        with torch.device("meta"):  # shapes without numbers
            network = InfostateNetwork.of(self.encoding, width, None, flat=flat)
        numbers = sum(parameter.numel() for parameter in network.parameters())
        needed = samples * (12 + 4 * self.play.num_actions) + numbers * _PARAMETER + games * _GAME
        self._check_fits(needed, "less memory, width or games need less")

    def _check_fits(self, needed: int, advice: str) -> None:
        """Raises TooBigError if there are not so many bytes."""
        free = torch.cuda.mem_get_info(self.device)[0] if self.device.type == "cuda" else available_memory()
        if needed > free:
            raise TooBigError(
                f"training on {self.config.game} would take at least {format_gib(needed)}; {format_gib(free)} are free "
                f"({advice})"
            )

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.play.device

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Of the game."""
        return self.play.fingerprint

    @property
    def done(self) -> bool:
        """Whether the run is over."""
        return self.epoch >= self.config.epochs

    def run_epoch(self) -> dict[str, Any]:
        """Runs one epoch and returns a line of metrics."""
        begin, before = time.perf_counter(), self.nodes
        measured = self._run_epoch()
        self.epoch += 1
        spent = time.perf_counter() - begin
        self.seconds += spent
        rate = (self.nodes - before) / spent
        return {"epoch": self.epoch, "nodes": self.nodes, **measured, "seconds": self.seconds, "nodes_per_second": rate}

    @abstractmethod
    def _run_epoch(self) -> dict[str, Any]:
        """Runs epoch number `epoch` + 1, counts nodes, and returns what was measured."""

    @abstractmethod
    def average_policy(self) -> Policy:
        """Returns what the trained agent plays, in both seats; asking changes nothing."""

    @property
    def unit(self) -> str:
        """What exploitability is counted in, if the game does not say it."""
        return ""

    def exploitability(self, stopped: Callable[[], bool] = lambda: False) -> float | None:
        """Returns the exact exploitability (NashConv / 2) of what the trained agent plays; asking changes nothing.

        Where that takes long, `stopped` is asked on the way whether to give it up: then there is None.
        """
        return exploitability(self.average_policy())

    @abstractmethod
    def trained(self) -> dict[str, Tensor]:
        """Returns what a trained agent needs, by name; see `model`."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Returns all that changes in a run, but for the generator's state, by name."""

    @abstractmethod
    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave.

        Raises:
            ValueError, KeyError: it is not that of a run with these settings.
        """


def parameters(network: nn.Module) -> Tensor:
    """Returns all parameters of a network as one vector."""
    return torch.cat([parameter.detach().reshape(-1) for parameter in network.parameters()])


def set_parameters(network: nn.Module, vector: Tensor) -> None:
    """Sets all parameters of a network.

    Raises:
        ValueError: there are not as many.
    """
    sizes = [parameter.numel() for parameter in network.parameters()]
    if tuple(vector.shape) != (sum(sizes),) or not bool(vector.isfinite().all()):
        raise ValueError(f"a network has {sum(sizes):,} finite parameters, not {list(vector.shape)}")
    with torch.no_grad():
        for parameter, part in zip(network.parameters(), torch.split(vector, sizes), strict=True):
            parameter.copy_(part.view_as(parameter))


def check_width(width: int, vector: Tensor) -> None:
    """Raises ValueError if a network of that width has more parameters than a vector: before it takes memory."""
    if width * width > vector.numel():
        raise ValueError(f"a network of width {width:,} has more parameters than {vector.numel():,}")


def as_vectors(tensor: Tensor) -> npt.NDArray[np.float64]:
    """Returns a tensor as a NumPy array of its own."""
    return tensor.detach().cpu().numpy().astype(np.float64)
