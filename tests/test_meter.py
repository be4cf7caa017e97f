"""Walks count, tell how far they are, and refuse what is too much: by number, by memory, and games that do not end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import numpy as np
import pytest

from aleator import memory, meter
from aleator.errors import TooBigError
from aleator.games import check_game, load_game, measure
from aleator.games.base import FloatArray, Game
from aleator.games.extensive.histories import game_from_histories, public_form
from aleator.games.extensive.positions import PositionGame
from aleator.games.extensive.sequences import sequence_form
from aleator.games.extensive.walk import Walk, walk
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting_tree import TreeConfig
from aleator.games.holdem.betting_tree import build_tree as build_betting
from aleator.meter import MAX_MOVES, Meter, Walked, watch
from aleator.trees.public_tree import build_tree
from tests.games.extensive.test_histories import Kuhn
from tests.games.subtraction import Matches


class Endless(Game[int]):
    """Nobody ever stops: a state counts the moves."""

    name = "endless"

    def root(self) -> int:
        return 0

    def actor(self, state: int) -> int:
        return state % 2

    def actions(self, state: int) -> Sequence[str]:
        return ("go on",)

    def child(self, state: int, action: int) -> int:
        return state + 1

    def hands(self, state: int, player: int) -> Sequence[str]:
        return ("-",)

    def deal(self, state: int) -> FloatArray:
        return np.ones((1, 1))

    def utility(self, state: int) -> FloatArray:
        raise AssertionError("it never ends")


class OneWay:
    """The same as histories: one action, no end."""

    def __init__(self, moves: int = 0) -> None:
        self.moves = moves

    def actor(self) -> int:
        return self.moves % 2

    def actions(self) -> list[int]:
        return [0]

    def outcomes(self) -> list[tuple[int, float]]:
        return []

    def child(self, action: int, /) -> OneWay:
        return OneWay(self.moves + 1)

    def infostate(self, player: int, /) -> Hashable:
        return self.moves

    def key(self) -> Hashable:
        return self.moves

    def public(self) -> Hashable:
        return None

    def utility(self) -> float:
        return 0.0

    def action_name(self, action: int, /) -> str:
        return "go on"


ENDLESS: dict[str, Callable[[], object]] = {
    "measure": lambda: measure(Endless()),
    "build_tree": lambda: build_tree(Endless()),
    "check_game": lambda: check_game(Endless()),
    "histories": lambda: game_from_histories(OneWay(), name="endless"),
    "positions": lambda: PositionGame(OneWay(), name="endless"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("go", ENDLESS.values(), ids=ENDLESS)
def test_a_game_that_never_ends_is_refused(go: Callable[[], object]) -> None:
    refused = pytest.raises(TooBigError, match=rf"endless goes on after {MAX_MOVES:,} moves in a row")
    with watch(most=10 * MAX_MOVES), refused:  # not by their number, which ends the test if nothing else does
        go()


@pytest.mark.parametrize("name", ["leduc:cap=5000", "leduc:bets=0.001/0.001,cap=100000"])
def test_a_game_with_no_end_of_raises_is_refused(name: str) -> None:
    with pytest.raises(TooBigError, match="moves in a row"):
        build_tree(load_game(name))


def _betting() -> object:
    menu = BetMenu.uniform(bets=["50%"], raises=["50%"], max_raises=4)
    return build_betting(TreeConfig(pot=10, stack=1000, street=2, menu=menu))


WALKS: dict[str, Callable[[], object]] = {
    "measure": lambda: measure(load_game("leduc")),
    "build_tree": lambda: build_tree(load_game("leduc")),
    "a part": lambda: build_tree(load_game("leduc"), is_leaf=lambda _, depth: depth == 7),
    "check_game": lambda: check_game(load_game("leduc")),
    "histories": lambda: game_from_histories(Kuhn(), name="kuhn"),
    "positions": lambda: PositionGame(Matches(60), name="matches"),
    "betting": lambda: _betting(),
}


@pytest.mark.parametrize("go", WALKS.values(), ids=WALKS)
def test_every_walk_refuses_by_number(go: Callable[[], object]) -> None:
    go()
    with (
        watch(most=30),
        pytest.raises(TooBigError, match=r"has more than the 30 .* that are allowed: (choose|use fewer)"),
    ):
        go()


@pytest.fixture
def growing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that takes 100 MiB more whenever it is asked, on a machine that has 1 GiB in all."""
    taken = [0]

    def grow() -> int:
        taken[0] += 100 << 20
        return taken[0]

    monkeypatch.setattr(meter, "process_memory", grow)
    monkeypatch.setattr(meter, "available_memory", lambda: (1 << 30) - taken[0])
    monkeypatch.setattr(meter, "_FIRST_LOOK", 1)
    monkeypatch.setattr(meter, "_SHORT", 0.0)  # every look counts
    monkeypatch.setattr(meter, "_LONG", 0.0)


