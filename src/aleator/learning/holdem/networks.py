"""The value networks of hold'em by their shapes: of knots, or of buckets."""

from __future__ import annotations

import torch

from aleator.learning.holdem.bucket_network import BucketNetwork, bucket_parameters
from aleator.learning.holdem.knot_network import KnotNetwork, knot_parameters
from aleator.learning.holdem.network import HoldemValueNetwork, NetworkShape


def make_network(shape: NetworkShape, num_cards: int, generator: torch.Generator | None = None) -> HoldemValueNetwork:
    """Returns a network of a shape.

    Args:
        shape: its kind and sizes.
        num_cards: C, live cards.
        generator: of what it begins with.
    """
    return (BucketNetwork if shape.buckets else KnotNetwork)(shape, num_cards, generator)


def num_parameters(shape: NetworkShape, num_cards: int) -> int:
    """Returns how many parameters a network of a shape has in a file, without making it."""
    return bucket_parameters(shape) if shape.buckets else knot_parameters(shape, num_cards)
