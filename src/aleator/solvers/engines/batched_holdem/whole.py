"""Whole spots from the flop, the turn or the river to the end of the game, all boards of a street at once, in torch.

Spots with one betting tree are solved together: their boards are the boards of the first street.

Algorithm:
    The iterations of `solvers.holdem` with the boards of a street as a batch. A street's betting is a forest: one tree
    below every place where the street before ends, the same on all boards. Its rows (regrets, sums of policies) are
    [boards, rows, hands] over the hands that somebody may hold; nodes of equal depth are pushed and pulled together.
    Reach goes from a board to those that a card makes of it, cfvs come back as means over the cards free of both hands.
    Boards that differ by a renaming of suits are one, with all renamings in that mean. Boards are taken in chunks that
    fit the memory for nodes; rows stay where they are. On a CUDA device updates
    are made by kernels (`whole_streets`, `whole_rivers`).

Reference: as `plain` and `solvers.holdem`.

Deviations: as `plain`. Neither rake nor locked policies.

Status: equal to `solvers.holdem` on turns and flops (tests/solvers/batched_holdem/test_whole.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from aleator.errors import SolveError
from aleator.games.holdem.betting_tree import BettingTree, NodeKind
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS
from aleator.solvers.engines.batched_holdem.deck import RIVER_CARDS, Deck
from aleator.solvers.engines.batched_holdem.nvrtc import Source, compile_ahead
from aleator.solvers.engines.batched_holdem.order import StrengthOrder, order_of, some_hands
from aleator.solvers.engines.batched_holdem.payoffs import RiverPayoffs
from aleator.solvers.engines.batched_holdem.plain import check_rule
from aleator.solvers.engines.batched_holdem.street_roots import StreetRoots
from aleator.solvers.engines.batched_holdem.whole_cards import WholeCards
from aleator.solvers.engines.batched_holdem.whole_rivers import WholeRivers
from aleator.solvers.engines.batched_holdem.whole_streets import WholeStreets
from aleator.solvers.engines.boards.plan import Board, BoardPlan
from aleator.solvers.regret_rule import SHARP_MATCHING, RegretRule

Tensor = torch.Tensor
UPDATE, AVERAGE, BEST = range(3)
_EAGER_BEFORE = 2  # iterations before one is captured: kernels are loaded in them
_CHUNK_BYTES = {"cpu": 1 << 28, "cuda": 8 << 30}  # of one row per node and hand


@dataclass(frozen=True, eq=False)
class Level:
    """What nodes of one depth do: rows of actions and the nodes that they lead to."""

    rows: Tensor  # [A]
    child: Tensor  # [A]
    parent: Tensor  # [A]


class StreetBetting:
    """The betting of one street below all places where the street before ends.

    Attributes:
        roots: [roots] nodes, in the order of the leaves of the street before.
        leaves: [L] nodes where the next card comes.
        folds, showdowns: per player (who has folded), and of all.
        stake: [N] chips that the loser of a terminal loses.
        decisions: of the betting tree, in preorder.
        row_node, row_parent, row_player: [R] the nodes after and before an action, and whose it is; rows in preorder of
            decisions.
    """

    def __init__(self, tree: BettingTree, street: int, roots: list[int], pot: int, device: torch.device) -> None:
        nodes = [n for n in range(tree.num_nodes) if tree.street[n] == street]
        local = {node: slot for slot, node in enumerate(nodes)}
        decisions = [n for n in nodes if tree.kind[n] == NodeKind.DECISION]
        actions = [child for node in decisions for child in tree.children(node)]
        depth = dict.fromkeys(roots, 0)
        for node in decisions:  # in preorder, parents first
            depth |= dict.fromkeys(tree.children(node), depth[node] + 1)

        def index(values: list[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.int64, device=device)

        def of_kind(kind: NodeKind) -> list[int]:
            return [local[n] for n in nodes if tree.kind[n] == kind]

        self.num_nodes, self.num_rows, self.nodes = len(nodes), len(actions), nodes
        self.roots, self.leaves = index([local[n] for n in roots]), index(of_kind(NodeKind.NEXT_STREET))
        self.leaf_nodes = [nodes[slot] for slot in self.leaves.tolist()]
        self.folds = [index([p for p in of_kind(NodeKind.FOLD) if tree.player[nodes[p]] == own]) for own in (0, 1)]
        self.showdowns = index(of_kind(NodeKind.SHOWDOWN))
        self.stake = torch.tensor([min(tree.chips[n]) + pot / 2 for n in nodes], dtype=torch.float32, device=device)
        self.row_node = index([local[child] for child in actions])
        self.row_parent = index([local[int(tree.parent[child])] for child in actions])
        self.row_player = np.array([tree.player[tree.parent[child]] for child in actions], np.int8)
        self.decisions = decisions
        self.decision_of_row = index([decisions.index(int(tree.parent[child])) for child in actions])
        self.num_decisions = len(decisions)
        counts = torch.bincount(self.decision_of_row, minlength=max(len(decisions), 1))
        self.uniform = (1.0 / counts[self.decision_of_row].float())[:, None] if actions else torch.zeros(0, 1)
        self.levels: list[tuple[Level, Level]] = []  # of both players, by depth of the parent
        for at in range(max(depth.values(), default=0)):
            pair = []
            for player in (0, 1):
                rows = [
                    row
                    for row, child in enumerate(actions)
                    if depth[child] == at + 1 and tree.player[tree.parent[child]] == player
                ]
                children = [actions[row] for row in rows]
                parents = [local[int(tree.parent[child])] for child in children]
                pair.append(Level(index(rows), index([local[child] for child in children]), index(parents)))
            self.levels.append((pair[0], pair[1]))
        self.rows_of = [index(np.flatnonzero(self.row_player == player).tolist()) for player in (0, 1)]

    def rows_at(self, decision: int) -> Tensor:
        """Returns the rows of a decision of the betting tree."""
        return (self.decision_of_row == self.decisions.index(decision)).nonzero()[:, 0]

    def match(self, rows: Tensor, power: float) -> Tensor:
        """Returns [B, R, H]: policies in proportion to the positive part of rows to a power; uniform without one."""
        weights = rows.clamp_min(0.0)
        if power != 1.0:
            weights = weights * weights.sqrt() if power == 1.5 else weights**power
        total = weights.new_zeros(len(rows), self.num_decisions, rows.shape[2])
        total = total.index_add_(1, self.decision_of_row, weights)[:, self.decision_of_row]
        return torch.where(total > 0, weights / total, self.uniform)

    def push(self, policy: Tensor, reach: Tensor, player: int) -> Tensor:
        """Returns the player's reach at all nodes [B, N, H], from that at the roots [B, roots, H]."""
        nodes = reach.new_zeros(len(reach), self.num_nodes, reach.shape[2])
        nodes[:, self.roots] = reach
        for level in self.levels:
            own, other = level[player], level[1 - player]
            nodes[:, own.child] = nodes[:, own.parent] * policy[:, own.rows]
            nodes[:, other.child] = nodes[:, other.parent]
        return nodes

    def pull(self, policy: Tensor, values: Tensor, player: int, *, best: bool) -> Tensor:
        """Adds the player's cfvs of decisions to those of terminals and leaves [B, N, H], in place."""
        for level in reversed(self.levels):
            own, other = level[player], level[1 - player]
            values.index_add_(1, other.parent, values[:, other.child])
            if best and len(own.parent):
                index = own.parent[None, :, None].expand(len(values), -1, values.shape[2])
                values.scatter_reduce_(1, index, values[:, own.child], "amax", include_self=False)
            else:
                values.index_add_(1, own.parent, policy[:, own.rows] * values[:, own.child])
        return values


