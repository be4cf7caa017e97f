import numpy as np
import pytest

from aleator.errors import GameError
from aleator.games.holdem.betting import BettingRules, raise_to
from aleator.games.holdem.betting_tree import NodeKind, build_tree_from_state, count_nodes
from aleator.games.holdem.variants import (
    HULH,
    HUNL,
    LIMIT_FLOP,
    NO_LIMIT_FLOP,
    NO_LIMIT_TURN,
    TURN_ENDGAME,
    HoldemVariant,
    load_hand_game,
)

HANDS_AND_BOARDS = (1_326, 1_326 * 19_600, 1_326 * 19_600 * 47, 1_326 * 19_600 * 47 * 46)
CANONICAL_HANDS_AND_BOARDS = (169, 1_286_792, 55_190_538, 2_428_287_420)


def num_decisions(variant: HoldemVariant) -> list[int]:
    """Returns the number of decision nodes of each street, cards left out."""
    counts = [0, 0, 0, 0]
    for node in build_tree_from_state(variant.start(), variant.menu).walk():
        counts[node.street] += node.kind is NodeKind.DECISION
    return counts


def test_limit_holdem_has_the_published_number_of_infostates() -> None:
    # Bowling, Burch, Johanson and Tammelin (Science 2015): 3.19e14 decision points, 1.38e13 up to suits.
    decisions = num_decisions(HULH)
    assert decisions == [8, 70, 630, 5_670]
    assert f"{sum(map(lambda n, cards: n * cards, decisions, HANDS_AND_BOARDS)):.2e}" == "3.19e+14"
    assert f"{sum(map(lambda n, cards: n * cards, decisions, CANONICAL_HANDS_AND_BOARDS)):.2e}" == "1.38e+13"


def test_limit_holdem_costs_48_at_most() -> None:
    nodes = build_tree_from_state(HULH.start(), None).walk()
    assert max(max(node.chips) for node in nodes) == 2 + 3 * 2 + 4 * 2 + 4 * 4 + 4 * 4


def test_flop_holdem_ends_after_the_second_round() -> None:
    assert num_decisions(LIMIT_FLOP) == [8, 70, 0, 0]
    assert NO_LIMIT_FLOP.rules.num_streets == 2
    assert NO_LIMIT_TURN.rules.num_streets == 3


@pytest.mark.parametrize("variant", [HUNL, NO_LIMIT_FLOP, NO_LIMIT_TURN])
def test_no_limit_games_begin_with_blinds_of_50_and_100(variant: HoldemVariant) -> None:
    state = variant.start()
    assert state.bets == (100, 50)
    assert state.stacks == (19_900, 19_950)
    assert state.legal_actions().max_raise_to == 20_000
    assert state.act(raise_to(20_000)).legal_actions().min_raise_to is None


@pytest.mark.parametrize(("name", "rows"), [("small", 3 * 14), ("large", 5 * 38), ("nested", 7 * 236)])
def test_flop_holdem_with_a_menu_has_so_many_actions_on_the_flop(name: str, rows: int) -> None:
    """Lines to the flop times actions on it: check or bet twice, and what answers each of up to two or three bets."""
    variant = load_hand_game(f"nolimit-flop:{name}")
    tree = build_tree_from_state(variant.start(), variant.menu).tree
    flop = np.flatnonzero((tree.street == 1) & (tree.kind == NodeKind.DECISION))
    assert sum(len(tree.children(int(node))) for node in flop) == rows
    assert int(tree.chips.max()) < variant.stack, "nobody is all-in"


def test_turn_endgame_has_the_nodes_of_the_benchmark() -> None:
    state = TURN_ENDGAME.start()
    assert (state.street, state.pot, state.stacks, state.player) == (2, 2_000, (19_000, 19_000), 0)
    assert len(TURN_ENDGAME.board) == 4
    assert count_nodes(build_tree_from_state(state, TURN_ENDGAME.menu)) == (0, 0, 81, 443)


def test_impossible_variants_are_refused() -> None:
    with pytest.raises(GameError, match="pot"):
        HoldemVariant(name="x", title="", rules=BettingRules(small_blind=1, big_blind=2), stack=9, first_street=1)
