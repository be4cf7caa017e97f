"""What can be imported from `aleator` itself."""

from __future__ import annotations

import ast
import doctest
import subprocess
import sys
from pathlib import Path

import aleator


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


def test_the_example_of_the_package_runs() -> None:
    assert doctest.testmod(aleator) == doctest.TestResults(failed=0, attempted=3)


def test_importing_the_package_loads_nothing() -> None:
    script = "import sys, aleator; print([name for name in ('numpy', 'numba', 'torch') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
