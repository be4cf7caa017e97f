"""Packing a blueprint that was trained, and what that changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.deals import DealTables, deal_tables
from aleator.abstraction.blueprint.file import TrainedFile
from aleator.abstraction.blueprint.policy import open_policy
from aleator.abstraction.buckets import AbstractionError, Buckets, open_buckets
from aleator.abstraction.packed.coding import LEAST_BITS, MOST_BITS, Levels, Shape, encode, to_levels
from aleator.abstraction.packed.policies import PackedBlueprint, PackedFile, PackedRingBlueprint
from aleator.abstraction.packed.squeezing import squeezed
from aleator.abstraction.ring.deals import RingRoom, deal_ring, ring_room
from aleator.abstraction.ring.file import is_ring_blueprint
from aleator.abstraction.ring.policy import open_ring_policy
from aleator.jit import kernel
from aleator.solvers.engines.sampling.random import advance, stream, uniform

BITS: Final = 5
"""Of a probability, unless said."""
_DEALS: Final = 200_000
_STREAM: Final = 2  # of training's deals: 0


class Packed(NamedTuple):
    """What packing made of a blueprint.

    Attributes:
        bytes: of the file.
        largest: the largest change of a probability.
        mean: how much of a policy changes (half the sum of the changes of its probabilities), in the mean over the
            decisions that play by the blueprint comes to; no number if its buckets are packed themselves.
        deals: that were played for the mean.
    """

    bytes: int
    largest: float
    mean: float | None
    deals: int


class _Steps(NamedTuple):
    """Where decisions lead, and where their rows begin: one after the other, without regrets."""

    player: npt.NDArray[np.int8]  # [D]
    street: npt.NDArray[np.int8]  # [D]
    first: npt.NDArray[np.int32]  # [D + 1]
    target: npt.NDArray[np.int32]  # [E]
    row: npt.NDArray[np.int64]  # [D]


class _Trained(NamedTuple):
    """A blueprint before it is packed."""

    file: TrainedFile
    kind: type[PackedFile]
    buckets: Buckets
    shape: Shape
    steps: _Steps
    weights: npt.NDArray[np.float32]
    players: int


def pack_blueprint(
    source: Path, path: Path, *, bits: int = BITS, buckets: Path | None = None, deals: int = _DEALS
) -> Packed:
    """Writes a blueprint to a small file, replacing it atomically.

    Args:
        source: as `aleator train blueprint` writes it.
        path: of the small file.
        bits: of a probability.
        buckets: by which it is played; None: those that it was trained with, where they lie.
        deals: that are played to see what packing changes.

    Raises:
        AbstractionError: it is packed already, or the buckets are others.
        StorageError: a file cannot be read or written, or is something else.
    """
    if not LEAST_BITS <= bits <= MOST_BITS:
        raise AbstractionError(f"a probability has {LEAST_BITS} to {MOST_BITS} bits, not {bits}")
    trained = _opened(source)
    place = source.parent / trained.file.buckets_place if buckets is None else buckets
    if buckets is not None and open_buckets(buckets).fingerprint != trained.file.fingerprint:
        raise AbstractionError(f"{source} was trained with other buckets than those of {buckets}")
    levels = to_levels(trained.shape, trained.weights, bits)
    tables: dict[str, npt.NDArray[Any]] = {
        "shape": np.array([bits, len(trained.shape.actions)], np.int64),
        "actions": squeezed(trained.shape.actions),
        "buckets": squeezed(trained.shape.buckets),
        "code": encode(trained.shape, levels, bits),
    }
    file = trained.file
    trained.kind.write_tables(path, file.config_text, trained.buckets, place, file.progress, tables)
    changes = np.zeros(len(levels), np.float32)
    largest = _find_changes(trained.shape, trained.weights, levels, (1 << bits) - 1, changes)
    mean = None
    if trained.buckets.is_whole:
        rooms = deal_tables(trained.buckets), ring_room(trained.players)
        mean = _mean_change(np.uint64(0), deals, trained.steps, *rooms, trained.weights, changes)
    return Packed(path.stat().st_size, largest, mean, deals)


def _opened(source: Path) -> _Trained:
    return _opened_ring(source) if is_ring_blueprint(source) else _opened_two(source)


def _opened_ring(source: Path) -> _Trained:
    policy = open_ring_policy(source)
    _check_trained(policy.blueprint)
    arrays, config = policy.betting.arrays, policy.buckets.config
    return _Trained(
        policy.blueprint,
        PackedRingBlueprint,
        policy.buckets,
        Shape.of(arrays.first, arrays.row, arrays.street, config),
        _Steps(arrays.player, arrays.street, arrays.first, arrays.target, arrays.row),
        policy.probabilities,
        policy.betting.players,
    )


def _opened_two(source: Path) -> _Trained:
    policy = open_policy(source)
    _check_trained(policy.blueprint)
    arrays, config = policy.betting.arrays, policy.buckets.config
    rows, weights = arrays.row // 2, np.zeros(policy.betting.size // 2, np.float32)  # there are no regrets
    for decision, row in enumerate(rows.tolist()):
        actions = int(arrays.first[decision + 1] - arrays.first[decision])
        numbers = config.count(int(arrays.street[decision]))
        block = policy.blueprint.average_policy(2 * row, numbers, actions)
        weights[row : row + numbers * actions] = block.ravel()
    return _Trained(
        policy.blueprint,
        PackedBlueprint,
        policy.buckets,
        Shape.of(arrays.first, rows, arrays.street, config),
        _Steps(arrays.player, arrays.street, arrays.first, arrays.target, rows),
        weights,
        2,
    )


def _check_trained(file: TrainedFile) -> None:
    if isinstance(file, PackedFile):
        raise AbstractionError(f"{file.path} is packed already")


@kernel()
def _find_changes(
    shape: Shape, weights: npt.NDArray[np.float32], levels: Levels, steps: int, changes: npt.NDArray[np.float32]
) -> float:
    """Writes how much of each policy changes, beside its first action; returns the largest change of a probability."""
    at, largest = 0, 0.0
    for decision in range(len(shape.actions)):
        actions = int(shape.actions[decision])
        for _ in range(shape.buckets[decision]):
            total, change = 0.0, 0.0
            for action in range(actions):
                total += weights[at + action]
            if total > 0.0:
                for action in range(actions):
                    one = abs(weights[at + action] / total - levels[at + action] / steps)
                    largest = max(largest, one)
                    change += 0.5 * one
            changes[at] = change
            at += actions
    return largest


@kernel()
def _mean_change(
    seed: np.uint64, deals: int, steps: _Steps, tables: DealTables, room: RingRoom,
    weights: npt.NDArray[np.float32], changes: npt.NDArray[np.float32],
) -> float:  # fmt: skip
    """Returns the mean change over the decisions that play comes to in some deals."""
    met, changed = 0, 0.0
    for deal in range(deals):
        state, node = deal_ring(stream(seed, deal, _STREAM, 0), tables, room), 0
        while node >= 0:
            begin = int(steps.first[node])
            actions = int(steps.first[node + 1]) - begin
            at = steps.row[node] + actions * room.numbers[steps.player[node], steps.street[node]]
            met += 1
            changed += changes[at]
            total = 0.0
            for action in range(actions):
                total += weights[at + action]
            state = advance(state)
            left, chosen = uniform(state), 0
            for action in range(actions):
                share = weights[at + action] / total if total > 0.0 else 1.0 / actions
                if share > 0.0:
                    chosen = action
                left -= share
                if left < 0.0:
                    break
            node = int(steps.target[begin + chosen])
    return changed / max(met, 1)
