"""What is known about a spot before memory is taken: streets, boards up to isomorphism, hands, rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.board_game import BoardGame, cards_dealt, num_deals
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.lock import Lock, LockedNode
from aleator.games.holdem.suits import HAND_MAPS, INVERSES, board_classes, hand_classes, symmetries
from aleator.solvers.engines.boards.forest import BettingForest, BettingForestSize, Int32Array, build_forest
from aleator.solvers.engines.boards.tables import Int16Array, living_hands, row_width

Group = npt.NDArray[np.int8]

NODES_PER_CHUNK = 75
ONE_CHUNK = 1 << 40


@dataclass(frozen=True, slots=True)
class Board:
    """A board of the tree: its cards, its parent on the street before, and the suit permutations it stands for there.

    A permutation q in `maps` says: one of the boards this one stands for gives hand h the value that this board gives
    to hand `HAND_MAPS[q, h]`.
    """

    cards: tuple[int, ...]
    parent: int
    maps: tuple[int, ...]


class BoardPlan:
    """A spot laid out.

    Attributes:
        spot: the spot.
        hands: per player the hands (0..1325) that have weight.
        weights: per player the weights [1326].
        betting: the betting tree from the root of the spot on.
        forests, sizes, nodes: per street the betting, the largest chunk, and the number in the betting tree of each
            node.
        chances: per street the probability of each board, given both hands.
        slot: [nodes of the betting tree] where each is in the forest of its street.
        boards: per street the boards, one per class of isomorphic ones, children of a board side by side.
        groups: per street the suit permutations that change nothing on each board.
        widths: per street and player the rows of a board, padded.
    """

    def __init__(self, spot: BoardGame, *, isomorphism: bool = True) -> None:
        self.spot = spot
        self.weights = spot.weights()
        self.hands = (np.flatnonzero(self.weights[0]), np.flatnonzero(self.weights[1]))
        self._living: dict[tuple[int, tuple[int, ...]], tuple[Int16Array, Int16Array]] = {}
        self.forests: list[BettingForest] = []
        self.sizes: list[BettingForestSize] = []
        self.nodes: list[Int32Array] = []
        self.betting = spot.build_tree()
        tree, chance = self.betting.tree, 1.0
        self.chances: list[float] = []
        self.slot: Int32Array = np.full(tree.num_nodes, -1, np.int32)
        roots = [self.betting.number]
        while roots:
            street = spot.street + len(self.forests)
            last = street == spot.num_streets - 1
            if self.forests:
                chance /= num_deals(len(spot.deck), street)
            forest, nodes, size = build_forest(
                tree, roots, spot.pot, spot.rake, chance, NODES_PER_CHUNK if last else ONE_CHUNK
            )
            self.forests.append(forest)
            self.nodes.append(nodes)
            self.chances.append(chance)
            self.sizes.append(size)
            self.slot[nodes] = np.arange(len(nodes))
            roots = (nodes[forest.next_nodes] + 1).tolist()  # the street that follows begins with the next number
        self.boards, self.groups = self._boards(isomorphism)
        self.widths = [
            tuple(row_width(max(len(self.rows(player, board)) for board in boards)) for player in (0, 1))
            for boards in self.boards
        ]

    def _boards(self, isomorphism: bool) -> tuple[list[list[Board]], list[list[Group]]]:
        """Returns `boards` and `groups`."""
        group: Group = self._symmetries() if isomorphism else np.zeros(1, np.int8)
        streets, groups = [[Board(self.spot.board, -1, (0,))]], [[group]]
        for _ in self.forests[1:]:
            street, next_groups = [], []
            for parent, board in enumerate(streets[-1]):
                dealt = self._deals(board.cards, self.spot.street + len(streets))
                classes = board_classes(dealt, groups[-1][parent])
                for number, first in enumerate(classes.representatives):
                    maps = tuple(INVERSES[classes.permutation_of[classes.members(number)]].tolist())
                    street.append(Board((*board.cards, *dealt[first].tolist()), parent, maps))
                    next_groups.append(symmetries(dealt[first], within=groups[-1][parent]))
            streets.append(street)
            groups.append(next_groups)
        return streets, groups

    def _deals(self, board: tuple[int, ...], street: int) -> npt.NDArray[np.int8]:
        """Returns [N, K]: the cards that can come at the beginning of a street."""
        left = [card for card in self.spot.deck if card not in board]
        return np.array(list(combinations(left, cards_dealt(street))), np.int8)

    def _symmetries(self) -> npt.NDArray[np.int8]:
        """Returns the suit permutations that change neither the board, nor a range, nor a lock."""
        group = symmetries(self.spot.board, weights=list(self.weights))
        for lock in self.spot.locks:
            group = symmetries(self.spot.board, weights=list(lock.policy(self.locked(lock).node)), within=group)
            for card in lock.path.cards:
                group = symmetries([card], within=group)
        return group

    def locked(self, lock: Lock) -> LockedNode:
        """Returns where a lock applies in the plan's betting tree."""
        return lock.find(self.betting)

    @property
    def num_streets(self) -> int:
        """How many streets of betting there are."""
        return len(self.forests)

    def rows(self, player: int, board: Board) -> Int16Array:
        """Returns the hands in the rows of a board, in order."""
        return self.living(player, board)[0]

    def living(self, player: int, board: Board) -> tuple[Int16Array, Int16Array]:
        """Returns the hands in the rows of a board and their strengths, both in order; see `living_hands`."""
        key = player, board.cards
        if key not in self._living:
            last = len(board.cards) == BOARD_CARDS[self.spot.num_streets - 1]
            self._living[key] = living_hands(board.cards, self.hands[player], ranked=last)
        return self._living[key]

    def storage_size(self, player: int, level: int) -> int:
        """Returns how many numbers of each kind a street keeps for a player."""
        return len(self.boards[level]) * int(self.forests[level].num_rows[player]) * self.widths[level][player]

    def multiplicities(self, level: int) -> npt.NDArray[np.float32]:
        """Returns [B]: how many boards each board of a street stands for, from the first street on."""
        counts = np.ones(1, np.float32)
        for boards in self.boards[1 : level + 1]:
            counts = np.array([counts[board.parent] * len(board.maps) for board in boards], np.float32)
        return counts

    def num_nodes(self) -> list[int]:
        """Returns the nodes of each street over all its boards, isomorphic ones counted once."""
        return [len(forest.kind) * len(boards) for forest, boards in zip(self.forests, self.boards, strict=True)]

    def num_infostates(self) -> int:
        """Returns the pairs of a decision and a hand over all boards, isomorphic ones counted once."""
        total = 0
        for forest, boards in zip(self.forests, self.boards, strict=True):
            for player in (0, 1):
                hands = sum(len(self.rows(player, board)) for board in boards)
                total += hands * int((forest.kind == player).sum())
        return total

    def num_infostate_actions(self) -> int:
        """Returns the actions of all infostates that differ by more than suits: what a lossless solution must say."""
        total = 0
        for forest, boards, groups in zip(self.forests, self.boards, self.groups, strict=True):
            for player in (0, 1):
                own = self.weights[player] > 0.0
                classes = (hand_classes(group, board.cards) for group, board in zip(groups, boards, strict=True))
                hands = sum(int(own[board_class.representatives].sum()) for board_class in classes)
                total += hands * int(forest.num_rows[player])
        return total

    def order(self, player: int, level: int) -> npt.NDArray[np.int16]:
        """Returns [B, W]: the row on the board before from which each row of a board comes; 0 for padding."""
        table = np.zeros((len(self.boards[level]), self.widths[level][player]), np.int16)
        row_of = np.zeros(NUM_HANDS, np.int64)
        for index, board in enumerate(self.boards[level]):
            if board.parent >= 0:
                before = self.rows(player, self.boards[level - 1][board.parent])
                row_of[before] = np.arange(len(before))
                living = self.rows(player, board)
                table[index, : len(living)] = row_of[living]
        return table

    def maps(self, player: int, level: int) -> npt.NDArray[np.int16]:
        """Returns [maps, W of the street before]: for each board that a board stands for, the row of each value.

        Dead hands and padding get the last row, which never holds a hand and whose value is zero.
        """
        boards = self.boards[level]
        before_width = self.widths[max(level - 1, 0)][player]
        nobody = self.widths[level][player] - 1
        table = np.full((sum(len(board.maps) for board in boards), before_width), nobody, np.int16)
        entry = 0
        for board in boards:
            row_of = np.full(NUM_HANDS, nobody, np.int64)
            living = self.rows(player, board)
            row_of[living] = np.arange(len(living))
            for suits in board.maps:
                if board.parent >= 0:
                    before = self.rows(player, self.boards[level - 1][board.parent])
                    table[entry, : len(before)] = row_of[HAND_MAPS[suits, before]]
                entry += 1
        return table
