"""Transitions of many games, and the window of the last of them that values of actions are fitted to.

Algorithm:
    A transition is a decision of one player and what came of it: (infostate, action, reward, next infostate). In games
    that come back to their infostates the transitions of an epoch that are alike are one row with their number and the
    sum of their rewards, which is exact for means: so a window of millions of games is small. The window forgets whole
    epochs, the oldest first.

Reference: Heinrich and Silver 2016 (NFSP), the circular buffer M_RL.
Deviations: the rows that stand for several transitions.
Status: tests/learning/sampled/test_transitions.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch

Tensor = torch.Tensor


class Transitions(NamedTuple):
    """Decisions of one player each, and what came of them; a row stands for all that are alike, or for one.

    Attributes:
        infostates, actions: [n].
        rewards: [n], float64: won at the end of the game if the player does not act again, else 0; the sum of a row.
        following: [n]: the player's next infostate, -1 if there is none.
        number: [n], float64: how many transitions a row stands for.
    """

    infostates: Tensor
    actions: Tensor
    rewards: Tensor
    following: Tensor
    number: Tensor


class Window:
    """The last transitions, in rows of transitions that are alike.

    Attributes:
        infostates, actions, following: [n], of a row.
        number: [n], float64: how many transitions a row stands for.
        rewards: [n], float64: the sum of their rewards.
        epochs: [n]: when they were made, ascending.
        added: how many transitions there were in all.
    """

    _COLUMNS = ("infostates", "actions", "following", "number", "rewards", "epochs")
    _COUNTS = ("number", "rewards")

    def __init__(self, num_infostates: int, num_actions: int, *, device: torch.device | str) -> None:
        self._num_infostates, self._num_actions = num_infostates, num_actions
        self.infostates, self.actions, self.following, self.epochs = (
            torch.zeros(0, dtype=torch.int64, device=device) for _ in range(4)
        )
        self.number, self.rewards = (torch.zeros(0, dtype=torch.float64, device=device) for _ in range(2))
        self.added = 0

    @property
    def count(self) -> int:
        """How many transitions are in it."""
        return int(self.number.sum())

    def add(self, fresh: Transitions, epoch: int) -> None:
        """Adds the transitions of an epoch."""
        infostates, actions, rewards, following, number = fresh
        columns = (infostates, actions, following, number, rewards, torch.full_like(infostates, epoch))
        for name, column in zip(self._COLUMNS, columns, strict=True):
            setattr(self, name, torch.cat([getattr(self, name), column]))
        self.added += int(number.sum())

    def forget(self, most: int) -> None:
        """Drops the oldest epochs until there are at most so many transitions; the last epoch stays."""
        from_here_on = self.number.flip(0).cumsum(0).flip(0)
        old = self.epochs[from_here_on > most]
        if len(old):
            kept = (self.epochs > min(int(old[-1]), int(self.epochs[-1]) - 1)).nonzero().squeeze(1)
            for name in self._COLUMNS:
                setattr(self, name, getattr(self, name)[kept])

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that a checkpoint has to keep, by name."""
        return {**{name: getattr(self, name) for name in self._COLUMNS}, "added": torch.tensor([self.added])}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave.

        Raises:
            ValueError: it is not that of a window of this game.
        """
        columns = {name: tensors[name].to(self.number.device) for name in self._COLUMNS}
        if len(shapes := {tuple(column.shape) for column in columns.values()}) != 1 or len(next(iter(shapes))) != 1:
            raise ValueError(f"a window with columns of {sorted(shapes)} rows")
        ends = {"infostates": (0, self._num_infostates), "following": (-1, self._num_infostates)}
        ends["actions"] = (0, self._num_actions)
        for name, (low, high) in ends.items():
            column = columns[name]
            if len(column) and not (int(column.min()) >= low and int(column.max()) < high):
                raise ValueError(f"a transition has {name} that the game does not have")
        if len(number := columns["number"]) and float(number.min()) < 1.0:
            raise ValueError("a window has rows that stand for no transition")
        for name, column in columns.items():
            setattr(self, name, column.double() if name in self._COUNTS else column.long())
        self.added = int(tensors["added"][0])
