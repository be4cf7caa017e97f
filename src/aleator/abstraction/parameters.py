"""Games whose payoffs depend on numbers, their parameters: `leduc:bets={first}/{second}` with first = 2 and second = 4.

All members of a family have one tree; only stakes differ, and these are affine in the parameters:
    stake(z) = base(z) + sum over d of parameter_d x slope_d(z).
So are cfvs and regrets under given policies, which is what regret transfer and parameter optimisation live on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from string import Formatter
from typing import Any

import numpy as np

from aleator.errors import GameError, check_known, shown
from aleator.games.base import FloatArray, Game
from aleator.games.registry import load_game
from aleator.parsing import parse_real
from aleator.trees.fingerprint import tree_fingerprint
from aleator.trees.public_tree import PublicTree, build_tree

_STEP = 0.125  # of a parameter, to find slopes: a power of two, so that most bets change by an exact number
_TOLERANCE = 1e-9
_MOST = 1e9
Values = Mapping[str, float]


class ParametricGame:
    """A family of games of one shape.

    Attributes:
        name: as it was written, with the parameters in braces.
        parameters: their names, in the order of all vectors [D].
        shape: a member's tree, at the start.
        slopes: [D, N]: how the stake of every node changes with each parameter.
    """

    def __init__(self, make: Callable[..., Game[Any]], start: Values, *, name: str) -> None:
        """Finds how payoffs depend on the parameters.

        Args:
            make: the game at given parameters, passed by name.
            start: where slopes are taken, which must be possible values.
            name: of the family.

        Raises:
            GameError: the tree changes its shape with the parameters, or payoffs are not affine in them.
        """
        self.name, self.parameters, self._make = name, tuple(start), make
        if not start:
            raise GameError(f"{shown(name)} has no parameters: write them in braces, as in leduc:bets=2/{{second}}")
        first = self._vector(start)
        self.shape = self.tree(first)
        slopes = [(self._stake(first + step) - self.shape.stake) / _STEP for step in _STEP * np.eye(len(first))]
        self.slopes: FloatArray = np.stack(slopes)
        self._base = self.shape.stake - first @ self.slopes
        other = first + _STEP * np.arange(2, 2 + len(first))
        wrong = np.abs(self._stake(other) - self.stakes(other)).max()
        if wrong > _TOLERANCE * np.abs(self.shape.stake).max():
            raise GameError(
                f"payoffs of {shown(name)} are not affine in {', '.join(self.parameters)}: they are off by {wrong:g}"
            )

    def _vector(self, values: Values | FloatArray) -> FloatArray:
        if isinstance(values, np.ndarray):
            return values.astype(np.float64)  # a copy: solvers change theirs
        for given in values:
            check_known(given, self.parameters, "parameter", GameError)
        missing = [name for name in self.parameters if name not in values]
        if missing:
            raise GameError(f"{shown(self.name)} needs a value of {missing[0]}")
        return np.array([values[name] for name in self.parameters], np.float64)

    def vector(self, values: Values | FloatArray) -> FloatArray:
        """Returns [D] of values by name.

        Raises:
            GameError: a name is unknown or missing, or a value is not a finite number.
        """
        vector = self._vector(values)
        if not all(map(isfinite, vector)):
            raise GameError(f"the parameters of {shown(self.name)} must be finite numbers, not {vector.tolist()}")
        return vector

    def values(self, vector: FloatArray) -> dict[str, float]:
        """Returns values by name."""
        return dict(zip(self.parameters, vector.tolist(), strict=True))

    def game(self, values: Values | FloatArray) -> Game[Any]:
        """Returns the game at some values."""
        return self._make(**self.values(self.vector(values)))

    def tree(self, values: Values | FloatArray) -> PublicTree:
        """Returns the tree of the game at some values."""
        return build_tree(self.game(values))

    def stakes(self, values: Values | FloatArray) -> FloatArray:
        """Returns [N]: the stake of every node at some values, 0 at inner ones."""
        stakes: FloatArray = self._base + self.vector(values) @ self.slopes
        return stakes

    def _stake(self, vector: FloatArray) -> FloatArray:
        """Returns the stakes of another member's tree.

        Raises:
            GameError: it has another shape, or other payoffs per unit of stake.
        """
        tree, own = self.tree(vector), self.shape
        same = tree_fingerprint(tree).shape == tree_fingerprint(own).shape and np.array_equal(
            tree.payoff_group, own.payoff_group
        )
        if not same or any(abs(a - b).max() > _TOLERANCE for a, b in zip(tree.payoffs, own.payoffs, strict=True)):
            raise GameError(
                f"more than stakes change with the parameters of {shown(self.name)}, at {self.values(vector)}: "
                "the shape of its tree must stay the same"
            )
        return tree.stake


def parametric_game(text: str, start: Values) -> ParametricGame:
    """Returns the family that a name with parameters in braces stands for, as in `leduc:bets=2/{second}`.

    Raises:
        GameError: the name is not that of a game, or its parameters are not those in braces.
    """
    try:
        fields = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
    except ValueError as error:
        raise GameError(f"{shown(text)}: {error}; parameters are names in braces") from None
    for name in fields:
        if not name.isidentifier():
            raise GameError(f"{shown(text)}: a parameter is a name in braces, as in {{second}}, not {{{name}}}")
    for name in start if fields else ():  # a family without any says so itself
        check_known(name, fields, f"parameter of {shown(text)}", GameError)
    missing = [name for name in fields if name not in start]
    if missing:
        raise GameError(f"{shown(text)} needs a value of {missing[0]}, as in --parameter {missing[0]}=2")

    def make(**values: float) -> Game[Any]:
        return load_game(text.format(**{name: repr(float(value)) for name, value in values.items()}))

    return ParametricGame(make, {name: start[name] for name in fields}, name=text)


def parse_parameters(texts: list[str]) -> dict[str, float]:
    """Returns values by name from texts such as `second=4`.

    Raises:
        GameError: a text is not of that form, or names a parameter again.
    """
    values: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise GameError(f"{shown(text)}: a parameter is written NAME=NUMBER, as in second=4")
        if name in values:
            raise GameError(f"{shown(text)}: the parameter {name} has a value already")
        values[name] = parse_real(value, f"the parameter {name}", least=-_MOST, most=_MOST, error=GameError)
    return values
