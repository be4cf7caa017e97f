"""Networks in a single subgame, for searches on the CPU engine (`aleator.search`): values of leaves, first policies."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch

from aleator.errors import SolveError
from aleator.games.base import FloatArray, Game
from aleator.learning.rebel.model import Model, ModelSearch
from aleator.learning.value_network.numba_leaves import BoundNumbaLeaves
from aleator.learning.value_network.numba_network import NumbaNetwork
from aleator.search.random_iteration import SearchStart
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy, block, normalised
from aleator.trees.subgame import Subgame


class _Leaves(NamedTuple):
    """The leaves of a subgame: what the network says about them, and the chance of each pair of hands [L, H0, H1]."""

    values: BoundNumbaLeaves
    deal: FloatArray


class NetworkStart:
    """A `StartPolicy`: what the policy network of a model says."""

    def __init__(self, searcher: ModelSearch) -> None:
        self._searcher = searcher

    def policy(self, subgame: Subgame, root_reach: Reach) -> Policy:
        """Returns a policy on the subgame's tree; see `StartPolicy.policy`."""
        subgames, start, tree = self._searcher.subgames, self._searcher.warm_start, subgame.tree
        assert start is not None
        shapes = subgames.shapes
        forest = subgames.forest(torch.tensor([shapes.number[tree.states[0]]]))
        reach = [torch.zeros((1, shapes.num_hands)) for _ in (0, 1)]
        for player in (0, 1):
            reach[player][0, : len(root_reach[player])] = torch.from_numpy(root_reach[player])
        rows = np.zeros((tree.num_nodes, shapes.num_hands))
        rows[shapes.node[forest.template].numpy()] = start.source.policies(forest, (reach[0], reach[1])).numpy()
        vectors: tuple[FloatArray, FloatArray] = (np.zeros(tree.policy_size[0]), np.zeros(tree.policy_size[1]))
        for node in np.flatnonzero(tree.actor >= 0):
            here, first = block(tree, vectors, int(node)), int(tree.first_child[node])
            here[:] = rows[first : first + len(here), : here.shape[1]]
        return normalised(tree, vectors)


class NetworkValue:
    """A `LeafValue`: what the network says, weighted by the opponent's reach and chance.

    Attributes:
        start: what searches start with, if the model has a policy network that its training started with, too.
    """

    def __init__(self, model: Model, game: Game[Any] | None = None) -> None:
        searcher = ModelSearch(model, game)
        self.start = SearchStart(NetworkStart(searcher), searcher.warm_start.updates) if searcher.warm_start else None
        self.game, self.encoding, self.network = searcher.game, searcher.subgames.encoding, NumbaNetwork(model.network)
        self._hands = model.network.num_hands
        self._known: WeakKeyDictionary[Subgame, _Leaves] = WeakKeyDictionary()

    def cfvs(self, subgame: Subgame, reach: Reach, player: int | None = None) -> Reach:
        """Returns both players' cfvs [L, H0], [L, H1], zeros for a player not asked for; see `LeafValue.cfvs`."""
        if subgame not in self._known:
            self._known[subgame] = self._prepare(subgame)
        values, deal = self._known[subgame]
        cfvs = (np.zeros_like(reach[0]), np.zeros_like(reach[1]))
        for asked in (0, 1) if player is None else (player,):
            chance = (
                np.matmul(deal, reach[1][:, :, None])[:, :, 0]
                if asked == 0
                else np.matmul(reach[0][:, None, :], deal)[:, 0, :]
            )
            said = values.values(asked, (_padded(reach[0], self._hands), _padded(reach[1], self._hands)))
            np.multiply(said[:, : chance.shape[1]], chance, out=cfvs[asked])
        return cfvs

    def _prepare(self, subgame: Subgame) -> _Leaves:
        if subgame.tree.game.name != self.game.name:
            raise SolveError(
                f"the network was trained for subgames of {self.game.name}; it does not know {subgame.tree.game.name}"
            )
        states = [subgame.tree.states[leaf] for leaf in subgame.leaves]
        rows = np.arange(len(states))
        return _Leaves(
            BoundNumbaLeaves(self.network, self.encoding.of(states), torch.from_numpy(rows), rows),
            np.stack([self.game.deal(state) for state in states]),
        )


def _padded(reach: FloatArray, hands: int) -> FloatArray:
    """Returns [L, hands]: zeros for hands that only the other player has."""
    missing = hands - reach.shape[1]
    return np.pad(reach, ((0, 0), (0, missing))) if missing else reach
