"""A trained blueprint of several players as a policy: what it plays where, and which of its decisions play has come to.

Bets that its menu lacks are taken for the nearest that it has. Who calls where the blueprint thinks that nobody does (a
limp, a third player who wants to see the flop) is taken for folded: the blueprint goes on with the others, and dead
money is in the pot.
"""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.buckets import Buckets, open_buckets
from aleator.abstraction.ring.betting import RingArrays, RingBetting, build_ring_betting
from aleator.abstraction.ring.file import RingBlueprint, open_ring_blueprint
from aleator.abstraction.ring.training import RingConfig
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, Action, ActionKind
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HAND_CLASSES, NUM_HANDS
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import HoldemVariant, load_hand_game
from aleator.jit import kernel

KINDS: Final = (ActionKind.FOLD, ActionKind.CALL, ActionKind.RAISE)
"""Kinds of actions in the order of their numbers."""


class Line(NamedTuple):
    """A line of play in the eyes of a blueprint.

    Attributes:
        node: the decision after it; -1 - t where the blueprint's hand has ended; None where it has lost the line.
        edges: what each action of the line was taken for; -1 for those of players who are taken for folded.
    """

    node: int | None
    edges: tuple[int, ...]


class Places(NamedTuple):
    """Where the chips are at each decision: who is in, a bit each, and what everybody has paid, ``[D]``, ``[D, P]``."""

    live: npt.NDArray[np.int32]
    paid: npt.NDArray[np.int32]


