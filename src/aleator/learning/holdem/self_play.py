"""ReBeL's self-play of whole hands of heads-up no-limit hold'em, thousands at a time, as examples for value networks.

Algorithm:
    Hands begin with the blinds and random stacks. On every street the public belief state is solved to the end of the
    betting round with the network of that end at its leaves (rivers to the end of the game); the mean of the root's
    values over iterations is an example for the network of the street's start. Play then follows the policies of one
    random iteration t to a leaf; one of the two players, a random one, explores: with probability epsilon it takes any
    action. The leaf's beliefs are those under iteration t; its value, the mean over the next cards of what the network
    of the next start says, is an example for the network of the street's end. A card is dealt, and so on.

Reference: ReBeL, Algorithm 1 and App. C (leaves before the card; stacks, bet sizes perturbed by a tenth of the pot).

Deviations:
    One t per batch of games, drawn in proportion to t. A few preflop subgames are solved for all hands of a
    generation, each of which follows its own line. A turn's end is followed by several rivers, since a river is cheap
    to solve and each is a belief state of its own. Sizes are perturbed per batch. A belief that an explorer's action
    rules out stays what it was before it. No policy network.

Status: tests/learning/holdem/test_self_play.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import NamedTuple

import torch

from aleator.errors import SolveError
from aleator.learning.holdem.examples import Examples, Labelling, river_rows, solve_rivers, turn_values
from aleator.learning.holdem.leaves import round_engine
from aleator.learning.holdem.network import HoldemValueNetwork
from aleator.learning.holdem.streets import ENDS, STARTS, STREETS, Street
from aleator.learning.holdem.teaching import FlopTables, examples_of, mean_over_flops, mean_over_turns
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.order import order_of
from aleator.solvers.engines.batched_holdem.plain import leaf_pots
from aleator.solvers.engines.batched_holdem.rounds import RoundBoards, equity_matrices, round_boards
from aleator.solvers.engines.batched_holdem.shapes import BettingShape, PotMenu

Tensor = torch.Tensor
BIG_BLIND = 100
_LEAST = 1e-9  # of a probability that a belief is multiplied with


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayConfig:
    """How hands are played.

    Attributes:
        hands: of a generation.
        preflop: subgames before the flop that are solved for them.
        chunk: games solved at a time.
        ends: at most so many ends of flops, and of turns, are made examples, per generation.
        preflop_ends: at most so many ends of the betting before the flop, each of which takes all flops.
        rivers: cards that are dealt at each end of a turn; every one of them is a river to solve.
        labelling: bets, iterations and rule of the solves.
        epsilon: how often the exploring player takes any action.
        perturbation: bet sizes are changed by up to this much of the pot.
        stacks: chips at the start of a hand, uniform between these two; the big blind is 100.
    """

    hands: int = 8_192
    preflop: int = 128
    chunk: int = 2_048
    ends: int = 4_096
    preflop_ends: int = 512
    rivers: int = 16
    labelling: Labelling = field(default_factory=lambda: Labelling(iterations=250, deep_iterations=250))
    epsilon: float = 0.25
    perturbation: float = 0.1
    stacks: tuple[int, int] = (5_000, 25_000)

    def __post_init__(self) -> None:
        for name in ("hands", "preflop", "chunk", "ends", "preflop_ends", "rivers"):
            if getattr(self, name) < 1:
                raise SolveError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0.0 <= self.epsilon <= 1.0:
            raise SolveError(f"epsilon must be in [0, 1], not {self.epsilon}")
        if not 0.0 <= self.perturbation < 0.5:
            raise SolveError(f"perturbation must be in [0, 0.5) pots, not {self.perturbation}")
        if not BIG_BLIND < self.stacks[0] <= self.stacks[1]:
            raise SolveError(f"stacks must be above the big blind of {BIG_BLIND}, the smaller first, not {self.stacks}")


class Hands(NamedTuple):
    """Hands in play at the start of a street.

    Attributes:
        boards: [B, n] places in the deck.
        reach: [B, 2, deck's H] both beliefs, which sum to 1; 0 for blocked hands.
        dealt: [B, 2] the deck's numbers of the hands that the players hold.
        explorer: [B] the player that explores.
        stack: [B] behind, in pots.
    """

    boards: Tensor
    reach: Tensor
    dealt: Tensor
    explorer: Tensor
    stack: Tensor

    def take(self, index: Tensor | slice) -> Hands:
        """Returns some of them."""
        return Hands(*(field[index] for field in self))


class SelfPlay:
    """Plays generations of hands with the networks as they are."""

    def __init__(self, config: SelfPlayConfig, deck: Deck, networks: dict[str, HoldemValueNetwork]) -> None:
        """Takes its seat.

        Args:
            config: how hands are played.
            deck: the deck.
            networks: by street, all of `STREETS`, on the deck's device.

        Raises:
            SolveError: a network is missing or of another deck.
        """
        for name, street in STREETS.items():
            if name not in networks:
                raise SolveError(f"self-play needs a network of the street {name}")
            live = deck.num_cards - street.board
            if networks[name].num_cards != live:
                raise SolveError(
                    f"the network of the street {name} is for {networks[name].num_cards} cards, not {live}"
                )
        self.config, self.deck, self.networks = config, deck, networks
        self._tables = FlopTables(deck)

    def generation(self, generator: torch.Generator) -> dict[str, Examples]:
        """Plays hands from the blinds to their ends; returns the examples by street, where there are any."""
        examples: dict[str, list[Examples]] = {name: [] for name in STREETS}
        hands = self._blinds(examples, generator)
        for size in (3, 4):
            if len(hands.stack) == 0:
                break
            parts = [self._round(part, size, examples, generator) for part in self._chunks(hands)]
            hands = _joined(parts)
        for part in self._chunks(hands):
            examples["river"].append(self._river(part))
        return {
            name: Examples(*(torch.cat(fields) for fields in zip(*parts, strict=True)))
            for name, parts in examples.items()
            if parts
        }

    def _chunks(self, hands: Hands) -> list[Hands]:
        chunk = self.config.chunk
        return [hands.take(slice(first, first + chunk)) for first in range(0, len(hands.stack), chunk)]

    def _blinds(self, examples: dict[str, list[Examples]], generator: torch.Generator) -> Hands:
        """Deals hands, solves preflop and plays to its ends; returns the hands that see a flop."""
        config, deck, device = self.config, self.deck, self.deck.device
        low, high = config.stacks
        part = torch.rand(config.preflop, generator=generator, device=device)
        chips = torch.floor(low + (high + 1 - low) * part)
        solved = Hands(
            torch.zeros(config.preflop, 0, dtype=torch.int64, device=device),
            torch.full((config.preflop, 2, deck.num_hands), 1.0 / deck.num_hands, device=device),
            torch.zeros(config.preflop, 2, dtype=torch.int64, device=device),
            torch.zeros(config.preflop, dtype=torch.int64, device=device),
            (chips - BIG_BLIND) / (2 * BIG_BLIND),
        )
        times = -(-config.hands // config.preflop)
        return self._round(solved, 0, examples, generator, times)

    def _round(
        self, hands: Hands, size: int, examples: dict[str, list[Examples]], generator: torch.Generator, times: int = 1
    ) -> Hands:
        """Solves a betting round of each hand and plays to its end, or `times` lines each with hands of their own.

        Returns the hands that see the next street.
        """
        deck, name = self.deck, ENDS[size]
        boards = round_boards(deck, hands.boards if size else hands.boards[:1])
        equities = equity_matrices(boards)
        light = boards._replace(runouts=boards.runouts[:, :0])
        each = light if size else light.take(torch.zeros(len(hands.stack), dtype=torch.int64, device=deck.device))
        reach = hands.reach.gather(2, each.hands[:, None].expand(-1, 2, -1))
        values, seen = torch.empty_like(reach), []
        labelling = self._perturbed(generator, blinds=size == 0)
        rule = replace(labelling.rule, alternating=False)
        for betting, numbers in labelling.menu.split(hands.stack.double().cpu().numpy()):
            at = torch.from_numpy(numbers).to(deck.device)
            on = light.take(at) if size else light
            engine = round_engine(
                self.networks[name], on, betting, hands.stack[at], reach[at], rule,
                equities=equities[at] if size else equities,
            )  # fmt: skip
            part = float(torch.rand((), generator=generator, device=deck.device))
            played = max(1, ceil(labelling.iterations * part**0.5))
            engine.run(played, captured=reach.is_cuda)
            policies = engine.current_policies()
            if played < labelling.iterations:
                engine.run(labelling.iterations - played, captured=reach.is_cuda)
            values[at] = engine.values()
            _, left = leaf_pots(betting.shape, engine.stakes, hands.stack[at].to(reach))
            game = torch.arange(len(at), device=deck.device).repeat_interleave(times)
            line = hands.take(at[game])
            if size == 0:
                line = self._deal(line, generator)
            node, beliefs = follow(
                betting.shape, policies, reach[at], game, self._local(each.take(at[game]), line.dealt),
                line.explorer, self.config.epsilon, generator,
            )  # fmt: skip
            seen.append(self._at_leaves(betting.shape, node, beliefs, line, each.take(at[game]), left[game]))
        if size:
            examples[STARTS[size]].append(examples_of(boards, equities, reach, hands.stack, values))
        ended = _joined(seen)
        shuffled = ended.take(torch.randperm(len(ended.stack), generator=generator, device=deck.device))
        self._price_ends(STREETS[name], shuffled, examples)
        dealt = [self._next_street(shuffled, 1 if size else 3, generator) for _ in range(self._cards_dealt(size))]
        return _joined(dealt)

    def _cards_dealt(self, size: int) -> int:
        """Returns how many next cards a round of so many board cards is played on with: one, but several rivers."""
        return self.config.rivers if size == 4 else 1

    def _perturbed(self, generator: torch.Generator, *, blinds: bool) -> Labelling:
        """Returns how a round is solved, with bet sizes that nobody has seen before."""
        menu, most = self.config.labelling.menu, self.config.perturbation
        changes = (2 * torch.rand(2, generator=generator, device=self.deck.device) - 1).tolist()
        bets, raises = (
            tuple(max(size + most * change, 0.05) for size in sizes)
            for sizes, change in zip((menu.bets, menu.raises), changes, strict=True)
        )
        changed = PotMenu(bets=bets, raises=raises, most=menu.most, to_showdown=False, blinds=blinds)
        return replace(self.config.labelling, menu=changed)

    def _deal(self, hands: Hands, generator: torch.Generator) -> Hands:
        """Returns hands with cards for both players and an explorer."""
        deck, count = self.deck, len(hands.stack)
        cards = deck.random_boards(count, 4, generator)
        high, low = cards.view(count, 2, 2).amax(2), cards.view(count, 2, 2).amin(2)
        explorer = torch.randint(2, (count,), generator=generator, device=deck.device)
        return hands._replace(dealt=high * (high - 1) // 2 + low, explorer=explorer)

    @staticmethod
    def _local(boards: RoundBoards, dealt: Tensor) -> Tensor:
        """Returns [B, 2]: where the deck's hands stand among those of the live cards."""
        return torch.searchsorted(boards.hands.contiguous(), dealt.contiguous())

    def _at_leaves(
        self, shape: BettingShape, node: Tensor, beliefs: Tensor, hands: Hands, boards: RoundBoards, left: Tensor
    ) -> Hands:
        """Returns the hands whose round has ended before a card with something left to bet."""
        leaf_of = torch.full((shape.num_nodes,), -1, device=node.device)
        for number, at in enumerate(shape.leaves):
            leaf_of[at] = number
        leaf = leaf_of[node]
        stack = left.gather(1, leaf.clamp_min(0)[:, None])[:, 0]
        on = ((leaf >= 0) & (stack > 1e-6)).nonzero().flatten()
        empty = beliefs.new_zeros(len(on), 2, self.deck.num_hands)
        reach = empty.scatter_(2, boards.hands[on][:, None].expand(-1, 2, -1), beliefs[on])
        return Hands(hands.boards[on], reach, hands.dealt[on], hands.explorer[on], stack[on])

    def _price_ends(self, street: Street, hands: Hands, examples: dict[str, list[Examples]]) -> None:
        """Adds examples of the end of a street, priced by the network of the next start."""
        deck = self.deck
        most = self._share(len(hands.stack)) if street.board else self.config.preflop_ends
        taken = hands.take(slice(max(1, most)))
        if len(taken.stack) == 0:
            return
        teacher = self.networks[str(street.teacher)]
        boards = round_boards(deck, taken.boards if street.board else taken.boards[:1])
        reach = taken.reach.gather(2, boards.hands[:, None].expand(len(taken.stack), 2, -1))
        if street.board == 0:
            reach = self._tables.by_class(reach)
            values = mean_over_flops(self._tables, reach, taken.stack, teacher)
        elif street.board == 3:
            values = mean_over_turns(deck, boards, reach, taken.stack, teacher)
        else:
            generator = torch.Generator(deck.device).manual_seed(0)  # of the order of ties
            values, _ = turn_values(deck, boards, reach, taken.stack, teacher, generator)
        examples[street.name].append(examples_of(boards, equity_matrices(boards), reach, taken.stack, values))

    def _share(self, count: int) -> int:
        """Returns how many of a chunk's ends become examples."""
        return min(count, -(-self.config.ends * self.config.chunk // self.config.hands))

    def _next_street(self, hands: Hands, cards: int, generator: torch.Generator) -> Hands:
        """Deals cards that nobody holds, and takes the hands that they block out of the beliefs."""
        deck, count = self.deck, len(hands.stack)
        held = deck.hand_cards[hands.dealt].flatten(1)  # [B, 4]
        noise = torch.rand(count, deck.num_cards, device=deck.device, generator=generator)
        noise.scatter_(1, torch.cat([hands.boards, held], 1), -1.0)
        boards = torch.cat([hands.boards, noise.topk(cards, dim=1).indices], 1)
        reach = hands.reach.masked_fill(deck.blocked(boards)[:, None], 0.0)
        return hands._replace(boards=boards, reach=reach / reach.sum(2, keepdim=True).clamp_min(1e-30))

    def _river(self, hands: Hands) -> Examples:
        """Solves rivers to the end of the game."""
        order = order_of(self.deck, hands.boards)
        reach = order.sort(hands.reach)
        menu = replace(self.config.labelling.menu, to_showdown=True)
        rows = solve_rivers(order, reach, hands.stack, replace(self.config.labelling, menu=menu))
        return river_rows(order, reach, hands.stack, *rows)


def _joined(parts: Sequence[Hands]) -> Hands:
    return Hands(*(torch.cat(fields) for fields in zip(*parts, strict=True)))


def follow(
    shape: BettingShape,
    policies: Tensor,
    reach: Tensor,
    game: Tensor,
    dealt: Tensor,
    explorer: Tensor,
    epsilon: float,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """Plays lines to the end of a betting round; returns where each comes to [B] and the beliefs there [B, 2, H].

    Args:
        shape: the betting.
        policies: [G, R, H].
        reach: [G, 2, H] at the root.
        game: [B] whose policies each line follows.
        dealt: [B, 2] the hand of each player.
        explorer: [B] the player that explores.
        epsilon: how often it takes any action.
        generator: of all randomness.
    """
    node, beliefs = torch.zeros_like(game), reach[game].clone()
    for number in shape.decisions:
        here = (node == number).nonzero().flatten()
        if not len(here):
            continue
        player, rows = shape.player[number], shape.rows(number)
        chances = policies[:, rows][game[here], :, dealt[here, player]]  # [b, A]
        any_action = torch.rand(len(here), device=node.device, generator=generator) < epsilon
        uniform = (any_action & (explorer[here] == player))[:, None]
        chances = torch.where(uniform, 1.0 / chances.shape[1], chances)
        action = torch.multinomial(chances.clamp_min(_LEAST), 1, generator=generator)[:, 0]
        taken = policies[game[here], rows.start + action].clamp_min(_LEAST)
        beliefs[here, player] *= taken
        node[here] = shape.children[number].start + action
    return node, beliefs / beliefs.sum(2, keepdim=True)
