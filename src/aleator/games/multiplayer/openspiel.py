"""OpenSpiel's games of any number of players and any payoffs, history by history."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from aleator.errors import GameError
from aleator.games.base import CHANCE, TERMINAL
from aleator.games.extensive.openspiel import asking, load_source, quiet
from aleator.games.multiplayer.base import MAX_PLAYERS, MultiplayerGame


class OpenSpielHistories(MultiplayerGame[Any]):
    """A game of OpenSpiel; `source` is the (turn-based) pyspiel game, histories are its states."""

    def __init__(self, source: Any, *, name: str) -> None:
        self.source, self.name, self.num_players = source, name, source.num_players()

    def start(self) -> Any:
        with quiet():
            return self.source.new_initial_state()

    def actor(self, history: Any) -> int:
        player: int = history.current_player()
        return player if player >= 0 else CHANCE if player == -1 else TERMINAL

    def outcomes(self, history: Any) -> Sequence[float]:
        return [chance for _, chance in history.chance_outcomes()]

    def legal(self, history: Any) -> Sequence[str]:
        player = history.current_player()
        return [history.action_to_string(player, action) for action in history.legal_actions()]

    def act(self, history: Any, action: int) -> Any:
        if history.is_chance_node():
            return history.child(history.chance_outcomes()[action][0])
        return history.child(history.legal_actions()[action])

    def infostate(self, history: Any, player: int) -> Hashable:
        text: str = history.information_state_string(player)
        return text

    def returns(self, history: Any) -> Sequence[float]:
        returns: list[float] = history.returns()
        return returns

    def rules(self) -> str:
        return f"The rules are those of {self.source.get_type().short_name} in OpenSpiel."


def load_openspiel_histories(text: str) -> OpenSpielHistories:
    """Returns a game of OpenSpiel by its name, such as `leduc_poker(players=3)`.

    Raises:
        MissingExtraError: OpenSpiel is not installed.
        GameError: no such game, too many players, or it does not say what a player knows.
    """
    import pyspiel

    name, source = f"openspiel:{text.strip()}", load_source(text.strip())
    kind, known = source.get_type(), pyspiel.GameType
    if not 2 <= source.num_players() <= MAX_PLAYERS:
        raise GameError(f"{name} has {source.num_players()} players; 2 to {MAX_PLAYERS} are allowed")
    if kind.chance_mode == known.ChanceMode.SAMPLED_STOCHASTIC:
        raise GameError(f"{name} samples its chance moves; explicit probabilities are needed")
    with asking(name.removeprefix("openspiel:")):
        if kind.dynamics == known.Dynamics.SIMULTANEOUS:
            source = pyspiel.convert_to_turn_based(source)
        elif kind.dynamics != known.Dynamics.SEQUENTIAL:
            raise GameError(
                f"{name} is a {kind.dynamics.name.lower()} game; a sequential or simultaneous one is needed"
            )
        if not source.get_type().provides_information_state_string:
            raise GameError(f"{name} does not say what a player knows (it has no information_state_string)")
        return OpenSpielHistories(source, name=name)


def count_players(text: str) -> int:
    """Returns how many players a game of OpenSpiel has; raises as `load_openspiel_histories` does."""
    players: int = load_source(text.strip()).num_players()
    return players
