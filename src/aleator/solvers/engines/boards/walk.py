"""The walk over boards, as a program of steps.

A traversal is a list of steps (operation, street, board, chunk). DESCEND pushes reach down the chunk's betting trees on
the board and evaluates their terminals; ASCEND pulls values up and, when solving, updates regrets. Between two streets,
CLEAR sets the values of a street's lines to zero; HAND_DOWN brings the reach of a chunk's lines to a board of the next
street, in the order of that board's rows; COLLECT adds the values of the board's lines to the street before, seen
through the suit permutations that the board stands for. The boards below the first street come in pieces, each with
sums of its own, so that threads can take them side by side; TOTAL adds these up. WATCH adds the values of a player's
lines behind the first card to their averages, for those who ask what hands are worth there.

The last street may keep its rows in a *window* that all its boards share, for one of two reasons. Where hands have
buckets, FETCH fills the window before a board is walked and SCATTER takes in what the walk has left there (`buckets`).
Where the subgames of a board are searched on their own, the board is walked over and over: ENTER hands reach down as
HAND_DOWN does, but lets a gadget decide how much of the opponent's comes, and LEAVE tells the gadget what it was worth
(`entry`). The order of steps is written once, in `engine` and `subgames`; there is one compiled entry, `run`, so that
every kernel is compiled once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.jit import inner_kernel, kernel
from aleator.kernels.simd import LANES, gather, load, splat, store
from aleator.solvers.engines.boards.buckets import BucketRows, fetch, scatter
from aleator.solvers.engines.boards.decisions import Instant, add_rows, average, best, push_reach, shrink_sums, update
from aleator.solvers.engines.boards.entry import AS_IT_IS, Entry, decide_entry
from aleator.solvers.engines.boards.forest import BettingForest
from aleator.solvers.engines.boards.kept import Kept
from aleator.solvers.engines.boards.showdown import Scratch, evaluate_terminals
from aleator.solvers.engines.boards.tables import HandTable

Float32Array = npt.NDArray[np.float32]
Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

# what a walk does at the traverser's decisions
UPDATE, AVERAGE, BEST = 0, 1, 2
# steps of a program
DESCEND, ASCEND, CLEAR, HAND_DOWN, COLLECT, TOTAL, WATCH = 0, 1, 2, 3, 4, 5, 6
FETCH, SCATTER, ENTER, LEAVE = 7, 8, 9, 10


class Street(NamedTuple):
    """One street: its betting, its boards, and where things lie. B boards, rows of W hands, [2] per player."""

    forest: BettingForest
    rescale: np.float32  # what values are multiplied by when they are added to the street before
    width: Int64Array  # [2] W
    storage_at: Int64Array  # [2] offset of the first board's rows in the player's storage
    board_stride: Int64Array  # [2] from one board's rows to the next one's; 0 where boards share a window
    reach_at: Int64Array  # [2] offset of the street's slots in a thread's reach
    values_at: Int64Array  # [2] offset of the street's values in a thread's values, when the player traverses
    table0: HandTable
    table1: HandTable
    first_board: Int32Array  # [B] first board of the next street
    num_boards: Int32Array  # [B] boards of the next street
    order0: Int16Array  # [B, W] where the reach of each row comes from on the street before; 0 for padding
    order1: Int16Array
    first_map: Int32Array  # [B] first entry in the maps: one for each board that this one stands for
    num_maps: Int32Array  # [B]
    map0: Int16Array  # [maps, W of the street before] where each row's value comes from; the last row for dead hands
    map1: Int16Array
    locked: npt.NDArray[np.bool_]  # [B, N] decisions whose policy is fixed


class Storage(NamedTuple):
    """What is kept of one player: a row of hands per street, board, decision and action."""

    regret: Kept
    policy_sum: Kept
    instant: Instant  # float32 always


class Window(NamedTuple):
    """Rows of the last street that all its boards share."""

    level: int  # the street that has it; -1 for none
    storage: tuple[Storage, Storage]
    buckets: tuple[BucketRows, BucketRows]  # of the players; empty without buckets
    multiplicity: Float32Array  # [B] how many boards each of the street's stands for, from the first street on
    gains: Float32Array  # [6] discounts by which regrets become the gains of one iteration
    entry: Entry


class Work(NamedTuple):
    """The scratch of one thread: rows of reach per player, rows of values, and the scans' own."""

    reach0: Float32Array
    reach1: Float32Array
    values: Float32Array
    scans: Scratch


