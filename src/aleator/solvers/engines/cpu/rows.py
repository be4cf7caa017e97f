"""Rows of some nodes of a tree, gathered from and scattered to the CPU engine's vectors as arrays [nodes, H]."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.layout import Index, Layout, Vector


class NodeRows:
    """The rows of K nodes, in the order given. Rows shorter than the longest, H, are padded with zeros."""

    def __init__(self, layout: Layout, nodes: npt.NDArray[Any]) -> None:
        self.hands = tuple(int(layout.sides[p].hands[nodes].max(initial=0)) for p in (0, 1))
        self._places = tuple(_Places(layout, nodes, player, self.hands[player]) for player in (0, 1))

    def reach(self, player: int, reach: Vector) -> FloatArray:
        """Returns [K, H]: a player's reach at the nodes."""
        return reach[self._places[player].reach].astype(np.float64)

    def put_reach(self, player: int, rows: FloatArray, reach: Vector) -> None:
        """Writes a player's reach [K, H] at the nodes; nodes that share a row must agree."""
        places = self._places[player]
        reach[places.reach[places.real]] = rows[places.real]

    def values(self, player: int, values: Vector) -> FloatArray:
        """Returns [K, H]: the traverser's cfvs at the nodes, from a vector of its values."""
        places = self._places[player]
        return np.where(places.real, values[places.value], 0.0)

    def put_values(self, player: int, rows: FloatArray, values: Vector) -> None:
        """Writes the traverser's cfvs [K, H] at the nodes, and zeros to their padding."""
        places = self._places[player]
        values[places.padding] = 0.0
        values[places.value[places.real]] = rows[places.real]


class _Places:
    """Where the rows of one player lie."""

    def __init__(self, layout: Layout, nodes: npt.NDArray[Any], player: int, hands: int) -> None:
        side = layout.sides[player]
        hand = np.arange(hands)
        self.real: npt.NDArray[np.bool_] = hand < side.hands[nodes][:, None]
        # unused slots read the zero row
        self.reach: Index = np.where(self.real, side.reach_at[nodes][:, None] + hand, layout.reach_size[player])
        self.value: Index = np.where(self.real, side.value_at[nodes][:, None] + hand, layout.value_size[player])
        padding = [
            np.arange(side.value_at[n] + side.hands[n], side.value_at[n] + side.width[n], dtype=np.int64) for n in nodes
        ]
        self.padding: Index = np.concatenate([np.zeros(0, np.int64), *padding])
