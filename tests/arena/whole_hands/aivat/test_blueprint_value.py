"""A blueprint as AIVAT's value: zero-sum shares, the mean over cards in one sum, and a file that `--value` takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.policy import BlueprintPolicy
from aleator.arena.whole_hands.aivat.blueprint_value import BlueprintValue
from aleator.arena.whole_hands.aivat.hand_value import EquityValue, HandValue, Situation, living_hands
from aleator.arena.whole_hands.match import HandMatch
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import parse_cards
from tests.abstraction.blueprint.small import whole_blueprint, whole_buckets

BOARD = np.array(parse_cards("As Kd 7h 4c 2s"), np.int8)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> BlueprintPolicy:
    return whole_blueprint(tmp_path_factory.mktemp("whole"), deals=20_000).blueprint.policy


@pytest.fixture(scope="module")
def value(policy: BlueprintPolicy) -> BlueprintValue:
    return BlueprintValue(policy, deals=100_000)


def some_reach(board: np.ndarray) -> FloatArray:
    return np.random.default_rng(1).random((2, 1326)) ** 2 * living_hands(board)


def situation(board: np.ndarray, behind: int = 19_000) -> Situation:
    return Situation(board, (1_000, 1_000), (behind, behind), 0)


@pytest.mark.parametrize("cards", [4, 5])
def test_shares_of_both_players_sum_to_one_and_are_not_the_equity(value: BlueprintValue, cards: int) -> None:
    reach, there = some_reach(BOARD[:cards]), situation(BOARD[:cards])
    shares, equities = ([] for _ in range(2))
    for player in (0, 1):
        for found, of in ((shares, value), (equities, EquityValue())):
            won, met = of.rows(there, player, reach)
            found.append(float(reach[player] @ won) / float(reach[player] @ met))
    assert sum(shares) == pytest.approx(1.0, abs=1e-6)
    assert abs(shares[0] - equities[0]) > 1e-3


@pytest.mark.parametrize("cards", [3, 4])
def test_the_share_before_a_card_is_the_mean_of_those_after_it(value: BlueprintValue, cards: int) -> None:
    """AIVAT is unbiased because of that."""
    reach, there = some_reach(BOARD[:cards]), situation(BOARD[:cards])
    assert value.mean_share(there, reach) == pytest.approx(HandValue.mean_share(value, there, reach), abs=1e-5)


def test_all_in_and_before_the_turn_it_is_the_equity(value: BlueprintValue) -> None:
    for there in (situation(BOARD[:4], 0), situation(BOARD[:3])):
        reach = some_reach(there.board)
        for ours, theirs in zip(value.rows(there, 1, reach), EquityValue().rows(there, 1, reach), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_match_takes_a_blueprint_as_its_value(policy: BlueprintPolicy, tmp_path: Path) -> None:
    match = HandMatch(game="hunl", agents=("always-call", "always-fold"), hands=2, value=str(policy.blueprint.path))
    whole_buckets().save(policy.blueprint.path.with_name("whole.bin"))
    assert isinstance(match.load_value(), BlueprintValue)
    with pytest.raises(AgentError, match="a value needs AIVAT over ranges"):
        HandMatch(game="hunl", agents=("always-call", "always-fold"), hands=2, value="some.file", aivat="raw")