@inner_kernel(inline="always")
def _descend(
    player: int, mode: int, street: Street, board: int, chunk: int, storage: tuple[Storage, Storage], work: Work,
    discounts: Float32Array, raked: bool, sharp: bool,
) -> None:  # fmt: skip
    """Pushes the opponent's reach down a chunk, whose roots' slots are filled, and evaluates its terminals.

    When solving, the opponent's sums of policies are updated on the way.
    """
    forest = street.forest
    for k in range(forest.inner_start[chunk], forest.inner_start[chunk + 1]):
        slot = forest.inner[k]
        actor = forest.kind[slot]
        if actor == player:
            continue
        width = street.width[actor]
        reach = work.reach0 if actor == 0 else work.reach1
        kept = storage[actor]
        rows_at = street.storage_at[actor] + board * street.board_stride[actor] + np.int64(forest.row[slot]) * width
        from_at = street.reach_at[actor] + np.int64(forest.slot[actor, slot]) * width
        to_at = street.reach_at[actor] + np.int64(forest.slot[actor, forest.first_child[slot]]) * width
        weights = kept.regret if mode == UPDATE else kept.policy_sum
        # the first player's regrets are one iteration ahead when the second is updated, and so is their discount
        discount = discounts[4] if actor < player else discounts[0]
        locked = street.locked[board, slot]
        ahead = np.float32(1.0 if mode == UPDATE and not locked else 0.0)
        if ahead == np.float32(0.0):
            discount = np.float32(1.0)
        count, summed = forest.num_children[slot], mode == UPDATE and not locked
        if summed and discounts[5] < np.float32(1.0):
            shrink_sums(kept.policy_sum, rows_at, count * width, discounts[5])
        push_reach(
            weights, kept.instant, rows_at, discount, ahead, count, width, sharp and summed, reach, from_at, to_at,
            kept.policy_sum, discounts[2], summed,
        )  # fmt: skip
    first = player == 0
    evaluate_terminals(
        player, forest, chunk, board, street.table0 if first else street.table1,
        street.table1 if first else street.table0, work.reach1 if first else work.reach0, street.reach_at[1 - player],
        work.values, street.values_at[player], len(work.values) - street.width[player], work.scans, raked,
    )  # fmt: skip


@inner_kernel(inline="always")
def _ascend(
    player: int, mode: int, street: Street, board: int, chunk: int, storage: tuple[Storage, Storage], work: Work,
    discounts: Float32Array, sharp: bool,
) -> None:  # fmt: skip
    """Pulls the traverser's values up a chunk and, when solving, updates its regrets."""
    forest, width = street.forest, street.width[player]
    own, values = storage[player], work.values
    base = street.values_at[player] - forest.node_start[chunk] * width
    rows = street.storage_at[player] + board * street.board_stride[player]
    for k in range(forest.inner_start[chunk + 1] - 1, forest.inner_start[chunk] - 1, -1):
        slot = forest.inner[k]
        first, count = forest.first_child[slot], forest.num_children[slot]
        value_at, actions_at = base + np.int64(slot) * width, base + np.int64(first) * width
        rows_at = rows + np.int64(forest.row[slot]) * width
        if forest.kind[slot] != player:
            add_rows(count, width, values, actions_at, value_at)
        elif mode == UPDATE:
            locked = street.locked[board, slot]
            update(
                own.regret, own.instant, rows_at, count, width, values, actions_at, value_at, discounts, sharp, locked,
            )  # fmt: skip
        elif mode == AVERAGE or street.locked[board, slot]:
            average(own.policy_sum, rows_at, count, width, values, actions_at, value_at)
        else:
            best(count, width, values, actions_at, value_at)


@inner_kernel(inline="always")
def _line(
    player: int, level: int, street: Street, line: int, piece: int, work: Work, sums: Float32Array
) -> tuple[Float32Array, int]:
    """Returns where the values of a line that goes on to the next street are added up: which array, from where on."""
    width = street.width[player]
    if level == 0:
        return sums[piece], np.int64(line) * width
    return work.values, street.values_at[player] + np.int64(street.forest.next_nodes[line]) * width


@inner_kernel(inline="always")
def _clear(player: int, level: int, street: Street, piece: int, work: Work, sums: Float32Array) -> None:
    """Sets the values of a street's lines to zero (it has one chunk); below the first street, a piece's sums."""
    width = street.width[player]
    for line in range(len(street.forest.next_nodes)):
        values, at = _line(player, level, street, line, piece, work, sums)
        for hand in range(width):
            values[at + hand] = np.float32(0.0)


