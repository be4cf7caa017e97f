"""A small abstraction for tests: flop hold'em with made-up buckets, which need no build."""

from __future__ import annotations

import numpy as np

from aleator.abstraction.boards import all_boards
from aleator.abstraction.buckets import BucketConfig, Buckets
from aleator.games.holdem.cards import blocked_hands
from aleator.games.holdem.equity import hand_strengths

GAME = "flop-holdem"


def small_buckets(count: int = 10, *, perfect_recall: bool = False) -> Buckets:
    """Returns buckets by the strength on the flop, equally wide."""
    config = BucketConfig(game=GAME, buckets=(count,), features=("equity",), perfect_recall=perfect_recall)
    table = np.zeros((1755, 1326), np.uint8)
    for row, board in enumerate(all_boards(1)):
        strengths = np.where(blocked_hands(board), 0.0, hand_strengths(board))
        table[row] = np.minimum(strengths * count, count - 1)
    middle = (np.arange(count) + 0.5) / count
    return Buckets(config, [table], [middle], np.zeros(1755, np.int16), {"fingerprint": f"small {count}", "seconds": 0})
