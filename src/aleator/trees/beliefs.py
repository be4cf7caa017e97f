"""Public belief states: a public state together with what everybody believes about each player's hand.

A player's *belief* is that player's own reach, normalised: how likely each hand would have acted as was seen. What
chance did is known from the rules (`Game.deal`), so that the probability of a pair of hands is deal x belief x belief,
normalised. That is all of the past that the rest of the game depends on (ReBeL section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aleator.errors import SolveError
from aleator.games.base import FloatArray, Game, IntArray
from aleator.games.operators import Deal
from aleator.trees.policy import Policy
from aleator.trees.public_tree import PublicTree

Reach = tuple[FloatArray, FloatArray]  # per player, rows over that player's hands


def normalised_rows(reach: FloatArray) -> FloatArray:
    """Returns beliefs [..., H]: reach divided by its sum over hands, uniform where nothing is reached."""
    total = reach.sum(axis=-1, keepdims=True)
    return np.where(total > 0.0, reach / np.where(total > 0.0, total, 1.0), 1.0 / reach.shape[-1])


@dataclass(frozen=True, eq=False)
class PublicBeliefState:
    """A public state and both players' beliefs.

    Attributes:
        game: the game.
        state: the public state.
        beliefs: [H0] and [H1], each a distribution over the hands of `state`; any non-negative weights may be given.
            Where all are zero (the player would never have come here) the belief is uniform.
    """

    game: Game[Any]
    state: Hashable
    beliefs: Reach

    def __post_init__(self) -> None:
        hands = self.game.num_hands(self.state)
        checked = []
        for player in (0, 1):
            belief = np.asarray(self.beliefs[player], dtype=np.float64)
            if belief.shape != (hands[player],):
                raise SolveError(f"player {player}'s belief has shape {belief.shape}, not ({hands[player]},)")
            if not np.isfinite(belief).all() or (belief < 0.0).any():
                raise SolveError(f"player {player}'s belief must be finite and not negative: {belief.tolist()}")
            checked.append(normalised_rows(belief))
        object.__setattr__(self, "beliefs", (checked[0], checked[1]))

    @classmethod
    def initial(cls, game: Game[Any]) -> PublicBeliefState:
        """Returns the public belief state in which a game begins: nobody has acted."""
        first, second = game.num_hands(game.root())
        return cls(game, game.root(), (np.ones(first), np.ones(second)))

    @property
    def _deal(self) -> Deal:
        return self.game.deal_operator(self.state)

    def joint(self) -> FloatArray:
        """Returns [H0, H1]: the probability of each pair of hands (zero if chance allows none that is believed in)."""
        joint = self._deal.matrix() * np.outer(*self.beliefs)
        return joint / (joint.sum() or 1.0)

    def marginal(self, player: int) -> FloatArray:
        """Returns [H]: how likely everybody holds each hand of a player to be, chance included."""
        own = self.beliefs[player] * self._deal.cf_reach(player, self.beliefs[1 - player])
        return np.asarray(own / (own.sum() or 1.0))

    def as_seen_by(self, player: int, hand: int) -> FloatArray:
        """Returns [H]: how likely a player who holds `hand` takes each hand of the other player to be.

        Whether others believe in `hand` does not matter to who holds it. What chance allows is all that is left if it
        rules out every hand that is believed in.
        """
        allowed = self._deal.row(player, hand)
        for row in (allowed * self.beliefs[1 - player], allowed):
            if row.sum() > 0.0:
                return np.asarray(row / row.sum())
        return self.marginal(1 - player)

    def after(self, index: int, policy: FloatArray | None = None) -> PublicBeliefState:
        """Returns the public belief state in the child number `index`, by Bayes' rule.

        Args:
            index: which of `game.children(state)` happened.
            policy: [A, H] of the player who acts here; None where chance does.
        """
        game, children = self.game, self.game.children(self.state)
        actor = game.actor(self.state)
        if not 0 <= index < len(children):
            raise SolveError(f"no child {index}; this public state has children 0 to {len(children) - 1}")
        if actor >= 0 and policy is None:
            raise SolveError(f"player {actor} acts here: a policy is needed to say what an action reveals")
        child = children[index]
        first, second = (
            reach_after(self.beliefs[player], child.origin[player], policy if player == actor else None, index)
            for player in (0, 1)
        )
        return PublicBeliefState(game, child.state, (first, second))


def reach_after(reach: FloatArray, origin: IntArray | None, policy: FloatArray | None, index: int) -> FloatArray:
    """Returns [hands in the child]: a player's reach one move further.

    Args:
        reach: [H] before.
        origin: where the hands in the child come from, as in `Child`.
        policy: [A, H] if it is this player who acts, else None.
        index: the child's place among its siblings.
    """
    if policy is None:
        return reach if origin is None else reach[origin]
    acted = policy * reach
    return np.asarray(acted[index] if origin is None else acted.ravel()[origin])


def reach_in(
    tree: PublicTree, player: int, child: int, reach: FloatArray, block: Callable[[int], FloatArray | None]
) -> FloatArray:
    """Returns [hands in the child]: a player's reach in a node, given that in its parent, [H].

    `block(parent)`, [A, H], is asked for where the player acts in the parent.
    """
    parent = int(tree.parent[child])
    policy = block(parent) if tree.actor[parent] == player else None
    return reach_after(reach, tree.origin(player, child), policy, child - int(tree.first_child[parent]))


def reach_at(policy: Policy, node: int, root_reach: Reach | None = None) -> Reach:
    """Returns each player's reach [H] at a node under a policy, given that at the root (by default all 1)."""
    tree = policy.tree
    first, second = root_reach or (np.ones(tree.num_hands[0, 0]), np.ones(tree.num_hands[1, 0]))
    line = [node]
    while line[-1]:
        line.append(int(tree.parent[line[-1]]))
    for child in line[-2::-1]:
        first = reach_in(tree, 0, child, first, policy.__getitem__)
        second = reach_in(tree, 1, child, second, policy.__getitem__)
    return first, second