@inner_kernel(inline="always")
def _total(player: int, street: Street, work: Work, sums: Float32Array) -> None:
    """Adds up the sums of all pieces, in their order, as the values of the first street's lines."""
    width = street.width[player]
    for line in range(len(street.forest.next_nodes)):
        start = np.int64(line) * width
        to = street.values_at[player] + np.int64(street.forest.next_nodes[line]) * width
        for row in range(0, width, LANES):
            total = load(sums[0], start + row)
            for piece in range(1, len(sums)):
                total = total + load(sums[piece], start + row)
            store(work.values, to + row, total)


@inner_kernel(inline="always")
def _hand_down(player: int, street: Street, following: Street, board: int, chunk: int, work: Work) -> None:
    """Brings the opponent's reach of a chunk's lines to a board of the next street."""
    first, end = following.forest.line_start[chunk], following.forest.line_start[chunk + 1]
    other = 1 - player
    reach = work.reach0 if other == 0 else work.reach1
    order = following.order0[board] if other == 0 else following.order1[board]
    alive = following.table0.alive[board] if other == 0 else following.table1.alive[board]
    width = following.width[other]
    for line in range(first, end):
        slot = street.forest.slot[other, street.forest.next_nodes[line]]
        source = street.reach_at[other] + np.int64(slot) * street.width[other]
        target = following.reach_at[other] + np.int64(line - first) * width
        for row in range(0, width, LANES):
            store(reach, target + row, gather(reach, source, order, row))
        for row in range(alive, width):
            reach[target + row] = np.float32(0.0)


@inner_kernel(inline="always")
def _collect(
    player: int, level: int, street: Street, following: Street, board: int, chunk: int, work: Work, sums: Float32Array
) -> None:
    """Adds the values of a chunk's lines on a board to the street before, through every suit map that it stands for."""
    width, first = street.width[player], following.forest.line_start[chunk]
    maps = following.map0 if player == 0 else following.map1
    rescale = splat(following.rescale)
    for line in range(first, following.forest.line_start[chunk + 1]):
        base = following.values_at[player] + np.int64(line - first) * following.width[player]
        values, to = _line(player, level, street, line, board % len(sums), work, sums)
        for k in range(following.first_map[board], following.first_map[board] + following.num_maps[board]):
            rows = maps[k]
            for row in range(0, width, LANES):
                store(values, to + row, load(values, to + row) + gather(work.values, base, rows, row) * rescale)


@inner_kernel(inline="always")
def _watch(
    player: int, street: Street, board: int, chunk: int, work: Work, watched: Float32Array, discounts: Float32Array
) -> None:
    """Adds the values of a chunk's lines on a board of the second street to their sums, weighted as policies are."""
    width, forest = street.width[player], street.forest
    first, lines = forest.line_start[chunk], forest.line_start[-1]
    for line in range(first, forest.line_start[chunk + 1]):
        source = street.values_at[player] + np.int64(line - first) * width
        target = (np.int64(board) * lines + line) * width
        for hand in range(width):
            watched[target + hand] = watched[target + hand] * discounts[5] + work.values[source + hand] * discounts[2]


@inner_kernel(inline="always")
def _fetch(player: int, mode: int, street: Street, board: int, window: Window) -> None:
    """Fills the window with what both players do on a board, and clears the sums of the opponent's policies."""
    for actor in range(2):
        count, width = street.forest.num_rows[actor], street.width[actor]
        kept = window.storage[actor]
        if mode == UPDATE:
            fetch(window.buckets[actor], board, count, width, kept.regret)
            if actor != player:
                kept.policy_sum[:] = np.float32(0.0)
        else:
            fetch(window.buckets[actor], board, count, width, kept.policy_sum)


@inner_kernel(inline="always")
def _scatter(player: int, street: Street, board: int, window: Window, piece: int) -> None:
    """Adds a board's gains of the traverser, and its policies of the opponent, to those of their buckets."""
    for actor in range(2):
        count, width = street.forest.num_rows[actor], street.width[actor]
        kept, own = window.storage[actor], window.buckets[actor]
        rows = kept.regret if actor == player else kept.policy_sum
        scatter(own.bucket, own.added[piece], board, count, width, window.multiplicity[board], rows)


