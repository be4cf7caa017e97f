"""The contract of a game, checked: what `check_game` accepts, every solver of the library can solve.

Perfect recall holds by construction: a hand has one origin, so that what a player once knew or did can never be
forgotten. What is left to check is that origins are well formed, that chance neither loses nor invents probability on
the way down, that every hand has something to do, that payoffs are finite and agree with their groups, and that the
rules say the same when they are asked again. Payoffs are stated for player 0 alone, so the game is zero-sum.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from random import Random
from time import perf_counter
from typing import Any, NamedTuple, overload
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from aleator.errors import AleatorError, GameError, raised, shown
from aleator.games.base import CHANCE, TERMINAL, Child, FloatArray, Game
from aleator.games.multiplayer.base import MultiplayerGame
from aleator.games.multiplayer.contract import MultiplayerReport, check_multiplayer_game
from aleator.games.size import GameSize, count_public_states, measure
from aleator.meter import Meter

_TOLERANCE = 1e-9  # relative
_MOST = 1e100
_SMALL = 1 << 22  # pairs of hands that may be written out
_RANDOM = "two calls of {}() disagree; rules must not depend on chance of their own, or on what was asked before"
_CHECKED: WeakValueDictionary[int, Game[Any]] = WeakValueDictionary()  # by id: games need not be hashable


class GameReport(NamedTuple):
    """What `check_game` found.

    Attributes:
        size: counts of the whole tree.
        states: distinct public states that were checked.
        payoff_groups: distinct payoff matrices up to a factor.
        max_hands: the most hands a player can hold at one public state.
        max_actions: the most actions at one public state.
    """

    size: GameSize
    states: int
    payoff_groups: int
    max_hands: int
    max_actions: int


@overload
def check_game(game: Game[Any]) -> GameReport: ...
@overload
def check_game(game: MultiplayerGame[Any]) -> MultiplayerReport: ...


def check_game(game: Game[Any] | MultiplayerGame[Any]) -> GameReport | MultiplayerReport:
    """Returns a report on a game that keeps the contract; looks at every public state, of many players every history.

    Raises:
        GameError: the rules contradict themselves; the message says at which state and how.
        TooBigError: there are too many states to look at, or the game does not end.
    """
    if isinstance(game, MultiplayerGame):
        return check_multiplayer_game(game)
    with _asking(game) as meter:
        _check_start(game)
        count_public_states(game)  # which finds out whether it ends
        counts = _check(game, meter, inf)
        return GameReport(measure(game), *counts)


def check_own_game(game: Game[Any], seconds: float = 5.0) -> None:
    """Checks the rules of a game that somebody else wrote, once: what fits in a few seconds, in random order.

    Games of this package are trusted.

    Args:
        game: any game.
        seconds: how long it may take; small games take less, and are checked whole.

    Raises:
        GameError: the rules contradict themselves, as in `check_game`.
    """
    if game.shipped or _CHECKED.get(id(game)) is game:
        return
    with _asking(game) as meter:
        _check_start(game)
        _check(game, meter, perf_counter() + seconds)
    _CHECKED[id(game)] = game


@contextmanager
def _asking(game: Game[Any]) -> Iterator[Meter]:
    """Yields what counts the states; whatever the rules raise becomes a GameError."""
    name = getattr(game, "name", None)
    if not isinstance(name, str) or not name:
        raise GameError(f"{type(game).__name__} needs a name: a text in the attribute `name`")
    try:
        with Meter(name, f"checking {name}", "different public states") as meter, np.errstate(all="ignore"):
            yield meter
    except AleatorError:
        raise
    except (Exception, SystemExit) as error:
        raise GameError(f"{name}: the rules raise {raised(error)}") from error


def _check_start(game: Game[Any]) -> None:
    root = game.root()
    _expect(_equal(root, game.root()), game, root, _RANDOM.format("root"))
    _check_form(game, root, "deal", game.deal(root))
    total = float(game.deal(root).sum())
    if not abs(total - 1.0) <= _TOLERANCE:
        raise GameError(f"{game.name}: the deal at the root sums to {total:.9g}, not to 1")


def _check(game: Game[Any], meter: Meter, deadline: float) -> tuple[int, int, int, int]:
    """Checks states in random order until time is up; returns how many, and their groups, hands and actions."""
    order = Random(0)
    waiting: list[Any] = [game.root()]
    seen: set[Hashable] = set(waiting)
    groups: dict[Hashable, Any] = {}
    max_hands = max_actions = 0
    while waiting and perf_counter() < deadline:
        index = order.randrange(len(waiting))
        waiting[index], waiting[-1] = waiting[-1], waiting[index]
        state = waiting.pop()
        meter.add()
        actor, hands = game.actor(state), game.num_hands(state)
        max_hands = max(max_hands, *hands)
        _expect(actor in (0, 1, CHANCE, TERMINAL), game, state, f"actor {actor} is not 0, 1, CHANCE or TERMINAL")
        for player in (0, 1):
            named = len(game.hands(state, player))
            _expect(
                named == hands[player] > 0, game, state, f"player {player} has {hands[player]} hands, {named} names"
            )
        if actor == TERMINAL:
            _check_form(game, state, "utility", game.utility(state))
        _check_twice(game, state, actor)
        _check_deal(game, state)
        if actor == TERMINAL:
            _check_terminal(game, state, groups)
            continue
        children = list(game.children(state))
        _expect(bool(children), game, state, "neither terminal nor has it children")
        labels = [child.label for child in children]
        _expect(len(set(labels)) == len(labels), game, state, f"children have equal labels: {labels}")
        if actor >= 0:
            actions = list(game.actions(state))
            max_actions = max(max_actions, len(actions))
            _expect(len(set(actions)) == len(actions) > 0, game, state, f"actions {actions} are not distinct names")
        _check_chance(game, state, actor, children)
        for child in children:
            if child.state not in seen:
                seen.add(child.state)
                waiting.append(child.state)
    return len(seen), len(groups), max_hands, max_actions


def _check_form(game: Game[Any], state: Any, what: str, answer: Any) -> None:
    """Checks that what the rules say is an array with a number for each pair of hands."""
    hands, numbers = game.num_hands(state), np.float64(answer) if isinstance(answer, int | float) else answer
    is_form = hasattr(numbers, "shape") and hasattr(numbers, "dtype") and numbers.dtype.kind in "biuf"
    if not is_form:  # the words are not made for nothing: showing an array takes longer than all checks of it
        _expect(False, game, state, f"the {what} must be an array of numbers, not {shown(answer)}")
    _expect(numbers.shape == hands, game, state, f"the {what} has shape {numbers.shape}, there are {hands} hands")


def _expect(condition: bool, game: Game[Any], state: Any, complaint: str) -> None:
    if not condition:
        raise GameError(f"{game.name} at {state!r}: {complaint}")


def _equal(first: Any, second: Any) -> bool:
    """Returns whether two answers of the rules are the same."""
    if isinstance(first, Child):
        return isinstance(second, Child) and all(
            _equal(getattr(first, name), getattr(second, name)) for name in ("state", "label", "origin")
        )
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(first, second, equal_nan=np.asarray(first).dtype.kind == "f")
    if isinstance(first, Sequence) and isinstance(second, Sequence) and not isinstance(first, str):
        return len(first) == len(second) and all(map(_equal, first, second))
    return bool(first == second or (first != first and second != second))


def _check_twice(game: Game[Any], state: Any, actor: int) -> None:
    """Checks that the rules answer the same when they are asked again."""
    questions: dict[str, Callable[[], Any]] = {
        "actor": lambda: game.actor(state),
        "hands": lambda: (game.hands(state, 0), game.hands(state, 1)),
        "deal": lambda: game.deal(state),
    }
    if actor == TERMINAL:
        questions |= {"utility": lambda: game.utility(state), "payoff": lambda: game.payoff(state)}
    else:
        questions |= {"actions": lambda: game.actions(state), "children": lambda: game.children(state)}
    for method, ask in questions.items():
        _expect(_equal(ask(), ask()), game, state, _RANDOM.format(method))


def _check_deal(game: Game[Any], state: Any) -> None:
    """Checks that the probabilities of chance's part are as many as there are pairs of hands, and are probabilities."""
    deal = game.deal(state)
    _check_form(game, state, "deal", deal)
    _expect(
        bool((deal >= 0).all() and np.isfinite(deal).all()), game, state, "the deal has a negative or infinite entry"
    )


