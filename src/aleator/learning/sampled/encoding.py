"""Infostates as inputs of a network, and the outputs that stand for their actions.

Algorithm:
    An input is: the player's cards, groups of cards on the board, then the betting and the seat. A group of cards is
    the sum over its cards of one-hot rank, suit and card, so that the first linear layer of a network gives the sum of
    three embeddings. The betting has two numbers for every place in every round: whether somebody has acted there, and
    what that put in, as a share of the pot. An output is an action by what it means: fold, check or call, each size of
    a bet.

    Games without cards are told by their tree: the number of the hand one-hot, and for every move so far, one-hot, what
    everybody saw. Outputs are actions by name.

Reference: thesis 4.1.2 "Network Architecture" (rank + suit + card embeddings; bets as pairs).
Deviations: games whose suits do not matter have ranks alone. The seat is told, because one network of average policies
    serves both players. Rounds have as many places for bets as the game needs, not 6.
Status: injective on every game of the library, tests/learning/sampled/test_encoding.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch

from aleator.errors import TooBigError
from aleator.games.base import CHANCE, Game
from aleator.games.flop_holdem import FlopHoldem
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_SUITS
from aleator.games.holdem.game import HoldemGame
from aleator.games.leduc import Leduc
from aleator.games.one_card import OneCardPoker
from aleator.learning.sampled.play import TreePlay
from aleator.memory import available_memory
from aleator.trees.public_tree import PublicTree

Tensor = torch.Tensor
Table = npt.NDArray[np.float32]
_FLOP = 3  # cards


class _Public(NamedTuple):
    """What the parts of an input are made from.

    Attributes:
        hands: per player [H, F]: the private part.
        boards: [N, F] per group of cards on the board.
        betting: [N, F]: everything else that is public.
        outputs: [N, A]: the output of each action of a decision, -1 past the last.
        names: of the outputs.
    """

    hands: tuple[Table, Table]
    boards: list[Table]
    betting: Table
    outputs: npt.NDArray[np.int64]
    names: list[str]


class Encoding(Protocol):
    """What a network is told about infostates, and which of its outputs are theirs.

    Attributes:
        groups: sizes of the groups of cards, the player's own first.
        betting: how many numbers follow them.
        size: of an input.
        names: of the outputs.
    """

    groups: tuple[int, ...]
    betting: int
    size: int
    names: list[str]

    @property
    def num_outputs(self) -> int:
        """How many numbers a network answers."""
        return len(self.names)

    def inputs(self, infostates: Tensor) -> Tensor:
        """Returns [n, size], float32."""

    def of_actions(self, infostates: Tensor, outputs: Tensor) -> Tensor:
        """Returns [n, A]: outputs [n, O] in the order of the infostates' actions; past the last one nothing."""


class InfostateEncoding(Encoding):
    """Inputs and outputs of networks for the infostates of a tree."""

    def __init__(self, play: TreePlay) -> None:
        tree = play.tree
        public = _poker(tree) or _any_game(tree)
        hands, boards, betting = public.hands, public.boards, public.betting
        self.groups = (hands[0].shape[1], *(board.shape[1] for board in boards))
        self.betting, self.names = betting.shape[1] + 1, public.names
        self.size = sum(self.groups) + self.betting
        self._play = play
        self._hand_start = torch.tensor([0, len(hands[0])], device=play.device)
        self._hands = torch.from_numpy(np.concatenate(hands)).to(play.device)
        seat = (tree.actor == 1).astype(np.float32)[:, None]
        self._public = torch.from_numpy(np.concatenate([*boards, betting, seat], axis=1)).to(play.device)
        self._outputs = torch.from_numpy(public.outputs).to(play.device)

    def inputs(self, infostates: Tensor) -> Tensor:
        """Returns [n, size], float32."""
        play = self._play
        hand = self._hand_start[play.player_of[infostates]] + play.hand_of[infostates]
        return torch.cat([self._hands[hand], self._public[play.node_of[infostates]]], dim=1)

    def of_actions(self, infostates: Tensor, outputs: Tensor) -> Tensor:
        """Returns [n, A]: outputs [n, O] in the order of the infostates' actions; past the last one nothing."""
        return outputs.gather(1, self._outputs[self._play.node_of[infostates]].clamp(min=0))


