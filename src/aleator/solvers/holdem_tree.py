"""Hold'em spots as games of the library, solved by the engine of `solvers.holdem`, which is far quicker than the general one.

`SpotCFR` has the methods of `solvers.cfr.CFR` that search uses, on the same tree; results are those of `HoldemSolver`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from aleator.errors import SolveError, TooBigError
from aleator.games.base import TERMINAL, FloatArray
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS
from aleator.games.holdem.game import HoldemGame, HoldemState
from aleator.solvers.cfr import CFR
from aleator.solvers.holdem import HOLDEM_RULE, HoldemSolver
from aleator.solvers.regret_rule import RegretRule
from aleator.solvers.solve import Limits, OnProgress, available_memory, run_until
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy, uniform_policy
from aleator.trees.public_tree import Int64Array, PublicTree

_BYTES_PER_NUMBER = 80  # of a policy: the solver's, those of several policies, and the tree


def is_whole_spot(tree: PublicTree) -> bool:
    """Returns whether a tree is that of a hold'em spot from its start to the ends of the game, and nothing else."""
    game, states = tree.game, tree.states
    if not isinstance(game, HoldemGame) or states[0] != game.root():
        return False
    return all(
        isinstance(state, HoldemState) and (children > 0) == (game.actor(state) != TERMINAL)
        for state, children in zip(states, tree.num_children, strict=True)
    )


class SpotSize(NamedTuple):
    """How big the tree of a spot is, every card apart.

    Attributes:
        public_states: its nodes.
        memory: bytes that an agent takes, about.
    """

    public_states: int
    memory: int

    def check_fits(self, name: str) -> None:
        """Raises TooBigError, with advice, if the memory is not there."""
        free = available_memory()
        if self.memory > free:
            raise TooBigError(
                f"{name} has {self.public_states:,} public states with every card apart, for which an agent takes about "
                f"{self.memory / 2**30:.1f} GiB; {free / 2**30:.1f} GiB are free: play a turn or a river, or narrower ranges "
                "(`aleator holdem solve` needs far less)"
            )


def spot_size(game: HoldemGame) -> SpotSize:
    """Returns how big the tree of a spot is, counted on its betting alone."""
    states = numbers = 0
    waiting = [(game.spot.build_tree(), 1, NUM_CARDS - len(game.spot.board))]
    while waiting:
        node, boards, unseen = waiting.pop()
        states += boards
        if node.kind == NodeKind.DECISION:
            numbers += boards * len(node.children) * len(game.hand_sets[node.player])
        dealt = node.kind == NodeKind.NEXT_STREET
        waiting += [(child, boards * unseen if dealt else boards, unseen - dealt) for child in node.children]
    return SpotSize(states, numbers * _BYTES_PER_NUMBER)


class SpotCFR:
    """CFR on the tree of a whole spot.

    Attributes:
        tree: of the spot (`is_whole_spot`).
    """

    def __init__(self, tree: PublicTree, rule: RegretRule = HOLDEM_RULE, *, root_reach: Reach | None = None) -> None:
        """Prepares a solve; `root_reach` is [H0], [H1] of each player at the root, by default 1 for every hand."""
        if not isinstance(tree.game, HoldemGame) or not is_whole_spot(tree):
            raise SolveError(f"{tree.game.name}: this is not the whole tree of a hold'em spot")
        self.tree, self._game = tree, tree.game
        self._solver = HoldemSolver(replace(tree.game.spot, locks=()), rule, isomorphism=False)
        plan, start = self._solver.plan, len(tree.game.spot.board)
        for player in (0, 1):
            if root_reach is not None:
                reach = np.zeros(NUM_HANDS)
                hands = tree.game.hand_sets[player]
                reach[hands] = plan.weights[player, hands] * root_reach[player]
                self._solver.set_reach(player, reach)
        number = {id(node): place for place, node in enumerate(plan.nodes[0][0].walk())}
        places = [{number[id(node)]: place for place, node in enumerate(nodes)} for nodes in plan.nodes]
        boards = [{board.cards: place for place, board in enumerate(street)} for street in plan.boards]
        # per decision: street, board and place in the engine, and which of the tree's hands its rows are
        self._places: dict[int, tuple[int, int, int]] = {}
        self._hands: dict[int, Int64Array] = {}
        for node in np.flatnonzero(tree.actor >= 0):
            state, player = tree.states[node], int(tree.actor[node])
            assert isinstance(state, HoldemState)
            level = len(state.board) - start
            board = boards[level][state.board]
            self._places[int(node)] = level, board, places[level][state.node]
            rows = plan.rows(player, plan.boards[level][board])
            self._hands[int(node)] = np.searchsorted(tree.game.hand_sets[player], rows)

    @property
    def iteration(self) -> int:
        """How many iterations were run; one updates both players."""
        return self._solver.iteration

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        self._solver.run(iterations)

    def lock(self, nodes: Int64Array, blocks: FloatArray) -> None:
        """Holds decisions [K] at a policy [K, A, H] from now on."""
        for node, block in zip(nodes.tolist(), blocks, strict=True):
            level, board, place = self._places[node]
            padded = np.zeros(self._solver.engine.decision_rows(level, board, place)[1], np.float32)
            hands = self._hands[node]
            padded[:, : len(hands)] = block[:, hands]
            self._solver.lock(level, board, place, padded)

    def average_policy(self) -> Policy:
        """Returns the average policy; uniform where a hand never comes, or is not there."""
        found = uniform_policy(self.tree)
        for node, (level, board, place) in self._places.items():
            hands = self._hands[node]
            sums = self._solver.engine.read("policy_sum", level, board, place)[:, : len(hands)].astype(np.float64)
            total = sums.sum(axis=0)
            block = found[node]
            block[:, hands] = np.where(total > 0.0, sums / np.where(total > 0.0, total, 1.0), block[:, hands])
        return found

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy, in chips."""
        return 2.0 * self._solver.exploitability()


def make_cfr(tree: PublicTree, rule: RegretRule, *, root_reach: Reach | None = None) -> CFR | SpotCFR:
    """Returns CFR on a tree: by the engine of hold'em if it is the tree of a whole spot."""
    if is_whole_spot(tree):
        return SpotCFR(tree, rule, root_reach=root_reach)
    return CFR(tree, rule, root_reach=root_reach)


def solve_spot(tree: PublicTree, limits: Limits, on_progress: OnProgress | None = None) -> Policy:
    """Returns an approximate equilibrium of a whole spot."""
    solver = SpotCFR(tree)
    run_until(solver, limits, [], 0.0, on_progress)
    return solver.average_policy()
