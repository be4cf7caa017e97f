"""How the CPU engine lays a public tree out in memory.

Every row of hands is padded to a multiple of LANES. Each player has one flat vector per quantity (regret, policy,
reach, policy_sum), all with the same offsets: a first row for the root's reach, then for each of the player's decision
nodes a block [A, H]. A row of that block belongs to one action, and the reach of the player after the action stands in
the same place as the action's probability: reach changes only where its player moves, so that nothing is ever copied
down the tree. Where hands are renumbered on the way to a child, the child's reach gets a row of its own behind all
blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from aleator.games.base import FloatArray
from aleator.games.operators import CardPayoff
from aleator.kernels.aligned import aligned_zeros
from aleator.kernels.simd import LANES
from aleator.solvers.engines.cpu.cards import FEWEST_PAIRS, NUM_CARDS, PackedCards
from aleator.trees.payoffs import payoff_operator
from aleator.trees.policy import legal_actions
from aleator.trees.public_tree import IDENTITY, PublicTree

Vector = npt.NDArray[Any]
Index = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int32]


class Structure(NamedTuple):
    """The shape of the tree, the same for both players. Lengths N (nodes) or K (terminals)."""

    actor: npt.NDArray[np.int8]
    first_child: Nodes
    num_children: Nodes
    num_actions: Nodes
    plain: Flags  # [N] all moves public: child k follows action k, hands keep their numbers
    restricted: Flags  # [N] some hand may not take some action
    locked: Flags  # [N] the policy of this decision stays as it is
    policy_at: Index  # [N] offset of a decision node's block in its player's vectors
    terminal_node: Nodes  # [K] in payoff groups
    stake: Vector  # [K]


class Side(NamedTuple):
    """The tree as one player sees it: offsets of the rows, payoffs as operators on the opponent's reach."""

    player: int
    hands: Nodes  # [N] hands
    width: Nodes  # [N] hands, padded
    value_at: Index  # [N] offset of the row of values
    reach_at: Index  # [N] offset of the row of reach
    infostate_at: Index  # [N] offset of a decision node's hands among all of the player's decisions
    origin_at: Index  # [N] offset in `origin`, or IDENTITY
    origin: Places  # for each hand of a child where its reach comes from, padding from a place that is always zero
    collect_at: Index  # [N] at nodes that are not plain: the first slice that sums the children's values
    collect_slices: Index  # a `SparseSlices` over the player's values
    collect_place: Places
    matrix_at: Index  # [K] offset in `matrix`; IDENTITY if sparse
    matrix: Vector  # [opponent's hands, own hands padded] per payoff group, value to this player
    sparse_at: (
        Index  # [K] first slice of a sparse payoff group; IDENTITY if dense; -2 - p: by cards, at `sparse_column[p]`
    )
    sparse_slices: Index  # a `SparseSlices` over the opponent's hands, with the entries of the matrices
    sparse_column: Places  # and behind them payoffs by cards (`cards.PackedCards`)
    sparse_value: Vector  # and behind them scratch for them, 52 numbers per terminal, and their weights
    card_sums_at: int | None  # where that scratch begins; None, another type for compilers, if no payoff is by cards
    legal: Vector  # policy-shaped, 1 where the hand may take the action, else 0; empty if no node is restricted


class Memory(NamedTuple):
    """What changes while solving, for one player."""

    regret: Vector  # policy-shaped: cumulative regret
    policy: Vector  # policy-shaped: the current policy
    reach: Vector  # reach-shaped: under the current policy
    policy_sum: Vector  # policy-shaped: weighted sum of reach x policy, the numerator of the average policy
    instant: Vector  # policy-shaped: regret of the last iteration; empty unless it predicts the next
    moments: (
        Vector  # [2 x infostates]: mean of each hand's cfv and its squared deviations; empty unless Hedge needs them
    )
    values: Vector  # value-shaped: cfvs of this player as traverser


class Task(NamedTuple):
    """Nodes that one thread walks: parts of the tree that touch nothing outside, or the trunk above them."""

    terminals: Nodes  # indices into Structure.terminal_node
    inner: Nodes  # decision and chance nodes, children before parents
    forward: tuple[Nodes, Nodes]  # per player, the nodes where the player's reach changes, parents first


