"""Two solutions of one board node by node: what changed with other sizes, another lock or another range.

Hands are compared where both solutions have them. Actions of one name are the same action; since bets may have other
sizes, they are also compared by kind: fold, check or call, bet or raise. EVs are in chips with the share of the pot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import ActionKind
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HAND_CLASSES, format_cards
from aleator.games.holdem.node_path import NodePath, parse_path
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.view import HoldemView, NodeView

KINDS: Final = ("fold", "call", "raise")
_KIND_OF: Final = {ActionKind.FOLD: 0, ActionKind.CALL: 1, ActionKind.RAISE: 2}
MOST_LINES: Final = 60
"""Decisions of a street that are compared."""


class Share(NamedTuple):
    """How often an action is taken in both solutions; NaN where one has no such action."""

    token: str
    first: float
    second: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeComparison:
    """A node of two solutions.

    Attributes:
        views: of both.
        shares: actions by their tokens.
        kinds: how often each of `KINDS` is taken in both, ``[2, 3]``; no rows if nobody acts.
        class_kinds: the same by hand class, ``[2, 3, 169]``; NaN for classes that do not get there.
        class_evs: EVs by solution, player and class, ``[2, 2, 169]``; NaN likewise.
        evs: mean EVs by solution and player, ``[2, 2]``.
        distance: how differently hands act: the mean over hands of the probability that one acts otherwise, by kind.
    """

    views: tuple[NodeView, NodeView]
    shares: tuple[Share, ...]
    kinds: FloatArray
    class_kinds: FloatArray
    class_evs: FloatArray
    evs: FloatArray
    distance: float

    @property
    def player(self) -> int:
        """Who acts, or -1."""
        return self.views[0].player


class LineComparison(NamedTuple):
    """A decision of the street, in short.

    Attributes:
        path: where.
        player: who acts.
        reached: how likely it is in both, from the node that was asked about.
        kinds: how often each of `KINDS` is taken in both, ``[2, 3]``.
        distance: see `NodeComparison`.
    """

    path: NodePath
    player: int
    reached: tuple[float, float]
    kinds: FloatArray
    distance: float


class Comparison:
    """Two solutions to look at side by side; only what is asked for is read from their files."""

    def __init__(self, first: HoldemSolution, second: HoldemSolution) -> None:
        """Prepares a comparison.

        Raises:
            SolveError: the boards differ.
        """
        boards = [frozenset(solution.spot.board) for solution in (first, second)]
        if boards[0] != boards[1]:
            texts = [format_cards(solution.spot.board) for solution in (first, second)]
            raise SolveError(f"only solutions of one board can be compared, not of {texts[0]} and {texts[1]}")
        self.solutions = (first, second)
        self._views = (HoldemView(first), HoldemView(second))

    def node(self, path: NodePath | str, other: NodePath | str | None = None, *, values: bool = True) -> NodeComparison:
        """Returns a node of both.

        Args:
            path: in the first solution.
            other: in the second, if bets have other sizes there; the same if None.
            values: whether EVs are wanted, which take seconds at the first nodes of a flop.

        Raises:
            NodePathError: there is no such node.
            SolveError: another player acts there.
        """
        views = (self._views[0].node(path, values=values), self._views[1].node(other or path, values=values))
        if views[0].player != views[1].player:
            raise SolveError(f"another player acts at {views[0].path} than at {views[1].path}")
        acts = views[0].player >= 0
        kinds = np.array([kind_shares(view) for view in views]) if acts else np.zeros((0, 3))
        by_class = np.array([_class_kinds(view) for view in views]) if acts else np.zeros((0, 3, NUM_HAND_CLASSES))
        evs = np.array([[view.mean(side, view.evs[side]) for side in (0, 1)] for view in views])
        per_class = np.array([[class_means(view, side, view.evs[side]) for side in (0, 1)] for view in views])
        return NodeComparison(
            views=views,
            shares=_shares(views) if acts else (),
            kinds=kinds,
            class_kinds=by_class,
            class_evs=per_class,
            evs=evs,
            distance=_distance(views) if acts else float("nan"),
        )

    def lines(self, path: NodePath | str = "r") -> list[LineComparison]:
        """Returns the decisions of the street from a node on that both have, those where play differs most first."""
        start = parse_path(path) if isinstance(path, str) else path
        whole: tuple[float, float] | None = None
        found = []
        for at in self._common(start):
            views = (self._views[0].node(at, values=False), self._views[1].node(at, values=False))
            masses = [float(view.weights[0] @ view.matchups[0]) for view in views]
            whole = whole or (masses[0] or 1.0, masses[1] or 1.0)
            if views[0].player != views[1].player or not all(masses):
                continue
            kinds = np.array([kind_shares(view) for view in views])
            reached = masses[0] / whole[0], masses[1] / whole[1]
            found.append(LineComparison(at, views[0].player, reached, kinds, _distance(views)))
        return sorted(found, key=lambda line: -line.distance * max(line.reached))

    def _common(self, start: NodePath) -> Iterator[NodePath]:
        """Yields the decisions of a street that both solutions have, from one on, level by level."""
        waiting = [start]
        yielded = 0
        while waiting and yielded < MOST_LINES:
            path = waiting.pop(0)
            nodes = [_find(solution, path) for solution in self.solutions]
            if any(node is None or node.kind is not NodeKind.DECISION for node in nodes):
                continue
            yield path
            yielded += 1
            first, second = (set(node.tokens) for node in nodes if node is not None)
            waiting += [path.then(token) for token in (nodes[0].tokens if nodes[0] else ()) if token in first & second]


def _find(solution: HoldemSolution, path: NodePath) -> BettingNode | None:
    at = solution.start()
    for token in path.tokens:
        if at.node.kind is NodeKind.DECISION and token not in at.node.tokens:
            return None
        at = solution.follow(at, token)
    return at.node


def kind_shares(view: NodeView) -> FloatArray:
    """Returns how often each of `KINDS` is taken at a decision, ``[3]``."""
    return _by_kind(view, np.array(view.frequencies)[:, None])[:, 0]


def _by_kind(view: NodeView, rows: FloatArray) -> FloatArray:
    """Returns the sums of an action's rows ``[A, N]`` by kind, ``[3, N]``."""
    sums = np.zeros((len(KINDS), rows.shape[1]))
    for action, row in zip(view.node.actions, rows, strict=True):
        sums[_KIND_OF[action.kind]] += row
    return sums


