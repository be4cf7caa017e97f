"""The tabular experiments of Double Neural CFR: claims hold in a quick run already, means and bands are the runs'."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.apps.papers.base import Settings
from aleator.apps.papers.double_neural import Curve, Method, batched, panels, rows, sampled_curves, setting
from aleator.games import load_game
from aleator.solvers.solve import make_solver
from aleator.trees import build_tree
from tests.apps.calls import quick_paper


@pytest.mark.slow
def test_one_card_poker(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "double-neural-fig5", tmp_path)
    assert all(claim["agrees"] for claim in document["claims"])
    ours = {row["method"]: row["ours"] for row in document["rows"]}
    assert ours["outcome"] > 3 * ours["k = 1"]
    assert ours["MCCFR+, k = max"] < ours["b = 5,000"] / 2
    for title, curves in document["panels"].items():
        for label, points in curves.items():
            for (x, y), (same, low, high) in zip(points, document["bands"][title][label], strict=True):
                assert x == same and low <= y <= high
    assert document["panels"]["A: batches, k = max"]["b = 1"][-1][0] == 32
    assert document["panels"]["C: MCCFR+ over nodes touched"]["MCCFR+, k = max"][-1][0] > 1e6


@pytest.mark.slow
def test_no_limit_leduc(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "double-neural-fig3", tmp_path)
    assert all(claim["agrees"] for claim in document["claims"])
    ours = {row["method"]: row["ours"] for row in document["rows"]}
    assert ours["outcome"] > 0.5 > ours["k = 1"] > 2 * ours["k = 3"]
    assert "2 runs (seeds 0 to 1)" in document["setting"]


def test_a_curve_is_the_mean_of_runs_with_different_seeds() -> None:
    methods = [Method("A: panel", "three", "mccfr:batch=3", "paper's"), Method("C: nodes", "three", "mccfr:batch=3")]
    settings = Settings(quick=True, seed=5)
    curves = sampled_curves("kuhn", methods, settings, lambda share, text: None)
    curve = curves["mccfr:batch=3"]
    tree, found = build_tree(load_game("kuhn")), []
    for seed in (5, 6):
        solver = make_solver(tree, "mccfr:batch=3", seed=seed)
        solver.run(32)
        found.append(solver.nash_conv() / 2)
    assert curve.final == pytest.approx(np.mean(found))
    assert (curve.low[-1], curve.high[-1]) == (min(found), max(found))
    assert rows(methods, curves) == (
        ("A", "three", 3, "paper's", curve.final, min(found), max(found), curve.touched[-1] / 1e6),
    )
    shown, bands = panels(methods, curves, nodes="C: nodes")
    assert shown["A: panel"]["three"][-1] == (32.0, curve.final)
    assert bands["C: nodes"]["three"][-1] == (curve.touched[-1], min(found), max(found))
    assert "seeds 5 to 6" in setting(settings)


def test_values_between_points_are_interpolated_on_logarithmic_axes() -> None:
    points = np.array([1.0, 100.0])
    curve = Curve(points, points * 10, np.array([4.0, 1.0]), points, points)
    assert curve.after(100.0) == pytest.approx(2.0)
    assert batched("mccfr") == "mccfr:batch=5000" and batched("mccfr:robust3", 7) == "mccfr:robust3,batch=7"
