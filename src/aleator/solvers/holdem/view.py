"""Reading a solved spot node by node: policies, reach, EVs and equities of every hand.

EVs come with the share of the pot: what a player ends up with from the pot, less the chips that the player has put in
since the start of the tree. So at every node both players' mean EVs add up to the pot of the spot less the rake.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan

import numpy as np
import numpy.typing as npt

from aleator.caching import Kept
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, find_node
from aleator.games.holdem.cards import (
    HAND_CLASSES,
    NUM_CARDS,
    NUM_HAND_CLASSES,
    NUM_HANDS,
    blocked_hands,
    format_card,
    format_cards,
)
from aleator.games.holdem.node_path import NodePath, NodePathError, is_action, parse_path
from aleator.games.holdem.subgame import subgame_of
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.holdem.board_solution import StoredNode
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.holdem.values import Pair, SubtreeValues

RESOLVE_ITERATIONS = 500
KEPT_BOARDS = 64

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NodeView:
    """What is known about one node of a solved spot. Arrays run over the 1,326 hands.

    Attributes:
        path: where it is.
        board: the cards on the table.
        node: the betting there.
        pot: chips in the middle, bets of this street included.
        weights: per player the reach of each hand: its weight in the range times the own policy on the way, `[1326]`.
        matchups: per player and hand, the weight of the opponent's hands without a common card, `[1326]`.
        evs: per player and hand the EV in chips with the share of the pot, NaN where the hand cannot be, `[1326]`.
        equities: per player and hand the share of the pot if all is checked down, NaN where the hand cannot be,
            `[1326]`.
        policy: the average policy of the player to act, `[A, 1326]`; no rows if nobody acts.
        action_evs: the EV of each of these actions, `[A, 1326]`.
        resolved: whether the river was solved anew for this view, since the solution lacks it.
    """

    path: NodePath
    board: tuple[int, ...]
    node: BettingNode
    pot: int
    weights: Pair
    matchups: Pair
    evs: Pair
    equities: Pair
    policy: FloatArray
    action_evs: FloatArray
    resolved: bool = False

    def __repr__(self) -> str:
        return f"<NodeView of {self.path}: {format_cards(self.board)}, pot {self.pot}>"

    @property
    def player(self) -> int:
        """Who acts, or -1."""
        return self.node.player if self.node.kind is NodeKind.DECISION else -1

    def mean(self, player: int, numbers: FloatArray) -> float:
        """Returns the mean of `numbers` `[1326]` over a player's hands, each as likely as here; NaN if impossible."""
        likely = self.weights[player] * self.matchups[player]
        total = likely.sum()
        if not total > 0:
            return float("nan")
        return float(likely[likely > 0] @ numbers[likely > 0] / total)

    @property
    def realised(self) -> Pair:
        """Per player and hand the realised equity `[1326]`: the EV from here on over equity times pot.

        Chips put in before are part of the pot; 1 means that a hand wins what it would if all was checked down.
        """
        first, second = (
            np.divide(
                self.evs[player] + self.node.chips[player],
                self.equities[player] * self.pot,
                out=np.full(NUM_HANDS, np.nan),
                where=self.equities[player] > 0,
            )
            for player in (0, 1)
        )
        return first, second

    def mean_realised(self, player: int) -> float:
        """Returns the realised equity of a player's whole range: mean EV from here on over mean equity times pot."""
        equity = self.mean(player, self.equities[player])
        return (self.mean(player, self.evs[player]) + self.node.chips[player]) / (equity * self.pot) if equity else nan

    def classes(self, player: int) -> tuple[FloatArray, FloatArray]:
        """Returns per hand class the weight of a player's hands [169] and mean policy [A, 169], 0 without weight."""

        def sums(weights: FloatArray) -> FloatArray:
            return np.bincount(HAND_CLASSES, weights=weights, minlength=NUM_HAND_CLASSES).astype(np.float64)

        weight, mix = sums(self.weights[player]), np.zeros((0, NUM_HAND_CLASSES))
        if player == self.player:
            mix = np.array([sums(self.weights[player] * row) for row in self.policy])
        return weight, np.divide(mix, weight, out=np.zeros_like(mix), where=weight > 0)

    @property
    def frequencies(self) -> list[float]:
        """How often each action is taken here, over all hands of the player to act."""
        return [self.mean(self.player, row) for row in self.policy]

    def mean_when_taken(self, action: int) -> float:
        """Returns the mean EV of an action over the hands that take it, NaN if none does or EVs are unknown."""
        if not len(self.action_evs):
            return nan
        likely = self.weights[self.player] * self.matchups[self.player] * self.policy[action]
        total = likely.sum()
        return float(likely[likely > 0] @ self.action_evs[action][likely > 0] / total) if total > 0 else nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Runout:
    """A card that can come, and what it means.

    Attributes:
        card: which.
        view: the node after it.
        chance: how likely it is, given the ranges here.
    """

    card: int
    view: NodeView
    chance: float


