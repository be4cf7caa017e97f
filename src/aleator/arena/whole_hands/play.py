"""Playing many hands in lockstep: all hands in which the same agent acts are asked for in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import BatchPolicy, HandAgent, ask_held, ask_policies
from aleator.agents.whole_hands.ring_blueprint import RingBlueprintAgent
from aleator.arena.whole_hands.aivat.base import IntArray, Luck
from aleator.arena.whole_hands.aivat.hand_value import HandValue
from aleator.arena.whole_hands.aivat.heads_up import PairLuck, RangeLuck
from aleator.arena.whole_hands.aivat.playout import Playout
from aleator.arena.whole_hands.aivat.table import TableLuck
from aleator.arena.whole_hands.aivat.table_gain import TableGain
from aleator.arena.whole_hands.aivat.table_ranges import TableRangeLuck
from aleator.arena.whole_hands.deals import deal_hands, draw_seeds, uniform_draws
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.hand_batch import OVER, HandBatch
from aleator.games.holdem.hand_state import HandSetup

RAW, PAIRS, RANGES, PLAYOUT, TABLE, TABLE_RANGES = "raw", "pairs", "ranges", "playout", "table", "table-ranges"
REST = "rest"
AIVAT_MODES = (RAW, PAIRS, RANGES, PLAYOUT, TABLE, TABLE_RANGES, REST)


@runtime_checkable
class Responder(Protocol):
    """An agent that sees how likely its opponent is to hold each hand, as local best response does."""

    def respond(self, hands: HandBatch, rows: IntArray, luck: RangeLuck) -> BatchPolicy:
        """Returns what it does in some hands; ``luck.reach`` has both players' reach."""


@dataclass(slots=True)
class DecisionTimes:
    """How long an agent took: decisions, seconds in all, and the slowest decision; a batch counts by its mean."""

    decisions: int = 0
    seconds: float = 0.0
    slowest: float = 0.0

    def add(self, decisions: int, seconds: float) -> None:
        """Counts one call."""
        self.decisions += decisions
        self.seconds += seconds
        self.slowest = max(self.slowest, seconds / decisions)

    def merge(self, other: DecisionTimes) -> None:
        """Adds what another piece of the match took."""
        self.decisions += other.decisions
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)


@dataclass(slots=True, kw_only=True)
class PlayedHands:
    """Hands that are over.

    Attributes:
        numbers: of the hands, ``[B]``.
        hands: cards, actions and chips.
        seats: the agent in each seat, ``[B, P]``.
        payoffs: chips won by each seat, ``[B, P]``, pots that hands began with shared equally.
        fair: chips won by each seat by AIVAT, ``[B, P]``; None if it was not asked for.
        times: per agent.
    """

    numbers: IntArray
    hands: HandBatch
    seats: IntArray
    payoffs: FloatArray
    fair: FloatArray | None
    times: list[DecisionTimes]

    def winnings(self, agent: int) -> FloatArray:
        """Returns the chips that an agent won in each hand, ``[B]``."""
        return np.asarray(self.payoffs[self.seats == agent].reshape(len(self.numbers)))

    def fair_winnings(self, agent: int) -> FloatArray | None:
        """Returns the chips that an agent won by AIVAT, ``[B]``; None if it was not asked for."""
        if self.fair is None:
            return None
        return np.asarray(self.fair[self.seats == agent].reshape(len(self.numbers)))


def seats_of(numbers: IntArray, players: int) -> IntArray:
    """Returns the agent in each seat of hands by their numbers, ``[B, P]``: everybody moves on after each hand."""
    return np.asarray((np.arange(players) - numbers[:, None]) % players)


