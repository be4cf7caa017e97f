"""Flop hold'em walked publicly: a few flops at a time, all hands of both players at once.

Algorithm:
    Chance deals flops; on each of them all hands go down the betting together as vectors, and come up with
    counterfactual values that are exact for that flop (public chance sampling). A sampled regret of external sampling
    has the same mean at an infostate and comes there in proportion to cf_reach, so infostates are drawn in that
    proportion for a memory, each with the mean itself as its target: regrets without the noise of cards and of the
    opponent's actions. Before the flop values are means over the flops that were drawn. Over all flops the walk gives
    exact values and best responses.

Reference: Johanson et al. 2012, "Efficient Nash Equilibrium Approximation through Monte Carlo Counterfactual Regret
    Minimization" (public chance sampling); thesis 4.1.1 (memories).
Deviations:
    Flops are drawn systematically: one from each of n equal parts of a shuffled deck of flops, which is unbiased.
    Infostates are drawn likewise.
Status: tests/learning/sampled/test_board_walk.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch

from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.cards import HANDS, NUM_HANDS
from aleator.learning.sampled.board_asks import Ask
from aleator.learning.sampled.board_play import BoardPlay
from aleator.learning.sampled.traversal import Samples, Traversals

Tensor = torch.Tensor
_FLOPS, _GPU_FLOPS = 8, 64  # flops that are walked at a time


class Dealt(NamedTuple):
    """Some flops.

    Attributes:
        flops: [F] their numbers.
        alive: [F, H] float: 1 for hands that share no card with the flop.
        cards: two [n]: places among `flops` and hands, one of each class of suits.
        row: [F, H]: which of `cards` stands for a hand.
    """

    flops: Tensor
    alive: Tensor
    cards: tuple[Tensor, Tensor]
    row: Tensor


class Cards(NamedTuple):
    """Flops and a hand on each, in the order of the flops.

    Attributes:
        flops: [n] numbers of flops.
        hands: [n].
    """

    flops: Tensor
    hands: Tensor


class PlayerPolicy(NamedTuple):
    """What a player does at its decisions.

    Attributes:
        early: [d, A, H] before the flop.
        late: [d, A, F, H] on some flops.
    """

    early: Tensor
    late: Tensor


class BoardWalk:
    """Walks over the betting of a `BoardPlay` with vectors of hands.

    Attributes:
        play: the game.
        early, late: per player, its decisions before and on the flop: numbers among those of the play.
    """

    def __init__(self, play: BoardPlay) -> None:
        self.play, tree, device = play, play.tree, play.device
        number = {int(node): place for place, node in enumerate(play.decisions)}
        self.early: list[list[int]] = [[], []]
        self.late: list[list[int]] = [[], []]
        self._slot: dict[int, int] = {}  # of a decision's node, among its player's decisions of that street
        for node, decision in number.items():
            own = (self.late if tree.street[node] else self.early)[int(tree.player[node])]
            self._slot[node] = len(own)
            own.append(decision)
        nodes = range(tree.num_nodes)
        self._stake = tree.chips.min(axis=1).astype(float)
        self._after = {node: tree.children(node) for node in number}
        self._lines = [node for node in nodes if tree.kind[node] == NodeKind.NEXT_STREET]
        shared = torch.from_numpy((HANDS[:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3)))
        self._disjoint = (~shared).float().to(device)
        in_deck = play.hands_of_deck()
        self._in_deck = in_deck
        self._pairs = float(in_deck @ self._disjoint @ in_deck)
        same = play.preflop_class()
        self._class = torch.unique(same, return_inverse=True)[1]
        self._class_size = torch.zeros(int(self._class.max()) + 1, dtype=torch.float64, device=device).index_add_(
            0, self._class, in_deck.double()
        )

    def chunks(self, flops: Tensor) -> Iterator[Tensor]:
        """Returns flops a few at a time."""
        return iter(torch.split(flops, _FLOPS if self.play.device.type == "cpu" else _GPU_FLOPS))

    def draw_flops(self, number: int, generator: torch.Generator) -> Tensor:
        """Returns [number]: flops, each as likely as it is dealt."""
        chances, device = self.play.flop_chances(), self.play.device
        order = torch.randperm(len(chances), generator=generator, device=device)
        ends = chances[order].cumsum(0)
        first = torch.rand((), generator=generator, dtype=torch.float64, device=device)
        places = (torch.arange(number, dtype=torch.float64, device=device) + first) / number
        return order[torch.searchsorted(ends, places, right=True).clamp(max=len(order) - 1)]

    def deal(self, flops: Tensor) -> Dealt:
        """Returns what walks need to know of flops [F]."""
        alive, stand_ins = self.play.alive(flops), self.play.stand_ins(flops)
        here = torch.arange(len(flops), device=flops.device)[:, None] * NUM_HANDS + stand_ins
        keys, row = torch.unique(here, return_inverse=True)
        return Dealt(flops, alive, (keys // NUM_HANDS, keys % NUM_HANDS), row)

    def stand_in(self, dealt: Dealt) -> Tensor:
        """Returns [n]: where the cards of flops stand in [F x H]."""
        place, hand = dealt.cards
        return place * NUM_HANDS + hand

    def ask_early(self, ask: Ask, player: int) -> Tensor:
        """Returns [d, A, H]: what a player does before the flop."""
        hands, row = torch.unique(self.play.preflop_class(), return_inverse=True)
        answers = ask(self.numbers(self.early[player]), torch.zeros_like(hands), hands)
        return answers.float().permute(0, 2, 1)[:, :, row]

    def ask_late(self, ask: Ask, player: int, dealt: Dealt) -> Tensor:
        """Returns [d, A, F, H]: what a player does on flops."""
        place, hand = dealt.cards
        answers = ask(self.numbers(self.late[player]), dealt.flops[place], hand)
        return answers.float().permute(0, 2, 1)[:, :, dealt.row]

    def numbers(self, decisions: Sequence[int]) -> Tensor:
        """Returns decisions as a tensor."""
        return torch.tensor(decisions, device=self.play.device)

    def reach(self, policy: PlayerPolicy, player: int, dealt: Dealt) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
        """Returns a player's reach by node: [H] before the flop and [F, H] on it."""
        tree = self.play.tree
        early, late = {0: self._in_deck}, dict[int, Tensor]()
        for node in range(tree.num_nodes):
            kind, where = tree.kind[node], late if node in late else early
            if kind == NodeKind.DECISION:
                mine = int(tree.player[node]) == player
                block = (policy.late if where is late else policy.early)[self._slot[node]] if mine else None
                for action, child in enumerate(self._after[node]):
                    where[child] = where[node] if block is None else where[node] * block[action]
            elif kind == NodeKind.NEXT_STREET:
                late[node + 1] = early[node] * dealt.alive
        return early, late

    def up(
        self,
        policy: PlayerPolicy | None,
        player: int,
        other: dict[int, Tensor],
        dealt: Dealt | None,
        lines: dict[int, Tensor] | None = None,
    ) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
        """Returns a player's cfvs and cf_reach at its nodes of a street.

        Args:
            policy: what it does; None for the best it can.
            player: who.
            other: the other player's reach on that street, by node.
            dealt: the flops; None before them.
            lines: before the flop, cfvs of the betting that goes on.
        """  # fmt: skip
        tree = self.play.tree
        nodes = sorted(other)
        folds = [node for node in nodes if tree.kind[node] == NodeKind.FOLD]
        shown = [node for node in nodes if tree.kind[node] == NodeKind.SHOWDOWN]
        mine = [node for node in nodes if tree.kind[node] == NodeKind.DECISION and tree.player[node] == player]
        values = dict(lines or {})
        cf_reach = dict(zip(mine, torch.stack([other[node] for node in mine]) @ self._disjoint, strict=True))
        for node, total in zip(folds, torch.stack([other[node] for node in folds]) @ self._disjoint, strict=True):
            values[node] = total * (self._stake[node] if tree.player[node] != player else -self._stake[node])
        if shown and dealt is not None:
            wins = self.play.showdowns(dealt.flops) * self._disjoint  # [F, H, H]: who asks comes second
            rows = torch.bmm(torch.stack([other[node] for node in shown], dim=1), wins)
            for place, node in enumerate(shown):
                values[node] = rows[:, place] * self._stake[node]
        for node in reversed(nodes):
            if tree.kind[node] == NodeKind.DECISION:
                below = torch.stack([values[child] for child in self._after[node]])
                if tree.player[node] != player:
                    values[node] = below.sum(dim=0)
                elif policy is None:
                    values[node] = below.amax(dim=0)
                else:
                    block = (policy.early if dealt is None else policy.late)[self._slot[node]]
                    values[node] = (block[: len(below)] * below).sum(dim=0)
        return values, cf_reach

    def line_values(self, values: dict[int, Tensor], dealt: Dealt, chances: Tensor) -> Tensor:
        """Returns [L, H], float64: cfvs of betting lines before the flop, these flops' part of it: flops that are equal
        up to suits, and so hands that are, have one value."""
        below = torch.stack([values[line + 1] for line in self._lines])
        total = (below * dealt.alive).double().mul(chances[:, None]).sum(dim=1)
        classes = torch.zeros((len(total), len(self._class_size)), dtype=torch.float64, device=total.device)
        classes.index_add_(1, self._class, total)
        return (classes / self._class_size.clamp(min=1))[:, self._class]

    def _scale(self) -> float:
        """Returns pairs of hands on a flop / pairs of hands before it."""
        return self._pairs / self.play.pairs_on_flop()

    def traverse(
        self, asks: tuple[Ask, Ask], traverser: int, flops: Tensor, samples: int, generator: torch.Generator
    ) -> Traversals:
        """Returns regrets of the traverser and policies of the other player on flops, so many samples of each."""
        chances = torch.full((len(flops),), 1.0 / len(flops), dtype=torch.float64, device=self.play.device)
        regrets, policies, value, touched = self._traverse(asks, traverser, flops, chances, None)
        return Traversals(regrets.draw(samples, generator), policies.draw(samples, generator), value, touched)

    def traverse_all(self, asks: tuple[Ask, Ask], traverser: int, cards: Cards) -> Traversals:
        """Returns exact regrets of the traverser and policies of the other player at all decisions with some cards, and
        before the flop: the same infostates in the same order whenever these cards are asked about."""
        flops = torch.arange(len(self.play.flops), device=self.play.device)
        chances = self.play.flop_chances()
        regrets, policies, value, touched = self._traverse(asks, traverser, flops, chances, cards)
        return Traversals(regrets.all(), policies.all(), value, touched)

    def draw_cards(self, number: int, generator: torch.Generator) -> Cards:
        """Returns so many pairs of a flop and a hand, each as likely as it is dealt."""
        pair = self.play.deal(number, generator).pair // NUM_HANDS
        pair = pair.sort().values
        return Cards(pair // NUM_HANDS, pair % NUM_HANDS)

    def _traverse(
        self, asks: tuple[Ask, Ask], traverser: int, flops: Tensor, chances: Tensor, cards: Cards | None
    ) -> tuple[_Candidates, _Candidates, Tensor, int]:
        """Returns candidates for memories, on all cards of the flops or some, the value, and histories visited."""
        play, tree, other = self.play, self.play.tree, 1 - traverser
        early = [self.ask_early(ask, player) for player, ask in enumerate(asks)]
        total = torch.zeros((len(self._lines), NUM_HANDS), dtype=torch.float64, device=play.device)
        regrets, policies, touched = _Candidates(), _Candidates(), 0
        share = 1.0 / len(flops) if cards is None else play.hands_on_flop() / len(cards.flops)
        scale, per_hand = self._scale() * share, self._pairs / play.hands_on_flop() * share
        for some, likely in zip(self.chunks(flops), self.chunks(chances), strict=True):
            dealt = self.deal(some)
            both = [PlayerPolicy(early[p], self.ask_late(asks[p], p, dealt)) for p in (0, 1)]
            above, against = self.reach(both[other], other, dealt)
            values, cf_reach = self.up(both[traverser], traverser, against, dealt)
            total += self.line_values(values, dealt, likely)
            here, where = _places(some, cards)
            alive = dealt.alive.reshape(-1)[here]
            for node, cf in cf_reach.items():
                regret = self._regret(node, values, cf).flatten(0, 1)[here]
                regrets.add(self._number(node, *where), regret, cf.reshape(-1)[here] * alive * scale)
            for node in against:
                if tree.kind[node] == NodeKind.DECISION and tree.player[node] == other:
                    block = both[other].late[self._slot[node]].movedim(0, -1).flatten(0, 1)[here]
                    policies.add(self._number(node, *where), block, against[node].reshape(-1)[here] * per_hand)
            touched += len(some) * len(against) * NUM_HANDS
        lines = dict(zip(self._lines, (total * self._scale()).float(), strict=True))
        values, cf_reach = self.up(both[traverser], traverser, above, None, lines)
        hands = torch.arange(NUM_HANDS, device=play.device)
        where = torch.zeros_like(hands), hands
        for node, cf in cf_reach.items():
            regrets.add(self._number(node, *where), self._regret(node, values, cf), cf * self._in_deck)
        for node in above:
            if tree.kind[node] == NodeKind.DECISION and tree.player[node] == other:
                weight = above[node] * (self._pairs / float(self._in_deck.sum()))
                policies.add(self._number(node, *where), early[other][self._slot[node]].movedim(0, -1), weight)
        value = (values[0] * self._in_deck).double().sum() / self._pairs
        return regrets, policies, value[None], touched + len(above) * NUM_HANDS

    def _number(self, node: int, flops: Tensor, hands: Tensor) -> Tensor:
        late = bool(self.play.tree.street[node])
        street = (self.late if late else self.early)[int(self.play.tree.player[node])]
        decision = torch.full_like(hands, street[self._slot[node]])
        return self.play.number(decision.reshape(-1), flops.reshape(-1), hands.reshape(-1))

    def _regret(self, node: int, values: dict[int, Tensor], cf_reach: Tensor) -> Tensor:
        """Returns [..., A]: regrets of a hand that is there, in chips."""
        below = [values[child] for child in self._after[node]]
        none = [torch.zeros_like(below[0])] * (self.play.num_actions - len(below))
        regret = torch.stack([*(value - values[node] for value in below), *none], dim=-1)
        return regret / cf_reach.clamp(min=1e-12)[..., None]

    def exploitability(
        self, policies: Callable[[Dealt], list[PlayerPolicy]], stopped: Callable[[], bool]
    ) -> float | None:
        """Returns the exact exploitability (NashConv / 2) over all flops, in chips; None if it was stopped.

        Args:
            policies: of both players on some flops.
            stopped: asked on the way whether to give it up.
        """
        chances, won = self.play.flop_chances(), 0.0
        totals = torch.zeros((2, len(self._lines), NUM_HANDS), dtype=torch.float64, device=self.play.device)
        above: list[dict[int, Tensor]] = [{}, {}]
        for some in self.chunks(torch.arange(len(chances), device=self.play.device)):
            if stopped():
                return None
            dealt = self.deal(some)
            both = policies(dealt)
            for player in (0, 1):
                above[1 - player], against = self.reach(both[1 - player], 1 - player, dealt)
                values, _ = self.up(None, player, against, dealt)
                totals[player] += self.line_values(values, dealt, chances[some])
        for player in (0, 1):
            lines = dict(zip(self._lines, (totals[player] * self._scale()).float(), strict=True))
            values, _ = self.up(None, player, above[1 - player], None, lines)
            won += float((values[0] * self._in_deck).double().sum()) / self._pairs
        return won / 2


class _Candidates:
    """Candidates for a memory: infostates, targets and how likely chance and others bring somebody there."""

    def __init__(self) -> None:
        self._parts: list[Samples] = []

    def add(self, infostates: Tensor, targets: Tensor, weights: Tensor) -> None:
        """Takes infostates [n], targets [..., A] and weights [...]."""
        self._parts.append(Samples(infostates, targets.reshape(-1, targets.shape[-1]), weights.reshape(-1)))

    def all(self) -> Samples:
        """Returns all of them."""
        return Samples(*(torch.cat(column) for column in zip(*self._parts, strict=True)))

    def draw(self, number: int, generator: torch.Generator) -> Samples:
        """Returns so many of them in proportion to their weights, each with weight 1."""
        infostates, targets, weights = self.all()
        ends = weights.double().cumsum(0)
        first = torch.rand((), generator=generator, dtype=torch.float64, device=ends.device)
        places = (torch.arange(number, dtype=torch.float64, device=ends.device) + first) / number * ends[-1]
        drawn = torch.searchsorted(ends, places, right=True).clamp(max=len(ends) - 1)
        return Samples(infostates[drawn], targets[drawn], torch.ones(number, dtype=torch.float64, device=ends.device))


def _places(flops: Tensor, cards: Cards | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Returns places in [F x H] of the cards that are on some flops, or of all hands there; and these flops and hands.

    If there are cards, the flops follow each other.
    """
    if cards is None:
        here = torch.arange(len(flops) * NUM_HANDS, device=flops.device)
        return here, (flops[here // NUM_HANDS], here % NUM_HANDS)
    begin, end = torch.searchsorted(cards.flops, torch.stack([flops[0], flops[-1] + 1])).tolist()
    some = Cards(cards.flops[begin:end], cards.hands[begin:end])
    return (some.flops - flops[0]) * NUM_HANDS + some.hands, some
