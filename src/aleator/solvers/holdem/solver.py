"""Solving hold'em spots: CFR on every board, exact, without card abstraction.

Algorithm:
    The CFR of `solvers.cfr` on the betting trees of all boards below the spot's board. Hands are vectors; payoffs are
    scans over hands sorted by strength; boards that differ by a renaming of suits are solved once.

Reference: thesis 3.1 (rules), Johanson et al. 2011 (public tree, O(H) terminals); DeepStack and Libratus solve these.
Deviations:
    Regrets and sums are float32 or, at half the memory, float16; regrets are then cut off at 256
    times the most that one iteration can add. Updates alternate; Hedge is not available here. A player's average is
    updated while the opponent is traversed, as in Tammelin's CFR+, which saves a pass over the tree: the first player's
    average is therefore one iteration ahead of that of `solvers.cfr`. The default, `sharp-dcfr+`, is DCFR+ that forgets
    more at the start, with policies proportional to regrets to the power 1.5: it takes a quarter to a third fewer
    iterations than DCFR (`aleator paper holdem-rules`). Where a policy is locked, best responses keep it, too.
Status: equals the general engine on the same spots (tests/solvers/holdem/test_solver.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.board_game import BoardGame
from aleator.games.holdem.cards import NUM_HANDS, parse_card, without_common_cards
from aleator.games.holdem.lock import Lock
from aleator.games.holdem.spot import DEFAULT_RULE
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.boards.buckets import BucketOf
from aleator.solvers.engines.boards.engine import BoardEngine
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.regret_rule import HEDGE, SHARP_MATCHING, RegretRule
from aleator.solvers.state import Solver, restore_vectors

HOLDEM_RULE = parse_rule(DEFAULT_RULE)
_PLANNED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How good a policy is, in chips.

    Attributes:
        values: per player the average winnings, in the zero-sum form (own share less half the pot).
        best: per player what a best response would win.
    """

    values: tuple[float, float]
    best: tuple[float, float]

    @property
    def exploitability(self) -> float:
        """The mean of both players' gains by a best response, in chips."""
        return (self.best[0] - self.values[0] + self.best[1] - self.values[1]) / 2


class SpotSolver(Solver, Protocol):
    """A solver of a spot, as solutions are made of it."""

    plan: BoardPlan
    spot: BoardGame

    @property
    def bits(self) -> int:
        """How precise rows are kept: 32 or 16."""

    def values(self) -> tuple[float, float]:
        """Returns what both players win on average under the average policy, in chips in the zero-sum form."""

    def board_policies(self, level: int, player: int) -> Iterator[npt.NDArray[np.float32]]:
        """Yields `[R, H]` per board of a street: average policies of the player's decisions, in preorder.

        H are all hands of the player's range, 0 for those that the board blocks.
        """

    def free_regrets(self) -> None:
        """Gives the memory of regrets back; the solver cannot go on then."""


