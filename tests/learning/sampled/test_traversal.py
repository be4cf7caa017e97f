"""Sampled regrets are unbiased: by enumeration of all random outcomes, and by statistics in a bigger game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from aleator.errors import SolveError
from aleator.games import load_game
from aleator.games.base import Game
from aleator.learning.sampled import traversal
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.traversal import Samples, TablePolicies, match_regrets, parse_sampling, traverse
from aleator.trees import build_tree
from aleator.trees.policy import Policy, random_policy, uniform_policy
from tests.games.random_game import RandomGame
from tests.solvers.reference import as_blocks, pull, reaches
from tests.solvers.sampling_reference import Draw, all_draws

SCHEMES = ["external", "robust1", "robust2", "outcome", "outcome,epsilon=1"]
NOT_USED: Any = None  # a generator where nothing is drawn from it


class ScriptedPlay(TreePlay):
    """Play whose chance is decided by a function."""

    draw: Draw

    def _pick(self, ends: torch.Tensor, segment: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        found = []
        for number in segment.tolist():
            inside = ((ends > number) & (ends <= number + 1)).nonzero().squeeze(1)
            shares = torch.diff(ends[inside], prepend=torch.tensor([float(number)]))
            found.append(int(inside[0]) + self.draw(shares.tolist()))
        return torch.tensor(found, dtype=torch.int64)


def exact_regrets(policy: Policy, player: int) -> dict[int, np.ndarray]:
    """Returns the counterfactual regrets of a player's decisions, [A, H] each, by recursion."""
    tree, blocks, found = policy.tree, as_blocks(policy), {}

    def choose(node: int, q: np.ndarray) -> np.ndarray:
        values = (blocks[node] * q).sum(axis=0)
        found[node] = q - values
        return values

    pull(tree, player, 0, reaches(tree, blocks, 1 - player), choose)
    return found


def summed(play: TreePlay, samples: Samples) -> torch.Tensor:
    """Returns [I, A]: weights times targets, by infostate."""
    table = torch.zeros(play.num_infostates, play.num_actions, dtype=torch.float64)
    return table.index_add_(0, samples.infostates, samples.targets * samples.weights[:, None])


def by_infostate(play: TreePlay, blocks: dict[int, np.ndarray]) -> torch.Tensor:
    """Returns [I, A]: blocks of decisions by infostate, 0 where an action is not legal."""
    table = torch.zeros(play.num_infostates, play.num_actions, dtype=torch.float64)
    for infostate in range(play.num_infostates):
        node, hand = int(play.node_of[infostate]), int(play.hand_of[infostate])
        if node in blocks:
            table[infostate, : len(blocks[node])] = torch.from_numpy(blocks[node][:, hand].copy())
    return table * play.legal(torch.arange(play.num_infostates))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("game", ["kuhn", RandomGame(3, depth=3)], ids=str)
