"""The betting of several players as arrays: decisions by number, and where each of their actions leads.

A decision has a row of numbers for each bucket of its street. Everybody begins with the same stack, so that all who see
a showdown have put in the same and there are no side pots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.betting import MOST_ACTIONS, parse_menu
from aleator.abstraction.buckets import AbstractionError, BucketConfig
from aleator.caching import lru_cache
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting import CALL, FOLD, Action, BettingState, raise_to
from aleator.games.holdem.betting_builder import situation_of
from aleator.games.holdem.variants import HoldemVariant
from aleator.meter import Meter

RING_MENU: Final = (
    "100%; 100%; all-in",
    "50% 100%; 100% all-in; all-in",
    "50% 100%; 100% all-in; all-in",
    "50% 100%; 100% all-in; all-in",
)
"""The sizes of no-limit by street, and by how many bets the street has seen, unless others are asked for."""
MOST_DECISIONS: Final = 20_000_000


class RingArrays(NamedTuple):
    """The betting, an argument of the compiled functions; D decisions, E actions, T ends; 0 is the first decision."""

    player: npt.NDArray[np.int8]  # [D] who acts
    street: npt.NDArray[np.int8]  # [D]
    first: npt.NDArray[np.int32]  # [D + 1] where its actions begin
    row: npt.NDArray[np.int64]  # [D] where its rows begin in the table
    target: npt.NDArray[np.int32]  # [E] the decision after an action; -1 - t where the hand ends
    live: npt.NDArray[np.int32]  # [T] who has not folded, a bit each
    paid: npt.NDArray[np.int32]  # [T, P] chips that everybody has put in
    first_size: int  # numbers in the table of the first street, which come first


@dataclass(frozen=True, slots=True, kw_only=True)
class RingBetting:
    """The betting of a game with a menu, with rows for buckets.

    Attributes:
        arrays: for compiled functions.
        actions: what each action is, in the order of `arrays.target`.
        size: numbers in the table: for each decision, bucket and action a regret.
        infostates: decisions times buckets.
        players, stack: how many play, with how many chips.
    """

    arrays: RingArrays
    actions: list[Action]
    size: int
    infostates: int
    players: int
    stack: int

    @property
    def decisions(self) -> int:
        """How many there are."""
        return len(self.arrays.player)


def menu_actions(state: BettingState, menu: BetMenu | None, most_to_flop: int) -> list[Action]:
    """Returns what the player to act considers.

    Before the flop nobody calls the blinds but the small blind, and nobody calls a raise that as many others are in for
    already as may see the flop.

    Args:
        state: where play is.
        menu: sizes of bets; None for limit.
        most_to_flop: players who see a flop.
    """
    legal, player = state.legal_actions(), state.player
    assert player is not None
    calls = True
    if state.street == 0 and legal.call_amount:
        highest = max(state.bets)
        others = sum(state.bets[other] == highest for other in state.live_players if other != player)
        calls = others < most_to_flop
        if not state.num_raises:
            calls = player == state.rules.small_blind_player and len(state.live_players) == 2
    actions = ([FOLD] if legal.can_fold else []) + ([CALL] if calls or not legal.can_fold else [])
    situation = situation_of(state, legal)
    if situation is not None:
        amounts = (situation.min_to,) if menu is None else menu.amounts(state.street, player % 2, situation)
        actions += [raise_to(amount) for amount in amounts]
    return actions


@lru_cache(maxsize=2)  # six players take seconds, and all agents of a table share it
def build_ring_betting(
    game: HoldemVariant, menu: tuple[str, ...] | None, buckets: BucketConfig, *, most_to_flop: int = 2
) -> RingBetting:
    """Returns the betting of a game of several players.

    Args:
        game: of whole hands, from the blinds on.
        menu: sizes of bets by street; None in limit.
        buckets: how many numbers hands have on each street.
        most_to_flop: players who see a flop.

    Raises:
        AbstractionError: the game begins late, or ends on another street than the buckets' game.
        TooBigError: there are too many decisions.
    """
    rules = game.rules
    if game.first_street:
        raise AbstractionError(f"a blueprint needs a game that begins with the blinds, not {game.name}")
    if rules.num_streets - 1 != buckets.last_street:
        raise AbstractionError(f"the buckets were made for {buckets.game}, whose hands end on another street")
    if (menu is None) != (rules.fixed_bets is not None):
        raise AbstractionError(f"{game.name}: no-limit games need a bet menu, limit games take none")
    if not 2 <= most_to_flop <= rules.num_players:
        raise AbstractionError(f"2 to {rules.num_players} players can see a flop, not {most_to_flop}")
    sizes = parse_menu(menu)
    states, streets, players, first = [game.start()], list[int](), list[int](), [0]
    target, actions, live, paid = list[int](), list[Action](), list[int](), list[tuple[int, ...]]()
    with Meter(game.name, f"the betting of {game.name}", "decisions", most=MOST_DECISIONS) as meter:
        number = 0
        while number < len(states):  # breadth first; a state is forgotten once its actions are known
            state, states[number] = states[number], states[0]
            assert state.player is not None
            meter.add()
            streets.append(state.street)
            players.append(state.player)
            considered = menu_actions(state, sizes, most_to_flop)
            if len(considered) > MOST_ACTIONS:
                raise AbstractionError(f"a decision has {len(considered)} actions: at most {MOST_ACTIONS} are allowed")
            for action in considered:
                after = state.act(action)
                actions.append(action)
                if after.is_over:
                    target.append(-1 - len(live))
                    live.append(sum(1 << player for player in after.live_players))
                    paid.append(after.contributions)
                else:
                    target.append(len(states))
                    states.append(after)
            first.append(len(target))
            number += 1
    counts = np.diff(first)
    numbers = np.array([buckets.count(street) for street in range(rules.num_streets)])[streets]
    order = np.argsort(np.array(streets), kind="stable")  # rows of the first street come first
    row = np.zeros(len(players), np.int64)
    sizes_of = (numbers * counts)[order]
    row[order] = np.cumsum(sizes_of) - sizes_of
    arrays = RingArrays(
        player=np.array(players, np.int8),
        street=np.array(streets, np.int8),
        first=np.array(first, np.int32),
        row=row,
        target=np.array(target, np.int32),
        live=np.array(live, np.int32),
        paid=np.array(paid, np.int32),
        first_size=int((numbers * counts)[np.array(streets) == 0].sum()),
    )
    return RingBetting(
        arrays=arrays,
        actions=actions,
        size=int(sizes_of.sum()),
        infostates=int(numbers.sum()),
        players=rules.num_players,
        stack=game.stack,
    )
