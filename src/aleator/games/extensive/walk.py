"""A walk over all histories of a game, kept as flat arrays.

A *history* is the full sequence of moves, chance included. Moves of chance are folded into the moves before them: what
the walk keeps are the histories at which a player decides or the game is over, each with the probability of chance's
part in it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from time import perf_counter
from typing import Protocol

import numpy as np

from aleator.errors import GameError, TooBigError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, IntArray
from aleator.meter import Meter

MAX_HISTORIES = 5_000_000
_PLAYOUTS, _FEW_PLAYOUTS = 101, 21  # few say something, too, where each takes long
_PATIENCE = 2.0  # seconds
_MANY_MOVES = 1000  # which are not all looked at before one is made
_HUGE = 1e30
_BATCH = 1_000_000


class Playable(Protocol):
    """A moment of a two-player game from which one can play on."""

    def actor(self) -> int:
        """Returns who moves: player 0 or 1, CHANCE or TERMINAL."""

    def actions(self) -> Sequence[int]:
        """Returns the legal actions of the player to move, ascending."""

    def outcomes(self) -> Sequence[tuple[int, float]]:
        """Returns the outcomes of a chance move with their probabilities."""

    def child(self, action: int, /) -> Playable:
        """Returns what follows an action or an outcome of chance."""


class History(Playable, Protocol):
    """One history of a two-player zero-sum game with perfect recall; the first one is the start of the game."""

    def child(self, action: int, /) -> History:
        """Returns the history after an action or an outcome of chance."""

    def infostate(self, player: int, /) -> Hashable:
        """Returns what a player knows, whoever moves; None if only the player to move has an infostate."""

    def public(self) -> Hashable:
        """Returns what everybody saw happen last, or None if the game does not say."""

    def utility(self) -> float:
        """Returns what player 0 wins at the end."""

    def action_name(self, action: int, /) -> str:
        """Returns the name of an action or an outcome of chance."""


@dataclass(frozen=True, eq=False)
class Walk:
    """All histories of a game at which a player decides or the game is over. M histories, parents before children.

    Attributes:
        name: the game's name.
        parent: [M] the decision before, -1 if there is none.
        action: [M] the index of the action taken there among its legal actions.
        depth: [M] decisions before this history.
        chance: [M] probability of chance's part in the history.
        outcome: [M] index into `outcomes`: what chance did since the last decision.
        actor: [M] 0, 1 or TERMINAL.
        infostate: [2, M] number of the player's infostate: an index into `infostates[p]` where the player is to move,
            else -1 - index into `watching[p]`; 0 at terminals.
        public: [M] number of the public observation, or None if there are none.
        menu: [M] index into `menus`, -1 at terminals.
        utility: [M] what player 0 wins at terminals, else 0.
        infostates: per player, the infostates in which the player moves.
        watching: per player, the infostates in which the other one moves.
        menus: (player, legal actions).
        names: for each menu, the names of its actions.
        outcomes: names of successive outcomes of chance.
    """

    name: str
    parent: IntArray
    action: IntArray
    depth: IntArray
    chance: FloatArray
    outcome: IntArray
    actor: IntArray
    infostate: IntArray
    public: IntArray | None
    menu: IntArray
    utility: FloatArray
    infostates: tuple[list[Hashable], list[Hashable]]
    watching: tuple[list[Hashable], list[Hashable]]
    menus: list[tuple[int, tuple[int, ...]]]
    names: list[tuple[str, ...]]
    outcomes: list[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.parent)


def _moves(history: Playable, actor: int) -> Sequence[int]:
    return [outcome for outcome, _ in history.outcomes()] if actor == CHANCE else history.actions()


def estimate_histories(root: Playable, name: str, rng: random.Random, *, look_ahead: bool) -> list[float]:
    """Returns estimates of the number of histories, each from one random playout; fewer than usual if they take long.

    A playout counts the moves it could have made, weighed by one over the probability that it came there, which is
    right on average (Knuth 1975).

    Args:
        root: the first history.
        name: of the game.
        rng: where randomness comes from.
        look_ahead: prefer moves after which there is much choice, which is slower and errs less.

    Raises:
        TooBigError: a playout has so many moves that the game may never end.
    """

    def playout(meter: Meter) -> float:
        history, weight, total, moved = root, 1.0, 1.0, 0
        while (actor := history.actor()) != TERMINAL and total < _HUGE:
            moves = _moves(history, actor)
            if not moves:
                break
            moved += 1
            meter.add()
            meter.check_moves(moved)
            total += weight * len(moves)
            if not look_ahead or len(moves) > _MANY_MOVES:
                weight *= len(moves)
                history = history.child(rng.choice(moves))
                continue
            children = [history.child(move) for move in moves]
            actors = [child.actor() for child in children]
            choices = [
                0 if who == TERMINAL else len(_moves(child, who)) for child, who in zip(children, actors, strict=True)
            ]
            weights = [(1 + count) ** 2 for count in choices]
            (picked,) = rng.choices(range(len(moves)), weights)
            weight *= sum(weights) / weights[picked]
            history = children[picked]
        return total

    with Meter(name, f"estimating the size of {name}", "moves") as meter:
        started, estimates = perf_counter(), list[float]()
        while len(estimates) < _PLAYOUTS:
            estimates.append(playout(meter))
            if perf_counter() - started > _PATIENCE:
                break
    return estimates


def size_text(histories: float) -> str:
    """Returns an estimated number of histories in words."""
    return f"more than {_HUGE:.0e}" if histories >= _HUGE else f"about {histories:.1e}"


def _refuse_huge(root: History, name: str, max_histories: int) -> None:
    """Raises TooBigError if there are surely too many histories.

    Each playout exceeds four times the true number with a probability of at most 1/4 (Markov), half of the playouts
    with one below 1e-6 (Chernoff), or 1 % where playouts are slow and few: if the median does, the game is too big.
    """
    rng = random.Random(0)
    for look_ahead in (False, True):
        estimates = estimate_histories(root, name, rng, look_ahead=look_ahead)
        if len(estimates) >= _FEW_PLAYOUTS and median(estimates) > 4.0 * max_histories:
            size = math.inf if max(estimates) >= _HUGE else fmean(estimates)
            raise TooBigError(f"{name} has {size_text(size)} histories; at most {max_histories:,} are allowed")


def _outcomes(history: History, name: str) -> list[tuple[int, float]]:
    """Returns the outcomes of a chance move that can happen."""
    outcomes = [(outcome, probability) for outcome, probability in history.outcomes() if probability != 0.0]
    if abs(sum(p for _, p in outcomes) - 1.0) > 1e-9 or any(p < 0.0 for _, p in outcomes):
        raise GameError(f"{name}: not a distribution over outcomes of chance: {outcomes}")
    return outcomes


def _actions(history: History, actor: int, name: str) -> Sequence[int]:
    """Returns the legal actions of a player who decides."""
    if actor not in (0, 1):
        raise GameError(f"{name}: the actor of a history is 0, 1, CHANCE or TERMINAL, not {actor}")
    actions = history.actions()
    if not actions:
        raise GameError(f"{name}: player {actor} has no action in the infostate {history.infostate(actor)!r}")
    return actions


# parent, place, depth, chance as in Walk, and the names of what chance did since the parent
_Before = tuple[int, int, int, float, tuple[str, ...]]


def walk(root: History, *, name: str, max_histories: int = MAX_HISTORIES) -> Walk:
    """Returns all histories of a game.

    Raises:
        TooBigError: there are more than `max_histories`, they take more than half of the memory that is free, or there
            is no end of moves.
    """
    _refuse_huge(root, name, max_histories)
    with Meter(name, f"walking the histories of {name}", "histories", most=max_histories) as meter:
        return _walk(root, name, meter)


def _walk(root: History, name: str, meter: Meter) -> Walk:
    """Does the work of `walk`."""
    log = _Log(name)
    meter.add()
    stack: list[tuple[History, _Before]] = [(root, (-1, 0, 0, 1.0, ()))]
    while stack:
        history, before = stack.pop()
        actor = history.actor()
        if actor == TERMINAL:
            log.add_terminal(history, before)
        elif actor == CHANCE:
            parent, action, depth, chance, event = before
            outcomes = _outcomes(history, name)
            meter.add(len(outcomes))
            meter.check_moves(len(event))
            for outcome, probability in reversed(outcomes):
                following = (*event, history.action_name(outcome))
                stack.append((history.child(outcome), (parent, action, depth, chance * probability, following)))
        else:
            actions = _actions(history, actor, name)
            meter.add(len(actions))
            index = log.add_decision(history, before, actor, actions)
            _, _, depth, chance, _ = before
            meter.check_moves(depth)
            for action in range(len(actions) - 1, -1, -1):
                stack.append((history.child(actions[action]), (index, action, depth + 1, chance, ())))
    return log.finish()


# columns of _Log.whole and _Log.real, which keep rows in one flat list each
_PARENT, _PLACE, _DEPTH, _OUTCOME, _ACTOR, _INFOSTATE, _PUBLIC, _MENU = 0, 1, 2, 3, 4, slice(5, 7), 7, 8
_CHANCE, _UTILITY = 0, 1


class _Log:
    """What a walk writes down: rows of numbers, and the things that are numbered in the order of first meeting.

    Rows are collected in lists and moved to arrays now and then: lists are quick, arrays are small.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.size = 0
        self.whole: list[int] = []
        self.real: list[float] = []
        self.arrays: list[tuple[IntArray, FloatArray]] = []
        self.acting: tuple[dict[Hashable, int], dict[Hashable, int]] = ({}, {})
        self.watching: tuple[dict[Hashable, int], dict[Hashable, int]] = ({}, {})
        self.observations: dict[Hashable, int] = {}
        self.menus: dict[tuple[int, tuple[int, ...]], int] = {}
        self.names: list[tuple[str, ...]] = []
        self.events: dict[tuple[str, ...], int] = {(): 0}

    def add_terminal(self, history: History, before: _Before) -> None:
        """Writes down the end of a game."""
        parent, action, depth, chance, event = before
        outcome = self.events.setdefault(event, len(self.events))
        self.whole += (parent, action, depth, outcome, TERMINAL, 0, 0, 0, -1)
        self.real += (chance, history.utility())
        self.size += 1

    def add_decision(self, history: History, before: _Before, actor: int, actions: Sequence[int]) -> int:
        """Writes down a decision; returns the number of its history."""
        parent, taken, depth, chance, event = before
        outcome = self.events.setdefault(event, len(self.events))
        acting, watching, observations = self.acting[actor], self.watching[1 - actor], self.observations
        own = acting.setdefault(history.infostate(actor), len(acting))
        other = -1 - watching.setdefault(history.infostate(1 - actor), len(watching))
        public = observations.setdefault(history.public(), len(observations))
        menu = self.menus.setdefault((actor, tuple(actions)), len(self.names))
        if menu == len(self.names):
            self.names.append(tuple(history.action_name(action) for action in actions))
        pair = (other, own) if actor else (own, other)
        self.whole += (parent, taken, depth, outcome, actor, *pair, public, menu)
        self.real += (chance, 0.0)
        self.size += 1
        if len(self.whole) > _BATCH:
            self._flush()
        return self.size - 1

    def _flush(self) -> None:
        """Moves the lists to arrays."""
        whole = np.array(self.whole, dtype=np.int64).reshape(-1, 9)
        self.arrays.append((whole, np.array(self.real, dtype=np.float64).reshape(-1, 2)))
        self.whole.clear()
        self.real.clear()

    def finish(self) -> Walk:
        """Returns all that was written down, infostates in the order of their names."""
        self._flush()
        whole = np.concatenate([array for array, _ in self.arrays]).T.copy()
        real = np.concatenate([array for _, array in self.arrays]).T.copy()
        if not np.isfinite(real).all():
            raise GameError(f"{self.name}: some history ends with a payoff that is not a finite number")
        infostates, watching = [], []
        for player, row in enumerate(whole[_INFOSTATE]):
            decides, watches = whole[_ACTOR] == player, row < 0
            keys, places = _sort(self.acting[player])
            row[decides] = places[row[decides]]
            infostates.append(keys)
            keys, places = _sort(self.watching[player])
            row[watches] = -1 - places[-1 - row[watches]]
            watching.append(keys)
        return Walk(
            name=self.name,
            parent=whole[_PARENT],
            action=whole[_PLACE],
            depth=whole[_DEPTH],
            outcome=whole[_OUTCOME],
            actor=whole[_ACTOR],
            infostate=whole[_INFOSTATE],
            public=whole[_PUBLIC] if len(self.observations) > 1 else None,
            menu=whole[_MENU],
            chance=real[_CHANCE],
            utility=real[_UTILITY],
            infostates=(infostates[0], infostates[1]),
            watching=(watching[0], watching[1]),
            menus=list(self.menus),
            names=self.names,
            outcomes=list(self.events),
        )


