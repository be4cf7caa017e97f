"""With which hands players got to a decision, by what they did: as a policy would, and now and then by a rule.

Nobody plays just like a search or a blueprint: with probability `SLIP` an action is believed to follow a simple rule
instead (`agents.whole_hands.river_perfect`). Where the policy takes an action often that hardly matters; where it never
does, or nothing is known, the rule tells the range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from aleator.agents.whole_hands.river_perfect import likely_by_rule
from aleator.agents.whole_hands.stand_in import LEAST_MET, StandInAgent, like_place
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import FOLD, Action
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_state import HandState, states_before

SLIP: Final = 0.05
"""How often players are believed to act by a rule rather than as the search or the blueprint does."""
_LEAST: Final = 1e-3  # reach of hands that the play speaks against: nothing is impossible


def believed(policy: FloatArray, state: HandState, action: Action) -> FloatArray:
    """Returns how likely each hand is believed to take an action that a policy takes by ``policy``, both [1326]."""
    likely: FloatArray = (1 - SLIP) * policy + SLIP * likely_by_rule(state, action)
    return likely


def reach_along(state: HandState, likely: Callable[[HandState, int, Action], FloatArray]) -> FloatArray:
    """Returns how likely each hand of each player is to have acted as it did, ``[P, 1326]``, 1 at most.

    What no hand does tells nothing.

    Args:
        state: of a hand.
        likely: how likely each hand of a player is to take an action at a state, ``[1326]``.
    """
    reach = np.ones((state.setup.num_players, NUM_HANDS))
    for now, action in zip(states_before(state), state.actions, strict=False):
        assert now.player is not None
        acted = reach[now.player] * likely(now, now.player, action)
        if acted.max() > 0.0:
            reach[now.player] = acted / acted.max()
    return reach


def table_reach(state: HandState, blueprint: StandInAgent | None) -> FloatArray:
    """Returns how likely each hand of each player is to have acted as it did, ``[P, 1326]``, 1 at most.

    Args:
        state: of a hand of several players.
        blueprint: that they may play; None: the rule alone tells.
    """
    reach = np.ones((state.setup.num_players, NUM_HANDS))
    for now, action in zip(states_before(state), state.actions, strict=False):
        assert now.player is not None
        likely = _likely(now, action, blueprint)
        if likely.max() > 0.0:  # what no hand does tells nothing
            reach[now.player] *= likely / likely.max()
    alive = ~blocked_hands(state.board)
    reach *= alive
    reach /= np.maximum(reach.max(axis=1, keepdims=True), 1e-12)
    return np.asarray(np.maximum(reach, _LEAST) * alive)


def _likely(state: HandState, action: Action, blueprint: StandInAgent | None) -> FloatArray:
    """Returns how likely each hand is believed to take an action; any may be folded, as far as the rule knows."""
    by_policy = None if blueprint is None else _by_policy(state, action, blueprint)
    if action == FOLD:
        return np.ones(NUM_HANDS) if by_policy is None else (1 - SLIP) * by_policy + SLIP
    return likely_by_rule(state, action) if by_policy is None else believed(by_policy, state, action)


def _by_policy(state: HandState, action: Action, blueprint: StandInAgent) -> FloatArray | None:
    """Returns how likely each hand takes an action by the blueprint; None if it has not met the like."""
    policy = blueprint.known_policy(state, least_met=LEAST_MET)
    if policy is None:
        return None
    place = like_place(action, policy.actions)
    return None if place is None else policy.probabilities[place]
