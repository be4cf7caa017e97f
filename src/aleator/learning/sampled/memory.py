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
from aleator.solvers.regret_rule import RegretRule

Tensor = torch.Tensor
_TINY = 1e-30  # weights are not less where something is divided by them


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

    def size(self) -> float:
        """Returns the root mean square of the targets."""
        return float(self.targets[: self.count].square().sum(dim=1).mean().sqrt())

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


class Ledger:
    """Sums over all iterations, of infostates that come in the same order every time; in the place of a `Memory`.

    Args:
        rule: discounts sums before an iteration is added to them; None: they stay as they are.
        device: where it is.

    Attributes:
        added: how many samples were ever added.
    """

    def __init__(self, rule: RegretRule | None = None, device: torch.device | str = "cpu") -> None:
        self.added, self._rule = 0, rule
        self.infostates = torch.empty(0, dtype=torch.int64, device=device)
        self.weights = torch.empty(0, device=device)
        self.totals = torch.empty((0, 0), device=device)  # of weight x target
        self._ends = torch.empty(0, dtype=torch.float64, device=device)

    def add(self, samples: Samples, weight: float, generator: torch.Generator) -> None:
        """Adds a sample of every infostate, whose weights are multiplied by `weight`."""
        infostates, targets, weights = samples
        if not self.added:
            self.infostates = infostates
            self.weights = torch.zeros(len(infostates), device=infostates.device)
            self.totals = torch.zeros(targets.shape, device=infostates.device)
        weights = (weights * weight).float()
        new = targets.float() * weights[:, None]
        if self._rule is not None:
            positive, negative, _, floor, _ = self._rule.schedule(self.added // len(infostates) + 1, 1)[0].tolist()
            new += self.totals * torch.where(self.totals > 0, positive, negative)
            self.weights *= positive
            self.totals.copy_(new.clamp_(min=floor))
        else:
            self.totals += new
        self.weights += weights
        self.added += len(infostates)
        self._ends = self.weights.double().cumsum(0)

    def mean_weight(self) -> Tensor:
        """Returns the mean weight of what is drawn."""
        return torch.ones((), device=self.weights.device)

    def size(self) -> float:
        """Returns the root mean square of what is drawn."""
        square = (self.totals.square().sum(dim=1) / self.weights.clamp(min=_TINY)).double().sum()
        return float((square / self.weights.double().sum()).sqrt())

    def draw(self, number: int, generator: torch.Generator) -> Samples:
        """Returns means of so many infostates, drawn in proportion to their weights, each with weight 1."""
        places = torch.rand(number, generator=generator, dtype=torch.float64, device=self._ends.device) * self._ends[-1]
        row = torch.searchsorted(self._ends, places, right=True).clamp(max=len(self._ends) - 1)
        means = self.totals[row] / self.weights[row].clamp(min=_TINY)[:, None]
        return Samples(self.infostates[row], means, torch.ones_like(means[:, 0]))

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that a checkpoint has to keep, by name."""
        return {"weights": self.weights, "totals": self.totals, "infostates": self.infostates.to(torch.int32),
                "added": torch.tensor([self.added])}  # fmt: skip

    def load(self, tensors: Mapping[str, Tensor], num_infostates: int) -> None:
        """Takes over what `tensors` gave.

        Raises:
            ValueError: it is not that of a ledger.
        """
        infostates, weights, totals = (tensors[name] for name in ("infostates", "weights", "totals"))
        if not (infostates.ndim == 1 and weights.shape == infostates.shape and totals.shape[:1] == infostates.shape):
            raise ValueError(f"a ledger of {len(infostates):,} infostates does not have these shapes")
        if len(infostates) and not (int(infostates.min()) >= 0 and int(infostates.max()) < num_infostates):
            raise ValueError("a ledger has an infostate that the game does not have")
        device = self.infostates.device
        self.infostates, self.weights, self.totals = infostates.long().to(device), weights.to(device), totals.to(device)
        self.added = int(tensors["added"][0])
        self._ends = self.weights.double().cumsum(0)


def _last_of_each(slot: Tensor, index: Tensor) -> Tensor:
    """Returns those of `index` after which no other has the same place: what comes later replaces what came before."""
    ordered, order = torch.sort(slot[index], stable=True)
    last = torch.ones(len(index), dtype=torch.bool, device=index.device)
    last[:-1] = ordered[1:] != ordered[:-1]
    return index[order[last]]
