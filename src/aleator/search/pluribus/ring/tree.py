"""A betting round of several players as arrays: decisions, ends of the hand, and leaves where the round ends.

A leaf stands for the rest of the hand. Where two players are left its *guide* is the decision of a blueprint that is
most like it: the one that the blueprint comes to by the same line, or one with the same players and about the same pot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.betting import parse_menu
from aleator.abstraction.ring.betting import menu_actions
from aleator.abstraction.ring.policy import RingPolicy
from aleator.errors import SolveError
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting import CALL, Action, ActionKind, BettingState

DECISION: Final = 0
END: Final = 1
LEAF: Final = 2
CONTINUATIONS: Final = 4  # the blueprint, and the blueprint biased to folding, calling and raising
_ONE_SIZE: Final = ("100%; all-in",) * 4
_MOST_AT_ALL: Final = 100_000


class TreeArrays(NamedTuple):
    """The round, an argument of the compiled functions; N nodes, parents before children, E edges, P players."""

    kind: npt.NDArray[np.int8]  # [N] DECISION, END or LEAF
    player: npt.NDArray[np.int8]  # [N] who acts; -1 at ends and leaves
    street: npt.NDArray[np.int8]  # [N]
    first: npt.NDArray[np.int32]  # [N + 1] where its edges begin
    child: npt.NDArray[np.int32]  # [E]
    row: npt.NDArray[np.int64]  # [N] where the regrets of a decision begin: [actions][hands or buckets]
    choice: npt.NDArray[np.int64]  # [N, P] where those of a player's choice at a leaf begin: [4][hands]; -1: none
    live: npt.NDArray[np.int32]  # [N] who has not folded, a bit each
    paid: npt.NDArray[np.float32]  # [N, P] chips that everybody has put in
    pot: npt.NDArray[np.float32]  # [N]
    behind: npt.NDArray[np.float32]  # [N] chips that those who are in have left
    guide: npt.NDArray[np.int32]  # [N] the blueprint's decision at a leaf; -1: hands are shown down
    guide_paid: npt.NDArray[np.float32]  # [N] what those who are in have paid there
    scale: npt.NDArray[np.float32]  # [N] chips here for a chip there


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTree:
    """A round, or what is left of the hand from its start on.

    Attributes:
        arrays: for compiled functions.
        actions: of each node, in the order of its edges.
        path: the nodes from the start of the round along what was played, up to the decision that is searched for.
        size: numbers in the table of regrets.
        street: the round.
    """

    arrays: TreeArrays
    actions: list[tuple[Action, ...]]
    path: tuple[int, ...]
    size: int
    street: int

    def child(self, node: int, action: Action) -> int:
        """Returns where an action leads.

        Raises:
            SolveError: the tree lacks it.
        """
        if action not in self.actions[node]:
            raise SolveError(f"the round has no {action} there")
        return int(self.arrays.child[self.arrays.first[node] + self.actions[node].index(action)])


def keeps_to_menu(menu: tuple[str, ...] | None) -> bool:
    """Returns whether searches after the flop, unless somebody else leaves it, have no sizes that a menu lacks."""
    levels = [text.split(";") for text in menu[1:]] if menu is not None else []
    return all("100%" in first.split() and all("all-in" in text.split() for text in later) for first, *later in levels)


class _Point(NamedTuple):
    """A node in the making: the betting, the blueprint's node, how much of what was played leads here (-1: none)."""

    state: BettingState
    guide: int | None
    played: int


class _TooBig(Exception):  # noqa: N818
    """More decisions than are allowed."""


def build_round(
    start: BettingState, played: Sequence[Action], policy: RingPolicy, guide: int | None, hands: int, *, most: int
) -> RoundTree:
    """Returns the round that begins with a state.

    From the turn on it goes to the end of the hand. If that has too many decisions, the menu is cut to one size,
    then the round ends in leaves, and last nobody raises.

    Args:
        start: the betting at the start of the round.
        played: actions of the round so far; those that the menu lacks are added.
        policy: the blueprint.
        guide: the blueprint's decision at the start of the round; None if it has none.
        hands: that are told apart in the round.
        most: decisions, unless even the smallest tree has more.
    """
    whole, everybody = policy.menu, start.rules.num_players
    ends = start.street >= start.rules.num_streets - 2
    plans = [(whole, everybody, ends), (_ONE_SIZE, everybody, ends), (whole, everybody, False)]
    plans += [(_ONE_SIZE, everybody, False), (_ONE_SIZE, 1, False)]
    if whole is None:  # limit
        plans = [(whole, everybody, ends), (whole, everybody, False), (whole, 1, False)]
    for number, (menu, raises, to_the_end) in enumerate(plans):
        limit = most if number + 1 < len(plans) else _MOST_AT_ALL
        try:
            return _Builder(start, played, policy, parse_menu(menu), raises, to_the_end, limit).build(guide, hands)
        except _TooBig:
            continue
    raise SolveError("the betting round is too large to be searched")


def _has_limped(state: BettingState) -> bool:
    """Returns whether somebody but the blinds has called the big blind, and nobody has raised."""
    if state.street or state.num_raises:
        return False
    blinds = (state.rules.small_blind_player, state.rules.big_blind_player)
    return any(bet == state.rules.big_blind for player, bet in enumerate(state.bets) if player not in blinds)


