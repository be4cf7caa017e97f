"""The plain engine against a recursion over single hands and against the exact solver of boards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from aleator.errors import SolveError
from aleator.games.holdem.bet_menu import BetMenu, PlayerSizes, parse_sizes
from aleator.games.holdem.spot import Spot
from aleator.solvers.algorithms import NAMED_RULES, parse_rule
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.order import order_of
from aleator.solvers.engines.batched_holdem.payoffs import PairPayoffs, RiverPayoffs
from aleator.solvers.engines.batched_holdem.plain import PlainEngine, leaf_pots
from aleator.solvers.engines.batched_holdem.shapes import FOLD, LEAF, BettingShape, PotMenu, betting_of
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.regret_rule import CFR, DCFR, RegretRule

TINY = Deck(range(40, 52))  # Q, K and A: 7 cards and 21 hands beside the board


def rivers(count: int, seed: int = 0) -> tuple[Deck, torch.Tensor, torch.Tensor]:
    """Returns the tiny deck, random boards and random beliefs over positions."""
    generator = torch.Generator().manual_seed(seed)
    boards = TINY.random_boards(50, 5, generator)
    ties = [len(set(row)) for row in TINY.strengths(boards).tolist()]
    boards = boards[
        sorted(range(50), key=lambda board: -ties[board])[:count]
    ]  # where rounding seldom decides between equal actions
    reach = torch.rand(count, 2, 21, generator=generator, dtype=torch.float64)
    return TINY, boards, reach / reach.sum(-1, keepdim=True)


Gains = dict[tuple[int, int], list[float]]


class SingleHands:
    """CFR on one river, hand by hand: regrets in dictionaries, payoffs by comparing two hands."""

    def __init__(
        self,
        shape: BettingShape,
        stakes: list[float],
        reach: list[list[float]],
        strength: list[int],
        cards: list[set[int]],
    ) -> None:
        self.shape, self.stakes, self.reach, self.strength, self.cards = shape, stakes, reach, strength, cards
        self.regret = {(n, h): [0.0] * len(shape.children[n]) for n in shape.decisions for h in range(len(strength))}

    def policy(self, node: int, hand: int) -> list[float]:
        positive = [max(x, 0.0) for x in self.regret[node, hand]]
        return [x / sum(positive) for x in positive] if sum(positive) else [1 / len(positive)] * len(positive)

    def value(
        self, node: int, player: int, hand: int, others: dict[int, float], gains: dict[tuple[int, int], list[float]]
    ) -> float:
        shape = self.shape
        if not shape.children[node]:
            total = 0.0
            for other, reach in others.items():
                if not self.cards[hand] & self.cards[other]:
                    sign = float(np.sign(self.strength[hand] - self.strength[other]))
                    if shape.kind[node] == FOLD:
                        sign = -1.0 if shape.player[node] == player else 1.0
                    total += sign * reach
            return total * self.stakes[shape.stake[node]]
        if shape.player[node] != player:
            policies = {other: self.policy(node, other) for other in others}
            return sum(
                self.value(child, player, hand, {o: r * policies[o][place] for o, r in others.items()}, gains)
                for place, child in enumerate(shape.children[node])
            )
        values = [self.value(child, player, hand, others, gains) for child in shape.children[node]]
        mean = sum(p * v for p, v in zip(self.policy(node, hand), values, strict=True))
        gains[node, hand] = [v - mean for v in values]
        return mean

    def iterate(self, rule: RegretRule, t: int) -> list[list[float]]:
        """Returns both players' cfvs at the root."""
        positive, negative, _, floor, _ = rule.schedule(t, 1)[0]
        found, gains = [], []
        for player in (0, 1):
            new: dict[tuple[int, int], list[float]] = {}
            others = dict(enumerate(self.reach[1 - player]))
            found.append([self.value(0, player, hand, others, new) for hand in range(len(self.strength))])
            gains.append(new)
            if rule.alternating:
                self.add(gains.pop(), positive, negative, floor)
        for new in gains:
            self.add(new, positive, negative, floor)
        return found

    def add(self, gains: dict[tuple[int, int], list[float]], positive: float, negative: float, floor: float) -> None:
        for key, new in gains.items():
            old = self.regret[key]
            self.regret[key] = [
                max(floor, r * (positive if r > 0 else negative) + g) for r, g in zip(old, new, strict=True)
            ]


