"""What follows hands as they are played to say in the end who won how much without luck (`aleator.arena.luck`)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import BatchPolicy
from aleator.games.base import FloatArray
from aleator.games.holdem.hand_batch import HandBatch

IntArray = npt.NDArray[np.int64]


class Luck(ABC):
    """Follows a batch of hands as they are played; `estimates` are everybody's winnings without luck.

    Attributes:
        hands: the batch, from before its first action on, with all cards.
    """

    hands: HandBatch

    @abstractmethod
    def acted(self, rows: IntArray, policy: BatchPolicy, chosen: IntArray) -> None:
        """Notes what some players were likely to do and which of ``policy.codes`` they chose, before they do it."""

    @abstractmethod
    def advanced(self, rows: IntArray) -> None:
        """Is told whose next street has been dealt, with somebody to act on it."""

    @abstractmethod
    def estimates(self) -> FloatArray:
        """Returns ``[B, P]``: what everybody won in chips, without luck; all hands are over."""
