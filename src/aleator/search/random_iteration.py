"""Safe search by a random iteration: act in a subgame as one iteration of its solution did, and pass on its beliefs.

Algorithm:
    Solve the depth-limited subgame at the public belief state, draw an iteration t with the weights of the average
    policy, act by pi^t until a leaf, believe there what iteration t believed, and begin anew. The opponent does not
    know t, so that in expectation the policy is the one that CFR-D averages: an equilibrium (Theorem 4). Unsafe search
    acts by the average policy and hands its beliefs on instead; what it plays next is a best response to them and can
    be exploited. With alternating updates, beliefs change between the two updates of an iteration. What bounds the
    exploitability of a player is the opponent's regret, so the player acts as it did, and believes what was believed,
    when the opponent was updated. The expected policy is found exactly by going through all iterations, weighted, in
    every subgame; where that is too much, by drawing them many times.

Reference: ReBeL section 6; sampling weights as in Algorithms 1 (uniform) and 2 (linear), that is, as the rule averages.

Deviations:
    The paper does not say which of the two updates of an iteration is meant; the choice above is the better one by a
    little (Leduc, 128 iterations of CFR-D: .0326 instead of .0338 with the beliefs at the player's own update).
    Subgames without leaves are played by their average policy, which is what drawing an iteration plays in expectation.

Status: tests/search/test_random_iteration.py; `aleator paper rebel-rps`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.search.budget import check_budget, spend
from aleator.search.depth_limited import DepthLimitedSolver
from aleator.search.leaf_value import LeafValue
from aleator.search.solved_value import SolvedValue
from aleator.search.subgame_solver import SubgameSolver, make_subgame_solver
from aleator.solvers.engines.cpu.engine import shared_engine
from aleator.solvers.engines.cpu.rows import NodeRows
from aleator.solvers.search_rule import SearchRule, find_rule
from aleator.solvers.warm_start import REBEL_ITERATIONS
from aleator.trees.beliefs import Reach, normalised_rows
from aleator.trees.policy import Policy, normalised, places
from aleator.trees.public_tree import Int64Array, PublicTree
from aleator.trees.subgame import DepthLimit, Subgame, cut

_TWO_MOVES = DepthLimit(moves=2)
MOST_SEARCHES = 200_000


class Play(NamedTuple):
    """One of the ways in which a player may go through a subgame.

    Attributes:
        weight: how likely it is.
        policy: on the subgame's tree.
        leaf_reach: [L, H0], [L, H1] of both players as the player believes it at the leaves.
    """

    weight: float
    policy: Policy
    leaf_reach: Reach


class StartPolicy(Protocol):
    """Whatever knows a policy to start a search with."""

    def policy(self, subgame: Subgame, root_reach: Reach) -> Policy:
        """Returns a policy on the subgame's tree, given each player's reach [H0], [H1] at its root."""


@dataclass(frozen=True, slots=True)
class SearchStart:
    """What searches start with: a policy, and how many iterations it stands for (`DepthLimitedSolver.warm_start`)."""

    source: StartPolicy
    iterations: int = REBEL_ITERATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """How subgames are searched, one after the other.

    Attributes:
        limit: how far each of them goes.
        rule: how it is solved; a name in `aleator.search.SEARCH_RULES` will do.
        iterations: of the solver, each for both players.
        seconds: for one search, if fewer iterations fit in; None for no limit.
        safe: act by a random iteration; False for the average policy, which is unsafe search.
        start: what searches start with; None for the uniform policy.
    """

    limit: DepthLimit = _TWO_MOVES
    rule: SearchRule | str = "cfr-d"
    iterations: int = 100
    seconds: float | None = None
    safe: bool = True
    start: SearchStart | None = None

    def __post_init__(self) -> None:
        find_rule(self.rule)
        check_budget(self.iterations, self.seconds)

    def samples(self, subgame: Subgame) -> bool:
        """Returns whether a random iteration is played in a subgame; without leaves the average does as well."""
        return self.safe and len(subgame.leaves) > 0

    def solve(self, subgame: Subgame, leaf_value: LeafValue, root_reach: Reach) -> SubgameSolver:
        """Returns the solver of a subgame after all of its iterations, kept if one of them is to be played."""
        pretended = self.start.iterations if self.start else 0
        keep = range(pretended + self.iterations + 1) if self.samples(subgame) else ()
        solver: SubgameSolver
        if self.start is None:
            solver = make_subgame_solver(subgame, leaf_value, self.rule, root_reach=root_reach, keep=keep)
        else:
            solver = DepthLimitedSolver(subgame, leaf_value, self.rule, root_reach=root_reach, keep=keep)
            solver.warm_start(self.start.source.policy(subgame, root_reach), pretended)
        spend(solver.run, self.iterations, self.seconds)
        return solver


def draw_iteration(solver: DepthLimitedSolver, rng: np.random.Generator) -> int:
    """Returns the number of an iteration, drawn with the weights of the average policy."""
    weights = solver.weights()
    return int(rng.choice(list(weights), p=list(weights.values())))


def plays(solver: SubgameSolver, player: int, *, safe: bool = True) -> Iterator[Play]:
    """Yields every way in which a player may go through a solved subgame; if `safe`, all iterations were kept."""
    if not safe:
        yield Play(1.0, solver.average_policy(), solver.average_leaf_reach())
        return
    assert isinstance(solver, DepthLimitedSolver)
    for number, weight in solver.weights().items():
        iteration = solver.kept[number]
        yield Play(weight, iteration.policy, iteration.leaf_reach[player])


class PlayedPolicy:
    """Finds what a searching player plays in a whole game.

    Args:
        full: the tree of the game.
        config: how it searches.
        leaf_value: of the leaves of its subgames.
        finish: solves everything below the first subgame's leaves; None to search there, too.
    """

    def __init__(
        self, full: PublicTree, config: SearchConfig, leaf_value: LeafValue, *, finish: SolvedValue | None = None
    ) -> None:
        self.full, self.config, self.leaf_value, self._finish = full, config, leaf_value, finish
        self._subgames: dict[int, Subgame] = {}
        self._sums = [np.zeros(size) for size in full.policy_size]

    def exact(self) -> Policy:
        """Returns the expected policy, by going through all iterations of all subgames.

        Raises:
            SolveError: that would take too many searches; `sampled` draws some of them.
        """
        if (count := self._count(0)) > MOST_SEARCHES:
            raise SolveError(
                f"going through all iterations takes {count:,} searches, more than {MOST_SEARCHES:,}: "
                "draw some of them instead (--repeats), or search deeper with fewer iterations"
            )
        return self._find(None, 1)

    def _count(self, node: int) -> int:
        """Returns how many searches it takes to go through all iterations below a node, for one player."""
        subgame = self._subgame(node)
        if not len(subgame.leaves) or self._finish is not None:
            return 1
        assert subgame.nodes is not None
        below = sum(self._count(int(subgame.nodes[leaf])) for leaf in subgame.leaves)
        return 1 + below * (self.config.iterations if self.config.safe else 1)

    def sampled(self, rng: np.random.Generator, repeats: int) -> Policy:
        """Returns the average policy of `repeats` games, each with newly drawn iterations of subgames."""
        if repeats < 1:
            raise SolveError(f"at least 1 repeat is needed, not {repeats}")
        return self._find(rng, repeats)

    def of(self, solver: DepthLimitedSolver) -> Policy:
        """Returns the expected policy given the solved first subgame, all of whose iterations were kept."""
        for player in (0, 1):
            self._sums[player][:] = 0.0
            for play in plays(solver, player, safe=self.config.safe):
                own = np.full(self.full.num_hands[player, 0], play.weight)
                self._follow(solver.subgame, player, play, own, None)
        return normalised(self.full, (self._sums[0], self._sums[1]))

    def _find(self, rng: np.random.Generator | None, repeats: int) -> Policy:
        hands = self.full.num_hands[:, 0]
        for player in (0, 1):
            self._sums[player][:] = 0.0
            for _ in range(repeats):
                self._search(0, player, (np.ones(hands[0]), np.ones(hands[1])), np.ones(hands[player]), rng)
        return normalised(self.full, (self._sums[0], self._sums[1]))

    def _search(self, node: int, player: int, reach: Reach, own: FloatArray, rng: np.random.Generator | None) -> None:
        """Adds what a player does below a node where `reach` is believed and its own reach is `own` ([H])."""
        subgame = self._subgame(node)
        beliefs = (normalised_rows(reach[0]), normalised_rows(reach[1]))
        safe, solver = self.config.samples(subgame), self.config.solve(subgame, self.leaf_value, beliefs)
        if rng is not None and safe:
            assert isinstance(solver, DepthLimitedSolver)
            iteration = solver.kept[draw_iteration(solver, rng)]
            self._follow(subgame, player, Play(1.0, iteration.policy, iteration.leaf_reach[player]), own, rng)
            return
        for play in plays(solver, player, safe=safe):
            self._follow(subgame, player, play, play.weight * own, rng)

    def _subgame(self, node: int) -> Subgame:
        if node not in self._subgames:
            self._subgames[node] = cut(self.full, node, self.config.limit)
        return self._subgames[node]

    def _follow(
        self, subgame: Subgame, player: int, play: Play, own: FloatArray, rng: np.random.Generator | None
    ) -> None:
        """Adds what a player does in a subgame by one play, and searches on at the leaves that it comes to."""
        assert subgame.nodes is not None
        engine = shared_engine(subgame.tree)
        reach = engine.layout.new_reach(player, own)
        engine.push_reach(player, engine.layout.pad(player, play.policy.probabilities[player]), reach)
        self._add(player, subgame.tree, subgame.nodes, engine.layout.unpad(player, reach))
        if not len(subgame.leaves):
            return
        rows = NodeRows(engine.layout, subgame.leaves).reach(player, reach)
        if self._finish is not None:
            below = self._finish.solve(subgame, play.leaf_reach)
            vector = below.forest.push(player, rows, below.policies[player])
            nodes = below.forest.nodes_in(subgame)
            self._add(player, below.forest.tree, nodes, below.forest.engine.layout.unpad(player, vector))
            return
        for k, leaf in enumerate(subgame.leaves):
            if rows[k].any():
                first, second = subgame.tree.num_hands[:, leaf]
                believed = (play.leaf_reach[0][k, :first], play.leaf_reach[1][k, :second])
                count = (first, second)[player]
                self._search(int(subgame.nodes[leaf]), player, believed, rows[k, :count], rng)

    def _add(self, player: int, tree: PublicTree, nodes: Int64Array, vector: FloatArray) -> None:
        """Adds a policy-shaped vector of a tree, whose nodes are `nodes` of the full tree, to the sum."""
        self._sums[player][places(self.full, nodes[tree.decisions(player)], player)] += vector
