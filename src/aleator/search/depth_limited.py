"""Depth-limited solving: CFR and fictitious play in a subgame whose leaves have values that depend on beliefs.

Algorithm:
    Every iteration t pushes reach to the leaves, asks the leaf value for both players' cfvs at what is believed there,
    and goes on as in a whole game. What is believed differs (pi^t: current policies, pibar^t: average):
        CFR-D              leaves solved and evaluated at pi^t
        CFR-AVE            leaves solved at pibar^t, and those solutions evaluated at pi^t
        modified CFR-AVE   v^t = (v(pibar^t) - (1 - w_t) v(pibar^{t-1})) / w_t, with w_t the weight of t in the average:
                           the value that pi^t would have if leaves' solutions did not change
        fictitious play    leaves at pibar^t; the traverser best responds to what it expects of the opponent
        minimax            perfect information: leaves' values depend on no belief, and one iteration solves the subgame
    The value of the root is, in CFR-D, the average over iterations of each iteration's cfvs, with the weights of the
    policies; in the other methods the cfvs of the average policy with the leaves at its beliefs, as single iterations
    mean little there.

Reference: ReBeL section 5.1, Algorithms 1 and 2, App. D (FLOP), App. E (CFR-AVE), App. J (warm start), section 5.4
    (minimax).

Deviations:
    In the modified form the paper writes v for values of infostates; here they are cfvs, which are linear in the
    opponent's reach, as the argument for the method needs. It holds where leaf values are continuous in beliefs; exact
    values of games with few hands jump, and the method stalls there; with regularised ones it converges
    (`aleator paper rebel-fig5`). Averages at the leaves are taken over the policies that a traverser has met at its own
    updates; with alternating updates that is one update more of the first player than of the second.
    Alternating updates by default, both players in every iteration; the paper counts an update of one player as an
    iteration.

Status: tests/search/test_depth_limited.py; `aleator paper rebel-fig5`.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.search.leaf_value import LeafValue
from aleator.search.solved_value import SolvedValue
from aleator.solvers.engines.cpu.engine import shared_engine
from aleator.solvers.engines.cpu.layout import Vector
from aleator.solvers.engines.cpu.rows import NodeRows
from aleator.solvers.fictitious_rule import FictitiousRule
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.solvers.search_rule import AVERAGE, CURRENT, SearchRule, find_rule
from aleator.solvers.updates import CFRUpdate, FictitiousUpdate, MinimaxUpdate, Update, Vectors
from aleator.solvers.warm_start import REBEL_ITERATIONS
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.subgame import Subgame, Watch


class Iteration(NamedTuple):
    """What an iteration has to play.

    Attributes:
        number: of the iteration, from 1; fictitious play begins with a uniform one, number 0.
        policy: what each player's opponent was updated against (CFR), or both players' best responses (fictitious
            play). With alternating updates player 1 met player 0's next policy.
        leaf_reach: per player, the reach ([L, H0], [L, H1]) at which leaves were valued for the opponent's update
            (CFR), or for its own.
    """

    number: int
    policy: Policy
    leaf_reach: tuple[Reach, Reach]


class Met(NamedTuple):
    """What a traverser was updated against.

    Attributes:
        policy: of its opponent, in the tree's order; empty if nobody asks.
        leaf_reach: [L, H0], [L, H1] at which leaves were valued.
    """

    policy: FloatArray
    leaf_reach: Reach


class DepthLimitedSolver:
    """A solver of one subgame at given beliefs.

    Attributes:
        subgame, leaf_value, rule: what is solved, and how.
        root_reach: [H0], [H1] of each player at the root of the subgame.
        iteration: how many have been run; one updates both players.
        kept: iterations that were to be kept, by their numbers.
    """

    def __init__(
        self,
        subgame: Subgame,
        leaf_value: LeafValue,
        rule: SearchRule | str = "cfr-d",
        *,
        root_reach: Reach | None = None,
        keep: Container[int] = (),
        watch: Watch | None = None,
    ) -> None:
        """Prepares a solve.

        Args:
            subgame: to be solved.
            leaf_value: of its leaves.
            rule: or the name of one in `SEARCH_RULES`.
            root_reach: by default 1 for every hand.
            keep: numbers of the iterations to keep.
            watch: where a player's cfvs are averaged over iterations, for `watched_cfvs`.
        """
        self.subgame, self.leaf_value, self.rule = subgame, leaf_value, find_rule(rule)
        hands = subgame.tree.num_hands[:, 0]
        self.root_reach = root_reach or (np.ones(hands[0]), np.ones(hands[1]))
        for player in (0, 1):
            if (shape := self.root_reach[player].shape) != (hands[player],):
                raise SolveError(f"player {player}'s root reach has shape {shape}, not ({hands[player]},)")
        self._engine = shared_engine(subgame.tree)
        self._rows = NodeRows(self._engine.layout, subgame.leaves)
        self._update: Update
        if isinstance(self.rule.update, RegretRule):
            self._update = CFRUpdate(self._engine, self.rule.update, self.root_reach)
            if self.rule.leaves == AVERAGE and len(subgame.leaves) and not isinstance(leaf_value, SolvedValue):
                raise SolveError("only an oracle can evaluate other beliefs than it solves for: take modified-cfr-ave")
        elif isinstance(self.rule.update, FictitiousRule):
            self._update = FictitiousUpdate(self._engine, self.rule.update, self.root_reach)
        else:
            self.rule.check(subgame.tree.game.name, int(subgame.tree.num_hands.max()))
            self._update = MinimaxUpdate(self._engine, self.root_reach)
        self.iteration = 0
        self._root_mean: Reach = (np.zeros(hands[0]), np.zeros(hands[1]))
        self.kept: dict[int, Iteration] = {}
        self._keep = keep
        self._watch = watch
        self._watched = NodeRows(self._engine.layout, np.zeros(0, np.int64) if watch is None else watch.nodes)
        self._watched_mean: FloatArray | None = None
        self.last_root_cfvs: Reach = (np.zeros(hands[0]), np.zeros(hands[1]))
        self._average_reach = (_RunningMean(), _RunningMean())  # per traverser
        self._last_cfvs: list[Reach | None] = [None, None]

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        plain = not len(self.subgame.leaves) and self._keep == () and self._watch is None
        if plain and isinstance(self._update, CFRUpdate):
            self._update.run(iterations, self._root_mean)
            self.iteration += iterations
            return
        for _ in range(iterations):
            self.iteration += 1
            self._update.begin(self.iteration)
            if self.iteration == 1 and 0 in self._keep and isinstance(self._update, FictitiousUpdate):
                self.kept[0] = Iteration(0, self.current_policy(), (self._leaf_reach(0), self._leaf_reach(1)))
            met: list[Met] = []
            if self._update.alternating:
                for player in (0, 1):
                    self._traverse(player, self._value_leaves(player, met)[player])
                    self._update.move(player)
            else:
                cfvs = [self._value_leaves(player, met)[player] for player in (0, 1)]
                for player in (0, 1):
                    self._traverse(player, cfvs[player])
                for player in (0, 1):
                    self._update.move(player)
            if self.iteration in self._keep:
                self._note(met)

    def _traverse(self, player: int, leaf_cfvs: FloatArray) -> None:
        """Evaluates terminals, writes the leaves, and updates a player."""
        values = self._engine.evaluate(player, self._update.expected(player)[1 - player])
        self._rows.put_values(player, leaf_cfvs, values)
        self._update.traverse(player)
        root = self._root_mean[player]
        root += self._update.share * (values[: len(root)] - root)
        self.last_root_cfvs[player][:] = values[: len(root)]
        if self._watch is not None and self._watch.player == player:
            rows, mean = self._watched.values(player, values), self._watched_mean
            self._watched_mean = rows if mean is None else mean + self._update.share * (rows - mean)

    def _leaf_reach(self, player: int) -> Reach:
        """Returns both players' reach [L, H0], [L, H1] at the leaves as a traverser expects it."""
        expected = self._update.expected(player)
        return self._rows.reach(0, expected[0]), self._rows.reach(1, expected[1])

    def _value_leaves(self, player: int, met: list[Met]) -> Reach:
        """Returns the cfvs [L, H] of the leaves for a traverser; adds what it meets to a list."""
        reach, opponent = self._leaf_reach(player), 1 - player
        kept = self.iteration in self._keep
        policy = self._engine.layout.unpad(opponent, self._update.current()[opponent]) if kept else np.zeros(0)
        met.append(Met(policy, reach))
        if not len(self.subgame.leaves):
            return reach
        if self.rule.leaves == CURRENT or isinstance(self._update, FictitiousUpdate):
            return self.leaf_value.cfvs(self.subgame, reach, player)
        share = self._update.share
        average = self._average_reach[player].add(reach, share)
        met[-1] = Met(policy, average)
        if self.rule.leaves == AVERAGE:
            assert isinstance(self.leaf_value, SolvedValue)
            return self.leaf_value.cfvs_of_solution_at(self.subgame, average, reach)
        now, last = self.leaf_value.cfvs(self.subgame, average, player), self._last_cfvs[player]
        self._last_cfvs[player] = now
        if last is None:
            return now
        return (now[0] - (1.0 - share) * last[0]) / share, (now[1] - (1.0 - share) * last[1]) / share

    def _note(self, met: list[Met]) -> None:
        """Keeps the iteration, given what each traverser met: CFR plays that, fictitious play what it found now."""
        number, (first, second) = self.iteration, met
        if isinstance(self._update, CFRUpdate):
            # player 0 plays what player 1 met, and the other way round
            policy = Policy(self.subgame.tree, (second.policy, first.policy))
            self.kept[number] = Iteration(number, policy, (second.leaf_reach, first.leaf_reach))
        else:
            self.kept[number] = Iteration(number, self.current_policy(), (first.leaf_reach, second.leaf_reach))

    def weights(self) -> dict[int, float]:
        """Returns the weight of each iteration so far in the average policy; they sum to 1."""
        return self._update.weights()

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges."""
        return self._policy(self._update.average())

    def current_policy(self) -> Policy:
        """Returns the policy of the coming iteration (CFR) or the last best responses (fictitious play)."""
        return self._policy(self._update.current())

    def root_cfvs(self) -> Reach:
        """Returns each player's cfvs [H0], [H1] at the root: what a value network learns."""
        if self.rule.leaves == CURRENT:
            return self._root_mean[0].copy(), self._root_mean[1].copy()
        first, second = (
            self._average_values(player, best=False)[: len(self.root_reach[player])].copy() for player in (0, 1)
        )
        return first, second

    def watched_cfvs(self) -> FloatArray:
        """Returns [K, H]: the watched player's cfvs, averaged over the iterations like the policies."""
        if self._watched_mean is None:
            raise SolveError("nothing was watched: give `watch` to the solver, and run it")
        return self._watched_mean

    def watched_response(self) -> FloatArray:
        """Returns [K, H]: the watched player's cfvs when it best responds to the average policy."""
        player = self._watched_player()
        return self._watched.values(player, self._average_values(player, best=True))

    def watched_reach(self, root: FloatArray) -> FloatArray:
        """Returns [K, H]: the watched player's reach by its average policy, given its reach [H] at the root."""
        player = self._watched_player()
        reach = self._engine.layout.new_reach(player, root)
        self._engine.push_reach(player, self._update.average()[player], reach)
        return self._watched.reach(player, reach)

    def _watched_player(self) -> int:
        if self._watch is None:
            raise SolveError("nothing is watched: give `watch` to the solver")
        return self._watch.player

    def average_block(self, node: int) -> FloatArray:
        """Returns [A, H]: the average policy of a decision."""
        return self.average_policy()[node]

    def _average_values(self, player: int, *, best: bool) -> Vector:
        """Returns a player's cfvs under the average policies, its own replaced by a best response if `best`."""
        policies = self._update.average()
        reach = self._push(policies)
        leaves = (self._rows.reach(0, reach[0]), self._rows.reach(1, reach[1]))
        cfvs = self.leaf_value.cfvs(self.subgame, leaves) if len(self.subgame.leaves) else leaves
        values = self._engine.evaluate(player, reach[1 - player])
        self._rows.put_values(player, cfvs[player], values)
        return self._engine.pull(player, policies[player], best=best)

    def set_root_reach(self, player: int, reach: FloatArray) -> None:
        """Gives a player another reach [H] at the root from now on (CFR only)."""
        if not isinstance(self._update, CFRUpdate):
            raise SolveError("only CFR can change the reach at the root between iterations")
        own = (self.root_reach[0], reach) if player else (reach, self.root_reach[1])
        self.root_reach = own
        self._update.memory[player].reach[: len(reach)] = reach
        self._update.move(player)

    def average_leaf_reach(self) -> Reach:
        """Returns each player's reach [L, H0], [L, H1] at the leaves under the average policy."""
        reach = self._push(self._update.average())
        return self._rows.reach(0, reach[0]), self._rows.reach(1, reach[1])

    def _push(self, policies: Vectors) -> Vectors:
        """Returns both players' reach under policies."""
        reach = []
        for player in (0, 1):
            reach.append(self._engine.layout.new_reach(player, self.root_reach[player]))
            self._engine.push_reach(player, policies[player], reach[player])
        return reach[0], reach[1]

    def _policy(self, vectors: Vectors) -> Policy:
        first, second = (self._engine.layout.unpad(player, vectors[player]) for player in (0, 1))
        return Policy(self.subgame.tree, (first, second))

    def warm_start(self, policy: Policy, iterations: int = REBEL_ITERATIONS) -> None:
        """Goes on as if `policy` had been played for the first iterations, with the regrets of a best response to it.

        Leaves are valued at the beliefs that the policy leads to (ReBeL App. J).
        """
        update = self._update
        if not isinstance(update, CFRUpdate) or update.rule.minimiser == HEDGE:
            raise SolveError("only CFR with regret matching can be warm started")
        if policy.tree is not self.subgame.tree:
            raise SolveError("the policy to start from belongs to another tree")
        if self.iteration or iterations < 1:
            raise SolveError(
                f"a warm start comes before the first iteration and stands for at least 1, not {iterations}"
            )
        layout = self._engine.layout
        policies = (layout.pad(0, policy.probabilities[0]), layout.pad(1, policy.probabilities[1]))
        update.play(policies)
        met: list[Met] = []
        regrets, cfvs = [], [self._value_leaves(player, met)[player] for player in (0, 1)]
        for player in (0, 1):
            values = self._engine.evaluate(player, update.memory[1 - player].reach)
            self._rows.put_values(player, cfvs[player], values)
            self._engine.pull(player, policies[player], best=False)
            self._root_mean[player][:] = values[: len(self._root_mean[player])]
            regrets.append(update.regrets_of_best_response(player))
        update.pretend(policies, (regrets[0], regrets[1]), iterations)
        self.iteration = iterations
        if iterations in self._keep:
            self.kept[iterations] = Iteration(iterations, policy, (met[0].leaf_reach, met[1].leaf_reach))


class _RunningMean:
    """The weighted mean of reach at the leaves, over iterations."""

    def __init__(self) -> None:
        self._mean: Reach | None = None

    def add(self, reach: Reach, share: float) -> Reach:
        """Adds an iteration that makes up `share` of the whole; returns the mean."""
        mean = self._mean or reach
        self._mean = (mean[0] + share * (reach[0] - mean[0]), mean[1] + share * (reach[1] - mean[1]))
        return self._mean
