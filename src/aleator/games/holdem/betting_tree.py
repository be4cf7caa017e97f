"""The betting tree of two players from a pot, a stack, a street and a bet menu; cards are not part of it.

A node says who acts and what both have put in. The betting below a card is the same for every card, so it is built once
per betting line; whoever solves the tree deals the cards at the nodes of kind `NEXT_STREET`.

When both are all-in there are no further decisions: a chain of `NEXT_STREET` nodes leads to the showdown on the last
street.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import AleatorError
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting import STREET_NAMES, Action, ActionKind, BettingRules, BettingState
from aleator.games.holdem.node_path import NodePath, NodePathError, check_cards_of_path, is_action, parse_path
from aleator.meter import Meter

MAX_NODES: Final = 2_000_000
MAX_RAISES_PER_STREET: Final = 100
_ADVICE: Final = "use fewer sizes, a cap on raises (max_raises) or a larger force_all_in_threshold"


class BettingTreeError(AleatorError):
    """A pot, a stack or a line that makes no tree; the message names the bad value and what is allowed."""


ACTION_KINDS: Final = (ActionKind.FOLD, ActionKind.CALL, ActionKind.RAISE)


class NodeKind(IntEnum):
    """What happens at a node: a player acts, the hand ends by a fold or a showdown, or the next card comes."""

    DECISION = 0
    FOLD = 1
    SHOWDOWN = 2
    NEXT_STREET = 3


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class BettingTree:
    """The public states of the betting, numbered in preorder from the root, 0: a subtree is a range.

    Attributes:
        kind: what happens at each node, a `NodeKind`, int8 ``[N]``.
        street: 0 for preflop to 3 for the river; at `NEXT_STREET` the street that has ended, int8 ``[N]``.
        player: who acts at a `DECISION`, who has folded at a `FOLD`; -1 elsewhere, int8 ``[N]``.
        chips: chips put in by both players since the start of the tree, ``[N, 2]``.
        parent: the node before, -1 for the root, int32 ``[N]``.
        end: one more than the last node of the subtree, int32 ``[N]``.
        action: what the player has done to come here, an index of `ACTION_KINDS`; -1 at the root and after a card, int8
            ``[N]``.
        amount: the raise-to amount of that on its street, 0 if it was no raise, ``[N]``.
    """

    kind: npt.NDArray[np.int8]
    street: npt.NDArray[np.int8]
    player: npt.NDArray[np.int8]
    chips: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    action: npt.NDArray[np.int8]
    amount: npt.NDArray[np.int64]

    @property
    def num_nodes(self) -> int:
        """The number of nodes N."""
        return len(self.kind)

    def children(self, node: int) -> list[int]:
        """Returns the nodes after each action; at `NEXT_STREET` the one of the street that follows."""
        children, child, end = [], node + 1, int(self.end[node])
        while child < end:
            children.append(child)
            child = int(self.end[child])
        return children

    def first_rows(self, root: int, player: int) -> npt.NDArray[np.int64]:
        """Returns ``[N]``: where the actions of a player's decisions begin, if those below `root` are listed in order.

        Each street has a list of its own. Decisions of the other player have -1.
        """
        first, used = np.full(self.num_nodes, -1, np.int64), [0] * len(STREET_NAMES)
        nodes = np.arange(root, int(self.end[root]))
        counts = np.bincount(self.parent[1:], minlength=self.num_nodes) if self.num_nodes > 1 else np.zeros(1, np.int64)
        for node in nodes[(self.kind[nodes] == NodeKind.DECISION) & (self.player[nodes] == player)]:
            first[node] = used[self.street[node]]
            used[self.street[node]] += counts[node]
        return first


class BettingNode(NamedTuple):
    """One public state of the betting: a node of a tree by its number.

    Two are equal if they are the same node of the same tree.
    """

    tree: BettingTree
    number: int

    def __repr__(self) -> str:
        return f"<BettingNode {self.number}: {self.kind.name}, {self.street}, player {self.player}, chips {self.chips}>"

    @property
    def kind(self) -> NodeKind:
        """What happens here."""
        return NodeKind(self.tree.kind[self.number])

    @property
    def street(self) -> int:
        """0 for preflop to 3 for the river; at `NEXT_STREET` the street that has ended."""
        return int(self.tree.street[self.number])

    @property
    def player(self) -> int:
        """Who acts at a `DECISION`, who has folded at a `FOLD`; -1 elsewhere."""
        return int(self.tree.player[self.number])

    @property
    def chips(self) -> tuple[int, int]:
        """Chips put in by both players since the start of the tree."""
        first, second = self.tree.chips[self.number]
        return int(first), int(second)

    @property
    def children(self) -> tuple[BettingNode, ...]:
        """The node after each action; at `NEXT_STREET` that of the next street, or none in a tree of one street."""
        return tuple(BettingNode(self.tree, child) for child in self.tree.children(self.number))

    @property
    def actions(self) -> tuple[Action, ...]:
        """What the player can do, raises ascending and last; amounts are raise-to amounts of this street."""
        tree = self.tree
        children = [child for child in tree.children(self.number) if tree.action[child] >= 0]
        return tuple(Action(ACTION_KINDS[tree.action[child]], int(tree.amount[child])) for child in children)

    @property
    def tokens(self) -> tuple[str, ...]:
        """How a node path writes each action: ``f``, ``c`` or ``bN``."""
        own, actions = self.player, self.actions
        return tuple(
            action_token(action, child.chips[own]) for action, child in zip(actions, self.children, strict=False)
        )

    def walk(self) -> Iterator[BettingNode]:
        """Yields this node and all below it in preorder."""
        return (BettingNode(self.tree, number) for number in range(self.number, int(self.tree.end[self.number])))


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeConfig:
    """What a betting tree is built from.

    Attributes:
        pot: chips in the middle at the start, at least 1.
        stack: chips behind of each player at the start, at least 1.
        street: where it starts: 1 flop, 2 turn, 3 river.
        menu: the bet sizes.
        min_bet: the smallest bet, at least 1.
        num_streets: betting rounds of a whole hand; 4 goes to the river.
        added: off-tree lines: paths that end in a bet or raise which the menu does not give; cards are left out, since
            a line is added for every card.
    """

    pot: int
    stack: int
    street: int
    menu: BetMenu
    min_bet: int = 1
    num_streets: int = len(STREET_NAMES)
    added: tuple[NodePath, ...] = ()

    def __post_init__(self) -> None:
        for name in ("pot", "stack", "min_bet"):
            if getattr(self, name) < 1:
                raise BettingTreeError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 1 <= self.num_streets <= len(STREET_NAMES):
            raise BettingTreeError(f"num_streets must be 1..{len(STREET_NAMES)}, not {self.num_streets}")
        if not 0 <= self.street < self.num_streets:
            raise BettingTreeError(f"street must be 0..{self.num_streets - 1}, not {self.street}")
        for path in self.added:
            if not path.tokens or not path.tokens[-1].startswith("b") or path.cards:
                raise BettingTreeError(f"an added line must end in a bet and name no cards, not {path}")


def build_tree(config: TreeConfig, *, one_street: bool = False, max_nodes: int = MAX_NODES) -> BettingNode:
    """Returns the root of the betting tree.

    Args:
        config: pot, stack, street and menu.
        one_street: whether to stop at the end of the first street.
        max_nodes: how many nodes there may be.

    Raises:
        BettingTreeError: an added amount is not legal.
        NodePathError: an added line names an action that is not there.
        TooBigError: more than `max_nodes` nodes or `MAX_RAISES_PER_STREET` raises on a street.
    """
    rules = BettingRules(small_blind=0, big_blind=config.min_bet, num_streets=config.num_streets)
    state = rules.start_on_street(config.street, pot=config.pot, stacks=(config.stack, config.stack))
    return build_tree_from_state(state, config.menu, added=config.added, one_street=one_street, max_nodes=max_nodes)


def build_tree_from_state(
    state: BettingState,
    menu: BetMenu | None,
    *,
    added: Sequence[NodePath] = (),
    one_street: bool = False,
    max_nodes: int = MAX_NODES,
) -> BettingNode:
    """Returns the root of the betting tree below ``state``, such as the start of a hand of a variant.

    Args:
        state: two players with equal stacks, not over.
        menu: the bet sizes; None for every raise there is, in limit.
        added: see `TreeConfig`.
        one_street: whether to stop at the end of the first street.
        max_nodes: how many nodes there may be.
    """
    from aleator.games.holdem.betting_builder import Arrival, TreeBuilder

    if state.rules.num_players != 2:
        raise BettingTreeError(f"a betting tree has 2 players, not {state.rules.num_players}")
    if len({stack + chips for stack, chips in zip(state.stacks, state.contributions, strict=True)}) > 1:
        raise BettingTreeError(f"a betting tree needs equal stacks, not {state.start_stacks}: use the effective stack")
    if menu is None and state.rules.fixed_bets is None:
        raise BettingTreeError("no-limit needs a bet menu")
    lines: dict[tuple[str, ...], set[int]] = {}
    for path in added:
        lines.setdefault(path.tokens[:-1], set()).add(int(path.tokens[-1][1:]))
    name, task = "the betting tree", "building the betting tree"
    with Meter(name, task, "nodes", most=max_nodes, advice=_ADVICE) as meter:
        builder = TreeBuilder(menu, lines, one_street, meter)
        builder.decision(state, (), Arrival(), caller=None)
        root = BettingNode(builder.tree(), 0)
    for path in () if one_street else added:
        find_node(root, path, any_card=True)
    return root


def find_node(
    root: BettingNode, path: NodePath | str, *, board: Sequence[int] = (), any_card: bool = False
) -> BettingNode:
    """Returns the node that ``path`` names; it may end before a card.

    Args:
        root: the root of the tree.
        path: such as ``"r:0:b100:c:8h"``.
        board: cards dealt before the root.
        any_card: whether the path may leave out cards.

    Raises:
        NodePathError: a token cannot be taken; the message names it and the ones that can.
    """
    parsed = parse_path(path) if isinstance(path, str) else path
    check_cards_of_path(parsed, board)
    node = root
    for index, token in enumerate(parsed.tokens):
        while any_card and is_action(token) and node.kind is NodeKind.NEXT_STREET and node.children:
            node = node.children[0]
        if node.kind is NodeKind.NEXT_STREET and node.children and not is_action(token):
            node = node.children[0]
        elif token in node.tokens:
            node = node.children[node.tokens.index(token)]
        else:
            raise NodePathError(f"no {token!r} at {NodePath(parsed.tokens[:index])}: {_possible(node)}")
    return node


def count_nodes(root: BettingNode) -> tuple[int, ...]:
    """Returns the number of nodes of each street, preflop first, ``[4]``; the betting below a card counts once."""
    streets = root.tree.street[root.number : int(root.tree.end[root.number])]
    return tuple(np.bincount(streets, minlength=len(STREET_NAMES)).tolist())


def action_token(action: Action, chips: int) -> str:
    """Returns how a node path writes ``action``, after which its player has put in ``chips`` since the start."""
    return {ActionKind.FOLD: "f", ActionKind.CALL: "c", ActionKind.RAISE: f"b{chips}"}[action.kind]


def action_name(node: BettingNode, index: int, stack: int) -> str:
    """Returns what players call an action: fold, check, call 50, bet 50, raise to 150, all-in 900."""
    action, own, child = node.actions[index], node.player, node.children[index]
    owed = node.chips[1 - own] - node.chips[own]
    if action.kind is ActionKind.FOLD:
        return "fold"
    if action.kind is ActionKind.CALL:
        return f"call {owed}" if owed else "check"
    if child.chips[own] == stack:
        return f"all-in {action.amount}"
    return f"raise to {action.amount}" if owed else f"bet {action.amount}"


def _possible(node: BettingNode) -> str:
    if node.kind is NodeKind.DECISION:
        return f"possible are {', '.join(node.tokens)}"
    if node.kind is NodeKind.NEXT_STREET:
        return "a card is dealt here" if node.children else "the tree ends with this street"
    return "the hand is over"
