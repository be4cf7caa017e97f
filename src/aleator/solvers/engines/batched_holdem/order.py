"""What a river board means for hands: their order of strength, ties, and the hands of each card.

A showdown needs the reach of all weaker and of all stronger hands that share no card with one's own. Over hands in the
order of strength these are prefix sums, less the prefix sums over the hands of each of one's two cards (inclusion and
exclusion).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from aleator.solvers.engines.batched_holdem.deck import Deck

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class StrengthOrder:
    """The live hands of B boards in ascending order of strength; a place in it is a *position*.

    There are C live cards, H = C (C - 1) / 2 live hands, and each card is in L = C - 1 of them.

    Attributes:
        hand: [B, H] the deck's number of the hand at each position.
        weaker, not_stronger: [B, H] how many hands are weaker, and how many are weaker or tie.
        card: [B, H, 2] which live card (0..C - 1) each of the hand's two cards is.
        card_weaker, card_not_stronger: [B, H, 2] the same counts among the hands that hold that card.
        card_list: [B, C, L] positions of the hands of each live card, ascending.
    """

    hand: Tensor
    weaker: Tensor
    not_stronger: Tensor
    card: Tensor
    card_weaker: Tensor
    card_not_stronger: Tensor
    card_list: Tensor

    @property
    def num_hands(self) -> int:
        """H."""
        return self.hand.shape[1]

    @property
    def strength(self) -> Tensor:
        """[B, H] the part of all hands that the one at each position beats, ties half: in [0, 1]."""
        return (self.weaker + self.not_stronger).float() / (2 * self.num_hands)

    def sort(self, rows: Tensor) -> Tensor:
        """Returns rows over the deck's hands [B, ..., deck's H] over positions, [B, ..., H]."""
        return torch.gather(rows, -1, _like(self.hand, rows))

    def unsort(self, rows: Tensor, num_hands: int) -> Tensor:
        """Returns rows over positions [B, ..., H] over the deck's hands; 0 for blocked hands."""
        empty = rows.new_zeros(*rows.shape[:-1], num_hands)
        return empty.scatter(-1, _like(self.hand, rows), rows)


def _like(index: Tensor, rows: Tensor) -> Tensor:
    """Returns an index [B, H] that every row of [B, ..., anything] uses."""
    return index.view(len(index), *[1] * (rows.dim() - 2), -1).expand(*rows.shape[:-1], -1)


def order_of(deck: Deck, boards: Tensor, generator: torch.Generator | None = None) -> StrengthOrder:
    """Returns the order of each board [B, 5] of places in the deck; ties in random order if there is a generator."""
    strength = deck.strengths(boards)
    live = deck.num_cards - boards.shape[1]
    count = live * (live - 1) // 2
    key = strength.double()
    if generator is not None:
        key = key + torch.rand(key.shape, device=deck.device, generator=generator)
    hand = key.argsort(dim=1, stable=True)[:, deck.num_hands - count :]  # blocked hands have -1
    ordered = strength.gather(1, hand).contiguous()
    position = torch.empty(strength.shape, dtype=torch.int64, device=deck.device)
    position.scatter_(1, hand, torch.arange(count, device=deck.device).expand_as(hand))

    on_board = torch.zeros(len(boards), deck.num_cards, dtype=torch.bool, device=deck.device).scatter_(1, boards, True)
    cards = torch.argsort(on_board.to(torch.int8), dim=1, stable=True)[:, :live]  # [B, C] places of live cards
    number = torch.cumsum(~on_board, 1) - 1  # [B, n] place -> live card
    hand_cards = deck.hand_cards[hand]  # [B, H, 2]
    card = number.gather(1, hand_cards.flatten(1)).view_as(hand_cards)

    # [B, C, L] every live card with every other
    other = torch.arange(live - 1, device=deck.device) + torch.ones(live, live - 1, device=deck.device).triu().long()
    one, two = cards[:, :, None].expand(-1, -1, live - 1), cards[:, other.flatten()].view(len(boards), live, live - 1)
    high, low = torch.maximum(one, two), torch.minimum(one, two)
    at = position.gather(1, (high * (high - 1) // 2 + low).flatten(1)).view_as(one)
    card_list = at.sort(2).values
    own = ordered.gather(1, card_list.flatten(1)).view_as(card_list).contiguous()
    counts = [torch.searchsorted(own, own, right=right) for right in (False, True)]
    is_low = hand_cards[..., 1].gather(1, card_list.flatten(1)).view_as(card_list) == cards[:, :, None]
    slot = (2 * card_list + is_low).flatten(1)
    weaker, not_stronger = (torch.empty_like(card).flatten(1).scatter_(1, slot, c.flatten(1)) for c in counts)
    return StrengthOrder(
        hand=hand,
        weaker=torch.searchsorted(ordered, ordered),
        not_stronger=torch.searchsorted(ordered, ordered, right=True),
        card=card,
        card_weaker=weaker.view_as(card),
        card_not_stronger=not_stronger.view_as(card),
        card_list=card_list,
    )
