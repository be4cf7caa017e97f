"""Policies as tables: rows, dictionaries, data frames."""

from __future__ import annotations

import csv
import io

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


def test_csv_has_the_same_rows_and_names_with_commas_come_back() -> None:
    policy = uniform_policy(build_tree(load_game("leduc")))
    rows = list(csv.reader(io.StringIO(policy.to_csv())))
    assert rows[0] == ["path", "player", "hand", "action", "probability"]
    assert [(row[0], row[2], row[3]) for row in rows[1:]] == [
        (row.path, row.hand, row.action) for row in policy_rows(policy)
    ]


def test_a_notebook_shows_tables_and_says_what_is_left_out() -> None:
    kuhn = uniform_policy(build_tree(load_game("kuhn")))._repr_html_()
    assert kuhn.count("<table>") == 4 and "check/bet: player 1 acts" in kuhn and "more decisions" not in kuhn
    leduc = uniform_policy(build_tree(load_game("leduc")))
    decisions = int((leduc.tree.actor >= 0).sum())
    assert f"and {decisions - 12:,} more decisions" in leduc._repr_html_()
    kuhn_game = load_game("kuhn")
    kuhn_game.name = "<script>"
    assert "<script>" not in uniform_policy(build_tree(kuhn_game))._repr_html_()
