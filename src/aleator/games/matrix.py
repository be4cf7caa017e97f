"""Games small enough to draw: matrix games, rock-paper-scissors+ (ReBeL Fig. 1), Coin Toss (thesis 5.1.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aleator.errors import GameError
from aleator.games.base import CHANCE, TERMINAL, Child, FloatArray, Game
from aleator.games.operators import ProductDeal
from aleator.meter import Meter

_PAYOFF_BYTES = 16  # of a payoff while a matrix is made


class MatrixGame(Game[int]):
    """A game in normal form: player 0 picks a row in secret, player 1 a column. A state counts the picks."""

    def __init__(
        self,
        payoffs: npt.ArrayLike,
        *,
        name: str,
        rows: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        self.payoffs = np.asarray(payoffs, dtype=np.float64)
        if self.payoffs.ndim != 2 or self.payoffs.size == 0 or not np.isfinite(self.payoffs).all():
            raise GameError(f"a matrix game needs a finite matrix, not an array of shape {self.payoffs.shape}")
        self.name = name
        self._moves = tuple(
            tuple(names) if names else tuple(f"{kind} {index + 1}" for index in range(size))
            for names, kind, size in zip((rows, columns), ("row", "column"), self.payoffs.shape, strict=True)
        )

    def root(self) -> int:
        return 0

    def actor(self, state: int) -> int:
        return state if state < 2 else TERMINAL

    def actions(self, state: int) -> Sequence[str]:
        return self._moves[state]

    def children(self, state: int) -> Sequence[Child[int]]:
        chosen = np.arange(len(self._moves[state]))
        return [Child(state + 1, "choice made", (chosen, None) if state == 0 else (None, chosen))]

    def hands(self, state: int, player: int) -> Sequence[str]:
        return self._moves[player] if state > player else ("-",)

    def deal(self, state: int) -> FloatArray:
        return np.ones(self.num_hands(state))

    def deal_operator(self, state: int) -> ProductDeal:
        first, second = self.num_hands(state)
        return ProductDeal((np.ones(first), np.ones(second)))

    def utility(self, state: int) -> FloatArray:
        return self.payoffs


def rps_plus() -> MatrixGame:
    """Returns rock-paper-scissors where a win or loss with scissors counts double: (0.4, 0.4, 0.2) is optimal."""
    moves = ("rock", "paper", "scissors")
    return MatrixGame([[0, -1, 2], [1, 0, -2], [-2, 2, 0]], name="rps-plus", rows=moves, columns=moves)


def random_matrix(rows: int, columns: int, *, rng: np.random.Generator, name: str | None = None) -> MatrixGame:
    """Returns a matrix game with independent payoffs, uniform in [-1, 1].

    Raises:
        GameError: there are no rows or no columns, or more than 10,000.
        TooBigError: the matrix would take more than half of the memory that is free.
    """
    if not (1 <= rows <= 10_000 and 1 <= columns <= 10_000):
        raise GameError(f"a random matrix game needs 1 to 10000 rows and columns, not {rows}x{columns}")
    name = name or f"matrix:{rows}x{columns}"
    Meter(name, f"making {name}", "payoffs").check_memory(_PAYOFF_BYTES * rows * columns)
    return MatrixGame(rng.uniform(-1.0, 1.0, (rows, columns)), name=name)


class CoinToss(Game[str]):
    """Coin Toss: player 0 sees a coin and sells it (0.5 for heads, -0.5 for tails) or lets player 1 guess it.

    A right guess costs player 0 a chip; a wrong guess, or forfeiting, wins her one. A state is the moves so far.

    Args:
        subgames: with more than one, chance publicly picks where the guessing takes place (thesis Fig. 5.4 has two).
    """

    def __init__(self, subgames: int = 1) -> None:
        if not 1 <= subgames <= 100:
            raise GameError(f"Coin Toss has 1 to 100 subgames, not {subgames}")
        self.subgames = subgames
        self.name = "coin-toss" if subgames == 1 else f"coin-toss:{subgames}"

    def root(self) -> str:
        return ""

    def actor(self, state: str) -> int:
        if state == "play":
            return 1 if self.subgames == 1 else CHANCE
        return 1 if state.startswith("room") and " " not in state else 0 if not state else TERMINAL

    def actions(self, state: str) -> Sequence[str]:
        if not state:
            return "sell", "play"
        if self.actor(state) == CHANCE:
            return tuple(f"room{number}" for number in range(1, self.subgames + 1))
        return "heads", "tails", "forfeit"

    def child(self, state: str, action: int) -> str:
        chosen = self.actions(state)[action]
        return f"{state} {chosen}" if state.startswith("room") else chosen

    def hands(self, state: str, player: int) -> Sequence[str]:
        return ("heads", "tails") if player == 0 else ("-",)

    def deal(self, state: str) -> FloatArray:
        return np.full((2, 1), 0.5 / self.subgames if state.startswith("room") else 0.5)

    def utility(self, state: str) -> FloatArray:
        wins = {"sell": (0.5, -0.5), "heads": (-1, 1), "tails": (1, -1), "forfeit": (1, 1)}
        return np.array(wins[state.split()[-1]], dtype=np.float64).reshape(2, 1)
