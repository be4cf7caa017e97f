"""The batched engine on CUDA: fused kernels, captured in a CUDA graph and replayed."""

from __future__ import annotations

import gc
from typing import Any

import torch
import triton

from aleator.solvers.engines.batched import triton_walk
from aleator.solvers.engines.batched.engine import Searched, TorchEngine
from aleator.solvers.search_rule import DIFFERENCE

Tensor = torch.Tensor
_BLOCK = 32
_PER_GRAPH = 16


class FusedEngine(TorchEngine):
    """`TorchEngine` with the same results (up to rounding), for CUDA."""

    def search(self, keep: Tensor | None = None) -> Searched:
        """As `TorchEngine.search`."""
        device, updates = self.forest.shapes.device, self.updates
        self._kept = self._keep(keep).to(torch.int32)
        self._clock = torch.zeros(1, dtype=torch.int32, device=device)
        self._kept_policy = self.policy.clone()
        self._kept_sums = tuple(sums.clone() for sums in self.sums) if self.follows_average else self.sums
        # the first updates are launched one by one, so that Triton compiles outside the capture
        done = min(2, updates)
        self._launch_all(done)
        replays = (updates - done) // _PER_GRAPH if device.type == "cuda" else 0
        if replays:
            graph = self._capture()
            for _ in range(replays):
                graph.replay()
        self._launch_all(updates - done - replays * _PER_GRAPH)
        return self._searched(self._kept_policy, self._kept_sums)

    def _prepare(self) -> None:
        """Lays out what the kernels read besides the rows."""
        forest, shapes = self.forest, self.forest.shapes
        self._actor, self._count = forest.actor.int(), forest.num_children.int()
        self._first, self._parent = forest.first_child.int(), forest.parent.int()
        self._mover, self._subgame = forest.mover.int(), forest.subgame.int()
        ends = torch.cat([forest.terminals, forest.leaves])
        template = forest.template[ends]
        payoff, deal = shapes.payoff[template], shapes.deal[template]
        self._end_rows = ends.int()
        self._end_matrix = torch.where(payoff >= 0, payoff, deal).int()
        self._end_stake = shapes.stake[template]
        self._worth = torch.zeros((max(len(forest.leaves), 1), shapes.num_hands), device=shapes.device)
        self._schedule = torch.tensor(self.schedule, dtype=torch.float32, device=shapes.device)

    def _capture(self) -> torch.cuda.CUDAGraph:
        """Returns a graph of some updates, beginning where the clock stands."""
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        collecting = gc.isenabled()
        gc.disable()  # freeing another graph now would end the capture
        try:
            with torch.cuda.stream(stream):
                graph.capture_begin(capture_error_mode="thread_local")
                self._launch_all(_PER_GRAPH)
                graph.capture_end()
        finally:
            if collecting:
                gc.enable()
        torch.cuda.current_stream().wait_stream(stream)
        return graph

    def _launch_all(self, updates: int) -> None:
        """Launches some updates and moves the clock."""
        for offset in range(1, updates + 1):
            self._launch(offset)
        self._clock.add_(updates)

    def _launch(self, offset: int) -> None:
        """Launches the kernels of one update; the clock is even, so that odd offsets are turns of player 0."""
        forest, hands = self.forest, self.forest.shapes.num_hands
        player = (offset - 1) % 2
        wide: dict[str, Any] = {"HP": triton.next_power_of_2(hands), "BLOCK": _BLOCK}
        self._evaluate(player, offset, wide)
        bounds = forest.bounds
        for level in reversed(range(forest.num_levels - 1)):
            triton_walk.update_level[_grid(bounds[level + 1] - bounds[level])](
                self._actor, self._first, self._count, self._subgame, self._kept, self._schedule, self._clock,
                self.values, self.regret, self.policy, self._kept_policy, self.value_sums[player],
                bounds[level], bounds[level + 1], offset, hands,
                PLAYER=player, RESPOND=self.fictitious, SHARP=self.power > 1, ROOT=level == 0, **wide,
            )  # fmt: skip
        for level in range(1, forest.num_levels):
            triton_walk.push_level[_grid(bounds[level + 1] - bounds[level])](
                self._parent, self._mover, self._subgame, self._kept, self._schedule, self._clock,
                self.policy, self.reach[player], self.sums[player], self._kept_sums[player],
                bounds[level], bounds[level + 1], offset, hands,
                PLAYER=player, ALL=self.follows_average, AFTER=self.fictitious, **wide,
            )  # fmt: skip

    def _evaluate(self, player: int, offset: int, wide: dict[str, Any]) -> None:
        """Launches what `evaluate_ends` does."""
        forest, opponent = self.forest, 1 - player
        terminals, everything = len(forest.terminals), len(self._end_rows)

        def launch(first: int, last: int, reach: Tensor, worth: Tensor) -> None:
            triton_walk.evaluate_ends[_grid(last - first)](
                self._end_rows[first:last], self._end_matrix[first:last], self._end_stake[first:last], worth,
                terminals - first, forest.shapes.matrices, reach, self.values, last - first, forest.shapes.num_hands,
                PLAYER=player, **wide,
            )  # fmt: skip

        if self.rule.leaves != DIFFERENCE:
            own, expected = (self.sums if self.fictitious else self.reach)[player], self._expected(opponent, offset)
            beliefs = (own, expected) if player == 0 else (expected, own)
            worth = self._leaf_values(player, beliefs) if self._leaf_values else self._worth
            launch(0, everything, expected, worth)
            return
        launch(0, terminals, self.reach[opponent], self._worth)
        if self._leaf_values:
            decay, met = self._schedule.index_select(0, self._clock + (offset - 1))[0, 2], self.met[player]
            for seat in (0, 1):
                met[seat].mul_(decay).add_(self.reach[seat])
            launch(terminals, everything, met[opponent], self._leaf_values(player, (met[0], met[1])))
            leaves = self.values[forest.leaves]
            self.values[forest.leaves] = leaves - decay * self.met_cfvs[player]
            self.met_cfvs[player].copy_(leaves)

    def _expected(self, opponent: int, offset: int) -> Tensor:
        """Returns [R, H]: the opponent's reach that the traverser is updated against."""
        if not self.fictitious:
            return self.reach[opponent]
        if not self.schedule[:, 5].any():
            return self.sums[opponent]
        recent = self._schedule.index_select(0, self._clock + (offset - 1))[0, 5]
        return torch.lerp(self.sums[opponent], self.reach[opponent], recent)


def _grid(rows: int) -> tuple[int]:
    return (max(triton.cdiv(rows, _BLOCK), 1),)
