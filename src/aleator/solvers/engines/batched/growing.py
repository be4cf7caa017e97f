"""A tensor that grows by rows at its end."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


class Growing:
    """Rows [n, ...] of one kind on one device; memory doubles when it is used up, so that rows rarely move.

    Attributes:
        rows: all rows so far, a view of the memory.
    """

    def __init__(self, *shape: int, dtype: torch.dtype, device: torch.device | str) -> None:
        self._memory = torch.zeros((0, *shape), dtype=dtype, device=device)
        self.rows = self._memory

    def append(self, more: Any) -> torch.Tensor:
        """Adds rows (anything that NumPy takes for an array [m, ...]) and returns all of them."""
        new = torch.as_tensor(np.asarray(more), dtype=self._memory.dtype, device=self._memory.device)
        begin, end = len(self.rows), len(self.rows) + len(new)
        if end > len(self._memory):
            memory = torch.zeros((2 * end, *self._memory.shape[1:]), dtype=new.dtype, device=new.device)
            memory[:begin] = self.rows
            self._memory = memory
        self._memory[begin:end] = new
        self.rows = self._memory[:end]
        return self.rows

    def clear(self) -> None:
        """Forgets all rows."""
        self.rows = self._memory[:0]
