"""Pluribus: a blueprint before the flop as long as everybody keeps to it, else a search, with any number of players.

Algorithm:
    Everybody's beliefs over hands are followed from the blinds on: before the flop by the blueprint, in rounds that are
    searched by the average policy of the agent's last search in the round. At each of its decisions from the flop on
    the agent searches the round from its start (`search.pluribus.ring.search`): what it did in the round is held fixed,
    for all of its hands; bets that the menu lacks are part of the tree once they are made. Before the flop and on it
    everybody who is still in chooses among four continuations of the blueprint at the end of the round; later rounds
    are solved to the end of the hand. It plays the last iteration's policy.
    Before the flop it searches only once somebody has done what the blueprint does not consider, a bet more than a big
    blind away from its sizes or a call, and at most four players are in. The search begins with that action.
    If it is *guarded*, hands whose policy is worth less than the blueprint's play the blueprint instead, where two are
    left on the blueprint's betting. Both are worth what they are if everybody plays the blueprint on, so that what is
    won more than by the blueprint, against others who play it, is a sum of what is worth more at each decision.

Reference: N. Brown, T. Sandholm, "Superhuman AI for multiplayer poker" (Science 2019) and its supplement; thesis 6.6.
    The guard: S. Kakade, J. Langford (ICML 2002), lemma 6.1.
Deviations: the guard is not Pluribus'. Pluribus searches from the blinds on; here everybody is believed to have played
    the blueprint up to the action that it lacks. Where more than two players come to the end of a round, and the
    blueprint knows nothing of three, a leaf is a showdown. A round with too many decisions has a smaller menu, and no
    later rounds. A hand that the average policy never acts with is kept with a thousandth.
Status: tests/agents/whole_hands/test_pluribus.py; `aleator paper pluribus-6max`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from aleator.abstraction.ring.values import RingValues
from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.ring_blueprint import RingBlueprintAgent, check_game, ring_blueprint_agent
from aleator.agents.whole_hands.search_settings import PluribusSettings
from aleator.caching import Kept
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import Action
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_state import HandState, states_before
from aleator.games.holdem.variants import HoldemVariant
from aleator.search.pluribus.ring.search import RingTask, SearchedRound, search_round

_LEAST: Final = 1e-3  # of a hand's probability to do what was done
_NEVER: Final = 1e-9  # of a hand's probability to do what the blueprint never does with it
_KEPT: Final = 64  # searches
_MOST_IN: Final = 4  # players, if a decision before the flop is searched
_BOARDS: Final = (500, 300, 300, 300)  # that a search draws, by street
_NODES: Final = (25, 1, 1, 1)  # times the decisions that a round may have: before the flop a traversal sees few of them

Played = dict[Action, FloatArray]
"""A policy of all hands: each action's probabilities ``[1326]``."""


