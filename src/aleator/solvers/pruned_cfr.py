"""CFR that leaves out parts of the tree: partial, regret-based and best-response pruning, dynamic thresholding.

Algorithm:
    *Partial pruning* (pp). Where pi_{-i}(h) = 0 all of player i's counterfactual values and regrets are zero: i's
    update skips what is below h. Policies there do not change either; their part in the average is added up when they
    are next visited. *Regret-based pruning* (rbp). An action a of infostate I with R(I, a) < 0 has probability zero.
    From iteration T0 on everything below it is skipped as long as (3.19)
        R^T0(I, a) + sum_{t > T0} (cf_reach^t(I) x U(I, a) - v^t(I)) <= 0,
    U(I, a) being the highest payoff that can follow. Then one walk finds the best response below a to the sum of the
    opponent's policies in the skipped iterations, and regrets become what playing it in all of them leaves behind.
    Pruning begins only if (3.20) expects it to last for at least `least_skip` iterations.
    *Best-response pruning* (brp). The same, but the best response is to all iterations from the first (3.27, 3.29 to
    3.31), so that nothing that was stored below a is needed any more: regrets there are freed at once, the sum of
    policies as soon as the average policy plays a with a probability of at most C / sqrt(t).
    *Dynamic thresholding*. Probabilities below d sqrt(ln A) / (sqrt(2) A^2 sqrt(t)) become zero, so that Hedge can be
    pruned.

Reference: thesis 3.3 (3.3.1 best responses below actions of probability 0, 3.3.3, 3.3.4 CFR+ and DCFR, 3.3.6), 3.4 f.

Deviations:
    Cumulative cfvs of terminals are kept up in every iteration, so that regret-based pruning needs no walk when it
    begins (3.3.3 has one). The skipped iterations are weighed as regrets are, not as the average policy is. The last
    action left at an infostate is never pruned. An infostate without positive regrets plays uniformly, as in the
    thesis, or if `greedy` the highest of them: the best responses below pruned actions leave none behind. Greedy play
    needs up to twice the nodes on Leduc and two thirds of them on Leduc-5; best-response pruning is greedy by default,
    as that frees more memory. With a floor, the jump of a negative regret to a positive gain (3.3.4) waits until an
    action is visited again: what was skipped is simply added, or the gain of many iterations would be taken for that of
    one. With Hedge, (3.21) is solved for the regret at which an action would come back, and an infostate that is not
    visited keeps its policy although the step size changes with t. Best-response pruning looks at an action of negative
    regret again no sooner than `least_skip` iterations, or a tenth of those done, after it was found not to qualify.
    Memory is counted, not returned to the
    system: numbers that are freed stay where they are and are never read.

Status:
    Partial pruning equals CFR, regret-based and best-response pruning equal plain recursive references, freed numbers
    can be overwritten without effect (tests/solvers/test_pruned_cfr.py). `aleator paper rbp-leduc`, `rbp-leduc5`,
    `rbp-thresholds`, `thresholding-leduc`, `thresholding-leduc5`, `brp-leduc`, `brp-leduc5` reproduce Fig. 3.13 to
    3.21.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.iterate import iterate
from aleator.solvers.engines.by_hand.layout import HandLayout, below
from aleator.solvers.engines.by_hand.memory import Terms, new_memory, new_work
from aleator.solvers.engines.by_hand.response import push_reach
from aleator.solvers.engines.by_hand.walk import catch_up_all
from aleator.solvers.pruning_rule import BEST_RESPONSE, PARTIAL, PruningRule
from aleator.solvers.regret_rule import HEDGE
from aleator.solvers.state import TreeSolver, check_no_leaves, restore_vectors
from aleator.trees.policy import Policy, normalised
from aleator.trees.public_tree import PublicTree

_KEPT = ("places", "starts", "sums", "marks")  # all else is scratch
_LARGEST_LOG_WEIGHT = 100.0


class PrunedCFR(TreeSolver):
    """CFR on a public tree that visits only pairs of hands that matter, in float64.

    A *node touched* is a public node with a pair of hands that chance allows: a history, up to symmetries such as
    suits. With simultaneous updates both players are updated in one walk and a history counts once; with alternating
    updates each player's walk counts its own. Walks that begin or end pruning count, too.

    Attributes:
        tree: of the game.
        rule: what is pruned, and the rule of regrets.
        iteration: iterations done; one updates both players.
    """

    def __init__(self, tree: PublicTree, rule: PruningRule | None = None) -> None:
        check_no_leaves(tree)
        self.tree, self.rule, self.iteration = tree, rule or PruningRule(), 0
        self._layout = HandLayout(tree)
        self._memory = (new_memory(self._layout, 0), new_memory(self._layout, 1))
        self._work = new_work(self._layout)
        self._weight_sum = np.zeros(1)
        self._log_base = np.zeros(1)
        self._discounts = np.ones((1, 3))
        self._logs = np.zeros((1, 3))

    @property
    def nodes_touched(self) -> int:
        """Histories visited so far, up to symmetry."""
        return int(self._work.counts[col.TOUCHED])

    @property
    def overhead(self) -> int:
        """How many of the nodes touched were visited to begin or end pruning."""
        return int(self._work.counts[col.OVERHEAD])

    def nodes_played(self) -> int:
        """Returns how many histories, up to symmetry, both current policies reach: no pruning leaves them out."""
        reached = []
        for side, memory in zip(self._layout.sides, self._memory, strict=True):
            reach = np.ones(len(side.places) + 1)
            push_reach(side, memory.places[:-1, col.POLICY].copy(), reach)
            reached.append(np.split(reach[side.sequence] > 0.0, side.nodes[1:, col.ROW]))
        shape, played = self._layout.shape, 0
        for node, (first, second) in enumerate(zip(*reached, strict=True)):
            start, end, listed = shape.deals[node]
            pairs = shape.pairs[start:end]
            histories = int((first[pairs[:, 0]] & second[pairs[:, 1]]).sum())
            played += histories if listed else int(first.sum()) * int(second.sum()) - histories
        return played

    def space(self, *, itself: bool = False) -> float:
        """Returns which part of the regrets and sums of policies that CFR keeps is needed now.

        Those below a pruned action are not; if `itself`, that action's own two numbers are taken to be free, too.
        (While it is pruned its regret stands still; to know when to look at it again, that is needed.)
        """
        if self.rule.method != BEST_RESPONSE:
            return 1.0
        free = [
            self.hidden(player, mark, itself=itself)[self._legal(player)]
            for player in (0, 1)
            for mark in (col.PRUNED, col.DISCARDED)
        ]
        return 1.0 - float(np.concatenate(free).mean())

    def _legal(self, player: int) -> npt.NDArray[np.bool_]:
        legal: npt.NDArray[np.bool_] = self._layout.sides[player].places[:, col.LEGAL] != 0
        return legal

    def hidden(self, player: int, mark: int = col.PRUNED, *, itself: bool = False) -> npt.NDArray[np.bool_]:
        """Returns [places]: those below a place with a mark, and if `itself` that place, too."""
        return below(self._layout.sides[player], self._memory[player].marks[:, mark].astype(np.bool_), itself=itself)

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        end = self.iteration + iterations
        self._extend_logs(end)
        while self.iteration < end:
            self._iterate(self._rebase(end - self.iteration))

    def _extend_logs(self, iterations: int) -> None:
        """Computes discounts and products up to some iteration: of positive and negative regrets, of the average."""
        known = len(self._logs)
        if iterations < known:
            return
        discounts = self.rule.rule.schedule(known, max(iterations + 1 - known, known))[:, :3]
        if known == 1:
            discounts[0] = 1.0  # nothing comes before the first iteration
        logs = np.log(np.maximum(discounts, np.exp(-700.0)))
        self._discounts = np.concatenate([self._discounts, discounts])
        self._logs = np.concatenate([self._logs, running_sums(self._logs[-1:], logs)])

    def _weights(self, first: int, count: int) -> FloatArray:
        """Returns [count, 3] for `iterate`."""
        rows = np.ones((count, 3))
        rows[:, 0] = np.exp(-self._logs[first : first + count, 2])
        if self.rule.method != PARTIAL:
            rows[:, 1] = np.exp(self._log_base[0] - self._logs[first : first + count, 1])
        rows[:, 2] = running_sums(self._weight_sum, rows[:, 1])
        return rows

    def _rebase(self, most: int) -> int:
        """Returns how many iterations can be run until weights are so big that sums are scaled; does it if due.

        When that is depends on the rule alone, not on how many iterations are asked for at a time.
        """
        if self.rule.method == PARTIAL:
            return most
        grown = self._log_base[0] - self._logs[self.iteration, 1]
        if grown > _LARGEST_LOG_WEIGHT:
            factor = np.exp(-grown)
            for memory in self._memory:
                memory.places[:, [col.FACED, col.DIRECT]] *= factor
                memory.sums[:, [col.FACED_MARK, col.VALUE_SUM, col.REACH_SUM]] *= factor
                memory.starts[:, [col.VALUE_START, col.REACH_START]] *= factor
            self._weight_sum *= factor
            self._log_base[0] = self._logs[self.iteration, 1]
        ahead = self._log_base[0] - self._logs[self.iteration + 1 : self.iteration + 1 + most, 1]
        return min(most, int(np.searchsorted(ahead, _LARGEST_LOG_WEIGHT, side="right")) + 1)

    def _iterate(self, count: int) -> None:
        pruning, rule = self.rule, self.rule.rule
        weights = self._weights(self.iteration + 1, count)
        terms = Terms(
            iteration=self.iteration + 1,
            regret_weight=1.0,
            weight_sum=0.0,
            discounts=self._discounts,
            log_discounts=self._logs,
            discounting=bool(np.any(self._logs[:, :2])),
            floor=rule.floor,
            hedge=rule.minimiser == HEDGE,
            threshold=float(pruning.threshold),
            best_response=pruning.respond,
            greedy=pruning.greedy,
            prune=pruning.method != PARTIAL,
            whole=pruning.method == BEST_RESPONSE,
            discard=float(pruning.discard),
            least_skip=float(pruning.least_skip),
        )
        layout = self._layout
        iterate(layout.shape, layout.sides, self._memory, self._work, terms, weights, rule.alternating)
        self._weight_sum[0] = weights[-1, 2]
        self.iteration += count

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges."""
        return normalised(self.tree, self.policy_sums())

    def policy_sums(self) -> tuple[FloatArray, FloatArray]:
        """Returns per player [places] the sums of policies, those of infostates that were left out included."""
        sums = []
        for side, memory in zip(self._layout.sides, self._memory, strict=True):
            ahead = memory._replace(places=memory.places.copy(), sums=memory.sums.copy())  # looking changes no bit
            catch_up_all(self._layout.shape, side, ahead)
            sums.append(ahead.places[:-1, col.AVERAGE].copy())
        return sums[0], sums[1]

    def current_policy(self) -> Policy:
        """Returns the policy of the coming iteration; below pruned actions, where nobody comes, it is what it was."""
        first, second = (memory.places[:-1, col.POLICY].copy() for memory in self._memory)
        return Policy(self.tree, (first, second))

    def regrets(self) -> tuple[FloatArray, FloatArray]:
        """Returns per player [places] the regrets as of the last visit of each infostate."""
        return self._memory[0].places[:-1, col.REGRET].copy(), self._memory[1].places[:-1, col.REGRET].copy()

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything that another solver of the same tree and rule needs to go on from here."""
        state: dict[str, npt.NDArray[Any]] = {
            f"{name}{player}": getattr(self._memory[player], name) for player in (0, 1) for name in _KEPT
        }
        return state | {"counts": self._work.counts, "weight_sum": self._weight_sum, "log_base": self._log_base}

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver of the same tree and rule; the results are then equal bit by bit."""
        restore_vectors(self.state(), state)
        self.iteration = iteration


def running_sums(start: FloatArray, terms: FloatArray) -> FloatArray:
    """Returns the sums of `start` [1, ...] and the first one, two ... terms [n, ...], added one by one.

    They are the same, bit by bit, if the terms come in several parts.
    """
    sums: FloatArray = np.cumsum(np.concatenate([start, terms]), axis=0)[1:]
    return sums
