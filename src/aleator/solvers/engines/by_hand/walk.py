"""The pruned walk: both players' hands go down together, and only what may change is visited.

A hand of player p is *reached* at a node if the player's own current policy leads there, and *active* if p is being
updated and none of the hand's actions on the way is pruned. A pair of hands is visited if one of them is active and the
other is reached. Walks are numbered: what is active bears the number of the walk, or its negative where a best response
is played.
"""

from __future__ import annotations

import numpy as np

from aleator.jit import inner_kernel, kernel
from aleator.solvers.engines.by_hand import columns as col
from aleator.solvers.engines.by_hand.infostate import (
    add_moments,
    catch_up_sums,
    discount,
    expected_skip,
    highest_regret,
    next_policy,
    regret_level,
)
from aleator.solvers.engines.by_hand.layout import HandSide, Shape
from aleator.solvers.engines.by_hand.memory import HandMemory, Terms, Work


@inner_kernel(forceinline=True)
def act(
    shape: Shape, side: HandSide, memory: HandMemory, node: int, needed: bool, work: Work, best_response: bool
) -> None:
    """Pushes a player's hands through the player's own decision; readies infostates that the walk updates."""
    walk, states, hands = work.counts[col.WALK], side.nodes[node, col.STATES], side.nodes[node, col.HANDS]
    block, actions = shape.nodes[node, col.BLOCK], shape.nodes[node, col.NUM_ACTIONS]
    for hand in range(hands):
        above = side.above[states + hand]
        reach, active = memory.reach[above], memory.active[above]
        start = block + hand
        end = start + actions * hands
        if needed and (active == walk or active == -walk):
            catch_up_sums(memory.places, memory.sums, states + hand, above, start, end, hands)
            for offset in range(start, end, hands):
                memory.places[offset, col.CFV] = 0.0
                memory.reach[offset] = reach * memory.places[offset, col.POLICY]
                if memory.marks[offset, col.PRUNED]:
                    memory.active[offset] = 0
                elif best_response and memory.places[offset, col.POLICY] == 0.0:
                    memory.active[offset] = -walk
                else:
                    memory.active[offset] = active
        else:
            for offset in range(start, end, hands):
                memory.reach[offset] = reach * memory.places[offset, col.POLICY]
                memory.active[offset] = 0


@inner_kernel(forceinline=True)
def count_hands(side: HandSide, memory: HandMemory, node: int, work: Work) -> None:
    """Counts a player's active and reached hands at a node."""
    walk, row, active, reached = work.counts[col.WALK], side.nodes[node, col.ROW], 0, 0
    for entry in range(row, row + side.nodes[node, col.HANDS]):
        offset = side.sequence[entry]
        reached += memory.reach[offset] > 0.0
        active += memory.active[offset] == walk or memory.active[offset] == -walk
    work.hands[node, 2 * side.player] = active
    work.hands[node, 2 * side.player + 1] = reached


@inner_kernel(forceinline=True)
def count_pairs(
    shape: Shape, first: HandSide, second: HandSide, one: HandMemory, other: HandMemory, node: int, work: Work,
    both: bool,
) -> int:  # fmt: skip
    """Returns how many pairs of hands the walk visits at a node."""
    active, reached, other_active, other_reached = work.hands[node]
    listed = shape.deals[node, col.LISTED]
    touched = 0
    if not listed:
        touched = active * other_reached + reached * other_active
        if both:
            touched -= reached * other_reached
    walk, row, other_row = work.counts[col.WALK], first.nodes[node, col.ROW], second.nodes[node, col.ROW]
    for k in range(shape.deals[node, col.FIRST_PAIR], shape.deals[node, col.LAST_PAIR]):
        offset = first.sequence[row + shape.pairs[k, 0]]
        other_offset = second.sequence[other_row + shape.pairs[k, 1]]
        if (abs(one.active[offset]) == walk and other.reach[other_offset] > 0.0) or (
            abs(other.active[other_offset]) == walk and one.reach[offset] > 0.0
        ):
            touched += 1 if listed else -1
    return touched


