"""The settings of Deep CFR and SD-CFR, and named ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aleator.errors import SolveError, check_known, shown
from aleator.learning.sampled.matching import Matching
from aleator.learning.sampled.network_trainer import NetworkRunConfig
from aleator.learning.sampled.traversal import parse_sampling
from aleator.learning.settings import check_at_least, check_not_negative
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.regret_rule import HEDGE, RegretRule

NETWORK, MIXTURE = "network", "mixture"
AVERAGES = (NETWORK, MIXTURE)
DRAWS_OF_AVERAGE, DRAWS_OF_CARDS = 1, 2  # what generators of their own are for: fits of the average policy, and cards


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepCfrConfig(NetworkRunConfig):
    """A run of Deep CFR; see `NetworkRunConfig` for what NFSP has, too.

    Attributes:
        traversals: K, of each player in an iteration; none with `flops` or `cards`.
        blocks: parts of these traversals that workers can make beside each other; with several each part has random
            numbers of its own.
        sampling: external, robustK or outcome[,epsilon=E].
        flops: of an iteration and player, if all hands are traversed at once (public chance sampling, flop hold'em
            only); 0 for single deals.
        samples: that each memory gets of such an iteration.
        cards: pairs of a flop and a hand that are drawn once (flop hold'em only). If not 0, all flops are walked, and
            at all decisions with these cards regrets and policies are summed up exactly, in place of memories.
        rule: how regrets are summed up at such cards and matched, and how policies are averaged: a regret rule, as
            sharp-dcfr+, in place of `linear` and `policy_power`. Empty: these two decide.
        squash: networks of regrets say asinh(regret / (squash x their root mean square)), which tells small regrets
            apart, between which a player mixes, beside large ones; 0: regrets as they are. Takes cards: what is
            squashed must have no noise.
        strength: networks are told how many hands a hand beats on its flop, besides the cards (flop hold'em only).
        average: network (Deep CFR: a network of the average policy) or mixture (SD-CFR: all networks of regrets).
        linear: iteration t counts t times as much in regrets (linear CFR); otherwise all alike.
        policy_power: iteration t counts t^power as much in the average policy.
        from_scratch: networks are fitted from random parameters; otherwise from those of the last iteration.
        best_action: where no regret is positive the best action is played; otherwise all alike.
        reservoir: memories are reservoirs; otherwise sliding windows.
        memory: samples that each memory holds.
    """

    traversals: int = 250
    blocks: int = 1
    sampling: str = "external"
    flops: int = 0
    samples: int = 1_000_000
    cards: int = 0
    rule: str = ""
    squash: float = 0.0
    strength: bool = False
    average: str = NETWORK
    linear: bool = True
    policy_power: float = 0.5
    from_scratch: bool = False
    best_action: bool = True
    reservoir: bool = True

    def __post_init__(self) -> None:
        NetworkRunConfig.__post_init__(self)
        parse_sampling(self.sampling)
        check_known(self.average, AVERAGES, "average")
        check_at_least(self, 1, "traversals", "samples")
        check_at_least(self, 0, "flops", "cards")
        if self.flops and self.cards:
            raise SolveError("flops draws samples for memories, cards are summed up without them: one of them is 0")
        check_not_negative(self, "squash")
        if self.squash and not self.cards:
            raise SolveError(f"squash={self.squash:g} takes regrets without noise, as cards sums them up")
        self._check_rule()
        if not 1 <= self.blocks <= self.traversals:
            raise SolveError(f"blocks must be at least 1 and at most {self.traversals:,}, not {shown(self.blocks)}")
        if self.blocks > 1 and not self.traverses:
            raise SolveError(f"blocks must be 1 with flops or cards, which one process walks, not {self.blocks}")
        check_not_negative(self, "policy_power")

    def _check_rule(self) -> None:
        rule = self.regret_rule
        if rule is None:
            return
        if not self.cards:
            raise SolveError(f"rule={self.rule} discounts sums of regrets, as cards has them; memories have none")
        if rule.optimistic or rule.minimiser == HEDGE or rule.restart or rule.gamma_slope or not rule.alternating:
            raise SolveError(
                f"rule={self.rule} does not work with networks: a rule cannot be optimistic, simultaneous or Hedge, "
                f"nor have an average that restarts or whose exponent changes"
            )

    @staticmethod
    def upgraded(values: Any) -> Any:
        """Returns settings as they are written now: blocks once had no effect with flops or cards."""
        walks = isinstance(values, dict) and (values.get("flops") or values.get("cards"))
        return {**values, "blocks": 1} if walks else values

    @property
    def traverses(self) -> bool:
        """Whether single histories are traversed; otherwise all hands of flops are walked at once."""
        return not (self.flops or self.cards)

    @property
    def regret_rule(self) -> RegretRule | None:
        """How sums of regrets are discounted; None if iterations have weights instead."""
        return parse_rule(self.rule) if self.rule else None

    @property
    def matching(self) -> Matching:
        """What networks of regrets say."""
        rule = self.regret_rule
        return Matching(self.best_action, self.squash, 1.0 if rule is None else rule.power)

    def weights(self, iteration: int) -> tuple[float, float]:
        """Returns how much an iteration counts in regrets, before discounts, and in the average policy."""
        rule, t = self.regret_rule, float(iteration)
        if rule is not None:
            return 1.0, t**rule.gamma
        return t if self.linear else 1.0, t**self.policy_power


PRESETS: dict[str, dict[str, Any]] = {
    # small games on a CPU: 1e7 nodes on Leduc
    "small": {},
    # what the thesis says about flop hold'em (4.1.2, Fig. 4.2)
    "paper": {
        "iterations": 450, "traversals": 10_000, "policy_power": 1.0, "from_scratch": True, "memory": 40_000_000,
        "width": 64, "flat": False, "steps": 4000, "policy_steps": 4000, "batch": 10_000, "learning_rate": 1e-3,
        "clip": 1.0,
    },
    # the same for minutes on a GPU: exact regrets with some of all cards, and fits that go on from the last parameters
    "fhp": {
        "iterations": 40, "cards": 300_000, "rule": "sharp-dcfr+", "squash": 0.05, "strength": True, "flat": False,
        "width": 128, "steps": 1000, "policy_steps": 10_000, "batch": 32_768, "learning_rate": 3e-3,
    },
    "demo": {
        "iterations": 40, "traversals": 500, "from_scratch": True, "width": 32, "steps": 40, "policy_steps": 200,
        "learning_rate": 1e-2,
    },
}  # fmt: skip
