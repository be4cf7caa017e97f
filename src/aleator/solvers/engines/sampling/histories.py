"""Single histories of a public tree in flat arrays: what a sampled walk looks at.

A history is a node of the public tree and a *pair*: the number of a pair of hands among those that chance allows there.
While moves are public the pair stays the same and nothing is stored for it. Where chance acts, or where something
private happens, a table says where each pair (and action) can lead and with what probability. Nodes whose tables are
equal share them, so that memory grows with the pairs of *different* deals, and at most with all pairs of the tree.

Regrets and policies are kept infostate by infostate in *rows*: the row of a hand has one entry per action.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import TooBigError
from aleator.games.base import CHANCE, FloatArray
from aleator.trees.policy import Policy, legal_actions, normalised
from aleator.trees.public_tree import Int32Array, Int64Array, PublicTree

# columns of Histories.nodes
ACTOR, ACTIONS, FIRST_CHILD, ROW, UTILITY, MOVES, PAIRS, FLAGS = range(8)
# bits of the column FLAGS
RESTRICTED, LAST_ROUND = 1, 2
PUBLIC = -1  # in the column MOVES: action k leads to child k and the pair stays
_MOST = 2**31 - 1


class Histories(NamedTuple):
    """The histories of a tree; kernels take it whole. N nodes; a pair is counted from its node's PAIRS.

    Attributes:
        nodes: [N, 8] int32: who acts; how many actions (0 unless a player acts); the first child; where the rows of the
            actor's hands begin; where the utilities of the pairs begin (terminals); where the moves of the pairs begin
            in `move_at`, or PUBLIC; where the hands of the pairs begin in `hands`; RESTRICTED if some hand lacks some
            action, LAST_ROUND if no chance event can follow.
        num_pairs: [N]: how many pairs chance allows; none where no pair of hands can come.
        hands: [pairs, 2] int32: the hands of both players.
        chance: [pairs]: the probability of chance's part in reaching a node with that pair.
        utility: player 0's payoff per unit of stake, for each pair of a terminal.
        stake: [N]; 0 at inner nodes.
        move_at: for pair r and action a of a node with moves, its outcomes are those from entry `MOVES + r * A + a` to
            the next (A = 1 where chance acts).
        outcome_child, outcome_pair: int32: the child's place among its siblings, and the pair there.
        outcome_end: the probability of this outcome and those before it.
        legal: [entries of all rows]: whether the hand has the action.
        deal_end: cumulative probabilities of the pairs at the root.
    """

    nodes: Int32Array
    num_pairs: Int64Array
    hands: Int32Array
    chance: FloatArray
    utility: FloatArray
    stake: FloatArray
    move_at: Int64Array
    outcome_child: Int32Array
    outcome_pair: Int32Array
    outcome_end: FloatArray
    legal: npt.NDArray[np.bool_]
    deal_end: FloatArray


class HistoryRows:
    """Where the entries of a tree's policy vectors are in rows.

    Attributes:
        start: [N]: where the rows of a decision node begin; the row of hand h begins `h * A` further.
        size: the number of entries, of both players together.
        offsets: per player [policy_size]: the index in rows of each entry of the tree's policy vector.
    """

    def __init__(self, tree: PublicTree) -> None:
        acts = tree.actor >= 0
        hands = np.where(tree.actor == 1, tree.num_hands[1], tree.num_hands[0]).astype(np.int64)
        lengths = np.where(acts, hands * tree.num_actions, 0)
        self.start: Int64Array = (np.cumsum(lengths) - lengths).astype(np.int64)
        self.size = int(lengths.sum())
        self.offsets = (self._offsets(tree, hands, 0), self._offsets(tree, hands, 1))
        self._tree = tree
        self._width = np.repeat(tree.num_actions[acts], hands[acts])  # of each row

    def _offsets(self, tree: PublicTree, hands: Int64Array, player: int) -> Int64Array:
        own = tree.decisions(player)
        actions = tree.num_actions[own].astype(np.int64)
        node_of = np.repeat(np.arange(len(own)), actions * hands[own])
        inside = np.arange(tree.policy_size[player]) - tree.policy_start[own][node_of]
        width = hands[own][node_of]
        offset: Int64Array = self.start[own][node_of] + inside % width * actions[node_of] + inside // width
        return offset

    def policy(self, weights: npt.NDArray[Any]) -> Policy:
        """Returns the policy proportional to non-negative weights in rows, uniform where they are all zero."""
        first, second = (weights[offset].astype(np.float64) for offset in self.offsets)
        return normalised(self._tree, (first, second))

    def fade(self, weights: npt.NDArray[Any], factor: float) -> None:
        """Multiplies weights in rows by a small factor, except rows that would vanish: they stay, very small."""
        least = np.finfo(weights.dtype).tiny ** 0.75
        starts = np.cumsum(self._width) - self._width
        with np.errstate(divide="ignore"):
            scale = np.maximum(factor, np.minimum(least / np.maximum.reduceat(weights, starts), 1.0))
        weights *= np.repeat(scale, self._width).astype(weights.dtype)

    def from_vectors(self, vectors: tuple[npt.NDArray[Any], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Returns a pair of policy-shaped vectors as rows."""
        rows = np.zeros(self.size, vectors[0].dtype)
        for offset, vector in zip(self.offsets, vectors, strict=True):
            rows[offset] = vector
        return rows


