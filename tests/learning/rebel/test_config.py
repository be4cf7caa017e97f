"""Training settings: the paper's numbers, values that make no sense, and settings that are typed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aleator.errors import SolveError
from aleator.learning.rebel.config import PRESETS, RebelConfig, parse_setting, preset


def test_the_preset_paper_is_appendix_g() -> None:
    config = preset("paper", game="liars-dice:1x6")
    assert (config.depth, config.updates, config.exploration, config.search) == (2, 1024, 0.25, "cfr-d")
    assert (config.layers, config.width, config.learning_rate, config.batch) == (2, 256, 3e-4, 512)
    assert config.encoding == "absolute" and not config.averaging and not config.linear_sampling
    assert 2 * config.searches * config.draws == 25_600_000, "draws of the authors' release: 1,000 epochs of 25,600"


@pytest.mark.parametrize("name", PRESETS)
def test_settings_survive_json(name: str) -> None:
    config = preset(name, seed=7)
    assert RebelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_epochs_cover_all_searches() -> None:
    assert RebelConfig(games=64, searches=65).epochs == 2
    assert RebelConfig(games=64, searches=64).epochs == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth": 0}, "depth must be at least 1, not 0"),
        ({"width": -1}, "width must be at least 1, not -1"),
        ({"exploration": 1.5}, "exploration must be a probability, not 1.5"),
        ({"averaging": 1.0}, "averaging must be at least 0 and less than 1, not 1.0"),
        ({"learning_rate": float("nan")}, "learning_rate must be positive, not nan"),
        ({"halvings": (2.0,)}, r"between 0 and 1, not \[2.0\]"),
        ({"search": "magic"}, "unknown search rule 'magic'; allowed: cfr-d"),
        ({"encoding": "magic"}, "unknown encoding 'magic'; allowed: auto, absolute, relative"),
        ({"magic": 1}, "unknown training setting 'magic'; allowed: averaging"),
        ({"games": 1.5}, "games must be a whole number, not 1.5"),
        ({"layer_norm": 1}, "layer_norm must be true or false, not 1"),
        ({"warm_start": -1}, "warm_start must be at least 0 and less than 2\\^63, not -1"),
        ({"seed": -1}, "seed must be at least 0 and less than 2\\^63, not -1"),
        ({"search": "cfr-ave"}, "cfr-ave needs an oracle at the leaves, not a network; train by modified-cfr-ave"),
        ({"policy": True, "search": "flop"}, "flop cannot be warm started; set warm_start=0"),
        ({"halvings": 0.5}, "halvings must be a list of numbers, not 0.5"),
    ],
)
def test_impossible_settings_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SolveError, match=message):
        RebelConfig.from_dict(changes)


def test_an_unknown_preset_is_named() -> None:
    with pytest.raises(SolveError, match="unknown preset 'slow'; allowed: paper, fast, demo"):
        preset("slow")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("games=1_024", ("games", 1024)),
        ("learning_rate=1e-3", ("learning_rate", 0.001)),
        ("search=flop", ("search", "flop")),
        ("layer_norm=False", ("layer_norm", False)),
        ("halvings=0.5,0.75", ("halvings", (0.5, 0.75))),
    ],
)
def test_settings_can_be_typed(text: str, expected: tuple[str, Any]) -> None:
    assert parse_setting(text) == expected


@pytest.mark.parametrize("text", ["games", "games=many", "depth=1.5", "layer_norm=perhaps", "halvings=a,b", "=3"])
def test_what_cannot_be_a_setting_is_refused(text: str) -> None:
    with pytest.raises(SolveError, match=text.partition("=")[0] or "NAME=VALUE"):
        parse_setting(text)


def test_the_field_of_before_is_read_but_not_typed() -> None:
    values = RebelConfig(updates=24).to_dict()
    del values["updates"]
    assert RebelConfig.from_dict({**values, "iterations": 24}) == RebelConfig(updates=24)
    with pytest.raises(SolveError, match="unknown training setting 'iterations'"):
        preset("paper", iterations=24)
    with pytest.raises(SolveError, match=r"unknown setting 'iterations'; .*allowed: .*updates"):
        parse_setting("iterations=24")
