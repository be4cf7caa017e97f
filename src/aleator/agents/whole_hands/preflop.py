"""Charts of the betting before the flop, and the flop spots that its lines lead to.

Heads-up the betting before the flop is solved here: all lines of a sparse menu of bets at once, with what both ranges
are worth at the end of it by a network that has seen all flops (`PreflopAgent`). So it is an equilibrium of the first
round, as exact as that network's values, not of the whole game. Charts can be those of any other agent of whole hands,
too: of a blueprint, heads-up or of several players, they are its average policy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from aleator.agents.whole_hands.base import HandAgent, HandPolicy
from aleator.agents.whole_hands.searching import everybody
from aleator.errors import AgentError, extras_named
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting import STREET_NAMES, Action, ActionKind, raise_to
from aleator.games.holdem.betting_tree import action_token
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HAND_CLASSES, NUM_HANDS
from aleator.games.holdem.hand_range import format_hand_range
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.node_path import NodePath, NodePathError, parse_path
from aleator.games.holdem.spot import SolveSettings, Spot
from aleator.games.holdem.variants import load_hand_game
from aleator.search.whole_hands.menus import MENU
from aleator.search.whole_hands.rounds import child_of, nearest_of, round_game

ITERATIONS: Final = 300
DEFAULT_GAME: Final = "hunl:100bb"
SPOT_MENU: Final = BetMenu.uniform(bets=("33%", "75%"), raises=("60%",), max_raises=2)
"""Bets of the flop spots that lines lead to, until somebody chooses others."""
_LEAST_WEIGHT: Final = 0.005  # of a hand in a range that is written
_EARLY: Final = ("UTG", "UTG+1", "UTG+2", "UTG+3", "LJ", "HJ", "CO", "BTN")


class PreflopAgent(HandAgent):
    """The betting before the flop, solved once, with a network's values at its end; heads-up only.

    Attributes:
        source: where the values come from, in words.
    """

    name = "preflop"
    knows_street = True

    def __init__(
        self,
        setup: HandSetup,
        *,
        iterations: int = ITERATIONS,
        on_done: Callable[[int], object] | None = None,
    ) -> None:
        """Solves, and calls `on_done` with the number of iterations so far.

        Raises:
            AgentError: there are more than two players, or the game does not begin with blinds.
            MissingExtraError: PyTorch is not installed.
        """
        if setup.num_players != 2 or setup.first_street or setup.rules.fixed_bets is not None:
            raise AgentError("charts are solved for heads-up no-limit from the blinds on; name an --agent for others")
        with extras_named():
            from aleator.learning.holdem.street_values import street_values
            from aleator.search.whole_hands.depth_limited import solve_to_leaves

        values = street_values("preflop")
        self.setup, self.source = setup, values.source
        game = round_game(setup.start(), MENU, everybody(), to_the_end=False)
        self._solved = solve_to_leaves(game, values.on([()]), iterations, on_done=on_done)

    def policy_at(self, state: HandState) -> HandPolicy:
        """Returns the average policy at a decision before the flop.

        Raises:
            AgentError: the hand is of another game, or has come to where the menu does not go.
        """
        if state.setup != self.setup:
            raise AgentError(f"solved before the flop was a game with stacks of {self.setup.stacks}, not {state.setup}")
        if state.street:
            raise AgentError(f"only the betting before the flop was solved, not the {STREET_NAMES[state.street]}")
        node = self._solved.game.root
        for action in state.actions:
            child = child_of(node, action)
            if child is None:
                raise AgentError(f"{action} is not in the menu that was solved before the flop")
            node = child
        return HandPolicy(tuple(node.actions), self._solved.policies[node.number])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreflopNode:
    """A place in the betting before the flop, or the end of it.

    Attributes:
        path: how it was reached; `bN` is a raise after which the player has put in N chips.
        state: what all know.
        reach: how much of each hand of each player comes here, ``[P, 1326]``.
        actions: what who acts considers; none if nobody does.
        policy: how often each is taken, ``[A, 1326]``.
    """

    path: NodePath
    state: HandState
    reach: FloatArray
    actions: tuple[Action, ...] = ()
    policy: FloatArray

    @property
    def player(self) -> int:
        """Who acts before the flop, or -1."""
        return self.state.betting.player if self.actions and self.state.betting.player is not None else -1

    @property
    def tokens(self) -> tuple[str, ...]:
        """The actions as paths write them."""
        return tuple(_token(self.state, action) for action in self.actions)

    @property
    def names(self) -> tuple[str, ...]:
        """The actions as players call them."""
        return tuple(_name(self.state, action) for action in self.actions)

    @property
    def frequencies(self) -> list[float]:
        """How often each action is taken by all hands that come here."""
        weights = self.reach[self.player]
        return [float(row @ weights / weights.sum()) if weights.sum() > 0 else float("nan") for row in self.policy]

    def classes(self) -> tuple[FloatArray, FloatArray]:
        """Returns how much of each class of who acts comes here, ``[169]``, and its mean policy, ``[A, 169]``."""
        own = self.reach[self.player]
        mass = np.bincount(HAND_CLASSES, own, NUM_HAND_CLASSES)
        mix = np.array([np.bincount(HAND_CLASSES, own * row, NUM_HAND_CLASSES) for row in self.policy])
        share = np.divide(mix, mass, out=np.zeros_like(mix), where=mass > 0)
        return mass / np.bincount(HAND_CLASSES, minlength=NUM_HAND_CLASSES), share

    @property
    def is_flop(self) -> bool:
        """Whether two players are left, have chips behind, and see a flop."""
        betting = self.state.betting
        left = betting.live_players
        return betting.street == 1 and not betting.is_over and len(left) == 2 and all(betting.stacks[p] for p in left)


class PreflopCharts:
    """What an agent does before the flop, line by line."""

    def __init__(self, setup: HandSetup, agent: HandAgent) -> None:
        self.setup, self.agent = setup, agent
        self.positions = position_names(setup)

    def node(self, path: NodePath | str = "r") -> PreflopNode:
        """Returns a place in the betting before the flop.

        Raises:
            NodePathError: the agent does not consider an action on the way; the message says what it does.
        """
        path = parse_path(path) if isinstance(path, str) else path
        state, reach = self.setup.start(), np.ones((self.setup.num_players, NUM_HANDS))
        for token in path.tokens:
            policy = self._policy(state)
            names = [] if policy is None else [_token(state, action) for action in policy.actions]
            if policy is None or token not in names:
                raise NodePathError(f"no action {token} here; allowed: {', '.join(names) or 'none, the flop comes'}")
            number, actor = names.index(token), state.betting.player
            assert actor is not None
            reach[actor] *= policy.probabilities[number]
            state = state.act(policy.actions[number])
        policy = self._policy(state)
        if policy is None:
            return PreflopNode(path=path, state=state, reach=reach, policy=np.zeros((0, NUM_HANDS)))
        return PreflopNode(path=path, state=state, reach=reach, actions=policy.actions, policy=policy.probabilities)

    def _policy(self, state: HandState) -> HandPolicy | None:
        """Returns what the agent does at a decision before the flop; None if there is none."""
        return self.agent.policy_at(state) if state.player is not None and not state.street else None

    def spot(self, path: NodePath | str, board: tuple[int, ...]) -> Spot:
        """Returns the spot that a line leads to: ranges, pot and stacks of the two players who see the flop.

        Args:
            path: to the end of the betting before the flop.
            board: the flop.

        Raises:
            NodePathError: no two players see a flop there with chips behind.
        """
        node = self.node(path)
        if not node.is_flop:
            raise NodePathError(f"{node.path} does not lead to a flop between two players with chips behind")
        betting = node.state.betting
        first = betting.player
        second = next(player for player in betting.live_players if player != first)
        assert first is not None
        return Spot(
            board=board,
            pot=betting.pot,
            stack=min(betting.stacks[first], betting.stacks[second]),
            oop=range_text(node.reach[first]),
            ip=range_text(node.reach[second]),
            min_bet=self.setup.rules.big_blind,
            menu=SPOT_MENU,
            solve=SolveSettings(target=0.005),
        )


def preflop_charts(
    game: str = DEFAULT_GAME,
    agent: str | None = None,
    *,
    iterations: int = ITERATIONS,
    on_done: Callable[[int], object] | None = None,
) -> PreflopCharts:
    """Returns charts of a game of whole hands, such as ``hunl:100bb``: solved, or what an agent does there.

    While it solves, `on_done` is called with the number of iterations so far.
    """
    from aleator.agents.whole_hands.registry import load_hand_agent

    setup = load_hand_game(game).setup
    if agent is None:
        return PreflopCharts(setup, PreflopAgent(setup, iterations=iterations, on_done=on_done))
    return PreflopCharts(setup, load_hand_agent(agent, setup.num_players))


def nearest_line(setup: HandSetup, state: HandState) -> tuple[NodePath, bool]:
    """Returns the line of solved charts that is most like some betting before the flop, and whether it is just that.

    Args:
        setup: of the charts, heads-up; chips of another worth are counted in big blinds.
        state: of a heads-up hand, before the flop.
    """
    worth = setup.rules.big_blind / state.setup.rules.big_blind
    now, tokens = setup.start(), list[str]()
    posted = [start.betting.bets for start in (state.setup.start(), now)]
    is_exact = worth * state.setup.stacks[0] == setup.stacks[0] and worth * sum(posted[0]) == sum(posted[1])
    node = round_game(now, MENU, everybody(), to_the_end=False).root
    for done in state.actions:
        if not node.actions:
            return NodePath(tuple(tokens)), False
        action = raise_to(round(worth * done.amount)) if done.kind is ActionKind.RAISE else done
        number = nearest_of(node.actions, action)
        is_exact = is_exact and node.actions[number] == action
        tokens.append(_token(now, node.actions[number]))
        now, node = now.act(node.actions[number]), node.children[number]
    return NodePath(tuple(tokens)), is_exact


def nearest_path(agent: HandAgent, state: HandState) -> tuple[NodePath, bool]:
    """Returns the line of an agent's charts that is most like some betting before the flop, and whether it is that.

    Args:
        agent: that answers at every decision of the line.
        state: of a hand of its game, before the flop.
    """
    now, tokens, is_exact = state.setup.start(), list[str](), True
    for done in state.actions:
        actions = agent.policy_at(now).actions
        action = actions[nearest_of(actions, done)]
        is_exact = is_exact and action == done
        tokens.append(_token(now, action))
        now = now.act(action)
    return NodePath(tuple(tokens)), is_exact


def range_text(reach: FloatArray) -> str:
    """Returns a range as text from the reach of hands ``[1326]``: the most likely weighs 1, rare ones are left out."""
    weights = reach / max(float(reach.max()), 1e-300)
    return format_hand_range(np.where(weights >= _LEAST_WEIGHT, weights, 0.0).clip(0.0, 1.0), digits=2)


def position_names(setup: HandSetup) -> tuple[str, ...]:
    """Returns what players call the seats, by seat: SB and BB heads-up, then BTN, UTG, CO, HJ, LJ ..."""
    count, first = setup.num_players, setup.betting().player
    assert first is not None
    order = [*_EARLY[max(len(_EARLY) - (count - 2), 0) :], "SB", "BB"] if count > 2 else ["SB", "BB"]
    if count > len(("SB", "BB", "BTN")):
        order[0] = _EARLY[0]
    names = [""] * count
    for step, name in enumerate(order):
        names[(first + step) % count] = name
    return tuple(names)


def _token(state: HandState, action: Action) -> str:
    player = state.betting.player
    assert player is not None
    chips = state.betting.act(action).contributions[player] if action.kind is ActionKind.RAISE else 0
    return action_token(action, chips)


def _name(state: HandState, action: Action) -> str:
    betting = state.betting
    owed = betting.legal_actions().call_amount
    if action.kind is ActionKind.FOLD:
        return "fold"
    if action.kind is ActionKind.CALL:
        return f"call {owed}" if owed else "check"
    player = betting.player
    assert player is not None
    is_all = betting.act(action).stacks[player] == 0
    return f"all-in {action.amount}" if is_all else f"raise to {action.amount}"
