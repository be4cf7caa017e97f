"""How a depth-limited solver updates its policies between two looks at the leaves: by regrets, by best responses, by minimax.

An update is told when an iteration begins, says what a traverser expects of both players (for beliefs at the leaves and reach at
the terminals), pulls cfvs up once terminals and leaves are written, and then lets the player move on to its new policy.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.solvers.engines.cpu.layout import Memory, Vector
from aleator.solvers.engines.cpu.rows import Rows
from aleator.solvers.fictitious_play import FictitiousRule
from aleator.solvers.minimax import pull_minimax
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.trees.beliefs import Reach

_PLANNED = 64
Vectors = tuple[Vector, Vector]


class Update(Protocol):
    """One way of updating; vectors are in the engine's order.

    Attributes:
        alternating: the second player is updated against the first one's new policy.
        share: the weight of this iteration in the average over all iterations so far.
    """

    alternating: bool
    share: float

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


class CFRUpdate:
    """Regrets and a rule of the CFR family."""

    def __init__(self, engine: CpuEngine, rule: RegretRule, root_reach: Reach) -> None:
        self.alternating, self.share = rule.alternating, 1.0
        self.rule = rule
        self._engine = engine
        self._iteration = self._pretended = 0
        self._weight = 0.0
        self._discounts: FloatArray = np.zeros(5)
        self._planned: FloatArray = np.zeros((0, 5))  # discounts of the coming iterations
        first, second = (
            engine.layout.memory(
                player, optimistic=rule.optimistic, hedge=rule.minimiser == HEDGE, root_reach=root_reach[player]
            )
            for player in (0, 1)
        )
        self.memory: tuple[Memory, Memory] = (first, second)
        for player, own in enumerate(self.memory):
            engine.match_regrets(player, own.regret, own.policy)
            engine.push_reach(player, own.policy, own.reach)

    def begin(self, iteration: int) -> None:
        """Looks up the iteration's discounts."""
        self._iteration = iteration
        if not len(self._planned):
            self._planned = self.rule.schedule(iteration, _PLANNED)
        self._discounts, self._planned = self._planned[0], self._planned[1:]
        self._weight = self._weight * self._discounts[2] + 1.0
        self.share = 1.0 / self._weight

    def run(self, iterations: int, root_means: Reach) -> None:
        """Runs whole iterations where there are no leaves; adds their cfvs at the root to the means so far."""
        schedule = self.rule.schedule(self._iteration + 1, iterations)
        self._engine.iterate(
            self.memory,
            schedule,
            self._iteration + 1,
            minimiser=self.rule.minimiser,
            alternating=self.alternating,
            root_means=root_means,
            weight=self._weight,
        )
        self._iteration, self._planned = self._iteration + iterations, self._planned[:0]
        for decay in schedule[:, 2]:
            self._weight = self._weight * decay + 1.0

    def expected(self, player: int) -> Vectors:
        """Returns the reach of the current policies."""
        return self.memory[0].reach, self.memory[1].reach

    def traverse(self, player: int) -> None:
        """Updates regrets, sums of policies and the next policy."""
        self._engine.update(
            player, self.memory[player], self._discounts, self._iteration, minimiser=self.rule.minimiser
        )

    def move(self, player: int) -> None:
        """Pushes reach under the new policy."""
        self._engine.push_reach(player, self.memory[player].policy, self.memory[player].reach)

    def current(self) -> Vectors:
        """Returns the policies of the coming iteration."""
        return self.memory[0].policy, self.memory[1].policy

    def average(self) -> Vectors:
        """Returns the average policies."""
        found = []
        for player, own in enumerate(self.memory):
            policy = np.empty_like(own.policy)
            self._engine.match_regrets(player, own.policy_sum, policy)
            found.append(policy)
        return found[0], found[1]

    def weights(self) -> dict[int, float]:
        """Returns the weight of each iteration in the average policy; those that a warm start pretends share the last number."""
        decays = self.rule.schedule(1, self._iteration)[:, 2]
        weights = np.concatenate([np.cumprod(decays[:0:-1])[::-1], [1.0]])
        shares = (weights / weights.sum()).tolist()
        found = dict(enumerate(shares[self._pretended :], start=self._pretended + 1))
        if self._pretended:
            found[self._pretended] = sum(shares[: self._pretended])
        return found

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
        self._iteration = self._pretended = iterations
        self._planned = self._planned[:0]
        self.play(policies)
        for player, own in enumerate(self.memory):
            own.regret[:] = regrets[player] * np.where(regrets[player] > 0.0, positive, negative)
            if self.rule.floor:
                np.maximum(own.regret, 0.0, out=own.regret)
            own.policy_sum[:] = self._weight * own.reach[: len(own.policy_sum)]


