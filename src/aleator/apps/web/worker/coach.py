"""The coach of whole hands: what the actions of a decision are worth, for hints and reviews."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np

from aleator.agents.whole_hands.preflop import nearest_line
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.apps.web.worker.advice import advice_of, table_advice
from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.hand_view import action_kind, action_words
from aleator.apps.web.worker.rivals import table_of
from aleator.apps.web.worker.table_coach import blueprint, blueprint_report, rollout_report, table_agents
from aleator.apps.web.worker.whole_hands import HandError, HandSession
from aleator.arena.whole_hands.decisions import decision_now, decisions_of
from aleator.arena.whole_hands.grading import Grade, HandGrader
from aleator.arena.whole_hands.table_grading import table_decisions
from aleator.caching import cache
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.cards import format_cards, format_hand
from aleator.games.holdem.hand_range import format_hand_range
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game

_SEARCH: Final = SearchSettings(flop=300, turn=200, river=800)
"""Two to three times what agents search. With theirs, of a hundred actions that the search takes often one is behind by
more than `SLACK`; with these none of 944 was (tests/apps/web/test_coach_noise.py)."""
SLACK: Final = {"preflop": 0.05, "flop": 0.05, "turn": 0.05, "river": 0.02}
"""Shares of the pot below which a loss is no mistake: what a search of a few hundred iterations cannot tell.

Before the river it has a network at its end, whose values of hands are off by 0.5 % of the pot in the mean before the
flop, by 1.2 to 1.9 % later (docs/algorithms/hunl.md), so that two actions may differ by more than that for no reason.
"""
CHART_STACKS: Final = (10, 15, 20, 25, 40, 50, 60, 100, 150, 200)
"""Big blinds that the page with charts before the flop has."""
_SEVERAL = "The blueprint knows nothing of this decision: it has no grade."
_PLAYED_OUT = (
    "Until two players are left, the hand is played out 2,000 times against those who sit here. You go on like a "
    "simple player: like Tara, by calling or by giving up, whichever wins most. ± is how far the distance to the best "
    "action may be off, 95 % of the time. Then the coach searches."
)
_BY_BLUEPRINT = (
    "Until two players are left, the hand is played out thousands of times. All others play the blueprint of the "
    "package, whoever sits there. You go on like the blueprint, by calling or by giving up, whichever wins most. ± is "
    "how far the distance to the best action may be off, 95 % of the time. Then the coach searches."
)
_HINT_DRAWS, _HINT_TURNS = 6000, 250  # nobody waits long for a hint
_LEAST = 0.01
_LEAST_LOSS: Final = 0.05  # of a mistake, in big blinds


@cache
def _grader() -> HandGrader:
    return HandGrader(_SEARCH, blueprint)


def hint(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns what each action of the player's decision in a session is worth, or what a blueprint does there."""
    rivals = table_of(params["state"]["opponent"], tuple(params["blueprints"]))
    now = params["state"]["hand"]
    if now is None or now["over"]:
        raise HandError("there is nothing to decide: deal first")
    record, held = HandSession(params["state"], rivals).record(), now["hands"][now["seat"]]
    decision = decision_now(record, now["seat"])
    if decision is not None:
        return {"note": "", "grade": grade_report(_grader().grade(decision, held)), "chart": None}
    if agents := table_agents(rivals, now["number"]):
        return {"note": _PLAYED_OUT, "grade": rollout_report(record.state(), held, agents), "chart": None}
    try:
        grade = blueprint_report(record.state(), held, draws=_HINT_DRAWS, turns=_HINT_TURNS)
        return {"note": _BY_BLUEPRINT, "grade": grade, "chart": None}
    except AgentError:
        advice = table_advice(record.state(), held, params["blueprints"])
        return {"note": "" if advice else _SEVERAL, "grade": None, "chart": advice}


