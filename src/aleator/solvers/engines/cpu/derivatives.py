"""CFR that also keeps how its regrets change with the stakes of the game: one more backward pass per direction.

Under given policies cfvs are linear in the stakes, and so are instant regrets. A *derivative* of regrets along a
direction is what the same policies would have accumulated, discounts included, if the stakes were that direction.
"""

from __future__ import annotations

from aleator.games.base import FloatArray
from aleator.jit import kernel
from aleator.kernels.simd import LANES, if_positive, load, splat, store
from aleator.solvers.engines.cpu.layout import Memory, Nodes, Side, Structure, Task, Vector
from aleator.solvers.engines.cpu.walk import action_values, backward_update, evaluate_terminals, forward, sum_children


@kernel()
def backward_derivative(
    inner: Nodes, structure: Structure, side: Side, own: Memory, derivative: Vector, instant: Vector, scratch: Vector,
    discounts: FloatArray,
) -> None:  # fmt: skip
    """Pulls up cfvs of other stakes under the current policies and adds the regrets they give to `derivative`.

    The old derivative of an entry is multiplied by what its regret is about to be multiplied by.
    """
    values, policy, regret = own.values, own.policy, own.regret
    for node in inner:
        if structure.actor[node] != side.player:
            sum_children(structure, side, node, values)
            continue
        block, count, at = structure.policy_at[node], structure.num_actions[node], side.value_at[node]
        allowed = side.legal if structure.restricted[node] else side.legal[:0]
        actions, actions_at = action_values(structure, side, node, values, scratch)
        _add_derivative(
            derivative, instant, regret, policy, allowed, block, actions, actions_at, values, at, count,
            side.width[node], discounts,
        )  # fmt: skip


@kernel(forceinline=True)
def _add_derivative(
    derivative: Vector, instant: Vector, regret: Vector, policy: Vector, legal: Vector, block: int, actions: Vector,
    actions_at: int, values: Vector, at: int, count: int, width: int, discounts: FloatArray,
) -> None:  # fmt: skip
    """Writes the cfv of a decision and adds its regrets to the derivative, as `blocks.update_regrets` does."""
    number = values.dtype.type
    zero, nothing = splat(number(0.0)), splat(number(-1e-30))
    positive, negative = splat(number(discounts[0])), splat(number(discounts[1]))
    for i in range(0, width, LANES):
        value = zero
        for entry in range(i, i + count * width, width):
            value = value + load(policy, block + entry) * load(actions, actions_at + entry)
        store(values, at + i, value)
        for entry in range(i, i + count * width, width):
            gain = load(actions, actions_at + entry) - value
            if len(legal) > 0:
                gain = if_positive(load(legal, block + entry), gain, zero)
            old = load(regret, block + entry)
            kept = if_positive(old, positive, if_positive(nothing - old, negative, zero))
            store(derivative, block + entry, load(derivative, block + entry) * kept + gain)
            if len(instant) > 0:
                store(instant, block + entry, gain)


@kernel()
def iterate(
    task: Task, structure: Structure, directions: tuple[Structure, ...], sides: tuple[Side, Side],
    memory: tuple[Memory, Memory], derivatives: tuple[Vector, Vector], instants: tuple[Vector, Vector], scratch: Vector,
    schedule: FloatArray, iteration: int, minimiser: int, alternating: bool,
) -> None:  # fmt: skip
    """Runs iterations as `walk.iterate` does; `derivatives` and `instants` ([D, policy]) go along."""
    for k in range(len(schedule)):
        for player in range(2):
            side, own, other = sides[player], memory[player], 1 - player
            for d in range(len(directions)):
                evaluate_terminals(task.terminals, directions[d], side, sides[other], memory[other].reach, own.values)
                backward_derivative(
                    task.inner, structure, side, own, derivatives[player][d], instants[player][d], scratch, schedule[k]
                )
            evaluate_terminals(task.terminals, structure, side, sides[other], memory[other].reach, own.values)
            backward_update(task.inner, structure, side, own, scratch, schedule[k], iteration + k, minimiser)
            if schedule[k, 3] == 0.0:  # what the floor cut off is forgotten, here as in the regrets
                for offset in range(len(own.regret)):
                    if own.regret[offset] <= 0.0:
                        derivatives[player][:, offset] = 0.0
            if alternating:
                forward(task.forward[player], structure, side, own.policy, own.reach)
        if not alternating:
            for player in range(2):
                forward(task.forward[player], structure, sides[player], memory[player].policy, memory[player].reach)
