"""CFR on the public tree of a hold'em spot by the engine of boards, which is far quicker than the general one.

`HoldemTreeSolver` solves the tree of a spot, or of its rest from a decision on, for whoever searches; results are those
of `HoldemSolver`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError, TooBigError
from aleator.games.base import CHANCE, TERMINAL, FloatArray
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS
from aleator.games.holdem.game import HoldemGame, HoldemState
from aleator.games.holdem.subgame import rest_of
from aleator.memory import available_memory
from aleator.solvers.cfr import CFR
from aleator.solvers.holdem.solver import HOLDEM_RULE, HoldemSolver, compatible_weight
from aleator.solvers.regret_rule import RegretRule
from aleator.trees.beliefs import Reach, reach_in
from aleator.trees.policy import Policy
from aleator.trees.public_tree import Int64Array, PublicTree
from aleator.trees.subgame import Watch

Floats = npt.NDArray[np.floating[Any]]


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


class HoldemTreeSolver:
    """CFR on the tree of a spot, or of its rest from a decision on: a `search.subgame_solver.SubgameSolver`.

    Attributes:
        tree: of the spot (`is_spot`).
        solver: the solver of hold'em below.
        last_root_cfvs: [H0], [H1] of the last iteration, if something is watched.
    """

    def __init__(
        self,
        tree: PublicTree,
        rule: RegretRule = HOLDEM_RULE,
        *,
        root_reach: Reach | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Prepares a solve.

        Args:
            tree: what is solved.
            rule: the regret rule.
            root_reach: [H0], [H1] of each player at the root, by default 1 for every hand.
            watch: where a player's cfvs are wanted: on the first street, and right behind the first card.
        """
        if not isinstance(tree.game, HoldemGame) or not is_spot(tree):
            raise SolveError(f"{tree.game.name}: this is not the tree of a hold'em spot to the end of the game")
        self.tree, self._game = tree, tree.game
        root, weights = tree.states[0], tree.game.spot.weights()
        assert isinstance(root, HoldemState)
        rest = rest_of(tree.game.spot, root.board, tree.game.betting(root), weights)
        self.solver = HoldemSolver(rest, rule, isomorphism=False, watch=None if watch is None else watch.player)
        self._weights = tuple(weights[player][hands] for player, hands in enumerate(tree.game.hand_sets))
        # cfvs of the general engine have the own weight and the probabilities of the deal and of the cards so far in
        # them
        self._scale = tree.game.chance(root.board) / compatible_weight(weights)
        if root_reach is not None:
            for player in (0, 1):
                self.set_root_reach(player, root_reach[player])
        self._boards = [
            {board.cards: number for number, board in enumerate(street)} for street in self.solver.plan.boards
        ]
        self._start = len(root.board)
        self._hands: dict[tuple[int, int, int], npt.NDArray[np.intp]] = {}
        self.last_root_cfvs: Reach = (np.zeros(len(self._weights[0])), np.zeros(len(self._weights[1])))
        self._watch = watch
        if watch is not None:
            self._find_watched(watch)

    def _find_watched(self, watch: Watch) -> None:
        """Finds the rows of the watched nodes in the engine, on the first street and behind the first card."""
        plan, tree = self.solver.plan, self.tree
        lines = {int(node) + 1: line for line, node in enumerate(plan.nodes[0][plan.forests[0].next_nodes])}
        slots = [self._slot(int(node)) for node in watch.nodes]
        behind = tree.actor[tree.parent[watch.nodes]] == CHANCE
        if any(level > 1 or (level and not card) for (level, _, _), card in zip(slots, behind, strict=True)):
            raise SolveError("only the first street and what lies right behind the first card can be watched")
        first = [k for k, (level, _, _) in enumerate(slots) if not level]
        self._first = np.array(first, np.int64), np.array([slots[k][2] for k in first], np.int64)
        self._second = [
            (k, board, lines[int(plan.nodes[1][slot])]) for k, (level, board, slot) in enumerate(slots) if level
        ]
        self._mean, self._weight = np.zeros((len(first), plan.widths[0][watch.player])), 0.0

    def _slot(self, node: int) -> tuple[int, int, int]:
        """Returns where the engine keeps a node of the tree: street, board, and which of the street's nodes."""
        state = self.tree.states[node]
        assert isinstance(state, HoldemState)
        level = len(state.board) - self._start
        return level, self._boards[level][state.board], int(self.solver.plan.slot[state.node])

    def _rows(self, player: int, level: int, board: int) -> npt.NDArray[np.intp]:
        """Returns which of the tree's hands of a player the rows of a board are."""
        plan, key = self.solver.plan, (player, level, board)
        if key not in self._hands:
            rows = plan.rows(player, plan.boards[level][board])
            self._hands[key] = np.searchsorted(self._game.hand_sets[player], rows)
        return self._hands[key]

    def _cfvs(self, player: int, level: int, board: int, rows: Floats) -> FloatArray:
        """Returns [..., H] in the general engine's form from a player's cfvs [..., W] in rows of a board."""
        hands = self._rows(player, level, board)
        cfvs = np.zeros((*rows.shape[:-1], len(self._weights[player])))
        cfvs[..., hands] = rows[..., : len(hands)] * (self._weights[player][hands] * self._scale)
        return cfvs

    def set_root_reach(self, player: int, reach: FloatArray) -> None:
        """Gives a player another reach [H] at the root from now on."""
        row = np.zeros(NUM_HANDS)
        row[self._game.hand_sets[player]] = self._weights[player] * reach
        self.solver.set_reach(player, row)

    @property
    def iteration(self) -> int:
        """How many iterations were run; one updates both players."""
        return self.solver.iteration

    def run(self, iterations: int) -> None:
        """Runs some more iterations."""
        if self._watch is None:
            self.solver.run(iterations)
            return
        engine = self.solver.engine
        for _ in range(iterations):
            self._weight = self._weight * self.solver.discounts()[0, 2] + 1.0
            for player in (0, 1):
                cfvs = self.solver.update(player)[engine.root_rows[player]]
                self.last_root_cfvs[player][:] = self._cfvs(player, 0, 0, cfvs)
                if player == self._watch.player:
                    self._mean += (engine.street_values(player)[self._first[1]] - self._mean) / self._weight

    def lock(self, nodes: Int64Array, blocks: FloatArray) -> None:
        """Holds decisions [K] at a policy [K, A, H] from now on."""
        for node, block in zip(nodes.tolist(), blocks, strict=True):
            level, board, slot = self._slot(node)
            padded = np.zeros(self.solver.engine.decision_rows(level, board, slot)[1], np.float32)
            hands = self._rows(int(self.tree.actor[node]), level, board)
            padded[:, : len(hands)] = block[:, hands]
            self.solver.lock(level, board, slot, padded)

    def average_block(self, node: int) -> FloatArray:
        """Returns [A, H]: the average policy of a decision; uniform where a hand never comes, or is not there."""
        player, (level, board, slot) = int(self.tree.actor[node]), self._slot(node)
        hands = self._rows(player, level, board)
        sums = self.solver.engine.read("policy_sum", level, board, slot)[:, : len(hands)].astype(np.float64)
        total = sums.sum(axis=0)
        block = np.full((len(sums), len(self._weights[player])), 1.0 / len(sums))
        block[:, hands] = np.divide(sums, total, out=block[:, hands], where=total > 0.0)
        return block

    def average_policy(self) -> Policy:
        """Returns the average policy; uniform where a hand never comes, or is not there."""
        policy = Policy(self.tree, (np.empty(self.tree.policy_size[0]), np.empty(self.tree.policy_size[1])))
        for node in np.flatnonzero(self.tree.actor >= 0).tolist():
            policy[node][:] = self.average_block(node)
        return policy

    def average_leaf_reach(self) -> Reach:
        """Returns [0, H0], [0, H1]: there are no leaves."""
        return np.zeros((0, len(self._weights[0]))), np.zeros((0, len(self._weights[1])))

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy, in chips."""
        return self.solver.nash_conv()

    def watched_cfvs(self) -> FloatArray:
        """Returns [K, H]: the watched player's cfvs, averaged over the iterations like the policies."""
        if self._watch is None or not self.iteration:
            raise SolveError("nothing was watched yet: give `watch` to the solver, and run it")
        engine = self.solver.engine
        second = engine.board_values() / (engine.averaging[0] * self._weight) if self._second else None
        return self._gather(self._mean, second)

    def watched_response(self) -> FloatArray:
        """Returns [K, H]: the watched player's cfvs when it best responds to the average policy."""
        player, engine = self._watched().player, self.solver.engine
        second = engine.best_board_values() if self._second else None
        if second is None:
            self.solver.root_values(player, best=True)
        return self._gather(engine.street_values(player)[self._first[1]], second)

    def watched_reach(self, root: FloatArray) -> FloatArray:
        """Returns [K, H]: the watched player's reach by its average policy, given its reach [H] at the root."""
        watch, tree = self._watched(), self.tree
        known = {0: root}

        def reach(node: int) -> FloatArray:
            if node not in known:
                above = reach(int(tree.parent[node]))
                known[node] = reach_in(tree, watch.player, node, above, self.average_block)
            return known[node]

        return np.stack([reach(int(node)) for node in watch.nodes])

    def _watched(self) -> Watch:
        if self._watch is None:
            raise SolveError("nothing is watched: give `watch` to the solver")
        return self._watch

    def _gather(self, first: Floats, second: Floats | None) -> FloatArray:
        """Returns [K, H] of the watched nodes from rows [., W] of the first street, [B, L, W] of the second."""
        watch = self._watched()
        cfvs = np.zeros((len(watch.nodes), len(self._weights[watch.player])))
        cfvs[self._first[0]] = self._cfvs(watch.player, 0, 0, first)
        for k, board, line in self._second:
            assert second is not None
            cfvs[k] = self._cfvs(watch.player, 1, board, second[board, line])
        return cfvs


def make_cfr(tree: PublicTree, rule: RegretRule, *, root_reach: Reach | None = None) -> CFR | HoldemTreeSolver:
    """Returns CFR on a tree: by the engine of hold'em if it is the tree of a spot."""
    if is_spot(tree):
        return HoldemTreeSolver(tree, rule, root_reach=root_reach)
    return CFR(tree, rule, root_reach=root_reach)
