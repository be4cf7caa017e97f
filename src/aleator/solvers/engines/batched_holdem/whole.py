"""Whole spots from the flop, the turn or the river to the end of the game, all boards of a street at once, in torch.

Spots with one betting tree are solved together: their boards are the boards of the first street.

Algorithm:
    The iterations of `solvers.holdem` with the boards of a street as a batch. A street's betting is a forest: one tree
    below every place where the street before ends, the same on all boards. Its rows (regrets, sums of policies) are
    [boards, rows, hands] over the hands that somebody may hold, which have the same numbers on all boards of a spot.
    Reach goes from a board to those that a card makes of it, cfvs come back as means over the cards free of both hands.
    Boards that differ by a renaming of suits are one, with all renamings in that mean. Boards are taken in chunks that
    fit the memory for nodes; rows stay where they are. On a CUDA device kernels do all of it (`whole_kernels`).

Reference: as `plain` and `solvers.holdem`.

Deviations: as `plain`. Neither rake nor locked policies.

Status: equal to `solvers.holdem` on turns and flops (tests/solvers/batched_holdem/test_whole.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS
from aleator.solvers.engines.batched_holdem.deck import RIVER_CARDS, Deck
from aleator.solvers.engines.batched_holdem.plain import check_rule
from aleator.solvers.engines.batched_holdem.street_betting import StreetBetting
from aleator.solvers.engines.batched_holdem.whole_cards import WholeCards, some_hands
from aleator.solvers.engines.batched_holdem.whole_kernels import KernelPayoffs, StreetKernels, uses_matrices
from aleator.solvers.engines.boards.plan import Board, BoardPlan
from aleator.solvers.regret_rule import RegretRule

Tensor = torch.Tensor
IntArray = npt.NDArray[np.int64]
UPDATE, AVERAGE, BEST = range(3)
_ALIGNED = 8  # hands are a multiple of it: kernels take four at a time
_SIGNS_AT_ONCE, _POLICIES_AT_ONCE = 1 << 26, 1 << 24
_EAGER_BEFORE = 2  # iterations before one is captured: kernels are loaded in them
_CHUNK_BYTES = {"cpu": 1 << 28, "cuda": 8 << 30}  # of one row per node and hand


class _Street:
    """One street: its betting, its boards, and what hands of a board are worth against each other.

    Attributes:
        hands: [B, H] numbers of hands: those of the spot that a board belongs to.
        strength: [B, H] on the river, -1 where the board has a card of the hand; None before.
        kernels: where there is a device.
    """

    def __init__(
        self, forest: StreetBetting, boards: list[Board], deck: Deck, hands: Tensor, spot: Tensor, num_parents: int
    ) -> None:
        cards = torch.tensor([board.cards for board in boards], device=deck.device)
        self.forest, self.num_boards, self.num_hands = forest, len(boards), hands.shape[1]
        self.hands, self.spot = hands[spot], spot
        holds = torch.zeros(NUM_HANDS, NUM_CARDS, device=deck.device).scatter_(1, deck.hand_cards, 1.0)
        self._holds = holds[hands]  # [spots, H, 52]
        self.strength = deck.strengths(cards).gather(1, self.hands) if cards.shape[1] == RIVER_CARDS else None
        live = ~deck.blocked(cards).gather(1, self.hands)
        shape = (len(boards), forest.num_rows, self.num_hands)
        self.regrets, self.sums = torch.zeros(shape, device=deck.device), torch.zeros(shape, device=deck.device)
        self.cards = WholeCards(boards, self.hands, live.float(), num_parents)
        self.kernels: StreetKernels | None = None

    def use_kernels(self, hand_cards: Tensor, most: float) -> None:
        """Lets kernels do what torch does.

        Args:
            hand_cards: [spots, H, 2].
            most: the largest weight of a hand.
        """
        payoffs = KernelPayoffs(hand_cards, self.spot, self.strength)
        matrices = self.strength is not None and uses_matrices(
            len(self.forest.others), self.num_boards, self.num_hands, hand_cards.device
        )
        signs = self._signs if matrices else None
        self.kernels = StreetKernels(self.forest, self.cards, payoffs, most, signs)

    @cached_property
    def _signs(self) -> Tensor:
        """Float16 [B, H, H] on the river: 1 where the second hand beats the first, -1 where it loses, else 0.

        That is where they tie or share a card, or the board has one of theirs.
        """
        assert self.strength is not None
        meet = self._holds @ self._holds.mT == 0  # [spots, H, H]
        signs = torch.empty(*self.strength.shape, self.num_hands, dtype=torch.float16, device=self.strength.device)
        step = max(1, _SIGNS_AT_ONCE // self.num_hands**2)
        for first in range(0, self.num_boards, step):
            boards = slice(first, first + step)
            other, own = self.strength[boards, :, None], self.strength[boards, None]
            signs[boards] = torch.sign(own - other) * ((own >= 0) & (other >= 0) & meet[self.spot[boards]])
        return signs

    def compatible(self, rows: Tensor, boards: slice) -> Tensor:
        """Returns the reach of hands that share no card, [B, n, H]."""
        holds = self._holds[self.spot[boards]]  # [B, H, 52]
        return rows.sum(-1, keepdim=True) - (rows @ holds) @ holds.mT + rows

    def showdown(self, rows: Tensor, boards: slice) -> Tensor:
        """Returns the reach of weaker less that of stronger hands that share no card, [B, n, H]."""
        return torch.bmm(rows, self._signs[boards].float())


def _same_betting(one: BoardPlan, two: BoardPlan) -> bool:
    """Returns whether two spots have the same bets of the same amounts."""
    trees = one.betting.tree, two.betting.tree
    fields = zip(*([tree.kind, tree.street, tree.player, tree.chips] for tree in trees), strict=True)
    return one.spot.pot == two.spot.pot and all(np.array_equal(*pair) for pair in fields)


def _boards_of(plans: Sequence[BoardPlan], level: int) -> tuple[list[Board], list[int]]:
    """Returns the boards of a street of all spots, side by side, and whose they are.

    Parents are in the same list of the street before; the first street's are the spots.
    """
    boards, spots = [], []
    first = 0
    for spot, plan in enumerate(plans):
        for board in plan.boards[level]:
            boards.append(replace(board, parent=first + board.parent if level else spot))
            spots.append(spot)
        first += len(plan.boards[max(level - 1, 0)])
    return boards, spots


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
        blocked = deck.blocked(torch.tensor([other.spot.board for other in plans], device=self.device))
        hands = some_hands(~blocked, (weights > 0).flatten(0, 1).any(0), _ALIGNED)
        self.reach = weights.gather(2, hands.expand(2, -1, -1))
        self.streets: list[_Street] = []
        roots = [plan.betting.number]
        for level in range(plan.num_streets):
            boards, spots = _boards_of(plans, level)
            forest = StreetBetting(tree, plan.spot.street + level, roots, plan.spot.pot, self.device)
            spot = torch.tensor(spots, device=self.device)
            num_parents = self.streets[-1].num_boards if level else len(plans)
            self.streets.append(_Street(forest, boards, deck, hands, spot, num_parents))
            roots = [tree.children(node)[0] for node in forest.leaf_nodes]
        if self.device.type == "cuda":
            self.use_kernels(deck)
        self._discounts = torch.zeros(4, device=self.device)
        self._chunk_bytes = _CHUNK_BYTES[self.device.type]
        self._graph: torch.cuda.CUDAGraph | None = None  # one iteration, without waiting for Python between its kernels
        self._fixed: tuple[int, Tensor] | None = None

    def use_kernels(self, deck: Deck) -> None:
        """Lets kernels do what torch does."""
        most = float(self.reach.max())
        for street in self.streets:
            street.use_kernels(deck.hand_cards[self.streets[0].hands], most)

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
        every = slice(0, self.streets[0].num_boards)
        return self._below(0, every, every, self.reach[1 - player][:, None], player, mode)[:, 0]

    def _below(self, level: int, parents: slice, boards: slice, above: Tensor, player: int, mode: int) -> Tensor:
        """Returns cfvs [b, roots, H] of some boards of a street from the opponent's reach before their card."""
        street, forest = self.streets[level], self.streets[level].forest
        regrets, sums = street.regrets[boards], street.sums[boards]
        rows, power = (regrets, self.rule.power) if mode == UPDATE else (sums, 1.0)
        fixed = self._fixed if level == 0 else None

        def leaves(reach: Tensor) -> Tensor:
            return self._next(level, boards, reach, player, mode)

        if street.kernels is not None and fixed is None:
            return street.kernels.traverse(
                player, parents, boards, above, rows, (regrets, sums) if mode == UPDATE else None, self._discounts,
                leaves if street.strength is None else None, sharp=power != 1.0, best=mode == BEST,
            )  # fmt: skip
        policy = forest.match(rows, power)
        if fixed is not None:
            policy[:, forest.rows_of[fixed[0]]] = fixed[1]
        opponent = forest.push(policy, street.cards.deal(above, parents, boards), 1 - player)
        values = torch.zeros_like(opponent)
        for folded, nodes in enumerate(forest.folds):
            sign = -1.0 if folded == player else 1.0
            if len(nodes):
                met = street.compatible(opponent[:, nodes], boards)
                values[:, nodes] = met * (sign * forest.stake[nodes])[:, None]
        others = opponent[:, forest.others]
        if street.strength is None:
            values[:, forest.others] = leaves(others)
        else:
            values[:, forest.others] = street.showdown(others, boards) * forest.stake[forest.others][:, None]
        free = fixed is None or fixed[0] != player
        forest.pull(policy, values, player, best=mode == BEST and free)
        if mode == UPDATE:
            self._learn(street, boards, player, policy, opponent, values)
        return values[:, forest.roots]

    def _next(self, level: int, boards: slice, leaves: Tensor, player: int, mode: int) -> Tensor:
        """Returns cfvs [b, L, H] before a card from the opponent's reach [b, L, H]."""
        street, total = self.streets[level + 1], torch.zeros_like(leaves)
        below = street.cards.below(boards)
        step = max(1, self._chunk_bytes // (4 * street.forest.num_nodes * street.num_hands))
        for begin in range(below.start, below.stop, step):
            part = slice(begin, min(begin + step, below.stop))
            values = self._below(level + 1, boards, part, leaves, player, mode)
            (street.kernels or street.cards).gather(values, total, boards, part)
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

    def average_policies(self, level: int, player: int, hands: IntArray) -> Iterator[npt.NDArray[np.float32]]:
        """Yields [rows of the player, hands] for each board of a street: average policies, by decision in preorder.

        Args:
            level: of the street, from the first one on.
            player: whose.
            hands: numbers of hands of the first spot; on boards that have a card of theirs they have 0.
        """
        street = self.streets[level]
        numbers = torch.from_numpy(hands).to(self.device, torch.int64)
        place = torch.searchsorted(street.hands[0].contiguous(), numbers)
        rows = street.forest.rows_of[player]
        step = max(1, _POLICIES_AT_ONCE // max(street.sums[0].numel(), 1))
        for first in range(0, street.num_boards, step):
            boards = slice(first, first + step)
            policies = street.forest.match(street.sums[boards], 1.0)[:, rows][:, :, place]
            yield from (policies * street.cards.live[boards, None, place]).cpu().numpy()
