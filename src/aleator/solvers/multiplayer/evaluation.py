"""How good a profile of many players is, exactly: everybody's value, best responses, NashConv.

Algorithm:
    With the others' reach at the terminals, what a sequence of a player brings is a sum over terminals; from the last
    infostate up, the player's policy weighs these sums (its value) or the largest is taken (its best response).
    NashConv is the sum over players of what a best response wins more.

Reference: von Stengel 1996 (sequence form); Lanctot et al. 2019, arXiv 1908.09453 (NashConv for n players).
Deviations: none.
Status: equal to a recursion over histories and to OpenSpiel's numbers (tests/solvers/multiplayer/test_evaluation.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.games.base import FloatArray
from aleator.solvers.engines.sequences import kernels
from aleator.trees.sequence_form import SequenceForm


class Evaluation(NamedTuple):
    """What a profile is worth.

    Attributes:
        values: [P] what everybody wins.
        best: [P] what everybody would win by a best response to the others.
    """

    values: FloatArray
    best: FloatArray

    @property
    def nash_conv(self) -> float:
        """The sum of what the players gain by best responses."""
        return float((self.best - self.values).sum())


def reach_of(form: SequenceForm, profile: FloatArray) -> FloatArray:
    """Returns [E + 1]: each player's part in coming to its sequences."""
    reach = np.ones(form.num_sequences + 1)
    kernels.push_reach(0, form.num_infostates, form.first, form.parent, profile, reach)
    return reach


def _payoffs(form: SequenceForm, player: int, reach: FloatArray) -> FloatArray:
    values = np.zeros(form.num_sequences + 1)
    kernels.add_payoffs(player, form.sequence, form.payoff, reach, values)
    return values


def sequence_values(form: SequenceForm, profile: FloatArray, player: int) -> FloatArray:
    """Returns [E]: what a player's sequences are worth, weighted by the others' reach, if all play a profile on."""
    values = _payoffs(form, player, reach_of(form, profile))
    kernels.pull_values(*form.infostates_of(player), form.first, form.parent, profile, values)
    return values[:-1]


def best_response(form: SequenceForm, profile: FloatArray, player: int) -> tuple[float, FloatArray]:
    """Returns what a best response of a player to the others wins, and the profile with it, [E]."""
    values, response = _payoffs(form, player, reach_of(form, profile)), profile.copy()
    kernels.pull_best(*form.infostates_of(player), form.first, form.parent, values, response)
    return float(values[-1]), response


def evaluate(form: SequenceForm, profile: FloatArray) -> Evaluation:
    """Returns everybody's value and the value of everybody's best response.

    Args:
        form: of the game.
        profile: [E] the probability of each action in its infostate.
    """
    reach, count = reach_of(form, profile), form.num_players
    values, best = np.zeros(count), np.zeros(count)
    for player in range(count):
        own = _payoffs(form, player, reach)
        response, again = profile.copy(), own.copy()
        kernels.pull_values(*form.infostates_of(player), form.first, form.parent, profile, own)
        kernels.pull_best(*form.infostates_of(player), form.first, form.parent, again, response)
        values[player], best[player] = own[-1], again[-1]
    return Evaluation(values, best)


def nash_conv(form: SequenceForm, profile: FloatArray) -> float:
    """Returns the NashConv of a profile [E], in the units of the game's payoffs."""
    return evaluate(form, profile).nash_conv
