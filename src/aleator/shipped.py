"""Where the files lie that come with the package: trained networks and blueprints."""

from __future__ import annotations

from pathlib import Path

import aleator


def directory() -> Path:
    """Returns where they are: beside the sources in a checkout, inside an installed package."""
    package = Path(aleator.__file__).parent
    installed = package / "models"
    return installed if installed.is_dir() else package.parents[1] / "models"


def blueprints() -> tuple[Path, ...]:
    """Returns the files of blueprints."""
    return tuple(sorted((directory() / "blueprints").glob("*.blueprint")))
