"""Folds and showdowns as operators in O(H) per terminal, WIDE terminals of a board at a time.

Against an opponent's reach r, a hand's value at a fold is the reach of all compatible hands, and at a showdown the
reach of weaker minus that of stronger compatible hands. With hands sorted by strength both are running sums; hands that
share a card with one's own are taken out by running sums per card. WIDE terminals are scanned together: their rows are
turned into columns, so that one vector holds the same hand of WIDE terminals.

Sums are exact: reach is scaled to integers such that a whole row sums to 2^29 (float32 would cancel badly).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.cards import NUM_CARDS
from aleator.jit import inner_kernel
from aleator.kernels.aligned import aligned_zeros
from aleator.kernels.simd import WIDE, load_wide, raw, splat_wide, store, total
from aleator.solvers.engines.boards.columns import folds_to_rows, rakes_to_rows, rows_to_columns, showdowns_to_rows
from aleator.solvers.engines.boards.forest import BettingForest
from aleator.solvers.engines.boards.tables import NOBODY, HandTable

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
Int16Array = npt.NDArray[np.int16]
Int64Array = npt.NDArray[np.int64]

UNIT = np.float32(2.0**29)


class Scratch(NamedTuple):
    """Working memory of one thread for the scans: [hands + 1, WIDE], [cards + 2, WIDE] and [WIDE] numbers."""

    columns: Int32Array
    results: Int32Array
    sums: Int32Array
    held: Int32Array
    starts: Int64Array
    fold_starts: Int64Array
    show_starts: Int64Array
    rescale: Float32Array
    fold_scale: Float32Array
    show_scale: Float32Array
    rake_scale: Float32Array


def new_scratch(width: int) -> Scratch:
    """Returns scratch for rows of at most `width` hands."""
    hands, cards = (width + 1) * WIDE, (NUM_CARDS + 2) * WIDE
    columns, results = (aligned_zeros(hands, np.int32) for _ in range(2))
    sums, held = aligned_zeros(cards, np.int32), aligned_zeros(max(hands, cards), np.int32)
    starts, fold_starts, show_starts = (aligned_zeros(WIDE, np.int64) for _ in range(3))
    rescale, fold_scale, show_scale, rake_scale = (aligned_zeros(WIDE, np.float32) for _ in range(4))
    return Scratch(
        columns, results, sums, held, starts, fold_starts, show_starts, rescale, fold_scale, show_scale, rake_scale
    )


@inner_kernel(forceinline=True)
def _row_sum(rows: Float32Array, at: int, width: int) -> Any:
    first, second = splat_wide(np.float32(0.0)), splat_wide(np.float32(0.0))
    for i in range(0, width - WIDE, 2 * WIDE):
        first = first + load_wide(rows, at + i)
        second = second + load_wide(rows, at + i + WIDE)
    if width // WIDE % 2:
        first = first + load_wide(rows, at + width - WIDE)
    return total(first + second)


@inner_kernel(forceinline=True)
def _clear_row(rows: Float32Array, at: int, width: int) -> None:
    zero = splat_wide(np.float32(0.0))
    for i in range(0, width, WIDE):
        store(rows, at + i, zero)


@inner_kernel(forceinline=True)
def _sum_cards(
    reach: Int32Array, count: int, card1: Int16Array, card2: Int16Array, sums: Int32Array, more: Int32Array
) -> None:
    """Writes the reach that holds each card to sums[card], the whole reach to sums[NUM_CARDS].

    Two sets of sums take turns, so that an addition need not wait for the one before.
    """
    zero = splat_wide(np.int32(0))
    for card in range(NUM_CARDS + 1):
        store(sums, card * WIDE, zero)
        store(more, card * WIDE, zero)
    even, odd = zero, zero
    paired = count // 2 * 2
    for hand in range(0, paired, 2):
        here, next_here = load_wide(reach, hand * WIDE), load_wide(reach, hand * WIDE + WIDE)
        a, b = raw(card1, hand), raw(card2, hand)
        c, d = raw(card1, hand + 1), raw(card2, hand + 1)
        store(sums, a, load_wide(sums, a) + here)
        store(more, c, load_wide(more, c) + next_here)
        store(sums, b, load_wide(sums, b) + here)
        store(more, d, load_wide(more, d) + next_here)
        even = even + here
        odd = odd + next_here
    if paired < count:
        here = load_wide(reach, paired * WIDE)
        a, b = raw(card1, paired), raw(card2, paired)
        store(sums, a, load_wide(sums, a) + here)
        store(sums, b, load_wide(sums, b) + here)
        even = even + here
    for card in range(NUM_CARDS):
        store(sums, card * WIDE, load_wide(sums, card * WIDE) + load_wide(more, card * WIDE))
    store(sums, NUM_CARDS * WIDE, even + odd)


@inner_kernel(forceinline=True)
def _scan_showdowns(
    reach: Int32Array,
    values: Int32Array,
    sums: Int32Array,
    held: Int32Array,
    own: HandTable,
    other: HandTable,
    board: int,
) -> None:
    """Writes per own hand the reach of weaker and of no better compatible hands, added; leaves sums as `_sum_cards`.

    Less the reach of all compatible hands, that is weaker minus stronger: ties cancel.
    """
    own1, own2, card1, card2 = own.card1[board], own.card2[board], other.card1[board], other.card2[board]
    group_start, below, upto = own.group_start[board], own.below[board], own.upto[board]
    zero = splat_wide(np.int32(0))
    for card in range(NUM_CARDS):
        store(sums, card * WIDE, zero)
    running, passed = zero, 0
    for group in range(own.num_groups[board]):
        running = _pass_hands(reach, sums, card1, card2, passed, raw(below, group), running)
        before = running
        first, end = raw(group_start, group), raw(group_start, group + 1)
        for hand in range(first, end):
            shared = load_wide(sums, raw(own1, hand)) + load_wide(sums, raw(own2, hand))
            store(held, (hand - first) * WIDE, before - shared)
        passed = raw(upto, group)
        running = _pass_hands(reach, sums, card1, card2, raw(below, group), passed, running)
        for hand in range(first, end):
            shared = load_wide(sums, raw(own1, hand)) + load_wide(sums, raw(own2, hand))
            store(values, hand * WIDE, load_wide(held, (hand - first) * WIDE) + running - shared)
    running = _pass_hands(reach, sums, card1, card2, passed, other.alive[board], running)
    store(sums, NUM_CARDS * WIDE, running)


@inner_kernel(forceinline=True)
def _pass_hands(
    reach: Int32Array, sums: Int32Array, card1: Int16Array, card2: Int16Array, start: int, end: int, running: Any
) -> Any:
    """Returns the running sum after the opponent's hands start..end have been passed; updates the sums per card."""
    for hand in range(start, end):
        here = load_wide(reach, hand * WIDE)
        a, b = raw(card1, hand), raw(card2, hand)
        running = running + here
        store(sums, a, load_wide(sums, a) + here)
        store(sums, b, load_wide(sums, b) + here)
    return running


