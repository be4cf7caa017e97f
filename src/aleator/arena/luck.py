"""Luck: how much of what a game was won by was chance, and how much the agents' own dice.

Algorithm:
    Let V(h) be what history h is worth under some policy of both players, the baseline. Each deal, card and draw was as lucky
    as V rose above what was expected before it; so was each action of an agent, since the probabilities by which it was
    drawn are known. Taken off the winnings, the sum changes no expectation, whatever the baseline, and most of the variance.

Reference: AIVAT (Burch, Schmid, Moravčík, Morrill, Bowling 2018).
Deviations: hands that an agent did not hold are not averaged over; all agents' probabilities are known here, and used.
Status: tests/arena/test_match.py (unbiased; without variance where the baseline is what is played).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from aleator.errors import TooBigError
from aleator.games.base import FloatArray, IntArray
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

MAX_ENTRIES = 50_000_000


class HandValues:
    """What every pair of hands is worth to player 0 at every node, if both follow the baseline.

    Args:
        baseline: of the whole game.

    Raises:
        TooBigError: there are too many pairs of hands to keep.
    """

    def __init__(self, baseline: Policy) -> None:
        tree = self.tree = baseline.tree
        entries = int(np.prod(tree.num_hands.astype(np.int64), axis=0).sum())
        if entries > MAX_ENTRIES:
            raise TooBigError(
                f"{tree.game.name} has {entries:,} pairs of hands at its public states; at most {MAX_ENTRIES:,} fit"
            )
        self._deals: dict[object, FloatArray] = {}
        self._weighted: list[FloatArray] = [np.zeros(0)] * tree.num_nodes  # [H0, H1] deal x value
        for node in range(tree.num_nodes - 1, -1, -1):
            self._weighted[node] = self._sum(baseline, node)

    def luck(
        self, events: Sequence[int], hands: Sequence[tuple[int, int]], chances: Sequence[FloatArray | None]
    ) -> float:
        """Returns player 0's luck in one game; its expectation is 0.

        Args:
            events: which child followed at each node.
            hands: what the players held at the start and after each event.
            chances: for each event [A], the probabilities of the agent who acted; None for chance.
        """
        found = self._value(0, hands[0]) - float(self._weighted[0].sum())
        node = 0
        for event, before, after, drawn in zip(events, hands[:-1], hands[1:], chances, strict=True):
            child = int(self.tree.first_child[node]) + event
            found += self._value(child, after) - self._expected(node, before, drawn)
            node = child
        return found

    def _sum(self, baseline: Policy, node: int) -> FloatArray:
        """Returns [H0, H1] of a node from its children."""
        tree = self.tree
        if tree.payoff_group[node] >= 0:
            payoff = tree.payoffs[tree.payoff_group[node]]
            return np.asarray((payoff if isinstance(payoff, np.ndarray) else payoff.toarray()) * tree.stake[node])
        first, second = (int(count) for count in tree.num_hands[:, node])
        found = np.zeros((first, second))
        for place, child in enumerate(tree.children(node)):
            value = self._weighted[child]
            places = []
            for player, count in ((0, first), (1, second)):
                origin = tree.origin(player, child)
                if tree.actor[node] == player:
                    policy = baseline[node]
                    share = policy[place] if origin is None else policy.ravel()[origin]
                    value = value * (share[:, None] if player == 0 else share[None, :])
                    origin = None if origin is None else origin % count
                places.append(np.arange(count) if origin is None else origin)
            np.add.at(found, np.ix_(places[0], places[1]), value)
        return found

    def _deal(self, node: int) -> FloatArray:
        state = self.tree.states[node]
        if state not in self._deals:
            self._deals[state] = self.tree.game.deal(state)
        return self._deals[state]

    def _value(self, node: int, hands: tuple[int, int]) -> float:
        return float(self._weighted[node][hands] / self._deal(node)[hands])

    def _expected(self, node: int, hands: tuple[int, int], chances: FloatArray | None) -> float:
        """Returns what is expected of the next event, with the actor's actions as likely as `chances` ([A]) says."""
        if chances is None:
            return self._mean(_ways(self.tree, node, hands, None))
        likely = np.flatnonzero(chances > 0.0)
        weights = chances[likely] / chances[likely].sum()
        return float(
            sum(
                weight * self._mean(_ways(self.tree, node, hands, int(action)))
                for action, weight in zip(likely, weights, strict=True)
            )
        )

    def _mean(self, ways: Iterator[tuple[int, int, int]]) -> float:
        """Returns the mean value of some ways to go on (child, hand 0, hand 1), as likely as chance makes them."""
        value = weight = 0.0
        for child, first, second in ways:
            value += float(self._weighted[child][first, second])
            weight += float(self._deal(child)[first, second])
        return value / weight


def _ways(tree: PublicTree, node: int, hands: tuple[int, int], action: int | None) -> Iterator[tuple[int, int, int]]:
    """Yields each child and pair of hands there that can follow, after the actor's action if there is one."""
    for place, child in enumerate(tree.children(node)):
        found: list[IntArray] = []
        for player in (0, 1):
            origin, hand = tree.origin(player, child), hands[player]
            acts = action is not None and tree.actor[node] == player
            if origin is None:
                found.append(np.array([hand] if not acts or place == action else [], dtype=np.int64))
            else:
                came = hand + (action * int(tree.num_hands[player, node]) if acts and action is not None else 0)
                found.append(np.flatnonzero(origin == came))
        for first in found[0]:
            for second in found[1]:
                yield child, int(first), int(second)
