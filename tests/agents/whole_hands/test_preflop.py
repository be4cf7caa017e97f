"""Charts before the flop: what is solved, lines, ranges and the spots that they lead to."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.agents.whole_hands.preflop import (
    PreflopAgent,
    PreflopCharts,
    position_names,
    preflop_charts,
    range_text,
)
from aleator.errors import AgentError
from aleator.games.holdem.cards import HAND_CLASS_NAMES, parse_cards
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.games.holdem.node_path import NodePathError
from aleator.games.holdem.variants import load_hand_game

pytest.importorskip("torch")

FLOP = parse_cards("Ks 7h 2d")


@pytest.fixture(scope="module")
def charts() -> PreflopCharts:
    return preflop_charts("hunl:20bb", iterations=40)


def _class(name: str) -> int:
    return HAND_CLASS_NAMES.index(name)


def test_the_small_blind_plays_most_hands_and_folds_the_worst(charts: PreflopCharts) -> None:
    root = charts.node()
    assert charts.positions[root.player] == "SB" and root.tokens[:2] == ("f", "c")
    np.testing.assert_allclose(root.policy.sum(axis=0), 1)
    weights, policy = root.classes()
    np.testing.assert_allclose(weights, 1)
    assert policy[0, _class("AA")] < 0.01 and policy[0, _class("72o")] > 0.5
    assert 0.02 < root.frequencies[0] < 0.5  # heads-up most hands are played from the button
    assert root.names[:2] == ("fold", "call 50")


def test_ranges_are_products_of_policies_and_pots_are_those_of_the_betting(charts: PreflopCharts) -> None:
    root = charts.node()
    opened = root.tokens[2]
    faced = charts.node(f"r:0:{opened}")
    called = charts.node(f"r:0:{opened}:c")
    seats = {name: seat for seat, name in enumerate(charts.positions)}
    np.testing.assert_allclose(called.reach[seats["SB"]], root.policy[2])
    np.testing.assert_allclose(called.reach[seats["BB"]], faced.policy[faced.tokens.index("c")])
    spot = charts.spot(f"r:0:{opened}:c", FLOP)
    amount = int(opened[1:])
    assert (spot.pot, spot.stack, spot.min_bet) == (2 * amount, 2000 - amount, 100)
    # the big blind acts first after the flop, the button last
    expected = called.reach[seats["BB"]] / called.reach[seats["BB"]].max()
    np.testing.assert_allclose(parse_hand_range(spot.oop), np.where(expected >= 0.005, expected, 0), atol=0.0051)
    assert parse_hand_range(spot.ip)[-1] > 0  # aces


def test_lines_that_lead_nowhere_are_refused_in_a_line(charts: PreflopCharts) -> None:
    with pytest.raises(NodePathError, match="no action b123 here; allowed: f, c, b"):
        charts.node("r:0:b123")
    with pytest.raises(NodePathError, match="allowed: none, the flop comes"):
        charts.node("r:0:c:c:c")
    for path in ("r:0", "r:0:f", "r:0:b2000:c"):
        with pytest.raises(NodePathError, match="does not lead to a flop"):
            charts.spot(path, FLOP)
    with pytest.raises(AgentError, match="heads-up"):
        PreflopAgent(load_hand_game("ring:6").setup)


def test_only_hands_of_the_game_that_was_solved_are_answered(charts: PreflopCharts) -> None:
    agent = charts.agent
    start = load_hand_game("hunl:20bb").setup
    assert len(agent.policy_at(start.start()).actions) > 2
    with pytest.raises(AgentError, match=r"stacks of \(2000, 2000\)"):
        agent.policy_at(load_hand_game("hunl").setup.start())


def test_charts_of_any_agent_and_any_number_of_players() -> None:
    charts = preflop_charts("ring:6", "tight-aggressive")
    assert sorted(charts.positions) == sorted(("UTG", "HJ", "CO", "BTN", "SB", "BB"))
    path, node = "r:0", charts.node()
    assert charts.positions[node.player] == "UTG"
    raised = next(token for token in node.tokens if token.startswith("b"))
    for token in (raised, "f", "f", "f", "f", "c"):
        path += f":{token}"
    spot = charts.spot(path, FLOP)
    assert spot.pot == 2 * int(raised[1:]) + 50 and spot.stack == 10_000 - int(raised[1:])
    assert position_names(load_hand_game("hunl").setup) in (("SB", "BB"), ("BB", "SB"))


def test_ranges_are_written_with_the_most_likely_hand_at_1() -> None:
    reach = 0.25 * parse_hand_range("AA") + 0.125 * parse_hand_range("KK") + 1e-4 * parse_hand_range("QQ")
    assert range_text(reach) == "AA,KK:0.5"
