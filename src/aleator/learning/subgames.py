"""The depth-limited subgames of a game: which public states can be the root of a search, and their trees."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch

from aleator.games.base import TERMINAL, Game
from aleator.meter import Meter
from aleator.solvers.engines.batched.shapes import Shapes
from aleator.trees.fingerprint import fingerprint
from aleator.trees.public_tree import PublicTree, build_tree

MAX_ROOTS = 20_000


class Subgames:
    """All subgames that a search with a depth limit meets: from the game's root, and from every leaf of another one.

    A leaf is where `depth` moves have been made since the root, unless the game is over.

    Attributes:
        game: the game.
        depth: moves before a subgame is cut.
        roots: public states; number 0 is the game's root.
        shapes: their trees, on a device.
        fingerprint: of the game, as far as these subgames show it.
        next: [leaf states] for each of `shapes.leaf_states` the number of the subgame that begins there.
    """

    def __init__(
        self,
        game: Game[Any],
        depth: int = 2,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        if depth < 1:
            raise ValueError(f"a subgame needs a depth of at least 1 move, not {depth}")
        self.game, self.depth = game, depth
        self.roots: list[Any] = [game.root()]
        number: dict[Hashable, int] = {self.roots[0]: 0}
        trees: list[PublicTree] = []
        unit = f"subgames of depth {depth}"
        with Meter(game.name, f"finding the subgames of {game.name}", unit, most=MAX_ROOTS) as meter:
            meter.add()
            while len(trees) < len(self.roots):
                tree = build_tree(game, root=self.roots[len(trees)], is_leaf=lambda _, moves: moves >= depth)
                trees.append(tree)
                for leaf in tree.leaves:
                    state = tree.states[leaf]
                    assert game.actor(state) != TERMINAL
                    if state not in number:
                        number[state] = len(self.roots)
                        self.roots.append(state)
                        meter.add()
        self.fingerprint = fingerprint(trees)
        self.shapes = Shapes(trees, device=device, dtype=dtype)
        self.next = torch.tensor(
            [number[state] for state in self.shapes.leaf_states], dtype=torch.int64, device=self.shapes.device
        )
