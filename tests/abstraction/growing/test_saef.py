"""Menus that grow while continuous Leduc is being solved."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.abstraction.growing.continuous import continuous_exploitability
from aleator.abstraction.growing.saef import Candidate, GrowingCFR, GrowthRule, fixed_abstraction
from aleator.errors import SolveError
from aleator.solvers.best_response import exploitability
from aleator.solvers.cfr import CFR


@pytest.mark.parametrize(("linear", "weight"), [(False, 20.0), (True, 10.5)])
def test_without_additions_it_is_cfr_also_when_it_is_laid_out_anew(linear, weight):
    rule = GrowthRule(threshold=100.0, linear=linear)
    plain, grown = CFR(fixed_abstraction((0.01, 1.0)), rule.regret_rule), GrowingCFR(rule)
    plain.run(20)
    for _ in range(4):
        grown.run(5)
        grown._begin(grown._tables())
    assert grown.added == 0 and grown.weight == pytest.approx(weight)
    for player in (0, 1):
        expected = plain.average_policy().probabilities[player]
        np.testing.assert_allclose(grown.average_policy().probabilities[player], expected, atol=1e-12)


def test_an_added_bet_changes_no_policy_that_was_there_and_keeps_the_regrets():
    grown = GrowingCFR(GrowthRule(threshold=100.0))
    grown.run(40)
    before, value = exploitability(grown.average_policy()), dict(grown._tables().regret)
    grown.rule = GrowthRule()
    chosen = max(grown.candidates(0), key=lambda candidate: candidate.regret)
    nodes = grown.tree.num_nodes
    grown._add([chosen])
    assert grown.tree.num_nodes == nodes + chosen.nodes and grown.added == 1
    factor = grown.weight / 40.0
    assert 0.0 < factor <= 1.0
    after = grown._tables().regret
    label = f"{'raise' if any(move.startswith('bet') for move in chosen.history[-1:]) else 'bet'} {chosen.size:.6g}"
    assert label in after[chosen.history] and label not in value[chosen.history]
    for history, rows in value.items():
        for name, row in rows.items():
            np.testing.assert_allclose(after[history][name], factor * row, atol=1e-9)
    # the player never entered the new subgame: against the average policy nothing has changed but the opponent's answer
    assert exploitability(grown.average_policy()) == pytest.approx(before, abs=0.02)


@pytest.mark.slow
def test_grown_menus_are_less_exploitable_in_the_whole_game_than_the_menu_they_began_with():
    grown, fixed = GrowingCFR(), CFR(fixed_abstraction((0.01, 1.0)), GrowthRule().regret_rule)
    grown.run(140)
    fixed.run(340)
    assert grown.nodes_touched <= 2 * 340 * fixed.tree.num_nodes
    assert grown.exploitability() == continuous_exploitability(grown.average_policy())
    assert grown.exploitability() < 0.8 * continuous_exploitability(fixed.average_policy())
    assert grown.added > 30 and grown.tree.num_nodes > fixed.tree.num_nodes


@pytest.mark.slow
def test_bets_that_do_not_pay_are_taken_out():
    grown = GrowingCFR(GrowthRule(removal=100.0))
    grown.run(125)
    assert grown.removed > 0
    kept = {(history, size) for history, menu in grown._menus.items() for size in menu if 0.01 < size < 1.0}
    assert kept == set(grown._since)


def test_what_is_refused():
    for settings in ({"threshold": 0.5}, {"growth": 1.0}, {"first": 0}, {"removal": -1.0}):
        with pytest.raises(SolveError, match="a threshold is between"):
            GrowthRule(**settings)


def test_behind_a_new_bet_menus_are_those_behind_the_nearest() -> None:
    grown = GrowingCFR(GrowthRule(threshold=100.0))
    grown.run(10)
    menu = (0.01, 0.4, 1.0)
    grown._menus[("bet 1",)] = menu
    grown._begin(grown._tables())
    grown._add([Candidate(player=0, history=(), size=0.6, regret=1.0, nodes=0)])
    assert grown._menus[()] == (0.01, 0.6, 1.0) and grown._menus[("bet 0.6",)] == menu
    sizes = {label: grown.tree.find([label]) for label in ("bet 0.6", "bet 1", "bet 0.01")}
    children = {label: grown.tree.num_children[node] for label, node in sizes.items()}
    assert children["bet 0.6"] == children["bet 1"] == children["bet 0.01"] + 1
