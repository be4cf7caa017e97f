"""Regret-based and best-response pruning as plain recursions that keep all iterations' policies: slow and short."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aleator.solvers.pruning_rule import BEST_RESPONSE, PruningRule
from aleator.trees.policy import block, legal_actions
from aleator.trees.public_tree import PublicTree
from tests.solvers.reference import pull, reaches, source

Place = tuple[int, int, int]  # node, action, hand


class ReferencePruning:
    """CFR without discounts whose actions of very negative regret are left out; both players are updated at once."""

    def __init__(self, tree: PublicTree, rule: PruningRule) -> None:
        self.tree, self.rule, self.iteration = tree, rule, 0
        legal = legal_actions(tree)
        self.legal = {int(n): block(tree, legal, n) for player in (0, 1) for n in tree.decisions(player)}
        self.regret = {node: np.zeros(legal.shape) for node, legal in self.legal.items()}
        self.policy = {node: legal / np.maximum(legal.sum(axis=0), 1) for node, legal in self.legal.items()}
        self.policy_sum = {node: np.zeros(legal.shape) for node, legal in self.legal.items()}
        self.value_sum = {node: np.zeros(legal.shape[1]) for node, legal in self.legal.items()}
        self.reach_sum = {node: np.zeros(legal.shape[1]) for node, legal in self.legal.items()}
        self.pruned: dict[Place, tuple[int, float, float]] = {}  # iteration, value and reach sums at the beginning
        self.next_look: dict[Place, float] = {}
        self.log: list[tuple[dict, dict]] = []  # reaches of both players, iteration by iteration
        self.resumed = 0
        self.last = [self._last_places(player) for player in (0, 1)]

    def _last_places(self, player: int) -> dict[tuple[int, int], Place | None]:
        """Returns for each (node, hand) the player's last place."""
        tree = self.tree
        last: dict[tuple[int, int], Place | None] = {(0, h): None for h in range(tree.num_hands[player, 0])}
        for node in range(1, tree.num_nodes):
            parent = int(tree.parent[node])
            for hand in range(tree.num_hands[player, node]):
                action, before = source(tree, player, node, hand)
                last[node, hand] = last[parent, before] if action is None else (parent, action, before)
        return last

    def above(self, node: int, hand: int, player: int) -> Iterator[Place]:
        """Yields the places of the player on the way to a hand at a node, the last one first."""
        place = self.last[player][node, hand]
        while place is not None:
            yield place
            place = self.last[player][place[0], place[2]]

    def inside(self, node: int, hand: int, player: int) -> bool:
        return any(place in self.pruned for place in self.above(node, hand, player))

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.iteration += 1
            first, second = (reaches(self.tree, self.policy, player) for player in (0, 1))
            self.log.append((first, second))
            own = (first, second)
            for player in (0, 1):
                for node in self.tree.decisions(player):
                    self.policy_sum[int(node)] += np.array(own[player][int(node)]) * self.policy[int(node)]
            fresh = [self.update(player, own) for player in (0, 1)]
            for found, _, _ in fresh:
                self.policy |= found
            for player in (0, 1):
                self.settle(player, *fresh[player][1:])

    def update(self, player: int, reach) -> tuple[dict, list[Place], list[Place]]:
        tree, rule = self.tree, self.rule
        fresh: dict[int, np.ndarray] = {}
        starting: list[Place] = []
        due: list[Place] = []

        def choose(node: int, q: np.ndarray) -> list[float]:
            hands = q.shape[1]
            fresh[node] = self.policy[node].copy()
            active = [not self.inside(node, h, player) for h in range(hands)]
            if not (any(active) and any(r > 0 for r in reach[1 - player][node])):
                return [0.0] * hands
            values = [0.0] * hands
            for hand in range(hands):
                if not active[hand] or not self.legal[node][:, hand].any():
                    continue
                open_ = [a for a in range(len(q)) if self.legal[node][a, hand] and (node, a, hand) not in self.pruned]
                best = rule.respond and any(self.policy[n][a, h] == 0 for n, a, h in self.above(node, hand, player))
                value = max(q[a, hand] for a in open_) if best else float(self.policy[node][:, hand] @ q[:, hand])
                for a in open_:
                    old, gain = self.regret[node][a, hand], q[a, hand] - value
                    self.regret[node][a, hand] = gain if rule.rule.floor and gain > 0 > old else old + gain
                self.value_sum[node][hand] += value
                deal = np.asarray(tree.game.deal(tree.states[node]))
                deal = deal if player == 0 else deal.T
                self.reach_sum[node][hand] += float(deal[hand] @ np.array(reach[1 - player][node]))
                fresh[node][:, hand] = self.match(node, hand)
                self.look(node, hand, fresh[node][:, hand], starting, due)
                values[hand] = value
            return values

        pull(tree, player, 0, reach[1 - player], choose)
        return fresh, starting, due

    def match(self, node: int, hand: int) -> np.ndarray:
        regret = self.regret[node][:, hand]
        shown = self.legal[node][:, hand] & np.array([(node, a, hand) not in self.pruned for a in range(len(regret))])
        best = regret[shown].max(initial=-np.inf)
        otherwise = regret == best if self.rule.greedy else np.ones(len(regret))
        weight = np.where(shown, np.maximum(regret, 0.0) if best > 0 else otherwise, 0.0)
        return weight / weight.sum()

    def highest(self, place: Place) -> float:
        """Returns the highest payoff that can follow an action of a hand."""
        tree, found = self.tree, [-np.inf]
        player = int(tree.actor[place[0]])
        for node in np.flatnonzero(tree.num_children == 0):
            state = tree.states[node]
            utility, possible = tree.game.utility(state), tree.game.possible(state)
            for hand in range(tree.num_hands[player, node]):
                if place in self.above(int(node), hand, player):
                    u, p = (utility[hand], possible[hand]) if player == 0 else (-utility[:, hand], possible[:, hand])
                    found += list(np.asarray(u)[np.asarray(p, dtype=bool)])
        return max(found) if max(found) > -np.inf else 0.0

    def skip(self, place: Place, regret: float) -> float:
        node, _, hand = place
        growth = self.reach_sum[node][hand] * self.highest(place) - self.value_sum[node][hand]
        if regret >= 0:
            return -1.0
        return np.inf if growth <= 0 else -regret * self.iteration / growth

    def look(self, node: int, hand: int, policy: np.ndarray, starting: list[Place], due: list[Place]) -> None:
        legal = self.legal[node][:, hand]
        left = sum(legal[a] and (node, a, hand) not in self.pruned for a in range(len(legal)))
        for a in np.flatnonzero(legal):
            place = (node, int(a), hand)
            if place in self.pruned:
                _, value, reach = self.pruned[place]
                bound = (self.reach_sum[node][hand] - reach) * self.highest(place) - (
                    self.value_sum[node][hand] - value
                )
                if self.regret[node][a, hand] + bound > 0:
                    due.append(place)
            elif (
                left > 1
                and policy[a] == 0
                and self.iteration >= self.next_look.get(place, 0)
                and self.skip(place, self.regret[node][a, hand]) >= self.rule.least_skip
            ):
                starting.append(place)
                left -= 1

    def begin(self, place: Place) -> None:
        node, _, hand = place
        self.pruned[place] = (self.iteration, self.value_sum[node][hand], self.reach_sum[node][hand])

    def below(self, place: Place, nested: Place) -> bool:
        player = int(self.tree.actor[place[0]])
        return int(self.tree.actor[nested[0]]) == player and place in self.above(nested[0], nested[2], player)

    def settle(self, player: int, starting: list[Place], due: list[Place]) -> None:
        whole = self.rule.method == BEST_RESPONSE
        for place in sorted(starting):  # nodes above come first
            if self.inside(place[0], place[2], player):
                continue
            nested = [other for other in self.pruned if self.below(place, other)]
            if whole:
                regret, _ = self.respond(place, 0)
                if self.skip(place, regret) < self.rule.least_skip:
                    self.next_look[place] = self.iteration + max(self.rule.least_skip, 0.1 * self.iteration)
                    continue
                self.regret[place[0]][place[1], place[2]] = regret
                for other in nested:
                    del self.pruned[other]
            else:
                due += nested
            self.begin(place)
        for place in dict.fromkeys(due):
            if place in self.pruned:
                self.end(place, player, whole)

    def end(self, place: Place, player: int, whole: bool) -> None:
        node, action, hand = place
        since, value, _ = self.pruned[place]
        total, found = self.respond(place, 0 if whole else since, 0.0 if whole else value)
        if whole and self.skip(place, total) >= self.rule.least_skip:
            self.regret[node][action, hand] = total
            self.begin(place)
            return
        self.resumed += 1
        for (n, h), (q, best, reach) in found.items():
            gain = np.where(self.legal[n][:, h], q - best, 0.0)
            if whole:
                self.regret[n][:, h], self.value_sum[n][h] = gain, best
            else:
                self.regret[n][:, h] += gain
                self.value_sum[n][h] += best
            self.reach_sum[n][h] = reach
            self.policy[n][:, h] = self.match(n, h)
        self.regret[node][action, hand] = total if whole else self.regret[node][action, hand] + total
        del self.pruned[place]
        self.policy[node][:, hand] = self.match(node, hand)
        left = sum(
            self.legal[node][a, hand] and (node, a, hand) not in self.pruned for a in range(len(self.legal[node]))
        )
        again = not whole and not self.inside(node, hand, player) and left > 1
        again &= self.policy[node][action, hand] == 0
        if again and self.skip(place, self.regret[node][action, hand]) >= self.rule.least_skip:
            self.begin(place)

    def respond(self, place: Place, since: int, value: float = 0.0) -> tuple[float, dict]:
        """Returns the regret of an action and what the best response finds below to all iterations after `since`."""
        tree, player = self.tree, int(self.tree.actor[place[0]])
        total = {n: np.sum([log[1 - player][n] for log in self.log[since:]], axis=0) for n in range(tree.num_nodes)}
        ever = {n: np.sum([log[1 - player][n] for log in self.log], axis=0) for n in range(tree.num_nodes)}
        found: dict[tuple[int, int], tuple[np.ndarray, float, float]] = {}

        def choose(node: int, q: np.ndarray) -> list[float]:
            deal = np.asarray(tree.game.deal(tree.states[node]))
            deal = deal if player == 0 else deal.T
            values = [0.0] * q.shape[1]
            for hand in range(q.shape[1]):
                legal = self.legal[node][:, hand]
                if place in self.above(node, hand, player) and legal.any():
                    values[hand] = float(q[legal, hand].max())
                    found[node, hand] = (q[:, hand], values[hand], float(deal[hand] @ ever[node]))
                elif node == place[0] and hand == place[2]:
                    values[hand] = float(q[place[1], hand])
                    answer.append(values[hand])
            return values

        answer: list[float] = []
        pull(tree, player, 0, total, choose)
        return answer[0] - (self.value_sum[place[0]][place[2]] - value), found

    def vector(self, blocks: dict[int, np.ndarray], player: int) -> np.ndarray:
        """Returns blocks as a flat vector in the tree's order."""
        return np.concatenate([blocks[int(node)].ravel() for node in self.tree.decisions(player)] or [np.zeros(0)])
