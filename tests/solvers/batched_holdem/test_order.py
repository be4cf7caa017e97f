"""Orders of some hands against orders of all."""

from __future__ import annotations

import torch

from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.order import order_of, some_hands
from aleator.solvers.engines.batched_holdem.payoffs import RiverPayoffs

DECK = Deck(range(32, 52))


def test_payoffs_of_some_hands_are_those_of_all() -> None:
    generator = torch.Generator().manual_seed(3)
    boards = DECK.random_boards(6, 5, generator)
    wanted = torch.rand(DECK.num_hands, generator=generator) < 0.3
    reach = torch.rand(6, 2, DECK.num_hands, generator=generator, dtype=torch.float64) * wanted
    whole, part = order_of(DECK, boards), order_of(DECK, boards, wanted=wanted)
    assert part.num_hands < 0.5 * whole.num_hands and part.card_list.shape[2] < whole.card_list.shape[2]
    for name in ("showdown", "compatible"):
        found, expected = (
            order.unsort(getattr(RiverPayoffs(order), name)(order.sort(reach)), DECK.num_hands)
            for order in (part, whole)
        )
        there = wanted & ~DECK.blocked(boards)
        assert bool(there.any(1).all())
        torch.testing.assert_close(found * there[:, None], expected * there[:, None])


def test_boards_get_equally_many_hands_with_all_that_are_wanted() -> None:
    live = torch.tensor([[True, True, False, True], [False, True, True, True]])
    wanted = torch.tensor([True, False, True, True])
    found = some_hands(live, wanted)
    assert bool((found >= (live & wanted)).all()) and not bool((found & ~live).any())
    assert found.sum(1).tolist() == [2, 2]
    found = some_hands(live, torch.tensor([True, False, False, False]))
    assert found.sum(1).tolist() == [1, 1], "where none is left another stands in"
