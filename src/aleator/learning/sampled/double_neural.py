"""Double Neural CFR: one network for the sums of regrets, another for the sums of policies.

Algorithm:
    In iteration t both players make b traversals by robust sampling with policies that match the positive part of what
    the RegretSumNetwork (RSN) says. The memory M_R has the mean over traversals of each infostate's sampled regrets,
    M_S the increments s(a | I) = reach(I) x policy(a | I) of the average policy at all infostates that were met. Then
    the networks are fitted, from their last parameters, to what they said plus what is new:
        RSN:  R(I, a | theta_R)  <-  [R(I, a | theta_R) + r(a | I)]^+   (MCCFR+; without the floor for MCCFR)
        ASN:  S(I, a | theta_S)  <-   S(I, a | theta_S) + s(a | I).
    The average policy is what the AvgStrategyNetwork (ASN) says, normalised. Either network can be replaced by a table:
    RSN only, ASN only, or tabular RS-MCCFR+. A warm start runs the first iterations with tables, and clones them.

Reference: Li et al. 2019 (Double Neural CFR): Algorithms 1 and 2, Eq. 5 to 9 (losses, networks, cloning), 10 (robust
    sampling), 11 (mini-batches).

Deviations:
    The increments of iteration t count t^`policy_power` times as much, by default t times, as CFR+ weighs them; the
    paper's Eq. 4 weighs all alike.
    Networks answer in units of the sums' root mean square, and their last layers are scaled as the unit grows, so that
    outputs stay of one size. The ASN answers square roots of sums: so small sums, of infostates that a player seldom
    lets happen, are as precise as large ones. A fit has a given number of steps over all infostates that were met, and
    its learning rate falls to zero: no early stopping; one that is thrown off is made again, more slowly. Adam keeps
    its moments from fit to fit, and before and after its steps the last layer is solved by least squares: targets
    change little, and most of what changes the last layer can follow. The ASN is fitted to the increments of several
    iterations at a time (`policy_every`). In games that can be enumerated all infostates are fitted, those that were
    not met to what the networks said (`everywhere`); the paper leaves them to drift.

Status: tests/learning/sampled/test_double_neural.py; numbers by `aleator paper double-neural`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol

import torch
from torch import nn

from aleator.errors import SolveError
from aleator.games.base import Game
from aleator.learning.sampled.encoding import Encoding
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.recurrent import SequenceNetwork
from aleator.learning.sampled.sequences import InfostateSequences, Walk
from aleator.learning.sampled.trainer import SampledConfig, SampledTrainer, parameters, reach_of_actions, set_parameters
from aleator.learning.sampled.traversal import Policies, TablePolicies, match_regrets, parse_sampling, traverse
from aleator.learning.settings import check_at_least
from aleator.solvers.engines.batched.parts import one_thread
from aleator.trees.policy import Policy

Tensor = torch.Tensor
NETWORK, TABLE = "network", "table"
KEPT = (NETWORK, TABLE)
# a fit that ends so many times worse than the last one, and not well, is made again with a smaller learning rate
_THROWN_OFF, _PRECISE, _CAREFUL = 4.0, 1e-6, 0.1
_BETAS = (0.9, 0.99)  # Adam's: a fit has too few steps for a longer memory
# fits of iteration t have 1 + _EARLY / t times as many steps, and as large ones up to a bound: sums change most early
_EARLY, _LARGEST = 10, 3.0
_RIDGE = 1e-4  # what a change of the last layer costs, per sample
_MOMENTS = ("exp_avg", "exp_avg_sq")  # Adam's names of them
_BYTES = 4 * 40  # of a unit of a cell in a step: about twenty numbers, and their gradients


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleNeuralConfig(SampledConfig):
    """A run of Double Neural CFR; see `SampledConfig` for what all methods have.

    Attributes:
        traversals: b, of each player in an iteration.
        sampling: external, robustK or outcome[,epsilon=E].
        floor: sums of regrets never fall below zero (MCCFR+).
        policy_power: iteration t counts t^power as much in the average policy.
        regrets: network (RSN) or table.
        average: network (ASN) or table.
        warm: iterations with tables before the networks begin.
        everywhere: fits look at all infostates, and increments of policies are added at all; otherwise at those that
            were met.
        width: units of the RSN.
        policy_width: units of the ASN.
        steps: of a fit of the RSN; early fits have more and larger ones, in iteration t 1 + 10 / t times as many.
        policy_steps: of a fit of the ASN, likewise.
        policy_every: iterations between fits of the ASN.
        first_steps: of the first fit, and of those to tables after a warm start.
    """

    game: str = "leduc:nolimit5"
    traversals: int = 5000
    sampling: str = "robust3"
    floor: bool = True
    policy_power: float = 1.0
    regrets: str = NETWORK
    average: str = NETWORK
    warm: int = 0
    everywhere: bool = True
    policy_width: int = 128
    steps: int = 40
    policy_steps: int = 150
    policy_every: int = 10
    first_steps: int = 500
    learning_rate: float = 3e-3

    def __post_init__(self) -> None:
        SampledConfig.__post_init__(self)
        parse_sampling(self.sampling)
        for name in ("regrets", "average"):
            if getattr(self, name) not in KEPT:
                raise SolveError(f"{name} must be one of {', '.join(KEPT)}, not {getattr(self, name)!r}")
        check_at_least(self, 1, "traversals", "policy_width", "first_steps", "policy_every")
        check_at_least(self, 0, "warm")
        if not 0.0 <= self.policy_power < math.inf:
            raise SolveError(f"policy_power must be at least 0, not {self.policy_power}")


PRESETS: dict[str, dict[str, Any]] = {
    "small": {},
    # what the paper says, as far as it means anything here
    "paper": {
        "policy_width": 256, "steps": 2000, "policy_steps": 2000, "policy_every": 1, "learning_rate": 1e-3,
        "everywhere": False,
    },
    "demo": {"iterations": 100, "traversals": 500, "width": 32, "policy_width": 32, "steps": 10, "policy_steps": 20,
             "first_steps": 100},
}  # fmt: skip


class Sums(Protocol):
    """Sums over iterations, [I, A]: a table or a network."""

    def sums(self) -> Tensor:
        """Returns [I, A], float64."""

    def update(self, sums: Tensor, met: Tensor, steps: int, early: float = 1.0) -> float:
        """Takes over new sums [I, A] at infostates that were met [n]; returns the error left.

        Takes so many steps, times `early`, which is above 1 while sums still change much.
        """

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that changes."""

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave."""


class TableSums(Sums):
    """Sums in a table."""

    def __init__(self, play: TreePlay) -> None:
        self.table = torch.zeros((play.num_infostates, play.num_actions), dtype=torch.float64, device=play.device)

    def sums(self) -> Tensor:
        """Returns [I, A]."""
        return self.table

    def update(self, sums: Tensor, met: Tensor, steps: int, early: float = 1.0) -> float:
        """Takes over new sums; no error is left."""
        self.table = self.table.index_copy(0, met, sums[met])
        return 0.0

    def tensors(self) -> dict[str, Tensor]:
        """Returns the table."""
        return {"table": self.table}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over a table."""
        table = tensors["table"]
        if table.shape != self.table.shape:
            raise ValueError(f"a table of shape {list(table.shape)} in place of {list(self.table.shape)}")
        self.table = table.double().to(self.table.device)


