"""What the compiled functions of a search are given: the blueprint, what chance may deal, working memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.ring.betting import RingArrays

Floats = npt.NDArray[np.float32]


class Guide(NamedTuple):
    """A blueprint: `RingPolicy` in arrays."""

    betting: RingArrays
    probabilities: Floats  # of all rows
    kinds: npt.NDArray[np.int8]  # [E] fold, call or raise
    counts: npt.NDArray[np.int64]  # [4] buckets on each street
    stack: float  # chips that everybody begins with


class Chances(NamedTuple):
    """What is drawn from: H hands that the board allows, R boards to the end of the hand."""

    masks: npt.NDArray[np.uint64]  # [H] cards of a hand, a bit each
    ends: npt.NDArray[np.float64]  # [P, H] sums of beliefs, 1 at the last hand
    beliefs: Floats  # [P, H]
    boards: npt.NDArray[np.uint64]  # [R] cards that are still to come, a bit each
    strengths: npt.NDArray[np.int16]  # [R, H]
    numbers: npt.NDArray[np.int16]  # [R, 4, H] buckets on each street; on that of the search a hand's column
    columns: int  # of regrets on the street of the search: H, or before the flop as many as there are classes


class Room(NamedTuple):
    """Working memory of one thread."""

    visit: npt.NDArray[np.int32]  # [N] nodes in the order of their visits
    below: npt.NDArray[np.int32]  # [N] the first visit below each
    hands: npt.NDArray[np.int32]  # [P] what was drawn
    chosen: npt.NDArray[np.int32]  # [P] continuations at a leaf
    alive: Floats  # [H]
    values: Floats  # [N, H]
    policy: Floats  # [actions + 1, max(H, K)]
    weights: Floats  # [4, H] how much likelier a hand is to play on as was drawn, in each continuation
    shares: Floats  # [4, K]
    odds: npt.NDArray[np.float64]  # [A] of actions, or continuations, one of which is drawn