def build_histories(tree: PublicTree, rows: HistoryRows) -> Histories:
    """Returns the histories of a tree.

    Raises:
        TooBigError: some array would have more than 2^31 entries.
    """
    return _Builder(tree, rows).build()


class _Deal(NamedTuple):
    """The pairs that chance allows: where they begin in `hands`, which they are [P] and how probable [P]."""

    number: int
    start: int
    pairs: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
    chance: FloatArray


class _Builder:
    """Walks the tree once, from parents to children, and collects each different table once."""

    def __init__(self, tree: PublicTree, rows: HistoryRows) -> None:
        self.tree, self.rows = tree, rows
        self.deals: list[_Deal] = []
        self.deal_of_state: dict[Hashable, _Deal] = {}
        self.deal_of_content: dict[Hashable, _Deal] = {}
        self.utility_of: dict[tuple[int, int], int] = {}
        self.moves_of: dict[Hashable, int] = {}
        self.utilities: list[FloatArray] = []
        self.move_ends: list[Int64Array] = []
        self.outcomes: list[tuple[Int64Array, Int64Array, FloatArray]] = []
        self.lengths = {"pairs": 0, "utilities": 0, "moves": 0, "outcomes": 0}

    def build(self) -> Histories:
        tree = self.tree
        nodes = np.zeros((tree.num_nodes, 8), dtype=np.int64)
        nodes[:, ACTOR], nodes[:, ACTIONS], nodes[:, FIRST_CHILD] = tree.actor, tree.num_actions, tree.first_child
        nodes[:, ROW], nodes[:, MOVES], nodes[:, FLAGS] = self.rows.start, PUBLIC, self._flags()
        deal: list[_Deal] = [self._deal(0)] + [None] * (tree.num_nodes - 1)  # type: ignore[list-item]
        private = np.any(tree.origin_start >= 0, axis=0)
        for node in range(tree.num_nodes):
            nodes[node, PAIRS] = deal[node].start
            if tree.num_children[node] == 0:
                nodes[node, UTILITY] = self._utility(node, deal[node])
                continue
            children = slice(tree.first_child[node], tree.first_child[node] + tree.num_children[node])
            if tree.actor[node] != CHANCE and not private[children].any():
                deal[children] = [deal[node]] * int(tree.num_children[node])
                continue
            deal[children] = [self._deal(child) for child in tree.children(node)]
            nodes[node, MOVES] = self._moves(node, deal[node], deal[children])
        if max(nodes.max(), *self.lengths.values(), self.rows.size) > _MOST:
            raise TooBigError(f"{tree.game.name} is too big to sample: {self.lengths}, {self.rows.size:,} entries")
        first = self.deals[deal[0].number].chance
        empty = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        child, pair, end = (np.concatenate(part) for part in zip(*(empty + self.outcomes), strict=True))
        return Histories(
            nodes=nodes.astype(np.int32),
            num_pairs=np.array([len(known.chance) for known in deal], dtype=np.int64),
            hands=np.concatenate([np.stack(known.pairs, axis=1) for known in self.deals]).astype(np.int32),
            chance=np.concatenate([known.chance for known in self.deals]),
            utility=np.concatenate(self.utilities),
            stake=tree.stake,
            move_at=np.concatenate([np.zeros(1, np.int64), *self.move_ends]),
            outcome_child=child.astype(np.int32),
            outcome_pair=pair.astype(np.int32),
            outcome_end=end,
            legal=self.rows.from_vectors(legal_actions(tree)),
            deal_end=_ends(first, np.array([0, len(first)])),
        )

    def _flags(self) -> Int64Array:
        """Returns [N]: RESTRICTED and LAST_ROUND. A game without chance events has no rounds, hence no last one."""
        tree = self.tree
        flags = np.zeros(tree.num_nodes, dtype=np.int64)
        events = tree.actor == CHANCE
        if events.any():
            follows = events.copy()
            for node in range(tree.num_nodes - 1, 0, -1):
                follows[tree.parent[node]] |= follows[node]
            flags[~follows] |= LAST_ROUND
        for player, legal in enumerate(legal_actions(tree)):
            own = tree.decisions(player)
            starts = tree.policy_start[own]
            if len(own):
                flags[own[~np.logical_and.reduceat(legal, starts)]] |= RESTRICTED
        return flags

    def _deal(self, node: int) -> _Deal:
        """Returns the pairs of a node; nodes with equal deals share one."""
        state = self.tree.states[node]
        if state in self.deal_of_state:
            return self.deal_of_state[state]
        matrix = np.asarray(self.tree.game.deal(state), dtype=np.float64)
        pairs = np.nonzero(matrix)
        content = (matrix.shape, pairs[0].tobytes(), pairs[1].tobytes(), matrix[pairs].tobytes())
        if content not in self.deal_of_content:
            deal = _Deal(len(self.deals), self.lengths["pairs"], (pairs[0], pairs[1]), matrix[pairs])
            self.deals.append(deal)
            self.lengths["pairs"] += len(deal.chance)
            self.deal_of_content[content] = deal
        self.deal_of_state[state] = self.deal_of_content[content]
        return self.deal_of_state[state]

    def _utility(self, node: int, deal: _Deal) -> int:
        """Returns where the utilities of a terminal's pairs begin."""
        key = int(self.tree.payoff_group[node]), deal.number
        if key not in self.utility_of:
            payoff = np.asarray(self.tree.payoffs[key[0]][deal.pairs]).ravel()
            self.utility_of[key] = self.lengths["utilities"]
            self.lengths["utilities"] += len(payoff)
            self.utilities.append(payoff / deal.chance)
        return self.utility_of[key]

    def _moves(self, node: int, deal: _Deal, below: list[_Deal]) -> int:
        """Returns where the moves of a node's pairs begin in `move_at`."""
        tree = self.tree
        actor, actions = int(tree.actor[node]), max(1, int(tree.num_actions[node]))
        origins = [[tree.origin(player, child) for player in (0, 1)] for child in tree.children(node)]
        key = (
            actor, actions, deal.number, tuple(child.number for child in below),
            tuple(None if origin is None else origin.tobytes() for both in origins for origin in both),
        )  # fmt: skip
        if key in self.moves_of:
            return self.moves_of[key]
        hands = tree.num_hands[0, node], tree.num_hands[1, node]
        number = np.full(hands, -1, dtype=np.int64)
        number[deal.pairs] = np.arange(len(deal.chance))
        move, offset, pair, share = [], [], [], []
        for k, (child, both) in enumerate(zip(below, origins, strict=True)):
            action = np.full(len(child.chance), k if actor >= 0 else 0)
            before = []
            for player in (0, 1):
                now, origin = child.pairs[player], both[player]
                before.append(now if origin is None else origin[now] % hands[player])
                if player == actor and origin is not None:
                    action = origin[now] // hands[player]
            parent = number[before[0], before[1]]
            move.append(parent * actions + action)
            offset.append(np.full(len(child.chance), k))
            pair.append(np.arange(len(child.chance)))
            share.append(child.chance / deal.chance[parent])
        moves = np.concatenate(move)
        order = np.argsort(moves, kind="stable")
        ends = np.cumsum(np.bincount(moves, minlength=len(deal.chance) * actions))
        first = self.moves_of[key] = self.lengths["moves"]
        self.move_ends.append(self.lengths["outcomes"] + ends)
        self.outcomes.append(
            (
                np.concatenate(offset)[order],
                np.concatenate(pair)[order],
                _ends(np.concatenate(share)[order], np.concatenate([[0], ends])),
            )
        )
        self.lengths["moves"] += len(ends)
        self.lengths["outcomes"] += len(order)
        return first


def _ends(weights: FloatArray, bounds: Int64Array) -> FloatArray:
    """Returns cumulative probabilities within each segment between bounds; the last of a segment is 1."""
    starts, lengths = bounds[:-1], np.diff(bounds)
    ends = weights.copy()
    for offset in range(1, int(lengths.max(initial=0))):
        at = starts[lengths > offset] + offset
        ends[at] += ends[at - 1]
    last = bounds[1:][lengths > 0] - 1
    ends /= np.repeat(ends[last], lengths[lengths > 0])
    ends[last] = 1.0
    return ends
