"""Checks and calls by equity before the river, and solves the river exactly at the ranges that the play implies.

Algorithm:
    Before the river a hand calls if its equity against a random hand is at least the odds that the pot offers; it never
    bets. By the same rule it reads both players' hands from their actions: who called has such a hand, who bet or
    raised rather a strong one (weight: equity squared). On the river the betting from there on, with the amounts that
    were really bet, is a spot that the solver of hold'em solves; what it plays there is close to an equilibrium for
    these ranges.

Reference: none; the smallest agent that searches, to measure matches and AIVAT with.
Deviations: none.
Status: tests/agents/whole_hands/test_river_perfect.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.pot_odds import PotOddsAgent, equities, odds
from aleator.caching import Kept
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting import Action, ActionKind
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_state import HandState, states_before
from aleator.games.holdem.node_path import NodePath
from aleator.games.holdem.spot import DEFAULT_RULE, Spot
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.solver import HoldemSolver

_RIVER: Final = 3
_MENU: Final = BetMenu.uniform(bets=("50%", "100%", "all-in"), raises=("100%", "all-in"), max_raises=3)
_LEAST: Final = 1e-3  # reach of hands that the play speaks against: nothing is impossible
_KEPT: Final = 16


class RiverPerfectAgent(HandAgent):
    """Plays the river by solving it; see the module.

    Args:
        iterations: of the solver for a river.
    """

    name = "river-perfect"
    knows_street = True

    def __init__(self, iterations: int = 200) -> None:
        self.iterations = iterations
        self._before = PotOddsAgent()
        self._rivers: Kept[HoldemSolution] = Kept(_KEPT)

    def policy_at(self, state: HandState) -> HandPolicy:
        rules = state.setup.rules
        if rules.num_players != 2 or rules.fixed_bets is not None:
            raise AgentError(f"{self.name} plays heads-up no-limit hold'em only")
        return self._solved(state) if state.street == _RIVER else self._before.policy_at(state)

    def _solved(self, state: HandState) -> HandPolicy:
        first = next(before for before in states_before(state) if before.street == _RIVER)
        played = state.actions[len(first.actions) :]
        tokens = tuple(_token(action) for action in played)
        bets = tuple(tokens[: number + 1] for number, token in enumerate(tokens) if token[0] == "b")
        root = _spot(first, [NodePath(line) for line in bets])
        key = (first.setup, first.actions, first.board, root.added)
        solution = self._rivers.find_or_make(key, lambda: self._solve(first, root))
        at = solution.start()
        for token in tokens:
            at = solution.follow(at, token)
        policy = solution.policy_at(at)
        dealt = policy.sum(axis=0) > 0.0
        return HandPolicy(at.node.actions, np.where(dealt, policy, 1.0 / len(policy)))

    def _solve(self, first: HandState, root: Spot) -> HoldemSolution:
        """Returns the solved river that begins with ``first``."""
        solver = HoldemSolver(root)
        for player in (0, 1):
            solver.set_reach(player, implied_range(first, player))
        solver.run(self.iterations)
        return HoldemSolution.of_solver(solver, DEFAULT_RULE)


def _spot(first: HandState, lines: list[NodePath]) -> Spot:
    """Returns the river that begins with ``first``; lines are bets that were really made."""
    betting = first.betting
    root = Spot(
        board=first.board,
        pot=betting.pot,
        stack=min(betting.stacks),
        oop="random",
        ip="random",
        min_bet=first.setup.rules.big_blind,
        menu=_MENU,
    )
    for line in lines:
        if not _has(root, line):
            root = replace(root, added=(*root.added, line))
    return root


def implied_range(state: HandState, player: int) -> FloatArray:
    """Returns how likely each hand of a player is to have acted as it did, ``[1326]``, 1 at most; see the module."""
    reach = np.ones(NUM_HANDS)
    for now, action in zip(states_before(state), state.actions, strict=False):
        if now.player == player:
            reach *= likely_by_rule(now, action)
    reach = np.where(blocked_hands(state.board), 0.0, reach)
    return np.where(blocked_hands(state.board), 0.0, np.maximum(reach / max(reach.max(), 1e-12), _LEAST))


def likely_by_rule(state: HandState, action: Action) -> FloatArray:
    """Returns how much an action of who acts speaks for each hand, ``[1326]``, 1 at most; see the module.

    With more players the weight of a raise is the equity to the power of twice the opponents that are left.
    """
    equity = equities(state.board)
    if action.kind is ActionKind.RAISE:
        weights: FloatArray = equity ** (2 * (len(state.betting.live_players) - 1))  # more players, a better hand
        return weights
    if state.legal_actions().can_fold:
        return (equity >= odds(state)).astype(np.float64)
    return np.ones(NUM_HANDS)


def _token(action: Action) -> str:
    return {ActionKind.FOLD: "f", ActionKind.CALL: "c"}.get(action.kind, f"b{action.amount}")


def _has(spot: Spot, line: NodePath) -> bool:
    """Returns whether a spot's tree has a line already."""
    node = spot.build_tree()
    for token in line.tokens:
        if token not in node.tokens:
            return False
        node = node.children[node.tokens.index(token)]
    return True
