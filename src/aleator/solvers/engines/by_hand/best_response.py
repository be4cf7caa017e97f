"""Best-response pruning: what happens when the pruning of an action begins and ends, and what memory it frees.

An action is pruned if a best response below it to *all* iterations so far would have left it with a very negative
regret. When its time is over, the same question is asked again; if the answer is no, regrets below become those of that
response. Neither needs anything that was stored below (thesis 3.5.1, 3.5.2).
"""

from __future__ import annotations

import numpy as np

from aleator.jit import inner_kernel
from aleator.solvers.engines.by_hand.catch_up import change_pruning, find_nested, inside_pruned, push_children, respond
from aleator.solvers.engines.by_hand.infostate import expected_skip, next_policy
from aleator.solvers.engines.by_hand.layout import (
    ACTOR,
    BLOCK,
    HANDS,
    INFOSTATE,
    NODE,
    NUM_ACTIONS,
    ROW,
    STATES,
    HandSide,
    Shape,
)
from aleator.solvers.engines.by_hand.memory import (
    AVERAGE,
    AVERAGE_MARK,
    DISCARDED,
    DUE,
    FACED,
    FACED_MARK,
    NESTED,
    NEXT_LOOK,
    PRUNED,
    REACH_START,
    REACH_SUM,
    REGRET,
    STARTING,
    VALUE_START,
    VALUE_SUM,
    WALK,
    HandMemory,
    Terms,
    Work,
)


@inner_kernel()
def look(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, offset: int, work: Work,
    terms: Terms,
) -> float:  # fmt: skip
    """Returns the regret that a best response to all iterations below an action would have left it (thesis 3.29)."""
    total = respond(shape, side, opponent, memory, other, offset, work, terms, False)
    regret: float = total - memory.sums[side.places[offset, INFOSTATE], VALUE_SUM]
    return regret


@inner_kernel()
def begin(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, offset: int, work: Work,
    terms: Terms,
) -> None:  # fmt: skip
    """Prunes an action if (3.27) holds for long enough; if not, it is looked at again later."""
    state, before = side.places[offset, INFOSTATE], memory.places[offset, REGRET]
    memory.places[offset, REGRET] = look(shape, side, opponent, memory, other, offset, work, terms)
    if expected_skip(memory.places, memory.sums, state, offset, 0.0, terms) < terms.least_skip:
        memory.places[offset, REGRET] = before
        memory.starts[offset, NEXT_LOOK] = terms.iteration + max(terms.least_skip, 0.1 * terms.iteration)
        return
    if memory.marks[offset, NESTED] > 0:  # what is pruned below is forgotten with everything else
        first = work.lists[side.player, DUE]
        for k in range(first, find_nested(shape, side, memory, offset, work, first)):
            change_pruning(side, memory, memory.lists[DUE, k], False)
    change_pruning(side, memory, offset, True)
    discard(shape, side, memory, offset, work, terms)


@inner_kernel()
def end_or_go_on(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, offset: int, work: Work,
    terms: Terms,
) -> None:  # fmt: skip
    """Goes on pruning an action if (3.27) still holds; else regrets below become those of the best response (3.30)."""
    state, sums = side.places[offset, INFOSTATE], memory.sums
    memory.places[offset, REGRET] = look(shape, side, opponent, memory, other, offset, work, terms)
    if expected_skip(memory.places, sums, state, offset, 0.0, terms) >= terms.least_skip:
        memory.starts[offset, VALUE_START] = sums[state, VALUE_SUM]
        memory.starts[offset, REACH_START] = sums[state, REACH_SUM]
        discard(shape, side, memory, offset, work, terms)
        return
    respond(shape, side, opponent, memory, other, offset, work, terms, True)
    change_pruning(side, memory, offset, False)
    node = side.places[offset, NODE]
    stride = side.nodes[node, HANDS]
    start = shape.nodes[node, BLOCK] + state - side.nodes[node, STATES]
    end = start + shape.nodes[node, NUM_ACTIONS] * stride
    next_policy(side.places, memory.places, memory.marks, sums, state, start, end, stride, terms)


@inner_kernel()
def discard(shape: Shape, side: HandSide, memory: HandMemory, offset: int, work: Work, terms: Terms) -> None:
    """Throws away the sums of policies of a pruned action and below if the average policy hardly plays it."""
    places = memory.places
    limit = terms.discard / np.sqrt(terms.iteration) * places[len(side.places), AVERAGE]
    if memory.marks[offset, DISCARDED] or places[offset, AVERAGE] > limit:
        return
    memory.marks[offset, DISCARDED] = 1
    places[offset, AVERAGE] = 0.0
    places[offset, FACED] = 0.0
    work.counts[WALK] += 1
    walk = work.counts[WALK]
    memory.active[offset] = walk
    size = push_children(shape, side.places[offset, NODE], work, 0)
    while size > 0:
        size -= 1
        node = work.stack[size]
        row, hands, freed = side.nodes[node, ROW], side.nodes[node, HANDS], False
        for hand in range(hands):
            if memory.active[side.sequence[row + hand]] == walk:
                freed = True
                if shape.nodes[node, ACTOR] == side.player:
                    state, start = side.nodes[node, STATES] + hand, shape.nodes[node, BLOCK] + hand
                    memory.sums[state, AVERAGE_MARK] = 0.0
                    memory.sums[state, FACED_MARK] = 0.0
                    for k in range(start, start + shape.nodes[node, NUM_ACTIONS] * hands, hands):
                        places[k, AVERAGE] = 0.0
                        places[k, FACED] = 0.0
                        memory.active[k] = walk
        if freed:
            size = push_children(shape, node, work, size)


@inner_kernel()
def settle_whole(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, work: Work, terms: Terms
) -> None:
    """Begins and ends pruning as the last walk found."""
    lengths = work.lists[side.player]
    for k in range(lengths[STARTING] - 1, -1, -1):  # the walk noted them from the leaves upwards
        offset = memory.lists[STARTING, k]
        if not inside_pruned(side, memory, offset):
            begin(shape, side, opponent, memory, other, offset, work, terms)
    for k in range(lengths[DUE] - 1, -1, -1):
        offset = memory.lists[DUE, k]
        if memory.marks[offset, PRUNED]:
            end_or_go_on(shape, side, opponent, memory, other, offset, work, terms)
    lengths[DUE] = 0
    lengths[STARTING] = 0
