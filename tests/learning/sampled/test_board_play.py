"""Sampled play of flop hold'em with the whole deck, beside the engine that solves it exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from aleator.errors import SolveError
from aleator.games.base import TERMINAL
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.cards import HANDS, NUM_HANDS
from aleator.games.holdem.game import WholeHoldemGame
from aleator.games.holdem.suits import CARD_MAPS, HAND_MAPS
from aleator.games.holdem.whole_game import WholeGame, load_whole_game
from aleator.learning.run_files import RunPace
from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import DeepCfrConfig
from aleator.learning.sampled.methods import METHODS
from aleator.learning.sampled.run import SampledRun, train_sampled
from aleator.learning.sampled.traversal import Policies, draw_actions
from aleator.solvers.holdem.evaluation import evaluate_policy

Tensor = torch.Tensor


class _Uneven(Policies):
    """Policies that depend on hands and on nothing else, so that every mistake about hands is seen."""

    def __init__(self, play: BoardPlay) -> None:
        self._play = play

    def probabilities(self, infostates: Tensor) -> Tensor:
        legal = self._play.legal(infostates).double()
        hand = (infostates % NUM_HANDS % 5).double()[:, None]
        weights = legal * torch.tensor([1.0, 2.0, 3.0]) * (1.0 + hand * torch.tensor([0.0, 1.0, 0.5]))
        return weights / weights.sum(dim=1, keepdim=True)


@pytest.fixture(scope="module")
def play() -> BoardPlay:
    """The four highest ranks of flop hold'em."""
    return BoardPlay(WholeGame(variant=load_whole_game("flop-holdem").variant, deck=tuple(range(36, 52))))


def _played(play: BoardPlay, number: int) -> Iterator[Tensor]:
    """Yields what player 0 wins in games by uneven policies."""
    generator, policies = torch.Generator().manual_seed(1), _Uneven(play)
    histories = play.deal(number, generator)
    while len(histories.node):
        actor = play.actor(histories)
        yield play.returns(histories.rows((actor == TERMINAL).nonzero().squeeze(1)), 0)
        histories = histories.rows((actor >= 0).nonzero().squeeze(1))
        actions = draw_actions(policies.probabilities(play.infostate(histories)), generator)
        histories = play.act(histories, actions, generator)


def test_what_is_won_is_what_the_exact_engine_says(play: BoardPlay) -> None:
    won = torch.cat(list(_played(play, 100_000)))
    assert len(won) == 100_000
    exact = evaluate_policy(play.whole, play.answer(_Uneven(play)), boards_at_once=64).values[0]
    assert abs(float(won.mean()) - exact) < 4.5 * float(won.std()) / len(won) ** 0.5


