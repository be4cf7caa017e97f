"""The betting tree of two players from a pot, a stack, a street and a bet menu; cards are not part of it.

A node says who acts and what both have put in. The betting below a card is the same for every card, so it is built once
per betting line; whoever solves the tree deals the cards at the nodes of kind `NEXT_STREET`.

When both are all-in there are no further decisions: a chain of `NEXT_STREET` nodes leads to the showdown on the last
street.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from aleator.errors import AleatorError, TooBigError
from aleator.games.holdem.bet_menu import BetMenu, Situation
from aleator.games.holdem.betting import (
    CALL,
    FOLD,
    STREET_NAMES,
    Action,
    ActionKind,
    BettingRules,
    BettingState,
    LegalActions,
    raise_to,
)
from aleator.games.holdem.node_path import NodePath, NodePathError, check_cards_of_path, is_action, parse_path
from aleator.meter import Meter

MAX_NODES: Final = 2_000_000
MAX_RAISES_PER_STREET: Final = 100
_ADVICE: Final = "use fewer sizes, a cap on raises (max_raises) or a larger force_all_in_threshold"


class BettingTreeError(AleatorError):
    """A pot, a stack or a line that makes no tree; the message names the bad value and what is allowed."""


class NodeKind(IntEnum):
    """What happens at a node: a player acts, the hand ends by a fold or a showdown, or the next card comes."""

    DECISION = 0
    FOLD = 1
    SHOWDOWN = 2
    NEXT_STREET = 3


@dataclass(frozen=True, slots=True)
class BettingNode:
    """One public state of the betting.

    Attributes:
        kind: what happens here.
        street: 0 for preflop to 3 for the river; at `NEXT_STREET` the street that has ended.
        player: who acts at a `DECISION`, who has folded at a `FOLD`; -1 elsewhere.
        chips: chips put in by both players since the start of the tree, ``[2]``.
        actions: what the player can do, raises ascending and last; amounts are raise-to amounts of this street.
        children: the node after each action; at `NEXT_STREET` the one node of the street that follows, or none in a
            tree of one street.
    """

    kind: NodeKind
    street: int
    player: int
    chips: tuple[int, int]
    actions: tuple[Action, ...] = ()
    children: tuple[BettingNode, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """How a node path writes each action: ``f``, ``c`` or ``bN``."""
        return tuple(
            action_token(action, self.children[index].chips[self.player]) for index, action in enumerate(self.actions)
        )

    def walk(self) -> Iterator[BettingNode]:
        """Yields this node and all below it in preorder."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


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
        root = _Builder(menu, lines, one_street, meter).decision(state, (), caller=None)
    for path in () if one_street else added:
        find_node(root, path, any_card=True)
    return root


def add_line(config: TreeConfig, path: NodePath | str) -> TreeConfig:
    """Returns ``config`` with one more off-tree bet or raise.

    Args:
        config: what the tree is built from.
        path: the node and the added token, such as ``"r:0:c:b333"``; its cards are dropped: the line is added for all.

    Raises:
        BettingTreeError: the amount is not legal.
        NodePathError: the path cannot be read, or the node is not there.
    """
    parsed = parse_path(path) if isinstance(path, str) else path
    line = NodePath(parsed.actions)
    if line in config.added:
        return config
    extended = replace(config, added=(*config.added, line))
    build_tree(extended)
    return extended


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
    counts = [0] * len(STREET_NAMES)
    for node in root.walk():
        counts[node.street] += 1
    return tuple(counts)


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


class _Builder:
    """One build: the menu, the added lines and the meter that counts nodes."""

    def __init__(
        self, menu: BetMenu | None, lines: dict[tuple[str, ...], set[int]], one_street: bool, meter: Meter
    ) -> None:
        self.menu, self.lines, self.one_street, self.meter = menu, lines, one_street, meter

    def decision(self, state: BettingState, line: tuple[str, ...], caller: int | None) -> BettingNode:
        """Returns the node of the acting player; ``caller`` is who has just called a bet on the street before."""
        player = state.player
        assert player is not None
        legal = state.legal_actions()
        actions = [FOLD, CALL] if legal.can_fold else [CALL]
        actions += [raise_to(amount) for amount in self.amounts(state, legal, line, caller)]
        if state.num_raises > MAX_RAISES_PER_STREET:
            raise TooBigError(f"more than {MAX_RAISES_PER_STREET} raises on a street: use larger sizes or a cap")
        children = []
        for action in actions:
            after = state.act(action)
            token = action_token(action, after.contributions[player])
            called_by = player if action is CALL and legal.call_amount else None
            children.append(self.after(state, after, (*line, token), called_by))
        return self.node(NodeKind.DECISION, state.street, player, state, tuple(actions), tuple(children))

    def amounts(
        self, state: BettingState, legal: LegalActions, line: tuple[str, ...], caller: int | None
    ) -> tuple[int, ...]:
        """Returns the raise-to amounts of the menu and of the added lines, ascending."""
        player = state.player
        assert player is not None
        before = state.contributions[player] - state.bets[player]
        amounts: set[int] = set()
        if legal.min_raise_to is not None and legal.max_raise_to is not None:
            situation = Situation(
                pot=state.pot + legal.call_amount,
                faced=max(state.bets),
                min_to=legal.min_raise_to,
                max_to=legal.max_raise_to,
                num_raises=state.num_raises,
                streets_left=state.rules.num_streets - state.street,
            )
            if self.menu is None:
                amounts.add(legal.min_raise_to)
            else:
                amounts.update(self.menu.amounts(state.street, player, situation, is_donk=caller == player))
        for chips in self.lines.get(line, ()):
            if not legal.allows(raise_to(chips - before)):
                bounds = "no bet or raise is legal there"
                if legal.min_raise_to is not None and legal.max_raise_to is not None:
                    bounds = f"legal are b{legal.min_raise_to + before} to b{legal.max_raise_to + before}"
                raise BettingTreeError(f"cannot add 'b{chips}' at {NodePath(line)}: {bounds}")
            amounts.add(chips - before)
        return tuple(sorted(amounts))

    def after(
        self, before: BettingState, state: BettingState, line: tuple[str, ...], caller: int | None
    ) -> BettingNode:
        """Returns the node of ``state``, which an action in ``before`` has led to."""
        if len(state.live_players) == 1:
            assert before.player is not None
            return self.node(NodeKind.FOLD, before.street, before.player, state)
        if not state.is_over and state.street == before.street:
            return self.decision(state, line, caller=None)
        if before.street == state.rules.num_streets - 1:
            return self.node(NodeKind.SHOWDOWN, before.street, -1, state)
        if self.one_street:
            return self.node(NodeKind.NEXT_STREET, before.street, -1, state)
        if not state.is_over:
            below = self.decision(state, line, caller)
            return self.node(NodeKind.NEXT_STREET, before.street, -1, state, (), (below,))
        node = self.node(NodeKind.SHOWDOWN, state.rules.num_streets - 1, -1, state)
        for street in reversed(range(before.street, state.rules.num_streets - 1)):
            node = self.node(NodeKind.NEXT_STREET, street, -1, state, (), (node,))
        return node

    def node(
        self,
        kind: NodeKind,
        street: int,
        player: int,
        state: BettingState,
        actions: tuple[Action, ...] = (),
        children: tuple[BettingNode, ...] = (),
    ) -> BettingNode:
        self.meter.add()
        first, second = state.contributions
        return BettingNode(kind, street, player, (first, second), actions, children)
