"""What can be imported from `aleator` itself."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import aleator

PAGE = Path(__file__).parents[1] / "docs" / "api" / "index.md"


def test_what_editors_see_is_what_is_imported() -> None:
    source = ast.parse(Path(aleator.__file__).read_text(encoding="utf-8"))
    seen = {
        name.name: line.module
        for branch in source.body
        if isinstance(branch, ast.If)
        for line in branch.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }
    assert seen == aleator._EXPORTS
    assert sorted(aleator.__all__) == dir(aleator) == sorted(["__version__", *seen])
    for name, module in seen.items():
        assert getattr(aleator, name).__module__ == module


def test_every_name_has_its_example() -> None:
    page = PAGE.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", page, flags=re.M | re.S))
    assert sorted(["__version__", *sections]) == sorted(aleator.__all__), "a section per name, a name per section"
    for name, text in sections.items():
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S))
        assert re.search(rf"\b{name}\b", code) or name in ("Solution", "PublicTree", "Policy"), f"{name} has no example"
        assert code, f"{name} has no code"
        assert f"(#{name.lower()})" in page, f"the table at the top has no {name}"


def test_the_example_of_the_package_runs() -> None:
    assert doctest.testmod(aleator) == doctest.TestResults(failed=0, attempted=3)


def test_importing_the_package_loads_nothing() -> None:
    script = "import sys, aleator; print([name for name in ('numpy', 'numba', 'torch') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def _match(**changes: Any) -> aleator.HandMatch:
    return aleator.HandMatch(**({"game": "hunl", "agents": ("random", "random"), "hands": 2} | changes))


POLICY = aleator.uniform_policy(aleator.build_tree(aleator.load_game("kuhn")))


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: aleator.exploitability(aleator.solve("kuhn", iterations=1)), "a Policy, not .*: take its .policy"),
        (lambda: aleator.expected_value("kuhn"), "this measures a Policy, not 'kuhn'"),
        (lambda: aleator.uniform_policy("kuhn"), "on a tree, as build_tree makes it of a game, not on 'kuhn'"),
        (lambda: aleator.best_response(POLICY, player=2), "a player is 0 or 1, not 2"),
        (lambda: aleator.solve("kuhn", iterations=1.5), "iterations must be at least 1 and at most .*, not 1.5"),
        (lambda: aleator.solve("kuhn", iterations=True), "not True"),
        (lambda: aleator.solve("kuhn", iterations="5"), "not '5'"),
        (lambda: aleator.solve("kuhn", seconds="5"), "seconds must be positive, not '5'"),
        (lambda: aleator.solve("kuhn", exploitability="small"), "must be positive and finite, not 'small'"),
        (lambda: _match(agents=("random", 3)), "agents are a name each, not .*FILE.py:CLASS"),
        (lambda: _match(agents="random"), "agents are a name each, not 'random'"),
        (lambda: _match(hands=2.5), "at least 1 hand, not 2.5"),
        (lambda: _match(game=3), "a game is named, such as hunl, not 3"),
        (lambda: aleator.solve("kuhn", resume="k.solution"), "is a Solution, as open_solution reads it, not 'k.sol"),
    ],
)
def test_mistakes_of_a_caller_are_errors_of_the_package(mistake: Callable[[], object], message: str) -> None:
    with pytest.raises(aleator.AleatorError, match=message):
        mistake()
