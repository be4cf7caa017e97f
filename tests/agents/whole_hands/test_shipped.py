"""Agents that play from the blueprints of the package, as they are typed, with no file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from aleator import shipped
from aleator.abstraction.blueprint.policy import open_blueprint
from aleator.abstraction.buckets import AbstractionError, open_buckets
from aleator.abstraction.packed.policies import PackedFile
from aleator.abstraction.packed.shipped import shipped_blueprint
from aleator.abstraction.ring.file import open_ring_blueprint
from aleator.agents.whole_hands.base import HandAgent, ask_policies
from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.arena.whole_hands.deals import deal_hands
from aleator.arena.whole_hands.play import play_hands
from aleator.errors import AgentError
from aleator.games.holdem.cards import parse_hand
from aleator.games.holdem.hand_batch import HandBatch
from aleator.games.holdem.variants import load_hand_game

MEBIBYTE = 1 << 20


def test_all_files_together_stay_small() -> None:
    folder = shipped.directory() / "blueprints"
    names = {path.name for path in folder.iterdir()}
    assert names == {"holdem.buckets", "hunl.blueprint", "6max.blueprint"}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 7 * MEBIBYTE


def test_both_are_packed_and_play_by_the_packed_buckets() -> None:
    buckets = open_buckets(shipped.directory() / "blueprints" / "holdem.buckets")
    assert not buckets.is_whole and buckets.chances is not None
    for opened in (open_blueprint(shipped_blueprint(2)), open_ring_blueprint(shipped_blueprint(6))):
        assert isinstance(opened, PackedFile) and opened.fingerprint == buckets.fingerprint
        assert opened.path.parent / opened.buckets_place == shipped.directory() / "blueprints" / "holdem.buckets"
        assert opened.progress.deals > 1_000_000


@pytest.mark.parametrize(
    ("game", "name"),
    [
        ("hunl", "blueprint"),
        ("hunl", "modicum:flop=3,turn=3,river=5"),
        ("hunl", "libratus:turn=3,river=5"),
        ("6max", "blueprint"),
        ("6max", "pluribus:preflop=20,flop=20,turn=20,river=50"),
    ],
)
def test_hands_are_played_out_of_the_box(game: str, name: str) -> None:
    setup = load_hand_game(game).setup
    agent = load_hand_agent(name, setup.num_players)
    assert agent.name == name.split(":")[0] and agent.has_own_stacks
    other = load_hand_agent("always-call", setup.num_players)
    agents = [agent, *[other] * (setup.num_players - 1)]
    played = play_hands(setup, agents, np.arange(setup.num_players), seed=3)
    assert played.winnings(0).shape == (setup.num_players,)


def preflop(agent: HandAgent, game: str) -> np.ndarray:
    """Returns what an agent does first, with all hands, ``[A, 1326]``."""
    setup = load_hand_game(game).setup
    cards = deal_hands(setup, 1, np.array([0]))
    batch = HandBatch.start(setup, cards.hands, cards.boards)
    return np.asarray(ask_policies(agent, batch, np.zeros(1, np.int64)).probabilities[0])


@pytest.mark.parametrize("game", ["hunl", "6max"])
def test_good_hands_are_played_and_bad_ones_folded_before_the_flop(game: str) -> None:
    players = load_hand_game(game).rules.num_players
    first = preflop(load_hand_agent("blueprint", players), game)
    setup = load_hand_game(game).setup
    actions = load_hand_agent("blueprint", players).policy_at(setup.start()).actions
    folds = first[[action.kind.name for action in actions].index("FOLD")]
    assert folds[parse_hand("AsAh")] < 0.02 and folds[parse_hand("KdKc")] < 0.02
    assert folds[parse_hand("7d2c")] > 0.5 and folds[parse_hand("8h3c")] > 0.5
    assert folds.mean() > (0.6 if game == "6max" else 0.05)


def test_biased_agents_and_agents_of_many_know_how_many_play() -> None:
    assert load_hand_agent("biased:blueprint,towards=call", 6).name.startswith("biased:blueprint")
    with pytest.raises(AgentError, match="no blueprint for 4 players comes with the package, which has those of hunl"):
        load_hand_agent("blueprint", 4)
    with pytest.raises(AbstractionError, match="6max"):
        shipped_blueprint(3)


@pytest.mark.parametrize(
    ("game", "message"), [("hunl:100bb", "not stacks of 10,000"), ("hulh", "give it the game hunl")]
)
def test_other_stacks_and_games_are_refused(game: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        load_hand_agent("modicum").policy_at(load_hand_game(game).setup.start())


def test_a_table_for_six_is_none_for_two() -> None:
    with pytest.raises(AgentError, match=r"plays only no-limit hold'em of 6 players"):
        load_hand_agent("pluribus").policy_at(load_hand_game("hunl").setup.start())


def test_files_are_where_the_sources_are() -> None:
    assert shipped.directory().name == "models"
    assert all(isinstance(path, Path) and os.access(path, os.R_OK) for path in shipped.blueprints())


@pytest.mark.slow
def test_all_boards_of_the_packed_buckets_have_the_fingerprint_of_the_file_they_come_from(tmp_path: Path) -> None:
    from aleator.abstraction.build import build_buckets

    packed = open_buckets(shipped.directory() / "blueprints" / "holdem.buckets")
    made = build_buckets(packed.config, tmp_path / "buckets.bin", threads=os.cpu_count() or 1, like=packed)
    assert made.fingerprint == packed.fingerprint  # build_buckets would have raised, too
    rng = np.random.default_rng(9)
    for street in (2, 3):
        table = made.table(street)
        for row in rng.integers(0, len(table), 400).tolist():
            np.testing.assert_array_equal(packed._tables[street - 1][row], table[row])
