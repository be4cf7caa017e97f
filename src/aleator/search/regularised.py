"""The regularised leaf value: solves, below every leaf, the game in which mixing is worth a little.

Algorithm:
    A game below a leaf has, as a rule, many solutions, and which one an exact oracle finds jumps with beliefs. With a
        bonus of strength x sum over infostates of c(I) x reach(I) x entropy(policy at I)
    for either player there is only one, and it is continuous in beliefs: a player's reach weighs its own bonus, so that
    a hand's policy does not depend on how often it is held. c(I) is how often an opponent who plays uniformly, and
    chance, lead there: with it the bonus is at most strength x log(actions) per decision on the way through the game,
    however large that is. Magnetic mirror descent finds it. At an infostate, with cfvs q(a) that include the bonus
    below, and w = strength x c,
        z(a) <- (z(a) + step x q(a)) / (1 + step x w),    policy(a) proportional to exp(z(a)),
    until no player gains more than the precision, bonus included. Values are those of best responses to the policies
    found, as in the exact oracle; NashConv at a leaf is at most `RegularisedValue.bound`, which is proportional to the
    strength.

Reference:
    Magnetic mirror descent: Sokota et al. 2023 (arXiv 2206.05825), with the uniform policy for the magnet. Weighted
    (dilated) entropy: Hoda, Gilpin, Pena, Sandholm 2010. As a leaf value: ours, for methods that compare a leaf's
    values at nearly equal beliefs (modified CFR-AVE, ReBeL App. E).

Deviations:
    Players step in turn, each infostate by itself. The step is halved when a look finds that the gain has hardly
    fallen.

Status: tests/search/test_regularised.py; `aleator paper rebel-fig5`.
"""

from __future__ import annotations

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.search.solved_value import LeafSolver, SolvedValue
from aleator.solvers.engines.cpu.layout import Vector
from aleator.solvers.engines.cpu.magnetic import BEST, VALUE, descend, pull_with_entropy
from aleator.trees.subgame import Subgame

_LOOK, _MOST_ITERATIONS = 8, 200_000
_FIRST_STEP = 0.5  # per unit of 1 / strength
# the step is multiplied by the first where the gain has fallen between two looks, else by the second
_LONGER, _SHORTER = 1.25, 0.5


class RegularisedValue(SolvedValue):
    """Values of the solution with a bonus for mixing.

    Attributes:
        strength: of the bonus, in payoff units: what it is worth to choose evenly among e actions where one is sure to
            come.
        precision: the largest sum of both players' gains, bonus included, per unit of the average pair of hands'
            probability.
    """

    def __init__(self, strength: float, precision: float | None = None) -> None:
        """Prepares; the precision is a tenth of the strength unless given."""
        self.strength, self.precision = strength, strength / 10 if precision is None else precision
        if not strength > 0.0 or not self.precision > 0.0:
            raise SolveError(f"strength and precision must be positive, not {strength} and {self.precision}")
        super().__init__()

    def new_solver(self, subgame: Subgame) -> LeafSolver:
        """Returns mirror descent on everything below the leaves of a subgame."""
        return _LeafDescent(subgame, self.strength, self.precision)

    def bound(self, subgame: Subgame) -> FloatArray:
        """Returns [L]: the largest NashConv that the exact regularised solution can have, in the unit of `precision`.

        It is what both players' bonuses can differ by.
        """
        solver = _LeafDescent(subgame, self.strength, self.precision)
        bound: FloatArray = solver.largest_bonus() / solver.unit
        return bound


