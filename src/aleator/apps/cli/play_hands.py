"""Whole hands of hold'em in the terminal, for `aleator play`: stacks go on, and a summary without luck."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.rule import Rule
from rich.text import Text

from aleator.agents.whole_hands import HandAgent, load_hand_agent
from aleator.agents.whole_hands.base import ask_policies
from aleator.apps.amounts import parse_typed
from aleator.apps.cli.output import out, print_json, progress_bar
from aleator.apps.cli.stopping import end
from aleator.arena.whole_hands.aivat.heads_up import RangeLuck
from aleator.arena.whole_hands.deals import deal_hands
from aleator.errors import AgentError, AleatorError
from aleator.games.holdem.betting import STREET_NAMES, Action, ActionKind, seat_names
from aleator.games.holdem.cards import format_cards, format_hand
from aleator.games.holdem.hand_batch import HandBatch, action_code, code_action
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.variants import load_hand_game
from aleator.intervals import SURE


class _Quit(Exception):  # noqa: N818
    """The player has had enough."""


@dataclass(slots=True)
class _Played:
    """A hand that is over: the record, your seat, your chips, and your chips without luck."""

    record: HandRecord
    seat: int
    won: int
    fair: float


def play_hands_in_terminal(
    game: str, agent: str, *, seat: int | None, hands: int | None, you: str | None, seed: int | None, json: bool
) -> None:
    """Plays whole hands against an agent until the player stops, one is broke, or enough are played."""
    variant = load_hand_game(game)
    players = variant.rules.num_players
    if seat is not None and seat >= players:
        raise AgentError(f"{game} has seats 0 to {players - 1}, not {seat}")
    if json and you is None:
        raise AgentError("--json needs --you: nobody can be asked in JSON")
    opponent, mine = load_hand_agent(agent, players), None if you is None else load_hand_agent(you, players)
    goes_on = players == 2 and not variant.pot and not any(one and one.has_own_stacks for one in (opponent, mine))
    rng = np.random.default_rng(seed)
    count = hands if hands is not None or you is None else 1
    chips = [variant.stack, variant.stack]  # yours, the agent's, if they go on; else all begin each hand with a stack
    played: list[_Played] = []
    stopped = False
    if not json:
        out.print(f"{variant.title}; against {opponent.name}.\n? helps, q quits.", soft_wrap=True)
    try:
        while (count is None or len(played) < count) and min(chips) > 0:
            sits = (
                (int(rng.integers(players)) if not played else (played[-1].seat - 1) % players)
                if seat is None
                else seat
            )
            setup, title = variant.setup, f"you have won {sum(hand.won for hand in played):+,} so far"
            if players == 2:
                setup = replace(variant.setup, stacks=(min(chips), min(chips)))  # more than that nobody can lose
                title = f"you have {chips[0]:,}, the agent {chips[1]:,}"
            if not json:
                out.print(Rule(Text(f"hand {len(played) + 1}: {title}"), align="left"))
            hand = _play(setup, sits, opponent, mine, rng, len(played) + 1, quiet=json)
            played.append(hand)
            if goes_on:
                chips[0] += hand.won
                chips[1] -= hand.won
    except (_Quit, EOFError, KeyboardInterrupt) as reason:
        stopped = isinstance(reason, KeyboardInterrupt)
    _summary(played, variant.rules.big_blind, opponent, game, json=json)
    end(stopped=stopped)


def _play(
    setup: HandSetup,
    seat: int,
    opponent: HandAgent,
    mine: HandAgent | None,
    rng: np.random.Generator,
    number: int,
    *,
    quiet: bool,
) -> _Played:
    cards = deal_hands(setup, int(rng.integers(2**62)), np.array([0]))
    board = tuple(int(card) for card in cards.boards[0])
    batch = HandBatch.start(setup, cards.hands, cards.boards)
    players = setup.num_players
    luck = None  # several players: only chips are counted
    if players == 2:
        known = tuple(player != seat or mine is not None for player in (0, 1))
        luck = RangeLuck(batch, known)
    places = seat_names(players)
    names = tuple("you" if player == seat else opponent.name for player in range(players))
    if players > 2:
        names = tuple("you" if player == seat else f"{places[player]} ({opponent.name})" for player in range(players))
    state, own = setup.start(), int(cards.hands[0, seat])
    if not quiet:
        where = ("on the " if seat == players - 1 else "in the " if seat < 2 else "") + places[seat]
        out.print(f"  you are {where} and hold {format_hand(own)}")
    row = np.zeros(1, np.int64)
    while not state.is_over:
        if due := state.cards_due:
            state = state.deal(board[len(state.board) : len(state.board) + due])
            if not quiet:
                street = STREET_NAMES[{3: 1, 4: 2, 5: 3}[len(state.board)]]
                out.print(f"  {street}: {format_cards(state.board)}   pot {state.betting.pot:,}", style="bold")
            if luck is not None and not state.betting.is_over:
                luck.advanced(row)
            continue
        player = state.player
        assert player is not None
        who = (mine if player == seat else opponent) or None
        if who is None:
            action = _ask(state)
        else:
            with progress_bar(f"{who.name} thinks", quiet=quiet):
                policy = ask_policies(who, batch, row)
            chosen = policy.draw(int(cards.hands[0, player]), rng)
            if luck is not None:
                luck.acted(row, policy, np.array([chosen]))
            action = code_action(int(policy.codes[0, chosen]))
        if not quiet and who is not None:
            out.print(f"  {names[player]}: {_words(state, action)}")
        state = state.act(action)
        batch.act(row, np.array([action_code(action)]))
    hands = tuple(int(hand) for hand in cards.hands[0])
    record = HandRecord(setup=setup, hands=hands, board=state.board, actions=state.actions, names=names, number=number)
    won = record.payoffs()[seat]
    fair = float(won)
    if luck is not None:
        fair = float(luck.estimates()[0, seat]) - setup.pot / players
    if not quiet:
        others = [player for player in range(players) if player != seat and not state.betting.folded[player]]
        others = others if players > 2 else [1 - seat]
        shown = ", ".join(f"{names[player]} held {format_hand(hands[player])}" for player in others) or "All folded"
        out.print(f"  {shown}. You {'won' if won >= 0 else 'lost'} {abs(won):,}.\n", style="bold")
    return _Played(record, seat, won, fair)


def _ask(state: HandState) -> Action:
    """Returns the action that the player types; mistakes are explained and asked again."""
    while True:
        text = input(f"  you ({choices(state)}; pot {state.betting.pot:,}): ").strip()
        if text.lower() in ("q", "quit", "exit"):
            raise _Quit
        if text in ("?", "h", "help"):
            out.print(
                "  f folds, c calls, k checks, b 300 bets 300, r 900 raises to 900, r 2.5x multiplies the bet you "
                "face, 75%, half and pot are of the pot, 3bb counts big blinds, all-in is all-in, q quits",
            )
            continue
        try:
            return parse_typed(text, state)
        except AleatorError as error:
            out.print(f"  {error}", style="red")


def choices(state: HandState) -> str:
    """Returns what the player may do, in words."""
    legal = state.legal_actions()
    words = ["fold", f"call {legal.call_amount:,}"] if legal.can_fold else ["check"]
    if legal.min_raise_to is not None:
        most = "" if legal.min_raise_to == legal.max_raise_to else f"..{legal.max_raise_to:,}"
        words.append(f"{_verb(state)} {legal.min_raise_to:,}{most}")
    return ", ".join(words)


def _verb(state: HandState) -> str:
    return "raise to" if max(state.betting.bets) else "bet"


def _words(state: HandState, action: Action) -> str:
    legal = state.legal_actions()
    if action.kind is ActionKind.FOLD:
        return "fold"
    if action.kind is ActionKind.CALL:
        return f"call {legal.call_amount:,}" if legal.call_amount else "check"
    return f"{_verb(state)} {action.amount:,}" + (" (all-in)" if action.amount == legal.max_raise_to else "")


def _summary(played: list[_Played], big_blind: int, opponent: HandAgent, game: str, *, json: bool) -> None:
    """Prints what was won, and what of it was luck."""
    won, fair = sum(hand.won for hand in played), np.array([hand.fair for hand in played])
    scale = 1000 / big_blind
    interval = SURE * float(fair.std(ddof=1)) / math.sqrt(len(fair)) * scale if len(fair) > 1 else math.nan
    if json:
        document: dict[str, Any] = {"game": game, "agent": opponent.name, "hands": len(played), "won": won}
        document["fair"] = float(fair.sum())
        document["records"] = [hand.record.to_dict() | {"seat": hand.seat, "won": hand.won} for hand in played]
        print_json(document)
        return
    if not played:
        out.print("\nGoodbye.")
        return
    count = "1 hand" if len(played) == 1 else f"{len(played):,} hands"
    text = f"\n{count}: {won:+,} chips, {scale * won / len(played):+,.0f} mbb/hand"
    if len(played[0].record.hands) == 2:
        band = f" ± {interval:,.0f}" if interval == interval else ""
        text += f"; without luck {fair.sum():+,.0f} chips, {scale * float(fair.mean()):+,.0f}{band} mbb/hand"
        text += f"; luck {won - round(fair.sum()):+,} chips"
    out.print(text, soft_wrap=True)
