"""Matches of whole hands: duplicate deals in all seats, in pieces that run anywhere, in any order, and resume."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.named_files import versions_of_files
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.arena.whole_hands.aivat.base import IntArray
from aleator.arena.whole_hands.aivat.hand_value import HandValue
from aleator.arena.whole_hands.lbr import LocalBestResponse, parse_menu, parse_rounds
from aleator.arena.whole_hands.match_file import MatchFile
from aleator.arena.whole_hands.paired import are_paired, play_paired
from aleator.arena.whole_hands.play import (
    AIVAT_MODES,
    PAIRS,
    PLAYOUT,
    RANGES,
    RAW,
    REST,
    TABLE,
    TABLE_RANGES,
    DecisionTimes,
    PlayedHands,
    play_hands,
    seats_of,
)
from aleator.arena.whole_hands.rest import Line, RestOfHand, line_to
from aleator.arena.whole_hands.stakes import common_start, hand_weights, played_to, pots_of
from aleator.errors import AgentError, shown
from aleator.games.base import FloatArray
from aleator.games.holdem.hand_batch import HandBatch
from aleator.games.holdem.hand_record import setup_to_dict
from aleator.games.holdem.hand_state import HandSetup
from aleator.games.holdem.variants import load_hand_game
from aleator.intervals import SURE
from aleator.storage import is_a
from aleator.workers.base import Here, Workers

PAIRED = "paired"
_MODES = (*AIVAT_MODES, PAIRED)
_HANDS_OF_STAKES = 4  # that are looked at together for one of a match in which all are played out
OnPiece = Callable[["MatchState"], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandMatch:
    """What is played.

    Attributes:
        game: name of a game of whole hands.
        agents: names, one per player; the first one's score is told.
        hands: how many, made a multiple of the number of players (or of what shares a board).
        seed: of cards and draws.
        aivat: `raw`, `pairs`, `ranges`, `playout`, `table` and `table-ranges` (any number of players), `rest` (with
            stakes), `paired` for one that searches against copies of its blueprint (`arena.whole_hands.paired`), or
            `auto` for what the agents' speed allows.
        response: menu and rounds of a local best response that sits in the place of the first agent; None for a match.
        hands_per_board: deals in a row that share a board; results on one board count as one.
        value: file of a value network of the river, or of a blueprint, for AIVAT over ranges; the equity if None.
        stakes: pots in big blinds from which on all hands are played out, others by chance (`stakes`); None for all.
        against: a third agent, whom both play in turn; scored is what the first wins from it more than the second.
    """

    game: str
    agents: tuple[str, ...]
    hands: int
    seed: int = 0
    aivat: str = "auto"
    response: tuple[str, str] | None = None
    hands_per_board: int = 1
    value: str | None = None
    stakes: float | None = None
    against: str | None = None

    def __post_init__(self) -> None:
        names: object = self.agents
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise AgentError(f"agents are a name each, not {shown(names)}; one of your own is python:FILE.py:CLASS")
        setup = self.setup
        if len(self.agents) != setup.num_players:
            raise AgentError(f"{self.game} has {setup.num_players} players, not {len(self.agents)}")
        if not is_a(self.hands, int) or self.hands < 1:
            raise AgentError(f"a match has at least 1 hand, not {shown(self.hands)}")
        if self.aivat not in ("auto", *_MODES):
            raise AgentError(f"unknown AIVAT mode {self.aivat!r}; allowed: auto, {', '.join(_MODES)}")
        if self.aivat == PAIRED and (self.stakes is not None or self.response or self.hands_per_board > 1):
            raise AgentError("paired hands leave out what is not at stake: no --stakes, and a board for every deal")
        if self.value is not None and self.aivat in (RAW, PAIRS):
            raise AgentError(f"a value needs AIVAT over ranges (ranges, playout), not {self.aivat}")
        if self.stakes is not None and (self.response or not 0.0 < self.stakes < math.inf):
            raise AgentError(f"stakes are a positive number of big blinds, in matches of agents, not {self.stakes}")
        if self.aivat == REST and (self.stakes is None or len(self.agents) != 2):
            raise AgentError("AIVAT by rest is for two agents with one blueprint: give --stakes, too")
        if self.against is not None and self.aivat != REST:
            raise AgentError("an opponent that both play is for AIVAT by rest: give --aivat rest and --stakes, too")
        if self.response:
            parse_menu(self.response[0])
            parse_rounds(self.response[1])

    @property
    def setup(self) -> HandSetup:
        """How its hands begin."""
        return load_hand_game(self.game).setup

    @property
    def cluster(self) -> int:
        """Hands in a row that share cards and count as one result."""
        return self.setup.num_players * self.hands_per_board

    @property
    def num_hands(self) -> int:
        """How many hands are really played."""
        return -(-self.hands // self.cluster) * self.cluster

    def load_agents(self) -> list[HandAgent]:
        """Returns the agents; a local best response and the agent it responds to if there is one."""
        if self.response is None:
            players = self.setup.num_players
            made = [load_hand_agent(name, players) for name in self.agents[:2]]
            for name in self.agents[2:]:  # copies of the second share what it has loaded
                made.append(made[1] if name == self.agents[1] else load_hand_agent(name, players))
            return made
        opponent = load_hand_agent(self.agents[1])
        menu, rounds = self.response
        return [LocalBestResponse(opponent, parse_menu(menu), parse_rounds(rounds)), opponent]

    def load_value(self) -> HandValue | None:
        """Returns the value that AIVAT goes by; None for the equity."""
        if self.value is None:
            return None
        from aleator.abstraction.blueprint.policy import is_blueprint, open_policy

        if is_blueprint(self.value):
            from aleator.arena.whole_hands.aivat.blueprint_value import BlueprintValue

            return BlueprintValue(open_policy(self.value))
        from aleator.arena.whole_hands.aivat.network_value import NetworkValue

        return NetworkValue(self.value)

    def mode(self, agents: Sequence[HandAgent]) -> str:
        """Returns how luck is removed: as well as possible in no more time than the agents take themselves."""
        if self.response is not None:
            return RANGES
        if self.aivat != "auto":
            return self.aivat
        if len(agents) != 2 and self.stakes is None and self.hands_per_board == 1 and are_paired(agents):
            return PAIRED
        if len(agents) != 2:
            return TABLE if all(agent.is_quick for agent in agents) else TABLE_RANGES
        if all(agent.is_blind for agent in agents):
            return RANGES
        if all(agent.is_quick for agent in agents) and self.value is None:
            return PAIRS
        return PLAYOUT if all(agent.knows_street for agent in agents) else RANGES

    def header(self, mode: str) -> dict[str, Any]:
        """Returns what a match file says about it, with the versions of agents' files; the number of hands may grow."""
        draws = None if self.stakes is None else "deal"  # files from when each hand had its own draws are others
        names = self.agents if self.against is None else (*self.agents, self.against)
        chosen: dict[str, Any] = {"value": self.value, "stakes": self.stakes, "draws": draws, "against": self.against}
        chosen |= {"files": versions_of_files(names) or None}
        return {name: value for name, value in chosen.items() if value is not None} | {
            "game": self.game,
            "setup": setup_to_dict(self.setup),
            "agents": list(self.agents),
            "seed": self.seed,
            "aivat": mode,
            "response": None if self.response is None else list(self.response),
            "hands_per_board": self.hands_per_board,
        }


