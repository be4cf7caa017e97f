"""CFR for any number of players on the sequence form; the rule says which member of the family.

Algorithm:
    As for two players: for each player i in turn, values of its sequences against everybody else's reach, regrets,
    the next policy by the regret rule; the average of the policies, weighted by the player's own reach, is the answer.

Reference: Abou Risk and Szafron 2010 (CFR for three players); Gibson 2014 (what it converges to); thesis 6.6.
Deviations: none. For more than two players nothing is proved but that regrets vanish: the average profile need not be a
    Nash equilibrium. In three-player Kuhn and Leduc it comes close.
Status: equal to OpenSpiel's CFR+ and to the library's two-player CFR (tests/solvers/multiplayer/test_cfr.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.solvers.engines.sequences import kernels
from aleator.solvers.multiplayer.evaluation import nash_conv, reach_of
from aleator.solvers.regret_rule import CFR_PLUS, HEDGE, RegretRule
from aleator.solvers.state import restore_vectors
from aleator.trees.sequence_form import SequenceForm, uniform_profile


class Anchor(NamedTuple):
    """What some players are taken to play part of the time, whatever their regrets say; everybody meets the mixture.

    Attributes:
        reach: [E + 1] by what they are taken to play.
        share: [E + 1] how often; 0 for the sequences of players who are free, and for the last one.
    """

    reach: FloatArray
    share: FloatArray


class MultiplayerCFR:
    """A CFR solver of a game of many players that can be run, asked, saved and resumed.

    Args:
        form: of the game.
        rule: the regret rule; all but Hedge.
        locked: [I] infostates whose policy stays as it is in `start`.
        start: [E] the profile to begin with; uniform unless given.
        anchor: what some players play part of the time; None if all are free.
    """

    first_check: ClassVar[int] = 1
    nodes_touched: None = None

    def __init__(
        self,
        form: SequenceForm,
        rule: RegretRule = CFR_PLUS,
        *,
        locked: npt.NDArray[np.bool_] | None = None,
        start: FloatArray | None = None,
        anchor: Anchor | None = None,
    ) -> None:
        if rule.minimiser == HEDGE:
            raise SolveError("games of many players are solved by regret matching, not by Hedge")
        self.form, self.rule, self.iteration, self.num_players = form, rule, 0, form.num_players
        self.profile = uniform_profile(form) if start is None else start.copy()
        self.locked = np.zeros(form.num_infostates, np.bool_) if locked is None else locked
        self.regret, self.policy_sum = np.zeros(form.num_sequences), np.zeros(form.num_sequences)
        self._reach, self._anchor = reach_of(form, self.profile), anchor
        self._ranges = [form.infostates_of(player) for player in range(form.num_players)]

    def run(self, iterations: int) -> None:
        """Runs so many more iterations, each of all players."""
        form, rule = self.form, self.rule
        values = np.zeros((form.num_players, form.num_sequences + 1))
        for discounts in rule.schedule(self.iteration + 1, iterations):
            if not rule.alternating:
                for player in range(form.num_players):
                    self._add_payoffs(player, values[player])
            for player, (begin, end) in enumerate(self._ranges):
                if rule.alternating:
                    self._add_payoffs(player, values[player])
                kernels.update_regrets(
                    begin, end, form.first, form.parent, discounts, rule.power, rule.optimistic, self.locked,
                    values[player], self.profile, self._reach, self.regret, self.policy_sum,
                )  # fmt: skip
            self.iteration += 1

    def _add_payoffs(self, player: int, values: FloatArray) -> None:
        values[:] = 0.0
        reach, anchor = self._reach, self._anchor
        if anchor is not None:
            reach = anchor.share * anchor.reach + (1.0 - anchor.share) * reach
        kernels.add_payoffs(player, self.form.sequence, self.form.payoff, reach, values)

    def average_profile(self) -> FloatArray:
        """Returns [E]: the average policies of all players; those of locked infostates."""
        profile = self.profile.copy()
        kernels.average(0, self.form.num_infostates, self.form.first, self.policy_sum, profile)
        held = np.repeat(self.locked, np.diff(self.form.first))
        profile[held] = self.profile[held]
        return profile

    def nash_conv(self) -> float:
        """Returns the NashConv of the average profile."""
        return nash_conv(self.form, self.average_profile())

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns everything another solver of the same game and rule needs to go on, by name; no copies."""
        return {"regret": self.regret, "policy_sum": self.policy_sum, "profile": self.profile}

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another solver after so many iterations; results are then equal bit by bit.

        Raises:
            ValueError: the state is not that of a solver of this game.
        """
        restore_vectors(self.state(), state)
        self.iteration = iteration
        self._reach[:] = reach_of(self.form, self.profile)
