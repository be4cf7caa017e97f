"""The coach at a table of several: before two players are left, hands are played out against those who sit there.

Their policies are known, since they are rule bots: `arena.whole_hands.rollouts` says what an action wins against them
if the player goes on like the best of three simple players: the rule bot, one who calls, one who gives up. A loss of
little, or of less than three times its error, is no mistake.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from aleator.agents.whole_hands.base import BatchAgent, HandAgent
from aleator.apps.web.worker.hand_view import action_kind, action_words, usual_raises
from aleator.apps.web.worker.rivals import Rival, load_rival
from aleator.apps.web.worker.whole_hands import rival_in
from aleator.arena.whole_hands.rollouts import DRAWS, Rollout, roll_out
from aleator.games.holdem.betting import CALL, FOLD, STREET_NAMES, Action, raise_to
from aleator.games.holdem.cards import format_cards, format_hand
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandState

_GOES_ON: Final = ("tight-aggressive", "always-call", "always-fold")
_SHOWN: Final = 2.0  # standard errors that are told
_SURE: Final = 3.0  # standard errors of a mistake: the best of some actions was also the luckiest
_LEAST_LOSS: Final = 0.25  # of a mistake, in big blinds


def table_agents(rivals: Sequence[Rival], number: int) -> list[HandAgent] | None:
    """Returns who plays in each seat of the hand of a number, anybody in the player's; None if somebody is slow.

    Args:
        rivals: who sits around the table with the player, in their order.
        number: of the hand.
    """
    agents: list[HandAgent] = []
    for seat in range(len(rivals) + 1):
        rival = rival_in(rivals, seat, number)
        agent = load_rival(_GOES_ON[0] if rival is None else rival.agent)
        if not isinstance(agent, BatchAgent):
            return None
        agents.append(agent)
    return agents


def decisions_at_table(record: HandRecord, player: int) -> Iterator[tuple[HandState, Action]]:
    """Yields where a player acted and how."""
    for state, after in itertools.pairwise(record.states()):
        if len(after.actions) > len(state.actions) and state.player == player:
            yield state, after.actions[-1]


def rollout_report(
    state: HandState, hand: int, agents: Sequence[HandAgent], taken: Action | None = None, *, draws: int = DRAWS
) -> dict[str, Any]:
    """Returns what actions win against a table, as JSON values; amounts are big blinds, a fold is worth nothing.

    Args:
        state: of the decision.
        hand: that is held.
        agents: in each seat.
        taken: what was done there.
        draws: of everybody's hands and the cards to come.
    """
    going_on = [load_rival(name) for name in _GOES_ON]
    rollout = roll_out(state, hand, agents, _tried(state, taken), going_on=going_on, draws=draws)
    big_blind, best = state.setup.rules.big_blind, float(rollout.values.max())
    number = None if taken is None else rollout.actions.index(taken)
    lost = _lost(rollout, number, big_blind)
    return {
        "step": len(state.actions),
        "street": STREET_NAMES[state.street],
        "board": format_cards(state.board),
        "hand": format_hand(hand),
        "pot": state.betting.pot / big_blind,
        "big_blind": big_blind,
        "actions": [
            {
                "name": action_words(state, action),
                "kind": action_kind(state, action),
                "value": float(value) / big_blind,
                "error": _SHOWN * float(error) / big_blind,
                "best": bool(value >= best - 1e-6),
            }
            for action, value, error in zip(*rollout, strict=True)
        ],
        "taken": number,
        "given_up": lost / big_blind,
        "behind": lost / big_blind,
        "mistake": lost > 0,
        "chart": None,
    }


def _lost(rollout: Rollout, taken: int | None, big_blind: int) -> float:
    """Returns the chips that an action gave up, 0 where that may be chance."""
    if taken is None:
        return 0.0
    lost = float(rollout.values.max() - rollout.values[taken])
    return lost if lost > max(_SURE * rollout.errors[taken], _LEAST_LOSS * big_blind) else 0.0


def _tried(state: HandState, taken: Action | None) -> tuple[Action, ...]:
    """Returns a fold, a call, two usual raises, and what was done."""
    tried = [*([FOLD] if state.legal_actions().can_fold else []), CALL]
    raises = usual_raises(state)
    tried += [raise_to(amount) for amount in dict.fromkeys([*raises[1:2], *raises[-2:-1]] or raises)]
    return tuple(tried if taken is None or taken in tried else [*tried, taken])
