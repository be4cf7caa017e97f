"""Best responses in continuous Leduc against a policy of an abstraction of it, exactly, walking the abstraction only.

Algorithm:
    The responder may bet any x. The opponent takes x for a size A of its menu with the pseudo-harmonic chance f(x),
    else for the next larger size B. If it folds, x does not matter; whatever else follows is multiplied by 1 + 2x.
    So a bet of x in [A, B] is worth
        f(x) (F_A + (1 + 2x) G_A) + (1 - f(x)) (F_B + (1 + 2x) G_B) = a / y + b + c y,    y = 1 + x,
    F being what the opponent's folds win and 1 + 2A times G_A the rest of what betting A is worth when the responder
    goes on like this. Its maximum is at an end of the interval or at y = sqrt(a / c).

Reference: thesis 4.3.3.
Deviations:
    The responder learns which size its bet was taken for. That can only help it: exploitabilities are upper bounds.
Status: bets equal a search over 20,000 sizes, and with one size the best response is that of the tree
    (tests/abstraction/growing/test_continuous.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.base import FloatArray
from aleator.games.continuous_leduc import ContinuousLeduc
from aleator.games.leduc import LeducState
from aleator.solvers.engines.cpu.engine import CpuEngine, shared_engine
from aleator.solvers.engines.cpu.rows import NodeRows
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree


class BestBet(NamedTuple):
    """The best bet of a decision that no menu restricts, per hand [H]: its size in pots, its cfv, and the menu."""

    size: FloatArray
    cfv: FloatArray
    menu: Sequence[float]


class ContinuousResponse(NamedTuple):
    """A best response of one player.

    Attributes:
        value: what it wins on average.
        bets: the best bet of each of its decisions with bets, by node.
        comes: [N, H], whether it comes to a node with a hand, as far as that is up to the player.
    """

    value: float
    bets: dict[int, BestBet]
    comes: npt.NDArray[np.bool_]


def respond(policy: Policy, player: int) -> ContinuousResponse:
    """Returns the best response of a player whose bets may have any size."""
    tree, engine = policy.tree, shared_engine(policy.tree)
    game = tree.game
    assert isinstance(game, ContinuousLeduc)
    terminal = _terminal_cfvs(engine, policy, player)
    first, count, actor = tree.first_child.tolist(), tree.num_children.tolist(), tree.actor.tolist()
    cfvs: list[FloatArray] = [terminal[node] for node in range(tree.num_nodes)]
    bets: dict[int, BestBet] = {}
    for node in range(tree.num_nodes - 1, -1, -1):
        if not count[node]:
            continue
        children = range(first[node], first[node] + count[node])
        if actor[node] != player:
            cfvs[node] = np.sum([cfvs[child] for child in children], axis=0)
            continue
        state = tree.states[node]
        assert isinstance(state, LeducState)
        menu = game.menu(state)
        passive = count[node] - len(menu)
        best = np.max([cfvs[child] for child in children[:passive]], axis=0)
        if menu:
            folds, rest = [], []
            for size, child in zip(menu, children[passive:], strict=True):
                fold = terminal[first[child]]  # the opponent's first answer to a bet
                folds.append(fold)
                rest.append((cfvs[child] - fold) / (1.0 + 2.0 * size))
            bets[node] = _best_bet(menu, folds, rest)
            best = np.maximum(best, bets[node].cfv)
        cfvs[node] = best
    return ContinuousResponse(float(cfvs[0].sum()), bets, _comes(tree, player, cfvs, bets))


def _comes(tree: PublicTree, player: int, cfvs: list[FloatArray], bets: dict[int, BestBet]) -> npt.NDArray[np.bool_]:
    """Returns [N, H]: where a best response of these values comes to; a bet is taken for both sizes next to it."""
    comes = np.zeros((tree.num_nodes, len(cfvs[0])), np.bool_)
    comes[0] = True
    for node in range(tree.num_nodes):
        first, count = int(tree.first_child[node]), int(tree.num_children[node])
        if tree.actor[node] != player:
            comes[first : first + count] = comes[node]
            continue
        passive = count - len(bets[node].menu) if node in bets else count
        for child in range(first, first + passive):
            comes[child] = comes[node] & (cfvs[child] >= cfvs[node])
        if node in bets:
            bet = bets[node]
            ends = np.array([-np.inf, *bet.menu, np.inf])
            for k in range(len(bet.menu)):
                near = (bet.size > ends[k]) & (bet.size < ends[k + 2])
                comes[first + passive + k] = comes[node] & near & (bet.cfv >= cfvs[node])
    return comes


def continuous_exploitability(policy: Policy) -> float:
    """Returns NashConv / 2 in the game with all bet sizes."""
    return (respond(policy, 0).value + respond(policy, 1).value) / 2


def _terminal_cfvs(engine: CpuEngine, policy: Policy, player: int) -> FloatArray:
    """Returns [N, H]: a player's cfvs at the terminals, 0 elsewhere."""
    layout, other = engine.layout, 1 - player
    reach = layout.new_reach(other)
    engine.push_reach(other, layout.pad(other, policy.probabilities[other]), reach)
    values = engine.evaluate(player, reach)
    ends = np.flatnonzero(policy.tree.payoff_group >= 0)
    rows = np.zeros((policy.tree.num_nodes, int(policy.tree.num_hands[player].max())))
    rows[ends] = NodeRows(layout, ends).values(player, values)
    return rows


def _best_bet(menu: Sequence[float], folds: list[FloatArray], rest: list[FloatArray]) -> BestBet:
    """Returns the best size between the smallest and the largest of a menu, for every hand."""
    size = np.full_like(folds[0], menu[0])
    cfv = folds[0] + (1.0 + 2.0 * menu[0]) * rest[0]
    for index in range(len(menu) - 1):
        small, large = menu[index], menu[index + 1]
        fold, more = folds[index] - folds[index + 1], rest[index] - rest[index + 1]
        share = (1.0 + small) / (large - small)
        # h(y) = a / y + b + c y, from f (fold + (1 + 2x) more) + what the larger size is worth, with x = y - 1
        a = share * (1.0 + large) * (fold - more)
        c = 2.0 * (rest[index + 1] - share * more)
        b = share * (2.0 * (1.0 + large) * more - (fold - more)) + folds[index + 1] - rest[index + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            top = np.where((a < 0) & (c < 0), np.sqrt(a / c), 1.0 + large)
        for y in (np.clip(top, 1.0 + small, 1.0 + large), np.full_like(a, 1.0 + large)):
            there = a / y + b + c * y
            size, cfv = np.where(there > cfv, y - 1.0, size), np.maximum(there, cfv)
    return BestBet(size, cfv, menu)
