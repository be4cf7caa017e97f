"""A value network at the leaves of betting rounds: B rounds, each to its end, priced before the next card.

Algorithm:
    What checking down is worth is a matrix per board: E[h, h'] is the mean over the runouts free of both hands of
    +1, 0 or -1. One product per iteration gives all leaves their equities; the network adds what the betting to come
    changes. Where a player is all-in there is no betting left, and the network's correction is zero: those leaves are
    exact.

Reference: DeepStack's supplement (cfvs at the end of the round are means over the next card); ReBeL App. C (leaves
    before the chance card).

Deviations: none.

Status: tests/learning/holdem/test_leaves.py; exploitability in the exact turn game in docs/algorithms/hunl.md.
"""

from __future__ import annotations

import torch

from aleator.errors import SolveError
from aleator.learning.holdem.fused_leaves import FusedLeaves
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.network import HoldemValueNetwork, Situation
from aleator.learning.holdem.packed_linear import PackedLinear
from aleator.solvers.engines.batched_holdem.fused_rounds import FusedRounds
from aleator.solvers.engines.batched_holdem.payoffs import PairPayoffs
from aleator.solvers.engines.batched_holdem.plain import PlainEngine, leaf_pots
from aleator.solvers.engines.batched_holdem.rounds import RoundBoards, equity_matrices
from aleator.solvers.engines.batched_holdem.shapes import Betting
from aleator.solvers.regret_rule import RegretRule

Tensor = torch.Tensor
_PACKED_BOARDS = 16  # of a search on a CPU; examples are made on more, with fewer hands and iterations each


class NetworkLeaves:
    """cfvs at the leaves of B rounds by a network of the end of their street; a `LeafCfvs`."""

    def __init__(
        self, network: HoldemValueNetwork, boards: RoundBoards, equities: Tensor, pots: Tensor, stacks: Tensor
    ) -> None:
        """Puts a network at leaves.

        Args:
            network: of the end of the street, on the device of all tensors.
            boards: one per game, or one for every so many games that follow each other.
            equities: [boards, H, H], `equity_matrices`.
            pots: [B, L] of the leaves, in pots of the root.
            stacks: [B, L] behind, in pots of the leaf.
        """
        if len(pots) % len(boards.cards):
            raise SolveError(f"{len(pots)} games cannot share {len(boards.cards)} boards evenly")
        self._network, self._equities, self._pots = network, equities, pots
        self._asked = (stacks > 1e-6).any(0).nonzero().flatten()  # leaves where somebody can still bet
        self._stacks = stacks[:, self._asked].flatten().float()
        times = len(pots) // len(boards.cards) * len(self._asked)
        self._strength, self._spread = (
            field.repeat_interleave(times, 0).float() for field in (boards.strength, boards.spread)
        )
        self._payoffs = PairPayoffs(boards.num_cards, pots.device)
        packs = equities.device.type == "cpu" and len(equities) <= _PACKED_BOARDS
        self._boards = [PackedLinear(board) for board in equities] if packs else []

    def __call__(self, reach: Tensor) -> Tensor:
        """Returns cfvs [B, L, 2, H] in pots of the root, from both players' reach [B, L, 2, H]."""
        batch, _, _, hands = reach.shape
        mass = reach.sum(-1, keepdim=True)  # [B, L, 2, 1]
        beliefs = torch.where(mass > 0, reach / mass, 1.0 / hands)
        others = (beliefs.flip(2) * hands).view(len(self._equities), -1, hands)  # so that float16 can hold them
        values = self._wins(others.to(self._equities.dtype)).float().view_as(reach) * (0.5 / hands)
        if len(self._asked):
            own, checked = (rows[:, self._asked].view(-1, 2, hands) for rows in (beliefs, values))
            compatible = self._payoffs.compatible(own.flip(1))
            situation = Situation(own, checked, compatible, self._strength, self._spread, self._stacks)
            with torch.no_grad(), torch.autocast(reach.device.type, torch.bfloat16, enabled=reach.is_cuda):
                values[:, self._asked] = self._network(situation).float().view(batch, -1, 2, hands)
        return values * mass.flip(2) * self._pots[:, :, None, None]

    def _wins(self, others: Tensor) -> Tensor:
        """Returns wins less losses [boards, n, H] against ranges [boards, n, H] if nobody bets any more."""
        if not self._boards:
            return torch.bmm(others, self._equities.mT)
        return torch.stack([board(rows) for board, rows in zip(self._boards, others, strict=True)])


def network_leaves(
    network: HoldemValueNetwork, boards: RoundBoards, equities: Tensor, pots: Tensor, stacks: Tensor
) -> NetworkLeaves | FusedLeaves:
    """Returns a network at leaves, as `NetworkLeaves` describes it: one of knots by kernels on a CUDA device."""
    if pots.is_cuda and isinstance(network, KnotNetwork) and not network.shape.by_class:
        return FusedLeaves(network, boards, equities, pots, stacks)
    return NetworkLeaves(network, boards, equities, pots, stacks)


def round_engine(
    network: HoldemValueNetwork, boards: RoundBoards, betting: Betting, stack: Tensor, reach: Tensor,
    rule: RegretRule, *, averages: bool = False, equities: Tensor | None = None,
) -> PlainEngine:  # fmt: skip
    """Returns an engine of B betting rounds of one street, with a network at their leaves.

    Args:
        network: of the end of the street.
        boards: one per game, or one for every so many games that follow each other.
        betting: of a `PotMenu(to_showdown=False)` that fits all stacks.
        stack: [B] in pots.
        reach: [B, 2, H] over pairs of live cards.
        rule: the regret rule; with `alternating=False` the network is asked once an iteration.
        averages: whether average policies are kept.
        equities: `equity_matrices(boards)`, if they are there already.
    """
    stakes = torch.from_numpy(betting.stakes(stack.double().cpu().numpy())).to(reach)
    pots, stacks = leaf_pots(betting.shape, stakes, stack.to(reach))
    matrices = equity_matrices(boards) if equities is None else equities
    leaves = network_leaves(network, boards, matrices, pots, stacks)
    payoffs = PairPayoffs(boards.num_cards, reach.device)
    engine = FusedRounds if reach.is_cuda else PlainEngine
    return engine(betting.shape, stakes, reach, payoffs, rule, leaf_cfvs=leaves, averages=averages)