class _Builder:
    def __init__(
        self, start: BettingState, played: Sequence[Action], policy: RingPolicy, menu: BetMenu | None, raises: int,
        to_the_end: bool, most: int,
    ) -> None:  # fmt: skip
        self.start, self.played, self.policy, self.menu = start, list(played), policy, menu
        self.raises, self.to_the_end, self.most = raises, to_the_end, most

    def build(self, guide: int | None, hands: int) -> RoundTree:
        """Returns the tree, breadth first."""
        points = [_Point(self.start, guide, 0)]
        kinds, actions, first, child = list[int](), list[tuple[Action, ...]](), [0], list[int]()
        decisions, path, number = 0, list[int](), 0
        while number < len(points):
            point = points[number]
            state = point.state
            kind = END if state.is_over else LEAF if self._is_leaf(state) else DECISION
            considered: tuple[Action, ...] = ()
            if kind == DECISION:
                decisions += 1
                if decisions > self.most:
                    raise _TooBig
                considered = self._considered(point)
                if point.played >= 0 and state.street == self.start.street:
                    path.append(number)
                for action in considered:
                    child.append(len(points))
                    points.append(self._after(point, action))
            kinds.append(kind)
            actions.append(considered)
            first.append(len(child))
            number += 1
        return self._assemble(points, kinds, actions, first, child, path, hands)

    def _is_leaf(self, state: BettingState) -> bool:
        return state.street != self.start.street and not self.to_the_end

    def _considered(self, point: _Point) -> tuple[Action, ...]:
        """Returns the actions of the menu, and what was played."""
        state = point.state
        actions = menu_actions(state, self.menu, state.rules.num_players)
        if _has_limped(state) and CALL not in actions:
            actions.insert(1, CALL)
        if state.num_raises >= self.raises:
            actions = [action for action in actions if action.kind is not ActionKind.RAISE]
        if 0 <= point.played < len(self.played) and self.played[point.played] not in actions:
            actions.append(self.played[point.played])
        return tuple(actions)

    def _after(self, point: _Point, action: Action) -> _Point:
        on_path = 0 <= point.played < len(self.played) and self.played[point.played] == action
        guide = point.guide
        if guide is not None:
            arrays = self.policy.betting.arrays
            fits = guide >= 0 and (arrays.player[guide], arrays.street[guide]) == (
                point.state.player, point.state.street,
            )  # fmt: skip
            edge = self.policy.edge(guide, action) if fits else None
            guide = None if edge is None else int(arrays.target[edge])
        return _Point(point.state.act(action), guide, point.played + 1 if on_path else -1)

    def _assemble(
        self, points: list[_Point], kinds: list[int], actions: list[tuple[Action, ...]], first: list[int],
        child: list[int], path: list[int], hands: int,
    ) -> RoundTree:  # fmt: skip
        count, players = len(points), self.start.rules.num_players
        row, choice = np.full(count, -1, np.int64), np.full((count, players), -1, np.int64)
        guide, size = np.full(count, -1, np.int32), 0
        guide_paid, scale = np.zeros(count, np.float32), np.ones(count, np.float32)
        for node, (point, kind) in enumerate(zip(points, kinds, strict=True)):
            state = point.state
            if kind == DECISION:
                row[node] = size
                width = hands if state.street == self.start.street else int(self.policy.counts[state.street])
                size += width * len(actions[node])
            elif kind == LEAF and (found := self._guide_of(point)) is not None:
                guide[node] = found
                paid = self.policy.places.paid[found]
                guide_paid[node] = paid[state.live_players[0]]
                scale[node] = state.pot / int(paid.sum())
                for player in state.live_players:
                    choice[node, player] = size
                    size += CONTINUATIONS * hands
        states = [point.state for point in points]
        arrays = TreeArrays(
            kind=np.array(kinds, np.int8),
            player=np.array(
                [state.player if kind == DECISION else -1 for state, kind in zip(states, kinds, strict=True)], np.int8
            ),
            street=np.array([state.street for state in states], np.int8),
            first=np.array(first, np.int32),
            child=np.array(child, np.int32),
            row=row,
            choice=choice,
            live=np.array([sum(1 << player for player in state.live_players) for state in states], np.int32),
            paid=np.array([state.contributions for state in states], np.float32),
            pot=np.array([state.pot for state in states], np.float32),
            behind=np.array([state.stacks[state.live_players[0]] for state in states], np.float32),
            guide=guide,
            guide_paid=guide_paid,
            scale=scale,
        )
        return RoundTree(arrays=arrays, actions=actions, path=tuple(path), size=size, street=self.start.street)

    def _guide_of(self, point: _Point) -> int | None:
        """Returns the blueprint's decision that is most like a leaf; None if more than two players are in."""
        state, arrays, places = point.state, self.policy.betting.arrays, self.policy.places
        if len(state.live_players) > 2:
            return None
        live, player, node = sum(1 << player for player in state.live_players), state.player, point.guide
        if node is not None and node >= 0 and places.live[node] == live and (
            (arrays.player[node], arrays.street[node]) == (player, state.street)
        ):  # fmt: skip
            return node
        alike = (places.live == live) & (arrays.street == state.street) & (arrays.player == player)
        alike &= places.paid[:, state.live_players[0]] == places.paid[:, state.live_players[1]]
        guides = np.flatnonzero(alike)
        if not len(guides):
            return None
        distance = np.abs(np.log(places.paid[guides].sum(axis=1) / state.pot))
        return int(guides[np.argmin(distance)])
