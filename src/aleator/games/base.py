"""What a game is: public states, hands, chance, payoffs.

A game is described from the public's point of view. A *public state* is everything that everybody knows; in it each
player holds one of a few *hands* (a card, a die roll, the secret bids so far), numbered 0, 1, 2, ... At a public state
either a player acts, or chance reveals something, or the game is over. Three facts make up the rules:

- `children(state)`: where each move leads. When a move is seen by all, hands keep their numbers and there is nothing
  more to say. When something private happens (a hidden bid, a card drawn), the child has other hands, and its *origin*
  says which hand of the parent each of them comes from.
- `deal(state)[i, j]`: the probability that *chance* does its part in reaching the state with hands i and j.
- `utility(state)[i, j]`: what player 0 wins at the end with hands i and j. Player 1 wins the negative.

That is all a solver needs: probabilities of chance are multiplied into the payoffs, so that a walk down the public tree
multiplies policies only. `check_game` (in `contract`) proves that the three facts fit together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from aleator.errors import GameError
from aleator.games.operators import Deal, MatrixDeal, MatrixPayoff, PayoffOperator

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

CHANCE = -1
TERMINAL = -2

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Child(Generic[State]):
    """A public state one move further, and where its hands come from.

    Attributes:
        state: the public state.
        label: what everybody sees happen ("bet", "Kh", "player 0 wins the prize").
        origin: for each player, None if hands keep their numbers, else an int array [hands in the child]. For the
            player who acted, entry h' is `action * H + h`: hand h' arises from hand h by that action (H = hands in the
            parent). For anyone else it is h. None for the player who acted means: this child follows action number k,
            where k is the child's place among its siblings.
    """

    state: State
    label: str
    origin: tuple[IntArray | None, IntArray | None] = (None, None)


class Payoff(NamedTuple):
    """A terminal's payoff to player 0, chance included: `stake * matrix[group]` as an operator on reach vectors.

    Terminals with equal `group` share one matrix, so that they can be evaluated together.
    """

    group: Hashable
    stake: float


class Game(ABC, Generic[State]):
    """A two-player zero-sum game with perfect recall, in public form.

    States are small hashable values that hold what the rest of the game depends on. They need not remember the path
    that led to them: the tree does.
    """

    name: str
    seats_are_alike = False  # whether only who acts matters at a public state, not whether that is player 0 or player 1

    @abstractmethod
    def root(self) -> State:
        """Returns the public state in which the game begins."""

    @abstractmethod
    def actor(self, state: State) -> int:
        """Returns who moves: player 0 or 1, CHANCE or TERMINAL."""

    @abstractmethod
    def actions(self, state: State) -> Sequence[str]:
        """Returns the names of the actor's actions, or of the public outcomes of chance."""

    @abstractmethod
    def hands(self, state: State, player: int) -> Sequence[str]:
        """Returns the names of a player's hands, in the order of their numbers."""

    @abstractmethod
    def deal(self, state: State) -> FloatArray:
        """Returns [H0, H1]: the probability of chance's part in reaching `state` with each pair of hands."""

    @abstractmethod
    def utility(self, state: State) -> FloatArray:
        """Returns [H0, H1]: what player 0 wins at a terminal; entries that `deal` makes impossible are ignored."""

    def child(self, state: State, action: int) -> State:
        """Returns the state after a move that everybody sees; `children` is built from it.

        Override this when all moves are public, or override `children` otherwise.
        """
        raise GameError(f"{type(self).__name__} defines neither child() nor children()")

    def children(self, state: State) -> Sequence[Child[State]]:
        """Returns the states that can follow, one per action or chance outcome when everything is public."""
        return [Child(self.child(state, index), label) for index, label in enumerate(self.actions(state))]

    def payoff_matrix(self, state: State) -> FloatArray | csr_array:
        """Returns [H0, H1]: deal x utility of a terminal; sparse where that is the better form."""
        deal = self.deal(state)
        return np.where(deal > 0, deal * np.where(deal > 0, self.utility(state), 0.0), 0.0)

    def deal_operator(self, state: State) -> Deal:
        """Returns `deal` as an operator on reach; override it where there are too many hands for a matrix."""
        return MatrixDeal(self.deal(state))

    def payoff_operator(self, state: State, stake: float) -> PayoffOperator:
        """Returns `payoff_matrix` per unit of stake as an operator on reach; override it as `deal_operator`."""
        return MatrixPayoff(self.payoff_matrix(state) / (stake or 1.0))

    def winnings(self, state: State, hands: tuple[int, int]) -> float:
        """Returns what player 0 wins at a terminal with a pair of hands."""
        return float(self.utility(state)[hands])

    def payoff(self, state: State) -> Payoff:
        """Returns group and stake of a terminal: terminals whose `payoff_matrix` differs by a factor share a group.

        The default looks at the matrix. Override it when the group is known beforehand.
        """
        matrix = self.payoff_matrix(state)
        if not isinstance(matrix, np.ndarray):
            return Payoff(state, 1.0)
        stake = float(matrix.flat[np.argmax(np.abs(matrix))]) or 1.0
        # terminals that differ by rounding alone share a group
        return Payoff((matrix.shape, (np.round(matrix / stake, 12) + 0.0).tobytes()), stake)

    def possible(self, state: State) -> npt.NDArray[np.bool_]:
        """Returns [H0, H1]: which pairs of hands chance allows."""
        return self.deal(state) > 0.0

    def possible_hands(self, state: State, player: int) -> npt.NDArray[np.bool_]:
        """Returns [H]: which hands of a player chance allows."""
        return np.asarray(self.possible(state).any(axis=1 - player))

    def action_name(self, state: State, hand: int, action: int) -> str:
        """Returns what an action means for one hand; override it when that depends on the hand."""
        return self.actions(state)[action]

    def features(self, state: State) -> FloatArray | None:
        """Returns [F]: what a network is told about a public state, besides who acts; None for the state's number.

        Override it where states have something in common that a network can use. F is the same for all states.
        """
        return None

    def picture(self, state: State) -> str:
        """Returns what everybody sees, in lines of text; override it where that is more than the moves so far."""
        return ""

    def num_hands(self, state: State) -> tuple[int, int]:
        """Returns how many hands each player can hold."""
        return len(self.hands(state, 0)), len(self.hands(state, 1))

    @property
    def shipped(self) -> bool:
        """Whether the rules are part of this package, and so are trusted to keep the contract."""
        return type(self).__module__.partition(".")[0] == __name__.partition(".")[0]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"
