"""CUDA source of a betting round that ends in leaves: two kernels with the betting written out, one thread per hand.

Whatever happens between a reach at the root and one at a leaf concerns one hand at a time: policies follow from the
hand's regrets, reach goes down and values come up along the tree. So `down` and `up` are straight-line code over the
nodes of a shape; nothing but regrets, the reach of ends and their values touches memory. What folds and leaves are
worth needs all hands, and is somebody else's: it happens between the two kernels.

Layouts, with H hands: regrets and sums [B, R, H]; the root's reach and values [B, 2, H]; leaves [B, L, 2, H] and folds
[B, F, 2, H] by player, the n-th leaf or fold of the shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from aleator.caching import cache
from aleator.errors import SolveError
from aleator.solvers.engines.batched_holdem.shapes import DECISION, FOLD, LEAF, SHOWDOWN, BettingShape

_HEAD = """
// THREADS, HANDS, ROWS, LEAVES, FOLDS, STAKES are given to the compiler
#define TILES ((HANDS + THREADS - 1) / THREADS)
#define HERE const long long game = blockIdx.x / TILES; \\
    const int hand = blockIdx.x % TILES * THREADS + threadIdx.x; if (hand >= HANDS) return;
#define REGRET(row) regrets[(game * ROWS + (row)) * HANDS + hand]
#define SUM(row) sums[(game * ROWS + (row)) * HANDS + hand]
#define ROOT(rows, player) rows[(game * 2 + (player)) * HANDS + hand]
#define LEAF(rows, number, player) rows[((game * LEAVES + (number)) * 2 + (player)) * HANDS + hand]
#define FOLD(rows, number, player) rows[((game * FOLDS + (number)) * 2 + (player)) * HANDS + hand]
"""

_DOWN = """
extern "C" __global__ void __launch_bounds__(THREADS) down(
        const float* __restrict__ regrets, const float* __restrict__ reach, float* __restrict__ leaves,
        float* __restrict__ folds, float* __restrict__ sums, const float* __restrict__ discounts) {
    HERE
    const float decay = discounts[2];
"""

_UP = """
extern "C" __global__ void __launch_bounds__(THREADS) up(
        float* __restrict__ regrets, const float* __restrict__ leaves, const float* __restrict__ folds,
        const float* __restrict__ stakes, float* __restrict__ values, const float* __restrict__ discounts) {
    HERE
    const float positive = discounts[0], negative = discounts[1], decay = discounts[2], least = discounts[3];
"""


@cache
def round_source(shape: BettingShape, players: tuple[int, ...], power: float, averages: bool) -> str:
    """Returns CUDA source with the kernels `down` and `up` of a shape.

    Args:
        shape: betting that ends in folds and leaves.
        players: who is updated: (0, 1) at once, or one of them.
        power: of positive regrets in a policy.
        averages: whether `down` adds policies to their sums: those of whoever is not alone in being updated.
    """
    if SHOWDOWN in shape.kind:
        raise SolveError("betting that ends in showdowns has a kernel of its own; these end in leaves")
    lines = [*_Down(shape, players, averages).lines(), *_Up(shape, players).lines()]
    return "\n".join([_HEAD, weight_function(power), *lines])


def weight_function(power: float) -> str:
    """Returns the function of regrets that policies are proportional to."""
    raised = {1.0: "x", 1.5: "x * sqrtf(x)"}.get(power, f"powf(x, {power:.9g}f)")
    return f"static __device__ __forceinline__ float weight(float x) {{ x = fmaxf(x, 0.f); return {raised}; }}"


def policy_lines(node: int, below: range) -> Iterator[str]:
    """Writes g (regrets) and p (probabilities) of a decision's actions."""
    for child in below:
        yield f"const float g{child} = REGRET({child - 1});"
    yield f"const float all{node} = {' + '.join(f'weight(g{child})' for child in below)};"
    yield f"const float over{node} = all{node} > 0.f ? 1.f / all{node} : 0.f;"
    yield f"const float even{node} = all{node} > 0.f ? 0.f : {1 / len(below):.9g}f;"
    for child in below:
        yield f"const float p{child} = weight(g{child}) * over{node} + even{node};"


class _Writer:
    """What both kernels share: names of nodes' numbers."""

    def __init__(self, shape: BettingShape, players: tuple[int, ...]) -> None:
        self.shape, self.players = shape, players
        self.number = {
            node: number
            for kind in (FOLD, LEAF)
            for number, node in enumerate(n for n in range(shape.num_nodes) if shape.kind[n] == kind)
        }


class _Down(_Writer):
    """Writes `down`: reach from the root to folds and leaves."""

    def __init__(self, shape: BettingShape, players: tuple[int, ...], averages: bool) -> None:
        super().__init__(shape, players)
        self.averages = averages

    def lines(self) -> Iterator[str]:
        yield _DOWN
        for player in (0, 1):
            yield f"const float r0_{player} = ROOT(reach, {player});"
        yield from self.below(0, ("r0_0", "r0_1"))
        yield "}"

    def below(self, node: int, reach: tuple[str, str]) -> Iterator[str]:
        """Writes what lies below a node that players reach with these variables."""
        if self.shape.kind[node] != DECISION:
            name, rows = ("FOLD", "folds") if self.shape.kind[node] == FOLD else ("LEAF", "leaves")
            for player in (0, 1):
                yield f"{name}({rows}, {self.number[node]}, {player}) = {reach[player]};"
            return
        actor = self.shape.player[node]
        yield from policy_lines(node, self.shape.children[node])
        for child in self.shape.children[node]:
            yield f"const float r{child}_{actor} = {reach[actor]} * p{child};"
            if self.averages and 1 - actor in self.players:
                yield f"SUM({child - 1}) = SUM({child - 1}) * decay + r{child}_{actor};"
            own = f"r{child}_{actor}"
            yield from self.below(child, (own, reach[1]) if actor == 0 else (reach[0], own))


class _Up(_Writer):
    """Writes `up`: values from folds and leaves to the root, and the regrets on the way."""

    def lines(self) -> Iterator[str]:
        yield _UP
        yield from self.below(0)
        for player in self.players:
            yield f"ROOT(values, {player}) = ROOT(values, {player}) * decay + v0_{player};"
        yield "}"

    def below(self, node: int) -> Iterator[str]:
        """Writes v of a node, what it is worth to each player that is updated."""
        shape = self.shape
        if shape.kind[node] == LEAF:
            for player in self.players:
                yield f"const float v{node}_{player} = LEAF(leaves, {self.number[node]}, {player});"
            return
        if shape.kind[node] == FOLD:
            for player in self.players:
                sign = "-" if player == shape.player[node] else ""
                stake = f"stakes[game * STAKES + {shape.stake[node]}]"
                yield (
                    f"const float v{node}_{player} = {sign}{stake} * FOLD(folds, {self.number[node]}, {1 - player});"
                )
            return
        children, actor = shape.children[node], shape.player[node]
        for child in children:
            yield from self.below(child)
        for player in self.players:
            if player == actor:
                yield from policy_lines(node, self.shape.children[node])
            terms = (f"p{child} * v{child}_{player}" if player == actor else f"v{child}_{player}" for child in children)
            yield f"const float v{node}_{player} = {' + '.join(terms)};"
            if player == actor:
                for child in children:
                    kept = f"g{child} * (g{child} > 0.f ? positive : negative)"
                    yield (f"REGRET({child - 1}) = fmaxf({kept} + (v{child}_{player} - v{node}_{player}), least);")
