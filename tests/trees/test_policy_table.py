"""Policies as tables: rows, dictionaries, data frames."""

from __future__ import annotations

import pytest

from aleator.errors import SolveError
from aleator.games.registry import load_game
from aleator.trees.policy import uniform_policy
from aleator.trees.policy_table import START, node_of, path_of, policy_rows
from aleator.trees.public_tree import build_tree


def test_every_hand_of_every_decision_has_its_rows() -> None:
    policy = uniform_policy(build_tree(load_game("kuhn")))
    rows = list(policy_rows(policy))
    assert len(rows) == 4 * 3 * 2  # decisions, cards, actions
    assert rows[0] == (START, 0, "J", "check", 0.5)
    table = policy.to_dict()
    assert list(table) == [START, "check", "bet", "check/bet"]
    assert all(sum(shares.values()) == pytest.approx(1) for hands in table.values() for shares in hands.values())


def test_a_path_leads_back_to_its_node() -> None:
    policy = uniform_policy(build_tree(load_game("leduc")))
    for node in range(policy.tree.num_nodes):
        assert node_of(policy, path_of(policy, node)) == node
    with pytest.raises(LookupError, match="allowed"):
        node_of(policy, "check/fly")


def test_a_data_frame_needs_pandas() -> None:
    policy = uniform_policy(build_tree(load_game("kuhn")))
    try:
        import pandas  # noqa: F401
    except ImportError:
        with pytest.raises(SolveError, match="pip install pandas"):
            policy.to_dataframe()
    else:
        assert list(policy.to_dataframe().columns) == ["path", "player", "hand", "action", "probability"]
