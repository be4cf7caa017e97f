"""Fitting a hold'em value network to examples, and measuring its errors in pots."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn import functional

from aleator.errors import SolveError
from aleator.learning.holdem.examples import Examples
from aleator.learning.holdem.network import HoldemValueNetwork

Tensor = torch.Tensor
_MEASURED = 1024  # examples at a time
_STEPS_TOLD = 50  # whose mean loss is looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class FitConfig:
    """How a network is fitted.

    Attributes:
        steps: how many; the learning rate falls to zero over them.
        batch: examples of a step.
        learning_rate: at its highest, after the first `warm_up` steps.
        warm_up: steps in which the rate rises.
        range_weight: part of the loss that weighs hands by their belief; the rest weighs all alike.
        huber: where the loss turns from squared to absolute, in pots.
        weight_decay: of AdamW.
        compiled: whether a CUDA device runs the network as torch.compile fuses it (half the time, after 20 seconds).
    """

    steps: int = 8_000
    batch: int = 4_096
    learning_rate: float = 1e-3
    warm_up: int = 300
    range_weight: float = 0.9
    huber: float = 0.05
    weight_decay: float = 1e-4
    compiled: bool = True

    def __post_init__(self) -> None:
        for name in ("steps", "batch"):
            if getattr(self, name) < 1:
                raise SolveError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0.0 <= self.range_weight <= 1.0:
            raise SolveError(f"range_weight must be in [0, 1], not {self.range_weight}")
        for name in ("learning_rate", "huber"):
            if not getattr(self, name) > 0.0:
                raise SolveError(f"{name} must be positive, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Errors on some examples, in pots.

    Attributes:
        absolute: mean absolute error over hands.
        huber: mean Huber loss over hands, as DeepStack reports it.
        weighted: mean absolute error, hands weighed by their belief.
        squared: mean squared error, hands weighed by their belief, in squared pots.
        ev: mean absolute error of a player's value.
    """

    absolute: float
    huber: float
    weighted: float
    squared: float
    ev: float


def errors_of(predicted: Tensor, examples: Examples) -> Errors:
    """Returns the errors of cfvs [n, 2, H]."""
    expected, reach = examples.values(), examples.situation().reach
    gap = (predicted.float() - expected).abs()
    huber = functional.huber_loss(predicted.float(), expected, reduction="mean")
    ev = (reach * (predicted.float() - expected)).sum(-1).abs().mean()
    return Errors(
        absolute=float(gap.mean()),
        huber=float(huber),
        weighted=float((reach * gap).sum(-1).mean()),
        squared=float((reach * gap.square()).sum(-1).mean()),
        ev=float(ev),
    )


def answers(network: HoldemValueNetwork, examples: Examples) -> Tensor:
    """Returns [n, 2, H]: what a network says of examples."""
    predicted = []
    with torch.no_grad(), torch.autocast(examples.rows.device.type, torch.bfloat16, enabled=examples.rows.is_cuda):
        for first in range(0, len(examples), _MEASURED):
            predicted.append(network(examples.take(slice(first, first + _MEASURED)).situation()).float())
    return torch.cat(predicted)


def measure(network: HoldemValueNetwork, examples: Examples) -> Errors:
    """Returns a network's errors."""
    return errors_of(answers(network, examples), examples)


def fit(
    network: HoldemValueNetwork,
    examples: Examples,
    config: FitConfig,
    generator: torch.Generator,
    *,
    first: int = 0,
    on_step: Callable[[int, float], None] | None = None,
    seconds: float = math.inf,
) -> tuple[int, float]:
    """Fits a network and returns the steps taken in all and the mean loss of the last ones.

    Args:
        network: is changed in place.
        examples: on the network's device.
        config: how.
        generator: of the batches, on the same device.
        first: steps that a run before has taken.
        on_step: told now and then the number of steps and the mean loss since.
        seconds: when to stop at the latest; the learning rate falls to zero by then, too.

    Raises:
        SolveError: the loss is not finite.
    """
    device = examples.rows.device
    fused = device.type == "cuda"
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=fused
    )
    run = torch.compile(network) if fused and config.compiled else network
    done, total, counted, last, started = first, torch.zeros((), device=device), 0, math.nan, math.inf
    while True:
        part = max(done / config.steps, (time.monotonic() - started) / seconds)
        if part >= 1.0:
            break
        for group in optimiser.param_groups:
            group["lr"] = (
                config.learning_rate
                * min(1.0, (done - first + 1) / config.warm_up)
                * 0.5
                * (1 + math.cos(math.pi * part))
            )
        batch = examples.take(torch.randint(len(examples), (config.batch,), device=device, generator=generator))
        situation = batch.situation()
        with torch.autocast(device.type, torch.bfloat16, enabled=fused):
            predicted = run(situation)
        loss = _loss(predicted.float(), batch.values(), situation.reach, config)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        started = min(started, time.monotonic())  # after the first step, which compiles
        done, counted, total = done + 1, counted + 1, total + loss.detach()
        if counted == _STEPS_TOLD:
            last = _finite(float(total) / counted, done, config)
            if on_step:
                on_step(done, last)
            total, counted = torch.zeros((), device=device), 0
    if counted:
        last = _finite(float(total) / counted, done, config)
        if on_step:
            on_step(done, last)
    return done, last


def _finite(loss: float, steps: int, config: FitConfig) -> float:
    if not math.isfinite(loss):
        raise SolveError(f"the loss is not finite after {steps} steps; lower the learning rate {config.learning_rate}")
    return loss


def _loss(predicted: Tensor, expected: Tensor, reach: Tensor, config: FitConfig) -> Tensor:
    gap = functional.huber_loss(predicted, expected, reduction="none", delta=config.huber) / config.huber
    weights = 1 - config.range_weight + config.range_weight * reach.shape[2] * reach
    return (gap * weights).mean()
