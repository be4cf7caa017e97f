"""The decisions of a hand that two players decide between them, each as a state of heads-up hold'em.

A hand of three and more players is such a hand from the first street on that begins with two of them left: the chips of
the others are in the pot, and the one with the earlier seat acts first. Their decisions before the flop, and those with
three and more players in the pot, are left out. Both players have the smaller of both stacks: no more can be lost.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from aleator.agents.whole_hands.stand_in import StandInAgent
from aleator.arena.whole_hands.ranges import table_reach
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action, ActionKind, raise_to
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandSetup, HandState


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """A decision between two players.

    Attributes:
        state: where it is taken, with two players.
        step: how many actions were made before it in the hand, by everybody.
        action: what was done; None if nothing was yet.
        start: the table when the street began with two players left; None in a heads-up hand.
        seats: of the two at that table, in the order of `state`.
    """

    state: HandState
    step: int
    action: Action | None = None
    start: HandState | None = None
    seats: tuple[int, int] = (0, 1)

    def ranges(self, blueprint: StandInAgent | None = None) -> FloatArray:
        """Returns [2, 1326]: how likely each hand of the two is at `start`, by what they did before.

        Args:
            blueprint: that they may have played; None: a rule alone tells.
        """
        assert self.start is not None
        return table_reach(self.start, blueprint)[list(self.seats)]


def decisions_of(record: HandRecord, player: int) -> list[Decision]:
    """Returns where a player acted and how.

    Raises:
        AgentError: the player's hand is not known.
    """
    if record.hands[player] is None:
        raise AgentError(f"the hand of {record.names[player] if record.names else f'player {player}'} is not known")
    found = _between_two(record)
    if found is None:
        return []
    played, start, seats = found
    before = 0 if start is None else len(start.actions)
    return [
        Decision(
            state=state, step=before + len(state.actions), action=after.actions[-1], start=start, seats=seats,
        )
        for state, after in itertools.pairwise(played.states())
        if len(after.actions) > len(state.actions) and _acts(state, seats, player)
    ]  # fmt: skip


def decision_now(record: HandRecord, player: int) -> Decision | None:
    """Returns the decision that a player has to take, None if it is not one between two."""
    found = _between_two(record)
    if found is None:
        return None
    played, start, seats = found
    state = played.state()
    if not _acts(state, seats, player):
        return None
    before = 0 if start is None else len(start.actions)
    return Decision(state=state, step=before + len(state.actions), start=start, seats=seats)


def _acts(state: HandState, seats: tuple[int, int], player: int) -> bool:
    return state.player is not None and seats[state.player] == player


def _between_two(record: HandRecord) -> tuple[HandRecord, HandState | None, tuple[int, int]] | None:
    """Returns the heads-up hand in a record, the table when it began, and the seats of the two; None if there is none.

    The table is None where the record is of two players.
    """
    stacks = record.setup.stacks
    if record.setup.num_players == 2:
        even = replace(record.setup, stacks=(min(stacks), min(stacks)))
        return _replayed(even, record.hands, record.board, record.actions), None, (0, 1)
    for state in record.states():
        if state.player is None or not state.street or any(state.betting.bets):
            continue
        if len(seats := state.betting.live_players) == 2:
            break
    else:
        return None
    first, last = seats
    behind = min(state.betting.stacks[seat] for seat in seats)
    rules = replace(record.setup.rules, num_players=2, straddles=())
    setup = HandSetup(
        rules=rules, stacks=(behind, behind), first_street=state.street, pot=state.betting.pot, board=state.board
    )
    hands, actions = (record.hands[first], record.hands[last]), record.actions[len(state.actions) :]
    return _replayed(setup, hands, record.board, actions), state, (first, last)


def _replayed(
    setup: HandSetup, hands: tuple[int | None, ...], board: tuple[int, ...], actions: tuple[Action, ...]
) -> HandRecord:
    """Returns a hand in which no bet is larger than the stacks."""
    state, kept = setup.start(), []
    for action in actions:
        state = state.deal_from(board)
        if state.is_over:
            break  # both are all-in: what is left is a call that adds nothing
        if action.kind is ActionKind.RAISE:
            most = state.legal_actions().max_raise_to
            action = Action(ActionKind.CALL) if most is None else raise_to(min(action.amount, most))
        state = state.act(action)
        kept.append(action)
    return HandRecord(setup=setup, hands=hands, board=board, actions=tuple(kept))
