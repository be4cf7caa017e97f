"""Rules that contradict themselves are refused in one line, by `check_game` and before they are solved."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.errors import AleatorError, GameError
from aleator.games import Child, check_game, contract, load_game
from aleator.games.base import Payoff
from aleator.games.contract import check_own_game
from aleator.games.matrix import MatrixGame
from aleator.games.restricted import RestrictedGame
from aleator.solvers.solve import Limits, solve
from aleator.trees import build_tree
from tests.apps.calls import call
from tests.games.changed_game import Changed
from tests.games.random_game import RandomGame


def scaled(factor: float, *, but_root: bool = False) -> Callable[[Any, int], Any]:
    return lambda right, state: right * (1.0 if but_root and state == 0 else factor)


def unsteady(right: np.ndarray, state: int) -> np.ndarray:
    """Returns the right answer, a little off by chance."""
    return right * (1.0 + 1e-3 * np.random.default_rng().random())


class Shuffled:
    """The right answers, in another order each time."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, right: Sequence[Any], state: int) -> Sequence[Any]:
        self.asked += 1
        return list(right)[:: 1 if self.asked % 2 else -1]


BROKEN: list[tuple[str, Callable[[Any, int], Any], str]] = [
    ("deal", scaled(0.9), "sums to 0.9"),
    ("deal", scaled(25.0), "sums to 25"),
    ("deal", scaled(0.9, but_root=True), "chance is off"),
    ("deal", scaled(np.nan), "sums to nan"),
    ("deal", scaled(np.nan, but_root=True), "the deal has a negative or infinite entry"),
    ("deal", lambda right, state: right[0] if state else right, "the deal has shape"),
    ("deal", unsteady, "sums to|two calls of deal"),
    ("utility", lambda right, state: right[0], "the utility has shape"),
    ("utility", lambda right, state: right[:, :1], "the utility has shape"),
    ("utility", lambda right, state: 1.0, r"the utility has shape \(\)"),
    ("utility", lambda right, state: np.zeros((len(right) + 1, 1)), "the utility has shape"),
    ("utility", lambda right, state: "much", "the utility must be an array of numbers, not 'much'"),
    ("deal", lambda right, state: None, "the deal must be an array of numbers, not None"),
    ("utility", lambda right, state: np.ones((17, 3)), "shape|broadcast"),
    ("utility", scaled(np.inf), "finite"),
    ("utility", scaled(np.nan), "finite"),
    ("utility", scaled(1e200), "at most 1e\\+100"),
    ("utility", unsteady, "two calls of utility"),
    ("actions", lambda right, state: ["x"] * len(right), "distinct"),
    ("actions", Shuffled(), "two calls of actions"),
    ("children", Shuffled(), "two calls of children"),
    ("children", lambda right, state: [], "neither terminal"),
    ("children", lambda right, state: [Child(0, "back")], "lead back|add up|hands"),
    (
        "children",
        lambda right, state: 1 / 0,
        r"the rules raise ZeroDivisionError: division by zero \(test_contract.py, line \d+\)",
    ),
    ("payoff_matrix", scaled(1.001), "payoff_matrix differs from deal x utility"),
    (
        "payoff",
        lambda right, state: Payoff(right.group, right.stake * (1 + 0.01 * state)),
        "payoff differs from its group",
    ),
    ("payoff", lambda right, state: Payoff(0, right.stake), "payoff differs from its group|its group 0 has payoffs"),
    ("payoff", lambda right, state: Payoff(right.group, np.nan), "the stake nan"),
]


def full_game(method: str, change: Callable[[Any, int], Any] | None, unit: float = 1.0) -> Changed:
    """Returns a changed game with a choice of two or more children and two terminals equal up to a factor."""

    def suits(game: Changed) -> bool:
        ends = game.states(terminal=True)
        wide = [
            state for state in game.states(terminal=False) if len(game.children(state)) > 1 < len(game.actions(state))
        ]
        return bool(wide) and len({game.payoff(state).group for state in ends}) < len(ends) and game.actor(0) >= 0

    seed = next(seed for seed in range(10_000) if suits(Changed(seed)))
    return Changed(seed, method, change, unit)


