"""What importing the package costs."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_package_does_not_load_numba() -> None:
    program = "import sys, aleator.games.holdem as h; h.parse_hand_range('AA'); print('numba' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
