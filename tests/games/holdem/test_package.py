"""What importing the package costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import aleator.games.holdem as holdem


def test_importing_the_package_does_not_load_numba() -> None:
    program = "import sys, aleator.games.holdem as h; h.parse_hand_range('AA'); print('numba' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_every_public_name_is_there() -> None:
    for name in holdem.__all__:
        assert getattr(holdem, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        holdem.no_such_name  # noqa: B018
