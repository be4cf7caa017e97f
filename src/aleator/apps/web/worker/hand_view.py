"""A whole hand as the page shows it: what happened step by step, each with the chips as they lay then."""

from __future__ import annotations

import itertools
from typing import Any

from aleator.games.holdem.betting import STREET_NAMES, Action, ActionKind, seat_names
from aleator.games.holdem.cards import format_cards, format_hand
from aleator.games.holdem.hand_name import hand_name
from aleator.games.holdem.hand_record import HandRecord, format_action
from aleator.games.holdem.hand_state import BOARD_CARDS, HandState

_OPENS = (2.0, 2.5, 3.0, 4.0)  # big blinds, of who raises first before the flop; one more for everybody who called
_RERAISES = (2.5, 3.0, 4.0)  # times what was raised before the flop
_SIZES = ((1 / 3, "⅓ pot"), (1 / 2, "½ pot"), (3 / 4, "¾ pot"), (1.0, "pot"), (2.0, "2× pot"))


def hand_view(record: HandRecord, seat: int, *, reveal: bool = False) -> dict[str, Any]:
    """Returns a hand as a player in `seat` sees it; the others' cards at the end, or at once if `reveal`.

    At a table of several, hands that were folded stay hidden until then.
    """
    states = list(record.states())
    state, own, players = states[-1], record.hands[seat], record.setup.num_players
    over = state.is_over
    shown = [
        hand if player == seat or reveal or (over and (players == 2 or not state.betting.folded[player])) else None
        for player, hand in enumerate(record.hands)
    ]
    other = shown[1 - seat] if players == 2 else None
    view: dict[str, Any] = {
        "number": record.number,
        "seat": seat,
        "position": seat_names(players)[seat],
        "cards": "" if own is None else format_hand(own),
        "other_cards": None if other is None else format_hand(other),
        "big_blind": record.setup.rules.big_blind,
        "seats": [
            {"title": title, "position": place, "cards": "" if hand is None else format_hand(hand)}
            for title, place, hand in zip(_titles(record), seat_names(players), shown, strict=True)
        ],
        "steps": _steps(states),
        "over": over,
        "showdown": state.is_showdown,
        "own_name": "" if own is None else hand_name(own, state.board),
        "other_name": "" if other is None or not state.board else hand_name(other, state.board),
        "legal": None if over or state.player != seat else _legal(state),
        "won": None,
        "winners": [],
    }
    if over and (not state.is_showdown or None not in record.hands):
        payoffs = record.payoffs()
        view["won"] = payoffs[seat]
        view["winners"] = [max(payoff, 0) for payoff in payoffs]
    if view["showdown"] and view["won"] and view["own_name"] == view["other_name"]:
        _tell_kickers(view)
    return view


def _tell_kickers(view: dict[str, Any]) -> None:
    """Says of two hands of one name which has the better other cards, or nobody sees why one of them won."""
    better, worse = ("own_name", "other_name") if view["won"] > 0 else ("other_name", "own_name")
    view[better] += ", better kicker"
    view[worse] += ", worse kicker"


def _titles(record: HandRecord) -> tuple[str, ...]:
    return record.names or tuple(f"player {seat + 1}" for seat in range(record.setup.num_players))


def _steps(states: list[HandState]) -> list[dict[str, Any]]:
    steps = [_snapshot(states[0], "deal", None, "")]
    for before, after in itertools.pairwise(states):
        if len(after.actions) > len(before.actions):
            action = after.actions[-1]
            steps.append(
                _snapshot(after, action_kind(before, action), before.player, action_words(before, action))
                | {"action": format_action(action)}
            )
        else:
            street = STREET_NAMES[BOARD_CARDS.index(len(after.board))]
            steps.append(_snapshot(after, "board", None, street))
    return steps


def _snapshot(state: HandState, kind: str, player: int | None, text: str) -> dict[str, Any]:
    betting = state.betting
    return {
        "kind": kind,
        "player": player,
        "text": text,
        "board": format_cards(state.board),
        "pot": betting.pot,
        "bets": list(betting.bets),
        "stacks": list(betting.stacks),
        "folded": list(betting.folded),
        "street": state.street,
        "to_act": state.player,
    }


def action_kind(state: HandState, action: Action) -> str:
    """Returns how an action is coloured: fold, check, call, bet or raise."""
    if action.kind is ActionKind.FOLD:
        return "fold"
    if action.kind is ActionKind.CALL:
        return "call" if state.legal_actions().call_amount else "check"
    return "raise" if max(state.betting.bets) else "bet"


def action_words(state: HandState, action: Action) -> str:
    """Returns an action as it is said at a table."""
    legal, kind = state.legal_actions(), action_kind(state, action)
    if kind == "call":
        return f"call {legal.call_amount:,}"
    if kind in ("fold", "check"):
        return kind
    if action.amount == legal.max_raise_to:
        return f"all-in {action.amount:,}"
    return f"raise to {action.amount:,}" if kind == "raise" else f"bet {action.amount:,}"


def _usual_sizes(state: HandState) -> list[tuple[str, int]]:
    """Returns what people raise to, by name: big blinds or times the raise before the flop, shares of the pot later."""
    betting, big_blind = state.betting, state.setup.rules.big_blind
    faced = max(betting.bets)
    if state.street == 0 and faced <= big_blind:
        called = max(betting.bets.count(big_blind) - 1, 0)
        return [(f"{size + called:g} bb", round((size + called) * big_blind)) for size in _OPENS]
    if state.street == 0:
        return [(f"{times:g}×", round(times * faced)) for times in _RERAISES]
    pot = betting.pot + state.legal_actions().call_amount
    return [(name, faced + round(share * pot)) for share, name in _SIZES]


def _sizes(state: HandState) -> list[dict[str, Any]]:
    """Returns the usual raises that are legal, each with its name, and all-in."""
    legal = state.legal_actions()
    low, high = legal.min_raise_to, legal.max_raise_to
    if low is None or high is None:
        return []
    sizes: list[dict[str, Any]] = []
    for name, amount in _usual_sizes(state):
        if low <= amount < high and amount not in [size["amount"] for size in sizes]:
            sizes.append({"name": name, "amount": amount})
    return [*sizes, {"name": "all-in", "amount": high}]


def usual_raises(state: HandState) -> list[int]:
    """Returns what people raise to where they may, in chips, all-in last."""
    return [size["amount"] for size in _sizes(state)]


def _legal(state: HandState) -> dict[str, Any]:
    """Returns what can be done: what a call costs, and raises from the least to all-in with the usual sizes."""
    legal, betting = state.legal_actions(), state.betting
    low, high = legal.min_raise_to, legal.max_raise_to
    return {
        "fold": legal.can_fold,
        "call": legal.call_amount,
        "min": low,
        "max": high,
        "sizes": _sizes(state),
        "verb": "raise" if max(betting.bets) else "bet",
    }
