"""Deals and payoffs as operators on rows of reach, so that whoever has many hands need not write matrices [H0, H1].

A *deal* is chance's part in coming to a public state with each pair of hands; a *payoff* is a deal times what player 0
wins. `apply` and `cf_reach` take rows of the other player's reach and give rows over the own hands. Small games have
their matrices (`MatrixDeal`, `MatrixPayoff`); hands that tell nothing about each other have a row of weights each
(`ProductDeal`); hands that are cards have weights, cards and strengths (`CardDeal`, `CardPayoff`).

Reference: Johanson et al. 2011, "Accelerating best response calculation in large extensive games" (payoffs in O(H)).
Deviations: `CardPayoff.apply` keeps running sums per card, O(52 H): plain array arithmetic. The CPU engine has O(H).
Status: equal to matrices (tests/games/test_operators.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix: TypeAlias = npt.NDArray[np.float64] | csr_array

Floats = npt.NDArray[np.float64]
Pair = tuple[Floats, Floats]
Cards = npt.NDArray[np.integer[Any]]
_NUM_CARDS = 52


class Deal(ABC):
    """The probability of chance's part in coming to a public state with each pair of hands."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many hands both players have."""

    @abstractmethod
    def cf_reach(self, player: int, reach: Floats) -> Floats:
        """Returns [..., own hands]: chance times the other player's reach [..., other hands], summed over its hands."""

    @abstractmethod
    def row(self, player: int, hand: int) -> Floats:
        """Returns [other hands]: the probability of a player's hand together with each hand of the other player."""

    @abstractmethod
    def matrix(self) -> Floats:
        """Returns [H0, H1]."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> tuple[int, int]:
        """Returns a pair of hands."""

    def probability(self, hands: tuple[int, int]) -> float:
        """Returns the probability of a pair of hands."""
        return float(self.row(0, hands[0])[hands[1]])

    def total(self, reach: Pair) -> float:
        """Returns how likely the public state is, given both players' reach."""
        return float(reach[0] @ self.cf_reach(0, reach[1]))

    def marginal(self, player: int) -> Floats:
        """Returns [H]: how likely chance deals each hand of a player, whatever the other's."""
        return self.cf_reach(player, np.ones(self.shape[1 - player]))

    def is_independent(self) -> bool:
        """Returns whether the hands tell nothing about each other."""
        first, second = self.marginal(0), self.marginal(1)
        return np.allclose(self.matrix(), np.outer(first, second) / first.sum())


class MatrixDeal(Deal):
    """A deal that is written out."""

    def __init__(self, matrix: Floats) -> None:
        self._matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        first, second = self._matrix.shape
        return first, second

    def cf_reach(self, player: int, reach: Floats) -> Floats:
        return np.asarray(reach @ (self._matrix.T if player == 0 else self._matrix))

    def row(self, player: int, hand: int) -> Floats:
        return self._matrix[hand] if player == 0 else self._matrix[:, hand]

    def matrix(self) -> Floats:
        return self._matrix

    def sample(self, rng: np.random.Generator) -> tuple[int, int]:
        deal = self._matrix
        first, second = divmod(int(rng.choice(deal.size, p=(deal / deal.sum()).ravel())), deal.shape[1])
        return first, second


@dataclass(frozen=True, eq=False)
class ProductDeal(Deal):
    """Two hands that tell nothing about each other, in O(H): weight x weight.

    Attributes:
        weights: per player [H].
    """

    weights: Pair

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.weights[0]), len(self.weights[1])

    def cf_reach(self, player: int, reach: Floats) -> Floats:
        return np.multiply.outer(reach @ self.weights[1 - player], self.weights[player])

    def row(self, player: int, hand: int) -> Floats:
        return np.asarray(self.weights[1 - player] * self.weights[player][hand])

    def matrix(self) -> Floats:
        return self._matrix

    @cached_property
    def _matrix(self) -> Floats:
        return np.outer(*self.weights)

    def is_independent(self) -> bool:
        return True

    def sample(self, rng: np.random.Generator) -> tuple[int, int]:
        first, rest = _draw(self.weights[0], rng.random())
        return first, _draw(self.weights[1], rest)[0]


def _draw(weights: Floats, point: float) -> tuple[int, float]:
    """Returns the entry that a point of [0, 1) falls into, and where in the entry that is, from 0 to 1."""
    ends = np.cumsum(weights) / weights.sum()
    entry = min(int(np.searchsorted(ends, point, side="right")), int(np.flatnonzero(weights)[-1]))
    begin = ends[entry - 1] if entry else 0.0
    return entry, float((point - begin) / (ends[entry] - begin))