class SparseSlices:
    """A sparse matrix as the SIMD kernels want it: rows in slices of LANES, each slice padded to its longest row.

    Entry k of slice s lies at `starts[s] + LANES * k + lane`.
    """

    def __init__(self, padding: int) -> None:
        """Makes an empty matrix whose padding refers to column `padding` with weight 0."""
        self._padding = padding
        self._lengths: list[Index] = []
        self._columns = [np.zeros(0, np.int64)]
        self._entries = [np.zeros(0)]
        self.count = 0

    def add(self, rows: Index, columns: Index, entries: FloatArray, num_rows: int) -> int:
        """Adds a matrix given by its entries; returns its first slice."""
        first, num_slices = self.count, -(-num_rows // LANES)
        order = np.argsort(rows, kind="stable")
        rows, columns, entries = rows[order], columns[order], entries[order]
        per_row = np.bincount(rows, minlength=num_slices * LANES)
        rank = np.arange(len(rows)) - (np.cumsum(per_row) - per_row)[rows]
        slots = per_row.reshape(num_slices, LANES).max(axis=1)
        start = LANES * (np.cumsum(slots) - slots)
        offset = start[rows // LANES] + LANES * rank + rows % LANES
        padded_columns = np.full(int(slots.sum()) * LANES, self._padding, np.int64)
        padded_entries = np.zeros(len(padded_columns))
        padded_columns[offset], padded_entries[offset] = columns, entries
        self._lengths.append(slots * LANES)
        self._columns.append(padded_columns)
        self._entries.append(padded_entries)
        self.count += num_slices
        return first

    def pack(self) -> tuple[Index, Places, FloatArray]:
        """Returns (starts [slices + 1], columns, entries)."""
        starts = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *self._lengths]))])
        return starts.astype(np.int64), np.concatenate(self._columns).astype(np.int32), np.concatenate(self._entries)


def _is_sparse(matrix: FloatArray) -> bool:
    """Returns whether walking the non-zero entries one by one is cheaper than reading them all."""
    return bool(matrix.size >= 64 and np.count_nonzero(matrix) * 4 < matrix.size)


