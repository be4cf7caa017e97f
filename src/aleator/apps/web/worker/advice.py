"""What the charts before the flop do at a decision of a whole hand: how often each action, no values.

Decisions before the flop have no grade (`arena.whole_hands.grading`), but the charts of heads-up play tell what an
equilibrium of that round does with the hand. A raise that the charts do not have is read as the nearest one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from aleator.agents.whole_hands.preflop import ITERATIONS, PreflopAgent, PreflopCharts, PreflopNode
from aleator.agents.whole_hands.searching import Kept
from aleator.games.holdem.betting import Action
from aleator.games.holdem.cards import HAND_CLASS_NAMES, HAND_CLASSES, format_hand
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.node_path import NodePath
from aleator.search.whole_hands.rounds import nearest_of

OnDone = Callable[[float], object]
LEAST: Final = 0.01
"""A hand that comes somewhere more rarely has no policy there, only noise."""
_charts: Kept[PreflopCharts] = Kept(4)


def has_charts(state: HandState) -> bool:
    """Returns whether a state is one that charts are solved for: heads-up, before the flop."""
    return state.setup.num_players == 2 and not state.board and state.player is not None


def chart_advice(state: HandState, hand: int, taken: Action | None = None) -> dict[str, Any] | None:
    """Returns what the charts do with a hand at a decision before the flop, as JSON values; None past their end.

    Args:
        state: of the decision.
        hand: that is held.
        taken: what was done there.
    """
    node, is_exact = _nearest(_charts_of(state.setup), state.actions)
    if node.player < 0:
        return None
    big_blind = state.setup.rules.big_blind
    stack, odd = divmod(state.setup.stacks[0], big_blind)
    return {
        "street": "preflop",
        "hand": format_hand(hand),
        "name": HAND_CLASS_NAMES[HAND_CLASSES[hand]],
        "pot": state.betting.pot / big_blind,
        "big_blind": big_blind,
        "stack": None if odd else stack,
        "path": str(node.path),
        "exact": is_exact,
        "known": bool(node.reach[node.player][hand] >= LEAST),
        "actions": [
            {"name": name, "kind": action.kind.name.lower(), "policy": float(row[hand])}
            for name, action, row in zip(node.names, node.actions, node.policy, strict=True)
        ],
        "taken": None if taken is None else nearest_of(node.actions, taken),
    }


def advice_of(record: HandRecord, player: int, on_done: OnDone | None = None) -> list[dict[str, Any]]:
    """Returns what the charts do at each decision of a player before the flop; nothing where there are no charts.

    While charts are solved, `on_done` is called with the share of that.
    """
    hand = record.hands[player]
    decisions = [
        (state, after.actions[-1])
        for state, after in itertools.pairwise(record.states())
        if hand is not None and has_charts(state) and state.player == player
    ]
    if decisions:
        _charts_of(record.setup, on_done)
    found = [chart_advice(state, hand, action) for state, action in decisions if hand is not None]
    return [advice for advice in found if advice is not None]


def _charts_of(setup: HandSetup, on_done: OnDone | None = None) -> PreflopCharts:
    def report(iterations: int) -> None:
        if on_done is not None:
            on_done(iterations / ITERATIONS)

    charts = _charts.find(setup)
    return charts or _charts.keep(setup, PreflopCharts(setup, PreflopAgent(setup, on_done=report)))


def _nearest(charts: PreflopCharts, actions: tuple[Action, ...]) -> tuple[PreflopNode, bool]:
    """Returns the place in the charts that is most like the one after some actions, and whether it is just that."""
    node, is_exact = charts.node(), True
    for action in actions:
        if node.player < 0:
            break
        number = nearest_of(node.actions, action)
        is_exact = is_exact and node.actions[number] == action
        node = charts.node(NodePath((*node.path.tokens, node.tokens[number])))
    return node, is_exact
