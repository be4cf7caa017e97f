"""The self-improver: bets of opponents that a blueprint rounds furthest are added to its menu, and trained on.

Algorithm:
    Every bet x, in pots, that falls into a *gap* between neighbouring sizes A < x < B of the menu adds min(x − A,
    B − x) to the score of that gap; a call has size 0, all-in the size that it has there. The gaps with the highest
    scores get one more size each, at their pseudo-harmonic midpoint (A + B + 2AB) / (A + B + 2), where a bet is taken
    for A and for B alike. The blueprint goes on from what it had: decisions that were there keep their regrets and
    averages, new ones begin with those of the most similar line, scaled by the pot, so that training starts from
    sensible answers.

Reference: N. Brown's thesis (2020), 6.4, "Self-Improvement" (the defensive version).
Deviations: a size is added to its street and level of the menu, at every line there, and the whole blueprint is trained
on; Libratus solved one subgame per gap, with coarser control actions beside it. The flop's gaps are filled, too. No
offensive version.
Status: tests/abstraction/blueprint/test_improving.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from aleator.abstraction.blueprint.betting import Betting
from aleator.abstraction.blueprint.training import BlueprintConfig
from aleator.abstraction.blueprint.walk import Table
from aleator.abstraction.buckets import AbstractionError, BucketConfig
from aleator.abstraction.translation import matching_action, raise_size, size_at_table
from aleator.games.holdem.betting import ActionKind
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandState, states_before

_EXACT: Final = 0.02  # pots: amounts are whole chips
_SCORED_STREETS: Final = (0, 1)
_TRUST: Final = 0.1  # what the averages of a similar line count for in a new one


class Gap(NamedTuple):
    """A gap of a menu into which bets fell.

    Attributes:
        street: 0 for preflop.
        level: how many bets the street had seen.
        below, above: the sizes around it, in pots.
        score: see the module.
        bets: how many fell into it.
    """

    street: int
    level: int
    below: float
    above: float
    score: float = 0.0
    bets: int = 0

    @property
    def middle(self) -> int:
        """The size that fills it, in percent of the pot."""
        below, above = self.below, self.above
        return round(100 * (below + above + 2 * below * above) / (below + above + 2))


def find_gaps(root: BettingNode, stack: int, hands: Iterable[HandRecord]) -> list[Gap]:
    """Returns the gaps of a blueprint's menu that bets of some hands fell into, highest scores first.

    Args:
        root: of the blueprint's betting.
        stack: chips of a player when a hand begins.
        hands: that were played; hands of other games are passed over.
    """
    gaps: dict[tuple[int, int, float, float], Gap] = {}
    for hand in hands:
        if hand.setup.num_players != 2 or hand.setup.first_street or hand.setup.rules.fixed_bets is not None:
            continue
        node: BettingNode | None = root
        for before, after in pairwise(hand.states()):
            if before.cards_due or node is None:
                continue
            node = _on_street(node, before.street)
            if node is None or before.street not in _SCORED_STREETS:
                break
            action = after.actions[-1]
            size = size_at_table(before.betting, action.amount) if action.kind is ActionKind.RAISE else 0.0
            all_in = after.betting.stacks[before.player or 0] == 0
            if action.kind is ActionKind.RAISE and not all_in:
                _score(gaps, node, before, size, stack)
            node = node.children[matching_action(node, action.kind, size, all_in=all_in, most=stack)]
    return sorted(gaps.values(), key=lambda gap: -gap.score)


def _on_street(node: BettingNode, street: int) -> BettingNode | None:
    """Returns the decision of a blueprint on a street that a node leads to by calls; None if there is none."""
    while node.kind is NodeKind.NEXT_STREET or (node.kind is NodeKind.DECISION and node.street < street):
        index = 0 if node.kind is NodeKind.NEXT_STREET else _kinds(node).index(ActionKind.CALL)
        if not node.children:
            return None
        node = node.children[index]
    return node if node.kind is NodeKind.DECISION and node.street == street else None


def _kinds(node: BettingNode) -> list[ActionKind]:
    return [action.kind for action in node.actions]


def _score(
    gaps: dict[tuple[int, int, float, float], Gap], node: BettingNode, state: HandState, size: float, stack: int
) -> None:
    """Adds a bet to the gap that it falls into, if it is a gap."""
    called = node.chips[1 - node.player]
    raises = [index for index, kind in enumerate(_kinds(node)) if kind is ActionKind.RAISE]
    sizes = [0.0, *(raise_size(node, index) for index in raises), (stack - called) / max(2 * called, 1)]
    below = max((known for known in sizes if known <= size), default=0.0)
    above = min((known for known in sizes if known > size), default=below)
    distance = min(size - below, above - size)
    if distance <= _EXACT:
        return
    level = _level(state)
    key = (state.street, level, round(below, 2), round(above, 2))
    known = gaps.get(key, Gap(*key))
    gaps[key] = known._replace(score=known.score + distance, bets=known.bets + 1)


def _level(state: HandState) -> int:
    """Returns how many bets and raises a street has seen."""
    played = zip(states_before(state), state.actions, strict=False)
    return sum(action.kind is ActionKind.RAISE and now.street == state.street for now, action in played)


def filled(config: BlueprintConfig, gaps: Sequence[Gap]) -> BlueprintConfig:
    """Returns a blueprint's settings with a size added to the menu for each gap.

    Raises:
        AbstractionError: the game is limit, which has no menu.
    """
    if config.menu is None:
        raise AbstractionError(f"{config.game} is limit: it has no bet sizes to add to")
    streets = [[level.split() for level in street.split(";")] for street in config.menu]
    for gap in gaps:
        levels = streets[gap.street]
        sizes = levels[min(gap.level, len(levels) - 1)]
        if (size := f"{gap.middle}%") not in sizes:
            sizes.insert(0, size)
            sizes.sort(key=lambda text: float(text[:-1]) if text.endswith("%") else np.inf)
    return replace(config, menu=tuple("; ".join(" ".join(level) for level in street) for street in streets))


def transplanted(old: Betting, table: Table, new: Betting, buckets: BucketConfig) -> Table:
    """Returns a table for another menu, filled from one that was trained; see the module.

    Args:
        old: the betting that was trained.
        table: its regrets and sums of policies.
        new: the betting of the other menu.
        buckets: of both.
    """
    made: Table = np.zeros(new.size, np.float32)

    def block(betting: Betting, values: Table, node: BettingNode) -> Table:
        """Returns a decision's regrets and sums, ``[numbers, 2, A]``, a view."""
        decision = int(betting.decision_of[node.number])
        first, actions = int(betting.arrays.row[decision]), len(node.actions)
        count = buckets.count(node.street)
        return values[first : first + count * 2 * actions].reshape(count, 2, actions)

    def follow(node: BettingNode, like: BettingNode, *, same: bool) -> None:
        if node.kind is NodeKind.NEXT_STREET and like.kind is NodeKind.NEXT_STREET:
            if node.children and like.children:
                follow(node.children[0], like.children[0], same=same)
            return
        if node.kind is not NodeKind.DECISION or (like.kind, like.player, like.street) != (
            NodeKind.DECISION, node.player, node.street,
        ):  # fmt: skip
            return
        into, source = block(new, made, node), block(old, table, like)
        scale = np.float32(sum(node.chips) / sum(like.chips))
        for index, action in enumerate(node.actions):
            raises = action.kind is ActionKind.RAISE
            size = raise_size(node, index) if raises else 0.0
            all_in = node.children[index].chips[node.player] == new.stack
            chosen = matching_action(like, action.kind, size, all_in=all_in, most=old.stack)
            exact = same and node.children[index].chips == like.children[chosen].chips
            into[:, 0, index] = source[:, 0, chosen] * scale
            if exact or not same:
                into[:, 1, index] = source[:, 1, chosen] * (np.float32(1.0) if exact else np.float32(_TRUST))
            follow(node.children[index], like.children[chosen], same=exact)

    follow(new.root, old.root, same=True)
    return made
