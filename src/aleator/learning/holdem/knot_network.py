"""Our value network of hold'em: it sees hands on knots of equity, and corrects what checking down is worth.

Algorithm:
    If play depended on a hand's equity alone, a player's cfv would be
        cfv(h) = sum over opponent's hands h' without a common card of belief(h') g(e(h), e(h')),
    with e the equity against the opponent's range: a curve over e, less what the two cards of h block. So the trunk
    sees each range's mass by equity, on knots; it puts out, per player, a curve over equity (`knots`) times the
    compatible mass, and per band of the opponent's equity a coarser curve that is multiplied with the mass that h
    blocks in that band. Each hand reads the curves at its own equity. Before the river hands of equal equity differ by
    how much the next card will tell, so that knots have a second axis: `levels` of a hand's *spread*, the standard
    deviation of its strength over the cards to come. Before the flop there is no board, so that a hand's class says
    more than its equity: with `by_class` the trunk also sees each range's mass by class, and puts out a value per
    class, which is multiplied with the compatible mass too. The result is added to the check-down cfv in proportion to
    log(1 + stack), so that all-in leaves are exact, and made zero-sum by taking half the sum of both players' values
    off each, in proportion to the compatible mass.

Reference: DeepStack's supplement (zero-sum layer, fractions of the pot).

Deviations: knots of equity and blocked mass by band in place of 1,000 buckets of hands (`bucket_network`).

Status: tests/learning/holdem/test_knot_network.py; docs/algorithms/hunl.md has errors and exploitability.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import nn

from aleator.learning.holdem.network import (
    STACK_FEATURES,
    HoldemValueNetwork,
    NetworkShape,
    Situation,
    begin,
    stack_features,
)
from aleator.solvers.engines.batched_holdem.rounds import pair_classes

Tensor = torch.Tensor


class _Reading(NamedTuple):
    """Where a value lies between knots: the lower one and the fraction of the way to the next."""

    low: Tensor
    part: Tensor

    def spread_out(self, weights: Tensor, knots: int) -> Tensor:
        """Returns [..., knots]: weights [..., H] shared between the two knots of each."""
        empty = weights.new_zeros(*weights.shape[:-1], knots)
        return empty.scatter_add(-1, self.low, weights * (1 - self.part)).scatter_add(
            -1, self.low + 1, weights * self.part
        )

    def read(self, curve: Tensor) -> Tensor:
        """Returns [..., H]: the curve [..., knots] at each value."""
        return torch.lerp(torch.gather(curve, -1, self.low), torch.gather(curve, -1, self.low + 1), self.part)


def _between(position: Tensor, knots: int) -> _Reading:
    """Returns the reading of positions in [0, 1]."""
    at = position.clamp(0, 1) * (knots - 1)
    low = at.floor().clamp(0, knots - 2)
    return _Reading(low.long(), (at - low).clamp(0, 1))  # unclamped, rounding would give negative mass


class KnotNetwork(HoldemValueNetwork):
    """A value network that sees hands on knots of equity."""

    holds: Tensor
    classes: Tensor

    def __init__(self, shape: NetworkShape, num_cards: int, generator: torch.Generator | None = None) -> None:
        """Makes a network.

        Args:
            shape: its sizes.
            num_cards: C, live cards.
            generator: of the initial parameters.
        """
        super().__init__(shape, num_cards)
        cards = torch.tril_indices(num_cards, num_cards, -1)
        holds = torch.zeros(cards.shape[1], num_cards)
        holds.scatter_(1, cards.T, 1.0)
        self.register_buffer("holds", holds, persistent=False)  # [H, C]
        self.register_buffer("classes", pair_classes(cards.T), persistent=False)  # [H]
        self.num_classes = int(self.classes.max()) + 1 if shape.by_class else 0
        self.grid = shape.knots * shape.levels
        inputs = 4 * self.grid + STACK_FEATURES + 2 * self.num_classes
        self.first = nn.Linear(inputs, shape.width)
        self.middle = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(shape.width), nn.Linear(shape.width, shape.width), nn.GELU())
            for _ in range(shape.layers - 1)
        )
        self.curve = nn.Linear(shape.width, 2 * self.grid)
        self.band_curves = nn.Linear(shape.width, 2 * shape.bands * shape.band_knots)
        self.class_values = nn.Linear(shape.width, 2 * self.num_classes) if shape.by_class else None
        heads = (self.curve, self.band_curves, self.class_values)
        begin(self, generator, [head for head in heads if head is not None])  # untrained it checks down

    def forward(self, situation: Situation) -> Tensor:
        """Returns [B, 2, H]: both players' cfvs in pots, for opponents' beliefs that sum to 1."""
        reach, compatible, spread = situation.reach, situation.compatible, situation.spread
        position = positions(situation)
        at = _between(position, self.shape.knots)
        level = (
            _between(spread[:, None].expand_as(reach) * 2.0, max(self.shape.levels, 2))
            if self.shape.levels > 1
            else None
        )
        trunk = self._trunk(reach, situation.stack, self._mass(reach, at, level))
        curve = self.curve(trunk).float().view(len(reach), 2, self.grid)
        read = self._read(curve, at, level)
        if self.class_values is not None:
            read = read + self.class_values(trunk).float().view(len(reach), 2, -1)[..., self.classes]
        return corrected(situation, compatible * read + self._blocked(trunk, reach, position))

    def _mass(self, reach: Tensor, at: _Reading, level: _Reading | None) -> Tensor:
        """Returns [B, 2, grid]: the mass of both ranges on knots."""
        if level is None:
            return at.spread_out(reach, self.shape.knots)
        mass = reach.new_zeros(*reach.shape[:2], self.grid)
        for up, share in ((0, 1 - level.part), (1, level.part)):
            first = (level.low + up) * self.shape.knots + at.low
            mass = mass.scatter_add(-1, first, reach * share * (1 - at.part))
            mass = mass.scatter_add(-1, first + 1, reach * share * at.part)
        return mass

    def _trunk(self, reach: Tensor, stack: Tensor, mass: Tensor) -> Tensor:
        inputs = [
            4 * mass.clamp_min(0).sqrt().flatten(1),
            2 * mass.view(len(reach), 2, self.shape.levels, -1).cumsum(3).flatten(1) - 1,
            stack_features(stack),
        ]
        if self.num_classes:
            by_class = reach.new_zeros(len(reach), 2, self.num_classes).index_add(2, self.classes, reach)
            inputs.append(8 * by_class.clamp_min(0).sqrt().flatten(1))
        hidden: Tensor = self.first(torch.cat(inputs, 1))
        for layer in self.middle:
            hidden = hidden + layer(hidden)
        return hidden

    def _read(self, curve: Tensor, at: _Reading, level: _Reading | None) -> Tensor:
        if level is None:
            return at.read(curve)
        low = _Reading(level.low * self.shape.knots + at.low, at.part)
        high = _Reading((level.low + 1) * self.shape.knots + at.low, at.part)
        return torch.lerp(low.read(curve), high.read(curve), level.part)

    def _blocked(self, trunk: Tensor, reach: Tensor, position: Tensor) -> Tensor:
        """Returns [B, 2, H]: what the blocked mass in each band changes."""
        shape = self.shape
        exact = torch.float16 if reach.is_cuda else reach.dtype  # of tensors with a number per hand and band
        curves = self.band_curves(trunk).to(exact).view(len(reach), 2, shape.band_knots, shape.bands)
        mass = (_hats(position, shape.bands) * reach[..., None]).to(exact).flip(1)  # the opponent's, [B, 2, H, bands]
        with torch.autocast(reach.device.type, enabled=False):
            blocked = self._sharing(mass)
            change: Tensor = (blocked.float() * (_hats(position, shape.band_knots).to(exact) @ curves).float()).sum(3)
        return change

    def _sharing(self, mass: Tensor) -> Tensor:
        """Returns [B, 2, H, bands]: the mass of hands that share a card with each hand; itself counts once."""
        holds = self.holds.to(mass.dtype)
        return holds @ (holds.T @ mass) - mass


def positions(situation: Situation) -> Tensor:
    """Returns [B, 2, H]: each hand's equity against the opponent's range, in [0, 1], stretched near its ends."""
    equity = (2 * situation.checked / situation.compatible.clamp_min(1e-6)).clamp(-1, 1)
    return torch.asin(equity * 0.99999) / math.pi + 0.5  # knots are denser near certain wins and losses


def corrected(situation: Situation, change: Tensor) -> Tensor:
    """Returns cfvs [B, 2, H] from those of checking down and a change that is in proportion to log(1 + stack)."""
    reach, compatible = situation.reach, situation.compatible
    values = situation.checked + change * (0.25 * torch.log1p(situation.stack))[:, None, None]
    surplus = (reach * values).sum((1, 2)) / (2 * (reach[:, 0] * compatible[:, 0]).sum(1)).clamp_min(1e-6)
    return values - compatible * surplus[:, None, None]


def _hats(position: Tensor, knots: int) -> Tensor:
    """Returns [..., knots]: how much of each knot a position in [0, 1] between two of them is; sums to 1."""
    at = torch.arange(knots, device=position.device, dtype=position.dtype)
    return (1.0 - (position[..., None] * (knots - 1) - at).abs()).clamp_min(0.0)


def knot_parameters(shape: NetworkShape, num_cards: int) -> int:
    """Returns how many parameters a network of these sizes has, without making it."""
    classes = 0
    if shape.by_class:
        classes = int(pair_classes(torch.tril_indices(num_cards, num_cards, -1).T).max()) + 1
    grid, width = shape.knots * shape.levels, shape.width
    inputs = 4 * grid + STACK_FEATURES + 2 * classes
    outputs = 2 * (grid + shape.bands * shape.band_knots + classes)
    middle = (shape.layers - 1) * width * (width + 3)
    return (inputs + 1) * width + middle + outputs * (width + 1)
