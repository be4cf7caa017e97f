"""How policies change from iteration to iteration on a public tree: by regrets, by best responses, by minimax.

What a solver of a whole tree, a search with values at its leaves and an oracle below leaves have in common is written
here once. Whoever walks the tree in steps, so that something can happen in between, tells an update when an iteration
begins, asks what a traverser expects of both players (for beliefs at the leaves and reach at the terminals), lets it
pull cfvs up once terminals and leaves are written, and then lets the player move on to its new policy. Without leaves
`run` does all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.solvers.engines.cpu.layout import Memory, Vector
from aleator.solvers.engines.cpu.rows import NodeRows
from aleator.solvers.fictitious_rule import FictitiousRule
from aleator.solvers.minimax import pull_minimax
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.solvers.state import restore_vectors
from aleator.trees.beliefs import Reach

_PLANNED = 64
_NO_MEAN: FloatArray = np.zeros(0)
Vectors = tuple[Vector, Vector]


class Update(Protocol):
    """One way of updating; vectors are in the engine's order.

    Attributes:
        alternating: the second player is updated against the first one's new policy.
        share: the weight of this iteration in the average over all iterations so far.
        iteration: the one that was begun last.
    """

    alternating: bool
    share: float
    iteration: int

    def begin(self, iteration: int) -> None:
        """Begins an iteration (from 1)."""

    def expected(self, player: int) -> Vectors:
        """Returns both players' reach as a traverser expects it."""

    def traverse(self, player: int) -> None:
        """Pulls up the traverser's cfvs from terminals and leaves and finds its new policy."""

    def move(self, player: int) -> None:
        """Lets a player go over to its new policy."""

    def current(self) -> Vectors:
        """Returns the policies of the coming iteration (CFR) or the last best responses."""

    def average(self) -> Vectors:
        """Returns the average policies."""

    def weights(self) -> dict[int, float]:
        """Returns the weight of each iteration in the average, by its number; they sum to 1."""


