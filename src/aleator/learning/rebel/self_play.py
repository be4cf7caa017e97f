"""ReBeL's self-play: thousands of games at once, each a sequence of searches.

Algorithm:
    Each game stands at a public belief state. All of them are searched together with the value network at the leaves;
    the root's values become a training example for each player, and the average policies, if wanted, examples for a
    policy network, with which searches can start; a leaf is sampled from the policies after a random update, one
    player exploring, and the game goes on from the public belief state there, or begins anew when it is over.

Reference: ReBeL Algorithm 1 and 2, section 5.2 and 5.3, App. G.

Deviations:
    Hands are drawn from the beliefs in order to sample the next actions; the paper samples actions from the public's
    view, which has the same distribution. In fictitious play the paper draws who acts by the best response, the other
    by the average; here it is the explorer. Where the explorer takes an action that no hand of its policy takes, its
    belief begins anew from chance alone.

Status: tests/learning/rebel/test_self_play.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from aleator.learning.rebel.decisions import Decisions
from aleator.learning.rebel.replay import Examples
from aleator.learning.rebel.subgames import Subgames
from aleator.solvers.engines.batched.engine import BatchedValue, Searched
from aleator.solvers.engines.batched.operators import draw
from aleator.solvers.engines.batched.parts import search
from aleator.solvers.engines.batched.warm_start import WarmStart
from aleator.solvers.search_rule import SearchRule

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayConfig:
    """How self-play explores.

    Attributes:
        games: games played at the same time.
        exploration: probability of a random action of the exploring player.
        linear_sampling: sample later updates more often, in proportion to their weight in the average; else uniformly.
        random_beliefs: instead of playing on, draw a subgame and beliefs at random.
    """

    games: int = 64
    exploration: float = 0.25
    linear_sampling: bool = False
    random_beliefs: bool = False

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"self-play needs at least 1 game, not {self.games}")
        if not 0.0 <= self.exploration <= 1.0:
            raise ValueError(f"exploration must be a probability, not {self.exploration}")


class SelfPlayed(NamedTuple):
    """What searches teach: the value network by their roots, a policy network by all of their decisions."""

    values: Examples
    policies: Examples | None


def sample_updates(draws: Tensor, updates: int, *, gamma: float, seat: int | None = None, pretended: int = 0) -> Tensor:
    """Returns [n] updates to keep, so that the kept policies of a seat have the average as mean.

    The k-th policy that the opponent was updated against has weight k^gamma. Player 0 is updated first: player 1's k-th
    policy is there after 2 (k - 1) updates, when player 0 is about to answer it; player 0's after one more.

    Args:
        draws: [n] numbers in [0, 1), uniformly distributed.
        updates: of one player each, in a search.
        gamma: exponent of the weights; 0 for equal ones.
        seat: whose policies are to be played; None for both alike.
        pretended: updates of each player that a warm start stands for; its policies are there before the first update.
    """
    each = max(updates // 2, 1)
    steps = torch.arange(2 * (pretended + each), device=draws.device)  # players are updated in turn
    chances = (steps // 2 + 1).double() ** gamma
    if seat is not None:
        chances[seat::2] = 0.0
    drawn = torch.searchsorted(chances.cumsum(0) / chances.sum(), draws.double(), right=True)
    return (drawn.clamp(max=len(steps) - 1) - 2 * pretended).clamp(min=0)


class SelfPlay:
    """Games in progress. `play` moves each of them one search further and returns the examples."""

    def __init__(
        self,
        subgames: Subgames,
        rule: SearchRule,
        updates: int,
        config: SelfPlayConfig,
        generator: torch.Generator,
        decisions: Decisions | None = None,
    ) -> None:
        """Begins all games.

        Args:
            subgames: the subgames of the game.
            rule: how subgames are solved.
            updates: of one player each, in a search.
            config: how many games, how they explore.
            generator: randomness, on the device of the subgames.
            decisions: of the subgames, if a policy network learns from them.
        """
        self.decisions = decisions
        self.subgames, self.config = subgames, config
        self.rule, self.updates, self.generator = rule, updates, generator
        shapes = subgames.shapes
        rule.check(subgames.game.name, shapes.num_hands)
        if config.random_beliefs:
            subgames.complete()
        self.root = torch.zeros(config.games, dtype=torch.int64, device=shapes.device)
        ones = torch.ones((config.games, shapes.num_hands), dtype=shapes.dtype, device=shapes.device)
        self.reach = (ones, ones.clone())

    def play(self, leaf_values: BatchedValue, start: WarmStart | None = None) -> SelfPlayed:
        """Searches every game's subgame, moves on, and returns examples: of values two per search."""
        forest = self.subgames.forest(self.root)
        device = forest.shapes.device
        keep = sample_updates(
            torch.rand(len(self.root), generator=self.generator, device=device, dtype=torch.float64),
            self.updates,
            gamma=self.rule.gamma if self.config.linear_sampling else 0.0,
            pretended=start.updates if start and self.config.linear_sampling else 0,
        )
        searched = search(forest, leaf_values, self.reach, self.rule, self.updates, keep, start)
        examples = SelfPlayed(self._examples(searched), self.decisions.examples(searched) if self.decisions else None)
        if self.config.random_beliefs:
            self.root, self.reach = self._anywhere()
        else:
            explorer = torch.randint(2, (len(self.root),), generator=self.generator, device=device)
            self.root, self.reach = self._move_on(searched, explorer)
        return examples

    def forget(self) -> None:
        """Lets go of subgames that no game stands at, once there are too many to remember them all."""
        self.root = self.subgames.forget(self.root)

    def _anywhere(self) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Returns random roots [G] with beliefs [G, H] drawn uniformly from all distributions."""
        root, shapes = self.root, self.subgames.shapes
        number = torch.randint(len(self.subgames.states), root.shape, generator=self.generator, device=root.device)
        draws = [
            torch.rand((len(root), shapes.num_hands), generator=self.generator, device=root.device, dtype=shapes.dtype)
            for _ in (0, 1)
        ]
        first, second = (-torch.log(draw.clamp(min=1e-12)) for draw in draws)
        return number, (first, second)

    def _examples(self, searched: Searched) -> Examples:
        """Returns the root's public belief state with its values, once for each player."""
        encoding = self.subgames.encoding
        inputs = [encoding.encode(self.root, player, self.reach) for player in (0, 1)]
        masks = [encoding.marginal[self.root, player] > 0 for player in (0, 1)]
        return Examples(torch.cat(inputs), torch.cat(searched.values), torch.cat(masks))

    def _move_on(self, searched: Searched, explorer: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Returns the next root [G] and reach [G, H] of each game."""
        others = searched.beliefs_policy if self.rule.fictitious else searched.policy
        path = sample_path(searched, others, explorer, self.config.exploration, self.generator)
        forest = searched.forest
        leaf = forest.shapes.leaf[forest.template[path.row]]
        over = leaf < 0
        reach = []
        for player in (0, 1):
            scale = path.reach[player].amax(dim=1, keepdim=True)
            fresh = over[:, None] | (scale <= 0)
            reach.append(torch.where(fresh, 1.0, path.reach[player] / scale))
        return leaf.clamp(min=0), (reach[0], reach[1])


class SampledPath(NamedTuple):
    """Where sampled play of a subgame ended: row [G], and per player the reach [G, H] that beliefs there follow."""

    row: Tensor
    reach: tuple[Tensor, Tensor]


def sample_path(
    searched: Searched, others: Tensor, explorer: Tensor, exploration: float, generator: torch.Generator
) -> SampledPath:
    """Plays each subgame once by its kept policies.

    Args:
        searched: the subgames, G of them.
        others: [R, H] policies by which players act who do not explore.
        explorer: [G] the player who takes random actions.
        exploration: how often.
        generator: randomness.
    """
    forest, shapes = searched.forest, searched.forest.shapes
    device = shapes.device

    def uniform(number: int) -> Tensor:
        return torch.rand(number, generator=generator, device=device, dtype=shapes.dtype)

    first, second = searched.root_reach
    dealt = forest.root_deals.sample((first, second), uniform(len(first)))
    row = torch.arange(len(forest.shape), device=device)
    reach = [first, second]
    slots = torch.arange(shapes.max_actions, device=device)
    for _ in range(forest.num_levels - 1):
        actor, count = forest.actor[row], forest.num_children[row]
        exists = slots < count[:, None]
        child = torch.where(exists, forest.first_child[row][:, None] + slots, 0)
        deal = shapes.matrices[shapes.deal[forest.template[child]].clamp(min=0), dealt[0][:, None], dealt[1][:, None]]
        held = torch.where(actor == 1, dealt[1], dealt[0])
        explores = (actor == explorer)[:, None]
        policy = torch.where(explores, searched.policy[child, held[:, None]], others[child, held[:, None]])
        weight = torch.where(actor[:, None] < 0, deal, policy)
        wild = torch.rand(len(row), generator=generator, device=device) < exploration
        weight = torch.where(explores & wild[:, None], 1.0, weight)
        ends = torch.where(exists, weight, 0.0).cumsum(dim=1)
        chosen = child.gather(1, draw(ends, uniform(len(row)) * ends[:, -1])[:, None])[:, 0]
        for player in (0, 1):
            acted = ((actor == player) & (count > 0))[:, None]
            reach[player] = torch.where(acted, reach[player] * searched.beliefs_policy[chosen], reach[player])
        row = torch.where(count > 0, chosen, row)
    return SampledPath(row, (reach[0], reach[1]))