class _Street:
    """One street: its betting, its boards, and how hands of a board are those of the board before."""

    def __init__(
        self, forest: StreetBetting, boards: list[Board], deck: Deck, wanted: Tensor, before: _Street | None
    ) -> None:
        device = deck.device
        cards = torch.tensor([board.cards for board in boards], device=device)
        self.forest, self.num_boards = forest, len(boards)
        self.order: StrengthOrder | None = None
        self.rivers: WholeRivers | None = None  # kernels, where there is a device
        self.betting: WholeStreets | None = None
        if cards.shape[1] == RIVER_CARDS:
            self.order = order_of(deck, cards, wanted=wanted)
            self.hands = self.order.hand
        else:
            self.hands = some_hands(~deck.blocked(cards), wanted).nonzero()[:, 1].view(len(boards), -1)
        self.num_hands = self.hands.shape[1]
        holds = torch.zeros(NUM_HANDS, NUM_CARDS, device=device)
        self.holds = holds.scatter_(1, torch.from_numpy(HANDS.astype(np.int64)).to(device), 1.0)
        shape = (len(boards), forest.num_rows, self.num_hands)
        self.regrets, self.sums = torch.zeros(shape, device=device), torch.zeros(shape, device=device)
        self.cards = None if before is None else WholeCards(boards, self.hands, before.hands)

    def use_kernels(self, roots: StreetRoots, rule: RegretRule) -> None:
        """Makes kernels for the updates; best responses and averages stay with torch."""
        if self.order is None:
            self.betting = WholeStreets(roots, self.num_hands, rule.power)
        else:
            self.rivers = WholeRivers(roots, self.order, sharp=rule.minimiser == SHARP_MATCHING)
        if self.cards is not None:
            self.cards.use_kernels()

    def sources(self) -> list[Source]:
        """Returns what its kernels are compiled from."""
        cards = [] if self.cards is None else self.cards.sources(len(self.forest.roots))
        return cards + [source for part in (self.betting, self.rivers) if part is not None for source in part.sources()]

    def compatible(self, rows: Tensor, boards: slice) -> Tensor:
        """Returns the reach of hands that share no card, [B, n, H]."""
        holds = self.holds[self.hands[boards]]  # [B, H, 52]
        return rows.sum(-1, keepdim=True) - (rows @ holds) @ holds.mT + rows


