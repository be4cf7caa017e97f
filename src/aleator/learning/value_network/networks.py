"""Networks of public belief states: the value of each hand, and the policy of each hand.

Algorithm:
    Multilayer perceptrons. The policy network ends in a softmax over the legal actions of each hand of the player to
    act. The value network may have an outer layer: then both players' values are asked for, v0 and v1; under the
    beliefs b0 and b1 they should sum to zero, and half of what they sum to instead, (b0 . v0 + b1 . v1) / 2, is
    subtracted from every value.

Reference: ReBeL section 5.3 (policy network), 7 and App. G (multilayer perceptron, GELU, LayerNorm, two hidden layers
    of 256 units for Liar's Dice); DeepStack, "Deep Counterfactual Value Networks" (the outer layer that makes values
    zero-sum).
Deviations: GELU in its tanh form; the last layer begins at a hundredth of the usual size, so that an untrained network
    says "about zero", or "about uniform". A value network answers for one player, so that the outer layer asks it
    twice, the second time for the other player.
Status: tests/learning/value_network/test_networks.py.
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
    """What a network looks like.

    Attributes:
        layers, width: hidden layers and their units.
        layer_norm: with LayerNorm behind each of them.
        zero_sum: with the outer layer that makes both players' values sum to zero.
    """

    layers: int = 2
    width: int = 256
    layer_norm: bool = True
    zero_sum: bool = False

    def __post_init__(self) -> None:
        if self.layers < 1 or self.width < 1:
            raise ValueError(f"a network needs at least 1 layer of 1 unit, not {self.layers} of {self.width}")

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON values."""
        return asdict(self)


class Perceptron(nn.Module):
    """A multilayer perceptron from inputs [n, size] to outputs [n, outputs]."""

    def __init__(self, size: int, outputs: int, config: NetworkConfig, *, generator: torch.Generator | None) -> None:
        """Draws the parameters, unless `generator` is None: then they are to be loaded."""
        super().__init__()
        self.size, self.config = size, config
        hidden: list[nn.Module] = []
        for number in range(config.layers):
            hidden.append(nn.Linear(size if number == 0 else config.width, config.width))
            if config.layer_norm:
                hidden.append(nn.LayerNorm(config.width))
            hidden.append(nn.GELU(approximate="tanh"))
        self.hidden = nn.Sequential(*hidden)
        self.output = nn.Linear(config.width, outputs)
        if generator is not None:
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

    def outputs(self, inputs: Tensor) -> Tensor:
        """Returns what the last layer says, [n, outputs]."""
        result: Tensor = self.output(self.hidden(inputs))
        return result


class ValueNetwork(Perceptron):
    """From inputs [n, size], which say whose values are asked for, to values [n, H].

    Attributes:
        first_flag: with the outer layer, the first input of a player whose belief is the first of the two.
    """

    first_flag: Tensor

    def __init__(
        self,
        size: int,
        num_hands: int,
        config: NetworkConfig,
        *,
        generator: torch.Generator | None,
        first_flag: float = 0.0,
    ) -> None:
        super().__init__(size, num_hands, config, generator=generator)
        self.num_hands = num_hands
        if config.zero_sum:
            self.register_buffer("first_flag", torch.tensor(first_flag))

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns values [n, H] for inputs [n, size]."""
        if not self.config.zero_sum:
            return self.outputs(inputs)
        values = self.outputs(torch.cat([inputs, turned(inputs)]))
        return self.balanced(inputs, values[: len(inputs)], values[len(inputs) :])

    def balanced(self, inputs: Tensor, mine: Tensor, other: Tensor) -> Tensor:
        """Returns what the outer layer makes of the values [n, H] asked for, given those of the other player."""
        first, second = inputs[:, -2 * self.num_hands : -self.num_hands], inputs[:, -self.num_hands :]
        ahead = inputs[:, :1] == self.first_flag
        return zero_sum((mine, other), (torch.where(ahead, first, second), torch.where(ahead, second, first)))[0]


class PolicyNetwork(Perceptron):
    """From inputs [n, size] and legal actions [n, A] to the probability of each action for each hand, [n, A, H]."""

    def __init__(
        self, size: int, num_actions: int, num_hands: int, config: NetworkConfig, *, generator: torch.Generator | None
    ) -> None:
        super().__init__(size, num_actions * num_hands, config, generator=generator)
        self.num_actions, self.num_hands = num_actions, num_hands

    def forward(self, inputs: Tensor, legal: Tensor) -> Tensor:
        """Returns probabilities [n, A, H] that sum to 1 over A for every hand, 0 where `legal` [n, A] is False."""
        logits = self.outputs(inputs).view(-1, self.num_actions, self.num_hands)
        # not minus infinity: where nothing is legal, in rows that do not count, there would be no number
        return torch.softmax(logits.masked_fill(~legal[:, :, None], -1e9), dim=1)


def turned(inputs: Tensor) -> Tensor:
    """Returns inputs [n, size] that ask the same for the other player: the first of them says for whom."""
    result = inputs.clone()
    result[:, 0] = 1.0 - result[:, 0]
    return result


def zero_sum(values: Sequence[Tensor], beliefs: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Returns both players' values [n, H], shifted equally so that they sum to zero under the beliefs [n, H]."""
    excess = sum((value * belief).sum(dim=1, keepdim=True) for value, belief in zip(values, beliefs, strict=True))
    return values[0] - excess / 2, values[1] - excess / 2
