"""What a game is to someone who plays it: positions, actions, and what the equilibrium thinks of each.

A table knows the equilibrium of its game, so that everything it says about a position is exact: the probability of each hand
(belief), the probability of each action (policy), and what each action is worth on average (values).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from aleator.games.base import TERMINAL, FloatArray
from aleator.solvers.best_response import cfvs
from aleator.solvers.solution import Solution

Position = list[str]
"""Labels of the moves so far, chance's included."""


class Option(NamedTuple):
    """An action that can be taken: its label in positions, its name for people, and its kind for the page."""

    label: str
    name: str
    kind: str


class Table(Protocol):
    """A game with its equilibrium; players are 0 and 1, hands are numbers."""

    unit: str

    def deal(self, rng: np.random.Generator) -> tuple[int, int]:
        """Returns both players' hands."""

    def actor(self, position: Position) -> int:
        """Returns who moves: 0, 1, CHANCE or TERMINAL."""

    def options(self, position: Position) -> list[Option]:
        """Returns the actions of who moves."""

    def chance(self, position: Position, hands: tuple[int, int], rng: np.random.Generator) -> str:
        """Returns the label of what chance does."""

    def policy(self, position: Position, hand: int) -> FloatArray:
        """Returns [A]: what the equilibrium does with a hand of the player who moves."""

    def mixture(self, position: Position, own: int) -> FloatArray:
        """Returns [A]: how often who moves takes each action, as the other sees it who holds `own`."""

    def values(self, position: Position, hand: int) -> FloatArray:
        """Returns [A]: what each action is worth to who moves, over the other's hands, if both go on as the equilibrium."""

    def belief(self, position: Position, player: int, own: int) -> FloatArray:
        """Returns [H]: how likely each hand of the other is to `player`, who holds `own`."""

    def payoff(self, position: Position, hands: tuple[int, int], player: int) -> float:
        """Returns what a player has won at the end, less what the deal is worth to begin with."""

    def seat_value(self, player: int) -> float:
        """Returns what a seat is worth on average."""

    def hand_name(self, player: int, hand: int) -> str:
        """Returns the name of a hand."""

    def belief_report(self, belief: FloatArray) -> dict[str, Any]:
        """Returns a belief as the page draws it."""

    def scene(self, position: Position) -> dict[str, Any]:
        """Returns what else everybody sees: the board, the pot."""

    def win_chance(self, position: Position, player: int, own: int) -> float:
        """Returns how likely `player` has won at the end of a game whose hands are not shown yet."""


