"""What the table of a blueprint of several players says, in NumPy: what `RingPolicy` is compared with."""

from __future__ import annotations

import numpy as np

from aleator.abstraction.ring.training import RingTrainer
from aleator.games.base import FloatArray


def table_policy(trainer: RingTrainer, decision: int) -> FloatArray:
    """Returns the policy of a decision, ``[buckets, actions]``: the average; the current one before a snapshot."""
    arrays = trainer.betting.arrays
    actions, begin = int(arrays.first[decision + 1] - arrays.first[decision]), int(arrays.row[decision])
    count = trainer.buckets.config.count(int(arrays.street[decision]))
    averaged, current = (
        np.maximum(table[begin : begin + count * actions], 0).reshape(count, actions).astype(np.float64)
        for table in (trainer.sums, trainer.regrets)
    )
    weights = np.where(averaged.sum(axis=1, keepdims=True) > 0.0, averaged, current)
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.full_like(weights, 1.0 / actions), where=total > 0.0))