def _any_game(tree: PublicTree) -> _Public:
    """Returns the inputs of a game about which nothing but its tree is known."""
    number: dict[str, int] = {}
    event = np.zeros(tree.num_nodes, dtype=np.int64)
    for parent in np.flatnonzero(tree.num_children):
        seen: dict[str, int] = {}
        for child in tree.children(parent):
            label = tree.labels[child]
            seen[label] = seen.get(label, 0) + 1  # siblings of the same name are told apart
            event[child] = number.setdefault(f"{label} #{seen[label]}", len(number))
    depth = int(tree.depth.max())
    _check_size(tree.game.name, tree.num_nodes, depth * len(number))
    betting = np.zeros((tree.num_nodes, depth, len(number)), dtype=np.float32)
    for node in range(1, tree.num_nodes):
        betting[node] = betting[tree.parent[node]]
        betting[node, tree.depth[node] - 1, event[node]] = 1.0
    most = int(tree.num_hands.max())
    hands = np.eye(most, dtype=np.float32)
    names: dict[str, int] = {}
    outputs = _outputs(tree, list, names)
    return _Public((hands, hands), [], betting.reshape(tree.num_nodes, -1), outputs, list(names))


def _poker(tree: PublicTree) -> _Public | None:
    """Returns the inputs of a game of poker; None for other games."""
    game = tree.game
    cards = _Deck.of(game)
    if cards is None:
        return None
    boards: dict[Any, list[tuple[int, ...]]] = {}
    groups = max((len(boards.setdefault(state, cards.board(state))) for state in tree.states), default=0)
    shown = [
        np.stack([cards.sum(dealt[k] if k < len(dealt := boards[state]) else ()) for state in tree.states])
        for k in range(groups)
    ]
    menus = [_sizes(game.actions(tree.states[node])) for node in np.flatnonzero(tree.actor >= 0)]
    limit = max(map(len, menus)) <= 1  # then a bet is a bet, whatever its size in this round
    names: dict[str, int] = {}
    outputs = _outputs(tree, partial(_poker_names, limit), names)
    hands = tuple(np.stack([cards.sum(hand) for hand in own]) for own in cards.hands)
    return _Public((hands[0], hands[1]), shown, _betting(tree, cards), outputs, list(names))


def _outputs(
    tree: PublicTree, name: Callable[[Sequence[str]], list[str]], names: dict[str, int]
) -> npt.NDArray[np.int64]:
    """Returns [N, A]: the number of the name of each action of a decision; adds names that are new."""
    numbers = np.full((tree.num_nodes, max(1, int(tree.num_actions.max(initial=0)))), -1, dtype=np.int64)
    for node in np.flatnonzero(tree.actor >= 0):
        seen: dict[str, int] = {}
        for action, label in enumerate(name(tree.game.actions(tree.states[node]))):
            seen[label] = seen.get(label, 0) + 1
            unique = label if seen[label] == 1 else f"{label} #{seen[label]}"
            numbers[node, action] = names.setdefault(unique, len(names))
    return numbers


def _sizes(actions: Sequence[str]) -> list[str]:
    """Returns the bets and raises among some actions."""
    return [action for action in actions if action not in ("fold", "call", "check", "f", "c", "k")]


def _poker_names(limit: bool, actions: Sequence[str]) -> list[str]:
    """Returns what actions mean: a check is a call of nothing, and a bet a raise of nothing."""
    names = {"check": "call", "k": "call", "c": "call", "f": "fold"}
    names |= {size: "bet" if limit else size.replace("raise", "bet") for size in _sizes(actions)}
    return [names.get(action, action) for action in actions]


def _betting(tree: PublicTree, deck: _Deck) -> Table:
    """Returns [N, 2 x places]: the betting of a tree."""
    dealt = np.append(False, tree.actor[tree.parent[1:]] == CHANCE)
    pots = np.array([sum(deck.chips(state)) for state in tree.states])
    return betting_inputs(tree.game.name, tree.parent, dealt, pots)


