"""What an agent gave away in a deal: what its own policy left the player beyond what the equilibrium's would have.

At every draw of a deal the value is known of what could have followed (`SolvedGame.value`). The mean by the agent's own
policy, for all hands that it may hold, less the value before, which is the mean by the equilibrium's, is what the agent
gave away; below 0 where it does better against the player's hand than the equilibrium. What was then drawn is luck
(`aleator.arena.luck`). Where the equilibrium's agent never gets to there is no value: the last one stands to the end.
"""

from __future__ import annotations

import numpy as np

from aleator.apps.web.worker.opponents import Opponent
from aleator.apps.web.worker.solved import SolvedGame
from aleator.arena.luck import mean_value
from aleator.games.base import CHANCE, FloatArray
from aleator.games.table import PublicHistory, Table


def given_away(solved: SolvedGame, opponent: Opponent, table: Table, seat: int) -> float:
    """Returns what the opponent gave away to the player in `seat`, in a deal that is over."""
    game, hand, total = table.game, table.hands[seat], 0.0
    value = solved.value((), seat, hand) or 0.0

    def value_after(events: tuple[int, ...]) -> float:
        found = solved.value(events, seat, hand)
        return value if found is None else found

    for number, event in enumerate(table.events):
        events, state = table.events[:number], table.past_states[number]
        if game.actor(state) == seat:
            value = value_after((*events, event))
            continue
        values = np.array([value_after((*events, child)) for child in range(len(game.children(state)))])
        total += float(mean_value(values, _chances(opponent, table, number, seat))) - value
        value = float(values[event])
    utility = game.utility(table.state)
    wins = utility[hand] if seat == 0 else -utility[:, hand]
    seen = opponent.seen(PublicHistory(1 - seat, table.state, table.events), hand)
    return total + float(mean_value(wins, seen)) - value


def _chances(opponent: Opponent, table: Table, number: int, seat: int) -> FloatArray:
    """Returns how likely each child was to follow the first `number` events, for who holds the hand in `seat`."""
    game, state, hand = table.game, table.past_states[number], table.hands[seat]
    history = PublicHistory(1 - seat, state, table.events[:number])
    seen = opponent.seen(history, hand)
    if game.actor(state) != CHANCE:
        mixed: FloatArray = opponent.policy(history) @ seen
        return mixed
    before = game.deal_operator(state).row(seat, hand)
    allowed = np.array([game.deal_operator(child.state).row(seat, hand) for child in game.children(state)])
    follows: FloatArray = np.divide(allowed, before, out=np.zeros_like(allowed), where=before > 0) @ seen
    return follows