@inner_kernel(inline="always")
def evaluate_terminals(
    player: int, forest: BettingForest, chunk: int, board: int, own: HandTable, other: HandTable, reach: Float32Array,
    reach_at: int, values: Float32Array, values_at: int, waste: int, scratch: Scratch, raked: bool,
) -> None:  # fmt: skip
    """Writes the traverser's values of all terminals of a chunk on a board; zero where the opponent never comes.

    Args:
        reach: from `reach_at` on the opponent's reach, a row per slot.
        values: from `values_at` on the traverser's values, a row per node of the chunk; `waste` is a row for lanes
            whose values nobody needs.
        scratch: working memory of this thread.
        raked: whether the house takes anything.
    """
    own_width, other_width = own.card1.shape[1], other.card1.shape[1]
    columns, results, sums, held = scratch.columns, scratch.results, scratch.sums, scratch.held
    card1, card2, same = own.card1[board], own.card2[board], own.same[board]
    zero = splat_wide(np.int32(0))
    store(columns, other_width * WIDE, zero)  # the column of hands that the opponent cannot have
    store(sums, NOBODY, zero)
    for hand in range(own.alive[board], own_width):
        store(results, hand * WIDE, zero)
    lane, end = forest.lane_start[player, chunk], forest.lane_start[player, chunk + 1]
    while lane < end:
        lane, filled, folds, shows = _fill_lanes(
            player, forest, chunk, lane, own, other, reach, reach_at, values, values_at, waste, scratch
        )
        if filled == 0:
            return
        for i in range(0, other_width, WIDE):
            rows_to_columns(reach, scratch.starts, i, scratch.rescale, columns)
        if shows:
            _scan_showdowns(columns, results, sums, held, own, other, board)
        else:
            _sum_cards(columns, other.alive[board], other.card1[board], other.card2[board], sums, held)
        whole = load_wide(sums, NUM_CARDS * WIDE)
        if folds:
            starts, scale = scratch.fold_starts, scratch.fold_scale
            for i in range(0, own_width, WIDE):
                folds_to_rows(columns, same, sums, card1, card2, whole, scale, values, starts, i)
        if shows:
            starts, scale = scratch.show_starts, scratch.show_scale
            for i in range(0, own_width, WIDE):
                showdowns_to_rows(results, same, sums, card1, card2, whole, scale, values, starts, i)
                if raked:
                    rakes_to_rows(columns, same, sums, card1, card2, whole, scratch.rake_scale, values, starts, i)


