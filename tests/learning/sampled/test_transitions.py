"""Rows of the window stand for the transitions that were added, and the oldest epochs are forgotten first."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from aleator.learning.sampled.transitions import Transitions, Window

FRESH = Transitions(
    torch.tensor([3, 0, 3, 3, 2]),
    torch.tensor([1, 0, 1, 1, 1]),
    torch.tensor([0.5, -1.0, -0.25, 0.0, 2.0]),
    torch.tensor([-1, -1, -1, 2, -1]),
)


def window(*, alike: bool = True) -> Window:
    return Window(4, 2, alike=alike, device="cpu")


def sums(found: Window) -> dict[tuple[int, int, int], tuple[float, float]]:
    """Returns by infostate, action and next infostate how many transitions there were, and the sum of their rewards."""
    added: dict[tuple[int, int, int], tuple[float, float]] = {}
    columns = (found.infostates, found.actions, found.following, found.number, found.rewards)
    for infostate, action, following, number, reward in zip(*(column.tolist() for column in columns), strict=True):
        before = added.get((infostate, action, following), (0.0, 0.0))
        added[infostate, action, following] = (before[0] + number, before[1] + reward)
    return added


def test_transitions_that_are_alike_are_one_row() -> None:
    kept, single = window(), window(alike=False)
    for found in (kept, single):
        found.add(FRESH, 0)
        assert found.count == found.added == 5
    assert sums(kept) == sums(single) == {
        (3, 1, -1): (2.0, 0.25), (0, 0, -1): (1.0, -1.0), (3, 1, 2): (1.0, 0.0), (2, 1, -1): (1.0, 2.0),
    }  # fmt: skip
    assert len(kept.number) == 4 and len(single.number) == 5


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize(("most", "epochs"), [(20, {0, 1, 2}), (15, {0, 1, 2}), (14, {1, 2}), (9, {2}), (1, {2})])
def test_whole_epochs_are_forgotten(alike: bool, most: int, epochs: set[int]) -> None:
    found = window(alike=alike)
    for epoch in range(3):
        found.add(FRESH, epoch)
    found.forget(most)
    assert set(found.epochs.tolist()) == epochs and found.count == 5 * len(epochs) and found.added == 15


def test_a_window_is_kept_and_read() -> None:
    found, again = window(), window()
    found.add(FRESH, 0)
    found.add(FRESH, 1)
    again.load(found.tensors())
    assert again.added == 10 and all(torch.equal(part, again.tensors()[name]) for name, part in found.tensors().items())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("infostates", 4, "infostates that the game does not have"),
        ("following", -2, "following that the game does not have"),
        ("actions", 9, "actions that the game does not have"),
        ("number", 0, "rows that stand for no transition"),
    ],
)
def test_impossible_transitions_are_refused(name: str, value: Any, message: str) -> None:
    found = window()
    found.add(FRESH, 0)
    tensors = found.tensors()
    broken = tensors[name].clone()
    broken[0] = value
    with pytest.raises(ValueError, match=message):
        window().load({**tensors, name: broken})
    with pytest.raises(ValueError, match="a window with columns of"):
        window().load({**tensors, name: tensors[name][1:]})
