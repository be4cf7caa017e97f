"""How much memory the agent `search` takes in the long run, counted on a game's rules before any of its trees is built.

A situation is remembered with all iterations of its solution, of which one is played; a subgame is kept with what lies
below its leaves as long as one of its situations is. How often a subgame comes up is counted as if all actions were
equally likely. Bytes are those of the general engine, measured (tests/agents/test_search_size.py compares).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

from aleator.agents.search import REMEMBERED
from aleator.errors import TooBigError
from aleator.games.base import CHANCE, TERMINAL, Game
from aleator.games.holdem.cards import NUM_CARDS
from aleator.games.holdem.game import HoldemGame
from aleator.games.size import count_public_states, totals_below
from aleator.kernels.simd import LANES
from aleator.memory import available_memory
from aleator.search.random_iteration import SearchConfig
from aleator.trees.public_tree import MAX_NODES

_NODE, _NUMBER, _PAYOFF = 300, 75, 16  # bytes of a tree and its engine; a payoff is an entry of a matrix [H0, H1]
_ITERATION, _ENTRY = 1200, 8  # bytes of an iteration that is kept, and of each of its probabilities


class _Subgame(NamedTuple):
    """What a subgame takes, and how play goes on.

    Attributes:
        tree: bytes of its tree, and of everything below its leaves.
        situation: bytes of what is remembered about it at some beliefs.
        leaves: states, with how likely they are if all actions are.
    """

    tree: float
    situation: float
    leaves: dict[Any, float]


def check_search_fits(game: Game[Any], config: SearchConfig) -> None:
    """Raises TooBigError, with advice, if there is not the memory for what an agent will remember."""
    if isinstance(game, HoldemGame) or count_public_states(game) > MAX_NODES:
        return  # spots are looked at as spots, and trees that are too big are refused as trees
    memory, free = search_memory(game, config), available_memory()
    if memory > free:
        raise TooBigError(
            f"searches of {game.name} take about {memory / 2**30:.1f} GiB after many deals; {free / 2**30:.1f} GiB are "
            f"free: take fewer iterations than {config.iterations:,}, or another depth"
        )


def search_memory(game: Game[Any], config: SearchConfig, remember: int = REMEMBERED) -> int:
    """Returns how many bytes an agent takes after many deals, about.

    Args:
        game: what it plays.
        config: how it searches; if seconds end a search, one iteration is counted, since nobody knows how many there
            will be.
        remember: how many situations are kept.
    """
    counting = _Counting(game, config)
    root = counting.subgame(game.root())
    met: dict[Any, tuple[float, float]] = {}  # by state: how often it comes up, and how many beliefs there may be
    level, beliefs = root.leaves, 1.0
    while level:
        beliefs = min(beliefs * (2 * config.iterations if config.safe else 1), remember)  # each seat draws an iteration
        below: dict[Any, float] = defaultdict(float)
        for state, share in level.items():
            often, before = met.get(state, (0.0, 0.0))
            met[state] = often + share, before + beliefs
            for leaf, next_share in counting.subgame(state).leaves.items():
                below[leaf] += share * next_share
        level = below
    memory, total = root.tree + root.situation, sum(often for often, _ in met.values())
    for state, (often, possible) in met.items():
        subgame, boards = counting.subgame(state), counting.boards(game.root(), state)
        situations = min(remember * often / total, possible * boards)
        memory += situations * subgame.situation + min(situations, boards) * subgame.tree
    return int(memory)


class _Counting:
    """Counts a game's states; in hold'em one card stands for all, since each leads to as much."""

    def __init__(self, game: Game[Any], config: SearchConfig) -> None:
        self._game, self._config = game, config
        self._holdem = isinstance(game, HoldemGame)
        self._known: dict[Hashable, _Subgame] = {}
        self._totals = totals_below(game.name, game.root(), self._below, self._count)

    def _below(self, state: Any) -> list[Any]:
        """Returns the states after a state, each as often as it follows."""
        if self._game.actor(state) == TERMINAL:
            return []
        if self._holdem and self._game.actor(state) == CHANCE:
            return [self._game.child(state, 0)] * len(self._game.actions(state))
        return [child.state for child in self._game.children(state)]

    def _count(self, state: Any) -> tuple[int, int]:
        """Returns how many nodes a state is, and how many numbers of a policy, as the engine pads them."""
        return 1, -(-self._rows(state) // LANES) * LANES * self._actions(state)

    def _actions(self, state: Any) -> int:
        return len(self._game.actions(state)) if self._game.actor(state) >= 0 else 0

    def _rows(self, state: Any) -> int:
        """Returns the hands of who acts."""
        actor = self._game.actor(state)
        return self._game.num_hands(state)[actor] if actor >= 0 else 0

    def boards(self, above: Any, state: Any) -> int:
        """Returns how many states below another one this one stands for."""
        if not self._holdem:
            return 1
        return prod(NUM_CARDS - cards for cards in range(len(above.board), len(state.board)))

    @cached_property
    def _payoffs(self) -> dict[Hashable, Any]:
        """A terminal of each payoff group."""
        ends = (state for state in self._totals if self._game.actor(state) == TERMINAL)
        return {self._game.payoff(state).group: state for state in ends}

    def _entries(self, root: Any, ends: dict[Hashable, Any]) -> int:
        """Returns how many entries the payoff matrices of some terminals (by group) have in a tree from a root on."""
        later = [state for state in ends.values() if not self._holdem or len(state.board) >= len(root.board)]
        return sum(self.boards(root, state) * prod(self._game.num_hands(state)) for state in later)

    def subgame(self, root: Any) -> _Subgame:
        """Returns what the subgame at a state takes."""
        if root not in self._known:
            self._known[root] = self._walk(root)
        return self._known[root]

    def _walk(self, root: Any) -> _Subgame:
        """Goes through a subgame move by move; equal states with as many deals above them go together."""
        nodes = numbers = entries = leaf_rows = below_nodes = below_numbers = pairs = 0
        leaves: dict[Any, float] = defaultdict(float)
        ends: dict[Hashable, Any] = {}
        level, moves = {(root, 0): (1, 1.0)}, 0
        while level:
            after: dict[tuple[Any, int], tuple[int, float]] = defaultdict(lambda: (0, 0.0))
            for (state, deals), (count, share) in level.items():
                nodes += count
                hands = self._game.num_hands(state)
                if self._game.actor(state) == TERMINAL:
                    ends[self._game.payoff(state).group] = state
                elif moves and self._is_leaf(state, moves, deals):
                    leaves[state] += share
                    leaf_rows += count * sum(hands)
                    pairs += 0 if self._holdem else count * prod(hands)
                    below_nodes += count * self._totals[state][0]
                    below_numbers += count * self._totals[state][1]
                else:
                    entries += count * self._rows(state) * self._actions(state)
                    numbers += count * self._count(state)[1]
                    children = self._below(state)
                    passed = deals + (moves > 0 and self._game.actor(state) == CHANCE)
                    for child in children:
                        known, reached = after[child, passed]
                        after[child, passed] = known + count, reached + share / len(children)
            level, moves = dict(after), moves + 1
        payoffs = self._entries(root, ends) + (self._entries(root, self._payoffs) if leaves else 0)
        tree = _NODE * (nodes + below_nodes) + _NUMBER * (numbers + below_numbers) + _PAYOFF * payoffs + _ENTRY * pairs
        kept = self._config.iterations if self._config.safe and self._config.seconds is None and leaves else 1
        return _Subgame(tree, kept * (_ITERATION + _ENTRY * (entries + 2 * leaf_rows)), dict(leaves))

    def _is_leaf(self, state: Any, moves: int, deals: int) -> bool:
        """Returns whether the depth limit cuts a subgame at a state, so many moves and deals below its root."""
        limit = self._config.limit
        return bool(
            moves == limit.moves
            or (limit.deals is not None and deals >= limit.deals)
            or (limit.rounds is not None and deals >= limit.rounds - 1 and self._game.actor(state) == CHANCE)
        )
