"""Kernels of a game in which mixing is worth something: a player's cfvs with entropy, and magnetic mirror descent.

At a decision of the traverser, a hand's policy p over actions with cfvs q counts as  q . p + w x entropy(p), with a
weight w > 0 per infostate, so that the best p is proportional to exp(q / w). Everything else is as in `walk`.
"""

from __future__ import annotations

import numpy as np

from aleator.jit import kernel
from aleator.solvers.engines.cpu.layout import Memory, Nodes, Side, Structure, Task, Vector
from aleator.solvers.engines.cpu.walk import action_values, evaluate_terminals, forward, sum_children

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
    hands, infostate_at, legal = side.hands, side.infostate_at, side.legal
    logits, policy, values = own.regret, own.policy, own.values
    for node in inner:
        if structure.actor[node] != side.player:
            sum_children(structure, side, node, values)
            continue
        at, wide = side.value_at[node], side.width[node]
        block, masked = structure.policy_at[node], structure.restricted[node]
        size = structure.num_actions[node] * wide
        _, actions_at = action_values(structure, side, node, values, scratch)
        if structure.plain[node]:
            for k in range(size):
                scratch[k] = values[actions_at + k]
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
