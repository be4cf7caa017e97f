"""Simultaneous abstraction and equilibrium finding: bets are added to a menu while it is being solved, where they pay.

Algorithm:
    CFR runs on a small abstraction of continuous Leduc. From time to time best responses in the whole game say, for
    every decision, which bet outside its menu would have won most: against the average policy of iterations that weigh
    T its regret is T v(I, x) less what the iterations won, a sum that is kept. A bet x and the subgame S behind it are
    added when that lowers average regret faster than quicker iterations without it would (Proposition 2):
        c sum R(I) / |G|  <  (sum R(I) + sum over S of (2 - 1/T) R(I')) / (|G| + |S|).
    What happened in S so far is filled in by a recovery game: the opponent and chance come to S as they did on average,
    the player takes the average value of its decision or enters S. The opponent played that game's average policy in
    S, in all T iterations, and the player's best response to it: that gives the regret of x and all sums of S.
    Everything is then weighed by the potential of the regrets before over that after (Eq. 4.78).
    A bet that was added is taken out when its regrets are negative for all hands and the average policy plays it with a
    chance below C / sqrt(T) everywhere.

Reference:
    Thesis 4.3.1 (recovery game, Theorems 18 and 19, Eq. 4.78), 4.3.4 (Proposition 2), 4.3.5 (removal).

Deviations:
    Iterations may be weighted linearly (LCFR), too. Best responses stand for regrets outside the abstraction (the
    thesis: regret transfer; it names both). R(I') of S is what x adds to the regret of its decision. Decisions are
    looked at whenever iterations have grown by 6 %, not every 5 of them; only bets count that a best response comes to
    from the start, since others make nothing less exploitable. S is all bets of a look together: each passes the
    condition with c = 1, and their sum with c. Recovery games are solved by CFR+ in 30 to 100 iterations, and regrets
    in S begin in the proportions of its average policies: at 0, as in the thesis, the opponent would play uniformly
    there. Behind a new bet menus are those behind the nearest bet of its decision, whose play it stood for so far; with
    the smallest and the largest bet alone whoever meets it would be easier to exploit than before. Removal is ours:
    the thesis' experiments only skip what neither player reaches.

Status:
    Without additions the iterates are those of CFR; grown solutions are measured in the whole game
    (tests/abstraction/growing/test_saef.py). Fig. 4.9 is `aleator paper growing-abstraction`: with c = 1 and 1.01 ahead
    of fixed menus at every point, 1.1 alike, 2.0 worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from aleator.abstraction.growing.continuous import ContinuousResponse, continuous_exploitability, respond
from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.continuous_leduc import LARGEST, SMALLEST, ContinuousLeduc, History
from aleator.games.leduc import LeducState
from aleator.solvers.best_response import best_response_cfvs
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.solvers.regret_rule import CFR_PLUS, LCFR, RegretRule
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree, build_tree

_FEWEST, _MOST = 30, 100  # iterations of a recovery game
_APART = 0.02  # pots between two bets of a menu
_LEAST = 1e-3  # chips of regret: how firmly a policy is held that nothing was at stake for
_YOUNG = 100  # iterations before a bet may be taken out


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthRule:
    """When menus change.

    Attributes:
        threshold: c, on the left side of the condition; 1.01 in the thesis.
        growth: decisions are looked at when there are so many times the iterations of the last look.
        first: iterations before the first look.
        removal: C; 0 never takes a bet out.
        linear: whether iterations are weighted linearly, else equally as in the thesis.
    """

    threshold: float = 1.01
    growth: float = 1.06
    first: int = 60
    removal: float = 0.0
    linear: bool = False

    @property
    def regret_rule(self) -> RegretRule:
        """Of CFR."""
        return LCFR if self.linear else CFR_RULE

    def __post_init__(self) -> None:
        if not 1.0 <= self.threshold <= 100.0 or not self.growth > 1.0 or self.first < 1 or self.removal < 0.0:
            raise SolveError(
                "a threshold is between 1 and 100, growth above 1, a first look after at least 1 iteration, removal 0 "
                f"or more, not {self.threshold}, {self.growth}, {self.first} and {self.removal}"
            )


class Candidate(NamedTuple):
    """A bet that could be added.

    Attributes:
        player, history: whose decision it is, and where.
        size: in pots.
        regret: by which it raises the regret of its decision, summed over hands.
        nodes: of the subgame behind it.
    """

    player: int
    history: History
    size: float
    regret: float
    nodes: int


class _Tables(NamedTuple):
    """What CFR has accumulated, by the history of a decision: [A, H] by action, and [H]."""

    regret: dict[History, dict[str, FloatArray]]
    policy_sum: dict[History, dict[str, FloatArray]]
    value_sum: dict[History, FloatArray]


class GrowingCFR:
    """CFR on an abstraction of continuous Leduc that grows.

    Attributes:
        tree: of the abstraction as it is now.
        iteration: how many have been run.
        weight: T, what they weigh together.
        nodes_touched: public states visited, recovery games included.
        added, removed: how many bets.
    """

    def __init__(self, rule: GrowthRule | None = None) -> None:
        self.rule = rule or GrowthRule()
        self.iteration, self.weight, self.nodes_touched, self.added, self.removed = 0, 0.0, 0, 0, 0
        self._menus: dict[History, tuple[float, ...]] = {}
        self._since: dict[tuple[History, float], int] = {}
        self._next_look = float(self.rule.first)
        self._begin(_Tables({}, {}, {}))

    def _begin(self, tables: _Tables) -> None:
        """Lays the abstraction out with these tables; decisions that they lack begin with nothing."""
        self.tree = build_tree(ContinuousLeduc(menus=self._menus))
        self._solver = CFR(self.tree, self.rule.regret_rule)
        self._decisions = tuple(self.tree.decisions(player) for player in (0, 1))
        self._values = [np.zeros((len(nodes), 3)) for nodes in self._decisions]
        layout, state = self._solver.engine.layout, dict(self._solver.state())
        for player in (0, 1):
            vectors = {name: np.zeros(self.tree.policy_size[player]) for name in ("regret", "policy_sum")}
            for row, node in enumerate(self._decisions[player]):
                history = self._state(int(node)).history
                if history in tables.value_sum:
                    self._values[player][row] = tables.value_sum[history]
                for name, vector in vectors.items():
                    known = getattr(tables, name).get(history, {})
                    at = int(self.tree.policy_start[node])
                    for label in self.tree.game.actions(self._state(int(node))):
                        if label in known:
                            vector[at : at + 3] = known[label]
                        at += 3
            for name, vector in vectors.items():
                state[f"{name}{player}"] = layout.pad(player, vector)
        self._solver.restore(self.iteration, state)
        self._solver.match()

    def _tables(self, factor: float = 1.0) -> _Tables:
        """Returns everything accumulated so far, times a factor."""
        tables, layout, state = _Tables({}, {}, {}), self._solver.engine.layout, self._solver.state()
        for player in (0, 1):
            vectors = {
                name: factor * layout.unpad(player, state[f"{name}{player}"]) for name in ("regret", "policy_sum")
            }
            for row, node in enumerate(self._decisions[player]):
                there = self._state(int(node))
                tables.value_sum[there.history] = factor * self._values[player][row]
                for name, vector in vectors.items():
                    at, labels = int(self.tree.policy_start[node]), self.tree.game.actions(there)
                    blocks = {label: vector[at + 3 * k : at + 3 * k + 3] for k, label in enumerate(labels)}
                    getattr(tables, name)[there.history] = blocks
        return tables

    def run(self, iterations: int) -> None:
        """Runs some more iterations, and looks at menus on the way."""
        for _ in range(iterations):
            kept = self.iteration / (self.iteration + 1.0) if self.rule.linear else 1.0
            for player in (0, 1):
                self._solver.update(player)
                self._values[player] *= kept
                self._values[player] += self._solver.last_cfvs(player, self._decisions[player])
            self.iteration += 1
            self.weight = self.weight * kept + 1.0
            self.nodes_touched += 2 * self.tree.num_nodes
            if self.iteration >= self._next_look:
                self._next_look = self.iteration * self.rule.growth
                self.look()

    def average_policy(self) -> Policy:
        """Returns the average policy on the tree as it is now."""
        return self._solver.average_policy()

    def exploitability(self) -> float:
        """Returns the exploitability of the average policy in the game with all bet sizes."""
        return continuous_exploitability(self.average_policy())

    def look(self) -> None:
        """Takes out the bets that do not pay and adds those that do."""
        dropped = self._unused()
        for history, size in dropped:
            self._menus[history] = tuple(own for own in self._menu(history) if own != size)
            del self._since[history, size]
        if dropped:
            self.removed += len(dropped)
            self._begin(self._tables())
        chosen = [candidate for player in (0, 1) for candidate in self.candidates(player)]
        if chosen:
            self._add(chosen)

    def _state(self, node: int) -> LeducState:
        return _leduc_state(self.tree, node)

    def _menu(self, history: History) -> tuple[float, ...]:
        return self._menus.get(history, (SMALLEST, LARGEST))

    def candidates(self, player: int) -> list[Candidate]:
        """Returns the bets of a player that the condition of Proposition 2 adds now, at most one per decision.

        Each is worth its nodes by itself, and all of them together are worth theirs by the threshold.
        """
        response = respond(self.average_policy(), player)
        regrets = self._regrets(player)
        total, size = (
            float(sum(np.maximum(rows.max(axis=0), 0.0).sum() for rows in regrets.values())),
            self.tree.num_nodes,
        )
        chosen, gains, nodes = [], 0.0, 0
        for row, node in enumerate(self._decisions[player]):
            candidate = self._candidate(player, int(node), row, response, regrets)
            if candidate is None:
                continue
            gain = (2.0 - 1.0 / self.weight) * candidate.regret
            if total / size < (total + gain) / (size + candidate.nodes):
                chosen.append(candidate)
                gains, nodes = gains + gain, nodes + candidate.nodes
        return chosen if self.rule.threshold * total / size < (total + gains) / (size + nodes) else []

    def _regrets(self, player: int) -> dict[int, FloatArray]:
        """Returns [A, H] of a player's decisions."""
        vector = self._solver.engine.layout.unpad(player, self._solver.state()[f"regret{player}"])
        tree = self.tree
        return {
            int(node): vector[tree.policy_start[node] :][: 3 * tree.num_actions[node]].reshape(-1, 3)
            for node in self._decisions[player]
        }

    def _candidate(
        self, player: int, node: int, row: int, response: ContinuousResponse, regrets: dict[int, FloatArray]
    ) -> Candidate | None:
        """Returns the bet of a decision that the menu misses most; None if it misses none."""
        if node not in response.bets:
            return None
        bet, state = response.bets[node], self._state(int(node))
        there = self.weight * bet.cfv - self._values[player][row]
        gain = np.where(response.comes[node], there - np.maximum(regrets[node].max(axis=0), 0.0), 0.0)
        hand = int(gain.argmax())
        size = float(f"{bet.size[hand]:.6g}")
        if gain[hand] <= 0 or min(abs(size - own) for own in self._menu(state.history)) < _APART:
            return None
        nodes = self._inherited_size(node, state, size)
        return Candidate(player, state.history, size, float(np.maximum(gain, 0.0).sum()), nodes)

    def _nearest(self, history: History, size: float) -> float:
        return min(self._menu(history), key=lambda own: abs(own - size))

    def _inherited_size(self, node: int, state: LeducState, size: float) -> int:
        """Returns how many nodes a bet here adds with the menus behind the nearest bet."""
        menu = self._menu(state.history)
        child = self.tree.children(node)[-len(menu) + menu.index(self._nearest(state.history, size))]
        return 1 + int(self.tree.end[child]) - int(self.tree.first_child[child])

    def _inherited(self, state: LeducState, size: float) -> dict[History, tuple[float, ...]]:
        """Returns the menus behind the nearest bet of a decision, as those behind a new bet."""
        game = ContinuousLeduc(menus={state.history: (self._nearest(state.history, size),)})
        old = (*state.history, game.actions(state)[-1])
        new = (*state.history, ContinuousLeduc(menus={state.history: (size,)}).actions(state)[-1])
        begins = {past: menu for past, menu in self._menus.items() if past[: len(old)] == old}
        return {(*new, *past[len(old) :]): menu for past, menu in begins.items()}

    def _add(self, chosen: list[Candidate]) -> None:
        """Adds bets with what their recovery games say, and weighs what has been done."""
        before = [self._potential(player) for player in (0, 1)]
        tables, recovered = self._tables(), np.zeros(2)
        averages = [self._solver.average_reach(player) for player in (0, 1)]
        for candidate in chosen:
            node = self._node(candidate)
            behind = self._inherited(self._state(node), candidate.size)
            self._menus |= behind
            self._since |= {(past, own): self.iteration for past, sizes in behind.items() for own in sizes[1:-1]}
            menu = tuple(sorted((*self._menu(candidate.history), candidate.size)))
            recovered += self._recover(candidate, node, averages[1 - candidate.player], menu, tables)
            self._menus[candidate.history] = menu
            self._since[candidate.history, candidate.size] = self.iteration
        self._begin(tables)
        self.added += len(chosen)
        after = [self._potential(player) for player in (0, 1)]
        weight = min(
            1.0, *(
                (before[p] + recovered[p]) / after[p] for p in (0, 1) if after[p] > 0.0
            )
        )  # fmt: skip
        if weight < 1.0:
            self.weight *= weight
            self._begin(self._tables(weight))

    def _node(self, candidate: Candidate) -> int:
        places = [self._state(int(node)).history for node in self._decisions[candidate.player]]
        return int(self._decisions[candidate.player][places.index(candidate.history)])

    def _potential(self, player: int) -> float:
        return float(sum((np.maximum(rows, 0.0) ** 2).sum() for rows in self._regrets(player).values()))

    def _recover(
        self, candidate: Candidate, node: int, reach: FloatArray, menu: tuple[float, ...], tables: _Tables
    ) -> FloatArray:
        """Plays the recovery game of a bet, writes its outcome to the tables; returns both players' potential in it."""
        player, state = candidate.player, self._state(int(node))
        game = ContinuousLeduc(menus=self._menus | {candidate.history: menu})
        action = len(game.actions(state)) - len(menu) + menu.index(candidate.size)
        label = game.actions(state)[action]
        tree = build_tree(game, root=game.child(state, action))
        own, other = np.full(3, 0.5), self._solver.reach_at(1 - player, node, reach)
        row = int(np.searchsorted(self._decisions[player], node))
        alternative = self._values[player][row] / self.weight
        deal = game.deal(state) if player == 1 else game.deal(state).T
        reached = float(np.dot(other, deal).sum())
        count = min(max(ceil(self.weight * reached), _FEWEST), _MOST)
        root = (own, other) if player == 0 else (other, own)
        solver = CFR(tree, CFR_PLUS, root_reach=root)
        entering = np.zeros((2, 3))
        for _ in range(count):
            for traverser in (0, 1):
                solver.update(traverser)
                if traverser == player:
                    value = solver.last_cfvs(player, np.zeros(1, np.int64))[0]
                    mixed = own * value + (1.0 - own) * alternative
                    entering = np.maximum(entering + [value - mixed, alternative - mixed], 0.0)
                    total = entering.sum(axis=0)
                    own = np.where(total > 0, entering[0] / np.where(total > 0, total, 1.0), 0.5)
                    solver.set_root_reach(player, own)
        self.nodes_touched += 2 * count * tree.num_nodes
        average = solver.average_policy()
        average_root = (np.ones(3), other) if player == 0 else (other, np.ones(3))
        wins = best_response_cfvs(average, player, average_root)
        for decision in tree.decisions(player):
            tables.value_sum[_leduc_state(tree, int(decision)).history] = self.weight * wins[decision]
        reach_there = solver.average_reach(1 - player)
        for decision in tree.decisions(1 - player):
            inside = _leduc_state(tree, int(decision))
            weight = self.weight * solver.reach_at(1 - player, int(decision), reach_there)
            rows = {name: weight * row for name, row in zip(game.actions(inside), average[decision], strict=True)}
            tables.policy_sum[inside.history] = rows
        layout, kept = solver.engine.layout, solver.state()
        potentials = np.zeros(2)
        for who in (0, 1):
            regrets = layout.unpad(who, kept[f"regret{who}"])
            for decision in tree.decisions(who):
                inside, at, policy = (
                    _leduc_state(tree, int(decision)),
                    int(tree.policy_start[decision]),
                    average[decision],
                )
                total = regrets[at : at + policy.size].reshape(policy.shape).sum(axis=0)
                regret = policy * np.maximum(total, _LEAST)
                potentials[who] += (regret**2).sum()
                tables.regret[inside.history] = dict(zip(game.actions(inside), regret, strict=True))
        tables.regret[candidate.history][label] = self.weight * wins[0] - self._values[player][row]
        return potentials

    def _unused(self) -> list[tuple[History, float]]:
        """Returns the bets that were added, are not played on average and have negative regrets for all hands."""
        if not self.rule.removal or not self._since:
            return []
        policy, unused = self.average_policy(), []
        limit = self.rule.removal / sqrt(self.weight)
        regrets = self._regrets(0) | self._regrets(1)
        for node, rows in regrets.items():
            state = self._state(int(node))
            menu = self._menu(state.history)
            for k, size in enumerate(menu):
                added = self._since.get((state.history, size))
                if added is None or self.iteration < added + _YOUNG:
                    continue
                action = len(rows) - len(menu) + k
                if (rows[action] < 0.0).all() and (policy[node][action] < limit).all():
                    unused.append((state.history, size))
        return unused


def _leduc_state(tree: PublicTree, node: int) -> LeducState:
    state = tree.states[node]
    assert isinstance(state, LeducState)
    return state


def fixed_abstraction(sizes: tuple[float, ...]) -> PublicTree:
    """Returns the tree of continuous Leduc with one menu everywhere."""
    return build_tree(ContinuousLeduc(sizes))