def betting_inputs(
    game: str, parent: npt.NDArray[np.integer], dealt: npt.NDArray[np.bool_], pots: npt.NDArray[np.float64]
) -> Table:
    """Returns [N, 2 x places]: for every place of every round whether somebody has acted there, and what share of the
    pot it put in.

    Args:
        game: its name.
        parent: the node before each, [N]; parents come first.
        dealt: whether cards came between, [N].
        pots: chips in the middle, [N].
    """
    number = len(parent)
    turn, bets = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    for node in range(1, number):
        before = parent[node]
        turn[node], bets[node] = turn[before] + dealt[node], 0 if dealt[node] else bets[before] + 1
    places = [int(bets[turn == round].max()) for round in range(int(turn.max()) + 1)]
    start = np.cumsum(places) - places
    _check_size(game, number, 2 * sum(places))
    betting = np.zeros((number, sum(places), 2), dtype=np.float32)
    for node in range(1, number):
        before = parent[node]
        betting[node] = betting[before]
        if not dealt[node]:
            size = (pots[node] - pots[before]) / max(pots[before], 1e-9)
            betting[node, start[turn[node]] + bets[node] - 1] = 1.0, size
    return betting.reshape(number, -1)


class _Deck:
    """The cards of a game of poker.

    Attributes:
        hands: per player, the cards of each hand.
    """

    def __init__(self, game: Any, cards: int, suits: int, hands: Sequence[Sequence[Sequence[int]]]) -> None:
        self._game, self._cards, self._suits, self.hands = game, cards, suits, hands

    @classmethod
    def of(cls, game: Game[Any]) -> _Deck | None:
        """Returns the deck of a game; None if it is no poker."""
        if isinstance(game, Leduc):
            return cls(game, game.ranks, 1, [[(rank,) for rank in range(game.ranks)]] * 2)
        if isinstance(game, OneCardPoker):
            return cls(game, game.cards, 1, [[(card,) for card in range(game.cards)]] * 2)
        if isinstance(game, FlopHoldem):
            return cls(game, game.ranks * game.suits, game.suits, [game.pairs.tolist()] * 2)
        if isinstance(game, HoldemGame):
            return cls(game, NUM_CARDS, NUM_SUITS, [HANDS[own].tolist() for own in game.hand_sets])
        return None

    def sum(self, cards: Sequence[int]) -> Table:
        """Returns what a network is told about some cards."""
        return sum_cards(cards, self._cards, self._suits)

    def board(self, state: Any) -> list[tuple[int, ...]]:
        """Returns the groups of cards on the board: those that are dealt together."""
        if isinstance(self._game, OneCardPoker):
            return []
        if isinstance(self._game, Leduc):
            return [(state.board,) if state.board >= 0 else ()]
        if isinstance(self._game, FlopHoldem):
            return [state.board]
        board = tuple(state.board)
        return [board[:_FLOP], *((card,) for card in board[_FLOP:])]

    def chips(self, state: Any) -> tuple[float, float]:
        """Returns what each player has put in, half of what was in the pot before included."""
        if isinstance(self._game, OneCardPoker):
            return 1.0 + state[0::2].count("b"), 1.0 + state[1::2].count("b")
        if isinstance(self._game, HoldemGame):
            first, second = self._game.betting(state).chips
            half = self._game.spot.pot / 2
            return half + first, half + second
        return float(state.chips[0]), float(state.chips[1])


def sum_cards(cards: Sequence[int], number: int, suits: int) -> Table:
    """Returns the sum over cards of one-hot rank, suit and card, of so many in all; where there are no suits, of the
    rank."""
    if suits == 1:
        counts = np.zeros(number, dtype=np.float32)
        np.add.at(counts, list(cards), 1.0)
        return counts
    ranks = number // suits
    inputs = np.zeros(ranks + suits + number, dtype=np.float32)
    for card in cards:
        for column in (card // suits, ranks + card % suits, ranks + suits + card):
            inputs[column] += 1.0
    return inputs


def _check_size(game: str, nodes: int, numbers: int) -> None:
    """Raises TooBigError if so many numbers per node take more than half of the memory that is free."""
    needed = 4.0 * numbers * nodes
    if needed > available_memory() / 2:
        raise TooBigError(f"inputs of networks for {game} would take {needed / 2**30:,.1f} GiB: choose a smaller game")
