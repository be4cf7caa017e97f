"""The public form of a game whose decisions have no common order in time.

Algorithm:
    If infostate I can come before or after infostate J of the other player, no public state holds both. Payoffs depend
    on the two players' own sequences of infostates and actions alone, so the players decide in a fixed order: in round
    k player 0 decides where she has decided k times before, then player 1. What a player sees between two decisions may
    depend on moves that are not made yet; chance shows it instead, each possibility with equal probability, and the
    payoff of a pair of sequences is scaled up by what that costs. Deal x utility is that of the real game, so values,
    regrets and equilibria are the same; beliefs are not.

Reference: von Stengel, "Efficient computation of behavior strategies" (1996), for payoffs as a function of sequences.
Deviations: none.
Status: equal to a plain walk over the histories (tests/games/extensive/test_histories.py).
"""

from __future__ import annotations

import numpy as np

from aleator.errors import TooBigError
from aleator.games.base import CHANCE, TERMINAL, FloatArray, IntArray
from aleator.games.extensive.levels import MAX_PAIRS, MIXED, Nodes, PublicForm, starts
from aleator.games.extensive.menus import Menus
from aleator.games.extensive.walk import Walk, own_sequences
from aleator.meter import Meter

_PAIR_BYTES = 80  # of a pair of hands, while all are joined


class _Side:
    """One player's hands as the rounds go by: the infostates to decide in, and the finished sequences.

    Attributes:
        infostate: [H] what each hand decides in, -1 if it is finished.
        sample: [H] a history in which the hand decides or is finished.
        weight: [H] probability that chance shows this hand.
        origin: [H] as in `Child.origin`.
        sequence: [M] the player's last infostate and action before each history.
    """

    def __init__(self, walk: Walk, player: int) -> None:
        self._walk = walk
        self._stride = int(walk.action.max(initial=0)) + 1
        sequence = own_sequences(walk)[player]
        self._next: dict[int, dict[int, int]] = {}
        for history in np.flatnonzero((walk.actor == player) | (walk.actor == TERMINAL)).tolist():
            infostate = -1 if walk.actor[history] == TERMINAL else int(walk.infostate[player, history])
            self._next.setdefault(int(sequence[history]), {}).setdefault(infostate, history)
        self.sequence = sequence
        self._show([(0, -1, 1.0)], [])

    def _show(self, taken: list[tuple[int, int, float]], kept: list[tuple[int, int, float]]) -> None:
        """Sets hands after (origin, sequence, weight) of those who moved, (origin, sample, weight) of others."""
        hands = [(origin, -1, sample, weight) for origin, sample, weight in kept]
        for origin, last, weight in taken:
            branches = self._next[last]
            hands += [
                (origin, sequence, sample, weight / len(branches)) for sequence, sample in sorted(branches.items())
            ]
        hands.sort(key=lambda hand: hand[:2])
        columns = list(zip(*hands, strict=True))
        self.origin, self.infostate, self.sample = (np.array(column, dtype=np.int64) for column in columns[:3])
        self.weight: FloatArray = np.array(columns[3])

    def decides(self) -> bool:
        """Returns whether some hand is not finished."""
        return bool((self.infostate >= 0).any())

    def move(self, menus: Menus) -> int:
        """Lets every hand move, finished ones by the forced action 0; returns the action set."""
        walk, count = self._walk, len(self.origin)
        acting = np.flatnonzero(self.infostate >= 0)
        menu = walk.menu[self.sample[acting]]
        chosen, table, start = menus.choose(np.zeros(len(acting), dtype=np.int64), menu, 1)
        taken = [
            (
                int(table[begin + index]) * count + hand,
                int(self.infostate[hand]) * self._stride + index,
                self.weight[hand],
            )
            for hand, of_hand, begin in zip(acting.tolist(), menu.tolist(), start.tolist(), strict=True)
            for index in range(len(walk.menus[of_hand][1]))
        ]
        kept = [
            (hand, int(self.sample[hand]), self.weight[hand]) for hand in np.flatnonzero(self.infostate < 0).tolist()
        ]
        self._show(taken, kept)
        return int(chosen[0])

    def stay(self) -> None:
        """Keeps the hands while the other player moves."""
        self.origin = np.arange(len(self.origin))

    def ends(self) -> IntArray:
        """Returns [M]: at terminals the finished hand of the player."""
        last = self.sequence[self.sample]
        order = np.argsort(last)
        index = np.searchsorted(last[order], self.sequence)
        nodes: IntArray = order[np.minimum(index, len(order) - 1)]
        return nodes


