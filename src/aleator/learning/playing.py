"""The policy that searching plays in the whole game, for exact evaluation.

Algorithm:
    A playthrough searches the game's root, draws one iteration (with its weight in the average), takes that iteration's
    policies as the policies of the whole subgame, and goes on in the same way from every leaf with the beliefs that they
    give. So each playthrough is a policy for the whole game, and an agent that searches plays a mixture of them. The
    mixture of n playthroughs is averaged by reach, which is an ordinary policy, and its exploitability is exact; as
    an estimate of what the agent plays it is too high, since n is finite.

Reference: ReBeL section 6, Algorithm 2 and the caption of Table 2.

Deviations: parts of the game that neither player's sampled policy reaches are not searched: they have no weight. In subgames
    without leaves the average policy is played, which is what drawing an iteration plays in expectation. In fictitious play
    the average policy up to the drawn iteration is played, as in the authors' release: it is what beliefs at the leaves
    follow, where best responses are pure.

Status: tests/learning/test_playing.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from aleator.games.base import FloatArray
from aleator.learning.rebel import sample_iterations
from aleator.learning.subgames import Subgames
from aleator.solvers.best_response import nash_conv
from aleator.solvers.engines.torch.engine import LeafValues, Searched
from aleator.solvers.engines.torch.forest import Forest
from aleator.solvers.engines.torch.parts import search
from aleator.solvers.engines.torch.warm_start import WarmStart
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
        error: its standard error, by jackknife over blocks of playthroughs.
        playthroughs: how many there were.
        searches: how many subgames were searched.
        policy: the mean policy; None where it was not needed in the form of a tree.
    """

    exploitability: float
    error: float
    playthroughs: int
    searches: int
    policy: Policy | None


class _Frontier:
    """Subgames waiting to be searched: number, node in the whole tree, block, and per player reach of play and beliefs."""

    def __init__(self, root: Tensor, node: Tensor, block: Tensor, play: list[Tensor], belief: list[Tensor]) -> None:
        self.root, self.node, self.block, self.play, self.belief = root, node, block, play, belief

    def chunks(self, size: int) -> list[_Frontier]:
        """Returns the subgames in chunks, those of equal shape together."""
        order = torch.argsort(self.root, stable=True)
        return [self.take(part) for part in torch.split(order, size)]

    def take(self, places: Tensor) -> _Frontier:
        """Returns some of the subgames."""
        return _Frontier(
            self.root[places],
            self.node[places],
            self.block[places],
            [reach[places] for reach in self.play],
            [reach[places] for reach in self.belief],
        )


def play_out(
    tree: PublicTree,
    subgames: Subgames,
    leaf_values: LeafValues,
    rule: SearchRule,
    *,
    iterations: int,
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
        iterations: updates of one player in a search.
        playthroughs: how many.
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
    waiting, searches = [_Frontier(zeros, zeros, block, [ones, ones], [ones, ones])], 0
    while waiting:
        following = []
        for part in waiting.pop().chunks(chunk):
            forest = Forest.build(shapes, part.root)
            pretended = start.updates if start else 0
            keep = sample_iterations(
                len(part.root), iterations, gamma=rule.gamma, generator=generator, device=device, pretended=pretended
            )
            found = search(forest, leaf_values, (part.belief[0], part.belief[1]), rule, iterations, keep, start)
            acting = found.beliefs_policy if rule.fictitious else found.policy
            following.append(_collect(found, acting, part, sums, first_child, subgames.next))
            searches += len(part.root)
            if on_progress:
                on_progress(searches)
        whole = _join([part for part in following if len(part.root)])
        if whole:
            waiting.append(whole)
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
    return _Frontier(
        torch.cat([part.root for part in parts]),
        torch.cat([part.node for part in parts]),
        torch.cat([part.block for part in parts]),
        [torch.cat([part.play[player] for part in parts]) for player in (0, 1)],
        [torch.cat([part.belief[player] for part in parts]) for player in (0, 1)],
    )


def _collect(
    found: Searched, acting: Tensor, part: _Frontier, sums: Tensor, first_child: Tensor, next_root: Tensor
) -> _Frontier:
    """Adds the reach of every action of the policies `acting` [R, H] to `sums` [blocks, N, H]; returns what follows at leaves."""
    forest, shapes = found.forest, found.forest.shapes
    rows = forest.num_rows
    goes_on = torch.zeros(len(part.node), dtype=torch.bool, device=shapes.device)
    goes_on[forest.subgame[forest.leaves]] = True
    acting = torch.where(goes_on[forest.subgame][:, None], acting, found.average)
    node = torch.zeros(rows, dtype=torch.int64, device=shapes.device)
    node[: len(part.node)] = part.node
    play, belief = (
        [torch.zeros((rows, shapes.num_hands), dtype=shapes.dtype, device=shapes.device) for _ in (0, 1)]
        for _ in (0, 1)
    )
    for player in (0, 1):
        play[player][: len(part.node)], belief[player][: len(part.node)] = part.play[player], part.belief[player]
    for level in range(1, forest.num_levels):
        here = slice(forest.bounds[level], forest.bounds[level + 1])
        parent, mover = forest.parent[here], forest.mover[here][:, None]
        node[here] = first_child[node[parent]] + shapes.slot[forest.template[here]]
        for player in (0, 1):
            acted = mover == player
            play[player][here] = play[player][parent] * torch.where(acted, acting[here], 1.0)
            belief[player][here] = belief[player][parent] * torch.where(acted, found.beliefs_policy[here], 1.0)
    below = torch.arange(forest.bounds[1], rows, device=shapes.device)
    mover = forest.mover[below]
    reach = torch.where((mover == 1)[:, None], play[1][below], play[0][below]) * (mover >= 0)[:, None]
    flat = part.block[forest.subgame[below]] * sums.shape[1] + node[below]
    sums.view(-1, shapes.num_hands).index_add_(0, flat, reach.to(sums.dtype))
    leaves = forest.leaves
    leaves = leaves[(play[0][leaves].amax(dim=1) > 0) | (play[1][leaves].amax(dim=1) > 0)]
    beliefs = []
    for player in (0, 1):
        scale = belief[player][leaves].amax(dim=1, keepdim=True)
        beliefs.append(torch.where(scale > 0, belief[player][leaves] / scale, 1.0))
    return _Frontier(
        next_root[shapes.leaf[forest.template[leaves]]],
        node[leaves],
        part.block[forest.subgame[leaves]],
        [play[player][leaves] for player in (0, 1)],
        beliefs,
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
