"""What a decision at a table of several players was worth, before two are left: hands are played out by a blueprint.

Algorithm:
    Everybody else is believed to have got here as a blueprint of several players would, now and then by a rule
    (`arena.whole_hands.ranges`), and plays the blueprint on (`agents.whole_hands.stand_in`). The player goes on as the
    best of three: the blueprint, who calls, who gives up. Tried is what the blueprint considers, with the size that was
    bet in place of the one that it is taken for (`arena.whole_hands.rollouts`). What the blueprint itself does often
    gives up nothing; nor does what is behind by less than three standard errors, or by less than `LEAST_LOSS`.
    Nothing is said where the blueprint does not know the line, and nothing tried that it hardly ever met: its answers
    are noise there. A call after which nobody decides needs nobody's play.

Reference: that of rollouts.
Deviations: the same.
Status: tests/arena/whole_hands/test_table_grading.py; noise: tests/arena/whole_hands/test_table_grading_noise.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from aleator.agents.whole_hands.base import HandAgent
from aleator.agents.whole_hands.scripted import HABITS, ScriptedHandAgent
from aleator.agents.whole_hands.stand_in import StandInAgent, like_place
from aleator.arena.whole_hands.grading import OFTEN
from aleator.arena.whole_hands.ranges import table_reach
from aleator.arena.whole_hands.rollouts import Rollout, roll_out
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting import CALL, Action
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandState

DRAWS: Final = 20_000
TURNS: Final = 1000  # different boards of four cards
SURE: Final = 3.0
"""Standard errors of a mistake: the best of some actions was also the luckiest."""
LEAST_LOSS: Final = 0.25
"""Of a mistake, in big blinds.

In 73 hands of the blueprint with itself, of 472 actions that it takes often 16 are behind by more than this, and two by
more than three standard errors as well (tests/arena/whole_hands/test_table_grading_noise.py plays fewer).
"""
LEAST_SHARE: Final = 0.005
"""How often an action must be taken by the blueprint to be told that cannot be judged."""
LEAST_OWN: Final = 0.01
"""How often the blueprint must come to a decision with a hand, as far as that is its own doing, to know what to do."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableGrade:
    """What a decision was worth.

    Attributes:
        state: where it was taken.
        hand: that was held.
        rollout: what each action that was tried is worth.
        policy: ``[A]``, what the blueprint does with the hand; None if it does not come here with it, and never learned
            what to do then.
        untried: what the blueprint does, too, and how often, that cannot be judged: it hardly ever met what follows.
        taken: the place of the action that was taken; None if none was.
    """

    state: HandState
    hand: int
    rollout: Rollout
    policy: FloatArray | None
    untried: tuple[tuple[Action, float], ...] = ()
    taken: int | None

    @property
    def behind(self) -> float:
        """Chips by which the best action is worth more than the one that was taken; 0 where that may be chance.

        What the blueprint does often is not behind.
        """
        if self.taken is None or (self.policy is not None and self.policy[self.taken] >= OFTEN):
            return 0.0
        behind = float(self.rollout.values.max() - self.rollout.values[self.taken])
        return behind if behind > SURE * self.rollout.errors[self.taken] else 0.0

    @property
    def given_up(self) -> float:
        """Chips that a mistake gave up, 0 if it is none."""
        return self.behind if self.behind > LEAST_LOSS * self.state.setup.rules.big_blind else 0.0


class TableGrader:
    """Grades decisions of no-limit hold'em among several players.

    Args:
        blueprint: that everybody plays.
        draws: of everybody's hands and the cards to come.
        turns: how many different boards of four cards come.
    """

    def __init__(self, blueprint: StandInAgent, *, draws: int = DRAWS, turns: int = TURNS) -> None:
        self.blueprint, self._draws, self._turns = blueprint, draws, turns
        simple = (ScriptedHandAgent(name, HABITS[name][1]) for name in ("always-call", "always-fold"))
        self._going_on: tuple[HandAgent, ...] = (blueprint, *simple)

    def grade(self, state: HandState, hand: int, action: Action | None = None) -> TableGrade:
        """Returns what the actions of a decision are worth to a hand.

        Args:
            state: of the decision.
            hand: that is held.
            action: that was taken; None if none was yet.

        Raises:
            AgentError: the blueprint knows nothing of the line, or of an action like this one; the message says why.
        """
        self.blueprint.check_known(state)
        known = self.blueprint.known_policy(state)
        assert known is not None, "it is known"
        shares = dict(zip(known.actions, known.probabilities[:, hand].tolist(), strict=True))
        closes = state.act(CALL).betting.is_over
        if closes:
            shares.setdefault(CALL, 0.0)
        tried = [other for other in shares if (other == CALL and closes) or self.blueprint.is_met(state, other)]
        policy = np.array([shares[other] for other in tried])
        untried = tuple(
            (other, share) for other, share in shares.items() if other not in tried and share >= LEAST_SHARE
        )
        taken = None if action is None else like_place(action, tried)
        if action is not None:
            if taken is None:
                raise AgentError("the blueprint has hardly ever met what was done")
            tried[taken] = action
        if len(tried) < 2:
            raise AgentError("the blueprint has hardly ever met what could be done")
        rollout = roll_out(
            state,
            hand,
            [self.blueprint] * state.setup.num_players,
            tried,
            going_on=self._going_on,
            draws=self._draws,
            turns=self._turns,
            reach=table_reach(state, self.blueprint),
        )
        comes = self.blueprint.own_reach(state, hand) >= LEAST_OWN
        return TableGrade(
            state=state,
            hand=hand,
            rollout=rollout,
            policy=policy if comes else None,
            untried=untried if comes else (),
            taken=taken,
        )


def table_decisions(record: HandRecord, player: int) -> Iterator[tuple[HandState, Action]]:
    """Yields where a player acted and how."""
    for state, after in itertools.pairwise(record.states()):
        if len(after.actions) > len(state.actions) and state.player == player:
            yield state, after.actions[-1]