class WholeUpdate(Update, Protocol):
    """An update that a solver of a whole tree runs."""

    def run(self, iterations: int) -> None:
        """Runs whole iterations where there are no leaves."""

    def average_reach(self, player: int) -> Vector:
        """Returns a player's reach under its average policy."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything that another update of the same tree and rule needs to go on from here."""

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another update after so many iterations.

        Raises:
            ValueError: a vector is missing or has another shape or type.
        """


class CFRUpdate:
    """Regrets and a rule of the CFR family."""

    def __init__(self, engine: CpuEngine, rule: RegretRule, root_reach: Reach | None = None) -> None:
        self.alternating, self.share = rule.alternating, 1.0
        self.rule = rule
        self._engine = engine
        self._root = root_reach or (None, None)
        self.iteration = self._pretended = 0
        self._weight = 0.0
        self._discounts: FloatArray = np.zeros(5)
        self._planned: FloatArray = np.zeros((0, 5))  # discounts of the coming iterations
        first, second = (
            engine.layout.memory(
                player, optimistic=rule.optimistic, hedge=rule.minimiser == HEDGE, root_reach=self._root[player]
            )
            for player in (0, 1)
        )
        self.memory: tuple[Memory, Memory] = (first, second)
        for player, own in enumerate(self.memory):
            engine.match_regrets(player, own.regret, own.policy)
            engine.push_reach(player, own.policy, own.reach)

    def begin(self, iteration: int) -> None:
        """Looks up the iteration's discounts."""
        self.iteration = iteration
        if not len(self._planned):
            self._planned = self.rule.schedule(iteration, _PLANNED)
        self._discounts, self._planned = self._planned[0], self._planned[1:]
        self._weight = self._weight * self._discounts[2] + 1.0
        self.share = 1.0 / self._weight

    def run(self, iterations: int, root_means: Reach | None = None) -> None:
        """Runs whole iterations where there are no leaves; adds their cfvs [H] at the root to the means, if wanted."""
        schedule = self.rule.schedule(self.iteration + 1, iterations)
        self._weight = self._engine.iterate(
            self.memory,
            schedule,
            self.iteration + 1,
            minimiser=self.rule.minimiser,
            alternating=self.alternating,
            root_means=root_means or (_NO_MEAN, _NO_MEAN),
            weight=self._weight,
        )
        self.iteration, self._planned = self.iteration + iterations, self._planned[:0]

    def expected(self, player: int) -> Vectors:
        """Returns the reach of the current policies."""
        return self.memory[0].reach, self.memory[1].reach

    def traverse(self, player: int) -> None:
        """Updates regrets, sums of policies and the next policy."""
        self._engine.update(player, self.memory[player], self._discounts, self.iteration, minimiser=self.rule.minimiser)

    def move(self, player: int) -> None:
        """Pushes reach under the new policy."""
        self._engine.push_reach(player, self.memory[player].policy, self.memory[player].reach)

    def current(self) -> Vectors:
        """Returns the policies of the coming iteration."""
        return self.memory[0].policy, self.memory[1].policy

    def average(self) -> Vectors:
        """Returns the average policies."""
        return self._average(0), self._average(1)

    def _average(self, player: int) -> Vector:
        policy = np.empty_like(self.memory[player].policy)
        self._engine.match_regrets(player, self.memory[player].policy_sum, policy)
        return policy

    def average_reach(self, player: int) -> Vector:
        """Returns a player's reach under its average policy."""
        reach = self._engine.layout.new_reach(player, self._root[player])
        self._engine.push_reach(player, self._average(player), reach)
        return reach

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns regrets, policies and sums of policies, and what else the rule keeps."""
        names = ("regret", "policy", "policy_sum", "instant", "moments")
        return {f"{name}{player}": getattr(self.memory[player], name) for player in (0, 1) for name in names}

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another update of the same tree and rule."""
        restore_vectors(self.state(), state)
        self._go_on_after(iteration)
        for player in (0, 1):
            self.move(player)

    def restart(self, kept: float) -> None:
        """Begins anew at iteration 1 with a part of the regrets and no averages; reach is for the caller to push."""
        for own in self.memory:
            own.regret[:] *= kept
            own.policy_sum[:] = 0.0
            own.instant[:] = 0.0
        self._go_on_after(0)

    def _go_on_after(self, iteration: int) -> None:
        decays = self.rule.schedule(1, iteration)[:, 2] if iteration else np.zeros(0)
        self.iteration, self._planned = iteration, self._planned[:0]
        self._weight = float(1.0 + np.cumprod(decays[:0:-1]).sum()) if iteration else 0.0

    def carry_over(self, regrets: Vectors, instants: Vectors, weight: float) -> None:
        """Goes on with other regrets, as if all iterations so far had that weight, and were so many fewer.

        `instants` are the last iteration's, for rules that predict the next.
        """
        self._go_on_after(max(round(weight * self.iteration), 1) if self.iteration else 0)
        prediction = self.rule.schedule(max(self.iteration, 1), 1)[0, 4]
        for player, own in enumerate(self.memory):
            own.regret[:] = weight * regrets[player]
            if self.rule.floor:
                np.maximum(own.regret, 0.0, out=own.regret)
            own.policy_sum[:] *= weight
            own.instant[:] = instants[player]
            expected = own.regret * prediction + own.instant if self.rule.optimistic else own.regret
            self._engine.match_regrets(player, np.maximum(expected, 0.0) ** self.rule.power, own.policy)
            self.move(player)

    def weights(self) -> dict[int, float]:
        """Returns the weight of each iteration in the average policy; a warm start's share the last number."""
        decays = self.rule.schedule(1, self.iteration)[:, 2]
        weights = np.concatenate([np.cumprod(decays[:0:-1])[::-1], [1.0]])
        shares = (weights / weights.sum()).tolist()
        by_number = dict(enumerate(shares[self._pretended :], start=self._pretended + 1))
        if self._pretended:
            by_number[self._pretended] = sum(shares[: self._pretended])
        return by_number

    def play(self, policies: Vectors) -> None:
        """Goes over to given policies."""
        for player, own in enumerate(self.memory):
            own.policy[:] = policies[player]
            self.move(player)

    def regrets_of_best_response(self, player: int) -> Vector:
        """Returns v(I, a) - v(I) of a best response to what is played, once terminals and leaves are written."""
        engine, own = self._engine, self.memory[player]
        response = np.zeros_like(own.policy)
        engine.pull(player, response, best=True)
        regret = np.zeros_like(own.policy)
        plain = own._replace(regret=regret, policy=response, policy_sum=np.zeros_like(regret), instant=regret[:0])
        engine.update(player, plain, np.array([1.0, 1.0, 1.0, -np.inf, 1.0]), 1)
        return regret

    def pretend(self, policies: Vectors, regrets: Vectors, iterations: int) -> None:
        """Goes on as if `policies` had been played for some iterations, each with the same instant `regrets`."""
        positive, negative, self._weight = self.rule.equal_weights(iterations)
        self.iteration = self._pretended = iterations
        self._planned = self._planned[:0]
        self.play(policies)
        for player, own in enumerate(self.memory):
            own.regret[:] = regrets[player] * np.where(regrets[player] > 0.0, positive, negative)
            if self.rule.floor:
                np.maximum(own.regret, 0.0, out=own.regret)
            own.policy_sum[:] = self._weight * own.reach[: len(own.policy_sum)]


