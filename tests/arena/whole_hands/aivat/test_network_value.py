"""A network of the river as AIVAT's value: all cards in one batch, a zero-sum share, and no bias."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from aleator.arena.whole_hands.aivat.hand_value import EquityValue, HandValue, Situation, living_hands
from aleator.arena.whole_hands.aivat.network_value import NetworkValue
from aleator.arena.whole_hands.match import HandMatch, play_hand_match
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.spot import Spot
from aleator.solvers.holdem.solver import HoldemSolver

MODELS = Path(__file__).parents[4] / "models" / "holdem"
BOARD = np.array(parse_cards("As Kd 7h 4c 2s"), np.int8)


@pytest.fixture(scope="module")
def network() -> NetworkValue:
    return NetworkValue(MODELS / "river.safetensors")


def some_reach(board: np.ndarray) -> FloatArray:
    return np.random.default_rng(1).random((2, 1326)) ** 2 * living_hands(board)


def situation(board: np.ndarray, behind: int = 1800) -> Situation:
    return Situation(board, (300, 300), (behind, behind), 0)


def test_shares_of_both_players_sum_to_one(network: NetworkValue) -> None:
    reach = some_reach(BOARD)
    shares = []
    for player in (0, 1):
        won, met = network.rows(situation(BOARD), player, reach)
        shares.append(float(reach[player] @ won) / float(reach[player] @ met))
    assert sum(shares) == pytest.approx(1.0, abs=1e-3)


def test_it_knows_more_than_the_equity(network: NetworkValue) -> None:
    """Position: with all hands alike, the network is nearer to the solved value than the equity, which is one half."""
    spot = Spot(
        board=tuple(BOARD.tolist()), pot=600, stack=1800, oop="random", ip="random", min_bet=1,
        menu=BetMenu.uniform(bets=("50%", "100%", "all-in"), raises=("100%", "all-in"), max_raises=3),
    )  # fmt: skip
    solver = HoldemSolver(spot)
    solver.run(150)
    exact = 0.5 + solver.values()[0] / 600
    reach = np.stack([living_hands(BOARD)] * 2)
    won, met = network.rows(situation(BOARD), 0, reach)
    found = float(reach[0] @ won) / float(reach[0] @ met)
    assert exact < 0.49 and abs(found - exact) < 0.25 * abs(0.5 - exact)


def test_all_cards_at_once_are_the_mean_over_single_ones(network: NetworkValue) -> None:
    reach = some_reach(BOARD[:4])
    found = network.mean_share(situation(BOARD[:4]), reach)
    assert found == pytest.approx(HandValue.mean_share(network, situation(BOARD[:4]), reach), abs=1e-5)
    assert found != pytest.approx(EquityValue().mean_share(situation(BOARD[:4]), reach), abs=1e-5)


def test_nobody_can_bet_any_more(network: NetworkValue) -> None:
    reach = some_reach(BOARD)
    for mine, other in zip(
        network.rows(situation(BOARD, behind=0), 0, reach), EquityValue().rows(situation(BOARD), 0, reach), strict=True
    ):
        np.testing.assert_array_equal(mine, other)


def test_a_match_goes_by_it() -> None:
    # 12 hands, seed 2: |z| < 3 fails by chance in 0.3 % of seeds
    options = {"game": "turn-endgame", "agents": ("tight-aggressive", "always-call"), "hands": 12, "seed": 2}
    match = HandMatch(**options, value=str(MODELS / "river.safetensors"))  # type: ignore[arg-type]
    state = play_hand_match(match)
    assert state.mode == "playout"
    apart = (state.won[:, 0] - state.fair).reshape(-1, 2).mean(axis=1)
    assert abs(apart.mean()) < 3.0 * apart.std() / np.sqrt(len(apart))
    assert state.score().ci95 < state.raw().ci95


def test_errors() -> None:
    with pytest.raises(AgentError, match="AIVAT takes one of the river"):
        NetworkValue(MODELS / "turn.safetensors")
    with pytest.raises(AgentError, match="needs AIVAT over ranges"):
        HandMatch(game="hunl", agents=("random", "random"), hands=2, aivat="pairs", value="x")
