"""The policy network at the decisions of subgames: inputs, training examples, the policies it starts with.

Algorithm:
    A decision is told to the network as a public belief state, as for values; the answer has a row of hands for every
    name that an action can have. Examples: the decisions of a searched subgame, at the beliefs that the average
    policies lead to, with what the average policy does there. Start: from the root down, the policy of a decision is
    what the network says at the beliefs that its policies above lead to.

Reference: ReBeL section 5.3, Algorithm 1 ("loop over the PBS at every public state in G"), App. G (linear
    quantization).

Deviations: hands that the average policy never brings to a decision are left out of the loss, because their policy
    there means nothing; so are decisions that the opponent never brings about. Probabilities are kept in 8 bits.

Status: tests/learning/rebel/test_decisions.py.
"""

from __future__ import annotations

import numpy as np
import torch

from aleator.learning.rebel.replay import Examples
from aleator.learning.rebel.subgames import Subgames
from aleator.learning.value_network.encoding import Encoding
from aleator.learning.value_network.networks import PolicyNetwork
from aleator.solvers.engines.batched.engine import Searched
from aleator.solvers.engines.batched.forest import Forest

Tensor = torch.Tensor
STEPS = 255  # of a probability in 8 bits


class Decisions:
    """The public states at which players decide, in all subgames of a game.

    Attributes:
        encoding: of the public states, S of them.
        names: of actions, A of them, in the order of the network's answer.
        legal: [S, A] bool.
    """

    def __init__(self, subgames: Subgames, *, kind: str = "auto") -> None:
        shapes, game = subgames.complete().shapes, subgames.game
        number: dict[object, int] = {}
        action: dict[str, int] = {}
        state = np.zeros(len(shapes.node), dtype=np.int64)
        name = np.zeros(len(shapes.node), dtype=np.int64)
        starts, counts, nodes = shapes.level_start.tolist(), shapes.level_count.tolist(), shapes.node.tolist()
        for shape, tree in enumerate(shapes.trees):
            assert tree is not None
            for start, count in zip(starts[shape], counts[shape], strict=True):
                for index in range(start, start + count):
                    node = nodes[index]
                    if tree.actor[node] >= 0:
                        state[index] = number.setdefault(tree.states[node], len(number))
                    parent = int(tree.parent[node])
                    if parent >= 0 and tree.actor[parent] >= 0:
                        label = game.actions(tree.states[parent])[node - int(tree.first_child[parent])]
                        name[index] = action.setdefault(label, len(action))
        states = list(number)
        self.names = list(action)
        legal = np.array([[label in set(game.actions(at)) for label in self.names] for at in states])
        self.encoding = Encoding(game, states, shapes.num_hands, kind=kind, device=shapes.device, dtype=shapes.dtype)
        self.legal = torch.tensor(legal, device=shapes.device)
        self._state = torch.tensor(state, device=shapes.device)
        self._name = torch.tensor(name, device=shapes.device)

    def ask(self, forest: Forest, rows: Tensor, reach: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Returns inputs [n, size] and legal actions [n, A] at rows [n] where a player decides, given reach [R, H]."""
        state = self._state[forest.template[rows]]
        inputs = self.encoding.encode(state, forest.actor[rows], (reach[0][rows], reach[1][rows]))
        return inputs, self.legal[state]

    def examples(self, searched: Searched) -> Examples:
        """Returns an example for each decision of searched subgames: targets [n, A, H] in steps of a probability."""
        forest, rows = searched.forest, searched.forest.decisions
        hands, device = forest.shapes.num_hands, forest.shapes.device
        reach = _new_reach(forest, searched.root_reach)
        for level in range(1, forest.num_levels):
            _push(forest, level, searched.average, reach)
        inputs, legal = self.ask(forest, rows, reach)
        index = torch.zeros(forest.num_rows, dtype=torch.int64, device=device)
        index[rows] = torch.arange(len(rows), device=device)
        children = forest.moved
        targets = torch.zeros((len(rows) * len(self.names), hands), dtype=torch.uint8, device=device)
        steps = (searched.average[children] * STEPS).round().to(torch.uint8)
        targets[self.answers(forest, children, index)] = steps
        actor, marginal = forest.actor[rows], self.encoding.marginal[self._state[forest.template[rows]]]
        weight = [reach[player][rows] * marginal[:, player] for player in (0, 1)]
        second = (actor == 1)[:, None]
        own, other = torch.where(second, weight[1], weight[0]), torch.where(second, weight[0], weight[1])
        counts = (own > 0) & (other.sum(dim=1, keepdim=True) > 0)
        return Examples(inputs, targets.view(len(rows), -1, hands), legal[:, :, None] & counts[:, None, :])

    def answers(self, forest: Forest, children: Tensor, index: Tensor) -> Tensor:
        """Returns [n] the row of each child in answers [decisions x A, H], given the places [R] of their decisions."""
        return index[forest.parent[children]] * len(self.names) + self._name[forest.template[children]]


class NetworkPolicies:
    """What a policy network says at all decisions of subgames, to start searches with."""

    def __init__(self, network: PolicyNetwork, decisions: Decisions) -> None:
        self.network, self.decisions = network, decisions

    @torch.no_grad()
    def policies(self, forest: Forest, root_reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns [R, H]: the probability of the action into each row, 1 where no player moved into it."""
        hands, bounds = forest.shapes.num_hands, forest.bounds
        reach = _new_reach(forest, root_reach)
        policy = torch.ones_like(reach[0])
        index = torch.zeros(forest.num_rows, dtype=torch.int64, device=policy.device)
        deciding, moved = forest.decisions, forest.moved
        for level in range(forest.num_levels - 1):
            rows = deciding[(deciding >= bounds[level]) & (deciding < bounds[level + 1])]
            if len(rows):
                index[rows] = torch.arange(len(rows), device=policy.device)
                policies = self.network(*self.decisions.ask(forest, rows, reach)).view(-1, hands)
                children = moved[(moved >= bounds[level + 1]) & (moved < bounds[level + 2])]
                policy[children] = policies[self.decisions.answers(forest, children, index)].to(policy.dtype)
            _push(forest, level + 1, policy, reach)
        return policy


def _new_reach(forest: Forest, root_reach: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Returns per player [R, H] the reach at the roots, not yet pushed down."""
    shape = (forest.num_rows, forest.shapes.num_hands)
    first, second = (torch.zeros(shape, dtype=rows.dtype, device=rows.device) for rows in root_reach)
    first[: len(forest.shape)], second[: len(forest.shape)] = root_reach
    return first, second


def _push(forest: Forest, level: int, policy: Tensor, reach: tuple[Tensor, Tensor]) -> None:
    """Pushes both players' reach [R, H] into one level under a policy [R, H]."""
    here = slice(forest.bounds[level], forest.bounds[level + 1])
    for player in (0, 1):
        step = torch.where((forest.mover[here] == player)[:, None], policy[here], 1.0)
        reach[player][here] = reach[player][forest.parent[here]] * step
