"""The memory of agents that search is known before they do: about what is measured."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from aleator.agents import search_size
from aleator.agents.base import play_game
from aleator.agents.registry import load_agent, spot_to_solve
from aleator.agents.search import SearchAgent
from aleator.agents.search_size import search_memory
from aleator.errors import TooBigError
from aleator.games import load_game
from aleator.games.base import Game
from aleator.search import OracleValue, SearchConfig
from aleator.trees import DepthLimit

RIVER = """
board = "Qs Jh 2h 8c 3d"
pot = 100
stack = 200
oop = "22+,ATs+,KTs+,AJo+"
ip = "22+,ATs+,KTs+,AJo+"
[river.oop]
bet = ["100%"]
raise = ["100%"]
[river.ip]
bet = ["100%"]
raise = ["100%"]
"""


@pytest.fixture
def river(tmp_path: Path) -> Game[object]:
    file = tmp_path / "river.toml"
    file.write_text(RIVER)
    return load_game(f"holdem:{file}")


def measured(game: Game[object], config: SearchConfig, remember: int, deals: int) -> int:
    """Returns the bytes that an agent keeps after some deals; how exact its leaf values are makes no difference."""
    uniform, rng = load_agent("uniform", game), np.random.default_rng(0)
    for _ in range(5):  # compiles and fills caches; one game may end before a showdown
        play_game((SearchAgent(game, config, OracleValue(1e9)), uniform), rng)
    gc.collect()
    tracemalloc.start()
    try:
        agent = SearchAgent(game, config, OracleValue(1e9), remember=remember)
        for _ in range(deals):
            play_game((agent, uniform), rng)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "moves", "iterations", "deals"),
    [("leduc", 2, 5, 15), ("leduc", 5, 20, 50), ("liars-dice:1x4", 2, 10, 25), ("liars-dice:1x5", 4, 10, 40)],
)
def test_the_estimate_is_what_is_measured(name: str, moves: int, iterations: int, deals: int) -> None:
    """Within a factor of 2, with 16 situations remembered, after more than that many."""
    game = load_game(name)
    config = SearchConfig(limit=DepthLimit(moves=moves), iterations=iterations)
    assert 0.5 < search_memory(game, config, 16) / measured(game, config, 16, deals) < 2.0


@pytest.mark.parametrize("moves", [1, 2, 3])
def test_it_is_so_in_holdem(river: Game[object], moves: int) -> None:
    config = SearchConfig(limit=DepthLimit(moves=moves), iterations=10)
    assert 0.5 < search_memory(river, config, 16) / measured(river, config, 16, 20) < 2.0


def test_more_moves_and_iterations_are_told_and_refused(river: Game[object], monkeypatch: pytest.MonkeyPatch) -> None:
    whole, one, two, long = (
        spot_to_solve(name, river)
        for name in ("search", "search:moves=1", "search:moves=1,iterations=200", "search:moves=1,iterations=2000")
    )
    assert whole and one and two and long
    assert whole.memory < one.memory < two.memory < long.memory
    assert long.memory > 5 * two.memory and whole.public_states == long.public_states
    leduc = load_game("leduc")
    monkeypatch.setattr(search_size, "available_memory", lambda: 2**24)
    assert isinstance(load_agent("search:iterations=20", leduc), SearchAgent)
    with pytest.raises(TooBigError, match=r"searches of leduc take about .* take fewer iterations than 100"):
        load_agent("search:iterations=100", leduc)
    assert isinstance(load_agent("search:iterations=1000000,seconds=1", leduc), SearchAgent)


def test_limits_are_where_subgames_are_cut() -> None:
    """A subgame to the end of the game has nothing below it, and one play; each limit leaves less above the leaves."""
    game = load_game("leduc")
    sizes = [
        search_memory(game, SearchConfig(limit=limit, iterations=50), 1)
        for limit in (DepthLimit(), DepthLimit(moves=100), DepthLimit(rounds=2))
    ]
    assert sizes[0] == sizes[1] == sizes[2] < search_memory(game, SearchConfig(limit=DepthLimit(rounds=1)), 1)
    deals = SearchConfig(limit=DepthLimit(deals=1), iterations=50)
    assert search_memory(game, deals, 1) > search_memory(
        game, SearchConfig(limit=DepthLimit(rounds=1), iterations=50), 1
    )


def test_subgames_are_forgotten_with_their_last_situation() -> None:
    game, rng = load_game("leduc"), np.random.default_rng(0)
    agent = SearchAgent(game, SearchConfig(iterations=3), OracleValue(1e9), remember=4)
    for _ in range(10):
        play_game((agent, load_agent("uniform", game)), rng)
    gc.collect()
    assert agent.searches > 10 and len(agent._subgames) <= 5
