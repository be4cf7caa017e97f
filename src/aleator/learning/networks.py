"""The value network: from a public belief state to the value of each hand.

Reference: ReBeL section 7 and App. G (multilayer perceptron, GELU, LayerNorm, two hidden layers of 256 units for Liar's Dice);
    DeepStack, supplement "Neural network" (the outer layer that makes values zero-sum).
Deviations: GELU in its tanh form; the last layer begins at a hundredth of the usual size, so that an untrained network says
    "about zero".
Status: tests/learning/test_networks.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """The size of a network: `layers` hidden layers of `width` units, with or without LayerNorm."""

    layers: int = 2
    width: int = 256
    layer_norm: bool = True

    def __post_init__(self) -> None:
        if self.layers < 1 or self.width < 1:
            raise ValueError(f"a network needs at least 1 layer of 1 unit, not {self.layers} of {self.width}")

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON values."""
        return asdict(self)


class ValueNetwork(nn.Module):
    """A multilayer perceptron from inputs [n, size] to values [n, H]."""

    def __init__(self, size: int, num_hands: int, config: NetworkConfig, *, generator: torch.Generator) -> None:
        super().__init__()
        self.size, self.num_hands, self.config = size, num_hands, config
        hidden: list[nn.Module] = []
        for number in range(config.layers):
            hidden.append(nn.Linear(size if number == 0 else config.width, config.width))
            if config.layer_norm:
                hidden.append(nn.LayerNorm(config.width))
            hidden.append(nn.GELU(approximate="tanh"))
        self.hidden = nn.Sequential(*hidden)
        self.output = nn.Linear(config.width, num_hands)
        self.initialise(generator)

    @property
    def linear(self) -> list[nn.Linear]:
        """The hidden layers' linear parts, from the input on."""
        return [module for module in self.hidden if isinstance(module, nn.Linear)]

    @property
    def norms(self) -> list[nn.LayerNorm]:
        """The LayerNorms behind them; none if the network has none."""
        return [module for module in self.hidden if isinstance(module, nn.LayerNorm)]

    def initialise(self, generator: torch.Generator) -> None:
        """Draws new parameters."""
        linear = [module for module in self.modules() if isinstance(module, nn.Linear)]
        with torch.no_grad():
            for module in linear:
                bound = module.in_features**-0.5
                for parameter in (module.weight, module.bias):
                    parameter.uniform_(-bound, bound, generator=generator)
            for parameter in (self.output.weight, self.output.bias):
                parameter.mul_(0.01)

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns values [n, H] for inputs [n, size]."""
        result: Tensor = self.output(self.hidden(inputs))
        return result


def zero_sum(values: Sequence[Tensor], beliefs: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Returns both players' values [n, H], shifted by equal amounts so that they sum to zero under the beliefs [n, H]."""
    excess = sum((value * belief).sum(dim=1, keepdim=True) for value, belief in zip(values, beliefs, strict=True))
    return values[0] - excess / 2, values[1] - excess / 2
