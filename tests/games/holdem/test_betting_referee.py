"""Random hands played action by action beside pokerkit: the same legal actions and the same payoffs.

pokerkit differs in these places, asserted here where they come up:

* It asks a player who can only check because everyone else is all-in or has folded (the big blind, once the players
  with chips behind have folded). Here nobody is asked.
* An all-in below the minimum bet of a street counts as a full raise for pokerkit: players who have acted may raise
  again although what they face is short of a full bet. Here they may not.
* After short all-ins have reached a full raise together, pokerkit forgets the sum: a further short all-in closes the
  betting again for a player who faces more than a full raise. Here that player may raise.
* It kills hands that cannot win before it forms the pots, so that two pots can become one and have one odd chip less.
  Here each pot is split by itself.

Heads-up with equal blinds, which is not played here, pokerkit lets the big blind act first.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pokerkit
import pytest

from aleator.games.holdem.betting import CALL, FOLD, BettingRules, BettingState, raise_to
from aleator.games.holdem.pots import Pot, winnings

AUTOMATIONS = (
    pokerkit.Automation.ANTE_POSTING,
    pokerkit.Automation.BET_COLLECTION,
    pokerkit.Automation.BLIND_OR_STRADDLE_POSTING,
    pokerkit.Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    pokerkit.Automation.HAND_KILLING,
    pokerkit.Automation.CHIPS_PUSHING,
    pokerkit.Automation.CHIPS_PULLING,
)
DECK = tuple(pokerkit.Deck.STANDARD)
BOARD_SIZES = (0, 3, 1, 1)


@dataclass(frozen=True, order=True)
class SmallHand:
    """A hand of strength 0 to 5: betting needs no poker hands, and these tie often, so that odd chips matter."""

    strength: int
    low = False

    @classmethod
    def from_game(cls, hole_cards: Iterable[pokerkit.Card], board_cards: Iterable[pokerkit.Card] = ()) -> Self:
        hole, board = list(hole_cards), list(board_cards)
        if len(hole) < 2:
            raise ValueError("the hole cards are not shown")
        return cls(sum(DECK.index(card) for card in hole) * (1 + sum(DECK.index(card) for card in board)) % 6)


@dataclass
class Referee:
    """pokerkit's state of one hand, dealt from fixed cards."""

    rules: BettingRules
    stacks: tuple[int, ...]
    holes: list[list[pokerkit.Card]]
    board_cards: list[pokerkit.Card]
    num_boards: int
    hand_type: type = SmallHand
    state: pokerkit.State = field(init=False)

    def __post_init__(self) -> None:
        rules = self.rules
        streets = tuple(
            pokerkit.Street(
                False,
                () if street else (False, False),
                BOARD_SIZES[street],
                False,
                pokerkit.Opening.POSITION,
                rules.min_bet(street),
                rules.max_raises_on(street),
            )
            for street in range(rules.num_streets)
        )
        limit = pokerkit.BettingStructure.FIXED_LIMIT if rules.fixed_bets else pokerkit.BettingStructure.NO_LIMIT
        self.state = pokerkit.State(
            automations=AUTOMATIONS,
            deck=pokerkit.Deck.STANDARD,
            hand_types=(self.hand_type,),  # type: ignore[arg-type]
            streets=streets,
            betting_structure=limit,
            ante_trimming_status=rules.big_blind_ante == 0,
            raw_antes=(0, rules.big_blind_ante) if rules.big_blind_ante else rules.ante,
            raw_blinds_or_straddles=(rules.small_blind, rules.big_blind, *rules.straddles),
            bring_in=0,
            raw_starting_stacks=self.stacks,
            player_count=rules.num_players,
            starting_board_count=self.num_boards,
        )
        self.deal()

    def deal(self) -> None:
        while True:
            if self.state.can_deal_hole():
                player = self.state.hole_dealee_index
                assert player is not None
                self.state.deal_hole((self.holes[player][len(self.state.hole_cards[player])],))
            elif self.state.can_deal_board():
                dealt = sum(len(cards) for cards in self.state.board_cards)
                self.state.deal_board((self.board_cards[dealt],))
            else:
                return

    def strengths(self) -> list[list[int]]:
        """Returns the strength of each player's hand on each board, ``[boards, P]``."""
        boards = [list(self.state.get_board_cards(index)) for index in range(self.num_boards)]
        return [[SmallHand.from_game(hole, board).strength for hole in self.holes] for board in boards]

    def killed(self) -> list[bool]:
        """Returns whose hand was killed or mucked at the showdown, ``[P]``."""
        killed = [False] * self.rules.num_players
        for operation in self.state.operations:
            if isinstance(operation, pokerkit.HandKilling):
                killed[operation.player_index] = True
            elif isinstance(operation, pokerkit.HoleCardsShowingOrMucking):
                killed[operation.player_index] = not operation.hole_cards
        return killed


