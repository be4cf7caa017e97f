"""Regret transfer: CFR that goes on when payoffs change, as if it had played the same policies in the new game.

Algorithm:
    Payoffs are affine in parameters theta, and so are regrets under given policies: besides R(I, a) the solver keeps
    the derivatives dR(I, a) / d theta_d, by one more backward pass per parameter. At theta' the T iterations so far
    have the regrets R' = R + sum over d of (theta'_d - theta_d) dR / d theta_d, as if their policies were replayed in
    the new game. Nobody minimised those, so they may exceed CFR's bound; weighed by w they do not, and CFR goes
    on as if it had run w T iterations. With L the largest growth of a regret per iteration and U the average payoff
        w = 1 / (1 + 2 L sqrt(A T) / U + L^2 T / U^2).

Reference:
    Thesis 4.2.1 to 4.2.3: Theorem 16, Proposition 1 (Eq. 4.52), Corollary 5.

Deviations:
    Corollary 5 prints L with the signs of Eq. 4.51 turned round; growth is what can break a bound, so R' - R is used.
    "Average payoff" is the mean of |u| under the average policies. Rules that discount, or cut regrets off at zero,
    replay these factors, too: a floor forgets an entry. Their clock is set back to w T. The bound is that of plain CFR.
    Hedge is refused: the bound is on the potential of regret matching. Iterations so far are scaled by w, not later
    ones by 1 / w.

Status:
    No change is the identity, and corrected regrets equal those of a replay of all policies in the new game, for every
    rule and for sampled runs (tests/abstraction/test_regret_transfer.py). `aleator paper regret-transfer` is Fig. 4.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from aleator.abstraction.parameters import ParametricGame, Values
from aleator.errors import AleatorError, SolutionError, SolveError, check_known, shown
from aleator.games.base import FloatArray
from aleator.parsing import parse_real
from aleator.solvers.algorithms import find_algorithm
from aleator.solvers.cfr import CFR
from aleator.solvers.engines.cpu.engine import CpuEngine, shared_engine
from aleator.solvers.engines.cpu.layout import Vector
from aleator.solvers.engines.cpu.rows import NodeRows
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.solvers.sampling_rule import NO_DISCOUNT, SamplingRule
from aleator.solvers.solution import Solution, TreeSolution
from aleator.solvers.solve import TreeProblem
from aleator.solvers.state import TreeSolver, restore_vectors
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

PAYOFF, POTENTIAL, UNSCALED = "payoff", "potential", "unscaled"
WEIGHTS = (PAYOFF, POTENTIAL, UNSCALED)
Weight = str | float


class ParametricSolver(TreeSolver, Protocol):
    """A solver of one member of a family that can go over to another.

    Attributes:
        family: the games.
        vector: [D] where the solver is.
    """

    family: ParametricGame
    vector: FloatArray

    def average_payoff(self) -> float:
        """Returns the mean of a payoff's absolute value under the average policies."""

    def transfer(self, values: Values | FloatArray, weight: Weight = PAYOFF) -> float:
        """Goes over to other parameters; returns the weight of all iterations so far, as if they were so many fewer.

        Args:
            values: the parameters.
            weight: "payoff" (Eq. 4.52, with the average payoff), "potential" (that of the old regrets over that of the
                new ones), "unscaled", or a number above 0 and at most 1.

        Raises:
            SolveError: no such weight.
        """


