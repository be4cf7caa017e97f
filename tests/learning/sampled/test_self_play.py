"""What comes of games is what the rules say, on a tree and in lockstep."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aleator.games import load_game
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.self_play import Played, Players, play_in_lockstep, play_on_tree
from aleator.learning.sampled.traversal import TablePolicies
from aleator.trees import build_tree

Play = Callable[[TreePlay, Players, int, torch.Generator], Played]
WAYS = [play_on_tree, play_in_lockstep]


def players(play: TreePlay, *, anticipatory: float, epsilon: float = 0.06) -> Players:
    """Returns players of random policies, with seed 0."""
    generator = torch.Generator().manual_seed(0)
    legal = play.legal(torch.arange(play.num_infostates))
    weights = torch.rand(legal.shape, generator=generator, dtype=torch.float64) * legal
    highest = weights.argmax(dim=1, keepdim=True)
    best = torch.zeros_like(weights).scatter_(1, highest, 1.0)
    average = weights / weights.sum(dim=1, keepdim=True).clamp(min=1e-9)
    return Players(TablePolicies(best), TablePolicies(average), anticipatory, epsilon)


def play_of(name: str) -> TreePlay:
    return TreePlay(build_tree(load_game(name)))


@pytest.mark.parametrize("way", WAYS)
def test_transitions_are_those_of_the_game(way: Play) -> None:
    """Kuhn, 2,000 games, seed 0: who checks and is bet into decides again, nobody else does; rewards are payoffs."""
    play = play_of("kuhn")
    found, best, nodes = way(play, players(play, anticipatory=0.1), 2000, torch.Generator().manual_seed(0))
    tree, again = play.tree, found.following >= 0
    node, following = play.node_of[found.infostates], play.node_of[found.following.clamp(min=0)]
    assert 100 < int(found.number[again].sum()) < 1900
    assert set(node[again].tolist()) == {0} and set(following[again].tolist()) == {tree.find(["check", "bet"])}
    assert (found.actions[again] == 0).all() and (found.rewards[again] == 0).all()
    assert (play.hand_of[found.infostates[again]] == play.hand_of[found.following[again]]).all()
    chips = found.rewards * play.bound() / found.number
    folds = (node == tree.find(["bet"])) & (found.actions == 0)
    assert (chips[folds] == -1.0).all() and bool(folds.any())
    # a king never loses at a showdown: who bets with it wins the ante or two
    king = ~again & (play.hand_of[found.infostates] == 2) & (found.actions == 1)
    assert bool((chips[king] >= 1.0).all()) and float(chips.abs().max()) <= 2.0
    decisions = float(found.number.sum())
    share = float(best.weights.sum()) / decisions
    assert share == pytest.approx(0.1, abs=4 * (0.09 / 2000) ** 0.5), "eta of the players act by their best response"
    assert nodes == 2000 + decisions, "the deals, and a node after every decision"


@pytest.mark.parametrize("name", ["leduc", "liars-dice:1x3", "goofspiel:3"])
def test_both_ways_find_the_same(name: str) -> None:
    """40,000 games each, seeds 1 and 2: counts of every kind of transition differ by less than 5 standard errors."""
    play = play_of(name)
    sums = []
    for way, seed in zip(WAYS, (1, 2), strict=True):
        acting = players(play, anticipatory=0.3)
        found, best, nodes = way(play, acting, 40_000, torch.Generator().manual_seed(seed))
        kind = (found.infostates * play.num_actions + found.actions) * (play.num_infostates + 1) + found.following + 1
        most = play.num_infostates * play.num_actions * (play.num_infostates + 1)
        number, rewards = (
            torch.bincount(kind, weights=column, minlength=most) for column in (found.number, found.rewards)
        )
        met = torch.zeros(play.num_infostates, dtype=torch.float64).index_add_(0, best.infostates, best.weights)
        targets = torch.zeros((play.num_infostates, play.num_actions), dtype=torch.float64)
        targets.index_add_(0, best.infostates, best.targets * best.weights[:, None])
        assert torch.equal(targets, acting.best.probabilities(torch.arange(play.num_infostates)) * met[:, None])
        sums.append((number, rewards, met, nodes))
    (number, rewards, met, nodes), (number_too, rewards_too, met_too, nodes_too) = sums
    for one, other in ((number, number_too), (met, met_too)):
        assert int((one > 0).sum()) > 10
        assert bool(((one - other).abs() <= 5 * (one + other).sqrt()).all())
    won = [float(column.square().sum()) for column in (rewards, rewards_too)]
    assert won[0] == pytest.approx(won[1], rel=0.1) and won[0] > 0
    assert nodes == pytest.approx(nodes_too, rel=0.02)