def random_rules(rng: np.random.Generator) -> BettingRules:
    big_blind = int(rng.integers(2, 21))
    num_streets = int(rng.choice([2, 3, 4], p=[0.15, 0.15, 0.7]))
    ante = {"ante": 0}
    if rng.random() < 0.4:
        ante = {str(rng.choice(["ante", "big_blind_ante"])): int(rng.integers(1, big_blind + 1))}
    fixed_bets = max_raises = None
    if rng.random() < 0.35:
        fixed_bets = tuple(big_blind * (1 if street < 2 else 2) for street in range(num_streets))
        max_raises = tuple(int(rng.integers(2, 5)) for _ in range(num_streets))
    num_players = int(rng.integers(2, 7))
    straddles = ()
    if num_players > 2 and rng.random() < 0.3:
        straddles = tuple(big_blind * 2**k for k in range(1, int(rng.integers(2, num_players))))
    return BettingRules(
        num_players=num_players,
        straddles=straddles,
        small_blind=int(rng.integers(1, big_blind)),
        big_blind=big_blind,
        num_streets=num_streets,
        fixed_bets=fixed_bets,
        max_raises=max_raises,
        **ante,
    )


def random_stacks(rules: BettingRules, rng: np.random.Generator) -> tuple[int, ...]:
    """Returns stacks of which some are too short for the blinds and some are deep."""
    depth = rules.big_blind * rng.choice([2, 8, 30, 100], size=rules.num_players)
    return tuple(int(rng.integers(1, most + 1)) for most in depth)


def play_one_hand(rng: np.random.Generator, seen: Counter[str]) -> None:
    rules = random_rules(rng)
    stacks = random_stacks(rules, rng)
    num_boards = 2 if rng.random() < 0.2 else 1
    cards = [DECK[i] for i in rng.permutation(len(DECK))]
    holes = [cards[10 + 2 * player : 12 + 2 * player] for player in range(rules.num_players)]
    referee = Referee(rules, stacks, holes, cards[:10], num_boards)
    state = rules.start(stacks)
    aggression = rng.random()
    while True:
        skip_forced_checks(referee, state, seen)
        if state.is_over:
            break
        can_raise = compare(referee, state, seen)
        legal = state.legal_actions()
        if can_raise and rng.random() < aggression:
            assert legal.min_raise_to is not None and legal.max_raise_to is not None
            low, high = legal.min_raise_to, legal.max_raise_to
            amounts = [low, min(high, 2 * low), high, int(rng.integers(low, high + 1))]
            amount = int(rng.choice(amounts, p=[0.5, 0.2, 0.1, 0.2]))
            state = state.act(raise_to(amount))
            referee.state.complete_bet_or_raise_to(amount)
            seen["raise"] += 1
        elif legal.can_fold and rng.random() < 0.2:
            state = state.act(FOLD)
            referee.state.fold()
            seen["fold"] += 1
        else:
            state = state.act(CALL)
            referee.state.check_or_call()
            seen["call"] += 1
        referee.deal()
    assert not referee.state.status
    strengths = None if len(state.live_players) == 1 else referee.strengths()
    payoffs = state.payoffs(strengths)
    if payoffs != tuple(referee.state.payoffs):
        assert strengths is not None
        merged = merge_pots(state.pots(), referee.killed())
        assert len(merged) < len(state.pots())
        won = winnings(merged, strengths)
        assert [sum(chips) for chips in zip(won, state.stacks, strict=True)] == referee.state.stacks
        seen["odd chip of merged pots"] += 1
    assert sum(payoffs) == 0
    seen["showdown"] += strengths is not None
    seen["side pot"] += len([pot for pot in state.pots() if len(pot.players) > 1]) > 1
    seen["big blind ante"] += rules.big_blind_ante > 0
    seen["limit"] += rules.fixed_bets is not None
    seen["straddle"] += bool(rules.straddles)


