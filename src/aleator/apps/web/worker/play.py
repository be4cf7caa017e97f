"""Deals of a game against an agent: dealing, the agent's moves, and what could be learnt from them afterwards.

The library's table deals and keeps the rules (`aleator.games.table`), its agents move. A deal adds up: what was won is
what the seat is worth, less what the player's decisions gave up (`aleator.apps.web.worker.judgement`), plus what an
agent other than the equilibrium gave away (`aleator.apps.web.worker.given_away`), plus luck (`aleator.arena.luck`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aleator.apps.web.catalogue import EQUILIBRIUM
from aleator.apps.web.dice_match import end_round, game_of
from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.equilibrium import open_game
from aleator.apps.web.worker.given_away import given_away
from aleator.apps.web.worker.opponents import Opponent, open_opponent
from aleator.apps.web.worker.review import explain
from aleator.apps.web.worker.solved import Solved, SolvedGame
from aleator.caching import lru_cache
from aleator.errors import AleatorError
from aleator.games.table import PublicHistory, Table

TOTALS = ("deals", "won", "skill", "given_up", "expected")
_PARTS = ("won", "skill", "luck", "expected", "given_up", "given_away")


class PlayError(AleatorError):
    """A move that cannot be made now; the message says what can."""


@lru_cache(maxsize=4)
def open_solved(game: str, file: str) -> Solved:
    """Returns a game with its equilibrium, or a solved spot if the game is `holdem`."""
    if game == "holdem":
        from aleator.apps.web.worker.solved_spot import SolvedSpot

        return SolvedSpot(file)
    return SolvedGame(open_game(file))


def play(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the state of a session after a move, and what its player may see of it.

    `move` is None to look, "deal" for a new one, or the label of an action. All that is secret stays in `state`.
    """
    state: dict[str, Any] = params["state"]
    session = Session(state, open_solved(game_of(state), params["file"]))
    if params["move"] == "deal":
        session.deal()
    elif params["move"] is not None:
        session.act(params["move"])
    return {"state": state, "view": session.view()}


