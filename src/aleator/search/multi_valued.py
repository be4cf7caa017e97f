"""Multi-valued states: at the depth limit the players choose by which policy the game goes on.

Algorithm:
    A leaf is replaced by a choice among continuation policies, made by each hand without knowing the other's: of the
    opponent alone (the searcher follows the blueprint; Modicum), or of both players (Pluribus). What follows a pair
    of choices is a payoff matrix, computed once. The result is a plain tree without leaves. Continuations are the
    blueprint *biased* towards some actions, or *self-generated*: solve with what there is, add the opponent's best
    response to the solution followed by the blueprint, repeat.

Reference: thesis 5.2.2 (Proposition 3; the bias and the self-generative approach), 6.6 (both players choose).
Deviations: values of leaves are exact sums instead of rollouts.
Status: tests/search/test_multi_valued.py; `aleator paper multi-valued`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import FloatArray, IntArray
from aleator.search.blueprint import own_reach
from aleator.solvers.best_response import best_response
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.trees.policy import Policy, places
from aleator.trees.public_tree import Int64Array, PublicTree
from aleator.trees.subgame import Subgame, cut
from aleator.trees.surgery import Edge, End, Grafted, Inner, Part, assemble, root_hands

Continuations = tuple[Sequence[Policy], Sequence[Policy]]  # per player, policies of the whole tree
BIAS = 10.0  # what probabilities of a kind of actions are multiplied by
# how names of actions begin; "f", "c" and so on are those of hold'em spots
BIASES = {
    "fold": re.compile(r"fold|f$"),
    "call": re.compile(r"call|check|c$"),
    "raise": re.compile(r"raise|bet|all-in|[br]\d+$"),
}


class MultiValued(NamedTuple):
    """A depth-limited subgame whose leaves are choices.

    Attributes:
        tree: a tree without leaves.
        nodes: [nodes of the subgame] their numbers in `tree`.
    """

    tree: PublicTree
    nodes: Int64Array


def multi_valued(subgame: Subgame, continuations: Continuations) -> MultiValued:
    """Returns the subgame with each leaf replaced by a choice among each player's continuations.

    Args:
        subgame: cut from the tree of the continuations' policies, with a depth limit.
        continuations: at least one for each player; a player with one has nothing to choose.
    """
    if subgame.full is None or subgame.nodes is None:
        raise SolveError("multi-valued states need a subgame that was cut from the tree of the continuations")
    if any(policy.tree is not subgame.full for policies in continuations for policy in policies):
        raise SolveError("continuations must be policies of the tree that the subgame was cut from")
    if not (continuations[0] and continuations[1]):
        raise SolveError("each player needs at least one continuation")
    parts = {
        int(leaf): _choice(leaf_matrices(subgame.full, int(subgame.nodes[leaf]), continuations))
        for leaf in subgame.leaves
    }
    made = assemble(subgame.tree.game, Grafted(subgame.tree, parts))
    return MultiValued(made.tree, made.nodes[0])


def leaf_matrices(full: PublicTree, node: int, continuations: Continuations) -> list[list[FloatArray]]:
    """Returns `[k][l]`, the matrix [H0, H1] of chance x payoff to player 0 when players go on by policies k and l."""
    below = cut(full, node)
    assert below.nodes is not None
    tree, ends = below.tree, np.flatnonzero(below.tree.payoff_group >= 0)
    moved = [root_hands(tree, player) for player in (0, 1)]
    reach = [
        [own_reach(policy.part(below.nodes, tree), player) for policy in continuations[player]] for player in (0, 1)
    ]
    shape = int(tree.num_hands[0, 0]), int(tree.num_hands[1, 0])
    matrices = [[np.zeros(shape) for _ in continuations[1]] for _ in continuations[0]]
    for end in ends:
        payoff = tree.payoffs[tree.payoff_group[end]]
        dense = (payoff if isinstance(payoff, np.ndarray) else payoff.toarray()) * tree.stake[end]
        rows, columns = (_root_hands(moved[player][end], dense.shape[player]) for player in (0, 1))
        for own, first in zip(matrices, reach[0], strict=True):
            for matrix, second in zip(own, reach[1], strict=True):
                np.add.at(matrix, np.ix_(rows, columns), first[end][:, None] * dense * second[end][None, :])
    return matrices


def _root_hands(moved: IntArray | None, count: int) -> IntArray:
    return np.arange(count) if moved is None else moved


def _choice(matrices: list[list[FloatArray]]) -> Part:
    """Returns the choices of both players, made without knowing each other's."""
    first, second = matrices[0][0].shape
    stacked = [np.concatenate([row[column] for row in matrices]) for column in range(len(matrices[0]))]
    rows = len(matrices) * first
    after: Part = End(stacked[0])
    if len(stacked) > 1:
        edges = tuple(Edge(f"continuation {number}", End(matrix)) for number, matrix in enumerate(stacked))
        after = Inner(1, (rows, second), edges, num_actions=len(stacked), state="continuation")
    if len(matrices) == 1:
        return after
    chosen = Edge("choice made", after, (np.arange(rows), None))
    return Inner(0, (first, second), (chosen,), num_actions=len(matrices), state="continuation")


