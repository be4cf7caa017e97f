"""CUDA source of a street of a whole spot before the river: two kernels with the betting written out.

`down` takes the opponent's reach from the street's roots to its folds and leaves and adds the opponent's policies to
their sums; `up` brings the values of these back and updates the player's regrets. One thread has one hand of one game:
a board and a root. Rows lie where `whole.py` keeps them. See `round_source` for rounds that end in networks, where both
players' reach is needed.
"""

from __future__ import annotations

from collections.abc import Iterator

from aleator.caching import cache
from aleator.errors import SolveError
from aleator.solvers.engines.batched_holdem.round_source import policy_lines, weight_function
from aleator.solvers.engines.batched_holdem.shapes import DECISION, FOLD, LEAF, SHOWDOWN, BettingShape

_HEAD = """
// THREADS, HANDS, CHOSEN (roots of the shape) and ALL_ROOTS, ALL_ROWS, ALL_LEAVES, ALL_FOLDS of a board are given to
// the compiler. `roots` [CHOSEN, 4] has a root's number and the first of its rows, leaves and folds.
#define TILES ((HANDS + THREADS - 1) / THREADS)
#define HERE const long long board = blockIdx.x / TILES / CHOSEN; \\
    const int chosen = blockIdx.x / TILES % CHOSEN, hand = blockIdx.x % TILES * THREADS + threadIdx.x; \\
    if (hand >= HANDS) return; \\
    const int* root = roots + 4 * chosen;
#define REGRET(row) regrets[(board * ALL_ROWS + root[1] + (row)) * HANDS + hand]
#define SUM(row) sums[(board * ALL_ROWS + root[1] + (row)) * HANDS + hand]
#define ROOT(rows) rows[(board * ALL_ROOTS + root[0]) * HANDS + hand]
#define LEAF(rows, number) rows[(board * ALL_LEAVES + root[2] + (number)) * HANDS + hand]
#define FOLD(rows, number) rows[(board * ALL_FOLDS + root[3] + (number)) * HANDS + hand]
"""

_DOWN = """
extern "C" __global__ void __launch_bounds__(THREADS) down(
        const int* roots, const float* regrets, const float* reach, float* leaves, float* folds, float* sums,
        const float* discounts) {
    HERE
    const float decay = discounts[2];
"""

_UP = """
extern "C" __global__ void __launch_bounds__(THREADS) up(
        const int* roots, float* regrets, const float* leaves, const float* folds, const float* stakes, float* values,
        const float* discounts) {
    HERE
    const float positive = discounts[0], negative = discounts[1], least = discounts[3];
"""


@cache
def street_source(shape: BettingShape, player: int, power: float) -> str:
    """Returns CUDA source with the kernels `down` and `up` that update a player.

    Args:
        shape: betting that ends in folds and leaves.
        player: whose regrets are updated.
        power: of positive regrets in a policy.
    """
    if SHOWDOWN in shape.kind:
        raise SolveError("betting that ends in showdowns has a kernel of its own; these end in leaves")
    writer = _Street(shape, player)
    down = [_DOWN, "const float r0 = ROOT(reach);", *writer.down(0, "r0"), "}"]
    up = [_UP, *writer.up(0), "ROOT(values) = v0;", "}"]
    return "\n".join([_HEAD, weight_function(power), *down, *up])


class _Street:
    """Writes both kernels; ends are numbered depth-first."""

    def __init__(self, shape: BettingShape, player: int) -> None:
        self.shape, self.player = shape, player
        self.number: dict[int, int] = {}
        counts = {FOLD: 0, LEAF: 0}
        for node in _depth_first(shape, 0):
            if (kind := shape.kind[node]) != DECISION:
                self.number[node] = counts[kind]
                counts[kind] += 1

    def down(self, node: int, reach: str) -> Iterator[str]:
        """Writes what lies below a node that the opponent reaches with this variable."""
        if self.shape.kind[node] != DECISION:
            name, rows = ("FOLD", "folds") if self.shape.kind[node] == FOLD else ("LEAF", "leaves")
            yield f"{name}({rows}, {self.number[node]}) = {reach};"
            return
        children = self.shape.children[node]
        if self.shape.player[node] == self.player:
            for child in children:
                yield from self.down(child, reach)
            return
        yield from policy_lines(node, children)
        for child in children:
            yield f"const float r{child} = {reach} * p{child};"
            yield f"SUM({child - 1}) = SUM({child - 1}) * decay + r{child};"
            yield from self.down(child, f"r{child}")

    def up(self, node: int) -> Iterator[str]:
        """Writes v of a node, what it is worth to the player."""
        shape = self.shape
        if shape.kind[node] == LEAF:
            yield f"const float v{node} = LEAF(leaves, {self.number[node]});"
            return
        if shape.kind[node] == FOLD:
            sign = "-" if shape.player[node] == self.player else ""
            stake = f"stakes[chosen * {shape.num_stakes} + {shape.stake[node]}]"
            yield f"const float v{node} = {sign}{stake} * FOLD(folds, {self.number[node]});"
            return
        children, own = shape.children[node], shape.player[node] == self.player
        for child in children:
            yield from self.up(child)
        if own:
            yield from policy_lines(node, children)
        terms = (f"p{child} * v{child}" if own else f"v{child}" for child in children)
        yield f"const float v{node} = {' + '.join(terms)};"
        for child in children if own else ():
            kept = f"g{child} * (g{child} > 0.f ? positive : negative)"
            yield f"REGRET({child - 1}) = fmaxf({kept} + (v{child} - v{node}), least);"


def _depth_first(shape: BettingShape, node: int) -> Iterator[int]:
    yield node
    for child in shape.children[node]:
        yield from _depth_first(shape, child)
