"""The batched engine: updates players on a forest of subgames, with a value function at their leaves.

Algorithm:
    Update t is of one player, the traverser: its counterfactual values at the leaves come from the value
    function at the leaves' beliefs, those at terminals from the payoffs; they are pulled up; regrets (CFR) or best
    responses (fictitious play) give the traverser's next policy; its reach is pushed down. Beliefs at leaves follow the
    players' current policies (CFR-D) or their average policies (fictitious play, and CFR-AVE in its modified form,
    where a leaf's cfvs are the difference that the current policies make to those of the average).
    For each subgame one update can be chosen after which the policies are kept: safe search plays them.

Reference: ReBeL Algorithms 1 and 2, App. D (FLOP), E (CFR-D, modified CFR-AVE) and J (warm start, in `warm_start`).

Deviations: players are updated in turn, player 0 first; an update is what the paper calls an iteration. Best responses
    share the probability among equal actions. CFR-AVE as proved, not modified, needs an oracle and is not here.

Status: equal to the CPU engine (tests/solvers/test_batched_engine.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.solvers.engines.batched import walk
from aleator.solvers.engines.batched.forest import Forest
from aleator.solvers.engines.batched.warm_start import WarmStart, begin
from aleator.solvers.fictitious_rule import FictitiousRule
from aleator.solvers.minimax import MinimaxRule
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.solvers.search_rule import CURRENT, DIFFERENCE, SearchRule

if TYPE_CHECKING:
    from aleator.solvers.engines.batched.minimax import MinimaxEngine

Tensor = torch.Tensor
_NOTHING = 1e-20  # a weight that no sum notices


class BatchedValue(Protocol):
    """A value function at the leaves of forests."""

    def bind(self, forest: Forest) -> BoundValue:
        """Returns the value function for the leaves of one forest."""


class BoundValue(Protocol):
    """A value function at the leaves of one forest."""

    def __call__(self, player: int, reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns [Y, H]: the player's value of each hand at each leaf, given both players' reach [R, H] at all rows.

        A value is an expectation given the hand and the beliefs, which are the reach up to a factor.
        """


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search found in each subgame of a forest.

    Attributes:
        forest: the subgames.
        root_reach: per player [G, H], what the search began with.
        values: per player [G, H], the value of each hand at the root: the weighted mean over the player's updates
            (CFR-D), or what the average policies are worth.
        policy: [R, H] probability of the action into each row, after the update that was kept for its subgame.
        beliefs_policy: [R, H] the same for the policies that beliefs follow: current or average ones after that update.
        average: [R, H] the average policies at the end.
    """

    forest: Forest
    root_reach: tuple[Tensor, Tensor]
    values: tuple[Tensor, Tensor]
    policy: Tensor
    beliefs_policy: Tensor
    average: Tensor


def search_schedule(rule: SearchRule, updates: int, pretended: int = 0) -> FloatArray:
    """Returns [T, 6]: what each update multiplies by, after some updates of each player that are pretended.

    Columns: discount of positive and of negative regrets, decay of sums, share of the update in the sums, floor of
    regrets, and how much of the opponent's last policy an optimistic traverser mixes into its average.
    """
    each = (updates + 1) // 2  # of each player
    rows = np.zeros((each, 6))
    if isinstance(rule.update, FictitiousRule):
        for number in range(1, each + 1):
            weight = rule.update.weight(number)
            recent = 2.0 / (number + 2.0) if rule.update.optimistic else 0.0
            rows[number - 1, 2:] = 1.0 - weight, weight, 0.0, recent
    elif isinstance(rule.update, RegretRule):
        positive, negative, decay, floor, _ = rule.update.schedule(pretended + 1, each).T
        rows[:, :5] = np.stack([positive, negative, decay, np.ones(each), floor], axis=1)
    return np.repeat(rows, 2, axis=0)[:updates]


def _check(rule: SearchRule, updates: int) -> None:
    """Raises SolveError if the engine cannot search by a rule."""
    if updates < 1:
        raise SolveError(f"a search needs at least 1 update, not {updates}")
    method, fits = rule.update, True
    if isinstance(method, MinimaxRule):
        raise SolveError("minimax does not iterate: `make_engine` has an engine for it")
    if rule.oracle:
        raise SolveError("CFR-AVE needs an oracle at the leaves; with a value function use its modified form")
    if isinstance(method, RegretRule):
        fits = method.minimiser != HEDGE and not method.optimistic
    if not (fits and method.alternating):
        raise SolveError(
            "a search on the batched engine updates players in turn, by regret matching without prediction "
            "or by best responses"
        )


class TorchEngine:
    """Solves the subgames of one forest together."""

    def __init__(
        self,
        forest: Forest,
        leaf_values: BatchedValue | None,
        root_reach: tuple[Tensor, Tensor],
        rule: SearchRule,
        updates: int,
        start: WarmStart | None = None,
    ) -> None:
        """Prepares a search.

        Args:
            forest: the subgames.
            leaf_values: the value function; None if there are no leaves.
            root_reach: per player [G, H], the reach at the roots; beliefs up to a factor.
            rule: how to search.
            updates: of one player each, T.
            start: policies to begin with; None for uniform ones.
        """
        _check(rule, updates)
        self.forest, self.root_reach, self.rule, self.updates = forest, root_reach, rule, updates
        self.fictitious, self.follows_average = isinstance(rule.update, FictitiousRule), rule.leaves != CURRENT
        self.power = rule.update.power if isinstance(rule.update, RegretRule) else 1.0
        self.levels = walk.levels_of(forest)
        self.schedule = search_schedule(rule, updates, start.updates if start else 0)
        if len(forest.leaves) and leaf_values is None:
            raise SolveError(f"{len(forest.leaves)} leaves need a value function")
        self._leaf_values = leaf_values.bind(forest) if leaf_values and len(forest.leaves) else None
        shapes, roots = forest.shapes, slice(0, len(forest.shape))
        self.regret = torch.zeros((forest.num_rows, shapes.num_hands), dtype=shapes.dtype, device=shapes.device)
        self.values = torch.zeros_like(self.regret)
        self.policy = torch.ones_like(self.regret)
        for level in self.levels:
            moved = level.moved[0] | level.moved[1]
            self.policy[level.rows] = torch.where(moved, level.uniform, 1.0)
        self.reach = (torch.zeros_like(self.regret), torch.zeros_like(self.regret))
        for player in (0, 1):
            self.reach[player][roots] = root_reach[player]
            walk.push_reach(self.levels, player, self.policy, self.reach[player])
        # sums of reach over updates: the average policy, and reach under it. They begin with the uniform policy, which
        # counts in fictitious play, and otherwise only until there is something else
        weight = 1.0 if self.fictitious else _NOTHING
        self.sums = (self.reach[0] * weight, self.reach[1] * weight)
        self.value_sums = (torch.zeros_like(self.regret[roots]), torch.zeros_like(self.regret[roots]))
        # for the modified CFR-AVE: per traverser, sums of both players' reach at its own updates, and leaves' cfvs
        # there
        differs = rule.leaves == DIFFERENCE
        self.met = [[torch.zeros_like(self.regret) for _ in (0, 1)] for _ in (0, 1)] if differs else []
        self.met_cfvs = [torch.zeros_like(self.regret[: len(forest.leaves)]) for _ in (0, 1)]
        # made now, because the host waits for them
        self._payoffs, self._leaf_deals, self._root_deals = forest.payoffs, forest.leaf_deals, forest.root_deals
        self._begun = begin(self, start) if start else float(self.fictitious)  # the weight of what came before
        self._prepare()

    def _prepare(self) -> None:
        """Lays out what the kernels of an engine read besides the rows; here there are none."""

    def evaluate_ends(self, player: int, update: int) -> None:
        """Writes the player's cfvs at terminals and leaves, zero elsewhere."""
        forest, opponent = self.forest, 1 - player
        expected = self.sums[opponent] if self.fictitious else self.reach[opponent]
        if recent := float(self.schedule[update - 1, 5]):
            expected = torch.lerp(expected, self.reach[opponent], recent)
        self.values.zero_()
        if self.rule.leaves != DIFFERENCE:
            own = self.reach[player] if self.rule.leaves == CURRENT else self.sums[player]
            self.write_ends(player, (own, expected) if player == 0 else (expected, own), expected, self.values)
            return
        self.values[forest.terminals] = self._payoffs.apply(player, expected)
        if not self._leaf_values:
            return
        decay, met = float(self.schedule[update - 1, 2]), self.met[player]
        for seat in (0, 1):
            met[seat].mul_(decay).add_(self.reach[seat])
        cfvs = self._leaf_values(player, (met[0], met[1])) * self._leaf_deals.cf_reach(player, met[opponent])
        self.values[forest.leaves] = cfvs - decay * self.met_cfvs[player]
        self.met_cfvs[player] = cfvs

    def write_ends(self, player: int, beliefs: Sequence[Tensor], opponent: Tensor, values: Tensor) -> None:
        """Writes the player's cfvs at terminals and leaves to `values` [R, H].

        Args:
            player: whose.
            beliefs: per player [R, H], the reach that leaves are valued at, up to a factor.
            opponent: [R, H], the opponent's reach.
            values: where.
        """
        forest = self.forest
        values[forest.terminals] = self._payoffs.apply(player, opponent)
        if self._leaf_values:
            worth = self._leaf_values(player, (beliefs[0], beliefs[1]))
            values[forest.leaves] = worth * self._leaf_deals.cf_reach(player, opponent)

    def search(self, keep: Tensor | None = None) -> Searched:
        """Makes all updates and returns what they found.

        Args:
            keep: [G] the update after which policies are kept for each subgame (0: before the first); None for the
                last.
        """
        keep = self._keep(keep)
        kept, wanted = keep[self.forest.subgame][:, None], set(keep.tolist())
        policy, sums = self.policy.clone(), [self.sums[0].clone(), self.sums[1].clone()]
        for update in range(1, self.updates + 1):
            self.update(update)
            if update in wanted:
                policy = torch.where(kept == update, self.policy, policy)
                if self.follows_average:
                    sums = [torch.where(kept == update, self.sums[player], sums[player]) for player in (0, 1)]
        return self._searched(policy, sums)

    def _keep(self, keep: Tensor | None) -> Tensor:
        """Returns [G] updates to keep, the last where nothing was asked for."""
        if keep is None:
            keep = torch.full((len(self.forest.shape),), self.updates, device=self.forest.shapes.device)
        return keep

    def update(self, number: int) -> None:
        """Makes one update (from 1)."""
        player, levels = (number - 1) % 2, self.levels
        positive, negative, decay, share, floor, _ = self.schedule[number - 1].tolist()
        self.evaluate_ends(player, number)
        if self.fictitious:
            walk.respond(levels, player, self.values, self.policy)
            walk.push_reach(levels, player, self.policy, self.reach[player])
        else:
            walk.update_regrets(
                levels, player, self.values, self.regret, self.policy, positive, negative, floor, self.power
            )
        self.value_sums[player].mul_(decay).add_(self.values[: len(self.forest.shape)], alpha=share)
        self.sums[player].mul_(decay).add_(self.reach[player], alpha=share)
        if not self.fictitious:
            walk.push_reach(levels, player, self.policy, self.reach[player])

    def _searched(self, policy: Tensor, sums: Sequence[Tensor]) -> Searched:
        """Returns the result, given the policy and the sums of reach after the updates that were kept."""
        average, values = self._match_sums(self.sums), []
        for player in (0, 1):
            if self.follows_average:
                mean = self._average_cfvs(player, average)
            else:
                mean = self.value_sums[player] / max(self._weight(player), _NOTHING)
            chance = torch.empty_like(mean)
            chance[self._root_deals.rows] = self._root_deals.cf_reach(player, self.root_reach[1 - player])
            values.append(torch.where(chance > 0, mean / chance, 0.0))
        followed = self._match_sums(sums) if self.follows_average else policy
        return Searched(self.forest, self.root_reach, (values[0], values[1]), policy, followed, average)

    def _weight(self, player: int) -> float:
        """Returns the sum of the weights of a player's updates."""
        weight = self._begun
        for _, _, decay, share, _, _ in self.schedule[player::2]:
            weight = float(weight * decay + share)
        return weight

    def _average_cfvs(self, player: int, average: Tensor) -> Tensor:
        """Returns [G, H]: the player's cfvs at the roots under the average policies [R, H], leaves at their beliefs."""
        values = torch.zeros_like(self.values)
        self.write_ends(player, self.sums, self.sums[1 - player] / max(self._weight(1 - player), _NOTHING), values)
        walk.pull_values(self.levels, player, average, values)
        return values[: len(self.forest.shape)]

    def _match_sums(self, sums: Sequence[Tensor]) -> Tensor:
        """Returns [R, H]: the probability of the action into each row under the policies with these sums of reach."""
        result = torch.ones_like(self.policy)
        for level in self.levels:
            for player in (0, 1):
                matched = walk.match(level, sums[player][level.rows])
                result[level.rows] = torch.where(level.moved[player], matched, result[level.rows])
        return result


def make_engine(
    forest: Forest,
    leaf_values: BatchedValue | None,
    root_reach: tuple[Tensor, Tensor],
    rule: SearchRule,
    updates: int,
    start: WarmStart | None = None,
) -> TorchEngine | MinimaxEngine:
    """Returns the fastest engine for the device of a forest."""
    if rule.minimax:
        from aleator.solvers.engines.batched.minimax import MinimaxEngine

        if start:
            raise SolveError("only searches by regret matching can be warm started, not minimax")
        return MinimaxEngine(forest, leaf_values, root_reach, rule)
    engine = TorchEngine
    if forest.shapes.device.type == "cuda" and forest.shapes.dtype == torch.float32:
        from aleator.solvers.engines.batched.fused import FusedEngine

        engine = FusedEngine
    elif forest.shapes.device.type == "cpu" and rule.leaves == CURRENT:
        from aleator.solvers.engines.batched.compiled import CompiledEngine

        engine = CompiledEngine
    return engine(forest, leaf_values, root_reach, rule, updates, start)
