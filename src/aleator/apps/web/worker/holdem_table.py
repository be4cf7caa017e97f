"""A solved hold'em spot as a table to play at."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from aleator.apps.web.worker.explore import actions_of, look, open_view
from aleator.apps.web.worker.tables import Option, Position
from aleator.games.base import CHANCE, TERMINAL, FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, find_node
from aleator.games.holdem.cards import (
    HAND_CLASSES,
    HANDS,
    NUM_CARDS,
    NUM_HAND_CLASSES,
    format_card,
    format_cards,
    format_hand,
)
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.node_path import NodePath
from aleator.solvers.holdem.view import NodeView

_SHARED = (HANDS[:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))  # [1326, 1326] a common card


class HoldemTable:
    """A spot; amounts are chips in the zero-sum form: what a player ends up with from the pot, less half of it."""

    unit = "chips"

    def __init__(self, file: str) -> None:
        self.file = file
        self.solution = open_view(file).solution
        self.spot = self.solution.spot

    def _path(self, position: Position) -> NodePath:
        return NodePath(tuple(position))

    def _node(self, position: Position) -> BettingNode:
        return find_node(self.solution.root, self._path(position), board=self.spot.board)

    def _view(self, position: Position, *, values: bool = False) -> NodeView:
        return look(self.file, self._path(position), values=values)

    def deal(self, rng: np.random.Generator) -> tuple[int, int]:
        """Returns two hands without a common card, as likely as the ranges say."""
        weights = self.spot.weights()
        free = weights[1] @ ~_SHARED
        first = _draw(weights[0] * free, rng)
        return first, _draw(weights[1] * ~_SHARED[first], rng)

    def actor(self, position: Position) -> int:
        """Returns who moves."""
        node = self._node(position)
        if node.kind is NodeKind.DECISION:
            return node.player
        return CHANCE if node.kind is NodeKind.NEXT_STREET else TERMINAL

    def options(self, position: Position) -> list[Option]:
        """Returns the actions of who moves."""
        actions = actions_of(self._node(position), self.spot.stack)
        return [Option(action["token"], action["name"], action["kind"]) for action in actions]

    def _board(self, position: Position) -> tuple[int, ...]:
        return (*self.spot.board, *self._path(position).cards)

    def chance(self, position: Position, hands: tuple[int, int], rng: np.random.Generator) -> str:
        """Returns the next card, drawn from what is left of the deck."""
        gone = {*self._board(position), *HANDS[hands[0]].tolist(), *HANDS[hands[1]].tolist()}
        return format_card(int(rng.choice([card for card in range(NUM_CARDS) if card not in gone])))

    def policy(self, position: Position, hand: int) -> FloatArray:
        """Returns [A]: what the solution does with a hand."""
        row = self._view(position).policy[:, hand]
        found: FloatArray = row / row.sum() if row.sum() > 0 else np.full(len(row), 1 / len(row))
        return found

    def mixture(self, position: Position, own: int) -> FloatArray:
        """Returns [A]: how often each action is taken, over the hands of who moves."""
        view = self._view(position)
        mixed: FloatArray = view.policy @ self.belief(position, 1 - view.player, own)
        return mixed

    def values(self, position: Position, hand: int) -> FloatArray:
        """Returns [A]: what each action is worth to who moves."""
        found: FloatArray = np.nan_to_num(self._view(position, values=True).action_evs[:, hand] - self.spot.pot / 2)
        return found

    def belief(self, position: Position, player: int, own: int) -> FloatArray:
        """Returns [1326]: how likely each hand of the other is."""
        weights = self._view(position).weights[1 - player] * ~_SHARED[own]
        if not weights.sum() > 0:
            weights = self.spot.weights()[1 - player] * ~_SHARED[own]
        found: FloatArray = weights / max(weights.sum(), 1e-300)
        return found

    def payoff(self, position: Position, hands: tuple[int, int], player: int) -> float:
        """Returns what a player has won, less half of the pot at the start."""
        node = self._node(position)
        pot, matched = self.spot.pot, min(node.chips)
        taken = self.spot.rake.amount(pot + 2 * matched)
        if node.kind is NodeKind.FOLD:
            share = 0.0 if node.player == player else 1.0
        else:
            ranks = strengths(self._board(position))[list(hands)]
            share = float((np.sign(int(ranks[player]) - int(ranks[1 - player])) + 1) / 2)
        return share * (pot + 2 * matched - taken) - matched - pot / 2

    @cached_property
    def _values(self) -> tuple[float, float]:
        first, second = self.solution.summary.values
        return first, second

    def seat_value(self, player: int) -> float:
        """Returns what a seat is worth on average."""
        return self._values[player]

    def hand_name(self, player: int, hand: int) -> str:
        """Returns the name of a hand."""
        return format_hand(hand)

    def belief_report(self, belief: FloatArray) -> dict[str, Any]:
        """Returns a belief as a grid of the 169 classes."""
        classes = np.bincount(HAND_CLASSES, weights=belief, minlength=NUM_HAND_CLASSES)
        return {"form": "grid", "shares": classes}

    def scene(self, position: Position) -> dict[str, Any]:
        """Returns the board, the pot and what both have put in."""
        node = self._node(position)
        return {
            "board": format_cards(self._board(position)),
            "pot": self.spot.pot + sum(node.chips),
            "chips": list(node.chips),
            "stack": self.spot.stack,
        }

    def win_chance(self, position: Position, player: int, own: int) -> float:
        """Returns how likely `player` wins a showdown over the other's hands, a tie counting half."""
        if self._node(position).kind is not NodeKind.SHOWDOWN or len(self._board(position)) < 5:
            return float("nan")
        ranks = strengths(self._board(position)).astype(np.int64)
        share = (np.sign(ranks[own] - ranks) + 1) / 2
        return float(self.belief(position, player, own) @ share)


def _draw(weights: FloatArray, rng: np.random.Generator) -> int:
    return int(rng.choice(len(weights), p=weights / weights.sum()))
