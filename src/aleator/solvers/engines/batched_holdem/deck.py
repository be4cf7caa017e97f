"""A deck of cards as tensors: its hands, and their strengths on many boards at once.

Hands are numbered as in `games.holdem.cards`, high card h and low card l: h (h - 1) / 2 + l, where h and l are places
in the deck. The whole deck has the 1,326 hands of hold'em; smaller decks are for tests and for training on a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from aleator.caching import cache
from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, check_cards
from aleator.games.holdem.equity import strengths_on_boards
from aleator.games.holdem.evaluator import (
    COLUMN_MASK,
    FLUSH_BITS,
    FLUSH_CELL,
    NO_CARDS,
    ROW_MASK,
    ROW_SHIFT,
    SUIT_SHIFT,
    evaluator_tables,
)

Tensor = torch.Tensor
RIVER_CARDS = 5


class Deck:
    """Some or all of the 52 cards on a device.

    Attributes:
        cards: [n] the cards, ascending; index in here is a card's *place*.
        hand_cards: [H, 2] places of each hand's cards, the higher first.
        device: where all tensors are.
    """

    def __init__(self, cards: Sequence[int] = tuple(range(NUM_CARDS)), *, device: torch.device | str = "cpu") -> None:
        ordered = sorted(int(card) for card in check_cards(cards))
        if len(ordered) < RIVER_CARDS + 4:
            raise SolveError(f"a deck needs at least {RIVER_CARDS + 4} cards, not {len(ordered)}")
        self.device = torch.device(device)
        self.cards = torch.tensor(ordered, device=self.device)
        high, low = np.tril_indices(len(ordered), -1)
        self.hand_cards = torch.tensor(np.stack([high, low], axis=1), device=self.device)

    @property
    def num_cards(self) -> int:
        """n."""
        return len(self.cards)

    @property
    def num_hands(self) -> int:
        """H."""
        return len(self.hand_cards)

    def random_boards(self, count: int, size: int, generator: torch.Generator) -> Tensor:
        """Returns [B, size]: places of distinct cards, drawn uniformly."""
        noise = torch.rand(count, self.num_cards, device=self.device, generator=generator)
        return noise.topk(size, dim=1).indices

    def blocked(self, boards: Tensor) -> Tensor:
        """Returns bool [B, H]: which hands hold a card of each board [B, size] of places."""
        on_board = torch.zeros(len(boards), self.num_cards, dtype=torch.bool, device=self.device)
        on_board.scatter_(1, boards, True)
        return on_board[:, self.hand_cards[:, 0]] | on_board[:, self.hand_cards[:, 1]]

    def strengths(self, boards: Tensor) -> Tensor:
        """Returns int32 [B, H]: each hand's strength on boards [B, 5] of places, 0..7461; -1 if the board blocks it."""
        if self.device.type == "cpu":
            cards = self.cards.numpy().astype(np.int8)
            strengths = np.empty((len(boards), self.num_hands), np.int16)
            strengths_on_boards(cards[boards.numpy()], cards[self.hand_cards.numpy()], evaluator_tables(), strengths)
            return torch.from_numpy(strengths).int()
        return self.strengths_by_tables(boards)

    def strengths_by_tables(self, boards: Tensor) -> Tensor:
        """Returns `strengths` by torch operations, for any device."""
        words, row, column, strength = evaluator_tensors(self.device)
        word, bit = words[self.cards], torch.ones_like(self.cards) << self.cards
        hands = word[self.hand_cards].sum(1), bit[self.hand_cards].sum(1)
        total = hands[0] + (word[boards].sum(1) + NO_CARDS)[:, None]
        taken = hands[1] + bit[boards].sum(1)[:, None]  # where a card comes twice numbers are clamped and not used
        high = ((total >> ROW_SHIFT) & ROW_MASK).clamp_max(len(row) - 1)
        plain = row[high] + column[(total & COLUMN_MASK).clamp_max(len(column) - 1)]
        flush = (total & FLUSH_BITS) >> (SUIT_SHIFT + 3)  # 0, 1, 16, 256 or 4096
        suit = (flush == 16) + 2 * (flush == 256) + 3 * (flush == 4096)
        ranks = sum(((taken >> (NUM_SUITS * rank + suit)) & 1) << rank for rank in range(NUM_RANKS))
        rows = strength[torch.where(flush > 0, FLUSH_CELL + ranks, plain).clamp(0, len(strength) - 1)]
        return torch.where(self.blocked(boards), -1, rows)


@cache
def evaluator_tensors(device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Returns the evaluator's tables (words, row, column, strength) on a device."""
    tables = evaluator_tables()
    words, row, column, strength = (torch.from_numpy(np.ascontiguousarray(table)).to(device) for table in tables)
    return words, row.long(), column.long(), strength.int()
