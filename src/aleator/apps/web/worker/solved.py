"""What a game is to someone who plays it: its actions, and what the equilibrium thinks of each.

A solved game knows its equilibrium, so that what it says about a public history is exact: the probability of each
action and of each hand (its agent's policy and belief), and what each action is worth on average.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from aleator.agents.base import Agent
from aleator.agents.blueprint import BlueprintAgent
from aleator.apps.web.worker.judgement import NEVER, Judgement, judge
from aleator.games.base import TERMINAL, FloatArray, Game
from aleator.games.table import PublicHistory, Table
from aleator.solvers.best_response import best_response_cfvs, best_response_value
from aleator.solvers.solution import Solution
from aleator.trees.beliefs import reach_at

SLACK = 0.005  # points: less is not shown


class Option(NamedTuple):
    """An action that can be taken: its label in the game, its name for people, and its kind for the page."""

    label: str
    name: str
    kind: str


class Solved(Protocol):
    """A game with its equilibrium; players are 0 and 1, hands are numbers.

    Attributes:
        unit: what is won.
        slack: how exact the equilibrium is, in that unit.
    """

    unit: str
    slack: float

    @property
    def game(self) -> Game[Any]:
        """Its rules."""

    @property
    def agent(self) -> Agent:
        """Who plays the equilibrium, and knows what follows from it."""

    def options(self, history: PublicHistory) -> list[Option]:
        """Returns the actions of who moves."""

    def judgement(self, history: PublicHistory, hand: int) -> Judgement:
        """Returns what a decision of who moves is judged by."""

    def payoff(self, table: Table, player: int) -> float:
        """Returns what a player has won at the end, less what the deal is worth to begin with."""

    def seat_value(self, player: int) -> float:
        """Returns what a seat is worth on average to a player who makes no mistake against the agent."""

    def belief_report(self, belief: FloatArray, player: int) -> dict[str, Any]:
        """Returns a belief over the hands of a player as the page draws it."""

    def scene(self, history: PublicHistory) -> dict[str, Any]:
        """Returns what else everybody sees: the board, the pot."""

    def win_chance(self, history: PublicHistory, player: int, hand: int) -> float:
        """Returns how likely `player` has won at the end of a game whose hands are not shown yet; NaN if open."""


def belief_of(agent: Agent, history: PublicHistory, player: int, hand: int) -> FloatArray | None:
    """Returns [H]: how likely `player`, who holds `hand`, thinks each hand of the other; None without beliefs."""
    belief = agent.belief(history)
    return None if belief is None else belief.as_seen_by(player, hand)


def mixture_of(solved: Solved, history: PublicHistory, own: int) -> FloatArray:
    """Returns [A]: how often who moves takes each action, as the other sees it who holds `own`."""
    belief = belief_of(solved.agent, history, 1 - history.seat, own)
    assert belief is not None
    mixed: FloatArray = solved.agent.policy_at(history) @ belief
    return mixed


def after(game: Game[Any], history: PublicHistory, action: int) -> PublicHistory:
    """Returns the public history one move further; `seat` is who moves then, also CHANCE or TERMINAL."""
    state = game.child(history.state, action)
    return PublicHistory(game.actor(state), state, (*history.events, action))


class SolvedGame:
    """A small game whose moves everybody sees."""

    unit = "points"

    def __init__(self, solution: Solution) -> None:
        self.agent, self._policy = BlueprintAgent(solution.policy), solution.policy
        self.game, self._tree = self.agent.game, solution.policy.tree
        self._cfvs = (best_response_cfvs(solution.policy, 0), best_response_cfvs(solution.policy, 1))
        self._worth = (best_response_value(solution.policy, 0), best_response_value(solution.policy, 1))
        self.slack = max(sum(self._worth) / 2, SLACK)

    def options(self, history: PublicHistory) -> list[Option]:
        """Returns the actions of who moves."""
        return [Option(name, name, _kind(name)) for name in self.game.actions(history.state)]

    def judgement(self, history: PublicHistory, hand: int) -> Judgement:
        """Returns what a decision of who moves is judged by."""
        node, player = self._tree.node_at(history.events), history.seat
        reach, deal = reach_at(self._policy, node), self.game.deal_operator(history.state).row(player, hand)
        others = float(deal @ reach[1 - player])
        worth = np.array([self._cfvs[player][child][hand] for child in self._tree.children(node)])
        return judge(
            worth / others if others > 0 else np.full(len(worth), np.nan),
            self._policy[node][:, hand],
            own_reach=float(reach[player][hand]),
            other_reach=others / float(deal.sum()),
            slack=self.slack,
        )

    def value(self, events: tuple[int, ...], player: int, hand: int) -> float | None:
        """Returns what a player with `hand` wins after some events by making no mistake from there on.

        None where the equilibrium's agent never gets to.
        """
        node = self._tree.node_at(events)
        deal = self.game.deal_operator(self._tree.states[node]).row(player, hand)
        others = float(deal @ reach_at(self._policy, node)[1 - player])
        return float(self._cfvs[player][node][hand] / others) if others > NEVER * float(deal.sum()) else None

    def payoff(self, table: Table, player: int) -> float:
        """Returns what a player has won."""
        return table.payoff(player)

    def seat_value(self, player: int) -> float:
        """Returns what a best response in a seat wins on average."""
        return self._worth[player]

    def belief_report(self, belief: FloatArray, player: int) -> dict[str, Any]:
        """Returns a belief as bars: the names of hands and their probabilities."""
        names = [str(name) for name in self.game.hands(self.game.root(), player)]
        return {"form": "bars", "hands": names, "shares": belief}

    def scene(self, history: PublicHistory) -> dict[str, Any]:
        """Returns the pot and the public card where there are some."""
        state = history.state
        chips, board = getattr(state, "chips", None), getattr(state, "board", -1)
        scene: dict[str, Any] = {}
        if chips is not None:
            scene["pot"] = sum(chips)
        elif isinstance(state, str):  # one-card poker: a state is its betting
            scene["pot"] = 2 + state.count("b")
        if board >= 0:
            scene["board"] = str(self.game.hands(self.game.root(), 0)[board])
        return scene

    def win_chance(self, history: PublicHistory, player: int, hand: int) -> float:
        """Returns how likely `player` wins at a terminal over the other's hands."""
        if self.game.actor(history.state) != TERMINAL:
            return float("nan")
        utility = self.game.utility(history.state)
        row = utility[hand] if player == 0 else -utility[:, hand]
        belief = belief_of(self.agent, history, player, hand)
        return float(belief @ (row > 0)) if belief is not None else float("nan")


def _kind(name: str) -> str:
    if name in ("fold", "liar"):
        return "fold" if name == "fold" else "challenge"
    return "call" if name in ("check", "call") else "raise"