class FictitiousUpdate:
    """Best responses to what is expected of the opponent, mixed into an average that begins with the uniform policy."""

    def __init__(self, engine: CpuEngine, rule: FictitiousRule, root_reach: Reach | None = None) -> None:
        self.alternating, self.share = rule.alternating, 1.0
        self._engine, self._rule = engine, rule
        self.iteration = 0
        layout = engine.layout
        self._response = [np.zeros(size, layout.dtype) for size in layout.vector_size]
        self._last = [layout.new_reach(player, (root_reach or (None, None))[player]) for player in (0, 1)]
        for player in (0, 1):
            engine.match_regrets(player, np.zeros_like(self._response[player]), self._response[player])
            engine.push_reach(player, self._response[player], self._last[player])
        self._mean = [reach.copy() for reach in self._last]

    def begin(self, iteration: int) -> None:
        """Notes the iteration, and its share among the iterations from 1 on (the uniform policy left out)."""
        self.iteration = iteration
        self.share = 2.0 * (iteration + 1) / (iteration * (iteration + 3)) if self._rule.linear else 1.0 / iteration

    def run(self, iterations: int) -> None:
        """Runs whole iterations where there are no leaves."""
        for iteration in range(self.iteration + 1, self.iteration + 1 + iterations):
            self.begin(iteration)
            for player in (0, 1):
                expected = self.expected(player)[1 - player]
                self._engine.values(player, expected, self._response[player], best=True)
                if self.alternating:
                    self.move(player)
            if not self.alternating:
                for player in (0, 1):
                    self.move(player)

    def average_reach(self, player: int) -> Vector:
        """Returns a player's reach under its average policy."""
        return self._mean[player]

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the reach of the averages and of the last responses, and these."""
        vectors = {"average": self._mean, "last": self._last, "response": self._response}
        return {f"{name}{player}": pair[player] for name, pair in vectors.items() for player in (0, 1)}

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another update of the same tree and rule."""
        restore_vectors(self.state(), state)
        self.iteration = iteration

    def expected(self, player: int) -> Vectors:
        """Returns the reach of the average policies; an optimist's view of the opponent leans to the last response."""
        views = [self._mean[0], self._mean[1]]
        if self._rule.optimistic:
            last = 2.0 / (self.iteration + 2.0)
            other = (1.0 - last) * self._mean[1 - player] + last * self._last[1 - player]
            views[1 - player] = other.astype(self._engine.layout.dtype, copy=False)
        return views[0], views[1]

    def traverse(self, player: int) -> None:
        """Finds the best response."""
        self._engine.pull(player, self._response[player], best=True)

    def move(self, player: int) -> None:
        """Mixes the response into the average."""
        weight = self._engine.layout.dtype.type(self._rule.weight(self.iteration))
        self._engine.push_reach(player, self._response[player], self._last[player])
        self._mean[player] += weight * (self._last[player] - self._mean[player])

    def current(self) -> Vectors:
        """Returns the last best responses."""
        return self._response[0], self._response[1]

    def average(self) -> Vectors:
        """Returns the average policies."""
        policies = []
        for player in (0, 1):
            policy = np.empty_like(self._response[player])
            self._engine.match_regrets(player, self._mean[player][: len(policy)], policy)
            policies.append(policy)
        return policies[0], policies[1]

    def weights(self) -> dict[int, float]:
        """Returns the weight of each response in the average policy; number 0 is the uniform policy."""
        numbers = np.arange(self.iteration + 1.0)
        weights = numbers + 1.0 if self._rule.linear else np.ones_like(numbers)
        return dict(enumerate((weights / weights.sum()).tolist()))


class MinimaxUpdate:
    """The best actions of both players where each has one hand: found at the first iteration, then the same."""

    def __init__(self, engine: CpuEngine, root_reach: Reach) -> None:
        self.alternating, self.share, self.iteration = True, 1.0, 0
        self._engine, layout = engine, engine.layout
        self._rows = NodeRows(layout, np.arange(layout.tree.num_nodes))
        self._policy = [np.zeros(size, layout.dtype) for size in layout.vector_size]
        # values depend on no belief: whatever a player does, it is expected everywhere
        self._reach = [layout.new_reach(player, root_reach[player]) for player in (0, 1)]
        for player in (0, 1):
            everything = np.ones_like(self._policy[player])
            engine.push_reach(player, everything, self._reach[player])
            engine.match_regrets(player, np.zeros_like(everything), self._policy[player])

    def begin(self, iteration: int) -> None:
        """Notes the iteration."""
        self.iteration = iteration

    def expected(self, player: int) -> Vectors:
        """Returns the root's reach at every node."""
        return self._reach[0], self._reach[1]

    def traverse(self, player: int) -> None:
        """Finds the player's best actions, the other one answering with its own."""
        layout = self._engine.layout
        values = self._rows.values(player, layout.values)
        actions = pull_minimax(layout.tree, player, values[:, 0])
        self._rows.put_values(player, values, layout.values)
        self._policy[player] = layout.pad(player, actions)

    def move(self, player: int) -> None:
        """Has nothing to do."""

    def current(self) -> Vectors:
        """Returns the best actions."""
        return self._policy[0], self._policy[1]

    def average(self) -> Vectors:
        """Returns the best actions."""
        return self.current()

    def weights(self) -> dict[int, float]:
        """Returns all weight on the first iteration."""
        return {1: 1.0}
