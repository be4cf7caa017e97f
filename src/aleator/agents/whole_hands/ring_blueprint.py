"""A blueprint of several players as an agent of whole hands.

Bets that its menu lacks are taken for the nearest that it has. Who calls where the blueprint thinks that nobody does (a
limp, a third player who wants to see the flop) is taken for folded: the blueprint plays on against the others, and
dead money is in the pot. Where that ends, because such a player raises or nobody else is left, another agent plays.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from aleator.abstraction.buckets import Buckets, open_buckets
from aleator.abstraction.ring.betting import RingBetting, build_ring_betting
from aleator.abstraction.ring.file import RingBlueprint, average_policy
from aleator.abstraction.ring.training import RingConfig
from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.tight_aggressive import TightAggressiveAgent
from aleator.caching import lru_cache
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, FOLD, Action, ActionKind, raise_to
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import HoldemVariant, load_hand_game


class RingBlueprintAgent(HandAgent):
    """Plays a blueprint of several players.

    Args:
        name: what it is called.
        game: that it was trained for.
        betting: its decisions.
        buckets: its hands.
        policies: gives the policy ``[buckets, actions]`` of a decision.
        otherwise: who plays where it knows nothing.
    """

    is_quick = True
    hands_at_once = 64

    def __init__(
        self, name: str, game: HoldemVariant, betting: RingBetting, buckets: Buckets,
        blueprint: RingBlueprint, otherwise: HandAgent, *, purify: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.game, self.betting, self.otherwise = name, game, betting, otherwise
        self._buckets, self._blueprint, self._purify = buckets, blueprint, purify
        self._numbers = lru_cache(maxsize=4096)(lambda board: buckets.numbers(board))
        self.known = self.unknown = 0  # decisions that the blueprint answered, and those that it did not

    def policy_at(self, state: HandState) -> HandPolicy:
        setup = state.setup
        if (setup.rules, setup.stacks) != (self.game.rules, self.game.stacks):
            raise AgentError(f"{self.name} plays {self.game.title}, and nothing else")
        decision = self.decision_at(state)
        if decision is None:
            self.unknown += 1
            return self.otherwise.policy_at(state)
        self.known += 1
        arrays = self.betting.arrays
        count = self._buckets.config.count(int(arrays.street[decision]))
        policy = average_policy(self.betting, decision, count, self._blueprint.regrets, self._blueprint.sums)
        if self._purify:
            policy = np.eye(policy.shape[1])[policy.argmax(axis=1)]
        rows = policy[self._numbers(state.board)].T
        actions = self.betting.actions[arrays.first[decision] : arrays.first[decision + 1]]
        legal: dict[Action, FloatArray] = {}
        for action, row in zip(actions, rows, strict=True):
            allowed = self._allowed(state, action)
            legal[allowed] = legal.get(allowed, np.zeros(NUM_HANDS)) + row
        return HandPolicy(tuple(legal), np.stack(list(legal.values())))

    def decision_at(self, state: HandState) -> int | None:
        """Returns the decision of the blueprint that play has come to; None if there is none."""
        arrays, node, betting = self.betting.arrays, 0, state.setup.betting()
        gone: set[int] = set()  # those who are taken for folded and are not
        for action in state.actions:
            player, street = betting.player, betting.street
            betting = betting.act(action)
            if player in gone:
                if action.kind is ActionKind.RAISE:
                    return None
                continue
            if node < 0 or (arrays.player[node], arrays.street[node]) != (player, street):
                return None
            edge, folds = self._edge(node, action)
            if edge is None:
                return None
            if folds and player is not None:
                gone.add(player)
            node = int(arrays.target[edge])
        fits = node >= 0 and (arrays.player[node], arrays.street[node]) == (state.player, state.street)
        return node if fits else None

    def _edge(self, node: int, action: Action) -> tuple[int | None, bool]:
        """Returns what an action is taken for, and whether that is a fold in place of a call."""
        first, end = int(self.betting.arrays.first[node]), int(self.betting.arrays.first[node + 1])
        options = self.betting.actions[first:end]
        kinds = [option.kind for option in options]
        if action.kind is ActionKind.RAISE:
            raises = [place for place, kind in enumerate(kinds) if kind is ActionKind.RAISE]
            if raises:
                wanted = math.log(action.amount)
                return first + min(raises, key=lambda place: abs(math.log(options[place].amount) - wanted)), False
            action = CALL
        if action.kind in kinds:
            return first + kinds.index(action.kind), False
        return (first + kinds.index(ActionKind.FOLD), True) if ActionKind.FOLD in kinds else (None, False)

    @staticmethod
    def _allowed(state: HandState, action: Action) -> Action:
        """Returns the legal action that is nearest."""
        legal = state.legal_actions()
        if legal.allows(action):
            return action
        if action.kind is ActionKind.RAISE and legal.min_raise_to is not None and legal.max_raise_to is not None:
            return raise_to(min(max(action.amount, legal.min_raise_to), legal.max_raise_to))
        return FOLD if action.kind is ActionKind.FOLD and legal.can_fold else CALL


def ring_blueprint_agent(
    file: Path | str,
    *,
    abstraction: Path | str | None = None,
    purify: bool = False,
    otherwise: HandAgent | None = None,
    game: HoldemVariant | None = None,
) -> RingBlueprintAgent:
    """Returns the agent that plays a blueprint of several players out of its file.

    Args:
        file: as `aleator train blueprint` writes it.
        abstraction: its buckets; None: where they lay when it was trained.
        purify: whether only the likeliest action is played.
        otherwise: who plays where the blueprint knows nothing; the tight rule bot if None.
        game: in place of the one that the file names.

    Raises:
        StorageError: a file cannot be read, or is something else.
        AgentError: the buckets are not those of the blueprint, or it is damaged.
    """
    blueprint = RingBlueprint(file)
    buckets = open_buckets(blueprint.path.parent / blueprint.buckets_place if abstraction is None else abstraction)
    if blueprint.fingerprint != buckets.fingerprint:
        raise AgentError(f"{file} was trained with other buckets than those given")
    try:
        config = RingConfig.parse(blueprint.config_text)
    except ValueError as error:
        raise AgentError(f"{file} is damaged: {error}") from error
    game = load_hand_game(config.game) if game is None else game
    betting = build_ring_betting(game, config.menu, buckets.config, most_to_flop=config.most_to_flop)
    if len(blueprint.regrets) != betting.size:
        raise AgentError(f"{file} is damaged: its tables do not fit its bet menu")
    return RingBlueprintAgent(
        f"blueprint:{file}", game, betting, buckets, blueprint, otherwise or TightAggressiveAgent(), purify=purify
    )
