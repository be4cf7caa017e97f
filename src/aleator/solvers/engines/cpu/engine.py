"""The CPU engine: a public tree laid out for the SIMD kernels, walked by one thread or by several."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu import derivatives as derivative_walk
from aleator.solvers.engines.cpu import walk
from aleator.solvers.engines.cpu.layout import Layout, Memory, Task, Vector
from aleator.solvers.regret_rule import REGRET_MATCHING
from aleator.trees.public_tree import PublicTree

# below this many numbers per policy vector, handing work to threads costs more than it saves
_WORTH_THREADS = 100_000
_NO_MEAN: FloatArray = np.zeros(0)


class CpuEngine:
    """Walks one public tree. Vectors that go in and out are in the engine's padded order (`Layout`).

    With several threads the tree is cut into parts that share nothing but the trunk above them; sums are taken in the
    same order as with one thread, so results are equal bit by bit.
    """

    def __init__(
        self,
        tree: PublicTree,
        dtype: npt.DTypeLike = np.float64,
        threads: int = 1,
        *,
        nodes: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Lays a tree out; `nodes` are those to walk, in ascending order (None: all, the only choice with threads)."""
        if threads < 1:
            raise SolveError(f"threads must be at least 1, not {threads}")
        self.layout = Layout(tree, dtype)
        self.tree = tree
        self.threads = threads if max(self.layout.vector_size) >= _WORTH_THREADS and nodes is None else 1
        self.whole = self.layout.whole() if nodes is None else self.layout.task(nodes)
        self.trunk, self.parts = self._split() if self.threads > 1 else (self.whole, [])
        self._scratch = [np.zeros(self.layout.scratch_size, self.layout.dtype) for _ in range(len(self.parts) + 1)]
        self._pool = ThreadPoolExecutor(self.threads) if self.parts else None

    def _split(self) -> tuple[Task, list[Task]]:
        """Returns the trunk and parts of about equal size."""
        tree = self.tree
        size = tree.end - np.arange(tree.num_nodes)
        size[tree.num_children > 0] = (tree.end - tree.first_child)[tree.num_children > 0] + 1
        subtrees, trunk = [(-int(size[0]), 0)], []
        while subtrees and -subtrees[0][0] > tree.num_nodes / (8 * self.threads):
            _, node = heapq.heappop(subtrees)
            trunk.append(node)
            for child in tree.children(node):
                heapq.heappush(subtrees, (-int(size[child]), child))
        loads = [(0, part) for part in range(4 * self.threads)]
        members: list[list[npt.NDArray[np.int64]]] = [[] for _ in loads]
        for negative_size, node in sorted(subtrees):
            load, part = heapq.heappop(loads)
            below = (
                np.arange(tree.first_child[node], tree.end[node]) if tree.num_children[node] else np.zeros(0, np.int64)
            )
            members[part].append(np.concatenate([[node], below]))
            heapq.heappush(loads, (load - negative_size, part))
        parts = [self.layout.task(np.sort(np.concatenate(nodes))) for nodes in members if nodes]
        return self.layout.task(np.sort(trunk)), parts

    def _backward(self, run: Callable[[Task, Vector], None]) -> None:
        """Runs a backward pass: parts first, in parallel, then the trunk."""
        if self._pool:
            list(self._pool.map(run, self.parts, self._scratch[1:]))
        run(self.trunk, self._scratch[0])

    def _forward(self, run: Callable[[Task], None]) -> None:
        """Runs a forward pass: the trunk first, then the parts in parallel."""
        run(self.trunk)
        if self._pool:
            list(self._pool.map(run, self.parts))

    def iterate(
        self,
        memory: tuple[Memory, Memory],
        schedule: FloatArray,
        iteration: int,
        *,
        minimiser: str,
        alternating: bool,
        root_means: tuple[FloatArray, FloatArray] = (_NO_MEAN, _NO_MEAN),
        weight: float = 0.0,
    ) -> float:
        """Runs CFR, one iteration per row of `schedule`, the first of them number `iteration` (from 1).

        `root_means` are each player's cfvs [H] at the root, averaged over earlier iterations of that `weight` in all;
        the new ones' are added in place. Returns the weight of all iterations then.
        """
        layout, code = self.layout, walk.MINIMISERS[minimiser]
        if not self._pool:
            return walk.iterate(
                self.whole,
                layout.structure,
                layout.sides,
                memory,
                self._scratch[0],
                schedule,
                iteration,
                code,
                alternating,
                root_means,
                weight,
            )
        for k, discounts in enumerate(schedule):
            weight = weight * discounts[2] + 1.0
            for player in (0, 1):

                def update(
                    task: Task, scratch: Vector, player: int = player, k: int = k, discounts: FloatArray = discounts
                ) -> None:
                    own, other, side = memory[player], memory[1 - player], layout.sides[player]
                    walk.evaluate_terminals(
                        task.terminals, layout.structure, side, layout.sides[1 - player], other.reach, own.values
                    )
                    walk.backward_update(
                        task.inner, layout.structure, side, own, scratch, discounts, iteration + k, code
                    )

                self._backward(update)
                mean = root_means[player]
                mean += (memory[player].values[: len(mean)] - mean) / weight
                if alternating:
                    self.push_reach(player, memory[player].policy, memory[player].reach)
            if not alternating:
                for player in (0, 1):
                    self.push_reach(player, memory[player].policy, memory[player].reach)
        return weight

    def set_stakes(self, stakes: FloatArray) -> None:
        """Changes what is at stake [N] at the terminals; payoffs per unit of stake stay."""
        self.layout.structure.stake[:] = stakes[self.layout.structure.terminal_node]

    def iterate_with_derivatives(
        self,
        memory: tuple[Memory, Memory],
        schedule: FloatArray,
        iteration: int,
        *,
        minimiser: str,
        alternating: bool,
        slopes: FloatArray,
        derivatives: tuple[FloatArray, FloatArray],
        instants: tuple[FloatArray, FloatArray],
    ) -> None:
        """Runs CFR as `iterate` does, in one thread, and keeps how regrets change with the stakes.

        Args:
            slopes: [D, N] directions in which stakes change.
            derivatives: per player [D, policy] of the regrets, updated in place.
            instants: the same of the last iteration's regrets; of length 0 where no rule asks for them.
        """
        layout = self.layout
        ends, dtype = layout.structure.terminal_node, layout.dtype
        directions = tuple(layout.structure._replace(stake=slope[ends].astype(dtype)) for slope in slopes)
        derivative_walk.iterate(
            self.whole, layout.structure, directions, layout.sides, memory, derivatives, instants, self._scratch[0],
            schedule, iteration, walk.MINIMISERS[minimiser], alternating,
        )  # fmt: skip

    def push_reach(self, player: int, policy: Vector, reach: Vector) -> None:
        """Pushes a player's reach from the root's row down the tree under a policy."""
        structure, side = self.layout.structure, self.layout.sides[player]
        self._forward(lambda task: walk.forward(task.forward[player], structure, side, policy, reach))

    def match_regrets(self, player: int, regret: Vector, policy: Vector) -> None:
        """Writes the policy that matches regrets or, given sums of policies, the average policy."""
        walk.match_all(self.whole.forward[player], self.layout.structure, self.layout.sides[player], regret, policy)

    def evaluate(self, player: int, opponent_reach: Vector) -> Vector:
        """Returns the player's values with the cfvs of all terminals written; leaves are for the caller to write."""
        layout = self.layout
        walk.evaluate_terminals(
            self.whole.terminals,
            layout.structure,
            layout.sides[player],
            layout.sides[1 - player],
            opponent_reach,
            layout.values,
        )
        return layout.values

    def update(
        self, player: int, own: Memory, discounts: FloatArray, iteration: int, *, minimiser: str = REGRET_MATCHING
    ) -> None:
        """Pulls the player's cfvs up from terminals and leaves, updates its regrets, sums of policies and policy."""
        code = walk.MINIMISERS[minimiser]
        structure, side = self.layout.structure, self.layout.sides[player]
        self._backward(
            lambda task, scratch: walk.backward_update(
                task.inner, structure, side, own, scratch, discounts, iteration, code
            )
        )

    def pull(self, player: int, policy: Vector, *, best: bool) -> Vector:
        """Returns the player's cfvs at all nodes, from terminals and leaves up; `policy` and `best` as in `values`."""
        structure, side, values = self.layout.structure, self.layout.sides[player], self.layout.values
        self._backward(
            lambda task, scratch: walk.backward_fixed(task.inner, structure, side, policy, values, scratch, best)
        )
        return values

    def values(self, player: int, opponent_reach: Vector, policy: Vector, *, best: bool) -> Vector:
        """Returns the player's cfvs at all nodes under `policy` or, if `best`, a best response (written to `policy`).

        An empty policy stands for "the best response itself is not needed". The result is overwritten by the next call.
        """
        layout, values = self.layout, self.layout.values

        def run(task: Task, scratch: Vector) -> None:
            walk.evaluate_terminals(
                task.terminals, layout.structure, layout.sides[player], layout.sides[1 - player], opponent_reach, values
            )
            walk.backward_fixed(task.inner, layout.structure, layout.sides[player], policy, values, scratch, best)

        self._backward(run)
        return values


_shared: WeakKeyDictionary[PublicTree, CpuEngine] = WeakKeyDictionary()


def shared_engine(tree: PublicTree) -> CpuEngine:
    """Returns an engine in float64 for a tree, the same each time, kept as long as the tree is.

    Its rows of values are overwritten by whoever walks next, and nothing may be locked in it.
    """
    if tree not in _shared:
        _shared[tree] = CpuEngine(tree)
    return _shared[tree]