class _KeptValues(SubtreeValues):
    """Values below a board that are computed once per node of its street: a node's value has all below it."""

    def __init__(self, solution: HoldemSolution, level: int, board: int, *, best: bool) -> None:
        super().__init__(solution, level, board, best=best)
        self._kept: dict[int, Pair] = {}

    def values(self, node: BettingNode, reach: Pair, step: int = 0) -> Pair:
        """Returns both players' cfvs `[B, H]`; on the board itself, `reach` must be that of the average policy."""
        if step:
            return super().values(node, reach, step)
        if node.number not in self._kept:
            self._kept[node.number] = super().values(node, reach, step)
        return self._kept[node.number]


class HoldemView:
    """A solved spot to look at. Only what is asked for is read from the file.

    Attributes:
        solution: what is looked at.
        best: whether the EVs of each player are those of a best response to the other's average policy. They are right
            also for hands that the solution never brings to a node, whose own average policy there is noise.
    """

    def __init__(self, solution: HoldemSolution, *, best: bool = False) -> None:
        self.solution, self.best = solution, best
        self._below: Kept[_KeptValues] = Kept(KEPT_BOARDS)

    def node(self, path: NodePath | str, *, values: bool = True) -> NodeView:
        """Returns what is known about a node.

        Boards that a renaming of suits makes equal are stored once; hands and cards are renamed on the way.

        Args:
            path: such as `r:0:c:b100`.
            values: whether EVs are wanted; they take seconds at the first nodes of a flop, and are NaN if not wanted.

        Raises:
            NodePathError: there is no such node, or a player never gets there and the river must be solved again.
        """
        solution = self.solution
        path = parse_path(path) if isinstance(path, str) else path
        find_node(solution.root, path, board=solution.spot.board)
        at = solution.start()
        reach = [solution.weights[0], solution.weights[1]]
        for index, token in enumerate(path.tokens):
            if is_action(token):
                action, player = at.node.tokens.index(token), at.node.player
                reach[player] = (
                    reach[player] * solution.blocks(at.level, slice(at.board, at.board + 1), at.node)[0, action]
                )
            at = solution.follow(at, token)
            last = at.level + 1 == len(solution.boards) and not is_action(token)
            if last and not solution.has_last_street and at.node.kind is NodeKind.DECISION:
                return self._solve_again(path, index + 1, np.stack(self._all_hands(reach, at.hands)))
        return self._view(path, at, (reach[0], reach[1]), values)

    def runouts(self, path: NodePath | str) -> list[Runout]:
        """Returns the nodes after each card that can come at a node where one is dealt.

        Raises:
            NodePathError: there is no such node, or no card is dealt there.
        """
        path = parse_path(path) if isinstance(path, str) else path
        node = find_node(self.solution.root, path, board=self.solution.spot.board)
        if node.kind is not NodeKind.NEXT_STREET:
            raise NodePathError(f"no card is dealt at {path}")
        dealt = {*self.solution.spot.board, *path.cards}
        cards = [card for card in reversed(range(NUM_CARDS)) if card not in dealt]
        views = {card: self.node(path.then(format_card(card))) for card in cards}
        masses = {card: float(view.weights[0] @ view.matchups[0]) for card, view in views.items()}
        total = sum(masses.values())
        return [
            Runout(card=card, view=view, chance=masses[card] / total if total > 0 else nan)
            for card, view in views.items()
        ]

    def _values_below(self, level: int, board: int) -> _KeptValues:
        """Returns the values below a board; those of the boards looked at last are kept."""
        return self._below.find_or_make(
            (level, board), lambda: _KeptValues(self.solution, level, board, best=self.best)
        )

    def _all_hands(self, rows: list[FloatArray], stored_hand: IntArray, missing: float = 0.0) -> Pair:
        """Returns one number per hand `[1326]` and player from one per stored hand of the range `[H]`."""
        filled = []
        for player in (0, 1):
            stored = np.full(NUM_HANDS, missing)
            stored[self.solution.hands[player]] = rows[player]
            filled.append(stored[stored_hand])
        return filled[0], filled[1]

    def _view(self, path: NodePath, at: StoredNode, reach: Pair, wanted: bool) -> NodeView:
        solution, node, level, board, stored_hand = self.solution, at.node, at.level, at.board, at.hands
        below = self._values_below(level, board)
        alive = below.streets[0].alive
        rows = (reach[0][None] * alive[0], reach[1][None] * alive[1])
        free = below.compatible(rows)
        half = solution.spot.pot / 2
        is_decision = node.kind is NodeKind.DECISION
        policy = solution.blocks(level, slice(board, board + 1), node) if is_decision else np.zeros((1, 0, 0))
        action_values: list[FloatArray] = []
        known = wanted and solution.has_last_street
        if known and is_decision:
            policy, children = below.decision(node, rows)
            action_values = [child[node.player][0] for child in children]
            own = below.own_values(policy, np.stack(action_values)[:, None])[0]
            theirs = np.sum([child[1 - node.player][0] for child in children], axis=0)
            values = (own, theirs) if node.player == 0 else (theirs, own)
        elif known:
            first, second = below.values(node, rows)
            values = (first[0], second[0])
        else:
            values = (np.full(len(reach[0]), np.nan), np.full(len(reach[1]), np.nan))
        won = below.equity_values(rows)

        def conditional(cfv: FloatArray, player: int) -> FloatArray:
            possible = free[player][0] > 0
            mean: FloatArray = np.divide(cfv, free[player][0], out=np.full(len(cfv), np.nan), where=possible)
            return mean

        evs = [conditional(values[player], player) + half for player in (0, 1)]
        equities = [(conditional(won[player][0], player) + 1) / 2 for player in (0, 1)]
        actor = max(node.player, 0)

        def of_actor(row: FloatArray, missing: float) -> FloatArray:
            pair = [np.zeros(len(solution.hands[0])), np.zeros(len(solution.hands[1]))]
            pair[actor] = row
            return self._all_hands(pair, stored_hand, missing)[actor]

        return NodeView(
            path=path,
            board=(*solution.spot.board, *path.cards),
            node=node,
            pot=solution.spot.pot + sum(node.chips),
            weights=self._all_hands([rows[0][0], rows[1][0]], stored_hand),
            matchups=self._all_hands([free[0][0], free[1][0]], stored_hand),
            evs=self._all_hands(evs, stored_hand, np.nan),
            equities=self._all_hands(equities, stored_hand, np.nan),
            policy=_stack([of_actor(row, 0.0) for row in policy[0]]),
            action_evs=_stack([of_actor(conditional(row, actor) + half, np.nan) for row in action_values]),
        )

    def _solve_again(self, path: NodePath, start: int, reach: FloatArray) -> NodeView:
        """Returns the view of a node on a river that the solution lacks, after solving this river alone."""
        above = NodePath(path.tokens[:start])
        reach = np.where(blocked_hands((*self.solution.spot.board, *above.cards)), 0.0, reach)
        first, second = reach.max(axis=1)
        if not (first > 0 and second > 0):
            raise NodePathError(f"no hand gets to {path}, so this river cannot be solved again")
        view = HoldemView(solve_river(self.solution, above, reach), best=self.best).node(NodePath(path.tokens[start:]))
        return replace(
            view,
            path=path,
            weights=(view.weights[0] * first, view.weights[1] * second),
            matchups=(view.matchups[0] * second, view.matchups[1] * first),
            resolved=True,
        )


def solve_river(solution: HoldemSolution, path: NodePath, reach: FloatArray) -> HoldemSolution:
    """Returns a river solved by itself, whose first node is the decision at `path` of a solution that lacks it.

    Args:
        solution: saved without its last street.
        path: the first decision after the last card.
        reach: both players' reach there, `[2, 1326]`, of any scale.
    """
    river = subgame_of(solution.spot, path, reach / reach.max(axis=1, keepdims=True))
    solver = HoldemSolver(river, parse_rule(solution.summary.algorithm))
    solver.run(RESOLVE_ITERATIONS)
    return HoldemSolution.of_solver(solver, solution.summary.algorithm)


def _stack(rows: list[FloatArray]) -> FloatArray:
    return np.stack(rows) if rows else np.zeros((0, NUM_HANDS))
