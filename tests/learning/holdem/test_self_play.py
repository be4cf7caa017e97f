"""Self-play of whole hands: lines follow their policies, beliefs fit boards, networks learn, killed slices go on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from aleator.errors import SolveError
from aleator.learning.holdem.examples import Labelling
from aleator.learning.holdem.fitting import FitConfig
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.model import load_holdem_model
from aleator.learning.holdem.self_play import Hands, SelfPlay, SelfPlayConfig, follow
from aleator.learning.holdem.self_play_slices import METRICS, SelfPlaySlice, SelfPlaySlices, self_play_preset
from aleator.learning.holdem.slices import preset
from aleator.learning.holdem.streets import STREETS
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.shapes import FOLD, LEAF, PotMenu

DECK = Deck(range(36, 52))
FEW = SelfPlayConfig(
    hands=64, preflop=4, chunk=24, ends=6, preflop_ends=6, rivers=3, stacks=(2_000, 3_000),
    labelling=Labelling(iterations=6),
)  # fmt: skip
TINY = SelfPlaySlice(
    random=dict.fromkeys(STREETS, 8),
    held_out=4,
    play=FEW,
    epochs=2,
    cards=16,
    networks="small",
    untrained=True,
    minutes=1e9,
    fit=FitConfig(steps=3, batch=8, warm_up=1),
)


def untrained() -> dict[str, KnotNetwork]:
    return {
        name: KnotNetwork(preset("small", name).network, 16 - street.board, torch.Generator().manual_seed(0))
        for name, street in STREETS.items()
    }


def test_lines_follow_policies_and_beliefs_are_bayes() -> None:
    shape = PotMenu(most=0, to_showdown=False).betting(1.0).shape  # check or all-in, fold or call
    policies = torch.zeros(1, shape.num_rows, 3)
    for node in shape.decisions:
        rows = shape.rows(node)
        policies[:, rows.start] = torch.tensor([1.0, 0.5, 0.25])  # the first action by hand
        policies[:, rows.start + 1] = 1.0 - policies[:, rows.start]
    count = 20_000
    game, dealt = torch.zeros(count, dtype=torch.int64), torch.tensor([[1, 2]]).repeat(count, 1)
    reach = torch.full((1, 2, 3), 1 / 3)
    node, beliefs = follow(
        shape, policies, reach, game, dealt, torch.zeros_like(game), 0.0, torch.Generator().manual_seed(0)
    )
    first = shape.children[0].start
    both_checked = shape.children[first].start
    part = float((node == both_checked).float().mean())
    assert part == pytest.approx(0.5 * 0.25, abs=5 * (0.125 * 0.875 / count) ** 0.5)
    expected = torch.tensor([1.0, 0.5, 0.25]) / 1.75
    at = int((node == both_checked).nonzero()[0])
    torch.testing.assert_close(beliefs[at], expected.expand(2, 3))
    assert {shape.kind[int(n)] for n in node.unique()} == {FOLD, LEAF}
    pure = torch.zeros_like(policies)
    for number in shape.decisions:
        pure[:, shape.rows(number).start] = 1.0
    node, beliefs = follow(
        shape, pure, reach, game, dealt, torch.zeros_like(game), 0.5, torch.Generator().manual_seed(0)
    )
    explored = (node != both_checked).float().mean()
    assert float(explored) == pytest.approx(0.25, abs=0.02)  # the first player takes any action half of the time
    torch.testing.assert_close(beliefs, torch.full_like(beliefs, 1 / 3))  # what was ruled out stays as it was


def test_a_generation_makes_examples_of_every_street() -> None:
    play = SelfPlay(FEW, DECK, untrained())
    found = play.generation(torch.Generator().manual_seed(1))
    assert set(found) == set(STREETS)
    for name, examples in found.items():
        live = 16 - STREETS[name].board
        assert examples.rows.shape[1:] == (8, live * (live - 1) // 2)
        reach, values = examples.situation().reach, examples.values()
        torch.testing.assert_close(reach.sum(2), torch.ones_like(reach.sum(2)))
        assert float((reach * values).sum((1, 2)).abs().max()) < 0.02
        assert bool(torch.isfinite(examples.rows).all()) and float(examples.stack.min()) > 0
    assert len(found["preflop"]) == 6 and len(found["turn"]) <= 6
    once = SelfPlay(replace(FEW, rivers=1), DECK, untrained()).generation(torch.Generator().manual_seed(1))
    assert len(found["river"]) == 3 * len(once["river"]) > 0
    assert torch.equal(found["turn-start"].rows, once["turn-start"].rows)


def test_cards_are_dealt_that_nobody_holds() -> None:
    play, generator = SelfPlay(FEW, DECK, untrained()), torch.Generator().manual_seed(2)
    blank = Hands(
        torch.zeros(50, 0, dtype=torch.int64), torch.full((50, 2, 120), 1 / 120),
        torch.zeros(50, 2, dtype=torch.int64), torch.zeros(50, dtype=torch.int64), torch.ones(50),
    )  # fmt: skip
    hands = play._next_street(play._next_street(play._deal(blank, generator), 3, generator), 1, generator)
    cards = torch.cat([hands.boards, DECK.hand_cards[hands.dealt].flatten(1)], 1)
    assert all(len(set(row)) == 8 for row in cards.tolist())
    assert float(hands.reach[DECK.blocked(hands.boards)[:, None].expand_as(hands.reach)].abs().max()) == 0.0
    torch.testing.assert_close(hands.reach.sum(2), torch.ones(50, 2))


def test_slices_go_on_from_their_networks_and_after_a_kill(tmp_path: Path) -> None:
    run = SelfPlaySlices(tmp_path / "run")

    def stop(part: float, text: str) -> None:
        if text.startswith("epoch 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.run(TINY, report=stop)
    assert run.metrics() == []
    assert load_holdem_model(tmp_path / "run" / "flop.safetensors").report["epoch"] == 1
    epochs: list[str] = []
    first = run.run(TINY, report=lambda part, text: epochs.append(text))
    assert (first["slice"], first["epoch"], first["hands"]) == (1, 2, 128)
    assert [text.split(" random ")[0] for text in epochs[:12]] == ["8"] * 6 + ["4"] * 6
    assert epochs[12].startswith("epoch 2")
    assert all({"at_first", "at_last"} == set(errors) for errors in first["random"].values())
    assert first["rows"]["preflop"] == 12 and set(first["streets"]) == set(STREETS)
    second = run.run(replace(TINY, epochs=1, random=dict.fromkeys(STREETS, 1), held_out=1))
    assert second["slice"] == 2 and [line["slice"] for line in run.metrics()] == [1, 2]
    other = SelfPlaySlices(tmp_path / "other").run(replace(TINY, epochs=1), start=tmp_path / "run")
    assert other["slice"] == 1 and (tmp_path / "other" / METRICS).exists()
    with pytest.raises(SolveError, match="there is no network of the street river in"):
        SelfPlaySlices(tmp_path / "empty").run(replace(TINY, untrained=False))
    with pytest.raises(SolveError, match="with 16 live cards, not of the preflop with 20"):
        SelfPlaySlices(tmp_path / "wide").run(replace(TINY, cards=20), start=_only(tmp_path, "preflop"))


def _only(path: Path, street: str) -> Path:
    folder = path / "only"
    folder.mkdir()
    (folder / f"{street}.safetensors").write_bytes((path / "run" / f"{street}.safetensors").read_bytes())
    return folder


@pytest.mark.slow
def test_networks_learn_what_self_play_meets(tmp_path: Path) -> None:
    """Errors on a generation that no network has seen are far below those of checking down."""
    small = self_play_preset("small")
    play = replace(small.play, hands=768, preflop=16, chunk=256, ends=96)
    line = SelfPlaySlices(tmp_path).run(replace(small, play=play, epochs=4, fit=replace(small.fit, steps=150)))
    for name in ("turn", "turn-start", "flop", "preflop"):
        errors = line["streets"][name]
        assert errors["unseen"]["huber"] < 0.6 * errors["checked"]["huber"], (name, errors)


def test_settings_that_cannot_be_played_are_refused() -> None:
    for wrong, text in (
        ({"hands": 0}, "hands must be at least 1"),
        ({"rivers": 0}, "rivers must be at least 1"),
        ({"epsilon": 2.0}, "epsilon must be in"),
        ({"perturbation": 0.5}, "perturbation must be in"),
        ({"stacks": (100, 500)}, "above the big blind"),
    ):
        with pytest.raises(SolveError, match=text):
            SelfPlayConfig(**wrong)  # type: ignore[arg-type]
    for setting, text in (
        ({"epochs": 0}, "epochs must"),
        ({"minutes": 0.0}, "minutes"),
        ({"cards": 18}, "16, 20"),
        ({"random": {"rivver": 1}}, "no street 'rivver'; allowed: river, turn"),
        ({"random": {"turn": -1}}, "turn situations must be 0 or more, not -1"),
    ):
        with pytest.raises(SolveError, match=text):
            SelfPlaySlice(**setting)  # type: ignore[arg-type]
    with pytest.raises(SolveError, match="no preset 'large'; allowed: slice, small"):
        self_play_preset("large")
    networks = untrained()
    networks.pop("flop")
    with pytest.raises(SolveError, match="needs a network of the street flop"):
        SelfPlay(FEW, DECK, networks)
    with pytest.raises(SolveError, match="of the street river is for 11 cards, not 15"):
        SelfPlay(FEW, Deck(range(32, 52)), untrained())
