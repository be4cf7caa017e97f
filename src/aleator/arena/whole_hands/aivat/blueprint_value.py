"""A blueprint as AIVAT's value: what both ranges expect when turn and river come, if both play on by the blueprint."""

from __future__ import annotations

from math import log
from typing import Final

import numpy as np

from aleator.abstraction.blueprint.policy import BlueprintPolicy
from aleator.abstraction.blueprint.values import BlueprintValues
from aleator.arena.whole_hands.aivat.hand_value import EquityValue, HandValue, Situation
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.cards import without_common_cards
from aleator.games.holdem.hand_state import BOARD_CARDS

_TURN: Final = 2
_RIVER: Final = 3


class BlueprintValue(HandValue):
    """Shares by the values of a blueprint where a street begins; before the turn, and when all chips are in, by equity.

    A street that begins with some pot is taken for the one of the blueprint whose pot is nearest, as a share of it.

    Args:
        policy: of a blueprint to the river.
        deals: that the chances of cards are counted from; None for as many as usual.
    """

    tells_actions = False  # what a hand wins by later bets does not grow with the next one

    def __init__(self, policy: BlueprintPolicy, *, deals: int | None = None) -> None:
        if policy.buckets.config.last_street != _RIVER:
            raise AgentError(
                f"{policy.blueprint.path} is a blueprint of {policy.game.name}: AIVAT takes one to the river"
            )
        self._values = BlueprintValues(policy) if deals is None else BlueprintValues(policy, deals=deals)
        self._equity = EquityValue()
        tree = self._values.tree
        ends = np.flatnonzero((tree.kind[:-1] == NodeKind.NEXT_STREET) & (tree.kind[1:] == NodeKind.DECISION))
        self._starts = {
            street: [
                (int(node), 2.0 * float(tree.chips[node].min())) for node in ends + 1 if tree.street[node] == street
            ]
            for street in (_TURN, _RIVER)
        }

    def rows(self, situation: Situation, player: int, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        street = BOARD_CARDS.index(len(situation.board))
        if street < _TURN or min(situation.behind) <= 0:
            return self._equity.rows(situation, player, reach)
        node, pot = self._start(situation, street)
        met = without_common_cards(reach[1 - player])
        cfvs = self._values.cfvs(node, tuple(situation.board.tolist()), reach)[player]
        return 0.5 * met + cfvs / pot, met

    def mean_share(self, situation: Situation, reach: FloatArray) -> float:
        street = BOARD_CARDS.index(len(situation.board)) + 1
        if street < _TURN or min(situation.behind) <= 0:
            won, met = self._equity.rows(situation, 0, reach)
            return float(reach[0] @ won) / float(reach[0] @ met)
        node, pot = self._start(situation, street)
        board = self._values.board_numbers(tuple(situation.board.tolist()))
        first, second = reach[:, board.hands]
        pairs = self._values.on_board(node, board)[0].astype(np.float64)  # means over the cards that both hands leave
        mass = float(first @ (~board.blocked @ second))
        return 0.5 + float(first @ pairs @ second) / (pot * mass)

    def _start(self, situation: Situation, street: int) -> tuple[int, float]:
        """Returns the first node of a street of the blueprint whose pot is nearest, and that pot."""
        pot = 2 * min(situation.paid) + situation.dead
        return min(self._starts[street], key=lambda start: abs(log(start[1] / pot)))
