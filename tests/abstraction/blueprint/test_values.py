"""Values of a blueprint against sums over dealt hands, and on real boards against sums over the next card."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.chances import MOST_NUMBERS
from aleator.abstraction.blueprint.deals import deal_hand, deal_room, deal_tables
from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.policy import BlueprintPolicy
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.blueprint.values import BIAS, CONTINUATIONS, BlueprintValues
from aleator.abstraction.buckets import AbstractionError, Buckets
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import ACTION_KINDS, NodeKind
from aleator.games.holdem.cards import NUM_CARDS, parse_cards, parse_hand
from aleator.solvers.engines.sampling.random import stream
from tests.abstraction.blueprint.small import GAME, small_buckets, whole_blueprint


@pytest.fixture(scope="module")
def flop_values(tmp_path_factory: pytest.TempPathFactory) -> BlueprintValues:
    folder, buckets = tmp_path_factory.mktemp("values"), small_buckets()
    trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=20_000), buckets, folder / "small.bin")
    trainer.run(deals=100_000)
    trainer.save(folder / "small.blueprint")
    return BlueprintValues(BlueprintPolicy(Blueprint(folder / "small.blueprint"), buckets), deals=400_000)


@pytest.fixture(scope="module")
def whole_values(tmp_path_factory: pytest.TempPathFactory) -> BlueprintValues:
    agent = whole_blueprint(tmp_path_factory.mktemp("whole"), deals=20_000)
    return BlueprintValues(agent.blueprint.policy, deals=100_000)


def dealt(buckets: Buckets, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns what both players know on each street of some deals, [N, 2, 4], and who wins a showdown, [N]."""
    tables, room = deal_tables(buckets), deal_room()
    numbers, winners = np.zeros((count, 2, 4), np.int64), np.zeros(count)
    for deal in range(count):
        _, winners[deal] = deal_hand(np.uint64(stream(np.uint64(99), deal, 1, 0)), tables, room)
        numbers[deal] = room.numbers
    return numbers, winners


def won(values: BlueprintValues, node: int, numbers: np.ndarray, winners: np.ndarray, towards: object) -> FloatArray:
    """Returns what player 0 wins from a node on in each deal, [N], if player 1's policy is biased."""
    tree = values.tree
    if tree.kind[node] == NodeKind.FOLD:
        loser = int(tree.player[node])
        return np.full(len(winners), float(tree.chips[node, loser]) * (1.0 if loser else -1.0))
    if tree.kind[node] == NodeKind.SHOWDOWN:
        return winners * float(tree.chips[node].min())
    if tree.kind[node] == NodeKind.NEXT_STREET:
        return won(values, node + 1, numbers, winners, towards)
    player, children = int(tree.player[node]), tree.children(node)
    policy = values.policy.at(node)[numbers[:, player, tree.street[node]]]
    calls = [ACTION_KINDS[tree.action[child]] for child in children].index(CONTINUATIONS[2])
    policy[policy.sum(axis=1) <= 0.0, calls] = 1.0
    if player == 1:
        policy = policy * [BIAS if ACTION_KINDS[tree.action[child]] is towards else 1.0 for child in children]
    policy = policy / policy.sum(axis=1, keepdims=True)
    return sum(policy[:, a] * won(values, child, numbers, winners, towards) for a, child in enumerate(children))


def test_values_are_means_over_dealt_hands_for_every_continuation(flop_values: BlueprintValues) -> None:
    numbers, winners = dealt(flop_values.policy.buckets, 20_000)
    tree = flop_values.tree
    flops = [node for node in range(tree.num_nodes) if tree.street[node] == 1 and tree.street[tree.parent[node]] == 0]
    starts = [node for node in flops if tree.kind[node] == NodeKind.DECISION]
    assert len(starts) > 2
    for node in (0, *starts):
        street, stake = int(tree.street[node]), float(tree.chips[node].min())
        matrices = flop_values.of_node(node, 1)
        means = []
        for continuation, towards in enumerate(CONTINUATIONS):
            expected = won(flop_values, node, numbers, winners, towards)
            ours = matrices[continuation][numbers[:, 0, street], numbers[:, 1, street]]
            error = 4.0 * expected.std() / np.sqrt(len(expected))  # z = 4, fixed deals
            bias = 0.05 * stake if street == 0 else 0.0  # both numbers are taken to move on their own
            assert abs(float(ours.mean() - expected.mean())) < error + bias, (node, towards)
            means.append(float(expected.mean()))
        assert max(means) - min(means) > 0.01 * stake  # biases matter
        np.testing.assert_allclose(flop_values.of_node(node)[0], matrices[0], rtol=1e-4, atol=1e-3)


def test_a_pair_of_hands_has_the_mean_over_the_next_card(whole_values: BlueprintValues) -> None:
    tree, board = whole_values.tree, tuple(parse_cards("Ah 7c 2d"))
    node = next(n for n in range(tree.num_nodes) if tree.street[n] == 2 and tree.kind[n] == NodeKind.DECISION)
    numbers = whole_values.board_numbers(board)
    values, by_number = whole_values.on_board(node, numbers, 0), whole_values.of_node(node, 0)
    place = {int(hand): row for row, hand in enumerate(numbers.hands)}
    for first, second in (("KsKh", "7d6d"), ("AsAc", "2s2h"), ("9h8h", "JdTd")):
        one, two = parse_hand(first), parse_hand(second)
        taken = {*board, *parse_cards(first), *parse_cards(second)}
        cards = [card for card in range(NUM_CARDS) if card not in taken]
        seen = [whole_values.policy.buckets.numbers((*board, card)) for card in cards]
        mean = np.mean([by_number[:, row[one], row[two]] for row in seen], axis=0)
        np.testing.assert_allclose(values[:, place[one], place[two]], mean, rtol=1e-4)
    assert not values[:, place[parse_hand("KsKh")], place[parse_hand("KsQs")]].any()


def test_what_one_player_wins_the_other_loses(whole_values: BlueprintValues) -> None:
    tree, board = whole_values.tree, tuple(parse_cards("Ah 7c 2d Ks"))
    node = next(n for n in range(tree.num_nodes) if tree.street[n] == 2 and tree.kind[n] == NodeKind.DECISION)
    reach = np.random.default_rng(0).uniform(size=(2, 1326))
    cfvs = whole_values.cfvs(node, board, reach)
    assert not cfvs[:, parse_hand("AhQh")].any()
    first, second = (float(reach[player] @ cfvs[player]) for player in (0, 1))
    assert abs(first) > 1.0
    np.testing.assert_allclose(first, -second, rtol=1e-6)


def test_too_many_numbers_for_matrices_are_refused(tmp_path: Path) -> None:
    buckets = small_buckets(20, perfect_recall=True)
    trainer = BlueprintTrainer(BlueprintConfig.of(GAME, period=100), buckets, tmp_path / "b.bin")
    trainer.save(tmp_path / "b.blueprint")
    values = BlueprintValues(BlueprintPolicy(Blueprint(tmp_path / "b.blueprint"), buckets), deals=10)
    with pytest.raises(
        AbstractionError, match=f"at most {MOST_NUMBERS:,} numbers on a street: these buckets have 3,380"
    ):
        values.of_node(0)
