"""Catching up with what was pruned: what a best response below an action has won in the meantime, and who is pruned.

One walk below the action against the sum of the opponent's policies finds the best response of all hands there. What
both kinds of pruning do with it is in `regret_based_pruning` and `best_response_pruning`.
"""

from __future__ import annotations

import numpy as np

from aleator.jit import inner_kernel
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.infostate import (
    add_moments,
    catch_up_sums,
    discount,
    next_policy,
)
from aleator.solvers.engines.by_hand.layout import HandSide, Shape
from aleator.solvers.engines.by_hand.memory import HandMemory, Terms, Work
from aleator.solvers.engines.by_hand.walk import catch_up_node


@inner_kernel()
def descend_below(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, offset: int, work: Work,
    everything: bool,
) -> int:  # fmt: skip
    """Walks what lies below an action of one hand, as far as the opponent has ever reached it or all of it.

    Returns the number of nodes, which are in `work.order`.
    """
    node = side.places[offset, col.NODE]
    catch_up_path(shape, opponent, other, node, work)
    work.counts[col.WALK] += 1
    walk, visited, touched = work.counts[col.WALK], 0, 0
    memory.active[offset] = walk
    size = push_children(shape, node, work, 0)
    while size > 0:
        size -= 1
        node = work.stack[size]
        row, hands, other_row, pairs = (
            side.nodes[node, col.ROW],
            side.nodes[node, col.HANDS],
            opponent.nodes[node, col.ROW],
            0,
        )
        pruned = False
        for hand in range(hands):
            if memory.active[side.sequence[row + hand]] == walk:
                pruned = everything
                at = side.nodes[node, col.DEALS] + hand
                for k in range(side.deal_start[at], side.deal_start[at + 1]):
                    pairs += other.places[opponent.sequence[other_row + side.deal_hand[k]], col.FACED] > 0.0
        if pairs == 0 and not pruned:
            continue
        touched += pairs
        work.order[visited] = node
        visited += 1
        if shape.nodes[node, col.ACTOR] == opponent.player:
            catch_up_node(shape, opponent, other, node)
        elif shape.nodes[node, col.ACTOR] == side.player:
            for hand in range(hands):
                above = side.sequence[row + hand]
                if memory.active[above] == walk:
                    start = shape.nodes[node, col.BLOCK] + hand
                    end = start + shape.nodes[node, col.NUM_ACTIONS] * hands
                    catch_up_sums(
                        memory.places, memory.sums, side.nodes[node, col.STATES] + hand, above, start, end, hands
                    )
                    for k in range(start, end, hands):
                        memory.places[k, col.CFV] = 0.0
                        memory.places[k, col.DIRECT_NOW] = 0.0
                        memory.active[k] = walk
        size = push_children(shape, node, work, size)
    work.counts[col.TOUCHED] += touched
    work.counts[col.OVERHEAD] += touched
    work.counts[col.VISITED] += visited
    return visited


@inner_kernel()
def catch_up_path(shape: Shape, side: HandSide, memory: HandMemory, node: int, work: Work) -> None:
    """Brings a player's sums of policies up to date at all nodes from the root to this one."""
    size = 0
    while True:
        if shape.nodes[node, col.ACTOR] == side.player:
            work.stack[size] = node
            size += 1
        if node == 0:
            break
        node = shape.nodes[node, col.PARENT]
    for k in range(size - 1, -1, -1):
        catch_up_node(shape, side, memory, work.stack[k])


@inner_kernel(forceinline=True)
def push_children(shape: Shape, node: int, work: Work, size: int) -> int:
    """Puts a node's children on the stack; returns its new size."""
    below = shape.nodes[node, col.FIRST_CHILD]
    for child in range(below, below + shape.nodes[node, col.NUM_CHILDREN]):
        work.stack[size] = child
        size += 1
    return size


@inner_kernel()
def respond(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, offset: int, work: Work,
    terms: Terms, write: bool,
) -> float:  # fmt: skip
    """Returns the weighted sum of an action's cfvs since its pruning began, for the best response in the meantime.

    With best-response pruning, the meantime is all iterations. If `write`, regrets and policies below become what
    playing that response leaves behind.
    """
    visited = descend_below(shape, side, opponent, memory, other, offset, work, terms.whole and write)
    walk, places = work.counts[col.WALK], memory.places
    places[offset, col.CFV] = 0.0
    places[offset, col.DIRECT_NOW] = 0.0
    for k in range(visited - 1, -1, -1):
        node = work.order[k]
        terminal = shape.nodes[node, col.NUM_CHILDREN] == 0
        if not terminal and shape.nodes[node, col.ACTOR] != side.player:
            continue
        row, hands, other_row = side.nodes[node, col.ROW], side.nodes[node, col.HANDS], opponent.nodes[node, col.ROW]
        for hand in range(hands):
            above = side.sequence[row + hand]
            if memory.active[above] != walk:
                continue
            total = 0.0
            if terminal:
                at = side.nodes[node, col.PAYOFFS] + hand
                for i in range(side.payoff_start[at], side.payoff_start[at + 1]):
                    faced = opponent.sequence[other_row + side.payoff_hand[i]]
                    total += side.payoff[i] * other.places[faced, col.FACED]
                places[above, col.DIRECT_NOW] += total * shape.stake[node]
            else:
                at = side.nodes[node, col.DEALS] + hand
                for i in range(side.deal_start[at], side.deal_start[at + 1]):
                    faced = opponent.sequence[other_row + side.deal_hand[i]]
                    total += side.deal[i] * other.places[faced, col.FACED]
                start = shape.nodes[node, col.BLOCK] + hand
                end = start + shape.nodes[node, col.NUM_ACTIONS] * hands
                state = side.nodes[node, col.STATES] + hand
                places[above, col.CFV] += respond_at(side, memory, state, start, end, hands, total, terms, write)
    answer: float = places[offset, col.CFV] + places[offset, col.DIRECT_NOW]
    if not terms.whole:
        answer -= places[offset, col.DIRECT]
        places[offset, col.DIRECT] = places[offset, col.DIRECT_NOW]
    return answer


