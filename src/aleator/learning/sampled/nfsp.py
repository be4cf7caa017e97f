"""NFSP: neural fictitious self-play.

Algorithm:
    Many games are played at once. Before a game each player decides how to act in it: with probability eta by its
    best response, epsilon-greedily by the values Q, otherwise by its average policy Pi. Every decision is a
    transition (I, a, reward, next I) for a window M_RL; the best actions of who acts by Q go to a reservoir M_SL.
    Then Q is fitted to r + max over a' of Q(next I, a') on the window, and Pi to the reservoir: so Pi follows the
    average of all best responses so far, as in fictitious play, and is what converges.

Reference: Heinrich and Silver 2016, Algorithm 1; baseline of thesis 4.1 and of Double Neural CFR.

Deviations:
    One network Q and one network Pi serve both players, who are told their seat. Fits go on from the last
    parameters, with Adam, over the whole window and the whole reservoir in every step (transitions of one infostate
    and action are averaged, which is exact); the target's Q is that of the last epoch. With `recent` below 1 the
    window grows with the run. The reservoir has the best action itself and not the one that exploration drew, and
    with `linear` later ones count more: the first are answers to nothing. Pi minimises the squared error, which has
    the same minimum as the log- loss.

Status: tests/learning/sampled/test_nfsp.py.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from aleator.errors import SolveError
from aleator.games.base import Game
from aleator.learning.sampled.board_play import BoardPlay
from aleator.learning.sampled.fitting import Fit, fit_network, probabilities
from aleator.learning.sampled.memory import Memory
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.network_trainer import NetworkTrainer, average_policies
from aleator.learning.sampled.trainer import NetworkPolicies, SampledConfig, parameters, set_parameters
from aleator.learning.sampled.transitions import Transitions, Window
from aleator.learning.sampled.traversal import Samples, draw_actions
from aleator.learning.settings import check_at_least
from aleator.solvers.engines.batched.parts import one_thread
from aleator.trees.policy import Policy

Tensor = torch.Tensor
_FRESH = 5  # epochs of transitions that are in the window at the least
_RANDOM = 0.5  # share of random actions of who explores


@dataclass(frozen=True, slots=True, kw_only=True)
class NfspConfig(SampledConfig):
    """A run of NFSP; see `SampledConfig` for what all methods have.

    Attributes:
        iterations: epochs, in each of which `games` are played and both networks fitted.
        games: played at once.
        anticipatory: eta, the chance that a player acts by its best response in a game.
        exploration: epsilon at the start; it falls with the square root of the epoch.
        explorers: the chance that a player explores in a game: of its best actions it takes every second one, at random
            any other. Nobody answers that: the transitions of its opponent in that game are left out.
        linear: best actions of epoch t count t times as much in the average policy; otherwise all alike.
        window: transitions that Q is fitted to, the last ones, at most.
        recent: the share of all transitions so far that Q is fitted to; 1 for as many as the window holds.
        memory: samples that the reservoir of best actions holds.
        width, flat: of the networks; see `deep_cfr`.
        steps: of a fit of Q.
        policy_steps: of a fit of the average policy.
        batch: transitions, and best actions, in a step; 0 for all of them.
    """

    iterations: int = 750
    games: int = 4000
    anticipatory: float = 0.1
    exploration: float = 0.06
    explorers: float = 0.0
    linear: bool = False
    window: int = 200_000
    recent: float = 1.0
    memory: int = 2_000_000
    width: int = 64
    flat: bool = True
    steps: int = 30
    policy_steps: int = 20
    learning_rate: float = 3e-3
    batch: int = 0

    def __post_init__(self) -> None:
        SampledConfig.__post_init__(self)
        check_at_least(self, 0, "batch")
        check_at_least(self, 1, "games", "window", "memory")
        for name in ("anticipatory", "exploration", "explorers", "recent"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise SolveError(f"{name} must be between 0 and 1, not {getattr(self, name)}")


PRESETS: dict[str, dict[str, Any]] = {
    "small": {},
    # what Heinrich and Silver say about Leduc, as far as it means anything here
    "paper": {
        "games": 128,
        "iterations": 23_500,
        "window": 200_000,
        "steps": 8,
        "policy_steps": 8,
    },
    # flop hold'em for minutes on a GPU
    "fhp": {
        "iterations": 2000, "games": 20_000, "window": 4_000_000, "memory": 20_000_000, "width": 128, "flat": False,
        "steps": 60, "policy_steps": 60, "batch": 20_000, "learning_rate": 1e-3,
    },
    "demo": {"iterations": 100, "games": 1000, "steps": 15, "policy_steps": 10},
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
        self.values, self.average = (
            InfostateNetwork.of(self.encoding, config.width, start, flat=config.flat).to(device) for _ in range(2)
        )
        self.reservoir = Memory(config.memory, self.play.num_actions, device=device)
        self.window = Window(self.play.num_infostates, self.play.num_actions, alike=config.batch == 0, device=device)
        self._unit = self.play.bound()

    def _average_network(self) -> InfostateNetwork:
        """Returns Pi."""
        return self.average

    def _run_epoch(self) -> dict[str, Any]:
        """Plays games, and fits both networks."""
        config = self.config
        fresh, best = self._play()
        self.window.add(fresh, self.epoch)
        self.window.forget(min(config.window, max(int(config.recent * self.window.added), _FRESH * len(fresh.rewards))))
        self.reservoir.add(best, self.epoch + 1.0 if config.linear else 1.0, self.generator)
        loss = self._fit_values()
        fit = Fit(steps=config.policy_steps, batch=config.batch, learning_rate=config.learning_rate, clip=config.clip)
        policy_loss = None
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

    def _play(self) -> tuple[Transitions, Samples]:
        """Returns the transitions of one game each, and the best actions of those who act by Q."""
        play, config, generator = self.play, self.config, self.generator
        greedy, average = self._best_actions(), average_policies(play, self.average, self.encoding)
        epsilon = config.exploration / (self.epoch + 1) ** 0.5
        histories = play.deal(config.games, generator)
        game = torch.arange(config.games, device=self.device)
        draws = torch.rand((config.games, 2), generator=generator, dtype=torch.float64, device=self.device)
        responds, explores = draws < config.anticipatory, torch.zeros_like(draws, dtype=torch.bool)
        if config.explorers:
            explores = torch.rand(draws.shape, generator=generator, device=self.device) < config.explorers
        last = torch.full((config.games, 2), -1, device=self.device)
        infostates, actions, answered, links, best = [], [], [], [], []
        rows, ended, over = 0, [], []
        while len(game):
            actor = play.actor(histories)
            done = (actor < 0).nonzero().squeeze(1)
            ended.append(game[done])
            over.append(histories.rows(done))
            going = (actor >= 0).nonzero().squeeze(1)
            histories, game, actor = histories.rows(going), game[going], actor[going]
            here = play.infostate(histories)
            chances = torch.zeros((len(here), play.num_actions), dtype=torch.float64, device=self.device)
            exploring = explores[game, actor]
            mode = responds[game, actor] | exploring
            responding, averaging = mode.nonzero().squeeze(1), (~mode).nonzero().squeeze(1)
            chances[averaging] = average.probabilities(here[averaging])
            exploring = exploring[responding]
            best_here, legal = greedy.probabilities(here[responding]), play.legal(here[responding]).double()
            share = torch.where(exploring, _RANDOM, epsilon)[:, None]
            chances[responding] = (1.0 - share) * best_here + share * legal / legal.sum(dim=1, keepdim=True)
            action = draw_actions(chances, generator)
            before = last[game, actor]
            again = (before >= 0).nonzero().squeeze(1)
            links.append(torch.stack([before[again], here[again]]))
            last[game, actor] = rows + torch.arange(len(game), device=self.device)
            rows += len(game)
            infostates.append(here)
            actions.append(action)
            answered.append(~explores[game, 1 - actor])
            best.append((here[responding][~exploring], best_here[~exploring]))
            histories = play.act(histories, action, generator)
        following = torch.full((rows,), -1, device=self.device)
        link = torch.cat(links, dim=1)
        following[link[0]] = link[1]
        rewards = torch.zeros(rows, dtype=torch.float64, device=self.device)
        for finished, where in zip(over, ended, strict=True):
            self.nodes += int((play.length(finished) + 1).sum())
            for player in (0, 1):
                row = last[where, player]
                acted = (row >= 0).nonzero().squeeze(1)
                rewards[row[acted]] = play.returns(finished, player)[acted] / self._unit
        met, taken = (torch.cat(column) for column in zip(*best, strict=True))
        samples = Samples(met, taken, torch.ones(len(met), dtype=torch.float64, device=self.device))
        found = Transitions(torch.cat(infostates), torch.cat(actions), rewards.float(), following)
        return found.rows(torch.cat(answered).nonzero().squeeze(1)), samples

    def _fit_values(self) -> float:
        """Fits Q to the window, with targets by Q as it is now; returns the loss of the last step."""
        config = self.config
        if not len(self.window.rewards):
            return 0.0  # everybody explored
        error = self._error_of_batches() if config.batch else self._error_of_means()
        optimizer = torch.optim.Adam(self.values.parameters(), lr=config.learning_rate, fused=True)
        loss = torch.zeros(())
        with one_thread():
            for step in range(config.steps):
                for group in optimizer.param_groups:
                    group["lr"] = config.learning_rate * (1.0 - step / config.steps)
                optimizer.zero_grad()
                loss = error()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.values.parameters(), config.clip)
                optimizer.step()
        return float(loss.detach())

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
        target, window = copy.deepcopy(self.values), self.window

        def error() -> Tensor:
            rows = len(window.rewards)
            drawn = torch.randint(rows, (self.config.batch,), generator=self.generator, device=self.device)
            where, action, after = window.infostates[drawn], window.actions[drawn], window.following[drawn]
            wanted = window.rewards[drawn].float()
            again = (after >= 0).nonzero().squeeze(1)
            with torch.no_grad():
                wanted[again] += self._action_values(target, after[again]).max(dim=1).values
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

        def part(prefix: str) -> dict[str, Tensor]:
            return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}

        self.reservoir.load(part("reservoir."), self.play.num_infostates)
        self.window.load(part("window."))
        set_parameters(self.values, tensors["values"])
        set_parameters(self.average, tensors["average"])
