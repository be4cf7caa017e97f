"""Slices of training: a network learns, goes on from its directory, and survives being killed anywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from aleator.errors import SolveError
from aleator.learning.holdem import slices
from aleator.learning.holdem.fitting import FitConfig
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.model import HoldemModel, load_holdem_model
from aleator.learning.holdem.slices import METRICS, NETWORK, PARTIAL, SliceConfig, Slices, preset
from aleator.learning.holdem.streets import STREETS

TINY = replace(preset("small", "river"), examples=16, held_out=8, chunk=8, fit=FitConfig(steps=100, batch=4, warm_up=5))


def same(one: HoldemModel, two: HoldemModel) -> bool:
    states = one.network.state_dict(), two.network.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_a_small_network_learns_rivers(tmp_path: Path) -> None:
    """On 256 rivers that it never saw; checking down, as untrained networks say, misses it by more than 5 times."""
    line = Slices(tmp_path).run(preset("small", "river"))
    for name, bound in (("ev", 0.0075), ("squared", 0.0021)):  # pots, squared pots
        assert line["before"][name] > 5 * bound
        assert line["errors"][name] < bound


def test_a_small_network_learns_starts_of_turns(tmp_path: Path) -> None:
    """On 64 turns that it never saw; the network at their leaves checks the river down."""
    config = preset("small", "turn-start")
    shape = replace(config.network, street="turn")
    teacher = KnotNetwork(shape, config.cards - 4, torch.Generator().manual_seed(0))
    line = Slices(tmp_path).run(config, teacher=teacher)
    for name, bound in (("ev", 0.0125), ("huber", 0.0025), ("squared", 0.0035)):  # pots, squared pots
        assert line["before"][name] > 5 * bound
        assert line["errors"][name] < bound


def test_a_loss_that_is_not_finite_ends_a_slice_and_leaves_its_network(tmp_path: Path) -> None:
    Slices(tmp_path).run(TINY)
    before = (tmp_path / NETWORK).read_bytes()
    wild = replace(TINY, fit=FitConfig(steps=7, batch=4, warm_up=1, learning_rate=1e30))
    with pytest.raises(SolveError, match=r"the loss is not finite after 7 steps; lower the learning rate 1e\+30"):
        Slices(tmp_path).run(wild)
    assert (tmp_path / NETWORK).read_bytes() == before


def test_slices_go_on_from_the_network_alone(tmp_path: Path) -> None:
    run = Slices(tmp_path)
    first = run.run(TINY)
    second = run.run(TINY)
    assert (first["slice"], second["slice"], second["all_examples"]) == (1, 2, 32)
    assert second["before"]["weighted"] == pytest.approx(first["errors"]["weighted"], rel=1e-2)  # float16 in the file
    assert [line["slice"] for line in run.metrics()] == [1, 2]
    assert not (tmp_path / PARTIAL).exists()
    latest = run.latest()
    assert latest is not None and latest.report == second
    (tmp_path / METRICS).write_text(
        "".join(json.dumps(line) + "\n" for line in run.metrics()[:1])
    )  # killed between its files
    third = run.run(TINY)
    assert third["slice"] == 3 and [line["slice"] for line in run.metrics()] == [1, 2, 3]


def test_a_killed_slice_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[float] = []

    def stop(part: float, text: str) -> None:
        if "fitting" in text:
            raise KeyboardInterrupt

    run = Slices(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run.run(TINY, report=stop)
    assert not (tmp_path / NETWORK).exists() and load_holdem_model(tmp_path / PARTIAL).report == {
        "slice": 1,
        "steps": 50,
    }
    line = run.run(TINY, report=lambda part, text: steps.append(part) if "fitting" in text else None)
    assert steps == [1.0] and line["slice"] == 1 and line["steps"] == 100
    assert not (tmp_path / PARTIAL).exists()


def test_the_same_seed_makes_the_same_network(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        run = Slices(tmp_path / name)
        run.run(TINY)
        found.append(run.latest())
    assert found[0] and found[1] and same(found[0], found[1])


def test_every_street_learns_from_the_one_after(tmp_path: Path) -> None:
    Slices(tmp_path / "river").run(TINY)
    for name in list(STREETS)[1:]:
        config = replace(preset("small", name), examples=16, held_out=8, chunk=8, fit=TINY.fit)
        network = slices.teacher_of(config, tmp_path / str(STREETS[name].teacher) / NETWORK)
        line = Slices(tmp_path / name).run(config, teacher=network)
        assert (line["street"], line["labels"], line["examples"]) == (name, "network", 16)
    config = preset("small", "turn")
    with pytest.raises(SolveError, match="of the turn with 12 live cards, not of the river with 11"):
        slices.teacher_of(config, tmp_path / "turn" / NETWORK)
    with pytest.raises(SolveError, match="rivers are solved to the end"):
        slices.teacher_of(TINY, tmp_path / "turn" / NETWORK)
    with pytest.raises(SolveError, match="with 49 live cards, not of the flop-start with 13"):
        slices.teacher_of(preset("small", "preflop"))
    assert slices.teacher_of(config) is None
    with pytest.raises(SolveError, match="is a network of the turn with 12 live cards"):
        Slices(tmp_path / "turn").run(TINY)


def test_a_slice_ends_in_time(tmp_path: Path) -> None:
    """One chunk of examples is made however little time there is, and the fit gets what is left."""
    config = replace(TINY, examples=1_000_000, minutes=1e-6, fit=FitConfig(steps=10**9, batch=4, warm_up=5))
    line = Slices(tmp_path).run(config)
    assert line["examples"] == TINY.chunk and line["steps"] < 10**6


def test_shipped_networks_fit_together() -> None:
    """River, turn, flop and preflop, each at most 16 MiB and all together 48; those that only teach are not shipped."""
    sizes = {}
    for name in STREETS:
        config = preset("slice", name)
        network = KnotNetwork(config.network, config.live_cards)
        sizes[name] = 2 * sum(parameter.numel() for parameter in network.parameters())
    assert max(sizes.values()) < 15.5 * 2**20
    assert sum(sizes[name] for name in ("river", "turn", "flop", "preflop")) < 47.75 * 2**20


def test_settings_that_make_no_slice_are_refused() -> None:
    for wrong, text in (
        ({"examples": 0}, "examples must be at least 1"),
        ({"cards": 9}, "16 to 52 cards, not 9"),
        ({"seconds": 0.0}, "positive"),
        ({"minutes": 0.0}, "minutes of a slice must be positive"),
        ({"stacks": (2.0, 1.0)}, "the smaller first"),
    ):
        with pytest.raises(SolveError, match=text):
            SliceConfig(**wrong)  # type: ignore[arg-type]
    with pytest.raises(SolveError, match="no preset 'huge'"):
        preset("huge", "river")
    with pytest.raises(SolveError, match="no networks for the street 'showdown'"):
        preset("slice", "showdown")
    for fit, text in (
        ({"steps": 0}, "steps must be"),
        ({"range_weight": 2.0}, "in \\[0, 1\\]"),
        ({"huber": 0.0}, "must be positive"),
    ):
        with pytest.raises(SolveError, match=text):
            FitConfig(**fit)  # type: ignore[arg-type]