def kind_of(name: str, action: int, count: int) -> str:
    """Returns what an action is a kind of: a key of `BIASES` or, in games without such names, first, middle or last."""
    for kind, pattern in BIASES.items():
        if pattern.match(name):
            return kind
    return "first" if action == 0 else "last" if action == count - 1 else "middle"


def biased(policy: Policy, player: int, towards: str) -> Policy:
    """Returns the policy with the player's probability of a kind of actions multiplied, and normalised.

    Args:
        policy: the blueprint.
        player: whose part is biased.
        towards: a kind of actions, as `kind_of` has it.
    """
    bent = policy.with_player(player, policy.probabilities[player].copy())
    for node in policy.tree.decisions(player):
        kinds = _kinds(policy.tree, int(node))
        here = bent[int(node)]
        here *= np.array([BIAS if kind == towards else 1.0 for kind in kinds])[:, None]
        here /= here.sum(axis=0)
    return bent


def _kinds(tree: PublicTree, node: int) -> list[str]:
    names = tree.game.actions(tree.states[node])
    return [kind_of(name, action, len(names)) for action, name in enumerate(names)]


def bias_continuations(policy: Policy, player: int) -> list[Policy]:
    """Returns the blueprint, and the blueprint biased towards each kind of actions that the player has.

    In poker those are the four continuations of thesis 5.2.3: the blueprint, folding, calling and raising.
    """
    tree = policy.tree
    kinds = dict.fromkeys(kind for node in tree.decisions(player) for kind in _kinds(tree, int(node)))
    return [policy, *(biased(policy, player, kind) for kind in kinds)]


def solve_depth_limited(subgame: Subgame, continuations: Continuations, *, iterations: int = 1000) -> Policy:
    """Returns the average policy of the subgame (on `subgame.tree`) with multi-valued leaves, from its root on."""
    made = multi_valued(subgame, continuations)
    solver = CFR(made.tree, CFR_PLUS)
    solver.run(iterations)
    inside = made.nodes[subgame.tree.actor >= 0]  # not the choices in the place of leaves
    return solver.average_policy().part(inside, subgame.tree)


def spliced(policy: Policy, subgame: Subgame, part: Policy, player: int) -> Policy:
    """Returns a policy of the whole tree with a player's part in a subgame replaced by that of a subgame's policy."""
    assert subgame.nodes is not None
    own, nodes = policy.probabilities[player].copy(), subgame.nodes[subgame.tree.actor == player]
    own[places(policy.tree, nodes, player)] = part.probabilities[player]
    return policy.with_player(player, own)


def self_generated(
    blueprint: Policy, subgame: Subgame, opponent: int, count: int, *, iterations: int = 1000
) -> list[Policy]:
    """Returns the opponent's continuations by the self-generative approach, the blueprint first.

    Args:
        blueprint: of the whole game.
        subgame: from the root of the game to the depth limit.
        opponent: whose continuations are wanted; the other player is the searcher.
        count: how many.
        iterations: of each solve.
    """
    policies = [blueprint]
    searcher = 1 - opponent
    while len(policies) < count:
        pair: Continuations = ([blueprint], policies) if opponent == 1 else (policies, [blueprint])
        solution = solve_depth_limited(subgame, pair, iterations=iterations)
        played = spliced(blueprint, subgame, solution, searcher)
        policies.append(best_response(played, opponent).policy)
    return policies
