"""Memories of samples: reservoirs, in which every sample ever added is equally likely to be kept, and sliding windows.

Algorithm:
    Reservoir sampling: sample number j (from 0) takes the place j while there is room; after that it replaces a
    random one with probability capacity / (j + 1). A window replaces the oldest.

Reference: thesis 4.1.1 (reservoir sampling [155]) and Fig. 4.4, right (the window, which stops converging once it is
    full).
Deviations: none.
Status: tests/learning/sampled/test_memory.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch

from aleator.learning.sampled.traversal import Samples

Tensor = torch.Tensor


class Sums(NamedTuple):
    """All samples of a memory, infostate by infostate.

    Attributes:
        infostates: [n], each of them once.
        means: [n, A]: weighted means of their targets.
        weights: [n]: sums of their weights, in all 1.
    """

    infostates: Tensor
    means: Tensor
    weights: Tensor


class _Totals(NamedTuple):
    """The first samples of a memory, added up by infostate; as long as none of them was replaced.

    Attributes:
        number: how many.
        weights: [I]: sums of weights.
        targets: [I, A]: sums of weights x targets.
    """

    number: int
    weights: Tensor
    targets: Tensor


class Memory:
    """Samples (infostate, targets [A], weight) on one device.

    Attributes:
        capacity: how many it holds.
        added: how many were ever added.
    """

    def __init__(
        self, capacity: int, num_actions: int, *, reservoir: bool = True, device: torch.device | str = "cpu"
    ) -> None:
        self.capacity, self.added, self._reservoir = capacity, 0, reservoir
        self.infostates = torch.empty(capacity, dtype=torch.int64, device=device)
        self.targets = torch.empty((capacity, num_actions), dtype=torch.float32, device=device)
        self.weights = torch.empty(capacity, dtype=torch.float32, device=device)
        self._totals: _Totals | None = None

    @property
    def count(self) -> int:
        """How many samples are in it."""
        return min(self.added, self.capacity)

    def add(self, samples: Samples, weight: float, generator: torch.Generator) -> None:
        """Adds samples, whose weights are multiplied by `weight`."""
        infostates, targets, weights = samples
        number = self.added + torch.arange(len(infostates), device=infostates.device)
        slot = number.clone()
        late = (number >= self.capacity).nonzero().squeeze(1)
        if len(late):
            if self._reservoir:
                draws = torch.rand(len(late), generator=generator, dtype=torch.float64, device=number.device)
                slot[late] = (draws * (number[late] + 1)).long()
            else:
                slot[late] = number[late] % self.capacity
        kept = _last_of_each(slot, (slot < self.capacity).nonzero().squeeze(1))
        at = slot[kept]
        self.infostates[at] = infostates[kept]
        self.targets[at] = targets[kept].to(self.targets.dtype)
        self.weights[at] = (weights[kept] * weight).to(self.weights.dtype)
        self.added += len(infostates)
        if len(late):
            self._totals = None

    def sums(self, num_infostates: int) -> Sums:
        """Returns all samples, added up by infostate: a squared loss has the same minimum on samples and on sums."""
        if self._totals is None or len(self._totals.weights) != num_infostates:
            shape, device = (num_infostates, self.targets.shape[1]), self.targets.device
            empty = torch.zeros(shape, dtype=torch.float64, device=device)
            self._totals = _Totals(0, empty[:, 0].clone(), empty)
        begun, total, targets = self._totals
        # what was added since; the order of additions, hence every bit, is that of adding up everything anew
        here, weights = self.infostates[begun : self.count], self.weights[begun : self.count].double()
        total.index_add_(0, here, weights)
        targets.index_add_(0, here, self.targets[begun : self.count].double() * weights[:, None])
        self._totals = _Totals(self.count, total, targets)
        met = (total > 0).nonzero().squeeze(1)
        share = total[met]
        return Sums(met, (targets[met] / share[:, None]).float(), (share / share.sum()).float())

    def mean_weight(self) -> Tensor:
        """Returns the mean of all weights."""
        return self.weights[: self.count].mean()

    def draw(self, number: int, generator: torch.Generator) -> Samples:
        """Returns so many samples drawn uniformly, with replacement; whole rows."""
        slot = torch.randint(self.count, (number,), generator=generator, device=self.infostates.device)
        return Samples(self.infostates[slot], self.targets[slot], self.weights[slot])

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that a checkpoint has to keep, by name."""
        count = self.count
        return {
            "infostates": self.infostates[:count].to(torch.int32),
            "targets": self.targets[:count],
            "weights": self.weights[:count],
            "added": torch.tensor([self.added]),
        }

    def load(self, tensors: Mapping[str, Tensor], num_infostates: int) -> None:
        """Takes over what `tensors` gave.

        Raises:
            ValueError: it is not that of a memory like this one.
        """
        self.added = int(tensors["added"][0])
        count = self.count
        shapes = {"infostates": (count,), "targets": (count, self.targets.shape[1]), "weights": (count,)}
        if self.added < 0 or any(tuple(tensors[name].shape) != shape for name, shape in shapes.items()):
            raise ValueError(f"a memory of {self.added} samples does not have these shapes")
        infostates = tensors["infostates"]
        if count and not (int(infostates.min()) >= 0 and int(infostates.max()) < num_infostates):
            raise ValueError("a memory has an infostate that the game does not have")
        for name in shapes:
            getattr(self, name)[:count] = tensors[name].to(self.infostates.device)
        self._totals = None


def _last_of_each(slot: Tensor, index: Tensor) -> Tensor:
    """Returns those of `index` after which no other has the same place: what comes later replaces what came before."""
    ordered, order = torch.sort(slot[index], stable=True)
    last = torch.ones(len(index), dtype=torch.bool, device=index.device)
    last[:-1] = ordered[1:] != ordered[:-1]
    return index[order[last]]
