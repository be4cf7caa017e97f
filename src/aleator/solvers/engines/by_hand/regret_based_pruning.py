"""Regret-based pruning: what happens when the pruning of an action begins and ends.

While an action of a hand is pruned, nothing below it is visited. When its time is over, one walk against the sum of the
opponent's policies of the meantime finds the best response below, which is said to have been played in every iteration
of the meantime (thesis 3.3.3). The sum of cfvs in the meantime is a difference: what all iterations so far give at the
terminals, less what had been added up when pruning began. Pruned actions never lie below one another: before an action
is pruned, those below it are resumed.
"""

from __future__ import annotations

from aleator.jit import inner_kernel
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.catch_up import change_pruning, find_nested, inside_pruned, respond
from aleator.solvers.engines.by_hand.infostate import expected_skip, next_policy, regret_level
from aleator.solvers.engines.by_hand.layout import HandSide, Shape
from aleator.solvers.engines.by_hand.memory import HandMemory, Terms, Work


@inner_kernel()
def resume(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, offset: int, work: Work,
    terms: Terms, again: bool,
) -> None:  # fmt: skip
    """Ends the pruning of an action: its regret and everything below catch up with the meantime.

    If `again`, it may begin once more right away.
    """
    total = respond(shape, side, opponent, memory, other, offset, work, terms, True)
    places, sums, marks = memory.places, memory.sums, memory.marks
    node, state = side.places[offset, col.NODE], side.places[offset, col.INFOSTATE]
    places[offset, col.REGRET] += (
        total - (sums[state, col.VALUE_SUM] - memory.starts[offset, col.VALUE_START])
    ) / terms.regret_weight
    change_pruning(side, memory, offset, False)
    stride = side.nodes[node, col.HANDS]
    start = shape.nodes[node, col.BLOCK] + state - side.nodes[node, col.STATES]
    end = start + shape.nodes[node, col.NUM_ACTIONS] * stride
    next_policy(side.places, places, marks, sums, state, start, end, stride, terms)
    if again and places[offset, col.POLICY] == 0.0:
        left = 0
        for k in range(start, end, stride):
            left += side.places[k, col.LEGAL] != 0 and not marks[k, col.PRUNED]
        level = regret_level(side.places, places, marks, sums, state, offset, start, end, stride, terms)
        if left > 1 and expected_skip(places, sums, state, offset, level, terms) >= terms.least_skip:
            change_pruning(side, memory, offset, True)


@inner_kernel()
def settle(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, work: Work, terms: Terms
) -> None:
    """Begins and ends pruning as the last walk found; what ends may begin again at once."""
    lengths = work.lists[side.player]
    for k in range(lengths[col.STARTING] - 1, -1, -1):  # the walk noted them from the leaves upwards
        offset = memory.lists[col.STARTING, k]
        if not inside_pruned(side, memory, offset):
            if memory.marks[offset, col.NESTED] > 0:  # with what is pruned below, which is resumed first
                lengths[col.DUE] = find_nested(shape, side, memory, offset, work, lengths[col.DUE])
            change_pruning(side, memory, offset, True)
    for k in range(lengths[col.DUE] - 1, -1, -1):
        offset = memory.lists[col.DUE, k]
        if memory.marks[offset, col.PRUNED]:
            again = not inside_pruned(side, memory, offset)
            resume(shape, side, opponent, memory, other, offset, work, terms, again)
    lengths[col.DUE] = 0
    lengths[col.STARTING] = 0
