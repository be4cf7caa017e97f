"""The rules of betting in hold'em, without cards: who may do what, and who gets which chips.

Players are numbered in the order in which they act after the first street; the last one is the button. With three or
more players, player 0 posts the small blind and player 1 the big blind. Heads-up, the button (player 1) posts the small
blind and acts first on the first street; player 0 posts the big blind and acts first on all later ones.

Legality is stated once, by `BettingState.legal_actions`; `BettingState.act` asks it and raises `IllegalActionError`.

Rules that houses differ on, and what holds here:

* A raise is full if it adds at least as much as the last full raise of the street, or as the minimum bet where there
  was none. An all-in that adds less does not reopen the betting: a player who has acted since the last full raise may
  raise again only if the chips to call add up to a full raise (several short all-ins together can reach that).
* The minimum raise goes to the highest bet plus a full raise, also after a short all-in and also in limit. A short
  all-in counts as a raise towards the cap of its street.
* What must be called is the highest bet really posted: a big blind too short to post in full lowers it.
* A player is asked only when there is something to decide: with nothing to call and nobody left who could call more,
  there is no forced check. Nor is there a fold when there is nothing to call.
* A straddle is a blind posted without cards: the straddler acts last on the first street, and the minimum raise is
  still one big blind more.
* Antes are posted before blinds. An `ante` takes part in side pots like any other chip; a `big_blind_ante` is dead
  money in the main pot.
* Odd chips: what is left over when a pot is split goes to the first of its winners in the order of the players, that is
  the first left of the button, heads-up the big blind. With several boards, what is left over goes to the first board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from aleator.errors import AleatorError
from aleator.games.holdem.pots import Pot, side_pots, winnings

T = TypeVar("T")

MAX_PLAYERS: Final = 10
STREET_NAMES: Final = ("preflop", "flop", "turn", "river")


def seat_names(players: int) -> tuple[str, ...]:
    """Returns what the seats are called, in the order in which they act after the flop."""
    if players == 2:
        return "big blind", "button"
    late = ("hijack", "cutoff")[max(6 - players, 0) :] if players > 4 else ()
    between = [f"seat {number}" for number in range(4, players - 2)]
    first = ("under the gun",) if players > 3 else ()
    return "small blind", "big blind", *first, *between, *late, "button"


class BettingError(AleatorError):
    """Rules, stacks or strengths that make no hand; the message names the bad value and what is allowed."""


class IllegalActionError(BettingError):
    """An action that the rules do not allow now; the message names it and the legal ones."""


class ActionKind(StrEnum):
    """What a player does; `CALL` with nothing to call is a check, `RAISE` with nothing to raise is a bet."""

    FOLD = "fold"
    CALL = "call"
    RAISE = "raise"


class Action(NamedTuple):
    """A move of one player; ``amount`` is the total of the player's chips on this street after a raise, else 0."""

    kind: ActionKind
    amount: int = 0

    def __str__(self) -> str:
        return f"raise to {self.amount}" if self.kind is ActionKind.RAISE else self.kind.value


FOLD: Final = Action(ActionKind.FOLD)
CALL: Final = Action(ActionKind.CALL)


def raise_to(amount: int) -> Action:
    """Returns the bet or raise to ``amount`` chips of the acting player on this street."""
    return Action(ActionKind.RAISE, amount)


