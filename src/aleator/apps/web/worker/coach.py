"""The coach of whole hands: what the actions of a decision are worth, for hints, reviews and hands from files."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from aleator.apps.web.worker.advice import advice_of, chart_advice, has_charts
from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.hand_view import action_kind, action_words
from aleator.apps.web.worker.rivals import table_of
from aleator.apps.web.worker.whole_hands import HandError, HandSession
from aleator.arena.whole_hands.decisions import decision_now, decisions_of
from aleator.arena.whole_hands.grading import Grade, HandGrader
from aleator.caching import cache
from aleator.errors import AleatorError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.cards import format_cards, format_hand
from aleator.games.holdem.hand_range import format_hand_range
from aleator.games.holdem.hand_record import HandRecord

SLACK: Final = {"flop": 0.05, "turn": 0.05, "river": 0.02}
"""Shares of the pot below which a loss is no mistake: what a search of a few dozen iterations cannot tell.

Before the river it has a network at its end, whose values of hands are off by 1.5 to 1.7 % of the pot in the mean
(docs/algorithms/hunl.md), so that two actions may differ by twice as much for no reason.
"""
_PREFLOP = "Before the flop the charts are shown, without grades: the values there are not exact enough to grade by."
_PAST_CHARTS = "The charts before the flop do not go so far: there is no hint for so many raises."
_SEVERAL = "Graded are decisions on streets that begin with two players left, from the flop on."
_LEAST = 0.01


@cache
def _grader() -> HandGrader:
    return HandGrader()


def hint(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns what each action of the player's decision in a session is worth; before the flop what the charts do."""
    session = HandSession(params["state"], table_of(params["state"]["opponent"], tuple(params["blueprints"])))
    now = params["state"]["hand"]
    if now is None or now["over"]:
        raise HandError("there is nothing to decide: deal first")
    record, held = session.record(), now["hands"][now["seat"]]
    if has_charts(record.state()):
        advice = chart_advice(record.state(), held)
        return {"note": _PREFLOP if advice else _PAST_CHARTS, "grade": None, "chart": advice}
    decision = decision_now(record, now["seat"])
    if decision is None:
        return {"note": _SEVERAL, "grade": None, "chart": None}
    return {"note": "", "grade": grade_report(_grader().grade(decision, held)), "chart": None}


def _note(players: int) -> str:
    """Returns what is not graded, in words."""
    return _PREFLOP if players == 2 else _SEVERAL


def review(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the grades of the decisions of the player in `seat` in the hand `record`, and what the charts do before.

    A note says what is not graded.
    """
    record = HandRecord.from_dict(params["record"])
    preflop = advice_of(record, params["seat"], lambda done: channel.report(done=done))
    decisions = review_hand(record, params["seat"], channel)
    return {"decisions": decisions, "preflop": preflop, "note": _note(record.setup.num_players)}


def review_hand(record: HandRecord, player: int, channel: Channel | None = None) -> list[dict[str, Any]]:
    """Returns the grades of a player's decisions from the flop on, where two players are left; reports how far it is.

    Raises:
        AgentError: the hand cannot be graded; the message says why.
    """
    found, hand = [], record.hands[player]
    decisions = decisions_of(record, player)
    for number, decision in enumerate(decisions):
        assert hand is not None
        if channel is not None:
            channel.report(done=number / len(decisions))
        found.append(grade_report(_grader().grade(decision, hand)))
    return found


def grade_report(grade: Grade) -> dict[str, Any]:
    """Returns a grade as JSON values; amounts are big blinds, a fold is worth nothing."""
    state = grade.decision.state
    big_blind = state.setup.rules.big_blind
    best = float(grade.values.max())
    slack = max(SLACK[STREET_NAMES[state.street]] * state.betting.pot, 0.05 * big_blind)
    return {
        "step": grade.decision.step,
        "street": STREET_NAMES[state.street],
        "board": format_cards(state.board),
        "hand": format_hand(grade.hand),
        "pot": state.betting.pot / big_blind,
        "big_blind": big_blind,
        "actions": [
            {
                "name": action_words(state, action),
                "kind": action_kind(state, action),
                "policy": float(grade.policy[number]),
                "value": float(grade.values[number]) / big_blind,
                "best": bool(grade.values[number] >= best - 1e-6),
            }
            for number, action in enumerate(grade.actions)
        ],
        "taken": grade.taken,
        "given_up": grade.given_up / big_blind,
        "mistake": grade.given_up > slack,
    }


def spot_of_decision(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the spot of the street on which the decision after `step` actions of the hand `record` was taken.

    Its ranges are those with which both players got to that street.
    """
    record = HandRecord.from_dict(params["record"])
    decisions = {decision.step: decision for decision in decisions_of(record, params["seat"])}
    if params["step"] not in decisions:
        raise HandError(
            f"no decision after {params['step']} actions; there are some after {', '.join(map(str, decisions))}"
        )
    decision = decisions[params["step"]]
    reach = _grader().reach_on_street(decision)
    state, betting = decision.state, decision.state.betting
    return {
        "board": format_cards(state.board),
        "pot": betting.pot - sum(betting.bets),
        "stack": betting.stacks[0] + betting.bets[0],
        "oop": _text(reach[0], state.board),
        "ip": _text(reach[1], state.board),
        "min_bet": state.setup.rules.big_blind,
    }


def _text(reach: FloatArray, board: tuple[int, ...]) -> str:
    weights = reach / reach.max()
    return format_hand_range(np.where(weights >= _LEAST, weights, 0.0).clip(0, 1), digits=2, board=board)


def grade(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the grades of all decisions of a player in hands from a file, costliest first; progress is reported.

    `records` are hands as they were read, `player` a name.
    """
    records = [HandRecord.from_dict(document) for document in params["records"]]
    decisions: list[dict[str, Any]] = list(params.get("done", []))
    problems: list[str] = list(params["problems"])
    graded = 0
    for number, record in enumerate(records):
        channel.report(stage="grading", hand=number, hands=len(records), decisions=len(decisions))
        if channel.stopped:
            problems.append(f"stopped after {number} of {len(records)} hands")
            break
        try:
            if params["player"] not in record.names:
                continue
            found = review_hand(record, record.names.index(params["player"]))
        except AleatorError as error:
            problems.append(f"hand {record.number}: {error}")
            continue
        graded += 1
        decisions += [decision | {"record": number} for decision in found]
    decisions.sort(key=lambda decision: -decision["given_up"])
    return {
        "player": params["player"],
        "hands": graded,
        "decisions": decisions,
        "problems": problems,
        "given_up": sum(decision["given_up"] for decision in decisions),
        "mistakes": sum(decision["mistake"] for decision in decisions),
    }