@pytest.mark.parametrize("rule", ["dcfr", "lcfr", "dcfr+", "dcfr/simultaneous"])
def test_equals_a_recursion_over_single_hands(rule: str) -> None:
    deck, boards, reach = rivers(2)
    order = order_of(deck, boards)
    betting = PotMenu(bets=(0.5,), most=1).betting(2.0)
    stakes = torch.tensor(betting.stakes([2.0, 1.3]))
    engine = PlainEngine(betting.shape, stakes, reach, RiverPayoffs(order), parse_rule(rule))
    strength = deck.strengths(boards).gather(1, order.hand)
    single = [
        SingleHands(
            betting.shape, stakes[game].tolist(), reach[game].tolist(), strength[game].tolist(),
            [set(cards) for cards in deck.hand_cards[order.hand[game]].tolist()],
        )
        for game in (0, 1)
    ]  # fmt: skip
    generator = torch.Generator().manual_seed(1)
    for t in (1, 2, 7):  # from random regrets: where a line is never taken, rounding would decide between equal actions
        engine.iteration, engine._weight = t - 1, 0.0
        engine._values.zero_()
        engine.regrets.copy_(torch.rand(engine.regrets.shape, generator=generator, dtype=torch.float64) - 0.2)
        for number, game in enumerate(single):
            for node, hand in game.regret:
                game.regret[node, hand] = engine.regrets[number, betting.shape.rows(node), hand].tolist()
        engine.run(1)
        expected = torch.tensor([game.iterate(parse_rule(rule), t) for game in single], dtype=torch.float64)
        torch.testing.assert_close(engine.values(), expected, atol=1e-12, rtol=1e-9)
        for number, game in enumerate(single):
            for (node, hand), regret in game.regret.items():
                assert engine.regrets[number, betting.shape.rows(node), hand].tolist() == pytest.approx(
                    regret, abs=1e-12
                )


def test_iterates_equal_those_of_the_exact_solver() -> None:
    sizes = PlayerSizes(
        bets=parse_sizes(["50%", "100%", "all-in"], is_raise=False), raises=parse_sizes(["100%", "all-in"])
    )
    spot = Spot(
        board=(3, 17, 22, 40, 45), pot=1000, stack=6000, oop="random", ip="random", menu=BetMenu(river=(sizes, sizes))
    )
    exact = HoldemSolver(spot, DCFR)
    shape, stakes = betting_of(spot.build_tree(), spot.pot)
    deck = Deck()
    order = order_of(deck, torch.tensor([spot.board]))
    reach = order.sort(torch.tensor(spot.weights())[None])
    engine = PlainEngine(shape, torch.tensor(stakes)[None], reach, RiverPayoffs(order), DCFR, averages=True)
    engine.run(5)
    exact.run(5)
    averages = engine.average_policies()
    found = order.unsort(torch.stack([engine.cfvs(averages, player)[0] for player in (0, 1)], 1), 1326)[0].numpy()
    expected = exact.root_cfvs() / spot.pot
    assert np.abs(found - expected).max() < 2e-5 * np.abs(expected).max()
    assert float(engine.exploitability(averages)) == pytest.approx(exact.exploitability() / spot.pot, rel=1e-4)


