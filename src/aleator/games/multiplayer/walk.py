"""A walk over all histories of a game of many players, which checks the rules on the way.

Numbers are in the order of meeting; a history's moves of chance before the first decision have no public state.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import Any

import numpy as np

from aleator.errors import AleatorError, GameError, raised
from aleator.games.base import CHANCE, TERMINAL
from aleator.games.multiplayer.base import MAX_PLAYERS, MultiplayerGame
from aleator.meter import Meter

MAX_TERMINALS = 20_000_000
_TOLERANCE = 1e-9


class HistoryWalk:
    """All histories of a game.

    Attributes:
        game, players: the game, and how many play.
        histories: all that were met, moves of chance and ends included.
        infostates: (player, what it knows) -> number.
        first, parent, public, actions: of each infostate: its first sequence, the player's sequence before (-1: none),
            the public state, and the names of its actions.
        sequences: how many there are: an infostate has one for each action.
        sequence, payoff, last_public: of each terminal, the first two for each player: the last sequence, chance's part
            times the payoff, the last public state.
        publics: public states -> number.
        public_parent, public_actor, public_round: of each public state: the one before, who moves, and how often chance
            has dealt since the first decision.
    """

    def __init__(self, game: MultiplayerGame[Any], *, most: int = MAX_TERMINALS, twice: bool = False) -> None:
        """Walks through a game.

        Args:
            game: any.
            most: how many terminals are allowed.
            twice: ask everything a second time, and compare.

        Raises:
            GameError: the rules contradict themselves or a player forgets; the message says where.
            TooBigError: there are more than `most` terminals, or they take too much memory.
        """
        self.game, self.players, self._twice = game, game.num_players, twice
        self.histories = self.sequences = 0
        self.infostates: dict[tuple[int, Hashable], int] = {}
        self.first, self.parent, self.public = array("q"), array("q"), array("q")
        self.actions: list[tuple[str, ...]] = []
        self.sequence, self.payoff, self.last_public = array("q"), array("d"), array("q")
        self.publics: dict[Hashable, int] = {}
        self.public_parent, self.public_actor, self.public_round = array("q"), array("q"), array("q")
        if not 2 <= self.players <= MAX_PLAYERS:
            raise GameError(f"{game.name} has {self.players} players; 2 to {MAX_PLAYERS} are allowed")
        try:
            with Meter(game.name, f"walking through {game.name}", "terminals", most=most) as meter:
                self._walk(meter)
        except AleatorError:
            raise
        except Exception as error:
            raise GameError(f"{game.name}: the rules raise {raised(error)}") from error
        if not self.actions:
            raise GameError(f"{game.name}: nobody ever decides anything")
        if not np.isfinite(self.payoff).all():
            raise GameError(f"{game.name}: some history ends with a payoff that is not a finite number")

    def _walk(self, meter: Meter) -> None:
        game = self.game
        waiting: list[tuple[Any, float, tuple[int, ...], int, int]] = [(game.start(), 1.0, (-1,) * self.players, -1, 0)]
        while waiting:
            history, chance, last, public, depth = waiting.pop()
            meter.check_moves(depth)
            self.histories += 1
            actor = game.actor(history)
            if self._twice:
                self._ask_again(history, actor)
            if actor == TERMINAL:
                meter.add()
                self._end(history, chance, last, public)
            elif actor == CHANCE:
                outcomes = game.outcomes(history)
                if not abs(sum(outcomes) - 1.0) <= _TOLERANCE or min(outcomes) < 0.0:
                    raise GameError(f"{game.name}: not a distribution over moves of chance: {list(outcomes)}")
                if public >= 0:
                    public = self._public(history, CHANCE, public)
                for number in reversed(range(len(outcomes))):
                    if outcomes[number] > 0.0:
                        after = game.act(history, number)
                        waiting.append((after, chance * outcomes[number], last, public, depth + 1))
            else:
                if not 0 <= actor < self.players:
                    raise GameError(f"{game.name}: player {actor} is to act; there are {self.players}")
                public = self._public(history, actor, public)
                first, count = self._decision(history, actor, last, public)
                for action in reversed(range(count)):
                    sequences = (*last[:actor], first + action, *last[actor + 1 :])
                    waiting.append((game.act(history, action), chance, sequences, public, depth + 1))

    def _ask_again(self, history: Any, actor: int) -> None:
        """Raises GameError if the rules answer differently when they are asked again."""
        game = self.game
        same = game.actor(history) == actor and game.public(history) == game.public(history)
        if actor == TERMINAL:
            same = same and np.array_equal(game.returns(history), game.returns(history), equal_nan=True)
        elif actor == CHANCE:
            same = same and tuple(game.outcomes(history)) == tuple(game.outcomes(history))
        elif 0 <= actor < self.players:
            same = same and tuple(game.legal(history)) == tuple(game.legal(history))
            same = same and game.infostate(history, actor) == game.infostate(history, actor)
        if not same:
            raise GameError(f"{game.name} at {history!r}: the rules answer differently when they are asked again")

    def _public(self, history: Any, actor: int, before: int) -> int:
        """Returns the number of a public state."""
        key = self.game.public(history)
        number = self.publics.setdefault(key, len(self.publics))
        if number == len(self.public_parent):
            self.public_parent.append(before)
            self.public_actor.append(actor)
            dealt = before >= 0 and self.public_actor[before] == CHANCE
            self.public_round.append(self.public_round[before] + dealt if before >= 0 else 0)
        elif key is not None and number != before and self.public_parent[number] != before:
            raise GameError(f"{self.game.name}: the public state {key!r} can be reached in two ways")
        return number

    def _decision(self, history: Any, actor: int, last: tuple[int, ...], public: int) -> tuple[int, int]:
        """Returns where the sequences of an infostate begin, and how many there are."""
        game = self.game
        key, names, before = game.infostate(history, actor), tuple(game.legal(history)), last[actor]
        number = self.infostates.setdefault((actor, key), len(self.actions))
        if number == len(self.actions):
            if not names or len(set(names)) < len(names):
                raise GameError(f"{game.name}: the infostate {key!r} of player {actor} has the actions {list(names)}")
            self.first.append(self.sequences)
            self.parent.append(before)
            self.public.append(public)
            self.actions.append(names)
            self.sequences += len(names)
        elif self.actions[number] != names:
            raise GameError(f"{game.name}: the infostate {key!r} of player {actor} has different legal actions")
        elif self.parent[number] != before:
            raise GameError(f"{game.name}: the infostate {key!r} of player {actor} forgets what its player did or knew")
        elif self.public[number] != public:
            raise GameError(f"{game.name}: the infostate {key!r} of player {actor} does not know what is public")
        return self.first[number], len(names)

    def _end(self, history: Any, chance: float, last: tuple[int, ...], public: int) -> None:
        returns = self.game.returns(history)
        if len(returns) != self.players:
            raise GameError(f"{self.game.name}: {self.players} players win {list(returns)}")
        self.sequence.extend(last)
        self.payoff.extend([chance * won for won in returns])
        self.last_public.append(max(public, 0))
