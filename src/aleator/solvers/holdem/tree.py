"""Hold'em spots as games of the library, solved by the engine of hold'em, which is far quicker than the general one.

`SpotCFR` has the methods of `solvers.cfr.CFR` that search uses, on the tree of a spot or of its rest from a decision
on; results are those of `HoldemSolver`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError, TooBigError
from aleator.games.base import TERMINAL, FloatArray
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS
from aleator.games.holdem.game import HoldemGame, HoldemState
from aleator.games.holdem.subgame import rest_of
from aleator.memory import available_memory
from aleator.solvers.cfr import CFR
from aleator.solvers.holdem.solver import HOLDEM_RULE, HoldemSolver, compatible_weight
from aleator.solvers.regret_rule import RegretRule
from aleator.trees.beliefs import Reach
from aleator.trees.policy import Policy
from aleator.trees.public_tree import Int64Array, PublicTree


def is_spot(tree: PublicTree) -> bool:
    """Returns whether a tree is that of a hold'em spot from a decision on to the ends of the game, and nothing else."""
    game = tree.game
    if not isinstance(game, HoldemGame) or tree.actor[0] < 0:
        return False
    return all(
        isinstance(state, HoldemState) and (children > 0) == (game.actor(state) != TERMINAL)
        for state, children in zip(tree.states, tree.num_children, strict=True)
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
                f"{name} has {self.public_states:,} public states with every card apart, for which an agent takes "
                f"about {self.memory / 2**30:.1f} GiB; {free / 2**30:.1f} GiB are free: play a turn or a river, or "
                "narrower ranges (`aleator holdem solve` needs far less)"
            )


def spot_size(game: HoldemGame, bytes_per_number: int) -> SpotSize:
    """Returns how big the tree of a spot is, counted on its betting alone, with these bytes per number of a policy."""
    states = numbers = 0
    waiting = [(game.spot.build_tree(), 1, NUM_CARDS - len(game.spot.board))]
    while waiting:
        node, boards, unseen = waiting.pop()
        states += boards
        if node.kind == NodeKind.DECISION:
            numbers += boards * len(node.children) * len(game.hand_sets[node.player])
        dealt = node.kind == NodeKind.NEXT_STREET
        waiting += [(child, boards * unseen if dealt else boards, unseen - dealt) for child in node.children]
    return SpotSize(states, numbers * bytes_per_number)


class SpotCFR:
    """CFR on the tree of a spot, or of its rest from a decision on.

    Attributes:
        tree: of the spot (`is_spot`).
        solver: the solver of hold'em below.
    """

    def __init__(
        self,
        tree: PublicTree,
        rule: RegretRule = HOLDEM_RULE,
        *,
        root_reach: Reach | None = None,
        watch: int | None = None,
    ) -> None:
        """Prepares a solve.

        Args:
            tree: what is solved.
            rule: the regret rule.
            root_reach: [H0], [H1] of each player at the root, by default 1 for every hand.
            watch: see `BoardEngine`.
        """
        if not isinstance(tree.game, HoldemGame) or not is_spot(tree):
            raise SolveError(f"{tree.game.name}: this is not the tree of a hold'em spot to the end of the game")
        self.tree, self._game = tree, tree.game
        root, weights = tree.states[0], tree.game.spot.weights()
        assert isinstance(root, HoldemState)
        rest = rest_of(tree.game.spot, root.board, tree.game.betting(root), weights)
        self.solver = HoldemSolver(rest, rule, isomorphism=False, watch=watch)
        self._weights = tuple(weights[player][hands] for player, hands in enumerate(tree.game.hand_sets))
        # cfvs of the general engine have the own weight and the probabilities of the deal and of the cards so far in
        # them
        self._scale = tree.game.chance(root.board) / compatible_weight(weights)
        if root_reach is not None:
            for player in (0, 1):
                self.set_root_reach(player, root_reach[player])
        self._boards = [
            {board.cards: place for place, board in enumerate(street)} for street in self.solver.plan.boards
        ]
        self._start = len(root.board)
        self._hands: dict[tuple[int, int, int], npt.NDArray[np.intp]] = {}

    def place(self, node: int) -> tuple[int, int, int]:
        """Returns street, board and place in the engine of a node of the tree."""
        state = self.tree.states[node]
        assert isinstance(state, HoldemState)
        level = len(state.board) - self._start
        return level, self._boards[level][state.board], int(self.solver.plan.place[state.node])

    def hands(self, player: int, level: int, board: int) -> npt.NDArray[np.intp]:
        """Returns which of the tree's hands of a player the rows of a board are."""
        plan, key = self.solver.plan, (player, level, board)
        if key not in self._hands:
            rows = plan.rows(player, plan.boards[level][board])
            self._hands[key] = np.searchsorted(self._game.hand_sets[player], rows)
        return self._hands[key]

    def cfvs(self, player: int, hands: npt.NDArray[np.intp], rows: npt.NDArray[np.floating[Any]]) -> FloatArray:
        """Returns [..., H] in the general engine's form from a player's cfvs [..., W] in rows that are those hands."""
        found = np.zeros((*rows.shape[:-1], len(self._weights[player])))
        found[..., hands] = rows[..., : len(hands)] * (self._weights[player][hands] * self._scale)
        return found

    def set_root_reach(self, player: int, reach: FloatArray) -> None:
        """Gives a player another reach [H] at the root from now on."""
        found = np.zeros(NUM_HANDS)
        found[self._game.hand_sets[player]] = self._weights[player] * reach
        self.solver.set_reach(player, found)

    @property
    def iteration(self) -> int:
        """How many iterations were run; one updates both players."""
        return self.solver.iteration

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        self.solver.run(iterations)

    def lock(self, nodes: Int64Array, blocks: FloatArray) -> None:
        """Holds decisions [K] at a policy [K, A, H] from now on."""
        for node, block in zip(nodes.tolist(), blocks, strict=True):
            level, board, place = self.place(node)
            padded = np.zeros(self.solver.engine.decision_rows(level, board, place)[1], np.float32)
            hands = self.hands(int(self.tree.actor[node]), level, board)
            padded[:, : len(hands)] = block[:, hands]
            self.solver.lock(level, board, place, padded)

    def average_block(self, node: int) -> FloatArray:
        """Returns [A, H]: the average policy of a decision; uniform where a hand never comes, or is not there."""
        player, (level, board, place) = int(self.tree.actor[node]), self.place(node)
        hands = self.hands(player, level, board)
        sums = self.solver.engine.read("policy_sum", level, board, place)[:, : len(hands)].astype(np.float64)
        total = sums.sum(axis=0)
        block = np.full((len(sums), len(self._weights[player])), 1.0 / len(sums))
        block[:, hands] = np.divide(sums, total, out=block[:, hands], where=total > 0.0)
        return block

    def average_policy(self) -> Policy:
        """Returns the average policy; uniform where a hand never comes, or is not there."""
        found = Policy(self.tree, (np.empty(self.tree.policy_size[0]), np.empty(self.tree.policy_size[1])))
        for player in (0, 1):
            for node in self.tree.decisions(player):
                found[int(node)][:] = self.average_block(int(node))
        return found

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy, in chips."""
        return 2.0 * self.solver.exploitability()


def make_cfr(tree: PublicTree, rule: RegretRule, *, root_reach: Reach | None = None) -> CFR | SpotCFR:
    """Returns CFR on a tree: by the engine of hold'em if it is the tree of a spot."""
    if is_spot(tree):
        return SpotCFR(tree, rule, root_reach=root_reach)
    return CFR(tree, rule, root_reach=root_reach)
