"""Every two-player game of the library as a game of histories, which games of many players are held to."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aleator.games.base import CHANCE, Child, Game
from aleator.games.multiplayer.base import MultiplayerGame
from aleator.games.rules import rules_of


class PairHistory(NamedTuple):
    """A public state and both hands there.

    Attributes:
        state: the public state.
        hands: of both players, by number.
        path: what everybody saw, in words.
        known: per player, its hands on the way: what it knows besides the path.
        chances: where chance is to move: what can come, and how likely; None where the state says who is to act.
    """

    state: Any
    hands: tuple[int, int]
    path: tuple[str, ...]
    known: tuple[tuple[int, ...], tuple[int, ...]]
    chances: tuple[tuple[PairHistory, float], ...] | None = None


class TwoPlayerHistories(MultiplayerGame[PairHistory]):
    """A two-player zero-sum game, history by history.

    A move that leads to several places, such as a secret bid that is compared at once, is followed by a move of chance.
    """

    num_players = 2

    def __init__(self, game: Game[Any]) -> None:
        self.game, self.name = game, game.name

    def start(self) -> PairHistory:
        root = self.game.root()
        deal = self.game.deal(root)
        pairs = [(int(one), int(two)) for one, two in np.argwhere(deal > 0.0)]
        chances = tuple(
            (PairHistory(root, pair, (), ((pair[0],), (pair[1],))), float(deal[pair] / deal.sum())) for pair in pairs
        )
        return PairHistory(root, (-1, -1), (), ((), ()), chances)

    def actor(self, history: PairHistory) -> int:
        return CHANCE if history.chances is not None else self.game.actor(history.state)

    def outcomes(self, history: PairHistory) -> Sequence[float]:
        chances = history.chances if history.chances is not None else self._follow(history, 0)
        return [chance for _, chance in chances]

    def legal(self, history: PairHistory) -> Sequence[str]:
        actions = self.game.actions(history.state)
        return [actions[action] for action in self._legal(history)]

    def act(self, history: PairHistory, action: int) -> PairHistory:
        if history.chances is not None:
            return history.chances[action][0]
        if self.game.actor(history.state) == CHANCE:
            return self._follow(history, 0)[action][0]
        following = self._follow(history, self._legal(history)[action])
        return following[0][0] if len(following) == 1 else history._replace(chances=following)

    def infostate(self, history: PairHistory, player: int) -> Hashable:
        return history.path, history.known[player]

    def public(self, history: PairHistory) -> Hashable:
        return history.path

    def returns(self, history: PairHistory) -> Sequence[float]:
        won = float(self.game.utility(history.state)[history.hands])
        return won, -won

    def rules(self) -> str:
        return rules_of(self.game)

    def _legal(self, history: PairHistory) -> list[int]:
        """Returns the numbers, in the game, of the actions that the hand held has."""
        state = history.state
        return [a for a in range(len(self.game.actions(state))) if self._follow(history, a)]

    def _follow(self, history: PairHistory, action: int) -> tuple[tuple[PairHistory, float], ...]:
        """Returns what can follow an action (0 for chance), with probabilities."""
        state, hands = history.state, history.hands
        actor, counts = self.game.actor(state), self.game.num_hands(state)
        outcomes: list[tuple[PairHistory, float]] = []
        for number, child in enumerate(self.game.children(state)):
            after = [
                _hands_from(child, number, player, actor, counts[player], action, hands[player]) for player in (0, 1)
            ]
            if not len(after[0]) or not len(after[1]):
                continue
            deal = self.game.deal(child.state)
            for one in after[0].tolist():
                for two in after[1].tolist():
                    if deal[one, two] > 0.0:
                        path = (*history.path, child.label)
                        known = ((*history.known[0], one), (*history.known[1], two))
                        outcomes.append((PairHistory(child.state, (one, two), path, known), float(deal[one, two])))
        total = sum(weight for _, weight in outcomes)
        return tuple((after_move, weight / total) for after_move, weight in outcomes)


def _hands_from(
    child: Child[Any], number: int, player: int, actor: int, count: int, action: int, hand: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Returns the hands in a child that come from a hand, by an action of the player if it is the actor."""
    origin = child.origin[player]
    if origin is None:
        possible = player != actor or action == number
        return np.array([hand] if possible else [], np.int64)
    return np.flatnonzero(np.asarray(origin) == hand + (action * count if player == actor else 0))
