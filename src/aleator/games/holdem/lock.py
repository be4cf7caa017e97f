"""Locks: a policy that is fixed at a node, around which the rest of a spot is solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aleator.errors import AleatorError, shown
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, find_node
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_range import HandRangeError, parse_hand_range
from aleator.games.holdem.node_path import NodePath, is_action, parse_path
from aleator.parsing import is_number, parse_real

REST = "rest"


class LockError(AleatorError):
    """A lock that cannot be read or does not fit its node; the message names the node and what is allowed."""


class LockedNode(NamedTuple):
    """Where a lock applies: its decision, the cards that must have come (None: any), one per street since the root."""

    node: BettingNode
    cards: tuple[str | None, ...]
    steps: tuple[str | None, ...]  # the whole path, None for any card


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """How often a player takes each action at a node.

    Attributes:
        path: the node; where a card is left out, the lock holds for every card.
        shares: pairs of an action such as ``b50`` and how often it is taken: a number for all hands, a hand range whose
            weights are the frequencies, or ``rest`` for what the others leave. Actions that are not named are not
            taken.
    """

    path: NodePath
    shares: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        tokens = [token for token, _ in self.shares]
        if not tokens:
            raise LockError(f"lock {self.path}: name at least one action")
        if len(set(tokens)) < len(tokens):
            raise LockError(f"lock {self.path}: an action comes twice among {', '.join(tokens)}")
        if [text for _, text in self.shares].count(REST) > 1:
            raise LockError(f"lock {self.path}: only one action can take the rest")
        for token, text in self.shares:
            if text != REST:
                self._share(token, text)

    def _share(self, token: str, text: str) -> FloatArray:
        """Returns how often each hand takes an action, `[1326]`."""
        if is_number(text):
            what = f"lock {self.path}, {token}: a frequency"
            return np.full(NUM_HANDS, parse_real(text, what, least=0.0, most=1.0, error=LockError))
        try:
            return parse_hand_range(text)
        except HandRangeError as error:
            raise LockError(f"lock {self.path}, {token}: {error}") from None

    def find(self, root: BettingNode) -> LockedNode:
        """Returns where the lock applies in a tree.

        Raises:
            LockError: nobody acts there, or an action is not possible there.
            NodePathError: there is no such node.
        """
        find_node(root, self.path, any_card=True)
        node, cards, steps = root, [], []
        tokens = list(self.path.tokens)
        while tokens or node.kind is NodeKind.NEXT_STREET:
            if node.kind is NodeKind.NEXT_STREET and node.children:
                card = tokens.pop(0) if tokens and not is_action(tokens[0]) else None
                cards.append(card)
                steps.append(card)
                node = node.children[0]
            elif tokens:
                steps.append(tokens[0])
                node = node.children[node.tokens.index(tokens.pop(0))]
            else:
                break
        if node.kind is not NodeKind.DECISION:
            raise LockError(f"lock {self.path}: nobody acts there")
        for token, _ in self.shares:
            if token not in node.tokens:
                raise LockError(f"lock {self.path}: no {token!r} there, possible are {', '.join(node.tokens)}")
        return LockedNode(node, tuple(cards), tuple(steps))

    def policy(self, node: BettingNode) -> FloatArray:
        """Returns the policy `[A, 1326]` at the lock's node; hands without any frequency have none."""
        policy, rest = np.zeros((len(node.tokens), NUM_HANDS)), None
        for token, text in self.shares:
            if text == REST:
                rest = node.tokens.index(token)
            else:
                policy[node.tokens.index(token)] = self._share(token, text)
        total = policy.sum(axis=0)
        if rest is not None:
            policy[rest] = np.maximum(1.0 - total, 0.0)
            total = policy.sum(axis=0)
        normalised: FloatArray = np.divide(policy, total, out=np.zeros_like(policy), where=total > 0)
        return normalised

    def __str__(self) -> str:
        return " ".join([str(self.path), *(f"{token}={text}" for token, text in self.shares)])


def parse_lock(text: str) -> Lock:
    """Returns the lock of a text such as ``"r:0:c c=0.3 b50=AA,KK:0.5 b300=rest"``.

    Raises:
        LockError: a share is not written as ACTION=FREQUENCY.
        NodePathError: the node cannot be read.
    """
    path, *parts = text.split() or [""]
    shares = []
    for part in parts:
        token, equals, share = part.partition("=")
        if not equals:
            raise LockError(
                f"lock {shown(text)}: write ACTION=FREQUENCY, as in 'r:0:c c=0.3 b50=rest', not {shown(part)}"
            )
        shares.append((token, share))
    return Lock(path=parse_path(path), shares=tuple(shares))