class TreeTable:
    """A small game whose moves everybody sees."""

    unit = "points"

    def __init__(self, solution: Solution) -> None:
        self.policies, self.tree = solution.policy, solution.policy.tree
        self.game = self.tree.game
        self._cfvs = (cfvs(solution.policy, 0), cfvs(solution.policy, 1))
        root = self.game.deal(self.tree.states[0])
        self._root = root / root.sum()
        self._value = solution.summary.value

    def _node(self, position: Position) -> int:
        return self.tree.find(position)

    def deal(self, rng: np.random.Generator) -> tuple[int, int]:
        """Returns both players' hands."""
        pair = int(rng.choice(self._root.size, p=self._root.ravel()))
        first, second = divmod(pair, self._root.shape[1])
        return first, second

    def actor(self, position: Position) -> int:
        """Returns who moves."""
        return int(self.tree.actor[self._node(position)])

    def options(self, position: Position) -> list[Option]:
        """Returns the actions of who moves."""
        names = self.game.actions(self.tree.states[self._node(position)])
        return [Option(name, name, _kind(name)) for name in names]

    def chance(self, position: Position, hands: tuple[int, int], rng: np.random.Generator) -> str:
        """Returns the label of a public chance outcome, drawn as the hands allow."""
        children = self.tree.children(self._node(position))
        weights = np.array([self.game.deal(self.tree.states[child])[hands] for child in children])
        return self.tree.labels[children[int(rng.choice(len(weights), p=weights / weights.sum()))]]

    def policy(self, position: Position, hand: int) -> FloatArray:
        """Returns [A]: what the equilibrium does with a hand."""
        return self.policies[self._node(position)][:, hand]

    def mixture(self, position: Position, own: int) -> FloatArray:
        """Returns [A]: how often each action is taken, over the hands of who moves."""
        node = self._node(position)
        mixed: FloatArray = self.policies[node] @ self.belief(position, 1 - int(self.tree.actor[node]), own)
        return mixed

    def _reach(self, node: int, player: int) -> FloatArray:
        """Returns [H]: the player's reach at a node."""
        reach = np.ones(int(self.tree.num_hands[player, 0]))
        while node:
            parent = int(self.tree.parent[node])
            if self.tree.actor[parent] == player:
                reach = reach * self.policies[parent][node - int(self.tree.first_child[parent])]
            node = parent
        return reach

    def _cf_reach(self, node: int, player: int, own: int) -> FloatArray:
        """Returns [H] of the other's hands: chance times the other's reach, as `player` with `own` sees it."""
        deal = self.game.deal(self.tree.states[node])
        row: FloatArray = deal[own] if player == 0 else deal[:, own]
        return row * self._reach(node, 1 - player)

    def values(self, position: Position, hand: int) -> FloatArray:
        """Returns [A]: what each action is worth to who moves."""
        node = self._node(position)
        player = int(self.tree.actor[node])
        total = self._cf_reach(node, player, hand).sum()
        found = np.array([self._cfvs[player][child][hand] for child in self.tree.children(node)])
        return found / total if total > 0 else np.zeros(len(found))

    def belief(self, position: Position, player: int, own: int) -> FloatArray:
        """Returns [H]: how likely each hand of the other is; what chance allows if the equilibrium never comes here."""
        node = self._node(position)
        weights = self._cf_reach(node, player, own)
        if not weights.sum() > 0:
            deal = self.game.deal(self.tree.states[node])
            weights = deal[own] if player == 0 else deal[:, own]
        found: FloatArray = weights / weights.sum()
        return found

    def payoff(self, position: Position, hands: tuple[int, int], player: int) -> float:
        """Returns what a player has won."""
        utility = float(self.game.utility(self.tree.states[self._node(position)])[hands])
        return utility if player == 0 else -utility

    def seat_value(self, player: int) -> float:
        """Returns what a seat is worth on average."""
        return self._value if player == 0 else -self._value

    def hand_name(self, player: int, hand: int) -> str:
        """Returns the name of a hand."""
        return str(self.game.hands(self.tree.states[0], player)[hand])

    def belief_report(self, belief: FloatArray) -> dict[str, Any]:
        """Returns a belief as bars: the names of hands and their probabilities."""
        names = [str(name) for name in self.game.hands(self.tree.states[0], 0)]
        return {"form": "bars", "hands": names, "shares": belief}

    def scene(self, position: Position) -> dict[str, Any]:
        """Returns the pot and the public card where there are some."""
        state = self.tree.states[self._node(position)]
        chips, board = getattr(state, "chips", None), getattr(state, "board", -1)
        found: dict[str, Any] = {}
        if chips is not None:
            found["pot"] = sum(chips)
        elif isinstance(state, str):  # one-card poker: a state is its betting
            found["pot"] = 2 + state.count("b")
        if board >= 0:
            found["board"] = self.hand_name(0, board)
        return found

    def win_chance(self, position: Position, player: int, own: int) -> float:
        """Returns how likely `player` wins at a terminal over the other's hands."""
        node = self._node(position)
        if self.tree.actor[node] != TERMINAL:
            return float("nan")
        utility = self.game.utility(self.tree.states[node])
        row = utility[own] if player == 0 else -utility[:, own]
        return float(self.belief(position, player, own) @ (row > 0))


def _kind(name: str) -> str:
    if name in ("fold", "liar"):
        return "fold" if name == "fold" else "challenge"
    return "call" if name in ("check", "call") else "raise"
