"""The last street played out by the agents' own answers: no luck is left on it, and no expectation changes."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.tight_aggressive import TightAggressive, TightAggressiveAgent
from aleator.arena.whole_hands.aivat.heads_up import RangeLuck
from aleator.arena.whole_hands.aivat.playout import Playout
from aleator.arena.whole_hands.play import PLAYOUT, RANGES, play_hands
from aleator.games.base import FloatArray
from aleator.games.holdem.hand_batch import HandBatch
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.variants import HUNL
from tests.arena.whole_hands.aivat.test_heads_up import follow
from tests.arena.whole_hands.small import NoisyAgent, ending, histories, reaches, value_of, weight_of


def scores(
    setup: HandSetup, ends: list[HandState], agents: tuple[HandAgent, HandAgent], max_decisions: int
) -> tuple[FloatArray, Playout]:
    """Returns AIVAT's score of each history of a setup, and the playout that was used."""
    boards = np.full((len(ends), 5), -1)
    for row, end in enumerate(ends):
        boards[row, : len(end.board)] = end.board
    hands = HandBatch.start(setup, np.full((len(ends), 2), -1), boards)
    playout = Playout(agents, np.tile([0, 1], (len(ends), 1)), max_decisions)
    return follow(RangeLuck(hands, playout=playout), hands, ends, agents), playout


@pytest.mark.parametrize("max_decisions", [500, 1])
def test_every_history_of_a_river_scores_the_value_of_the_game(max_decisions: int) -> None:
    setup, agents = ending("As 7d 9h Jc 4s"), (NoisyAgent("a"), NoisyAgent("b"))
    ends = list(histories(setup.start(), agents))
    reach = [reaches(end, agents) for end in ends]
    weights = np.array([weight_of(end, row) for end, row in zip(ends, reach, strict=True)])
    exact = sum(value_of(end, row) for end, row in zip(ends, reach, strict=True)) / weights.sum()
    found, playout = scores(setup, ends, agents, max_decisions)
    assert weights @ found / weights.sum() == pytest.approx(exact, abs=1e-8)
    if max_decisions == 1:  # too many decisions: the equity takes the place of the playout
        assert set(playout._worth.values()) == {None} and found.std() > 1.0
    else:
        np.testing.assert_allclose(found, exact, atol=1e-8)


def test_a_match_of_two_that_look_at_their_cards_scores_the_same_on_average() -> None:
    # 600 hands of a river, seed 3: |z| < 3 fails by chance in 0.3 % of seeds
    setup = HandSetup(rules=HUNL.rules, stacks=(9_000, 9_000), first_street=3, pot=600)
    agents: list[HandAgent] = [TightAggressiveAgent(), TightAggressiveAgent(TightAggressive(value_bet=0.5, bluff=0.05))]
    fair, won = [], []
    for start in range(0, 600, 200):
        played = play_hands(setup, agents, np.arange(start, start + 200), 3, aivat=PLAYOUT)
        fair.append(played.fair_winnings(0)), won.append(played.winnings(0))
    chips, clean = np.concatenate(won).reshape(-1, 2).mean(1), np.concatenate(fair).reshape(-1, 2).mean(1)
    apart = chips - clean
    assert abs(apart.mean()) < 3.0 * apart.std() / np.sqrt(len(apart))
    assert clean.std() < chips.std()


def test_a_match_of_two_that_solve_has_85_percent_less_deviation() -> None:
    agents = [load_hand_agent(f"river-perfect:iterations={iterations}") for iterations in (10, 30)]
    found = {}
    for mode in (RANGES, PLAYOUT):
        played = play_hands(HUNL.setup, agents, np.arange(24), 7, aivat=mode)
        fair = played.fair_winnings(0)
        assert fair is not None
        found[mode] = 1.0 - fair.reshape(-1, 2).mean(1).std() / played.winnings(0).reshape(-1, 2).mean(1).std()
    assert found[PLAYOUT] > 0.85 and found[PLAYOUT] > found[RANGES]