@inner_kernel(forceinline=True)
def respond_at(
    side: HandSide, memory: HandMemory, state: int, start: int, end: int, stride: int, reach: float, terms: Terms,
    write: bool,
) -> float:  # fmt: skip
    """Returns the best action's sum of cfvs at an infostate below; all regrets of the meantime are zero or less."""
    places, sums, best = memory.places, memory.sums, -np.inf
    for offset in range(start, end, stride):
        if side.places[offset, col.LEGAL]:
            places[offset, col.CFV] += places[offset, col.DIRECT_NOW]
            if not terms.whole:
                places[offset, col.CFV] -= places[offset, col.DIRECT]
                places[offset, col.DIRECT] = places[offset, col.DIRECT_NOW]
            best = max(best, places[offset, col.CFV])
    if best == -np.inf:
        return 0.0
    if not write:
        return best
    if terms.whole:  # nothing of what was there before counts
        sums[state, col.VALUE_SUM] = 0.0
        sums[state, col.SEEN] = terms.iteration
        for offset in range(start, end, stride):
            places[offset, col.REGRET] = 0.0
    if terms.hedge:
        add_moments(sums, state, best, max(terms.iteration - int(sums[state, col.SEEN]), 1), terms)
    discount(places, sums, state, start, end, stride, terms)
    for offset in range(start, end, stride):
        if side.places[offset, col.LEGAL]:
            places[offset, col.REGRET] += (places[offset, col.CFV] - best) / terms.regret_weight
    sums[state, col.REACH_SUM] = reach
    sums[state, col.VALUE_SUM] += best
    next_policy(side.places, places, memory.marks, sums, state, start, end, stride, terms)
    return best


@inner_kernel()
def change_pruning(side: HandSide, memory: HandMemory, offset: int, pruned: bool) -> None:
    """Begins or ends the pruning of an action and tells the places above."""
    state, marks = side.places[offset, col.INFOSTATE], memory.marks
    marks[offset, col.PRUNED] = pruned
    marks[offset, col.DISCARDED] = 0
    memory.starts[offset, col.VALUE_START] = memory.sums[state, col.VALUE_SUM]
    memory.starts[offset, col.REACH_START] = memory.sums[state, col.REACH_SUM]
    change = 1 if pruned else -1
    above = side.above[state]
    while above != len(side.places):
        marks[above, col.NESTED] += change
        above = side.above[side.places[above, col.INFOSTATE]]


@inner_kernel()
def inside_pruned(side: HandSide, memory: HandMemory, offset: int) -> bool:
    """Returns whether an action above is pruned."""
    above = side.above[side.places[offset, col.INFOSTATE]]
    while above != len(side.places):
        if memory.marks[above, col.PRUNED]:
            return True
        above = side.above[side.places[above, col.INFOSTATE]]
    return False


@inner_kernel()
def find_nested(shape: Shape, side: HandSide, memory: HandMemory, offset: int, work: Work, nested: int) -> int:
    """Adds the pruned actions below an action of one hand to the list DUE; returns its new length."""
    work.counts[col.WALK] += 1
    walk, marks = work.counts[col.WALK], memory.marks
    memory.active[offset] = walk
    size = push_children(shape, side.places[offset, col.NODE], work, 0)
    while size > 0:
        size -= 1
        node = work.stack[size]
        row, hands, block, touched = (
            side.nodes[node, col.ROW],
            side.nodes[node, col.HANDS],
            shape.nodes[node, col.BLOCK],
            0,
        )
        for hand in range(hands):
            if memory.active[side.sequence[row + hand]] != walk:
                continue
            touched += 1
            if shape.nodes[node, col.ACTOR] != side.player:
                continue
            for k in range(block + hand, block + shape.nodes[node, col.NUM_ACTIONS] * hands, hands):
                if marks[k, col.PRUNED]:
                    memory.lists[col.DUE, nested] = k
                    nested += 1
                elif marks[k, col.NESTED] > 0:
                    memory.active[k] = walk
        if touched > 0:
            work.counts[col.TOUCHED] += touched
            work.counts[col.OVERHEAD] += touched
            size = push_children(shape, node, work, size)
    return nested
