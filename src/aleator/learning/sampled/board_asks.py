"""Policies as walks over flop hold'em ask them: about all pairs of some decisions and some cards at once.

Algorithm:
    A network has a branch for cards and one for betting. They are asked once for each hand and once for each decision,
    and only the layers that join them about every pair. Other policies are asked about every pair.

Reference: thesis 4.1.2 (the network's branches).
Deviations: none.
Status: tests/learning/sampled/test_board_walk.py.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.traversal import Policies

Tensor = torch.Tensor
Ask = Callable[[Tensor, Tensor, Tensor], Tensor]
"""What a player does at decisions [d] with cards, flops [n] and hands [n]: [d, n, A]."""
_ROWS, _GPU_ROWS = 1 << 19, 1 << 22  # infostates that policies are asked about at a time


def ask_policies(play: BoardPlay, policies: Policies) -> Ask:
    """Returns policies as walks ask them."""

    def ask(decisions: Tensor, flops: Tensor, hands: Tensor) -> Tensor:
        infostates = play.number(
            decisions.repeat_interleave(len(hands)), flops.repeat(len(decisions)), hands.repeat(len(decisions))
        )
        answers = torch.cat([policies.probabilities(part) for part in torch.split(infostates, _ROWS)])
        return answers.view(len(decisions), len(hands), -1)

    return ask


def ask_network(
    play: BoardPlay, encoding: BoardEncoding, network: InfostateNetwork, answer: Callable[[Tensor, Tensor], Tensor]
) -> Ask:
    """Returns a network as walks ask it; `answer` makes policies [n, A] of outputs and legal actions."""

    @torch.no_grad()
    def ask(decisions: Tensor, flops: Tensor, hands: Tensor) -> Tensor:
        late = play.deals_flop(decisions)
        cards = encoding.cards(torch.where(late[0], flops, len(play.flops)), hands)
        answers = []
        most = _ROWS if play.device.type == "cpu" else _GPU_ROWS
        for some in torch.split(decisions, max(1, most // len(hands))):
            betting, outputs = encoding.betting_at(some)
            values = network.on_grid(cards, betting)
            values = values.gather(2, outputs[:, None].expand(-1, len(hands), -1))
            legal = play.legal_at(some)[:, None].expand(-1, len(hands), -1)
            answers.append(answer(values.flatten(0, 1), legal.flatten(0, 1)).view(values.shape))
        return torch.cat(answers)

    return ask


def remembered(ask: Ask) -> Ask:
    """Returns the same answers, which are looked up where the same is asked again: walks ask about all flops three
    times before a network changes."""
    known: dict[tuple[int, ...], Tensor] = {}

    def ask_or_look_up(decisions: Tensor, flops: Tensor, hands: Tensor) -> Tensor:
        # walks ask about decisions and flops that follow each other
        key = (int(decisions[0]), len(decisions), int(flops[0]), int(flops[-1]), len(hands))
        if key not in known:
            known[key] = ask(decisions, flops, hands)
        return known[key]

    return ask_or_look_up
