"""A public tree laid out hand by hand, so that a walk can leave out single hands.

A *place* is an entry of a flat policy vector in the tree's own order: an infostate and an action. The last place,
`policy_size`, stands for "has not moved yet". An *entry* is a pair (node, hand) of one player; the entries of a node
lie side by side. What a player has done to come to an entry is the player's last place, its *sequence*. Reach belongs
to places, and what a place is worth is the sum of what the terminals and infostates that directly follow it are worth.
So a walk has nothing to do for a player where the other one moves or chance does, and public and private moves are
walked alike.

Numbers that belong together stand in one row of a matrix, because a walk that skips most of the tree jumps around in
memory; `columns` has the names of the columns.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from aleator.games.base import FloatArray
from aleator.solvers.engines.by_hand import columns as col
from aleator.trees.policy import legal_actions
from aleator.trees.public_tree import IDENTITY, PublicTree

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class Shape(NamedTuple):
    """The shape of the tree.

    Attributes:
        nodes: [N, 6] actor, parent, first child, number of children, number of actions, first place of the block [A,
            H].
        stake: [N].
        deals: [N, 3] where a node's list in `pairs` begins and ends, and whether it has the pairs of hands that chance
            allows (1) or those that it does not (0), whichever are fewer.
        pairs: [.., 2] pairs of hands.
    """

    nodes: Ints
    stake: FloatArray
    deals: Ints
    pairs: Ints


class HandSide(NamedTuple):
    """The tree as one player sees it.

    Attributes:
        player: 0 or 1.
        nodes: [N, 6] hands, first entry, first row of the terminal's payoffs, first row of the deal, whether hands keep
            their numbers on the way from the parent, first infostate.
        sequence: [entries] the player's last place.
        above: [infostates] the player's last place.
        places: [places, 3] whether the action is legal, the infostate and the node in which it is taken.
        payoff_start, payoff_hand, payoff: compressed rows [own hands] of all payoff groups: payoff per unit of stake,
            chance included, by the opponent's hand.
        deal_start, deal_hand, deal: compressed rows [own hands] of all deals: the pairs of hands that chance allows.
    """

    player: int
    nodes: Ints
    sequence: Ints
    above: Ints
    places: Ints
    payoff_start: Ints
    payoff_hand: Ints
    payoff: FloatArray
    deal_start: Ints
    deal_hand: Ints
    deal: FloatArray


class HandLayout:
    """A public tree prepared for walks that leave out single hands, in float64.

    Attributes:
        tree: the tree.
        shape, sides: what the kernels read.
        num_infostates: per player, all hands of all decision nodes.
    """

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        columns = (
            tree.actor, tree.parent, tree.first_child, tree.num_children, tree.num_actions, tree.policy_start,
        )  # fmt: skip
        first, second = (int(tree.num_hands[player, tree.actor == player].sum()) for player in (0, 1))
        self.num_infostates = (first, second)
        deals, deal_group = self._group_deals()
        lists, pairs = _list_pairs(deals)
        self.shape = Shape(np.stack(columns, axis=1).astype(np.int32), tree.stake, lists[deal_group], pairs)
        legal = legal_actions(tree)
        self.sides = (self._side(0, deals, deal_group, legal[0]), self._side(1, deals, deal_group, legal[1]))

    def _group_deals(self) -> tuple[list[csr_array], Longs]:
        """Returns the different deals, and which of them each node has."""
        tree = self.tree
        known: dict[Hashable, int] = {}
        groups: dict[Hashable, int] = {}
        deals: list[csr_array] = []
        group = np.zeros(tree.num_nodes, dtype=np.int64)
        for node, state in enumerate(tree.states):
            if state not in known:
                deal = np.asarray(tree.game.deal(state), dtype=np.float64)
                key = (deal.shape, deal.tobytes())
                if key not in groups:
                    groups[key] = len(deals)
                    deals.append(csr_array(deal))
                known[state] = groups[key]
            group[node] = known[state]
        return deals, group

    def _side(self, player: int, deals: list[csr_array], deal_group: Longs, legal: npt.NDArray[np.bool_]) -> HandSide:
        tree, own = self.tree, self.tree.decisions(player)
        hands = tree.num_hands[player].astype(np.int64)
        row_at = np.cumsum(hands) - hands
        states = np.zeros(tree.num_nodes, dtype=np.int64)
        states[own] = np.cumsum(hands[own]) - hands[own]
        sequence = self._sequences(player, hands, row_at)
        above = [sequence[row_at[node] : row_at[node] + hands[node]] for node in own]
        deal_rows, deal_start, deal_hand, deal = _stack(
            [matrix if player == 0 else csr_array(matrix.T) for matrix in deals]
        )
        payoff_rows, payoff_start, payoff_hand, payoff = _stack(
            [csr_array(part if player == 0 else -part.T) for part in tree.payoffs]
        )
        payoffs = np.where(tree.payoff_group >= 0, payoff_rows[np.maximum(tree.payoff_group, 0)], -1)
        plain = tree.origin_start[player] == IDENTITY
        columns = (hands, row_at, payoffs, deal_rows[deal_group], plain, states)
        return HandSide(
            player,
            np.stack(columns, axis=1).astype(np.int32),
            sequence,
            np.concatenate([np.zeros(0, np.int32), *above]),
            self._places(player, hands, states, legal),
            payoff_start,
            payoff_hand,
            payoff,
            deal_start,
            deal_hand,
            deal,
        )

    def _sequences(self, player: int, hands: Longs, row_at: Longs) -> Ints:
        """Returns for each entry the player's last place."""
        tree = self.tree
        sequence = np.full(int(hands.sum()), tree.policy_size[player], dtype=np.int32)
        for node in range(1, tree.num_nodes):
            parent, start = int(tree.parent[node]), tree.origin_start[player, node]
            if start == IDENTITY:
                offset = np.arange(hands[node]) + (node - tree.first_child[parent]) * hands[parent]
            else:
                offset = tree.origins[player][start : start + hands[node]]
            acts = tree.actor[parent] == player
            before = tree.policy_start[parent] + offset if acts else sequence[row_at[parent] + offset % hands[parent]]
            sequence[row_at[node] : row_at[node] + hands[node]] = before
        return sequence

    def _places(self, player: int, hands: Longs, states: Longs, legal: npt.NDArray[np.bool_]) -> Ints:
        """Returns for each place whether it is legal, the infostate and the node in which the action is taken."""
        tree, own = self.tree, self.tree.decisions(player)
        node = np.repeat(own, tree.num_actions[own] * hands[own])
        inside = np.arange(tree.policy_size[player]) - tree.policy_start[node]
        return np.stack([legal, states[node] + inside % hands[node], node], axis=1).astype(np.int32)

    @cached_property
    def payoff_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Per player [places + 1, 2]: the lowest and highest payoff that can follow; 0 where chance allows none."""
        tree = self.tree
        known: dict[Hashable, tuple[FloatArray, FloatArray]] = {}
        bounds = (np.empty((tree.policy_size[0] + 1, 2)), np.empty((tree.policy_size[1] + 1, 2)))
        for player in (0, 1):
            bounds[player][:] = (np.inf, -np.inf)
        for node in np.flatnonzero(tree.payoff_group >= 0):
            state = tree.states[node]
            if state not in known:
                possible, utility = tree.game.possible(state), np.asarray(tree.game.utility(state), dtype=np.float64)
                lowest, highest = np.where(possible, utility, np.inf), np.where(possible, utility, -np.inf)
                known[state] = (
                    np.array([lowest.min(axis=1), highest.max(axis=1)]),
                    np.array([-highest.max(axis=0), -lowest.min(axis=0)]),
                )
            for player in (0, 1):
                at, hands = self.sides[player].nodes[node, [col.ROW, col.HANDS]]
                sequence, (lowest, highest) = self.sides[player].sequence[at : at + hands], known[state][player]
                np.minimum.at(bounds[player][:, 0], sequence, lowest)
                np.maximum.at(bounds[player][:, 1], sequence, highest)
        for player in (0, 1):
            side, own_bounds = self.sides[player], bounds[player]
            for offset in range(len(own_bounds) - 2, -1, -1):  # later places follow earlier ones
                above = side.above[side.places[offset, col.INFOSTATE]]
                own_bounds[above, 0] = min(own_bounds[above, 0], own_bounds[offset, 0])
                own_bounds[above, 1] = max(own_bounds[above, 1], own_bounds[offset, 1])
            own_bounds[~np.isfinite(own_bounds[:, 0])] = 0.0
        return bounds

    def span(self, player: int) -> FloatArray:
        """Returns [infostates]: L(I), the highest less the lowest payoff that can follow (0 if chance allows none)."""
        places, bounds = self.sides[player].places, self.payoff_bounds[player][:-1]
        lowest, highest = np.full((2, self.num_infostates[player]), np.inf)
        np.minimum.at(lowest, places[:, col.INFOSTATE], np.where(places[:, col.LEGAL], bounds[:, 0], np.inf))
        np.minimum.at(highest, places[:, col.INFOSTATE], np.where(places[:, col.LEGAL], -bounds[:, 1], np.inf))
        return np.where(np.isfinite(lowest), -highest - lowest, 0.0)


def below(side: HandSide, marked: npt.NDArray[np.bool_], *, itself: bool = False) -> npt.NDArray[np.bool_]:
    """Returns [places]: those below a marked one of `marked` [places + 1], and if `itself` the marked ones, too."""
    above, marked = side.above[side.places[:, col.INFOSTATE]], marked.copy()
    hidden, changed = marked[above], True
    while changed:  # from a place to those that follow, as often as the player moves
        marked[:-1] |= hidden
        further = marked[above]
        changed, hidden = bool((further != hidden).any()), further
    return marked[:-1] if itself else hidden


def _stack(matrices: list[csr_array]) -> tuple[Longs, Ints, Ints, FloatArray]:
    """Returns (first row of each matrix, starts [rows + 1], columns, entries) of matrices in one."""
    rows = np.array([matrix.shape[0] for matrix in matrices], dtype=np.int64)
    starts = [np.zeros(1, np.int64)]
    for matrix in matrices:
        matrix.sum_duplicates()
        starts.append(starts[-1][-1] + matrix.indptr[1:].astype(np.int64))
    columns = np.concatenate([matrix.indices for matrix in matrices]).astype(np.int32)
    entries = np.concatenate([matrix.data for matrix in matrices]).astype(np.float64)
    return np.cumsum(rows) - rows, np.concatenate(starts).astype(np.int32), columns, entries


def _list_pairs(deals: list[csr_array]) -> tuple[Ints, Ints]:
    """Returns for each deal its row of `Shape.deals`, and `Shape.pairs`."""
    rows, chosen, size = [], [np.zeros((0, 2), dtype=np.int64)], 0
    for deal in deals:
        possible = deal.toarray() > 0.0
        listed = int(possible.sum()) < possible.size / 2
        chosen.append(np.argwhere(possible == listed))
        rows.append((size, size + len(chosen[-1]), listed))
        size += len(chosen[-1])
    return np.array(rows, dtype=np.int32).reshape(-1, 3), np.concatenate(chosen).astype(np.int32)
