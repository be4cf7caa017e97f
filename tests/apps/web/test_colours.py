"""Actions can be told apart by their colours, also by who sees red and green, or blue and yellow, alike."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from aleator.apps import web

CSS = (Path(web.__file__).parent / "static" / "css" / "base.css").read_text(encoding="utf-8")
NAMES = ("fold", "call", "bet-1", "bet-2", "bet-3", "bet-4", "bet-5")
# linear RGB as it is seen: Viénot, Brettel and Mollon (1999) for red and green; Brettel's plane for blue and yellow
SEEN = {
    "by most": np.eye(3),
    "without green": np.array([[0.29275, 0.70725, -0.02234], [0.29275, 0.70725, -0.02234], [-0.02234, 0.02234, 1.0]]),
    "without red": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "without blue": np.array([[1.0, 0.14461, -0.14461], [0.0, 0.85924, 0.14076], [0.0, 0.85924, 0.14076]]),
}


def lab(colour: str, seen: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """CIE L*a*b* of #rrggbb as somebody sees it."""
    raw = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = (seen @ np.where(raw <= 0.04045, raw / 12.92, ((raw + 0.055) / 1.055) ** 2.4)).clip(0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ linear / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def palettes() -> list[dict[str, str]]:
    """The colours of light and dark, as often as the sheet says them."""
    found = {name: re.findall(rf"--{name}: (#[0-9a-f]{{6}})", CSS) for name in NAMES}
    return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


@pytest.mark.parametrize("who", SEEN)
def test_actions_differ_in_colour(who: str) -> None:
    assert len(palettes()) >= 2
    for palette in palettes():
        for one, other in combinations(NAMES, 2):
            apart = float(np.linalg.norm(lab(palette[one], SEEN[who]) - lab(palette[other], SEEN[who])))
            needed = 9 if "bet" in one and "bet" in other else 10 if who == "without blue" else 20
            assert apart > needed, f"{one} and {other} of {palette[one]} and {palette[other]} {who}: {apart:.0f}"
