"""A match: two agents play many deals of a game against each other, in both seats."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np

from aleator.agents.asking import ask_action, ask_policy
from aleator.agents.base import Agent
from aleator.arena.aivat import Aivat
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.table import Table
from aleator.solvers.best_response import expected_value
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

OnDeal = Callable[[int], bool]
Clock = Callable[[], float]


class Score(NamedTuple):
    """What an agent wins per deal, in units of the game's payoffs, and the standard error of that; None if unknown."""

    mean: float
    standard_error: float | None

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.2g}"
        return f"{self.mean:+.4g}{error}"


class MoveTimes(NamedTuple):
    """How long an agent took for its moves in a match, in seconds.

    Attributes:
        moves: how many it made.
        median, mean, slowest: of one move. Searches that are recalled take next to nothing: the median may be far below
            the mean.
        over: how many moves took longer than the match allows; None if it allows any time.
    """

    moves: int
    median: float
    mean: float
    slowest: float
    over: int | None


class MatchResult(NamedTuple):
    """How a match ended, as the first agent sees it.

    Attributes:
        deals: how many were played; 0 if the result is exact.
        score: both seats weigh the same. Luck is removed if there was a baseline.
        seats: the score in seat 0 and in seat 1; None for a seat in which nothing was played.
        won: the score by what was really won; None if the result is exact.
        times: how long the first and the second agent took for their moves; None for one that made no move.
    """

    deals: int
    score: Score
    seats: tuple[Score | None, Score | None]
    won: Score | None
    times: tuple[MoveTimes | None, MoveTimes | None] = (None, None)


def play_match(
    first: Agent,
    second: Agent,
    deals: int = 1000,
    rng: np.random.Generator | int = 0,
    *,
    aivat: Aivat | None = None,
    on_deal: OnDeal | None = None,
    seconds_per_move: float | None = None,
    clock: Clock = perf_counter,
) -> MatchResult:
    """Returns the result of a match in which the agents change seats after each deal.

    An agent that takes longer for a move than it may is not interrupted, and its move counts: what is played depends on
    `rng` alone, not on how busy the machine is. Such moves are counted in the result's `times`.

    Args:
        first, second: the agents; one of them may sit on both sides.
        deals: how many.
        rng: of hands and draws; or its seed.
        aivat: takes the luck off the results; None for what was won.
        on_deal: is told how many deals are over; the match ends early if it returns True.
        seconds_per_move: how long an agent may take for a move; None for any time.
        clock: says what time it is, in seconds.
    """
    rng = np.random.default_rng(rng)
    check_seconds_per_move(seconds_per_move)
    if deals < 1:
        raise AgentError(f"a match has at least 1 deal, not {deals}")
    if first.game.name != second.game.name:
        raise AgentError(f"{first.name} plays {first.game.name} and {second.name} {second.game.name}")
    won: tuple[list[float], list[float]] = ([], [])
    fair: tuple[list[float], list[float]] = ([], [])
    spent: tuple[list[float], list[float]] = ([], [])
    for number in range(deals):
        seat = number % 2
        agents, seconds = ((first, second), spent) if seat == 0 else ((second, first), (spent[1], spent[0]))
        payoff, score = _play(agents, rng, aivat, seconds, clock)
        sign = 1.0 if seat == 0 else -1.0
        won[seat].append(sign * payoff)
        fair[seat].append(sign * score)
        if on_deal is not None and on_deal(number + 1):
            break
    return MatchResult(
        len(won[0]) + len(won[1]),
        _both(fair),
        (_score(fair[0]), _score(fair[1])),
        _both(won),
        (_times(spent[0], seconds_per_move), _times(spent[1], seconds_per_move)),
    )


def check_seconds_per_move(seconds: float | None) -> None:
    """Raises AgentError unless moves may take that long: a positive number of seconds, or None for any time."""
    if seconds is not None and not 0.0 < seconds < math.inf:
        raise AgentError(f"seconds per move must be a positive number, not {seconds}")


def exact_match(first: Agent, second: Agent, tree: PublicTree) -> MatchResult:
    """Returns what the first agent wins in expectation, from both agents' whole policies on their game's tree."""
    mine, theirs = first.policy(tree), second.policy(tree)
    there = expected_value(Policy(tree, (mine.probabilities[0], theirs.probabilities[1])))
    here = -expected_value(Policy(tree, (theirs.probabilities[0], mine.probabilities[1])))
    return MatchResult(0, Score((there + here) / 2, 0.0), (Score(there, 0.0), Score(here, 0.0)), None)


def _play(
    agents: tuple[Agent, Agent],
    rng: np.random.Generator,
    aivat: Aivat | None,
    spent: tuple[list[float], list[float]],
    clock: Clock,
) -> tuple[float, float]:
    """Returns what player 0 won in one deal, and that without luck. Adds the seconds of each move to its player's.

    To measure luck, agents are asked for their policies, too. A move takes as long as the slower of both answers: an
    agent that searches recalls its search for the second one, and another one should not pay twice.
    """
    table = Table(agents[0].game, rng)
    policies: list[FloatArray | None] = [None] * len(table.events)
    for seat, agent in enumerate(agents):
        agent.begin(seat, rng)
    while not table.is_over:
        seen, agent = table.observe(), agents[table.actor]
        slowest = 0.0
        if aivat is not None:
            began = clock()
            policies.append(ask_policy(agent, seen.history))
            slowest = clock() - began
        began = clock()
        action = ask_action(agent, seen)
        spent[seen.seat].append(max(slowest, clock() - began))
        table.act(action)
        policies += [None] * (len(table.events) - len(policies))
    payoff = table.payoff(0)
    return payoff, payoff if aivat is None else aivat.score(table.events, table.past_hands, policies)


def _times(spent: list[float], limit: float | None) -> MoveTimes | None:
    """Returns what there is to say about the seconds of some moves; None if there were no moves."""
    if not spent:
        return None
    over = None if limit is None else sum(seconds > limit for seconds in spent)
    return MoveTimes(len(spent), float(np.median(spent)), float(np.mean(spent)), max(spent), over)


def _score(results: list[float]) -> Score | None:
    if not results:
        return None
    error = float(np.std(results, ddof=1) / np.sqrt(len(results))) if len(results) > 1 else None
    return Score(float(np.mean(results)), error)


def _both(results: tuple[list[float], list[float]]) -> Score:
    """Returns the mean of both seats' scores; of one seat's if the other was not played."""
    scores = [score for score in map(_score, results) if score is not None]
    errors = [score.standard_error for score in scores]
    error = None
    if None not in errors:
        error = float(np.sqrt(sum((each or 0.0) ** 2 for each in errors))) / len(scores)
    return Score(float(np.mean([score.mean for score in scores])), error)
