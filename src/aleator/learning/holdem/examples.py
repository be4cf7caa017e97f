"""Examples for value networks of hold'em: random situations and what both players' hands are worth in them.

Rivers are solved by the fused engine on a CUDA device and by the plain one elsewhere. A situation at the end of the
turn is worth the mean over the cards free of both hands (44 of 52) of what the rivers are worth: 48 solved rivers, or
what a river network says of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from aleator.learning.holdem.network import HoldemValueNetwork, Situation
from aleator.learning.holdem.situations import random_ranges, random_stacks
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.fused import FusedRivers
from aleator.solvers.engines.batched_holdem.order import StrengthOrder, order_of
from aleator.solvers.engines.batched_holdem.payoffs import RiverPayoffs
from aleator.solvers.engines.batched_holdem.plain import PlainEngine
from aleator.solvers.engines.batched_holdem.rounds import RoundBoards, round_boards
from aleator.solvers.engines.batched_holdem.shapes import PotMenu
from aleator.solvers.regret_rule import RegretRule

Tensor = torch.Tensor
FIELDS = 8  # of an example [FIELDS, H]: reach x H, check-down cfvs, compatible mass and cfvs, of both players each
_MENU = PotMenu()
LABEL_RULE = RegretRule(alpha=1.25, alpha_slope=0.25, horizon=100, floor=True, gamma=6.0, minimiser="sharp-matching")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """How examples are solved.

    Attributes:
        menu: the bets of the river.
        iterations: of a river whose stack is at most `deep` pots.
        deep_iterations: of other rivers.
        deep: a stack in pots.
        rule: the regret rule; its gamma weighs iterations in the mean of the root's values.
    """

    menu: PotMenu = _MENU
    iterations: int = 250
    deep_iterations: int = 500
    deep: float = 13.0
    rule: RegretRule = LABEL_RULE


class Examples(NamedTuple):
    """Situations and their values, on one device.

    Attributes:
        rows: float16 [n, FIELDS, H].
        strength: float16 [n, H].
        spread: float16 [n, H]; [n, 0] on rivers.
        stack: [n] in pots.
    """

    rows: Tensor
    strength: Tensor
    spread: Tensor
    stack: Tensor

    def __len__(self) -> int:
        return len(self.stack)

    def take(self, index: Tensor | slice) -> Examples:
        """Returns some of them."""
        return Examples(*(field[index] for field in self))

    def situation(self) -> Situation:
        """Returns what a network is asked."""
        rows = self.rows[:, :6].float()
        hands = rows.shape[2]
        reach = rows[:, 0:2] / hands
        spread = self.spread.float() if self.spread.shape[1] else rows.new_zeros(len(rows), hands)
        reach = reach / reach.sum(-1, keepdim=True)
        return Situation(reach, rows[:, 2:4], rows[:, 4:6], self.strength.float(), spread, self.stack.float())

    def values(self) -> Tensor:
        """Returns [n, 2, H]: what a network should answer."""
        return self.rows[:, 6:8].float()


def local_hands(order: StrengthOrder) -> Tensor:
    """Returns [B, H]: the number of the hand at each position among pairs of live cards."""
    high, low = order.card.amax(2), order.card.amin(2)
    return high * (high - 1) // 2 + low


def _to_hands(order: StrengthOrder, rows: Tensor) -> Tensor:
    """Returns rows over positions [B, ..., H] over pairs of live cards."""
    index = local_hands(order).view(len(rows), *[1] * (rows.dim() - 2), -1).expand_as(rows)
    return torch.empty_like(rows).scatter_(-1, index, rows)


def solve_rivers(
    order: StrengthOrder, reach: Tensor, stack: Tensor, labelling: Labelling
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns cfvs, check-down cfvs and compatible mass of rivers, each [B, 2, H] over positions.

    Args:
        order: of the boards.
        reach: [B, 2, H] over positions; need not be normalised.
        stack: [B] in pots.
        labelling: how to solve them.
    """
    values, checked, compatible = torch.zeros_like(reach), torch.empty_like(reach), torch.empty_like(reach)
    payoffs = RiverPayoffs(order)
    stacks = stack.double().cpu().numpy()
    checked[:] = 0.5 * payoffs.showdown(reach.flip(1))
    compatible[:] = payoffs.compatible(reach.flip(1))
    for betting, games in labelling.menu.split(np.maximum(stacks, 1e-6)):
        at = torch.from_numpy(games).to(reach.device)
        stakes = torch.from_numpy(betting.stakes(stacks[games])).to(reach)
        part = StrengthOrder(*(field[at] for field in vars(order).values()))
        count = labelling.iterations if betting.above < labelling.deep else labelling.deep_iterations
        engine: FusedRivers | PlainEngine
        if reach.is_cuda:
            engine = FusedRivers(betting.shape, stakes, reach[at], part, labelling.rule)
        else:
            engine = PlainEngine(betting.shape, stakes, reach[at], RiverPayoffs(part), labelling.rule)
        engine.run(count)
        values[at] = engine.values()
    return values, checked, compatible


