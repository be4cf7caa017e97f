"""What deals have changed in a table: which numbers, and by how much, found and added in one pass each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.jit import kernel

Table = npt.NDArray[Any]
Marks = npt.NDArray[np.uint8]


class Changes(NamedTuple):
    """What some deals added to a table.

    Attributes:
        marks: a bit for every number of the table, the lowest bit of a byte first: whether it changed.
        added: what was added to those that did, in their order.
    """

    marks: Marks
    added: Table

    @classmethod
    def between(cls, before: Table, after: Table) -> Changes:
        """Returns what leads from one table to another."""
        marks, added = np.zeros(-(-len(before) // 8), np.uint8), np.empty_like(before)
        count = find_changes(before, after, marks, added)
        return cls(marks, added[:count].copy())

    def add_to(self, table: Table, floor: float) -> None:
        """Adds them to a table, and keeps what they change above a floor."""
        add_changes(self.marks, self.added, table, table.dtype.type(floor))


@kernel()
def find_changes(before: Table, after: Table, marks: Marks, added: Table) -> int:
    """Marks the numbers that differ and writes by how much, one after the other; returns how many they are.

    Args:
        before, after: [numbers].
        marks: [numbers / 8, rounded up] of zeros.
        added: [numbers]; what is behind the changes is of no use.
    """
    numbers, count = len(before), 0
    for byte in range(len(marks)):
        first, bits = 8 * byte, 0
        for place in range(first, min(first + 8, numbers)):
            difference = after[place] - before[place]
            changed = int(difference != 0)
            added[count] = difference
            bits |= changed << (place - first)
            count += changed
        marks[byte] = bits
    return count


@kernel()
def add_changes(marks: Marks, added: Table, table: Table, floor: Any) -> None:
    """Adds to the numbers that are marked, and lifts those to a floor."""
    count = 0
    for byte in range(len(marks)):
        place, bits = 8 * byte, int(marks[byte])
        while bits:
            if bits & 1:
                table[place] = max(table[place] + added[count], floor)
                count += 1
            bits >>= 1
            place += 1