@inner_kernel(forceinline=True)
def _fill_lanes(
    player: int, forest: BettingForest, chunk: int, lane: int, own: HandTable, other: HandTable, reach: Float32Array,
    reach_at: int, values: Float32Array, values_at: int, waste: int, scratch: Scratch,
) -> tuple[int, int, bool, bool]:  # fmt: skip
    """Writes to `scratch` where up to WIDE lanes read and write, and their scales; unreached ones are cleared.

    Returns:
        The next lane, how many were filled, whether any has a fold, and whether any has a showdown.
    """
    starts, fold_starts, show_starts = scratch.starts, scratch.fold_starts, scratch.show_starts
    first_node, end = forest.node_start[chunk], forest.lane_start[player, chunk + 1]
    own_width, other_width = own.card1.shape[1], other.card1.shape[1]
    folds, shows, filled = False, False, 0
    while filled < WIDE and lane < end:
        start = reach_at + np.int64(forest.lane_slot[player, lane]) * other_width
        fold_at, show_at = forest.lane_fold[player, lane], forest.lane_show[player, lane]
        fold_start = values_at + np.int64(fold_at - first_node) * own_width if fold_at >= 0 else waste
        show_start = values_at + np.int64(show_at - first_node) * own_width if show_at >= 0 else waste
        row = _row_sum(reach, start, other_width)
        if row > np.float32(0.0):
            starts[filled], fold_starts[filled], show_starts[filled] = start, fold_start, show_start
            scratch.rescale[filled] = UNIT / row
            scratch.fold_scale[filled] = forest.fold_amount[player, lane] * row / UNIT
            scratch.show_scale[filled] = forest.show_amount[player, lane] * row / UNIT
            scratch.rake_scale[filled] = forest.rake_amount[player, lane] * row / UNIT
            folds |= fold_at >= 0
            shows |= show_at >= 0
            filled += 1
        else:
            _clear_row(values, fold_start, own_width)
            _clear_row(values, show_start, own_width)
        lane += 1
    if filled > 0:
        for k in range(filled, WIDE):  # no more lanes: what is left repeats one and goes nowhere
            starts[k], fold_starts[k], show_starts[k], scratch.rescale[k] = starts[0], waste, waste, np.float32(0.0)
    return lane, filled, folds, shows
