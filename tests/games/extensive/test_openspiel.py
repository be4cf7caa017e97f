"""Games of OpenSpiel through the adapter: sizes, NashConv and values must be those that OpenSpiel computes itself."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from open_spiel.python.algorithms import expected_game_score, exploitability, get_all_states

from aleator.errors import GameError, MissingExtraError, TooBigError
from aleator.games import check_game, load_game
from aleator.games.extensive.histories import HistoryGame
from aleator.games.extensive.openspiel import OpenSpielGame, load_openspiel
from aleator.meter import watch
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.linear_program import solve_linear_program
from aleator.trees import Policy, PublicTree, build_tree
from aleator.trees.openspiel_policy import to_openspiel_policy
from aleator.trees.policy import random_policy, uniform_policy

pyspiel = pytest.importorskip("pyspiel")

GOOFSPIEL = "goofspiel(imp_info=True,num_cards={},points_order=descending)"

# name, infostates, NashConv of the uniform policy (measured with OpenSpiel; Kuhn 11/12 and Leduc 4.747222 are well
# known). Leduc has 936 infostates when suits are told apart, 288 up to suit symmetry.
GAMES = [
    ("kuhn_poker", 12, 11 / 12),
    ("leduc_poker", 936, 4.747222),
    ("liars_dice(numdice=1,dice_sides=4)", 1024, 1.310119),
    (GOOFSPIEL.format(4), 162, 1.416667),
    (GOOFSPIEL.format(5), 2124, 1.55),
    ("leduc_poker(suit_isomorphism=true)", 288, 4.747222),
    ("goofspiel(imp_info=True,num_cards=3,points_order=random)", 90, 4 / 3),
    ("coordinated_mp", 3, 0.0),
    ("matrix_rps", 2, 0.0),
    ("blotto(coins=5,fields=3)", 2, 4 / 7),
    ("oshi_zumo(coins=3,size=1,horizon=4)", 664, 1.325521),
    ("dark_hex(board_size=2)", 134, 1.25),
    ("dark_hex(board_size=2,gameversion=adh)", 94, 5 / 6),
    ("mnk(m=2,n=2,k=2)", 17, 0.0),
]


@pytest.fixture(scope="module")
def trees() -> dict[str, PublicTree]:
    return {name: build_tree(load_openspiel(name)) for name, *_ in GAMES}


def _spiel_value(policy: Policy) -> float:
    exported = to_openspiel_policy(policy)
    start = policy.tree.game.source.new_initial_state()
    return float(expected_game_score.policy_value(start, [exported, exported])[0])


@pytest.mark.parametrize(("name", "infostates", "uniform"), GAMES)
def test_sizes_and_nash_conv_are_openspiels(
    trees: dict[str, PublicTree], name: str, infostates: int, uniform: float
) -> None:
    tree = trees[name]
    assert check_game(tree.game).size.infostates == tree.num_infostates == infostates
    policy = uniform_policy(tree)
    assert nash_conv(policy) == pytest.approx(uniform, abs=1e-6)
    if infostates > 2000:  # OpenSpiel takes seconds
        return
    exported = to_openspiel_policy(policy)
    assert len(exported.state_lookup) == infostates
    assert exploitability.nash_conv(tree.game.source, exported) == pytest.approx(nash_conv(policy), abs=1e-12)


@pytest.mark.parametrize("name", [name for name, *_ in GAMES if name != GOOFSPIEL.format(5)])
def test_random_policies_have_the_same_value(trees: dict[str, PublicTree], name: str) -> None:
    policy = random_policy(trees[name], np.random.default_rng(7))
    assert _spiel_value(policy) == pytest.approx(expected_value(policy), abs=1e-12)


def test_moves_that_all_see_cost_nothing(trees: dict[str, PublicTree]) -> None:
    for name in ("kuhn_poker", "liars_dice(numdice=1,dice_sides=4)"):
        assert (trees[name].origin_start < 0).all(), name
    dice = trees["liars_dice(numdice=1,dice_sides=4)"]
    assert (dice.num_nodes, len(dice.payoffs)) == (511, 8)
    leduc = trees["leduc_poker"]
    assert leduc.find(["Call", "Raise", "Fold"]) > 0
    after_card = leduc.children(leduc.find(["Call"]))
    assert sum(leduc.labels[node].startswith("Call, ") for node in after_card) == 6


def test_every_history_has_its_infostate(trees: dict[str, PublicTree]) -> None:
    tree = trees["leduc_poker"]
    states = get_all_states.get_all_states(tree.game.source, -1, False, False).values()
    expected = {
        (state.current_player(), state.information_state_string()): tuple(state.legal_actions())
        for state in states
        if state.current_player() >= 0
    }
    found = {
        (player, tree.game.infostate(tree.states[node], hand)): tuple(
            tree.game.source_actions(tree.states[node], hand).values()
        )
        for player in (0, 1)
        for node in tree.decisions(player)
        for hand in range(tree.num_hands[player, node])
    }
    assert found == expected


def test_values_of_known_games(trees: dict[str, PublicTree]) -> None:
    for name, value in (("kuhn_poker", -1 / 18), ("liars_dice(numdice=1,dice_sides=4)", 0.0625)):
        assert solve_linear_program(trees[name])[0] == pytest.approx(value, abs=1e-8)
    assert solve_linear_program(trees["leduc_poker"])[0] == pytest.approx(-0.085606424, abs=1e-8)


def test_matrix_games_of_any_shape() -> None:
    payoffs = np.random.default_rng(3).normal(size=(7, 4))
    tree = build_tree(load_openspiel(pyspiel.create_matrix_game(payoffs.tolist(), (-payoffs).tolist())))
    assert tree.num_nodes == 3
    np.testing.assert_allclose(tree.payoffs[0] * tree.stake[2], payoffs, atol=1e-12)


def test_constant_sum_is_played_for_the_difference() -> None:
    game = pyspiel.create_matrix_game([[2, 0], [1, 2]], [[1, 3], [2, 1]])
    tree = build_tree(load_openspiel(game))
    np.testing.assert_allclose(tree.payoffs[0] * tree.stake[2], [[0.5, -1.5], [-0.5, 0.5]], atol=1e-12)


def test_names_go_through_the_registry() -> None:
    game = load_game("openspiel:kuhn_poker")
    assert isinstance(game, OpenSpielGame)
    assert game.name == "openspiel:kuhn_poker"
    assert load_openspiel(game.source).name == "openspiel:kuhn_poker"
    assert game.action_name(game.root(), 0, 1) == "Bet"


def calls_of(work: Callable[[], object]) -> int:
    """Returns how many functions are called, those of OpenSpiel and NumPy among them."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def test_loading_takes_few_calls_per_history() -> None:
    """With 5 sides there are 2,047 public states of 25 pairs of rolls, and it takes 28 calls for each."""
    load_openspiel("liars_dice(dice_sides=2)")  # what is done only once
    assert calls_of(lambda: build_tree(load_openspiel("liars_dice(dice_sides=5)"))) < 40 * 2047 * 25


