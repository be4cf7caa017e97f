"""Traversals of many games in lockstep: external, robust and outcome sampling with any policy.

Algorithm:
    All traversals of a batch go down together, decision by decision; the policy is asked once per decision and batch.
    Chance and the opponent are sampled by their own probabilities. Of the traverser's actions all are explored
    (external), k drawn uniformly (robust), or one drawn by its policy mixed with the uniform one (outcome). On the way
    up an explored action is worth v(a) = (what was found below it) / (the probability of exploring it), any other 0; an
    infostate is worth sum of policy(a) v(a), and has the sampled regrets r(a) = v(a) - that. Each sample comes with a
    weight, 1 / (the probability that the traverser's own actions on the way were explored), which is 1 in external
    sampling.

    Then E[weight * r(I, a); the traversal comes to I] is the counterfactual regret of a at I. The opponent's policies
    on the way are samples of its average policy with the same weights: E[weight; it comes to I] is the opponent's reach
    of I, up to a factor of chance alone.

Reference: thesis 4.1.1, Algorithm 2 and Lemma 11; Lanctot et al. 2009; Double Neural CFR, Eq. 5 and 10 (robust).
Deviations: the weight is kept beside a sample and not multiplied into it, so that targets of networks stay of one size.
Status: unbiased against exact counterfactual regrets, by enumeration: tests/learning/sampled/test_traversal.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch

from aleator.errors import SolveError
from aleator.learning.sampled.play import HistoryBatch, SampledGame
from aleator.learning.seeds import new_generator
from aleator.parsing import check_name
from aleator.solvers.algorithms import rule_of
from aleator.solvers.sampling_rule import EXTERNAL, OUTCOME, ROBUST, SamplingRule

Tensor = torch.Tensor
SCHEMES = (EXTERNAL, ROBUST, OUTCOME)
CHUNK, GPU_CHUNK = 4096, 1 << 17  # traversals at a time: what stays in a cache, and what fills a GPU


class Policies(Protocol):
    """What players do: the one thing that tables and networks have in common here."""

    def probabilities(self, infostates: Tensor) -> Tensor:
        """Returns [n, A]: distributions over the legal actions of some infostates, 0 elsewhere."""


class TablePolicies(Policies):
    """Policies from a table [I, A]."""

    def __init__(self, table: Tensor) -> None:
        self.table = table

    def probabilities(self, infostates: Tensor) -> Tensor:
        """Returns rows of the table."""
        return self.table[infostates]


class Samples(NamedTuple):
    """What traversals found at infostates of one player.

    Attributes:
        infostates: [n].
        targets: [n, A]: sampled regrets, or a policy; 0 for actions past the last.
        weights: [n]: 1 / the probability that the traverser's own actions led there.
    """

    infostates: Tensor
    targets: Tensor
    weights: Tensor


class Traversals(NamedTuple):
    """What a batch of traversals found.

    Attributes:
        regrets: of the traverser.
        policies: of the opponent.
        values: [number]: what the traverser wins, sampled.
        touched: histories that were visited, chance's and terminal ones included.
    """

    regrets: Samples
    policies: Samples
    values: Tensor
    touched: int


class _Level(NamedTuple):
    """One decision of all histories of a batch: n of them go on, which have c children at the next level."""

    number: int
    ended: Tensor
    returns: Tensor
    playing: Tensor
    own: Tensor  # [n] bool: the traverser's
    infostates: Tensor
    legal: Tensor
    policy: Tensor
    weights: Tensor  # [n] of samples
    row: Tensor  # [c] among those that go on
    action: Tensor  # [c]
    factor: Tensor  # [c]: 1 / the probability of having been explored


def parse_sampling(text: str) -> SamplingRule:
    """Returns what to sample: `external`, `robustK` or `outcome`, with `,epsilon=` behind it.

    Raises:
        SolveError: it is something else.
    """
    check_name(text, "a sampling scheme", error=SolveError)
    rule = rule_of(SamplingRule, f"mccfr:{text}")
    plain = SamplingRule(scheme=rule.scheme, actions=rule.actions, exploration=rule.exploration)
    if rule != plain or rule.scheme not in SCHEMES:
        raise SolveError(f"no sampling {text!r}; allowed: external, robustK, outcome[,epsilon=E]")
    return rule


def traverse(
    game: SampledGame,
    policies: Policies,
    traverser: int,
    number: int,
    rule: SamplingRule,
    generator: torch.Generator,
) -> Traversals:
    """Returns what so many traversals find for a player."""
    chunk = CHUNK if game.device.type == "cpu" else GPU_CHUNK
    parts = [
        _traverse(game, policies, traverser, min(chunk, number - begin), rule, generator)
        for begin in range(0, number, chunk)
    ]
    return join_traversals(parts)


class TraversalBlock(NamedTuple):
    """Some traversals with random numbers of their own, so that anybody can make them: for a player, so many, of an
    iteration and block, with a seed."""

    player: int
    number: int
    iteration: int
    block: int
    seed: int


def traverse_block(game: SampledGame, policies: Policies, block: TraversalBlock, rule: SamplingRule) -> Traversals:
    """Returns what a block of traversals finds."""
    generator = new_generator(game.device, block.seed, block.iteration, block.player, block.block)
    return traverse(game, policies, block.player, block.number, rule, generator)


def join_traversals(parts: Sequence[Traversals]) -> Traversals:
    """Returns what several traversals found, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Traversals(
        join_samples([part.regrets for part in parts]),
        join_samples([part.policies for part in parts]),
        torch.cat([part.values for part in parts]),
        sum(part.touched for part in parts),
    )


