"""What networks of regrets say, and the policies that match it.

Algorithm:
    An action is played in proportion to its positive regret; where no regret is positive the action with the highest
    one is played.

Reference: thesis 4.1, Algorithm 1 and Fig. 4.4 (`best`); docs/algorithms/discounted-cfr.md (`power`, sharp matching).
Deviations: networks can say asinh of regrets (`squash`), so that small ones count in a squared error beside large ones.
Status: tests/learning/sampled/test_deep_cfr.py, tests/learning/sampled/test_board_walk.py.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from aleator.learning.sampled.encoding import Encoding
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.play import SampledGame
from aleator.learning.sampled.trainer import NetworkPolicies
from aleator.learning.sampled.traversal import match_regrets

Tensor = torch.Tensor


class Matching(NamedTuple):
    """What networks of regrets say, and the policies that follow from it.

    Attributes:
        best: where no regret is positive the best action is played; otherwise all alike.
        squash: networks say asinh(regret / squash); regrets as they are if it is 0.
        power: policies are proportional to positive regrets to this power.
    """

    best: bool
    squash: float = 0.0
    power: float = 1.0

    def squashed(self, regrets: Tensor) -> Tensor:
        """Returns what a network says of regrets."""
        return torch.asinh(regrets / self.squash) if self.squash else regrets

    def policy(self, outputs: Tensor, legal: Tensor) -> Tensor:
        """Returns policies [n, A] from what a network says and legal actions [n, A]."""
        regrets = torch.sinh(outputs) if self.squash else outputs
        if self.power != 1.0:
            regrets = regrets.sign() * regrets.abs() ** self.power
        return match_regrets(regrets, legal, best=self.best)


def regret_policies(
    play: SampledGame, network: InfostateNetwork | None, encoding: Encoding, matching: Matching
) -> NetworkPolicies:
    """Returns the policies that match what a network says about regrets; uniform ones without a network."""
    if network is None:
        return NetworkPolicies(play, None)

    def answer(infostates: Tensor, legal: Tensor) -> Tensor:
        return matching.policy(encoding.of_actions(infostates, network(encoding.inputs(infostates))), legal)

    return NetworkPolicies(play, answer)
