"""Translation of bets: which bet of a tree a bet that the tree lacks is taken for.

Algorithm:
    Sizes are in pots: what a bet adds to a call, over the pot after that call. A bet x that lies between the sizes
    A < B of a tree is taken for A with chance f(x), else for B; f is the `Translation`. A call has size 0, so that a
    bet below the smallest size is partly taken for a call. A bet above the largest size is taken for the largest.
    Pseudo-harmonic: f(x) = (B − x)(1 + A) / ((B − A)(1 + x)). It is what an equilibrium of a small game plays against
    bets of size x, and who bets between two sizes gains least by it.

Reference: S. Ganzfried, T. Sandholm, "Action Translation in Extensive-Form Games with Large Action Spaces: Axioms,
Paradoxes, and the Pseudo-Harmonic Mapping" (IJCAI 2013), sections 3 (axioms), 4 and 5 (mappings).
Deviations: none.
Status: tests/abstraction/test_translation.py has the axioms; tests/agents/whole_hands/test_tree_agent.py plays by it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aleator.errors import AgentError, check_known
from aleator.games.holdem.betting import ActionKind, BettingState
from aleator.games.holdem.betting_tree import BettingNode

Translation = Callable[[float, float, float], float]
"""The chance ``f(A, B, x)`` that a bet of x pots, A <= x <= B and A < B, is taken for one of A."""


def pseudo_harmonic(small: float, large: float, bet: float) -> float:
    """Returns the pseudo-harmonic chance of the smaller size."""
    return (large - bet) * (1.0 + small) / ((large - small) * (1.0 + bet))


def rounded_pseudo_harmonic(small: float, large: float, bet: float) -> float:
    """Returns 1 where the pseudo-harmonic chance of the smaller size is at least one half, else 0."""
    return float(pseudo_harmonic(small, large, bet) >= 0.5)


def linear(small: float, large: float, bet: float) -> float:
    """Returns the chance that falls evenly from one size to the other, which the paper calls arithmetic."""
    return (large - bet) / (large - small)


def nearest(small: float, large: float, bet: float) -> float:
    """Returns 1 where the smaller size is at least as near, else 0."""
    return float(bet - small <= large - bet)


TRANSLATIONS: Final[Mapping[str, Translation]] = {
    "pseudo-harmonic": pseudo_harmonic,
    "rounded": rounded_pseudo_harmonic,
    "linear": linear,
    "nearest": nearest,
}
"""Translations by name; the first one is the one to use, the others are for comparison."""


def parse_translation(text: str) -> Translation:
    """Returns a translation by its name.

    Raises:
        AgentError: there is none; the message lists them.
    """
    check_known(text, TRANSLATIONS, "translation", AgentError)
    return TRANSLATIONS[text]


def translate(bet: float, sizes: Sequence[float], translation: Translation = pseudo_harmonic) -> dict[int, float]:
    """Returns the chance of each size that a bet is taken for, by its index; chances above 0 only, which sum to 1.

    Args:
        bet: in pots.
        sizes: of the tree, in pots, ascending, each once.
        translation: what divides a bet between its two neighbours.
    """
    above = bisect_right(sizes, bet)
    if above == 0 or above == len(sizes) or sizes[above - 1] == bet:
        return {max(above - 1, 0): 1.0}
    smaller = translation(sizes[above - 1], sizes[above], bet)
    chances = {above - 1: smaller, above: 1.0 - smaller}
    return {index: chance for index, chance in chances.items() if chance > 0.0}


def raise_size(node: BettingNode, index: int, dead: int = 0) -> float:
    """Returns a raise of a tree in pots: what it adds to a call, over the pot after that call.

    Args:
        node: a decision.
        index: of the raise among its actions.
        dead: chips in the middle that the tree does not count.
    """
    called = node.chips[1 - node.player]
    return (node.children[index].chips[node.player] - called) / (dead + 2 * called)


def size_at_table(betting: BettingState, amount: int) -> float:
    """Returns a raise to an amount in pots, as `raise_size` does for one of a tree."""
    return (amount - max(betting.bets)) / (betting.pot + betting.legal_actions().call_amount)


def matching_action(node: BettingNode, kind: ActionKind, size: float, *, all_in: bool, most: int) -> int:
    """Returns the index of the action of a decision that is most like another one: of raises by the likelier size.

    Args:
        node: of a tree that counts all chips.
        kind: of the action.
        size: in pots, if it raises.
        all_in: whether it puts all chips in: then the tree's all-in is taken, if it has one.
        most: chips of a player when the tree begins.
    """
    kinds = [action.kind for action in node.actions]
    if kind is not ActionKind.RAISE:
        return kinds.index(kind if kind in kinds else ActionKind.CALL)
    raises = [index for index, other in enumerate(kinds) if other is ActionKind.RAISE]
    if not raises:
        return kinds.index(ActionKind.CALL)
    if all_in and node.children[raises[-1]].chips[node.player] == most:
        return raises[-1]
    sizes = [raise_size(node, index) for index in raises]
    (nearest,) = translate(size, sizes, rounded_pseudo_harmonic)
    return raises[nearest]