class Layout:
    """A public tree prepared for the engine in one precision.

    Attributes:
        tree: the tree.
        dtype: float64 or float32.
        structure, sides: what the kernels read.
        vector_size: per player, length of the padded policy-shaped vectors.
        reach_size: per player, length of the reach vectors.
        value_size: per traverser, length of the vector of values.
        infostate_size: per player, padded hands over all decision nodes.
        scratch_size: the largest block [A, H].
        values: rows of cfvs, shared by all traversals.
    """

    def __init__(self, tree: PublicTree, dtype: npt.DTypeLike = np.float64) -> None:
        self.tree = tree
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if self.dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise ValueError(f"the engine computes in float64 or float32, not {self.dtype}")
        mapped = (tree.origin_start != IDENTITY).any(axis=0)
        plain = np.ones(tree.num_nodes, dtype=np.bool_)
        plain[tree.parent[1:][mapped[1:]]] = False
        terminals = np.flatnonzero(tree.payoff_group >= 0)
        terminals = terminals[np.argsort(tree.payoff_group[terminals], kind="stable")]
        self.structure = Structure(
            actor=tree.actor,
            first_child=tree.first_child,
            num_children=tree.num_children,
            num_actions=tree.num_actions,
            plain=plain,
            restricted=np.zeros(tree.num_nodes, dtype=np.bool_),
            locked=np.zeros(tree.num_nodes, dtype=np.bool_),
            policy_at=np.zeros(tree.num_nodes, dtype=np.int64),
            terminal_node=terminals.astype(np.int32),
            stake=tree.stake[terminals].astype(self.dtype),
        )
        width = (tree.num_hands + LANES - 1) // LANES * LANES
        legal = legal_actions(tree)
        self._places = tuple(self._place_policies(player, width[player], legal[player]) for player in (0, 1))
        self.vector_size = tuple(places[1] for places in self._places)
        self.value_size = tuple(int(row.sum()) for row in width)
        sides = [self._side(player, width, legal[player]) for player in (0, 1)]
        self.sides = (sides[0][0], sides[1][0])
        self.reach_size = (sides[0][1], sides[1][1])
        self.infostate_size = tuple(int(width[player][tree.actor == player].sum()) for player in (0, 1))
        self.values = aligned_zeros(max(self.value_size) + LANES, self.dtype)  # the last row stays zero
        decisions = np.flatnonzero(tree.actor >= 0)
        blocks = tree.num_actions[decisions] * width[tree.actor[decisions], decisions]
        self.scratch_size = int(blocks.max(initial=LANES))

    def _place_policies(self, player: int, width: Nodes, legal: npt.NDArray[np.bool_]) -> tuple[Index, int]:
        """Returns where each entry of the tree's flat policy vector goes, and the padded length."""
        tree = self.tree
        own = tree.decisions(player)
        rows = tree.num_actions[own].astype(np.int64)
        lengths = rows * width[own]
        starts = width[0] + np.cumsum(lengths) - lengths
        self.structure.policy_at[own] = starts
        hands = tree.num_hands[player, own].astype(np.int64)
        node_of = np.repeat(np.arange(len(own)), rows * hands)
        inside = np.arange(tree.policy_size[player]) - tree.policy_start[own][node_of]
        places = starts[node_of] + inside // hands[node_of] * width[own][node_of] + inside % hands[node_of]
        self.structure.restricted[own[np.unique(node_of[~legal])]] = True
        return places, int(width[0] + lengths.sum())

    def _side(self, player: int, width: Nodes, legal: npt.NDArray[np.bool_]) -> tuple[Side, int]:
        tree = self.tree
        own = tree.decisions(player)
        infostate_at = np.zeros(tree.num_nodes, dtype=np.int64)
        infostate_at[own] = np.cumsum(width[player, own]) - width[player, own]
        value_at = np.cumsum(width[player], dtype=np.int64) - width[player]
        reach_at, reach_size = self._place_reach(player, width[player])
        side = Side(
            player=player,
            hands=tree.num_hands[player].copy(),
            width=width[player].copy(),
            value_at=value_at,
            reach_at=reach_at,
            infostate_at=infostate_at,
            legal=np.zeros(0, self.dtype) if legal.all() else self.pad(player, legal.astype(np.float64)),
            **self._hand_maps(player, width[player], value_at, reach_at, reach_size),
            **self._payoffs(player),
        )
        return side, reach_size

    def _hand_maps(
        self, player: int, width: Nodes, value_at: Index, reach_at: Index, reach_size: int
    ) -> dict[str, Any]:
        """Returns where reach comes from and values go to at the nodes that are not plain."""
        tree, structure = self.tree, self.structure
        origin_at = np.full(tree.num_nodes, IDENTITY, dtype=np.int64)
        collect_at = np.zeros(tree.num_nodes, dtype=np.int64)
        origins, size = [np.zeros(0, np.int64)], 0
        collected = SparseSlices(padding=max(self.value_size))
        for node in np.flatnonzero(~structure.plain):
            acts = tree.actor[node] == player
            sources, targets = [], []
            for child in tree.children(node):
                hands = np.arange(tree.num_hands[player, child])
                origin = tree.origin(player, child)
                if origin is None:
                    target = hands + (child - tree.first_child[node]) * width[node] * acts
                else:
                    before = tree.num_hands[player, node]
                    target = origin // before * width[node] + origin % before if acts else origin
                    places = np.full(width[child], reach_size)  # padding reads the zero behind all rows
                    places[: len(hands)] = target + (structure.policy_at[node] if acts else reach_at[node])
                    origin_at[child] = size
                    origins.append(places)
                    size += len(places)
                targets.append(target)
                sources.append(value_at[child] + hands)
            rows, columns = np.concatenate(targets), np.concatenate(sources)
            num_rows = int(width[node]) * (int(tree.num_actions[node]) if acts else 1)
            collect_at[node] = collected.add(rows, columns, np.ones(len(rows)), num_rows)
        slices, places, _ = collected.pack()
        return {
            "origin_at": origin_at,
            "origin": np.concatenate(origins).astype(np.int32),
            "collect_at": collect_at,
            "collect_slices": slices,
            "collect_place": places,
        }

    def _place_reach(self, player: int, width: Nodes) -> tuple[Index, int]:
        """Returns the offset of each node's reach row, and the length of the vector."""
        tree = self.tree
        reach_at = np.zeros(tree.num_nodes, dtype=np.int64)
        size = self.vector_size[player]
        for node in range(1, tree.num_nodes):
            parent = tree.parent[node]
            if tree.origin_start[player, node] != IDENTITY:
                reach_at[node] = size
                size += int(width[node])
            elif tree.actor[parent] == player:
                action = node - tree.first_child[parent]
                reach_at[node] = self.structure.policy_at[parent] + action * width[parent]
            else:
                reach_at[node] = reach_at[parent]
        return reach_at, size

    def _payoffs(self, player: int) -> dict[str, Any]:
        """Returns the payoff groups as seen by a player, and where each terminal's group begins."""
        dense_at, sparse_at = np.full((2, len(self.tree.payoffs)), IDENTITY, dtype=np.int64)
        dense, size = [np.zeros(0)], 0
        sparse = SparseSlices(padding=0)
        card_at = np.full(len(self.tree.payoffs), IDENTITY, dtype=np.int64)
        cards = PackedCards()
        for group in range(len(self.tree.payoffs)):
            operator = payoff_operator(self.tree.payoffs, group)
            if isinstance(operator, CardPayoff) and np.prod(operator.deal.shape) >= FEWEST_PAIRS:
                card_at[group] = cards.add(operator, player)
                continue
            payoff = self.tree.payoffs[group]
            own_by_opponent = payoff if player == 0 else -payoff.T
            own, opponent = own_by_opponent.shape
            if isinstance(own_by_opponent, np.ndarray) and not _is_sparse(own_by_opponent):
                matrix = np.zeros((opponent, -(-own // LANES) * LANES))
                matrix[:, :own] = own_by_opponent.T
                dense_at[group] = size
                dense.append(matrix.ravel())
                size += matrix.size
            else:
                entries = coo_array(own_by_opponent)
                sparse_at[group] = sparse.add(entries.coords[0], entries.coords[1], entries.data, own)
        groups = self.tree.payoff_group[self.structure.terminal_node]
        slices, columns, entries = sparse.pack()
        has_cards = bool((card_at >= 0).any())
        scratch = np.zeros(NUM_CARDS * len(groups) if has_cards else 0)
        packed, weights = cards.pack(len(entries) + len(scratch))
        sparse_at = np.where(card_at >= 0, -2 - (len(columns) + card_at), sparse_at)
        return {
            "matrix_at": dense_at[groups],
            "matrix": np.concatenate(dense).astype(self.dtype),
            "sparse_at": sparse_at[groups],
            "sparse_slices": slices,
            "sparse_column": np.concatenate([columns, packed]),
            "sparse_value": np.concatenate([entries, scratch, weights]).astype(self.dtype),
            "card_sums_at": len(entries) if has_cards else None,
        }

    def pad(self, player: int, vector: Vector) -> Vector:
        """Returns a policy-shaped vector of the tree in the engine's order."""
        padded = np.zeros(self.vector_size[player], dtype=self.dtype)
        padded[self._places[player][0]] = vector
        return padded

    def unpad(self, player: int, vector: Vector) -> FloatArray:
        """Returns the tree's order of a policy-shaped vector, in float64."""
        return vector[self._places[player][0]].astype(np.float64)

    def memory(
        self, player: int, *, optimistic: bool = False, hedge: bool = False, root_reach: FloatArray | None = None
    ) -> Memory:
        """Returns fresh vectors for one player: no regrets, the reach of the root set to 1 or as given ([H]).

        The rows of values serve both players in turn: a traversal writes them before it reads them.
        """
        size = self.vector_size[player]
        return Memory(
            regret=aligned_zeros(size, self.dtype),
            policy=aligned_zeros(size, self.dtype),
            reach=self.new_reach(player, root_reach),
            policy_sum=aligned_zeros(size, self.dtype),
            instant=aligned_zeros(size if optimistic else 0, self.dtype),
            moments=np.zeros(2 * self.infostate_size[player] if hedge else 0, self.dtype),
            values=self.values,
        )

    def new_reach(self, player: int, root: FloatArray | None = None) -> Vector:
        """Returns a reach vector with the root's row set to 1 or as given ([H])."""
        reach = np.zeros(self.reach_size[player] + LANES, self.dtype)  # the last row stays zero
        reach[: self.tree.num_hands[player, 0]] = 1.0 if root is None else root
        return reach

    def whole(self) -> Task:
        """Returns the whole tree as one task."""
        return self.task(np.arange(self.tree.num_nodes))

    def task(self, nodes: npt.NDArray[Any]) -> Task:
        """Returns the task of walking some nodes, given in ascending order."""
        tree = self.tree
        member = np.zeros(tree.num_nodes, dtype=np.bool_)
        member[nodes] = True
        inner = nodes[tree.num_children[nodes] > 0]
        forward = []
        for player in (0, 1):
            moved = np.zeros(tree.num_nodes, dtype=np.bool_)
            mapped = np.flatnonzero(tree.origin_start[player] != IDENTITY)
            moved[tree.parent[mapped]] = True
            moved |= tree.actor == player
            forward.append(inner[moved[inner]].astype(np.int32))
        return Task(
            terminals=np.flatnonzero(member[self.structure.terminal_node]).astype(np.int32),
            inner=inner[::-1].astype(np.int32),
            forward=(forward[0], forward[1]),
        )
