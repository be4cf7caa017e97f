"""Runs of an experiment that are kept in a folder, so that one that was stopped goes on where it was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from aleator.apps.papers.base import PaperError
from aleator.storage import check_object, parse_json, replace_file

_FORMAT = "aleator run 1"
Result = TypeVar("Result")


def run_file(folder: Path | None, name: str) -> Path | None:
    """Returns the file of a run, or None where nothing is kept."""
    return None if folder is None else folder / f"{name.replace(' ', '-')}.json"


def plain_name(name: str) -> str:
    """Returns a name of letters, digits, dots and dashes, which every file system takes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


def keep_run(file: Path | None, about: Mapping[str, Any], result: Any) -> None:
    """Keeps what a run has found, a JSON value, with the settings that it was found by."""
    if file is not None:
        text = json.dumps({"format": _FORMAT, "about": about, "result": result}, allow_nan=False)
        replace_file(file, [text.encode()])


def read_run(file: Path | None, about: Mapping[str, Any], decode: Callable[[Any], Result]) -> Result | None:
    """Returns what was kept, or None where there is no file.

    Args:
        file: of the run.
        about: its settings.
        decode: makes the result of a JSON value; raises ValueError or TypeError if that is something else.

    Raises:
        PaperError: the file is damaged, or of a run with other settings.
    """
    if file is None or not file.exists():
        return None
    try:
        kept = check_object(parse_json(file.read_bytes()), {"format": str, "about": dict, "result": object})
        if kept["format"] != _FORMAT:
            raise ValueError("it has another format")
        if kept["about"] == json.loads(json.dumps(about)):
            return decode(kept["result"])
    except (OSError, ValueError, TypeError) as error:
        raise PaperError(f"{file} cannot be read as a kept run: {error}") from error
    raise PaperError(f"{file} was made by other settings: keep these runs in another folder")


def run_once(
    file: Path | None,
    about: Mapping[str, Any],
    make: Callable[[], Result],
    decode: Callable[[Any], Result],
    encode: Callable[[Result], Any] = lambda result: result,
) -> Result:
    """Returns what was kept of a run; if there is nothing, makes it and keeps it.

    Args:
        file: of the run; None if nothing is kept.
        about: its settings.
        make: runs it.
        decode: as `read_run` takes it.
        encode: makes a JSON value of the result.

    Raises:
        PaperError: the file is damaged, or of a run with other settings.
    """
    result = read_run(file, about, decode)
    if result is None:
        result = make()
        keep_run(file, about, encode(result))
    return result
