"""Buckets in a small file: the table of the flop, and the centres by which turns and rivers are made when asked for.

With 200 buckets a street that is 0.6 MB in place of 202 (docs/algorithms/abstraction.md has the sizes). The
buckets are the same, bit by bit (`abstraction.made_rows`), and so is their fingerprint. What cards do to numbers, which
values of blueprints need, is counted before, since it takes a look at millions of boards.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.chances import MOST_NUMBERS, NumberChances, count_chances
from aleator.abstraction.boards import board_indexer
from aleator.abstraction.buckets import (
    PACKED_FORMAT,
    AbstractionError,
    BucketConfig,
    Buckets,
    Parts,
    bucket_type,
    check_centres,
)
from aleator.abstraction.features import width_of
from aleator.abstraction.made_rows import made_rows
from aleator.abstraction.packed.squeezing import squeezed, unsqueezed
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.cards import NUM_HANDS
from aleator.storage import ArrayFile, write_arrays

_DEALS: Final = 4_000_000
_MOVE_STEPS: Final = 65_535  # of a chance that a number becomes another
_SHOWDOWN_STEPS: Final = 127  # of how much oftener a number wins than it loses


def pack_buckets(buckets: Buckets, path: Path | str, *, deals: int = _DEALS) -> None:
    """Writes buckets to a small file, replacing it atomically.

    Args:
        buckets: with whole tables, and the centres that they were made by.
        path: the file.
        deals: that show what cards do to numbers.

    Raises:
        AbstractionError: their file is of a version that kept no centres.
    """
    config, names = buckets.config, STREET_NAMES[1:]
    if buckets.centres is None:
        raise AbstractionError("these buckets come from a file without centres: make it anew to pack it")
    arrays: dict[str, npt.NDArray[Any]] = {"flop": squeezed(buckets.table(1).T), "flop clusters": buckets.flops}
    arrays |= {f"{name} equity": np.asarray(row) for name, row in zip(names, buckets.equities, strict=False)}
    for street in range(1, config.last_street + 1):
        arrays[f"{names[street - 1]} centres"] = squeezed(buckets.centres[street - 1].astype(np.int32).T)
    if max(config.count(street) for street in range(config.last_street + 1)) <= MOST_NUMBERS:
        chances = buckets.chances or count_chances(buckets, deals=deals)
        for street, moves in enumerate(chances.moves):
            arrays[f"moves {street}"] = squeezed(np.rint(moves * _MOVE_STEPS).astype(np.uint16))
        for street, showdowns in enumerate(chances.showdowns):
            arrays[f"showdowns {street}"] = squeezed(np.rint(showdowns * _SHOWDOWN_STEPS).astype(np.int8))
    metadata = {"format": PACKED_FORMAT, "config": config.to_json(), "report": json.dumps(buckets.report)}
    write_arrays(path, arrays, metadata)


def unpack_parts(file: ArrayFile, config: BucketConfig, equities: Sequence[npt.NDArray[np.floating]]) -> Parts:
    """Returns what a file that `pack_buckets` wrote has of buckets by street.

    Raises:
        ValueError: it does not fit the settings.
    """
    for name, equity in zip(STREET_NAMES[1:], equities, strict=False):
        if not (equity.min() >= 0.0 and equity.max() <= 1.0):  # NaN is neither
            raise ValueError(f"its equities of the {name} are not from 0 to 1")
    kind, boards = bucket_type(config.buckets[0]), len(board_indexer(1))
    flop = np.ascontiguousarray(unsqueezed(file, "flop", kind, (NUM_HANDS, boards)).T)
    centres = []
    for street in range(1, config.last_street + 1):
        following = config.buckets[street] if street < config.last_street else 0
        width = width_of(config.features[street - 1], following)
        shape = (width, config.buckets[street - 1])
        rows = unsqueezed(file, f"{STREET_NAMES[street]} centres", np.int32, shape).T
        centres.append(np.ascontiguousarray(rows, np.float32))
        check_centres(street, centres[-1], config)
    chances = _unpack_chances(file, config) if "moves 0" in file else None
    return Parts([flop, *made_rows(config, centres[1:], equities)], centres, chances)


def _unpack_chances(file: ArrayFile, config: BucketConfig) -> NumberChances:
    """Returns what cards do to numbers; raises ValueError if it does not fit the settings."""
    counts = [config.count(street) for street in range(config.last_street + 1)]
    moves = []
    for street, shape in enumerate(itertools.pairwise(counts)):
        steps = unsqueezed(file, f"moves {street}", np.uint16, shape).astype(np.float32)
        moves.append(np.asarray(steps / np.maximum(steps.sum(axis=1, keepdims=True), 1.0), np.float32))
    showdowns = [
        np.asarray(unsqueezed(file, f"showdowns {street}", np.int8, (count, count)) / _SHOWDOWN_STEPS, np.float32)
        for street, count in enumerate(counts)
    ]
    return NumberChances(tuple(moves), tuple(showdowns))
