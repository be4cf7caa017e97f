"""Iterations on B betting rounds of one shape in plain torch: the fused kernel's reference, the loop around networks.

Algorithm:
    An update of a player pushes the opponent's reach down, prices folds, showdowns and leaves, pulls values up and adds
    the
    regrets: `solvers.cfr` on one betting round, B games at once. Policies are never stored; they follow from the
    regrets. Values of the root are averaged over iterations with the weights of the average policy.

Reference: thesis 2.3 and 3.1 (rules); Johanson et al. 2011 (rows of hands); DeepStack's supplement, Algorithm S1
    (leaves at the end of the round).

Deviations:
    As in `solvers.holdem`, a player's average policy is updated while the opponent is traversed. With simultaneous
    updates both players are traversed under the same policies. Neither predictions nor Hedge are available.

Status: equal to `solvers.holdem` and to a recursion over single hands (tests/solvers/batched_holdem/test_plain.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch

from aleator.caching import cache
from aleator.errors import SolveError
from aleator.solvers.engines.batched_holdem.payoffs import Payoffs
from aleator.solvers.engines.batched_holdem.shapes import DECISION, FOLD, LEAF, SHOWDOWN, BettingShape
from aleator.solvers.regret_rule import HEDGE, RegretRule

Tensor = torch.Tensor

_EAGER_BEFORE = 2  # iterations before one is captured: kernels are loaded and compiled in them

LeafCfvs = Callable[[Tensor], Tensor]
"""From both players' reach at all leaves [B, L, 2, H] to their cfvs [B, L, 2, H], in pots of the root."""


@runtime_checkable
class LeafPayoffs(Protocol):
    """Leaves that are worth the same whatever their player's own reach is, as terminals are."""

    def cfvs(self, player: int, opponent: Tensor) -> Tensor:
        """Returns a player's cfvs [B, L, H] at all leaves, from its opponent's reach [B, L, H]."""


def check_rule(rule: RegretRule) -> None:
    """Raises SolveError unless batched hold'em can follow the rule."""
    if rule.minimiser == HEDGE or rule.optimistic:
        raise SolveError(
            "batched hold'em is solved by regret matching without predictions; choose dcfr, dcfr+, lcfr or sharp-dcfr+"
        )


class _Level(NamedTuple):
    """The nodes of one depth below the root, and what belongs to them.

    Attributes:
        nodes, parents, rows: [n] their numbers, those of the decisions above, and their rows.
    """

    nodes: Tensor
    parents: Tensor
    rows: Tensor


class _Index(NamedTuple):
    """Where things are in tensors over nodes and rows, so that an iteration is a few operations per depth.

    Attributes:
        levels: by depth, from the root's children on.
        acts: per player, bool [R, 1]: whether it takes the row's action.
        rows: per player, [n] the rows of its actions.
        parents: [R] the decision of each row.
        folds, showdowns, leaves: [n] nodes.
        fold_stakes, showdown_stakes: [n] which stake is lost there.
        winners: [n] who wins at each fold.
        menus: rows of decisions with the same number of actions, [decisions, actions] each.
    """

    levels: tuple[_Level, ...]
    acts: tuple[Tensor, Tensor]
    rows: tuple[Tensor, Tensor]
    parents: Tensor
    folds: Tensor
    showdowns: Tensor
    leaves: Tensor
    fold_stakes: Tensor
    showdown_stakes: Tensor
    winners: Tensor
    menus: tuple[Tensor, ...]


@cache
def _index(shape: BettingShape, device: torch.device) -> _Index:
    def tensor(numbers: list[int]) -> Tensor:
        return torch.tensor(numbers, dtype=torch.int64, device=device)

    depth = [0] * shape.num_nodes
    for node in range(1, shape.num_nodes):
        depth[node] = depth[shape.parent[node]] + 1
    levels = []
    for level in range(1, max(depth) + 1):
        nodes = [node for node in range(shape.num_nodes) if depth[node] == level]
        levels.append(_Level(tensor(nodes), tensor([shape.parent[n] for n in nodes]), tensor([n - 1 for n in nodes])))
    actor = tensor([shape.player[shape.parent[node]] for node in range(1, shape.num_nodes)])
    folds = [node for node, kind in enumerate(shape.kind) if kind == FOLD]
    showdowns = [node for node, kind in enumerate(shape.kind) if kind == SHOWDOWN]
    menus: dict[int, list[list[int]]] = {}
    for node in shape.decisions:
        menus.setdefault(len(shape.children[node]), []).append([child - 1 for child in shape.children[node]])
    return _Index(
        tuple(levels),
        ((actor == 0)[:, None], (actor == 1)[:, None]),
        ((actor == 0).nonzero().flatten(), (actor == 1).nonzero().flatten()),
        tensor(list(shape.parent[1:])),
        tensor(folds),
        tensor(showdowns),
        tensor(list(shape.leaves)),
        tensor([shape.stake[node] for node in folds]),
        tensor([shape.stake[node] for node in showdowns]),
        tensor([1 - shape.player[node] for node in folds]),
        tuple(torch.tensor(rows, device=device) for rows in menus.values()),
    )