class PluribusAgent(HandAgent):
    """Plays a blueprint before the flop while everybody keeps to it, and searches from there on.

    Args:
        name: what it is called.
        blueprint: the agent that plays the blueprint.
        settings: of searches.

    Attributes:
        first_street: on which all decisions are searched.
    """

    first_street = 1
    has_own_stacks = True

    def __init__(self, name: str, blueprint: RingBlueprintAgent, settings: PluribusSettings) -> None:
        self.name, self.blueprint, self.settings = name, blueprint, settings
        self._searches: Kept[SearchedRound] = Kept(_KEPT)
        self._values = RingValues(blueprint.policy)
        self._guarded: Kept[Played] = Kept(_KEPT)

    def policy_at(self, state: HandState) -> HandPolicy:
        if not self.searches(state):
            return self.blueprint.policy_at(state)
        check_game(self.name, self.blueprint.policy, state)
        states = states_before(state)
        end = len(states) - 1
        played = self._played(states, self._begin(states, end), end, state.player)
        return HandPolicy(tuple(played), np.stack(list(played.values())))

    def searches(self, state: HandState) -> bool:
        """Returns whether it searches at a decision; it plays the blueprint at the others."""
        if state.street >= self.first_street:
            return True
        few = len(state.betting.live_players) <= _MOST_IN
        return few and self.settings.preflop > 0 and self._departure(state) is not None

    def search_at(self, state: HandState) -> SearchedRound:
        """Returns the search of the player to act; the same one as before if it was asked for lately."""
        states = states_before(state)
        return self._search(states, self._begin(states, len(states) - 1), len(states) - 1, state.player)

    def _departure(self, state: HandState) -> int | None:
        """Returns the first turn at which somebody did what the blueprint does not consider."""
        return self.blueprint.policy.departure(state, state.setup.rules.big_blind)

    def _begin(self, states: list[HandState], turn: int) -> int:
        """Returns the turn with which the search of the round of a turn begins."""
        if states[turn].street < self.first_street:
            departure = self._departure(states[turn])
            assert departure is not None, "decisions before the flop are searched once the blueprint is left"
            return departure
        while turn and states[turn - 1].street == states[turn].street:
            turn -= 1
        return turn

    def _search(self, states: list[HandState], begin: int, end: int, seat: int | None) -> SearchedRound:
        """Returns a seat's search of the round that begins with a turn, with what was done up to another turn."""
        actions = states[-1].actions
        key = (seat, states[begin].board, actions[:end])
        found = self._searches.find(key)
        if found is not None:
            return found
        policy, settings, start = self.blueprint.policy, self.settings, states[begin]
        held: dict[tuple[Action, ...], Played] = {}
        for turn in range(begin, end):
            if states[turn].player == seat:
                played = self._played(states, begin, turn, seat)
                if actions[turn] in played:
                    held[actions[begin:turn]] = played
        task = RingTask(
            start=start.betting,
            board=start.board,
            played=actions[begin:end],
            beliefs=self._beliefs(states, begin, seat),
            guide=policy.follow(start).node,
            held=held,
        )
        searched = search_round(
            task,
            policy,
            iterations=(settings.preflop, settings.flop, settings.turn, settings.river)[start.street],
            boards=_BOARDS[start.street],
            most=_NODES[start.street] * settings.nodes,
            seed=settings.seed,
        )
        return self._searches.keep(key, searched)

    def _played(self, states: list[HandState], begin: int, turn: int, seat: int | None) -> Played:
        """Returns what a seat played at a turn of its own in a round whose search begins with another turn."""
        state = states[turn]
        if not self.searches(state):
            policy = self.blueprint.policy_at(state)
            return dict(zip(policy.actions, policy.probabilities, strict=True))
        if not self.settings.guard:
            return self._search(states, begin, turn, seat).played()
        key = (state.board, state.actions)
        found = self._guarded.find(key)
        if found is None:
            found = self._guarded.keep(
                key, self._guard(states[: turn + 1], self._search(states, begin, turn, seat).played())
            )
        return found

    def _guard(self, states: list[HandState], played: Played) -> Played:
        """Returns a policy at the last of some states, with the blueprint's for the hands that it is better for."""
        state, policy = states[-1], self.blueprint.policy
        decision, live = policy.decision_at(state), state.betting.live_players
        if decision is None or len(live) > 2 or policy.departure(state, 0) is not None:
            return played
        answer = self.blueprint.policy_at(state)
        if not all(action in answer.actions for action in played):
            return played
        (other,) = (player for player in live if player != state.player)
        reach = np.ones(NUM_HANDS)
        for turn, before in enumerate(states[:-1]):
            if before.player == other:
                line = self.blueprint.policy_at(before)
                reach *= np.maximum(line.probabilities[line.actions.index(state.actions[turn])], _NEVER)
        rng = np.random.default_rng([self.settings.seed, len(state.actions), *state.board])
        worth = self._values.of_actions(decision, state.board, reach / reach.max(), rng)
        own = np.stack([played.get(action, np.zeros(NUM_HANDS)) for action in answer.actions])
        is_better = ((own - answer.probabilities) * worth).sum(axis=0) >= 0.0
        return dict(zip(answer.actions, np.where(is_better, own, answer.probabilities), strict=True))

    def _beliefs(self, states: list[HandState], begin: int, seat: int | None) -> FloatArray:
        """Returns a seat's beliefs where its search of a round begins, ``[P, 1326]``: by the blueprint and searches."""
        start = states[begin]
        own = [turn for turn in range(begin) if states[turn].player == seat and states[turn].street == start.street - 1]
        if start.street <= self.first_street and not any(self.searches(states[turn]) for turn in own):
            reach = self._beliefs_by_blueprint(start)
        else:
            first = self._begin(states, own[-1] if own else begin - 1)
            line = states[-1].actions[first:begin]
            searched = self._search(states, first, own[-1] if own else begin, seat)
            if not searched.has(line):
                searched = self._search(states, first, begin, seat)
            reach = searched.follow(self._beliefs(states, first, seat), line)
        reach[:, blocked_hands(start.board)] = 0.0
        return np.asarray(reach / reach.max(axis=1, keepdims=True))

    def _beliefs_by_blueprint(self, state: HandState) -> FloatArray:
        """Returns beliefs by what the blueprint does before the flop; who does what it does not may hold anything."""
        policy, reach = self.blueprint.policy, np.ones((state.setup.num_players, NUM_HANDS))
        arrays, betting = policy.betting.arrays, state.setup.betting()
        for action, edge in zip(state.actions, policy.follow(state).edges, strict=False):
            if edge >= 0 and betting.player is not None:
                node = int(np.searchsorted(arrays.first, edge, side="right")) - 1
                chances = policy.policy(node)[:, edge - int(arrays.first[node])]
                reach[betting.player] *= np.maximum(chances[HAND_CLASSES], _LEAST)
            betting = betting.act(action)
        return reach


def pluribus_agent(
    file: Path | str | None,
    settings: PluribusSettings,
    *,
    abstraction: Path | str | None = None,
    game: HoldemVariant | None = None,
) -> PluribusAgent:
    """Returns Pluribus with the blueprint of a file.

    Args:
        file: as `aleator train blueprint --game 6max` or `aleator abstraction pack` writes it; None: that of the
            package.
        settings: of searches.
        abstraction: its buckets; None: where they lay when it was trained.
        game: in place of the one that the file names.

    Raises:
        StorageError: a file cannot be read, or is something else.
        AgentError: the buckets are not those of the blueprint, or it is damaged.
    """
    blueprint = ring_blueprint_agent(file, abstraction=abstraction, game=game)
    return PluribusAgent(blueprint.name.replace("blueprint", "pluribus", 1), blueprint, settings)
