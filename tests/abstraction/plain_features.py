"""Features of hands board by board, in several calls: what `abstraction.board_features` equals to the last bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aleator.abstraction.boards import hand_map
from aleator.abstraction.features import Counts, Floats, gaps_between, in_steps
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS, blocked_hands


def equities(won: Counts, met: Counts) -> npt.NDArray[np.float64]:
    """Returns the equity of each hand against a random one, ``[1326]``; 0 for hands that met nobody."""
    return np.asarray(won.sum(axis=1) / np.maximum(2.0 * met.sum(axis=1), 1.0))


def ochs(won: Counts, met: Counts) -> Floats:
    """Returns each hand's equity against each group in steps, ``[1326, 8]``; one half where it meets none of them."""
    return in_steps(np.where(met > 0, won / np.maximum(2.0 * met, 1.0), 0.5), "ochs")


def cumulated(counts: npt.NDArray[np.integer], points: npt.NDArray[np.floating], feature: str = "potential") -> Floats:
    """Returns histograms as rows whose sums of absolute differences are earth mover's distances, ``[N, P - 1]``.

    Args:
        counts: ``[N, P]``, of each point; rows without any count give 0.
        points: where they lie, ascending, ``[P]``.
        feature: whose steps they are in.
    """
    below = np.cumsum(counts[:, :-1], axis=1, dtype=np.float64)
    total = np.maximum(counts.sum(axis=1, dtype=np.float64), 1.0)[:, None]
    return np.asarray(np.floor(below * gaps_between(points, feature) / total + 0.5), np.float32)


def count_next_buckets(
    board: npt.NDArray[np.int8], table: npt.NDArray[np.unsignedinteger], buckets: int
) -> npt.NDArray[np.int16]:
    """Returns in which bucket each hand is on the next street, by its card: counts ``[1326, buckets]``.

    Args:
        board: 3 or 4 cards.
        table: the bucket of each hand on each board of the next street, ``[boards, 1326]``.
        buckets: how many there are.
    """
    counts = np.zeros((NUM_HANDS, buckets), np.int16)
    for card in set(range(NUM_CARDS)) - set(board.tolist()):
        longer = np.append(board, np.int8(card))
        row, numbers = hand_map(longer)
        alive = np.flatnonzero(~blocked_hands(longer))
        counts[alive, table[row, numbers[alive]]] += 1
    return counts