class PlainEngine:
    """B games of one betting shape.

    Attributes:
        shape: the betting.
        stakes: [B, K] in pots.
        reach: [B, 2, H] both players' beliefs at the root.
        regrets: [B, R, H] by row of the shape.
        policy_sum: [B, R, H], None unless averages are kept.
        iteration: how many have been run.
    """

    def __init__(
        self,
        shape: BettingShape,
        stakes: Tensor,
        reach: Tensor,
        payoffs: Payoffs,
        rule: RegretRule,
        *,
        leaf_cfvs: LeafCfvs | LeafPayoffs | None = None,
        averages: bool = False,
    ) -> None:
        check_rule(rule)
        if shape.leaves and leaf_cfvs is None:
            raise SolveError(f"this betting ends in {len(shape.leaves)} leaves, which nothing prices: give leaf_cfvs")
        if stakes.shape != (len(reach), shape.num_stakes):
            raise SolveError(f"stakes must be [{len(reach)}, {shape.num_stakes}], not {list(stakes.shape)}")
        self.shape, self.stakes, self.reach, self.payoffs, self.rule = shape, stakes, reach, payoffs, rule
        self.leaf_cfvs = leaf_cfvs
        self._at = _index(shape, reach.device)
        self.iteration = 0
        self.regrets = reach.new_zeros(len(reach), shape.num_rows, reach.shape[2])
        self.policy_sum = torch.zeros_like(self.regrets) if averages else None
        self._values = torch.zeros_like(reach)
        self._opponents: dict[int, Tensor] = {}  # of each player: the opponent's reach when it was last traversed
        self._discounts = reach.new_zeros(4)  # of the iteration: regrets by sign, the average, floor
        self._weight = 0.0

    def run(self, iterations: int, *, captured: bool = False) -> None:
        """Runs some more iterations, each of which updates both players.

        Args:
            iterations: how many.
            captured: whether a CUDA device gets an iteration as one graph, without waiting for Python between its
                kernels.
        """
        schedule = self.rule.schedule(self.iteration + 1, iterations)
        graph: torch.cuda.CUDAGraph | None = None
        for number, discounts in enumerate(torch.from_numpy(schedule[:, :4]).to(self._discounts)):
            self._discounts.copy_(discounts)
            self._weight = self._weight * float(schedule[number, 2]) + 1.0
            if captured and number == _EAGER_BEFORE:
                graph = torch.cuda.CUDAGraph()
                torch.cuda.synchronize()
                with torch.cuda.graph(graph):
                    self._iterate()
            if graph is None:
                self._iterate()
            else:
                graph.replay()
            self.iteration += 1

    def _iterate(self) -> None:
        """Runs one iteration with the discounts that are set."""
        self._values *= self._discounts[2]
        if self.rule.alternating:
            for player in (0, 1):
                policies = self.current_policies()
                self._update(player, self.cfvs(policies, player), policies)
        else:
            policies = self.current_policies()
            for player, cfvs in enumerate(self.both_cfvs(policies)):
                self._update(player, cfvs, policies)

    def values(self) -> Tensor:
        """Returns [B, 2, H]: both players' cfvs at the root in pots, the weighted mean over iterations."""
        return self._values / self._weight

    def current_policies(self) -> Tensor:
        """Returns [B, R, H]: the policies that follow from the regrets."""
        return match_regrets(self.shape, self.regrets, self.rule.power)

    def average_policies(self) -> Tensor:
        """Returns [B, R, H]: the average policies; uniform where a hand never came."""
        if self.policy_sum is None:
            raise SolveError("averages were not kept: ask for them with averages=True")
        return match_regrets(self.shape, self.policy_sum, 1.0)

    def exploitability(self, policies: Tensor) -> Tensor:
        """Returns [B]: the mean of both players' gains by a best response against these policies, in pots per deal.

        Beliefs need not be compatible: gains are divided by the probability that two hands share no card. Leaves are
        priced under the policies themselves, so that this is exact only where there are none.
        """
        mass = (self.reach[:, 0] * self.payoffs.compatible(self.reach[:, 1:])[:, 0]).sum(-1)
        best = [(self.reach[:, p] * self.cfvs(policies, p, best=True)[:, 0]).sum(-1) for p in (0, 1)]
        return (best[0] + best[1]) / (2 * mass)

    def both_cfvs(self, policies: Tensor) -> list[Tensor]:
        """Returns `cfvs` of both players, with one look at the leaves."""
        reach = [self._push(policies, player) for player in (0, 1)]
        self._opponents = {0: reach[1], 1: reach[0]}
        leaves = self._price_leaves(reach)
        return [
            self._pull(policies, player, reach[1 - player], None if leaves is None else leaves[:, :, player])
            for player in (0, 1)
        ]

    def cfvs(self, policies: Tensor, player: int, *, best: bool = False) -> Tensor:
        """Returns the player's cfvs [B, N, H] at all nodes under policies [B, R, H], or of a best response to them."""
        opponent, leaves = self._push(policies, 1 - player), None
        self._opponents[player] = opponent
        if isinstance(self.leaf_cfvs, LeafPayoffs):
            leaves = self.leaf_cfvs.cfvs(player, opponent[:, self._at.leaves])
        elif self.leaf_cfvs is not None and self.shape.leaves:
            own = self._push(policies, player)
            priced = self._price_leaves([own, opponent] if player == 0 else [opponent, own])
            leaves = None if priced is None else priced[:, :, player]
        return self._pull(policies, player, opponent, leaves, best=best)

    def _push(self, policies: Tensor, player: int) -> Tensor:
        """Returns the player's reach [B, N, H] at all nodes."""
        weights = torch.where(self._at.acts[player], policies, 1.0)
        reach = self.reach.new_empty(len(self.reach), self.shape.num_nodes, self.reach.shape[2])
        reach[:, 0] = self.reach[:, player]
        for level in self._at.levels:
            reach[:, level.nodes] = reach[:, level.parents] * weights[:, level.rows]
        return reach

    def _price_leaves(self, reach: list[Tensor]) -> Tensor | None:
        """Returns [B, L, 2, H], None if the shape has no leaves."""
        if self.leaf_cfvs is None or not self.shape.leaves:
            return None
        at_leaves = [rows[:, self._at.leaves] for rows in reach]
        if isinstance(self.leaf_cfvs, LeafPayoffs):
            return torch.stack([self.leaf_cfvs.cfvs(player, at_leaves[1 - player]) for player in (0, 1)], 2)
        return self.leaf_cfvs(torch.stack(at_leaves, 2))

    def _pull(
        self, policies: Tensor, player: int, opponent: Tensor, leaves: Tensor | None, *, best: bool = False
    ) -> Tensor:
        """Returns the player's cfvs [B, N, H], from the opponent's reach at all nodes, its own at leaves [B, L, H]."""
        at, values = self._at, torch.zeros_like(opponent)
        if len(at.folds):
            sign = torch.where(at.winners == player, 1.0, -1.0).to(opponent)
            stakes = (self.stakes[:, at.fold_stakes] * sign)[..., None]
            values[:, at.folds] = self.payoffs.compatible(opponent[:, at.folds]) * stakes
        if len(at.showdowns):
            stakes = self.stakes[:, at.showdown_stakes, None]
            values[:, at.showdowns] = self.payoffs.showdown(opponent[:, at.showdowns]) * stakes
        if leaves is not None:
            values[:, at.leaves] = leaves
        if best:
            for node in reversed(self.shape.decisions):
                below = values[:, self.shape.children[node].start : self.shape.children[node].stop]
                values[:, node] = below.amax(1) if self.shape.player[node] == player else below.sum(1)
            return values
        weights = torch.where(at.acts[player], policies, 1.0)
        for level in reversed(at.levels):
            values.index_add_(1, level.parents, values[:, level.nodes] * weights[:, level.rows])
        return values

    def _update(self, player: int, cfvs: Tensor, policies: Tensor) -> None:
        """Adds what the player regrets, and the policies of the opponent, as it was just traversed, to their sum."""
        positive, negative, decay, floor = self._discounts
        self._values[:, player] += cfvs[:, 0]
        rows = self._at.rows[player]
        old = self.regrets[:, rows]
        gained = cfvs[:, rows + 1] - cfvs[:, self._at.parents[rows]]
        kept = old.clamp_min(0.0) * positive + old.clamp_max(0.0) * negative
        self.regrets[:, rows] = torch.maximum(kept + gained, floor)
        if self.policy_sum is not None:
            others = self._at.rows[1 - player]
            self.policy_sum[:, others] = self.policy_sum[:, others] * decay + self._opponents[player][:, others + 1]


