"""Few flops that stand for all 1,755, with weights; `python -m aleator.abstraction.flop_subsets` computes the file.

Algorithm:
    A flop is described by what it does to hands: the equity of each of the 169 classes against each of eight groups of
    opponents (`abstraction.features`), over all runouts, and by indicators of its texture. Mean equities of any two
    ranges that are made of such classes and groups are linear in these numbers, so weights that keep the mean of each
    number keep mean equities.
    1. k-means finds k clusters of flops, each of which counts as often as it is dealt; the best of several starts.
    2. The flop nearest to the centre of a cluster stands for it, with the weight of its cluster.
    3. Weights are moved, as little as needed, such that the means of all numbers over the k flops come as near as they
       can to those over all flops: least squares with a penalty for leaving the clusters' weights, and no weight below
       0.3 of its cluster's.
    4. Flops are exchanged for others, drawn at random, where that brings these means nearer.

Reference: none for the choice; k-means and OCHS as in `k_means` and `features`.
Deviations: none.
Status: textures of the file's subsets are those of all flops (tests/abstraction/test_flop_subsets.py); docs/reports.md
    compares mean equities and EVs with those of all flops.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from aleator.abstraction.features import GROUPS, count_runouts
from aleator.abstraction.k_means import k_means
from aleator.caching import cache
from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HAND_CLASSES, NUM_HANDS, RANKS, format_cards, parse_cards
from aleator.games.holdem.flops import CONNECTION, PAIRING, SUITS_OF_FLOP, Flop, all_flops
from aleator.solvers.holdem.flop_rows import WeightedFlop, named_flops, weighted

SUBSETS: Final = (25, 49, 85, 184)
_FILE: Final = Path(__file__).parent / "data" / "flop_subsets.json"
_STARTS: Final = 12  # of k-means
_ROUNDS: Final = 40
_TEXTURE: Final = 0.1  # how much an indicator of texture counts beside an equity
_PENALTY: Final = 1e-4  # of weights that leave those of the clusters
_LEAST: Final = 0.3  # of the weight of its cluster that a flop keeps
_EXCHANGES: Final = 3000  # of one flop for another that are tried
_BOTH_CARDS: Final = 5  # on the board at the showdown


class Subset(NamedTuple):
    """Flops that stand for all.

    Attributes:
        numbers: in `all_flops`, ascending, ``[K]``.
        weights: of each, summing to 1, ``[K]``.
    """

    numbers: npt.NDArray[np.int64]
    weights: FloatArray


@cache
def load_subset(count: int) -> tuple[WeightedFlop, ...]:
    """Returns so many flops that stand for all, with their weights, from the file in the package.

    Raises:
        SolveError: there is no subset of that size.
    """
    if count not in SUBSETS:
        raise SolveError(f"there are subsets of {', '.join(map(str, SUBSETS))} flops, and all 1,755; not {count:,}")
    document = json.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(WeightedFlop(parse_cards(text), weight) for text, weight in document[str(count)])


def chosen_flops(text: str) -> tuple[WeightedFlop, ...]:
    """Returns the flops that a user asks for: ``25``, ``49``, ``85``, ``184``, ``all``, or a list such as ``AsKd7h``.

    Raises:
        CardError, SolveError, SpotError: there are none; the message says what is allowed.
    """
    text = text.strip()
    if text in ("all", str(len(all_flops()))):
        return weighted(all_flops())
    if text.isdecimal():
        return load_subset(int(text) if len(text) < 6 else 0)
    return named_flops(text)


def equity_features(flop: Flop) -> FloatArray:
    """Returns the equity of each hand class against each group of opponents on a flop, ``[169 * 8]``."""
    won, met, _ = count_runouts(np.array(flop.cards, np.int8), _BOTH_CARDS)
    rows = np.empty((NUM_HAND_CLASSES, GROUPS))
    for group in range(GROUPS):
        points = np.bincount(HAND_CLASSES, won[:, group], minlength=NUM_HAND_CLASSES)
        times = np.bincount(HAND_CLASSES, 2.0 * met[:, group], minlength=NUM_HAND_CLASSES)
        rows[:, group] = np.divide(points, times, out=np.full(NUM_HAND_CLASSES, 0.5), where=times > 0)
    return rows.ravel()


def texture_features(flops: tuple[Flop, ...]) -> FloatArray:
    """Returns indicators of suits, pairing, connection and the highest card, ``[F, 22]``."""
    textures = [flop.texture for flop in flops]
    names = (("suits", SUITS_OF_FLOP), ("pairing", PAIRING), ("connection", CONNECTION), ("high", tuple(RANKS)))
    return np.array(
        [[getattr(found, name) == value for name, values in names for value in values] for found in textures], float
    )


def all_features(equities: FloatArray) -> FloatArray:
    """Returns the rows that flops are compared by, ``[F, D]``: hands count as often as they are dealt.

    Args:
        equities: `equity_features` of all flops, ``[F, 169 * 8]``.
    """
    share = np.bincount(HAND_CLASSES, minlength=NUM_HAND_CLASSES) / NUM_HANDS
    scaled = equities * np.sqrt(np.repeat(share, GROUPS) / GROUPS)
    return np.concatenate([scaled, _TEXTURE * texture_features(all_flops())], axis=1)


def choose(features: FloatArray, counts: FloatArray, k: int, rng: np.random.Generator) -> Subset:
    """Returns k flops that stand for all.

    Args:
        features: of all flops, ``[F, D]``.
        counts: how many flops each stands for up to suits, ``[F]``.
        k: how many.
        rng: draws the first centres of k-means.
    """
    share = counts / counts.sum()
    # distances and means stay what they are in the directions in which flops differ at all
    centred = features - share @ features
    _, sizes, axes = np.linalg.svd(centred * np.sqrt(share)[:, None], full_matrices=False)
    rows = centred @ axes[sizes > 1e-3 * sizes[0]].T
    found = min(
        (k_means(rows.astype(np.float32), k, rng, weights=share, rounds=_ROUNDS) for _ in range(_STARTS)),
        key=lambda clusters: clusters.distance[-1],
    )
    masses = np.bincount(found.labels, share, minlength=k).astype(np.float64)
    distances = ((rows - found.centres.rows[found.labels]) ** 2).sum(axis=1)
    nearest = [
        int(np.flatnonzero(found.labels == label)[distances[found.labels == label].argmin()]) for label in range(k)
    ]
    chosen = np.array(nearest)
    error, weights = _fit(rows[chosen], masses)
    for _ in range(_EXCHANGES):
        tried = chosen.copy()
        tried[rng.integers(k)] = rng.choice(len(rows), p=share)
        if len(np.unique(tried)) == k:
            new_error, new_weights = _fit(rows[tried], masses)
            if new_error < error:
                chosen, error, weights = tried, new_error, new_weights
    order = np.argsort(chosen)
    return Subset(chosen[order], weights[order] / weights.sum())


def _fit(rows: FloatArray, masses: FloatArray) -> tuple[float, FloatArray]:
    """Returns how far means are from 0, with the penalty, and the weights that bring them there, ``[K]``.

    Args:
        rows: of the flops that stand for all; the mean over all flops is 0.
        masses: weights of the clusters.
    """
    spread = np.sqrt(_PENALTY / masses)
    total = 100.0  # weights sum to 1: as good as exactly
    left = np.concatenate([rows.T, np.diag(spread), np.full((1, len(masses)), total)])
    right = np.concatenate([np.zeros(rows.shape[1]), spread * masses, [total]])
    least = _LEAST * masses
    added, error = nnls(left, right - left @ least)
    return float(error), np.asarray(least + added)


def choose_all(equities: FloatArray) -> dict[str, list[Any]]:
    """Returns all subsets as the file has them, from `equity_features` of all flops."""
    flops, features = all_flops(), all_features(equities)
    counts = np.array([float(flop.times) for flop in flops])
    document: dict[str, list[Any]] = {}
    for k in SUBSETS:
        subset = choose(features, counts, k, np.random.default_rng(k))
        document[str(k)] = [
            [format_cards(flops[number].cards), round(float(weight), 6)]
            for number, weight in zip(subset.numbers, subset.weights, strict=True)
        ]
    return document


if __name__ == "__main__":
    found = choose_all(np.array([equity_features(flop) for flop in all_flops()]))
    lines = [f'"{size}": {json.dumps(rows)}' for size, rows in found.items()]
    _FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
