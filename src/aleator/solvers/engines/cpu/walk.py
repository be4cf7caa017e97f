"""The walk: push reach down the tree, evaluate payoffs, pull counterfactual values up, update regrets.

The kernels see the tree as a `Structure` and, for each player, a `Side`; what changes while solving is a `Memory` per
player (all in `layout`). They loop over nodes; what happens at a node is in `blocks`. `tests/solvers/reference.py` has
the same algorithms as plain recursions over single hands, and tests compare the two.
"""

from __future__ import annotations

from aleator.games.base import FloatArray
from aleator.jit import inner_kernel, kernel
from aleator.solvers.engines.cpu.blocks import (
    apply_matrix,
    apply_sparse,
    average_actions,
    best_actions,
    collect,
    gather_row,
    hedge,
    match_regrets,
    push_reach,
    sharpen,
    sum_rows,
    update_moments,
    update_regrets,
)
from aleator.solvers.engines.cpu.cards import NUM_CARDS, apply_cards
from aleator.solvers.engines.cpu.layout import Memory, Nodes, Side, Structure, Task, Vector
from aleator.solvers.regret_rule import HEDGE, REGRET_MATCHING, SHARP_MATCHING

# how a policy follows from regrets
_SHARP, _HEDGE = 1, 2
MINIMISERS = {REGRET_MATCHING: 0, SHARP_MATCHING: _SHARP, HEDGE: _HEDGE}


@kernel()
def evaluate_terminals(
    terminals: Nodes, structure: Structure, side: Side, opponent: Side, reach: Vector, values: Vector
) -> None:
    """Writes the cfvs of terminals: stake x payoff operator applied to the opponent's reach."""
    nodes, stakes, value_at, width = structure.terminal_node, structure.stake, side.value_at, side.width
    hands, reach_at, matrix_at, matrix = opponent.hands, opponent.reach_at, side.matrix_at, side.matrix
    sparse_at, slices, columns, entries = side.sparse_at, side.sparse_slices, side.sparse_column, side.sparse_value
    for k in terminals:
        node, stake, at = nodes[k], stakes[k], value_at[nodes[k]]
        if matrix_at[k] >= 0:
            apply_matrix(matrix, matrix_at[k], hands[node], reach, reach_at[node], stake, values, at, width[node])
        elif sparse_at[k] >= 0:
            apply_sparse(slices, sparse_at[k], columns, entries, reach, reach_at[node], stake, values, at, width[node])
    _evaluate_cards(side.card_sums_at, terminals, structure, side, opponent, reach, values)


@inner_kernel()
def _evaluate_cards(
    sums_at: int | None, terminals: Nodes, structure: Structure, side: Side, opponent: Side, reach: Vector,
    values: Vector,
) -> None:  # fmt: skip
    """Writes the cfvs of terminals whose payoffs are by cards; compiled to nothing for games that have none."""
    if sums_at is not None:
        for k in terminals:
            if side.sparse_at[k] <= -2:
                node = structure.terminal_node[k]
                apply_cards(
                    side.sparse_column, -2 - side.sparse_at[k], side.sparse_value, sums_at + NUM_CARDS * k, reach,
                    opponent.reach_at[node], structure.stake[k], values, side.value_at[node], side.width[node],
                )  # fmt: skip


@inner_kernel(forceinline=True)
def sum_children(structure: Structure, side: Side, node: int, values: Vector) -> None:
    """Writes the cfvs of a node where the traverser does not act."""
    if structure.plain[node]:
        rows_at, count = side.value_at[structure.first_child[node]], structure.num_children[node]
        sum_rows(values, rows_at, count, side.value_at[node], side.width[node])
    else:
        at, width = side.value_at[node], side.width[node]
        collect(side.collect_slices, side.collect_at[node], side.collect_place, values, values, at, width)


@inner_kernel(forceinline=True)
def action_values(structure: Structure, side: Side, node: int, values: Vector, scratch: Vector) -> tuple[Vector, int]:
    """Returns where the cfvs [A, H] of the traverser's actions are: in the children's rows, or collected in scratch."""
    if structure.plain[node]:
        return values, side.value_at[structure.first_child[node]]
    size = structure.num_actions[node] * side.width[node]
    collect(side.collect_slices, side.collect_at[node], side.collect_place, values, scratch, 0, size)
    return scratch, 0


