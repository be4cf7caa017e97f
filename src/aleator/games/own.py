"""Games and agents of one's own, by the file and the name of a class in it."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from aleator.errors import AleatorError, raised


def make_own(text: str, wanted: type[Any], refusal: type[AleatorError], *arguments: Any) -> Any:
    """Returns what a class in a Python file makes of the arguments. The file is run, and may import its neighbours.

    Args:
        text: FILE.py:CLASS.
        wanted: what it must be.
        refusal: what is raised if it cannot be made.
        arguments: of the class.
    """
    kind, (path, _, name) = wanted.__name__, text.rpartition(":")
    if not path or not name:
        example = f"python:my_{kind.lower()}.py:My{kind}"
        raise refusal(f"python:{text}: expected a file and the name of a class in it, as in {example}")
    spec = importlib.util.spec_from_file_location(f"aleator_own_{Path(path).stem}", path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        raise refusal(f"python:{text}: there is no Python file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up the names in their annotations
    if (folder := str(Path(path).resolve().parent)) not in sys.path:
        sys.path.append(folder)
    try:
        source = Path(path).read_bytes()  # bytecode may be that of what the file said a moment ago
        exec(compile(source, path, "exec"), module.__dict__)
        if not hasattr(module, name):
            raise refusal(f"python:{text}: {path} has no class {name!r}; it has {_classes(module, wanted)}")
        made = getattr(module, name)(*arguments)
    except AleatorError:
        raise
    except (Exception, SystemExit) as error:  # a script that ends itself would end the command without a word
        raise refusal(f"python:{text}: {raised(error)}") from error
    if not isinstance(made, wanted):
        raise refusal(
            f"python:{text}: {name} made a {type(made).__name__}, not {'an' if kind[0] in 'AEIOU' else 'a'} {kind}"
        )
    made.name = f"python:{text}"
    return made


def _classes(module: ModuleType, wanted: type[Any]) -> str:
    """Returns the names of the classes of a kind that a module defines, for a message."""
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    return ", ".join(value.__name__ for value in own if issubclass(value, wanted)) or f"no {wanted.__name__}"