def _check_terminal(game: Game[Any], state: Any, groups: dict[Hashable, Any]) -> None:
    """Checks that payoffs are finite where they can occur, equal to the utility, and proportional in a group."""
    matrix, hands = game.payoff_matrix(state), game.num_hands(state)
    _expect(matrix.shape == hands, game, state, f"payoffs have shape {matrix.shape}, there are {hands} hands")
    entries = matrix if isinstance(matrix, np.ndarray) else matrix.data
    _expect(bool(np.isfinite(entries).all()), game, state, "some payoff is not a finite number")
    largest = float(np.abs(entries).max(initial=0.0))
    _expect(largest <= _MOST, game, state, f"a payoff of {largest:.3g}: at most {_MOST:.0e} can be computed with")
    utility = game.utility(state)
    if getattr(game.payoff_matrix, "__func__", None) is not Game.payoff_matrix and utility.size <= _SMALL:
        off = _largest(Game.payoff_matrix(game, state) - matrix)
        _expect(off <= _TOLERANCE * largest, game, state, f"payoff_matrix differs from deal x utility by {off:.3g}")
    group, stake = game.payoff(state)
    _expect(bool(np.isfinite(stake)), game, state, f"the stake {stake} is not a finite number")
    if group not in groups:
        groups[group] = matrix / (stake or 1.0)
    here = groups[group]
    _expect(here.shape == matrix.shape, game, state, f"its group {group!r} has payoffs of shape {here.shape}")
    off = _largest(here * stake - matrix)
    _expect(off <= _TOLERANCE * largest, game, state, f"payoff differs from its group {group!r} by {off:.3g}")


