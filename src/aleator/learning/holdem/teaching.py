"""Examples of every street: random situations, and what the network of the street after, or a solve, says of them.

Algorithm:
    The start of a street is solved to the end of its round with the network of that end at the leaves, simultaneous
    updates. The end of a street is the mean over the cards free of both hands of what the network of the next start
    says: 48 rivers, 49 turns, or all flops. Preflop ranges are the same for all hands of a class (169 with 52 cards),
    so that 1,755 flops with their multiplicities and a mean over each class stand for 22,100.

Reference: DeepStack's supplement, "Deep Counterfactual Value Networks" (random situations, from the last street on).

Deviations: networks stand before the card, not after it, so that a search asks once per leaf instead of per card.

Status: tests/learning/holdem/test_teaching.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import comb

import numpy as np
import torch

from aleator.errors import SolveError
from aleator.learning.holdem.examples import (
    Examples,
    Labelling,
    pairs_compatible,
    ranges_on,
    river_examples,
    turn_examples,
)
from aleator.learning.holdem.leaves import network_leaves, round_engine
from aleator.learning.holdem.network import HoldemValueNetwork
from aleator.learning.holdem.situations import random_ranges, random_stacks
from aleator.learning.holdem.streets import Street
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.rounds import (
    RoundBoards,
    canonical_flops,
    equity_matrices,
    hand_classes,
    round_boards,
)

Tensor = torch.Tensor
_KEPT_BYTES = 16 << 30  # of equities of all flops, on a CUDA device


class ExampleMaker:
    """Makes random situations of a street with their values."""

    def __init__(
        self,
        street: Street,
        deck: Deck,
        labelling: Labelling,
        teacher: HoldemValueNetwork | None = None,
        *,
        stacks: tuple[float, float] | None = None,
        shared: int = 1,
    ) -> None:
        """Says how.

        Args:
            street: where.
            deck: the deck.
            labelling: how what is solved is solved.
            teacher: the network of `street.teacher`; rivers below the turn are solved if there is none.
            stacks: uniform between these numbers of pots; None for DeepStack's pots and 20,000 chips.
            shared: situations on one board, which have the same stack (flops and starts of turns).

        Raises:
            SolveError: the street needs a teacher.
        """
        if teacher is None and street.name not in ("river", "turn"):
            raise SolveError(
                f"examples of the {street} are made with a network of the street {street.teacher}: name one"
            )
        self.street, self.deck, self.labelling, self.teacher = street, deck, labelling, teacher
        self.stacks, self.shared = stacks, shared

    def make(self, count: int, generator: torch.Generator) -> Examples:
        """Returns so many situations."""
        street, deck, teacher = self.street, self.deck, self.teacher
        if street.name == "river":
            return river_examples(deck, count, self.labelling, generator, self.stacks)
        if street.name == "turn":
            return turn_examples(deck, count, teacher or self.labelling, generator, self.stacks)
        assert teacher is not None
        if street.board == 0:
            return self._preflop(teacher, count, generator)
        num_boards = -(-count // self.shared)
        boards = round_boards(deck, deck.random_boards(num_boards, street.board, generator))
        equities = equity_matrices(boards)
        reach = ranges_on(_repeated(boards, self.shared), generator)
        stack = random_stacks(num_boards, generator, self.stacks).repeat_interleave(self.shared)
        if street.starts:
            values = solve_rounds(boards, equities, reach, stack, teacher, self.labelling)
        else:
            values = mean_over_turns(deck, boards, reach, stack, teacher)
        return examples_of(boards, equities, reach, stack, values).take(slice(count))

    def _preflop(self, teacher: HoldemValueNetwork, count: int, generator: torch.Generator) -> Examples:
        boards = round_boards(self.deck, torch.zeros(1, 0, dtype=torch.int64, device=self.deck.device))
        reach = class_ranges(self.deck, boards.strength[0], count, generator)
        stack = random_stacks(count, generator, self.stacks)
        values = mean_over_flops(self.tables, reach, stack, teacher)
        return examples_of(boards, equity_matrices(boards), reach, stack, values)

    @cached_property
    def tables(self) -> FlopTables:
        """The flops of the deck."""
        return FlopTables(self.deck)


def check_down(equities: Tensor, reach: Tensor) -> Tensor:
    """Returns [B, 2, H]: cfvs in pots if nobody bets any more, for beliefs [B, 2, H] on `len(equities)` boards."""
    hands = reach.shape[2]
    others = (reach.flip(1) * hands).view(len(equities), -1, hands).to(equities.dtype)  # so that float16 can hold them
    return (0.5 / hands) * torch.bmm(others, equities.mT).float().view_as(reach)


def price(network: HoldemValueNetwork, boards: RoundBoards, equities: Tensor, reach: Tensor, stack: Tensor) -> Tensor:
    """Returns what a network says, [B, 2, H] in pots.

    Args:
        network: of the street of the boards, its start or its end.
        boards: one for every so many situations that follow each other.
        equities: of the boards.
        reach: [B, 2, H] which need not sum to 1.
        stack: [B] in pots.
    """
    pots = reach.new_ones(len(reach), 1)
    leaves = network_leaves(network, boards, equities, pots, stack.to(reach)[:, None])
    return leaves(reach[:, None].contiguous())[:, 0]


def solve_rounds(
    boards: RoundBoards,
    equities: Tensor,
    reach: Tensor,
    stack: Tensor,
    network: HoldemValueNetwork,
    labelling: Labelling,
) -> Tensor:
    """Returns cfvs [B, 2, H] at the start of betting rounds, solved with a network at their leaves.

    Args:
        boards: one for every so many games that follow each other.
        equities: of the boards.
        reach: [B, 2, H] both players' beliefs.
        stack: [B] in pots; the same for all games of a board.
        network: of the end of the street.
        labelling: bets, iterations and rule; updates are simultaneous.
    """
    shared, light = len(reach) // len(boards.cards), boards._replace(runouts=boards.runouts[:, :0])
    menu, rule = replace(labelling.menu, to_showdown=False), replace(labelling.rule, alternating=False)
    values = torch.empty_like(reach)
    by_board = np.maximum(stack.double().cpu().numpy()[::shared], 1e-6)
    for betting, numbers in menu.split(by_board):
        at = torch.from_numpy(numbers).to(reach.device)
        games = (at[:, None] * shared + torch.arange(shared, device=reach.device)).flatten()
        engine = round_engine(network, light.take(at), betting, stack[games], reach[games], rule, equities=equities[at])
        deep = betting.above >= labelling.deep
        engine.run(labelling.deep_iterations if deep else labelling.iterations, captured=reach.is_cuda)
        values[games] = engine.values()
    return values


def mean_over_turns(deck: Deck, flop: RoundBoards, reach: Tensor, stack: Tensor, network: HoldemValueNetwork) -> Tensor:
    """Returns cfvs [B, 2, H] before the turn card: means over the turn cards free of both hands.

    Args:
        deck: the deck.
        flop: one board for every so many situations that follow each other.
        reach: [B, 2, H] which sum to 1 per player.
        stack: [B] in pots.
        network: of the start of the turn.
    """
    shared = len(reach) // len(flop.cards)
    hands = flop.hands.repeat_interleave(shared, 0)[:, None].expand_as(reach)
    whole = reach.new_zeros(len(reach), 2, deck.num_hands).scatter_(2, hands, reach)
    total = torch.zeros_like(whole)
    for card in flop.cards.unbind(1):
        turn = round_boards(deck, torch.cat([flop.boards, card[:, None]], 1))
        index = turn.hands.repeat_interleave(shared, 0)[:, None].expand(-1, 2, -1)
        values = price(network, turn, equity_matrices(turn), whole.gather(2, index), stack)
        total.scatter_add_(2, index, values)
    return total.gather(2, hands) / (flop.num_cards - 4)


class FlopTables:
    """The canonical flops of a deck with their equities, which are kept if a CUDA device or a small deck allows it."""

    def __init__(self, deck: Deck) -> None:
        self.deck, self.flops = deck, canonical_flops(deck)
        self.classes = hand_classes(deck)
        self.sizes = torch.bincount(self.classes)
        self._kept: dict[int, tuple[RoundBoards, Tensor]] = {}

    def __len__(self) -> int:
        return len(self.flops.boards)

    def table(self, number: int) -> tuple[RoundBoards, Tensor]:
        """Returns a flop's boards and equities [1, H, H]."""
        if number in self._kept:
            return self._kept[number]
        boards = round_boards(self.deck, self.flops.boards[number : number + 1])
        prepared = boards._replace(runouts=boards.runouts[:, :0]), equity_matrices(boards)
        limit = _KEPT_BYTES if self.deck.device.type == "cuda" else 1 << 28
        if prepared[1].nbytes * len(self) <= limit:
            self._kept[number] = prepared
        return prepared

    def by_class(self, rows: Tensor) -> Tensor:
        """Returns rows [..., H] with the mean of its class at every hand."""
        flat = rows.reshape(-1, rows.shape[-1])
        total = flat.new_zeros(len(flat), len(self.sizes)).index_add_(1, self.classes, flat)
        return (total / self.sizes)[:, self.classes].view_as(rows)