@inner_kernel()
def descend(
    shape: Shape, first: HandSide, second: HandSide, one: HandMemory, other: HandMemory, work: Work,
    update_first: bool, update_second: bool, best_response: bool,
) -> int:  # fmt: skip
    """Pushes both players' hands down and writes the visited nodes to `work.order`; returns how many there are."""
    work.counts[col.WALK] += 1
    walk, hands = work.counts[col.WALK], work.hands
    one.active[len(first.places)] = walk if update_first else 0
    other.active[len(second.places)] = walk if update_second else 0
    count_hands(first, one, 0, work)
    count_hands(second, other, 0, work)
    size, visited, touched = 1, 0, 0
    work.stack[0] = 0
    while size > 0:
        size -= 1
        node = work.stack[size]
        work.order[visited] = node
        visited += 1
        touched += count_pairs(shape, first, second, one, other, node, work, update_first and update_second)
        actor = shape.nodes[node, col.ACTOR]
        if actor == 0:
            act(shape, first, one, node, hands[node, 0] > 0 and hands[node, 3] > 0, work, best_response)
        elif actor == 1:
            act(shape, second, other, node, hands[node, 2] > 0 and hands[node, 1] > 0, work, best_response)
        below = shape.nodes[node, col.FIRST_CHILD]
        for child in range(below, below + shape.nodes[node, col.NUM_CHILDREN]):
            if actor == 0 or not first.nodes[child, col.PLAIN]:
                count_hands(first, one, child, work)
            else:
                hands[child, 0], hands[child, 1] = hands[node, 0], hands[node, 1]
            if actor == 1 or not second.nodes[child, col.PLAIN]:
                count_hands(second, other, child, work)
            else:
                hands[child, 2], hands[child, 3] = hands[node, 2], hands[node, 3]
            if (hands[child, 0] > 0 and hands[child, 3] > 0) or (hands[child, 2] > 0 and hands[child, 1] > 0):
                work.stack[size] = child
                size += 1
    work.counts[col.TOUCHED] += touched
    work.counts[col.VISITED] += visited
    return visited


@inner_kernel()
def ascend(
    shape: Shape, side: HandSide, opponent: HandSide, memory: HandMemory, other: HandMemory, work: Work, visited: int,
    terms: Terms,
) -> None:  # fmt: skip
    """Pulls one player's cfvs up the visited nodes and updates the player's regrets and policy on the way."""
    walk, places = work.counts[col.WALK], memory.places
    active, reached = 2 * side.player, 3 - 2 * side.player
    for k in range(visited - 1, -1, -1):
        node = work.order[k]
        terminal, acts = shape.nodes[node, col.NUM_CHILDREN] == 0, shape.nodes[node, col.ACTOR] == side.player
        if not (terminal or acts) or work.hands[node, active] == 0 or work.hands[node, reached] == 0:
            continue
        row, hands, other_row = side.nodes[node, col.ROW], side.nodes[node, col.HANDS], opponent.nodes[node, col.ROW]
        for hand in range(hands):
            above = side.sequence[row + hand]
            if memory.active[above] != walk and memory.active[above] != -walk:
                continue
            value = 0.0
            if terminal:
                at = side.nodes[node, col.PAYOFFS] + hand
                for i in range(side.payoff_start[at], side.payoff_start[at + 1]):
                    offset = opponent.sequence[other_row + side.payoff_hand[i]]
                    value += side.payoff[i] * other.reach[offset]
                value *= shape.stake[node]
                if terms.prune and not terms.whole:
                    places[above, col.DIRECT] += terms.regret_weight * value
            else:
                reach = 0.0
                if terms.prune:
                    at = side.nodes[node, col.DEALS] + hand
                    for i in range(side.deal_start[at], side.deal_start[at + 1]):
                        offset = opponent.sequence[other_row + side.deal_hand[i]]
                        reach += side.deal[i] * other.reach[offset]
                start = shape.nodes[node, col.BLOCK] + hand
                end = start + shape.nodes[node, col.NUM_ACTIONS] * hands
                best = memory.active[above] < 0
                state = side.nodes[node, col.STATES] + hand
                value = update_infostate(side, memory, state, start, end, hands, reach, best, work, terms)
            places[above, col.CFV] += value