def class_means(view: NodeView, player: int, numbers: FloatArray) -> FloatArray:
    """Returns the mean of numbers ``[1326]`` per hand class, each hand as likely as it is at a node, ``[169]``."""
    likely = view.weights[player] * view.matchups[player]
    likely = np.where(np.isfinite(numbers), likely, 0.0)
    total = np.bincount(HAND_CLASSES, weights=likely, minlength=NUM_HAND_CLASSES)
    weighted = np.bincount(HAND_CLASSES, weights=likely * np.nan_to_num(numbers), minlength=NUM_HAND_CLASSES)
    mean: FloatArray = np.divide(weighted, total, out=np.full(NUM_HAND_CLASSES, np.nan), where=total > 0)
    return mean


def _class_kinds(view: NodeView) -> FloatArray:
    return np.stack([class_means(view, view.player, row) for row in _by_kind(view, view.policy)])


def _shares(views: tuple[NodeView, NodeView]) -> tuple[Share, ...]:
    shares = [dict(zip(view.node.tokens, view.frequencies, strict=True)) for view in views]
    nan = float("nan")
    return tuple(
        Share(token, shares[0].get(token, nan), shares[1].get(token, nan)) for token in {**shares[0], **shares[1]}
    )


def _distance(views: tuple[NodeView, NodeView]) -> float:
    """Returns the mean over hands that both have of half the sum of differences by kind, as likely as in the first."""
    first, second = views
    player = first.player
    likely = first.weights[player] * first.matchups[player] * (second.weights[player] > 0)
    if not likely.sum() > 0:
        return float("nan")
    apart = 0.5 * np.abs(_by_kind(first, first.policy) - _by_kind(second, second.policy)).sum(axis=0)
    return float(likely @ apart / likely.sum())
