"""Boards before the river and what they mean for hands of live cards: strength on all runouts, its spread, equities.

Preflop has no board, and too many runouts to look at each: with the whole deck equities come from the table of
`games.holdem.equity`, strength and spread from a fixed sample of boards.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
import torch

from aleator.caching import cache
from aleator.games.holdem.cards import NUM_CARDS
from aleator.games.holdem.equity import preflop_equities
from aleator.games.holdem.suits import board_classes
from aleator.solvers.engines.batched_holdem import equity, runout_kernel
from aleator.solvers.engines.batched_holdem.deck import RIVER_CARDS, Deck

Tensor = torch.Tensor
_MOST_RUNOUTS = 5_000  # that are all looked at
_SAMPLED = 1_024
_AT_ONCE = 1 << 25  # strengths of hands on runouts


class RoundBoards(NamedTuple):
    """B boards of one street and what they mean for the H hands of their C live cards.

    Attributes:
        boards: [B, 0, 3 or 4] places in the deck.
        cards: [B, C] places of the live cards, ascending.
        hands: [B, H] the deck's number of each hand.
        strength: [B, H] mean over runouts of the part of all hands that it beats, ties half: in [0, 1].
        spread: [B, H] its standard deviation over runouts.
        runouts: int16 [B, R, H] strengths on each runout; -1 if it blocks the hand.
    """

    boards: Tensor
    cards: Tensor
    hands: Tensor
    strength: Tensor
    spread: Tensor
    runouts: Tensor

    @property
    def num_cards(self) -> int:
        """C."""
        return self.cards.shape[1]

    def take(self, index: Tensor) -> RoundBoards:
        """Returns some of them, or the same ones several times."""
        return RoundBoards(*(field[index] for field in self))


def live_cards(deck: Deck, boards: Tensor) -> Tensor:
    """Returns [B, C]: places of the cards that are not on a board [B, n], ascending."""
    on_board = torch.zeros(len(boards), deck.num_cards, dtype=torch.int8, device=deck.device).scatter_(1, boards, 1)
    return on_board.argsort(dim=1, stable=True)[:, : deck.num_cards - boards.shape[1]]


def round_boards(deck: Deck, boards: Tensor) -> RoundBoards:
    """Returns what boards [B, n] of places mean for hands; n is 4 on the turn, 3 on the flop, 0 preflop."""
    cards = live_cards(deck, boards)
    batch, live = cards.shape
    pairs = torch.tril_indices(live, live, -1, device=deck.device)
    high, low = cards[:, pairs[0]], cards[:, pairs[1]]
    hands = high * (high - 1) // 2 + low
    places = _runouts(live, RIVER_CARDS - boards.shape[1], deck.device)  # [R, cards of a runout]
    if deck.device.type == "cuda" and boards.shape[1]:
        runouts, strength, spread = runout_kernel.strengths(deck, boards, cards, places)
        return RoundBoards(boards, cards, hands, strength, spread, runouts)
    runouts = torch.empty(batch, len(places), hands.shape[1], dtype=torch.int16, device=deck.device)
    strength, spread = (torch.empty(hands.shape, device=deck.device) for _ in range(2))
    step = max(1, _AT_ONCE // (len(places) * deck.num_hands))
    for first in range(0, batch, step):
        part = slice(first, first + step)
        rivers = torch.cat(
            [boards[part, None].expand(-1, len(places), -1), cards[part][:, places.flatten()].view(-1, *places.shape)],
            2,
        )
        strengths = deck.strengths(rivers.flatten(0, 1)).view(*rivers.shape[:2], -1)
        strengths = strengths.gather(2, hands[part, None].expand(-1, len(places), -1))
        runouts[part] = strengths.to(torch.int16)
        strength[part], spread[part] = _strength(strengths, live, places.shape[1])
    if not boards.shape[1]:
        strength, spread = (_same_by_class(rows, hand_classes(deck)) for rows in (strength, spread))
    return RoundBoards(boards, cards, hands, strength, spread, runouts)


def _strength(runouts: Tensor, live: int, dealt: int) -> tuple[Tensor, Tensor]:
    """Returns mean and standard deviation [B, H] over runouts [B, R, H] of the part of all hands that a hand beats."""
    ordered = runouts.sort(2).values
    count = comb(live - dealt, 2)
    dead = ordered.shape[2] - count  # hands that the runout blocks come first
    beaten = torch.searchsorted(ordered, runouts) - dead
    tied = torch.searchsorted(ordered, runouts, right=True) - dead
    there = runouts >= 0
    part = ((beaten + tied).float() / (2 * count)).masked_fill(~there, 0.0)
    free = there.sum(1).clamp_min(1)
    mean = part.sum(1) / free
    variance = (part.square().sum(1) / free - mean.square()).clamp_min(0.0)
    return mean, variance.sqrt()


def _same_by_class(rows: Tensor, classes: Tensor) -> Tensor:
    """Returns rows [B, H] with the mean of its class at every hand: a sample of runouts favours some suits."""
    total = rows.new_zeros(len(rows), int(classes.max()) + 1).index_add_(1, classes, rows)
    return (total / torch.bincount(classes))[:, classes]


@cache
def _runouts(live: int, dealt: int, device: torch.device) -> Tensor:
    """Returns [R, dealt]: all choices of so many live cards, or a fixed sample of them."""
    if comb(live, dealt) <= _MOST_RUNOUTS:
        return torch.combinations(torch.arange(live, device=device), dealt)
    rng = np.random.default_rng(0)
    sample = np.sort(rng.random((_SAMPLED, live)).argpartition(dealt, axis=1)[:, :dealt], axis=1)
    return torch.from_numpy(sample).to(device)


def equity_matrices(boards: RoundBoards) -> Tensor:
    """Returns [B, H, H]: what hand h wins against hand h' if nobody bets more, in [-1, 1]; 0 where they share a card.

    float16 on a CUDA device.
    """
    live, dealt = boards.num_cards, RIVER_CARDS - boards.boards.shape[1]
    if dealt == RIVER_CARDS and live == NUM_CARDS:
        table = preflop_equities()
        device = boards.cards.device
        matrix = torch.from_numpy(table - table.T).to(device, torch.float16 if device.type == "cuda" else torch.float32)
        return matrix.expand(len(boards.cards), -1, -1)
    return equity.equity_matrices(boards.runouts, live, dealt)


class Flops(NamedTuple):
    """The flops of a deck up to a renaming of suits: 1,755 of 22,100 with 52 cards.

    Attributes:
        boards: [F, 3] places in the deck.
        weights: [F] how many flops each stands for.
    """

    boards: Tensor
    weights: Tensor


def canonical_flops(deck: Deck) -> Flops:
    """Returns one flop of each class; the deck has every suit of its ranks."""
    places = torch.combinations(torch.arange(deck.num_cards, device=deck.device), 3)
    classes = board_classes(deck.cards[places].cpu().numpy())
    chosen = torch.from_numpy(classes.representatives).to(deck.device)
    return Flops(places[chosen], torch.from_numpy(classes.multiplicities).to(deck.device))


def hand_classes(deck: Deck) -> Tensor:
    """Returns [H]: the number of each hand's class up to a renaming of suits, without gaps; 169 with 52 cards."""
    return pair_classes(deck.cards[deck.hand_cards])


def pair_classes(cards: Tensor) -> Tensor:
    """Returns [H]: the classes of hands given by their cards [H, 2], the higher first, as `hand_classes` numbers them.

    Cards may be counted from the lowest rank of a deck that has every suit of its ranks.
    """
    rank, suited = cards // 4, (cards[:, 0] % 4 == cards[:, 1] % 4).long()
    _, classes = torch.unique((rank[:, 0] * 13 + rank[:, 1]) * 2 + suited, return_inverse=True)
    return torch.as_tensor(classes)
