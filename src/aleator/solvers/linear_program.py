"""Exact equilibria of small games by linear programming in sequence form.

Algorithm:
    A player's *sequence* is a way of having acted so far; the reach of all sequences, x, satisfies linear equations
    E x = e (what goes into an infostate comes out over its actions). With payoffs x' A y the equilibrium x solves
        max  f' v   subject to   A' x - F' v >= 0,  E x = e,  x >= 0,
    where v holds one value per infostate of the opponent (F y = f are the opponent's equations).

Reference: thesis 2.3.8; von Stengel 1996, Koller, Megiddo and von Stengel 1996.
Deviations: none; solved by HiGHS through SciPy.
Status: Kuhn -1/18, Leduc -0.085606424, Liar's Dice 1x4 0.0625 (tests/solvers/test_linear_program.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import bmat, coo_array, csr_array

from aleator.errors import SolveError, TooBigError
from aleator.games.base import FloatArray
from aleator.trees.policy import BoolArray, Policy, block, legal_actions, normalised
from aleator.trees.public_tree import Int64Array, PublicTree

MAX_SEQUENCES = 200_000


class SequenceForm(NamedTuple):
    """A game in sequence form.

    Attributes:
        payoff: [S0, S1] sparse; what player 0 wins per reach of both sequences, chance included.
        flow: per player, (equations [infostates + 1, S], right-hand side): the reach of the empty sequence is 1, and
            what reaches an infostate is divided over its actions. Sequence 0 is the empty one; entry k of the tree's
            policy vector is sequence k + 1.
    """

    payoff: csr_array
    flow: tuple[tuple[csr_array, FloatArray], tuple[csr_array, FloatArray]]


def sequences(tree: PublicTree, player: int) -> list[Int64Array]:
    """Returns for each node [H]: the sequence by which the player got there with each hand."""
    last: list[Int64Array] = [np.zeros(tree.num_hands[player, 0], dtype=np.int64)]
    for node in range(1, tree.num_nodes):
        parent, origin = int(tree.parent[node]), tree.origin(player, node)
        if tree.actor[parent] == player:
            hands = int(tree.num_hands[player, parent])
            own = np.arange(hands) + (node - tree.first_child[parent]) * hands if origin is None else origin
            last.append(1 + tree.policy_start[parent] + own)
        else:
            last.append(last[parent] if origin is None else last[parent][origin])
    return last


def sequence_form(tree: PublicTree) -> SequenceForm:
    """Returns a tree's payoffs and equations in sequence form."""
    last = [sequences(tree, player) for player in (0, 1)]
    rows, columns, entries = [], [], []
    for node in np.flatnonzero(tree.payoff_group >= 0):
        matrix = coo_array(tree.payoffs[tree.payoff_group[node]])
        rows.append(last[0][node][matrix.coords[0]])
        columns.append(last[1][node][matrix.coords[1]])
        entries.append(matrix.data * tree.stake[node])
    shape = (tree.policy_size[0] + 1, tree.policy_size[1] + 1)
    places = (np.concatenate(rows), np.concatenate(columns))
    payoff = csr_array(coo_array((np.concatenate(entries), places), shape=shape))
    return SequenceForm(payoff, (_flow(tree, 0, last[0]), _flow(tree, 1, last[1])))


def _flow(tree: PublicTree, player: int, last: list[Int64Array]) -> tuple[csr_array, FloatArray]:
    rows, columns, signs = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], [np.ones(1)]
    count = 1
    for node in tree.decisions(player):
        hands, actions = int(tree.num_hands[player, node]), int(tree.num_actions[node])
        infostates = count + np.arange(hands)
        rows += [np.tile(infostates, actions), infostates]
        columns += [1 + tree.policy_start[node] + np.arange(actions * hands), last[node]]
        signs += [np.ones(actions * hands), -np.ones(hands)]
        count += hands
    right = np.zeros(count)
    right[0] = 1.0
    places = (np.concatenate(rows), np.concatenate(columns))
    return csr_array(coo_array((np.concatenate(signs), places), shape=(count, tree.policy_size[player] + 1))), right


def solve_linear_program(tree: PublicTree) -> tuple[float, Policy]:
    """Returns the value of the game to player 0 and an equilibrium.

    Raises:
        TooBigError: more sequences than a linear program can be expected to handle.
    """
    if sum(tree.policy_size) > MAX_SEQUENCES:
        raise TooBigError(
            f"{tree.game.name} has {sum(tree.policy_size):,} sequences; a linear program takes at most "
            f"{MAX_SEQUENCES:,}: use an iterative algorithm"
        )
    form = sequence_form(tree)
    legal = legal_actions(tree)
    payoff = form.payoff / tree.unit  # HiGHS takes 1e-9 for zero and 1e-7 for equal
    value, first = _maximise(payoff, form.flow[0], form.flow[1], legal)
    _, second = _maximise(csr_array(-payoff.T), form.flow[1], form.flow[0], legal[::-1])
    return value * tree.unit, _policy_of(tree, (first, second))


def _maximise(
    payoff: csr_array,
    own: tuple[csr_array, FloatArray],
    other: tuple[csr_array, FloatArray],
    legal: tuple[BoolArray, BoolArray],
) -> tuple[float, FloatArray]:
    """Returns the best guaranteed payoff of the row player and the reach of its sequences."""
    (flow, right), (other_flow, other_right) = own, other
    size, infostates = flow.shape[1], other_flow.shape[0]
    possible = np.concatenate([[True], legal[1]])  # the opponent's illegal sequences are no constraint
    result = linprog(
        c=np.concatenate([np.zeros(size), -other_right]),
        A_ub=bmat([[-payoff.T, other_flow.T]], format="csr")[possible],
        b_ub=np.zeros(int(possible.sum())),
        A_eq=bmat([[flow, csr_array((flow.shape[0], infostates))]], format="csr"),
        b_eq=right,
        bounds=[(0, None if allowed else 0) for allowed in [True, *legal[0]]] + [(None, None)] * infostates,
        method="highs",
    )
    if result.status != 0:
        raise SolveError(f"the linear program was not solved: {result.message}")
    return -float(result.fun), result.x[:size]


def _policy_of(tree: PublicTree, reach: tuple[FloatArray, FloatArray]) -> Policy:
    """Returns the policy with that reach of sequences; uniform where the player itself never comes."""
    weights = (np.maximum(reach[0][1:], 0.0), np.maximum(reach[1][1:], 0.0))
    # reach below the solver's precision says nothing about what to do there
    for player in (0, 1):
        for node in tree.decisions(player):
            here = block(tree, weights, node)
            here[:, here.sum(axis=0) < 1e-12] = 0.0
    return normalised(tree, weights)