def mean_over_flops(tables: FlopTables, reach: Tensor, stack: Tensor, network: HoldemValueNetwork) -> Tensor:
    """Returns cfvs [B, 2, H] before the flop: means over all flops free of both hands.

    Args:
        tables: the flops.
        reach: [B, 2, H] which sum to 1 per player, the same for all hands of a class.
        stack: [B] in pots.
        network: of the start of the flop.
    """
    total = torch.zeros_like(reach)
    for number, weight in enumerate(tables.flops.weights.tolist()):
        boards, equities = tables.table(number)
        hands = boards.hands[0]
        values = price(network, boards, equities, reach[:, :, hands], stack)
        total.index_add_(2, hands, values, alpha=weight)
    return tables.by_class(total) / comb(tables.deck.num_cards - 4, 3)


def class_ranges(deck: Deck, strength: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Returns [count, 2, H]: random ranges over classes by strength [H]; the hands of a class share its part alike."""
    classes = hand_classes(deck)
    sizes = torch.bincount(classes)
    by_class = strength.new_zeros(len(sizes)).index_add_(0, classes, strength) / sizes
    order = by_class.argsort()
    ranges = random_ranges(2 * count, len(sizes), generator).view(count, 2, -1)
    of_class = torch.empty_like(ranges).scatter_(2, order.expand_as(ranges), ranges)
    return (of_class / sizes)[:, :, classes]


def _repeated(boards: RoundBoards, times: int) -> RoundBoards:
    """Returns every board so many times, without its runouts."""
    light = boards._replace(runouts=boards.runouts[:, :0])
    return RoundBoards(*(field.repeat_interleave(times, 0) for field in light))


def examples_of(boards: RoundBoards, equities: Tensor, reach: Tensor, stack: Tensor, values: Tensor) -> Examples:
    """Returns situations on boards and their values [B, 2, H] as examples; arguments as those of `price`."""
    checked = check_down(equities, reach)
    compatible = pairs_compatible(reach.flip(1), boards.num_cards)
    rows = torch.cat([reach * reach.shape[2], checked, compatible, values], 1).half()
    shared = len(reach) // len(boards.cards)
    strength, spread = (field.repeat_interleave(shared, 0).half() for field in (boards.strength, boards.spread))
    return Examples(rows, strength, spread, stack.float())
