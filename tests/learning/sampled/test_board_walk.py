"""Public walks over flop hold'em, beside the exact engine and beside traversals of single deals."""

from __future__ import annotations

import pytest
import torch

from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.game import WholeHoldemGame
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.board_walk import BoardMixture, BoardWalk, PlayerPolicy, ask_network, ask_policies
from aleator.learning.sampled.deep_cfr import DeepCFR, DeepCfrConfig, regret_policies
from aleator.learning.sampled.network import InfostateNetwork
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


@pytest.mark.parametrize("strength", [False, True])
def test_networks_say_the_same_on_a_grid(play: BoardPlay, walk: BoardWalk, strength: bool) -> None:
    encoding = BoardEncoding(play, strength=strength)
    network = InfostateNetwork.of(encoding, 16, torch.Generator().manual_seed(1))
    dealt = walk.deal(torch.arange(3))
    fast = ask_network(play, encoding, network, lambda outputs, legal: match_regrets(outputs, legal, best=False))
    slow = ask_policies(play, regret_policies(play, network, encoding, best=False))
    for player in (0, 1):
        assert torch.allclose(walk.ask_late(fast, player, dealt), walk.ask_late(slow, player, dealt), atol=1e-3)
        assert torch.allclose(walk.ask_early(fast, player), walk.ask_early(slow, player), atol=1e-3)


def test_deep_cfr_learns_from_public_samples(whole: WholeGame) -> None:
    config = DeepCfrConfig(
        game="flop-holdem", iterations=5, flops=6, samples=8000, average="mixture", flat=False, width=32, steps=60,
        batch=1500, memory=200_000, policy_power=1.0,
    )  # fmt: skip
    run = DeepCFR(config, WholeHoldemGame(whole))
    for _ in range(2):
        run.run_epoch()
    assert run.board_mixture is not None
    before = run.board_mixture.exploitability(lambda: False)
    for _ in range(3):
        run.run_epoch()
    after = run.board_mixture.exploitability(lambda: False)
    assert before is not None and after is not None and after < before


def test_only_flop_holdem_has_flops() -> None:
    with pytest.raises(SolveError, match="flop-holdem"):
        DeepCFR(DeepCfrConfig(game="kuhn", flops=3))
