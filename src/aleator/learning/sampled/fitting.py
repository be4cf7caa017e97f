"""Fits of networks to memories of samples.

Algorithm:
    Adam on the weighted squared error over the legal actions, averaged over samples; gradients are clipped. A step
    looks at a batch of samples or, with a batch of 0, at all of them: samples of one infostate are added up first,
    which changes neither the gradient nor the minimum, and in games that come back to their infostates makes a step
    over millions of samples cost as much as one over the infostates. On a GPU one step is recorded and repeated.

Reference: thesis 4.1.1, Algorithm 1 (losses), 4.1.2 "Model training".
Deviations:
    Targets are divided by their root mean square: regret matching does not see it, and Adam takes steps of one size.
    The learning rate falls to zero over a fit; a fit that ends with large steps is noisy.
Status: tests/learning/sampled/test_network.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from aleator.learning.sampled.encoding import Encoding
from aleator.learning.sampled.memory import Ledger, Memory
from aleator.learning.sampled.play import SampledGame
from aleator.solvers.engines.torch_threads import one_thread

Tensor = torch.Tensor
Answer = Callable[[Tensor, Tensor], Tensor]  # (outputs [n, A], legal [n, A]) -> what is compared with targets
_WARM_UP = 3  # steps on a GPU before one is recorded


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
    memory: Memory | Ledger,
    fit: Fit,
    generator: torch.Generator,
    *,
    answer: Answer = plain,
    squashed: Callable[[Tensor], Tensor] = lambda targets: targets,
) -> float:
    """Fits a network to a memory and returns the weighted mean squared error of its last step, per sample.

    Targets of `plain` answers are divided by their root mean square before, so that a network that says nothing has
    an error of about 1. With a batch of 0 errors are those against the means of infostates, without the noise of
    single samples.

    Args:
        network: whose parameters are changed.
        game: what the memory is of.
        encoding: what the network is told.
        memory: of samples.
        fit: how.
        generator: of random numbers.
        answer: what is compared with targets.
        squashed: what the network says in place of targets so divided; not a linear function only if targets have no
            noise.
    """

    def error_on(infostates: Tensor, inputs: Tensor, legal: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
        answers = answer(encoding.of_actions(infostates, network(inputs)), legal)
        return (((answers - targets) * legal).square().sum(dim=1) * weights).sum()

    def error_on_batch() -> Tensor:
        drawn, targets, weights = memory.draw(fit.batch, generator)
        return error_on(drawn, encoding.inputs(drawn), game.legal(drawn), squashed(targets * scale), weights * share)

    if fit.batch:
        scale, share = 1.0, 1.0 / (fit.batch * memory.mean_weight())
        if answer is plain:
            scale = 1.0 / (memory.size() + 1e-9)
        return minimise(network, error_on_batch, fit, generator)
    assert isinstance(memory, Memory)  # a ledger is of games that need batches
    met, means, weights = memory.sums(game.num_infostates)
    if answer is plain:
        means = means / ((means.square().sum(dim=1) * weights).sum().sqrt() + 1e-9)
    return minimise(
        network, partial(error_on, met, encoding.inputs(met), game.legal(met), means, weights), fit, generator
    )


def minimise(network: nn.Module, error: Callable[[], Tensor], fit: Fit, generator: torch.Generator) -> float:
    """Changes a network's parameters until its error is small, and returns that of the last step.

    Args:
        network: whose parameters are changed.
        error: computes it; on a GPU it is asked a few times only, and what it did is repeated: it must not look at
            numbers on the device.
        fit: how; its batch is the error's affair.
        generator: of the random numbers that `error` draws.
    """
    replays = generator.device.type == "cuda"
    rate = torch.full((), fit.learning_rate, device=generator.device) if replays else fit.learning_rate
    optimizer = torch.optim.Adam(network.parameters(), lr=rate, fused=True, capturable=replays)

    def step() -> Tensor:
        optimizer.zero_grad()
        loss = error()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), fit.clip)
        optimizer.step()
        return loss.detach()

    rates = [fit.learning_rate * (1.0 - number / fit.steps) for number in range(fit.steps)]
    with one_thread():
        if isinstance(rate, Tensor):
            return _replay(step, rate, rates, generator)
        loss = torch.zeros(())
        for rate in rates:
            for group in optimizer.param_groups:
                group["lr"] = rate
            loss = step()
    return float(loss)


def _replay(step: Callable[[], Tensor], rate: Tensor, rates: Sequence[float], generator: torch.Generator) -> float:
    """Takes steps on a GPU and returns the last loss: the first ones as they are, then one that is recorded and
    repeated, because launching some hundred small kernels takes longer than running them."""
    loss, stream = torch.zeros(()), torch.cuda.Stream(generator.device)  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream(generator.device))
    with torch.cuda.stream(stream):
        for number in rates[:_WARM_UP]:
            rate.fill_(number)
            loss = step()
    torch.cuda.current_stream(generator.device).wait_stream(stream)
    if rates[_WARM_UP:]:
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(generator)
        with torch.cuda.graph(graph):
            loss = step()
        for number in rates[_WARM_UP:]:
            rate.fill_(number)
            graph.replay()
    return float(loss)