class ParametricCFR(CFR):
    """CFR by any rule that matches regrets, with derivatives of its regrets."""

    def __init__(
        self,
        family: ParametricGame,
        values: Values | FloatArray,
        rule: RegretRule = CFR_RULE,
        *,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        if rule.minimiser == HEDGE:
            raise SolveError("regret transfer is for regret matching: Hedge has no bound that it keeps")
        self.family, self.vector = family, family.vector(values)
        self._tree: PublicTree | None = None
        super().__init__(family.tree(self.vector), rule, dtype=dtype)
        sizes, count = self._engine.layout.vector_size, len(self.vector)
        kept = [size if rule.optimistic else 0 for size in sizes]
        self._derivatives = (np.zeros((count, sizes[0]), self.dtype), np.zeros((count, sizes[1]), self.dtype))
        self._instants = (np.zeros((count, kept[0]), self.dtype), np.zeros((count, kept[1]), self.dtype))

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        update, first = self._update, self.iteration + 1
        self._engine.iterate_with_derivatives(
            update.memory, self.rule.schedule(first, iterations), first, minimiser=self.rule.minimiser,
            alternating=self.rule.alternating, slopes=self.family.slopes, derivatives=self._derivatives,
            instants=self._instants,
        )  # fmt: skip
        self.iteration = update.iteration = self.iteration + iterations

    def update(self, player: int) -> None:
        """Is not there: half an iteration has no derivatives."""
        raise SolveError("a solver with parameters runs whole iterations")

    @property
    def tree(self) -> PublicTree:
        """The tree of the game at the parameters, built when it is asked for."""
        if self._tree is None:
            self._tree = self.family.tree(self.vector)
        return self._tree

    @tree.setter
    def tree(self, tree: PublicTree) -> None:
        self._tree = tree

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy."""
        return sum(self._root_value(player, np.zeros(0, self.dtype), best=True) for player in (0, 1))

    def value(self) -> float:
        """Returns what player 0 wins under the average policies."""
        return self._root_value(0, self._update.average()[0], best=False)

    def gradient(self) -> FloatArray:
        """Returns [D]: how that changes with the parameters while policies stay.

        At an equilibrium that is the gradient of the value of the game, since neither player gains by changing its
        policy; where equilibria are several, one of its supergradients.
        """
        slopes = []
        for slope in self.family.slopes:
            self._engine.set_stakes(slope)
            slopes.append(self.value())
        self._engine.set_stakes(self.family.stakes(self.vector))
        return np.array(slopes)

    def _root_value(self, player: int, policy: Vector, *, best: bool) -> float:
        values = self._engine.values(player, self._update.average_reach(1 - player), policy, best=best)
        return float(values[: self._engine.layout.sides[player].hands[0]].astype(np.float64).sum())

    def propose(self, values: Values | FloatArray, weight: Weight = PAYOFF) -> float:
        """Returns the weight that `transfer` would give to all iterations so far."""
        change, regrets, unpad = self._change(values), self._regrets_at(values), self._engine.layout.unpad
        old = tuple(unpad(player, self._update.memory[player].regret) for player in (0, 1))
        new = tuple(unpad(player, regrets[player]) for player in (0, 1))
        return _choose(weight, self, change, old, new)

    def _change(self, values: Values | FloatArray) -> FloatArray:
        change: FloatArray = (self.family.vector(values) - self.vector).astype(self.dtype)
        return change

    def _regrets_at(self, values: Values | FloatArray) -> tuple[Vector, Vector]:
        change, memory = self._change(values), self._update.memory
        first, second = (memory[player].regret + change @ self._derivatives[player] for player in (0, 1))
        return first, second

    def transfer(self, values: Values | FloatArray, weight: Weight = PAYOFF) -> float:
        """Goes over to other parameters; see `ParametricSolver`."""
        change, regrets, chosen = self._change(values), self._regrets_at(values), self.propose(values, weight)
        if not change.any() and chosen == 1.0:
            return chosen
        self.vector, self._tree = self.family.vector(values), None
        self._engine.set_stakes(self.family.stakes(self.vector))
        memory = self._update.memory
        first, second = (
            own.instant + change @ slopes if len(own.instant) else own.instant
            for own, slopes in zip(memory, self._instants, strict=True)
        )
        self._update.carry_over(regrets, (first, second), chosen)
        for own, slopes in zip(memory, self._derivatives, strict=True):
            slopes *= chosen
            if self.rule.floor:
                slopes[:, own.regret <= 0.0] = 0.0
        self.iteration = self._update.iteration
        return chosen

    def average_payoff(self) -> float:
        """Returns the mean of a payoff's absolute value under the average policies."""
        reach = (self._update.average_reach(0), self._update.average_reach(1))
        return _average_payoff(self._engine, self.family.stakes(self.vector), reach)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything that another solver of the same family and rule needs to go on from here."""
        return super().state() | self._kept()

    def _kept(self) -> dict[str, npt.NDArray[Any]]:
        """Returns what CFR without parameters has not."""
        pairs = {"derivatives": self._derivatives, "instants": self._instants}
        return {"parameters": self.vector} | {f"{name}{p}": pair[p] for name, pair in pairs.items() for p in (0, 1)}

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver of the same family and rule, at its parameters."""
        super().restore(iteration, state)
        restore_vectors(self._kept(), state)
        self._tree = None
        self._engine.set_stakes(self.family.stakes(self.vector))


class ParametricMCCFR(MCCFR):
    """Sampled CFR with derivatives of its regrets: every traversal is repeated for each parameter."""

    def __init__(
        self,
        family: ParametricGame,
        values: Values | FloatArray,
        rule: SamplingRule | None = None,
        *,
        seed: int = 0,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        rule = rule or SamplingRule()
        if rule.discount != NO_DISCOUNT or rule.gamma:
            raise SolveError("regret transfer of sampled CFR is for runs without discounts and weights")
        self.family, self.vector = family, family.vector(values)
        super().__init__(family.tree(self.vector), rule, seed=seed, dtype=dtype)
        self._engine.follow(family.slopes)

    def transfer(self, values: Values | FloatArray, weight: Weight = PAYOFF) -> float:
        """Goes over to other parameters; see `ParametricSolver`. The number of iterations run is kept."""
        vector, engine = self.family.vector(values), self._engine
        change = vector - self.vector
        regret = engine.regret + change @ engine.derivatives
        chosen = _choose(
            weight, self, change, tuple(engine.regret[offsets] for offsets in engine.rows.offsets),
            tuple(regret[offsets] for offsets in engine.rows.offsets),
        )  # fmt: skip
        if change.any() or chosen != 1.0:
            engine.set_stakes(self.family.stakes(vector))
            engine.regret[:] = chosen * (np.maximum(regret, 0.0) if self.rule.floor else regret)
            engine.policy_sum *= chosen
            engine.derivatives *= chosen
            if self.rule.floor:
                engine.derivatives[:, engine.regret <= 0.0] = 0.0
            self.vector, self.tree = vector, self.family.tree(vector)
        return chosen

    def average_payoff(self) -> float:
        """Returns the mean of a payoff's absolute value under the average policies."""
        return average_payoff(self.average_policy())

    def average_policy(self) -> Policy:
        """Returns the average policy, which is what converges; uniform where the sampling has never been."""
        return Policy(self.tree, super().average_policy().probabilities)

    def current_policy(self) -> Policy:
        """Returns the policy of the coming iteration."""
        return Policy(self.tree, super().current_policy().probabilities)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything that another solver of the same family and rule needs to go on from here."""
        return super().state() | {"parameters": self.vector, "derivatives": self._engine.derivatives}

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver of the same family and rule, at its parameters."""
        super().restore(iteration, state)
        self.tree = self.family.tree(self.vector)
        self._engine.set_stakes(self.tree.stake)


def _choose(
    weight: Weight,
    solver: ParametricSolver,
    change: FloatArray,
    old: tuple[FloatArray, ...],
    new: tuple[FloatArray, ...],
) -> float:
    """Returns the weight of the iterations so far when regrets (per player, in the tree's order) go from old to new.

    Raises:
        SolveError: no such weight.
    """
    if not isinstance(weight, str):
        if not 0.0 < weight <= 1.0:
            raise SolveError(f"a weight is above 0 and at most 1, or one of {', '.join(WEIGHTS)}, not {weight}")
        return float(weight)
    check_known(weight, WEIGHTS, "weight")
    if weight == UNSCALED or not change.any() or not solver.iteration:
        return 1.0
    if weight == POTENTIAL:
        return min(potential_weight(before, after) for before, after in zip(old, new, strict=True))
    payoff = solver.average_payoff()
    actions = [_entry_actions(solver.family.shape, player) for player in (0, 1)]
    return min(
        payoff_weight(after - before, count, solver.iteration, payoff)
        for before, after, count in zip(old, new, actions, strict=True)
    )


def parse_weight(text: str) -> Weight:
    """Returns a weight as it is typed: one of `WEIGHTS`, or a number up to 1.

    Raises:
        SolveError: it is neither.
    """
    if text in WEIGHTS:
        return text
    try:
        weight = parse_real(text, "weight", least=0.0, most=1.0)
    except AleatorError:
        weight = 0.0
    if not weight:
        raise SolveError(f"a weight is above 0 and at most 1, or one of {', '.join(WEIGHTS)}, not {shown(text)}")
    return weight


def payoff_weight(growth: FloatArray, actions: FloatArray, iterations: int, payoff: float) -> float:
    """Returns the smallest weight of Eq. 4.52 over all entries.

    Args:
        growth: by how much each regret grows, over all iterations.
        actions: how many actions there are where each regret is.
        iterations: T.
        payoff: in place of the largest payoff.
    """
    share = np.maximum(growth, 0.0) / iterations / payoff
    weights = 1.0 / (1.0 + 2.0 * share * np.sqrt(actions * iterations) + share**2 * iterations)
    return float(weights.min(initial=1.0))


def potential_weight(old: FloatArray, new: FloatArray) -> float:
    """Returns the potential (positive regrets squared, summed) of the old regrets over that of the new; at most 1."""
    before, after = (float((np.maximum(regret, 0.0) ** 2).sum()) for regret in (old, new))
    return before / after if after > before else 1.0


def _entry_actions(tree: PublicTree, player: int) -> FloatArray:
    """Returns [policy]: how many actions there are at the decision of each entry of a player's policy."""
    own = tree.decisions(player)
    actions = tree.num_actions[own].astype(np.float64)
    return np.repeat(actions, tree.num_actions[own] * tree.num_hands[player, own])


def average_payoff(policy: Policy) -> float:
    """Returns the mean of a payoff's absolute value when both follow the policy."""
    engine, reach = shared_engine(policy.tree), []
    for player in (0, 1):
        reach.append(engine.layout.new_reach(player))
        engine.push_reach(player, engine.layout.pad(player, policy.probabilities[player]), reach[player])
    return _average_payoff(engine, policy.tree.stake, (reach[0], reach[1]))


def _average_payoff(engine: CpuEngine, stakes: FloatArray, reach: tuple[Vector, Vector]) -> float:
    """Returns the mean of |u| at stakes [N], given both players' reach."""
    tree = engine.tree
    ends = np.flatnonzero(tree.payoff_group >= 0)
    rows = NodeRows(engine.layout, ends)
    both = zip(ends, rows.reach(0, reach[0]), rows.reach(1, reach[1]), strict=True)
    total = 0.0
    for node, first, second in both:
        payoffs = abs(tree.payoffs[tree.payoff_group[node]])
        total += abs(stakes[node]) * float(first[: payoffs.shape[0]] @ (payoffs @ second[: payoffs.shape[1]]))
    return total


class ParametricProblem(TreeProblem):
    """A member of a family, solved with derivatives, from the beginning or from another member's solution."""

    def __init__(
        self, family: ParametricGame, values: Values, *, source: Solution | None = None, weight: Weight = PAYOFF
    ) -> None:
        """Returns the problem.

        Args:
            family, values: what is solved.
            source: the solution of another member by such a problem.
            weight: of its iterations; see `ParametricSolver.transfer`.
        """
        self.family, self.vector = family, family.vector(values)
        super().__init__(family.tree(self.vector))
        self._source, self._weight = source, weight
        self.weight: float | None = None

    def make_solver(self, algorithm: str, *, dtype: str, threads: int, seed: int) -> ParametricSolver:
        """Returns a solver at its beginning, or with what it was given."""
        rule = find_algorithm(algorithm).rule
        solver: ParametricSolver
        if isinstance(rule, RegretRule):
            solver = ParametricCFR(self.family, self.vector, rule, dtype=dtype)
        elif isinstance(rule, SamplingRule):
            solver = ParametricMCCFR(self.family, self.vector, rule, seed=seed, dtype=dtype)
        else:
            raise SolveError(f"regret transfer is for algorithms of the families of CFR and MCCFR, not for {algorithm}")
        if self._source is not None:
            self._check_source(self._source, algorithm, dtype)
            try:
                solver.restore(self._source.summary.iterations, self._source.state)
            except ValueError as error:
                raise SolutionError(f"its regrets cannot be transferred: {error}") from error
            self.weight = solver.transfer(self.vector, self._weight)
        return solver

    def _check_source(self, source: Solution, algorithm: str, dtype: str) -> None:
        made = source.summary
        if not isinstance(source, TreeSolution) or "parameters" not in source.state:
            raise SolutionError(
                f"the solution of {made.game} has no derivatives of its regrets: solve it with --parameter, too"
            )
        if (made.algorithm, made.dtype) != (algorithm, dtype):
            raise SolutionError(
                f"the regrets to transfer were made by {made.algorithm} in {made.dtype}, not by {algorithm} in {dtype}"
            )