def _same_betting(one: BoardPlan, two: BoardPlan) -> bool:
    """Returns whether two spots have the same bets of the same amounts."""
    trees = one.betting.tree, two.betting.tree
    fields = zip(*([tree.kind, tree.street, tree.player, tree.chips] for tree in trees), strict=True)
    return one.spot.pot == two.spot.pot and all(np.array_equal(*pair) for pair in fields)


def _boards_of(plans: Sequence[BoardPlan], level: int) -> list[Board]:
    """Returns the boards of a street of all spots, side by side, with parents in the same list of the street before."""
    first = np.cumsum([0] + [len(plan.boards[max(level - 1, 0)]) for plan in plans])
    return [
        replace(board, parent=board.parent + int(start))
        for plan, start in zip(plans, first[:-1], strict=True)
        for board in plan.boards[level]
    ]


class WholeEngine:
    """The iterations of spots of one betting tree on a device.

    Attributes:
        streets: what is solved, from the first street to the river.
        reach: [2, B, H] both players' at the root of each spot.
        iteration: how many have been run.
    """

    def __init__(self, plans: Sequence[BoardPlan], rule: RegretRule, *, device: torch.device | str = "cpu") -> None:
        """Takes memory for spots.

        Args:
            plans: the B spots laid out; boards and ranges may differ, bets may not.
            rule: of the iterations.
            device: where tensors go.
        """
        check_rule(rule)
        plan = plans[0]
        if not rule.alternating:
            raise SolveError("whole spots update players in turn; simultaneous updates are not available here")
        if any(other.spot.rake.rate > 0 for other in plans):
            raise SolveError("spots with rake are solved without --device")
        if any(other.spot.locks for other in plans):
            raise SolveError("spots with locked policies are solved without --device")
        if not all(_same_betting(plan, other) for other in plans[1:]):
            raise SolveError("spots that are solved together must have the same pot, stacks and bets")
        self.rule, self.iteration = rule, 0
        self.device = torch.device(device)
        deck, tree = Deck(device=self.device), plan.betting.tree
        weights = torch.from_numpy(np.stack([other.weights for other in plans], 1)).to(self.device, torch.float32)
        wanted = (weights > 0).flatten(0, 1).any(0)
        self.streets: list[_Street] = []
        roots = [plan.betting.number]
        for level in range(plan.num_streets):
            boards = _boards_of(plans, level)
            forest = StreetBetting(tree, plan.spot.street + level, roots, plan.spot.pot, self.device)
            street = _Street(forest, boards, deck, wanted, self.streets[-1] if level else None)
            if self.device.type == "cuda":
                street.use_kernels(StreetRoots.of(tree, roots, plan.spot.pot, self.device), rule)
            self.streets.append(street)
            roots = [tree.children(node)[0] for node in forest.leaf_nodes]
        if self.device.type == "cuda":
            compile_ahead([source for street in self.streets for source in street.sources()])
        self.reach = weights.gather(2, self.streets[0].hands.expand(2, -1, -1))
        self._discounts = torch.zeros(4, device=self.device)
        self._chunk_bytes = _CHUNK_BYTES[self.device.type]
        self._graph: torch.cuda.CUDAGraph | None = None  # one iteration, without waiting for Python between its kernels
        self._fixed: tuple[int, Tensor] | None = None

    def fix_first_street(self, player: int, policies: Tensor) -> None:
        """Fixes a player's policies on the first street, before any iteration: it learns the rest of the game.

        Args:
            player: whose.
            policies: [B, R, H] by row of the first street; those of the other player are not read.
        """
        self._fixed = player, policies.to(self.reach)[:, self.streets[0].forest.rows_of[player]]

    def run(self, iterations: int) -> None:
        """Runs some more iterations, each of which updates both players."""
        schedule = self.rule.schedule(self.iteration + 1, iterations)
        for discounts in torch.from_numpy(schedule[:, :4]).to(self._discounts):
            self._discounts.copy_(discounts)
            if self.device.type == "cuda" and self._graph is None and self.iteration >= _EAGER_BEFORE:
                self._graph = torch.cuda.CUDAGraph()
                torch.cuda.synchronize()
                with torch.cuda.graph(self._graph):
                    self._iterate()
            if self._graph is None:
                self._iterate()
            else:
                self._graph.replay()
            self.iteration += 1

    def _iterate(self) -> None:
        """Updates both players with the discounts that are set."""
        for player in (0, 1):
            self.traverse(player, UPDATE)

    def traverse(self, player: int, mode: int) -> Tensor:
        """Returns the player's cfvs at the roots [B, H] in chips.

        Args:
            player: whose.
            mode: UPDATE for an iteration's half, AVERAGE for those of the average policies, BEST for a best response.
        """
        return self._below(0, slice(0, self.streets[0].num_boards), self.reach[1 - player][:, None], player, mode)[:, 0]

    def _below(self, level: int, boards: slice, reach: Tensor, player: int, mode: int) -> Tensor:
        """Returns cfvs [B, roots, H] of some boards of a street from the opponent's reach there."""
        street = self.streets[level]
        regrets, sums = street.regrets[boards], street.sums[boards]
        fixed = self._fixed if level == 0 else None
        kernels = mode == UPDATE and fixed is None
        if kernels and street.rivers is not None:
            return street.rivers.update(player, boards, reach, regrets, sums, self._discounts)
        if kernels and street.betting is not None:
            return street.betting.update(
                player, reach, regrets, sums, self._discounts,
                compatible=lambda rows: street.compatible(rows, boards),
                below=lambda leaves: self._next(level, boards, leaves, player, mode),
            )  # fmt: skip
        forest = street.forest
        policy = forest.match(regrets, self.rule.power) if mode == UPDATE else forest.match(sums, 1.0)
        if fixed is not None:
            policy[:, forest.rows_of[fixed[0]]] = fixed[1]
        opponent = forest.push(policy, reach, 1 - player)
        values = torch.zeros_like(opponent)
        for folded, nodes in enumerate(forest.folds):
            sign = -1.0 if folded == player else 1.0
            if len(nodes):
                rows = street.compatible(opponent[:, nodes], boards)
                values[:, nodes] = rows * (sign * forest.stake[nodes])[:, None]
        if street.order is not None:
            part = StrengthOrder(*(field[boards] for field in vars(street.order).values()))
            rows = RiverPayoffs(part).showdown(opponent[:, forest.showdowns])
            values[:, forest.showdowns] = rows * forest.stake[forest.showdowns][:, None]
        elif len(forest.leaves):
            values[:, forest.leaves] = self._next(level, boards, opponent[:, forest.leaves], player, mode)
        free = fixed is None or fixed[0] != player
        forest.pull(policy, values, player, best=mode == BEST and free)
        if mode == UPDATE:
            self._learn(street, boards, player, policy, opponent, values)
        return values[:, forest.roots]

    def _next(self, level: int, boards: slice, leaves: Tensor, player: int, mode: int) -> Tensor:
        """Returns cfvs [B, L, H] before a card from the opponent's reach [B, L, H]."""
        street, total = self.streets[level + 1], torch.zeros_like(leaves)
        assert street.cards is not None
        below = street.cards.below(boards)
        step = max(1, self._chunk_bytes // (4 * street.forest.num_nodes * street.num_hands))
        for begin in range(below.start, below.stop, step):
            part = slice(begin, min(begin + step, below.stop))
            reach = street.cards.deal(leaves, boards, part)
            street.cards.gather(self._below(level + 1, part, reach, player, mode), total, boards, part)
        return total

    def _learn(
        self, street: _Street, boards: slice, player: int, policy: Tensor, opponent: Tensor, values: Tensor
    ) -> None:
        """Adds what the player regrets, and the opponent's policies to their sum."""
        positive, negative, decay, floor = self._discounts
        forest = street.forest
        own, other = forest.rows_of[player], forest.rows_of[1 - player]
        if len(own):
            gained = values[:, forest.row_node[own]] - values[:, forest.row_parent[own]]
            old = street.regrets[boards][:, own]
            kept = torch.where(old > 0, old * positive, old * negative)
            street.regrets[boards, own] = torch.maximum(kept + gained, floor)
        if len(other):
            street.sums[boards, other] = street.sums[boards][:, other] * decay + opponent[:, forest.row_node[other]]

    def board_policy(self, level: int, board: int, player: int) -> npt.NDArray[np.float32]:
        """Returns [rows of the player, 1326]: average policies on a board, by decision in preorder; 0 where blocked."""
        street = self.streets[level]
        rows = street.forest.match(street.sums[board : board + 1], 1.0)[0, street.forest.rows_of[player]]
        whole = rows.new_zeros(len(rows), NUM_HANDS)
        whole[:, street.hands[board]] = rows
        return np.asarray(whole.cpu().numpy(), np.float32)
