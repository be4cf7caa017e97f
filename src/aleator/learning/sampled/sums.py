"""Sums over iterations of Double Neural CFR, in tables or as networks, and how the networks are fitted.

Algorithm:
    A network answers in units of the sums' root mean square, and its last layer is scaled as the unit grows, so that
    outputs stay of one size. A fit takes a number of steps of Adam over all infostates at once, with a learning rate
    that falls to zero, and keeps the best parameters on the way. Before and after them the last layer is solved by
    least squares. Adam keeps its moments from fit to fit. A fit that is thrown off is made again, more slowly.

Reference: Double Neural CFR, Eq. 6, 7 and 9 (losses), Algorithm 2 (the best parameters are kept).
Deviations: all of the above but the losses and the best parameters. Targets change little from one iteration to the
    next, most of what changes the last layer can follow, and moments that begin at zero throw a good network off.
Status: tests/learning/sampled/test_double_neural.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Protocol

import torch
from torch import nn

from aleator.learning.sampled.encoding import Encoding
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.recurrent import SequenceNetwork
from aleator.learning.sampled.sequences import InfostateSequences, Walk
from aleator.learning.sampled.trainer import parameters, set_parameters
from aleator.solvers.engines.torch_threads import one_thread

Tensor = torch.Tensor
# a fit that ends so many times worse than the last one, and not well, is made again with a smaller learning rate
_THROWN_OFF, _PRECISE, _CAREFUL = 4.0, 1e-6, 0.1
_BETAS = (0.9, 0.99)  # Adam's: a fit has too few steps for a longer memory
_LARGEST = 3.0  # times the learning rate, at most, early
_RIDGE = 1e-4  # what a change of the last layer costs, per sample
_MOMENTS = ("exp_avg", "exp_avg_sq")  # Adam's names of them


@dataclass(frozen=True, slots=True, kw_only=True)
class SumsFit:
    """How networks of sums are fitted.

    Attributes:
        everywhere: fits look at all infostates; otherwise at those that were met.
        first_steps: of the first fit, at least.
        learning_rate: of Adam at the start of a fit.
        clip: largest norm of a gradient.
    """

    everywhere: bool
    first_steps: int
    learning_rate: float
    clip: float


class Sums(Protocol):
    """Sums over iterations, [I, A]: a table or a network."""

    def sums(self) -> Tensor:
        """Returns [I, A], float64."""

    def update(self, sums: Tensor, met: Tensor, steps: int, early: float = 1.0) -> float:
        """Takes over new sums [I, A] at infostates that were met [n]; returns the error left.

        Takes so many steps, times `early`, which is above 1 while sums still change much.
        """

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that changes."""

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave."""


class TableSums(Sums):
    """Sums in a table."""

    def __init__(self, play: TreePlay) -> None:
        self.table = torch.zeros((play.num_infostates, play.num_actions), dtype=torch.float64, device=play.device)

    def sums(self) -> Tensor:
        """Returns [I, A]."""
        return self.table

    def update(self, sums: Tensor, met: Tensor, steps: int, early: float = 1.0) -> float:
        """Takes over new sums; no error is left."""
        self.table = self.table.index_copy(0, met, sums[met])
        return 0.0

    def tensors(self) -> dict[str, Tensor]:
        """Returns the table."""
        return {"table": self.table}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over a table."""
        table = tensors["table"]
        if table.shape != self.table.shape:
            raise ValueError(f"a table of shape {list(table.shape)} in place of {list(self.table.shape)}")
        self.table = table.double().to(self.table.device)