def sequence_form(walk: Walk) -> PublicForm:
    """Returns the public form of a game in which the players decide in a fixed order, round by round.

    Raises:
        TooBigError: the players have too many sequences.
    """
    with Meter(walk.name, f"finding the sequences of {walk.name}", "pairs of sequences") as meter:
        return _sequence_form(walk, meter)


def _sequence_form(walk: Walk, meter: Meter) -> PublicForm:
    """Does the work of `sequence_form`."""
    menus, sides = Menus(walk), (_Side(walk, 0), _Side(walk, 1))
    zero = np.zeros(1, dtype=np.int64)
    nodes = [(CHANCE, -1, 0, 0, 0, 0, -1, 1, 1, 0)]
    origin, sample = ([zero], [zero]), ([zero], [zero])
    pairs, chance, value = [np.zeros((2, 1), dtype=np.int64)], [np.ones(1)], [np.zeros(1)]
    time = np.full(len(walk), -1, dtype=np.int64)

    def add(actor: int, now: int) -> None:
        hands = (len(sides[0].origin), len(sides[1].origin))
        if hands[0] * hands[1] > MAX_PAIRS:
            raise TooBigError(
                f"{walk.name} has {hands[0]:,} x {hands[1]:,} sequences; at most {MAX_PAIRS:,} are allowed"
            )
        meter.add(hands[0] * hands[1])
        meter.check_memory(_PAIR_BYTES * hands[0] * hands[1])
        outcome = 0 if len(nodes) > 1 else MIXED
        nodes.append((actor, len(nodes) - 1, 0, MIXED, outcome, 0, now, *hands, 0))
        for player, side in enumerate(sides):
            origin[player].append(side.origin)
            sample[player].append(side.sample)
        pairs.append(np.indices(hands).reshape(2, -1))
        chance.append(np.outer(sides[0].weight, sides[1].weight).ravel())
        value.append(np.zeros(hands[0] * hands[1]))

    now = 0
    while sides[0].decides() or sides[1].decides():
        player = now % 2
        side = sides[player]
        if side.decides():
            add(player, now)
            time[(walk.actor == player) & np.isin(walk.infostate[player], side.infostate[side.infostate >= 0])] = now
            action_set = side.move(menus)
            sides[1 - player].stay()
            nodes[-1] = (*nodes[-1][:-1], action_set)
        now += 1
    add(TERMINAL, -1)
    over = walk.actor == TERMINAL
    where = sides[0].ends()[over] * len(sides[1].origin) + sides[1].ends()[over]
    value[-1] += np.bincount(where, (walk.chance * walk.utility)[over], minlength=len(value[-1]))
    columns = Nodes(*(np.array(column, dtype=np.int64) for column in zip(*nodes, strict=True)))
    return PublicForm(
        nodes=columns,
        action_sets=menus.sets,
        hand_start=(starts(columns.hands0), starts(columns.hands1)),
        origin=(np.concatenate(origin[0]), np.concatenate(origin[1])),
        sample=(np.concatenate(sample[0]), np.concatenate(sample[1])),
        pair_start=starts(columns.hands0 * columns.hands1),
        pairs=np.concatenate(pairs, axis=1),
        chance=np.concatenate(chance),
        value=np.concatenate(value),
        time=time,
    )