class HandScore(NamedTuple):
    """Milli-big-blinds per hand of the first agent, and half of its 95 % interval; NaN with fewer than two results."""

    hands: int
    mbb_per_hand: float
    ci95: float

    def to_dict(self) -> dict[str, Any]:
        """Returns it as JSON values; None for what is not known."""
        known = {name: None if math.isnan(value) else value for name, value in self._asdict().items()}
        return known | {"hands": self.hands}


class _Piece(NamedTuple):
    """What a piece of a match brings: numbers, chips by seat, those of the first agent by AIVAT, times, lines."""

    numbers: IntArray
    won: FloatArray
    fair: FloatArray | None
    times: list[DecisionTimes]
    lines: list[str]


@dataclass(slots=True)
class MatchState:
    """A match so far.

    Attributes:
        match: what is played.
        mode: how luck is removed.
        won: chips of each agent in each hand, ``[N, P]``; NaN where it is not played yet.
        fair: chips of the first agent by AIVAT, ``[N]``.
        times: per agent, of hands played by this process and those it started.
        seconds: since the start.
    """

    match: HandMatch
    mode: str
    won: FloatArray
    fair: FloatArray
    times: list[DecisionTimes] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def played(self) -> int:
        """How many hands are over."""
        return int((~np.isnan(self.won[:, 0])).sum())

    def raw(self, agent: int = 0) -> HandScore:
        """Returns an agent's score by the chips it won."""
        return self._score(self.won[:, agent])

    def score(self) -> HandScore:
        """Returns the first agent's score by AIVAT, or by chips if there is none."""
        return self.raw() if self.mode == RAW else self._score(self.fair)

    def _score(self, chips: FloatArray) -> HandScore:
        rows = chips.reshape(-1, self.match.cluster)
        results = rows[~np.isnan(rows).any(axis=1)].mean(axis=1) * (1000.0 / self.match.setup.rules.big_blind)
        if not len(results):
            return HandScore(0, math.nan, math.nan)
        error = float(results.std(ddof=1) / math.sqrt(len(results))) if len(results) > 1 else math.nan
        return HandScore(len(results) * rows.shape[1], float(results.mean()), SURE * error)


