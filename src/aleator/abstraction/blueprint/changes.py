"""What is sent of a table instead of all of it: what deals added to some of its numbers, and what some have become.

Which numbers these are is said by *marks*, a bit for each number of the table. All is found and written in one pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.jit import kernel
from aleator.kernels.simd import WIDE, load_wide, lowest_bit, nonzero

Table = npt.NDArray[Any]
Marks = npt.NDArray[np.uint64]

_WORD = 64  # bits, and numbers that are looked at together


def no_marks(numbers: int) -> Marks:
    """Returns marks of none of so many numbers."""
    return np.zeros(-(-numbers // _WORD), np.uint64)


def marks_of(flags: npt.NDArray[np.bool_]) -> Marks:
    """Returns marks of the numbers whose flags are set."""
    marks = no_marks(len(flags))
    marks.view(np.uint8)[: -(-len(flags) // 8)] = np.packbits(flags, bitorder="little")
    return marks


class Changes(NamedTuple):
    """What some deals added to a table.

    Attributes:
        marks: of the numbers that changed; the lowest bit of a word is for the first of 64 numbers.
        added: what was added to them, in their order.
    """

    marks: Marks
    added: Table

    def add_to(self, table: Table, floor: float) -> None:
        """Adds them to a table, and keeps what they change above a floor."""
        add_changes(self.marks, self.added, table, table.dtype.type(floor))


class Values(NamedTuple):
    """What some numbers of a table are.

    Attributes:
        marks: of these numbers.
        values: in their order.
    """

    marks: Marks
    values: Table

    @classmethod
    def of(cls, table: Table, marks: Marks) -> Values:
        """Returns those that are marked."""
        values = np.empty(int(np.bitwise_count(marks).sum()), table.dtype)
        collect(marks, table, values)
        return cls(marks, values)


class Draft:
    """A table to make deals on, which begins as a part of another one, and what deals change there.

    Attributes:
        whole: the other table.
        table: a part of it, but for what deals changed since `take`.
    """

    def __init__(self, table: Table, divisor: int) -> None:
        """Takes over a table of zeros to make deals on; the part of `whole` is one `divisor`-th."""
        self.whole, self.table = np.zeros_like(table), table
        self._divisor: Any = np.float32(divisor) if table.dtype == np.float32 else divisor
        self._marks, self._added = no_marks(len(table)), np.empty(len(table) + 1, table.dtype)
        self._rooms = np.zeros((2, _WORD), table.dtype)

    def write(self, changed: Values) -> None:
        """Writes numbers of `whole`."""
        write_values(changed.marks, changed.values, self.whole, self.table, self._divisor)

    def begin(self) -> None:
        """Makes the table a part of `whole`, all of which may have changed."""
        np.divide(self.whole, self._divisor, out=self.table, casting="unsafe")

    def take(self) -> Changes:
        """Returns what deals changed in the table, which begins again; it is overwritten by the next `take`."""
        count = take_changes(self.whole, self._divisor, self.table, self._marks, self._added, *self._rooms)
        return Changes(self._marks, self._added[:count])


@kernel()
def take_changes(
    whole: Table, divisor: Any, table: Table, marks: Marks, added: Table, before: Table, difference: Table
) -> int:
    """Marks where a table is not a part of another one, writes by how much, and makes it that part.

    Args:
        whole: the other table.
        divisor: makes the part of it.
        table: what deals changed; changed back.
        marks: overwritten.
        added: [numbers + 1], overwritten; what is behind the changes is of no use.
        before, difference: [64], working memory.

    Returns:
        How many numbers differed.
    """
    numbers, count = len(table), 0
    for word in range(len(marks)):
        first = _WORD * word
        size = min(_WORD, numbers - first)
        if size < _WORD:
            difference[:] = 0
        for place in range(size):
            before[place] = whole[first + place] / divisor
        for place in range(size):
            difference[place] = table[first + place] - before[place]
        bits = np.uint64(0)
        for part in range(_WORD // WIDE):
            bits |= nonzero(load_wide(difference, WIDE * part)) << np.uint64(WIDE * part)
        marks[word] = bits
        if bits:
            for place in range(size):
                table[first + place] = before[place]
            while bits:
                added[count] = difference[lowest_bit(bits)]
                count += 1
                bits &= bits - np.uint64(1)
    return count


@kernel()
def add_changes(marks: Marks, added: Table, table: Table, floor: Any) -> None:
    """Adds to the numbers that are marked, and lifts those to a floor."""
    count = 0
    for word in range(len(marks)):
        bits = marks[word]
        while bits:
            place = _WORD * word + lowest_bit(bits)
            table[place] = max(table[place] + added[count], floor)
            count += 1
            bits &= bits - np.uint64(1)


@kernel()
def collect(marks: Marks, table: Table, values: Table) -> None:
    """Writes the numbers that are marked one after the other."""
    count = 0
    for word in range(len(marks)):
        bits = marks[word]
        while bits:
            values[count] = table[_WORD * word + lowest_bit(bits)]
            count += 1
            bits &= bits - np.uint64(1)


@kernel()
def write_values(marks: Marks, values: Table, whole: Table, part: Table, divisor: Any) -> None:
    """Writes numbers of a table and of one that is a part of it."""
    count = 0
    for word in range(len(marks)):
        bits = marks[word]
        while bits:
            place = _WORD * word + lowest_bit(bits)
            whole[place] = values[count]
            part[place] = values[count] / divisor
            count += 1
            bits &= bits - np.uint64(1)