class NetworkSums(Sums):
    """Sums as a network, the RSN or the ASN: a unit times what it says, or with `roots` the square of that."""

    def __init__(
        self,
        play: TreePlay,
        encoding: Encoding,
        sequences: InfostateSequences,
        config: DoubleNeuralConfig,
        width: int,
        generator: torch.Generator | None,
        *,
        roots: bool,
    ) -> None:
        self._encoding, self._sequences, self._config, self._roots = encoding, sequences, config, roots
        self.network = SequenceNetwork(len(sequences.symbols), encoding.num_outputs, width, generator).to(play.device)
        self._optimizer = self._new_optimizer()
        self.unit = 0.0  # before the first fit all sums are 0
        self.error = 0.0  # of the last fit
        self._all = torch.arange(play.num_infostates, device=play.device)
        self._walk, self._legal = sequences.walk(self._all), play.legal(self._all)

    def sums(self) -> Tensor:
        """Returns [I, A]: what the network says."""
        with torch.no_grad():
            answers = self._encoding.of_actions(self._all, self.network(self._walk)).double()
        return self.unit * (answers.clamp(min=0.0).square() if self._roots else answers) * self._legal

    def update(self, sums: Tensor, met: Tensor, steps: int, early: float = 1.0) -> float:
        """Fits the network, keeps the best parameters, and returns their squared error, relative to the sums'."""
        config, everywhere = self._config, self._config.everywhere
        infostates = self._all if everywhere else met
        walk = self._walk if everywhere else self._sequences.walk(met)
        legal = self._legal[infostates]
        first, steps = self.unit == 0.0, math.ceil(early * steps)
        if first:
            steps = max(steps, config.first_steps)
        wanted = self._rescale(sums[infostates] * legal, int(legal.sum()))

        def loss() -> Tensor:
            answers = self._encoding.of_actions(infostates, self.network(walk))
            return ((answers - wanted) * legal).square().sum() / legal.sum()

        def fit(learning_rate: float) -> tuple[float, Tensor]:
            self._solve_output(infostates, walk, wanted)
            set_parameters(self.network, self._fit(loss, steps, learning_rate))
            self._solve_output(infostates, walk, wanted)
            with torch.no_grad():
                return float(loss()), parameters(self.network)

        start = parameters(self.network)
        learning_rate = config.learning_rate * min(early, _LARGEST)
        error, best = fit(learning_rate)
        if not first and error > max(_THROWN_OFF * self.error, _PRECISE):
            set_parameters(self.network, start)
            self._optimizer = self._new_optimizer()
            error, best = min((error, best), fit(_CAREFUL * learning_rate), key=itemgetter(0))
        set_parameters(self.network, best)
        self.error = error
        return error

    def _new_optimizer(self) -> torch.optim.Adam:
        """Returns an optimiser that remembers nothing yet."""
        return torch.optim.Adam(self.network.parameters(), lr=self._config.learning_rate, betas=_BETAS, fused=True)

    def _fit(self, loss: Callable[[], Tensor], steps: int, learning_rate: float) -> Tensor:
        """Takes so many steps; returns the parameters on the way that had the lowest loss."""
        optimizer, lowest, best = self._optimizer, math.inf, parameters(self.network)
        with one_thread():
            for step in range(steps):
                for group in optimizer.param_groups:
                    group["lr"] = learning_rate * (1.0 - step / steps)
                optimizer.zero_grad()
                error = loss()
                if (value := float(error.detach())) < lowest:
                    lowest, best = value, parameters(self.network)
                error.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.network.parameters(), self._config.clip)
                optimizer.step()
        return best

    def _solve_output(self, infostates: Tensor, walk: Walk, wanted: Tensor) -> None:
        """Makes the last layer the best one for the features as they are: for each of its outputs, least squares."""
        output, legal = self.network.output, self._legal[infostates]
        numbers = torch.arange(output.out_features, device=legal.device).expand(len(infostates), -1)
        which = self._encoding.of_actions(infostates, numbers)  # the output of each action
        with torch.no_grad(), one_thread():
            features = self.network.features(walk).double()
            features = torch.cat([features, features.new_ones((len(features), 1))], dim=1)
            weights = torch.cat([output.weight, output.bias[:, None]], dim=1).double()
            missing = wanted - self._encoding.of_actions(infostates, features @ weights.T)
            for number in range(output.out_features):
                row, action = ((which == number) & legal).nonzero(as_tuple=True)
                seen = features[row]
                cost = torch.eye(seen.shape[1], dtype=seen.dtype, device=seen.device) * (_RIDGE * max(len(row), 1))
                weights[number] += torch.linalg.solve(seen.T @ seen + cost, seen.T @ missing[row, action])
            output.weight.copy_(weights[:, :-1])
            output.bias.copy_(weights[:, -1])

    def _rescale(self, sums: Tensor, number: int) -> Tensor:
        """Makes the root mean square of so many sums the unit, and returns them in it; what is said stays the same."""
        unit = float((sums.square().sum() / number).sqrt()) or 1.0
        power = 0.5 if self._roots else 1.0
        if self.unit:
            with torch.no_grad():
                for parameter in self.network.output.parameters():
                    parameter.mul_((self.unit / unit) ** power)
        self.unit = unit
        return ((sums / unit) ** power).float()

    def tensors(self) -> dict[str, Tensor]:
        """Returns the parameters, the unit, the error of the last fit, and what the optimiser remembers."""
        state = [self._optimizer.state[parameter] for parameter in self.network.parameters()]
        steps = float(state[0]["step"]) if state[0] else 0.0
        numbers = {"unit": self.unit, "error": self.error, "steps": steps}
        parts = {name: torch.tensor([value], dtype=torch.float64) for name, value in numbers.items()}
        if steps:
            parts |= {name: torch.cat([part[name].reshape(-1) for part in state]) for name in _MOMENTS}
        return {"network": parameters(self.network), **parts}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave."""
        set_parameters(self.network, tensors["network"])
        self.unit, self.error = float(tensors["unit"][0]), float(tensors["error"][0])
        self._optimizer = self._new_optimizer()
        if not (steps := float(tensors["steps"][0])):
            return
        own = list(self.network.parameters())
        moments = zip(*(torch.split(tensors[name], [part.numel() for part in own]) for name in _MOMENTS), strict=True)
        for parameter, pair in zip(own, moments, strict=True):
            kept = [part.view_as(parameter).to(parameter).clone() for part in pair]
            step = torch.tensor(steps, dtype=torch.float32, device=parameter.device)
            self._optimizer.state[parameter] = {"step": step, **dict(zip(_MOMENTS, kept, strict=True))}


class DoubleNeuralCFR(SampledTrainer):
    """A run of Double Neural CFR.

    Attributes:
        regrets, policies: sums as they are kept now: while the start is warm, in tables.
    """

    kind, title = "double-neural", "Double Neural CFR"
    config: DoubleNeuralConfig
    play: TreePlay

    def __init__(
        self, config: DoubleNeuralConfig, game: Game[Any] | None = None, *, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(config, game, device)
        self._rule = parse_sampling(config.sampling)
        self._all = torch.arange(self.play.num_infostates, device=self.device)
        self._legal = self.play.legal(self._all)
        self._sequences = InfostateSequences(self.play)
        self._check_size()
        self.regrets, self.policies = self._new_sums(warm=config.warm > 0)
        self._waiting = torch.zeros(self._legal.shape, dtype=torch.float64, device=self.device)

    def _check_size(self) -> None:
        """Raises TooBigError if walks through all cells do not fit into memory."""
        widest = max(self.config.width, self.config.policy_width)
        self._check_fits(_BYTES * len(self._sequences.parent) * widest, "less width needs less")

    def _new_sums(self, *, warm: bool) -> tuple[Sums, Sums]:
        """Returns sums of regrets and of policies, as the settings ask for, or in tables while the start is warm."""
        config = self.config
        start = torch.Generator().manual_seed(config.seed)  # on the CPU, so that it is the same on every device
        first, second = (
            NetworkSums(self.play, self.encoding, self._sequences, config, width, start, roots=roots)
            if kept == NETWORK and not warm
            else TableSums(self.play)
            for kept, width, roots in (
                (config.regrets, config.width, False),
                (config.average, config.policy_width, True),
            )
        )
        return first, second

    def _run_epoch(self) -> dict[str, Any]:
        """Runs one iteration: traversals of both players, then the fits."""
        config, t = self.config, self.epoch + 1
        regrets = self.regrets.sums()
        policy = match_regrets(regrets, self._legal, best=False)
        sampled, met, seen = self._sample(policy)
        regrets = regrets + sampled
        if config.floor:
            regrets = regrets.clamp(min=0.0)
        where = self._all if config.everywhere else seen
        self._waiting[where] += float(t) ** config.policy_power * self._increments(policy)[where]
        early = 1.0 + _EARLY / t
        loss = self.regrets.update(regrets, met, config.steps, early)
        policy_loss = None
        due = t % config.policy_every == 0 or t == config.iterations
        if due or isinstance(self.policies, TableSums):
            seen = (self._waiting > 0).any(dim=1).nonzero().squeeze(1)
            policy_loss = self.policies.update(self.policies.sums() + self._waiting, seen, config.policy_steps, early)
            self._waiting.zero_()
        if t == config.warm:
            loss, policy_loss = self._clone()
        return {"traversals": 2 * t * config.traversals, "loss": loss, "policy_loss": policy_loss}

    def _sample(self, policy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns [I, A]: the means over traversals of sampled regrets; the infostates of traversers that were met, and
        those of everybody."""
        config, regrets = self.config, torch.zeros_like(policy)
        met, others = [], []
        for player in (0, 1):
            sampled = traverse(self.play, TablePolicies(policy), player, config.traversals, self._rule, self.generator)
            self.nodes += sampled.touched
            infostates, targets, weights = sampled.regrets
            regrets.index_add_(0, infostates, targets * (weights / config.traversals)[:, None])
            met.append(infostates)
            others.append(sampled.policies.infostates)
        return regrets, torch.unique(torch.cat(met)), torch.unique(torch.cat(met + others))

    def _increments(self, policy: Tensor) -> Tensor:
        """Returns [I, A]: s(a | I), own reach x policy."""
        on_tree = self.play.policy(policy)
        return self.play.by_infostate([reach_of_actions(on_tree, player) for player in (0, 1)])

    def _clone(self) -> tuple[float, float]:
        """Replaces the tables of a warm start by what the settings ask for; returns the errors of the fits (Eq. 9)."""
        before = self.regrets.sums(), self.policies.sums()
        self.regrets, self.policies = self._new_sums(warm=False)
        steps = self.config.first_steps
        return self.regrets.update(before[0], self._all, steps), self.policies.update(before[1], self._all, steps)

    def average_policy(self) -> Policy:
        """Returns what the sums of policies say."""
        return self.play.policy(self.policies.sums().clamp(min=0.0))

    def trained(self) -> dict[str, Tensor]:
        """Returns the ASN, or the table of the average policy where there is none."""
        if isinstance(self.policies, NetworkSums):
            return {"roots": parameters(self.policies.network)}
        return {"table": self.play.table(self.average_policy()).float()}

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that changes in a run."""
        tensors = {"waiting": self._waiting}
        for name, kept in (("regrets", self.regrets), ("policies", self.policies)):
            tensors |= {f"{name}.{part}": tensor for part, tensor in kept.tensors().items()}
        return tensors

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave."""
        warm = self.config.warm > 0 and "regrets.table" in tensors and "policies.table" in tensors
        self.regrets, self.policies = self._new_sums(warm=warm)
        for name, kept in (("regrets", self.regrets), ("policies", self.policies)):
            prefix = f"{name}."
            kept.load({part.removeprefix(prefix): own for part, own in tensors.items() if part.startswith(prefix)})
        if tensors["waiting"].shape != self._waiting.shape:
            raise ValueError(f"increments of shape {list(tensors['waiting'].shape)}")
        self._waiting = tensors["waiting"].double().to(self.device)


def trained_policies(
    play: TreePlay, encoding: Encoding, config: DoubleNeuralConfig, tensors: Mapping[str, Tensor]
) -> Policies:
    """Returns the average policies of what was trained.

    Raises:
        KeyError, ValueError: the tensors are not those of a run with these settings.
    """
    if "table" in tensors:
        sums = TableSums(play)
        sums.load(tensors)
        return TablePolicies(play.table(play.policy(sums.table.clamp(min=0.0))))
    network = NetworkSums(play, encoding, InfostateSequences(play), config, config.policy_width, None, roots=True)
    if "average" in tensors:
        raise ValueError("its network answers sums, as those of earlier versions did, not their roots: train it again")
    set_parameters(network.network, tensors["roots"])
    network.unit = 1.0
    return TablePolicies(play.table(play.policy(network.sums().clamp(min=0.0))))
