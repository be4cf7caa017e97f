"""Best-response pruning: what happens when the pruning of an action begins and ends, and what memory it frees.

An action is pruned if a best response below it to *all* iterations so far would have left it with a very negative
regret. When its time is over, the same question is asked again; if the answer is no, regrets below become those of that
response. Neither needs anything that was stored below (thesis 3.5.1, 3.5.2).
"""

from __future__ import annotations

import numpy as np

from aleator.jit import inner_kernel
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.catch_up import change_pruning, find_nested, inside_pruned, push_children, respond
from aleator.solvers.engines.by_hand.infostate import expected_skip, next_policy
from aleator.solvers.engines.by_hand.layout import HandSide, Shape
from aleator.solvers.engines.by_hand.memory import HandMemory, Terms, Work


@inner_kernel()
def look(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, offset: int, work: Work,
    terms: Terms,
) -> float:  # fmt: skip
    """Returns the regret that a best response to all iterations below an action would have left it (thesis 3.29)."""
    total = respond(shape, side, opponent, memory, other, offset, work, terms, False)
    regret: float = total - memory.sums[side.places[offset, col.INFOSTATE], col.VALUE_SUM]
    return regret


@inner_kernel()
def begin(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, offset: int, work: Work,
    terms: Terms,
) -> None:  # fmt: skip
    """Prunes an action if (3.27) holds for long enough; if not, it is looked at again later."""
    state, before = side.places[offset, col.INFOSTATE], memory.places[offset, col.REGRET]
    memory.places[offset, col.REGRET] = look(shape, side, opponent, memory, other, offset, work, terms)
    if expected_skip(memory.places, memory.sums, state, offset, 0.0, terms) < terms.least_skip:
        memory.places[offset, col.REGRET] = before
        memory.starts[offset, col.NEXT_LOOK] = terms.iteration + max(terms.least_skip, 0.1 * terms.iteration)
        return
    if memory.marks[offset, col.NESTED] > 0:  # what is pruned below is forgotten with everything else
        first = work.lists[side.player, col.DUE]
        for k in range(first, find_nested(shape, side, memory, offset, work, first)):
            change_pruning(side, memory, memory.lists[col.DUE, k], False)
    change_pruning(side, memory, offset, True)
    discard(shape, side, memory, offset, work, terms)


@inner_kernel()
def end_or_go_on(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, offset: int, work: Work,
    terms: Terms,
) -> None:  # fmt: skip
    """Goes on pruning an action if (3.27) still holds; else regrets below become those of the best response (3.30)."""
    state, sums = side.places[offset, col.INFOSTATE], memory.sums
    memory.places[offset, col.REGRET] = look(shape, side, opponent, memory, other, offset, work, terms)
    if expected_skip(memory.places, sums, state, offset, 0.0, terms) >= terms.least_skip:
        memory.starts[offset, col.VALUE_START] = sums[state, col.VALUE_SUM]
        memory.starts[offset, col.REACH_START] = sums[state, col.REACH_SUM]
        discard(shape, side, memory, offset, work, terms)
        return
    respond(shape, side, opponent, memory, other, offset, work, terms, True)
    change_pruning(side, memory, offset, False)
    node = side.places[offset, col.NODE]
    stride = side.nodes[node, col.HANDS]
    start = shape.nodes[node, col.BLOCK] + state - side.nodes[node, col.STATES]
    end = start + shape.nodes[node, col.NUM_ACTIONS] * stride
    next_policy(side.places, memory.places, memory.marks, sums, state, start, end, stride, terms)


@inner_kernel()
def discard(shape: Shape, side: HandSide, memory: HandMemory, offset: int, work: Work, terms: Terms) -> None:
    """Throws away the sums of policies of a pruned action and below if the average policy hardly plays it."""
    places = memory.places
    limit = terms.discard / np.sqrt(terms.iteration) * places[len(side.places), col.AVERAGE]
    if memory.marks[offset, col.DISCARDED] or places[offset, col.AVERAGE] > limit:
        return
    memory.marks[offset, col.DISCARDED] = 1
    places[offset, col.AVERAGE] = 0.0
    places[offset, col.FACED] = 0.0
    work.counts[col.WALK] += 1
    walk = work.counts[col.WALK]
    memory.active[offset] = walk
    size = push_children(shape, side.places[offset, col.NODE], work, 0)
    while size > 0:
        size -= 1
        node = work.stack[size]
        row, hands, freed = side.nodes[node, col.ROW], side.nodes[node, col.HANDS], False
        for hand in range(hands):
            if memory.active[side.sequence[row + hand]] == walk:
                freed = True
                if shape.nodes[node, col.ACTOR] == side.player:
                    state, start = side.nodes[node, col.STATES] + hand, shape.nodes[node, col.BLOCK] + hand
                    memory.sums[state, col.AVERAGE_MARK] = 0.0
                    memory.sums[state, col.FACED_MARK] = 0.0
                    for k in range(start, start + shape.nodes[node, col.NUM_ACTIONS] * hands, hands):
                        places[k, col.AVERAGE] = 0.0
                        places[k, col.FACED] = 0.0
                        memory.active[k] = walk
        if freed:
            size = push_children(shape, node, work, size)


@inner_kernel()
def settle_whole(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, work: Work, terms: Terms
) -> None:
    """Begins and ends pruning as the last walk found."""
    lengths = work.lists[side.player]
    for k in range(lengths[col.STARTING] - 1, -1, -1):  # the walk noted them from the leaves upwards
        offset = memory.lists[col.STARTING, k]
        if not inside_pruned(side, memory, offset):
            begin(shape, side, opponent, memory, other, offset, work, terms)
    for k in range(lengths[col.DUE] - 1, -1, -1):
        offset = memory.lists[col.DUE, k]
        if memory.marks[offset, col.PRUNED]:
            end_or_go_on(shape, side, opponent, memory, other, offset, work, terms)
    lengths[col.DUE] = 0
    lengths[col.STARTING] = 0
