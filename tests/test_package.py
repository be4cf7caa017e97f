"""What can be imported from `aleator` itself."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path

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
