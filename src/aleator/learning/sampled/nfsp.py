"""NFSP: neural fictitious self-play.

Algorithm:
    Many games are played at once. Before a game each player decides how to act in it: with probability eta by its
    best response, epsilon-greedily by the values Q, otherwise by its average policy Pi. Every decision is a
    transition (I, a, reward, next I) for a window M_RL; the best actions of who acts by Q go to a reservoir M_SL.
    Then Q is fitted to r + max over a' of Q(next I, a') on the window, and Pi to the reservoir: so Pi follows the
    average of all best responses so far, as in fictitious play, and is what converges.

Reference: Heinrich and Silver 2016, Algorithm 1; baseline of thesis 4.1 and of Double Neural CFR.

Deviations:
    One network Q and one network Pi serve both players, who are told their seat. Games on a tree are played by tables
    of what both networks say, so that an epoch can have as many decisions as a thousand iterations of the authors' code
    (128 decisions each). Fits go on from the last parameters, with Adam, over the whole window and the whole reservoir
    in every step (transitions of one infostate and action are averaged, which is exact; best actions of one infostate
    and epoch are one sample with their number as its weight); the target's Q is that of the last epoch. With `recent`
    below 1 the window grows with the run. The reservoir has the best action itself and not the one that exploration
    drew, and with `linear` later ones count more: the first are answers to nothing. Pi minimises the squared error,
    which has the same minimum as the log-loss.

Status: tests/learning/sampled/test_nfsp.py; numbers by `aleator paper deep-cfr-leduc`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from aleator.errors import SolveError
from aleator.games.base import Game
from aleator.learning.run_files import without_prefix
from aleator.learning.sampled.board_play import BoardPlay
from aleator.learning.sampled.fitting import fit_network, minimise, probabilities
from aleator.learning.sampled.memory import Memory
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.network_trainer import NetworkRunConfig, NetworkTrainer, average_policies
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.self_play import Played, Players, play_in_lockstep, play_on_tree
from aleator.learning.sampled.trainer import NetworkPolicies, parameters, set_parameters
from aleator.learning.sampled.transitions import Window
from aleator.learning.settings import check_at_least
from aleator.trees.policy import Policy

Tensor = torch.Tensor
_FRESH = 5  # epochs of transitions that are in the window at the least


@dataclass(frozen=True, slots=True, kw_only=True)
class NfspConfig(NetworkRunConfig):
    """A run of NFSP; see `NetworkRunConfig` for what Deep CFR has, too.

    Attributes:
        iterations: epochs, in each of which `games` are played and both networks fitted; on Leduc one has about as many
            decisions, 128,000, as a thousand iterations of the authors' code.
        games: played at once.
        anticipatory: eta, the chance that a player acts by its best response in a game.
        exploration: epsilon at the start; it falls with the square root of the epoch.
        linear: best actions of epoch t count t times as much in the average policy; otherwise all alike.
        window: transitions that Q is fitted to, the last ones, at most.
        recent: the share of all transitions so far that Q is fitted to; 1 for as many as the window holds.
        memory: samples that the reservoir of best actions holds; on a tree one is all of an infostate in an epoch.
        steps: of a fit of Q.
        policy_steps: of a fit of the average policy.
    """

    iterations: int = 3000
    games: int = 29_000
    anticipatory: float = 0.1
    exploration: float = 0.06
    linear: bool = False
    window: int = 640_000
    recent: float = 1.0
    width: int = 64
    steps: int = 30
    policy_steps: int = 20
    learning_rate: float = 3e-3

    def __post_init__(self) -> None:
        NetworkRunConfig.__post_init__(self)
        check_at_least(self, 1, "games", "window")
        for name in ("anticipatory", "exploration", "recent"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise SolveError(f"{name} must be between 0 and 1, not {getattr(self, name)}")


PRESETS: dict[str, dict[str, Any]] = {
    "small": {},
    # what Heinrich and Silver say about Leduc, with Adam: an epoch is 128 decisions, which takes hours
    "paper": {
        "iterations": 3_000_000, "games": 29, "window": 200_000, "steps": 2, "policy_steps": 2, "batch": 128,
        "learning_rate": 1e-4,
    },
    # flop hold'em for minutes on a GPU
    "fhp": {
        "iterations": 2000, "games": 20_000, "window": 4_000_000, "memory": 20_000_000, "width": 128, "flat": False,
        "steps": 60, "policy_steps": 60, "batch": 20_000, "learning_rate": 1e-3,
    },
    "demo": {"iterations": 100, "games": 1000, "window": 50_000, "steps": 15, "policy_steps": 10},
}  # fmt: skip


class NFSP(NetworkTrainer):
    """A run of NFSP.

    Attributes:
        values: the network Q.
        average: the network Pi.
        reservoir: of best actions.
        window: the last transitions.
    """

    kind, title = "nfsp", "NFSP"
    config: NfspConfig

    def __init__(
        self, config: NfspConfig, game: Game[Any] | None = None, *, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(config, game, device)
        if isinstance(self.play, BoardPlay) and not config.batch:
            raise SolveError(
                f"{config.game} has too many infostates for batch=0: it needs batches, as --preset fhp has"
            )
        samples = config.memory + config.window
        self._check_memory(samples=samples, width=config.width, flat=config.flat, games=config.games)
        start = torch.Generator().manual_seed(config.seed)  # on the CPU, so that it is the same on every device
        self.values, self.average = self._new_network(start), self._new_network(start)
        self.reservoir = Memory(config.memory, self.play.num_actions, device=device)
        self.window = Window(self.play.num_infostates, self.play.num_actions, device=device)

    def _average_network(self) -> InfostateNetwork:
        """Returns Pi."""
        return self.average

    def _run_epoch(self) -> dict[str, Any]:
        """Plays games, and fits both networks."""
        config = self.config
        before = self.window.added
        fresh, best, nodes = self._play()
        self.nodes += nodes
        self.window.add(fresh, self.epoch)
        newest = self.window.added - before
        self.window.forget(min(config.window, max(int(config.recent * self.window.added), _FRESH * newest)))
        self.reservoir.add(best, self.epoch + 1.0 if config.linear else 1.0, self.generator)
        loss = self._fit_values()
        fit, policy_loss = config.fit(config.policy_steps), None
        if self.reservoir.count:
            policy_loss = fit_network(
                self.average, self.play, self.encoding, self.reservoir, fit, self.generator, answer=probabilities
            )
        counted = {"games": (self.epoch + 1) * config.games, "transitions": self.window.added}
        return {**counted, "samples": self.reservoir.added, "loss": loss, "policy_loss": policy_loss}

    def _action_values(self, network: InfostateNetwork, infostates: Tensor) -> Tensor:
        """Returns [n, A]: what a network says about the legal actions of some infostates, and -infinity elsewhere."""
        answers = self.encoding.of_actions(infostates, network(self.encoding.inputs(infostates)))
        return answers.masked_fill(~self.play.legal(infostates), -torch.inf)

    def _best_actions(self) -> NetworkPolicies:
        """Returns the policies that always take the action whose Q is the highest."""

        def answer(infostates: Tensor, legal: Tensor) -> Tensor:
            highest = self._action_values(self.values, infostates).argmax(dim=1, keepdim=True)
            return torch.zeros(legal.shape, device=self.device).scatter_(1, highest, 1.0)

        return NetworkPolicies(self.play, answer)

    def _play(self) -> Played:
        """Returns what comes of the games of an epoch."""
        config = self.config
        players = Players(
            self._best_actions(),
            average_policies(self.play, self.average, self.encoding),
            config.anticipatory,
            config.exploration / (self.epoch + 1) ** 0.5,
        )
        if isinstance(self.play, TreePlay):
            return play_on_tree(self.play, players, config.games, self.generator)
        return play_in_lockstep(self.play, players, config.games, self.generator)

    def _fit_values(self) -> float:
        """Fits Q to the window, with targets by Q as it is now; returns the loss of the last step."""
        config = self.config
        error = self._error_of_batches() if config.batch else self._error_of_means()
        return minimise(self.values, error, config.fit(config.steps), self.generator)

    def _error_of_means(self) -> Callable[[], Tensor]:
        """Returns the squared error of Q on the whole window; transitions of an infostate and action are averaged."""
        play, window, following = self.play, self.window, self.window.following
        shape = (play.num_infostates, play.num_actions)
        everything = torch.arange(play.num_infostates, device=self.device)
        with torch.no_grad():
            highest = self._action_values(self.values, everything).max(dim=1).values.double()
        wanted = window.rewards + torch.where(following >= 0, window.number * highest[following.clamp(min=0)], 0.0)
        entry = window.infostates * play.num_actions + window.actions
        total, number = (
            torch.zeros(shape[0] * shape[1], dtype=torch.float64, device=self.device).index_add_(0, entry, column)
            for column in (wanted, window.number)
        )
        means = (total / number.clamp(min=1.0)).view(shape).float()
        weights = (number / number.sum()).view(shape).float()
        met = (weights.sum(dim=1) > 0).nonzero().squeeze(1)
        inputs, means, weights = self.encoding.inputs(met), means[met], weights[met]

        def error() -> Tensor:
            answers = self.encoding.of_actions(met, self.values(inputs))
            return ((answers - means).square() * weights).sum()

        return error

    def _error_of_batches(self) -> Callable[[], Tensor]:
        """Returns the squared error of Q on transitions that are drawn from the window each time."""
        target, window, batch = copy.deepcopy(self.values), self.window, self.config.batch
        ends = window.number.cumsum(0)

        def error() -> Tensor:
            draws = torch.rand(batch, generator=self.generator, dtype=torch.float64, device=self.device)
            drawn = torch.searchsorted(ends, draws * ends[-1], right=True)
            where, action, after = window.infostates[drawn], window.actions[drawn], window.following[drawn]
            wanted = (window.rewards[drawn] / window.number[drawn]).float()
            with torch.no_grad():
                highest = self._action_values(target, after.clamp(min=0)).max(dim=1).values
            wanted = wanted + torch.where(after >= 0, highest, 0.0)
            answers = self.encoding.of_actions(where, self.values(self.encoding.inputs(where)))
            return (answers.gather(1, action[:, None]).squeeze(1) - wanted).square().mean()

        return error

    def average_policy(self) -> Policy:
        """Returns what Pi says."""
        return self.network_policy()

    def trained(self) -> dict[str, Tensor]:
        """Returns the network of the average policy."""
        return {"average": parameters(self.average)}

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that changes in a run."""
        state = {f"reservoir.{name}": tensor for name, tensor in self.reservoir.tensors().items()}
        state |= {f"window.{name}": tensor for name, tensor in self.window.tensors().items()}
        return {**state, "values": parameters(self.values), "average": parameters(self.average)}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave."""
        self.reservoir.load(without_prefix(tensors, "reservoir."), self.play.num_infostates)
        self.window.load(without_prefix(tensors, "window."))
        set_parameters(self.values, tensors["values"])
        set_parameters(self.average, tensors["average"])
