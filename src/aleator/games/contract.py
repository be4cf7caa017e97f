"""The contract of a game, checked: what `check_game` accepts, every solver of the library can solve.

Perfect recall holds by construction: a hand has one origin, so that what a player once knew or did can never be forgotten.
What is left to check is that origins are well formed, that chance neither loses nor invents probability on the way
down, that every hand has something to do, and that payoffs are finite and agree with their groups. Payoffs are stated for
player 0 alone, so the game is zero-sum.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import GameError, TooBigError
from aleator.games.base import CHANCE, TERMINAL, Child, FloatArray, Game
from aleator.games.size import GameSize, measure
from aleator.meter import Meter

_TOLERANCE = 1e-9


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


def check_game(game: Game[Any]) -> GameReport:
    """Returns a report on a game that keeps the contract.

    Raises:
        GameError: the rules contradict themselves; the message says at which state and how.
        TooBigError: there are too many states to look at, or the game does not end.
    """
    name = getattr(game, "name", None)
    if not isinstance(name, str) or not name:
        raise GameError(f"{type(game).__name__} needs a name: a text in the attribute `name`")
    try:
        with Meter(name, f"checking {name}", "different public states") as meter:
            return _check(game, meter)
    except (GameError, TooBigError):
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise GameError(f"{name}: the rules raise {type(error).__name__}: {error}") from error


def _check(game: Game[Any], meter: Meter) -> GameReport:
    root = game.root()
    if abs(float(game.deal(root).sum()) - 1.0) > _TOLERANCE:
        raise GameError(f"{game.name}: the deal at the root sums to {game.deal(root).sum()}, not to 1")
    size = measure(game)
    seen: set[Hashable] = {root}
    waiting: list[Any] = [root]
    groups: dict[Hashable, Any] = {}
    max_hands = max_actions = 0
    while waiting:
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
    return GameReport(size, len(seen), len(groups), max_hands, max_actions)


def _expect(condition: bool, game: Game[Any], state: Any, complaint: str) -> None:
    if not condition:
        raise GameError(f"{game.name} at {state!r}: {complaint}")


def _check_terminal(game: Game[Any], state: Any, groups: dict[Hashable, Any]) -> None:
    """Checks that payoffs are finite where they can occur, and proportional within a group."""
    matrix = game.payoff_matrix(state)
    _expect(matrix.shape == game.num_hands(state), game, state, f"payoffs have shape {matrix.shape}")
    entries = matrix if isinstance(matrix, np.ndarray) else matrix.data
    _expect(bool(np.isfinite(entries).all()), game, state, "some payoff is not a finite number")
    group, stake = game.payoff(state)
    if group not in groups:
        groups[group] = matrix / (stake or 1.0)
    difference = abs(groups[group] * stake - matrix)
    worst = float(difference.max()) if difference.size else 0.0
    _expect(
        worst <= _TOLERANCE * max(1.0, abs(stake)), game, state, f"payoff differs from its group {group!r} by {worst}"
    )


def _sources(
    game: Game[Any], state: Any, actor: int, place: int, child: Child[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns for both players where the child's hands come from, explicit where the game left it out."""
    found = []
    for player in (0, 1):
        before, after = game.num_hands(state)[player], game.num_hands(child.state)[player]
        ways = before * (len(game.actions(state)) if player == actor else 1)
        origin = child.origin[player]
        if origin is None:
            _expect(before == after, game, state, f"player {player} has {before} hands, {after} after {child.label!r}")
            origin = np.arange(before) + (place * before if player == actor else 0)
        origin = np.asarray(origin)
        _expect(origin.shape == (after,), game, state, f"origins after {child.label!r} have shape {origin.shape}")
        inside = bool(((origin >= 0) & (origin < ways)).all())
        _expect(inside, game, state, f"an origin of player {player} after {child.label!r} is outside 0..{ways - 1}")
        found.append(origin.astype(np.int64))
    return found[0], found[1]


def _check_chance(game: Game[Any], state: Any, actor: int, children: list[Child[Any]]) -> None:
    """Checks that for every action the children's deals add up to the state's deal."""
    deal: FloatArray = game.deal(state)
    hands = game.num_hands(state)
    _expect(deal.shape == hands, game, state, f"the deal has shape {deal.shape}, there are {hands} hands")
    _expect(
        bool((deal >= 0).all() and np.isfinite(deal).all()), game, state, "the deal has a negative or infinite entry"
    )
    actions = len(game.actions(state)) if actor >= 0 else 1
    rows, columns = (hands[player] * (actions if player == actor else 1) for player in (0, 1))
    total, legal = np.zeros((rows, columns)), np.zeros(hands[max(actor, 0)] * actions, dtype=bool)
    for place, child in enumerate(children):
        origin = _sources(game, state, actor, place, child)
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
    _expect(worst <= _TOLERANCE, game, state, f"chance is off by {worst:.3g}: the children's deals do not add up")
