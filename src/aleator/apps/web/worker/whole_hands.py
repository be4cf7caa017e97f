"""Whole hands of heads-up no-limit hold'em against an agent: dealing, the agent's moves, taking a move back.

A session is a JSON value; a hand in it is its cards and what was done. All draws follow from the session's seed, the
hand's number and how much was done, so that nothing is lost with a process. Stacks are full at the start of every hand.
Luck is removed by AIVAT (`aleator.arena.whole_hands.aivat`): that of the cards, and of the agent's hand and its dice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, ask_policies
from aleator.apps.amounts import parse_typed
from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.hand_view import hand_view
from aleator.apps.web.worker.rivals import find_rival, load_rival
from aleator.arena.whole_hands.aivat import RangeLuck
from aleator.arena.whole_hands.deals import deal_hands, uniform_draws
from aleator.errors import AleatorError
from aleator.games.holdem.betting import Action
from aleator.games.holdem.hand_batch import OVER, HandBatch, action_code
from aleator.games.holdem.hand_record import HandRecord, format_action, parse_actions
from aleator.games.holdem.hand_state import HandSetup
from aleator.games.holdem.variants import load_hand_game

_ROW = np.zeros(1, np.int64)


class HandError(AleatorError):
    """A move that cannot be made now; the message says what can."""


def play(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the state of a session after a move, what its player may see of it, and the record of a hand that ended.

    `move` is None to look, `deal`, `undo`, or an action as people type it. All that is secret stays in `state`.
    """
    state: dict[str, Any] = params["state"]
    rival = find_rival(state["opponent"], tuple(params["blueprints"]))
    session = HandSession(state, rival.agent, rival.title)
    ended = None
    if params["move"] == "deal":
        ended = session.deal()
    elif params["move"] == "undo":
        session.undo()
    elif params["move"] is not None:
        ended = session.act(params["move"])
    return {"state": state, "view": session.view(), "ended": ended}


class HandSession:
    """A session: its state is a JSON value, which is changed in place."""

    def __init__(self, state: dict[str, Any], agent: str, title: str) -> None:
        self.state, self._agent_name, self._title = state, agent, title
        self.setup: HandSetup = load_hand_game(f"hunl:stack={state['stack']}").setup

    @property
    def agent(self) -> HandAgent:
        """Who is played against."""
        return load_rival(self._agent_name)

    def record(self) -> HandRecord:
        """Returns the hand so far."""
        now = self.state["hand"]
        names = [self._title, self._title]
        names[now["seat"]] = "You"
        actions, deck, state = parse_actions(now["actions"]), now["board"], self.setup.start()
        for number in range(len(actions) + 1):
            while due := state.cards_due:
                state = state.deal(deck[len(state.board) : len(state.board) + due])
            if number < len(actions):
                state = state.act(actions[number])
        return HandRecord(
            setup=self.setup, hands=tuple(now["hands"]), board=state.board, actions=actions, names=tuple(names),
            number=now["number"],
        )  # fmt: skip

    def deal(self) -> dict[str, Any] | None:
        """Deals a new hand, and lets the agent act if it is first; returns the record if that ended it."""
        now = self.state["hand"]
        if now is not None and not now["over"]:
            raise HandError("this hand is not over yet: fold, call or raise first")
        number = self.state["dealt"] + 1
        cards = deal_hands(self.setup, self.state["seed"], np.array([2 * number]))  # two hands in a row share cards
        self.state["dealt"] = number
        self.state["hand"] = {
            "number": number, "seat": number % 2, "hands": cards.hands[0].tolist(), "board": cards.boards[0].tolist(),
            "actions": "", "over": False, "practice": False,
        }  # fmt: skip
        return self._run()

    def act(self, text: str) -> dict[str, Any] | None:
        """Takes an action of the player, and lets the agent answer; returns the record if the hand is over."""
        now = self.state["hand"]
        if now is None or now["over"]:
            raise HandError("there is no hand to play: deal first")
        self._do(parse_typed(text, self.record().state()))
        return self._run()

    def undo(self) -> None:
        """Goes back to the player's last decision; a hand in which that was done does not count."""
        now = self.state["hand"]
        if now is None:
            raise HandError("there is no hand to go back in: deal first")
        states = list(self.record().states())
        before = [len(state.actions) for state in states if state.player == now["seat"]]
        if not now["over"]:
            before.pop()
        if not before:
            raise HandError("you have not acted in this hand yet")
        actions = parse_actions(now["actions"])[: before[-1]]
        now |= {"actions": " ".join(format_action(action) for action in actions), "over": False, "practice": True}

    def _do(self, action: Action) -> None:
        now = self.state["hand"]
        now["actions"] = f"{now['actions']} {format_action(action)}".strip()

    def _run(self) -> dict[str, Any] | None:
        """Lets the agent act until it is the player's turn, or the hand is over; then returns what is kept of it."""
        now = self.state["hand"]
        while True:
            record = self.record()
            state = record.state()
            if state.is_over:
                return self._finish(record)
            if state.player == now["seat"]:
                return None
            policy = self.agent.policy_at(state)
            held = now["hands"][1 - now["seat"]]
            chances = np.asarray(policy.probabilities)[:, held].cumsum()
            draw = uniform_draws(self.state["seed"], np.array([now["number"]]), np.array([len(state.actions)]))[0]
            chosen = int(np.searchsorted(chances, draw * chances[-1], side="right"))
            self._do(policy.actions[min(chosen, len(policy.actions) - 1)])

    def _finish(self, record: HandRecord) -> dict[str, Any]:
        now, seat = self.state["hand"], self.state["hand"]["seat"]
        won = record.payoffs()[seat]
        fair = without_luck(record, seat, self.agent, now["board"])
        now |= {"over": True, "won": won, "fair": fair}
        return {
            "number": now["number"], "seat": seat, "record": record.to_dict(), "won": won, "fair": fair,
            "practice": now["practice"],
        }  # fmt: skip

    def view(self) -> dict[str, Any]:
        """Returns what the player may see."""
        now = self.state["hand"]
        view: dict[str, Any] = {name: self.state[name] for name in ("opponent", "stack", "dealt")}
        if now is None:
            return view | {"hand": None}
        hand = hand_view(self.record(), now["seat"])
        hand |= {"practice": now["practice"], "fair": now.get("fair") if now["over"] else None}
        return view | {"hand": hand}


def without_luck(record: HandRecord, seat: int, agent: HandAgent, deck: list[int]) -> float:
    """Returns what a player in `seat` won against an agent, without the luck of the cards and of the agent's draws."""
    batch = HandBatch.start(record.setup, np.array([record.hands], np.int16), np.array([deck], np.int8))
    luck = RangeLuck(batch, (seat != 0, seat != 1))
    for action in record.actions:
        street, player = int(batch.betting.street[0]), int(batch.betting.player[0])
        if player != seat:
            policy = ask_policies(agent, batch, _ROW)
            luck.acted(_ROW, policy, np.flatnonzero(policy.codes[0] == action_code(action))[:1])
        batch.act(_ROW, np.array([action_code(action)]))
        if batch.betting.street[0] != street and batch.betting.player[0] != OVER:
            luck.advanced(_ROW)
    fair = float(luck.estimates()[0])
    return fair if seat == 0 else -fair
