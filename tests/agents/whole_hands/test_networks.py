"""Networks of Deep CFR and NFSP that play whole hands of flop hold'em."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.agents.whole_hands import HandAgent, load_hand_agent
from aleator.arena.whole_hands.match import HandMatch, play_hand_match
from aleator.errors import AgentError
from aleator.games.holdem.betting import CALL, ActionKind
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands, parse_cards, parse_hand
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game
from aleator.learning.sampled.board_play import BoardPlay
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import DeepCfrConfig
from aleator.learning.sampled.methods import METHODS
from aleator.learning.sampled.model import SampledModel
from aleator.learning.sampled.network_trainer import NetworkTrainer, average_policies
from aleator.learning.sampled.nfsp import NfspConfig
from aleator.storage import StorageError

CONFIGS = {
    "deep-cfr": DeepCfrConfig(
        game="flop-holdem", iterations=2, traversals=30, batch=50, steps=3, policy_steps=5, width=8, memory=2000,
        flat=False,
    ),
    "nfsp": NfspConfig(
        game="flop-holdem", iterations=3, games=60, batch=50, steps=3, policy_steps=5, width=8, window=300, memory=2000,
        flat=False, anticipatory=0.5,
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=CONFIGS)
def trainer(request: pytest.FixtureRequest) -> NetworkTrainer:
    made = METHODS[request.param].trainer(CONFIGS[request.param])
    assert isinstance(made, NetworkTrainer)
    while not made.done:
        made.run_epoch()
    return made


@pytest.fixture(scope="module")
def file(trainer: NetworkTrainer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("networks") / "network.safetensors"
    SampledModel.of(trainer, {}).save(path)
    return path


def on_the_flop() -> HandState:
    """Returns a hand in which everybody called before the flop Ah 7d 7c."""
    state = load_hand_game("flop-holdem").setup.start()
    return state.act(CALL).act(CALL).deal(parse_cards("Ah 7d 7c"))


def test_the_agent_says_what_its_network_says(trainer: NetworkTrainer, file: Path) -> None:
    play, flop = trainer.play, parse_cards("Ah 7d 7c")
    assert isinstance(play, BoardPlay)
    limped = next(node for node in play.decisions.tolist() if play.tree.street[node])
    while play.tree.chips[limped].tolist() != [2, 2]:
        limped += 1
    policies = average_policies(play, trainer._average_network(), trainer.encoding)
    expected = play.policy(policies, limped, [flop])[0]
    assert expected.shape == (2, NUM_HANDS)
    told = load_hand_agent(f"{trainer.kind}:{file}").policy_at(on_the_flop())
    alive = ~blocked_hands(flop)
    np.testing.assert_allclose(np.asarray(told.probabilities)[:, alive], expected[:, alive], atol=1e-6)


def test_it_plays_a_match(trainer: NetworkTrainer, file: Path) -> None:
    match = HandMatch(game="flop-holdem", agents=(f"{trainer.kind}:{file}", "always-call"), hands=12, aivat="raw")
    won = play_hand_match(match).won
    assert np.isfinite(won).all()
    np.testing.assert_allclose(won.sum(axis=1), 0.0)


def test_networks_of_another_method_are_refused(trainer: NetworkTrainer, file: Path) -> None:
    other = next(kind for kind in CONFIGS if kind != trainer.kind)
    with pytest.raises(AgentError, match=f"was trained by {trainer.kind}: play it as {trainer.kind}:"):
        load_hand_agent(f"{other}:{file}")


def test_networks_of_other_games_are_refused(tmp_path: Path) -> None:
    small = DeepCFR(DeepCfrConfig(game="kuhn", iterations=1, traversals=5, steps=1, policy_steps=1, width=4, memory=50))
    small.run_epoch()
    SampledModel.of(small, {}).save(tmp_path / "kuhn.safetensors")
    with pytest.raises(AgentError, match="trained for kuhn, which is not a game of whole hands"):
        load_hand_agent(f"deep-cfr:{tmp_path / 'kuhn.safetensors'}")
    (tmp_path / "broken").write_bytes(b"nothing")
    with pytest.raises(StorageError):
        load_hand_agent(f"deep-cfr:{tmp_path / 'broken'}")


def test_the_networks_of_the_package_know_good_hands() -> None:
    """Aces raise and never fold before the flop; deuce-seven folds to a raise; a set raises on the flop."""
    agent = load_hand_agent("deep-cfr")
    assert agent.name == "deep-cfr"
    start = load_hand_game("flop-holdem").setup.start()
    aces, worst = (parse_hand(text) for text in ("AsAh", "7s2h"))
    opening = _shares(agent, start, aces)
    assert opening[ActionKind.RAISE] > 0.9 and opening[ActionKind.FOLD] < 0.01
    (bet,) = (action for action in agent.policy_at(start).actions if action.kind is ActionKind.RAISE)
    raised = start.act(bet)
    assert _shares(agent, raised, worst)[ActionKind.FOLD] > 0.9 and _shares(agent, raised, aces)[ActionKind.FOLD] < 0.01
    checked = on_the_flop()
    assert _shares(agent, checked, parse_hand("AsAd"))[ActionKind.RAISE] > 0.5


def _shares(agent: HandAgent, state: HandState, hand: int) -> dict[ActionKind, float]:
    policy = agent.policy_at(state)
    shares = dict.fromkeys(ActionKind, 0.0)
    for action, share in zip(policy.actions, np.asarray(policy.probabilities)[:, hand].tolist(), strict=True):
        shares[action.kind] += share
    return shares
