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
    The increments of iteration t count t^`policy_power` times as much, by default t^2 times, so that early policies and
    early errors of the ASN are soon forgotten; the paper's Eq. 4 weighs all alike.
    The ASN answers square roots of sums: so small sums, of infostates that a player seldom lets happen, are as precise
    as large ones. It is fitted to the increments of several iterations at a time (`policy_every`). Early fits have more
    steps. In games that can be enumerated all infostates are fitted, those that were not met to what the networks said
    (`everywhere`); the paper leaves them to drift. `sums` says how fits differ.

Status: tests/learning/sampled/test_double_neural.py; numbers by `aleator paper double-neural`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from aleator.errors import check_known
from aleator.games.base import Game
from aleator.learning.run_files import without_prefix
from aleator.learning.sampled.encoding import Encoding
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.sequences import InfostateSequences
from aleator.learning.sampled.sums import NetworkSums, Sums, SumsFit, TableSums
from aleator.learning.sampled.trainer import (
    SampledConfig,
    SampledTrainer,
    check_width,
    parameters,
    reach_of_actions,
    set_parameters,
)
from aleator.learning.sampled.traversal import Policies, TablePolicies, match_regrets, parse_sampling, traverse
from aleator.learning.settings import check_at_least, check_not_negative
from aleator.trees.policy import Policy

Tensor = torch.Tensor
NETWORK, TABLE = "network", "table"
KEPT = (NETWORK, TABLE)
_EARLY = 10  # fits of iteration t have 1 + _EARLY / t times as many steps
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
    policy_power: float = 2.0
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
        check_known(self.regrets, KEPT, "regrets")
        check_known(self.average, KEPT, "average")
        check_at_least(self, 1, "traversals", "policy_width", "first_steps", "policy_every")
        check_at_least(self, 0, "warm")
        check_not_negative(self, "policy_power")


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
            NetworkSums(self.play, self.encoding, self._sequences, _fit(config), width, start, roots=roots)
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
            kept.load(without_prefix(tensors, f"{name}."))
        if tensors["waiting"].shape != self._waiting.shape:
            raise ValueError(f"increments of shape {list(tensors['waiting'].shape)}")
        self._waiting = tensors["waiting"].double().to(self.device)


def _fit(config: DoubleNeuralConfig) -> SumsFit:
    """Returns how both networks are fitted."""
    return SumsFit(
        everywhere=config.everywhere,
        first_steps=config.first_steps,
        learning_rate=config.learning_rate,
        clip=config.clip,
    )


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
    if "average" in tensors:
        raise ValueError("its network answers sums, as those of earlier versions did, not their roots: train it again")
    check_width(config.policy_width, tensors["roots"])
    network = NetworkSums(play, encoding, InfostateSequences(play), _fit(config), config.policy_width, None, roots=True)
    set_parameters(network.network, tensors["roots"])
    network.unit = 1.0
    return TablePolicies(play.table(play.policy(network.sums().clamp(min=0.0))))
