"""Subgames that are found as they are met: the same as if all were listed, and no limit on how many a game has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aleator.errors import SolveError, TooBigError
from aleator.games import load_game
from aleator.games.contract import check_game
from aleator.solvers.search_rule import SEARCH_RULES

torch = pytest.importorskip("torch")

from aleator.learning.rebel import subgames as subgames_module  # noqa: E402
from aleator.learning.rebel.self_play import SelfPlay, SelfPlayConfig, SelfPlayed  # noqa: E402
from aleator.learning.rebel.subgames import Subgames  # noqa: E402
from aleator.learning.value_network.networks import NetworkConfig, ValueNetwork  # noqa: E402
from aleator.learning.value_network.torch_leaves import TorchLeaves  # noqa: E402
from aleator.solvers.engines.batched.engine import make_engine  # noqa: E402
from tests.learning.ladder import Ladder  # noqa: E402


def self_play(subgames: Subgames, **config: Any) -> tuple[SelfPlay, TorchLeaves]:
    """Returns games that begin, and a network that knows nothing."""
    generator, encoding = torch.Generator().manual_seed(1), subgames.encoding
    network = ValueNetwork(encoding.size, encoding.num_hands, NetworkConfig(layers=1, width=16), generator=generator)
    play = SelfPlay(subgames, SEARCH_RULES["cfr-d"], 6, SelfPlayConfig(games=40, **config), generator)
    return play, TorchLeaves(network, encoding)


def played(subgames: Subgames, rounds: int, *, forgetting: bool = False) -> tuple[SelfPlay, list[SelfPlayed]]:
    """Returns self-play after some rounds, and the examples of each."""
    play, leaves = self_play(subgames)
    examples = []
    for _ in range(rounds):
        examples.append(play.play(leaves))
        if forgetting:
            play.forget()
    return play, examples


def test_the_ladder_is_a_game() -> None:
    check_game(Ladder(7))


def test_a_game_with_millions_of_subgames_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    subgames = Subgames(Ladder(24))
    play, examples = played(subgames, 14)
    assert subgames.shapes.num_trees < 14 * 40, "only what was met"
    assert len(set(play.root.tolist())) > 10
    # twelve searches lead through a game: all of them have begun anew
    assert max(len(subgames.moves(number)) for number in play.root.tolist()) <= 24
    assert all(torch.isfinite(made.values.targets).all() for made in examples)
    monkeypatch.setattr(subgames_module, "MAX_STATES", 1000)
    with pytest.raises(TooBigError, match="more than the 1,000 subgames of depth 2"):
        subgames.complete()


def test_what_is_met_step_by_step_is_what_a_list_of_all_has() -> None:
    one, _ = self_play(Subgames(Ladder(8)))
    _, lazy = played(Subgames(Ladder(8)), 6)
    _, listed = played(Subgames(Ladder(8)).complete(), 6)
    for mine, other in zip(lazy, listed, strict=True):
        for field in ("inputs", "targets", "masks"):
            assert torch.equal(getattr(mine.values, field), getattr(other.values, field))
    assert one.subgames.is_complete is False


def test_forgetting_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _, before = played(Subgames(Ladder(14)), 9)
    monkeypatch.setattr(subgames_module, "MAX_NODES", 500)
    forgetful = Subgames(Ladder(14))
    play, after = played(forgetful, 9, forgetting=True)
    assert forgetful.shapes.num_trees <= 41, "the games in progress, and the root"
    for mine, other in zip(before, after, strict=True):
        assert torch.equal(mine.values.inputs, other.values.inputs)
        assert torch.equal(mine.values.targets, other.values.targets)
    assert forgetful.encoding.states == forgetful.states
    assert [forgetful.find(forgetful.moves(number)) for number in play.root.tolist()] == play.root.tolist()


def test_moves_lead_to_public_states() -> None:
    play, _ = played(Subgames(Ladder(24)), 3)
    known = play.subgames
    fresh = Subgames(Ladder(24))
    for number in play.root.tolist():
        assert fresh.states[fresh.find(known.moves(number))] == known.states[number] == known.moves(number)
    for bad in ([0, 7], [-1], [0] * 25):
        with pytest.raises(SolveError, match="ladder:24 has no child number"):
            fresh.find(bad)


def test_a_search_does_not_depend_on_what_else_is_known() -> None:
    alone, crowd = Subgames(load_game("liars-dice:2x2")), Subgames(load_game("liars-dice:2x2")).complete()
    state = alone.states[2]
    ones = torch.ones((1, 3))
    found = [
        make_engine(
            subgames.forest(torch.tensor([subgames.states.index(state)])),
            self_play(subgames)[1],
            (ones, ones),
            SEARCH_RULES["cfr-d"],
            8,
        ).search()
        for subgames in (crowd, alone)
    ]
    np.testing.assert_array_equal(found[0].values[0], found[1].values[0])
    np.testing.assert_array_equal(found[0].average, found[1].average)


def test_games_without_features_are_listed_and_know_no_other_states() -> None:
    subgames = Subgames(load_game("leduc"))
    assert subgames.is_complete and len(subgames.states) > 10
    with pytest.raises(SolveError, match=r"not trained for .* of leduc, which has no features"):
        subgames.encoding.of([load_game("leduc").child(load_game("leduc").root(), 0)])