@inner_kernel(forceinline=True)
def update_infostate(
    side: HandSide, memory: HandMemory, state: int, start: int, end: int, stride: int, reach: float, best: bool,
    work: Work, terms: Terms,
) -> float:  # fmt: skip
    """Returns the cfv of an infostate; updates its regrets and policy, notes what may be pruned or must resume."""
    actions, places, sums, marks = side.places, memory.places, memory.sums, memory.marks
    value, highest = 0.0, -np.inf
    for offset in range(start, end, stride):
        if actions[offset, col.LEGAL] and not marks[offset, col.PRUNED]:
            value += places[offset, col.POLICY] * places[offset, col.CFV]
            highest = max(highest, places[offset, col.CFV])
    if best and highest > -np.inf:
        value = highest
    if terms.hedge:
        add_moments(sums, state, value, 1, terms)
    discount(places, sums, state, start, end, stride, terms)
    for offset in range(start, end, stride):
        if actions[offset, col.LEGAL] and not marks[offset, col.PRUNED]:
            gain = places[offset, col.CFV] - value
            if terms.floor and gain > 0.0 and places[offset, col.REGRET] < 0.0:
                places[offset, col.REGRET] = gain
            else:
                places[offset, col.REGRET] += gain
    next_policy(actions, places, marks, sums, state, start, end, stride, terms)
    if terms.prune:
        sums[state, col.VALUE_SUM] += terms.regret_weight * value
        sums[state, col.REACH_SUM] += terms.regret_weight * reach
        look_for_pruning(side, memory, state, start, end, stride, work, terms)
    return value


@inner_kernel(forceinline=True)
def look_for_pruning(
    side: HandSide, memory: HandMemory, state: int, start: int, end: int, stride: int, work: Work, terms: Terms
) -> None:
    """Notes the pruned actions of an infostate whose time is over, and the others that can be pruned from now on."""
    actions, places, sums, marks, lengths = (
        side.places,
        memory.places,
        memory.sums,
        memory.marks,
        work.lists[side.player],
    )
    left = 0
    for offset in range(start, end, stride):
        left += actions[offset, col.LEGAL] != 0 and not marks[offset, col.PRUNED]
    for offset in range(start, end, stride):
        if marks[offset, col.PRUNED] or (left > 1 and actions[offset, col.LEGAL] and places[offset, col.POLICY] == 0.0):
            level = regret_level(actions, places, marks, sums, state, offset, start, end, stride, terms)
            if marks[offset, col.PRUNED]:
                if highest_regret(places, memory.starts, sums, state, offset, terms) > level:
                    memory.lists[col.DUE, lengths[col.DUE]] = offset
                    lengths[col.DUE] += 1
            elif (
                expected_skip(places, sums, state, offset, level, terms) >= terms.least_skip
                and terms.iteration >= memory.starts[offset, col.NEXT_LOOK]
            ):
                memory.lists[col.STARTING, lengths[col.STARTING]] = offset
                lengths[col.STARTING] += 1
                left -= 1


@inner_kernel()
def catch_up_node(shape: Shape, side: HandSide, memory: HandMemory, node: int) -> None:
    """Brings the sums of policies of all hands at a decision node up to date; those above it are."""
    states, hands = side.nodes[node, col.STATES], side.nodes[node, col.HANDS]
    start, size = shape.nodes[node, col.BLOCK], shape.nodes[node, col.NUM_ACTIONS] * hands
    for hand in range(hands):
        above, first = side.above[states + hand], start + hand
        catch_up_sums(memory.places, memory.sums, states + hand, above, first, first + size, hands)


@kernel()
def catch_up_all(shape: Shape, side: HandSide, memory: HandMemory) -> None:
    """Brings a player's sums of policies up to date everywhere."""
    for node in range(len(shape.nodes)):
        if shape.nodes[node, col.ACTOR] == side.player:
            catch_up_node(shape, side, memory, node)