class NetworkSums(Sums):
    """Sums as a network, the RSN or the ASN: a unit times what it says, or with `roots` the square of that."""

    def __init__(
        self,
        play: TreePlay,
        encoding: Encoding,
        sequences: InfostateSequences,
        settings: SumsFit,
        width: int,
        generator: torch.Generator | None,
        *,
        roots: bool,
    ) -> None:
        self._encoding, self._sequences, self._settings, self._roots = encoding, sequences, settings, roots
        self.network = SequenceNetwork(len(sequences.symbols), encoding.num_outputs, width, generator).to(play.device)
        self._optimizer = self._new_optimizer()
        self.unit = 0.0  # before the first fit all sums are 0
        self.error = 0.0  # of the last fit
        self._all = torch.arange(play.num_infostates, device=play.device)
        self._walk, self._legal = sequences.walk(self._all), play.legal(self._all)

    def sums(self) -> Tensor:
        """Returns [I, A]: what the network says."""
        with torch.no_grad():
            answers = self._encoding.of_actions(self._all, self.network(self._walk)).double()
        return self.unit * (answers.clamp(min=0.0).square() if self._roots else answers) * self._legal

    def update(self, sums: Tensor, met: Tensor, steps: int, early: float = 1.0) -> float:
        """Fits the network, keeps the best parameters, and returns their squared error, relative to the sums'."""
        settings, everywhere = self._settings, self._settings.everywhere
        infostates = self._all if everywhere else met
        walk = self._walk if everywhere else self._sequences.walk(met)
        legal = self._legal[infostates]
        first, steps = self.unit == 0.0, math.ceil(early * steps)
        if first:
            steps = max(steps, settings.first_steps)
        wanted = self._rescale(sums[infostates] * legal, int(legal.sum()))

        def loss() -> Tensor:
            answers = self._encoding.of_actions(infostates, self.network(walk))
            return ((answers - wanted) * legal).square().sum() / legal.sum()

        def fit(learning_rate: float) -> tuple[float, Tensor]:
            self._solve_output(infostates, walk, wanted)
            set_parameters(self.network, self._fit(loss, steps, learning_rate))
            self._solve_output(infostates, walk, wanted)
            with torch.no_grad():
                return float(loss()), parameters(self.network)

        start = parameters(self.network)
        learning_rate = settings.learning_rate * min(early, _LARGEST)
        error, best = fit(learning_rate)
        if not first and error > max(_THROWN_OFF * self.error, _PRECISE):
            set_parameters(self.network, start)
            self._optimizer = self._new_optimizer()
            error, best = min((error, best), fit(_CAREFUL * learning_rate), key=itemgetter(0))
        set_parameters(self.network, best)
        self.error = error
        return error

    def _new_optimizer(self) -> torch.optim.Adam:
        """Returns an optimiser that remembers nothing yet."""
        return torch.optim.Adam(self.network.parameters(), lr=self._settings.learning_rate, betas=_BETAS, fused=True)

    def _fit(self, loss: Callable[[], Tensor], steps: int, learning_rate: float) -> Tensor:
        """Takes so many steps; returns the parameters on the way that had the lowest loss."""
        optimizer, lowest, best = self._optimizer, math.inf, parameters(self.network)
        with one_thread():
            for step in range(steps):
                for group in optimizer.param_groups:
                    group["lr"] = learning_rate * (1.0 - step / steps)
                optimizer.zero_grad()
                error = loss()
                if (value := float(error.detach())) < lowest:
                    lowest, best = value, parameters(self.network)
                error.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.network.parameters(), self._settings.clip)
                optimizer.step()
        return best

    def _solve_output(self, infostates: Tensor, walk: Walk, wanted: Tensor) -> None:
        """Makes the last layer the best one for the features as they are: for each of its outputs, least squares."""
        output, legal = self.network.output, self._legal[infostates]
        numbers = torch.arange(output.out_features, device=legal.device).expand(len(infostates), -1)
        which = self._encoding.of_actions(infostates, numbers)  # the output of each action
        with torch.no_grad(), one_thread():
            features = self.network.features(walk).double()
            features = torch.cat([features, features.new_ones((len(features), 1))], dim=1)
            weights = torch.cat([output.weight, output.bias[:, None]], dim=1).double()
            missing = wanted - self._encoding.of_actions(infostates, features @ weights.T)
            for number in range(output.out_features):
                row, action = ((which == number) & legal).nonzero(as_tuple=True)
                seen = features[row]
                cost = torch.eye(seen.shape[1], dtype=seen.dtype, device=seen.device) * (_RIDGE * max(len(row), 1))
                weights[number] += torch.linalg.solve(seen.T @ seen + cost, seen.T @ missing[row, action])
            output.weight.copy_(weights[:, :-1])
            output.bias.copy_(weights[:, -1])

    def _rescale(self, sums: Tensor, number: int) -> Tensor:
        """Makes the root mean square of so many sums the unit, and returns them in it; what is said stays the same."""
        unit = float((sums.square().sum() / number).sqrt()) or 1.0
        power = 0.5 if self._roots else 1.0
        if self.unit:
            with torch.no_grad():
                for parameter in self.network.output.parameters():
                    parameter.mul_((self.unit / unit) ** power)
        self.unit = unit
        return ((sums / unit) ** power).float()

    def tensors(self) -> dict[str, Tensor]:
        """Returns the parameters, the unit, the error of the last fit, and what the optimiser remembers."""
        state = [self._optimizer.state[parameter] for parameter in self.network.parameters()]
        steps = float(state[0]["step"]) if state[0] else 0.0
        numbers = {"unit": self.unit, "error": self.error, "steps": steps}
        parts = {name: torch.tensor([value], dtype=torch.float64) for name, value in numbers.items()}
        if steps:
            parts |= {name: torch.cat([part[name].reshape(-1) for part in state]) for name in _MOMENTS}
        return {"network": parameters(self.network), **parts}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave."""
        set_parameters(self.network, tensors["network"])
        self.unit, self.error = float(tensors["unit"][0]), float(tensors["error"][0])
        self._optimizer = self._new_optimizer()
        if "steps" not in tensors:
            raise ValueError("it is of an earlier version, whose fits remembered nothing: begin a new run")
        if not (steps := float(tensors["steps"][0])):
            return
        own = list(self.network.parameters())
        size = sum(part.numel() for part in own)
        for name in _MOMENTS:
            if tuple(tensors[name].shape) != (size,) or not bool(tensors[name].isfinite().all()):
                raise ValueError(f"moments of a network with {size:,} parameters are not {list(tensors[name].shape)}")
        moments = zip(*(torch.split(tensors[name], [part.numel() for part in own]) for name in _MOMENTS), strict=True)
        for parameter, pair in zip(own, moments, strict=True):
            kept = [part.view_as(parameter).to(parameter).clone() for part in pair]
            step = torch.tensor(steps, dtype=torch.float32, device=parameter.device)
            self._optimizer.state[parameter] = {"step": step, **dict(zip(_MOMENTS, kept, strict=True))}
