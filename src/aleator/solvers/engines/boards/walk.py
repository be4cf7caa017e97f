"""The walk over boards, as a program of steps.

A traversal is a list of steps (operation, street, board): DESCEND pushes reach down one board's forest and evaluates its
terminals; HAND_DOWN copies the reach of the street's lines to the roots of the next street; ASCEND pulls values up and, when
solving, updates regrets; COLLECT adds the values of a board's lines to the street before, seen through the suit
permutations that the board stands for. The order of steps is written once, in `engine`; parts of it can run in threads.
There is one compiled entry, `run`, so that every kernel is compiled once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.jit import kernel
from aleator.solvers.engines.boards.decisions import add_rows, average, best, push_reach, update
from aleator.solvers.engines.boards.forest import Forest
from aleator.solvers.engines.boards.showdown import Scratch, evaluate_terminals
from aleator.solvers.engines.boards.tables import HandTable

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

# what a walk does at the traverser's decisions
UPDATE, AVERAGE, BEST = 0, 1, 2
# steps of a program
DESCEND, HAND_DOWN, ASCEND, COLLECT, KEEP = 0, 1, 2, 3, 4


class Street(NamedTuple):
    """One street: its forest, its boards, and where things lie. B boards, [2] per player."""

    forest: Forest
    storage_at: Int64Array  # [2] offset of the first board's rows in the player's storage
    reach_at: Int64Array  # [2] offset of the street's slots in a thread's reach
    values_at: int  # offset of the street's nodes in a thread's values, in rows
    table: Int32Array  # [B] index of the board's hand tables
    first_board: Int32Array  # [B] first board of the next street
    num_boards: Int32Array  # [B] boards of the next street
    first_map: Int32Array  # [B] first entry in `map_of`: the suit maps by which a board's values count for its parent
    num_maps: Int32Array  # [B]
    map_of: Int32Array  # indices into the players' suit maps; 0 is the identity
    locked: npt.NDArray[np.bool_]  # [B, N] decisions whose policy is fixed


class Storage(NamedTuple):
    """What is kept of one player: a row of hands per street, board, decision and action."""

    regret: Float32Array
    policy_sum: Float32Array
    instant: Float32Array  # empty unless the rule predicts


class Work(NamedTuple):
    """The scratch of one thread: rows of reach per player, rows of values, and the scans' own."""

    reach0: Float32Array
    reach1: Float32Array
    values: Float32Array
    scans: Scratch


class Players(NamedTuple):
    """Both players' hands: padded numbers, tables per board, and suit maps [maps, H] on storage rows."""

    width0: int
    width1: int
    table0: HandTable
    table1: HandTable
    map0: npt.NDArray[np.int16]
    map1: npt.NDArray[np.int16]


@kernel(forceinline=True)
def _descend(
    player: int, mode: int, street: Street, board: int, players: Players, storage: tuple[Storage, Storage], work: Work,
    discounts: Float32Array, raked: bool,
) -> None:  # fmt: skip
    """Pushes reach down one board's forest, whose roots' slots are filled, and evaluates the terminals."""
    forest = street.forest
    for place in forest.inner:
        actor = forest.kind[place]
        if actor == player and mode != UPDATE:
            continue
        width = players.width0 if actor == 0 else players.width1
        reach = work.reach0 if actor == 0 else work.reach1
        kept = storage[actor]
        rows_at = street.storage_at[actor] + (np.int64(board) * forest.num_rows[actor] + forest.row[place]) * width
        from_at = street.reach_at[actor] + np.int64(forest.slot[actor, place]) * width
        to_at = street.reach_at[actor] + np.int64(forest.slot[actor, forest.first_child[place]]) * width
        weights = kept.regret if mode == UPDATE else kept.policy_sum
        instant = kept.instant if mode == UPDATE else kept.instant[:0]
        # the first player's regrets are one iteration ahead when the second is updated, and so is their discount
        discount = discounts[4] if actor < player else discounts[0]
        push_reach(weights, instant, rows_at, discount, forest.num_children[place], width, reach, from_at, to_at)
    first = player == 0
    own_width = players.width0 if first else players.width1
    other_width = players.width1 if first else players.width0
    evaluate_terminals(
        player, forest, street.table[board], players.table0 if first else players.table1,
        players.table1 if first else players.table0, own_width, other_width, work.reach1 if first else work.reach0,
        street.reach_at[1 - player], work.values, np.int64(street.values_at) * own_width, len(work.values) - own_width,
        work.scans, raked,
    )  # fmt: skip