class HoldemSolver(SpotSolver):
    """CFR on a spot, with the interface of the other solvers as far as it makes sense for trees of this size."""

    first_check: ClassVar[int] = 10

    def __init__(
        self,
        spot: BoardGame | BoardPlan,
        rule: RegretRule = HOLDEM_RULE,
        *,
        threads: int = 1,
        bits: int = 32,
        isomorphism: bool = True,
        watch: int | None = None,
        buckets: BucketOf | None = None,
    ) -> None:
        """Prepares a solve.

        Args:
            spot: what is solved; laid out already, if it is a plan.
            rule: the regret rule.
            threads: boards are shared among so many.
            bits: 32, or 16 for half the memory.
            isomorphism: whether boards that differ by a renaming of suits are solved once.
            watch: see `BoardEngine`.
            buckets: the bucket of each hand on a board of the last street, in a game that begins before it: hands of
                a bucket share their regrets and policies, whatever the board. Best responses know the hands.
        """
        if rule.minimiser == HEDGE:
            raise SolveError("hold'em is solved by regret matching; Hedge is not available here")
        if not rule.alternating:
            raise SolveError("hold'em updates players in turn; simultaneous updates are not available here")
        self.plan = spot if isinstance(spot, BoardPlan) else BoardPlan(spot, isomorphism=isomorphism)
        self.spot, self.rule = self.plan.spot, rule
        self.engine = BoardEngine(
            self.plan,
            threads=threads,
            predicts=rule.optimistic,
            sharp=rule.minimiser == SHARP_MATCHING,
            bits=bits,
            watch=watch,
            buckets=buckets,
        )
        self.iteration = 0
        # discounts of some iterations from one on
        self._planned: tuple[int, FloatArray] = (0, np.zeros((0, 5)))
        for lock in self.spot.locks:
            self._lock(lock)

    def run(self, iterations: int) -> None:
        """Runs some more iterations, each of which updates both players."""
        self.engine.iterate(self.rule.schedule(self.iteration + 1, iterations))
        self.iteration += iterations

    def update(self, player: int) -> FloatArray:
        """Runs one player's half of an iteration; returns `[1326]` of its cfvs at the root under the current policies.

        Player 0 comes first, then player 1, which ends the iteration. With `set_reach` in between, this is how a gadget
        is put above the root.
        """
        cfvs = self._all_hands(player, self.engine.update(player, self.discounts()))
        self.iteration += player
        return cfvs

    def discounts(self) -> FloatArray:
        """Returns [1, 5]: what the coming iteration multiplies by (`RegretRule.schedule`)."""
        first, rows = self._planned
        if not first <= self.iteration < first + len(rows):
            first, rows = self.iteration, self.rule.schedule(self.iteration + 1, _PLANNED)
            self._planned = (first, rows)
        slot = self.iteration - first
        return rows[slot : slot + 1]

    def set_reach(self, player: int, reach: FloatArray) -> None:
        """Sets a player's reach `[1326]` at the root; hands that had none when the solver was made are left out."""
        if reach.shape != (NUM_HANDS,) or not (np.isfinite(reach).all() and (reach >= 0).all()):
            raise SolveError("reach must be 1,326 finite numbers, none of them negative")
        hands = self.plan.hands[player]
        self.plan.weights[player, hands] = reach[hands]
        self.engine.set_reach(player, self.plan.weights[player])

    @property
    def deals(self) -> float:
        """The weight of all pairs of hands that can be dealt."""
        return compatible_weight(self.plan.weights)

    def _lock(self, lock: Lock) -> None:
        """Fixes a policy on all boards that it names."""
        node, cards, _ = self.plan.locked(lock)
        policy, level = lock.policy(node), len(cards)
        slot = int(self.plan.slot[node.number])
        named = [None if card is None else parse_card(card) for card in cards]
        for index, board in enumerate(self.plan.boards[level]):
            dealt = board.cards[len(self.spot.board) :]
            if all(card in (None, own) for card, own in zip(named, dealt, strict=True)):
                rows = self.plan.rows(node.player, board)
                padded = np.zeros(self.engine.decision_rows(level, index, slot)[1], np.float32)
                padded[:, : len(rows)] = policy[:, rows]
                self.lock(level, index, slot, padded)

    def lock(self, level: int, board: int, slot: int, policy: npt.NDArray[np.floating[Any]]) -> None:
        """Fixes the policy [A, H padded] of a decision; the rest is solved around it."""
        for name in ("regret", "policy_sum"):
            self.engine.write(name, level, board, slot, policy)
        self.engine.streets[level].locked[board, slot] = True

    def root_values(self, player: int, *, best: bool = False) -> FloatArray:
        """Returns [H] of a player's cfvs at the root against the average policy, summed over the opponent's hands."""
        return self.engine.values(player, best=best).astype(np.float64)

    def root_cfvs(self, *, best: bool = False) -> FloatArray:
        """Returns `[2, 1326]`: both players' cfvs at the root against the average policy, 0 for hands out of range.

        In chips in the zero-sum form, summed over the opponent's hands weighted by their reach; on their own average
        policy or, if `best`, a best response.
        """
        return np.stack([self._all_hands(player, self.root_values(player, best=best)) for player in (0, 1)])

    def _all_hands(self, player: int, rows: npt.NDArray[np.floating[Any]]) -> FloatArray:
        """Returns `[1326]` from the rows of the first board."""
        row = np.zeros(NUM_HANDS)
        row[self.engine.root_rows[player]] = rows
        return row

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything that another solver of the same spot, rule and bits needs to go on from here."""
        vectors = {
            f"{name}{player}": vector
            for player in (0, 1)
            for name, vector in self.engine.storage[player]._asdict().items()
            if vector is not None
        }
        if (buckets := self.engine.buckets) is not None:
            vectors |= {f"bucket regret{player}": buckets.regret[player] for player in (0, 1)}
            vectors |= {f"bucket policy_sum{player}": buckets.policy_sum[player] for player in (0, 1)}
        return vectors | {"averaging": self.engine.averaging}

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver of the same spot, rule and bits; results are then equal bit by bit.

        Raises:
            ValueError: a vector is missing or has another shape or type.
        """
        restore_vectors(self.state(), state)
        self.iteration = iteration

    @property
    def bits(self) -> int:
        """How precise rows are kept: 32 or 16."""
        return self.engine.bits

    def free_regrets(self) -> None:
        """Gives the memory of regrets back; the solver cannot go on then."""
        self.engine.free_regrets()

    def board_policies(self, level: int, player: int) -> Iterator[npt.NDArray[np.float32]]:
        """Yields `[R, H]` per board of a street; see `SpotSolver`."""
        plan, engine = self.plan, self.engine
        boards, hands, forest = plan.boards[level], plan.hands[player], plan.forests[level]
        nodes = np.flatnonzero(forest.kind == player)
        if not len(nodes):
            return
        nodes = nodes[np.argsort(plan.nodes[level][nodes])]  # decisions in preorder
        counts = forest.num_children[nodes]
        order = np.concatenate(
            [np.arange(forest.row[node], forest.row[node] + forest.num_children[node]) for node in nodes]
        )
        num_rows = int(forest.num_rows[player])
        starts = np.cumsum(counts) - counts
        uniform = np.repeat(1.0 / counts.astype(np.float32), counts)[:, None]
        for index, board in enumerate(boards):
            living = plan.rows(player, board)
            block = engine.policy_sums(level, player, index)[order, : len(living)].astype(np.float32)
            total = np.repeat(np.add.reduceat(block, starts, axis=0), counts, axis=0)
            block = np.divide(block, total, out=np.broadcast_to(uniform, block.shape).copy(), where=total > 0)
            policies = np.zeros((num_rows, len(hands)), np.float32)
            policies[:, np.searchsorted(hands, living)] = block
            yield policies

    def exploitability(self) -> float:
        """Returns the exploitability of the average policy in chips; without rake, best responses alone say it."""
        if self.spot.rake.rate > 0:
            return self.quality().exploitability
        return (self._mean(0, best=True) + self._mean(1, best=True)) / 2

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy in chips."""
        return 2.0 * self.exploitability()

    def _mean(self, player: int, *, best: bool) -> float:
        """Returns what a player wins on average, in chips."""
        weights = self.plan.weights[player][self.plan.rows(player, self.plan.boards[0][0])]
        return float(weights @ self.root_values(player, best=best)) / self.deals

    def values(self) -> tuple[float, float]:
        """Returns what both players win on average under the average policy, in chips in the zero-sum form."""
        return self._mean(0, best=False), self._mean(1, best=False)

    def quality(self) -> Quality:
        """Returns values and best-response values of the average policy, in chips."""
        return Quality(values=self.values(), best=(self._mean(0, best=True), self._mean(1, best=True)))


def compatible_weight(weights: FloatArray) -> float:
    """Returns the sum over pairs of hands without a common card of the product of their weights `[2, 1326]`."""
    return float(weights[0] @ without_common_cards(weights[1]))