def _largest(matrix: Any) -> float:
    """Returns the largest absolute entry of a matrix, dense or sparse."""
    return float(abs(matrix).max()) if min(matrix.shape) else 0.0


def _sources(
    game: Game[Any], state: Any, actor: int, number: int, child: Child[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns for both players where the child's hands come from, explicit where the game left it out."""
    sources = []
    for player in (0, 1):
        before, after = game.num_hands(state)[player], game.num_hands(child.state)[player]
        ways = before * (len(game.actions(state)) if player == actor else 1)
        origin = child.origin[player]
        if origin is None:
            _expect(before == after, game, state, f"player {player} has {before} hands, {after} after {child.label!r}")
            origin = np.arange(before) + (number * before if player == actor else 0)
        origin = np.asarray(origin)
        _expect(origin.dtype.kind in "iu", game, state, f"origins after {child.label!r} are not whole numbers")
        _expect(origin.shape == (after,), game, state, f"origins after {child.label!r} have shape {origin.shape}")
        inside = bool(((origin >= 0) & (origin < ways)).all())
        _expect(inside, game, state, f"an origin of player {player} after {child.label!r} is outside 0..{ways - 1}")
        sources.append(origin.astype(np.int64))
    return sources[0], sources[1]


def _check_chance(game: Game[Any], state: Any, actor: int, children: list[Child[Any]]) -> None:
    """Checks that for every action the children's deals add up to the state's deal."""
    deal: FloatArray = game.deal(state)
    hands = game.num_hands(state)
    actions = len(game.actions(state)) if actor >= 0 else 1
    rows, columns = (hands[player] * (actions if player == actor else 1) for player in (0, 1))
    total, legal = np.zeros((rows, columns)), np.zeros(hands[max(actor, 0)] * actions, dtype=bool)
    for number, child in enumerate(children):
        origin = _sources(game, state, actor, number, child)
        _check_deal(game, child.state)
        np.add.at(total, np.ix_(*origin), game.deal(child.state))
        if actor >= 0:
            legal[origin[actor]] = True
    if actor == CHANCE:
        expected = deal
    else:
        expected = np.tile(deal, (actions, 1) if actor == 0 else (1, actions))
        expected = expected * (legal[:, None] if actor == 0 else legal[None, :])
        stuck = ~legal.reshape(actions, -1).any(axis=0) & deal.any(axis=1 - actor)
        _expect(not stuck.any(), game, state, f"hands {np.flatnonzero(stuck).tolist()} have no legal action")
    worst = float(np.abs(total - expected).max())
    scale = max(float(deal.max()), float(total.max()))
    _expect(
        worst <= _TOLERANCE * scale, game, state,
        f"chance is off by {worst:.3g} of {scale:.3g}: the children's deals do not add up",
    )  # fmt: skip
