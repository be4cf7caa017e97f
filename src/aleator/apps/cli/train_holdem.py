"""`aleator train holdem`: a value network of hold'em, one slice of training at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from aleator.apps.cli.device import check_device
from aleator.apps.cli.output import note, out, print_json
from aleator.apps.cli.stopping import end
from aleator.apps.cli.training import reporting
from aleator.apps.cli.workers import Processes, Ray, chosen_workers
from aleator.parsing import MAX_SEED, MAX_THREADS


def holdem(
    street: Annotated[str, typer.Option(help="river (its start), turn (its end, before the river card), turn-start, "
                                        "flop (its end), flop-start or preflop (its end).")] = "river",
    output: Annotated[Path | None, typer.Option("--out", help="The directory; default: runs/holdem-STREET.")] = None,
    preset: Annotated[str | None, typer.Option(help="slice (default on a GPU) or small (default on a CPU: a minute, "
                                               "16 cards).")] = None,
    teacher: Annotated[Path | None, typer.Option(help="The network of the next street; by default the shipped one; "
                                                 "rivers below the turn are solved.")] = None,
    buckets: Annotated[int | None, typer.Option(help="Begin with a network like DeepStack's, which sees hands in so "
                                                "many buckets (there 1000), seven layers of 500 units.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Minutes of the slice, half of them for examples.")] = None,
    examples: Annotated[int | None, typer.Option(min=1, help="Situations of this slice.")] = None,
    held_out: Annotated[int | None, typer.Option(min=1, help="Situations to measure on, never trained on.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps of the fit.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds that the fit may take.")] = None,
    rate: Annotated[float | None, typer.Option(help="Highest learning rate of the fit.")] = None,
    cards: Annotated[int | None, typer.Option(help="Size of the deck, 16 to 52, from the aces down.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    threads: Annotated[int | None, typer.Option(min=1, max=MAX_THREADS, help="Threads on a CPU; default: all.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of all randomness.")] = 0,
    processes: Processes = None,
    ray: Ray = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Train a value network of hold'em: one slice. The next goes on from the directory's network, also after Ctrl-C.
    The first example takes a minute or two.

    Examples:  aleator train holdem --street river --preset small --device cpu  |  aleator train holdem --street river
    --out runs/river  |  aleator train holdem --street turn --teacher runs/river/network.safetensors --device cuda  |
    aleator train holdem --street turn-start --minutes 9 --device cuda
    """
    place = check_device(device, threads)
    from aleator.learning.holdem import slices

    config = slices.preset(preset or ("slice" if place == "cuda" else "small"), street)
    fit: dict[str, Any] = {"steps": steps, "learning_rate": rate}
    changed: dict[str, Any] = {
        "examples": examples,
        "held_out": held_out,
        "seconds": seconds,
        "minutes": minutes,
        "cards": cards,
        "seed": seed,
    }
    changed["fit"] = replace(config.fit, **{name: value for name, value in fit.items() if value is not None})
    config = replace(config, **{name: value for name, value in changed.items() if value is not None})
    if buckets is not None:
        config = replace(config, network=slices.bucketed(config.network, buckets))
    network = slices.teacher_of(config, teacher)
    run = slices.Slices(output or Path("runs") / f"holdem-{street}", device=place)
    workers = chosen_workers(processes, ray, usual=1, gpus=place == "cuda")
    work = partial(run.run, config, teacher=network, workers=workers)
    line = run_slice(f"{street} network", run.path, work, json=json)
    if line is None:
        return
    done = f"{line['examples']:,} examples, {line['steps']:,} steps"
    out.print(f"slice {line['slice']} of the {street} network in {run.path}: {done}")
    out.print(f"before   {slices.errors_line(line['before'])}")
    out.print(f"after    {slices.errors_line(line['errors'])}")


def run_slice(title: str, path: Path, run: Callable[..., dict[str, Any]], *, json: bool) -> dict[str, Any] | None:
    """Runs a slice in a directory with its progress shown, and prints its line as JSON if that is asked for.

    Returns:
        the line, for people to be told; None if there is nothing left to say.
    """
    with reporting(title, quiet=json) as report:
        try:
            line = run(report=report)
        except KeyboardInterrupt:
            note(f"stopped; the same command goes on with the slice in {path}")
            end(stopped=True)
            return None
    if json:
        print_json({"directory": str(path), **line})
        return None
    return line