def test_values_equal_those_of_the_exact_solver_on_uneven_ranges() -> None:
    sizes = PlayerSizes(bets=parse_sizes(["100%", "all-in"], is_raise=False), raises=parse_sizes(["100%", "all-in"]))
    spot = Spot(
        board=(0, 5, 22, 23, 49), pot=200, stack=300, oop="22+,A2s+", ip="random", menu=BetMenu(river=(sizes, sizes))
    )
    exact = HoldemSolver(spot)
    exact.run(400)
    shape, stakes = betting_of(spot.build_tree(), spot.pot)
    order = order_of(Deck(), torch.tensor([spot.board]))
    reach = order.sort(torch.tensor(spot.weights())[None])
    rule = parse_rule("sharp-dcfr+")
    for other in (rule, replace(rule, alternating=False)):
        engine = PlainEngine(shape, torch.tensor(stakes)[None], reach, RiverPayoffs(order), other, averages=True)
        engine.run(400)
        limit = exact.exploitability() / spot.pot + float(engine.exploitability(engine.average_policies()))
        assert limit < 0.01
        quality = exact.quality().values[0] / spot.pot
        value = float((reach[:, 0] * engine.values()[:, 0]).sum()) / exact.deals
        assert value == pytest.approx(quality, abs=limit)


def test_every_rule_lowers_the_exploitability_tenfold() -> None:
    deck, boards, reach = rivers(3)
    order = order_of(deck, boards)
    betting = PotMenu().betting(6.0)
    stakes = torch.tensor(betting.stakes([6.0, 5.0, 4.5]))
    for name, rule in NAMED_RULES.items():
        if rule.optimistic or rule.minimiser == "hedge":
            with pytest.raises(SolveError, match="without predictions"):
                PlainEngine(betting.shape, stakes, reach, RiverPayoffs(order), rule)
            continue
        engine = PlainEngine(betting.shape, stakes, reach, RiverPayoffs(order), rule, averages=True)
        before = engine.exploitability(engine.current_policies())
        engine.run(120)
        after = engine.exploitability(engine.average_policies())
        assert bool((after >= -1e-12).all()) and bool((after < before / 10).all()), name


def test_leaves_are_priced_under_both_players_reach() -> None:
    """With the showdowns of a river at its leaves a round before a card is that river."""
    deck, boards, reach = rivers(2)
    order = order_of(deck, boards)
    payoffs = RiverPayoffs(order)
    stacks = torch.tensor([2.0, 3.0], dtype=torch.float64)
    river, before = (PotMenu(most=1, to_showdown=end).betting(2.0) for end in (True, False))
    stakes = torch.tensor(river.stakes(stacks.numpy()))
    assert LEAF in before.shape.kind and LEAF not in river.shape.kind
    pots, left = leaf_pots(before.shape, stakes, stacks)
    assert torch.allclose(pots * (left + 0.5), 0.5 + stacks[:, None].expand_as(pots))
    calls = []

    def check_down(rows: torch.Tensor) -> torch.Tensor:
        calls.append(rows.shape)
        both = [payoffs.showdown(rows[:, :, 1 - player]) for player in (0, 1)]
        return torch.stack(both, 2) * pots[:, :, None, None] / 2

    for rule in (DCFR, replace(CFR, alternating=False)):
        calls.clear()
        exact = PlainEngine(river.shape, stakes, reach, payoffs, rule)
        engine = PlainEngine(before.shape, stakes, reach, payoffs, rule, leaf_cfvs=check_down)
        exact.run(6)
        engine.run(6)
        assert len(calls) == (12 if rule.alternating else 6) and calls[0] == (2, len(before.shape.leaves), 2, 21)
        torch.testing.assert_close(engine.values(), exact.values(), atol=1e-12, rtol=1e-9)


def test_leaves_that_nothing_prices_are_refused() -> None:
    pairs = PairPayoffs(12, torch.device("cpu"))
    betting = PotMenu(to_showdown=False).betting(2.0)
    with pytest.raises(SolveError, match="leaves, which nothing prices"):
        PlainEngine(betting.shape, torch.tensor(betting.stakes([2.0])), torch.ones(1, 2, 66), pairs, DCFR)
    with pytest.raises(SolveError, match="stakes must be"):
        PlainEngine(PotMenu().betting(2.0).shape, torch.ones(1, 1), torch.ones(1, 2, 66), pairs, DCFR)
