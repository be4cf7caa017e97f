"""`aleator algorithms`: the registry, as a list and in detail."""

from __future__ import annotations

import json

import pytest

from aleator.solvers.algorithms import ALGORITHMS
from tests.apps.calls import call


def test_algorithms_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = call(capsys, "algorithms")
    assert code == 0 and all(f" {name} " in text for name in ALGORITHMS)
    code, text, _ = call(capsys, "algorithms", "--json")
    assert code == 0 and json.loads(text) == [known.describe() for known in ALGORITHMS.values()]


def test_one_algorithm_is_shown_with_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = call(capsys, "algorithms", "lmccfr")
    flat = " ".join(text.split())
    assert code == 0 and "thesis 3.1.5" in flat and "10,000,000" in flat and "epsilon=X" in flat
    assert "discount=none|linear|initial linear" in flat, "the default is that of linear MCCFR"
    _, text, _ = call(capsys, "algorithms", "rbp:skip=3", "--json")
    assert json.loads(text)["name"] == "rbp"
    code, _, error = call(capsys, "algorithms", "dcfrr")
    assert code == 2 and "unknown algorithm 'dcfrr'; did you mean 'dcfr'?" in " ".join(error.split())


def test_help_names_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    _, text, _ = call(capsys, "solve", "--help")
    words = set(text.replace("│", " ").replace(",", " ").replace(";", " ").split())
    assert set(ALGORITHMS) <= words
    _, text, _ = call(capsys, "holdem", "solve", "--help")
    assert "sharp-dcfr+" in text and "mccfr" not in text and "hedge" not in text
