"""What a blueprint of several players does before the flop: how often it takes each action with a hand, no values.

Not all decisions at a table of several have a grade before two players are left (`arena.whole_hands.table_grading`).
Where the server was given a blueprint of that very game, it tells what an average policy of many deals does there.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any

from aleator.apps.web.worker.blueprints import blueprint_game
from aleator.apps.web.worker.hand_view import action_kind, action_words
from aleator.apps.web.worker.rivals import load_rival
from aleator.games.holdem.betting import Action
from aleator.games.holdem.cards import HAND_CLASS_NAMES, HAND_CLASSES, format_hand
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandState
from aleator.search.whole_hands.rounds import nearest_of
from aleator.storage import StorageError


def table_advice(
    state: HandState, hand: int, blueprints: Sequence[str], taken: Action | None = None
) -> dict[str, Any] | None:
    """Returns what a blueprint does with a hand at a decision before the flop, as JSON values; None if there is none.

    Args:
        state: of the decision, at a table of several.
        hand: that is held.
        blueprints: files that the server was given; the first of this game tells.
        taken: what was done there.
    """
    file = next((file for file in blueprints if _is_of(file, state)), None)
    if file is None or state.board:
        return None
    policy = load_rival(f"blueprint:{file}").policy_at(state)
    big_blind = state.setup.rules.big_blind
    return {
        "street": "preflop",
        "hand": format_hand(hand),
        "name": HAND_CLASS_NAMES[HAND_CLASSES[hand]],
        "pot": state.betting.pot / big_blind,
        "big_blind": big_blind,
        "actions": [
            {"name": action_words(state, action), "kind": action_kind(state, action), "policy": float(row[hand])}
            for action, row in zip(policy.actions, policy.probabilities, strict=True)
        ],
        "taken": None if taken is None else nearest_of(policy.actions, taken),
    }


def advice_of(
    record: HandRecord, player: int, blueprints: Sequence[str], steps: Collection[int]
) -> list[dict[str, Any]]:
    """Returns what a blueprint does at some decisions of a player before the flop at a table of several.

    Args:
        record: of the hand.
        player: whose decisions.
        blueprints: files that the server was given.
        steps: how many actions were made before each of the decisions.
    """
    hand = record.hands[player]
    if hand is None or record.setup.num_players == 2:
        return []
    found = [
        table_advice(state, hand, blueprints, after.actions[-1])
        for state, after in itertools.pairwise(record.states())
        if not state.board and state.player == player and len(state.actions) in steps
    ]
    return [advice for advice in found if advice is not None]


def _is_of(file: str, state: HandState) -> bool:
    """Returns whether a blueprint is of the game of a state; one that is gone is of none."""
    try:
        return blueprint_game(file).setup == state.setup
    except StorageError:
        return False