@pytest.mark.usefixtures("growing")
@pytest.mark.parametrize("go", WALKS.values(), ids=WALKS)
def test_every_walk_refuses_by_memory(go: Callable[[], object]) -> None:
    with pytest.raises(
        TooBigError, match=r"ing .* took 0\.\d GiB of memory .*more than half of the .* GiB that were free"
    ):
        go()


@pytest.mark.parametrize("group", [public_form, sequence_form])
def test_grouping_and_sequences_refuse_by_memory(
    group: Callable[[Walk], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    histories = walk(Kuhn(), name="kuhn")
    group(histories)
    monkeypatch.setattr(meter, "_LEAST", 0)
    with (
        watch(memory=1),
        pytest.raises(TooBigError, match=r"finding the .* of kuhn would take .* GiB that are allowed"),
    ):
        group(histories)


def test_memory_is_refused_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "available_memory", lambda: 200 << 20)
    counter = Meter("chess", "building the tree of chess", "nodes", advice="play checkers")
    counter.check_memory(90 << 20)
    with pytest.raises(
        TooBigError, match=r"chess would take about 0\.1 GiB of memory, more than half .*: play checkers"
    ):
        counter.check_memory(120 << 20)


def test_whoever_watches_learns_how_far_a_walk_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "_SHORT", 0.0)
    told: list[Walked] = []
    with watch(told.append):
        tree = build_tree(load_game("leduc:5"))
    counting = [walked for walked in told if walked.task == "counting the states of leduc:5"]
    building = [walked for walked in told if walked.task == "building the tree of leduc:5"]
    assert counting and building and len(told) == len(counting) + len(building)
    assert [walked.done for walked in building] == [False] * (len(building) - 1) + [True]
    counts = [walked.count for walked in building]
    assert counts == sorted(counts) and counts[-1] == tree.num_nodes == building[0].total
    assert building[-1].share == 1.0 and counting[0].share is None
    told.clear()
    build_tree(load_game("leduc:5"))
    assert not told, "the watch has ended"


def test_limits_of_an_outer_watch_hold() -> None:
    with watch(most=20), watch(lambda walked: None), pytest.raises(TooBigError, match="more than the 20"):
        measure(load_game("leduc"))
    with watch(most=20), watch(most=1000), pytest.raises(TooBigError, match="more than the 20"):
        measure(load_game("leduc"))
    with watch(most=1000), watch(most=20), pytest.raises(TooBigError, match="more than the 20"):
        measure(load_game("leduc"))


def test_who_watches_can_end_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "_SHORT", 0.0)

    def stop(walked: Walked) -> None:
        raise KeyboardInterrupt

    with watch(stop), pytest.raises(KeyboardInterrupt):
        build_tree(load_game("leduc:5"))


def test_looks_at_memory_are_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    monkeypatch.setattr(meter, "process_memory", lambda: looks.append(1) or 0)
    with Meter("x", "counting", "things") as counter:
        for _ in range(1_000_000):
            counter.add()
    assert len(looks) < 1000


def test_the_tightest_control_group_counts(tmp_path: Path) -> None:
    group = tmp_path / "job" / "step"
    group.mkdir(parents=True)
    for folder, most in ((tmp_path / "job", "1000"), (group, "max")):
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text("700\n")
        (folder / "memory.stat").write_text("anon 600\ninactive_file 50\n")
    listing = tmp_path / "cgroup"
    listing.write_text("1:name=systemd:/x\n0::/job/step\n")
    assert memory._limited_groups(str(listing), str(tmp_path)) == (group, tmp_path / "job")
    assert memory._left_of((group, tmp_path / "job")) == 350
    assert memory._left_of((group,)) > 2**60
    assert memory._limited_groups(str(tmp_path / "none"), str(tmp_path)) == ()


def test_memory_of_this_process_is_measured() -> None:
    script = (  # a process of its own: what others give back, or the system lends in advance, is not ours
        "from aleator.memory import process_memory; before = process_memory()\n"
        "kept = bytearray(b'1' * (400 << 20)); print(process_memory() - before)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 300 << 20 < int(found.stdout) < 1 << 30


def test_the_address_space_that_is_left_counts() -> None:
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from aleator.memory import available_memory; print(available_memory())"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 0 < int(found.stdout) < 1 << 30
