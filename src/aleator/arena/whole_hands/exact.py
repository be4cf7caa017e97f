"""How exploitable an agent of whole hands is, exactly, in a game that is small enough to be solved (flop hold'em)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, ask_policies
from aleator.agents.whole_hands.tree_agent import KnownTree, TreeAgent
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
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
    """Returns an agent as `evaluate_policy` asks it; one that plays by a tree is asked there, which is far quicker."""
    if isinstance(agent, TreeAgent) and agent.tree.begins_at(whole.variant.setup.start()):
        return _asked_in_its_tree(agent, whole)
    return _asked_at_the_table(agent, whole)


def _asked_in_its_tree(agent: TreeAgent[Any], whole: WholeGame) -> Answer:
    """Returns the policy of an agent's tree; who plays hands that the tree lacks answers for these."""
    tree, at_the_table = agent.tree, _asked_at_the_table(agent, whole)
    otherwise = _asked_at_the_table(agent.otherwise, whole)
    ways: dict[int, list[int | slice] | None] = {}

    def way(node: BettingNode, board: Cards) -> list[int | slice] | None:
        """Returns actions by index, and which cards are dealt in between; None if the tree has other actions."""
        at, steps = tree.start(), list[int | slice]()
        for number in _path(node):
            betting = tree.betting(at)
            if node.tree.action[number] >= 0:
                above = BettingNode(node.tree, int(node.tree.parent[number]))
                if betting.tokens != above.tokens:
                    return None
                steps.append(node.tree.children(above.number).index(number))
            else:
                steps.append(slice(BOARD_CARDS[betting.street], BOARD_CARDS[betting.street + 1]))
            at = _step(tree, at, steps[-1], board)
        return steps if tree.betting(at).tokens == node.tokens else None

    def answer(node: BettingNode, boards: Sequence[Cards]) -> FloatArray:
        if node.number not in ways:
            ways[node.number] = way(node, boards[0])
        steps = ways[node.number]
        if steps is None:
            return at_the_table(node, boards)
        blocks, unknown = np.empty((len(boards), len(node.children), NUM_HANDS)), list[int]()
        for row, board in enumerate(boards):
            at = tree.start()
            for step in steps:
                at = _step(tree, at, step, board)
            blocks[row] = tree.policy_at(at)
            if not (blocks[row].any(axis=0) | blocked_hands(board)).all():
                unknown.append(row)
        if unknown:
            others = otherwise(node, [boards[row] for row in unknown])
            blocks[unknown] = np.where(blocks[unknown].any(axis=1, keepdims=True), blocks[unknown], others)
        return blocks

    return answer


def _step(tree: KnownTree[Any], position: Any, step: int | slice, board: Cards) -> Any:
    return tree.act(position, step) if isinstance(step, int) else tree.deal(position, board[step])


def _asked_at_the_table(agent: HandAgent, whole: WholeGame) -> Answer:
    setup = whole.variant.setup

    def answer(node: BettingNode, boards: Sequence[Cards]) -> FloatArray:
        rows, cards = np.arange(len(boards)), np.full((len(boards), BOARD_CARDS[-1]), -1)
        cards[:, : len(boards[0])] = boards
        batch = HandBatch.start(setup, np.full((len(boards), 2), -1), cards)
        for number in _path(node):
            if node.tree.action[number] >= 0:
                above = BettingNode(node.tree, int(node.tree.parent[number]))
                action = above.actions[node.tree.children(above.number).index(number)]
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


def _path(node: BettingNode) -> list[int]:
    """Returns the numbers of the nodes behind the root on the way to a node, itself included."""
    numbers, number = list[int](), node.number
    while (parent := int(node.tree.parent[number])) >= 0:
        numbers.append(number)
        number = parent
    return numbers[::-1]
