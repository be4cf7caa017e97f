"""Training hold'em's networks of all streets by self-play, in slices: each begins with the last one's networks alone.

A slice is some epochs: a generation of hands is played, every network is first measured on what it has not seen, then
fitted to the examples of the slice so far, and to some random situations, so that what self-play does not meet is not
forgotten; how well it is remembered is measured on others of them, at first and at last. The directory has a network
per street and `metrics.jsonl`, a line a slice.
After an epoch the networks are written: killed at any time, the same command goes on with the next epoch.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import torch

from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_CARDS
from aleator.learning.holdem.examples import Examples, Labelling
from aleator.learning.holdem.fitting import FitConfig, errors_of, fit, measure
from aleator.learning.holdem.model import HoldemModel, load_holdem_model
from aleator.learning.holdem.network import HoldemValueNetwork, check_network
from aleator.learning.holdem.networks import make_network
from aleator.learning.holdem.self_play import SelfPlay, SelfPlayConfig
from aleator.learning.holdem.slices import (
    HELD_OUT_SEED,
    METRICS,
    SMALLEST_DECK,
    Report,
    preset,
    read_metrics,
    write_metrics,
)
from aleator.learning.holdem.streets import STREETS
from aleator.learning.holdem.teaching import ExampleMaker
from aleator.learning.seeds import new_generator
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.storage import check_writable, exclusive, make_folder

_FIT_PART = 0.4  # of the time of a slice
_LAST_RATE = 0.1  # of the learning rate, that the last epochs have
_RANDOM = {  # as many as seconds allow: a preflop situation takes 1,755 flops, a river one solve
    "river": 131_072,
    "turn": 32_768,
    "turn-start": 16_384,
    "flop": 16_384,
    "flop-start": 16_384,
    "preflop": 8_192,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlaySlice:
    """One slice of self-play.

    Attributes:
        play: how hands are played.
        epochs: generations of hands, each followed by a fit of every network; fewer if the minutes are over.
        fit: of one network in one epoch.
        random: situations by street that are fitted along with what is played.
        held_out: random situations of each street that are only measured.
        minutes: of the slice, the epoch under way included if it is half over.
        cards: size of the deck, from the aces down.
        networks: the preset whose network sizes are taken where there is no network yet.
        untrained: whether networks that are missing begin untrained, which check down; if not, they are asked for.
        seed: of all randomness; slices that follow each other differ anyway.
    """

    play: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    epochs: int = 1_000
    fit: FitConfig = field(
        default_factory=lambda: FitConfig(steps=200, batch=2_048, learning_rate=2e-4, warm_up=30, compiled=False)
    )
    random: Mapping[str, int] = field(default_factory=lambda: dict(_RANDOM))
    held_out: int = 1_024
    minutes: float = 9.0
    cards: int = NUM_CARDS
    networks: str = "slice"
    untrained: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise SolveError(f"epochs must be at least 1, not {self.epochs}")
        if unknown := set(self.random) - set(STREETS):
            raise SolveError(f"no street {min(unknown)!r}; allowed: {', '.join(STREETS)}")
        for name, count in {**self.random, "held-out": self.held_out}.items():
            if count < 0:
                raise SolveError(f"{name} situations must be 0 or more, not {count}")
        if not self.minutes > 0:
            raise SolveError(f"minutes of a slice must be positive, not {self.minutes}")
        if not SMALLEST_DECK <= self.cards <= NUM_CARDS or self.cards % 4:
            raise SolveError(f"a deck of self-play has {SMALLEST_DECK}, 20, ... {NUM_CARDS} cards, not {self.cards}")


def self_play_preset(name: str) -> SelfPlaySlice:
    """Returns the settings of that name: "slice" for a GPU, "small" for a minute on a CPU: 16 cards, short stacks."""
    if name == "slice":
        return SelfPlaySlice()
    if name == "small":
        play = SelfPlayConfig(
            hands=96,
            preflop=8,
            chunk=96,
            ends=32,
            preflop_ends=32,
            rivers=2,
            stacks=(1_500, 2_500),
            labelling=Labelling(iterations=20),
        )
        fitted = FitConfig(steps=60, batch=64, warm_up=10, learning_rate=1e-3)
        return SelfPlaySlice(
            play=play,
            epochs=3,
            fit=fitted,
            random=dict.fromkeys(STREETS, 16),
            held_out=16,
            minutes=inf,
            cards=SMALLEST_DECK,
            networks="small",
            untrained=True,
        )
    raise SolveError(f"no preset {name!r}; allowed: slice, small")


class SelfPlaySlices:
    """The slices of one set of networks in a directory."""

    def __init__(self, path: Path, *, device: torch.device | str = "cpu") -> None:
        self.path, self.device = path, torch.device(device)

    def metrics(self) -> list[dict[str, Any]]:
        """Returns a line per finished slice."""
        return read_metrics(self.path / METRICS)

    def run(
        self, config: SelfPlaySlice, *, start: Path | None = None, report: Report = lambda part, text: None
    ) -> dict[str, Any]:
        """Runs one slice and returns its line of metrics.

        Args:
            config: the slice.
            start: a directory with networks by street to begin with.
            report: told how far the slice is; it may raise KeyboardInterrupt, after which the same call goes on.
        """
        make_folder(self.path)
        check_writable(self.path / METRICS)
        with exclusive(self.path / ".lock", f"another run is training in {self.path}"):
            past = self.metrics()
            models = {name: self._begin(name, config, start) for name in STREETS}
            line = self._train(config, models, past, report)
            write_metrics(self.path / METRICS, [*past, line])
            return line

    def _begin(self, name: str, config: SelfPlaySlice, start: Path | None) -> HoldemModel:
        """Returns the network that a slice begins with: its own, another directory's, or an untrained one."""
        folders = [self.path, *([start] if start else [])]
        for file in (folder / f"{name}.safetensors" for folder in folders):
            if file.exists():
                model = load_holdem_model(file, device=self.device)
                check_network(model.network, name, config.cards, file)
                return model if file.parent == self.path else HoldemModel(model.network)
        if not config.untrained:
            raise SolveError(
                f"there is no network of the street {name} in {' or '.join(str(folder) for folder in folders)}: train "
                f"it with aleator train holdem --street {name}, and keep it as {name}.safetensors"
            )
        shape = preset(config.networks, name).network
        generator = torch.Generator("cpu").manual_seed(config.seed)
        return HoldemModel(make_network(shape, config.cards - STREETS[name].board, generator).to(self.device))

    def _train(
        self, config: SelfPlaySlice, models: dict[str, HoldemModel], past: list[dict[str, Any]], report: Report
    ) -> dict[str, Any]:
        number = len(past) + 1
        networks = {name: model.network for name, model in models.items()}
        states = [model.report for model in models.values()]
        state = min(states, key=lambda each: (each.get("slice", 0), each.get("epoch", 0)))
        if state.get("slice") != number:
            state = {"slice": number, "epoch": 0, "seconds": {"play": 0.0, "fit": 0.0}, "rows": {}, "streets": {}}
        deck = Deck(range(NUM_CARDS - config.cards, NUM_CARDS), device=self.device)
        play, limit = SelfPlay(config.play, deck, networks), 60.0 * config.minutes
        started = time.monotonic()
        replay = self._random(config.random, config, deck, networks, report) if state["epoch"] < config.epochs else {}
        aside = self._random(
            dict.fromkeys(STREETS, config.held_out),
            replace(config, seed=config.seed + HELD_OUT_SEED),
            deck,
            networks,
            report,
        )
        state.setdefault("random", {name: {"at_first": asdict(measure(networks[name], aside[name]))} for name in aside})
        self._synchronise()
        state["seconds"]["random"] = state["seconds"].get("random", 0.0) + time.monotonic() - started
        while state["epoch"] < config.epochs:
            spent = sum(state["seconds"].values())
            if state["epoch"] and spent + 0.5 * spent / state["epoch"] > limit:
                break
            state = self._epoch(config, play, networks, replay, state, report)
            for name, network in networks.items():
                HoldemModel(network, state).save(self.path / f"{name}.safetensors")
        spent = sum(state["seconds"].values())
        for name, examples in aside.items():
            state["random"][name]["at_last"] = asdict(measure(networks[name], examples))
        return {
            **state,
            "hands": state["epoch"] * config.play.hands,
            "all_seconds": spent + sum(sum(line["seconds"].values()) for line in past),
            "device": torch.cuda.get_device_name() if self.device.type == "cuda" else "cpu",
            "seed": config.seed,
        }

    def _random(
        self,
        counts: Mapping[str, int],
        config: SelfPlaySlice,
        deck: Deck,
        networks: dict[str, HoldemValueNetwork],
        report: Report,
    ) -> dict[str, Examples]:
        """Returns so many random situations by street, as `aleator train holdem` makes them."""
        made: dict[str, Examples] = {}
        for number, (name, street) in enumerate(STREETS.items()):
            if not (count := counts.get(name, 0)):
                continue
            report(0.0, f"{count:,} random situations of the {street}")
            teacher = networks[street.teacher] if street.teacher else None
            usual = preset(config.networks, name)
            maker = ExampleMaker(street, deck, config.play.labelling, teacher, shared=usual.shared)
            generator = new_generator(self.device, config.seed, number)
            parts = [min(usual.chunk, count - first) for first in range(0, count, usual.chunk)]
            made[name] = _joined(*(maker.make(part, generator) for part in parts))
        return made

    def _epoch(
        self,
        config: SelfPlaySlice,
        play: SelfPlay,
        networks: dict[str, HoldemValueNetwork],
        replay: dict[str, Examples],
        state: dict[str, Any],
        report: Report,
    ) -> dict[str, Any]:
        """Plays a generation, measures and fits; returns what is known then."""
        epoch, seconds, rows, streets = (
            state["epoch"],
            dict(state["seconds"]),
            dict(state["rows"]),
            dict(state["streets"]),
        )
        seed = config.seed + 1_000_003 * state["slice"] + 7_919 * epoch
        generator = torch.Generator(self.device).manual_seed(seed)
        done = min(0.99, max(epoch / config.epochs, sum(seconds.values()) / (60.0 * config.minutes)))
        report(done, f"epoch {epoch + 1}: playing {config.play.hands:,} hands")
        started = time.monotonic()
        generation = play.generation(generator)
        self._synchronise()
        played = time.monotonic()
        limit = _FIT_PART / (1 - _FIT_PART) * (played - started) / max(len(generation), 1)
        for name, examples in generation.items():
            before = asdict(measure(networks[name], examples))
            at_first = streets.get(name, {}).get("at_first", before)
            replay[name] = _joined(*([replay[name]] if name in replay else []), examples)
            report(done, f"epoch {epoch + 1}: fitting {name}, {len(replay[name]):,} examples")
            bound = limit if config.minutes < inf else inf
            rate = config.fit.learning_rate * max(_LAST_RATE, 1.0 - done)
            fitted = replace(config.fit, batch=min(config.fit.batch, len(replay[name])), learning_rate=rate)
            _, loss = fit(networks[name], replay[name], fitted, generator, seconds=bound)
            rows[name] = rows.get(name, 0) + len(examples)
            checked = asdict(errors_of(examples.rows[:, 2:4], examples))
            streets[name] = {"checked": checked, "at_first": at_first, "unseen": before, "loss": loss}
        self._synchronise()
        seconds["play"] += played - started
        seconds["fit"] += time.monotonic() - played
        return {**state, "epoch": epoch + 1, "seconds": seconds, "rows": rows, "streets": streets}

    def _synchronise(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def _joined(*parts: Examples) -> Examples:
    return Examples(*(torch.cat(fields) for fields in zip(*parts, strict=True)))
