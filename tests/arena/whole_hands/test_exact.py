"""Agents of whole hands are exactly as exploitable in games from the blinds on as the general engine says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from aleator.agents.whole_hands import load_hand_agent
from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.equilibrium import WholeTree
from aleator.agents.whole_hands.tree_agent import TreeAgent
from aleator.arena.whole_hands.exact import evaluate_agent
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.game import WholeHoldemGame
from aleator.solvers.best_response import best_response_value
from aleator.solvers.holdem.evaluation import evaluate_policy
from aleator.solvers.holdem.whole_solution import WholeSolution
from aleator.solvers.solve import solve
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy
from tests.solvers.holdem.test_whole_game import FLOP, TURN


def asked_hand_by_hand(agent: HandAgent, node: BettingNode, boards: Sequence[tuple[int, ...]]) -> FloatArray:
    """Returns what an agent does at a decision, asked with a replayed hand for each board."""
    tree, blocks = node.tree, []
    for board in boards:
        state, number = FLOP.variant.setup.start(), 0
        while number != node.number:
            number = next(child for child in tree.children(number) if child <= node.number < tree.end[child])
            if tree.action[number] >= 0:
                parent = BettingNode(tree, int(tree.parent[number]))
                state = state.act(parent.actions[tree.children(parent.number).index(number)])
            else:
                state = state.deal(board)
        answer = agent.policy_at(state)
        blocks.append(np.stack([answer.probabilities[answer.actions.index(action)] for action in node.actions]))
    return np.stack(blocks)


def test_a_calling_station_loses_what_the_general_engine_says() -> None:
    game = WholeHoldemGame(FLOP)
    policy = uniform_policy(build_tree(game))
    for node in np.flatnonzero(policy.tree.actor >= 0).tolist():
        names = game.actions(policy.tree.states[node])  # type: ignore[arg-type]
        policy[node][:] = 0.0
        policy[node][list(names).index("c")] = 1.0
    found = evaluate_agent(load_hand_agent("always-call"), FLOP)
    assert found.values == pytest.approx((0.0, 0.0), abs=1e-6)
    assert found.best == pytest.approx([best_response_value(policy, player) for player in (0, 1)], abs=1e-5)
    assert min(found.best) > 0.1


def test_a_solved_game_plays_as_exploitable_as_its_solve_says() -> None:
    solution = solve(WholeHoldemGame(FLOP), "lcfr", iterations=50)
    assert isinstance(solution, WholeSolution)
    agent = TreeAgent("solved", WholeTree(solution), load_hand_agent("always-call"))
    found = evaluate_agent(agent, FLOP, threads=2)
    slow = evaluate_policy(FLOP, lambda node, boards: asked_hand_by_hand(agent, node, boards))
    assert slow.best == pytest.approx(found.best, abs=1e-5), "asked in its tree, it answers as at the table"
    assert found.exploitability == pytest.approx(solution.exploitability, rel=1e-2, abs=2e-4)
    assert found.values[0] == pytest.approx(solution.value, abs=2e-4)


def test_bets_that_the_game_lacks_are_named() -> None:
    with pytest.raises(AgentError, match="lacks"):
        evaluate_agent(load_hand_agent("random"), TURN)
