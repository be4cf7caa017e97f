"""Kuhn and Leduc poker through the kernels of hold'em, and hold'em itself history by history."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import HANDS, format_cards, parse_card
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.spot import Rake, Spot, SpotError
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.engines.boards.engine import BoardEngine
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.solver import HoldemSolver, Quality, compatible_weight
from aleator.solvers.regret_rule import CFR_PLUS, DCFR

# Kuhn: three hands that share no card and beat each other; the same hand cannot be dealt twice. Antes of 1, one bet of
# 1.
KUHN = """
board = "2c 3d 7c 8d Tc"
pot = 2
stack = 1
oop = "AsAh,KsKh,QsQh"
ip = "AsAh,KsKh,QsQh"
[river.oop]
bet = ["all-in"]
[river.ip]
bet = ["all-in"]
"""

# Leduc: a card is a hand that holds it beside a card too low to count. The public card is one of these six, so that it
# takes one hand away and pairs with another. Antes of 1, bets of 2 before and 4 after it, one raise.
LEDUC_CARDS = ("Js", "Jh", "Qs", "Qh", "Ks", "Kh")
LEDUC_HANDS = "Js2c,Jh2d,Qs2h,Qh2s,Ks3c,Kh3d"
LEDUC = f"""
board = "As 9d 8c 6d"
pot = 2
stack = 100
max_raises = 2
oop = "{LEDUC_HANDS}"
ip = "{LEDUC_HANDS}"
[turn.oop]
bet = ["2c"]
raise = ["4c"]
[turn.ip]
bet = ["2c"]
raise = ["4c"]
[river.oop]
bet = ["4c"]
raise = ["8c"]
[river.ip]
bet = ["4c"]
raise = ["8c"]
"""


class LeducPlan(BoardPlan):
    """Deals the river from six cards, of which both hands leave four."""

    def __init__(self, spot: Spot) -> None:
        super().__init__(spot, isomorphism=False)
        allowed = [parse_card(card) for card in LEDUC_CARDS]
        self.boards[1] = [board for board in self.boards[1] if board.cards[-1] in allowed]
        river = self.forests[1]
        self.forests[1] = river._replace(
            fold_amount=river.fold_amount * np.float32(44 / 4), show_amount=river.show_amount * np.float32(44 / 4)
        )


def quality(engine: BoardEngine, plan: BoardPlan) -> Quality:
    deals = compatible_weight(plan.weights)
    values, best = ([float(engine.values(p, best=flag).sum()) / deals for p in (0, 1)] for flag in (False, True))
    return Quality(values=(values[0], values[1]), best=(best[0], best[1]))


def test_kuhn_poker_has_its_value_through_the_kernels_of_holdem() -> None:
    solver = HoldemSolver(parse_spot(KUHN), CFR_PLUS)
    assert solver.deals == 6 and solver.plan.num_nodes() == [9]
    assert 2 * solver.quality().exploitability == pytest.approx(11 / 12, abs=1e-6), "NashConv of the uniform policy"
    solver.run(2000)
    found = solver.quality()
    assert found.values[0] == pytest.approx(-1 / 18, abs=1e-3)
    assert 0 <= found.exploitability < 1e-3


def test_leduc_poker_has_its_value_through_the_kernels_of_holdem() -> None:
    plan = LeducPlan(parse_spot(LEDUC))
    engine = BoardEngine(plan)
    assert 2 * quality(engine, plan).exploitability == pytest.approx(4.747222, abs=1e-5), (
        "NashConv of the uniform policy"
    )
    engine.iterate(DCFR.schedule(1, 1000))
    found = quality(engine, plan)
    assert found.values[0] == pytest.approx(-0.085606, abs=1e-3)
    assert 2 * found.exploitability < 0.002


TOY = """
board = "3s 7h Td Ks"
pot = 10
stack = 25
oop = "AsAh,KhQh:0.5,9s8s,Ts9h:0.75"
ip = "KhKd,AsQs:0.3,7s6s,9s8s"
[turn.oop]
bet = ["50%"]
[turn.ip]
bet = ["100%"]
raise = ["all-in"]
[river.oop]
bet = ["all-in"]
[river.ip]
bet = ["60%"]
"""


class BruteForce:
    """A spot history by history: two hands, the river, and every sequence of actions."""

    def __init__(self, solver: HoldemSolver) -> None:
        self.solver, self.spot, plan = solver, solver.spot, solver.plan
        self.boards = [{board.cards: index for index, board in enumerate(street)} for street in plan.boards]
        self.root = plan.betting
        self.strengths = cache(lambda board: strengths(board).astype(int))
        self.policy = cache(self._policy)

    def _policy(self, key: int, board: tuple[int, ...], player: int, hand: int) -> np.ndarray:
        level = len(board) - len(self.spot.board)
        index = self.boards[level][board]
        block = self.solver.engine.read("policy_sum", level, index, int(self.solver.plan.slot[key]))
        rows = self.solver.plan.rows(player, self.solver.plan.boards[level][index]).tolist()
        row = block[:, rows.index(hand)].astype(np.float64)
        return row / row.sum() if row.sum() > 0 else np.full(len(row), 1 / len(row))

    def deals(self) -> list[tuple[int, int, float]]:
        weights = self.spot.weights()
        pairs = product(np.flatnonzero(weights[0]).tolist(), np.flatnonzero(weights[1]).tolist())
        return [(a, b, weights[0][a] * weights[1][b]) for a, b in pairs if not set(HANDS[a]) & set(HANDS[b])]

    def utility(self, node: BettingNode, board: tuple[int, ...], hands: tuple[int, int], player: int) -> float:
        half, pot = self.spot.pot / 2 + min(node.chips), self.spot.pot + 2 * min(node.chips)
        taken = self.spot.rake.amount(pot)
        if node.kind is NodeKind.FOLD:
            return -half if node.player == player else half - taken
        own, other = (self.strengths(board)[hands[p]] for p in (player, 1 - player))
        return half - taken if own > other else -half if own < other else -taken / 2

    def cards(self, board: tuple[int, ...], hands: tuple[int, int]) -> list[int]:
        return sorted(set(range(52)) - set(board) - {int(card) for hand in hands for card in HANDS[hand]})

    def value(self, node: BettingNode, board: tuple[int, ...], hands: tuple[int, int], player: int) -> float:
        """Returns what a player wins from one history on, when both follow their average policies."""
        if node.kind is NodeKind.DECISION:
            policy = self.policy(node.number, board, node.player, hands[node.player])
            return float(
                sum(p * self.value(c, board, hands, player) for p, c in zip(policy, node.children, strict=True))
            )
        if node.kind is NodeKind.NEXT_STREET:
            cards = self.cards(board, hands)
            return sum(self.value(node.children[0], (*board, c), hands, player) for c in cards) / len(cards)
        return self.utility(node, board, hands, player)

    def best(
        self, node: BettingNode, board: tuple[int, ...], hand: int, others: list[tuple[int, float]], p: int
    ) -> float:
        """Returns the most a hand can win against hands of the opponent, each with its probability of being here."""

        def pair(other: int) -> tuple[int, int]:
            return (hand, other) if p == 0 else (other, hand)

        if node.kind is NodeKind.DECISION and node.player == p:
            return max(self.best(child, board, hand, others, p) for child in node.children)
        if node.kind is NodeKind.DECISION:
            total = 0.0
            for action, child in enumerate(node.children):
                left = [(o, w * self.policy(node.number, board, 1 - p, o)[action]) for o, w in others]
                total += self.best(child, board, hand, left, p)
            return total
        if node.kind is NodeKind.NEXT_STREET:
            total = 0.0
            for card in set(range(52)) - set(board) - {int(c) for c in HANDS[hand]}:
                left = [(o, w / 44) for o, w in others if card not in HANDS[o]]
                total += self.best(node.children[0], (*board, card), hand, left, p)
            return total
        return sum(weight * self.utility(node, board, pair(other), p) for other, weight in others)


def assert_values_are_those_of_all_histories(spot: Spot, iterations: int) -> None:
    """Checks values and best responses of an average policy, to a 100,000th of the pot (float32 has 7 digits)."""
    solver = HoldemSolver(spot, isomorphism=False)
    solver.run(iterations)
    brute, found = BruteForce(solver), solver.quality()
    deals, close = brute.deals(), 1e-5 * (spot.pot + 2 * spot.stack)
    total = sum(weight for *_, weight in deals)
    for player in (0, 1):
        mean = sum(w * brute.value(brute.root, spot.board, (a, b), player) for a, b, w in deals) / total
        assert found.values[player] == pytest.approx(mean, abs=close)
        best = 0.0
        for hand in {deal[player] for deal in deals}:
            others = [(deal[1 - player], deal[2]) for deal in deals if deal[player] == hand]
            best += brute.best(brute.root, spot.board, hand, others, player) / total
        assert found.best[player] == pytest.approx(best, abs=close)
    assert found.exploitability >= -close


RAKES = [
    Rake(),
    Rake(rate=0.1, cap=2.0),
    Rake(rate=0.1),
    Rake(rate=0.75),
    Rake(rate=0.9),
    Rake(rate=0.999),
    Rake(rate=1.0),
]


@pytest.mark.parametrize("rake", RAKES, ids=str)
def test_values_and_best_responses_are_those_of_all_histories(rake: Rake) -> None:
    assert_values_are_those_of_all_histories(replace(parse_spot(TOY), rake=rake), iterations=7)


def test_weights_of_a_billionth_beside_one() -> None:
    ranges = ('oop = "AsAh:1e-9,KhQh,9s8s:1e-9"', 'ip = "JhJd,AdQd:1e-9,KcKd:1e-9"')
    text = TOY.replace('oop = "AsAh,KhQh:0.5,9s8s,Ts9h:0.75"', ranges[0])
    text = text.replace('ip = "KhKd,AsQs:0.3,7s6s,9s8s"', ranges[1])
    assert all(line in text for line in ranges)
    assert_values_are_those_of_all_histories(parse_spot(text), iterations=7)


def random_river(rng: np.random.Generator) -> Spot:
    """Returns a river with a few hands each, of any weights, any rake and some bets.

    Raises:
        SpotError: it cannot be played, or not be computed with.
    """
    cards = rng.permutation(52)[: rng.choice([10, 14, 30])]
    board, left = [int(card) for card in cards[:5]], cards[5:]

    def hand_range() -> str:
        hands = {tuple(sorted(rng.choice(left, 2, replace=False).tolist())) for _ in range(rng.integers(1, 6))}
        exponents = np.minimum(rng.uniform(-12, 12, len(hands)), 0.0) - rng.choice(
            [0.0, rng.uniform(0, 45)], p=[0.9, 0.1]
        )
        return ",".join(
            f"{format_cards(hand).replace(' ', '')}:{10**exponent:.60f}"
            for hand, exponent in zip(hands, exponents, strict=True)
        )

    rate = float(rng.choice([0.0, rng.random(), 1.0 - 10 ** -rng.uniform(0, 6), 1.0], p=[0.2, 0.5, 0.2, 0.1]))
    pot = int(10 ** rng.uniform(0, 6))
    menu = '[river.oop]\nbet = ["60%"]\n[river.ip]\nbet = ["all-in"]' if rng.random() < 0.5 else ""
    ranges = f'oop = "{hand_range()}"\nip = "{hand_range()}"'
    text = f'board = "{format_cards(board)}"\npot = {pot}\nstack = {pot * 2}\n{ranges}\n{menu}'
    cap = float(rng.choice([np.inf, pot * rng.random()]))
    return replace(parse_spot(text), rake=Rake(rate=rate, cap=cap))


def check_random_rivers(seeds: range) -> int:
    """Checks all rivers that are not refused; returns how many these are."""
    checked = 0
    for seed in seeds:
        try:
            spot = random_river(np.random.default_rng(seed))
        except SpotError:
            continue
        assert_values_are_those_of_all_histories(spot, iterations=1 + seed % 5)
        checked += 1
    return checked


def test_random_rakes_and_weights_are_computed_with_or_refused() -> None:
    assert 20 < check_random_rivers(range(60)) < 60


@pytest.mark.slow
def test_many_random_rakes_and_weights_are_computed_with_or_refused() -> None:
    assert 6_500 < check_random_rivers(range(20_000)) < 18_500
