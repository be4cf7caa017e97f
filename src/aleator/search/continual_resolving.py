"""Continual re-solving: at each of its decisions a player reconstructs its policy from what it carries along.

Algorithm:
    A player carries its own reach r_1 over its hands and, for each hand of the opponent, the cfv v_2 that the opponent
    must not exceed. At a decision (RE-SOLVE): run CFR in the depth-limited subgame; between iterations the gadget
    (RANGEGADGET) lets each hand of the opponent follow into the subgame or terminate for v_2, by regret matching: that
    is the opponent's reach r_2. Act by the average policy; r_1 is multiplied by it. v_2 becomes what the opponent gets,
    on average over the iterations, behind the player's action and behind each move of chance; a move of the opponent
    changes nothing.

Reference:
    DeepStack, Algorithm 1 and "Continual re-solving"; CFR-D gadget: Burch, Johanson, Bowling 2014. Opponent ranges:
    "Opponent Ranges in Re-Solving" (b = 0.9). Carried values: "Best-response Values Versus Self-play Values", Fig. 6.

Deviations:
    Reach is not normalised, so that carried cfvs stay in one unit. Averages are weighted linearly, as CFR+ does
    where DeepStack leaves the first iterations out; updates alternate. An estimated range is used at every re-solve,
    not only at the first of a round.

Status: tests/search/test_continual_resolving.py; `aleator paper continual-resolving`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from aleator.errors import SolveError, check_known
from aleator.games.base import CHANCE, TERMINAL, FloatArray
from aleator.search.budget import check_budget, spend
from aleator.search.leaf_value import LeafValue, ZeroValue
from aleator.search.range_gadget import RangeGadget
from aleator.search.searcher import Searcher
from aleator.search.subgame_solver import SubgameSolver, make_subgame_solver
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.solvers.search_rule import SearchRule
from aleator.trees.beliefs import Reach, reach_in
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import Int64Array, PublicTree
from aleator.trees.subgame import TO_THE_END, DepthLimit, Subgame, Watch, cut

SELF_PLAY, BEST_RESPONSE = CARRIED = "self-play", "best-response"
RANGES = ("uniform", "conservative", "aggressive")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinualSearch:
    """How a player re-solves.

    Attributes:
        limit: how deep. Leaves must lie behind chance's moves, if anywhere: `DepthLimit(deals=1)` is to the next round.
        iterations: of each re-solve.
        seconds: for one re-solve, if fewer iterations fit in; None for no limit.
        carried: the constraint handed on: what the opponent got in "self-play", or what a "best-response" to the
            average policy would get.
        ranges: the opponent's hands are dealt uniformly ("uniform"), or by the range that was expected, with weight
            `mix`: "conservative" leaves the opponent the choice to terminate, "aggressive" takes it away with
            probability `mix` where the opponent has not acted since the range was found, as when the player is first to
            act in a round.
        mix: b.
    """

    limit: DepthLimit = TO_THE_END
    iterations: int = 500
    seconds: float | None = None
    carried: str = SELF_PLAY
    ranges: str = "uniform"
    mix: float = 0.9

    def __post_init__(self) -> None:
        check_budget(self.iterations, self.seconds)
        check_known(self.carried, CARRIED, "carried values")
        check_known(self.ranges, RANGES, "ranges")
        if not 0.0 <= self.mix < 1.0:
            raise SolveError(f"the weight of an estimated range lies in [0, 1), not {self.mix}")


class ReSolved(NamedTuple):
    """What a re-solve returns.

    Attributes:
        solver: of the subgame, done; the searcher's average policy is to be played.
        bounds: [K] nodes of the subgame whose cfvs may have to be handed on (`find_bounds`).
        constraint: [K, H] for these the cfvs of the opponent's hands that are handed on.
        opponent_reach: [H] the opponent's average reach at the root.
    """

    solver: SubgameSolver
    bounds: Int64Array
    constraint: FloatArray
    opponent_reach: FloatArray


def find_bounds(subgame: Subgame, searcher: int) -> Int64Array:
    """Returns the nodes [K] of a subgame whose cfvs may bound the opponent at the searcher's next decision.

    These are the root and what the searcher, chance, or a private move of the opponent has led to since.
    """
    tree = subgame.tree
    nodes, waiting = [0], list(tree.children(0))
    while waiting:
        node = int(waiting.pop())
        parent = tree.parent[node]
        if tree.actor[node] == TERMINAL:
            continue
        if tree.actor[parent] in (searcher, CHANCE) or tree.origin(1 - searcher, node) is not None:
            nodes.append(node)
        if tree.actor[node] != searcher:
            waiting += tree.children(node)
    return np.array(sorted(nodes), np.int64)


def re_solve(
    subgame: Subgame,
    searcher: int,
    own: FloatArray,
    constraint: FloatArray | None,
    leaf_value: LeafValue,
    config: ContinualSearch,
    *,
    expected: FloatArray | None = None,
) -> ReSolved:
    """Returns the searcher's policy in a subgame, and what to carry along.

    Args:
        subgame: the part of the game to solve.
        searcher: who re-solves.
        own: [H] r_1, the searcher's reach at the root.
        constraint: [H] v_2, the opponent's cfvs; None at the start of the game, where nothing is to be kept.
        leaf_value: of the subgame's leaves.
        config: how.
        expected: [H] the opponent's range as the last re-solve has it; needed unless `config.ranges` is "uniform".
    """
    opponent = 1 - searcher
    hands = int(subgame.tree.num_hands[opponent, 0])
    gadget = None if constraint is None else _gadget(constraint, expected, config)
    theirs = np.ones(hands) if gadget is None else gadget.reach
    bounds = find_bounds(subgame, searcher)
    solver = make_subgame_solver(
        subgame,
        leaf_value,
        SearchRule(update=CFR_PLUS),
        root_reach=_pair(searcher, own, theirs),
        watch=Watch(opponent, bounds),
    )
    mean = theirs.copy()

    def run(iterations: int) -> None:
        for _ in range(iterations):
            solver.run(1)
            if gadget is not None:
                entered = gadget.update(solver.last_root_cfvs[opponent])
                solver.set_root_reach(opponent, entered)
                mean[:] += 2.0 / (solver.iteration + 1.0) * (entered - mean)  # weighs iterations as CFR+ does

    spend(run, config.iterations, config.seconds)
    carried = solver.watched_cfvs() if config.carried == SELF_PLAY else solver.watched_response()
    return ReSolved(solver, bounds, carried, mean)


def _gadget(constraint: FloatArray, expected: FloatArray | None, config: ContinualSearch) -> RangeGadget:
    """Returns the gadget with hands dealt as the configuration says."""
    uniform = np.ones(len(constraint))
    if config.ranges == "uniform":
        return RangeGadget(constraint, uniform, 0.0 * uniform)
    if expected is None:
        raise SolveError(f"{config.ranges} re-solving needs the opponent's expected range")
    scaled = expected / (expected.mean() or 1.0)  # the same weight as the uniform deal
    if config.ranges == "conservative":
        return RangeGadget(constraint, config.mix * scaled + (1.0 - config.mix) * uniform, 0.0 * uniform)
    return RangeGadget(constraint, (1.0 - config.mix) * uniform, config.mix * scaled)


def _pair(searcher: int, own: FloatArray, theirs: FloatArray) -> Reach:
    return (own, theirs) if searcher == 0 else (theirs, own)


class _ReSolve(NamedTuple):
    """What is kept of a re-solve. Nodes are those of the whole tree.

    Attributes:
        block: [A, H] the searcher's policy where it re-solved; None if that was not its decision.
        constraint: by node, [H] the cfvs of the opponent's hands.
        expected: by node, [H] the opponent's range.
        opponent_reach: [H] the opponent's average reach where the searcher re-solved.
    """

    block: FloatArray | None
    constraint: dict[int, FloatArray]
    expected: dict[int, FloatArray]
    opponent_reach: FloatArray


class _Position(NamedTuple):
    """Where play is, and what the searcher carries along.

    Attributes:
        own: [H] the searcher's own reach.
        last: the last re-solve.
        bound: the node whose cfvs the opponent must not exceed.
    """

    own: FloatArray
    last: _ReSolve
    bound: int


class ContinualSearcher(Searcher):
    """A player who re-solves at each of its decisions; where it never comes to it plays uniformly.

    Args:
        tree: of the whole game.
        searcher: the player.
        config: how it re-solves.
        leaf_value: of leaves, where the depth is limited.
    """

    def __init__(
        self,
        tree: PublicTree,
        searcher: int,
        config: ContinualSearch | None = None,
        leaf_value: LeafValue | None = None,
    ) -> None:
        super().__init__(tree, searcher)
        self.config, self.leaf_value = config or ContinualSearch(), leaf_value or ZeroValue()
        self._known: dict[int, _Position] = {}

    def block(self, node: int) -> FloatArray:
        """Returns [A, H]: the policy of the re-solve at that decision."""
        position = self._at(node)
        if position.own.any() and position.last.block is not None:
            return position.last.block
        return self._uniform[node]

    @cached_property
    def _uniform(self) -> Policy:
        return uniform_policy(self.tree)

    def reach(self, node: int) -> Reach:
        """Returns the searcher's own reach and the range that the gadget gave to the opponent."""
        position = self._at(node)
        return _pair(self.searcher, position.own, position.last.opponent_reach)

    def _at(self, node: int) -> _Position:
        """Returns what the searcher carries along at a node, re-solved if it is its turn."""
        if node not in self._known:
            self._known[node] = self._go_on(int(self.tree.parent[node]), node) if node else self._start()
        return self._known[node]

    def _start(self) -> _Position:
        own = np.ones(int(self.tree.num_hands[self.searcher, 0]))
        return _Position(own, self._re_solve(0, own, None, self.config), 0)

    def _go_on(self, parent: int, node: int) -> _Position:
        """Returns the place after one more move."""
        tree, searcher = self.tree, self.searcher
        own, last, bound = self._at(parent)
        own = reach_in(tree, searcher, node, own, self.block)
        if not own.any():
            return _Position(own, last, bound)  # the searcher never comes here
        # the opponent's own move leaves the constraint where it was, unless its hands are others behind it
        if tree.actor[parent] in (searcher, CHANCE) or tree.origin(1 - searcher, node) is not None:
            bound = node
        if tree.actor[node] != searcher:
            return _Position(own, last, bound)
        return _Position(own, self._re_solve_after(node, own, last, bound), node)

    def _re_solve_after(self, node: int, own: FloatArray, last: _ReSolve, bound: int) -> _ReSolve:
        """Returns the re-solve at a node, constrained by what the last one hands on."""
        config, hands = self.config, int(self.tree.num_hands[1 - self.searcher, node])
        if config.ranges == "aggressive" and bound != node:
            config = replace(config, ranges="conservative")  # the opponent has acted since: its range is biased
        return self._re_solve(node, own, last.constraint[bound][:hands], config, last.expected[bound][:hands])

    def _re_solve(
        self,
        node: int,
        own: FloatArray,
        constraint: FloatArray | None,
        config: ContinualSearch,
        expected: FloatArray | None = None,
    ) -> _ReSolve:
        self.searches += 1
        subgame = cut(self.tree, node, config.limit)
        solved = re_solve(subgame, self.searcher, own, constraint, self.leaf_value, config, expected=expected)
        assert subgame.nodes is not None
        bounds, ranges = subgame.nodes[solved.bounds].tolist(), solved.solver.watched_reach(solved.opponent_reach)
        block = solved.solver.average_block(0) if self.tree.actor[node] == self.searcher else None
        return _ReSolve(
            block,
            dict(zip(bounds, solved.constraint, strict=True)),
            dict(zip(bounds, ranges, strict=True)),
            solved.opponent_reach,
        )


def continual_policy(
    tree: PublicTree, searcher: int, config: ContinualSearch, leaf_value: LeafValue | None = None
) -> Policy:
    """Returns what continual re-solving plays in the whole game: every situation it can come to is re-solved.

    Args:
        tree: of the whole game.
        searcher: whose policy is wanted; the other's part is uniform, and so is what the searcher itself never comes
            to.
        config: how it re-solves.
        leaf_value: of leaves, where the depth is limited.
    """
    return ContinualSearcher(tree, searcher, config, leaf_value).policy()
