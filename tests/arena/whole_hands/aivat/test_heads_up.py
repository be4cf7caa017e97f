"""AIVAT changes no expectation: over all histories of a small ending for any value, and in matches by a stated z."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from aleator.agents.whole_hands.base import HandAgent, HandPolicy, ask_policies
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.scripted import ScriptedHandAgent
from aleator.arena.whole_hands.aivat.base import Luck
from aleator.arena.whole_hands.aivat.hand_value import EquityValue, HandValue, Situation, living_hands
from aleator.arena.whole_hands.aivat.heads_up import RangeLuck
from aleator.arena.whole_hands.play import PAIRS, RANGES, play_hands
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action, ActionKind
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.equity import showdown_rows
from aleator.games.holdem.hand_batch import OVER, HandBatch, action_code
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.variants import HUNL
from tests.arena.whole_hands.small import NoisyAgent, ending, histories, reaches, value_of, weight_of


class NoisyValue(HandValue):
    """Shares that mean nothing, and change with every card; many histories ask the same, so that answers are kept."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], tuple[FloatArray, FloatArray]] = {}

    def rows(self, situation: Situation, player: int, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        key = (situation.board.tobytes(), situation.paid, player, reach[1 - player].tobytes())
        if key not in self._kept:
            seed = zlib.crc32(f"{situation.board.tolist()} {situation.paid} {player}".encode())
            met = showdown_rows(situation.board[:0], reach[1 - player][None])[1][0] * living_hands(situation.board)
            self._kept[key] = met * np.random.default_rng(seed).random(1326), met
        return self._kept[key]


def estimates(
    setup: HandSetup, ends: list[HandState], agents: tuple[NoisyAgent, NoisyAgent], value: HandValue
) -> FloatArray:
    """Returns what AIVAT says after each of some histories, all followed at once."""
    boards = np.full((len(ends), 5), -1)
    for row, end in enumerate(ends):
        boards[row, : len(end.board)] = end.board
    hands = HandBatch.start(setup, np.full((len(ends), 2), -1), boards)
    return follow(RangeLuck(hands, value=value), hands, ends, agents)


def follow(luck: Luck, hands: HandBatch, ends: list[HandState], agents: tuple[HandAgent, HandAgent]) -> FloatArray:
    """Returns what AIVAT says after some histories are played."""
    step = 0
    while len(active := np.flatnonzero(hands.betting.player != OVER)):
        street = hands.betting.street[active].copy()
        codes = np.array([action_code(ends[row].actions[step]) for row in active])
        for player, agent in enumerate(agents):
            here = hands.betting.player[active] == player
            if here.any():
                policy = ask_policies(agent, hands, active[here])
                chosen = (policy.codes == codes[here, None]).argmax(axis=1)
                luck.acted(active[here], policy, chosen)
        hands.act(active, codes)
        went_on = (hands.betting.street[active] != street) & (hands.betting.player[active] != OVER)
        if went_on.any():
            luck.advanced(active[went_on])
        step += 1
    return luck.estimates()[:, 0]


@pytest.mark.parametrize(
    ("value", "board"),
    [
        pytest.param(EquityValue(), "As 7d 9h Jc 4s", id="equity"),
        pytest.param(NoisyValue(), "As 7d 9h Jc 4s", id="noise"),
        pytest.param(NoisyValue(), "As 7d 9h Jc", id="noise-and-a-card", marks=pytest.mark.slow),
    ],
)
def test_the_mean_over_all_histories_is_the_value_of_the_game(value: HandValue, board: str) -> None:
    setup, agents = ending(board), (NoisyAgent("a"), NoisyAgent("b"))
    ends = list(histories(setup.start(), agents))
    reach = [reaches(end, agents) for end in ends]
    weights = np.array([weight_of(end, row) for end, row in zip(ends, reach, strict=True)])
    cards = np.array([44.0 if len(end.board) > len(setup.board) else 1.0 for end in ends])
    exact = sum(value_of(end, row) / count for end, row, count in zip(ends, reach, cards, strict=True)) / weights.sum()
    found = estimates(setup, ends, agents, value)
    assert weights @ found / weights.sum() == pytest.approx(exact, abs=1e-8)
    assert found.std() > 1.0  # there was luck to remove


def test_with_equity_as_value_cards_are_worth_nothing_on_average() -> None:
    board = np.array([51, 20, 30, 37])
    rng = np.random.default_rng(3)
    reach = rng.random((2, 1326)) * (
        ~np.isin(np.array([[h, low] for h in range(52) for low in range(h)]), board).any(axis=1)
    )
    won, met = showdown_rows(board, reach[1:])
    before = (reach[0] @ won[0]) / (reach[0] @ met[0])
    total = weight = 0.0
    for card in range(52):
        if card not in board:
            alive = ~np.isin(np.array([[h, low] for h in range(52) for low in range(h)]), card).any(axis=1)
            won, met = showdown_rows(np.append(board, card), (reach[1] * alive)[None])
            total, weight = total + reach[0] * alive @ won[0], weight + reach[0] * alive @ met[0]
    assert total / weight == pytest.approx(before, abs=1e-12)


def z_of(first: str, second: str, mode: str, hands: int) -> tuple[float, float]:
    """Returns how many standard errors AIVAT and chips are apart in a match, and how much smaller the deviation is."""
    agents = [load_hand_agent(first), load_hand_agent(second)]
    fair, won = [], []
    for start in range(0, hands, 2_000):
        played = play_hands(HUNL.setup, agents, np.arange(start, min(start + 2_000, hands)), 9, aivat=mode)
        fair.append(played.fair_winnings(0)), won.append(played.winnings(0))
    chips, clean = np.concatenate(won).reshape(-1, 2).mean(1), np.concatenate(fair).reshape(-1, 2).mean(1)
    apart = chips - clean
    return float(apart.mean() / (apart.std() / np.sqrt(len(apart)))), float(clean.std() / chips.std())


@pytest.mark.parametrize("mode", [PAIRS, RANGES])
def test_chumps_score_the_same_on_average(mode: str) -> None:
    # 20,000 hands, seed 9: |z| < 3 fails by chance in 0.3 % of seeds
    z, ratio = z_of("half-call-half-raise", "random", mode, 20_000)
    assert abs(z) < 3.0
    assert ratio < (0.9 if mode == PAIRS else 0.5)


def test_bets_at_somebody_who_always_calls_change_no_mean() -> None:
    # 20,000 hands, seed 9: |z| < 3 fails by chance in 0.3 % of seeds
    z, ratio = z_of("tight-aggressive", "always-call", PAIRS, 20_000)
    assert abs(z) < 3.0
    assert ratio < 0.95


class _Shover(HandAgent):
    """Bets all it has with every third hand before the flop, and checks or folds otherwise."""

    name = "shover"

    def policy_at(self, state: HandState) -> HandPolicy:
        legal = state.betting.legal_actions()
        passive = Action(ActionKind.FOLD if legal.can_fold else ActionKind.CALL)
        if state.street or legal.max_raise_to is None:
            return HandPolicy((passive,), np.ones((1, NUM_HANDS)))
        bets = (np.arange(NUM_HANDS) % 3 == 0).astype(np.float64)
        return HandPolicy((passive, Action(ActionKind.RAISE, legal.max_raise_to)), np.stack([1.0 - bets, bets]))


def test_bets_at_somebody_who_always_calls_are_no_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call makes them worth what they are worth: nothing of the result is left to chance, seat by seat."""

    def deviations() -> FloatArray:
        agents = [_Shover(), load_hand_agent("always-call")]
        fair = play_hands(HUNL.setup, agents, np.arange(60), 9, aivat=RANGES).fair_winnings(0)
        assert fair is not None
        return np.asarray(fair.reshape(-1, 2).std(axis=0))

    assert (deviations() < 1e-6).all()
    nobody = property(lambda agent: (), lambda agent, streets: None)
    monkeypatch.setattr(ScriptedHandAgent, "calls_on", nobody, raising=False)
    assert (deviations() > 20.0).all()  # chips


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "mode"), [("half-call-half-raise", "random", RANGES), ("tight-aggressive", "random", PAIRS)]
)
def test_a_hundred_thousand_hands_score_the_same_on_average(first: str, second: str, mode: str) -> None:
    z, _ = z_of(first, second, mode, 100_000)
    assert abs(z) < 3.0
