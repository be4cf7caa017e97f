"""What an agent of whole hands is: at a public state it says what it does with every hand that it could hold.

One answer, `policy_at(state)`, is all that an agent gives: the actions it considers, with their amounts, and how likely
each of the 1,326 hands is to take each. The action for the hand it holds, its range in the eyes of others, local best
responses to it and AIVAT follow from that. `policies_of` is the same for many states at once, which agents that search
in batches override, and `policies_at` for many hands in arrays, which scripted agents override; otherwise states are
asked about one after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import AgentError, agent_named, shown
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action, LegalActions
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands, format_hand
from aleator.games.holdem.hand_batch import CALL_CODE, FOLD_CODE, NO_CODE, HandBatch, action_code, code_action
from aleator.games.holdem.hand_state import HandState

_CLOSE = 1e-6  # how far probabilities may be from a sum of 1; they are then made to sum to it


class HandPolicy(NamedTuple):
    """What an agent does at a public state.

    Attributes:
        actions: those it considers, each legal.
        probabilities: ``[A, 1326]``, summing to 1 for every hand; hands that share a card with the board do not matter.
    """

    actions: tuple[Action, ...]
    probabilities: FloatArray


class BatchPolicy(NamedTuple):
    """What an agent does in R hands.

    Attributes:
        codes: ``[R, A]``, the actions it considers (`games.holdem.hand_batch`); `NO_CODE` with probability 0 fills up.
        probabilities: ``[R, A, 1326]``, or ``[R, A, 1]`` where it does the same with every hand.
    """

    codes: npt.NDArray[np.int32]
    probabilities: FloatArray

    def held(self, hands: npt.NDArray[np.integer]) -> FloatArray:
        """Returns ``[R, A]``: what it does with the hand ``[R]`` that it holds in each."""
        if self.probabilities.shape[2] == 1:
            return self.probabilities[:, :, 0]
        return self.probabilities[np.arange(len(hands)), :, hands]

    def draw(self, hand: int, rng: np.random.Generator) -> int:
        """Returns the place of the action that is drawn for a hand; R is 1."""
        chances = self.held(np.array([hand]))[0]
        return int(rng.choice(len(chances), p=chances / chances.sum()))


class HandAgent(ABC):
    """A player of whole hands, in any seat.

    Attributes:
        name: what it is called on the command line and in results.
        is_quick: whether it answers in microseconds; AIVAT then does not average over ranges, which takes longer than
            that.
        is_blind: whether it does the same with every hand.
        knows_street: whether it answers the rest of a street quickly once it has answered its first decision there;
            AIVAT then plays out the last street.
        calls_on: streets, 0 preflop to 3 river, on which it calls whatever is bet, so that AIVAT knows what bets win.
        hands_at_once: how many hands a match asks it about in one call.
        has_own_stacks: whether it plays only hands that begin with the stacks it was made for.
        is_alone: whether it has a device of its own, which several processes would only get in each other's way on.
    """

    name: str
    is_quick: bool = False
    is_blind: bool = False
    knows_street: bool = False
    calls_on: tuple[int, ...] = ()
    hands_at_once: int = 2
    has_own_stacks: bool = False
    is_alone: bool = False

    @abstractmethod
    def policy_at(self, state: HandState) -> HandPolicy:
        """Returns what the acting player does with every hand; ``state`` has everything public, and nothing else."""

    def policies_of(self, states: Sequence[HandState]) -> list[HandPolicy]:
        """Returns `policy_at` of each of some states."""
        return [self.policy_at(state) for state in states]

    def policies_at(self, hands: HandBatch, rows: npt.NDArray[np.int64]) -> BatchPolicy:
        """Returns what the acting players of some hands do; ``hands.hands`` and cards to come must not be looked at."""
        keys = [hands.public_key(int(row)) for row in rows]
        first = {key: int(row) for key, row in zip(reversed(keys), rows[::-1], strict=True)}  # hands that look the same
        policy_of = dict(zip(first, self.policies_of([hands.state(row) for row in first.values()]), strict=True))
        answers = [policy_of[key] for key in keys]
        for answer in policy_of.values():
            if not isinstance(answer, HandPolicy) or not all(isinstance(action, Action) for action in answer.actions):
                raise AgentError(f"{self.name} answered {shown(answer)}: it must be a HandPolicy of actions")
            for action in answer.actions:
                if action.amount % 1:  # whatever it is annotated with
                    raise AgentError(f"{self.name} answered {action}: chips are whole numbers")
        width = max(len(answer.actions) for answer in answers)
        codes = np.full((len(rows), width), NO_CODE, np.int32)
        probabilities = np.zeros((len(rows), width, NUM_HANDS))
        for number, answer in enumerate(answers):
            count, shape = len(answer.actions), np.shape(answer.probabilities)
            if shape != (count, NUM_HANDS):
                raise AgentError(f"{self.name} gave probabilities of shape {shape}, not ({count}, {NUM_HANDS})")
            codes[number, :count] = [action_code(action) for action in answer.actions]
            probabilities[number, :count] = answer.probabilities
        return BatchPolicy(codes, probabilities)

    def held_policies(
        self, hands: HandBatch, rows: npt.NDArray[np.int64], held: npt.NDArray[np.int64]
    ) -> BatchPolicy | None:
        """Returns `policies_at` for one hand in each, ``[R, A, 1]``, if that is quicker than for all; else None."""
        return None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class BatchAgent(HandAgent):
    """An agent that is written for many hands at once; one hand is a batch of one."""

    is_quick = True
    knows_street = True
    hands_at_once = 1024

    @abstractmethod
    def policies_at(self, hands: HandBatch, rows: npt.NDArray[np.int64]) -> BatchPolicy:
        """Returns what the acting players of some hands do."""

    def policy_at(self, state: HandState) -> HandPolicy:
        codes, probabilities = self.policies_at(HandBatch.of_states([state]), np.zeros(1, np.int64))
        considered = np.flatnonzero(codes[0] != NO_CODE)
        rows = np.broadcast_to(probabilities[0, considered], (len(considered), NUM_HANDS))
        return HandPolicy(tuple(code_action(int(codes[0, column])) for column in considered), np.array(rows))


def ask_policies(agent: HandAgent, hands: HandBatch, rows: npt.NDArray[np.int64]) -> BatchPolicy:
    """Returns an agent's answer for some hands, checked, with probabilities that sum to 1 for every hand.

    Raises:
        AgentError: an action is not legal, probabilities are negative or do not sum to 1, or the code of an agent that
            is not of this package has failed.
    """
    with agent_named(agent.name):
        policy = agent.policies_at(hands, rows)
    return _checked(agent, hands, rows, policy)


def ask_held(
    agent: HandAgent, hands: HandBatch, rows: npt.NDArray[np.int64], held: npt.NDArray[np.int64]
) -> BatchPolicy:
    """Returns an agent's checked answer for one hand in each of some hands, ``[R, A, 1]``; see `ask_policies`."""
    with agent_named(agent.name):
        policy = agent.held_policies(hands, rows, held)
    if policy is not None:
        return _checked(agent, hands, rows, policy)
    policy = ask_policies(agent, hands, rows)
    return BatchPolicy(policy.codes, policy.held(held)[:, :, None])