@pytest.mark.parametrize(("method", "change", "complaint"), BROKEN)
@pytest.mark.parametrize("unit", [1.0, 1e-10, 1e10])
def test_broken_rules_are_found(method: str, change: Callable[[Any, int], Any], complaint: str, unit: float) -> None:
    if isinstance(change, Shuffled):
        change = Shuffled()
    check_game(full_game("", None, unit))
    with pytest.raises(GameError, match=complaint) as refused:
        check_game(full_game(method, change, unit))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("method", "change", "complaint"), BROKEN)
def test_broken_rules_are_not_solved(method: str, change: Callable[[Any, int], Any], complaint: str) -> None:
    """One whose moves lead in a circle is found while the tree is counted."""
    with pytest.raises(AleatorError, match=complaint):
        solve(full_game(method, change), limits=Limits(iterations=2))


def break_somewhere(rng: np.random.Generator) -> tuple[str, Callable[[], Changed]] | None:
    """Returns how a random game is broken at one of its states, and what makes it; None if it has no place for that."""
    seed, unit = int(rng.integers(10**9)), 10.0 ** rng.uniform(-12, 12)
    game = Changed(seed, unit=unit)
    ends, inner = game.states(terminal=True), game.states(terminal=False)
    kinds = [
        "deal",
        "deal nan",
        "payoff nan",
        "row",
        "column",
        "number",
        "drift",
        "luck",
        "matrix",
        "stake",
        "order",
        "origin",
    ]
    kind = str(rng.choice(kinds))
    of_ends = kind in ("payoff nan", "row", "column", "number", "drift", "matrix", "stake")
    places = [state for state in (ends if of_ends else inner) if game.deal(state).any()]
    if kind == "stake":
        groups = [game.payoff(state).group for state in ends]
        places = [
            state for state in places if groups.count(game.payoff(state).group) > 1 and game.payoff_matrix(state).any()
        ]
    elif kind in ("drift", "matrix"):
        places = [state for state in places if game.payoff_matrix(state).any()]
    elif kind in ("row", "column"):
        places = [state for state in places if game.num_hands(state)[kind == "column"] > 1]
    elif kind in ("order", "origin"):
        places = [state for state in places if len(game.children(state)) > 1]
    if not places:
        return None
    where, factor, calls = int(rng.choice(places)), 1 + float(rng.choice([-1, 1])) * 10 ** rng.uniform(-7, 0), [0]

    def off(right: Any, state: int) -> Any:
        if state != where:
            return right
        calls[0] += 1
        if kind in ("deal", "matrix"):
            return right * factor
        if kind in ("deal nan", "payoff nan"):
            found = right.copy()
            found[tuple(np.argwhere(game.deal(state) > 0)[0])] = rng.choice([np.nan, np.inf])
            return found
        if kind in ("drift", "luck"):
            return right * (1 + 1e-6 * calls[0])
        if kind == "stake":
            return Payoff(right.group, right.stake * factor)
        if kind == "order":
            return list(right)[:: 1 if calls[0] % 2 else -1]
        if kind == "origin":
            first, second, *rest = right
            return [
                Child(first.state, first.label, second.origin),
                Child(second.state, second.label, first.origin),
                *rest,
            ]
        return {"row": right[:1], "column": right[:, :1], "number": right[0, 0]}[kind]

    method = {
        "deal": "deal", "deal nan": "deal", "luck": "deal", "matrix": "payoff_matrix", "stake": "payoff",
        "order": "children", "origin": "children",
    }.get(kind, "utility")  # fmt: skip
    if kind == "origin" and not swapped_matters(game, where):
        return None
    return kind, lambda: Changed(seed, method, off, unit)