class _LeafDescent(LeafSolver):
    """Magnetic mirror descent on everything below the leaves of one subgame.

    Attributes:
        unit: [L] the mean probability of a pair of hands.
    """

    def __init__(self, subgame: Subgame, strength: float, precision: float) -> None:
        super().__init__(subgame)
        self.unit = np.array([deal.marginal(0).mean() / deal.shape[1] for deal in self.deals])
        layout = self.forest.engine.layout
        self._weights = self._weigh(0, strength), self._weigh(1, strength)
        self._memory = layout.memory(0), layout.memory(1)
        self._precision = precision
        self._step = _FIRST_STEP / (strength * self.unit.max(initial=0.0)) if len(self.unit) else 1.0
        self._least_step = self._find_least_step()
        for player, own in enumerate(self._memory):
            self.forest.engine.match_regrets(player, own.regret, own.policy)
        self.policies = self._memory[0].policy, self._memory[1].policy

    def _weigh(self, player: int, strength: float) -> Vector:
        """Returns strength x c(I) for all infostates of a player, in the engine's order."""
        tree, layout = self.forest.tree, self.forest.engine.layout
        side, leaves = layout.sides[player], len(self.unit)
        led = np.zeros(tree.num_nodes)
        led[1 : leaves + 1] = strength * self.unit
        for node in range(leaves + 1, tree.num_nodes):
            parent = tree.parent[node]
            ways = tree.num_actions[parent] if tree.actor[parent] >= 0 else tree.num_children[parent]
            led[node] = led[parent] / (1 if tree.actor[parent] == player else ways)
        weights = np.ones(layout.infostate_size[player])
        for node in tree.decisions(player):
            at = side.infostate_at[node]
            weights[at : at + side.width[node]] = led[node]
        return weights

    def _find_least_step(self) -> float:
        """Returns the step that moves a logit by 1 where a hand has most to win, were the opponent sure to go there."""
        engine, most = self.forest.engine, 0.0
        for player in (0, 1):
            sure = np.ones_like(self._memory[1 - player].reach) / max(self.forest.rows.hands[1 - player], 1)
            most = max(most, float(np.abs(engine.evaluate(player, sure)).max()))
        return 1.0 / most if most else 1.0

    def find(self) -> int:
        """Solves all leaves at `beliefs`; returns the iterations that it took."""
        engine = self.forest.engine
        layout = engine.layout
        for player, own in enumerate(self._memory):
            self.forest.rows.put_reach(player, self.beliefs[player], own.reach)
            engine.push_reach(player, own.policy, own.reach)
        done, last, step, scratch = 0, np.inf, self._step, np.zeros(layout.scratch_size)
        while done < _MOST_ITERATIONS:
            descend(engine.whole, layout.structure, layout.sides, self._memory, self._weights, scratch, _LOOK, step)
            done += _LOOK
            gain = float((self._gain() / self.unit).max(initial=0.0))
            if gain <= self._precision:
                return done
            step = step * _LONGER if gain < last else max(step * _SHORTER, self._least_step)
            last = gain
        raise SolveError(f"no regularised solution to a precision of {self._precision} in {done:,} iterations")

    def _gain(self) -> FloatArray:
        """Returns [L]: what both players would gain together, bonus included."""
        best, now = (self._pull(kind) for kind in (BEST, VALUE))
        gain: FloatArray = sum(((best[p] - now[p]) * self.beliefs[p]).sum(axis=1) for p in (0, 1))
        return gain

    def _pull(self, kind: int) -> list[FloatArray]:
        """Returns [L, H0], [L, H1]: both players' cfvs with the bonus at the leaves."""
        engine, rows = self.forest.engine, []
        layout, scratch = engine.layout, np.zeros(engine.layout.scratch_size)
        for player, own in enumerate(self._memory):
            values = engine.evaluate(player, self._memory[1 - player].reach)
            side, weights = layout.sides[player], self._weights[player]
            pull_with_entropy(engine.whole.inner, layout.structure, side, own, weights, scratch, kind, 0.0)
            rows.append(self.forest.rows.values(player, values))
        return rows

    def largest_bonus(self) -> FloatArray:
        """Returns [L]: the sum of what both players' bonuses can be at most, over all beliefs."""
        for own in self._memory:
            own.reach[:] = 0.0  # nobody is there: nothing but the bonus is worth anything
        first, second = self._pull(BEST)
        bonus: FloatArray = first.max(axis=1) + second.max(axis=1)
        return bonus
