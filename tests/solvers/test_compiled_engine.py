"""The compiled engine and searches in parts: equal to the plain torch engine, whatever the number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from aleator.games.registry import load_game
from aleator.learning.rebel.subgames import Subgames
from aleator.solvers.engines.batched.compiled import CompiledEngine
from aleator.solvers.engines.batched.engine import Searched, TorchEngine, make_engine
from aleator.solvers.engines.batched.forest import Forest
from aleator.solvers.engines.batched.parts import PART, search
from aleator.solvers.regret_rule import CFR_PLUS, DCFR
from aleator.solvers.search_rule import SearchRule, find_rule

Tensor = torch.Tensor


class Smooth:
    """A value function that is easy to compute: a hand is worth more, the likelier the opponent's last hand."""

    def bind(self, forest: Forest) -> Smooth:
        self._rows = forest.leaves
        return self

    def __call__(self, player: int, reach: tuple[Tensor, Tensor]) -> Tensor:
        mine, other = reach[player][self._rows], reach[1 - player][self._rows]
        total = other.sum(dim=1, keepdim=True).clamp(min=1e-9)
        return other[:, -1:] / total - 0.3 * mine / mine.sum(dim=1, keepdim=True).clamp(min=1e-9)


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Puts the number of threads back."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def random_forest(game: str, number: int, dtype: torch.dtype) -> tuple[Forest, tuple[Tensor, Tensor]]:
    """Returns random subgames of a game with random reach at their roots."""
    generator = torch.Generator().manual_seed(2)
    subgames = Subgames(load_game(game), dtype=dtype)
    forest = subgames.forest(torch.randint(len(subgames.states), (number,), generator=generator))
    reach = [torch.rand((number, subgames.shapes.num_hands), generator=generator, dtype=dtype) for _ in (0, 1)]
    return forest, (reach[0], reach[1])


def check_equal(found: Searched, expected: Searched, tolerance: float) -> None:
    """Checks that two searches found the same."""
    for name in ("policy", "beliefs_policy", "average"):
        torch.testing.assert_close(getattr(found, name), getattr(expected, name), rtol=0, atol=tolerance)
    for player in (0, 1):
        torch.testing.assert_close(found.values[player], expected.values[player], rtol=0, atol=tolerance)


@pytest.mark.parametrize("game", ["liars-dice:1x3", "leduc"])
@pytest.mark.parametrize("rule", [find_rule("cfr-d"), SearchRule(update=DCFR), SearchRule(update=CFR_PLUS)])
def test_the_compiled_engine_is_the_plain_one(game: str, rule: SearchRule) -> None:
    forest, reach = random_forest(game, 40, torch.float64)
    assert len(forest.leaves)
    keep = torch.arange(40) % 31
    compiled, plain = (
        engine(forest, Smooth(), reach, rule, 30).search(keep) for engine in (CompiledEngine, TorchEngine)
    )
    check_equal(compiled, plain, 1e-9)


def test_it_is_used_where_it_fits() -> None:
    forest, reach = random_forest("liars-dice:1x2", 3, torch.float32)
    assert type(make_engine(forest, Smooth(), reach, find_rule("cfr-d"), 4)) is CompiledEngine
    for rule in ("modified-cfr-ave", "linear-fp", "flop"):
        assert type(make_engine(forest, Smooth(), reach, find_rule(rule), 4)) is TorchEngine


@pytest.mark.parametrize("rule", ["cfr-d", "linear-fp"])
def test_parts_and_threads_change_nothing(rule: str) -> None:
    forest, reach = random_forest("liars-dice:1x3", 2 * PART + 5, torch.float64)
    keep = torch.arange(len(forest.shape)) % 9
    whole = make_engine(forest, Smooth(), reach, find_rule(rule), 8).search(keep)
    parts = search(forest, Smooth(), reach, find_rule(rule), 8, keep)
    check_equal(parts, whole, 1e-12)
    torch.set_num_threads(3)
    check_equal(search(forest, SharedSmooth(), reach, find_rule(rule), 8, keep), parts, 0.0)
    assert torch.get_num_threads() == 3


class SharedSmooth:
    """`Smooth` for several forests at once."""

    def bind(self, forest: Forest) -> Smooth:
        return Smooth().bind(forest)
