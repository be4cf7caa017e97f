"""A solved hold'em spot to play at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from aleator.agents.blueprint import BlueprintAgent
from aleator.apps.web.worker.explore import actions_of, look, open_view
from aleator.apps.web.worker.judgement import Judgement, judge
from aleator.apps.web.worker.solved import Option, belief_of
from aleator.errors import SolutionError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HAND_CLASSES, format_cards
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.game import HoldemGame, HoldemState
from aleator.games.holdem.node_path import NodePath
from aleator.games.holdem.spot import Rake
from aleator.games.table import PublicHistory, Table

SLACK = 0.01  # of the pot


class SolvedSpot:
    """A spot; amounts are chips in the zero-sum form: what a player ends up with from the pot, less half of it.

    The rules are those of the spot without rake, which the table needs not know; what the house takes is taken from
    payoffs.
    """

    unit = "chips"

    def __init__(self, file: str) -> None:
        self.file = file
        solution = open_view(file).solution
        if not solution.has_last_street:
            raise SolutionError("this solution was saved without its last street: it cannot be played, solve it again")
        self.spot = solution.spot
        self.slack = max(solution.summary.exploitability, SLACK * self.spot.pot)
        self._root = look(file, NodePath(), values=True, best=True)
        self.game = HoldemGame(replace(self.spot, rake=Rake()))
        self.agent = BlueprintAgent(solution.played(self.game))

    def _betting(self, history: PublicHistory) -> BettingNode:
        return self.game.betting(_state(history))

    def _hand(self, player: int, hand: int) -> int:
        """Returns which of the 1,326 hands a hand of a range is."""
        return int(self.game.hand_sets[player][hand])

    def options(self, history: PublicHistory) -> list[Option]:
        """Returns the actions of who moves."""
        actions = actions_of(self._betting(history), self.spot.stack)
        return [Option(action["token"], action["name"], action["kind"]) for action in actions]

    def judgement(self, history: PublicHistory, hand: int) -> Judgement:
        """Returns what a decision of who moves is judged by."""
        player, held = history.seat, self._hand(history.seat, hand)
        view = look(self.file, self._path(history), values=True, best=True)
        return judge(
            view.action_evs[:, held] - self.spot.pot / 2,
            view.policy[:, held],
            own_reach=float(view.weights[player][held] / self._root.weights[player][held]),
            other_reach=float(view.matchups[player][held] / self._root.matchups[player][held]),
            slack=self.slack,
        )

    def _path(self, history: PublicHistory) -> NodePath:
        state, tokens = self.game.root(), []
        for event in history.events:
            tokens.append(self.game.actions(state)[event])
            state = self.game.child(state, event)
        return NodePath(tuple(tokens))

    def payoff(self, table: Table, player: int) -> float:
        """Returns what a player has won, less half of the pot at the start."""
        node = self.game.betting(_state(table))
        pot = self.spot.pot + 2 * min(node.chips)
        won = table.payoff(player)  # without rake: a share of the pot, less what was put in and half of the first pot
        share = (won + min(node.chips) + self.spot.pot / 2) / pot
        return won - share * self.spot.rake.amount(pot)

    def seat_value(self, player: int) -> float:
        """Returns what a best response in a seat wins on average."""
        return self._root.mean(player, self._root.evs[player]) - self.spot.pot / 2

    def belief_report(self, belief: FloatArray, player: int) -> dict[str, Any]:
        """Returns a belief over a player's range as a grid of the 169 classes."""
        classes = HAND_CLASSES[self.game.hand_sets[player]]
        return {"form": "grid", "shares": np.bincount(classes, weights=belief, minlength=NUM_HAND_CLASSES)}

    def scene(self, history: PublicHistory) -> dict[str, Any]:
        """Returns the board, the pot and what both have put in."""
        node = self._betting(history)
        return {
            "board": format_cards(_state(history).board),
            "pot": self.spot.pot + sum(node.chips),
            "chips": list(node.chips),
            "stack": self.spot.stack,
        }

    def win_chance(self, history: PublicHistory, player: int, hand: int) -> float:
        """Returns how likely `player` wins a showdown over the other's hands, a tie counting half."""
        board = _state(history).board
        if self._betting(history).kind is not NodeKind.SHOWDOWN or len(board) < 5:
            return float("nan")
        ranks = strengths(board).astype(np.int64)
        share = (np.sign(ranks[self._hand(player, hand)] - ranks[self.game.hand_sets[1 - player]]) + 1) / 2
        belief = belief_of(self.agent, history, player, hand)
        assert belief is not None
        return float(belief @ share)


def _state(at: PublicHistory | Table) -> HoldemState:
    assert isinstance(at.state, HoldemState)
    return at.state
