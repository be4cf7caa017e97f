"""Policies of this package's own games for OpenSpiel, where OpenSpiel has the same game.

OpenSpiel's game is walked beside our public tree. Of every history of OpenSpiel's the walk knows our node and both
hands: outcomes of chance give the hands and the public cards, and actions, which both list in the same order, lead to
children, through private moves by their origins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aleator.errors import GameError
from aleator.games.base import Game
from aleator.games.extensive.openspiel import import_pyspiel
from aleator.games.goofspiel import Goofspiel
from aleator.games.leduc import Leduc
from aleator.games.liars_dice import LiarsDice
from aleator.games.one_card import OneCardPoker
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

KNOWN = "kuhn, leduc, liars-dice:DxF, goofspiel:N"


class Twin(NamedTuple):
    """How a game of OpenSpiel is the same as ours.

    Attributes:
        source: its name and parameters.
        dealt: how many outcomes of chance deal the first hands.
        hands: from these outcomes to the hands of both players.
        public: from an outcome after these to the child of our node.
    """

    source: str
    dealt: int
    hands: Callable[[Sequence[int]], tuple[int, int]]
    public: Callable[[int], int] = int


class _Place(NamedTuple):
    """A history of OpenSpiel's, and where it is in our tree."""

    state: Any
    node: int
    hands: tuple[int, int]
    outcomes: tuple[int, ...]


def find_twin(game: Game[Any]) -> Twin:
    """Returns the game of OpenSpiel that is the same as a game of this package.

    Raises:
        GameError: there is none.
    """
    if isinstance(game, OneCardPoker) and game.cards == 3:
        return Twin("kuhn_poker", 2, lambda cards: (cards[0], cards[1]))
    if isinstance(game, Leduc) and _is_limit_leduc(game):
        return Twin("leduc_poker", 2, lambda cards: (cards[0] // 2, cards[1] // 2), lambda card: card // 2)
    if isinstance(game, LiarsDice) and game.seats_are_alike:
        return _liars_dice(game)
    if isinstance(game, Goofspiel):
        order = "ascending" if game.prizes[0] == 1 else "descending"
        pays = "win_loss" if game.win_loss else "point_difference"
        source = f"goofspiel(imp_info=True,num_cards={game.cards},points_order={order},returns_type={pays})"
        return Twin(source, 0, lambda none: (0, 0))
    raise GameError(f"OpenSpiel has no game like {game.name}; it has {KNOWN}, and those that load_openspiel returns")


def _is_limit_leduc(game: Leduc) -> bool:
    cards, bets = (game.ranks, game.suits, game.ante), (game.bets, game.max_bets, game.stack, game.no_limit)
    return cards == (3, 2, 1.0) and bets == (((2,), (4,)), 2, None, False)


def _liars_dice(game: LiarsDice) -> Twin:
    names = list(game.hands(game.root(), 0))
    dice = game.counts[0]

    def hand(rolls: Sequence[int]) -> int:
        return names.index("".join(str(face + 1) for face in sorted(rolls)))

    source = f"liars_dice(numdice={dice},dice_sides={game.faces})"
    return Twin(source, 2 * dice, lambda rolls: (hand(rolls[:dice]), hand(rolls[dice:])))


def twin_policy(policy: Policy) -> Any:
    """Returns a policy of one of this package's games as an `open_spiel.python.policy.TabularPolicy` of its twin.

    Raises:
        GameError: OpenSpiel has no such game.
        MissingExtraError: OpenSpiel is not installed.
    """
    twin, pyspiel = find_twin(policy.game), import_pyspiel()
    from open_spiel.python.policy import TabularPolicy

    source = pyspiel.load_game(twin.source)
    if source.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        source = pyspiel.convert_to_turn_based(source)
    exported, tree = TabularPolicy(source), policy.tree
    waiting = [_Place(source.new_initial_state(), 0, (0, 0), ())]
    while waiting:
        place = waiting.pop()
        if place.state.is_terminal():
            continue
        if place.state.is_chance_node():
            waiting += [_after_chance(tree, twin, place, outcome) for outcome, _ in place.state.chance_outcomes()]
            continue
        player, legal = place.state.current_player(), place.state.legal_actions()
        here = policy[place.node][:, place.hands[player]]
        assert player == tree.actor[place.node] and len(legal) == len(here), twin.source
        row = exported.state_lookup[place.state.information_state_string()]
        exported.action_probability_array[row] = 0.0
        exported.action_probability_array[row, legal] = here
        waiting += [_after_action(tree, place, number, action) for number, action in enumerate(legal)]
    return exported


def _after_chance(tree: PublicTree, twin: Twin, place: _Place, outcome: int) -> _Place:
    outcomes, state = (*place.outcomes, outcome), place.state.child(outcome)
    if len(outcomes) < twin.dealt:
        return _Place(state, place.node, place.hands, outcomes)
    if len(outcomes) == twin.dealt:
        return _Place(state, place.node, twin.hands(outcomes), outcomes)
    return _Place(state, tree.children(place.node)[twin.public(outcome)], place.hands, outcomes)


def _after_action(tree: PublicTree, place: _Place, number: int, action: int) -> _Place:
    state = place.state.child(action)
    for child in _children(tree, place.node, number):
        hands = _hands_after(tree, place, child, number)
        if hands is not None:
            return _Place(state, child, hands, place.outcomes)
    return _Place(state, place.node, place.hands, place.outcomes)  # the rest is forced, and over in our tree


def _children(tree: PublicTree, node: int, number: int) -> Sequence[int]:
    """Returns the children to which an action may lead: its own, or all where it is not seen."""
    children = list(tree.children(node))
    seen = all(tree.origin(player, child) is None for child in children for player in (0, 1))
    return [children[number]] if seen else children


def _hands_after(tree: PublicTree, place: _Place, child: int, number: int) -> tuple[int, int] | None:
    """Returns both hands in a child, None if these hands and this action do not lead there."""
    hands = []
    for player in (0, 1):
        origin, hand = tree.origin(player, child), place.hands[player]
        if player == tree.actor[place.node] and origin is not None:
            hand += number * int(tree.num_hands[player, place.node])
        matching = [hand] if origin is None else np.flatnonzero(origin == hand).tolist()
        if not matching:
            return None
        hands.append(int(matching[0]))
    deal = tree.game.deal(tree.states[child])
    return (hands[0], hands[1]) if deal[hands[0], hands[1]] > 0 else None
