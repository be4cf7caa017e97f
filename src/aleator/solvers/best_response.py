"""Exact evaluation of policies: values, best responses, NashConv, exploitability.

Algorithm:
    Push the opponent's reach down the tree, apply the payoff operators, pull values up with a maximum (best response)
    or the policy's average (value) at the player's decisions. One pass gives the counterfactual best-response value of
    every infostate.

Reference: thesis 2.2 (exploitability), 5.1.2 (counterfactual best response values).
Deviations: none.
Status: equal to OpenSpiel's NashConv to 1e-9 (tests/solvers/test_against_openspiel.py) and to the recursive reference.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

_engines: WeakKeyDictionary[PublicTree, CpuEngine] = WeakKeyDictionary()


def _engine(tree: PublicTree) -> CpuEngine:
    """Returns an engine for the tree, kept as long as the tree is."""
    if tree not in _engines:
        _engines[tree] = CpuEngine(tree)
    return _engines[tree]


class BestResponse(NamedTuple):
    """A best response of one player.

    Attributes:
        player: who responds.
        value: expected payoff to that player.
        root_cfvs: [H] of the player's cfvs at the root; they sum to `value`.
        policy: the policy with the player's part replaced by the response.
    """

    player: int
    value: float
    root_cfvs: FloatArray
    policy: Policy


def _reach(policy: Policy, player: int) -> FloatArray:
    engine = _engine(policy.tree)
    reach = engine.layout.new_reach(player)
    engine.push_reach(player, engine.layout.pad(player, policy.probabilities[player]), reach)
    return reach


def expected_value(policy: Policy) -> float:
    """Returns what player 0 wins on average when both follow the policy."""
    engine = _engine(policy.tree)
    own = engine.layout.pad(0, policy.probabilities[0])
    values = engine.values(0, _reach(policy, 1), own, best=False)
    return float(values[: policy.tree.num_hands[0, 0]].sum())


def best_response(policy: Policy, player: int) -> BestResponse:
    """Returns a best response of `player` to the other player's part of the policy (the first best action of each hand)."""
    tree, engine = policy.tree, _engine(policy.tree)
    response = engine.layout.pad(player, policy.probabilities[player])
    values = engine.values(player, _reach(policy, 1 - player), response, best=True)
    root = values[: tree.num_hands[player, 0]].copy()
    parts = list(policy.probabilities)
    parts[player] = engine.layout.unpad(player, response)
    return BestResponse(player, float(root.sum()), root, Policy(tree, (parts[0], parts[1])))


def best_response_value(policy: Policy, player: int) -> float:
    """Returns what `player` wins on average with a best response."""
    engine = _engine(policy.tree)
    values = engine.values(player, _reach(policy, 1 - player), np.zeros(0), best=True)
    return float(values[: policy.tree.num_hands[player, 0]].sum())


def nash_conv(policy: Policy) -> float:
    """Returns the sum over both players of what a best response would gain."""
    return best_response_value(policy, 0) + best_response_value(policy, 1)


def exploitability(policy: Policy) -> float:
    """Returns NashConv / 2: how much a best response wins per game on average over both seats."""
    return nash_conv(policy) / 2


def best_response_cfvs(policy: Policy, player: int) -> list[FloatArray]:
    """Returns for every node [H]: the player's counterfactual value of each hand when it best responds from there on."""
    return _cfvs(policy, player, best=True)


def cfvs(policy: Policy, player: int) -> list[FloatArray]:
    """Returns for every node [H]: the player's counterfactual value of each hand when both follow the policy."""
    return _cfvs(policy, player, best=False)


def _cfvs(policy: Policy, player: int, *, best: bool) -> list[FloatArray]:
    engine = _engine(policy.tree)
    own = np.zeros(0) if best else engine.layout.pad(player, policy.probabilities[player])
    values = engine.values(player, _reach(policy, 1 - player), own, best=best)
    side = engine.layout.sides[player]
    return [values[at : at + hands].copy() for at, hands in zip(side.value_at, side.hands, strict=True)]