@dataclass(frozen=True, eq=False)
class CardDeal(Deal):
    """Two hands of two cards each that have none in common: scale x weight x weight.

    Attributes:
        weights: per player [H], 0 for hands that cannot be.
        cards: per player [H, 2].
        scale: what all pairs have in common.
    """

    weights: Pair
    cards: tuple[Cards, Cards]
    scale: float

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.weights[0]), len(self.weights[1])

    def cf_reach(self, player: int, reach: Floats) -> Floats:
        other = 1 - player
        weighted = reach * self.weights[other]
        by_card = weighted @ self._holds[other]  # [..., 52]
        first, second = self.cards[player].T
        same = np.where(self._same[player] >= 0, weighted[..., self._same[player]], 0.0)
        free = weighted.sum(axis=-1, keepdims=True) - by_card[..., first] - by_card[..., second] + same
        return np.asarray(free * (self.weights[player] * self.scale))

    def row(self, player: int, hand: int) -> Floats:
        other = 1 - player
        apart = (self.cards[other][:, :, None] != self.cards[player][hand]).all(axis=(1, 2))
        return np.asarray(self.weights[other] * (self.weights[player][hand] * self.scale) * apart)

    def matrix(self) -> Floats:
        return self._matrix

    @cached_property
    def _matrix(self) -> Floats:
        apart = self._holds[0] @ self._holds[1].T == 0.0
        return np.asarray(np.outer(self.weights[0] * self.scale, self.weights[1]) * apart)

    def sample(self, rng: np.random.Generator) -> tuple[int, int]:
        marginal = np.maximum(self.marginal(0), 0.0)
        first = int(rng.choice(len(marginal), p=marginal / marginal.sum()))
        rest = self.row(0, first)
        return first, int(rng.choice(len(rest), p=rest / rest.sum()))

    def same_hand(self, player: int) -> npt.NDArray[np.int64]:
        """Returns [H]: the other player's hand of the very same cards, or -1."""
        return self._same[player]

    @cached_property
    def _holds(self) -> tuple[Floats, Floats]:
        """Per player [H, 52]: whether a hand has a card."""
        first, second = (
            (cards[:, :, None] == np.arange(_NUM_CARDS)).any(axis=1).astype(np.float64) for cards in self.cards
        )
        return first, second

    @cached_property
    def _same(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Per player [H]: the other player's hand of the very same cards, or -1."""
        keys = [np.sort(cards, axis=1) @ np.array([_NUM_CARDS, 1]) for cards in self.cards]
        return _places(keys[0], keys[1]), _places(keys[1], keys[0])


def _places(keys: npt.NDArray[Any], among: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    known = {int(key): index for index, key in enumerate(among)}
    return np.array([known.get(int(key), -1) for key in keys], np.int64)


class PayoffOperator(ABC):
    """What player 0 wins with each pair of hands, times the probability of chance's part."""

    @abstractmethod
    def apply(self, player: int, reach: Floats) -> Floats:
        """Returns [..., own hands]: a player's cfvs against the other player's reach [..., other hands]."""

    @abstractmethod
    def matrix(self) -> Matrix:
        """Returns [H0, H1], what player 0 wins; sparse where that is the better form."""


class MatrixPayoff(PayoffOperator):
    """A payoff that is written out, dense or sparse."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    def apply(self, player: int, reach: Floats) -> Floats:
        rows = (self._matrix @ reach.T).T if player == 0 else -(self._matrix.T @ reach.T).T
        return np.asarray(rows)

    def matrix(self) -> Matrix:
        return self._matrix


@dataclass(frozen=True, eq=False)
class CardPayoff(PayoffOperator):
    """A fold, or a showdown of hands by strength, per unit of stake.

    Attributes:
        deal: of the hands, those that the board blocks with weight 0.
        strengths: per player [H], higher is better; None at a fold, where player 0 wins.
    """

    deal: CardDeal
    strengths: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None = None

    def apply(self, player: int, reach: Floats) -> Floats:
        if self.strengths is None:
            free = self.deal.cf_reach(player, reach)
            return free if player == 0 else -free
        other, weighted = 1 - player, reach * self.deal.weights[1 - player]
        own, order = self.strengths[player], np.argsort(self.strengths[other], kind="stable")
        levels = self.strengths[other][order]
        first, second = self.deal.cards[player].T
        sums = np.cumsum(weighted[..., order, None] * self.deal._holds[other][order], axis=-2)  # [..., H, 52]
        running = np.concatenate([np.zeros_like(sums[..., :1, :]), sums], axis=-2)
        totals = np.cumsum(weighted[..., order], axis=-1)
        total = np.concatenate([np.zeros_like(totals[..., :1]), totals], axis=-1)

        def without_common_cards(index: npt.NDArray[np.intp]) -> Floats:
            cfvs: Floats = total[..., index] - running[..., index, first] - running[..., index, second]
            return cfvs

        below, up_to = np.searchsorted(levels, own, side="left"), np.searchsorted(levels, own, side="right")
        everything = np.full(len(own), len(levels))
        # the very same hand has no place on either side: it ties, and is taken out of both
        won = without_common_cards(below) - (without_common_cards(everything) - without_common_cards(up_to))
        return np.asarray(won * (self.deal.weights[player] * self.deal.scale))

    def matrix(self) -> Floats:
        deal = self.deal.matrix()
        if self.strengths is None:
            return deal
        return np.asarray(deal * np.sign(self.strengths[0][:, None] - self.strengths[1][None, :]))
