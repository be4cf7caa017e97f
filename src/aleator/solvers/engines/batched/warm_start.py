"""Warm starts of the batched engine: searches that go on as if given policies had been played before.

Algorithm:
    The given policies stand for the first updates of each player. Leaves are valued at the beliefs that they lead to,
    and an exact best response to them says how much every action falls behind the best one. These regrets, the
    policies' reach and the values of the root go into the sums as often as updates are pretended, with the discounts of
    the rule; the given policies are the first that are played.

Reference: ReBeL App. J (exact best response, 15 iterations).

Deviations: as in `aleator.search.depth_limited`, whose tabular form this is equal to. An iteration of the paper is
    taken as an update of each player. The updates that are pretended come on top of those that a search runs.

Status: tests/solvers/test_batched_warm_start.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch

from aleator.errors import SolveError
from aleator.solvers.engines.batched import walk
from aleator.solvers.engines.batched.forest import Forest
from aleator.solvers.regret_rule import RegretRule
from aleator.solvers.warm_start import REBEL_ITERATIONS

if TYPE_CHECKING:
    from aleator.solvers.engines.batched.engine import TorchEngine

Tensor = torch.Tensor


class StartPolicies(Protocol):
    """Whatever knows policies to begin a search with."""

    def policies(self, forest: Forest, root_reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns [R, H]: the probability of the action into each row, 1 where no player moved into it.

        Args:
            forest: the subgames, G of them.
            root_reach: per player [G, H], beliefs up to a factor.
        """


@dataclass(frozen=True, slots=True)
class WarmStart:
    """What a search begins with.

    Attributes:
        source: of the policies.
        updates: how many updates of each player the policies stand for.
    """

    source: StartPolicies
    updates: int = REBEL_ITERATIONS

    def __post_init__(self) -> None:
        if self.updates < 1:
            raise SolveError(f"a warm start stands for at least 1 update of each player, not {self.updates}")


def begin(engine: TorchEngine, start: WarmStart) -> float:
    """Puts an engine that has not run into the state of a warm start; returns the weight of what is pretended."""
    rule = engine.rule.update
    if not isinstance(rule, RegretRule):
        raise SolveError("only searches by regret matching can be warm started, not fictitious play")
    weights, levels = rule.equal_weights(start.updates), engine.levels
    engine.policy.copy_(start.source.policies(engine.forest, engine.root_reach))
    for player in (0, 1):
        walk.push_reach(levels, player, engine.policy, engine.reach[player])
        torch.mul(engine.reach[player], weights.policy, out=engine.sums[player])
    for player in (0, 1):
        ends = torch.zeros_like(engine.values)
        engine.write_ends(player, engine.reach, engine.reach[1 - player], ends)
        if engine.met:
            for seat in (0, 1):
                engine.met[player][seat].copy_(engine.sums[seat])
            engine.met_cfvs[player].copy_(ends[engine.forest.leaves] * weights.policy)
        values = ends.clone()
        walk.pull_values(levels, player, engine.policy, values)
        engine.value_sums[player].copy_(values[: len(engine.value_sums[player])] * weights.policy)
        walk.respond(levels, player, ends, torch.empty_like(ends))
        for level in levels:
            behind = (ends[level.rows] - ends[level.above][level.parent]).clamp(max=0.0) * weights.negative
            regret = torch.zeros_like(behind) if rule.floor else behind
            engine.regret[level.rows] = torch.where(level.moved[player], regret, engine.regret[level.rows])
    return weights.policy
