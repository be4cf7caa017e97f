"""`aleator paper neural-comparison` runs every method on both games; numbers are for the whole run to say."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.apps.papers import neural_comparison
from aleator.apps.papers.base import Settings
from aleator.apps.papers.neural_comparison import Task, report, run_task, tasks
from tests.apps.calls import quick_paper

METHODS = {"MCCFR (tables)", "SD-CFR", "Deep CFR", "NFSP", "Double Neural CFR", "ReBeL"}


@pytest.mark.slow
def test_every_method_has_a_curve_on_both_games(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "neural-comparison", tmp_path)
    assert set(document["panels"]) == {"leduc", "liars-dice:1x4"} and len(document["rows"]) == 12
    for curves in document["panels"].values():
        assert set(curves) == METHODS
        for points in curves.values():
            seconds = [point[0] for point in points]
            assert seconds == sorted(seconds) and all(0 < point[1] < 5 for point in points)


def test_looks_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that goes on in steps of a second is looked at from 1/32 of its time on, eight times at most."""
    monkeypatch.setattr(
        neural_comparison, "_sampled", lambda _: ((float(t), lambda t=t: {"x": 1.0 / t}) for t in range(1, 1000))
    )
    points = run_task(Task("kuhn", "NFSP", 64.0, 0, quick=True))["x"]
    assert [seconds for seconds, _ in points] == [2, 4, 6, 9, 15, 24, 40, 64]


def test_a_curve_is_what_all_seeds_have_reached() -> None:
    """Each run was looked at when its epochs ended; at a time the last look until then counts, or a little later."""
    settings = Settings()
    looks = {0: [(2.0, 0.5), (10.0, 0.25), (61.0, 0.125)], 1: [(3.0, 0.5), (61.0, 0.25)], 2: [(5.0, 1.0), (60.5, 0.5)]}
    document = report(settings, {name: {task.method: looks[task.seed]} for name, task in tasks(settings).items()})
    points, bands = (shown["leduc"]["NFSP"] for shown in (document.panels, document.bands))
    assert [round(quality, 4) for _, quality in points] == [0.6667, 0.5833, 0.5833, 0.5833, 0.5833, 0.2917]
    assert points[0][0] == pytest.approx(10 / 3) and points[-1][0] == pytest.approx(60.8333, abs=1e-3)
    assert [(low, high) for _, low, high in (bands[0], bands[-1])] == [(0.5, 1.0), (0.125, 0.5)]
