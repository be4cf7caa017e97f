"""What hands are worth below a node of a solved spot, when both play the average policy.

Algorithm: the betting tree is walked once, with vectors `[B, H]` over all boards below the node at each step; a new
    card multiplies the boards. Folds subtract, showdowns scan hands sorted by strength; both remove common cards.
Reference: Johanson et al. 2011 (terminals in O(H)).
Deviations: none; float64 throughout, no engine is needed.
Status: equals the engine's values at the root and brute force (tests/solvers/holdem/test_view.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS, blocked_hands
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.suits import HAND_MAPS
from aleator.jit import njit
from aleator.solvers.holdem.solution import HoldemSolution

IntArray = npt.NDArray[np.int64]
Pair = tuple[FloatArray, FloatArray]
CARDS_LEFT = NUM_CARDS - 4  # both hands are dealt


class _Street(NamedTuple):
    """The boards of one street below a node: one player's arrays come in pairs."""

    boards: slice  # which of the street's boards
    parent: IntArray  # [B] the board on the street before, counted from the first of its slice
    alive: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]  # [B, H]
    order: tuple[IntArray, IntArray]  # [B, H] hands by strength, dead ones first; last street only
    strength: tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]  # [B, H] -1: dead, 0 before the last street
    map_board: IntArray  # [M] for each board that these stand for, which one does
    map_hand: tuple[IntArray, IntArray]  # [M, H] and which of its hands has the value of each hand


class SubtreeValues:
    """Values below a board of one street in a solution.

    Args:
        solution: whose average policy is played.
        level: the street, counted from that of the spot.
        board: its number in `solution.boards[level]`.
        best: whether each player's values are those of a best response to the other's average policy.
    """

    def __init__(self, solution: HoldemSolution, level: int, board: int, *, best: bool = False) -> None:
        self.solution, self.level, self.best = solution, level, best
        self.streets: list[_Street] = []
        columns = [np.full(NUM_HANDS, -1, np.int64) for _ in range(2)]
        for player in (0, 1):
            columns[player][solution.hands[player]] = np.arange(len(solution.hands[player]))
        self._same = (columns[1][solution.hands[0]], columns[0][solution.hands[1]])
        boards = slice(board, board + 1)
        for deeper in range(level, len(solution.boards)):
            if deeper > level:
                parents = np.array([entry.parent for entry in solution.boards[deeper]])
                inside = np.flatnonzero((parents >= boards.start) & (parents < boards.stop))
                parent = parents[inside] - boards.start
                boards = slice(int(inside[0]), int(inside[-1]) + 1)
            else:
                parent = np.zeros(1, np.int64)
            self.streets.append(self._street(boards, parent, deeper == len(solution.boards) - 1))

    def _street(self, boards: slice, parent: IntArray, last: bool) -> _Street:
        hands = self.solution.hands
        alive: list[list[npt.NDArray[np.bool_]]] = [[], []]
        strength: list[list[npt.NDArray[np.int16]]] = [[], []]
        for board in self.solution.boards[len(self.streets) + self.level][boards]:
            row = strengths(board.cards) if last else np.where(blocked_hands(board.cards), -1, 0).astype(np.int16)
            for player in (0, 1):
                strength[player].append(row[hands[player]])
                alive[player].append(row[hands[player]] >= 0)
        both = np.stack(strength[0]), np.stack(strength[1])
        order = (
            np.argsort(both[0], axis=1, kind="stable") if last else np.zeros((0, 0), np.int64),
            np.argsort(both[1], axis=1, kind="stable") if last else np.zeros((0, 0), np.int64),
        )
        chosen = self.solution.boards[len(self.streets) + self.level][boards]
        suits = np.array([number for board in chosen for number in board.maps])
        column = np.zeros((2, NUM_HANDS), np.int64)
        for player in (0, 1):
            column[player, hands[player]] = np.arange(len(hands[player]))
        return _Street(
            boards=boards,
            parent=parent,
            alive=(np.stack(alive[0]), np.stack(alive[1])),
            order=order,
            strength=both,
            map_board=np.repeat(np.arange(len(chosen)), [len(board.maps) for board in chosen]),
            map_hand=(column[0][HAND_MAPS[suits][:, hands[0]]], column[1][HAND_MAPS[suits][:, hands[1]]]),
        )

    def compatible(self, reach: Pair, step: int = 0) -> Pair:
        """Returns per player `[B, H]`: the reach of the opponent's hands without a common card; 0 for dead hands."""
        hands, alive = self.solution.hands, self.streets[step].alive
        mass = []
        for player in (0, 1):
            other = 1 - player
            result = np.zeros(alive[player].shape)
            _without_common_cards(reach[other], HANDS[hands[other]], HANDS[hands[player]], self._same[player], result)
            mass.append(result * alive[player])
        return mass[0], mass[1]

    def values(self, node: BettingNode, reach: Pair, step: int = 0) -> Pair:
        """Returns both players' cfvs `[B, H]` in the zero-sum form for reaches `[B, H]`; chance counts from here on."""
        if node.kind is NodeKind.DECISION:
            policy, children = self.decision(node, reach, step)
            actor, other = node.player, 1 - node.player
            own = self.own_values(policy, np.stack([child[actor] for child in children]))
            theirs = np.sum([child[other] for child in children], axis=0)
            return (own, theirs) if actor == 0 else (theirs, own)
        if node.kind is NodeKind.NEXT_STREET:
            return self._next_street(node.children[0], reach, step)
        stake = self.solution.spot.pot / 2 + min(node.chips)
        taken = self.solution.spot.rake.amount(self.solution.spot.pot + 2 * min(node.chips))
        if node.kind is NodeKind.FOLD:
            free = self.compatible(reach, step)
            amounts = [-stake if node.player == player else stake - taken for player in (0, 1)]
            return free[0] * amounts[0], free[1] * amounts[1]
        won = self.showdown(reach)
        if not taken:
            return won[0] * stake, won[1] * stake
        free = self.compatible(reach, step)
        return (
            won[0] * (stake - taken / 2) - free[0] * (taken / 2),
            won[1] * (stake - taken / 2) - free[1] * (taken / 2),
        )

    def own_values(self, policy: FloatArray, cfvs: FloatArray) -> FloatArray:
        """Returns `[B, H]` of who acts from the policy `[B, A, H]` and the cfvs `[A, B, H]` after each action."""
        best: FloatArray = cfvs.max(axis=0) if self.best else np.einsum("bah,abh->bh", policy, cfvs)
        return best

    def decision(self, node: BettingNode, reach: Pair, step: int = 0) -> tuple[FloatArray, list[Pair]]:
        """Returns the policy `[B, A, H]` of a decision and both players' cfvs after each of its actions."""
        policy = self.solution.blocks(self.level + step, self.streets[step].boards, node)
        children = []
        for action, child in enumerate(node.children):
            own = reach[node.player] * policy[:, action]
            children.append(self.values(child, (own, reach[1]) if node.player == 0 else (reach[0], own), step))
        return policy, children

    def equity_values(self, reach: Pair, step: int = 0) -> Pair:
        """Returns per player `[B, H]`: the opponent's reach that loses less what wins, if all is checked down."""
        if step + 1 == len(self.streets):
            return self.showdown(reach)
        return self._from_next(self.equity_values(self._to_next(reach, step + 1), step + 1), step + 1)

    def showdown(self, reach: Pair) -> Pair:
        """Returns per player `[B, H]`: the opponent's reach with weaker hands less that with stronger ones."""
        last, hands = self.streets[-1], self.solution.hands
        cfvs = []
        for player in (0, 1):
            other = 1 - player
            result = np.zeros((len(last.parent), len(hands[player])))
            _scan(
                reach[other], last.order[player], last.strength[player], HANDS[hands[player]],
                last.order[other], last.strength[other], HANDS[hands[other]], result,
            )  # fmt: skip
            cfvs.append(result)
        return cfvs[0], cfvs[1]

    def _next_street(self, node: BettingNode, reach: Pair, step: int) -> Pair:
        return self._from_next(self.values(node, self._to_next(reach, step + 1), step + 1), step + 1)

    def _to_next(self, reach: Pair, step: int) -> Pair:
        street = self.streets[step]
        return reach[0][street.parent] * street.alive[0], reach[1][street.parent] * street.alive[1]

    def _from_next(self, values: Pair, step: int) -> Pair:
        """Returns the mean over the cards that can come, those that other boards stand for included."""
        street, before = self.streets[step], self.streets[step - 1]
        left = CARDS_LEFT - len(self.solution.spot.board) - (self.level + step - 1)
        starts = np.searchsorted(street.parent[street.map_board], np.arange(len(before.parent)))
        gathered = [values[player][street.map_board[:, None], street.map_hand[player]] for player in (0, 1)]
        first, second = (np.add.reduceat(rows, starts, axis=0) / left for rows in gathered)
        return first, second