class RingPolicy:
    """The policy of a blueprint.

    Args:
        game: that it was trained for.
        betting: its decisions.
        buckets: its hands.
        blueprint: its tables.
        menu: its sizes of bets by street; None in limit.

    Attributes:
        game, betting, buckets, blueprint, menu: as given.
    """

    def __init__(
        self, game: HoldemVariant, betting: RingBetting, buckets: Buckets, blueprint: RingBlueprint,
        menu: tuple[str, ...] | None,
    ) -> None:  # fmt: skip
        self.game, self.betting, self.buckets, self.menu = game, betting, buckets, menu
        self.blueprint = blueprint

    @cached_property
    def probabilities(self) -> npt.NDArray[np.float32]:
        """The policy of all decisions as the table has them, ``[size]``: rows of a decision's buckets after another."""
        arrays = self.betting.arrays
        table = np.empty(self.betting.size, np.float32)
        normalise(arrays, self.counts, *self.blueprint.tables(), table)
        return table

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many buckets each street has, ``[4]``; 0 for streets that the game lacks."""
        last = self.buckets.config.last_street
        return np.array([self.buckets.config.count(street) if street <= last else 0 for street in range(4)])

    @cached_property
    def kinds(self) -> npt.NDArray[np.int8]:
        """The kind of each action, ``[E]``: a number of `KINDS`."""
        return np.array([KINDS.index(action.kind) for action in self.betting.actions], np.int8)

    @cached_property
    def places(self) -> Places:
        """Who is in and what everybody has paid at each decision."""
        arrays, count = self.betting.arrays, self.betting.decisions
        states = [self.game.start()] * count
        for node in range(count):
            for edge in range(arrays.first[node], arrays.first[node + 1]):
                if arrays.target[edge] > 0:
                    states[arrays.target[edge]] = states[node].act(self.betting.actions[edge])
        live = [sum(1 << player for player in state.live_players) for state in states]
        return Places(np.array(live, np.int32), np.array([state.contributions for state in states], np.int32))

    @cached_property
    def met(self) -> FloatArray:
        """How likely the others are to play to each decision if all play the blueprint, ``[D]``.

        Training sees a decision so often, however seldom who acts there plays to it. What is done after the first
        street counts as certain.
        """
        arrays, hands = self.betting.arrays, np.bincount(HAND_CLASSES) / NUM_HANDS
        met, reach = np.zeros(self.betting.decisions), {0: np.ones((self.betting.players, NUM_HAND_CLASSES))}
        for node in range(self.betting.decisions):  # parents come before children
            first, end = (int(edge) for edge in arrays.first[node : node + 2])
            player, own = arrays.player[node], reach.pop(node, None)
            if own is not None:
                met[node] = np.prod(np.delete(own @ hands, player))
            for edge in range(first, end):
                target = int(arrays.target[edge])
                if target < 0:
                    continue
                if own is None or arrays.street[node]:
                    met[target] = met[node]
                else:
                    reach[target] = own.copy()
                    reach[target][player] *= self.policy(node)[:, edge - first]
        return met

    def policy(self, decision: int) -> FloatArray:
        """Returns the policy of a decision, ``[buckets, actions]``."""
        arrays = self.betting.arrays
        actions, begin = int(arrays.first[decision + 1] - arrays.first[decision]), int(arrays.row[decision])
        count = int(self.counts[arrays.street[decision]])
        return self.probabilities[begin : begin + count * actions].reshape(count, actions).astype(np.float64)

    def follow(self, state: HandState) -> Line:
        """Returns the line of a hand in the eyes of the blueprint."""
        arrays, node, betting = self.betting.arrays, 0, state.setup.betting()
        edges: list[int] = []
        gone: set[int | None] = set()  # those who are taken for folded and are not
        for action in state.actions:
            player, street = betting.player, betting.street
            betting = betting.act(action)
            if player in gone:
                if action.kind is ActionKind.RAISE:
                    return Line(None, tuple(edges))
                edges.append(-1)
                continue
            if node < 0 or (arrays.player[node], arrays.street[node]) != (player, street):
                return Line(None, tuple(edges))
            edge = self.edge(node, action)
            if edge is None:
                return Line(None, tuple(edges))
            if self.kinds[edge] == 0 and action.kind is not ActionKind.FOLD:
                gone.add(player)
                edges.append(-1)
            else:
                edges.append(edge)
            node = int(arrays.target[edge])
        return Line(node, tuple(edges))

    def departure(self, state: HandState, slack: int) -> int | None:
        """Returns the first turn of a hand whose action the blueprint does not consider; None if it considers all.

        Args:
            state: the hand.
            slack: chips by which a bet may differ from the nearest of the menu.
        """
        edges = self.follow(state).edges
        for turn, action in enumerate(state.actions):
            edge = edges[turn] if turn < len(edges) else -1
            taken = self.betting.actions[edge] if edge >= 0 else None
            if taken is None or taken.kind is not action.kind or abs(taken.amount - action.amount) > slack:
                return turn
        return None

    def decision_at(self, state: HandState) -> int | None:
        """Returns the decision that play has come to; None if there is none."""
        node, arrays = self.follow(state).node, self.betting.arrays
        if node is None or node < 0 or (arrays.player[node], arrays.street[node]) != (state.player, state.street):
            return None
        return node

    def edge(self, node: int, action: Action) -> int | None:
        """Returns what an action is taken for at a decision: a fold in place of a call that it does not consider."""
        first, end = int(self.betting.arrays.first[node]), int(self.betting.arrays.first[node + 1])
        options = self.betting.actions[first:end]
        kinds = [option.kind for option in options]
        if action.kind is ActionKind.RAISE:
            raises = [place for place, kind in enumerate(kinds) if kind is ActionKind.RAISE]
            if raises:
                wanted = math.log(action.amount)
                return first + min(raises, key=lambda place: abs(math.log(options[place].amount) - wanted))
            action = CALL
        if action.kind in kinds:
            return first + kinds.index(action.kind)
        return first + kinds.index(ActionKind.FOLD) if ActionKind.FOLD in kinds else None


def open_ring_policy(
    file: Path | str, *, abstraction: Path | str | None = None, game: HoldemVariant | None = None
) -> RingPolicy:
    """Returns the policy of a blueprint in a file.

    Args:
        file: as `aleator train blueprint` or `aleator abstraction pack` writes it.
        abstraction: its buckets; None: where they lay when it was trained.
        game: in place of the one that the file names.

    Raises:
        StorageError: a file cannot be read, or is something else.
        AgentError: the buckets are not those of the blueprint, or it is damaged.
    """
    blueprint = open_ring_blueprint(file)
    buckets = open_buckets(blueprint.path.parent / blueprint.buckets_place if abstraction is None else abstraction)
    if blueprint.fingerprint != buckets.fingerprint:
        raise AgentError(f"{file} was trained with other buckets than those given")
    try:
        config = RingConfig.parse(blueprint.config_text)
    except ValueError as error:
        raise AgentError(f"{file} is damaged: {error}") from error
    game = load_hand_game(config.game) if game is None else game
    betting = build_ring_betting(game, config.menu, buckets.config, most_to_flop=config.most_to_flop)
    arrays = betting.arrays
    if not blueprint.fits(betting.size, arrays.first, arrays.row, arrays.street, buckets.config):
        raise AgentError(f"{file} is damaged: its tables do not fit its bet menu")
    return RingPolicy(game, betting, buckets, blueprint, config.menu)


@kernel()
def normalise(
    betting: RingArrays, counts: npt.NDArray[np.int64], regrets: npt.NDArray[np.int32], sums: npt.NDArray[np.float32],
    table: npt.NDArray[np.float32],
) -> None:  # fmt: skip
    """Fills a table of policies: the average; the current policy where there is none yet; uniform without either."""
    for decision in range(len(betting.player)):
        actions = betting.first[decision + 1] - betting.first[decision]
        for bucket in range(counts[betting.street[decision]]):
            at = betting.row[decision] + bucket * actions
            averaged, current = np.float32(0.0), np.float32(0.0)
            for action in range(at, at + actions):
                averaged += max(sums[action], np.float32(0.0))
                current += np.float32(max(regrets[action], 0))
            for action in range(at, at + actions):
                if averaged > 0.0:
                    table[action] = max(sums[action], np.float32(0.0)) / averaged
                elif current > 0.0:
                    table[action] = np.float32(max(regrets[action], 0)) / current
                else:
                    table[action] = np.float32(1.0) / np.float32(actions)
