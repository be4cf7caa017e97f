"""Whole hands of no-limit hold'em against one agent or a table of several: dealing, their moves, taking a move back.

A session is a JSON value; a hand in it is its cards and what was done. All draws follow from the session's seed, the
hand's number and how much was done, so that nothing is lost with a process. Stacks are full at the start of every hand.
Luck is removed by AIVAT: heads-up that of the cards, and of the agent's hand and its dice
(`aleator.arena.whole_hands.aivat.heads_up`), at a table of several that of the cards and of everybody's dice
(`aleator.arena.whole_hands.aivat.table`). Agents are asked again for that when a hand is over; where those of several
players search, only chips are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, ask_policies
from aleator.apps.amounts import parse_typed
from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.hand_view import hand_view
from aleator.apps.web.worker.rivals import Rival, load_rival, table_of
from aleator.arena.whole_hands.aivat.base import Luck
from aleator.arena.whole_hands.aivat.heads_up import RangeLuck
from aleator.arena.whole_hands.aivat.table import TableLuck
from aleator.arena.whole_hands.deals import deal_hands, draw_seeds, uniform_draws
from aleator.errors import AleatorError
from aleator.games.holdem.betting import Action
from aleator.games.holdem.hand_batch import OVER, HandBatch, action_code
from aleator.games.holdem.hand_record import HandRecord, format_action, parse_actions
from aleator.games.holdem.hand_state import HandSetup
from aleator.games.holdem.variants import load_hand_game

_ROW = np.zeros(1, np.int64)
_SEARCHES = "pluribus"  # of the agents at tables of several


class HandError(AleatorError):
    """A move that cannot be made now; the message says what can."""


def play(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the state of a session after a move, what its player may see of it, and the record of a hand that ended.

    `move` is None to look, `deal`, `undo`, `undo 5`, or an action as people type it. Secrets stay in `state`.

    Raises:
        HandError: the move cannot be made, or not `seen`, the moment that its player looked at, is where the hand is.
    """
    state: dict[str, Any] = params["state"]
    session = HandSession(state, table_of(state["opponent"], tuple(params["blueprints"])))
    ended = None
    if params.get("seen") not in (None, session.moment):
        raise HandError("this hand has gone on in another window: look at it again")
    if params["move"] == "deal":
        ended = session.deal()
    elif (params["move"] or "").split()[:1] == ["undo"]:
        session.undo(params["move"])
    elif params["move"] is not None:
        ended = session.act(params["move"])
    return {"state": state, "view": session.view(), "ended": ended}


def rival_in(rivals: Sequence[Rival], seat: int, number: int) -> Rival | None:
    """Returns who sits in a seat in the hand of a number, None for the player; everybody moves on after each hand."""
    place = (seat - number) % (1 + len(rivals))
    return rivals[place - 1] if place else None


