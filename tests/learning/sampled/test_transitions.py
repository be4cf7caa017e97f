"""Rows of the window stand for the transitions that were added, and the oldest epochs are forgotten first."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from aleator.learning.sampled.transitions import Transitions, Window

FRESH = Transitions(
    torch.tensor([3, 0, 3, 2]),
    torch.tensor([1, 0, 1, 1]),
    torch.tensor([0.25, -1.0, 0.0, 2.0], dtype=torch.float64),
    torch.tensor([-1, -1, 2, -1]),
    torch.tensor([2.0, 1.0, 1.0, 1.0], dtype=torch.float64),
)


def window() -> Window:
    return Window(4, 2, device="cpu")


def test_rows_stand_for_several_transitions() -> None:
    found = window()
    found.add(FRESH, 0)
    assert found.count == found.added == 5 and len(found.number) == 4


@pytest.mark.parametrize(("most", "epochs"), [(20, {0, 1, 2}), (15, {0, 1, 2}), (14, {1, 2}), (9, {2}), (1, {2})])
def test_whole_epochs_are_forgotten(most: int, epochs: set[int]) -> None:
    found = window()
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
