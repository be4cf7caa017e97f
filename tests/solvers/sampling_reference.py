"""MCCFR as plain recursions over single histories, straight from the rules of the game: slow, short, and independent.

Randomness is a function `draw(weights) -> index`. Given the numbers that the kernels draw, the reference must equal
them; given all possible draws in turn, it yields exact expectations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from aleator.games.base import CHANCE
from aleator.solvers.sampling_rule import SamplingRule
from aleator.trees.policy import block, legal_actions
from aleator.trees.public_tree import PublicTree
from tests.solvers.reference import source

Draw = Callable[[list[float]], int]
Blocks = dict[int, np.ndarray]
_WORD = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15


def mix(state: int) -> int:
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _WORD
    return state ^ (state >> 31)


def scan(weights: list[float], number: float) -> int:
    """Returns the index in which a number from [0, 1) falls when it is divided in proportion to the weights."""
    left, chosen = number * sum(weights), 0
    for index, weight in enumerate(weights):
        if weight > 0:
            chosen = index
            left -= weight
            if left < 0:
                break
    return chosen


def stream(seed: int, iteration: int, traverser: int, number: int) -> Draw:
    """Returns the draws of one traversal."""
    state = mix((seed + _STEP) & _WORD)
    state = mix((state + (2 * iteration + traverser) * _STEP) & _WORD)
    state = mix((state + number * _STEP) & _WORD)

    def draw(weights: list[float]) -> int:
        nonlocal state
        state = (state + _STEP) & _WORD
        return scan(weights, (mix(state) >> 11) * 2.0**-53)

    return draw


def all_draws(run: Callable[[Draw], object]) -> Iterator[tuple[float, object]]:
    """Yields (probability, result of `run`) for every sequence of draws that `run` can make."""
    path: list[int] = []
    while True:
        place, chance = 0, 1.0
        menus: list[int] = []

        def draw(weights: list[float], menus: list[int] = menus) -> int:
            nonlocal place, chance
            possible = [index for index, weight in enumerate(weights) if weight > 0]
            if place == len(path):
                path.append(0)
            menus.append(len(possible))
            index = possible[path[place]]
            place += 1
            chance *= weights[index] / sum(weights)
            return index

        result = run(draw)
        yield chance, result
        while path and path[-1] == menus[len(path) - 1] - 1:
            path.pop()
        if not path:
            return
        path[-1] += 1


def pairs_of(deal: np.ndarray) -> list[tuple[int, int]]:
    """Returns the pairs of hands that chance allows."""
    return [(int(first), int(second)) for first, second in zip(*np.nonzero(deal), strict=True)]


class SamplingReference:
    """MCCFR with any rule."""

    def __init__(self, tree: PublicTree, rule: SamplingRule, seed: int = 0) -> None:
        self.tree, self.rule, self.seed = tree, rule, seed
        self.iteration = self.touched = 0
        legal = legal_actions(tree)
        self.nodes = [int(node) for player in (0, 1) for node in tree.decisions(player)]
        self.legal = {node: block(tree, legal, node) for node in self.nodes}
        self.regret, self.policy_sum = self.zeros(), self.zeros()
        self.known: dict[tuple, list[tuple[float, int, tuple[int, int]]]] = {}
        self.deal = [np.asarray(tree.game.deal(state)) for state in tree.states]

    def zeros(self) -> Blocks:
        return {node: np.zeros(self.legal[node].shape) for node in self.nodes}

    def policy(self, node: int, hand: int) -> np.ndarray:
        weight = np.maximum(self.regret[node][:, hand], 0.0)
        weight = weight if weight.sum() > 0 else self.legal[node][:, hand].astype(float)
        return weight / max(weight.sum(), 1e-300)

    def run(self, iterations: int) -> None:
        rule = self.rule
        for _ in range(iterations):
            self.iteration += 1
            before = self.touched
            for player in (0, 1):
                samples = [
                    self.sample(player, stream(self.seed, self.iteration, player, number))
                    for number in range(rule.batch)
                ]
                for regret, policy_sum, touched in samples:
                    self.touched += touched
                    for node in self.nodes:
                        self.regret[node] += regret[node] / rule.batch
                        self.policy_sum[node] += policy_sum[node] / rule.batch * self.iteration**rule.gamma
                if rule.floor:
                    for node in self.nodes:
                        np.maximum(self.regret[node], 0.0, out=self.regret[node])
            for n in range(before // rule.period + 1, self.touched // rule.period + 1):
                factor = {"none": 1.0, "linear": n / (n + 1), "initial": 0.1 if n == 1 else 1.0}[rule.discount]
                for node in self.nodes:
                    self.regret[node] *= factor
                    self.policy_sum[node] *= factor

    def sample(self, player: int, draw: Draw) -> tuple[Blocks, Blocks, int]:
        """Returns one traversal's regrets, its additions to the opponent's average, and the nodes touched."""
        regret, policy_sum, touched = self.zeros(), self.zeros(), [0]
        if self.rule.scheme == "public-chance":
            self._all_hands(player, draw, regret, policy_sum, touched)
            return regret, policy_sum, touched[0]
        pairs = pairs_of(self.deal[0])
        hands = pairs[draw([self.deal[0][pair] for pair in pairs])]
        rule = self.rule
        skips = rule.skip == "libratus" and self.iteration >= rule.skip_from
        if rule.skip == "pluribus" and self.iteration >= rule.skip_from:
            skips = draw([rule.rate, 1 - rule.rate]) == 0
        self._walk(0, hands, 1.0, player, draw, skips, regret, policy_sum, touched)
        return regret, policy_sum, touched[0]

    def _after(self, node: int, hands: tuple[int, int], action: int | None) -> list[tuple[float, int, tuple[int, int]]]:
        """Returns (probability, child, hands) of what can follow a move."""
        if (node, hands, action) in self.known:
            return self.known[node, hands, action]
        found = self.known[node, hands, action] = []
        for child in self.tree.children(node):
            for after in pairs_of(self.deal[child]):
                sources = [source(self.tree, player, child, after[player]) for player in (0, 1)]
                taken = [move for move, _ in sources if move is not None]
                if tuple(hand for _, hand in sources) == tuple(hands) and (not taken or taken[0] == action):
                    found.append((self.deal[child][after] / self.deal[node][hands], child, after))
        return found

    def _walk(self, node, hands, scale, player, draw, skips, regret, policy_sum, touched) -> float:
        tree, actor = self.tree, int(self.tree.actor[node])
        touched[0] += 1

        def below(action: int | None, weight: float) -> float:
            following = self._after(node, hands, action)
            index = draw([chance for chance, _, _ in following]) if len(following) > 1 else 0
            _, child, after = following[index]
            return self._walk(child, after, weight, player, draw, skips, regret, policy_sum, touched)

        if tree.num_children[node] == 0:
            payoff = tree.payoffs[tree.payoff_group[node]]
            payoff = np.asarray(payoff if isinstance(payoff, np.ndarray) else payoff.todense())
            utility = payoff[hands] * tree.stake[node] / self.deal[node][hands]
            return scale * (utility if player == 0 else -utility)
        if actor == CHANCE:
            return below(None, scale)
        policy = self.policy(node, hands[actor])
        if actor != player:
            policy_sum[node][:, hands[actor]] += scale * policy
            if self.rule.scheme == "chance":
                return sum(below(a, scale * policy[a]) for a in range(len(policy)) if policy[a] > 0)
            return below(draw(list(policy)), scale)
        legal = [int(a) for a in np.flatnonzero(self.legal[node][:, hands[actor]])]
        chosen = self._choose(node, hands, legal, policy, draw, skips)
        value = {a: below(a, scale / chance) for a, chance in sorted(chosen.items()) if chance > 0}
        result = sum(policy[a] * value[a] for a in value)
        for a in legal:
            if chosen.get(a) != 0:
                regret[node][a, hands[actor]] += value.get(a, 0.0) - result
        return result

    def _choose(self, node, hands, legal, policy, draw, skips) -> dict[int, float]:
        """Returns for each action to explore the probability that it is; 0 for actions that are skipped."""
        rule, actor = self.rule, int(self.tree.actor[node])
        if rule.scheme == "outcome" and len(legal) > 1:
            shares = [rule.exploration / len(legal) + (1 - rule.exploration) * policy[a] for a in legal]
            index = draw(shares)
            return {legal[index]: shares[index]}
        if rule.scheme == "robust" and rule.actions < len(legal):
            order = list(legal)
            for k in range(rule.actions):
                other = k + draw([1.0] * (len(order) - k))
                order[k], order[other] = order[other], order[k]
            return {a: rule.actions / len(legal) for a in order[: rule.actions]}
        chosen = dict.fromkeys(legal, 1.0)
        for a in legal if skips else []:
            regret = self.regret[node][a, hands[actor]]
            if regret >= rule.threshold or policy[a] > 0:
                continue
            if rule.skip == "libratus":
                keep = rule.constant / (rule.constant + rule.threshold - regret)
                chosen[a] = 1.0 if draw([keep, 1 - keep]) == 0 else 0.0
            elif not self._last_round(node):
                ends = all(self.tree.num_children[child] == 0 for _, child, _ in self._after(node, hands, a))
                chosen[a] = 1.0 if ends else 0.0
        return chosen

    def _last_round(self, node: int) -> bool:
        """Returns whether the game has public events and none can follow."""
        below = self.tree.actor[self.tree.first_child[node] : self.tree.end[node]]
        return bool((self.tree.actor == CHANCE).any()) and not (below == CHANCE).any()

    def _all_hands(self, player, draw, regret, policy_sum, touched) -> None:
        tree, opponent = self.tree, 1 - player
        event, waiting = {}, [0]
        for node in waiting:  # public events are drawn level by level
            touched[0] += int(np.count_nonzero(self.deal[node]))
            children = list(tree.children(node))
            if tree.actor[node] == CHANCE:
                masses = [self.deal[child].sum() for child in children]
                index = draw(masses) if len(children) > 1 else 0
                event[node] = children[index], masses[index] / sum(masses)
                children = [children[index]]
            waiting.extend(children)

        def walk(node: int, reach: np.ndarray) -> np.ndarray:
            if tree.num_children[node] == 0:
                payoff = tree.payoffs[tree.payoff_group[node]]
                payoff = np.asarray(payoff if isinstance(payoff, np.ndarray) else payoff.todense()) * tree.stake[node]
                return payoff @ reach if player == 0 else -payoff.T @ reach
            acts = tree.actor[node] == player
            totals = np.zeros((int(tree.num_actions[node]) if acts else 1, int(tree.num_hands[player, node])))
            if tree.actor[node] == opponent:
                policies = np.stack([self.policy(node, hand) for hand in range(len(reach))], axis=1)
                policy_sum[node] += policies * reach
            children = [event[node][0]] if node in event else list(tree.children(node))
            for child in children:
                below = np.zeros(int(tree.num_hands[opponent, child]))
                for hand in range(len(below)):
                    action, before = source(tree, opponent, child, hand)
                    below[hand] = reach[before] * (1.0 if action is None else policies[action, before])
                for hand, value in enumerate(walk(child, below / (event[node][1] if node in event else 1.0))):
                    action, before = source(tree, player, child, hand)
                    totals[action or 0, before] += value
            if not acts:
                return totals[0]
            values = np.zeros(totals.shape[1])
            for hand in range(totals.shape[1]):
                values[hand] = self.policy(node, hand) @ totals[:, hand]
                gain = totals[:, hand] - values[hand]
                regret[node][:, hand] += np.where(self.legal[node][:, hand], gain, 0.0)
            return values

        walk(0, np.ones(int(tree.num_hands[opponent, 0])))
