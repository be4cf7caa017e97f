"""A dealer of our own for other people's bots: deals, referees, keeps time, and writes ACPC logs.

Whoever answers too late, or something that is not legal, folds (or checks); so does whoever has gone.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

import numpy as np

from aleator.arena.acpc.lines import Lines
from aleator.arena.acpc.match_state import (
    VERSION,
    AcpcError,
    format_betting,
    format_dealt,
    format_match_state,
    parse_action,
    parse_hand_fields,
)
from aleator.arena.whole_hands.deals import deal_hands
from aleator.errors import AleatorError
from aleator.games.holdem.betting import CALL, FOLD, Action
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandSetup, HandState

OnFault = Callable[[str, str], None]
_LOOK_EVERY = 0.25  # seconds between looks at whether to stop


@dataclass(frozen=True, slots=True, kw_only=True)
class DealerConfig:
    """What is dealt, and how long players may think.

    Attributes:
        setup: the game.
        names: of the players, in the order of their ports.
        hands: how many.
        seed: of the cards.
        seconds_per_action, seconds_per_hand: for one answer, and for all answers of a player in one hand.
        seconds_to_come: how long the dealer waits for all players.
    """

    setup: HandSetup
    names: tuple[str, ...]
    hands: int
    seed: int = 0
    seconds_per_action: float = 10.0
    seconds_per_hand: float = 60.0
    seconds_to_come: float = 600.0

    def __post_init__(self) -> None:
        if len(self.names) != self.setup.num_players:
            raise AcpcError(f"{self.setup.num_players} players need as many names and ports, not {len(self.names)}")
        if self.hands < 1:
            raise AcpcError(f"a match has at least 1 hand, not {self.hands}")
        for name in ("seconds_per_action", "seconds_per_hand", "seconds_to_come"):
            if not 0 < getattr(self, name) < math.inf:
                raise AcpcError(f"{name} must be a positive number, not {getattr(self, name)}")
        if len(set(self.names)) < len(self.names):
            raise AcpcError(f"names {', '.join(self.names)}: each player needs one of its own")
        for name in self.names:
            if not name or any(c in name for c in ":|\r\n"):
                raise AcpcError(f"{name!r} cannot be a name in a log: colons, bars and line ends are not allowed")


@dataclass(slots=True)
class DealerResult:
    """Chips of each player in the order of ports, hands played, and mistakes: late, illegal or missing answers."""

    won: list[int]
    hands: int = 0
    mistakes: list[int] = field(default_factory=list)


def listen(ports: Sequence[int]) -> list[socket.socket]:
    """Returns sockets that listen on localhost; port 0 takes any free one.

    Raises:
        AcpcError: a port is taken.
    """
    servers: list[socket.socket] = []
    for port in ports:
        try:
            servers.append(socket.create_server(("127.0.0.1", port)))
        except (OSError, OverflowError) as error:
            for other in servers:
                other.close()
            raise AcpcError(f"cannot listen on port {port}: {error}") from None
    return servers


def deal_match(
    config: DealerConfig,
    listening: Sequence[socket.socket],
    *,
    on_log: Callable[[str], None],
    on_hand: Callable[[DealerResult], bool] | None = None,
    on_fault: OnFault = lambda name, fault: None,
    stopped: Callable[[], bool] = lambda: False,
) -> DealerResult:
    """Returns the result after all hands.

    Args:
        config: what is dealt.
        listening: one socket per player.
        on_log: is told every line of the log, one per hand, and the score at the end.
        on_hand: is told the result after each hand; the match ends if it returns True.
        on_fault: is told the name of a player, and what was wrong at its port: a connection that did not greet with
            version 2 of the protocol, which is refused, or an answer that does not count.
        stopped: whether to wait for players no longer; no hand is dealt then.

    Raises:
        AcpcError: a player did not come in time.
    """
    players = _wait_for_players(config, listening, on_fault, stopped)
    if not players:
        return DealerResult([0] * len(config.names), mistakes=[0] * len(config.names))
    result = DealerResult([0] * len(players), mistakes=[0] * len(players))
    try:
        for number in range(config.hands):
            line = _Hand(config, players, number, result, on_fault).play()
            on_log(line)
            if on_hand is not None and on_hand(result):
                break
    finally:
        for player in players:
            player.close()
    on_log(f"SCORE:{'|'.join(map(str, result.won))}:{'|'.join(config.names)}")
    return result


def _wait_for_players(
    config: DealerConfig,
    listening: Sequence[socket.socket],
    on_fault: OnFault,
    stopped: Callable[[], bool],
) -> list[Lines]:
    """Returns the connections of all players; none if it was stopped before."""
    players: list[Lines] = []
    deadline = monotonic() + config.seconds_to_come
    for name, server in zip(config.names, listening, strict=True):
        while (came := _accept(server, deadline, stopped)) is not None:
            fault = _fault_of_greeting(came, config.seconds_per_action)
            if fault is None:
                players.append(came)
                break
            came.close()
            on_fault(name, f"who came to its port {fault}, and was refused; allowed: {VERSION}")
        else:
            for player in players:
                player.close()
            if stopped():
                return []
            raise AcpcError(f"{name} did not come to its port within {config.seconds_to_come:g} s")
    return players


def _accept(server: socket.socket, deadline: float, stopped: Callable[[], bool]) -> Lines | None:
    """Returns the next connection; None if none came by the deadline, or if it was stopped."""
    while not stopped() and (left := deadline - monotonic()) > 0:
        server.settimeout(min(left, _LOOK_EVERY))
        try:
            return Lines(server.accept()[0])
        except OSError:  # nobody yet, or gone before it was accepted
            continue
    return None


def _fault_of_greeting(player: Lines, seconds: float) -> str | None:
    """Returns what is wrong with the first thing that a player says, None if it is our version of the protocol."""
    try:
        said = player.read(seconds)
    except AcpcError as error:
        return f"did not greet ({error})"
    if said is None:
        return "left without a word"
    return None if said.rpartition(".")[0].rpartition(".")[0] == VERSION.split(".")[0] else f"said {said[:60]!r}"


class _Hand:
    """One hand: who sits where, and how much time each has left."""

    def __init__(
        self, config: DealerConfig, players: Sequence[Lines], number: int, result: DealerResult, on_fault: OnFault
    ) -> None:
        count, self.on_fault = len(players), on_fault
        self.config, self.players, self.number, self.result = config, players, number, result
        self.at = [(position - number) % count for position in range(count)]  # the player at each position
        cards = deal_hands(config.setup, config.seed, np.array([number * count]))
        self.hands = tuple(int(hand) for hand in cards.hands[0])
        self.board = tuple(int(card) for card in cards.boards[0])
        self.left = [config.seconds_per_hand] * count

    def play(self) -> str:
        """Plays to the end; returns the line of the log."""
        state = self.config.setup.start().deal_from(self.board)
        self._tell(state)
        while not state.is_over:
            state = state.act(self._ask(state)).deal_from(self.board)
            self._tell(state)
        record = self._record(state)
        won = record.payoffs()
        for position, chips in enumerate(won):
            self.result.won[self.at[position]] += chips
        self.result.hands += 1
        names = "|".join(self.config.names[player] for player in self.at)
        return f"STATE:{self.number}:{format_betting(record)}:{format_dealt(record)}:{'|'.join(map(str, won))}:{names}"

    def _record(self, state: HandState) -> HandRecord:
        return HandRecord(
            setup=self.config.setup, hands=self.hands, board=state.board, actions=state.actions, number=self.number
        )

    def _tell(self, state: HandState) -> None:
        record = self._record(state)
        for position, player in enumerate(self.at):
            self.players[player].write(format_match_state(record.view(position), position))

    def _ask(self, state: HandState) -> Action:
        """Returns the answer of who acts, or a fold or check if there is none that counts."""
        position = state.player
        assert position is not None
        player = self.at[position]
        message = format_match_state(self._record(state).view(position), position)
        began = monotonic()
        try:
            return self._answer(state, player, message, began)
        except AcpcError as error:
            self.result.mistakes[player] += 1
            self.on_fault(self.config.names[player], f"hand {self.number}: {error}")
            return FOLD if state.legal_actions().can_fold else CALL
        finally:
            self.left[player] -= monotonic() - began

    def _answer(self, state: HandState, player: int, message: str, began: float) -> Action:
        """Returns what a player answers to a message.

        Raises:
            AcpcError: nothing came in time, or nothing that counts.
        """
        while True:
            spent = monotonic() - began
            said = self.players[player].read(min(self.config.seconds_per_action, self.left[player]) - spent)
            if said is None:
                raise AcpcError("it has gone")
            if said.startswith(f"{message}:"):
                word, legal = said[len(message) + 1 :], state.legal_actions()
                action = parse_action(state, word)
                if not legal.allows(action):
                    raise AcpcError(f"{word!r} is illegal after {message}: it may {legal}")
                return action
            if said and said[0] not in "#;" and not said.startswith("MATCHSTATE:"):  # old answers are passed over
                raise AcpcError(f"{said[:60]!r} is no answer to {message}")


def read_log(text: str, setup: HandSetup) -> list[HandRecord | AcpcError]:
    """Returns the hands of a dealer's log; an error with the line in place of each that cannot be read."""
    records: list[HandRecord | AcpcError] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("STATE:"):
            continue
        fields = line.split(":")
        try:
            if len(fields) != 6:
                raise AcpcError("STATE has a number, betting, cards, values and names")
            record = parse_hand_fields(fields[1], fields[2], fields[3], setup)
            _check_result(record, fields[4])
            names = tuple(fields[5].split("|"))
            records.append(
                HandRecord(
                    setup=setup,
                    hands=record.hands,
                    board=record.board,
                    actions=record.actions,
                    names=names,
                    number=record.number,
                )
            )
        except AleatorError as error:
            records.append(AcpcError(f"line {number}: {error}"))
    return records


def _check_result(record: HandRecord, stated: str) -> None:
    """Raises AcpcError if what a log says that players won is not what the rules of the game give them."""
    known = record.state().is_over and all(
        record.hands[player] is not None for player in record.state().betting.live_players
    )
    if known and (won := "|".join(map(str, record.payoffs()))) != stated:
        raise AcpcError(
            f"the log says that players won {stated[:60]}, but in this game they won {won}: is it another game?"
        )
