"""`aleator train rebel --game hunl`: hold'em's networks of all streets by self-play, one slice at a time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from aleator.apps.cli.output import out
from aleator.apps.cli.train_holdem import run_slice
from aleator.errors import SolveError

GAME = "hunl"


def train_hunl(
    *,
    computed_on: str,
    preset: str | None,
    output: Path | None,
    start: Path | None,
    minutes: float | None,
    seed: int | None,
    refused: dict[str, Any],
    json: bool,
) -> None:
    """Runs one slice and prints what it found.

    Args:
        computed_on: cpu or cuda.
        preset: slice or small; by default as the device is.
        output: the directory of the networks, one per street; by default runs/hunl.
        start: a directory of networks to begin with; by default the shipped ones, with the small preset none.
        minutes: of the slice.
        seed: of all randomness.
        refused: options that do not belong to a slice, by name, with what was given.
        json: whether to print JSON.
    """
    for name, given in refused.items():
        if given:
            raise SolveError(f"self-play of hunl runs in slices, which go on by themselves: leave out {name}")
    from aleator.learning.holdem.self_play_slices import SelfPlaySlices, self_play_preset
    from aleator.learning.holdem.slices import errors_line
    from aleator.shipped import directory

    name = preset or ("slice" if computed_on == "cuda" else "small")
    config = self_play_preset(name)
    changed: dict[str, Any] = {"minutes": minutes, "seed": seed}
    config = replace(config, **{key: value for key, value in changed.items() if value is not None})
    if start is None and name == "slice":
        start = directory() / "holdem"
    if start is not None and not start.is_dir():
        raise SolveError(f"--from {start}: with --game {GAME} this is a directory with networks by street")
    run = SelfPlaySlices(output or Path("runs") / GAME, device=computed_on)
    line = run_slice("self-play", run.path, partial(run.run, config, start=start), json=json)
    if line is None:
        return
    out.print(f"slice {line['slice']} in {run.path}: {line['hands']:,} hands in {line['epoch']} epochs")
    for street, errors in line["streets"].items():
        out.print(f"{street}, {line['rows'][street]:,} examples; errors on what was played, before it was fitted")
        out.print(f"  checking down   {errors_line(errors['checked'])}")
        out.print(f"  network, first  {errors_line(errors['at_first'])}")
        out.print(f"  network, last   {errors_line(errors['unseen'])}")
    for street, errors in line["random"].items():
        out.print(f"{street}, random situations that are only measured")
        out.print(f"  network, first  {errors_line(errors['at_first'])}")
        out.print(f"  network, last   {errors_line(errors['at_last'])}")
