"""A game in progress: the table deals, keeps the hands, checks moves, and tells each player what it may know."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aleator.errors import GameError
from aleator.games.base import CHANCE, TERMINAL, Child, Game


@dataclass(frozen=True, slots=True)
class PublicHistory:
    """All that everybody knows when it is a player's turn.

    Attributes:
        seat: whose turn it is, 0 or 1.
        state: the public state.
        events: which child followed at each public state since the game began.
    """

    seat: int
    state: Hashable
    events: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """All that a player knows when it is its turn.

    Attributes:
        seat: whose turn it is, 0 or 1.
        state: the public state.
        hand: the number of the player's hand there.
        events: which child followed at each public state since the game began: what everybody saw.
        legal: the actions that this hand may take.
    """

    seat: int
    state: Hashable
    hand: int
    events: tuple[int, ...]
    legal: tuple[int, ...]

    @property
    def history(self) -> PublicHistory:
        """The part of it that everybody knows."""
        return PublicHistory(self.seat, self.state, self.events)


def legal_actions_at(game: Game[Any], state: Hashable) -> npt.NDArray[np.bool_]:
    """Returns [A, H]: which hand of the player to act may take which action; some child must have the hand."""
    player = game.actor(state)
    legal = np.zeros((len(game.actions(state)), game.num_hands(state)[player]), dtype=np.bool_)
    for number, child in enumerate(game.children(state)):
        origin = child.origin[player]
        if origin is None:
            legal[number] = True
        else:
            legal.reshape(-1)[origin] = True
    return legal


class Table:
    """One game from the deal to the end.

    Attributes:
        game: what is played.
        state: the public state; at the start chance has dealt and moved until a player has to act.
        hands: the number of each player's hand.
        events: which child followed at each public state so far.
        past_states: the public states at the start and after each event.
        past_hands: the players' hands there.
        labels: what everybody saw happen, in words.
    """

    def __init__(self, game: Game[Any], rng: np.random.Generator) -> None:
        self._begin(game, rng, game.deal_operator(game.root()).sample(rng))
        self._let_chance_move()

    def _begin(self, game: Game[Any], rng: np.random.Generator, hands: tuple[int, int]) -> None:
        self.game, self._rng, self.state, self.hands = game, rng, game.root(), hands
        self.events: tuple[int, ...] = ()
        self.past_states: list[Hashable] = [self.state]
        self.past_hands = [hands]
        self.labels: list[str] = []

    def _enter(self, event: int, child: Child[Any], hands: tuple[int, int]) -> None:
        self.state, self.hands = child.state, hands
        self.events += (event,)
        self.past_states.append(child.state)
        self.past_hands.append(hands)
        self.labels.append(child.label)

    @classmethod
    def resumed(
        cls, game: Game[Any], events: Sequence[int], past_hands: Sequence[tuple[int, int]], rng: np.random.Generator
    ) -> Table:
        """Returns a table where an earlier one was left, with what it had as `events` and `past_hands`.

        Raises:
            GameError: there is no such event, or there are not as many hands as public states.
        """
        if len(past_hands) != len(events) + 1:
            raise GameError(
                f"after {len(events)} events there are {len(events) + 1} pairs of hands, not {len(past_hands)}"
            )
        table = cls.__new__(cls)
        table._begin(game, rng, past_hands[0])
        for event, hands in zip(events, past_hands[1:], strict=True):
            children = game.children(table.state)
            if not 0 <= event < len(children):
                raise GameError(f"no event {event}; this public state has children 0 to {len(children) - 1}")
            table._enter(event, children[event], hands)
        return table

    @property
    def actor(self) -> int:
        """Whose turn it is: 0, 1, or TERMINAL when the game is over."""
        return self.game.actor(self.state)

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.actor == TERMINAL

    @property
    def history(self) -> PublicHistory:
        """What everybody knows now."""
        return PublicHistory(self.actor, self.state, self.events)

    def observe(self) -> Observation:
        """Returns what the player whose turn it is knows."""
        if self.is_over:
            raise GameError("the game is over: there is nothing left to do")
        return Observation(self.actor, self.state, self.hands[self.actor], self.events, self._legal())

    def act(self, action: int) -> None:
        """Lets the player whose turn it is take an action, and then chance, until a player acts or the game is over."""
        if self.is_over:
            raise GameError("the game is over: there is nothing left to do")
        if action not in self._legal():
            names = self.game.actions(self.state)
            raise GameError(f"action {action} is not legal; allowed: {[(a, names[a]) for a in self._legal()]}")
        self._step(action)
        self._let_chance_move()

    def payoff(self, player: int) -> float:
        """Returns what a player has won, once the game is over."""
        if not self.is_over:
            raise GameError("the game is not over yet")
        won = self.game.winnings(self.state, self.hands)
        return won if player == 0 else -won

    def _legal(self) -> tuple[int, ...]:
        """Returns the actions that the actor's hand may take."""
        mine = legal_actions_at(self.game, self.state)[:, self.hands[self.actor]]
        return tuple(np.flatnonzero(mine).tolist())

    def _let_chance_move(self) -> None:
        while self.actor == CHANCE:
            self._step(None)

    def _step(self, action: int | None) -> None:
        """Goes to a child with hands drawn as chance would, given the hands so far and the actor's action."""
        children = self.game.children(self.state)
        ways, weights = [], []
        for number, child in enumerate(children):
            first, second = (self._hands_after(child, number, player, action) for player in (0, 1))
            if len(first) and len(second):
                deal = self.game.deal_operator(child.state)
                for i in first:
                    for j in second:
                        ways.append((number, int(i), int(j)))
                        weights.append(deal.probability((int(i), int(j))))
        event, first_hand, second_hand = ways[int(self._rng.choice(len(ways), p=np.array(weights) / sum(weights)))]
        self._enter(event, children[event], (first_hand, second_hand))

    def _hands_after(self, child: Child[Any], number: int, player: int, action: int | None) -> npt.NDArray[np.intp]:
        """Returns the hands of a player in a child that come from the present one."""
        hand, origin = self.hands[player], child.origin[player]
        acts = action is not None and self.actor == player
        if origin is None:
            return np.array([hand] if not acts or number == action else [], dtype=np.intp)
        if acts and action is not None:
            return np.flatnonzero(origin == action * self.game.num_hands(self.state)[player] + hand)
        return np.flatnonzero(origin == hand)
