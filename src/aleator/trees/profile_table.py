"""Profiles of many players as a table: one row for each action of each infostate, for people and other programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from aleator.games.base import FloatArray
from aleator.trees.sequence_form import SequenceForm


class ProfileRow(NamedTuple):
    """How likely a player is to take an action.

    Attributes:
        player: who acts, from 0 on.
        public: what everybody knows, as the game says it; empty if it does not.
        infostate: what the player knows, as the game says it.
        action: its name.
        probability: between 0 and 1.
    """

    player: int
    public: str
    infostate: str
    action: str
    probability: float


def profile_rows(form: SequenceForm, profile: FloatArray) -> Iterator[ProfileRow]:
    """Yields the rows of all infostates, those of a player one after the other."""
    for infostate, actions in enumerate(form.actions):
        public = form.publics.keys[form.public[infostate]]
        for place, action in enumerate(actions, start=int(form.first[infostate])):
            yield ProfileRow(
                int(form.player[infostate]),
                "" if public is None else str(public),
                str(form.keys[infostate]),
                action,
                float(profile[place]),
            )
