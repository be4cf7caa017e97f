"""What the commands that train share: times in words, curves for TensorBoard, directories, commands that go on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aleator.errors import MissingExtraError

PLAIN_SECONDS = 10.0  # between lines where there is no terminal to move a bar on


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
    return next(
        path for path in (Path("runs") / f"{stem}-{place}" for place in range(1, 1_000_000)) if not path.exists()
    )


def resume_command(method: str, path: Path, asked: Mapping[str, Any], usual: Mapping[str, Any]) -> str:
    """Returns the command that goes on with a run, given the options of how to run it, which the run does not keep."""
    words = ["aleator", "train", method, "--resume", str(path)]
    for name, value in asked.items():
        if value is not None and value is not False and value != usual.get(name):
            words += [name] if value is True else [name, str(value)]
    return shlex.join(words)
