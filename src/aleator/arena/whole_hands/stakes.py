"""Hands played out in proportion to what is at stake, where all agents begin a hand alike.

Algorithm:
    Agents that search from one blueprint play that blueprint until a street is reached. Up to there they are one and
    the same player, so that hands that end before it win as much in one seat as they lose in the others: they are left
    out, and count 0. Of the others, those with a large pot decide a match. A hand is played out with probability
    q = min(1, pot / full), pot at the first decision of that street, and counts 1 / q times. The mean over all hands
    is what it would be if all were played; q in proportion to the spread of a hand's result is best for a given number
    of hands. All hands of a duplicate deal have the same draws: they come to the same decision of that street, are
    played out together or not at all, and what luck they had before it cancels.

Reference: D. G. Horvitz, D. J. Thompson (1952), "A Generalization of Sampling Without Replacement"; J. Neyman (1934),
the best shares of strata.
Deviations: none.
Status: tests/arena/whole_hands/test_stakes.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import HandAgent, ask_held
from aleator.agents.whole_hands.blueprint import BlueprintAgent
from aleator.agents.whole_hands.ring_blueprint import RingBlueprintAgent
from aleator.arena.whole_hands.deals import deal_hands, uniform_draws
from aleator.arena.whole_hands.play import choose_actions, seats_of
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.hand_batch import OVER, HandBatch
from aleator.games.holdem.hand_state import HandSetup

IntArray = npt.NDArray[np.int64]

_CHOOSING: Final = 0x5851F42D4C957F2D  # keeps the draws of hands apart from those of cards and actions


def common_start(agents: Sequence[HandAgent]) -> tuple[HandAgent, int]:
    """Returns the blueprint that all agents play at first, and the first street on which one of them does not.

    Raises:
        AgentError: they do not begin alike, or never differ.
    """
    from aleator.agents.whole_hands.nested import NestedAgent  # loads PyTorch, which other matches need not have
    from aleator.agents.whole_hands.pluribus import PluribusAgent

    streets, blueprints = list[int](), list[HandAgent]()
    for agent in agents:
        if isinstance(agent, NestedAgent | PluribusAgent):
            streets.append(agent.first_street)
            blueprints.append(agent.blueprint)
        elif isinstance(agent, BlueprintAgent | RingBlueprintAgent):
            blueprints.append(agent)
        else:
            raise AgentError(
                "stakes are for agents that play a blueprint at first (blueprint, modicum, libratus, pluribus), not "
                f"{agent.name}"
            )
    if len({agent.name for agent in blueprints}) > 1 or not streets:
        names = ", ".join(agent.name for agent in agents)
        raise AgentError(f"stakes are for agents with one blueprint, of which one searches, not {names}")
    return blueprints[0], min(streets)


def played_to(
    setup: HandSetup,
    agent: HandAgent,
    street: int,
    numbers: IntArray,
    seed: int,
    *,
    hands_per_board: int = 1,
    opponent: HandAgent | None = None,
) -> HandBatch:
    """Returns hands where a street begins with a decision, or where they end before.

    Args:
        setup: how they begin.
        agent: who plays all seats, or those of the first agent of a match if there is an opponent.
        street: from 1, the flop.
        numbers: of the hands; cards and draws are those of `play_hands` with the same draws for a whole deal.
        seed: of cards and draws.
        hands_per_board: see `deal_hands`.
        opponent: who plays the other seats; None: the agent does.
    """
    players, seats = [agent, opponent or agent], np.minimum(seats_of(numbers, setup.num_players), 1)
    cards = deal_hands(setup, seed, numbers, hands_per_board=hands_per_board)
    hands = HandBatch.start(setup, cards.hands, cards.boards)
    betting, deals = hands.betting, numbers // setup.num_players
    while len(rows := np.flatnonzero((betting.player != OVER) & (betting.street < street))):
        acting = seats[rows, betting.player[rows]] if opponent is not None else np.zeros(len(rows), np.int64)
        for number in np.unique(acting).tolist():
            own = rows[acting == number]
            policy = ask_held(players[number], hands, own, hands.hands[own, betting.player[own]].astype(np.int64))
            chosen = choose_actions(hands, own, policy, uniform_draws(seed, deals[own], hands.num_actions[own]))
            hands.act(own, policy.codes[np.arange(len(own)), chosen].astype(np.int64))
    return hands


def pots_of(hands: HandBatch) -> IntArray:
    """Returns the pots of hands in chips, ``[B]``; 0 for those that are over."""
    pots = hands.betting.contributions.sum(axis=1) + hands.dead
    return np.where(hands.betting.player != OVER, pots, 0).astype(np.int64)


def hand_weights(pots: IntArray, full: float, deals: IntArray, seed: int) -> FloatArray:
    """Returns how often each hand counts, ``[B]``; 0 for those that are not played out. A deal's hands count alike.

    Args:
        pots: in chips; 0 for hands that are over.
        full: hands with this pot and larger ones are all played out.
        deals: the number of each hand's deal.
        seed: of the match.
    """
    chances = np.minimum(pots / full, 1.0)
    is_played = uniform_draws(seed ^ _CHOOSING, deals, np.zeros(len(deals), np.int64)) < chances
    return np.divide(1.0, chances, out=np.zeros(len(deals)), where=is_played)