def _checked(agent: HandAgent, hands: HandBatch, rows: npt.NDArray[np.int64], policy: BatchPolicy) -> BatchPolicy:
    """Returns an answer with probabilities that sum to 1; raises AgentError as `ask_policies` does."""
    codes, probabilities = policy
    legal = hands.legal(rows)
    low, high = legal.min_raise_to[:, None], legal.max_raise_to[:, None]
    allowed = (codes == CALL_CODE) | (codes == NO_CODE) | ((codes == FOLD_CODE) & legal.can_fold[:, None])
    allowed |= (codes > 0) & (codes >= low) & (codes <= high) & (low > 0)
    if not allowed.all():
        position, action = (int(index) for index in np.argwhere(~allowed)[0])
        what = LegalActions(
            bool(legal.can_fold[position]),
            int(legal.call_amount[position]),
            int(legal.min_raise_to[position]) or None,
            int(legal.max_raise_to[position]) or None,
        )
        raise AgentError(f"{agent.name} considered {code_action(int(codes[position, action]))}; legal are {what}")
    if probabilities.shape[:2] != codes.shape or probabilities.shape[2] not in (1, NUM_HANDS):
        raise AgentError(f"{agent.name} gave probabilities of shape {probabilities.shape} for actions {codes.shape}")
    total = probabilities.sum(axis=1)  # [R, H]
    wrong = ~(np.abs(total - 1.0) <= _CLOSE) | (probabilities < 0.0).any(axis=1)
    wrong |= (np.where((codes == NO_CODE)[:, :, None], probabilities, 0.0) > 0.0).any(axis=1)
    if wrong.any():
        _check_living(agent, hands, rows, wrong, total)
    return BatchPolicy(codes, probabilities / np.where(total > 0.0, total, 1.0)[:, None, :])


def _check_living(
    agent: HandAgent, hands: HandBatch, rows: npt.NDArray[np.int64], wrong: npt.NDArray[np.bool_], total: FloatArray
) -> None:
    """Raises AgentError if a hand that the board allows is among the wrong ones, ``[R, H]``."""
    for position in np.flatnonzero(wrong.any(axis=1)):
        board = hands.board[rows[position], : hands.num_board[rows[position]]]
        here = wrong[position] if wrong.shape[1] == 1 else wrong[position] & ~blocked_hands(board)
        if here.any():
            hand = int(np.flatnonzero(here)[0])
            raise AgentError(
                f"{agent.name} gave {format_hand(hand)} probabilities that sum to {total[position, hand]:g}: "
                "they must be 0 or more and sum to 1"
            )
