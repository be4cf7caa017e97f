"""Changes of tables: they lead from the one to the other, stay above a floor, and are no larger than they must be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from aleator.abstraction.blueprint.changes import Changes, Draft, Table, Values, marks_of

FLOOR = -1.0


def changes_between(before: Table, after: Table) -> Changes:
    """Returns what deals change that make one table out of another."""
    draft = Draft(np.zeros_like(before), 1)
    draft.whole[:] = before
    draft.begin()
    draft.table[:] = after
    changes = draft.take()
    np.testing.assert_array_equal(draft.table, before)
    return changes


@given(
    arrays.arrays(np.float32, st.integers(0, 200), elements=st.integers(0, 9)),
    st.data(),
)
def test_they_lead_from_one_table_to_another_above_the_floor(
    before: npt.NDArray[np.float32], data: st.DataObject
) -> None:
    after = data.draw(arrays.arrays(np.float32, len(before), elements=st.integers(-9, 9)))
    changes = changes_between(before, after)
    differ = after != before
    np.testing.assert_array_equal(changes.marks, marks_of(differ))
    np.testing.assert_array_equal(changes.added, (after - before)[differ])
    table = before.copy()
    changes.add_to(table, FLOOR)
    np.testing.assert_array_equal(table, np.maximum(after, FLOOR))


def test_changes_of_two_add_up() -> None:
    before = np.array([5.0, 0.0, -3.0], np.float32)
    table = before.copy()
    for after in ([5.0, 2.0, -4.0], [6.0, 3.0, -3.0]):
        changes_between(before, np.array(after, np.float32)).add_to(table, -np.inf)
    assert table.tolist() == [6.0, 5.0, -4.0]


@pytest.mark.parametrize(("added", "sum_"), [(1_999_999_000, -1000), (-2_000_000_000, -2_000_000_000)])
def test_whole_numbers_near_their_floor(added: int, sum_: int) -> None:
    """The second sum is less than what 32 bits hold."""
    regrets = np.array([-2_000_000_000, 5], np.int32)
    zeros = np.zeros(2, np.int32)
    changes_between(zeros, np.array([added, 7], np.int32)).add_to(regrets, -2_000_000_000)
    assert regrets.tolist() == [sum_, 12] and regrets.dtype == np.int32


@pytest.mark.parametrize("kind", [np.float32, np.int32])
@pytest.mark.parametrize("numbers", [1, 63, 64, 65, 1000])
def test_a_draft_is_a_part_of_the_numbers_that_were_written(kind: type[np.float32 | np.int32], numbers: int) -> None:
    """Those of a row of which nothing was written stay 0; a divided whole number loses what is behind the point."""
    rng = np.random.default_rng(numbers)
    table, flags = rng.integers(-50, 50, numbers).astype(kind), rng.random(numbers) < 0.5
    draft = Draft(np.zeros(numbers, kind), 3)
    draft.write(Values.of(table, marks_of(flags)))
    expected = np.where(flags, table, 0)
    np.testing.assert_array_equal(draft.whole, expected)
    np.testing.assert_array_equal(draft.table, (expected / kind(3)).astype(kind))
    draft.table[::2] += kind(7)
    changes = draft.take()
    assert (np.abs(changes.added - 7) < 1e-5).all() and len(changes.added) == -(-numbers // 2)
    np.testing.assert_array_equal(draft.table, (expected / kind(3)).astype(kind))
