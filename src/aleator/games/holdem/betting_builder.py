"""Building a betting tree: every action of a menu from a state on, in preorder."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.errors import TooBigError
from aleator.games.holdem.bet_menu import BetMenu, Situation
from aleator.games.holdem.betting import CALL, FOLD, Action, BettingState, LegalActions, raise_to
from aleator.games.holdem.betting_tree import (
    ACTION_KINDS,
    MAX_RAISES_PER_STREET,
    BettingTree,
    BettingTreeError,
    NodeKind,
    action_token,
)
from aleator.games.holdem.node_path import NodePath
from aleator.meter import Meter


class Arrival(NamedTuple):
    """How a node is reached: from which node, and by which action unless a card came."""

    parent: int = -1
    action: Action | None = None


def situation_of(state: BettingState, legal: LegalActions) -> Situation | None:
    """Returns what bet sizes depend on where a player acts; None if no bet or raise is legal."""
    if legal.min_raise_to is None or legal.max_raise_to is None:
        return None
    return Situation(
        pot=state.pot + legal.call_amount,
        faced=max(state.bets),
        min_to=legal.min_raise_to,
        max_to=legal.max_raise_to,
        num_raises=state.num_raises,
        streets_left=state.rules.num_streets - state.street,
    )


class TreeBuilder:
    """One build: the menu, the added lines, the meter that counts nodes, and a row for each node so far."""

    def __init__(
        self, menu: BetMenu | None, lines: dict[tuple[str, ...], set[int]], one_street: bool, meter: Meter
    ) -> None:
        self.menu, self.lines, self.one_street, self.meter = menu, lines, one_street, meter
        self.rows: list[tuple[int, ...]] = []
        self.ends: list[int] = []

    def tree(self) -> BettingTree:
        """Returns what has been built."""
        rows = np.array(self.rows, np.int64).reshape(-1, 8)
        kind, street, player, action = rows[:, [0, 1, 2, 6]].T.astype(np.int8)
        end = np.array(self.ends, np.int32)
        return BettingTree(kind, street, player, rows[:, 3:5], rows[:, 5].astype(np.int32), end, action, rows[:, 7])

    def decision(self, state: BettingState, line: tuple[str, ...], came: Arrival, caller: int | None) -> None:
        """Adds the node of the acting player; ``caller`` is who has just called a bet on the street before."""
        player = state.player
        assert player is not None
        legal = state.legal_actions()
        actions = [FOLD, CALL] if legal.can_fold else [CALL]
        actions += [raise_to(amount) for amount in self.amounts(state, legal, line, caller)]
        if state.num_raises > MAX_RAISES_PER_STREET:
            raise TooBigError(f"more than {MAX_RAISES_PER_STREET} raises on a street: use larger sizes or a cap")
        node = self.add(NodeKind.DECISION, state.street, player, state, came)
        for action in actions:
            after = state.act(action)
            token = action_token(action, after.contributions[player])
            called_by = player if action is CALL and legal.call_amount else None
            self.after(state, after, (*line, token), Arrival(node, action), called_by)
        self.ends[node] = len(self.rows)

    def amounts(
        self, state: BettingState, legal: LegalActions, line: tuple[str, ...], caller: int | None
    ) -> tuple[int, ...]:
        """Returns the raise-to amounts of the menu and of the added lines, ascending."""
        player = state.player
        assert player is not None
        before = state.contributions[player] - state.bets[player]
        amounts: set[int] = set()
        situation = situation_of(state, legal)
        if situation is not None:
            if self.menu is None:
                amounts.add(situation.min_to)
            else:
                amounts.update(self.menu.amounts(state.street, player, situation, is_donk=caller == player))
        for chips in self.lines.get(line, ()):
            if not legal.allows(raise_to(chips - before)):
                bounds = "no bet or raise is legal there"
                if legal.min_raise_to is not None and legal.max_raise_to is not None:
                    bounds = f"legal are b{legal.min_raise_to + before} to b{legal.max_raise_to + before}"
                raise BettingTreeError(f"cannot add 'b{chips}' at {NodePath(line)}: {bounds}")
            amounts.add(chips - before)
        return tuple(sorted(amounts))

    def after(
        self, before: BettingState, state: BettingState, line: tuple[str, ...], came: Arrival, caller: int | None
    ) -> None:
        """Adds the node of ``state``, which an action in ``before`` has led to, and all below it."""
        street, last = before.street, state.rules.num_streets - 1
        if len(state.live_players) == 1:
            assert before.player is not None
            self.add(NodeKind.FOLD, street, before.player, state, came)
        elif not state.is_over and state.street == street:
            self.decision(state, line, came, caller=None)
        elif street == last:
            self.add(NodeKind.SHOWDOWN, street, -1, state, came)
        elif self.one_street:
            self.add(NodeKind.NEXT_STREET, street, -1, state, came)
        elif not state.is_over:
            node = self.add(NodeKind.NEXT_STREET, street, -1, state, came)
            self.decision(state, line, Arrival(node), caller)
            self.ends[node] = len(self.rows)
        else:  # both are all-in
            nodes = []
            for deeper in range(street, last):
                nodes.append(self.add(NodeKind.NEXT_STREET, deeper, -1, state, came))
                came = Arrival(nodes[-1])
            self.add(NodeKind.SHOWDOWN, last, -1, state, came)
            for node in nodes:
                self.ends[node] = len(self.rows)

    def add(self, kind: NodeKind, street: int, player: int, state: BettingState, came: Arrival) -> int:
        """Returns the number of a new node, as yet with nothing below it."""
        self.meter.add()
        first, second = state.contributions
        action = -1 if came.action is None else ACTION_KINDS.index(came.action.kind)
        amount = 0 if came.action is None else came.action.amount
        self.rows.append((kind, street, player, first, second, came.parent, action, amount))
        self.ends.append(len(self.rows))
        return len(self.rows) - 1
