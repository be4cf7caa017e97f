"""Iterations of CFR with pruning: walk, update, settle what begins and ends to be pruned."""

from __future__ import annotations

from aleator.games.base import FloatArray
from aleator.jit import kernel
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.best_response_pruning import settle_whole
from aleator.solvers.engines.by_hand.layout import HandSide, Shape
from aleator.solvers.engines.by_hand.memory import HandMemory, Terms, Work
from aleator.solvers.engines.by_hand.regret_based_pruning import settle
from aleator.solvers.engines.by_hand.walk import ascend, descend


@kernel()
def iterate(
    shape: Shape, sides: tuple[HandSide, HandSide], memory: tuple[HandMemory, HandMemory], work: Work, terms: Terms,
    weights: FloatArray, alternating: bool,
) -> None:  # fmt: skip
    """Runs one iteration per row of `weights`, the first of them number `terms.iteration`.

    A row has the weight in the average policy, the weight of regrets, and the sum of the latter so far; the last two
    take the place of those in `terms`. With alternating updates the second player is updated against the first's new
    policy.
    """
    for k in range(len(weights)):
        now = Terms(
            terms.iteration + k, weights[k, 1], weights[k, 2], terms.discounts, terms.log_discounts, terms.discounting,
            terms.floor, terms.hedge, terms.threshold, terms.best_response, terms.greedy, terms.prune, terms.whole,
            terms.discard, terms.least_skip,
        )  # fmt: skip
        for turn in range(2 if alternating else 1):
            players = (turn, turn + 1) if alternating else (0, 2)
            for player in range(players[0], players[1]):
                memory[player].places[len(sides[player].places), col.AVERAGE] += weights[k, 0]
                memory[1 - player].places[len(sides[1 - player].places), col.FACED] += weights[k, 1]
            visited = descend(
                shape, sides[0], sides[1], memory[0], memory[1], work, players[0] == 0, players[1] == 2,
                terms.best_response,
            )  # fmt: skip
            for player in range(players[0], players[1]):
                own, other = memory[player], memory[1 - player]
                ascend(shape, sides[player], sides[1 - player], own, other, work, visited, now)
            if terms.prune:
                for player in range(players[0], players[1]):
                    own, other = memory[player], memory[1 - player]
                    if terms.whole:
                        settle_whole(shape, sides[player], sides[1 - player], own, other, work, now)
                    else:
                        settle(shape, sides[player], sides[1 - player], own, other, work, now)
