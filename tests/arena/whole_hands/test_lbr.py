from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.arena.whole_hands.aivat.heads_up import RangeLuck
from aleator.arena.whole_hands.lbr import MENUS, LocalBestResponse, parse_menu, parse_rounds
from aleator.arena.whole_hands.play import RANGES, play_hands
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_batch import NO_CODE, HandBatch, code_action
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.variants import HUNL
from tests.arena.whole_hands.small import COMPATIBLE, NoisyAgent, alive, ending


def response_values(
    state: HandState, own: int, reach: FloatArray, opponent: NoisyAgent, lbr: LocalBestResponse, *, best: bool
) -> FloatArray:
    """Returns what each hand wins on a river, ``[1326]``, times the opponent's reach: best response or LBR's play."""
    betting = state.betting
    if state.is_over:
        paid = betting.contributions
        if not state.is_showdown:
            won = -paid[own] if betting.folded[own] else paid[1 - own] + betting.dead
            return np.asarray(won * (COMPATIBLE @ reach))
        strong = strengths(state.board).astype(np.int64)
        share = 0.5 + 0.5 * np.sign(strong[:, None] - strong[None, :])
        return np.asarray((COMPATIBLE * (share * betting.pot - paid[own])) @ reach)
    if state.player != own:
        policy = opponent.policy_at(state)
        return np.sum(
            [
                response_values(state.act(action), own, reach * chances, opponent, lbr, best=best)
                for action, chances in zip(policy.actions, policy.probabilities, strict=True)
            ],
            axis=0,
        )
    hands = HandBatch.of_states([state])
    luck = RangeLuck(hands)
    luck.reach[0, 1 - own], luck.is_uniform[0, 1 - own] = reach, False
    answer = lbr.respond(hands, np.array([0]), luck)
    considered = np.flatnonzero(answer.codes[0] != NO_CODE)
    values = np.stack(
        [
            response_values(state.act(code_action(int(answer.codes[0, a]))), own, reach, opponent, lbr, best=best)
            for a in considered
        ]
    )
    return values.max(axis=0) if best else (values * answer.probabilities[0, considered]).sum(axis=0)


@pytest.mark.parametrize("menu", ["fc", "fcpa"])
@pytest.mark.parametrize("own", [0, 1])
def test_it_is_a_lower_bound_of_the_best_response(menu: str, own: int) -> None:
    setup: HandSetup = ending("As 7d 9h Jc 4s")
    opponent = NoisyAgent("b")
    lbr = LocalBestResponse(opponent, MENUS[menu])
    reach = alive(setup.board)
    found = response_values(setup.start(), own, reach, opponent, lbr, best=False) * alive(setup.board)
    best = response_values(setup.start(), own, reach, opponent, lbr, best=True) * alive(setup.board)
    assert (found <= best + 1e-9).all()
    met = COMPATIBLE @ reach
    living = alive(setup.board) > 0
    assert (
        50 < (found[living] / met[living]).mean() <= (best[living] / met[living]).mean()
    )  # more than its half of the pot
    assert ((best - found).max() > 0.0) == (menu == "fcpa" and own == 0)  # who acts last sees enough


def score(agent: str, menu: str, rounds: str, hands: int, seed: int = 1) -> tuple[float, float]:
    """Returns big blinds a hand and half the 95 % interval."""
    opponent = load_hand_agent(agent)
    lbr = LocalBestResponse(opponent, parse_menu(menu), parse_rounds(rounds))
    played = play_hands(HUNL.setup, [lbr, opponent], np.arange(hands), seed, aivat=RANGES, hands_per_board=16)
    fair = played.fair_winnings(0)
    assert fair is not None
    boards = fair.reshape(-1, 32).mean(axis=1) / 100
    return float(boards.mean()), float(1.96 * boards.std(ddof=1) / np.sqrt(len(boards)))


def test_always_fold_loses_exactly_what_it_must() -> None:
    assert score("always-fold", "fcpa", "3-4", 64) == (0.75, 0.0)
    mean, interval = score("always-fold", "fc", "3-4", 64)
    assert mean == pytest.approx(0.25, abs=1e-12) and interval < 1e-12


def test_always_call_loses_what_the_paper_says() -> None:
    mean, interval = score("always-call", "fcpa", "3-4", 1_280)
    assert abs(mean - 49.0) < 0.4 + interval  # Lisý and Bowling 2017: 49.0 ± 0.4; 50 is what a best response wins
    assert interval < 3.0


@pytest.mark.slow
def test_runs_of_other_seeds_differ_as_much_as_their_intervals_say() -> None:
    """24 runs of 640 hands, seeds 0 to 23: chi-squared of 23 degrees of freedom, about 26 by errors from 20 boards."""
    means, intervals = np.array([score("random", "fcpa", "3-4", 640, seed) for seed in range(24)]).T
    errors = intervals / 1.96
    assert 9.0 < (((means - means.mean()) / errors) ** 2).sum() < 52.0


def test_menus_and_rounds_have_names() -> None:
    assert len(parse_menu("56bets")) == 56 and parse_menu("56bets")[54] == pytest.approx(94.8, abs=0.1)
    assert parse_rounds("3-4") == (2, 3) and parse_rounds("4") == (3,)
    for text in ("4-3", "0-4", "x", "1-5"):
        with pytest.raises(AgentError, match="write 1-4"):
            parse_rounds(text)
    with pytest.raises(AgentError, match="did you mean 'fcpa'"):
        parse_menu("fcp")