class Session:
    """A session: its state is a JSON value, which is changed in place."""

    def __init__(self, state: dict[str, Any], solved: Solved) -> None:
        self.state, self.solved = state, solved
        self.rng = np.random.default_rng([state["seed"], state["draws"]])
        state["draws"] += 1
        if state["deal"] is not None:
            self._sit_down()

    def _sit_down(self) -> None:
        """Goes to the table and the opponent of the deal."""
        now = self.state["deal"]
        hands = [(first, second) for first, second in now["hands"]]
        self.table = Table.resumed(self.solved.game, now["events"], hands, self.rng)
        self.seat = int(now["seat"])
        draw = (self.state["seed"], self.state["totals"]["deals"])
        self.opponent: Opponent = open_opponent(
            self.state["opponent"], game_of(self.state), self.solved, 1 - self.seat, draw
        )

    def _history(self, length: int) -> PublicHistory:
        """Returns the public history after so many events, as the agent sees it; `seat` is the agent's."""
        return PublicHistory(1 - self.seat, self.table.past_states[length], self.table.events[:length])

    def deal(self) -> None:
        """Makes a new deal, and lets the agent move if it is first."""
        now = self.state["deal"]
        if now is not None and not now["over"]:
            raise PlayError("this deal is not over yet: take an action first")
        seat = {"first": 0, "second": 1, "alternate": self.state["totals"]["deals"] % 2}[self.state["seat"]]
        if match := self.state.get("match"):
            seat = match["first"]
        table = Table(self.solved.game, self.rng)
        self.state["deal"] = {
            "seat": seat, "hands": table.past_hands, "events": list(table.events), "steps": [], "over": False,
        }  # fmt: skip
        self._sit_down()
        self._note({"who": "deal"}, 0)
        self._note_chance(0)
        self._run()

    def act(self, label: str) -> None:
        """Takes an action of the player, and lets the agent answer."""
        now = self.state["deal"]
        if now is None or now["over"]:
            raise PlayError("nothing is dealt: deal first")
        history, hand = self.table.history, self.table.hands[self.seat]
        options = self.solved.options(history)
        labels = [option.label for option in options]
        if label not in labels:
            raise PlayError(f"{label!r} is not possible here: choose one of {', '.join(labels)}")
        taken = labels.index(label)
        judgement = self.solved.judgement(history, hand)
        values, policy = judgement.values, judgement.policy
        step = {
            "who": "you",
            "taken": taken,
            "options": [option._asdict() for option in options],
            "policy": None if policy is None else policy.tolist(),
            "values": None if values is None else values.tolist(),
            "given_up": judgement.given_up(taken),
            "slack": self.solved.slack,
            "note": judgement.note,
            "why": explain(self.solved, history, hand, taken, judgement),
        }
        self._move(taken, step)
        self._run()

    def _run(self) -> None:
        """Lets the agent move until it is the player's turn or the deal is over."""
        while not self.table.is_over and self.table.actor != self.seat:
            history, hand = self.table.history, self.table.hands[self.table.actor]
            block = self.opponent.policy(history)
            policy = block[:, hand] / block[:, hand].sum()
            taken = int(self.rng.choice(len(policy), p=policy))
            step = {
                "who": "agent",
                "taken": taken,
                "options": [option._asdict() for option in self.solved.options(history)],
                "policy": policy.tolist(),
                "mixture": (block @ self.opponent.seen(history, self.table.hands[self.seat])).tolist(),
            }
            self._move(taken, step)
        if self.table.is_over:
            self._finish()

    def _move(self, action: int, step: dict[str, Any]) -> None:
        """Takes an action at the table; notes it and what chance did."""
        before = len(self.table.events)
        self.table.act(action)
        self._note(step, before + 1)
        self._note_chance(before + 1)
        self.state["deal"] |= {"events": list(self.table.events), "hands": self.table.past_hands}

    def _note_chance(self, before: int) -> None:
        """Adds a step for each event of chance after the first `before` events."""
        for number in range(before, len(self.table.events)):
            self._note({"who": "chance", "label": self.table.labels[number]}, number + 1)

    def _note(self, step: dict[str, Any], length: int) -> None:
        """Adds a step, with what the agent believes about the player's hand after so many events."""
        history, hands = self._history(length), self.table.past_hands[length]
        belief = self.opponent.belief(history, hands[1 - self.seat])
        report = self.solved.belief_report(belief, self.seat) | {"truth": float(belief[hands[self.seat]])}
        self.state["deal"]["steps"].append(step | {"belief": report, "scene": self.solved.scene(history)})

    def _finish(self) -> None:
        now, totals, seat = self.state["deal"], self.state["totals"], self.seat
        won, expected = self.solved.payoff(self.table, seat), self.solved.seat_value(seat)
        given_up = sum(step.get("given_up", 0.0) for step in now["steps"])
        gift = 0.0
        if self.state["opponent"] != EQUILIBRIUM and isinstance(self.solved, SolvedGame):
            gift = given_away(self.solved, self.opponent, self.table, seat)
        skill = expected - given_up + gift
        now |= {"over": True, "won": won, "skill": skill, "luck": won - skill, "expected": expected}
        now |= {"given_up": given_up, "given_away": gift}
        if match := self.state.get("match"):
            end_round(match, won=won > 0)
        for name, amount in zip(TOTALS, (1, won, skill, given_up, expected), strict=True):
            totals[name] += amount

    def view(self) -> dict[str, Any]:
        """Returns what the player may see: all of a deal that is over, of one that is on nothing secret."""
        now = self.state["deal"]
        if now is None:
            return {"unit": self.solved.unit, "deal": None}
        over, history = now["over"], self._history(len(self.table.events))
        root = self.solved.game.root()
        names = [str(self.solved.game.hands(root, player)[self.table.hands[player]]) for player in (0, 1)]
        options = [] if over else [option._asdict() for option in self.solved.options(self.table.history)]
        deal = {
            "seat": self.seat,
            "hand": names[self.seat],
            "agent_hand": names[1 - self.seat] if over else None,
            "over": over,
            "position": self.table.labels,
            "scene": self.solved.scene(history),
            "options": options,
            "steps": now["steps"] if over else [_public_step(step) for step in now["steps"]],
            **{name: now.get(name) for name in _PARTS},
        }
        return {"unit": self.solved.unit, "deal": deal}


def _public_step(step: dict[str, Any]) -> dict[str, Any]:
    """Returns what everybody has seen of a step."""
    return {name: step[name] for name in ("who", "taken", "label", "scene", "options") if name in step}
