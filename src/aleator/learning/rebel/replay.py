"""A circular buffer of training examples.

Reference: ReBeL App. G: a circular buffer sampled uniformly, half of whose first content is dropped early, because it
    was made with a random network.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

Tensor = torch.Tensor


class Examples(NamedTuple):
    """Training examples of a network: inputs [n, size], targets [n, ...], and which targets count [n, ...].

    Targets of the value network are values [n, H], those of the policy network probabilities [n, A, H].
    """

    inputs: Tensor
    targets: Tensor
    masks: Tensor


class Replay:
    """Examples (inputs [size], targets and mask of any shape) on one device; the oldest are overwritten.

    Attributes:
        capacity: how many examples it holds.
        count: how many are in it.
        added: how many were ever added.
    """

    def __init__(
        self,
        capacity: int,
        size: int,
        *shape: int,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        """Makes an empty buffer.

        Args:
            capacity: how many examples it holds.
            size: of the inputs.
            shape: of targets and masks.
            dtype: of targets.
            device: where it is.
        """
        if capacity < 1:
            raise ValueError(f"a replay buffer holds at least 1 example, not {capacity}")
        self.capacity = capacity
        self.inputs = torch.zeros((capacity, size), device=device)
        self.targets = torch.zeros((capacity, *shape), dtype=dtype, device=device)
        self.masks = torch.zeros((capacity, *shape), dtype=torch.bool, device=device)
        self.added = 0
        self.first = 0  # examples before this one were dropped

    @property
    def count(self) -> int:
        """How many examples are in the buffer."""
        return min(self.added - self.first, self.capacity)

    def add(self, inputs: Tensor, targets: Tensor, masks: Tensor) -> None:
        """Adds examples [n, ...]; of more than the capacity only the last are kept."""
        number = len(inputs)
        at = (self.added + torch.arange(number, device=inputs.device))[-self.capacity :] % self.capacity
        self.inputs[at] = inputs[-self.capacity :].to(self.inputs.dtype)
        self.targets[at] = targets[-self.capacity :].to(self.targets.dtype)
        self.masks[at] = masks[-self.capacity :]
        self.added += number

    def drop(self, share: float) -> None:
        """Drops the oldest part of the examples."""
        self.first = self.added - self.count + int(self.count * share)

    def places(self, number: int, generator: torch.Generator) -> Tensor:
        """Returns [number] places of examples drawn uniformly, with replacement."""
        draws = torch.rand(number, generator=generator, device=self.inputs.device, dtype=torch.float64)
        offset = self.added - self.count
        return (offset + (draws * self.count).long()) % self.capacity