def swapped_matters(game: Changed, state: int) -> bool:
    """Returns whether the rules say something else if the origins of a state's first two children are swapped."""
    first, second, *_ = game.children(state)
    moved = any(origin is not None for origin in (*first.origin, *second.origin))
    same = game.num_hands(first.state) == game.num_hands(second.state)
    return moved and not (same and np.array_equal(game.deal(first.state), game.deal(second.state)))


def check_broken_games(seeds: range) -> dict[str, int]:
    """Checks that games are refused once they are broken, and only then; returns how many of each kind there were."""
    counts: dict[str, int] = {}
    for seed in seeds:
        broken = break_somewhere(np.random.default_rng(seed))
        if broken is None:
            continue
        kind, make = broken
        game = make()
        check_game(Changed(int(game.name.partition(":")[2])))
        try:
            check_game(game)
        except GameError as error:
            counts[kind] = counts.get(kind, 0) + ("\n" not in str(error))
            continue
        pytest.fail(f"seed {seed}: {kind} was not noticed in {game.name}")
    return counts


def test_whatever_is_broken_is_noticed() -> None:
    assert sum(check_broken_games(range(200)).values()) > 100


@pytest.mark.slow
def test_whatever_is_broken_is_noticed_in_many_games() -> None:
    counts = check_broken_games(range(20_000))
    assert len(counts) == 12 and min(counts.values()) > 100, counts


def test_rules_of_a_tree_are_checked_too() -> None:
    game = full_game("payoff", None)
    tree = build_tree(game)
    right = game.utility
    game.utility = lambda state: right(state) * np.nan  # type: ignore[method-assign]
    with pytest.raises(GameError, match="finite"):
        solve(tree, limits=Limits(iterations=2))


def test_shipped_rules_are_trusted_and_others_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(MatrixGame):
        pass

    own, checked = Mine([[1.0, 0.0], [0.0, 1.0]], name="mine"), []
    monkeypatch.setattr(contract, "_check", lambda game, *rest: checked.append(game))
    for game in (load_game("leduc"), load_game("openspiel:kuhn_poker"), own, own, RestrictedGame(own)):
        check_own_game(game)
    assert checked[:1] == [own] and len(checked) == 2 and isinstance(checked[1], RestrictedGame)


class Endless(RandomGame):
    """A walk on the whole numbers with as many public states, which nobody can look at."""

    asked = 0

    def actor(self, state: int) -> int:
        self.asked += 1
        return state % 2

    def actions(self, state: int) -> list[str]:
        return ["left", "right"]

    def children(self, state: int) -> list[Child[int]]:
        return [Child(2 * state + 1, "left"), Child(2 * state + 2, "right")]

    def hands(self, state: int, player: int) -> list[str]:
        return ["-"]

    def deal(self, state: int) -> np.ndarray:
        return np.ones((1, 1))


def test_time_is_bounded_where_there_is_too_much_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(contract, "perf_counter", lambda: float(next(ticks)))  # a look takes a second
    game = Endless(0)
    check_own_game(game, seconds=50.0)
    assert 50 <= next(ticks) <= 60 and game.asked >= 40


def test_a_game_needs_a_name() -> None:
    game = RandomGame(1)
    del game.name
    with pytest.raises(GameError, match="needs a name"):
        check_game(game)


GAME = """
import numpy as np
from aleator.games.one_card import OneCardPoker

class Mine(OneCardPoker):
    def {method}(self, state):
        return super().{method}(state) * {factor}
"""


@pytest.mark.parametrize(
    ("method", "factor", "complaint"),
    [("deal", "0.9", "sums to 0.9"), ("deal", "25", "sums to 25"), ("utility", "np.nan", "finite")],
)
def test_the_command_line_refuses_broken_rules_in_one_line(
    method: str, factor: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(GAME.format(method=method, factor=factor))
    for words in (["solve"], ["play", "--agent", "uniform"], ["games"]):
        verb, *rest = words
        code, _, text = call(capsys, verb, f"python:{file}:Mine", *rest)
        assert code == 2 and complaint in text and text.count("\n") == 1, text