def test_regrets_and_policies_are_unbiased(scheme: str, game: str | Game[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean over *all* random outcomes is the regret of CFR, and the opponent's reach times its policy."""
    tree = build_tree(load_game(game) if isinstance(game, str) else game)
    play, rule = ScriptedPlay(tree), parse_sampling(scheme)
    policy = random_policy(tree, np.random.default_rng(1))
    policies = TablePolicies(play.table(policy))
    for player in (0, 1):
        regrets = torch.zeros(play.num_infostates, play.num_actions, dtype=torch.float64)
        played, total, value = regrets.clone(), 0.0, 0.0

        def run(draw: Draw, player: int = player) -> traversal.Traversals:
            play.draw = draw
            monkeypatch.setattr(
                traversal,
                "draw_actions",
                lambda weights, generator: torch.tensor([draw(row) for row in weights.tolist()], dtype=torch.int64),
            )
            return traverse(play, policies, player, 1, rule, NOT_USED)

        for chance, found in all_draws(run):
            assert isinstance(found, traversal.Traversals)
            total += chance
            value += chance * float(found.values[0])
            regrets += chance * summed(play, found.regrets)
            played += chance * summed(play, found.policies)
        assert total == pytest.approx(1.0, abs=1e-12)
        exact = by_infostate(play, exact_regrets(policy, player))
        np.testing.assert_allclose(regrets, exact, atol=1e-11)
        assert not exact[play.player_of != player].any()
        own = reaches(tree, as_blocks(policy), 1 - player)
        deals = {node: tree.game.deal(tree.states[node]).sum(axis=player) for node in own}
        blocks = {int(node): policy[int(node)] * own[node] * deals[node] for node in tree.decisions(1 - player)}
        np.testing.assert_allclose(played, by_infostate(play, blocks), atol=1e-11)
        opponent, blocks = reaches(tree, as_blocks(policy), 1 - player), as_blocks(policy)
        cfvs = pull(tree, player, 0, opponent, lambda node, q: (blocks[node] * q).sum(axis=0))  # noqa: B023
        assert value == pytest.approx(sum(cfvs), abs=1e-11)


@pytest.mark.parametrize("scheme", ["external", "robust1", "outcome"])
def test_batches_are_unbiased_in_a_bigger_game(scheme: str) -> None:
    """Leduc, n = 30 batches of 4,000 traversals, seed 3: regrets of what is met in all batches within z = 5.2."""
    tree = build_tree(load_game("leduc"))
    play, generator = TreePlay(tree), torch.Generator().manual_seed(3)
    policy = random_policy(tree, np.random.default_rng(2))
    policies = TablePolicies(play.table(policy))
    found = torch.stack([
        summed(play, traverse(play, policies, 1, 4000, parse_sampling(scheme), generator).regrets) / 4000
        for _ in range(30)
    ])  # fmt: skip
    mean, error = found.mean(dim=0), found.std(dim=0) / 30**0.5
    exact = by_infostate(play, exact_regrets(policy, 1))
    often = (found != 0).all(dim=0)
    assert int(often.sum()) > 150
    np.testing.assert_array_less((mean - exact).abs()[often], 5.2 * error[often])


def test_touched_nodes_are_counted_as_mccfr_counts_them() -> None:
    """Kuhn with uniform policies, a traversal of player 0, counted by hand.

    Root, check and bet; after the bet a terminal; after the check a terminal (1/2) or a bet (1/2), then both answers'
    terminals. So 1 + 2 + 1 + 1 + 1/2 x 2 = 6 nodes on average, n = 20,000, seed 1, z = 4 with variance 1.
    """
    tree = build_tree(load_game("kuhn"))
    play, generator = TreePlay(tree), torch.Generator().manual_seed(1)
    policies = TablePolicies(play.table(uniform_policy(tree)))
    found = traverse(play, policies, 0, 20_000, parse_sampling("external"), generator)
    assert found.touched / 20_000 == pytest.approx(6.0, abs=4 / 20_000**0.5)


def test_chunks_are_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = build_tree(load_game("kuhn"))
    play = TreePlay(tree)
    policies = TablePolicies(play.table(random_policy(tree, np.random.default_rng(0))))
    monkeypatch.setattr(traversal, "CHUNK", 100)
    found = traverse(play, policies, 0, 250, parse_sampling("external"), torch.Generator().manual_seed(0))
    assert len(found.values) == 250
    generator = torch.Generator().manual_seed(0)
    parts = [traverse(play, policies, 0, number, parse_sampling("external"), generator) for number in (100, 100, 50)]
    np.testing.assert_array_equal(found.values, torch.cat([part.values for part in parts]))
    assert found.touched == sum(part.touched for part in parts)


def test_regret_matching() -> None:
    regrets = torch.tensor([[3.0, 1.0, 9.0], [-3.0, -1.0, 5.0], [-2.0, -1.0, -3.0]])
    legal = torch.tensor([[True, True, False], [True, True, False], [True, True, True]])
    expected = [[0.75, 0.25, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    assert match_regrets(regrets, legal, best=True).tolist() == expected
    uniform = match_regrets(regrets, legal, best=False)
    np.testing.assert_allclose(uniform, [[0.75, 0.25, 0.0], [0.5, 0.5, 0.0], [1 / 3] * 3], rtol=1e-6)


@pytest.mark.parametrize(
    "text", ["", "chance", "external,batch=3", "robust0", "often", "outcome,epsilon=2", "external,skip=libratus"]
)
def test_unknown_sampling_is_refused(text: str) -> None:
    if text == "":
        assert parse_sampling(text).scheme == "external"
        return
    with pytest.raises(SolveError):
        parse_sampling(text)
