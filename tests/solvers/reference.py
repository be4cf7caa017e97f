"""CFR, values and best responses as plain recursions over single hands: slow, short, and independent of the engine."""

from __future__ import annotations

import numpy as np

from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.trees.policy import Policy, block, legal_actions
from aleator.trees.public_tree import PublicTree


def source(tree: PublicTree, player: int, child: int, hand: int) -> tuple[int | None, int]:
    """Returns (action or None, hand in the parent) that a hand of a child comes from."""
    parent, origin = int(tree.parent[child]), tree.origin(player, child)
    acts = tree.actor[parent] == player
    if origin is None:
        return (child - int(tree.first_child[parent]) if acts else None), hand
    before = int(tree.num_hands[player, parent])
    return (int(origin[hand]) // before if acts else None), int(origin[hand]) % before


def push(tree: PublicTree, policies: dict[int, np.ndarray], player: int, node: int, reach: list[float]):
    """Yields (node, the player's reach of each hand) for a node and everything below."""
    yield node, reach
    for child in tree.children(node):
        below = []
        for hand in range(tree.num_hands[player, child]):
            action, before = source(tree, player, child, hand)
            below.append(reach[before] * (1.0 if action is None else policies[node][action, before]))
        yield from push(tree, policies, player, child, below)


def reaches(tree: PublicTree, policies: dict[int, np.ndarray], player: int) -> dict[int, list[float]]:
    """Returns the player's reach of every node."""
    return dict(push(tree, policies, player, 0, [1.0] * int(tree.num_hands[player, 0])))


def pull(tree: PublicTree, player: int, node: int, opponent: dict[int, list[float]], choose) -> list[float]:
    """Returns the player's cfv of each hand at a node; `choose(node, q[A][H])` makes action values [H] at decisions."""
    hands = int(tree.num_hands[player, node])
    if tree.num_children[node] == 0:
        matrix = tree.payoffs[tree.payoff_group[node]]
        matrix = np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.todense()) * tree.stake[node]
        return list(matrix @ opponent[node] if player == 0 else -matrix.T @ opponent[node])
    acts = tree.actor[node] == player
    totals = np.zeros((int(tree.num_actions[node]) if acts else 1, hands))
    for child in tree.children(node):
        for hand, value in enumerate(pull(tree, player, child, opponent, choose)):
            action, before = source(tree, player, child, hand)
            totals[action or 0, before] += value
    return list(choose(node, totals)) if acts else list(totals[0])


def as_blocks(policy: Policy) -> dict[int, np.ndarray]:
    """Returns the [A, H] block of each decision node."""
    return {int(node): policy[node] for player in (0, 1) for node in policy.tree.decisions(player)}


def reference_value(policy: Policy, player: int) -> list[float]:
    """Returns the player's cfvs at the root when both follow the policy."""
    blocks = as_blocks(policy)
    opponent = reaches(policy.tree, blocks, 1 - player)
    return pull(policy.tree, player, 0, opponent, lambda node, q: (blocks[node] * q).sum(axis=0))


def reference_best_response(policy: Policy, player: int) -> list[float]:
    """Returns the player's cfvs at the root of a best response."""
    tree, legal = policy.tree, legal_actions(policy.tree)
    opponent = reaches(tree, as_blocks(policy), 1 - player)
    return pull(tree, player, 0, opponent, lambda node, q: np.where(block(tree, legal, node), q, -np.inf).max(axis=0))


class ReferenceCFR:
    """CFR with any rule, infostate by infostate, straight from the text of `regret_rule`."""

    def __init__(self, tree: PublicTree, rule: RegretRule) -> None:
        self.tree, self.rule, self.iteration = tree, rule, 0
        legal = legal_actions(tree)
        nodes = [int(node) for player in (0, 1) for node in tree.decisions(player)]
        self.legal = {node: block(tree, legal, node) for node in nodes}
        self.regret = {node: np.zeros(self.legal[node].shape) for node in nodes}
        self.policy_sum = {node: np.zeros(self.legal[node].shape) for node in nodes}
        self.policy = {node: self.legal[node] / self.legal[node].sum(axis=0) for node in nodes}
        self.seen: dict[tuple[int, int], list[float]] = {}

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.iteration += 1
            fresh: dict[int, np.ndarray] = {}
            for player in (0, 1):
                found = self.update(player)
                if self.rule.alternating:
                    self.policy |= found
                fresh |= found
            self.policy |= fresh

    def update(self, player: int) -> dict[int, np.ndarray]:
        t, rule = self.iteration, self.rule
        positive, negative, decay, floor, prediction = rule.schedule(t, 1)[0]
        own = reaches(self.tree, self.policy, player)
        opponent = reaches(self.tree, self.policy, 1 - player)
        fresh: dict[int, np.ndarray] = {}

        def choose(node: int, q: np.ndarray) -> list[float]:
            values = []
            fresh[node] = np.zeros_like(q)
            for hand in range(q.shape[1]):
                legal = self.legal[node][:, hand]
                now = self.policy[node][:, hand]
                value = float(now @ q[:, hand])
                gain = np.where(legal, q[:, hand] - value, 0.0)
                old = self.regret[node][:, hand]
                new = np.maximum(old * np.where(old > 0, positive, negative) + gain, floor)
                self.regret[node][:, hand] = new
                self.policy_sum[node][:, hand] = self.policy_sum[node][:, hand] * decay + own[node][hand] * now
                self.seen.setdefault((node, hand), []).append(value)
                fresh[node][:, hand] = self.minimise(new, gain * 1.0, prediction, legal, self.seen[node, hand])
                values.append(value)
            return values

        pull(self.tree, player, 0, opponent, choose)
        return fresh

    def minimise(self, regret, gain, prediction, legal, seen) -> np.ndarray:
        if self.rule.minimiser == HEDGE:
            variance = max(float(np.var(seen)), 1e-30 * float(np.mean(seen)) ** 2, 1e-300)
            step = np.sqrt(np.log(max(legal.sum(), 1))) / (3 * np.sqrt(variance) * np.sqrt(self.iteration))
            weight = np.where(legal, np.exp(step * (regret - regret[legal].max(initial=-np.inf))), 0.0)
            return weight / weight.sum()
        weight = np.maximum(regret * prediction + gain if self.rule.optimistic else regret, 0.0) ** self.rule.power
        if weight.sum() <= 0:
            weight = legal.astype(float)
        return weight / max(weight.sum(), 1.0 if not legal.any() else 0.0)

    def vector(self, blocks: dict[int, np.ndarray], player: int) -> np.ndarray:
        """Returns blocks as a flat vector in the tree's order."""
        return np.concatenate([blocks[int(node)].ravel() for node in self.tree.decisions(player)] or [np.zeros(0)])
