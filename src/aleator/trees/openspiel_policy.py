"""Policies for OpenSpiel."""

from __future__ import annotations

from typing import Any

import numpy as np

from aleator.errors import GameError
from aleator.games.extensive.openspiel import OpenSpielGame, OpenSpielPositions
from aleator.trees.openspiel_twins import twin_policy
from aleator.trees.policy import Policy


def to_openspiel_policy(policy: Policy) -> Any:
    """Returns the policy as an `open_spiel.python.policy.TabularPolicy`.

    It is a policy of a game that `load_openspiel` returned, or of one of this package's own that OpenSpiel has, too
    (`aleator.trees.openspiel_twins`). Simultaneous games are in their turn-based form; `.game` of what is returned.

    Raises:
        GameError: OpenSpiel has no such game, or the two players' infostates have the same name there and the
            policy differs between them, which OpenSpiel cannot represent.
    """
    tree, game = policy.tree, policy.tree.game
    if isinstance(game, OpenSpielPositions):
        return _by_histories(policy, game)
    if not isinstance(game, OpenSpielGame):
        return twin_policy(policy)
    from open_spiel.python.policy import TabularPolicy

    exported = TabularPolicy(game.source)
    written: dict[int, tuple[int, Any]] = {}
    for player in (0, 1):
        for node in tree.decisions(player):
            state, here = tree.states[node], policy[int(node)]
            for hand in range(here.shape[1]):
                infostate = game.infostate(state, hand)
                if infostate is None:
                    continue
                row = exported.state_lookup[infostate]
                probabilities = np.zeros(exported.action_probability_array.shape[1])
                for action, source in game.source_actions(state, hand).items():
                    probabilities[source] = here[action, hand]
                other = written.setdefault(row, (player, probabilities))
                if other[0] != player and not np.array_equal(other[1], probabilities):
                    raise GameError(
                        f"{game.name}: OpenSpiel gives the infostate {infostate!r} to both players, whose policies "
                        "differ"
                    )
                exported.action_probability_array[row] = probabilities
    return exported


def _by_histories(policy: Policy, game: OpenSpielPositions) -> Any:
    """Returns the policy of a game of positions: its tree has a node per history, as OpenSpiel's infostates are."""
    from open_spiel.python.policy import TabularPolicy

    tree, exported = policy.tree, TabularPolicy(game.source)
    waiting: list[tuple[int, Any]] = [(0, game.source.new_initial_state())]
    while waiting:
        node, state = waiting.pop()
        if tree.actor[node] < 0:
            continue
        position: Any = tree.states[node]
        actions = game.source_actions(position)
        row = exported.state_lookup[state.information_state_string()]
        exported.action_probability_array[row] = 0.0
        exported.action_probability_array[row, actions] = policy[node][:, 0]
        waiting += [(child, state.child(action)) for child, action in zip(tree.children(node), actions, strict=True)]
    return exported
