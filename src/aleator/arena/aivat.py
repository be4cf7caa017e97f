"""AIVAT: what a deal was won by without luck (`aleator.arena.luck`): unbiased, with a fraction of the variance.

Algorithm:
    Let w(i, j) = deal x reach x reach be how likely hands i and j are at a public state under the policies that were
    really played, and v(i, j) what they are worth under a *baseline*, any policy of both players. V = Σ w v / Σ w is
    then what the public state is worth. Each event was as lucky as V rose above its expectation before the event, by
    the known probabilities of chance and of the agents. The estimate is V at the end, where v is what is won, less all
    that luck. It averages over all hands that the agents could have held, since their policies are known for all of
    them. Of a player whose policy nobody knows (a human) only the hand that it held counts, and its actions are not
    luck.

Reference: AIVAT (Burch, Schmid, Moravčík, Morrill, Bowling 2018), sections 3 and 4.
Deviations: the policies of both agents may be known, and then hands of both are averaged over.
Status: tests/arena/test_aivat.py (unbiased by enumeration of whole games, whichever policies are known; without
    variance where the baseline is what is played).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aleator.errors import TooBigError
from aleator.games.base import CHANCE, FloatArray
from aleator.games.operators import Deal
from aleator.trees.beliefs import Reach, reach_in
from aleator.trees.policy import Policy

MAX_ENTRIES = 50_000_000


class Aivat:
    """Takes the luck off deals of one game.

    Args:
        baseline: a policy of the whole game; the nearer it is to what is played, the less variance is left.

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
        self._deals: dict[object, Deal] = {}
        self._weighted: list[FloatArray] = [np.zeros(0)] * tree.num_nodes  # [H0, H1] deal x value under the baseline
        for node in range(tree.num_nodes - 1, -1, -1):
            self._weighted[node] = self._pull_up(baseline, node)

    def score(
        self,
        events: Sequence[int],
        hands: Sequence[tuple[int, int]],
        policies: Sequence[FloatArray | None],
        *,
        known: tuple[bool, bool] = (True, True),
    ) -> float:
        """Returns what player 0 won in one deal, without luck; its expectation is that of the winnings.

        Args:
            events: which child followed at each node.
            hands: what the players held at the start and after each event.
            policies: for each event [A, H] of the agent who acted; None for chance, and for a player whose policy is
                unknown.
            known: whose policies are known.
        """
        tree, node = self.tree, 0
        before: Reach = (np.ones(tree.num_hands[0, 0]), np.ones(tree.num_hands[1, 0]))
        reach = _as_seen(before, hands[0], known)
        luck = self._value(0, reach) - self._value(0, before)
        for event, after, policy in zip(events, hands[1:], policies, strict=True):
            child, actor = int(tree.first_child[node]) + event, int(tree.actor[node])
            if actor == CHANCE or known[actor]:
                there = _as_seen(self._reach(child, reach, policy), after, known)
                luck += self._value(child, there) - self._expected(node, reach, policy)
            else:  # what an unknown player does is not luck
                anything = np.ones((tree.num_actions[node], tree.num_hands[actor, node]))
                there = _as_seen(self._reach(child, reach, anything), after, known)
            node, reach = child, there
        return self._value(node, reach) - luck

    def _expected(self, node: int, reach: Reach, policy: FloatArray | None) -> float:
        """Returns what a node is worth to player 0 before the next event, by the policy [A, H] of who acts."""
        sums = np.array([self._sums(child, self._reach(child, reach, policy)) for child in self.tree.children(node)])
        worth, likely = sums.sum(axis=0)
        return float(worth / likely)

    def _reach(self, child: int, reach: Reach, policy: FloatArray | None) -> Reach:
        """Returns both players' reach in a child."""
        first, second = (reach_in(self.tree, player, child, reach[player], lambda _: policy) for player in (0, 1))
        return first, second

    def _value(self, node: int, reach: Reach) -> float:
        """Returns what a public state is worth to player 0 with each player's reach there."""
        worth, likely = self._sums(node, reach)
        return worth / likely

    def _sums(self, node: int, reach: Reach) -> tuple[float, float]:
        """Returns Σ w v and Σ w over all pairs of hands."""
        first, second = reach
        return float(first @ self._weighted[node] @ second), self._deal(node).total(reach)

    def _deal(self, node: int) -> Deal:
        state = self.tree.states[node]
        if state not in self._deals:
            self._deals[state] = self.tree.game.deal_operator(state)
        return self._deals[state]

    def _pull_up(self, baseline: Policy, node: int) -> FloatArray:
        """Returns [H0, H1] of a node from its children."""
        tree = self.tree
        if tree.payoff_group[node] >= 0:
            payoff = tree.payoffs[tree.payoff_group[node]]
            return np.asarray((payoff if isinstance(payoff, np.ndarray) else payoff.toarray()) * tree.stake[node])
        first, second = (int(count) for count in tree.num_hands[:, node])
        weighted = np.zeros((first, second))
        for index, child in enumerate(tree.children(node)):
            value = self._weighted[child]
            rows = []
            for player, count in ((0, first), (1, second)):
                origin = tree.origin(player, child)
                if tree.actor[node] == player:
                    policy = baseline[node]
                    share = policy[index] if origin is None else policy.ravel()[origin]
                    value = value * (share[:, None] if player == 0 else share[None, :])
                    origin = None if origin is None else origin % count
                rows.append(np.arange(count) if origin is None else origin)
            np.add.at(weighted, np.ix_(rows[0], rows[1]), value)
        return weighted


def _as_seen(reach: Reach, hands: tuple[int, int], known: tuple[bool, bool]) -> Reach:
    """Returns reach with nothing but the hand that it held for a player whose policy is unknown."""
    first, second = (own if known[player] else np.eye(len(own))[hands[player]] for player, own in enumerate(reach))
    return first, second
