"""Small endings of hold'em, whose every public history can be enumerated, and an agent that plays them at random."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, FOLD, Action, BettingRules, raise_to
from aleator.games.holdem.cards import HANDS, NUM_HANDS, parse_cards
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.hand_state import HandSetup, HandState

COMPATIBLE = (~(HANDS[:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))).astype(np.float64)


def ending(board: str, stack: int = 300) -> HandSetup:
    """Returns a pot of 100 on a given board, one bet or raise per street."""
    street = len(parse_cards(board)) - 2
    rules = BettingRules(small_blind=1, big_blind=2, max_raises=(1, 1, 1, 1))
    return HandSetup(rules=rules, stacks=(stack, stack), first_street=street, pot=100, board=parse_cards(board))


class NoisyAgent(HandAgent):
    """Answers with probabilities drawn once for every history and hand: fold, call, bet the pot."""

    def __init__(self, name: str) -> None:
        self.name = name

    def policy_at(self, state: HandState) -> HandPolicy:
        legal = state.legal_actions()
        actions: list[Action] = [FOLD] * legal.can_fold + [CALL]
        if legal.min_raise_to is not None and legal.max_raise_to is not None:
            pot = state.betting.pot + legal.call_amount
            wished = max(state.betting.bets) + pot
            actions.append(raise_to(min(max(wished, legal.min_raise_to), legal.max_raise_to)))
        key = f"{self.name} {state.actions} {state.board} {state.player}".encode()
        weights = np.random.default_rng(zlib.crc32(key)).random((len(actions), NUM_HANDS)) ** 2
        return HandPolicy(tuple(actions), weights / weights.sum(axis=0))


def histories(state: HandState, agents: tuple[HandAgent, HandAgent]) -> Iterator[HandState]:
    """Yields every end of a hand: each action that is considered, each card."""
    if state.is_over:
        yield state
    elif state.cards_due:
        for card in range(52):
            if card not in state.board:
                yield from histories(state.deal((card,)), agents)
    else:
        assert state.player is not None
        for action in agents[state.player].policy_at(state).actions:
            yield from histories(state.act(action), agents)


def reaches(end: HandState, agents: tuple[HandAgent, HandAgent]) -> FloatArray:
    """Returns both players' reach of an end by their own actions, ``[2, 1326]``, 0 for hands that the board blocks."""
    reach = np.ones((2, NUM_HANDS))
    state = end.setup.start()
    while state != end:
        if state.cards_due:
            state = state.deal(end.board[len(state.board) : len(state.board) + state.cards_due])
            continue
        player, action = state.player, end.actions[len(state.actions)]
        assert player is not None
        policy = agents[player].policy_at(state)
        reach[player] *= policy.probabilities[policy.actions.index(action)]
        state = state.act(action)
    reach[:, np.isin(HANDS, end.board).any(axis=1)] = 0.0
    return reach


def value_of(end: HandState, reach: FloatArray) -> float:
    """Returns the sum over pairs of hands of reach times what player 0 wins at an end."""
    paid = end.betting.contributions
    if not end.is_showdown:
        won = -paid[0] if end.betting.folded[0] else paid[1] + end.betting.dead
        return float(won * (reach[0] @ COMPATIBLE @ reach[1]))
    strong = strengths(end.board).astype(np.int64)
    share = 0.5 + 0.5 * np.sign(strong[:, None] - strong[None, :])
    pot = end.betting.pot
    return float(reach[0] @ (COMPATIBLE * (share * pot - paid[0])) @ reach[1])


def weight_of(end: HandState, reach: FloatArray) -> float:
    """Returns how likely an end is, up to a factor that all ends of a setup share."""
    cards = len(end.board) - len(end.setup.board)
    return float(reach[0] @ COMPATIBLE @ reach[1]) / (44.0 if cards == 1 else 1.0)


def alive(board: npt.NDArray[np.integer] | tuple[int, ...]) -> FloatArray:
    return (~np.isin(HANDS, board).any(axis=1)).astype(np.float64)
