"""What workers send is plain JSON, whatever NumPy made of it."""

from __future__ import annotations

import io
import json
from typing import NamedTuple

import numpy as np

from aleator.apps.web.worker.channel import Channel, plain


class Pair(NamedTuple):
    first: float
    second: object


def test_values_become_plain_json() -> None:
    value = {
        1: np.float32(1 / 3), "array": np.array([[1.0, np.nan]]), "flags": (1, np.int64(3), np.bool_(True)),
        "nested": {"infinite": -np.inf}, "pair": Pair(1 / 3, None), "point": np.array(3.5), "text": "ü", "whole": 2**60,
        "digits": 1.23456789012,
    }  # fmt: skip
    assert plain(value) == {
        "1": 0.3333333, "array": [[1.0, None]], "flags": [1, 3, True], "nested": {"infinite": None},
        "pair": [0.3333333, None], "point": 3.5, "text": "ü", "whole": 2**60, "digits": 1.234568,
    }  # fmt: skip


def test_frames_say_their_kind_and_size() -> None:
    answers = io.BytesIO()
    Channel(answers).report(stage="solving", exploitability=np.float64("nan"))
    header, body = answers.getvalue().split(b"\n", 1)
    assert json.loads(header) == {"kind": "event", "size": len(body)}
    assert json.loads(body) == {"stage": "solving", "exploitability": None}
