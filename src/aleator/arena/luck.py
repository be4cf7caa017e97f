"""Luck: what draws did to a result. Every score and every review means the same by it.

Algorithm:
    A *value* says at every moment of a game what a player may expect. What happens next is a draw (of hands, of cards,
    of an agent's dice) or a decision. A draw was as lucky as the value rose above its mean before the draw, by the
    probabilities of all that could have been drawn. Luck is the sum over all draws of a game, and the result is what
    there was *without luck*, plus luck. Luck has mean zero, whatever the value is; the better the value, the more of
    the luck it finds.

    - Where a game is solved, the value is exact: what the player wins from here on by making no mistake against the
      equilibrium. Then the rest has names: result = the seat's value - given up + given away + luck, where the player
      gave up what its actions are worth less than the best ones, and the agent gave away what it does otherwise than
      the equilibrium (`aleator.apps.web.worker.play`). What is forgiven there counts as luck.
    - In matches and in whole hands the value is an estimate: a rough solution, equities, a blueprint, a network. Then
      this is AIVAT (`aleator.arena.aivat`, `aleator.arena.whole_hands.aivat`), and what there was without luck has no
      parts, for nobody knows what a seat is worth.

Reference: N. Burch, M. Schmid, M. Moravčík, D. Morrill, M. Bowling, "AIVAT" (2018), equations 7 to 11.
Deviations: of a player whose policy nobody knows actions are never luck, nor is its hand averaged over.
Status: tests/apps/web/test_luck.py (the luck of reviews is the sum over draws, from the rules alone), and the tests of
    both kinds of AIVAT.
"""

from __future__ import annotations

from aleator.games.base import FloatArray


def mean_value(values: FloatArray, chances: FloatArray) -> FloatArray:
    """Returns what a draw is worth before it is made, the mean over its outcomes: one number, or [P].

    Args:
        values: [K] or [K, P], what follows each outcome is worth, to one player or to each.
        chances: [K] of the outcomes, which sum to 1.
    """
    mean: FloatArray = chances @ values
    return mean


def luck_of_draw(values: FloatArray, chances: FloatArray, drawn: int) -> FloatArray:
    """Returns by how much the outcome `drawn` is worth more than the mean: one number, or [P]."""
    luck: FloatArray = values[drawn] - mean_value(values, chances)
    return luck