def merge_pots(pots: tuple[Pot, ...], killed: list[bool]) -> list[Pot]:
    """Returns the pots as they are once killed hands no longer count; uncalled bets stay as they are."""
    merged: list[Pot] = []
    for pot in pots:
        players = tuple(player for player in pot.players if len(pot.players) == 1 or not killed[player])
        amount = pot.amount + (merged.pop().amount if merged and merged[-1].players == players else 0)
        merged.append(Pot(amount, players))
    return merged


def skip_forced_checks(referee: Referee, state: BettingState, seen: Counter[str]) -> None:
    """Lets pokerkit check where its player cannot do anything else and ours is not asked."""
    theirs = referee.state
    while theirs.actor_index is not None and theirs.actor_index != state.player:
        assert theirs.checking_or_calling_amount == 0
        assert theirs.min_completion_betting_or_raising_to_amount is None
        theirs.check_or_call()
        seen["forced check"] += 1
        referee.deal()


def compare(referee: Referee, state: BettingState, seen: Counter[str]) -> bool:
    """Asserts that both allow the same; returns whether both allow a raise."""
    theirs, legal = referee.state, state.legal_actions()
    assert theirs.actor_index == state.player
    assert theirs.street_index == state.street
    assert theirs.total_pot_amount == state.pot
    assert tuple(theirs.stacks) == state.stacks
    assert tuple(theirs.bets) == state.bets
    assert theirs.can_fold() == legal.can_fold
    assert theirs.checking_or_calling_amount == legal.call_amount
    minimum = theirs.min_completion_betting_or_raising_to_amount
    maximum = theirs.max_completion_betting_or_raising_to_amount
    if (minimum is None) == (legal.min_raise_to is None):
        assert (minimum, maximum) == (legal.min_raise_to, legal.max_raise_to)
        seen["decision"] += 1
        return minimum is not None
    assert state.player is not None
    assert state.acted[state.player]
    last_raise = theirs.completion_betting_or_raising_amount
    if legal.min_raise_to is None:
        assert last_raise < referee.rules.min_bet(state.street)
        assert legal.call_amount < referee.rules.min_bet(state.street)
        seen["short opening all-in"] += 1
    else:
        assert 0 < sum(theirs.consecutive_short_all_in_amounts) < last_raise <= legal.call_amount
        seen["forgotten sum"] += 1
    return False


def check_hands(num_hands: int, seed: int) -> Counter[str]:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    for _ in range(num_hands):
        play_one_hand(rng, seen)
    return seen


def test_pokerkit_forgets_the_sum_of_short_all_ins() -> None:
    rules = BettingRules(num_players=5, small_blind=1, big_blind=100)
    stacks = (1_101, 261, 321, 351, 1_101)
    referee = Referee(rules, stacks, [list(DECK[2 * i : 2 * i + 2]) for i in range(5)], list(DECK[10:20]), 1)
    state = rules.start(stacks)
    for action in (CALL, CALL, CALL, CALL, CALL, raise_to(101), raise_to(161), raise_to(221), raise_to(251), CALL):
        state = state.act(action)
        if action == CALL:
            referee.state.check_or_call()
        else:
            referee.state.complete_bet_or_raise_to(action.amount)
        referee.deal()
    seen: Counter[str] = Counter()
    assert not compare(referee, state, seen)
    assert seen["forgotten sum"] == 1


def test_thousand_random_hands_match_pokerkit() -> None:
    seen = check_hands(1_000, seed=1)
    assert seen["decision"] > 5_000
    assert (
        min(
            seen[kind]
            for kind in ("raise", "fold", "call", "showdown", "side pot", "big blind ante", "limit", "straddle")
        )
        > 50
    )


@pytest.mark.slow
def test_ten_thousand_random_hands_match_pokerkit() -> None:
    seen = check_hands(10_000, seed=2)
    assert seen["decision"] > 50_000
    assert seen["forced check"] and seen["short opening all-in"]
