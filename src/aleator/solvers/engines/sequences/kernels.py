"""Reach down, payoffs in, values up: the four steps of CFR on the sequence form, for one player at a time.

All vectors have a number per sequence, [E + 1]; the last one stands for having done nothing. A player's sequences are
those of infostates `begin` to `end`, which lead to each other in ascending order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aleator.jit import kernel

Float = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]


@kernel()
def push_reach(begin: int, end: int, first: Int32, parent: Int32, profile: Float, reach: Float) -> None:
    """Writes a player's part in coming to each of its sequences into `reach`."""
    for infostate in range(begin, end):
        before = reach[parent[infostate]]
        for entry in range(first[infostate], first[infostate + 1]):
            reach[entry] = before * profile[entry]


@kernel()
def add_payoffs(player: int, sequence: Int32, payoff: Float, reach: Float, values: Float) -> None:
    """Adds what the others and chance bring a player to the sequences it ends in: sum of payoff x others' reach.

    Args:
        player: the traverser.
        sequence: [P, T].
        payoff: [P, T], with chance's part.
        reach: of everybody, by sequence.
        values: by sequence, added to.
    """
    players = sequence.shape[0]
    for terminal in range(sequence.shape[1]):
        weight = payoff[player, terminal]
        for other in range(players):
            if other != player:
                weight *= reach[sequence[other, terminal]]
        values[sequence[player, terminal]] += weight


@kernel()
def pull_values(begin: int, end: int, first: Int32, parent: Int32, profile: Float, values: Float) -> None:
    """Adds what each infostate is worth under the player's own policy to the sequence before it, from the last up."""
    for infostate in range(end - 1, begin - 1, -1):
        total = 0.0
        for entry in range(first[infostate], first[infostate + 1]):
            total += profile[entry] * values[entry]
        values[parent[infostate]] += total


@kernel()
def pull_best(begin: int, end: int, first: Int32, parent: Int32, values: Float, response: Float) -> None:
    """Does the same for a best response, which is written into `response`; of equal actions the first is taken."""
    for infostate in range(end - 1, begin - 1, -1):
        best = first[infostate]
        for entry in range(first[infostate], first[infostate + 1]):
            response[entry] = 0.0
            if values[entry] > values[best]:
                best = entry
        response[best] = 1.0
        values[parent[infostate]] += values[best]


@kernel()
def update_regrets(
    begin: int, end: int, first: Int32, parent: Int32, discounts: Float, power: float, optimistic: bool, locked: Bool,
    values: Float, profile: Float, reach: Float, regret: Float, policy_sum: Float,
) -> None:  # fmt: skip
    """Moves a player on by one iteration: values up, regrets, the sum of policies, the next policy.

    Args:
        begin, end, first, parent: the player's infostates.
        discounts: [5] a row of `RegretRule.schedule`.
        power: of regrets in the policy that matches them.
        optimistic: the next policy assumes that this iteration's regrets come once more.
        locked: [I] infostates whose policy stays.
        values: by sequence, terminals added.
        profile, reach: everybody's, the player's part is replaced.
        regret, policy_sum: updated.
    """
    positive, negative, decay, floor, ahead = discounts[0], discounts[1], discounts[2], discounts[3], discounts[4]
    for infostate in range(end - 1, begin - 1, -1):
        total = 0.0
        low, high = first[infostate], first[infostate + 1]
        for entry in range(low, high):
            total += profile[entry] * values[entry]
        values[parent[infostate]] += total
        matched = 0.0
        for entry in range(low, high):
            policy_sum[entry] = decay * policy_sum[entry] + reach[entry]
            gain = values[entry] - total
            before = regret[entry]
            after = max(before * (positive if before > 0.0 else negative) + gain, floor)
            regret[entry] = after
            wanted = max(after * ahead + gain if optimistic else after, 0.0)
            values[entry] = wanted**power if power != 1.0 else wanted
            matched += values[entry]
        if locked[infostate]:
            continue
        for entry in range(low, high):
            profile[entry] = values[entry] / matched if matched > 0.0 else 1.0 / (high - low)
    push_reach(begin, end, first, parent, profile, reach)


@kernel()
def average(begin: int, end: int, first: Int32, policy_sum: Float, profile: Float) -> None:
    """Writes the policies that sums stand for; uniform where a sum is zero."""
    for infostate in range(begin, end):
        low, high = first[infostate], first[infostate + 1]
        total = 0.0
        for entry in range(low, high):
            total += policy_sum[entry]
        for entry in range(low, high):
            profile[entry] = policy_sum[entry] / total if total > 0.0 else 1.0 / (high - low)