def _traverse(
    game: SampledGame,
    policies: Policies,
    traverser: int,
    number: int,
    rule: SamplingRule,
    generator: torch.Generator,
) -> Traversals:
    """Does the work of `traverse` for one chunk."""
    histories = game.deal(number, generator)
    weights = torch.ones(number, dtype=torch.float64, device=game.device)
    touched = number + int(game.length(histories).sum())
    levels: list[_Level] = []
    while len(histories.node):
        level, going = _decide(game, policies, histories, weights, traverser, rule, generator)
        levels.append(level)
        before = going.rows(level.row)
        histories = game.act(before, level.action, generator)
        weights = level.weights[level.row] * level.factor
        touched += int((game.length(histories) - game.length(before)).sum())
    values = torch.zeros(0, dtype=torch.float64, device=game.device)
    regrets: list[Samples] = []
    others: list[Samples] = []
    for level in reversed(levels):
        below = torch.zeros_like(level.policy)
        below[level.row, level.action] = values * level.factor
        value = torch.where(level.own, (level.policy * below).sum(dim=1), below.sum(dim=1))
        own, other = level.own.nonzero().squeeze(1), (~level.own).nonzero().squeeze(1)
        regret = (below[own] - value[own, None]) * level.legal[own]
        regrets.append(Samples(level.infostates[own], regret, level.weights[own]))
        others.append(Samples(level.infostates[other], level.policy[other], level.weights[other]))
        values = torch.zeros(level.number, dtype=torch.float64, device=game.device)
        values[level.ended], values[level.playing] = level.returns, value
    return Traversals(join_samples(regrets), join_samples(others), values, touched)


def _decide(
    game: SampledGame,
    policies: Policies,
    histories: HistoryBatch,
    weights: Tensor,
    traverser: int,
    rule: SamplingRule,
    generator: torch.Generator,
) -> tuple[_Level, HistoryBatch]:
    """Returns what is explored at one decision of all histories, and the histories that go on."""
    actor = game.actor(histories)
    playing, ended = (actor >= 0).nonzero().squeeze(1), (actor < 0).nonzero().squeeze(1)
    going = histories.rows(playing)
    infostates = game.infostate(going)
    legal = game.legal(infostates)
    policy = policies.probabilities(infostates).to(torch.float64)
    own = actor[playing] == traverser
    explored = torch.where(own[:, None], legal, False)
    factor = legal.to(torch.float64)
    other = (~own).nonzero().squeeze(1)
    explored[other, draw_actions(policy[other], generator)] = True
    if rule.scheme != EXTERNAL:
        mine = own.nonzero().squeeze(1)
        explored[mine], factor[mine] = _some(policy[mine], legal[mine], rule, generator)
    row, action = explored.nonzero(as_tuple=True)
    level = _Level(
        len(actor), ended, game.returns(histories.rows(ended), traverser), playing, own, infostates, legal, policy,
        weights[playing], row, action, factor[row, action],
    )  # fmt: skip
    return level, going


def _some(policy: Tensor, legal: Tensor, rule: SamplingRule, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Returns which of the traverser's actions are explored [n, A], and 1 / the probability of that for each [n, A]."""
    allowed = legal.sum(dim=1, keepdim=True).to(policy.dtype)
    row, explored = torch.arange(len(legal), device=legal.device), torch.zeros_like(legal)
    if rule.scheme == OUTCOME:
        chances = (1.0 - rule.exploration) * policy + rule.exploration * legal.to(policy.dtype) / allowed
        explored[row, draw_actions(chances, generator)] = True
        return explored, 1.0 / chances.clamp(min=torch.finfo(chances.dtype).tiny)
    for _ in range(min(rule.actions, legal.shape[1])):
        left = legal & ~explored
        some = left.any(dim=1).nonzero().squeeze(1)
        explored[some, draw_actions(left[some].to(policy.dtype), generator)] = True
    return explored, (allowed / allowed.clamp(max=rule.actions)).expand_as(policy)


def draw_actions(weights: Tensor, generator: torch.Generator) -> Tensor:
    """Returns [n]: an action each, drawn in proportion to weights [n, A]."""
    ends = weights.cumsum(dim=1)
    # a little below 1, so that rounding never passes the last action that has some weight
    number = torch.rand(len(weights), 1, generator=generator, dtype=torch.float64, device=weights.device) * (
        1.0 - 1e-12
    )
    return (ends <= number * ends[:, -1:]).sum(dim=1)


def match_regrets(regrets: Tensor, legal: Tensor, *, best: bool) -> Tensor:
    """Returns the policy [n, A] proportional to positive regrets; where there are none the action with the highest one,
    or, unless `best`, all legal ones alike."""
    positive = regrets.clamp(min=0.0) * legal
    total = positive.sum(dim=1, keepdim=True)
    if best:
        highest = regrets.masked_fill(~legal, -torch.inf).argmax(dim=1, keepdim=True)
        otherwise = torch.zeros_like(positive).scatter_(1, highest, 1.0)
    else:
        otherwise = legal / legal.sum(dim=1, keepdim=True).clamp(min=1)
    return torch.where(
        total > 0.0, positive / total.clamp(min=torch.finfo(positive.dtype).tiny), otherwise.to(positive.dtype)
    )


def join_samples(parts: list[Samples]) -> Samples:
    """Returns samples one after the other."""
    infostates, targets, weights = (torch.cat(column) for column in zip(*parts, strict=True))
    return Samples(infostates, targets, weights)