def match_regrets(shape: BettingShape, rows: Tensor, power: float) -> Tensor:
    """Returns [..., R, H]: policies proportional to positive parts of rows to a power; uniform where there are none."""
    policies = torch.empty_like(rows)
    for menu in _index(shape, rows.device).menus:  # [decisions, actions]
        positive = rows[..., menu, :].clamp_min(0.0)
        weights = positive * positive.sqrt() if power == 1.5 else positive**power
        total = weights.sum(-2, keepdim=True)
        policies[..., menu, :] = torch.where(total > 0, weights / total, 1.0 / weights.shape[-2])
    return policies


def leaf_pots(shape: BettingShape, stakes: Tensor, stack: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the pot at each leaf in pots of the root, and the stack left in pots of the leaf, both [B, L].

    Args:
        shape: betting with leaves.
        stakes: [B, K].
        stack: [B], of each player at the root, in pots of the root.
    """
    at = torch.tensor([shape.stake[node] for node in shape.leaves], device=stakes.device)
    pots = 2.0 * stakes[:, at]
    left = (stack[:, None] + 0.5 - stakes[:, at]).clamp_min(0.0)
    return pots, left / pots


def describe(shape: BettingShape) -> dict[str, Any]:
    """Returns counts of a shape for reports: decisions, rows, and how many terminals and leaves."""
    counts = {
        name: shape.kind.count(kind)
        for name, kind in (("decisions", DECISION), ("folds", FOLD), ("showdowns", SHOWDOWN))
    }
    return {**counts, "leaves": shape.kind.count(LEAF), "rows": shape.num_rows}
