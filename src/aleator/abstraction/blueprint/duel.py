"""Two blueprints of one abstraction against one another: millions of hands, played inside the abstraction.

Algorithm:
    Each deal is played twice, by the average policies, with the blueprints in either seat and the same random numbers.
    Half the sum of what the first one wins is a result; where both play alike it is 0, so that results of similar
    blueprints vary little. The mean and its error are in chips as they were won: nothing is estimated by a value.

Reference: N. Brown's thesis (2020), Figure 6.1, measures by such matches how soon training by regret-based sampling is
as good as training without.
Deviations: none. Infostates that a blueprint has never met are played uniformly.
Status: tests/abstraction/blueprint/test_duel.py (equal to the mean over all hands of a walk that follows all actions).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.betting import FOLDED, Betting, BettingArrays
from aleator.abstraction.blueprint.deals import DealRoom, DealTables, deal_hand, deal_room
from aleator.abstraction.blueprint.policy import BlueprintPolicy
from aleator.abstraction.blueprint.walk import Table
from aleator.abstraction.buckets import AbstractionError
from aleator.intervals import mean_and_ci95
from aleator.jit import kernel, read_only
from aleator.solvers.engines.sampling.random import advance, stream, uniform

_STREAM: Final = 1  # of training's deals: 0


class DuelScore(NamedTuple):
    """What the first blueprint wins in chips a hand, half of the 95 % interval, and the deals, each played twice."""

    deals: int
    chips: float
    ci95: float


def duel(
    first: BlueprintPolicy, second: BlueprintPolicy, tables: DealTables, deals: int, *, seed: int = 0, threads: int = 1
) -> DuelScore:
    """Returns what one blueprint wins against another.

    Args:
        first, second: of one abstraction and menu.
        tables: buckets, as `deal_tables` gives them.
        deals: how many, each of which is two hands.
        seed: of cards and draws.
        threads: that play.

    Raises:
        AbstractionError: their buckets or menus differ.
    """
    if first.blueprint.fingerprint != second.blueprint.fingerprint:
        raise AbstractionError(f"{first.blueprint.path} and {second.blueprint.path} have different buckets")
    if not same_betting(first.betting, second.betting):
        raise AbstractionError(f"{first.blueprint.path} and {second.blueprint.path} have different bet menus or games")
    return duel_tables(
        first.blueprint.table(), second.blueprint.table(), first.betting, tables, deals, seed=seed, threads=threads
    )


def same_betting(first: Betting, second: Betting) -> bool:
    """Returns whether two games have the same decisions, actions, stakes and rows."""
    pairs = zip(first.arrays, second.arrays, strict=True)
    return all(np.array_equal(np.asarray(one), np.asarray(other)) for one, other in pairs)


def duel_tables(
    first: Table, second: Table, betting: Betting, tables: DealTables, deals: int, *, seed: int = 0, threads: int = 1
) -> DuelScore:
    """Returns what one table wins against another of the same betting; see `duel`."""
    both = read_only(first), read_only(second)

    def play(begin: int, count: int) -> tuple[float, float]:
        return play_deals(np.uint64(seed), begin, count, betting.arrays, tables, *both, deal_room())

    return DuelScore(deals, *mean_of_deals(play, 0, deals, threads))


def mean_of_deals(
    play: Callable[[int, int], tuple[float, float]], first: int, deals: int, threads: int
) -> tuple[float, float]:
    """Returns the mean result of some deals, and half of its 95 % interval.

    Args:
        play: makes deals, given the number of the first one and how many; returns the sum of results, and of their
            squares.
        first: number of the first deal.
        deals: how many.
        threads: that play.
    """
    ends = np.linspace(first, first + deals, threads + 1).astype(int)

    def part(thread: int) -> tuple[float, float]:
        begin, end = int(ends[thread]), int(ends[thread + 1])
        return play(begin, end - begin)

    with ThreadPoolExecutor(threads) as pool:
        total, squares = np.sum(list(pool.map(part, range(threads))), axis=0)
    return mean_and_ci95(total, squares, deals)


@kernel()
def play_deals(
    seed: np.uint64, first: int, count: int, betting: BettingArrays, tables: DealTables, one: Table, other: Table,
    deal: DealRoom,
) -> tuple[float, float]:  # fmt: skip
    """Plays some deals in both seats; returns the sum of the first table's winnings in chips, and of their squares."""
    total, squares = 0.0, 0.0
    for number in range(first, first + count):
        state, winner = deal_hand(stream(seed, number, _STREAM, 0), tables, deal)
        won = 0.5 * play_hand(state, winner, betting, deal.numbers, one, other)
        won -= 0.5 * play_hand(state, winner, betting, deal.numbers, other, one)
        total += won
        squares += won * won
    return total, squares


@kernel()
def play_hand(
    state: np.uint64, winner: int, betting: BettingArrays, numbers: npt.NDArray[np.int64], first: Table, second: Table
) -> float:
    """Returns what player 0 wins in chips when a dealt hand is played by two average policies.

    Args:
        state: of the random stream.
        winner: of a showdown: 1 for player 0, 0 for nobody, -1 for player 1.
        betting: the tree.
        numbers: what each player knows on each street, ``[2, 4]``.
        first, second: the tables of players 0 and 1.
    """
    node, edge = 0, 0
    while node >= 0:
        player, begin = betting.player[node], int(betting.first[node])
        actions = int(betting.first[node + 1]) - begin
        sums = betting.row[node] + 2 * actions * numbers[player, betting.street[node]] + actions
        state = advance(state)
        number = uniform(state)
        edge = begin + (_draw(number, sums, actions, first) if player == 0 else _draw(number, sums, actions, second))
        node = int(betting.target[edge])
    value = float(betting.stake[edge])
    return value if node == FOLDED else value * winner


@kernel(forceinline=True)
def _draw(number: float, sums: int, actions: int, table: Table) -> int:
    """Returns an action drawn in proportion to its sum."""
    total = 0.0
    for action in range(actions):
        total += table[sums + action]
    if total <= 0.0:
        return min(int(number * actions), actions - 1)
    left, chosen = number * total, -1
    for action in range(actions):
        if table[sums + action] > 0.0:
            chosen = action
            left -= table[sums + action]
            if left < 0.0:
                break
    return chosen
