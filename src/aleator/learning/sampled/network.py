"""A network of infostates: regrets, values or logits of each action.

Algorithm:
    Cards and betting have branches of three and two layers, each group of cards with embeddings of its own; three
    more layers join them. A layer is x' = ReLU(A x [+ x]), with the skip where sizes allow it. The last features are
    normalised to zero mean and unit variance, then one linear layer gives an output for every action. A flat network
    has the last three layers alone, on all inputs.

Reference: thesis 4.1.2 "Network Architecture", Fig. 4.1; SD-CFR (Steinberger 2019) has flat networks of three layers
    on Leduc.
Deviations: games without cards have one group, the hand.
Status: tests/learning/sampled/test_network.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import nn

from aleator.learning.sampled.encoding import Encoding

Tensor = torch.Tensor


class InfostateNetwork(nn.Module):
    """From inputs [n, size] to outputs [n, O]."""

    def __init__(
        self,
        groups: Sequence[int],
        betting: int,
        outputs: int,
        width: int,
        *,
        flat: bool = False,
        generator: torch.Generator | None,
    ) -> None:
        """Draws the parameters, unless `generator` is None: then they are to be loaded.

        Args:
            groups: sizes of the groups of cards.
            betting: how many inputs follow them.
            outputs: O.
            width: of all layers.
            flat: without branches.
            generator: of random numbers.
        """
        super().__init__()
        self.groups, self.betting, self.flat = tuple(groups), betting, flat
        if not flat:
            self.embeddings = nn.ModuleList(nn.Linear(size, width, bias=False) for size in groups)
            self.cards = _new_layers(3, len(groups) * width, width)
            self.bets = _new_layers(2, betting, width)
        self.joint = _new_layers(3, sum(groups) + betting if flat else 2 * width, width)
        self.output = nn.Linear(width, outputs)
        if generator is not None:
            self.initialise(generator)

    @classmethod
    def of(
        cls, encoding: Encoding, width: int, generator: torch.Generator | None, *, flat: bool = False
    ) -> InfostateNetwork:
        """Returns a network for the infostates of a game."""
        sizes = encoding.groups, encoding.betting, encoding.num_outputs
        return cls(*sizes, width, flat=flat, generator=generator)

    def initialise(self, generator: torch.Generator) -> None:
        """Draws new parameters, uniformly within 1 / sqrt(inputs) of a layer."""
        with torch.no_grad():
            for module in self.modules():
                if isinstance(module, nn.Linear):
                    bound = module.in_features**-0.5
                    for parameter in module.parameters():
                        parameter.uniform_(-bound, bound, generator=generator)

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns [n, O]."""
        features = _layers(self.joint, inputs if self.flat else self._branches(inputs))
        result: Tensor = self.output(nn.functional.layer_norm(features, features.shape[1:]))
        return result

    def on_grid(self, cards: Tensor, betting: Tensor) -> Tensor:
        """Returns [d, n, O] for all pairs of betting [d, ...] and cards [n, ...], whose branches are asked once each.

        The same as `forward` but for rounding.
        """
        assert not self.flat
        first, *others = self.joint
        assert isinstance(first, nn.Linear)
        width = self.output.in_features
        of_cards = nn.functional.linear(self._cards(cards), first.weight[:, :width], first.bias)
        of_bets = nn.functional.linear(_layers(self.bets, betting), first.weight[:, width:])
        features = _layers(others, torch.relu(of_bets[:, None] + of_cards))
        result: Tensor = self.output(nn.functional.layer_norm(features, features.shape[2:]))
        return result

    def _branches(self, inputs: Tensor) -> Tensor:
        """Returns [n, 2 x width]: what the branches say about cards and betting."""
        cards, betting = torch.split(inputs, [sum(self.groups), self.betting], dim=1)
        return torch.cat([self._cards(cards), _layers(self.bets, betting)], dim=1)

    def _cards(self, inputs: Tensor) -> Tensor:
        """Returns [n, width]: what the branch of cards says."""
        groups = torch.split(inputs, list(self.groups), dim=1)
        embedded = [embed(group) for embed, group in zip(self.embeddings, groups, strict=True)]
        return _layers(self.cards, torch.cat(embedded, dim=1))


def _new_layers(number: int, inputs: int, width: int) -> nn.ModuleList:
    """Returns linear layers, all but the first from `width` to `width`."""
    return nn.ModuleList(nn.Linear(inputs if layer == 0 else width, width) for layer in range(number))


def _layers(layers: Iterable[nn.Module], features: Tensor) -> Tensor:
    """Returns what some layers make of features [..., F], with skips where sizes do not change."""
    for layer in layers:
        result = layer(features)
        features = torch.relu(result + features if result.shape == features.shape else result)
    return features