def play_hands(
    setup: HandSetup,
    agents: Sequence[HandAgent],
    numbers: IntArray,
    seed: int,
    *,
    aivat: str = RAW,
    hands_per_board: int = 1,
    value: HandValue | None = None,
    same_draws: bool = False,
    since: int = 0,
    over: RingBlueprintAgent | None = None,
) -> PlayedHands:
    """Returns hands by their numbers, played to the end; the same whatever else is played with them.

    Args:
        setup: how they begin.
        agents: one for each player; who sits where follows from a hand's number.
        numbers: of the hands, each once.
        seed: of cards and draws.
        aivat: `RAW`, `PAIRS`, `RANGES`, `PLAYOUT`, or for more than two players `TABLE` or `TABLE_RANGES`; see
            `arena.whole_hands.aivat`.
        hands_per_board: see `deal_hands`.
        value: of `RANGES` and `PLAYOUT`; the equity if None.
        same_draws: whether all hands of a duplicate deal have the same draws of actions, and so go the same way as long
            as all agents play alike; else each hand has its own.
        since: the street from which on `TABLE` and `TABLE_RANGES` count luck; see `arena.whole_hands.aivat.table`.
        over: with `TABLE_RANGES`, a blueprint: `fair` is then what is won more than by it; see
            `arena.whole_hands.aivat.table_gain`.
    """
    if len(agents) != setup.num_players:
        raise AgentError(f"{setup.num_players} players need as many agents, not {len(agents)}")
    if aivat not in (RAW, TABLE, TABLE_RANGES) and setup.num_players != 2:
        raise AgentError(
            f"AIVAT by {aivat} is for two players, not {setup.num_players}: choose {TABLE}, {TABLE_RANGES} or {RAW}"
        )
    numbers = np.asarray(numbers, np.int64)
    cards = deal_hands(setup, seed, numbers, hands_per_board=hands_per_board)
    hands, seats = HandBatch.start(setup, cards.hands, cards.boards), seats_of(numbers, setup.num_players)
    drawn = numbers // setup.num_players if same_draws else numbers
    luck = _luck(aivat, hands, draw_seeds(seed, drawn), agents, seats, value=value, since=since, over=over)
    times = [DecisionTimes() for _ in agents]
    while len(active := np.flatnonzero(hands.betting.player != OVER)):
        street = hands.betting.street[active].copy()
        acting = seats[active, hands.betting.player[active]]
        codes = np.empty(len(active), np.int64)
        for number, agent in enumerate(agents):
            here = np.flatnonzero(acting == number)
            if not len(here):
                continue
            rows, began = active[here], perf_counter()
            if isinstance(agent, Responder):
                assert isinstance(luck, RangeLuck), "a response needs ranges"
                policy = agent.respond(hands, rows, luck)
            elif isinstance(luck, RangeLuck | TableRangeLuck):
                policy = ask_policies(agent, hands, rows)
            else:
                policy = ask_held(agent, hands, rows, hands.hands[rows, hands.betting.player[rows]].astype(np.int64))
            times[number].add(len(rows), perf_counter() - began)
            chosen = choose_actions(hands, rows, policy, uniform_draws(seed, drawn[rows], hands.num_actions[rows]))
            codes[here] = policy.codes[np.arange(len(rows)), chosen]
            if luck is not None:
                luck.acted(rows, policy, chosen)
        hands.act(active, codes)
        if luck is not None:
            went_on = (hands.betting.street[active] != street) & (hands.betting.player[active] != OVER)
            if went_on.any():
                luck.advanced(active[went_on])
    return PlayedHands(
        numbers=numbers,
        hands=hands,
        seats=seats,
        payoffs=hands.payoffs().astype(np.float64) - setup.pot / setup.num_players,
        fair=None if luck is None else luck.estimates() - setup.pot / setup.num_players,
        times=times,
    )


def _luck(
    aivat: str, hands: HandBatch, seeds: npt.NDArray[np.uint64], agents: Sequence[HandAgent], seats: IntArray, *,
    value: HandValue | None, since: int, over: RingBlueprintAgent | None,
) -> Luck | None:  # fmt: skip
    """Returns what takes the luck off hands that begin, as `play_hands` is asked to; None for `RAW`."""
    if aivat == RAW:
        return None
    if aivat == TABLE:
        return TableLuck(hands, seeds, since=since)
    if aivat == TABLE_RANGES:
        if over is not None:
            return TableGain(hands, seeds, since=since, blueprint=over)
        return TableRangeLuck(hands, seeds, since=since)
    callers = np.array([np.isin(range(hands.setup.rules.num_streets), agent.calls_on) for agent in agents])[seats]
    if aivat == PAIRS:
        return PairLuck(hands, callers=callers)
    return RangeLuck(hands, value=value, playout=Playout(agents, seats) if aivat == PLAYOUT else None, callers=callers)


def choose_actions(hands: HandBatch, rows: IntArray, policy: BatchPolicy, draws: FloatArray) -> IntArray:
    """Returns the place of the action that each hand takes, ``[R]``."""
    chances = policy.held(hands.hands[rows, hands.betting.player[rows]])
    chosen = (chances.cumsum(axis=1) <= draws[:, None]).sum(axis=1)
    last = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)  # rounding may leave a sum below 1
    return np.asarray(np.minimum(chosen, last), dtype=np.int64)