@dataclass(frozen=True, slots=True)
class LegalActions:
    """What the acting player may do.

    Attributes:
        can_fold: whether there is something to call.
        call_amount: chips that a call adds, 0 for a check.
        min_raise_to: the smallest raise, as the player's chips on this street after it; None if no raise is legal.
        max_raise_to: the largest raise, the same way; equal to `min_raise_to` in limit and None with it.
    """

    can_fold: bool
    call_amount: int
    min_raise_to: int | None
    max_raise_to: int | None

    def allows(self, action: Action) -> bool:
        """Returns whether ``action`` is one of these."""
        if action.kind is not ActionKind.RAISE:
            return self.can_fold or action.kind is ActionKind.CALL
        low, high = self.min_raise_to, self.max_raise_to
        return low is not None and high is not None and low <= action.amount <= high

    def __str__(self) -> str:
        words = [f"fold, call {self.call_amount}" if self.can_fold else "check"]
        if self.min_raise_to is not None:
            words.append(f"raise to {self.min_raise_to}..{self.max_raise_to}")
        return ", ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class BettingRules:
    """The betting rules of one game; chips are integers.

    Attributes:
        num_players: 2 to 10.
        small_blind: of the player before the big blind (heads-up: of the button).
        big_blind: in no-limit also the minimum bet of every street.
        ante: posted by every player before the blinds; takes part in side pots.
        big_blind_ante: posted by the big blind alone before the blinds; dead money in the main pot.
        straddles: blinds of the players left of the big blind, in their order, each larger than the one before.
        num_streets: betting rounds of a whole hand, 4 in Texas hold'em.
        fixed_bets: the size of every bet and raise, one per street, in limit; None in no-limit.
        max_raises: the most bets and raises of each street, None for a street without a cap; None for no caps at all.
            Blinds do not count.
    """

    num_players: int = 2
    small_blind: int
    big_blind: int
    ante: int = 0
    big_blind_ante: int = 0
    straddles: tuple[int, ...] = ()
    num_streets: int = 4
    fixed_bets: tuple[int, ...] | None = None
    max_raises: tuple[int | None, ...] | None = None

    def __post_init__(self) -> None:
        if not 2 <= self.num_players <= MAX_PLAYERS:
            raise BettingError(f"num_players must be 2..{MAX_PLAYERS}, not {self.num_players}")
        if not 0 <= self.small_blind <= self.big_blind or self.big_blind < 1:
            raise BettingError(
                f"blinds must be 0 <= small <= big and big >= 1, not {self.small_blind}/{self.big_blind}"
            )
        if self.ante < 0 or self.big_blind_ante < 0:
            raise BettingError(f"antes must not be negative, not {self.ante} and {self.big_blind_ante}")
        if self.ante and self.big_blind_ante:
            raise BettingError("give ante or big_blind_ante, not both")
        if len(self.straddles) > max(self.num_players - 2, 0):
            raise BettingError(
                f"{self.num_players} players have room for {self.num_players - 2} straddles, not {self.straddles}"
            )
        if any(more <= less for less, more in pairwise((self.big_blind, *self.straddles))):
            raise BettingError(
                f"straddles must grow from above the big blind of {self.big_blind}, not {self.straddles}"
            )
        if self.num_streets < 1:
            raise BettingError(f"num_streets must be at least 1, not {self.num_streets}")
        for name, values in (("fixed_bets", self.fixed_bets), ("max_raises", self.max_raises)):
            if values is None:
                continue
            if len(values) != self.num_streets:
                raise BettingError(f"{name} needs one value for each of {self.num_streets} streets, not {values}")
            if any(value is not None and value < 1 for value in values):
                raise BettingError(f"{name} must be positive, not {values}")

    @property
    def big_blind_player(self) -> int:
        """The player who posts the big blind."""
        return 0 if self.num_players == 2 else 1

    @property
    def small_blind_player(self) -> int:
        """The player who posts the small blind."""
        return 1 if self.num_players == 2 else 0

    def blinds(self) -> tuple[tuple[int, int], ...]:
        """Returns who posts how much, in the order of posting: small blind, big blind, straddles."""
        first = ((self.small_blind_player, self.small_blind), (self.big_blind_player, self.big_blind))
        return first + tuple((2 + index, amount) for index, amount in enumerate(self.straddles))

    def min_bet(self, street: int) -> int:
        """Returns the smallest bet of ``street``, and the smallest raise where no full raise came before."""
        return self.big_blind if self.fixed_bets is None else self.fixed_bets[street]

    def max_raises_on(self, street: int) -> int | None:
        """Returns the most bets and raises of ``street``, None if there is no cap."""
        return None if self.max_raises is None else self.max_raises[street]

    def start(self, stacks: Sequence[int]) -> BettingState:
        """Returns the state after antes and blinds are posted.

        Args:
            stacks: chips of each player before posting, ``[P]``, each at least 1.
        """
        self._check_stacks(stacks)
        behind = list(stacks)
        contributions, bets = [0] * self.num_players, [0] * self.num_players
        for player in range(self.num_players):
            contributions[player] = min(self.ante, behind[player])
            behind[player] -= contributions[player]
        dead = min(self.big_blind_ante, behind[self.big_blind_player])
        behind[self.big_blind_player] -= dead
        for player, blind in self.blinds():
            bets[player] = min(blind, behind[player])
            behind[player] -= bets[player]
            contributions[player] += bets[player]
        state = self._blank(stacks, street=0, dead=dead)
        state = replace(state, stacks=tuple(behind), bets=tuple(bets), contributions=tuple(contributions))
        return state._with_next_player(after=self.blinds()[-1][0])

    def start_on_street(self, street: int, *, pot: int, stacks: Sequence[int]) -> BettingState:
        """Returns the state at the start of ``street``, with ``pot`` chips in the middle that count for nobody.

        Args:
            street: 0 for the first betting round; no blinds are posted, and player 0 acts first.
            pot: chips in the middle, not negative; payoffs will sum to it.
            stacks: chips behind of each player, ``[P]``, each at least 1.
        """
        if not 0 <= street < self.num_streets:
            raise BettingError(f"street must be 0..{self.num_streets - 1}, not {street}")
        if pot < 0:
            raise BettingError(f"pot must not be negative, not {pot}")
        self._check_stacks(stacks)
        return self._blank(stacks, street=street, dead=pot)._with_next_player(after=self.num_players - 1)

    def _check_stacks(self, stacks: Sequence[int]) -> None:
        if len(stacks) != self.num_players or min(stacks) < 1:
            raise BettingError(f"{self.num_players} players need a positive stack each, not {tuple(stacks)}")

    def _blank(self, stacks: Sequence[int], *, street: int, dead: int) -> BettingState:
        nothing, nobody = (0,) * self.num_players, (False,) * self.num_players
        return BettingState(
            rules=self,
            street=street,
            player=None,
            start_stacks=tuple(stacks),
            stacks=tuple(stacks),
            bets=nothing,
            contributions=nothing,
            dead=dead,
            folded=nobody,
            acted=nobody,
            num_raises=0,
            full_raise=self.min_bet(street),
        )


