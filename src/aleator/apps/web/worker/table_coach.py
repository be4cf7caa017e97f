"""The coach at a table of several: before two players are left, hands are played out.

Where rule bots sit, against them: their policies are known, and `arena.whole_hands.rollouts` says what an action wins
against them if the player goes on like the best of three simple players: the rule bot, one who calls, one who gives up.
Elsewhere, in files and where agents play a blueprint or search, the blueprint of the package stands in for all of them
(`arena.whole_hands.table_grading`). A loss of little, or of less than three times its error, is no mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from aleator.agents.whole_hands.base import BatchAgent, HandAgent
from aleator.agents.whole_hands.ring_blueprint import ring_blueprint_agent, shipped_for_several
from aleator.agents.whole_hands.stand_in import StandInAgent
from aleator.apps.web.worker.hand_view import action_kind, action_words, usual_raises
from aleator.apps.web.worker.rivals import Rival, load_rival
from aleator.apps.web.worker.whole_hands import rival_in
from aleator.arena.whole_hands.rollouts import DRAWS, Rollout, roll_out
from aleator.arena.whole_hands.table_grading import DRAWS as TABLE_DRAWS
from aleator.arena.whole_hands.table_grading import SURE, TURNS, TableGrader
from aleator.caching import cache
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, STREET_NAMES, Action, raise_to
from aleator.games.holdem.cards import format_cards, format_hand
from aleator.games.holdem.hand_state import HandState

_GOES_ON: Final = ("tight-aggressive", "always-call", "always-fold")
_SHOWN: Final = 2.0  # standard errors that are told
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


@cache
def blueprint() -> StandInAgent | None:
    """Returns the blueprint of several players that comes with the package; None if it does not."""
    try:
        return StandInAgent(ring_blueprint_agent())
    except AgentError:
        return None


def blueprint_report(
    state: HandState, hand: int, taken: Action | None = None, *, draws: int = TABLE_DRAWS, turns: int = TURNS
) -> dict[str, Any]:
    """Returns what actions are worth where all others play the blueprint, as `rollout_report` does.

    Args:
        state: of the decision.
        hand: that is held.
        taken: what was done there.
        draws: of everybody's hands and the cards to come.
        turns: different boards of four cards that come.

    Raises:
        AgentError: the blueprint knows nothing of this decision; the message says why.
    """
    known = blueprint()
    if known is None:
        raise AgentError("no blueprint of several players comes with this package")
    grade = TableGrader(known, draws=draws, turns=turns).grade(state, hand, taken)
    report = _report(state, hand, grade.rollout, grade.taken, behind=grade.behind, given_up=grade.given_up)
    if grade.policy is not None:
        for action, share in zip(report["actions"], grade.policy, strict=True):
            action["policy"] = float(share)
    report["untried"] = [
        {"name": action_words(state, action), "kind": action_kind(state, action), "policy": share}
        for action, share in grade.untried
    ]
    if not state.board:
        path, is_exact = known.chart(state)
        report["chart"] = {"stack": shipped_for_several().stem, "path": str(path), "exact": is_exact}
    return report


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
    number = None if taken is None else rollout.actions.index(taken)
    lost = _lost(rollout, number, state.setup.rules.big_blind)
    return _report(state, hand, rollout, number, behind=lost, given_up=lost)


def _report(
    state: HandState, hand: int, rollout: Rollout, taken: int | None, *, behind: float, given_up: float
) -> dict[str, Any]:
    big_blind, best = state.setup.rules.big_blind, float(rollout.values.max())
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
        "taken": taken,
        "given_up": given_up / big_blind,
        "behind": behind / big_blind,
        "mistake": given_up > 0,
        "chart": None,
    }


def _lost(rollout: Rollout, taken: int | None, big_blind: int) -> float:
    """Returns the chips that an action gave up, 0 where that may be chance."""
    if taken is None:
        return 0.0
    lost = float(rollout.values.max() - rollout.values[taken])
    return lost if lost > max(SURE * rollout.errors[taken], _LEAST_LOSS * big_blind) else 0.0


def _tried(state: HandState, taken: Action | None) -> tuple[Action, ...]:
    """Returns a fold, a call, two usual raises, and what was done."""
    tried = [*([FOLD] if state.legal_actions().can_fold else []), CALL]
    raises = usual_raises(state)
    tried += [raise_to(amount) for amount in dict.fromkeys([*raises[1:2], *raises[-2:-1]] or raises)]
    return tuple(tried if taken is None or taken in tried else [*tried, taken])
