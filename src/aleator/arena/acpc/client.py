"""An agent of ours at somebody's ACPC dealer."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, ask_policies
from aleator.arena.acpc.lines import Lines
from aleator.arena.acpc.match_state import VERSION, AcpcError, MatchState, format_action, parse_match_state
from aleator.games.holdem.betting import Action
from aleator.games.holdem.hand_batch import HandBatch, code_action
from aleator.games.holdem.hand_state import HandSetup, HandState

OnLine = Callable[[str], None]


@dataclass(slots=True)
class AcpcResult:
    """What came of a match at a dealer.

    Attributes:
        won: chips by the number of each hand that ended with all cards known.
        hands: how many hands ended.
        actions: how often the agent was asked.
        unfinished: the last match state if it ended in the middle of a hand, else None.
    """

    won: dict[int, int] = field(default_factory=dict)
    hands: int = 0
    actions: int = 0
    unfinished: str | None = None


def choose_action(agent: HandAgent, state: HandState, hand: int, rng: np.random.Generator) -> Action:
    """Returns an action for the hand held, drawn from the agent's checked answer."""
    policy = ask_policies(agent, HandBatch.of_states([state]), np.zeros(1, np.int64))
    return code_action(int(policy.codes[0, policy.draw(hand, rng)]))


_PATIENCE: Final = 10.0  # seconds for a dealer to answer at all


def connect(host: str, port: int) -> Lines:
    """Returns a connection to a dealer.

    Raises:
        AcpcError: nobody listens there, or it is not an address.
    """
    try:
        return Lines(socket.create_connection((host, port), timeout=_PATIENCE))
    except (OSError, OverflowError, ValueError) as error:  # a ValueError: a name that cannot be looked up
        raise AcpcError(f"no dealer at {host}:{port}: {error}") from None


def play_acpc(
    lines: Lines,
    agent: HandAgent,
    setup: HandSetup,
    rng: np.random.Generator,
    *,
    on_line: OnLine | None = None,
    patience: float | None = None,
    playing: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> AcpcResult:
    """Returns what came of playing until the dealer closes; the connection is closed then.

    Args:
        lines: the connection.
        agent: who plays.
        setup: the dealer's game.
        rng: of the agent's draws.
        on_line: is told every line, those we send with ``<`` before them, those we get with ``>``.
        patience: seconds to wait for the dealer's next line; None for ever.
        playing: makes a block around the conversation, which may end it early.

    Raises:
        AcpcError: the dealer's message is not a match state of this game, or none came for too long.
    """
    result = AcpcResult()
    try:
        with playing():
            _play(lines, agent, setup, rng, on_line, patience, result)
    finally:
        lines.close()
    return result


def _play(
    lines: Lines,
    agent: HandAgent,
    setup: HandSetup,
    rng: np.random.Generator,
    on_line: OnLine | None,
    patience: float | None,
    result: AcpcResult,
) -> None:
    """Plays until the dealer closes; ``result`` says at any time what has come of it."""
    last, ended = "", set[int]()
    _say(lines, VERSION, on_line)
    while (line := lines.read(patience)) is not None:
        if on_line is not None:
            on_line(f"> {line}")
        if not line or line[0] in "#;" or line == last:  # comments, and what was answered already
            continue
        last, message = line, parse_match_state(line, setup)
        state = message.record.state()
        if state.is_over:
            if message.record.number not in ended:
                ended.add(message.record.number)
                _finish(result, message)
        elif state.player == message.position:
            hand = message.record.hands[message.position]
            if hand is None:
                raise AcpcError(f"{line!r}: our own cards are missing")
            action = choose_action(agent, state, hand, rng)
            result.actions += 1
            _say(lines, f"{line}:{format_action(state, action)}", on_line)
        result.unfinished = None if state.is_over else line


def _finish(result: AcpcResult, message: MatchState) -> None:
    result.hands += 1
    record = message.record
    live = record.state().betting.live_players
    if len(live) == 1 or all(record.hands[player] is not None for player in live):
        result.won[record.number] = record.payoffs()[message.position]


def _say(lines: Lines, line: str, on_line: OnLine | None) -> None:
    lines.write(line)
    if on_line is not None:
        on_line(f"< {line}")