@inner_kernel(inline="always")
def _enter(player: int, street: Street, following: Street, board: int, chunk: int, work: Work, entry: Entry) -> None:
    """Brings the reach of whoever does not traverse to a board: the searcher's as it is, the opponent's by a gadget."""
    other = 1 - player
    if other != entry.kind[1] or entry.kind[0] == AS_IT_IS:
        _hand_down(player, street, following, board, chunk, work)
        return
    reach, width = work.reach0 if other == 0 else work.reach1, following.width[other]
    first = following.forest.line_start[chunk]
    for line in range(first, following.forest.line_start[chunk + 1]):
        source, target = line * width, following.reach_at[other] + np.int64(line - first) * width
        for row in range(0, width, LANES):
            store(reach, target + row, load(entry.reach, source + row))


@inner_kernel(inline="always")
def _leave(player: int, street: Street, chunk: int, work: Work, entry: Entry) -> None:
    """Lets the gadgets of a chunk's lines decide from what the opponent's update was worth."""
    if player == entry.kind[1]:
        first, width = street.forest.line_start[chunk], street.width[player]
        for line in range(first, street.forest.line_start[chunk + 1]):
            values_at = street.values_at[player] + np.int64(line - first) * width
            decide_entry(entry, line, width, work.values, values_at)


@kernel()
def run(
    program: Int32Array, first_player: int, end_player: int, mode: int, streets: tuple[Street, Street, Street],
    storage: tuple[Storage, Storage], window: Window, work: Work, sums: Float32Array, watched: Float32Array,
    schedule: Float32Array, raked: bool, sharp: bool,
) -> None:  # fmt: skip
    """Runs a program once per row of `schedule` and player.

    Args:
        program: [S, 4] steps: operation, street, board, chunk. HAND_DOWN and COLLECT name the upper street and the
            board of the lower one; CLEAR names the piece where it is about the first street, WATCH the player and the
            board of the second street, FETCH, SCATTER, ENTER and LEAVE the street that has the window.
        first_player, end_player: the traversers, in turn.
        mode: UPDATE, AVERAGE or BEST.
        window: rows that the boards of the last street share.
        work: scratch of this thread.
        sums: [pieces, lines x W] of the first street's lines over the boards of each piece; a board belongs to the
            piece with its number modulo their number.
        watched: [boards x lines x W] weighted sums of the watched player's values on the second street; empty for none.
        schedule: [T, 6] rows as `BoardEngine` makes them of `RegretRule.schedule`: discount of positive and of negative
            regrets, weight of policies in their sums, floor, discount of regrets in the next prediction, and what sums
            are multiplied by first.
        raked: whether the house takes anything.
        sharp: whether policies are proportional to regrets to the power 1.5.
    """
    for t in range(len(schedule)):
        for player in range(first_player, end_player):
            for step in range(len(program)):
                operation, level, board, chunk = program[step, 0], program[step, 1], program[step, 2], program[step, 3]
                street = streets[level]
                windowed = level == window.level
                bucketed = windowed and len(window.multiplicity) > 0
                if operation == DESCEND:
                    kept = window.storage if windowed else storage
                    _descend(player, mode, street, board, chunk, kept, work, schedule[t], raked, sharp and not bucketed)
                elif operation == ASCEND:
                    kept = window.storage if windowed else storage
                    discounts = window.gains if bucketed else schedule[t]
                    _ascend(player, mode, street, board, chunk, kept, work, discounts, sharp and not bucketed)
                elif operation == FETCH:
                    _fetch(player, mode, street, board, window)
                elif operation == SCATTER:
                    if mode == UPDATE:
                        _scatter(player, street, board, window, chunk)
                elif operation == ENTER:
                    _enter(player, streets[level - 1], street, board, chunk, work, window.entry)
                elif operation == LEAVE:
                    if mode == UPDATE:
                        _leave(player, street, chunk, work, window.entry)
                elif operation == CLEAR:
                    _clear(player, level, street, board, work, sums)
                elif operation == HAND_DOWN:
                    _hand_down(player, street, streets[level + 1], board, chunk, work)
                elif operation == COLLECT:
                    _collect(player, level, street, streets[level + 1], board, chunk, work, sums)
                elif operation == WATCH:
                    if level == player and len(watched):
                        _watch(player, streets[1], board, chunk, work, watched, schedule[t])
                else:
                    _total(player, street, work, sums)
