"""Pluribus' search: closed forms on the river, leaves that are worth what the blueprint makes of them, what is held."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.abstraction.ring.policy import RingPolicy
from aleator.games.holdem.betting import CALL, FOLD, BettingRules, BettingState, raise_to
from aleator.games.holdem.cards import blocked_hands, parse_cards, parse_hand
from aleator.search.pluribus.ring.arrays import Chances, Guide, Room
from aleator.search.pluribus.ring.search import RingTask, draw_chances, last_decisions, search_room, search_round
from aleator.search.pluribus.ring.tree import DECISION, END, LEAF, RoundTree, build_round
from aleator.search.pluribus.ring.walk import traverse
from tests.search.pluribus.ring.small import three_players_policy

FLOP, RIVER = parse_cards("Kh 7c 2s"), parse_cards("Kh 7c 2s 9d 3d")


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> RingPolicy:
    return three_players_policy(tmp_path_factory.mktemp("three"))


def beliefs(players: int, board: tuple[int, ...]) -> np.ndarray:
    return np.tile(np.where(blocked_hands(board), 0.0, 1.0), (players, 1))


def flop_of_two(policy: RingPolicy) -> BettingState:
    """The button raises and the big blind calls."""
    return policy.game.start().act(raise_to(350)).act(FOLD).act(CALL)


def test_a_polar_range_bluffs_half_as_often_as_it_has_the_nuts_and_is_called_half_of_the_time(
    policy: RingPolicy,
) -> None:
    """With a pot of 100 and 100 behind: thesis 2 and any textbook; the bet is the pot, so 1 bluff for 2 values."""
    start = BettingRules(small_blind=1, big_blind=2).start_on_street(3, pot=100, stacks=(100, 100))
    held = np.zeros((2, 1326))
    nuts, air, catcher = (parse_hand(hand) for hand in ("KsKd", "5h4h", "AdAh"))
    held[0, [nuts, air]] = 1.0
    held[1, catcher] = 1.0
    task = RingTask(start=start, board=RIVER, played=(), beliefs=held, guide=None, held={})
    found = search_round(task, policy, iterations=6000)
    first = found.average(0)
    bet = raise_to(100)
    assert first[bet][nuts] > 0.97
    assert abs(first[bet][air] - 0.5) < 0.05
    after = found.average(found.tree.child(0, bet))
    assert abs(after[CALL][catcher] - 0.5) < 0.05
    assert found.average(found.tree.child(0, CALL))[CALL][catcher] > 0.9  # who only catches bluffs checks


def test_what_the_searcher_did_is_held_and_what_the_menu_lacks_is_added(policy: RingPolicy) -> None:
    start, played = flop_of_two(policy), (CALL, raise_to(333), raise_to(1111))
    checks = np.linspace(0.1, 0.9, 1326)
    held = {(): {CALL: checks, raise_to(750): 1.0 - checks}}
    task = RingTask(start=start, board=FLOP, played=played, beliefs=beliefs(3, FLOP), guide=None, held=held)
    found = search_round(task, policy, iterations=20, boards=10)
    assert raise_to(333) in found.tree.actions[found.tree.path[1]]
    assert raise_to(1111) in found.tree.actions[found.tree.path[2]]
    assert len(found.tree.path) == 4
    alive = ~blocked_hands(FLOP)
    np.testing.assert_allclose(found.average(0)[CALL][alive], checks[alive], atol=1e-5)
    for rows in (found.played(), found.average(found.tree.path[2])):
        np.testing.assert_allclose(sum(rows.values()), 1.0, atol=1e-5)


def test_a_bet_that_nobody_makes_is_answered_all_the_same(policy: RingPolicy) -> None:
    """A weak hand bets ten pots into a range that beats it: traversals from the start hardly ever come there."""
    start = BettingRules(small_blind=1, big_blind=2).start_on_street(3, pot=100, stacks=(1000, 1000))
    held = np.zeros((2, 1326))
    air, better, worse = (parse_hand(hand) for hand in ("QhJh", "AdAh", "6h4c"))
    held[0, air] = 1.0
    held[1, better] = held[1, worse] = 1.0
    task = RingTask(start=start, board=RIVER, played=(raise_to(937),), beliefs=held, guide=None, held={})
    found = search_round(task, policy, iterations=400)
    assert found.average(0)[raise_to(937)][air] < 0.1
    assert found.played()[CALL][better] + found.played().get(raise_to(1000), held[0])[better] > 0.99
    assert found.played()[FOLD][worse] > 0.99


def test_rounds_of_three_end_in_leaves_and_large_ones_have_a_smaller_menu(policy: RingPolicy) -> None:
    start = policy.game.start().act(raise_to(350)).act(CALL).act(CALL)
    whole = build_round(start, (), policy, None, 1176, most=400)
    small = build_round(start, (), policy, None, 1176, most=20)
    assert len(small.actions) < len(whole.actions)
    leaves = whole.arrays.kind == LEAF
    many = np.array([int(live).bit_count() for live in whole.arrays.live])
    assert (whole.arrays.guide[leaves & (many == 2)] >= 0).all()
    assert (whole.arrays.guide[many == 3] == -1).all()
    assert leaves[many == 3].any()


def test_who_comes_after_a_limp_may_limp_too(policy: RingPolicy) -> None:
    tree = build_round(policy.game.start(), (CALL,), policy, 0, 169, most=400)
    limped = tree.child(0, CALL)
    assert [action.kind for action in tree.actions[limped]][:2] == [FOLD.kind, CALL.kind]
    assert CALL not in build_round(policy.game.start(), (), policy, 0, 169, most=400).actions[0]


def setting(
    policy: RingPolicy, tree: RoundTree, start: BettingState, board: tuple[int, ...]
) -> tuple[Guide, Chances, Room]:
    task = RingTask(start=start, board=board, played=(), beliefs=beliefs(3, board), guide=None, held={})
    hands = np.flatnonzero(~blocked_hands(board))
    chances = draw_chances(task, policy, hands, 1, 3)
    guide = Guide(policy.betting.arrays, policy.probabilities, policy.kinds, policy.counts, float(policy.betting.stack))
    return guide, chances, search_room(tree, policy, len(hands))


def pay(live: int, board: int, paid: float, pot: float, hand: int, other: int, chances: Chances) -> float:
    """What player 1 wins with a hand against player 2's."""
    if not live >> 1 & 1:
        return -paid
    mine, theirs = chances.strengths[board, hand], chances.strengths[board, other] if live >> 2 & 1 else -1
    return pot - paid if mine > theirs else pot / 2 - paid if mine == theirs else -paid


