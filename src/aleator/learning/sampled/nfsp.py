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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from aleator.errors import SolveError
from aleator.games.base import Game
from aleator.learning.sampled.deep_cfr import average_policies
from aleator.learning.sampled.fitting import Fit, fit_network, probabilities
from aleator.learning.sampled.memory import Memory
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.trainer import SampledConfig, SampledTrainer, parameters, policy_on_tree, set_parameters
from aleator.learning.sampled.traversal import Samples, draw_actions
from aleator.learning.settings import check_at_least
from aleator.solvers.engines.batched.parts import one_thread
from aleator.trees.policy import Policy

Tensor = torch.Tensor
_PARTS = ("infostates", "actions", "rewards", "following")
_FRESH = 5  # epochs of transitions that are in the window at the least


@dataclass(frozen=True, slots=True, kw_only=True)
class NfspConfig(SampledConfig):
    """A run of NFSP; see `SampledConfig` for what all methods have.

    Attributes:
        iterations: epochs, in each of which `games` are played and both networks fitted.
        games: played at once.
        anticipatory: eta, the chance that a player acts by its best response in a game.
        exploration: epsilon at the start; it falls with the square root of the epoch.
        linear: best actions of epoch t count t times as much in the average policy; otherwise all alike.
        window: transitions that Q is fitted to, the last ones, at most.
        recent: the share of all transitions so far that Q is fitted to; 1 for as many as the window holds.
        memory: samples that the reservoir of best actions holds.
        width, flat: of the networks; see `deep_cfr`.
        steps: of a fit of Q.
        policy_steps: of a fit of the average policy.
    """

    iterations: int = 750
    games: int = 4000
    anticipatory: float = 0.1
    exploration: float = 0.06
    linear: bool = False
    window: int = 200_000
    recent: float = 1.0
    memory: int = 2_000_000
    width: int = 64
    flat: bool = True
    steps: int = 30
    policy_steps: int = 20
    learning_rate: float = 3e-3

    def __post_init__(self) -> None:
        SampledConfig.__post_init__(self)
        check_at_least(self, 1, "games", "window", "memory")
        for name in ("anticipatory", "exploration", "recent"):
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
    "demo": {"iterations": 100, "games": 1000, "steps": 15, "policy_steps": 10},
}


class Transitions(NamedTuple):
    """Decisions of one player each, and what came of them.

    Attributes:
        infostates, actions: [n].
        rewards: [n]: won at the end of the game if the player does not act again, else 0.
        following: [n]: the player's next infostate, -1 if there is none.
    """

    infostates: Tensor
    actions: Tensor
    rewards: Tensor
    following: Tensor


