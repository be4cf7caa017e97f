"""The files that the names of agents speak of, in the versions they have now.

A match that goes on from a file must be between the same agents. A name such as ``python:nit.py:Nit`` or
``blueprint:run/blueprint.bin`` says which file an agent is made of; its contents say which agent that is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from aleator.errors import AgentError

_BETWEEN = re.compile(r"[:,=]")  # what stands between the words of an agent's name


def versions_of_files(names: Iterable[str]) -> dict[str, str]:
    """Returns a digest of each file, and of each directory of networks, that the names of agents speak of.

    Raises:
        AgentError: one cannot be read.
    """
    words = {word for name in names for word in _BETWEEN.split(name)[1:] if word}
    return {word: _digest(Path(word)) for word in sorted(words) if Path(word).is_file() or Path(word).is_dir()}


def _digest(path: Path) -> str:
    """Returns a digest of what is in a file, or in the networks of a directory."""
    digest = hashlib.sha256()
    try:
        for file in sorted(path.glob("*.safetensors")) if path.is_dir() else [path]:
            with file.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
    except OSError as error:
        raise AgentError(f"cannot read {error.filename or path}: {error.strerror}") from error
    return digest.hexdigest()[:16]
