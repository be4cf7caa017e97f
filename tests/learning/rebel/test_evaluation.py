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

from aleator.learning.rebel.evaluation import even_draws, play_out  # noqa: E402
from aleator.learning.rebel.model import ModelSearch  # noqa: E402
from aleator.learning.rebel.self_play import sample_updates  # noqa: E402
from aleator.learning.rebel.shipped import shipped_model  # noqa: E402
from aleator.learning.rebel.subgames import Subgames  # noqa: E402
from aleator.solvers.engines.batched.forest import Forest  # noqa: E402
from aleator.solvers.engines.batched.parts import search  # noqa: E402
from tests.learning.runs import Nothing  # noqa: E402


class NoLeaves:
    """A value function that must never be asked."""

    def bind(self, forest: object) -> None:
        raise AssertionError("there are no leaves")


def test_with_the_whole_game_as_subgame_play_is_the_average_policy() -> None:
    game = load_game("kuhn")
    tree = build_tree(game)
    subgames = Subgames(game, 10, dtype=torch.float64)
    assert len(subgames.states) == 1
    played = play_out(
        tree,
        subgames,
        NoLeaves(),  # type: ignore[arg-type]
        SEARCH_RULES["cfr-d"],
        updates=60,
        playthroughs=16,
        generator=torch.Generator().manual_seed(0),
    )
    solver = CFR(tree, LCFR)
    solver.run(30)
    average = solver.average_policy()
    for player in (0, 1):
        np.testing.assert_allclose(played.policy.probabilities[player], average.probabilities[player], atol=1e-9)
    assert played.searches == 2 * 16
    assert played.exploitability == pytest.approx(nash_conv(average) / 2, abs=1e-9) and played.error < 1e-9


@pytest.mark.parametrize("rule", ["cfr-d", "fp", "linear-fp"])
def test_a_random_iteration_is_played_where_play_goes_on(rule: str) -> None:
    game = load_game("kuhn")
    tree, subgames, number, last = build_tree(game), Subgames(game, 1, dtype=torch.float64), 4_000, 8
    played = play_out(
        tree,
        subgames,
        Nothing(),
        SEARCH_RULES[rule],
        updates=last,
        playthroughs=number,
        generator=torch.Generator().manual_seed(0),
        chunk=number,
    )
    forest = Forest.build(subgames.shapes, torch.zeros(last, dtype=torch.int64))
    ones = torch.ones((last, subgames.shapes.num_hands), dtype=torch.float64)
    found = search(forest, Nothing(), (ones, ones), SEARCH_RULES[rule], last, torch.arange(last))
    # player 0's policies are played as they are when player 1 is about to be updated
    weights = torch.tensor([0, 1.0, 0, 1, 0, 1, 0, 1]) if rule == "fp" else torch.tensor([0, 1.0, 0, 2, 0, 3, 0, 4])
    # fictitious play acts by the averages up to the iteration that was drawn, which are not pure
    policy = (found.policy if rule == "cfr-d" else found.beliefs_policy)[forest.bounds[1] : forest.bounds[2]]
    expected = torch.einsum("g,gah->ah", weights.double() / weights.sum(), policy.view(last, 2, -1))
    # 4,000 playthroughs are spread evenly over the updates
    np.testing.assert_allclose(played.policy[0], expected, atol=2e-3)


def test_sampled_updates_have_the_weights_of_the_average() -> None:
    draws = (torch.arange(8400, dtype=torch.float64) + 0.5) / 8400

    def shares(**how: float) -> list[float]:
        """Returns how often each of 8 updates is kept."""
        return (torch.bincount(sample_updates(draws, 8, **how), minlength=8) / len(draws)).tolist()  # type: ignore[arg-type]

    # the opponent of player 1 is updated first: player 1's k-th of 4 policies is there after 2 (k - 1) updates, weight
    # k / 10
    assert shares(gamma=1.0, seat=1) == pytest.approx([0.1, 0, 0.2, 0, 0.3, 0, 0.4, 0], abs=1e-3)
    assert shares(gamma=1.0, seat=0) == pytest.approx([0, 0.1, 0, 0.2, 0, 0.3, 0, 0.4], abs=1e-3)
    assert shares(gamma=0.0) == pytest.approx([1 / 8] * 8, abs=1e-3)
    # a warm start that stands for 2 policies, of weights 1 and 2: they are there before the first update, as is the
    # next one
    assert shares(gamma=1.0, seat=1, pretended=2) == pytest.approx([x / 21 for x in (6, 0, 4, 0, 5, 0, 6, 0)], abs=1e-3)
    assert shares(gamma=1.0, seat=0, pretended=2) == pytest.approx([x / 21 for x in (3, 3, 0, 4, 0, 5, 0, 6)], abs=1e-3)


def test_even_draws_are_uniform_and_spread_over_each_group() -> None:
    generator = torch.Generator().manual_seed(0)
    groups = torch.tensor([7, 3, 7, 7, 3, 7] * 100)
    draws = torch.stack([even_draws(groups, generator) for _ in range(300)])
    for group, number in ((7, 400), (3, 200)):
        strata = torch.sort((draws[:, groups == group] * number).long(), dim=1).values
        assert (strata == torch.arange(number)).all(), "one in every stratum"
    assert draws.mean(dim=0) == pytest.approx(torch.full((600,), 0.5).numpy(), abs=5 * 300**-0.5 * 12**-0.5)


def test_the_shipped_network_plays_far_better_than_an_untrained_one() -> None:
    model = shipped_model("liars-dice:1x4")
    found = []
    for trained in (True, False):
        if not trained:
            model.network.initialise(torch.Generator().manual_seed(0))
        searcher = ModelSearch(model)
        found.append(
            play_out(
                build_tree(searcher.game),
                searcher.subgames,
                searcher.leaf_values,
                model.config.rule,
                updates=64,
                playthroughs=32,
                generator=torch.Generator().manual_seed(0),
            )
        )
    # 64 updates and 32 playthroughs are few: the shipped network reaches .006 with 1,024 of each
    assert found[0].exploitability < 0.15 < 0.4 < found[1].exploitability
    assert found[0].error > 0