def river_examples(
    deck: Deck, count: int, labelling: Labelling, generator: torch.Generator, stacks: tuple[float, float] | None = None
) -> Examples:
    """Returns solved random rivers; with DeepStack's stacks, or uniform ones between two numbers of pots."""
    boards = deck.random_boards(count, 5, generator)
    order = order_of(deck, boards, generator)
    hands = order.num_hands
    reach = random_ranges(2 * count, hands, generator).view(count, 2, hands)
    stack = random_stacks(count, generator, stacks)
    return river_rows(order, reach, stack, *solve_rivers(order, reach, stack, labelling))


def river_rows(
    order: StrengthOrder, reach: Tensor, stack: Tensor, values: Tensor, checked: Tensor, compatible: Tensor
) -> Examples:
    """Returns rivers and what `solve_rivers` says of them as examples; rows are over positions."""
    rows = _to_hands(order, torch.cat([reach * order.num_hands, checked, compatible, values], 1)).half()
    strength = _to_hands(order, order.strength).half()
    return Examples(rows, strength, rows.new_zeros(len(rows), 0), stack.float())


def ranges_on(boards: RoundBoards, generator: torch.Generator) -> Tensor:
    """Returns [B, 2, H]: random ranges over hands, by their strength on the board."""
    batch, hands = boards.strength.shape
    noise = 1e-6 * torch.rand(boards.strength.shape, device=generator.device, generator=generator)
    order = (boards.strength + noise).argsort(dim=1)
    ranges = random_ranges(2 * batch, hands, generator).view(batch, 2, hands)
    return torch.empty_like(ranges).scatter_(2, order[:, None].expand_as(ranges), ranges)


def turn_values(
    deck: Deck,
    turn: RoundBoards,
    reach: Tensor,
    stack: Tensor,
    labelling: Labelling | HoldemValueNetwork,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """Returns cfvs and check-down cfvs [B, 2, H] before the river card: means over rivers, solved or as a network says.

    Args:
        deck: the deck.
        turn: the boards.
        reach: [B, 2, H], which sums to 1 per player.
        stack: [B] in pots.
        labelling: how rivers are solved, or the network that prices them.
        generator: of the order of ties.
    """
    batch, live = turn.cards.shape
    values, checked = torch.zeros_like(reach), torch.zeros_like(reach)
    whole = reach.new_zeros(batch, 2, deck.num_hands).scatter_(2, turn.hands[:, None].expand_as(reach), reach)
    for card in range(live):
        order = order_of(deck, torch.cat([turn.boards, turn.cards[:, card : card + 1]], 1), generator)
        river = order.sort(whole)
        mass = river.sum(2, keepdim=True).clamp_min(1e-12)  # 1 less what holds the card
        if isinstance(labelling, HoldemValueNetwork):
            priced, down = price_rivers(order, river / mass, stack, labelling)
        else:
            priced, down, _ = solve_rivers(order, river / mass, stack, labelling)
        for total, rows in ((values, priced), (checked, down)):
            total += order.unsort(rows * mass.flip(1), deck.num_hands).gather(2, turn.hands[:, None].expand_as(reach))
    free = live - 4
    return values / free, checked / free


def price_rivers(
    order: StrengthOrder, reach: Tensor, stack: Tensor, network: HoldemValueNetwork
) -> tuple[Tensor, Tensor]:
    """Returns a river network's cfvs and check-down cfvs [B, 2, H] over positions.

    Args:
        order: of the boards.
        reach: [B, 2, H] over positions, which sums to 1 per player.
        stack: [B] in pots.
        network: of the river.
    """
    payoffs = RiverPayoffs(order)
    checked = 0.5 * payoffs.showdown(reach.flip(1))
    rows = _to_hands(order, torch.cat([reach, checked, payoffs.compatible(reach.flip(1))], 1))
    strength = _to_hands(order, order.strength)
    situation = Situation(rows[:, 0:2], rows[:, 2:4], rows[:, 4:6], strength, torch.zeros_like(strength), stack.float())
    with torch.no_grad(), torch.autocast(reach.device.type, torch.bfloat16, enabled=reach.is_cuda):
        values = network(situation).float()
    return values.gather(2, local_hands(order)[:, None].expand_as(values)), checked


def turn_examples(
    deck: Deck,
    count: int,
    labelling: Labelling | HoldemValueNetwork,
    generator: torch.Generator,
    stacks: tuple[float, float] | None = None,
) -> Examples:
    """Returns random situations at the end of the turn with their values; stacks as in `river_examples`."""
    turn = round_boards(deck, deck.random_boards(count, 4, generator))
    reach = ranges_on(turn, generator)
    stack = random_stacks(count, generator, stacks)
    values, checked = turn_values(deck, turn, reach, stack, labelling, generator)
    compatible = pairs_compatible(reach.flip(1), turn.cards.shape[1])
    rows = torch.cat([reach * reach.shape[2], checked, compatible, values], 1).half()
    return Examples(rows, turn.strength.half(), turn.spread.half(), stack.float())


def pairs_compatible(rows: Tensor, num_cards: int) -> Tensor:
    """Returns [..., H]: the mass of hands that share no card, for rows over all pairs of the live cards."""
    pairs = torch.tril_indices(num_cards, num_cards, -1, device=rows.device)
    holds = rows.new_zeros(pairs.shape[1], num_cards).scatter_(1, pairs.T, 1.0)
    return rows.sum(-1, keepdim=True) - (rows @ holds) @ holds.T + rows
