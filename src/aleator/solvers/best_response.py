"""Exact evaluation of policies: values, best responses, NashConv, exploitability.

Algorithm:
    Push the opponent's reach down the tree, apply the payoff operators, pull values up with a maximum (best response)
    or the policy's average (value) at the player's decisions. One pass gives the counterfactual best-response value of
    every infostate. `root_reach` ([H0], [H1]) is each player's reach at the root of a subgame, by default 1 for every
    hand; values are then weighted by it, as probabilities of chance are.

Reference: thesis 2.2 (exploitability), 5.1.2 (counterfactual best response values).
Deviations: none.
Status: equal to OpenSpiel's NashConv to 1e-9 (tests/solvers/test_against_openspiel.py) and to the recursive reference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aleator.errors import SolveError, shown
from aleator.games.base import FloatArray
from aleator.solvers.engines.cpu.engine import shared_engine
from aleator.solvers.state import at_root
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy


class BestResponse(NamedTuple):
    """A best response of one player.

    Attributes:
        player: who responds.
        value: expected payoff to that player.
        root_cfvs: [H] of the player's cfvs at the root; weighted by the player's reach there they sum to `value`.
        policy: the policy with the player's part replaced by the response.
    """

    player: int
    value: float
    root_cfvs: FloatArray
    policy: Policy


def _reach(policy: Policy, player: int, root_reach: Reach | None) -> FloatArray:
    engine = shared_engine(policy.tree)
    reach = engine.layout.new_reach(player, None if root_reach is None else root_reach[player])
    engine.push_reach(player, engine.layout.pad(player, policy.probabilities[player]), reach)
    return reach


def check_policy(policy: object) -> None:
    """Raises SolveError if something is no policy, and says where there is one."""
    if not isinstance(policy, Policy):
        where = ": take its .policy" if isinstance(getattr(policy, "policy", None), Policy) else ""
        raise SolveError(f"this measures a Policy, not {shown(policy)}{where}")


def _check_player(player: object) -> None:
    if player not in (0, 1):
        raise SolveError(f"a player is 0 or 1, not {shown(player)}")


def expected_value(policy: Policy, root_reach: Reach | None = None) -> float:
    """Returns what player 0 wins on average when both follow the policy."""
    check_policy(policy)
    engine = shared_engine(policy.tree)
    own = engine.layout.pad(0, policy.probabilities[0])
    values = engine.values(0, _reach(policy, 1, root_reach), own, best=False)
    return at_root(policy.tree, 0, values, root_reach)


def best_response(policy: Policy, player: int, root_reach: Reach | None = None) -> BestResponse:
    """Returns a best response of `player` to the other player's part of the policy (each hand's first best action)."""
    check_policy(policy)
    _check_player(player)
    tree, engine = policy.tree, shared_engine(policy.tree)
    response = engine.layout.pad(player, policy.probabilities[player])
    values = engine.values(player, _reach(policy, 1 - player, root_reach), response, best=True)
    root = values[: tree.num_hands[player, 0]].copy()
    played = policy.with_player(player, engine.layout.unpad(player, response))
    return BestResponse(player, at_root(tree, player, values, root_reach), root, played)


def best_response_value(policy: Policy, player: int, root_reach: Reach | None = None) -> float:
    """Returns what `player` wins on average with a best response."""
    check_policy(policy)
    _check_player(player)
    engine = shared_engine(policy.tree)
    values = engine.values(player, _reach(policy, 1 - player, root_reach), np.zeros(0), best=True)
    return at_root(policy.tree, player, values, root_reach)


def nash_conv(policy: Policy, root_reach: Reach | None = None) -> float:
    """Returns the sum over both players of what a best response would gain."""
    return best_response_value(policy, 0, root_reach) + best_response_value(policy, 1, root_reach)


def exploitability(policy: Policy, root_reach: Reach | None = None) -> float:
    """Returns NashConv / 2: how much a best response wins per game on average over both seats."""
    return nash_conv(policy, root_reach) / 2


def best_response_cfvs(policy: Policy, player: int, root_reach: Reach | None = None) -> list[FloatArray]:
    """Returns for every node [H]: the player's cfv of each hand when it best responds from there on."""
    return _cfvs(policy, player, root_reach, best=True)


def cfvs(policy: Policy, player: int, root_reach: Reach | None = None) -> list[FloatArray]:
    """Returns for every node [H]: the player's counterfactual value of each hand when both follow the policy."""
    return _cfvs(policy, player, root_reach, best=False)


def _cfvs(policy: Policy, player: int, root_reach: Reach | None, *, best: bool) -> list[FloatArray]:
    engine = shared_engine(policy.tree)
    own = np.zeros(0) if best else engine.layout.pad(player, policy.probabilities[player])
    values = engine.values(player, _reach(policy, 1 - player, root_reach), own, best=best)
    side = engine.layout.sides[player]
    return [values[at : at + hands].copy() for at, hands in zip(side.value_at, side.hands, strict=True)]
