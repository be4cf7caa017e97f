"""Public walks over flop hold'em, beside the exact engine and beside traversals of single deals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.game import WholeHoldemGame
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.learning.run_files import RunPace
from aleator.learning.sampled.board_asks import ask_network, ask_policies
from aleator.learning.sampled.board_mixture import BoardMixture
from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.board_walk import BoardWalk, Cards, PlayerPolicy
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import DeepCfrConfig
from aleator.learning.sampled.matching import Matching, regret_policies
from aleator.learning.sampled.methods import METHODS
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.network_trainer import average_policies
from aleator.learning.sampled.run import SampledRun, train_sampled
from aleator.learning.sampled.traversal import Policies, match_regrets, parse_sampling, traverse

Tensor = torch.Tensor


class _Uneven(Policies):
    """Policies that depend on hands."""

    def __init__(self, play: BoardPlay) -> None:
        self._play = play

    def probabilities(self, infostates: Tensor) -> Tensor:
        legal, hand = self._play.legal(infostates).double(), (infostates % NUM_HANDS % 5).double()[:, None]
        weights = legal * torch.tensor([1.0, 2.0, 3.0]) * (1.0 + hand * torch.tensor([0.0, 1.0, 0.5]))
        return weights / weights.sum(dim=1, keepdim=True)


@pytest.fixture(scope="module")
def whole() -> WholeGame:
    """The three highest ranks of flop hold'em."""
    return WholeGame(variant=load_whole_game("flop-holdem").variant, deck=tuple(range(40, 52)))


@pytest.fixture(scope="module")
def small() -> WholeHoldemGame:
    """Its two highest ranks."""
    return WholeHoldemGame(WholeGame(variant=load_whole_game("flop-holdem").variant, deck=tuple(range(44, 52))))


@pytest.fixture(scope="module")
def play(whole: WholeGame) -> BoardPlay:
    return BoardPlay(whole)


@pytest.fixture(scope="module")
def walk(play: BoardPlay) -> BoardWalk:
    return BoardWalk(play)


def test_exploitability_is_that_of_the_exact_engine(play: BoardPlay, walk: BoardWalk) -> None:
    policies = _Uneven(play)
    ask = ask_policies(play, policies)
    early = [walk.ask_early(ask, player) for player in (0, 1)]
    found = walk.exploitability(
        lambda dealt: [PlayerPolicy(early[player], walk.ask_late(ask, player, dealt)) for player in (0, 1)],
        lambda: False,
    )
    assert found == pytest.approx(play.exploitability(policies, lambda: False), rel=1e-5)


def test_a_mixture_of_one_policy_is_that_policy(play: BoardPlay, walk: BoardWalk) -> None:
    policies = _Uneven(play)
    mixture = BoardMixture(walk)
    for player in (0, 1):
        mixture.add(ask_policies(play, policies), player, 2.0)
    expected = play.exploitability(policies, lambda: False)
    assert mixture.exploitability(lambda: False) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("player", [0, 1])
