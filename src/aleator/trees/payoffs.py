"""Payoffs of a tree, made when they are asked for: who evaluates a game in a quicker way never pays for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

from aleator.games.base import FloatArray
from aleator.games.operators import MatrixPayoff, PayoffOperator

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix: TypeAlias = FloatArray | csr_array


class Payoffs(Sequence["Matrix"]):
    """The payoffs [H0, H1] of some groups as matrices, made at the first look and kept; `operator` has them without.

    Args:
        make: what makes each of them.
    """

    def __init__(self, make: Sequence[Callable[[], PayoffOperator]]) -> None:
        self._make = make
        self._made: dict[int, PayoffOperator] = {}
        self._written: dict[int, Matrix] = {}

    def __len__(self) -> int:
        return len(self._make)

    def operator(self, group: int) -> PayoffOperator:
        """Returns the payoff of a group as an operator on reach."""
        if group not in self._made:
            self._made[group] = self._make[group]()
        return self._made[group]

    @overload
    def __getitem__(self, group: int) -> Matrix: ...
    @overload
    def __getitem__(self, group: slice) -> Sequence[Matrix]: ...
    def __getitem__(self, group: int | slice) -> Matrix | Sequence[Matrix]:
        if isinstance(group, slice):
            return [self[index] for index in range(*group.indices(len(self)))]
        index = range(len(self))[group]
        if index not in self._written:
            self._written[index] = self.operator(index).matrix()
        return self._written[index]


def payoff_operator(payoffs: Sequence[Matrix], group: int) -> PayoffOperator:
    """Returns the payoff of a group as an operator, whether a tree's payoffs come from rules or are matrices."""
    return payoffs.operator(group) if isinstance(payoffs, Payoffs) else MatrixPayoff(payoffs[group])
