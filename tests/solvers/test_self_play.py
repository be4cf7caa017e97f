"""Games that are played by tables and counted have the values and the reach that their policies have."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.games import load_game
from aleator.solvers.best_response import expected_value
from aleator.solvers.engines.sampling.histories import HistoryRows, build_histories
from aleator.solvers.engines.sampling.self_play import NOBODY, Counts, new_counts, play_games
from aleator.trees import build_tree
from aleator.trees.policy import Policy, uniform_policy

GAMES = 60_000


def played(policies: tuple[Policy, Policy], share: float, *, epoch: int = 0) -> tuple[Counts, int]:
    """Returns what is counted, and how many nodes were visited; seed 3."""
    rows = HistoryRows(policies[0].tree)
    ends = []
    for policy in policies:
        chance = rows.from_vectors(policy.probabilities)
        width = np.repeat(rows._width, rows._width)
        start = np.repeat(np.cumsum(rows._width) - rows._width, rows._width)
        before = np.concatenate([[0.0], np.cumsum(chance)])
        end = before[1:] - before[start]
        end[start + width - 1] = 1.0
        ends.append(end)
    counts = new_counts(rows.size)
    game = build_histories(policies[0].tree, rows)
    touched = play_games(game, np.stack(ends), share, GAMES, np.uint64(3), epoch, counts)
    return counts, touched


@pytest.mark.parametrize(("name", "deviation"), [("kuhn", 1.5), ("leduc", 5.0), ("liars-dice:1x3", 1.0)])
def test_rewards_are_the_value_of_the_policy(name: str, deviation: float) -> None:
    """60,000 games, seed 3: what the first player wins on average is within 4.5 standard errors of its value."""
    tree = build_tree(load_game(name))
    policy = uniform_policy(tree)
    counts, touched = played((policy, policy), 0.5)
    rows = HistoryRows(tree)
    won = [float(counts.rewards[offsets].sum()) / GAMES for offsets in rows.offsets]
    assert won[0] == pytest.approx(-won[1], abs=1e-9)
    assert won[0] == pytest.approx(expected_value(policy), abs=4.5 * deviation / GAMES**0.5)
    assert touched >= GAMES + counts.number.sum()


def test_decisions_lead_to_where_somebody_comes() -> None:
    """Kuhn, uniform: who checks first decides again in half of the games; entries before infostates are theirs."""
    tree = build_tree(load_game("kuhn"))
    counts, _ = played((uniform_policy(tree),) * 2, 0.25)
    again = np.flatnonzero(counts.before != NOBODY)
    assert len(again) == 3 and np.array_equal(np.flatnonzero(counts.arrivals), again)
    checks = counts.before[again]
    assert np.all(counts.arrivals[again] <= counts.number[checks])
    assert counts.arrivals.sum() / GAMES == pytest.approx(0.25, abs=4.5 * (0.1875 / GAMES) ** 0.5)
    assert counts.responses.sum() / counts.number.sum() == pytest.approx(0.25, abs=0.01)


def test_epochs_draw_other_numbers_and_seeds_repeat() -> None:
    tree = build_tree(load_game("kuhn"))
    policies = (uniform_policy(tree),) * 2
    first, again, other = (played(policies, 0.5, epoch=epoch)[0] for epoch in (0, 0, 1))
    assert np.array_equal(first.number, again.number) and not np.array_equal(first.number, other.number)
