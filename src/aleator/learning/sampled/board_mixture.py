"""The mixture of all policies that a player had in flop hold'em, exactly.

Algorithm:
    Who draws one of many policies for a whole hand plays, on average, each of them in proportion to its weight and to
    the player's own reach by it. These sums are kept for all hands on all flops: one hand of each class of suits, since
    the others play alike. Where nobody comes the average is uniform.

Reference: Steinberger 2019 (SD-CFR).
Deviations: the mixture is added up as a table on the way, so that it is evaluated exactly.
Status: tests/learning/sampled/test_board_walk.py.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from aleator.games.holdem.cards import NUM_HANDS
from aleator.learning.sampled.board_asks import Ask
from aleator.learning.sampled.board_walk import BoardWalk, Dealt, PlayerPolicy

Tensor = torch.Tensor


class BoardMixture:
    """The mixture of a player's policies, of which it draws one for a whole hand: its average, weighted by own reach,
    exactly, on all flops; gigabytes.

    Attributes:
        early: per player [d, A, H]: weight x own reach x policy, summed, before the flop.
        late: per player, for every few flops [d, A, n]: the same on flops, for one hand of each class of suits.
    """

    def __init__(self, walk: BoardWalk) -> None:
        self._walk, play = walk, walk.play
        flops = torch.arange(len(play.flops), device=play.device)
        self._dealt = [walk.deal(some) for some in walk.chunks(flops)]
        shapes = [(len(walk.early[player]), play.num_actions, NUM_HANDS) for player in (0, 1)]
        self.early = [torch.zeros(shape, device=play.device) for shape in shapes]
        self.late = [
            [
                torch.zeros((len(decisions), play.num_actions, len(dealt.cards[0])), device=play.device)
                for dealt in self._dealt
            ]
            for decisions in walk.late
        ]

    def add(self, ask: Ask, player: int, weight: float) -> None:
        """Adds a policy of a player."""
        walk, decisions = self._walk, self._walk.play.decisions
        early = walk.ask_early(ask, player)
        for number, dealt in enumerate(self._dealt):
            policy = PlayerPolicy(early, walk.ask_late(ask, player, dealt))
            above, reach = walk.reach(policy, player, dealt)
            stand_in = walk.stand_in(dealt)
            for slot, decision in enumerate(walk.late[player]):
                own = reach[int(decisions[decision])].reshape(-1)[stand_in]
                self.late[player][number][slot] += weight * own * policy.late[slot].flatten(1)[:, stand_in]
        for slot, decision in enumerate(walk.early[player]):
            self.early[player][slot] += weight * above[int(decisions[decision])] * early[slot]

    def policies(self, dealt: Dealt, number: int) -> list[PlayerPolicy]:
        """Returns the average of both players on the flops of a chunk; uniform where nobody comes."""
        legal, walk = self._walk.play.legal_at, self._walk
        found = []
        for player in (0, 1):
            early = _normalised(self.early[player], legal(walk.numbers(walk.early[player])))
            late = _normalised(self.late[player][number], legal(walk.numbers(walk.late[player])))
            found.append(PlayerPolicy(early, late[:, :, dealt.row]))
        return found

    def exploitability(self, stopped: Callable[[], bool]) -> float | None:
        """Returns the exact exploitability (NashConv / 2) of the averages, in chips; None if it was stopped."""
        numbers = iter(range(len(self._dealt)))
        return self._walk.exploitability(lambda dealt: self.policies(dealt, next(numbers)), stopped)


def _normalised(sums: Tensor, legal: Tensor) -> Tensor:
    """Returns policies [d, A, n] from sums and legal actions [d, A]."""
    total = sums.sum(dim=1, keepdim=True)
    uniform = (legal / legal.sum(dim=1, keepdim=True).clamp(min=1))[:, :, None]
    return torch.where(total > 0, sums / total.clamp(min=1e-30), uniform.to(sums.dtype))
