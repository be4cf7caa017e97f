"""The policy that searching plays in the whole game, for exact evaluation.

Algorithm:
    A playthrough of a seat searches the game's root, draws one update (with its weight in the average), takes the
    policies after it as those of the whole subgame, and goes on in the same way from every leaf with the beliefs that
    they give. So each playthrough is a policy of its seat for the whole game, and an agent that searches plays a
    mixture of them. The mixture of n playthroughs is averaged by reach, which is an ordinary policy, and the
    exploitability of both seats' mixtures is exact; as an estimate of what the agent plays it is too high, since n is
    finite.

    Players are updated in turn. A seat plays the policies of updates at which it was the opponent's turn: the
    opponent's regrets, which bound how far the seat can be exploited, were measured against these policies and what
    follows them at these beliefs. At the other updates the opponent never met what is played below the leaves.

Reference: ReBeL section 6, Algorithm 2 and the caption of Table 2; turns: see `aleator.search.random_iteration`.

Deviations: parts of the game that the seat's sampled policy does not reach are not searched: they have no weight. In
    subgames without leaves the average policy is played, which is what drawing an update plays in expectation. In
    fictitious play the average policy up to the drawn update is played, as in the authors' release: it is what beliefs
    at the leaves follow, where best responses are pure. Updates are drawn evenly among the playthroughs that search at
    the same node, which changes the distribution of none of them, but their mixture is closer to its expectation.

Status: tests/learning/rebel/test_evaluation.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from aleator.games.base import FloatArray
from aleator.learning.rebel.self_play import sample_updates
from aleator.learning.rebel.subgames import Subgames
from aleator.solvers.best_response import nash_conv
from aleator.solvers.engines.batched.engine import BatchedValue, Searched
from aleator.solvers.engines.batched.parts import search
from aleator.solvers.engines.batched.warm_start import WarmStart
from aleator.solvers.search_rule import SearchRule
from aleator.trees.policy import Policy, normalised
from aleator.trees.public_tree import PublicTree

Tensor = torch.Tensor
BLOCKS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """How exploitable sampled play is.

    Attributes:
        exploitability: NashConv / 2 of the mean of all playthroughs.
        error: its standard error, by jackknife over blocks of playthroughs; too large, since without a block draws are
            less even.
        playthroughs: how many there were of each seat.
        searches: how many subgames were searched.
        policy: the mean policy; None where it was not needed in the form of a tree.
    """

    exploitability: float
    error: float
    playthroughs: int
    searches: int
    policy: Policy | None


class _Frontier(NamedTuple):
    """Subgames [n] waiting to be searched for a seat.

    Attributes:
        root: [n] numbers of the subgames.
        node: [n] nodes in the whole tree.
        block: [n] of the playthrough.
        play: [n, H] the seat's reach by what it plays.
        belief: per player [n, H], the reach that is believed.
    """

    root: Tensor
    node: Tensor
    block: Tensor
    play: Tensor
    belief: tuple[Tensor, Tensor]

    def chunks(self, size: int) -> list[_Frontier]:
        """Returns the subgames in chunks, those of equal shape together."""
        return [self.take(part) for part in torch.split(torch.argsort(self.root, stable=True), size)]

    def take(self, places: Tensor) -> _Frontier:
        """Returns some of the subgames."""
        first, second = self.belief
        return _Frontier(
            self.root[places], self.node[places], self.block[places], self.play[places], (first[places], second[places])
        )


def even_draws(groups: Tensor, generator: torch.Generator) -> Tensor:
    """Returns [n] numbers in [0, 1), each uniformly distributed, those of equal `groups` [n] evenly spread."""
    options: dict[str, Any] = {"generator": generator, "device": groups.device, "dtype": torch.float64}
    order = torch.argsort(groups + torch.rand(len(groups), **options))
    _, group, count = torch.unique(groups, return_inverse=True, return_counts=True)
    index = torch.empty_like(order)
    index[order] = torch.arange(len(groups), device=groups.device)
    rank = index - (count.cumsum(0) - count)[group]
    draws: Tensor = (rank + torch.rand(len(groups), **options)) / count[group]
    return draws


def play_out(
    tree: PublicTree,
    subgames: Subgames,
    leaf_values: BatchedValue,
    rule: SearchRule,
    *,
    updates: int,
    playthroughs: int,
    generator: torch.Generator,
    start: WarmStart | None = None,
    chunk: int = 4096,
    on_progress: Callable[[int], None] | None = None,
) -> Played:
    """Returns the mean policy of sampled playthroughs of the whole game and its exploitability.

    Args:
        tree: the whole game.
        subgames: its subgames.
        leaf_values: the value function at their leaves.
        rule: how they are solved.
        updates: of one player each, in a search.
        playthroughs: how many of each seat.
        generator: randomness, on the device of the subgames.
        start: policies to begin searches with; None for uniform ones.
        chunk: how many subgames are searched together.
        on_progress: told the number of searches so far.
    """
    if playthroughs < BLOCKS:
        raise ValueError(f"an error estimate needs at least {BLOCKS} playthroughs, not {playthroughs}")
    shapes = subgames.shapes
    device, hands = shapes.device, shapes.num_hands
    first_child = torch.tensor(tree.first_child, dtype=torch.int64, device=device)
    sums = torch.zeros((BLOCKS, tree.num_nodes, hands), dtype=torch.float64, device=device)
    zeros = torch.zeros(playthroughs, dtype=torch.int64, device=device)
    ones = torch.ones((playthroughs, hands), dtype=shapes.dtype, device=device)
    block = torch.arange(playthroughs, device=device) * BLOCKS // playthroughs
    searches = 0
    for seat in (0, 1):
        waiting: _Frontier | None = _Frontier(zeros, zeros, block, ones, (ones, ones))
        while waiting:
            following = []
            for part in waiting.chunks(chunk):
                keep = sample_updates(
                    even_draws(part.node, generator),
                    updates,
                    gamma=rule.gamma,
                    seat=seat,
                    pretended=start.updates if start else 0,
                )
                forest = subgames.forest(part.root)
                searched = search(forest, leaf_values, part.belief, rule, updates, keep, start)
                acting = searched.beliefs_policy if rule.fictitious else searched.policy
                following.append(_collect(searched, acting, part, seat, sums, first_child))
                searches += len(part.root)
                if on_progress:
                    on_progress(searches)
            waiting = _join([part for part in following if len(part.root)])
    blocks = sums.cpu().numpy()
    mean = _policy(tree, blocks.sum(axis=0))
    exploitability = nash_conv(mean) / 2
    others = np.array([nash_conv(_policy(tree, blocks.sum(axis=0) - without)) / 2 for without in blocks])
    error = float(np.sqrt((BLOCKS - 1) / BLOCKS * ((others - others.mean()) ** 2).sum()))
    return Played(exploitability=exploitability, error=error, playthroughs=playthroughs, searches=searches, policy=mean)


def _join(parts: list[_Frontier]) -> _Frontier | None:
    """Returns several frontiers as one."""
    if not parts:
        return None
    *columns, beliefs = zip(*parts, strict=True)
    root, node, block, play = (torch.cat(column) for column in columns)
    first, second = (torch.cat(column) for column in zip(*beliefs, strict=True))
    return _Frontier(root, node, block, play, (first, second))


def _collect(
    searched: Searched, acting: Tensor, part: _Frontier, seat: int, sums: Tensor, first_child: Tensor
) -> _Frontier:
    """Adds a seat's reach of actions by policies `acting` [R, H] to `sums` [blocks, N, H]; returns that at leaves."""
    forest, shapes = searched.forest, searched.forest.shapes
    rows, roots = forest.num_rows, len(part.node)
    goes_on = torch.zeros(roots, dtype=torch.bool, device=shapes.device)
    goes_on[forest.subgame[forest.leaves]] = True
    acting = torch.where(goes_on[forest.subgame][:, None], acting, searched.average)
    node = torch.zeros(rows, dtype=torch.int64, device=shapes.device)
    play, *belief = (torch.zeros((rows, shapes.num_hands), dtype=shapes.dtype, device=shapes.device) for _ in range(3))
    node[:roots], play[:roots] = part.node, part.play
    for player in (0, 1):
        belief[player][:roots] = part.belief[player]
    for level in range(1, forest.num_levels):
        here = slice(forest.bounds[level], forest.bounds[level + 1])
        parent, mover = forest.parent[here], forest.mover[here][:, None]
        node[here] = first_child[node[parent]] + shapes.slot[forest.template[here]]
        play[here] = play[parent] * torch.where(mover == seat, acting[here], 1.0)
        for player in (0, 1):
            belief[player][here] = belief[player][parent] * torch.where(
                mover == player, searched.beliefs_policy[here], 1.0
            )
    below = torch.arange(forest.bounds[1], rows, device=shapes.device)
    below = below[forest.mover[below] == seat]
    flat = part.block[forest.subgame[below]] * sums.shape[1] + node[below]
    sums.view(-1, shapes.num_hands).index_add_(0, flat, play[below].to(sums.dtype))
    leaves = forest.leaves
    leaves = leaves[play[leaves].amax(dim=1) > 0]
    beliefs = []
    for player in (0, 1):
        scale = belief[player][leaves].amax(dim=1, keepdim=True)
        beliefs.append(torch.where(scale > 0, belief[player][leaves] / scale, 1.0))
    return _Frontier(
        shapes.leaf[forest.template[leaves]],
        node[leaves],
        part.block[forest.subgame[leaves]],
        play[leaves],
        (beliefs[0], beliefs[1]),
    )


def _policy(tree: PublicTree, sums: FloatArray) -> Policy:
    """Returns the policy whose reach is summed per action in `sums` [N, H], the row being the node after the action."""
    vectors: tuple[FloatArray, FloatArray] = (np.zeros(tree.policy_size[0]), np.zeros(tree.policy_size[1]))
    for player in (0, 1):
        for node in tree.decisions(player):
            start, hands = tree.policy_start[node], tree.num_hands[player, node]
            block = sums[tree.first_child[node] : tree.first_child[node] + tree.num_children[node], :hands]
            vectors[player][start : start + block.size] = block.ravel()
    return normalised(tree, vectors)