class FictitiousUpdate:
    """Best responses to what is expected of the opponent, mixed into an average that begins with the uniform policy."""

    def __init__(self, engine: CpuEngine, rule: FictitiousRule, root_reach: Reach) -> None:
        self.alternating, self.share = rule.alternating, 1.0
        self._engine, self._rule = engine, rule
        self._iteration = 0
        layout = engine.layout
        self._response = [np.zeros(size, layout.dtype) for size in layout.vector_size]
        self._last = [layout.new_reach(player, root_reach[player]) for player in (0, 1)]
        for player in (0, 1):
            engine.match_regrets(player, np.zeros_like(self._response[player]), self._response[player])
            engine.push_reach(player, self._response[player], self._last[player])
        self._mean = [reach.copy() for reach in self._last]

    def begin(self, iteration: int) -> None:
        """Notes the iteration, and its share among the iterations from 1 on (the uniform policy left out)."""
        self._iteration = iteration
        self.share = 2.0 * (iteration + 1) / (iteration * (iteration + 3)) if self._rule.linear else 1.0 / iteration

    def expected(self, player: int) -> Vectors:
        """Returns the reach of the average policies; an optimist's view of the opponent leans to the last response."""
        views = [self._mean[0], self._mean[1]]
        if self._rule.optimistic:
            last = 2.0 / (self._iteration + 2.0)
            views[1 - player] = (1.0 - last) * self._mean[1 - player] + last * self._last[1 - player]
        return views[0], views[1]

    def traverse(self, player: int) -> None:
        """Finds the best response."""
        self._engine.pull(player, self._response[player], best=True)

    def move(self, player: int) -> None:
        """Mixes the response into the average."""
        weight = self._rule.weight(self._iteration)
        self._engine.push_reach(player, self._response[player], self._last[player])
        self._mean[player] += weight * (self._last[player] - self._mean[player])

    def current(self) -> Vectors:
        """Returns the last best responses."""
        return self._response[0], self._response[1]

    def average(self) -> Vectors:
        """Returns the average policies."""
        found = []
        for player in (0, 1):
            policy = np.empty_like(self._response[player])
            self._engine.match_regrets(player, self._mean[player][: len(policy)], policy)
            found.append(policy)
        return found[0], found[1]

    def weights(self) -> dict[int, float]:
        """Returns the weight of each response in the average policy; number 0 is the uniform policy."""
        numbers = np.arange(self._iteration + 1.0)
        weights = numbers + 1.0 if self._rule.linear else np.ones_like(numbers)
        return dict(enumerate((weights / weights.sum()).tolist()))


class MinimaxUpdate:
    """The best actions of both players where each has one hand: found at the first iteration, the same at every other."""

    def __init__(self, engine: CpuEngine, root_reach: Reach) -> None:
        self.alternating, self.share = True, 1.0
        self._engine, layout = engine, engine.layout
        self._rows = Rows(layout, np.arange(layout.tree.num_nodes))
        self._policy = [np.zeros(size, layout.dtype) for size in layout.vector_size]
        # values depend on no belief: whatever a player does, it is expected everywhere
        self._reach = [layout.new_reach(player, root_reach[player]) for player in (0, 1)]
        for player in (0, 1):
            everything = np.ones_like(self._policy[player])
            engine.push_reach(player, everything, self._reach[player])
            engine.match_regrets(player, np.zeros_like(everything), self._policy[player])

    def begin(self, iteration: int) -> None:
        """Has nothing to do."""

    def expected(self, player: int) -> Vectors:
        """Returns the root's reach at every node."""
        return self._reach[0], self._reach[1]

    def traverse(self, player: int) -> None:
        """Finds the player's best actions, the other one answering with its own."""
        layout = self._engine.layout
        values = self._rows.values(player, layout.values)
        found = pull_minimax(layout.tree, player, values[:, 0])
        self._rows.put_values(player, values, layout.values)
        self._policy[player] = layout.pad(player, found)

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
