"""Rounds before the river, solved to the end of the street with multi-valued states at their leaves.

Algorithm:
    Behind each leaf at which somebody can still bet the opponent of the searcher chooses, hand by hand, by which
    continuation the hand goes on: the blueprint, or the blueprint biased towards folding, calling or raising
    (`abstraction.blueprint.values`). The searcher goes on by the blueprint. Each choice is a matrix of payoffs over
    pairs of numbers, which the next card gives to hands (`card_leaves`); the choice is one more decision of the betting
    shape, so that CFR finds it like any other. With a single continuation this is naive depth-limited search. Leaves
    take the value of the blueprint's leaf that is most like them, as a share of the pot; where all chips are in, cards
    decide.

Reference: N. Brown's thesis (2020), 5.2.2, 5.2.3 and 6.5 (Modicum).
Deviations: CFR over all hands at once (sharp DCFR+), not MCCFR with rollouts. The opponent is not penalised to balance
that it alone may choose.
Status: tests/search/whole_hands/test_multi_valued.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from aleator.abstraction.blueprint.values import CONTINUATIONS, BlueprintValues, BoardNumbers
from aleator.abstraction.translation import matching_action, raise_size
from aleator.games.holdem.betting import ActionKind
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import columns_of
from aleator.search.whole_hands.batches import RoundBatch, RoundShape, round_shape, solve_batch, tree_numbers
from aleator.search.whole_hands.card_leaves import CardLeaves
from aleator.search.whole_hands.rounds import RoundGame, RoundTask, SolvedRound
from aleator.solvers.engines.batched_holdem.payoffs import PairPayoffs
from aleator.solvers.engines.batched_holdem.shapes import DECISION, LEAF, BettingShape

Tensor = torch.Tensor


class ChoiceShape(NamedTuple):
    """A betting shape whose leaves became choices.

    Attributes:
        shape: with the choices.
        numbers: of the nodes of the shape before, in this one, ``[N]``.
        leaves: for each leaf, in order, its number in the shape before and which choice leads to it.
    """

    shape: BettingShape
    numbers: tuple[int, ...]
    leaves: tuple[tuple[int, int], ...]


def with_choices(shape: BettingShape, chooser: int, counts: Mapping[int, int]) -> ChoiceShape:
    """Returns a shape in which a player chooses at leaves.

    Args:
        shape: of a betting round.
        chooser: who chooses.
        counts: of choices by the number of a leaf; leaves with one stay as they are.
    """
    kind, player, parent, stake = ([column[0]] for column in (shape.kind, shape.player, shape.parent, shape.stake))
    numbers, choices = {0: 0}, {}

    def add(above: int, of: int) -> int:
        for column, row in ((kind, shape.kind), (player, shape.player), (stake, shape.stake)):
            column.append(row[of])
        parent.append(above)
        return len(kind) - 1

    def visit(node: int) -> None:
        here = numbers[node]
        for child in shape.children[node]:
            numbers[child] = add(here, child)
        for child in shape.children[node]:
            visit(child)
        if shape.kind[node] == LEAF:
            if counts[node] == 1:
                choices[here] = (node, 0)
            else:
                kind[here], player[here], stake[here] = DECISION, chooser, -1
                choices.update({add(here, node): (node, choice) for choice in range(counts[node])})

    visit(0)
    made = BettingShape(tuple(kind), tuple(player), tuple(parent), tuple(stake))
    return ChoiceShape(
        made, tuple(numbers[node] for node in range(shape.num_nodes)), tuple(choices[leaf] for leaf in made.leaves)
    )


class ChosenLeaves:
    """Leaves of one round; `LeafPayoffs`.

    Args:
        open_leaves: what those at which somebody can still bet are worth; None if there are none.
        places: of these among all leaves, by leaf and choice, ``[L K]``.
        equities: how often a hand wins less how often it loses if nobody bets any more, ``[H, H]``.
        stakes: for each leaf what is lost by a showdown there, in chips.
    """

    def __init__(
        self, open_leaves: CardLeaves | None, places: list[int], equities: Tensor, stakes: list[float]
    ) -> None:
        self._leaves, self._equities = open_leaves, equities
        self._open = torch.tensor(places, dtype=torch.int64)
        shut = sorted(set(range(len(stakes))) - set(places))
        self._shut = torch.tensor(shut, dtype=torch.int64)
        self._stakes = torch.tensor([stakes[leaf] for leaf in shut], dtype=torch.float32)[:, None]

    def cfvs(self, player: int, opponent: Tensor) -> Tensor:
        """Returns a player's cfvs [1, L, H] from its opponent's reach [1, L, H]."""
        cfvs = torch.empty_like(opponent)
        if self._leaves is not None:
            rows = opponent[0, self._open].view(self._leaves.num_leaves, self._leaves.num_choices, -1)
            cfvs[0, self._open] = torch.from_numpy(self._leaves.cfvs(player, rows.numpy())).flatten(0, 1)
        if len(self._shut):  # equities are antisymmetric: what one wins the other loses
            cfvs[0, self._shut] = opponent[0, self._shut] @ self._equities.mT * self._stakes
        return cfvs


class MultiValuedRound(NamedTuple):
    """What the leaves of a round are valued by.

    Attributes:
        values: of the blueprint.
        node: of the blueprint's betting that is most like the round's root; None if all chips are in there.
        board: numbers of hands after each next card.
        equities: ``[H, H]`` of these hands, how often one wins less how often it loses.
        chooser: who chooses at leaves; None for naive leaves.
    """

    values: BlueprintValues
    node: BettingNode | None
    board: BoardNumbers
    equities: Tensor
    chooser: int | None


def solve_multi_valued(
    task: RoundTask, leaves: MultiValuedRound, iterations: int, *, seconds: float | None = None
) -> SolvedRound:
    """Returns a round whose tree ends with its street, solved.

    Args:
        task: the round.
        leaves: how its leaves are valued.
        iterations: of CFR.
        seconds: after which no further iterations are begun.
    """
    game = task.game
    plain = round_shape(game.root)
    number_of = dict(zip(tree_numbers(plain.shape, game.root), range(plain.shape.num_nodes), strict=True))
    matched = matching_leaves(game, leaves.node, leaves.values.policy.betting.stack)
    ends = {number_of[leaf]: node for leaf, node in matched.items()}
    options = 1 if leaves.chooser is None else len(CONTINUATIONS)
    counts = {leaf: 1 if node is None else options for leaf, node in ends.items()}
    chosen = with_choices(plain.shape, 0 if leaves.chooser is None else leaves.chooser, counts)
    slices = {number: chosen.shape.rows(chosen.numbers[number_of[number]]) for number in plain.slices}
    hands = leaves.board.hands[None]
    batch = RoundBatch([task], hands, columns_of(hands), [RoundShape(chosen.shape, slices, plain.matched)])
    stakes = batch.stakes[0]
    places: list[int] = []
    matrices: list[npt.NDArray[np.float32]] = []
    for place, (leaf, choice) in enumerate(chosen.leaves):
        first = ends[leaf]
        if first is None:
            continue
        places.append(place)
        if choice == 0:
            scale = stakes[plain.shape.stake[leaf]] / float(min(first.chips))
            matrices.append(np.float32(scale) * leaves.values.of_node(first.number, leaves.chooser))
    payoffs = ChosenLeaves(
        CardLeaves(leaves.board, matrices, leaves.chooser) if matrices else None,
        places,
        leaves.equities,
        [float(stakes[plain.shape.stake[leaf]]) for leaf, _ in chosen.leaves],
    )
    folds = PairPayoffs(len(leaves.board.numbers), torch.device("cpu"))
    return solve_batch(batch, folds, iterations, torch.device("cpu"), payoffs, seconds=seconds)[0]


def matching_leaves(game: RoundGame, node: BettingNode | None, most: int) -> dict[int, BettingNode | None]:
    """Returns for each leaf of a round, by its number, the start of the next street in a blueprint most like it.

    None where all chips are in, there or in the blueprint.

    Args:
        game: the round.
        node: of the blueprint that is most like the round's root, on the same street or at its end; None if all chips
            are in there.
        most: chips of a player when the blueprint's hand begins.
    """
    leaves: dict[int, BettingNode | None] = {}

    def follow(at: BettingNode, like: BettingNode | None) -> None:
        if at.kind is NodeKind.NEXT_STREET:
            leaves[at.number] = None if like is None or min(at.chips) >= game.stack else next_street(like)
        elif at.kind is NodeKind.DECISION:
            for index, (action, child) in enumerate(zip(at.actions, at.children, strict=True)):
                size = raise_size(at, index, game.pot) if action.kind is ActionKind.RAISE else 0.0
                all_in = child.chips[at.player] >= game.stack
                follow(child, matching_child(like, action.kind, size, all_in=all_in, most=most))

    follow(game.root, node)
    return leaves


def matching_child(
    node: BettingNode | None, kind: ActionKind, size: float, *, all_in: bool, most: int
) -> BettingNode | None:
    """Returns the node of a blueprint after an action like another one (`matching_action`); itself where it waits."""
    if node is None or node.kind is not NodeKind.DECISION:
        return node
    return node.children[matching_action(node, kind, size, all_in=all_in, most=most)]


def next_street(node: BettingNode) -> BettingNode | None:
    """Returns the first decision of the street that calling leads to; None if nobody can bet any more."""
    while node.kind is NodeKind.DECISION:
        node = node.children[[action.kind for action in node.actions].index(ActionKind.CALL)]
    if node.kind is NodeKind.FOLD:
        return None
    first = node.children[0] if node.kind is NodeKind.NEXT_STREET else node
    return first if first.kind is NodeKind.DECISION else None


def equity_matrix(board: tuple[int, ...], hands: npt.NDArray[np.int64]) -> Tensor:
    """Returns how often a hand wins less how often it loses against another, ``[H, H]``, over all cards to come."""
    from aleator.solvers.engines.batched_holdem.deck import Deck
    from aleator.solvers.engines.batched_holdem.rounds import equity_matrices, round_boards

    boards = round_boards(Deck(), torch.tensor([board], dtype=torch.int64))
    matrix = equity_matrices(boards)[0]
    assert np.array_equal(boards.hands[0].numpy(), hands), "hands are in ascending order"
    return matrix
