"""Whole hands by an agent that knows a tree only: a solved spot, a blueprint. Bets that its tree lacks are translated.

Algorithm:
    Where the opponent bets an amount that the tree lacks, the agent takes it for one of the two nearest, at random
    (`abstraction.translation`), and goes on from there. What it answers about *all* of its hands is the mixture over
    these draws by Bayes' rule: a line through the tree counts with the chance of its draws times the reach of the hand
    along it. So it forgets nothing, remembers no dice, and its answer is the same whoever asks, as often as one likes.
    Its own bets are the tree's as shares of the pot; all-in stays all-in.
    Where the tree is a call ahead (a small raise was taken for a call) it calls; where the tree has both all-in, it
    checks and calls to the end. Before the tree begins, where it knows no raise that was made, and with hands that it
    does not know, another agent answers.

Reference: S. Ganzfried, T. Sandholm (IJCAI 2013), as in `abstraction.translation`.
Deviations: the paper draws once and plays on; here all draws are followed, which plays the same on average.
Status: tests/agents/whole_hands/test_tree_agent.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np

from aleator.abstraction.translation import Translation, pseudo_harmonic, raise_size, size_at_table, translate
from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.caching import Kept
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, Action, ActionKind, raise_to
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_state import HandState

Position = TypeVar("Position")

_KEPT: Final = 256


class KnownTree(ABC, Generic[Position]):
    """A policy on a betting tree of two players, with cards: what an agent must have to play whole hands by it.

    Attributes:
        dead: chips in the middle when the tree begins that its nodes do not count.
        most: chips that a player can put in, counted as its nodes do.
    """

    dead: int
    most: int

    @abstractmethod
    def begins_at(self, state: HandState) -> bool:
        """Returns whether a hand is where the tree begins; chips may be scaled."""

    @abstractmethod
    def start(self) -> Position:
        """Returns the first position."""

    @abstractmethod
    def betting(self, position: Position) -> BettingNode:
        """Returns the betting there."""

    @abstractmethod
    def act(self, position: Position, action: int) -> Position:
        """Returns the position after an action by its index."""

    @abstractmethod
    def deal(self, position: Position, cards: Sequence[int]) -> Position:
        """Returns the position after the cards of the next street."""

    @abstractmethod
    def policy_at(self, position: Position) -> FloatArray:
        """Returns the policy of a decision, ``[A, 1326]``; 0 for hands that it does not know."""


@dataclass(frozen=True, slots=True)
class _Line(Generic[Position]):
    """One way to read what was played.

    Attributes:
        trail: the tree's actions so far, by index; None off the tree.
        position: in the tree; None off it.
        chance: of the draws that read it so.
        reach: of the agent's hands along it, ``[1326]``.
    """

    trail: tuple[int, ...] | None
    position: Position | None
    chance: float
    reach: FloatArray


class _Option(NamedTuple):
    """What some hands do: an action at the table, its step in the tree (see `_moved`), and each hand's probability."""

    action: Action
    step: int | None
    probabilities: FloatArray


