"""One who searches from a blueprint against copies of that blueprint: only what the search may change is played.

Algorithm:
    Agents that search from one blueprint play it until a street is reached. If the blueprint sat in all seats, seats
    would win nothing on average. So what a seat wins by searching is what it wins more than the blueprint would, from
    where that street begins, with the same cards and the same actions so far. All hands of a duplicate deal have the
    same draws, and come to the same decision of that street:
        - A deal that ends before, and a hand of it in which the seat has folded before, win nothing more: they count 0
          and are not played.
        - The hands of the others are played. What the blueprint would win in their seats, all in all, is known without
          playing it: what the other seats have lost. Each takes off an equal share.
    Luck is taken off by `TableGain` from that street on, where two players are left: each decision counts by how much
    better the search's policy is than the blueprint's, if both play the blueprint on. Where a blueprint lets more than
    two see the flop, or lacks sizes that searches use, it is taken off by `TableRangeLuck`: what was luck before that
    street is that of the blueprint, too.

Reference: N. Burch, M. Schmid, M. Moravčík, D. Morrill, M. Bowling, "AIVAT" (2018).
Deviations: none.
Status: tests/arena/whole_hands/test_paired.py (who plays the blueprint wins nothing in any deal; the mean is that of
    all hands).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.ring_blueprint import RingBlueprintAgent
from aleator.arena.whole_hands.play import TABLE_RANGES, PlayedHands, play_hands
from aleator.arena.whole_hands.stakes import common_start, played_to
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.hand_batch import OVER
from aleator.games.holdem.hand_state import HandSetup
from aleator.search.pluribus.ring.tree import keeps_to_menu

IntArray = npt.NDArray[np.int64]


@dataclass(slots=True, kw_only=True)
class PairedHands:
    """What an agent that searches wins more than its blueprint, in chips.

    Attributes:
        played: the hands that were played; None if none was.
        rows: their places among all hands, ``[R]``.
        won: by chips, ``[B]``; 0 for hands that were not played.
        fair: by AIVAT, ``[B]``.
    """

    played: PlayedHands | None
    rows: IntArray
    won: FloatArray
    fair: FloatArray


def are_paired(agents: Sequence[HandAgent]) -> bool:
    """Returns whether the first agent searches from a blueprint that all others play."""
    try:
        blueprint, _ = common_start(agents)
    except AgentError:
        return False
    return agents[0].name != blueprint.name and all(agent.name == blueprint.name for agent in agents[1:])


def knows_rest(blueprint: RingBlueprintAgent) -> bool:
    """Returns whether a blueprint has all that can come once it searches: two players, and all sizes of searches."""
    policy = blueprint.policy
    two = all(int(live).bit_count() <= 2 for live in policy.places.live[policy.betting.arrays.street > 0])
    return two and keeps_to_menu(policy.menu)


def play_paired(
    setup: HandSetup, agents: Sequence[HandAgent], numbers: IntArray, seed: int, *, street: int, blueprint: HandAgent
) -> PairedHands:
    """Returns hands by their numbers, played where the first agent is in when a street begins.

    Args:
        setup: how they begin.
        agents: the one that searches, then its blueprint in all other seats.
        numbers: of the hands, each once; whole deals.
        seed: of cards and draws.
        street: up to which all play the blueprint.
        blueprint: that is.
    """
    players, numbers = setup.num_players, np.asarray(numbers, np.int64)
    before = played_to(setup, blueprint, street, numbers, seed)
    betting, pots = before.betting, before.pot
    seat = numbers % players  # of the first agent: see `seats_of`
    rows = np.flatnonzero((betting.player != OVER) & ~betting.folded[np.arange(len(numbers)), seat])
    result = PairedHands(played=None, rows=rows, won=np.zeros(len(numbers)), fair=np.zeros(len(numbers)))
    if not len(rows):
        return result
    over = blueprint if isinstance(blueprint, RingBlueprintAgent) and knows_rest(blueprint) else None
    played = play_hands(
        setup, agents, numbers[rows], seed, aivat=TABLE_RANGES, same_draws=True, since=street, over=over
    )  # fmt: skip
    fair, folded = played.fair_winnings(0), betting.folded[rows]
    assert fair is not None
    lost = ((betting.contributions[rows] + setup.pot / players) * folded).sum(axis=1)
    count = (~folded).sum(axis=1)
    result.won[rows] = played.winnings(0) - lost / count
    # without a blueprint that knows the rest, the share of the pot is luck of the hands held
    result.fair[rows] = fair - (lost - pots[rows]) / count if over is None else fair
    result.played = played
    return result
