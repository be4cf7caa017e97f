"""A whole hand of hold'em in progress, as the public sees it: the betting, the board and every action.

`HandSetup` says how hands begin: rules, stacks, and, for games that begin later than the blinds, street, pot and board.
`HandSetup.start()` is the first `HandState`. From there on chance and the players take turns: while `cards_due` is
positive `deal` adds that many board cards; otherwise `act` adds an action of `player`; when `is_over` and no cards are
due the hand is finished. Nothing private is in a state: hole cards are in a `HandRecord` (`games.holdem.hand_record`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from aleator.games.holdem.betting import Action, BettingError, BettingRules, BettingState, LegalActions
from aleator.games.holdem.cards import CardError, check_cards, format_cards

BOARD_CARDS: Final = (0, 3, 4, 5)
"""Cards on the board on each street: preflop, flop, turn, river."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandSetup:
    """How a hand begins, before anything is dealt.

    Attributes:
        rules: of the betting; at most four streets, the last one says where the game ends.
        stacks: chips of each player before blinds and antes, ``[P]``.
        first_street: where betting begins; blinds are posted only if it is 0.
        pot: chips in the middle if betting begins later, which count for nobody: payoffs sum to it; 0 otherwise.
        board: the cards on the board if betting begins later; empty: dealt at random.
    """

    rules: BettingRules
    stacks: tuple[int, ...]
    first_street: int = 0
    pot: int = 0
    board: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.rules.num_streets > len(BOARD_CARDS):
            raise BettingError(f"hold'em has at most {len(BOARD_CARDS)} streets, not {self.rules.num_streets}")
        if not self.first_street and (self.pot or self.board):
            raise BettingError(
                f"a pot of {self.pot} and a board {format_cards(self.board)!r} need a later first street"
            )
        if self.first_street and self.pot < 1:
            raise BettingError(f"betting that begins on street {self.first_street} needs a pot, not {self.pot}")
        if self.board and len(self.board) != BOARD_CARDS[self.first_street]:
            count = BOARD_CARDS[self.first_street]
            raise BettingError(f"street {self.first_street} has {count} board cards, not {format_cards(self.board)!r}")
        check_cards(self.board)
        self.betting()  # raises for impossible stacks

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return self.rules.num_players

    @property
    def last_board(self) -> int:
        """How many cards are on the board at a showdown."""
        return BOARD_CARDS[self.rules.num_streets - 1]

    def betting(self) -> BettingState:
        """Returns the betting before the first action."""
        if self.first_street:
            return self.rules.start_on_street(self.first_street, pot=self.pot, stacks=self.stacks)
        return self.rules.start(self.stacks)

    def start(self) -> HandState:
        """Returns the state before the first action; cards are due if betting begins later on a random board."""
        return HandState(setup=self, betting=self.betting(), board=self.board)


@dataclass(frozen=True, slots=True)
class HandState:
    """Everything public about a hand; `act` and `deal` return the next state.

    Attributes:
        setup: how the hand began.
        betting: chips and turns.
        board: the cards dealt so far.
        actions: of all players on all streets.
    """

    setup: HandSetup
    betting: BettingState
    board: tuple[int, ...] = ()
    actions: tuple[Action, ...] = ()

    @property
    def street(self) -> int:
        """The betting round: 0 preflop to 3 river; the last one with an action if betting is over."""
        return self.betting.street

    @property
    def cards_due(self) -> int:
        """How many board cards chance deals before anything else happens; 0 when it is a player's turn or all is over.

        After an all-in the missing cards come street by street, as they would be dealt.
        """
        betting = self.betting
        if not betting.is_over:
            return BOARD_CARDS[betting.street] - len(self.board)
        if len(betting.live_players) == 1 or len(self.board) >= self.setup.last_board:
            return 0
        return next(count for count in BOARD_CARDS if count > len(self.board)) - len(self.board)

    @property
    def player(self) -> int | None:
        """Who acts; None while cards are due and when the hand is over."""
        return None if self.cards_due else self.betting.player

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to deal or to decide."""
        return self.betting.is_over and not self.cards_due

    @property
    def is_showdown(self) -> bool:
        """Whether the hand is over and cards decide it."""
        return self.is_over and len(self.betting.live_players) > 1

    def legal_actions(self) -> LegalActions:
        """Returns what the acting player may do.

        Raises:
            IllegalActionError: nobody can act now.
        """
        if self.cards_due:
            raise BettingError(f"{self.cards_due} board cards are due: nobody can act before they are dealt")
        return self.betting.legal_actions()

    def act(self, action: Action) -> HandState:
        """Returns the state after the acting player does ``action``.

        Raises:
            BettingError: cards are due, or the action is not legal; the message names the legal ones.
        """
        self.legal_actions()
        return replace(self, betting=self.betting.act(action), actions=(*self.actions, action))

    def deal(self, cards: Sequence[int]) -> HandState:
        """Returns the state with ``cards`` added to the board.

        Raises:
            CardError: another number of cards is due, or a card is on the board already.
        """
        if len(cards) != self.cards_due:
            raise CardError(f"{self.cards_due} board cards are due, not {len(cards)} ({format_cards(cards)})")
        board = tuple(int(card) for card in check_cards((*self.board, *cards)))
        return replace(self, board=board)

    def deal_from(self, board: Sequence[int]) -> HandState:
        """Returns the state after the cards that are due were dealt as they lie on a board, as far as that has them."""
        state = self
        while (due := state.cards_due) and len(board) >= len(state.board) + due:
            state = state.deal(board[len(state.board) : len(state.board) + due])
        return state


def states_before(state: HandState) -> list[HandState]:
    """Returns the states before each action of a hand, with the board as far as it is dealt there; itself last."""
    states = [state.setup.start().deal_from(state.board)]
    for action in state.actions:
        states.append(states[-1].act(action).deal_from(state.board))
    return states
