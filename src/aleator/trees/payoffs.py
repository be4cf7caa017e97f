"""Payoff matrices of a tree, made when they are asked for: who evaluates a game in a quicker way never pays for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

from aleator.games.base import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix: TypeAlias = FloatArray | csr_array


class Payoffs(Sequence["Matrix"]):
    """The matrices [H0, H1] of some groups, each made at the first look and kept.

    Args:
        make: what makes each of them.
    """

    def __init__(self, make: Sequence[Callable[[], Matrix]]) -> None:
        self._make = make
        self._made: dict[int, Matrix] = {}

    def __len__(self) -> int:
        return len(self._make)

    @overload
    def __getitem__(self, group: int) -> Matrix: ...
    @overload
    def __getitem__(self, group: slice) -> Sequence[Matrix]: ...
    def __getitem__(self, group: int | slice) -> Matrix | Sequence[Matrix]:
        if isinstance(group, slice):
            return [self[place] for place in range(*group.indices(len(self)))]
        place = range(len(self))[group]
        if place not in self._made:
            self._made[place] = self._make[place]()
        return self._made[place]
