"""Kernels of a game in which mixing is worth something: a player's cfvs with entropy, and magnetic mirror descent.

At a decision of the traverser, a hand's policy p over actions with cfvs q counts as  q . p + w x entropy(p), with a
weight w > 0 per infostate, so that the best p is proportional to exp(q / w). Everything else is as in `walk`.
"""

from __future__ import annotations

import numpy as np

from aleator.jit import kernel
from aleator.solvers.engines.cpu.blocks import collect, sum_rows
from aleator.solvers.engines.cpu.layout import Memory, Nodes, Side, Structure, Task, Vector
from aleator.solvers.engines.cpu.walk import evaluate_terminals, forward

# what is pulled up: the value of the policy; the same, and the policy takes a step; the value of the best policy
VALUE, STEP, BEST = 0, 1, 2


@kernel()
def pull_with_entropy(
    inner: Nodes, structure: Structure, side: Side, own: Memory, weights: Vector, scratch: Vector, kind: int,
    step: float
) -> None:  # fmt: skip
    """Pulls up the traverser's cfvs with entropy, once terminals are written.

    `weights` has a number for every infostate (`Side.infostate_at`). A step of magnetic mirror descent towards the
    uniform policy turns logits z (they stand where a solver by regrets has those) into (z + step x q) / (1 + step x w).
    """
    actor, first_child, num_children, num_actions = (
        structure.actor, structure.first_child, structure.num_children, structure.num_actions,
    )  # fmt: skip
    plain, restricted, policy_at, legal = structure.plain, structure.restricted, structure.policy_at, side.legal
    width, hands, value_at, infostate_at = side.width, side.hands, side.value_at, side.infostate_at
    collect_at, slices, places = side.collect_at, side.collect_slices, side.collect_place
    logits, policy, values = own.regret, own.policy, own.values
    for node in inner:
        first, count, at, wide = first_child[node], num_children[node], value_at[node], width[node]
        if actor[node] != side.player:
            if plain[node]:
                sum_rows(values, value_at[first], count, at, wide)
            else:
                collect(slices, collect_at[node], places, values, values, at, wide)
            continue
        size, block, masked = num_actions[node] * wide, policy_at[node], restricted[node]
        if plain[node]:
            for k in range(size):
                scratch[k] = values[value_at[first] + k]
        else:
            collect(slices, collect_at[node], places, values, scratch, 0, size)
        for hand in range(hands[node]):
            weight, value = weights[infostate_at[node] + hand], 0.0
            for k in range(hand, size, wide):
                chance = policy[block + k]
                if chance > 0.0:
                    value += chance * (scratch[k] - weight * np.log(chance))
            values[at + hand] = value
            if kind == VALUE:
                continue
            most, total = -np.inf, 0.0
            for k in range(hand, size, wide):
                if not masked or legal[block + k] > 0:
                    if kind == STEP:
                        scratch[k] = (logits[block + k] + step * scratch[k]) / (1.0 + step * weight)
                        logits[block + k] = scratch[k]
                    else:
                        scratch[k] /= weight
                    most = max(most, scratch[k])
            for k in range(hand, size, wide):
                if not masked or legal[block + k] > 0:
                    scratch[k] = np.exp(scratch[k] - most)
                    total += scratch[k]
            if kind == BEST:
                values[at + hand] = weight * (most + np.log(total))
                continue
            for k in range(hand, size, wide):
                if not masked or legal[block + k] > 0:
                    policy[block + k] = scratch[k] / total
        for padding in range(at + hands[node], at + wide):
            values[padding] = 0.0


@kernel()
def descend(
    task: Task, structure: Structure, sides: tuple[Side, Side], memory: tuple[Memory, Memory],
    weights: tuple[Vector, Vector], scratch: Vector, iterations: int, step: float,
) -> None:  # fmt: skip
    """Runs iterations of magnetic mirror descent, the players in turn."""
    for _ in range(iterations):
        for player in range(2):
            side, own, other = sides[player], memory[player], 1 - player
            evaluate_terminals(task.terminals, structure, side, sides[other], memory[other].reach, own.values)
            pull_with_entropy(task.inner, structure, side, own, weights[player], scratch, STEP, step)
            forward(task.forward[player], structure, side, own.policy, own.reach)
