"""Matches: the same result in any order, on any number of processes, and however often they are stopped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.agents.whole_hands.tight_aggressive import TightAggressiveAgent
from aleator.arena.whole_hands.deals import deal_hands, uniform_draws
from aleator.arena.whole_hands.match import HandMatch, MatchState, piece_size, play_hand_match
from aleator.arena.whole_hands.match_file import MatchFile, read_match
from aleator.arena.whole_hands.play import PAIRS, RANGES, RAW, TABLE, play_hands
from aleator.errors import AgentError, AleatorError
from aleator.games.holdem.cards import HANDS
from aleator.games.holdem.variants import HUNL, load_hand_game
from aleator.workers.processes import Processes

MATCH = HandMatch(game="hunl", agents=("tight-aggressive", "random"), hands=400, seed=3)


def with_file(path: Path, match: HandMatch = MATCH, **options: object) -> MatchState:
    file = MatchFile(path, match.header(match.mode(match.load_agents())))
    try:
        return play_hand_match(match, file=file, **options)  # type: ignore[arg-type]
    finally:
        file.close()


def test_who_searches_in_batches_sets_how_many_hands_are_played_together() -> None:
    match = HandMatch(game="hunl", agents=("always-call", "always-call"), hands=4_000)
    slow, batched = (load_hand_agent("random") for _ in range(2))
    slow.hands_at_once, batched.hands_at_once, batched.is_alone = 2, 512, True
    assert piece_size(match, [slow, slow], 4_000) == 2
    assert piece_size(match, [slow, batched], 4_000) == 512
    assert piece_size(match, [slow, batched], 301) == 302  # a share of several processes, whole deals


def test_deals_are_fair_and_depend_on_their_number_alone() -> None:
    numbers = np.arange(20_000)
    cards = deal_hands(HUNL.setup, 5, numbers)
    whole = np.concatenate([HANDS[cards.hands].reshape(-1, 4), cards.boards], axis=1)
    assert all(len(set(row)) == 9 for row in whole[:500].tolist())
    counts = np.bincount(whole[::2].ravel(), minlength=52)
    expected = counts.sum() / 52
    assert ((counts - expected) ** 2 / expected).sum() < 90  # chi-squared, 51 degrees of freedom: 1 in 2,000
    np.testing.assert_array_equal(cards.hands[::2], cards.hands[1::2])  # both seats get the same deal
    np.testing.assert_array_equal(deal_hands(HUNL.setup, 5, np.array([777])).hands[0], cards.hands[777])
    draws = uniform_draws(5, numbers, np.zeros(20_000, np.int64))
    assert abs(draws.mean() - 0.5) < 0.01 and draws.min() >= 0.0 and draws.max() < 1.0
    shared = deal_hands(HUNL.setup, 5, np.arange(64), hands_per_board=16)
    assert len(np.unique(shared.boards[:32], axis=0)) == 1 and len(np.unique(shared.hands[:32], axis=0)) == 16


def test_a_match_that_was_stopped_goes_on_from_its_file(tmp_path: Path) -> None:
    straight = with_file(tmp_path / "straight.jsonl")
    path = tmp_path / "stopped.jsonl"
    with_file(path, HandMatch(**{**_fields(MATCH), "hands": 100}))
    text = path.read_bytes()
    path.write_bytes(text[: len(text) // 2])  # in the middle of a line
    resumed = with_file(path)
    assert resumed.score() == straight.score() and resumed.raw() == straight.raw()
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert sorted(line["hand"] for line in lines) == list(range(400))
    whole = [json.loads(line) for line in (tmp_path / "straight.jsonl").read_text().splitlines()[1:]]
    assert sorted(lines, key=lambda line: line["hand"]) == whole


def _fields(match: HandMatch) -> dict[str, object]:
    return {name: getattr(match, name) for name in HandMatch.__dataclass_fields__}


def test_hands_in_the_file_are_what_was_played(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    with_file(path, HandMatch(game="hulh", agents=("random", "always-call"), hands=60, seed=1))
    records = list(read_match(path))
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert len(records) == 60
    for record, line in zip(records, lines, strict=True):
        assert list(record.payoffs()) == line["won"]
        assert record.names[0] == ("random", "always-call")[line["seats"][0]]
        assert record.to_dict(with_setup=False)["actions"] == line["actions"]


@pytest.mark.parametrize("game", ["hunl", "hunl:10bb", "hulh", "flop-holdem", "turn-endgame"])
def test_every_game_is_zero_sum_and_its_two_scores_agree(game: str) -> None:
    match = HandMatch(game=game, agents=("half-call-half-raise", "random"), hands=2_000, seed=2)
    state = play_hand_match(match)
    np.testing.assert_allclose(state.won.sum(axis=1), 0.0)
    score, raw = state.score(), state.raw()
    assert score.hands == raw.hands == 2_000
    assert abs(score.mbb_per_hand - raw.mbb_per_hand) < 2 * (score.ci95 + raw.ci95)
    assert score.ci95 < raw.ci95
    assert load_hand_game(game).setup == match.setup


def test_a_match_of_an_agent_with_itself_is_even() -> None:
    state = play_hand_match(
        HandMatch(game="hunl", agents=("tight-aggressive", "tight-aggressive"), hands=200, aivat=RAW)
    )
    assert state.raw().mbb_per_hand == pytest.approx(0.0) or state.raw().ci95 > 0
    mirrored = state.won.reshape(-1, 2, 2)
    assert mirrored.shape[1] == 2


def test_luck_is_removed_by_what_the_agents_allow() -> None:
    def mode(*agents: str) -> str:
        match = HandMatch(game="hunl", agents=agents, hands=2)
        return match.mode(match.load_agents())

    assert mode("always-call", "random") == RANGES and mode("tight-aggressive", "random") == PAIRS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agents": ("random",)}, "2 players"),
        ({"hands": 0}, "at least 1 hand"),
        ({"aivat": "some"}, "unknown AIVAT mode"),
        ({"game": "hunk"}, "did you mean 'hunl'"),
    ],
)
def test_impossible_matches_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(AleatorError, match=message):
        HandMatch(**{**_fields(MATCH), **change})
    with pytest.raises(AgentError, match="did you mean 'random'"):
        HandMatch(game="hunl", agents=("randon", "random"), hands=2).load_agents()


def test_files_of_other_matches_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    with_file(path)
    before = path.read_bytes()
    for change, message in (({"seed": 4}, "seed 3, not 4"), ({"agents": ("random", "random")}, "match: agents")):
        with pytest.raises(AleatorError, match=message):
            with_file(path, HandMatch(**{**_fields(MATCH), **change}))
    assert path.read_bytes() == before
    (tmp_path / "other.txt").write_text("hello\n")
    with pytest.raises(AleatorError, match="not a JSON object"):
        with_file(tmp_path / "other.txt")
    path.write_bytes(before.replace(b'"hand": 7,', b'"hand": "x",', 1))
    with pytest.raises(AleatorError, match="line 9"):
        with_file(path)


@pytest.mark.slow
def test_several_processes_play_the_same_hands(tmp_path: Path) -> None:
    match = HandMatch(**{**_fields(MATCH), "hands": 6_000})
    assert play_hand_match(match, workers=Processes(2)).score() == play_hand_match(match).score()


def test_a_table_of_several_agents_has_everybody_in_every_seat_with_the_same_cards(tmp_path: Path) -> None:
    names = ("always-call", "tight-aggressive", "random")
    path = tmp_path / "ring.jsonl"
    state = with_file(path, HandMatch(game="ring:3", agents=names, hands=302, seed=4))
    assert state.played == 303 and state.mode == TABLE
    np.testing.assert_allclose(state.won.sum(axis=1), 0.0)
    assert sum(state.raw(agent).mbb_per_hand for agent in range(3)) == pytest.approx(0.0, abs=1e-9)
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    for first in range(0, 303, 3):
        three = lines[first : first + 3]
        assert len({json.dumps(line["hands"]) for line in three}) == 1
        assert sorted(line["seats"][0] for line in three) == [0, 1, 2]
    alike = play_hand_match(HandMatch(game="ring:4,20bb", agents=("always-call",) * 4, hands=40))
    assert alike.raw(2).mbb_per_hand == 0.0 and alike.raw(2).ci95 == 0.0  # duplicate deals leave no luck
    with pytest.raises(AgentError, match="ring:3 has 3 players, not 2"):
        HandMatch(game="ring:3", agents=names[:2], hands=3)
    with pytest.raises(AgentError, match="two players"):
        play_hand_match(HandMatch(game="ring:3", agents=names, hands=3, aivat=PAIRS))


def test_an_agent_that_answers_for_held_hands_only_plays_the_same() -> None:
    class Slow(TightAggressiveAgent):
        """Always answers for all hands."""

        def held_policies(self, hands: object, rows: object, held: object) -> None:
            return None

    numbers = np.arange(300)
    for mode in (RAW, PAIRS):
        quick = play_hands(HUNL.setup, [TightAggressiveAgent(), load_hand_agent("random")], numbers, 2, aivat=mode)
        slow = play_hands(HUNL.setup, [Slow(), load_hand_agent("random")], numbers, 2, aivat=mode)
        np.testing.assert_array_equal(quick.payoffs, slow.payoffs)
        np.testing.assert_array_equal(quick.fair, slow.fair)