def played_out(
    guide: Guide, chances: Chances, tree: RoundTree, node: int, below: int, board: int, hand: int, other: int,
    own: int, theirs: int,
) -> float:  # fmt: skip
    """What player 1 expects below a leaf, by recursion, if both have chosen their continuations."""
    betting, arrays = guide.betting, tree.arrays
    if below < 0:
        end = -1 - below
        more = [0.0, 0.0, 0.0]
        for player in (1, 2):
            there = float(betting.paid[end, player])
            scaled = min((there - arrays.guide_paid[node]) * arrays.scale[node], arrays.behind[node])
            more[player] = float(arrays.behind[node] if there >= guide.stack else scaled)
        paid = float(arrays.paid[node, 1]) + more[1]
        return pay(int(betting.live[end]), board, paid, float(arrays.pot[node]) + sum(more), hand, other, chances)
    player, street = int(betting.player[below]), int(betting.street[below])
    edges = range(betting.first[below], betting.first[below + 1])
    held, choice = (hand, own) if player == 1 else (other, theirs)
    at = betting.row[below] + len(edges) * chances.numbers[board, street, held]
    row = guide.probabilities[at : at + len(edges)].astype(np.float64)
    row *= [5.0 if guide.kinds[edge] + 1 == choice else 1.0 for edge in edges]
    row /= row.sum()
    rest = (board, hand, other, own, theirs)
    values = [played_out(guide, chances, tree, node, int(betting.target[edge]), *rest) for edge in edges]
    return float(row @ values)


@pytest.mark.parametrize(("street", "columns"), [(0, 169), (1, 1176)])
def test_traversals_equal_a_recursion_on_average(policy: RingPolicy, street: int, columns: int) -> None:
    """The values at the start of a search with leaves, for pure policies in the round; n = 3,000, |z| < 4.5."""
    start = flop_of_two(policy) if street else policy.game.start().act(raise_to(900)).act(FOLD)
    tree = build_round(start, (), policy, None, columns, most=400)
    guide, chances, room = setting(policy, tree, start, FLOP if street else ())
    assert chances.columns == columns
    assert (tree.arrays.guide >= 0).any()
    rng = np.random.default_rng(5)
    regrets = np.zeros(tree.size, np.float32)
    choices: dict[tuple[int, int], int] = {}
    for node, actions in enumerate(tree.actions):  # everybody has one action, or continuation, everywhere
        blocks = [(int(tree.arrays.row[node]), len(actions), -1)] if actions else []
        blocks += [(int(at), 4, player) for player, at in enumerate(tree.arrays.choice[node]) if at >= 0]
        for at, count, player in blocks:
            chosen = int(rng.integers(count))
            choices[node, player] = chosen
            regrets[at + chosen * columns : at + (chosen + 1) * columns] = 1.0
    other = 700
    room.hands[2] = other
    alive = (chances.masks & (chances.masks[other] | chances.boards[0])) == 0
    room.alive[:] = alive

    def expected(node: int, hand: int) -> float:
        arrays = tree.arrays
        if arrays.kind[node] == END or not arrays.live[node] >> 1 & 1:
            return pay(
                int(arrays.live[node]), 0, float(arrays.paid[node, 1]), float(arrays.pot[node]), hand, other, chances
            )
        if arrays.kind[node] == DECISION:
            return expected(int(arrays.child[arrays.first[node] + choices[node, -1]]), hand)
        below, own, theirs = int(arrays.guide[node]), choices[node, 1], choices[node, 2]
        return played_out(guide, chances, tree, node, below, 0, hand, other, own, theirs)

    never = np.full(len(tree.actions), -1, np.int64)
    fixed = np.zeros(1, np.float32)
    found = np.zeros((3000, len(chances.masks)))
    for number in range(len(found)):
        state = np.uint64(7919 * number + 1)
        traverse(state, 1, 0, 0, tree.arrays, guide, chances, fixed, never, regrets.copy(), room)
        found[number] = room.values[0]
    assert (found[:, ~alive] == 0.0).all()
    for hand in rng.choice(np.flatnonzero(alive), 12, replace=False):
        error = found[:, hand].std() / np.sqrt(len(found))
        assert abs(found[:, hand].mean() - expected(0, int(hand))) <= 4.5 * error + 1e-3


def test_the_last_decision_of_the_same_player_is_found(policy: RingPolicy) -> None:
    tree = build_round(flop_of_two(policy), (), policy, None, 1176, most=400)
    before = last_decisions(tree)
    assert before[0].tolist() == [-1, -1]
    raised = tree.child(tree.child(0, CALL), raise_to(750))
    assert tree.arrays.player[raised] == tree.arrays.player[0]
    assert before[raised].tolist() == [0, tree.actions[0].index(CALL)]