@dataclass(frozen=True, slots=True)
class BettingState:
    """Everything public about the betting of one hand; `act` returns the next one.

    Attributes:
        rules: the rules of the game.
        street: the betting round, from 0; the last one played if the hand is over.
        player: who acts; None once the hand is over.
        start_stacks: chips of each player before the hand, ``[P]``.
        stacks: chips behind of each player, ``[P]``.
        bets: chips put in by each player on this street, ``[P]``.
        contributions: chips put in by each player in the hand, dead money left out, ``[P]``.
        dead: chips in the main pot that count as nobody's bet.
        folded: who has folded, ``[P]``.
        acted: who has acted since the last full raise of this street, ``[P]``.
        num_raises: bets and raises of this street so far.
        full_raise: what a raise must add to be a full one.
    """

    rules: BettingRules
    street: int
    player: int | None
    start_stacks: tuple[int, ...]
    stacks: tuple[int, ...]
    bets: tuple[int, ...]
    contributions: tuple[int, ...]
    dead: int
    folded: tuple[bool, ...]
    acted: tuple[bool, ...]
    num_raises: int
    full_raise: int

    @property
    def is_over(self) -> bool:
        """Whether nobody has anything left to decide; boards not dealt yet run out without betting."""
        return self.player is None

    @property
    def live_players(self) -> tuple[int, ...]:
        """The players who have not folded."""
        return tuple(player for player, folded in enumerate(self.folded) if not folded)

    @property
    def pot(self) -> int:
        """All chips in the middle, the bets of this street included."""
        return self.dead + sum(self.contributions)

    def legal_actions(self) -> LegalActions:
        """Returns what the acting player may do.

        Raises:
            IllegalActionError: the hand is over.
        """
        if self.player is None:
            raise IllegalActionError("the hand is over: nobody can act")
        highest, bet, stack = max(self.bets), self.bets[self.player], self.stacks[self.player]
        to_call = highest - bet
        min_raise_to = max_raise_to = None
        is_reopened = not self.acted[self.player] or to_call >= self.full_raise
        is_capped = self.num_raises == self.rules.max_raises_on(self.street)
        if stack > to_call and is_reopened and not is_capped and self._someone_can_call_more(self.player):
            min_raise_to = min(bet + stack, highest + self.full_raise)
            max_raise_to = bet + stack if self.rules.fixed_bets is None else min_raise_to
        return LegalActions(
            can_fold=to_call > 0, call_amount=min(to_call, stack), min_raise_to=min_raise_to, max_raise_to=max_raise_to
        )

    def act(self, action: Action) -> BettingState:
        """Returns the state after the acting player does ``action``, on the next street if the round has ended.

        Raises:
            IllegalActionError: ``action`` is not legal; the message names the legal ones.
        """
        legal = self.legal_actions()
        if not legal.allows(action):
            raise IllegalActionError(f"player {self.player} cannot {action}: legal are {legal}")
        player = self.player
        assert player is not None
        acted = _replaced(self.acted, player, True)
        if action.kind is ActionKind.FOLD:
            folded = _replaced(self.folded, player, True)
            return replace(self, folded=folded, acted=acted)._with_next_player(after=player)
        if action.kind is ActionKind.CALL:
            return replace(self._with_bet(player, legal.call_amount), acted=acted)._with_next_player(after=player)
        added, full_raise = action.amount - max(self.bets), self.full_raise
        if added >= full_raise:
            acted, full_raise = tuple(other == player for other in range(self.rules.num_players)), added
        state = self._with_bet(player, action.amount - self.bets[player])
        state = replace(state, acted=acted, full_raise=full_raise, num_raises=self.num_raises + 1)
        return state._with_next_player(after=player)

    def pots(self) -> tuple[Pot, ...]:
        """Returns the main pot and the side pots, the main pot first; an uncalled bet is a last pot with one player."""
        return side_pots(self.contributions, self.live_players, dead=self.dead)

    def payoffs(self, strengths: Sequence[Sequence[float]] | None = None) -> tuple[int, ...]:
        """Returns the chips that each player wins or loses in the hand, ``[P]``.

        They sum to 0, or to the pot that the state was started with.

        Args:
            strengths: ``[boards, P]``, a larger one wins and equal ones tie; those of folded players are ignored. Not
                needed if all but one have folded.

        Raises:
            BettingError: the hand is not over, or strengths are needed and missing or of another shape.
        """
        if not self.is_over:
            raise BettingError(f"the hand is not over: player {self.player} has to act")
        if len(self.live_players) == 1:
            strengths = [[0.0] * self.rules.num_players]
        if not strengths or any(len(board) != self.rules.num_players for board in strengths):
            raise BettingError(f"strengths must be of shape [boards, {self.rules.num_players}], not {strengths!r}")
        won = winnings(self.pots(), strengths)
        return tuple(
            stack + chips - start for stack, chips, start in zip(self.stacks, won, self.start_stacks, strict=True)
        )

    def _someone_can_call_more(self, player: int) -> bool:
        """Returns whether another live player can put in more than the highest bet."""
        highest = max(self.bets)
        return any(other != player and self.bets[other] + self.stacks[other] > highest for other in self.live_players)

    def _has_to_act(self, player: int) -> bool:
        if self.folded[player] or not self.stacks[player]:
            return False
        if self.bets[player] < max(self.bets):
            return True
        return not self.acted[player] and self._someone_can_call_more(player)

    def _with_bet(self, player: int, chips: int) -> BettingState:
        return replace(
            self,
            stacks=_replaced(self.stacks, player, self.stacks[player] - chips),
            bets=_replaced(self.bets, player, self.bets[player] + chips),
            contributions=_replaced(self.contributions, player, self.contributions[player] + chips),
        )

    def _with_next_player(self, after: int) -> BettingState:
        """Returns this state with the next player to act after ``after``, on a later street if need be."""
        if len(self.live_players) == 1:
            return replace(self, player=None)
        num_players = self.rules.num_players
        for step in range(1, num_players + 1):
            player = (after + step) % num_players
            if self._has_to_act(player):
                return replace(self, player=player)
        is_all_in = sum(self.stacks[player] > 0 for player in self.live_players) < 2
        if is_all_in or self.street == self.rules.num_streets - 1:
            return replace(self, player=None)
        next_street = replace(
            self,
            street=self.street + 1,
            bets=(0,) * num_players,
            acted=(False,) * num_players,
            num_raises=0,
            full_raise=self.rules.min_bet(self.street + 1),
        )
        return next_street._with_next_player(after=num_players - 1)


def _replaced(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    return (*values[:index], value, *values[index + 1 :])
