"""Sampled play: many histories that move in lockstep, in tensors on one device.

A game is six questions about a batch of histories: deal, actor, infostate, legal, act, returns. Chance moves by itself,
so that after a deal or an action either a player is to act or the game is over. Whatever samples histories
(`traversal`, `nfsp`) asks nothing else. Every two-player game of the library answers through its public tree
(`TreePlay`): a history is a node and a pair of hands, and a step of the whole batch is a few gathers from tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch

from aleator.games.base import CHANCE
from aleator.solvers.engines.sampling.histories import (
    ACTIONS,
    ACTOR,
    FIRST_CHILD,
    MOVES,
    PAIRS,
    UTILITY,
    HistoryRows,
    build_histories,
)
from aleator.trees.fingerprint import Fingerprint, tree_fingerprint
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

Tensor = torch.Tensor


class HistoryBatch(NamedTuple):
    """B histories of one game. What the columns mean is the game's affair; `TreePlay` has a node and a pair of hands.

    Attributes:
        node: [B] the public part.
        pair: [B] the private part.
    """

    node: Tensor
    pair: Tensor

    def rows(self, index: Tensor) -> HistoryBatch:
        """Returns the histories at some places, in that order; a place may come up several times."""
        return HistoryBatch(self.node[index], self.pair[index])


class SampledGame(Protocol):
    """A game as those see it who sample histories.

    Attributes:
        num_players: P.
        num_actions: A, the most that any infostate has.
        num_infostates: I; infostates of all players are numbered together, each belongs to one player.
        device: where all tensors are.
    """

    num_players: int
    num_actions: int
    num_infostates: int
    device: torch.device

    @property
    def fingerprint(self) -> Fingerprint:
        """Of the game."""

    def deal(self, number: int, generator: torch.Generator) -> HistoryBatch:
        """Returns so many new histories, in which chance has moved until a player is to act."""

    def actor(self, histories: HistoryBatch) -> Tensor:
        """Returns [B]: the player to act, TERMINAL where the game is over."""

    def infostate(self, histories: HistoryBatch) -> Tensor:
        """Returns [B]: the number of what the player to act knows; all histories must have one."""

    def player(self, infostates: Tensor) -> Tensor:
        """Returns [n]: whose some infostates are."""

    def legal(self, infostates: Tensor) -> Tensor:
        """Returns [n, A] bool: which actions some infostates have."""

    def act(self, histories: HistoryBatch, actions: Tensor, generator: torch.Generator) -> HistoryBatch:
        """Returns the histories after an action each ([B], all legal), chance having moved until a player is to act."""

    def returns(self, histories: HistoryBatch, player: int) -> Tensor:
        """Returns [B]: what a player has won; all histories must be over."""

    def bound(self) -> float:
        """Returns what nobody can win more than, of about the size of what can be won; 1 if that is nothing."""

    def length(self, histories: HistoryBatch) -> Tensor:
        """Returns [B]: how many moves were made so far, chance's included."""