class NFSP(SampledTrainer):
    """A run of NFSP.

    Attributes:
        values: the network Q.
        average: the network Pi.
        reservoir: of best actions.
        window: the last transitions.
        transitions: how many there were in all.
    """

    kind, title = "nfsp", "NFSP"
    config: NfspConfig
    play: TreePlay

    def __init__(
        self, config: NfspConfig, game: Game[Any] | None = None, *, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(config, game, device)
        samples = config.memory + config.window
        self._check_memory(samples=samples, width=config.width, flat=config.flat, games=config.games)
        start = torch.Generator().manual_seed(config.seed)  # on the CPU, so that it is the same on every device
        self.values, self.average = (
            InfostateNetwork.of(self.encoding, config.width, start, flat=config.flat).to(device) for _ in range(2)
        )
        self.reservoir = Memory(config.memory, self.play.num_actions, device=device)
        empty = torch.zeros(0, dtype=torch.int64, device=device)
        self.window = Transitions(empty, empty, torch.zeros(0, device=device), empty)
        self.transitions = 0
        self._unit = self.play.bound()

    def _run_epoch(self) -> dict[str, Any]:
        """Plays games, and fits both networks."""
        config = self.config
        fresh, best = self._play()
        self.transitions += len(fresh.rewards)
        most = min(config.window, max(int(config.recent * self.transitions), _FRESH * len(fresh.rewards)))
        kept = [torch.cat([old, new])[-most:] for old, new in zip(self.window, fresh, strict=True)]
        self.window = Transitions(*kept)
        self.reservoir.add(best, self.epoch + 1.0 if config.linear else 1.0, self.generator)
        loss = self._fit_values()
        fit = Fit(steps=config.policy_steps, batch=0, learning_rate=config.learning_rate, clip=config.clip)
        policy_loss = None
        if self.reservoir.count:
            policy_loss = fit_network(
                self.average, self.play, self.encoding, self.reservoir, fit, self.generator, answer=probabilities
            )
        games = (self.epoch + 1) * config.games
        return {"games": games, "samples": self.reservoir.added, "loss": loss, "policy_loss": policy_loss}

    def _q_table(self) -> tuple[Tensor, Tensor]:
        """Returns [I, A]: what Q says about every infostate, and which actions are legal."""
        everything = torch.arange(self.play.num_infostates, device=self.device)
        legal = self.play.legal(everything)
        with torch.no_grad():
            outputs = self.values(self.encoding.inputs(everything))
        return self.encoding.of_actions(everything, outputs), legal

    def _play(self) -> tuple[Transitions, Samples]:
        """Returns the transitions of one game each, and the best actions of those who act by Q."""
        play, config, generator = self.play, self.config, self.generator
        values, legal = self._q_table()
        greedy = torch.zeros(values.shape, dtype=torch.float64, device=self.device)
        greedy.scatter_(1, values.masked_fill(~legal, -torch.inf).argmax(dim=1, keepdim=True), 1.0)
        epsilon = config.exploration / (self.epoch + 1) ** 0.5
        explored = (1.0 - epsilon) * greedy + epsilon * legal.double() / legal.sum(dim=1, keepdim=True).clamp(min=1)
        policies = average_policies(play, self.average, self.encoding)
        histories = play.deal(config.games, generator)
        game = torch.arange(config.games, device=self.device)
        draws = torch.rand((config.games, 2), generator=generator, dtype=torch.float64, device=self.device)
        responds = draws < config.anticipatory
        last = torch.full((config.games, 2), -1, device=self.device)
        infostates, actions, links, best = [], [], [], []
        rows, ended, over = 0, [], []
        while len(game):
            actor = play.actor(histories)
            done = (actor < 0).nonzero().squeeze(1)
            ended.append(game[done])
            over.append(histories.rows(done))
            going = (actor >= 0).nonzero().squeeze(1)
            histories, game, actor = histories.rows(going), game[going], actor[going]
            here = play.infostate(histories)
            mode = responds[game, actor]
            chances = torch.where(mode[:, None], explored[here], policies.probabilities(here))
            action = draw_actions(chances, generator)
            before = last[game, actor]
            again = (before >= 0).nonzero().squeeze(1)
            links.append(torch.stack([before[again], here[again]]))
            last[game, actor] = rows + torch.arange(len(game), device=self.device)
            rows += len(game)
            infostates.append(here)
            actions.append(action)
            best.append(here[mode])
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
        met = torch.cat(best)
        samples = Samples(met, greedy[met], torch.ones(len(met), dtype=torch.float64, device=self.device))
        return Transitions(torch.cat(infostates), torch.cat(actions), rewards.float(), following), samples

    def _fit_values(self) -> float:
        """Fits Q to the window, with targets by Q as it is now; returns the loss."""
        config, play, (where, action, rewards, following) = self.config, self.play, self.window
        values, legal = self._q_table()
        highest = values.masked_fill(~legal, -torch.inf).max(dim=1).values
        targets = rewards + torch.where(following >= 0, highest[following.clamp(min=0)], torch.zeros_like(rewards))
        size = play.num_infostates * play.num_actions
        entry = where * play.num_actions + action
        total = torch.zeros(size, dtype=torch.float64, device=self.device)
        number = total.clone().index_add_(0, entry, torch.ones_like(targets, dtype=torch.float64))
        total.index_add_(0, entry, targets.double())
        shape = (play.num_infostates, play.num_actions)
        means = (total / number.clamp(min=1.0)).view(shape).float()
        weights = (number / number.sum()).view(shape).float()
        met = (weights.sum(dim=1) > 0).nonzero().squeeze(1)
        inputs, means, weights = self.encoding.inputs(met), means[met], weights[met]
        optimizer = torch.optim.Adam(self.values.parameters(), lr=config.learning_rate, fused=True)
        loss = torch.zeros(())
        with one_thread():
            for step in range(config.steps):
                for group in optimizer.param_groups:
                    group["lr"] = config.learning_rate * (1.0 - step / config.steps)
                optimizer.zero_grad()
                answers = self.encoding.of_actions(met, self.values(inputs))
                loss = ((answers - means).square() * weights).sum()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.values.parameters(), config.clip)
                optimizer.step()
        return float(loss.detach())

    def average_policy(self) -> Policy:
        """Returns what Pi says."""
        policies = average_policies(self.play, self.average, self.encoding)
        return policy_on_tree(self.play, policies)

    def trained(self) -> dict[str, Tensor]:
        """Returns the network of the average policy."""
        return {"average": parameters(self.average)}

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that changes in a run."""
        state = {f"reservoir.{name}": tensor for name, tensor in self.reservoir.tensors().items()}
        state |= {f"window.{name}": tensor for name, tensor in zip(_PARTS, self.window, strict=True)}
        return {
            **state,
            "values": parameters(self.values),
            "average": parameters(self.average),
            "transitions": torch.tensor([self.transitions]),
        }

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave."""
        prefix, most = "reservoir.", self.play.num_infostates
        own = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
        self.reservoir.load(own, most)
        window = Transitions(*(tensors[f"window.{name}"].to(self.device) for name in _PARTS))
        sizes = {len(part) for part in window}
        if len(sizes) != 1 or len(window.rewards) > self.config.window:
            raise ValueError(f"a window of {sorted(sizes)} transitions")
        if len(window.rewards):
            met, following = window.infostates, window.following
            inside = int(met.min()) >= 0 and int(following.min()) >= -1
            if not (inside and int(met.max()) < most and int(following.max()) < most):
                raise ValueError("a transition has an infostate that the game does not have")
            if int(window.actions.min()) < 0 or int(window.actions.max()) >= self.play.num_actions:
                raise ValueError("a transition has an action that the game does not have")
        self.window = window
        self.transitions = int(tensors["transitions"][0])
        set_parameters(self.values, tensors["values"])
        set_parameters(self.average, tensors["average"])
