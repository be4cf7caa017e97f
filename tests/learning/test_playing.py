"""What a search plays in the whole game, and how exploitable that is."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games import load_game
from aleator.solvers.best_response import nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import LCFR
from aleator.solvers.search_rule import SEARCH_RULES
from aleator.trees import build_tree

torch = pytest.importorskip("torch")

from aleator.learning.model import Searcher  # noqa: E402
from aleator.learning.playing import play_out  # noqa: E402
from aleator.learning.rebel import sample_iterations  # noqa: E402
from aleator.learning.shipped import shipped_model  # noqa: E402
from aleator.learning.subgames import Subgames  # noqa: E402
from aleator.solvers.engines.torch.forest import Forest  # noqa: E402
from aleator.solvers.engines.torch.parts import search  # noqa: E402
from tests.learning.runs import Nothing  # noqa: E402


class NoLeaves:
    """A value function that must never be asked."""

    def bind(self, forest: object) -> None:
        raise AssertionError("there are no leaves")


def test_with_the_whole_game_as_subgame_play_is_the_average_policy() -> None:
    game = load_game("kuhn")
    tree = build_tree(game)
    subgames = Subgames(game, 10, dtype=torch.float64)
    assert len(subgames.roots) == 1
    played = play_out(
        tree,
        subgames,
        NoLeaves(),  # type: ignore[arg-type]
        SEARCH_RULES["cfr-d"],
        iterations=60,
        playthroughs=16,
        generator=torch.Generator().manual_seed(0),
    )
    solver = CFR(tree, LCFR)
    solver.run(30)
    average = solver.average_policy()
    for player in (0, 1):
        np.testing.assert_allclose(played.policy.probabilities[player], average.probabilities[player], atol=1e-9)
    assert played.searches == 16
    assert played.exploitability == pytest.approx(nash_conv(average) / 2, abs=1e-9) and played.error < 1e-9


@pytest.mark.parametrize("rule", ["cfr-d", "fp", "linear-fp"])
def test_a_random_iteration_is_played_where_play_goes_on(rule: str) -> None:
    game = load_game("kuhn")
    tree, subgames, number, last = build_tree(game), Subgames(game, 1, dtype=torch.float64), 20_000, 8
    played = play_out(
        tree,
        subgames,
        Nothing(),
        SEARCH_RULES[rule],
        iterations=last,
        playthroughs=number,
        generator=torch.Generator().manual_seed(0),
        chunk=number,
    )
    forest = Forest.build(subgames.shapes, torch.zeros(last, dtype=torch.int64))
    ones = torch.ones((last, subgames.shapes.num_hands), dtype=torch.float64)
    found = search(forest, Nothing(), (ones, ones), SEARCH_RULES[rule], last, torch.arange(last))
    weights = torch.tensor([1.0, 0, 2, 0, 3, 0, 4, 0]) / 10 if rule != "fp" else torch.full((last,), 1 / 8)
    # fictitious play acts by the averages up to the iteration that was drawn, which are not pure
    policy = (found.policy if rule == "cfr-d" else found.beliefs_policy)[forest.bounds[1] : forest.bounds[2]]
    expected = torch.einsum("g,gah->ah", weights.double(), policy.view(last, 2, -1))
    # z = 4 at n = 20,000
    np.testing.assert_allclose(played.policy[0], expected, atol=0.015)


def test_sampled_iterations_have_the_weights_of_the_average() -> None:
    generator = torch.Generator().manual_seed(1)
    draws = sample_iterations(60_000, 8, gamma=1.0, generator=generator, device=torch.device("cpu"))
    counts = torch.bincount(draws, minlength=8).double() / len(draws)
    # the k-th of 4 policies is there after 2 (k - 1) updates and has weight k / 10; z = 4 at n = 60,000
    np.testing.assert_allclose(counts, [0.1, 0, 0.2, 0, 0.3, 0, 0.4, 0], atol=0.008)
    uniform = sample_iterations(60_000, 8, gamma=0.0, generator=generator, device=torch.device("cpu"))
    np.testing.assert_allclose(torch.bincount(uniform, minlength=8).double() / len(uniform), 1 / 8, atol=0.006)
    # a warm start that stands for 2 policies, of weights 1 and 2: they are played by the next one, which has weight 3
    warm = sample_iterations(60_000, 8, gamma=1.0, generator=generator, device=torch.device("cpu"), pretended=2)
    counts = torch.bincount(warm, minlength=8).double() / len(warm)
    np.testing.assert_allclose(counts, np.array([6, 0, 4, 0, 5, 0, 6, 0]) / 21, atol=0.008)


def test_the_shipped_network_plays_far_better_than_an_untrained_one() -> None:
    model = shipped_model("liars-dice:1x4")
    found = []
    for trained in (True, False):
        if not trained:
            model.network.initialise(torch.Generator().manual_seed(0))
        searcher = Searcher(model)
        found.append(
            play_out(
                build_tree(searcher.game),
                searcher.subgames,
                searcher.leaf_values,
                model.config.rule,
                iterations=64,
                playthroughs=32,
                generator=torch.Generator().manual_seed(0),
            )
        )
    # 64 iterations and 32 playthroughs are few: the shipped network reaches .006 with 1,024 of each
    assert found[0].exploitability < 0.15 < 0.4 < found[1].exploitability
    assert found[0].error > 0
