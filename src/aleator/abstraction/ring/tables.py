"""Hands of other tables in the eyes of a blueprint of several players: as hands of the game that it was trained for.

Seats that a table lacks, those that act first, fold first. Bets and raises keep their share of the pot, so that sizes
mean the same after other blinds, antes and bets. Who is all-in is all-in there, whatever the stack was. What a table
may differ by is limited: what lies in the pot at first, and, for a decision, the stacks of those who are still in.
"""

from __future__ import annotations

from typing import Final

from aleator.abstraction.translation import size_at_table
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, FOLD, Action, ActionKind, BettingState, raise_to
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.variants import HoldemVariant

MOST_DEAD: Final = 0.5
"""Big blinds by which blinds and antes together may differ from the game's."""
STACKS: Final = (0.5, 2.0)
"""How many times the game's stack those who are still in may have: the shortest, and the second deepest of them."""


def translated(state: HandState, game: HoldemVariant) -> HandState:
    """Returns a hand as a hand of another game, with its board.

    Raises:
        AgentError: the table differs too much, or the hand takes another course there; the message says how.
    """
    check_table(state.setup, game)
    there, here = game.setup.start(), state.setup.start()
    for _ in range(game.rules.num_players - state.setup.num_players):
        there = there.act(FOLD)
    for action in state.actions:
        _check_turn(here, there)
        there = there.act(moved(action, here.betting, there.betting)).deal_from(state.board)
        here = here.act(action).deal_from(state.board)
    if not here.is_over:
        _check_turn(here, there)
    return there


def moved(action: Action, here: BettingState, there: BettingState) -> Action:
    """Returns what an action of one state of the betting is in another: raises by their share of the pot.

    Args:
        action: to be translated.
        here: where it is taken; who acts may raise there if it is a raise.
        there: where it is to be taken.
    """
    legal = there.legal_actions()
    if action.kind is ActionKind.FOLD:
        return action if legal.can_fold else CALL
    if action.kind is ActionKind.CALL or legal.min_raise_to is None or legal.max_raise_to is None:
        return CALL
    if action.amount == here.legal_actions().max_raise_to and here.rules.fixed_bets is None:
        return raise_to(legal.max_raise_to)
    wanted = round(max(there.bets) + size_at_table(here, action.amount) * (there.pot + legal.call_amount))
    return raise_to(min(max(wanted, legal.min_raise_to), legal.max_raise_to))


def check_table(setup: HandSetup, game: HoldemVariant) -> None:
    """Raises AgentError if hands that begin so cannot be taken for those of a game."""
    rules, theirs = setup.rules, game.rules
    if not 3 <= rules.num_players <= theirs.num_players:
        raise AgentError(f"{rules.num_players} players are not the 3 to {theirs.num_players} of the blueprint's table")
    if (rules.fixed_bets is None) != (theirs.fixed_bets is None) or rules.num_streets != theirs.num_streets:
        raise AgentError(f"these rules are not those of {game.title}")
    if setup.first_street:
        raise AgentError("the hand does not begin with the blinds")
    if rules.straddles:
        raise AgentError("there is a straddle")
    dead = _forced(setup) / rules.big_blind - _forced(game.setup) / theirs.big_blind
    if abs(dead) > MOST_DEAD + 1e-9:
        amount = _forced(setup) / rules.big_blind
        raise AgentError(f"blinds and antes are {amount:g} big blinds together")


def check_stacks(state: HandState, game: HoldemVariant) -> None:
    """Raises AgentError if those who are still in have other stacks than a decision of a game may be compared with."""
    stacks = sorted(state.setup.stacks[player] for player in state.betting.live_players)
    usual = game.stack / game.rules.big_blind
    blinds = [stack / state.setup.rules.big_blind for stack in (stacks[0], stacks[max(len(stacks) - 2, 0)])]
    shortest, deepest = (bound * usual for bound in STACKS)
    if blinds[0] < shortest:
        raise AgentError(f"somebody who is in has less than {shortest:.0f} big blinds")
    if blinds[1] > deepest:
        raise AgentError(f"two of those who are in have more than {deepest:.0f} big blinds")


def _forced(setup: HandSetup) -> float:
    """Returns the chips in the pot before the first action."""
    return setup.betting().pot


def _check_turn(here: HandState, there: HandState) -> None:
    """Raises AgentError unless the same player acts on the same street in both hands."""
    if here.street != there.street or here.player != _seat_here(here.setup, there):
        raise AgentError("the hand takes another course with the stacks of the blueprint")


def _seat_here(setup: HandSetup, there: HandState) -> int | None:
    """Returns the seat, at the smaller table, of who acts in a hand of the game: the blinds are the same players."""
    if there.player is None or there.player < 2:
        return there.player
    return there.player - (there.setup.num_players - setup.num_players)