def test_samples_have_the_means_of_external_sampling(play: BoardPlay, walk: BoardWalk, player: int) -> None:
    """Means of targets by decision and action: n = 30,000 traversals, seed 3, |z| < 5 (some 220 numbers)."""
    policies, generator = _Uneven(play), torch.Generator().manual_seed(3)
    ask = ask_policies(play, policies)
    single = traverse(play, policies, player, 30_000, parse_sampling("external"), generator)
    public = walk.traverse((ask, ask), player, walk.draw_flops(100, generator), 400_000, generator)
    block = len(play.flops) * NUM_HANDS
    for one, other in ((single.regrets, public.regrets), (single.policies, public.policies)):
        shares = [
            torch.bincount(some.infostates // block, minlength=len(play.decisions)) / len(some.infostates)
            for some in (one, other)
        ]
        assert float((shares[0] - shares[1]).abs().max()) < 0.003
        for decision in torch.unique(one.infostates // block).tolist():
            first, second = (some.targets[some.infostates // block == decision].double() for some in (one, other))
            error = first.std(dim=0) / len(first) ** 0.5 + 0.01 * second.std(dim=0) + 1e-6
            assert float(((first.mean(dim=0) - second.mean(dim=0)) / error).abs().max()) < 5.0


@pytest.mark.parametrize("player", [0, 1])
def test_all_flops_have_the_means_of_external_sampling(play: BoardPlay, walk: BoardWalk, player: int) -> None:
    """Weighted means by decision and action: n = 30,000 traversals, seed 3, |z| < 5 (some 220 numbers)."""
    policies, generator = _Uneven(play), torch.Generator().manual_seed(3)
    ask = ask_policies(play, policies)
    single = traverse(play, policies, player, 30_000, parse_sampling("external"), generator)
    exact = walk.traverse_all((ask, ask), player, _every_card(play))
    block = len(play.flops) * NUM_HANDS
    for sampled, summed in ((single.regrets, exact.regrets), (single.policies, exact.policies)):
        counts = torch.bincount(sampled.infostates // block, minlength=len(play.decisions)).double()
        weights = torch.bincount(summed.infostates // block, summed.weights.double(), len(play.decisions))
        assert float((counts / counts.sum() - weights / weights.sum()).abs().max()) < 0.003
        deals = 66 * 45  # of two hands
        assert float(weights.sum()) / deals == pytest.approx(float(counts.sum()) / 30_000, rel=0.02)
        for decision in torch.unique(sampled.infostates // block).tolist():
            first = sampled.targets[sampled.infostates // block == decision].double()
            here = summed.infostates // block == decision
            mean = (summed.targets[here].double() * summed.weights[here, None].double()).sum(dim=0) / weights[decision]
            error = first.std(dim=0) / len(first) ** 0.5 + 1e-6
            assert float(((first.mean(dim=0) - mean) / error).abs().max()) < 5.0
    assert float(exact.values[0]) == pytest.approx(
        float(single.values.mean()), abs=5 * float(single.values.std()) / 173
    )


def _every_card(play: BoardPlay) -> Cards:
    """Returns all hands on all flops, each as often as there are flops of its class."""
    flops, hands = play.alive(torch.arange(len(play.flops))).nonzero().unbind(dim=1)
    often = (play.flop_chances() * 220).round().long()[flops]  # of 12 cards, 3
    return Cards(flops.repeat_interleave(often), hands.repeat_interleave(often))


def test_some_cards_are_as_they_are_among_all(play: BoardPlay, walk: BoardWalk) -> None:
    """And what they weigh stands for all: drawn in proportion to how likely flops are, 4,000 of them, seed 1."""
    ask = ask_policies(play, _Uneven(play))
    some = walk.draw_cards(4000, torch.Generator().manual_seed(1))
    exact, drawn = (walk.traverse_all((ask, ask), 0, cards).regrets for cards in (_every_card(play), some))
    again = walk.traverse_all((ask, ask), 0, some).regrets
    assert torch.equal(drawn.infostates, again.infostates) and torch.equal(drawn.targets, again.targets)
    of = torch.full((play.num_infostates,), -1)
    of[exact.infostates] = torch.arange(len(exact.infostates))
    assert (of[drawn.infostates] >= 0).all()
    assert torch.allclose(drawn.targets, exact.targets[of[drawn.infostates]], atol=1e-3)
    assert float(drawn.weights.sum()) == pytest.approx(float(exact.weights.sum()), rel=0.01)


@pytest.mark.parametrize("strength", [False, True])
def test_networks_say_the_same_on_a_grid(play: BoardPlay, walk: BoardWalk, strength: bool) -> None:
    encoding = BoardEncoding(play, strength=strength)
    network = InfostateNetwork.of(encoding, 16, torch.Generator().manual_seed(1))
    dealt = walk.deal(torch.arange(3))
    fast = ask_network(play, encoding, network, lambda outputs, legal: match_regrets(outputs, legal, best=False))
    slow = ask_policies(play, regret_policies(play, network, encoding, Matching(best=False)))
    for player in (0, 1):
        assert torch.allclose(walk.ask_late(fast, player, dealt), walk.ask_late(slow, player, dealt), atol=1e-3)
        assert torch.allclose(walk.ask_early(fast, player), walk.ask_early(slow, player), atol=1e-3)


@pytest.mark.slow
def test_deep_cfr_learns_from_public_samples(whole: WholeGame) -> None:
    config = DeepCfrConfig(
        game="flop-holdem", iterations=3, flops=6, samples=8000, average="mixture", flat=False, width=32, steps=60,
        batch=1500, memory=200_000, policy_power=1.0,
    )  # fmt: skip
    run = DeepCFR(config, WholeHoldemGame(whole))
    run.run_epoch()
    before = run.mixture_exploitability()
    for _ in range(2):
        run.run_epoch()
    after = run.mixture_exploitability()
    assert before is not None and after is not None and after < before


SUMS = DeepCfrConfig(
    game="flop-holdem", iterations=8, cards=800, rule="sharp-dcfr+", squash=0.05, strength=True, flat=False, width=32,
    steps=80, policy_steps=300, batch=600, learning_rate=3e-3,
)  # fmt: skip


def test_deep_cfr_learns_from_exact_sums(small: WholeHoldemGame) -> None:
    """The mixture and the network of the average end at less than a third of what uniform play loses."""
    run = DeepCFR(SUMS, small)
    uniform = run.mixture_exploitability()
    while not run.done:
        run.run_epoch()
    mixture, network = run.mixture_exploitability(), run.exploitability()
    assert uniform is not None and mixture is not None and network is not None
    assert mixture < uniform / 3 and network < uniform / 3
    assert network == pytest.approx(
        run.play.exploitability(average_policies(run.play, run._average_network(), run.encoding), lambda: False),
        rel=1e-3,
    )


@pytest.mark.parametrize("flat", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_run_of_exact_sums_goes_on_as_if_it_had_not_stopped(
    small: WholeHoldemGame, tmp_path: Path, flat: bool
) -> None:
    config = replace(SUMS, steps=5, policy_steps=5, iterations=2, flat=flat)
    ends = []
    for name, parts in (("straight", 1), ("parts", 2)):
        run = SampledRun(tmp_path / name, METHODS["deep-cfr"])
        run.create(DeepCFR(config, small))
        for _ in range(parts):
            trainer = DeepCFR(config, small)
            run.restore(trainer)
            train_sampled(trainer, run, RunPace(evaluate_epochs=0), stopped=lambda: parts > 1)  # noqa: B023
        assert trainer.done
        ends.append(trainer)
    straight, resumed = (end.tensors() for end in ends)
    assert set(straight) == set(resumed)
    assert all(torch.equal(tensor, resumed[name]) for name, tensor in straight.items())
    first, second = (end.exploitability() for end in ends)
    assert first is not None and first == second


def test_policies_are_mixed_where_it_is_asked_for(small: WholeHoldemGame) -> None:
    run = DeepCFR(DeepCfrConfig(game="flop-holdem", memory=10, batch=10), small)
    with pytest.raises(SolveError, match="are mixed with average=mixture or with cards only"):
        run.mixture_exploitability()
    with pytest.raises(SolveError, match="too many infostates to mix policies"):
        run.mixture_policy()


def test_only_flop_holdem_has_flops() -> None:
    for setting in ("flops", "cards"):
        with pytest.raises(SolveError, match="flop-holdem"):
            DeepCFR(DeepCfrConfig(game="kuhn", **{setting: 3}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"flops": 3, "cards": 3}, "one of them is 0"),
        ({"squash": 0.1}, "without noise"),
        ({"rule": "lcfr"}, "memories have none"),
        ({"rule": "pcfr+", "cards": 3}, "cannot be optimistic"),
        ({"rule": "hedge", "cards": 3}, "cannot be optimistic, simultaneous or Hedge"),
        ({"rule": "no-rule", "cards": 3}, "no-rule"),
    ],
)
def test_sums_refuse_what_they_cannot_do(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SolveError, match=message):
        DeepCfrConfig(game="flop-holdem", **settings)