class HandSession:
    """A session: its state is a JSON value, which is changed in place.

    Args:
        state: of the session.
        rivals: who sits around the table with the player, in their order.
    """

    def __init__(self, state: dict[str, Any], rivals: Sequence[Rival]) -> None:
        self.state, self._rivals, self.players = state, rivals, 1 + len(rivals)
        state["players"] = self.players
        state["stack"] = next((rival.stack for rival in rivals if rival.stack is not None), state["stack"])
        game = "hunl:" if self.players == 2 else f"ring:{self.players},"
        self.setup: HandSetup = load_hand_game(f"{game}stack={state['stack']}").setup

    @property
    def moment(self) -> str:
        """Which hand of the session it is, and what was done in it."""
        now = self.state["hand"]
        return f"{self.state['dealt']}: {now['actions'] if now else ''}"

    def _rival(self, seat: int) -> Rival | None:
        """Returns who sits in a seat in this hand, None for the player; seats are in the order of betting."""
        return rival_in(self._rivals, seat, self.state["hand"]["number"])

    def agent(self, seat: int) -> HandAgent:
        """Returns who acts in a seat."""
        rival = self._rival(seat)
        assert rival is not None
        return load_rival(rival.agent)

    def record(self) -> HandRecord:
        """Returns the hand so far."""
        now = self.state["hand"]
        sitting = [self._rival(seat) for seat in range(self.players)]
        names = ["You" if rival is None else rival.title for rival in sitting]
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
        if number == 1:
            self.state["fair_known"] = self.players == 2 or all(_answers_again(rival) for rival in self._rivals)
        cards = deal_hands(self.setup, self.state["seed"], np.array([self.players * number]))  # so many share cards
        self.state["dealt"] = number
        self.state["hand"] = {
            "number": number, "seat": number % self.players, "hands": cards.hands[0].tolist(),
            "board": cards.boards[0].tolist(), "actions": "", "over": False, "practice": False,
        }  # fmt: skip
        return self._run()

    def act(self, text: str) -> dict[str, Any] | None:
        """Takes an action of the player, and lets the agent answer; returns the record if the hand is over."""
        now = self.state["hand"]
        if now is None or now["over"]:
            raise HandError("there is no hand to play: deal first")
        self._do(parse_typed(text, self.record().state()))
        return self._run()

    def undo(self, move: str) -> None:
        """Goes back to the player's last decision, or with `undo 5` to the one after 5 actions.

        A hand in which that was done does not count.
        """
        now = self.state["hand"]
        if now is None:
            raise HandError("there is no hand to go back in: deal first")
        states = list(self.record().states())
        before = [len(state.actions) for state in states if state.player == now["seat"]]
        if not now["over"]:
            before.pop()
        if not before:
            raise HandError("you have not acted in this hand yet")
        if wanted := move.split()[1:]:
            before = [count for count in before if str(count) == wanted[0]]
            if not before:
                raise HandError(f"you did not decide anything after {wanted[0][:20]} actions in this hand")
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
            assert state.player is not None
            policy = self.agent(state.player).policy_at(state)
            held = now["hands"][state.player]
            chances = np.asarray(policy.probabilities)[:, held].cumsum()
            draw = uniform_draws(self.state["seed"], np.array([now["number"]]), np.array([len(state.actions)]))[0]
            chosen = int(np.searchsorted(chances, draw * chances[-1], side="right"))
            self._do(policy.actions[min(chosen, len(policy.actions) - 1)])

    def _finish(self, record: HandRecord) -> dict[str, Any]:
        now, seat = self.state["hand"], self.state["hand"]["seat"]
        won = record.payoffs()[seat]
        fair = float(won)
        if self.state.get("fair_known", self.players == 2):
            fair = without_luck(record, seat, self.agent, now["board"], self.state["seed"])
        now |= {"over": True, "won": won, "fair": fair}
        return {
            "number": now["number"], "seat": seat, "record": record.to_dict(), "won": won, "fair": fair,
            "practice": now["practice"],
        }  # fmt: skip

    def view(self) -> dict[str, Any]:
        """Returns what the player may see."""
        now = self.state["hand"]
        view: dict[str, Any] = {name: self.state[name] for name in ("opponent", "stack", "dealt", "players")}
        view["moment"] = self.moment
        if now is None:
            return view | {"hand": None}
        hand = hand_view(self.record(), now["seat"])
        known = now["over"] and self.state.get("fair_known", self.players == 2)
        hand |= {"practice": now["practice"], "fair": now.get("fair") if known else None}
        return view | {"hand": hand}


def _answers_again(rival: Rival) -> bool:
    """Returns whether an agent at a table of several tells quickly, and always the same, what it does."""
    return rival.agent.partition(":")[0] != _SEARCHES


def without_luck(record: HandRecord, seat: int, agent: Callable[[int], HandAgent], deck: list[int], seed: int) -> float:
    """Returns what a player in `seat` won, without the luck of the cards and of the agents' draws.

    Args:
        record: the hand, with everybody's cards.
        seat: of the player.
        agent: who sits in another seat.
        deck: all five cards of the board, whether they were seen or not.
        seed: of boards that are drawn to tell what hands are worth before the flop.
    """
    batch = HandBatch.start(record.setup, np.array([record.hands], np.int16), np.array([deck], np.int8))
    luck: Luck
    if record.setup.num_players == 2:
        luck = RangeLuck(batch, (seat != 0, seat != 1))
    else:
        luck = TableLuck(batch, draw_seeds(seed, np.array([record.number])))
    for action in record.actions:
        street, player = int(batch.betting.street[0]), int(batch.betting.player[0])
        if player != seat:
            policy = ask_policies(agent(player), batch, _ROW)
            luck.acted(_ROW, policy, np.flatnonzero(policy.codes[0] == action_code(action))[:1])
        batch.act(_ROW, np.array([action_code(action)]))
        if batch.betting.street[0] != street and batch.betting.player[0] != OVER:
            luck.advanced(_ROW)
    return float(luck.estimates()[0, seat])