class TreePlay(SampledGame):
    """Sampled play of a two-player game on its public tree.

    Infostates are numbered node by node and hand by hand. So are those that chance never allows; nobody comes to them.

    Attributes:
        tree: the tree.
        histories: the tables of its histories.
        node_of, hand_of, player_of: [I]: where an infostate is, which hand it is, and whose.
        entries: per entry of rows its infostate and its action.
    """

    num_players = 2

    def __init__(self, tree: PublicTree, *, device: torch.device | str = "cpu") -> None:
        self.tree, self.device = tree, torch.device(device)
        self._rows = HistoryRows(tree)
        self.histories = histories = build_histories(tree, self._rows)
        columns = self._put(histories.nodes.astype(np.int64))
        self._actor, self._actions, self._first = columns[:, ACTOR], columns[:, ACTIONS], columns[:, FIRST_CHILD]
        self._moves, self._pairs, self._utility_at = columns[:, MOVES], columns[:, PAIRS], columns[:, UTILITY]
        self._hands = self._put(histories.hands.astype(np.int64))
        self._utility, self._stake = self._put(histories.utility), self._put(histories.stake)
        self._depth = self._put(tree.depth.astype(np.int64))
        self._deal_ends = self._put(histories.deal_end)
        self._move_at = self._put(histories.move_at)
        self._child, self._pair = (
            self._put(histories.outcome_child.astype(np.int64)),
            self._put(histories.outcome_pair.astype(np.int64)),
        )
        # ends of outcomes in one ascending row: those of move m are between m and m + 1
        move = np.repeat(np.arange(len(histories.move_at) - 1), np.diff(histories.move_at))
        self._ends = self._put(move + histories.outcome_end)
        acts = tree.actor >= 0
        hands = np.where(acts, np.where(tree.actor == 1, tree.num_hands[1], tree.num_hands[0]), 0).astype(np.int64)
        start = np.cumsum(hands) - hands
        self._infostate_at = self._put(start)
        self.num_infostates, self.num_actions = int(hands.sum()), max(1, int(tree.num_actions.max(initial=0)))
        node = np.repeat(np.arange(tree.num_nodes), hands)
        self.node_of, self.hand_of = self._put(node), self._put(np.arange(len(node)) - start[node])
        self.player_of = self._actor[self.node_of]
        entry = np.arange(self.num_actions)
        inside = entry[None, :] < tree.num_actions[node][:, None]
        legal = np.zeros((self.num_infostates, self.num_actions), np.bool_)
        legal[inside] = histories.legal  # rows of entries are in the order of infostates
        self._inside, self._legal = inside, self._put(legal)
        self.entries = np.nonzero(inside)

    def _put(self, array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    @property
    def fingerprint(self) -> Fingerprint:
        """Of the tree."""
        return tree_fingerprint(self.tree)

    def _pick(self, ends: Tensor, segment: Tensor, generator: torch.Generator) -> Tensor:
        """Returns [n]: an outcome each of segments [n], with cumulative probabilities within (s, s + 1]."""
        number = torch.rand(len(segment), generator=generator, dtype=torch.float64, device=self.device)
        return torch.searchsorted(ends, segment + number, right=True)

    def deal(self, number: int, generator: torch.Generator) -> HistoryBatch:
        """Returns new histories at the first decision."""
        pair = self._pick(self._deal_ends, torch.zeros(number, dtype=torch.int64, device=self.device), generator)
        return self._settle(HistoryBatch(torch.zeros_like(pair), pair), generator)

    def actor(self, histories: HistoryBatch) -> Tensor:
        """Returns [B]: 0, 1 or TERMINAL."""
        return self._actor[histories.node]

    def infostate(self, histories: HistoryBatch) -> Tensor:
        """Returns [B]: numbers of infostates."""
        node = histories.node
        hand = self._hands.view(-1)[2 * (self._pairs[node] + histories.pair) + self._actor[node]]
        return self._infostate_at[node] + hand

    def player(self, infostates: Tensor) -> Tensor:
        """Returns [n]: 0 or 1."""
        return self.player_of[infostates]

    def legal(self, infostates: Tensor) -> Tensor:
        """Returns [n, A] bool."""
        return self._legal[infostates]

    def act(self, histories: HistoryBatch, actions: Tensor, generator: torch.Generator) -> HistoryBatch:
        """Returns the histories after an action each, at the next decision or over."""
        node = histories.node
        following = HistoryBatch(self._first[node] + actions, histories.pair)
        hidden = (self._moves[node] >= 0).nonzero().squeeze(1)
        if len(hidden):
            following = self._move(following, histories, hidden, actions[hidden], generator)
        return self._settle(following, generator)

    def _settle(self, histories: HistoryBatch, generator: torch.Generator) -> HistoryBatch:
        """Returns the histories after all moves of chance that are due."""
        while len(chance := (self._actor[histories.node] == CHANCE).nonzero().squeeze(1)):
            histories = self._move(histories, histories, chance, torch.zeros_like(chance), generator)
        return histories

    def _move(
        self, to: HistoryBatch, histories: HistoryBatch, index: Tensor, actions: Tensor, generator: torch.Generator
    ) -> HistoryBatch:
        """Returns `to` with the rows at `index` replaced by an outcome each of the moves there."""
        node, pair = histories.node[index], histories.pair[index]
        move = self._moves[node] + pair * self._actions[node].clamp(min=1) + actions
        outcome = self._pick(self._ends, move, generator)
        outcome = torch.minimum(outcome, self._move_at[move + 1] - 1)  # where the sum was rounded up
        return HistoryBatch(
            to.node.index_copy(0, index, self._first[node] + self._child[outcome]),
            to.pair.index_copy(0, index, self._pair[outcome]),
        )

    def returns(self, histories: HistoryBatch, player: int) -> Tensor:
        """Returns [B], float64: what a player has won."""
        won = self._stake[histories.node] * self._utility[self._utility_at[histories.node] + histories.pair]
        return won if player == 0 else -won

    def bound(self) -> float:
        """Returns the product of the highest stake and payoff."""
        return float(self._stake.abs().max() * self._utility.abs().max()) or 1.0

    def length(self, histories: HistoryBatch) -> Tensor:
        """Returns [B]: moves from the root."""
        return self._depth[histories.node]

    def policy(self, weights: Tensor) -> Policy:
        """Returns the policy proportional to non-negative weights [I, A], uniform where they are all zero."""
        return self._rows.policy(self.rows_of(weights))

    def rows_of(self, table: Tensor) -> npt.NDArray[np.float64]:
        """Returns a table [I, A] as rows with one entry per action."""
        rows: npt.NDArray[np.float64] = table.detach().cpu().numpy()[self._inside]
        return rows

    def table(self, policy: Policy) -> Tensor:
        """Returns [I, A], float64: a policy by infostates, 0 where there is no action."""
        return self.by_infostate(policy.probabilities)

    def by_infostate(self, vectors: Sequence[npt.NDArray[np.float64]]) -> Tensor:
        """Returns [I, A], float64: a pair of policy-shaped vectors by infostates."""
        table = np.zeros((self.num_infostates, self.num_actions))
        table[self._inside] = self._rows.from_vectors((vectors[0], vectors[1]))
        return self._put(table)