@kernel(forceinline=True)
def _ascend(
    player: int, mode: int, street: Street, board: int, players: Players, storage: tuple[Storage, Storage], work: Work,
    discounts: Float32Array,
) -> None:  # fmt: skip
    """Pulls the traverser's values up one board's forest and, when solving, updates its regrets."""
    forest = street.forest
    width = players.width0 if player == 0 else players.width1
    reach = work.reach0 if player == 0 else work.reach1
    own = storage[player]
    values, base = work.values, np.int64(street.values_at) * width
    rows = street.storage_at[player] + np.int64(board) * forest.num_rows[player] * width
    for k in range(len(forest.inner) - 1, -1, -1):
        place = forest.inner[k]
        first, count = forest.first_child[place], forest.num_children[place]
        value_at, actions_at = base + np.int64(place) * width, base + np.int64(first) * width
        rows_at = rows + np.int64(forest.row[place]) * width
        if forest.kind[place] != player:
            add_rows(count, width, values, actions_at, value_at)
        elif mode == UPDATE:
            after = street.reach_at[player] + np.int64(forest.slot[player, first]) * width
            update(
                own.regret, own.instant, own.policy_sum, rows_at, count, width, reach, after, values, actions_at, value_at,
                discounts, street.locked[board, place],
            )  # fmt: skip
        elif mode == AVERAGE:
            average(own.policy_sum, rows_at, count, width, values, actions_at, value_at)
        else:
            best(count, width, values, actions_at, value_at)


@kernel(forceinline=True)
def _hand_down(player: int, mode: int, street: Street, following: Street, players: Players, work: Work) -> None:
    """Copies the reach of a street's lines to the roots of the next street, and clears the lines' values."""
    lines = street.forest.next_nodes
    for q in range(2):
        if q == player and mode != UPDATE:
            continue
        width = players.width0 if q == 0 else players.width1
        reach = work.reach0 if q == 0 else work.reach1
        for line in range(len(lines)):
            source = street.reach_at[q] + np.int64(street.forest.slot[q, lines[line]]) * width
            target = following.reach_at[q] + np.int64(line) * width
            for hand in range(width):
                reach[target + hand] = reach[source + hand]
    width = players.width0 if player == 0 else players.width1
    for place in lines:
        at = (np.int64(street.values_at) + place) * width
        for hand in range(width):
            work.values[at + hand] = np.float32(0.0)


@kernel(forceinline=True)
def _collect(
    player: int, street: Street, following: Street, board: int, players: Players, source: Float32Array, source_at: int,
    values: Float32Array,
) -> None:  # fmt: skip
    """Adds the values of a board's roots to the lines of the street before, through every suit map it stands for."""
    width = players.width0 if player == 0 else players.width1
    maps = players.map0 if player == 0 else players.map1
    for line in range(len(street.forest.next_nodes)):
        base = source_at + np.int64(line) * width
        to = (np.int64(street.values_at) + street.forest.next_nodes[line]) * width
        for k in range(following.first_map[board], following.first_map[board] + following.num_maps[board]):
            suits = following.map_of[k]
            if suits == 0:
                for hand in range(width):
                    values[to + hand] += source[base + hand]
            else:
                for hand in range(width):
                    values[to + hand] += source[base + maps[suits, hand]]


@kernel()
def run(
    program: Int32Array, first_player: int, end_player: int, mode: int, streets: tuple[Street, Street, Street],
    players: Players, storage: tuple[Storage, Storage], work: Work, slab: Float32Array, schedule: Float32Array, raked: bool,
) -> None:  # fmt: skip
    """Runs a program once per row of `schedule` and player.

    Args:
        program: [S, 3] steps: operation, street, board.
        first_player, end_player: the traversers, in turn.
        mode: UPDATE, AVERAGE or BEST.
        work: scratch of this thread.
        slab: values of the roots of each board of the second street, [boards, lines, H]; empty if they are collected at
            once. KEEP writes a board's part, COLLECT into street 0 reads it.
        schedule: [T, 5] rows of `RegretRule.schedule`.
        raked: whether the house takes anything.
    """
    for t in range(len(schedule)):
        for player in range(first_player, end_player):
            width = players.width0 if player == 0 else players.width1
            for step in range(len(program)):
                operation, level, board = program[step, 0], program[step, 1], program[step, 2]
                street = streets[level]
                if operation == DESCEND:
                    _descend(player, mode, street, board, players, storage, work, schedule[t], raked)
                elif operation == ASCEND:
                    _ascend(player, mode, street, board, players, storage, work, schedule[t])
                elif operation == HAND_DOWN:
                    _hand_down(player, mode, street, streets[level + 1], players, work)
                elif operation == COLLECT:
                    kept = level == 0 and len(slab) > 0
                    size = np.int64(len(street.forest.next_nodes)) * width
                    source = slab if kept else work.values
                    source_at = board * size if kept else np.int64(streets[level + 1].values_at) * width
                    _collect(player, street, streets[level + 1], board, players, source, source_at, work.values)
                else:
                    size = np.int64(len(streets[level - 1].forest.next_nodes)) * width
                    source_at = np.int64(street.values_at) * width
                    for k in range(size):
                        slab[board * size + k] = work.values[source_at + k]
