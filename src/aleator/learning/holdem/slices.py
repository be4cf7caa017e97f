"""Training a hold'em value network in slices: each takes the last network, makes examples, fits, measures, writes.

A slice is one run of some minutes. Its directory has `network.safetensors`, the newest network, and `metrics.jsonl`, a
line per slice with what it cost and the errors on situations that no slice trains on. While it fits, a slice keeps
`partial.safetensors`: killed at any time, the same command makes its examples again and goes on from there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import torch

from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_CARDS
from aleator.learning.holdem.bucket_network import LAYERS, WIDTH
from aleator.learning.holdem.chunks import Chunk, ChunkMaker, Teacher, make_examples
from aleator.learning.holdem.examples import Labelling
from aleator.learning.holdem.fitting import FitConfig, fit, measure
from aleator.learning.holdem.model import HoldemModel, load_holdem_model
from aleator.learning.holdem.network import HoldemValueNetwork, NetworkShape, check_network
from aleator.learning.holdem.networks import make_network
from aleator.learning.holdem.shipped import shipped_holdem_path
from aleator.learning.holdem.streets import STREETS, street_named
from aleator.storage import StorageError, check_writable, exclusive, make_folder, replace_file
from aleator.workers.base import Crew, Here, Workers

NETWORK, PARTIAL, METRICS = "network.safetensors", "partial.safetensors", "metrics.jsonl"
_CHECKPOINT_SECONDS = 30.0
HELD_OUT_SEED = 999_983  # of situations that are only measured
SMALLEST_DECK = 16
MOST_BUCKETS = 5_000  # of a network that a file may hold
Report = Callable[[float, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceConfig:
    """One slice of training.

    Attributes:
        network: the sizes of a network that begins; a network that goes on keeps its own.
        examples: solved or priced by a network, this slice.
        held_out: examples that are only measured.
        chunk: examples made at a time.
        shared: examples on one board (starts of turns, and flops).
        labelling: how what is solved is solved.
        held_out_labelling: how held-out examples are solved.
        fit: how the network is fitted.
        seconds: what the fit may take at most.
        minutes: what the slice may take in all, compiling and measuring not counted: half of it for examples.
        stacks: uniform between these numbers of pots; None for DeepStack's pots and 20,000 chips.
        cards: size of the deck, from the aces down; 52 unless for tests.
        seed: of all randomness; slices that follow each other differ anyway.
    """

    network: NetworkShape = field(default_factory=NetworkShape)
    examples: int = 1_000_000
    held_out: int = 8_192
    chunk: int = 16_896
    shared: int = 1
    labelling: Labelling = field(default_factory=Labelling)
    held_out_labelling: Labelling = field(default_factory=lambda: Labelling(iterations=1_000, deep_iterations=2_000))
    fit: FitConfig = field(default_factory=lambda: FitConfig(steps=40_000))
    seconds: float = 600.0
    minutes: float = inf
    stacks: tuple[float, float] | None = None
    cards: int = NUM_CARDS
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("examples", "held_out", "chunk", "shared"):
            if getattr(self, name) < 1:
                raise SolveError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not SMALLEST_DECK <= self.cards <= NUM_CARDS:
            raise SolveError(f"a deck has {SMALLEST_DECK} to {NUM_CARDS} cards, not {self.cards}")
        if self.stacks is not None and not 0.0 < self.stacks[0] <= self.stacks[1] < inf:
            raise SolveError(f"stacks must be two positive numbers of pots, the smaller first, not {self.stacks}")
        if not self.seconds > 0:
            raise SolveError(f"seconds of a fit must be positive, not {self.seconds}")
        if not self.minutes > 0:
            raise SolveError(f"minutes of a slice must be positive, not {self.minutes}")

    @property
    def live_cards(self) -> int:
        """Cards beside the board."""
        return self.cards - STREETS[self.network.street].board


def preset(name: str, street: str) -> SliceConfig:
    """Returns the settings of that name: "slice" for a GPU, "small" for a minute on a CPU: 16 cards, short stacks."""
    rules = street_named(street)
    if name == "slice":
        return _large(street)
    if name == "small":
        solved = Labelling(iterations=60 if rules.board > 3 and street != "turn-start" else 30)
        few = 640 if rules.starts else 256
        return SliceConfig(
            network=NetworkShape(
                street=street, width=64, layers=2, knots=16, levels=min(rules.levels, 3), bands=4, band_knots=8
            ),
            examples=1_536 if street == "river" else few,
            held_out=256 if street == "river" else 64,
            chunk=256,
            shared=4 if rules.board == 3 or street == "turn-start" else 1,
            labelling=solved,
            held_out_labelling=solved,
            fit=FitConfig(steps=500 if street == "river" else 300, batch=128, warm_up=30, learning_rate=3e-3),
            stacks=(0.5, 1.0),
            cards=SMALLEST_DECK,
        )
    raise SolveError(f"no preset {name!r}; allowed: slice, small")


def _large(street: str) -> SliceConfig:
    """Returns a slice for a GPU; all six networks are shipped, 48 MiB together at most."""
    levels, low_rate = STREETS[street].levels, FitConfig(steps=40_000, learning_rate=7e-4)
    shape = NetworkShape(street=street, width=1120, layers=5, knots=64, levels=levels)
    rounds = Labelling(iterations=250, deep_iterations=250)
    longer = Labelling(iterations=500, deep_iterations=500)
    if street == "river":
        return SliceConfig(network=NetworkShape(width=1280, layers=5))
    if street == "turn":
        solved = Labelling(iterations=500, deep_iterations=1_000)
        return SliceConfig(network=shape, held_out=1_056, chunk=8_448, held_out_labelling=solved)
    if street == "preflop":
        small = NetworkShape(street=street, width=384, layers=4, knots=32, levels=3, by_class=True)
        return SliceConfig(network=small, held_out=2_048, chunk=4_096, examples=200_000, fit=low_rate)
    return SliceConfig(
        network=shape,
        examples=400_000,
        held_out=2_048 if STREETS[street].starts else 1_024,
        chunk=8_448,
        shared=8,
        labelling=rounds,
        held_out_labelling=longer,
        fit=low_rate,
    )


def bucketed(shape: NetworkShape, buckets: int) -> NetworkShape:
    """Returns the shape of DeepStack's network with so many buckets, for the street of another shape."""
    if not 1 <= buckets <= MOST_BUCKETS:
        raise SolveError(f"buckets must be 1 to {MOST_BUCKETS:,}, not {buckets:,}")
    return NetworkShape(street=shape.street, width=WIDTH, layers=LAYERS, buckets=buckets)