def test_deals_have_seven_different_cards_of_the_deck(play: BoardPlay) -> None:
    histories = play.deal(2000, torch.Generator().manual_seed(2))
    pair = histories.pair.numpy()
    flops = play.flops[pair // NUM_HANDS**2]
    cards = np.concatenate([flops, HANDS[pair // NUM_HANDS % NUM_HANDS], HANDS[pair % NUM_HANDS]], axis=1)
    assert all(len(set(row)) == 7 for row in cards.tolist())
    assert set(cards.ravel().tolist()) == set(range(36, 52))


def test_infostates_are_numbers_of_their_parts(play: BoardPlay) -> None:
    histories, generator = play.deal(3000, torch.Generator().manual_seed(3)), torch.Generator().manual_seed(4)
    streets = set()
    while len(histories.node):
        histories = histories.rows((play.actor(histories) >= 0).nonzero().squeeze(1))
        infostates = play.infostate(histories)
        decision, flop, hand = play.parts(infostates)
        late = play.tree.street[histories.node.numpy()] > 0
        streets |= set(late.tolist())
        assert (play.decisions[decision.numpy()] == histories.node.numpy()).all()
        assert (flop[~torch.from_numpy(late)] == len(play.flops)).all()
        assert (play.number(decision, flop % len(play.flops), hand) == infostates).all()
        assert (play.player(infostates) == play.actor(histories)).all()
        histories = play.act(histories, draw_actions(play.legal(infostates).double(), generator), generator)
    assert streets == {False, True}


def test_answers_follow_a_renaming_of_suits(play: BoardPlay) -> None:
    node = next(node for node in play.decisions.tolist() if play.tree.street[node])
    flop, swap = (36, 41, 45), 7
    renamed = tuple(int(card) for card in CARD_MAPS[swap][list(flop)])
    first, second = play.policy(_Uneven(play), node, [flop, renamed])
    alive = ~np.isin(HANDS, flop).any(axis=1)
    assert set(renamed) != set(flop)
    np.testing.assert_array_equal(second[:, HAND_MAPS[swap][alive]], first[:, alive])


def test_networks_are_told_cards_and_betting_apart(play: BoardPlay) -> None:
    encoding = BoardEncoding(play)
    hands = torch.arange(NUM_HANDS)[np.isin(HANDS, play.whole.deck).all(axis=1)]
    decisions = torch.arange(len(play.decisions))
    flops = torch.tensor([0, 5, len(play.flops) - 1])
    grid = torch.cartesian_prod(decisions, flops, hands)
    infostates = torch.unique(play.number(grid[:, 0], grid[:, 1], grid[:, 2]))
    assert len(torch.unique(encoding.inputs(infostates), dim=0)) == len(infostates)
    assert encoding.names == ["fold", "call", "raise"]
    outputs = torch.arange(3.0).expand(len(infostates), 3)
    by_action, legal = encoding.of_actions(infostates, outputs), play.legal(infostates)
    kinds = play.tree.action[play.tree.children(int(play.decisions[0]))]
    assert by_action[0][legal[0]].tolist() == kinds.tolist()
    assert (play.tree.kind[play.decisions] == NodeKind.DECISION).all()


def test_deep_cfr_needs_batches_and_a_network_there() -> None:
    with pytest.raises(SolveError, match=r"too many infostates for average=network, flat=.*, batch=0"):
        DeepCFR(DeepCfrConfig(game="flop-holdem", memory=10))
    with pytest.raises(SolveError, match="average=mixture"):
        DeepCFR(DeepCfrConfig(game="flop-holdem", memory=10, batch=10, average="mixture"))


class _Stop:
    """Says that it is time to stop once it has been asked so many times."""

    def __init__(self, after: float) -> None:
        self.left = after

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_an_evaluation_that_is_stopped_is_made_when_the_run_goes_on(play: BoardPlay, tmp_path: Path) -> None:
    """Exact evaluation of flop hold'em takes minutes: who is told to end does not wait for it, and loses nothing."""
    game = WholeHoldemGame(play.whole)
    config = DeepCfrConfig(
        game=game.name, iterations=1, traversals=20, memory=500, batch=10, width=8, steps=2, policy_steps=2
    )
    run, pace = SampledRun(tmp_path, METHODS["deep-cfr"]), RunPace()
    run.create(DeepCFR(config, game))
    told: list[float] = []
    for stop in (_Stop(3), _Stop(3), _Stop(math.inf), _Stop(math.inf)):
        trainer = DeepCFR(config, game)
        run.restore(trainer)
        train_sampled(trainer, run, pace, stopped=stop, on_epoch=lambda line: told.append(line["epoch"]))
        assert trainer.done and len(run.metrics()) == 1
        measured = run.metrics()[0].get("exploitability")
        assert (measured is None) == (stop.left < 0), "it was given up, and not looked for in vain"
    assert measured == trainer.exploitability()
    assert told == [1, 1], "the epoch, and the evaluation that came later"


def test_shares_of_hands_that_a_hand_beats_are_those_of_all_showdowns(play: BoardPlay) -> None:
    shares, flops = play.shares_beaten(), torch.tensor([0, 3, len(play.flops) - 1])
    alive = play.alive(flops)
    beaten = torch.einsum("fa,fab->fb", alive, play.showdowns(flops)) / alive.sum(dim=1, keepdim=True)
    torch.testing.assert_close(shares[flops], (0.5 + 0.5 * beaten) * alive)
    assert float(shares.max()) < 1.0 and float(shares[flops][0].max()) > 0.5