class TreeAgent(HandAgent, Generic[Position]):
    """Plays whole hands by a tree; see the module.

    Args:
        name: what it is called.
        tree: what it knows.
        otherwise: who answers where the tree says nothing.
        translation: how bets that the tree lacks are taken.
    """

    hands_at_once = 16
    knows_street = True

    def __init__(
        self, name: str, tree: KnownTree[Position], otherwise: HandAgent, translation: Translation = pseudo_harmonic
    ) -> None:
        self.name, self.tree, self.otherwise, self.translation = name, tree, otherwise, translation
        self._kept: Kept[list[_Line[Position]]] = Kept(_KEPT)

    def policy_at(self, state: HandState) -> HandPolicy:
        lines = self._lines(state)
        if not lines:
            return self.otherwise.policy_at(state)
        weights = np.stack([line.chance * line.reach for line in lines])
        lost = weights.sum(axis=0) <= 0.0  # hands that the agent never plays to here
        weights[:, lost] = np.array([line.chance for line in lines])[:, None]
        chances: dict[Action, FloatArray] = {}
        for line, weight in zip(lines, weights, strict=True):
            for action, _, probabilities in self._options(line, state):
                chances[action] = chances.get(action, 0.0) + weight * probabilities
        rows = np.stack(list(chances.values()))
        total = rows.sum(axis=0)
        rows = np.where(total > 0.0, rows / np.where(total > 0.0, total, 1.0), 1.0 / len(rows))
        return HandPolicy(tuple(chances), rows)

    def _lines(self, state: HandState) -> list[_Line[Position]]:
        """Returns all ways to read a hand for its acting player; none before the tree begins."""
        player = state.player
        keys = [(player, state.setup, now.board, now.actions) for now in _states(state)]
        lines: list[_Line[Position]] = []
        before: HandState | None = None
        for key, now in zip(keys, _states(state), strict=True):
            if (kept := self._kept.find(key)) is not None:
                lines = kept
            else:
                if lines and before is not None:
                    lines = self._after(lines, before, now, is_own=before.player == player)
                elif not lines and not now.cards_due and self.tree.begins_at(now):
                    lines = [_Line((), self.tree.start(), 1.0, np.ones(NUM_HANDS))]
                self._kept.keep(key, lines)
            before = now
        return lines

    def _after(
        self, lines: list[_Line[Position]], before: HandState, now: HandState, *, is_own: bool
    ) -> list[_Line[Position]]:
        """Returns the lines after an action or the cards of a street."""
        if before.cards_due:
            return [self._dealt(line, now) for line in lines]
        action = now.actions[-1]
        following = [next_line for line in lines for next_line in self._own(line, before, action)] if is_own else []
        if not following:  # the opponent's action, or one of its own that somebody else chose
            following = [next_line for line in lines for next_line in self._translated(line, before, action)]
        return _merged(following)

    def _dealt(self, line: _Line[Position], now: HandState) -> _Line[Position]:
        """Returns a line after the cards of a street; off the tree if the tree is elsewhere."""
        if line.position is None:
            return line
        node = self.tree.betting(line.position)
        if (node.kind is NodeKind.NEXT_STREET and node.street == now.street - 1) or self._is_all_in(node):
            if not node.children:
                return replace(line, trail=None, position=None)
            cards = now.board[len(now.board) - (3 if len(now.board) == 3 else 1) :]
            return replace(line, position=self.tree.deal(line.position, cards))
        return replace(line, trail=None, position=None)

    def _own(self, line: _Line[Position], before: HandState, action: Action) -> Iterator[_Line[Position]]:
        """Yields the lines that lead through an action of the agent itself."""
        taken: dict[int | None, FloatArray] = {}
        for option in self._options(line, before):
            if option.action == action:
                taken[option.step] = taken.get(option.step, 0.0) + option.probabilities
        for index, probabilities in taken.items():
            if probabilities.any():
                yield self._moved(line, index, 1.0, line.reach * probabilities)

    def _translated(self, line: _Line[Position], before: HandState, action: Action) -> Iterator[_Line[Position]]:
        """Yields the lines that an action may be taken for."""
        if line.position is None:
            yield line
            return
        node = self.tree.betting(line.position)
        if node.kind is not NodeKind.DECISION or node.player != before.player:
            is_waiting = self._is_all_in(node) or action.kind is not ActionKind.RAISE
            yield line if is_waiting else self._moved(line, None, 1.0, line.reach)
            return
        kinds = [option.kind for option in node.actions]
        if action.kind is not ActionKind.RAISE:
            kind = action.kind if action.kind in kinds else ActionKind.CALL
            yield self._moved(line, kinds.index(kind), 1.0, line.reach)
            return
        raises = [index for index, kind in enumerate(kinds) if kind is ActionKind.RAISE]
        if not raises:
            yield self._moved(line, None, 1.0, line.reach)
            return
        largest = node.children[raises[-1]].chips[node.player]
        if largest == self.tree.most and is_all_in(before, action.amount):
            yield self._moved(line, raises[-1], 1.0, line.reach)
            return
        sizes = [0.0, *(self._size(node, index) for index in raises)]
        taken = translate(size_at_table(before.betting, action.amount), sizes, self.translation)
        for bet, chance in taken.items():
            index = raises[bet - 1] if bet else kinds.index(ActionKind.CALL)
            yield self._moved(line, index, chance, line.reach)

    def _options(self, line: _Line[Position], state: HandState) -> list[_Option]:
        """Returns what the acting player does in a line: the tree's actions as they are made at the table."""
        if line.position is None:
            return self._otherwise(state, np.ones(NUM_HANDS))
        node = self.tree.betting(line.position)
        if node.kind is not NodeKind.DECISION:  # a call ahead, or all-in: the rest is called
            return [_Option(CALL, None if node.kind is NodeKind.FOLD else _WAIT, np.ones(NUM_HANDS))]
        if node.player != state.player or node.street != state.street:
            return self._otherwise(state, np.ones(NUM_HANDS))
        policy, legal = self.tree.policy_at(line.position), state.legal_actions()
        unknown = (policy.sum(axis=0) <= 0.0) & ~blocked_hands(state.board)
        options = []
        for index, action in enumerate(node.actions):
            made, then = action, index
            if action.kind is ActionKind.RAISE:
                if legal.min_raise_to is None or legal.max_raise_to is None:
                    made = CALL
                elif node.children[index].chips[node.player] == self.tree.most:
                    made = raise_to(legal.max_raise_to)
                else:
                    added = round(self._size(node, index) * (state.betting.pot + legal.call_amount))
                    wished = max(state.betting.bets) + added
                    made = raise_to(min(max(wished, legal.min_raise_to), legal.max_raise_to))
            elif action.kind is ActionKind.FOLD and not legal.can_fold:
                made = CALL
            if made is CALL:
                then = [kind for kind, _ in node.actions].index(ActionKind.CALL)
            options.append(_Option(made, then, policy[index]))
        return options + (self._otherwise(state, unknown.astype(np.float64)) if unknown.any() else [])

    def _otherwise(self, state: HandState, weight: FloatArray) -> list[_Option]:
        policy = self.otherwise.policy_at(state)
        return [
            _Option(action, None, row * weight)
            for action, row in zip(policy.actions, policy.probabilities, strict=True)
        ]

    def _moved(self, line: _Line[Position], index: int | None, chance: float, reach: FloatArray) -> _Line[Position]:
        """Returns a line one action further: by its index, as it is, or off the tree (None)."""
        if index is None or line.position is None or line.trail is None:
            return _Line(None, None, line.chance * chance, reach)
        if index == _WAIT:
            return replace(line, chance=line.chance * chance, reach=reach)
        return _Line((*line.trail, index), self.tree.act(line.position, index), line.chance * chance, reach)

    def _is_all_in(self, node: BettingNode) -> bool:
        return min(node.chips) >= self.tree.most

    def _size(self, node: BettingNode, index: int) -> float:
        """Returns a raise of the tree in pots: what it adds to a call, over the pot after that call."""
        return raise_size(node, index, self.tree.dead)


_WAIT: Final = -1  # the index of an action that leaves a line where it is


def is_all_in(state: HandState, amount: int) -> bool:
    """Returns whether a raise is for all chips, or for all that the opponent has."""
    betting, player = state.betting, state.player
    assert player is not None
    return amount >= min(betting.bets[seat] + betting.stacks[seat] for seat in (player, 1 - player))


def _states(state: HandState) -> Iterator[HandState]:
    """Yields every state of a hand from its start to now."""
    now = state.setup.start()
    yield now
    while now != state:
        if due := now.cards_due:
            now = now.deal(state.board[len(now.board) : len(now.board) + due])
        else:
            now = now.act(state.actions[len(now.actions)])
        yield now


def _merged(lines: list[_Line[Position]]) -> list[_Line[Position]]:
    """Returns lines with those at the same place made one, which changes no answer."""
    merged: dict[tuple[int, ...] | None, _Line[Position]] = {}
    for line in lines:
        other = merged.get(line.trail)
        if other is not None:
            chance = line.chance + other.chance
            reach = (line.chance * line.reach + other.chance * other.reach) / chance
            line = replace(line, chance=chance, reach=reach)
        merged[line.trail] = line
    return list(merged.values())
