"""The opening bet of whole hands: the first raise that is best for who makes it, found while a blueprint is trained.

Algorithm:
    The betting keeps the shape that it has with the raise of its menu. At a raise of theta pots everything behind it,
    but for a fold in answer to it, is 1 + 2 theta times as large as behind a call, up to the stack; who was all-in
    stays so. Step s trains the blueprint for some deals at a size theta_s. Then
        theta_(s+1) = mean_s + kappa g,
    where mean_s is the mean of all sizes so far with weights 1, 2, 3 … s, and g is how what the opener wins changes
    with the size under the average policies: a mean over hands that are dealt and played by them; each is played with
    the cards of both players exchanged, too, which takes out much luck.
    A step is a period of linear CFR, so that the table's deals have the same weights. Payoffs are affine in the size,
    so its policies answer to the mean of the sizes, and the gradient is the one there. The mean moves by 2 kappa g / s:
    steps of the gradient with l_s = s / 2. It is what is found.

Reference:
    Thesis 4.2.5 (Algorithm 3, Theorem 17) and 4.2.6 (no-limit Texas hold'em, Fig. 4.8, footnotes 8 and 9).

Deviations:
    The gradient is that of one solver's average policies (`abstraction.parameter_optimisation`, "envelope") instead of
    the difference of two. Regrets stay as they are when the size moves, since derivatives would double the table. All
    steps have as many deals; the thesis' last until the gradient's sign is sure. The thesis' moves, theta <- theta +
    g alpha / s^(3/4), went round the optimum when they were tried here with alpha = 10 (from 2 pots to .18 and back to
    2 in 440 steps): policies lag behind sizes. No size is further from the mean than 30 % of it.

Status:
    Stakes equal those of a betting tree that is built with the other size, slopes equal differences, and the gradient
    equals that of a walk over all actions (tests/abstraction/blueprint/test_opening_bet.py). `aleator paper
    opening-bet` is Fig. 4.8: .765 to .779 pots from four starts (thesis: .77).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.betting import FOLDED, Betting, BettingArrays
from aleator.abstraction.blueprint.deals import DealRoom, DealTables, deal_hand, deal_room, deal_tables
from aleator.abstraction.blueprint.duel import mean_of_deals, play_hand
from aleator.abstraction.blueprint.training import BlueprintTrainer
from aleator.abstraction.blueprint.walk import Table
from aleator.abstraction.buckets import AbstractionError
from aleator.games.holdem.betting import ActionKind
from aleator.games.holdem.betting_tree import ACTION_KINDS, NodeKind
from aleator.games.holdem.variants import load_hand_game
from aleator.jit import kernel
from aleator.solvers.engines.sampling.random import stream

Stakes = npt.NDArray[np.float32]
LEAST, MOST = 0.1, 10.0  # pots
_STREAM: Final = 2  # of training's deals: 0, of duels': 1
_FURTHEST = 0.3  # of the mean size: how far the size that is played may be from it


class OpeningBet:
    """The stakes of a betting as its opening raise changes.

    Attributes:
        size: of the raise in the menu, in pots after the call.
        player: who makes it.
    """

    def __init__(self, betting: Betting) -> None:
        """Finds the raise.

        Raises:
            AbstractionError: the first player has not exactly one raise below all-in.
        """
        tree, arrays = betting.root.tree, betting.arrays
        raises = [
            child
            for child in tree.children(betting.root.number)
            if tree.kind[child] == NodeKind.DECISION
            and ACTION_KINDS[tree.action[child]] is ActionKind.RAISE
            and tree.chips[child].max() < betting.stack
        ]
        if len(raises) != 1:
            raise AbstractionError(f"the opening bet is one raise below all-in, not {len(raises)}: choose another menu")
        node = raises[0]
        self.player, self._stack, self._stake = int(arrays.player[0]), betting.stack, arrays.stake.copy()
        raised, called = int(tree.chips[node].max()), int(tree.chips[node].min())
        self.size = (raised - called) / (2.0 * called)
        self._unit = called / raised
        answer, last = int(betting.decision_of[node]), int(betting.decision_of[node : int(tree.end[node])].max())
        begin, after, end = (int(arrays.first[decision]) for decision in (answer, answer + 1, last + 1))
        moving = np.zeros(len(self._stake), np.bool_)
        moving[begin:end] = arrays.target[begin:end] < 0
        moving[begin:after] &= arrays.target[begin:after] != FOLDED  # then the raise is not called
        self._moving = moving & (np.abs(self._stake) < betting.stack)

    def _scale(self, size: float) -> float:
        return self._unit * (1.0 + 2.0 * size)

    def stakes(self, size: float) -> Stakes:
        """Returns [E]: the stakes when the raise is so many pots."""
        larger = np.clip(self._stake * self._scale(size), -self._stack, self._stack)
        return np.where(self._moving, larger, self._stake).astype(np.float32)

    def slopes(self, size: float) -> Stakes:
        """Returns [E]: how they change with the size, in chips per pot; 0 where the stack ends it."""
        free = self._moving & (np.abs(self._stake) * self._scale(size) < self._stack)
        return np.where(free, 2.0 * self._unit * self._stake, 0.0).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningRule:
    """How the opening bet moves.

    Attributes:
        steps: how many there are.
        deals: that each trains for.
        sample: deals of a gradient.
        rate: kappa, in pots for a gradient of a big blind per pot; 0 leaves the size where it is.
    """

    steps: int = 200
    deals: int = 100_000
    sample: int = 400_000
    rate: float = 8.0

    def __post_init__(self) -> None:
        if min(self.steps, self.deals, self.sample) < 1:
            raise AbstractionError(f"steps and deals are at least 1, not {self.steps}, {self.deals} and {self.sample}")
        if not 0.0 <= self.rate < math.inf:
            raise AbstractionError(f"the rate is 0 or more, not {self.rate}")


class OpeningStep(NamedTuple):
    """Where an optimisation is.

    Attributes:
        number: of the step, from 1.
        size: of the raise, in pots: the mean over the steps so far, each with its number as its weight.
        value: what the opener wins at it, in big blinds a hand; half of its 95 % interval.
        gradient: how that changes with the size, per pot; half of its 95 % interval.
    """

    number: int
    size: float
    value: tuple[float, float]
    gradient: tuple[float, float]


def optimise_opening(
    trainer: BlueprintTrainer,
    start: float,
    rule: OpeningRule,
    *,
    done: tuple[OpeningStep, ...] = (),
    threads: int = 1,
    on_step: Callable[[OpeningStep], bool | None] | None = None,
) -> tuple[OpeningStep, ...]:
    """Trains a blueprint while its opening raise moves to where it is best for the opener; returns all steps.

    Args:
        trainer: of a blueprint at its beginning, or after the steps that are done, with periods of as many deals as a
            step has.
        start: in pots.
        rule: how it moves.
        done: the steps so far, to go on behind them.
        threads: on one table.
        on_step: told about every step; a true answer ends it.

    Raises:
        AbstractionError: the start is out of range, the trainer's menu has another number of opening raises, or the
            trainer has made more or fewer deals than the steps.
    """
    deals = trainer.progress.deals
    if deals != len(done) * rule.deals:
        raise AbstractionError(f"a blueprint of {deals:,} deals is not one of {len(done):,} steps of {rule.deals:,}")
    if not LEAST <= start <= MOST:
        raise AbstractionError(f"an opening bet is {LEAST:g} to {MOST:g} pots, not {start:g}")
    opening, arrays, tables = OpeningBet(trainer.betting), trainer.betting.arrays, deal_tables(trainer.buckets)
    scale = (1.0 - 2.0 * opening.player) / load_hand_game(trainer.config.game).rules.big_blind
    size, steps = done[-1].size if done else start, list(done)
    for number in range(len(done) + 1, rule.steps + 1):
        played = _next_size(steps[-1], rule) if steps else start
        arrays.stake[:] = opening.stakes(played)
        trainer.run(deals=number * rule.deals, threads=threads)
        size += (played - size) * 2.0 / (number + 1.0)
        arrays.stake[:] = opening.stakes(size)
        first = number * rule.sample
        results = []
        for stakes in (arrays.stake, opening.slopes(size)):
            mean, error = self_play(
                trainer.table, arrays._replace(stake=stakes), tables, first, rule.sample, seed=trainer.config.seed,
                threads=threads,
            )  # fmt: skip
            results.append((scale * mean, abs(scale) * error))
        steps.append(OpeningStep(number, size, results[0], results[1]))
        if on_step is not None and on_step(steps[-1]):
            break
    return tuple(steps)


def _next_size(step: OpeningStep, rule: OpeningRule) -> float:
    """Returns the size that is played in the step after this one."""
    move, furthest = rule.rate * step.gradient[0], _FURTHEST * step.size
    return min(max(step.size + min(max(move, -furthest), furthest), LEAST), MOST)


def self_play(
    table: Table, betting: BettingArrays, tables: DealTables, first: int, deals: int, *, seed: int, threads: int = 1
) -> tuple[float, float]:
    """Returns what player 0 wins in chips a hand when both play a table's average policy; half of its 95 % interval."""

    def play(begin: int, count: int) -> tuple[float, float]:
        return play_both_ways(np.uint64(seed), begin, count, betting, tables, table, deal_room())

    return mean_of_deals(play, first, deals, threads)


@kernel()
def play_both_ways(
    seed: np.uint64, first: int, count: int, betting: BettingArrays, tables: DealTables, table: Table, deal: DealRoom
) -> tuple[float, float]:
    """Plays some deals, each with either player's cards; returns the sum of player 0's means, and of their squares."""
    total, squares = 0.0, 0.0
    for number in range(first, first + count):
        state, winner = deal_hand(stream(seed, number, _STREAM, 0), tables, deal)
        won = 0.5 * play_hand(state, winner, betting, deal.numbers, table, table)
        for street in range(deal.numbers.shape[1]):
            mine = deal.numbers[0, street]
            deal.numbers[0, street], deal.numbers[1, street] = deal.numbers[1, street], mine
        won += 0.5 * play_hand(state, -winner, betting, deal.numbers, table, table)
        total += won
        squares += won * won
    return total, squares
