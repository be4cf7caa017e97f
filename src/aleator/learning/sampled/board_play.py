"""Sampled play of hold'em with the whole deck from the blinds to a showdown on the flop, and what networks are told.

Algorithm:
    A history is a node of the betting tree and a deal: a flop and two hands, drawn at the beginning; nobody sees the
    flop before its street. Flops that a renaming of suits makes equal are one (1,755), drawn by how many they stand
    for; so are hands that are equal before the flop (169) or on a flop. Infostates are numbered without being listed:
    (decision x flops + flop) x 1,326 + hand, in flop hold'em 180 million numbers.

Reference: thesis 4.1.2 (flop hold'em, the network's inputs).
Deviations: suits are renamed before a network is asked, which changes nothing in the game.
Status: tests/learning/sampled/test_board_play.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import torch

from aleator.errors import SolveError
from aleator.games.base import TERMINAL, FloatArray
from aleator.games.holdem.betting_tree import ACTION_KINDS, BettingNode, NodeKind
from aleator.games.holdem.cards import HANDS, NUM_CARDS, NUM_HANDS, NUM_SUITS
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.suits import HAND_MAPS, INVERSES, board_classes, hand_classes, symmetries
from aleator.games.holdem.whole_game import WholeGame
from aleator.learning.sampled.encoding import Encoding, betting_inputs, sum_cards
from aleator.learning.sampled.play import HistoryBatch, SampledGame
from aleator.learning.sampled.traversal import Policies
from aleator.solvers.holdem.evaluation import Answer, EvaluationStoppedError, evaluate_policy
from aleator.solvers.holdem.whole_solution import betting_fingerprint
from aleator.trees.fingerprint import Fingerprint

Tensor = torch.Tensor
_STREETS = 2
_ROWS = 1 << 19  # infostates that policies are asked about at a time
_SEEN = 2  # cards of a player
_STRONGEST = torch.iinfo(torch.int32).max
_BINS = 33  # inputs that tell how strong a hand is
_BOARDS = 256  # flops that policies are asked about at a time


class BoardPlay(SampledGame):
    """Sampled play of a game of whole hands that ends on the flop.

    Attributes:
        whole: the game.
        flops: [F, 3] the flops, one of each class.
        decisions: [D] the betting nodes at which a player acts.
    """

    num_players = 2

    def __init__(self, whole: WholeGame, *, device: torch.device | str = "cpu") -> None:
        if whole.num_streets != _STREETS:
            raise SolveError(f"{whole.variant.name} is sampled from the blinds to the flop only: flop-holdem is")
        self.whole, self.device = whole, torch.device(device)
        self.tree = tree = whole.build_tree().tree
        self._lay_out_betting()
        self._lay_out_cards()
        self.decisions = np.flatnonzero(tree.kind == NodeKind.DECISION)
        number = np.zeros(tree.num_nodes, np.int64)
        number[self.decisions] = np.arange(len(self.decisions))
        self._decision = self._put(number)
        self._decider = self._put(tree.player[self.decisions].astype(np.int64))
        self._late = self._put(tree.street[self.decisions] > 0)
        self.num_infostates = len(self.decisions) * len(self.flops) * NUM_HANDS

    def _lay_out_betting(self) -> None:
        """Makes the tables of the betting."""
        tree = self.tree
        nodes = range(tree.num_nodes)
        self.num_actions = max(len(tree.children(node)) for node in nodes)
        child, depth = np.zeros((tree.num_nodes, self.num_actions), np.int64), np.zeros(tree.num_nodes, np.int64)
        for node in nodes:
            for action, after in enumerate(tree.children(node)):
                depth[after] = depth[node] + 1
                child[node, action] = after
        dealt = tree.kind[child] == NodeKind.NEXT_STREET
        child[dealt] += 1  # the street that follows begins with the next number
        decides = tree.kind == NodeKind.DECISION
        actor = np.where(decides, tree.player, TERMINAL).astype(np.int64)
        legal = np.array([[action < len(tree.children(node)) for action in range(self.num_actions)] for node in nodes])
        self._actor, self._child, self._depth = self._put(actor), self._put(child), self._put(depth + 1)
        self._legal_at = self._put((legal & decides[:, None])[decides])
        # what a player loses by folding, or wins and loses at a showdown
        self._folded = self._put(np.where(tree.kind == NodeKind.FOLD, tree.player, -1).astype(np.int64))
        self._stake = self._put(tree.chips.min(axis=1).astype(np.float64))

    def _lay_out_cards(self) -> None:
        """Makes the tables of flops, hands and showdowns."""
        deals = np.array(list(combinations(self.whole.deck, BOARD_CARDS[1])), np.int8)
        group = symmetries((), weights=list(self.whole.weights()))
        classes = board_classes(deals, group)
        self.flops = deals[classes.representatives].astype(np.int64)
        self._dealt = {tuple(flop): number for number, flop in enumerate(deals.tolist())}
        self._classes = classes
        order = np.empty((len(self.flops), NUM_HANDS), np.int16)
        hands, preflop = np.empty(order.shape, np.int64), _representatives(group, ())
        for number, flop in enumerate(self.flops):
            hands[number] = _representatives(symmetries(flop, within=group), flop)
            order[number] = strengths(flop)
        self._hands, self._preflop, self._strength = self._put(hands.ravel()), self._put(preflop), self._put(order)
        self._flop_ends = self._put(np.cumsum(classes.multiplicities / classes.multiplicities.sum()))
        self._flops = self._put(self.flops)
        self._deck = self._put(np.isin(np.arange(NUM_CARDS), self.whole.deck))
        hand_of = np.zeros((NUM_CARDS, NUM_CARDS), np.int64)
        first, second = HANDS.T
        hand_of[first, second] = hand_of[second, first] = np.arange(NUM_HANDS)
        self._hand_of = self._put(hand_of)

    def _put(self, array: npt.NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def deal(self, number: int, generator: torch.Generator) -> HistoryBatch:
        """Returns new histories: a flop, then four of the other cards in random order."""
        draws = torch.rand(number, generator=generator, dtype=torch.float64, device=self.device)
        flop = torch.searchsorted(self._flop_ends, draws, right=True).clamp(max=len(self.flops) - 1)
        places = torch.rand((number, NUM_CARDS), generator=generator, device=self.device)
        places = places.masked_fill(~self._deck, -1.0).scatter_(1, self._flops[flop], -1.0)
        cards = places.topk(2 * _SEEN, dim=1).indices
        first, second = self._hand_of[cards[:, 0], cards[:, 1]], self._hand_of[cards[:, 2], cards[:, 3]]
        return HistoryBatch(torch.zeros_like(flop), (flop * NUM_HANDS + first) * NUM_HANDS + second)

    def actor(self, histories: HistoryBatch) -> Tensor:
        """Returns [B]: 0, 1 or TERMINAL."""
        return self._actor[histories.node]

    def infostate(self, histories: HistoryBatch) -> Tensor:
        """Returns [B]: numbers of infostates."""
        flop, first, second = self._cards(histories)
        return self.number(self._decision[histories.node], flop, torch.where(self.actor(histories) == 0, first, second))

    def number(self, decision: Tensor, flop: Tensor, hand: Tensor) -> Tensor:
        """Returns [n]: the infostates of decisions, flops (any before they are dealt) and hands."""
        late = self._late[decision]
        own = torch.where(late, self._hands[flop * NUM_HANDS + hand], self._preflop[hand])
        return (decision * len(self.flops) + flop * late) * NUM_HANDS + own

    def parts(self, infostates: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns [n] each: decisions, flops (as many as there are where none is dealt) and hands."""
        decision = infostates // (len(self.flops) * NUM_HANDS)
        flop = infostates // NUM_HANDS % len(self.flops)
        return decision, torch.where(self._late[decision], flop, len(self.flops)), infostates % NUM_HANDS

    def player(self, infostates: Tensor) -> Tensor:
        """Returns [n]: whose they are."""
        return self._decider[infostates // (len(self.flops) * NUM_HANDS)]

    def legal(self, infostates: Tensor) -> Tensor:
        """Returns [n, A] bool."""
        return self._legal_at[infostates // (len(self.flops) * NUM_HANDS)]

    def act(self, histories: HistoryBatch, actions: Tensor, generator: torch.Generator) -> HistoryBatch:
        """Returns the histories after an action each; the flop was drawn before."""
        return HistoryBatch(self._child[histories.node, actions], histories.pair)

    def returns(self, histories: HistoryBatch, player: int) -> Tensor:
        """Returns [B], float64: what a player has won, in chips."""
        flop, first, second = self._cards(histories)
        folded = self._folded[histories.node]
        shown = (self._strength[flop, first] - self._strength[flop, second]).sign().long()
        won = torch.where(folded >= 0, 2 * folded - 1, shown).double() * self._stake[histories.node]
        return won if player == 0 else -won

    def bound(self) -> float:
        """Returns the most that can be won."""
        return float(self._stake.max())

    def length(self, histories: HistoryBatch) -> Tensor:
        """Returns [B]: moves so far, the deal and the flop included."""
        return self._depth[histories.node]

    def _cards(self, histories: HistoryBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Returns [B] each: the flop and both hands."""
        pair = histories.pair
        return pair // (NUM_HANDS * NUM_HANDS), pair // NUM_HANDS % NUM_HANDS, pair % NUM_HANDS

    def deals_flop(self, decisions: Tensor) -> Tensor:
        """Returns [d]: whether a flop is dealt before decisions."""
        return self._late[decisions]

    def legal_at(self, decisions: Tensor) -> Tensor:
        """Returns [d, A] bool: what is legal at decisions."""
        return self._legal_at[decisions]

    def flop_chances(self) -> Tensor:
        """Returns [F], float64: how likely each flop is dealt."""
        return torch.diff(self._flop_ends, prepend=torch.zeros_like(self._flop_ends[:1]))

    def hands_of_deck(self) -> Tensor:
        """Returns [1326], float32: 1 for hands that the deck has."""
        return self._deck[self._put(HANDS.astype(np.int64))].all(dim=1).float()

    def alive(self, flops: Tensor) -> Tensor:
        """Returns [F, 1326], float32: 1 for hands of the deck that share no card with a flop."""
        hands = self._put(HANDS.astype(np.int64))
        shared = (self._flops[flops][:, None, None, :] == hands[None, :, :, None]).any(dim=3).any(dim=2)
        return (~shared).float() * self.hands_of_deck()

    def stand_ins(self, flops: Tensor) -> Tensor:
        """Returns [F, 1326]: the hand that stands for each on a flop, up to suits."""
        return self._hands.view(-1, NUM_HANDS)[flops]

    def preflop_class(self) -> Tensor:
        """Returns [1326]: the hand that stands for each before the flop, up to suits."""
        return self._preflop

    def hands_on_flop(self) -> int:
        """Returns how many hands a player can have on a flop."""
        return math.comb(len(self.whole.deck) - BOARD_CARDS[1], _SEEN)

    def pairs_on_flop(self) -> float:
        """Returns how many pairs of hands two players can have on a flop."""
        return float(self.hands_on_flop() * math.comb(len(self.whole.deck) - BOARD_CARDS[1] - _SEEN, _SEEN))

    def shares_beaten(self) -> Tensor:
        """Returns [F + 1, 1326], float32: the share of hands on a flop that a hand beats, half of the ties included;
        behind the flops its mean."""
        chances, rows = self.flop_chances(), list[Tensor]()
        for flops in torch.split(torch.arange(len(self.flops), device=self.device), 64):
            alive, strength = self.alive(flops), self._strength[flops].int()
            count = alive.sum(dim=1, keepdim=True)
            ordered = torch.where(alive > 0, strength, _STRONGEST).sort(dim=1).values
            weaker = torch.searchsorted(ordered, strength)
            stronger = count - torch.searchsorted(ordered, strength, right=True)
            rows.append((0.5 + 0.5 * (weaker - stronger) / count) * alive)
        shares = torch.cat(rows)
        held = self.alive(torch.arange(len(self.flops), device=self.device)).double()
        total, likely = (shares * chances[:, None]).sum(dim=0), (held * chances[:, None]).sum(dim=0)
        size = len(self._preflop)
        means = torch.zeros((2, size), dtype=torch.float64, device=self.device)
        means.index_add_(1, self._preflop, torch.stack([total, likely]))
        mean = (means[0] / means[1].clamp(min=1e-12))[self._preflop]
        return torch.cat([shares, mean.float()[None]])

    def showdowns(self, flops: Tensor) -> Tensor:
        """Returns [F, 1326, 1326], float32: 1 where the second hand beats the first on a flop, -1 where it loses."""
        strength = self._strength[flops]
        return (strength[:, None, :].int() - strength[:, :, None].int()).sign().float()

    def policy(self, policies: Policies, node: int, flops: Sequence[Sequence[int]]) -> FloatArray:
        """Returns [B, A, 1326]: what policies say at a betting node about all hands on some flops, of any suits.

        Before the flop there is one empty board. Hands that share cards with a flop get some policy, too.
        """
        number, seen = np.zeros(len(flops), np.int64), np.tile(np.arange(NUM_HANDS), (len(flops), 1))
        for row, flop in enumerate(flops):
            if flop:
                dealt = self._dealt[tuple(sorted(flop))]
                number[row] = self._classes.class_of[dealt]
                seen[row] = HAND_MAPS[INVERSES[self._classes.permutation_of[dealt]]]
        hands = self._put(seen.ravel())
        where = self._put(number).repeat_interleave(NUM_HANDS)
        infostates = self.number(self._decision[node].expand(len(hands)), where, hands)
        rows, back = torch.unique(infostates, return_inverse=True)  # hands equal up to suits are asked about once
        answers = torch.cat([policies.probabilities(rows[at : at + _ROWS]) for at in range(0, len(rows), _ROWS)])[back]
        actions = len(self.tree.children(node))
        blocks = answers.view(len(flops), NUM_HANDS, -1)[:, :, :actions].permute(0, 2, 1)
        return np.asarray(blocks.cpu().numpy())

    def answer(self, policies: Policies) -> Answer:
        """Returns policies as `evaluate_policy` asks them."""

        def answer(node: BettingNode, boards: Sequence[Sequence[int]]) -> FloatArray:
            return self.policy(policies, node.number, boards)

        return answer

    def exploitability(self, policies: Policies, stopped: Callable[[], bool]) -> float | None:
        """Returns the exact exploitability of policies over all flops, in chips, which takes minutes; None if `stopped`
        said on the way to give it up."""
        try:
            answer = self.answer(policies)
            return evaluate_policy(self.whole, answer, boards_at_once=_BOARDS, stopped=stopped).exploitability
        except EvaluationStoppedError:
            return None

    @property
    def fingerprint(self) -> Fingerprint:
        """Of the betting and the deck."""
        return Fingerprint(betting_fingerprint(self.whole), (0.0, 0.0), 0.0)


class BoardEncoding(Encoding):
    """Inputs and outputs of networks for the infostates of a `BoardPlay`: as `encoding` has them for games of poker."""

    def __init__(self, play: BoardPlay, *, strength: bool = False) -> None:
        """Prepares the inputs; with `strength` also how many of all hands a hand beats on its flop, or on average."""
        tree, device = play.tree, play.device
        self._play = play
        self._strength = play.shares_beaten() if strength else None
        none = np.zeros((1, _sum(()).shape[0]), np.float32)
        flops = np.concatenate([np.stack([_sum(flop) for flop in play.flops.tolist()]), none])
        hands = np.stack([_sum(hand) for hand in HANDS.tolist()])
        dealt = np.append(False, tree.kind[tree.parent[1:]] == NodeKind.NEXT_STREET)
        betting = betting_inputs(play.whole.variant.name, tree.parent, dealt, tree.chips.sum(axis=1) + 0.0)[
            play.decisions
        ]
        seat = (tree.player[play.decisions] == 1).astype(np.float32)[:, None]
        public = np.concatenate([betting, seat], axis=1)
        outputs = np.full((len(play.decisions), play.num_actions), -1, np.int64)
        for row, node in enumerate(play.decisions):
            kinds = tree.action[tree.children(int(node))]
            outputs[row, : len(kinds)] = kinds
        self.names = [kind.value for kind in ACTION_KINDS]
        self.groups = (hands.shape[1], flops.shape[1], *((_BINS,) if strength else ()))
        self.betting = public.shape[1]
        self.size = sum(self.groups) + self.betting
        self._hands, self._flops, self._betting, self._outputs = (
            torch.from_numpy(table).to(device) for table in (hands, flops, public, outputs)
        )

    def inputs(self, infostates: Tensor) -> Tensor:
        """Returns [n, size], float32."""
        decision, flop, hand = self._play.parts(infostates)
        return torch.cat([self.cards(flop, hand), self._betting[decision]], dim=1)

    def cards(self, flops: Tensor, hands: Tensor) -> Tensor:
        """Returns [n, ...]: the part of the inputs that tells cards; flops are as many as there are before one."""
        inputs = [self._hands[hands], self._flops[flops]]
        if self._strength is not None:
            # between the two nearest of some places from the weakest hand to the strongest
            place = self._strength[flops, hands][:, None] * (_BINS - 1)
            inputs.append((1.0 - (place - torch.arange(_BINS, device=place.device)).abs()).clamp(min=0.0))
        return torch.cat(inputs, dim=1)

    def betting_at(self, decisions: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the part of the inputs that tells the betting at decisions [d, ...], and their outputs [d, A]."""
        return self._betting[decisions], self._outputs[decisions].clamp(min=0)

    def of_actions(self, infostates: Tensor, outputs: Tensor) -> Tensor:
        """Returns [n, A]: outputs [n, O] in the order of the infostates' actions; past the last one nothing."""
        return outputs.gather(1, self._outputs[self._play.parts(infostates)[0]].clamp(min=0))


def _sum(cards: Sequence[int]) -> npt.NDArray[np.float32]:
    return sum_cards(cards, NUM_CARDS, NUM_SUITS)


def _representatives(group: npt.NDArray[np.int8], flop: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns [1326]: the hand that stands for each up to suits; some other one where the flop has a card of it."""
    found = hand_classes(group, flop)
    hands: npt.NDArray[np.int64] = found.representatives[found.class_of.clip(min=0)]
    return hands
