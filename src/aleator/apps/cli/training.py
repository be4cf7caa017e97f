"""What the commands that train share: settings, progress, curves for TensorBoard, directories, commands that go on."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from aleator.apps.cli.output import err, note, out, progress_bar
from aleator.apps.cli.stopping import interruptible
from aleator.errors import MissingExtraError, SolveError
from aleator.parsing import MAX_SEED

PLAIN_SECONDS = 10.0  # between lines where there is no terminal to move a bar on
CHECKPOINT_SECONDS = 60.0

Device = Annotated[str, typer.Option(help="cpu, cuda or auto.")]
Out = Annotated[Path | None, typer.Option("--out", help="The directory of the run; by default a new one in runs/.")]
Resume = Annotated[Path | None, typer.Option(help="Continue the run in this directory.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Change a setting of the preset; may be repeated. A wrong name lists all."
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, max=MAX_SEED, help="Seed of all randomness.")]
CheckpointEvery = Annotated[float, typer.Option(help="Seconds between checkpoints.")]
TensorBoard = Annotated[bool, typer.Option("--tensorboard", help="Write curves for TensorBoard, too.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def check_resumed(given: Mapping[str, Any]) -> None:
    """Raises SolveError if one of the options, by name, is given that a resumed run has settled already."""
    for name, value in given.items():
        if value is not None:
            raise SolveError(f"a resumed run keeps its settings and directory: leave out {name}")


def parse_changes(parse: Callable[[str], tuple[str, Any]], texts: list[str] | None, seed: int | None) -> dict[str, Any]:
    """Returns the settings that --set and --seed change, each text read by `parse`."""
    changes = dict(parse(text) for text in texts or [])
    if "game" in changes:
        raise SolveError("the game is set by --game")
    return changes if seed is None else changes | {"seed": seed}


@contextmanager
def watching(title: str, *, quiet: bool, begun: float = 0.0) -> Iterator[Callable[[float, str], None]]:
    """Yields what shows the share done and a text: a moving line, or a plain one every few seconds with the time left.

    Args:
        title: of the bar.
        quiet: show nothing.
        begun: the share that was done before.
    """
    last = start = time.monotonic()
    with progress_bar(title, quiet=quiet) as move:

        def show(share: float, text: str) -> None:
            nonlocal last
            move(share, text)
            now = time.monotonic()
            if not quiet and not err.is_terminal and (now - last >= PLAIN_SECONDS or share >= 1.0):
                last = now
                left = (now - start) / (share - begun) * (1.0 - share) if share > begun else 0.0
                note(f"{text}, {duration(max(left, 0.0))} left" if left else text)

        yield show


@contextmanager
def reporting(title: str, *, quiet: bool) -> Iterator[Callable[[float, str], None]]:
    """Yields what is told the share done and a text, and shows them; it raises KeyboardInterrupt after Ctrl-C."""
    with interruptible() as pressed, watching(title, quiet=quiet) as show:

        def report(share: float, text: str) -> None:
            show(share, text)
            if pressed():
                raise KeyboardInterrupt

        yield report


def tell_stopped(epoch: int, epochs: int, again: str) -> None:
    """Prints that a run has been stopped, and the command that goes on with it."""
    out.print(f"stopped after epoch {epoch:,} of {epochs:,}; go on with")
    out.print(f"  {again}", soft_wrap=True)


def duration(seconds: float) -> str:
    """Returns a time as people say it."""
    for unit, length in (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.1f} {unit}"
    return "1 second" if round(seconds) == 1 else f"{seconds:.0f} seconds"


def check_tensorboard(wanted: bool) -> None:
    """Raises MissingExtraError if curves for TensorBoard are wanted, but it is not installed."""
    if wanted and find_spec("tensorboard") is None:
        raise MissingExtraError("tensorboard", "tensorboard")


class Curves:
    """Curves for TensorBoard, in the directory of a run; does nothing without one."""

    def __init__(self, path: Path | None, epoch: int) -> None:
        self._writer: Any = None
        if path is None:
            return
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(path / "tensorboard"), purge_step=epoch + 1)

    def __enter__(self) -> Curves:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._writer:
            self._writer.close()

    def add(self, line: dict[str, Any]) -> None:
        """Adds a point to each curve."""
        for name, value in line.items() if self._writer else ():
            if name not in ("epoch", "searches", "seconds") and value is not None:
                self._writer.add_scalar(name, value, line["epoch"])


def free_directory(game: str, preset: str) -> Path:
    """Returns a directory in runs/ that is not there yet."""
    stem = f"{game}-{preset}".replace(":", "-").replace("/", "-")
    return next(path for number in range(1, 1_000_000) if not (path := Path("runs") / f"{stem}-{number}").exists())


def resume_command(method: str, path: Path, asked: Mapping[str, Any], usual: Mapping[str, Any]) -> str:
    """Returns the command that goes on with a run, given the options of how to run it, which the run does not keep."""
    words = ["aleator", "train", method, "--resume", str(path)]
    for name, value in asked.items():
        if value is not None and value is not False and value != usual.get(name):
            words += [name] if value is True else [name, str(value)]
    return shlex.join(words)
