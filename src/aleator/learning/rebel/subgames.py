"""The depth-limited subgames of a game, found as they are met."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch

from aleator.errors import SolveError
from aleator.games.base import TERMINAL, Game
from aleator.learning.value_network.encoding import Encoding
from aleator.meter import Meter
from aleator.solvers.engines.batched.forest import Forest
from aleator.solvers.engines.batched.shapes import Shapes
from aleator.trees.fingerprint import Fingerprint, fingerprint
from aleator.trees.public_tree import PublicTree, build_tree

Tensor = torch.Tensor
MAX_STATES = 20_000  # of games whose public states have to be listed
MAX_NODES = 2_000_000  # of all trees that are remembered, if a game has more
_FINGERPRINT = 1_000  # subgames in the fingerprint of a game
_ADVICE = (
    "a game that tells networks its features can be trained without a list, but for policy networks and random beliefs"
)


class Subgames:
    """The subgames that searches with a depth limit meet: from the game's root, and from leaves of others.

    A leaf is where `depth` moves have been made since the root, unless the game is over. At first only the subgame at
    the game's root is known, with its leaves; `forest` adds those that it is asked for. All are listed beforehand where
    a game tells networks nothing but the number of a public state (`Game.features`).

    Attributes:
        game: the game.
        depth: moves before a subgame is cut.
        shapes: the trees, on a device, and the numbers of the public states at their roots and leaves; 0 is the game's
            root.
        encoding: what a network is told about these public states.
        renumbered: how often these have got new numbers.
    """

    def __init__(
        self,
        game: Game[Any],
        depth: int = 2,
        *,
        encoding: str = "auto",
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        if depth < 1:
            raise ValueError(f"a subgame needs a depth of at least 1 move, not {depth}")
        self.game, self.depth, self.renumbered, root = game, depth, 0, game.root()
        self._moves: dict[Hashable, tuple[int, ...]] = {root: ()}
        tree = self._build(root)
        self.shapes = Shapes([tree], device=device, dtype=dtype)
        self._remember_leaves([tree])
        if game.features(root) is None:
            self._list_all()
        self.encoding = Encoding(game, self.states, self.shapes.num_hands, kind=encoding, device=device, dtype=dtype)

    @property
    def states(self) -> list[Any]:
        """The public states at roots and leaves, by their numbers."""
        return self.shapes.states

    @property
    def is_complete(self) -> bool:
        """Whether all subgames of the game are known."""
        return self.shapes.num_trees == len(self.states)

    def forest(self, roots: Tensor) -> Forest:
        """Returns the subgames at some public states, [G] numbers."""
        if not self.is_complete:
            new = roots[self.shapes.level_count[roots, 0] == 0]
            self._add([self.states[number] for number in torch.unique(new).tolist()])
        return Forest.build(self.shapes, roots)

    def complete(self) -> Subgames:
        """Adds all subgames of the game and returns itself.

        Raises:
            TooBigError: the game has too many.
        """
        self._list_all()
        self.encoding.extend(self.states)
        return self

    def moves(self, number: int) -> tuple[int, ...]:
        """Returns moves that lead to a public state: which child it is, from the game's root on."""
        return self._moves[self.states[number]]

    def find(self, moves: Iterable[int]) -> int:
        """Returns the number of the public state that some moves lead to.

        Raises:
            SolveError: there are no such moves, or no subgame begins there.
        """
        moves, state = tuple(moves), self.game.root()
        for move in moves:
            children = [] if self.game.actor(state) < -1 else self.game.children(state)
            if not 0 <= move < len(children):
                raise SolveError(f"{self.game.name} has no child number {move} at {state}")
            state = children[move].state
        if len(moves) % self.depth or self.game.actor(state) == TERMINAL:
            raise SolveError(f"no subgame of {self.game.name} of depth {self.depth} begins at {state}")
        if state not in self.shapes.number:
            self._moves[state] = moves
            self._add([state])
        return self.shapes.number[state]

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the game, as far as its first subgames show it, nearer ones first."""
        known, trees, waiting = self._known_trees(), dict[Hashable, PublicTree](), [self.game.root()]
        for state in waiting:  # grows on the way
            if state not in trees and len(trees) < _FINGERPRINT:
                trees[state] = known.get(state) or self._build(state)
                waiting.extend(trees[state].states[leaf] for leaf in trees[state].leaves)
        return fingerprint(trees.values())

    def forget(self, roots: Tensor) -> Tensor:
        """Forgets all subgames but those at given roots [G], if there are many, and returns their new numbers [G]."""
        if self.is_complete or self.shapes.num_nodes <= MAX_NODES:
            return roots
        different, index = torch.unique(roots, return_inverse=True)
        kept = [self.states[number] for number in different.tolist()]
        trees = self._known_trees()
        self._moves = {state: self._moves[state] for state in [self.game.root(), *kept]}
        self.shapes.clear()
        self.encoding.clear()
        self._add(list(self._moves), trees)
        self.renumbered += 1
        return torch.tensor([self.shapes.number[state] for state in kept], device=roots.device)[index]

    def _list_all(self) -> None:
        """Adds all trees, nearer ones first."""
        task, unit = f"finding the subgames of {self.game.name}", f"subgames of depth {self.depth}"
        with Meter(self.game.name, task, unit, most=MAX_STATES, advice=_ADVICE) as meter:
            while not self.is_complete:
                meter.add(len(self.states) - meter.count)
                states = [state for state, tree in zip(self.states, self.shapes.trees, strict=True) if not tree]
                trees = [self._build(state) for state in states]
                self.shapes.add(trees)
                self._remember_leaves(trees)

    def _add(self, states: Sequence[Hashable], known: Mapping[Hashable, PublicTree] | None = None) -> None:
        """Adds the subgames at some public states; trees that are known already are not built again."""
        trees = [(known or {}).get(state) or self._build(state) for state in states]
        self.shapes.add(trees)
        self._remember_leaves(trees)
        self.encoding.extend(self.states)

    def _known_trees(self) -> dict[Hashable, PublicTree]:
        """Returns the trees that have been built, by their roots."""
        return {tree.states[0]: tree for tree in self.shapes.trees if tree}

    def _build(self, state: Hashable) -> PublicTree:
        """Returns the tree of the subgame at a public state."""
        return build_tree(self.game, root=state, is_leaf=lambda _, moves: moves >= self.depth)

    def _remember_leaves(self, trees: Iterable[PublicTree]) -> None:
        """Remembers how the leaves of some trees are reached."""
        for tree in trees:
            for leaf in tree.leaves:
                if tree.states[leaf] not in self._moves:
                    self._moves[tree.states[leaf]] = (*self._moves[tree.states[0]], *tree.events(int(leaf)))
