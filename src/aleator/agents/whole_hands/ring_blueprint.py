"""A blueprint of several players as an agent of whole hands.

What its betting lacks is taken for what is most like it (`abstraction.ring.policy`). Where that ends, because a player
who is taken for folded raises or nobody else is left, another agent plays.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aleator.abstraction.buckets import AbstractionError
from aleator.abstraction.packed.shipped import shipped_blueprint
from aleator.abstraction.ring.policy import RingPolicy, open_ring_policy
from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.tight_aggressive import TightAggressiveAgent
from aleator.caching import lru_cache
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, FOLD, Action, ActionKind, raise_to
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import HoldemVariant


class RingBlueprintAgent(HandAgent):
    """Plays a blueprint of several players.

    Args:
        name: what it is called.
        policy: of the blueprint.
        otherwise: who plays where it knows nothing.
        purify: whether only the likeliest action is played.
    """

    is_quick = True
    hands_at_once = 64
    has_own_stacks = True

    def __init__(self, name: str, policy: RingPolicy, otherwise: HandAgent, *, purify: bool = False) -> None:
        self.name, self.policy, self.otherwise, self._purify = name, policy, otherwise, purify
        self._numbers = lru_cache(maxsize=4096)(lambda board: policy.buckets.numbers(board))
        self.known = self.unknown = 0  # decisions that the blueprint answered, and those that it did not

    def policy_at(self, state: HandState) -> HandPolicy:
        check_game(self.name, self.policy, state)
        decision = self.policy.decision_at(state)
        if decision is None:
            self.unknown += 1
            return self.otherwise.policy_at(state)
        self.known += 1
        arrays, table = self.policy.betting.arrays, self.policy.policy(decision)
        if self._purify:
            table = np.eye(table.shape[1])[table.argmax(axis=1)]
        rows = table[self._numbers(state.board)].T
        actions = self.policy.betting.actions[arrays.first[decision] : arrays.first[decision + 1]]
        legal: dict[Action, FloatArray] = {}
        for action, row in zip(actions, rows, strict=True):
            allowed = self.allowed(state, action)
            legal[allowed] = legal.get(allowed, np.zeros(NUM_HANDS)) + row
        return HandPolicy(tuple(legal), np.stack(list(legal.values())))

    @staticmethod
    def allowed(state: HandState, action: Action) -> Action:
        """Returns the legal action that is nearest."""
        legal = state.legal_actions()
        if legal.allows(action):
            return action
        if action.kind is ActionKind.RAISE and legal.min_raise_to is not None and legal.max_raise_to is not None:
            return raise_to(min(max(action.amount, legal.min_raise_to), legal.max_raise_to))
        return FOLD if action.kind is ActionKind.FOLD and legal.can_fold else CALL


def check_game(name: str, policy: RingPolicy, state: HandState) -> None:
    """Raises AgentError unless a hand is of the game that a blueprint was trained for."""
    setup = state.setup
    if (setup.rules, setup.stacks) != (policy.game.rules, policy.game.stacks):
        raise AgentError(f"{name} plays only {policy.game.title}")


def shipped_for_several(players: int = 6) -> Path:
    """Returns the file of the blueprint of several players that comes with the package.

    Raises:
        AgentError: there is none for so many.
    """
    try:
        return shipped_blueprint(players)
    except AbstractionError as error:
        raise AgentError(str(error)) from error


def ring_blueprint_agent(
    file: Path | str | None = None,
    *,
    abstraction: Path | str | None = None,
    purify: bool = False,
    otherwise: HandAgent | None = None,
    game: HoldemVariant | None = None,
) -> RingBlueprintAgent:
    """Returns the agent that plays a blueprint of several players out of its file.

    Args:
        file: as `aleator train blueprint` or `aleator abstraction pack` writes it; None: that of the package.
        abstraction: its buckets; None: where they lay when it was trained.
        purify: whether only the likeliest action is played.
        otherwise: who plays where the blueprint knows nothing; the tight rule bot if None.
        game: in place of the one that the file names.

    Raises:
        StorageError: a file cannot be read, or is something else.
        AgentError: the buckets are not those of the blueprint, or it is damaged.
    """
    policy = open_ring_policy(file or shipped_for_several(), abstraction=abstraction, game=game)
    name = "blueprint" if file is None else f"blueprint:{file}"
    return RingBlueprintAgent(name, policy, otherwise or TightAggressiveAgent(), purify=purify)