def test_liars_dice() -> None:
    tree = build_tree(load_openspiel("liars_dice"))
    assert (tree.num_nodes, tree.num_infostates, len(tree.payoffs)) == (8191, 24576, 12)
    assert nash_conv(uniform_policy(tree)) == pytest.approx(1.56149, abs=1e-5)


@pytest.mark.slow
def test_perfect_information_is_one_hand_each() -> None:
    tree = build_tree(load_openspiel("tic_tac_toe"))
    assert tree.num_infostates == 294_778
    reference = pyspiel.nash_conv(tree.game.source, pyspiel.UniformRandomPolicy(tree.game.source))
    assert nash_conv(uniform_policy(tree)) == pytest.approx(reference, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kuhn_pokr", "OpenSpiel has no game 'kuhn_pokr'; did you mean kuhn_poker"),
        ("kuhn_poker(cards=4)", "Unknown parameter 'cards'. Available parameters are: players"),
        ("leduc_poker(", "OpenSpiel cannot load 'leduc_poker(': Missing closing bracket"),
        ("kuhn_poker(players=3)", "openspiel:kuhn_poker(players=3) has 3 players; two are needed"),
        ("matrix_pd", "openspiel:matrix_pd is general-sum; a zero-sum game is needed"),
        ("backgammon", "openspiel:backgammon does not say what a player knows"),
        ("dark_hex_ir(board_size=2)", "imperfect recall"),
        ("go(board_size=99999)", "The current Go implementation supports board size up to 19"),
        ("nim(pile_sizes=1;2147483647)", "OpenSpiel cannot load 'nim(pile_sizes=1;2147483647)': it"),
        ("hanabi(players=-2147483648)", "OpenSpiel cannot load 'hanabi(players=-2147483648)': it crashes (SIG"),
    ],
)
def test_what_cannot_be_solved_is_refused_in_one_line(
    name: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(GameError) as caught:
        load_openspiel(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_a_game_of_a_thousand_moves_is_refused_by_the_memory_it_takes() -> None:
    with (
        watch(memory=80 << 20),
        pytest.raises(TooBigError, match=r"oshi_zumo.* took 0\.\d GiB of memory for .* histories"),
    ):
        load_openspiel("oshi_zumo(coins=6,size=2)")


@pytest.mark.parametrize(
    ("name", "size"),
    [("chess", "more than 1e+30"), ("liars_dice(numdice=2)", "about "), ("phantom_ttt", "about ")],
)
def test_games_that_are_too_big_say_how_big(name: str, size: str) -> None:
    allowed = "200,000 positions" if name == "chess" else "5,000,000"

    def refuse() -> None:
        with pytest.raises(TooBigError) as caught:
            load_openspiel(name)
        refused.append(str(caught.value))

    refused: list[str] = []
    assert calls_of(refuse) < 300_000, "it is estimated, not walked"
    assert refused[0].startswith(f"openspiel:{name} has {size}")
    assert refused[0].endswith(f"histories; at most {allowed} are allowed")


def test_without_openspiel_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'aleator\[openspiel\]'"):
        load_openspiel("kuhn_poker")


def test_policies_that_openspiel_cannot_tell_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = build_tree(load_openspiel("kuhn_poker"))
    known = HistoryGame.infostate
    monkeypatch.setattr(OpenSpielGame, "infostate", lambda *where: str(known(*where))[:1])
    with pytest.raises(GameError, match="to both players, whose policies differ"):
        to_openspiel_policy(random_policy(tree, np.random.default_rng(0)))
