"""A rough leaf value: so many iterations of CFR with Hedge below every leaf, begun anew for every question.

Algorithm:
    An exact solution jumps where another policy becomes the best. What a fixed number of iterations from nothing finds mixes
    more, and changes more gradually with beliefs, the fewer they are; in that it is like a network.

Reference: none; made to tell apart what is due to exact values and what is due to a search method (`aleator paper rebel-fig5`).
Deviations: none.
Status: tests/search/test_leaf_value.py.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from aleator.errors import SolveError
from aleator.search.leaf_value import LeafForest, believed
from aleator.solvers.regret_rule import NAMED_RULES
from aleator.trees.beliefs import Reach
from aleator.trees.subgame import Subgame


class RoughValue:
    """Values of both players' average policies after `iterations` of CFR with Hedge and simultaneous updates."""

    def __init__(self, iterations: int) -> None:
        if iterations < 1:
            raise SolveError(f"a rough value needs at least 1 iteration, not {iterations}")
        self._schedule = NAMED_RULES["hedge"].schedule(1, iterations)
        self._forests: WeakKeyDictionary[Subgame, LeafForest] = WeakKeyDictionary()

    def cfvs(self, subgame: Subgame, reach: Reach, player: int | None = None) -> Reach:
        """Returns the values at the beliefs that `reach` means; see `LeafValue.cfvs`."""
        if subgame not in self._forests:
            self._forests[subgame] = LeafForest(subgame)
        forest = self._forests[subgame]
        engine = forest.engine
        beliefs = (believed(reach[0], subgame.leaf_mask(0)), believed(reach[1], subgame.leaf_mask(1)))
        memory = engine.layout.memory(0, hedge=True), engine.layout.memory(1, hedge=True)
        for own, (who, rows) in zip(memory, enumerate(beliefs), strict=True):
            engine.match_regrets(who, own.regret, own.policy)
            forest.rows.put_reach(who, rows, own.reach)
            engine.push_reach(who, own.policy, own.reach)
        engine.iterate(memory, self._schedule, 1, hedge=True, alternating=False)
        policies = np.empty_like(memory[0].policy), np.empty_like(memory[1].policy)
        for who, own in enumerate(memory):
            engine.match_regrets(who, own.policy_sum, policies[who])
        first, second = forest.cfvs(beliefs, policies)
        return first * reach[1].sum(axis=1, keepdims=True), second * reach[0].sum(axis=1, keepdims=True)
