"""Deals of a game against an agent: dealing, the agent's moves, and what could be learnt from them afterwards.

Luck is removed exactly. A deal is worth to its player, whatever the cards, what the seat is worth plus, at each of the
player's decisions, how much better or worse the action taken was than the equilibrium's own mixture there; the rest is luck.
Averaged over many deals that equals the winnings, because the agent's policy and the odds of chance are known (the identity
behind AIVAT: Burch et al. 2018, with the equilibrium's values as the baseline). Against an agent that searches this holds as far
as the agent plays the equilibrium.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.equilibrium import open_game
from aleator.apps.web.worker.opponents import open_opponent
from aleator.apps.web.worker.review import explain
from aleator.apps.web.worker.tables import Table, TreeTable
from aleator.errors import AleatorError
from aleator.games.base import CHANCE, TERMINAL

KEPT_DEALS = 200


class PlayError(AleatorError):
    """A move that cannot be made now; the message says what can."""


@lru_cache(maxsize=4)
def open_table(game: str, file: str) -> Table:
    """Returns the table of a game, or of a solved spot if the game is `holdem`."""
    if game == "holdem":
        from aleator.apps.web.worker.holdem_table import HoldemTable

        return HoldemTable(file)
    return TreeTable(open_game(file))


def play(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the state of a session after a move, and what its player may see of it.

    `move` is None to look, "deal" for a new one, or the label of an action. All that is secret stays in `state`.
    """
    state: dict[str, Any] = params["state"]
    table = open_table(state["game"], params["file"])
    move = params["move"]
    rng = np.random.default_rng([state["seed"], state["draws"]])
    state["draws"] += 1
    if move == "deal":
        _deal(state, table, rng)
        _run(state, table, rng)
    elif move is not None:
        _act(state, table, move)
        _run(state, table, rng)
    return {"state": state, "view": _view(state, table)}


def _deal(state: dict[str, Any], table: Table, rng: np.random.Generator) -> None:
    if state["deal"] is not None and not state["deal"]["over"]:
        raise PlayError("this deal is not over yet: take an action first")
    number = state["totals"]["deals"]
    seat = {"first": 0, "second": 1, "alternate": number % 2}[state["seat"]]
    state["deal"] = {"seat": seat, "hands": table.deal(rng), "position": [], "steps": [], "over": False}


def _act(state: dict[str, Any], table: Table, label: str) -> None:
    now = state["deal"]
    if now is None or now["over"]:
        raise PlayError("nothing is dealt: deal first")
    position, seat, hand = now["position"], now["seat"], now["hands"][now["seat"]]
    labels = [option.label for option in table.options(position)]
    if label not in labels:
        raise PlayError(f"{label!r} is not possible here: choose one of {', '.join(labels)}")
    taken = labels.index(label)
    policy, values = table.policy(position, hand), table.values(position, hand)
    now["steps"].append(
        {
            "who": "you",
            "taken": taken,
            "options": [option._asdict() for option in table.options(position)],
            "policy": policy.tolist(),
            "values": values.tolist(),
            "given_up": max(float(values.max() - values[taken]), 0.0),
            "gain": float(values[taken] - policy @ values),
            "why": explain(table, list(position), seat, hand, taken),
        }
    )
    position.append(label)
    _note_belief(state, table)


def _draw(state: dict[str, Any]) -> tuple[int, int]:
    """Returns what the agent's own draws of this deal are seeded by."""
    return state["seed"], state["totals"]["deals"]


def _note_belief(state: dict[str, Any], table: Table) -> None:
    """Adds to the last step what the agent believes about the player's hand after it."""
    now = state["deal"]
    agent = 1 - now["seat"]
    opponent = open_opponent(state["opponent"], state["game"])
    belief = opponent.belief(table, now["position"], agent, now["hands"][agent], _draw(state))
    own = now["hands"][now["seat"]]
    now["steps"][-1]["belief"] = table.belief_report(belief) | {"truth": float(belief[own])}
    now["steps"][-1]["scene"] = table.scene(now["position"])


def _run(state: dict[str, Any], table: Table, rng: np.random.Generator) -> None:
    """Lets chance and the agent move until it is the player's turn or the deal is over."""
    now = state["deal"]
    position, hands = now["position"], (now["hands"][0], now["hands"][1])
    if not now["steps"]:
        now["steps"].append({"who": "deal"})
        _note_belief(state, table)
    opponent = open_opponent(state["opponent"], state["game"])
    while True:
        actor = table.actor(position)
        if actor == now["seat"]:
            return
        if actor == TERMINAL:
            break
        if actor == CHANCE:
            label = table.chance(position, hands, rng)
            now["steps"].append({"who": "chance", "label": label})
        else:
            options = table.options(position)
            policy = opponent.policy(table, position, actor, hands[actor], _draw(state))
            taken = int(rng.choice(len(policy), p=policy / policy.sum()))
            now["steps"].append(
                {
                    "who": "agent",
                    "taken": taken,
                    "options": [option._asdict() for option in options],
                    "policy": policy.tolist(),
                    "mixture": table.mixture(position, hands[now["seat"]]).tolist(),
                }
            )
            label = options[taken].label
        position.append(label)
        _note_belief(state, table)
    _finish(state, table, hands)


def _finish(state: dict[str, Any], table: Table, hands: tuple[int, int]) -> None:
    now, totals = state["deal"], state["totals"]
    seat = now["seat"]
    won = table.payoff(now["position"], hands, seat)
    skill = table.seat_value(seat) + sum(step.get("gain", 0.0) for step in now["steps"])
    now |= {"over": True, "won": won, "skill": skill, "luck": won - skill, "expected": table.seat_value(seat)}
    given_up = sum(step.get("given_up", 0.0) for step in now["steps"])
    totals["deals"] += 1
    for name, amount in (("won", won), ("skill", skill), ("given_up", given_up), ("expected", now["expected"])):
        totals[name] += amount
    state["results"] = [*state["results"], [won, skill, given_up]][-KEPT_DEALS:]


def _view(state: dict[str, Any], table: Table) -> dict[str, Any]:
    """Returns what the player may see: all of a deal that is over, of one that is on nothing secret."""
    now = state["deal"]
    view = {name: state[name] for name in ("game", "opponent", "seat", "totals", "results")}
    view |= {"unit": table.unit, "deal": None}
    if now is None:
        return view
    seat, over = now["seat"], now["over"]
    steps = now["steps"] if over else [_public_step(step) for step in now["steps"]]
    names = [table.hand_name(player, now["hands"][player]) for player in (0, 1)]
    view["deal"] = {
        "seat": seat,
        "hand": names[seat],
        "agent_hand": names[1 - seat] if over else None,
        "over": over,
        "position": now["position"],
        "scene": table.scene(now["position"]),
        "options": [] if over else [option._asdict() for option in table.options(now["position"])],
        "steps": steps,
        **{name: now.get(name) for name in ("won", "skill", "luck", "expected")},
    }
    return view


def _public_step(step: dict[str, Any]) -> dict[str, Any]:
    """Returns what everybody has seen of a step."""
    return {name: step[name] for name in ("who", "taken", "label", "scene", "options") if name in step}
