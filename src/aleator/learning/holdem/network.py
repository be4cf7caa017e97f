"""What every value network of hold'em is: both players' beliefs in, both players' cfvs out, in pots.

`knot_network` has ours, `bucket_network` DeepStack's; `networks` makes either by its shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from aleator.errors import SolveError
from aleator.learning.holdem.streets import street_named

Tensor = torch.Tensor
_STACKS = (0.3, 1.0, 4.0, 13.0, 40.0)  # where the betting changes
STACK_FEATURES = 2 + len(_STACKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkShape:
    """The kind and the sizes of a value network.

    Attributes:
        street: a name of `streets.STREETS`: river (its start), turn (its end, before the river card), turn-start and so
            on.
        width, layers: of the trunk.
        buckets: of hands, in a network like DeepStack's; 0 for one of knots, which all that follows is about.
        knots: of the equity axis, at least 2.
        levels: of the spread axis, at least 1.
        bands: of the opponent's equity in which blocked mass is counted.
        band_knots: of the curves for blocked mass.
        by_class: whether classes of hands (169 with 52 cards) have inputs and values of their own; before the flop.
    """

    street: str = "river"
    width: int = 1024
    layers: int = 4
    buckets: int = 0
    knots: int = 128
    levels: int = 1
    bands: int = 8
    band_knots: int = 16
    by_class: bool = False

    def __post_init__(self) -> None:
        street = street_named(self.street)
        if self.by_class and street.board:
            raise SolveError(f"classes of hands differ before the flop only, not on the {street}")
        if self.buckets and not street.board:
            raise SolveError("before the flop hands are not put into buckets: their classes are few enough")
        for name, least in (
            ("width", 1), ("layers", 1), ("buckets", 0), ("knots", 2), ("levels", 1), ("bands", 2), ("band_knots", 2),
        ):  # fmt: skip
            if getattr(self, name) < least:
                raise SolveError(f"{name} must be at least {least}, not {getattr(self, name)}")

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields."""
        return asdict(self)


class Situation(NamedTuple):
    """What a network is asked about, B states; hands are pairs of live cards a > b, at a (a - 1) / 2 + b.

    Attributes:
        reach: [B, 2, H] both beliefs; each sums to 1.
        checked: [B, 2, H] cfvs in pots if nobody bets any more.
        compatible: [B, 2, H] the opponent's mass that shares no card with a hand.
        strength: [B, H] of a hand, the mean over the cards to come of the part of all hands that it beats.
        spread: [B, H] its standard deviation; zeros on the river.
        stack: [B] behind, in pots.
    """

    reach: Tensor
    checked: Tensor
    compatible: Tensor
    strength: Tensor
    spread: Tensor
    stack: Tensor


class HoldemValueNetwork(nn.Module):
    """cfvs [B, 2, H] in pots of both players in B situations, for opponents' beliefs that sum to 1.

    Attributes:
        shape: its kind and sizes.
        num_cards: C, live cards: 47 on a river, 48 on a turn, 49 on a flop, 52 preflop.
    """

    def __init__(self, shape: NetworkShape, num_cards: int) -> None:
        super().__init__()
        self.shape, self.num_cards = shape, num_cards


def stack_features(stack: Tensor) -> Tensor:
    """Returns [B, STACK_FEATURES]: stacks [B] in pots as networks are told them."""
    log = torch.log(stack.clamp_min(1e-3))[:, None]
    steps = (torch.sigmoid(3 * (log - math.log(bound))) for bound in _STACKS)
    return torch.cat([log / 3, torch.sigmoid(log), *steps], 1)


def begin(network: nn.Module, generator: torch.Generator | None, heads: Sequence[nn.Linear]) -> None:
    """Draws the parameters of a network's layers; its heads say zero at first."""
    for module in network.modules():
        if isinstance(module, nn.Linear):
            bound = 1.0 / math.sqrt(module.in_features)
            for parameter in (module.weight, module.bias):
                nn.init.uniform_(parameter, -bound, bound, generator=generator)
    for head in heads:
        nn.init.zeros_(head.weight)
        nn.init.zeros_(head.bias)


def check_network(network: HoldemValueNetwork, street: str, cards: int, where: Path) -> None:
    """Raises SolveError unless a network is the one of a street, for a deck.

    Args:
        network: as it was found.
        street: a name of `streets.STREETS`.
        cards: size of the deck.
        where: its file.
    """
    live = cards - street_named(street).board
    if network.shape.street != street or network.num_cards != live:
        raise SolveError(
            f"{where} is a network of the {network.shape.street} with {network.num_cards} live cards, "
            f"not of the {street} with {live}"
        )
