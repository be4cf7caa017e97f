"""A hold'em spot whose bets at some nodes have sizes of their own, any real number: `holdem:SPOT.toml@r:0:b500=60`.

The betting keeps the shape that it has with the bets of the spot's menu, and only stakes change: everything behind a
bet but a fold in answer to it is larger by one factor, as the pot is; who was all-in stays so. So payoffs are affine in
each size, which is what regret transfer needs. Chips are not rounded.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aleator.errors import GameError, shown
from aleator.games.base import Payoff
from aleator.games.holdem.betting import ActionKind
from aleator.games.holdem.betting_tree import ACTION_KINDS, BettingNode, NodeKind, find_node
from aleator.games.holdem.game import BoardHoldem, HoldemState
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot import Spot
from aleator.parsing import parse_real

_RAISE = ACTION_KINDS.index(ActionKind.RAISE)
_MOST = 1e6  # % of the pot


class SizedHoldem(BoardHoldem):
    """A spot with bets of other sizes.

    Args:
        spot: with the shape of the betting.
        sizes: by the path of the node behind a bet, such as `r:0:b500`, without cards: the bet in % of the pot after
            the call.
        name: of the game.

    Raises:
        GameError: a path does not end in a bet below all-in, or with a size there would be more chips than the stack.
        NodePathError: a path leads nowhere.
    """

    def __init__(self, spot: Spot, sizes: Mapping[str, float], name: str) -> None:
        super().__init__(spot, name)
        tree, half = self.tree, spot.pot / 2
        stakes = half + tree.chips.min(axis=1).astype(np.float64)
        for path, size in sizes.items():
            node = find_node(BettingNode(tree, 0), path, any_card=True).number
            if tree.action[node] != _RAISE or tree.chips[node].max() >= spot.stack or parse_path(path).cards:
                raise GameError(f"{shown(path)} does not end in a bet below all-in, or names a card")
            answer, inside = tree.children(node), np.arange(tree.num_nodes)
            moving = (inside > node) & (inside < tree.end[node]) & (tree.chips.min(axis=1) < spot.stack)
            moving[[child for child in answer if tree.kind[child] == NodeKind.FOLD]] = False
            called = half + float(tree.chips[tree.parent[node]].max())
            stakes[moving] *= called * (1.0 + size / 50.0) / (half + float(tree.chips[node].max()))
            if stakes.max() > half + spot.stack:
                raise GameError(f"a bet of {size:g} % of the pot at {path} is more than the stack")
        self._stakes = stakes

    def payoff(self, state: HoldemState) -> Payoff:
        key, stake = super().payoff(state)
        return Payoff(key, float(np.copysign(self._stakes[state.node], stake)))


def parse_sizes(text: str) -> dict[str, float]:
    """Returns sizes by path from a text such as `r:0:b500=60,r:0:c:b500=75`.

    Raises:
        GameError: it is another text.
    """
    sizes: dict[str, float] = {}
    for part in text.split(","):
        path, equals, size = part.partition("=")
        if not equals or path in sizes:
            raise GameError(f"{shown(part)}: a size is written PATH=PERCENT, as in r:0:b500=60, once for each bet")
        sizes[path] = parse_real(size, f"the size of {path}, in % of the pot,", least=0.0, most=_MOST, error=GameError)
    return sizes