def play_hand_match(
    match: HandMatch,
    *,
    file: MatchFile | None = None,
    workers: Workers | None = None,
    on_piece: OnPiece | None = None,
    playing: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> MatchState:
    """Returns a match when all its hands are over, or when it was stopped.

    Args:
        match: what is played.
        file: where hands are written as they end; those that are there already are not played again.
        workers: who plays; this process if None.
        on_piece: is told about the match after every piece of it; the match stops if it returns True.
        playing: returns a block in which a piece is waited for; the match stops if the block ends early.
    """
    workers = workers or Here()
    agents = match.load_agents()
    mode, players = match.mode(agents), match.setup.num_players
    state = MatchState(match, mode, np.full((match.num_hands, players), np.nan), np.full(match.num_hands, np.nan))
    state.times = [DecisionTimes() for _ in agents]
    if file is not None:
        _take_played(state, file)
    began = perf_counter()
    missing = np.flatnonzero(np.isnan(state.won[:, 0]))
    size = piece_size(match, agents, -(-len(missing) // workers.count))
    if match.stakes is not None:
        common_start(agents)
    if mode == PAIRED and not are_paired(agents):
        names = ", ".join(dict.fromkeys(agent.name for agent in agents))
        raise AgentError(f"paired hands are for one that searches against copies of its blueprint, not for {names}")
    pieces = [missing[start : start + size] for start in range(0, len(missing), size)]
    player = partial(_Player, match, mode, file is not None)
    played = workers.run(partial(player, agents) if isinstance(workers, Here) else player, pieces)
    while piece := _next(played, playing):
        seats = seats_of(piece.numbers, players)
        state.won[piece.numbers[:, None], seats] = piece.won
        if piece.fair is not None:
            state.fair[piece.numbers] = piece.fair
        for own, other in zip(state.times, piece.times, strict=True):
            own.merge(other)
        if file is not None:
            file.write(piece.lines)
        state.seconds = perf_counter() - began
        if on_piece is not None and on_piece(state):
            break
    return state


def _next(played: Iterator[tuple[int, _Piece]], playing: Callable[[], AbstractContextManager[None]]) -> _Piece | None:
    """Returns the next piece of a match; None if there is none, or its block ends early."""
    piece = None
    with playing():
        _, piece = next(played, (0, None))
    return piece


def piece_size(match: HandMatch, agents: Sequence[HandAgent], share: int) -> int:
    """Returns how many hands are played together; no worker gets more than its share."""
    if match.response is not None:
        size = 128 if agents[1].is_quick else agents[1].hands_at_once
    elif any(agent.is_alone for agent in agents):  # who searches in batches sets the pace
        size = max(agent.hands_at_once for agent in agents if agent.is_alone)
    else:
        size = min(agent.hands_at_once for agent in agents)
    if match.stakes is not None or match.mode(agents) == PAIRED:  # most of them are not played out
        size *= _HANDS_OF_STAKES
    return -(-max(min(size, share), 1) // match.cluster) * match.cluster


def _take_played(state: MatchState, file: MatchFile) -> None:
    """Takes over the hands that a file has."""
    for line in file.played:
        if line.number < len(state.won) and len(line.won) == state.won.shape[1]:
            seats = seats_of(np.array([line.number]), len(line.won))[0]
            state.won[line.number, seats] = line.weight * np.array(line.won)
            if line.fair is not None:
                fair = -line.fair if len(seats) == 2 and seats[0] else line.fair
                state.fair[line.number] = line.weight * fair


class _Player:
    """Plays hands of a match by their numbers, and writes lines about them or not; made once in every worker."""

    def __init__(self, match: HandMatch, mode: str, write: bool, agents: list[HandAgent] | None = None) -> None:
        self.match, self.mode, self.write = match, mode, write
        self.agents, self.value = agents or match.load_agents(), match.load_value()
        self.opponent = None if match.against is None else load_hand_agent(match.against, match.setup.num_players)
        if self.opponent is None:
            self.rests = [RestOfHand(self.agents, match.seed)]
        else:
            self.rests = [RestOfHand([agent, self.opponent], match.seed) for agent in self.agents]

    def __call__(self, numbers: IntArray) -> _Piece:
        """Returns hands by their numbers, played; those that are not played out count 0."""
        match = self.match
        if self.mode == PAIRED:
            return self._paired(numbers)
        weights = np.ones(len(numbers))
        if match.stakes is not None:
            blueprint, street = common_start(self.agents)
            hands = played_to(
                match.setup,
                blueprint,
                street,
                numbers,
                match.seed,
                hands_per_board=match.hands_per_board,
                opponent=self.opponent,
            )
            full, deals = match.stakes * match.setup.rules.big_blind, numbers // match.setup.num_players
            weights = hand_weights(pots_of(hands), full, deals, match.seed)
        chosen = np.flatnonzero(weights)
        if self.mode == REST:
            return self._expected(numbers, hands, weights)
        if not len(chosen):
            return self._piece(numbers, None, weights, chosen, [])
        played = play_hands(
            match.setup,
            self.agents,
            numbers[chosen],
            match.seed,
            aivat=self.mode,
            hands_per_board=match.hands_per_board,
            value=self.value,
            same_draws=match.stakes is not None,
        )
        lines, fair = [], played.fair_winnings(0)
        for row in range(len(chosen) if self.write else 0):
            document = played.hands.to_dict(row, int(played.numbers[row]))
            document |= {"seats": played.seats[row].tolist(), "won": played.payoffs[row].tolist()}
            if played.fair is not None and fair is not None:  # of the first of two seats, or of the first agent of many
                document["fair"] = float(played.fair[row, 0] if played.fair.shape[1] == 2 else fair[row])
            if match.stakes is not None:
                document["weight"] = float(weights[chosen[row]])
            lines.append(json.dumps(document))
        return self._piece(numbers, played, weights, chosen, lines)

    def _expected(self, numbers: IntArray, hands: HandBatch, weights: FloatArray) -> _Piece:
        """Returns what hands are worth from where they have come to, in place of playing them.

        Against a third agent it is how much more they are worth to the first agent than to the second.
        """
        blueprint, _ = common_start(self.agents)
        before = [blueprint, self.opponent or blueprint]
        seats, won = seats_of(numbers, 2), np.zeros((len(numbers), 2))
        lines: dict[int, Line] = {}
        for row in np.flatnonzero(weights).tolist():
            deal = int(numbers[row]) // 2
            if deal not in lines or self.opponent is not None:  # two blueprints come to one place with a deal
                lines[deal] = line_to([before[agent] for agent in seats[row]], hands.state(row))
            board = hands.board[row].tolist()
            values = [rest.winnings(lines[deal], seats[row], board, deal) for rest in self.rests]
            first = values[0] - sum(values[1:])
            won[row] = weights[row] * first, -weights[row] * first
        times = [DecisionTimes() for _ in self.agents]
        return _Piece(numbers, won, np.asarray(won[seats == 0].reshape(len(numbers))), times, [])

    def _paired(self, numbers: IntArray) -> _Piece:
        """Returns hands in which what the first agent wins more than its blueprint counts; its alone is known."""
        blueprint, street = common_start(self.agents)
        pairs = play_paired(
            self.match.setup, self.agents, numbers, self.match.seed, street=street, blueprint=blueprint
        )  # fmt: skip
        seats = seats_of(numbers, self.match.setup.num_players)
        won = np.where(seats == 0, pairs.won[:, None], -pairs.won[:, None] / (seats.shape[1] - 1))
        times, lines = [DecisionTimes() for _ in self.agents], list[str]()
        if pairs.played is not None:
            times = pairs.played.times
            for place, row in enumerate(pairs.rows.tolist() if self.write else ()):
                document = pairs.played.hands.to_dict(place, int(numbers[row]))
                fair = float(pairs.fair[row]) if seats.shape[1] > 2 or not seats[row, 0] else -float(pairs.fair[row])
                document |= {"seats": seats[row].tolist(), "won": won[row].tolist(), "fair": fair}
                lines.append(json.dumps(document))
        return _Piece(numbers, won, pairs.fair, times, lines)

    def _piece(
        self, numbers: IntArray, played: PlayedHands | None, weights: FloatArray, chosen: IntArray, lines: list[str]
    ) -> _Piece:
        won = np.zeros((len(numbers), self.match.setup.num_players))
        fair = None if self.mode == RAW else np.zeros(len(numbers))
        if played is None:
            return _Piece(numbers, won, fair, [DecisionTimes() for _ in self.agents], lines)
        won[chosen] = weights[chosen, None] * played.payoffs
        found = played.fair_winnings(0)
        if fair is not None and found is not None:
            fair[chosen] = weights[chosen] * found
        return _Piece(numbers, won, fair, played.times, lines)
