"""A public tree laid out hand by hand, so that a walk can leave out single hands.

An *entry* is a pair (node, hand) of one player; the entries of a node lie side by side. A *place* is an entry of a flat
policy vector in the tree's own order: an infostate and an action. The last place, `policy_size`, stands for "has not moved
yet". Each entry knows its last place (the player's sequence) and the entry of the parent that it comes from, so that public
and private moves are walked alike: reach is pulled from the parent's entry, values are added to it.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from aleator.games.base import FloatArray
from aleator.jit import kernel
from aleator.trees.policy import legal_actions
from aleator.trees.public_tree import IDENTITY, PublicTree

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]
Actors = npt.NDArray[np.int8]


class HandStructure(NamedTuple):
    """The shape of the tree. N nodes."""

    actor: Actors  # [N]
    parent: Ints  # [N]
    first_child: Ints  # [N]
    num_children: Ints  # [N]
    num_actions: Ints  # [N]
    block_at: Longs  # [N] the first place of a decision node's block [A, H]
    stake: FloatArray  # [N]
    depth: Ints  # [N]


class HandSide(NamedTuple):
    """The tree as one player sees it."""

    player: int
    hands: Ints  # [N]
    row_at: Longs  # [N] the first entry of a node
    source: Ints  # [entries] entry of the parent
    sequence: Ints  # [entries] the player's last place
    payoff_at: Longs  # [N] row of `payoff_start` where a terminal's matrix begins
    payoff_start: Longs  # compressed rows [own hands] of all payoff groups: payoff per unit of stake, chance included
    payoff_hand: Ints  # the opponent's hand
    payoff: FloatArray
    deal_at: Longs  # [N] row of `deal_start` where a node's deal begins
    deal_start: Longs  # compressed rows [own hands] of all deals: pairs of hands that chance allows
    deal_hand: Ints  # the opponent's hand
    deal: FloatArray
    legal: Flags  # [places] 1 where the hand may take the action


class HandLayout:
    """A public tree prepared for walks that leave out single hands, in float64.

    Attributes:
        tree: the tree.
        structure, sides: what the kernels read.
        num_entries: per player.
    """

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        self.structure = HandStructure(
            actor=tree.actor,
            parent=tree.parent,
            first_child=tree.first_child,
            num_children=tree.num_children,
            num_actions=tree.num_actions,
            block_at=tree.policy_start,
            stake=tree.stake,
            depth=tree.depth,
        )
        self.num_entries = (int(tree.num_hands[0].sum()), int(tree.num_hands[1].sum()))
        deals, self._deal_group = self._group_deals()
        legal = legal_actions(tree)
        sides = [self._side(player, deals, legal[player]) for player in (0, 1)]
        self.sides = (sides[0], sides[1])

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

    def _side(self, player: int, deals: list[csr_array], legal: npt.NDArray[np.bool_]) -> HandSide:
        tree = self.tree
        hands = tree.num_hands[player].astype(np.int32)
        row_at = np.cumsum(hands, dtype=np.int64) - hands
        source, sequence = self._sources(player, hands, row_at)
        own_deals = [deal if player == 0 else csr_array(deal.T) for deal in deals]
        own_payoffs = [csr_array(matrix if player == 0 else -matrix.T) for matrix in tree.payoffs]
        deal_rows, deal_start, deal_hand, deal = _stack(own_deals)
        payoff_rows, payoff_start, payoff_hand, payoff = _stack(own_payoffs)
        return HandSide(
            player=player,
            hands=hands,
            row_at=row_at,
            source=source,
            sequence=sequence,
            payoff_at=np.where(tree.payoff_group >= 0, payoff_rows[np.maximum(tree.payoff_group, 0)], -1),
            payoff_start=payoff_start,
            payoff_hand=payoff_hand,
            payoff=payoff,
            deal_at=deal_rows[self._deal_group],
            deal_start=deal_start,
            deal_hand=deal_hand,
            deal=deal,
            legal=legal.astype(np.uint8),
        )

    def _sources(self, player: int, hands: Ints, row_at: Longs) -> tuple[Ints, Ints]:
        """Returns for each entry the entry of the parent and the player's last place."""
        tree = self.tree
        source = np.zeros(self.num_entries[player], dtype=np.int32)
        source[: hands[0]] = np.arange(hands[0])
        sequence = np.full(self.num_entries[player], tree.policy_size[player], dtype=np.int32)
        for node in range(1, tree.num_nodes):
            parent = int(tree.parent[node])
            own = slice(row_at[node], row_at[node] + hands[node])
            acts = tree.actor[parent] == player
            start = tree.origin_start[player, node]
            if start == IDENTITY:
                hand = np.arange(hands[node])
                place = hand + (node - tree.first_child[parent]) * hands[parent]
            else:
                place = tree.origins[player][start : start + hands[node]]
                hand = place % hands[parent]
            source[own] = row_at[parent] + hand
            sequence[own] = tree.policy_start[parent] + place if acts else sequence[source[own]]
        return source, sequence

    @cached_property
    def _payoff_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Per player [2, entries]: the lowest and highest payoff below each entry; inf and -inf where chance allows none."""
        tree = self.tree
        known: dict[Hashable, tuple[FloatArray, FloatArray]] = {}
        bounds = tuple(np.array([np.full(size, np.inf), np.full(size, -np.inf)]) for size in self.num_entries)
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
                at = self.sides[player].row_at[node]
                bounds[player][:, at : at + tree.num_hands[player, node]] = known[state][player]
        for player in (0, 1):
            _pull_bounds(self.sides[player].source, bounds[player][0], bounds[player][1])
        return bounds[0], bounds[1]

    def infostates(self, player: int) -> Longs:
        """Returns [places]: the entry of the infostate in which the action is taken."""
        tree, row_at = self.tree, self.sides[player].row_at
        own = tree.decisions(player)
        hands = tree.num_hands[player, own].astype(np.int64)
        node_of = np.repeat(np.arange(len(own)), tree.num_actions[own] * hands)
        inside = np.arange(tree.policy_size[player]) - tree.policy_start[own][node_of]
        return np.asarray(row_at[own][node_of] + inside % hands[node_of])

    def span(self, player: int) -> FloatArray:
        """Returns [entries]: L(I), the highest less the lowest payoff that can follow (0 where chance allows none)."""
        lowest, highest = self._payoff_bounds[player]
        return np.where(np.isfinite(lowest), highest, 0.0) - np.where(np.isfinite(lowest), lowest, 0.0)

    def highest_payoffs(self, player: int) -> FloatArray:
        """Returns [places]: U(I, a), the highest payoff that can follow an action (0 where chance allows none)."""
        side, highest = self.sides[player], self._payoff_bounds[player][1]
        best = np.full(self.tree.policy_size[player], -np.inf)
        node_of = np.repeat(np.arange(self.tree.num_nodes), side.hands)
        follows = (self.tree.actor[self.tree.parent[node_of]] == player) & (node_of > 0)
        np.maximum.at(best, side.sequence[follows], highest[follows])
        best[~np.isfinite(best)] = 0.0
        return best


def _stack(matrices: list[csr_array]) -> tuple[Longs, Longs, Ints, FloatArray]:
    """Returns (first row of each matrix, starts [rows + 1], columns, entries) of matrices in one."""
    rows = np.array([matrix.shape[0] for matrix in matrices], dtype=np.int64)
    starts = [np.zeros(1, np.int64)]
    for matrix in matrices:
        matrix.sum_duplicates()
        starts.append(starts[-1][-1] + matrix.indptr[1:].astype(np.int64))
    columns = np.concatenate([matrix.indices for matrix in matrices] or [np.zeros(0)]).astype(np.int32)
    entries = np.concatenate([matrix.data for matrix in matrices] or [np.zeros(0)]).astype(np.float64)
    return np.cumsum(rows) - rows, np.concatenate(starts), columns, entries


@kernel()
def _pull_bounds(source: Ints, lowest: FloatArray, highest: FloatArray) -> None:
    """Makes an entry's bounds those of everything below it; the root's entries are their own source."""
    for entry in range(len(source) - 1, 0, -1):
        above = source[entry]
        lowest[above] = min(lowest[above], lowest[entry])
        highest[above] = max(highest[above], highest[entry])
