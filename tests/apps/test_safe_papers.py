"""The experiments with search in subgames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.apps.papers.base import Settings
from aleator.apps.papers.registry import find_experiment
from aleator.apps.papers.safe_subgames import PAPER, SETTINGS, flop_buckets
from aleator.games import load_game
from aleator.solvers.best_response import exploitability
from aleator.solvers.bucketed_cfr import BucketedCFR
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.trees import build_tree
from tests.apps.calls import quick_paper


def test_coin_toss(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "safe-coin-toss", tmp_path / "new")
    rows = {row["technique"]: row for row in document["rows"]}
    assert rows["maxmargin"]["guesses: heads, tails, forfeit"] == "0.625, 0.375, 0"
    assert rows["unsafe"]["value"] == pytest.approx(0.75)
    assert rows["two subgames: reach-maxmargin, split gifts"]["value"] == pytest.approx(1 / 8)
    assert len(document["claims"]) == 6 and all(claim["agrees"] for claim in document["claims"])


def test_subgames() -> None:
    report = find_experiment("safe-subgames").run(Settings(quick=True), lambda share, what: None)
    rows = {(row[0], row[1]): row for row in report.rows}
    assert rows["paper, large flop hold'em", "unsafe"][2:5] == (65.59, 38.22, 396.8)
    assert len(report.rows) == len(PAPER) * 10 + 11
    assert rows["leduc", "unsafe"][4] > 2 * rows["leduc", "trunk"][4]  # from the best blueprint it only does harm
    assert all(claim.agrees for claim in report.claims), [c for c in report.claims if not c.agrees]


def test_one_bucket_per_hand_is_cfr_plus() -> None:
    tree = build_tree(load_game("leduc"))
    bucketed, plain = BucketedCFR(tree, lambda state, player: None), CFR(tree, CFR_PLUS)
    bucketed.run(20)
    plain.run(20)
    for player in (0, 1):
        np.testing.assert_allclose(
            bucketed.average_policy().probabilities[player], plain.average_policy().probabilities[player], atol=1e-9
        )


def test_more_buckets_are_better() -> None:
    setting = SETTINGS["leduc"]
    tree = build_tree(load_game("leduc"))
    found = []
    for count in (1, 2, 3):
        solver = BucketedCFR(tree, setting.buckets(tree.game, count))
        solver.run(200)
        found.append(exploitability(solver.average_policy()))
    assert found[0] > 2 * found[1] > 20 * found[2]
    policy = BucketedCFR(tree, setting.buckets(tree.game, 1)).average_policy()
    node = tree.find(["check", "check", "Q"])
    assert np.ptp(policy[node], axis=1).max() == 0.0  # hands of a bucket play alike


def test_flop_buckets_order_hands_by_strength() -> None:
    game = SETTINGS["flop-holdem:4x2"].make()
    tree = build_tree(game)
    state = tree.states[tree.find(["call", "check", "AdAcKd"])]
    buckets, strengths = flop_buckets(game, 3)(state, 0), game.strengths(state.board)
    assert set(buckets[strengths >= 0]) == {0, 1, 2} and (buckets[strengths < 0] == -1).all()
    alive = np.flatnonzero(strengths >= 0)
    assert (np.diff(buckets[alive[np.argsort(strengths[alive])]]) >= 0).all()


def test_multi_valued() -> None:
    report = find_experiment("multi-valued").run(Settings(quick=True), lambda share, what: None)
    found = {row[2]: row[3] for row in report.rows}
    assert found["4"] < found["2"] < found["1"] and found["4"] < found["blueprint's first round"]
    assert all(claim.agrees for claim in report.claims)


@pytest.mark.slow
def test_nested_search() -> None:
    report = find_experiment("nested-search").run(Settings(quick=True), lambda share, what: None)
    rows = {row[0]: row[1:] for row in report.rows}
    assert rows["resolve"][0] == 150.2 and rows["randomised pseudo-harmonic mapping"][0] == 1465
    assert rows["randomised pseudo-harmonic mapping"][1] > 3 * rows["resolve"][1] > 0
    assert report.claims[0].agrees


@pytest.mark.slow
def test_continual_resolving() -> None:
    report = find_experiment("continual-resolving").run(Settings(quick=True), lambda share, what: None)
    assert [row[0] for row in report.rows] == [10, 40]
    assert all(claim.agrees for claim in report.claims)
