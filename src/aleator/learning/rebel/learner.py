"""A network that learns: its optimiser, the moving average of its parameters, and the examples that it learns from.

Reference: ReBeL section 7 and App. G: Adam; pointwise Huber loss for values, mean squared error over probabilities for
    policies.
Deviations: the moving average is not in the paper.
Status: tests/learning/rebel/test_training.py.
"""

from __future__ import annotations

import copy
from typing import Generic, TypeVar

import torch
from torch import nn

from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.decisions import STEPS
from aleator.learning.rebel.replay import Replay
from aleator.learning.value_network.networks import Perceptron, PolicyNetwork, ValueNetwork

Tensor = torch.Tensor
Network = TypeVar("Network", bound=Perceptron)


def huber_loss(values: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
    """Returns twice the mean pointwise Huber loss of values [n, H] over the hands in `mask` [n, H], which is 0 or 1."""
    huber = nn.functional.smooth_l1_loss(values, targets, reduction="none")
    return 2.0 * (huber * mask).sum() / mask.sum()


def squared_loss(policies: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
    """Returns the mean squared error of probabilities [n, A, H] over what is in `mask` [n, A, H], which is 0 or 1."""
    return ((policies - targets).square() * mask).sum() / mask.sum().clamp(min=1.0)


class Learner(Generic[Network]):
    """One network of a training run.

    Attributes:
        network: what is trained.
        averaged: the moving average of its parameters.
        optimizer: Adam.
        replay: the examples.
    """

    def __init__(self, network: Network, replay: Replay, config: RebelConfig) -> None:
        device = replay.inputs.device
        self.network, self.replay, self.config = network, replay, config
        self.averaged = copy.deepcopy(network)
        on_cuda = device.type == "cuda"
        self.optimizer = torch.optim.Adam(
            network.parameters(),
            lr=torch.tensor(config.learning_rate, device=device) if on_cuda else config.learning_rate,
            capturable=on_cuda,
            fused=on_cuda,
        )

    @property
    def searcher(self) -> Network:
        """The network that searches use."""
        return self.averaged if self.config.averaging else self.network

    def set_rate(self, rate: float) -> None:
        """Sets the learning rate; on CUDA in place, as a captured graph needs it."""
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def step(self, places: Tensor) -> Tensor:
        """Takes one training step on the examples at `places` [batch] and returns the loss."""
        self.optimizer.zero_grad(set_to_none=False)
        loss = self._loss(places)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip, foreach=True)
        self.optimizer.step()
        if self.config.averaging:
            with torch.no_grad():
                for mean, parameter in zip(self.averaged.parameters(), self.network.parameters(), strict=True):
                    mean.lerp_(parameter, 1.0 - self.config.averaging)
        return loss.detach()

    def _loss(self, places: Tensor) -> Tensor:
        """Returns the loss on the examples at `places` [batch]."""
        inputs, targets, masks = self.replay.inputs[places], self.replay.targets[places], self.replay.masks[places]
        if isinstance(self.network, PolicyNetwork):
            # actions that are legal for no hand that counts are in rows without weight
            return squared_loss(self.network(inputs, masks.any(dim=2)), targets.float() / STEPS, masks.float())
        assert isinstance(self.network, ValueNetwork)
        answers = self.network(inputs)
        return huber_loss(answers, targets, masks.to(answers.dtype))
