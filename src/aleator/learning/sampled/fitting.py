"""Fits of networks to memories of samples.

Algorithm:
    Adam on the weighted squared error over the legal actions, averaged over samples; gradients are clipped. A step
    looks at a batch of samples or, with a batch of 0, at all of them: samples of one infostate are added up first,
    which changes neither the gradient nor the minimum, and in games that come back to their infostates makes a step
    over millions of samples cost as much as one over the infostates.

Reference: thesis 4.1.1, Algorithm 1 (losses), 4.1.2 "Model training".
Deviations:
    Targets are divided by their root mean square: regret matching does not see it, and Adam takes steps of one size.
    The learning rate falls to zero over a fit; a fit that ends with large steps is noisy.
Status: tests/learning/sampled/test_network.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from aleator.learning.sampled.encoding import Encoding
from aleator.learning.sampled.memory import Memory
from aleator.learning.sampled.play import SampledGame
from aleator.solvers.engines.batched.parts import one_thread

Tensor = torch.Tensor
Answer = Callable[[Tensor, Tensor], Tensor]  # (outputs [n, A], legal [n, A]) -> what is compared with targets


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a network is fitted.

    Attributes:
        steps: of Adam.
        batch: samples in a step; 0 for all.
        learning_rate: at the start.
        clip: largest norm of a gradient.
    """

    steps: int
    batch: int
    learning_rate: float
    clip: float


def probabilities(outputs: Tensor, legal: Tensor) -> Tensor:
    """Returns policies [n, A] from logits."""
    return torch.softmax(outputs.masked_fill(~legal, -1e9), dim=1)


def plain(outputs: Tensor, legal: Tensor) -> Tensor:
    """Returns outputs as they are."""
    return outputs


def fit_network(
    network: nn.Module,
    game: SampledGame,
    encoding: Encoding,
    memory: Memory,
    fit: Fit,
    generator: torch.Generator,
    *,
    answer: Answer = plain,
) -> float:
    """Fits a network to a memory and returns the weighted mean squared error of its last step, per sample.

    Targets of `plain` answers are divided by their root mean square before, so that a network that says nothing has
    an error of about 1. With a batch of 0 errors are those against the means of infostates, without the noise of
    single samples.
    """
    scale, share = 1.0, torch.ones(())
    whole = memory.sums(game.num_infostates) if fit.batch == 0 else None
    if whole is not None:
        infostates, targets, weights = whole
        inputs, legal = encoding.inputs(infostates), game.legal(infostates)
        if answer is plain:
            targets = targets / ((targets.square().sum(dim=1) * weights).sum().sqrt() + 1e-9)
    else:
        share = 1.0 / (fit.batch * memory.mean_weight())
    if whole is None and answer is plain:
        scale = 1.0 / (float(memory.targets[: memory.count].square().sum(dim=1).mean().sqrt()) + 1e-9)
    optimizer = torch.optim.Adam(network.parameters(), lr=fit.learning_rate, fused=True)
    loss = torch.zeros(())
    with one_thread():
        for step in range(fit.steps):
            if whole is None:
                infostates, regrets, drawn = memory.draw(fit.batch, generator)
                inputs, legal = encoding.inputs(infostates), game.legal(infostates)
                targets, weights = regrets * scale, drawn * share
            for group in optimizer.param_groups:
                group["lr"] = fit.learning_rate * (1.0 - step / fit.steps)
            optimizer.zero_grad()
            answers = answer(encoding.of_actions(infostates, network(inputs)), legal)
            loss = (((answers - targets) * legal).square().sum(dim=1) * weights).sum()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), fit.clip)
            optimizer.step()
    return float(loss.detach())