@kernel()
def backward_update(
    inner: Nodes, structure: Structure, side: Side, own: Memory, scratch: Vector, discounts: FloatArray, iteration: int,
    minimiser: int,
) -> None:  # fmt: skip
    """Pulls the traverser's cfvs up under the current policies; updates the traverser's regrets and policy on the way.

    Reach is left as it was, so that both players can be updated against the same policies. Locked decisions keep
    theirs.
    """
    regret, policy, reach, policy_sum = own.regret, own.policy, own.reach, own.policy_sum
    instant, moments, values, legal = own.instant, own.moments, own.values, side.legal
    everything = legal[:0]
    for node in inner:
        if structure.actor[node] != side.player:
            sum_children(structure, side, node, values)
            continue
        block, count = structure.policy_at[node], structure.num_actions[node]
        at, width = side.value_at[node], side.width[node]
        if structure.plain[node] and not structure.locked[node]:  # most are; compiled apart, checked for nothing
            update_regrets(
                regret, policy, reach, policy_sum, instant, everything, block, values,
                side.value_at[structure.first_child[node]], values, at, count, width, discounts,
            )  # fmt: skip
        else:
            actions, actions_at = action_values(structure, side, node, values, scratch)
            if structure.locked[node]:
                average_actions(policy, block, actions, actions_at, values, at, count, width)
                continue
            update_regrets(
                regret, policy, reach, policy_sum, instant, legal if structure.restricted[node] else everything, block,
                actions, actions_at, values, at, count, width, discounts,
            )  # fmt: skip
        if minimiser == _SHARP:
            sharpen(policy, block, count, width, side.hands[node])
        elif minimiser == _HEDGE:
            hands, infostate = side.hands[node], side.infostate_at[node]
            update_moments(values, at, hands, moments, infostate, iteration)
            allowed = legal if structure.restricted[node] else everything
            hedge(regret, moments, infostate, allowed, policy, block, count, width, hands, iteration)


@kernel()
def backward_fixed(
    inner: Nodes, structure: Structure, side: Side, policy: Vector, values: Vector, scratch: Vector, best: bool
) -> None:
    """Pulls up the traverser's cfvs under a fixed policy or, if `best`, those of a best response.

    A best response is written to `policy` unless that is empty.
    """
    for node in inner:
        if structure.actor[node] != side.player:
            sum_children(structure, side, node, values)
            continue
        block, count = structure.policy_at[node], structure.num_actions[node]
        at, width = side.value_at[node], side.width[node]
        actions, actions_at = action_values(structure, side, node, values, scratch)
        if best:
            allowed = side.legal if structure.restricted[node] else side.legal[:0]
            best_actions(policy, allowed, block, actions, actions_at, values, at, count, width)
        else:
            average_actions(policy, block, actions, actions_at, values, at, count, width)


@kernel()
def forward(nodes: Nodes, structure: Structure, side: Side, policy: Vector, reach: Vector) -> None:
    """Pushes a player's reach down the tree under a policy."""
    actor, first_child, num_children, num_actions = (
        structure.actor, structure.first_child, structure.num_children, structure.num_actions,
    )  # fmt: skip
    plain, policy_at, width = structure.plain, structure.policy_at, side.width
    reach_at, origin_at, origin = side.reach_at, side.origin_at, side.origin
    for node in nodes:
        if actor[node] == side.player:
            push_reach(policy, reach, reach_at[node], policy_at[node], num_actions[node], width[node])
        if not plain[node]:
            first = first_child[node]
            for child in range(first, first + num_children[node]):
                if origin_at[child] >= 0:
                    gather_row(reach, origin, origin_at[child], reach_at[child], width[child])


@kernel()
def match_all(nodes: Nodes, structure: Structure, side: Side, regret: Vector, policy: Vector) -> None:
    """Writes the policy that matches regrets at each node of a player.

    Given sums of policies instead of regrets, that is the average policy.
    """
    actor, restricted, policy_at, num_actions = (
        structure.actor, structure.restricted, structure.policy_at, structure.num_actions,
    )  # fmt: skip
    legal, width = side.legal, side.width
    everything = legal[:0]
    for node in nodes:
        if actor[node] == side.player:
            allowed = legal if restricted[node] else everything
            match_regrets(regret, allowed, policy, policy_at[node], num_actions[node], width[node])


@kernel()
def iterate(
    task: Task, structure: Structure, sides: tuple[Side, Side], memory: tuple[Memory, Memory], scratch: Vector,
    schedule: FloatArray, iteration: int, minimiser: int, alternating: bool, root_means: tuple[Vector, Vector],
    weight: float,
) -> float:  # fmt: skip
    """Runs one iteration of CFR on the whole tree per row of `schedule`, the first of them number `iteration` (from 1).

    `root_means` (empty if they are not wanted) are each player's cfvs at the root, averaged as policies are over the
    iterations so far, whose weights add up to `weight`; those of the new iterations are added. Returns what the weights
    add up to then.
    """
    for k in range(len(schedule)):
        weight = weight * schedule[k, 2] + 1.0
        for player in range(2):
            side, own, other = sides[player], memory[player], 1 - player
            evaluate_terminals(task.terminals, structure, side, sides[other], memory[other].reach, own.values)
            backward_update(task.inner, structure, side, own, scratch, schedule[k], iteration + k, minimiser)
            mean = root_means[player]
            for hand in range(len(mean)):
                mean[hand] += (own.values[hand] - mean[hand]) / weight
            if alternating:
                forward(task.forward[player], structure, side, own.policy, own.reach)
        if not alternating:
            for player in range(2):
                forward(task.forward[player], structure, sides[player], memory[player].policy, memory[player].reach)
    return weight