def _sort(table: dict[Hashable, int]) -> tuple[list[Hashable], IntArray]:
    """Returns the keys, shorter ones first, and the new place of each."""
    names = [str(key) for key in table]
    order = sorted(range(len(names)), key=lambda number: (len(names[number]), names[number]))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    keys = list(table)
    return [keys[number] for number in order], places


def own_sequences(walk: Walk) -> IntArray:
    """Returns [2, M]: each player's last infostate and action before a history as one number, -1 if there is none."""
    stride = int(walk.action.max(initial=0)) + 1
    sequence = np.full((2, len(walk)), -1, dtype=np.int64)
    by_depth = np.argsort(walk.depth, kind="stable")
    bounds = np.cumsum(np.bincount(walk.depth))
    for start, end in pairwise(bounds):
        here = by_depth[start:end]
        before = walk.parent[here]
        for player in (0, 1):
            taken = walk.infostate[player, before] * stride + walk.action[here]
            sequence[player, here] = np.where(walk.actor[before] == player, taken, sequence[player, before])
    return sequence


def check_recall(walk: Walk) -> None:
    """Raises GameError naming an infostate that forgets what its player did or knew, or has two sets of actions."""
    sequences = own_sequences(walk)
    for player in (0, 1):
        own = np.flatnonzero(walk.actor == player)
        infostate = walk.infostate[player, own]
        count = len(walk.infostates[player])
        for facts, problem in (
            (sequences[player, own], "forgets what its player did or knew before (imperfect recall)"),
            (walk.menu[own], "has different legal actions in different histories"),
        ):
            fact = np.zeros(count, dtype=np.int64)
            fact[infostate] = facts
            wrong = np.flatnonzero(fact[infostate] != facts)
            if len(wrong):
                name = walk.infostates[player][infostate[wrong[0]]]
                raise GameError(f"{walk.name}: the infostate {name!r} of player {player} {problem}")