@njit()
def _without_common_cards(
    reach: FloatArray, cards: npt.NDArray[np.int8], own_cards: npt.NDArray[np.int8], same: IntArray, result: FloatArray
) -> None:
    """Writes to `result` `[B, H]` the sum of `reach` `[B, H']` over hands that share no card with each hand.

    `same` `[H]` is the opponent's index of the very same hand, or -1. What rounding leaves of nothing becomes 0.
    """
    by_card = np.zeros(NUM_CARDS)
    for board in range(reach.shape[0]):
        by_card[:] = 0.0
        total = 0.0
        for other in range(reach.shape[1]):
            weight = reach[board, other]
            total += weight
            by_card[cards[other, 0]] += weight
            by_card[cards[other, 1]] += weight
        for hand in range(result.shape[1]):
            left = total - by_card[own_cards[hand, 0]] - by_card[own_cards[hand, 1]]
            if same[hand] >= 0:
                left += reach[board, same[hand]]
            result[board, hand] = left if left > 1e-12 * total else 0.0


@njit()
def _scan(
    reach: FloatArray,
    order: IntArray,
    strength: npt.NDArray[np.int16],
    cards: npt.NDArray[np.int8],
    other_order: IntArray,
    other_strength: npt.NDArray[np.int16],
    other_cards: npt.NDArray[np.int8],
    result: FloatArray,
) -> None:
    """Writes to `result` `[B, H]` the opponent's reach `[B, H']` with weaker hands less that with stronger ones."""
    boards, hands = order.shape
    others = other_order.shape[1]
    by_card = np.zeros(NUM_CARDS)
    for board in range(boards):
        for sign in (1, -1):  # upwards for weaker hands, downwards for stronger ones
            by_card[:] = 0.0
            total, next_other = 0.0, 0
            for step in range(hands):
                hand = order[board, step if sign == 1 else hands - 1 - step]
                own = strength[board, hand]
                if own < 0:
                    continue
                while next_other < others:
                    other = other_order[board, next_other if sign == 1 else others - 1 - next_other]
                    theirs = other_strength[board, other]
                    if theirs >= 0:
                        if (own - theirs) * sign <= 0:
                            break
                        weight = reach[board, other]
                        total += weight
                        by_card[other_cards[other, 0]] += weight
                        by_card[other_cards[other, 1]] += weight
                    next_other += 1
                result[board, hand] += sign * (total - by_card[cards[hand, 0]] - by_card[cards[hand, 1]])
