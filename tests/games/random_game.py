"""Random small games that use everything the public form allows: private moves, private draws, public chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from aleator.games.base import CHANCE, TERMINAL, Child, FloatArray, Game


@dataclass
class _Node:
    actor: int
    deal: FloatArray
    actions: int = 0
    children: list[Child[int]] = field(default_factory=list)
    utility: FloatArray | None = None


class RandomGame(Game[int]):
    """A game grown at random from a seed; a state is the number of a node."""

    def __init__(self, seed: int, depth: int = 4) -> None:
        self.name = f"random:{seed}"
        self._rng = np.random.default_rng(seed)
        self._nodes: list[_Node] = []
        hands = tuple(self._rng.integers(1, 5, size=2))
        deal = self._rng.random(hands) * (self._rng.random(hands) < 0.8)
        deal[0, 0] += 0.1
        self._grow(deal / deal.sum(), depth)

    def _grow(self, deal: FloatArray, depth: int) -> int:
        rng, number = self._rng, len(self._nodes)
        kind = (
            "end"
            if depth == 0
            else rng.choice(["end", "public", "hidden", "chance", "draw"], p=[0.1, 0.4, 0.2, 0.2, 0.1])
        )
        node = _Node(TERMINAL, deal)
        self._nodes.append(node)
        if kind == "end":
            node.utility = np.round(rng.normal(size=deal.shape), 2) * float(rng.integers(1, 4))
        elif kind == "chance":
            node.actor = CHANCE
            shares = rng.dirichlet(np.ones(2), size=deal.shape)
            node.children = [Child(self._grow(deal * shares[..., k], depth - 1), f"event {k}") for k in range(2)]
        elif kind == "draw":
            node.actor, player = CHANCE, int(rng.integers(2))
            node.children = [self._draw(deal, depth, player)]
        else:
            node.actor, node.actions = int(rng.integers(2)), int(rng.integers(1, 4))
            if kind == "public":
                node.children = [Child(self._grow(deal, depth - 1), f"act {k}") for k in range(node.actions)]
            else:
                node.children = self._hidden(node, deal, depth)
        return number

    def _draw(self, deal: FloatArray, depth: int, player: int) -> Child[int]:
        """One player privately draws one of two things."""
        hands = deal.shape[player]
        share = np.concatenate([rates := self._rng.random(hands), 1 - rates])
        longer = np.concatenate([deal, deal], axis=player) * (share[:, None] if player == 0 else share[None, :])
        origin: list[np.ndarray | None] = [None, None]
        origin[player] = np.tile(np.arange(hands), 2)
        return Child(self._grow(longer, depth - 1), "draw", (origin[0], origin[1]))

    def _hidden(self, node: _Node, deal: FloatArray, depth: int) -> list[Child[int]]:
        """The actor moves in secret; all learn one bit about (hand, action). Some hands lack some actions."""
        hands, actor = deal.shape[node.actor], node.actor
        legal = self._rng.random(hands * node.actions) < 0.8
        legal[:hands] |= ~legal.reshape(node.actions, hands).any(axis=0)
        bit = self._rng.integers(2, size=hands * node.actions)
        found = []
        for value in range(2):
            chosen = np.flatnonzero(legal & (bit == value))
            if len(chosen):
                part = np.take(deal, chosen % hands, axis=actor)
                origin = (chosen, None) if actor == 0 else (None, chosen)
                found.append(Child(self._grow(part, depth - 1), f"sign {value}", origin))
        return found

    def root(self) -> int:
        return 0

    def actor(self, state: int) -> int:
        return self._nodes[state].actor

    def actions(self, state: int) -> Sequence[str]:
        return [f"act {k}" for k in range(self._nodes[state].actions)]

    def children(self, state: int) -> Sequence[Child[int]]:
        return self._nodes[state].children

    def hands(self, state: int, player: int) -> Sequence[str]:
        return [f"hand {k}" for k in range(self.deal(state).shape[player])]

    def deal(self, state: int) -> FloatArray:
        return self._nodes[state].deal

    def utility(self, state: int) -> FloatArray:
        utility = self._nodes[state].utility
        assert utility is not None
        return utility
