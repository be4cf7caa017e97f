"""How exploitable an agent of whole hands is, exactly, in a game that is small enough to be solved (flop hold'em)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, ask_policies
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_batch import NO_CODE, HandBatch, action_code, code_action
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.whole_game import WholeGame
from aleator.solvers.holdem.evaluation import Answer, Cards, evaluate_policy
from aleator.solvers.holdem.solver import Quality


def evaluate_agent(
    agent: HandAgent, whole: WholeGame, *, threads: int = 1, on_progress: Callable[[float], None] | None = None
) -> Quality:
    """Returns what an agent wins against itself in both seats, and what best responses win against it, in chips.

    The agent is asked at every decision on every flop up to suits; see `solvers.holdem.evaluation`.

    Raises:
        AgentError: it considers an action that the game's bet menu lacks.
    """
    return evaluate_policy(
        whole, agent_answer(agent, whole), threads=threads, boards_at_once=agent.hands_at_once, on_progress=on_progress
    )


def agent_answer(agent: HandAgent, whole: WholeGame) -> Answer:
    """Returns an agent as `evaluate_policy` asks it."""
    setup = whole.variant.setup

    def answer(node: BettingNode, boards: Sequence[Cards]) -> FloatArray:
        rows, cards = np.arange(len(boards)), np.full((len(boards), BOARD_CARDS[-1]), -1)
        cards[:, : len(boards[0])] = boards
        batch = HandBatch.start(setup, np.full((len(boards), 2), -1), cards)
        for action in _actions(node):
            batch.act(rows, np.full(len(boards), action_code(action)))
        codes, probabilities = ask_policies(agent, batch, rows)
        wanted = {action_code(action): index for index, action in enumerate(node.actions)}
        blocks = np.zeros((len(boards), len(wanted), probabilities.shape[2]))
        for row, own in enumerate(codes):
            for column, code in enumerate(own.tolist()):
                if code in wanted:
                    blocks[row, wanted[code]] += probabilities[row, column]
                elif code != NO_CODE and probabilities[row, column].any():
                    raise AgentError(f"{agent.name} considers {code_action(code)}, which {whole.variant.name} lacks")
        return np.broadcast_to(blocks, (*blocks.shape[:2], NUM_HANDS)) if blocks.shape[2] == 1 else blocks

    return answer


def _actions(node: BettingNode) -> list[Action]:
    """Returns how a node is reached, without cards."""
    taken, tree = [], node.tree
    number = node.number
    while (parent := int(tree.parent[number])) >= 0:
        if tree.action[number] >= 0:
            taken.append(BettingNode(tree, parent).actions[tree.children(parent).index(number)])
        number = parent
    return taken[::-1]