def teacher_of(config: SliceConfig, path: Path | None = None) -> HoldemValueNetwork | None:
    """Returns the network that a slice's examples are made with.

    Args:
        config: the slice.
        path: its file; None for the shipped one, and for solved rivers below the turn.

    Raises:
        SolveError: it is of another street or deck.
        StorageError: the file cannot be read.
    """
    street = STREETS[config.network.street]
    if street.teacher is None:
        if path is not None:
            raise SolveError("rivers are solved to the end: --teacher is for the streets before")
        return None
    if path is None:
        if street.name == "turn":
            return None
        path = shipped_holdem_path(street.teacher)
    network = load_holdem_model(path).network
    check_network(network, street.teacher, config.cards, path)
    return network


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Returns the lines of a file of metrics; none if it is not there.

    Raises:
        StorageError: it cannot be read.
    """
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot read {path}: {error}") from error


def write_metrics(path: Path, lines: list[dict[str, Any]]) -> None:
    """Writes the lines of a file of metrics, replacing it atomically."""
    replace_file(path, ["".join(json.dumps(line) + "\n" for line in lines).encode()])


class Slices:
    """The slices of one network in a directory."""

    def __init__(self, path: Path, *, device: torch.device | str = "cpu") -> None:
        self.path, self.device = path, torch.device(device)

    def metrics(self) -> list[dict[str, Any]]:
        """Returns a line per finished slice."""
        return read_metrics(self.path / METRICS)

    def latest(self) -> HoldemModel | None:
        """Returns the newest network, None before the first slice."""
        file = self.path / NETWORK
        return load_holdem_model(file, device=self.device) if file.exists() else None

    def run(
        self,
        config: SliceConfig,
        *,
        teacher: HoldemValueNetwork | None = None,
        workers: Workers | None = None,
        report: Report = lambda part, text: None,
    ) -> dict[str, Any]:
        """Runs one slice and returns its line of metrics.

        Args:
            config: the slice.
            teacher: the network of the street after, which examples are made with; None where rivers are solved.
                Held-out situations of the turn are always solved.
            workers: who makes the examples, which are the same whoever does on processors that round alike; None for
                this process.
            report: told how far the slice is; it may raise KeyboardInterrupt, after which the same call goes on.
        """
        make_folder(self.path)
        check_writable(self.path / NETWORK)
        with exclusive(self.path / ".lock", f"another run is training in {self.path}"):
            model = self.latest()
            past = self._mended(model)
            network, workers = self._begin(config, model), workers or Here()
            sent = Teacher.of(teacher) if teacher else None
            prepare = partial(ChunkMaker, config, sent, str(self.device), away=not isinstance(workers, Here))
            with workers.hire(prepare) as crew:
                line = self._train(config, network, past, sent is not None, crew, report)
            HoldemModel(network, line).save(self.path / NETWORK)
            (self.path / PARTIAL).unlink(missing_ok=True)
            write_metrics(self.path / METRICS, [*past, line])
            return line

    def _mended(self, model: HoldemModel | None) -> list[dict[str, Any]]:
        """Returns the lines of all finished slices; one that was killed between its two files is added."""
        lines = self.metrics()
        if model and model.report.get("slice", 0) > len(lines):
            lines.append(model.report)
            write_metrics(self.path / METRICS, lines)
        return lines

    def _begin(self, config: SliceConfig, model: HoldemModel | None) -> HoldemValueNetwork:
        """Returns the network that a slice begins with."""
        if model is None:
            fresh = make_network(config.network, config.live_cards, _generator("cpu", config.seed))
            return fresh.to(self.device)
        network = model.network
        check_network(network, config.network.street, config.cards, self.path / NETWORK)
        asked, own = config.network.buckets, network.shape.buckets
        if asked not in (0, own):
            raise SolveError(
                f"{self.path} has a network {f'with {own:,}' if own else 'without'} buckets; asked for are {asked:,}: "
                "choose another directory"
            )
        return network

    def _train(
        self,
        config: SliceConfig,
        network: HoldemValueNetwork,
        past: list[dict[str, Any]],
        taught: bool,
        crew: Crew,
        report: Report,
    ) -> dict[str, Any]:
        number, started = len(past) + 1, time.monotonic()
        priced = taught and config.network.street != "turn"  # turns are always solved
        aside = Chunk(config.held_out, config.held_out_labelling, priced, HELD_OUT_SEED)
        held_out = make_examples(crew, config, aside, self.device, report)
        prepared = time.monotonic()
        generator = _generator(self.device, config.seed + 1_000_003 * number)
        until = prepared + 30.0 * config.minutes
        whole = Chunk(config.examples, config.labelling, taught, generator.initial_seed())
        examples = make_examples(crew, config, whole, self.device, report, until)
        made = time.monotonic()
        seconds = min(config.seconds, max(1.0, 60.0 * config.minutes - (made - started)))
        before = measure(network, held_out)
        first = self._resume(network, number)
        saved = time.monotonic()

        def keep(step: int) -> None:
            nonlocal saved
            HoldemModel(network, {"slice": number, "steps": step}).save(self.path / PARTIAL)
            saved = time.monotonic()

        def on_step(step: int, loss: float) -> None:
            try:
                report(step / config.fit.steps, f"fitting, loss {loss:.2e}")
            except KeyboardInterrupt:
                keep(step)
                raise
            if time.monotonic() - saved > _CHECKPOINT_SECONDS:
                keep(step)

        steps, loss = fit(network, examples, config.fit, generator, first=first, seconds=seconds, on_step=on_step)
        self._synchronise()
        fitted = time.monotonic()
        return {
            "slice": number,
            "street": network.shape.street,
            "examples": len(examples),
            "all_examples": len(examples) + sum(line["examples"] for line in past),
            "labels": "network" if taught else "solved",
            "held_out": len(held_out),
            "steps": steps,
            "loss": loss,
            "seconds": {"held_out": prepared - started, "examples": made - prepared, "fit": fitted - made},
            "all_seconds": fitted - started + sum(sum(line["seconds"].values()) for line in past),
            "workers": crew.count,
            "replaced": crew.replaced,
            "device": torch.cuda.get_device_name() if self.device.type == "cuda" else "cpu",
            "seed": config.seed,
            "before": asdict(before),
            "errors": asdict(measure(network, held_out)),
        }

    def _resume(self, network: HoldemValueNetwork, number: int) -> int:
        """Takes the parameters of a killed run of the same slice, if there are some; returns its steps."""
        path = self.path / PARTIAL
        if not path.exists():
            return 0
        begun = load_holdem_model(path, device=self.device)
        if begun.report.get("slice") != number or begun.network.shape != network.shape:
            return 0
        network.load_state_dict(begun.network.state_dict())
        return int(begun.report["steps"])

    def _synchronise(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def errors_line(errors: Mapping[str, float]) -> str:
    """Returns errors (the fields of `Errors`) as people read them."""
    return (
        f"range-weighted {errors['weighted']:.4f}, EV {errors['ev']:.4f}, mean {errors['absolute']:.4f}, "
        f"Huber {errors['huber']:.4f} pots"
    )


def _generator(device: torch.device | str, seed: int) -> torch.Generator:
    return torch.Generator(device).manual_seed(seed)
