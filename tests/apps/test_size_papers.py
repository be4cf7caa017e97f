"""The experiments with bet sizes: they run and report; whether numbers agree is mostly for the whole run to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.apps.papers.opening_bet import _gained
from tests.apps.calls import quick_paper


@pytest.mark.slow
def test_parameters_of_leduc(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "parameter-optimisation", tmp_path)
    one, both = document["rows"]
    assert one["first"] is None and one["second"] == pytest.approx(9.75, abs=0.5)
    assert one["value"] == pytest.approx(0.1607, abs=5e-4) and both["value"] > one["value"]
    assert both["first"] == pytest.approx(1.66, abs=0.1) and both["second"] == pytest.approx(8.43, abs=0.5)
    assert len(document["claims"]) == 5


@pytest.mark.slow
def test_the_opening_bet(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "opening-bet", tmp_path)
    assert [row["run"] for row in document["rows"]] == ["from 0.5", "from 2"] and "20 steps" in document["setting"]
    curves = document["panels"]["opening bet, pots"]
    assert [curves[name][0][1] for name in ("from 0.5", "from 2")] == [0.5, 2.0]
    assert all(len(curve) == 20 and curve[-1][1] != curve[0][1] for curve in curves.values())
    assert all(row["± gradient"] > 0.0 and row["±"] > 0.0 for row in document["rows"])


def test_fixed_sizes_are_compared_by_their_gradients() -> None:
    assert _gained({0.5: 0.2, 0.6: 0.0, 0.8: -0.1}) == pytest.approx({0.5: 0.0, 0.6: 0.01, 0.8: 0.0})


@pytest.mark.slow
def test_sizes_of_rivers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "holdem-sizes", tmp_path)
    (row,) = document["rows"]
    assert row["memory, %"] < 100 / 3 and row["grown"] == pytest.approx(row["ten sizes"], abs=0.4)
    assert row["wins"] >= row["wins there"] - 0.4
    assert all(claim["agrees"] for claim in document["claims"])
