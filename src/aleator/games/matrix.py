"""Games small enough to draw: matrix games, rock-paper-scissors+ (ReBeL Fig. 1), Coin Toss (thesis 5.1.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aleator.errors import GameError
from aleator.games.base import TERMINAL, Child, FloatArray, Game


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

    def utility(self, state: int) -> FloatArray:
        return self.payoffs


def rps_plus() -> MatrixGame:
    """Returns rock-paper-scissors where a win or loss that involves scissors counts double: (0.4, 0.4, 0.2) is optimal."""
    moves = ("rock", "paper", "scissors")
    return MatrixGame([[0, -1, 2], [1, 0, -2], [-2, 2, 0]], name="rps-plus", rows=moves, columns=moves)


def random_matrix(rows: int, columns: int, *, rng: np.random.Generator, name: str | None = None) -> MatrixGame:
    """Returns a matrix game with independent payoffs, uniform in [-1, 1]."""
    if not (1 <= rows <= 10_000 and 1 <= columns <= 10_000):
        raise GameError(f"a random matrix game needs 1 to 10000 rows and columns, not {rows}x{columns}")
    return MatrixGame(rng.uniform(-1.0, 1.0, (rows, columns)), name=name or f"matrix:{rows}x{columns}")


class CoinToss(Game[str]):
    """Coin Toss: player 0 sees a coin and sells it (0.5 for heads, -0.5 for tails) or lets player 1 guess it.

    A right guess costs player 0 a chip; a wrong guess, or forfeiting, wins her one. A state is the moves so far.
    """

    name = "coin-toss"

    def root(self) -> str:
        return ""

    def actor(self, state: str) -> int:
        return {"": 0, "play": 1}.get(state, TERMINAL)

    def actions(self, state: str) -> Sequence[str]:
        return ("heads", "tails", "forfeit") if state else ("sell", "play")

    def child(self, state: str, action: int) -> str:
        return self.actions(state)[action]

    def hands(self, state: str, player: int) -> Sequence[str]:
        return ("heads", "tails") if player == 0 else ("-",)

    def deal(self, state: str) -> FloatArray:
        return np.full((2, 1), 0.5)

    def utility(self, state: str) -> FloatArray:
        wins = {"sell": (0.5, -0.5), "heads": (-1, 1), "tails": (1, -1), "forfeit": (1, 1)}
        return np.array(wins[state], dtype=np.float64).reshape(2, 1)
