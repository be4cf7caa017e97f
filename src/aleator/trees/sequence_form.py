"""The sequence form of a game of many players: terminals as rows of what each player did on the way.

A *sequence* of a player is an infostate and an action there, with all that the player did before. A player's part in
coming to a terminal depends on its last sequence alone. So the terminals, each with one sequence per player, chance's
part and everybody's payoff, are all that a solver needs: reach is a product of P numbers, and what a player can expect
of a sequence is a sum over terminals.

Sequences of all players are numbered together; those of an infostate follow each other, infostates of a player come
after those that lead to them. The number E, one past the last, stands for having done nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.games.multiplayer.base import MultiplayerGame
from aleator.games.multiplayer.walk import MAX_TERMINALS, HistoryWalk

Int32Array = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, kw_only=True)
class PublicStates:
    """What everybody knows, as a tree; S states, parents before children, each with its descendants in one range.

    Attributes:
        keys: as the game says them.
        parent: [S] the state before, -1 for the first.
        end: [S] one past the last descendant.
        actor: [S] who moves there: a player or CHANCE, which deals something that everybody sees.
        round: [S] how often chance has dealt since the first decision.
    """

    keys: list[Hashable]
    parent: Int32Array
    end: Int32Array
    actor: Int32Array
    round: Int32Array

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceForm:
    """A game of P players: I infostates, E sequences, T terminals. Terminals and infostates are in public order.

    Attributes:
        name: of the game.
        num_players: P.
        player: [I] who decides; ascending.
        first: [I + 1] the first sequence of each infostate.
        parent: [I] the player's sequence before, E if there is none.
        public: [I] the public state.
        keys: [I] infostates as the game says them.
        actions: [I] names of the actions.
        sequence: [P, T] everybody's last sequence before a terminal, E if there is none.
        payoff: [P, T] what everybody wins there, times the probability of chance's part.
        last_public: [T] the last public state before a terminal at which somebody moved; ascending.
        publics: the public states; one alone if the game does not say what is public.
    """

    name: str
    num_players: int
    player: Int32Array
    first: Int32Array
    parent: Int32Array
    public: Int32Array
    keys: list[Hashable]
    actions: list[tuple[str, ...]]
    sequence: Int32Array
    payoff: FloatArray
    last_public: Int32Array
    publics: PublicStates

    @property
    def num_infostates(self) -> int:
        """I."""
        return len(self.player)

    @property
    def num_sequences(self) -> int:
        """E."""
        return int(self.first[-1])

    @property
    def num_terminals(self) -> int:
        """T."""
        return len(self.last_public)

    def infostates_of(self, player: int) -> tuple[int, int]:
        """Returns the range of a player's infostates."""
        begin, end = np.searchsorted(self.player, (player, player + 1))
        return int(begin), int(end)

    def sequences_of(self, player: int) -> slice:
        """Returns where a player's sequences are."""
        begin, end = self.infostates_of(player)
        return slice(int(self.first[begin]), int(self.first[end]))

    def infostate_of(self) -> Int32Array:
        """Returns [E]: the infostate of each sequence."""
        return np.repeat(np.arange(self.num_infostates, dtype=np.int32), np.diff(self.first))

    def below(self, state: int) -> tuple[int, int]:
        """Returns the range of terminals that a public state leads to."""
        begin, end = np.searchsorted(self.last_public, (state, self.publics.end[state]))
        return int(begin), int(end)


def uniform_profile(form: SequenceForm) -> FloatArray:
    """Returns [E]: the profile in which all actions are equally likely."""
    counts = np.diff(form.first)
    return np.repeat(1.0 / counts, counts)


def build_sequence_form(game: MultiplayerGame[Any], *, most: int = MAX_TERMINALS) -> SequenceForm:
    """Returns the sequence form of a game, after a walk over all its histories.

    Raises:
        GameError: the rules contradict themselves or a player forgets; the message says where.
        TooBigError: there are more than `most` terminals, or they take too much memory.
    """
    walk = HistoryWalk(game, most=most)
    publics, numbers = _ordered_publics(walk)
    owner = np.array([player for player, _ in walk.infostates], np.int64)
    public = numbers[np.asarray(walk.public)]
    order = np.lexsort((np.arange(len(owner)), public, owner))
    counts = np.array([len(names) for names in walk.actions])[order]
    first = np.concatenate(([0], np.cumsum(counts)))
    moved = np.empty(walk.sequences + 1, np.int64)  # the new number of each sequence; the last is "nothing done"
    moved[-1] = walk.sequences
    within = np.arange(walk.sequences) - np.repeat(first[:-1], counts)
    moved[np.repeat(np.asarray(walk.first)[order], counts) + within] = np.arange(walk.sequences)
    last = numbers[np.asarray(walk.last_public)]
    terminals = np.argsort(last, kind="stable")
    keys, shape = [key for _, key in walk.infostates], (len(last), walk.players)
    return SequenceForm(
        name=game.name,
        num_players=walk.players,
        player=owner[order].astype(np.int32),
        first=first.astype(np.int32),
        parent=moved[np.asarray(walk.parent)[order]].astype(np.int32),
        public=public[order].astype(np.int32),
        keys=[keys[number] for number in order],
        actions=[walk.actions[number] for number in order],
        sequence=np.ascontiguousarray(moved[np.asarray(walk.sequence)].reshape(shape)[terminals].T, np.int32),
        payoff=np.ascontiguousarray(np.asarray(walk.payoff).reshape(shape)[terminals].T),
        last_public=last[terminals].astype(np.int32),
        publics=publics,
    )


def _ordered_publics(walk: HistoryWalk) -> tuple[PublicStates, npt.NDArray[np.int64]]:
    """Returns the public states in preorder, and the new number of each."""
    count = len(walk.publics)
    children: list[list[int]] = [[] for _ in range(count)]
    stack: list[int] = []
    for number, before in enumerate(walk.public_parent):
        (children[before] if before >= 0 else stack).append(number)
    order: list[int] = []
    while stack:
        number = stack.pop()
        order.append(number)
        stack += children[number][::-1]
    numbers = np.empty(count + 1, np.int64)  # the last is "none"
    numbers[order], numbers[-1] = np.arange(count), -1
    parent = numbers[np.asarray(walk.public_parent)[order]].astype(np.int32)
    end = np.arange(1, count + 1, dtype=np.int32)
    for number in range(count - 1, 0, -1):
        if parent[number] >= 0:
            end[parent[number]] = max(end[parent[number]], end[number])
    keys = list(walk.publics)
    states = PublicStates(
        keys=[keys[number] for number in order],
        parent=parent,
        end=end,
        actor=np.asarray(walk.public_actor)[order].astype(np.int32),
        round=np.asarray(walk.public_round)[order].astype(np.int32),
    )
    return states, numbers