def review(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the grades of the decisions of the player in `seat` in the hand `record`; a note says what has none.

    At a table of several, decisions before two are left are played out against the `opponent` of the session, if that
    is quick, else against the blueprint; `preflop` is what one of `blueprints` does where that says nothing.
    """
    record, seat = HandRecord.from_dict(params["record"]), params["seat"]
    searched = review_hand(record, seat, channel)
    if record.setup.num_players == 2:
        return {"decisions": searched, "preflop": [], "ungraded": [], "note": ""}
    agents = table_agents(table_of(params["opponent"], tuple(params["blueprints"])), record.number)
    steps = {decision["step"] for decision in searched}
    if agents is None:
        played_out, without = _by_blueprint(record, seat, steps)
        preflop = advice_of(record, seat, params["blueprints"], without.keys())
        note = _BY_BLUEPRINT if played_out else ""
        ungraded = ungraded_decisions(record, without)
        return {"decisions": [*played_out, *searched], "preflop": preflop, "ungraded": ungraded, "note": note}
    hand = record.hands[seat]
    assert hand is not None
    played_out = [
        rollout_report(state, hand, agents, action)
        for state, action in table_decisions(record, seat)
        if len(state.actions) not in steps
    ]
    return {"decisions": [*played_out, *searched], "preflop": [], "ungraded": [], "note": _PLAYED_OUT}


def grade_of_file(record: HandRecord, player: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the grades of a player's decisions in a hand from a file, and those that have none.

    Raises:
        AgentError: the hand cannot be graded; the message says why.
    """
    searched = review_hand(record, player)
    if record.setup.num_players == 2:
        return searched, []
    played_out, without = _by_blueprint(record, player, {decision["step"] for decision in searched})
    return [*played_out, *searched], ungraded_decisions(record, without)


def _by_blueprint(
    record: HandRecord, player: int, steps: Collection[int]
) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """Returns a player's decisions at a table played out by the blueprint, and why others have no grade, by step.

    Args:
        record: of the hand.
        player: whose decisions.
        steps: of decisions that are graded already.
    """
    graded, without, hand = [], dict[int, str](), record.hands[player]
    assert hand is not None
    for state, action in table_decisions(record, player):
        if len(state.actions) in steps:
            continue
        try:
            graded.append(blueprint_report(state, hand, action))
        except AgentError as error:
            without[len(state.actions)] = str(error)
    return graded, without


def ungraded_decisions(record: HandRecord, reasons: Mapping[int, str]) -> list[dict[str, Any]]:
    """Returns decisions that have no grade as JSON values, each with the reason.

    Args:
        record: of the hand.
        reasons: by the number of actions before each of the decisions.
    """
    found, big_blind = [], record.setup.rules.big_blind
    for state, after in itertools.pairwise(record.states()):
        step = len(state.actions)
        if len(after.actions) > step and step in reasons:
            name, street = action_words(state, after.actions[-1]), STREET_NAMES[state.street]
            about = {"step": step, "street": street, "name": name, "reason": reasons[step], "big_blind": big_blind}
            found.append(about)
    return found


def told_reasons(reasons: Counter[str]) -> str:
    """Returns which decisions have no grade, in words; nothing if all have."""
    if not reasons:
        return ""
    count = reasons.total()
    told = "; ".join(f"{reason} ({times})" for reason, times in reasons.most_common())
    return f"{count} {'decision has' if count == 1 else 'decisions have'} no grade: {told}."


def review_hand(record: HandRecord, player: int, channel: Channel | None = None) -> list[dict[str, Any]]:
    """Returns the grades of a player's decisions where two players are left; reports how far it is.

    Raises:
        AgentError: the hand cannot be graded; the message says why.
    """
    grades, hand = [], record.hands[player]
    decisions = decisions_of(record, player)
    for number, decision in enumerate(decisions):
        assert hand is not None
        if channel is not None:
            channel.report(done=number / len(decisions))
        grades.append(grade_report(_grader().grade(decision, hand)))
    return grades


def grade_report(grade: Grade) -> dict[str, Any]:
    """Returns a grade as JSON values; amounts are big blinds, a fold is worth nothing.

    Only a mistake gives something up. Other actions may be `behind` the best one by less than a search can tell; such
    losses must not be added up.
    """
    state = grade.decision.state
    big_blind = state.setup.rules.big_blind
    best = float(grade.values.max())
    slack = max(SLACK[STREET_NAMES[state.street]] * state.betting.pot, _LEAST_LOSS * big_blind)
    is_mistake = grade.given_up > slack
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
        "given_up": grade.given_up / big_blind if is_mistake else 0.0,
        "behind": grade.given_up / big_blind,
        "mistake": is_mistake,
        "chart": None if state.board else _chart_of(state),
    }


def _chart_of(state: HandState) -> dict[str, Any]:
    """Returns where the charts before the flop have a decision: their stack in big blinds, the line, if it is exact."""
    deep = state.setup.stacks[0] / state.setup.rules.big_blind
    stack = min(CHART_STACKS, key=lambda stack: abs(math.log(stack / deep)))
    path, is_exact = nearest_line(load_hand_game(f"hunl:{stack}bb").setup, state)
    return {"stack": stack, "path": str(path), "exact": is_exact}


def spot_of_decision(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the spot of the street on which the decision after `step` actions of the hand `record` was taken.

    Its ranges are those with which both players got to that street.
    """
    record = HandRecord.from_dict(params["record"])
    found = decisions_of(record, params["seat"])
    decisions = {decision.step: decision for decision in found if decision.state.board}
    if params["step"] not in decisions:
        raise HandError(
            f"no decision on a board after {params['step']} actions; there are some after "
            f"{', '.join(map(str, decisions)) or 'none'}"
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
