"""The board engine equals the general engine on the same spots, and both agree with closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import check_game
from aleator.games.holdem.cards import HANDS, parse_cards
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.spot import Rake, Spot, SpotError
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.algorithms import NAMED_RULES
from aleator.solvers.best_response import best_response_value, expected_value
from aleator.solvers.cfr import CFR
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.trees import build_tree

MENU = """
[flop.oop]
bet = ["100%"]
[flop.ip]
bet = ["all-in"]
[turn.oop]
bet = ["50%", "all-in"]
raise = ["75%"]
[turn.ip]
bet = ["100%"]
raise = ["all-in"]
[river.oop]
bet = ["50%", "all-in"]
raise = ["all-in"]
[river.ip]
bet = ["100%"]
raise = ["all-in"]
"""


def spot(board: str, oop: str, ip: str, *, pot: int = 100, stack: int = 300, menu: str = MENU) -> Spot:
    return parse_spot(f'board = "{board}"\npot = {pot}\nstack = {stack}\noop = "{oop}"\nip = "{ip}"\n{menu}')


RIVER = spot("Qs Jh 2h 8c 3d", "AA,KK:0.5,QJs,T9s,A5s,76s:0.25,22", "QQ-TT,AQo,98s,KTs:0.7,5h4h")
TURN = spot("3s 7h Td Ks", "AA,76s,AsKh,T9s:0.3", "KK-TT,A7s,98s:0.6")
FLOP = spot(
    "7s 7h 2d", "AKs,88", "QQ,A2s", stack=150,
    menu='[flop.oop]\nbet = ["100%"]\n[turn.ip]\nbet = ["all-in"]\n[river.oop]\nbet = ["all-in"]',
)  # fmt: skip
Places = list[list[tuple[slice, tuple[int, int], int, np.ndarray]]]
SPOTS = {"river": RIVER, "turn": TURN, "flop": FLOP}


@pytest.mark.parametrize("name", ["river", "turn"])
def test_spots_keep_the_contract_of_games(name: str) -> None:
    assert check_game(HoldemGame(SPOTS[name])).size.public_states > 10


def same_start(spot: Spot, rule: str, seed: int) -> tuple[CFR, HoldemSolver, Places]:
    """Returns both engines with the same random regrets and sums of policies, and where decisions lie in the second.

    Random starts have no ties; with ties, float32 and float64 would part at once.
    """
    rng = np.random.default_rng(seed)
    tree = build_tree(HoldemGame(spot))
    general, boards = CFR(tree, NAMED_RULES[rule]), HoldemSolver(spot, NAMED_RULES[rule], isomorphism=False)
    plan = boards.plan
    on_board = [{board.cards: index for index, board in enumerate(street)} for street in plan.boards]
    found: Places = [[], []]
    for player in (0, 1):
        for node in tree.decisions(player):
            state = tree.states[node]
            level = len(state.board) - len(spot.board)
            board = on_board[level][state.board]
            rows, shape = boards.engine.decision_rows(level, board, int(plan.slot[state.node]))
            hands = np.searchsorted(plan.hands[player], plan.rows(player, plan.boards[level][board]))
            found[player].append((rows, shape, int(node), hands))
    kept, memory = boards.engine.storage, general.state()
    for player in (0, 1):
        for name, scale in (("regret", 10.0), ("policy_sum", 1.0)):
            vector = rng.normal(size=tree.policy_size[player]).astype(np.float32).astype(np.float64) * scale
            vector = vector if name == "regret" else np.abs(vector)
            memory[f"{name}{player}"][:] = general._engine.layout.pad(player, vector)
            for rows, shape, node, hands in found[player]:
                padded = np.zeros(shape, np.float32)
                start = tree.policy_start[node]
                everything = vector[start : start + shape[0] * tree.num_hands[player, node]].reshape(shape[0], -1)
                padded[:, : len(hands)] = everything[:, hands]
                getattr(kept[player], name)[rows] = padded.ravel()
        general._engine.match_regrets(player, memory[f"regret{player}"], memory[f"policy{player}"])
    general.restore(4, {name: vector.copy() for name, vector in memory.items()})
    boards.iteration = 4
    return general, boards, found


def assert_same_storage(general: CFR, boards: HoldemSolver, found: Places, name: str, tolerance: float) -> None:
    for player in (0, 1):
        vector = general._engine.layout.unpad(player, general.state()[f"{name}{player}"])
        for rows, shape, node, hands in found[player]:
            start, count = general.tree.policy_start[node], general.tree.num_hands[player, node]
            expected = vector[start : start + shape[0] * count].reshape(shape[0], count)[:, hands]
            ours = getattr(boards.engine.storage[player], name)[rows].reshape(shape)[:, : len(hands)]
            np.testing.assert_allclose(ours, expected, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", ["river", "turn", "flop"])
def test_the_board_engine_evaluates_policies_like_the_general_engine(name: str) -> None:
    general, boards, _ = same_start(SPOTS[name], "dcfr", seed=1)
    quality, policy = boards.quality(), general.average_policy()
    assert quality.values[0] == pytest.approx(expected_value(policy), abs=1e-3)
    assert quality.values[1] == pytest.approx(-expected_value(policy), abs=1e-3)
    for player in (0, 1):
        assert quality.best[player] == pytest.approx(best_response_value(policy, player), abs=1e-3)


@pytest.mark.parametrize("rule", ["cfr", "cfr+", "dcfr", "pcfr+", "pdcfr+", "lcfr"])
@pytest.mark.parametrize("name", ["river", "turn"])
def test_the_board_engine_updates_like_the_general_engine(name: str, rule: str) -> None:
    general, boards, found = same_start(SPOTS[name], rule, seed=2)
    # the board engine leaves the deal's normalisation and a hand's own weight out of its cfvs
    factors = []
    for player in (0, 1):
        for rows, shape, _, hands in found[player]:
            factor = np.ones(shape[1], np.float32)
            factor[: len(hands)] = boards.deals / boards.plan.weights[player][boards.plan.hands[player][hands]]
            factors.append(np.tile(factor, shape[0]))
            boards.engine.storage[player].regret[rows] *= factors[-1]
    general.run(1)
    boards.run(1)
    for player in (0, 1):
        for rows, *_ in found[player]:
            boards.engine.storage[player].regret[rows] /= factors.pop(0)
    assert_same_storage(general, boards, found, "regret", 1e-4)


def test_isomorphic_boards_are_solved_once_with_the_same_result() -> None:
    plain, folded = HoldemSolver(FLOP, isomorphism=False), HoldemSolver(FLOP)
    assert [len(boards) for boards in plain.plan.boards] == [1, 49, 49 * 48]
    assert len(folded.plan.boards[1]) < 49 and len(folded.plan.boards[2]) < 0.8 * 49 * 48
    for solver in (plain, folded):
        solver.run(2)
    ours, theirs = folded.quality(), plain.quality()
    assert ours.values[0] == pytest.approx(theirs.values[0], abs=0.02)
    assert ours.exploitability == pytest.approx(theirs.exploitability, abs=0.05)


@pytest.mark.parametrize("name", ["turn", "flop"])
def test_threads_change_nothing(name: str) -> None:
    one, two = HoldemSolver(SPOTS[name]), HoldemSolver(SPOTS[name], threads=2)
    one.run(4)
    two.run(4)
    for player in (0, 1):
        np.testing.assert_array_equal(one.engine.storage[player].regret, two.engine.storage[player].regret)
        np.testing.assert_array_equal(one.engine.storage[player].policy_sum, two.engine.storage[player].policy_sum)
    assert one.quality() == two.quality()


def equities(spot: Spot) -> tuple[float, float]:
    """Returns the probabilities that player 0 wins and that both tie on a river, pair of hands by pair of hands."""
    weights, order = spot.weights(), strengths(spot.board).astype(int)
    won = tied = total = 0.0
    for first in np.flatnonzero(weights[0]):
        for second in np.flatnonzero(weights[1]):
            if not set(HANDS[first]) & set(HANDS[second]):
                weight = weights[0][first] * weights[1][second]
                total += weight
                won += weight * (order[first] > order[second])
                tied += weight * (order[first] == order[second])
    return won / total, tied / total


@pytest.mark.parametrize("rake", [Rake(), Rake(rate=0.05, cap=3.0), Rake(rate=0.1)])
def test_checking_down_gives_equity_times_pot_less_rake(rake: Rake) -> None:
    checked = replace(spot("Qs Jh 2h 8c 3d", RIVER.oop, RIVER.ip, menu=""), rake=rake)
    solver = HoldemSolver(checked)
    solver.run(1)
    won, tied = equities(checked)
    taken, values = rake.amount(100), solver.quality().values
    assert values[0] + 50 == pytest.approx((won + tied / 2) * (100 - taken), abs=1e-3)
    assert sum(values) == pytest.approx(-taken, abs=1e-3)
    assert solver.quality().exploitability == pytest.approx(0.0, abs=1e-4)


def test_rake_makes_folds_and_calls_cost() -> None:
    raked = replace(RIVER, rake=Rake(rate=0.05, cap=10.0))
    solver = HoldemSolver(raked)
    solver.run(400)
    quality = solver.quality()
    assert -10.0 <= sum(quality.values) < -4.0, "at least 5 % of the pot of 100 is taken, at most the cap"
    assert 0 <= quality.exploitability < 0.5


def test_nuts_against_air_win_the_pot() -> None:
    nuts = spot("As Ks Qs Js 2d", "Ts9s", "4c3c,5c4c")
    solver = HoldemSolver(nuts)
    solver.run(300)
    assert solver.quality().values[0] == pytest.approx(50.0, abs=0.05)


def test_a_hand_cannot_be_dealt_twice_and_a_certain_tie_is_worth_nothing() -> None:
    board = "As Ks Qs Js 2d"
    with pytest.raises(SpotError, match="shares a card"):
        spot(board, "4c3c", "4c3c")
    solver = HoldemSolver(spot(board, "4c3c", "4h3h"))
    solver.run(50)
    quality = solver.quality()
    assert quality.values[0] == pytest.approx(0.0, abs=1e-3)
    assert 0 <= quality.exploitability < 1e-3  # 18.75 after one iteration


def test_renaming_suits_changes_nothing() -> None:
    swap = str.maketrans("shdc", "hscd")
    renamed = replace(
        TURN, board=tuple(parse_cards("3s 7h Td Ks".translate(swap))), oop=TURN.oop.replace("AsKh", "AhKs"), ip=TURN.ip
    )
    results = []
    for case in (TURN, renamed):
        solver = HoldemSolver(case)
        solver.run(1)
        results.append(solver.quality())
    assert results[0].values[0] == pytest.approx(results[1].values[0], abs=1e-3)
    assert results[0].exploitability == pytest.approx(results[1].exploitability, abs=1e-3)


def test_it_converges_and_is_zero_sum() -> None:
    solver = HoldemSolver(TURN)
    for _ in range(6):
        solver.run(50)
        quality = solver.quality()
        assert quality.exploitability >= -1e-4
        assert sum(quality.values) == pytest.approx(0.0, abs=1e-6 * TURN.pot)
    assert quality.exploitability < 0.003 * TURN.pot


def test_a_locked_decision_keeps_its_policy() -> None:
    """Player 0 is made to check always; then nothing player 0 wins comes from betting first."""
    solver = HoldemSolver(RIVER)
    rows, shape = solver.engine.decision_rows(0, 0, 0)
    policy = np.zeros(shape, np.float32)
    policy[0] = 1.0
    solver.lock(0, 0, 0, policy)
    solver.run(200)
    assert (solver.engine.storage[0].policy_sum[rows].reshape(shape)[1:] == 0).all()
    free = HoldemSolver(RIVER)
    free.run(200)
    assert solver.quality().values[0] < free.quality().values[0] + 0.01


@pytest.mark.parametrize("rule", ["hedge", "dcfr"])
def test_impossible_rules_are_refused(rule: str) -> None:
    with pytest.raises(SolveError, match="not available here"):
        HoldemSolver(RIVER, replace(NAMED_RULES[rule], alternating=False))


@pytest.mark.parametrize("name", ["river", "turn"])
def test_sixteen_bits_stay_within_a_thousandth_of_the_pot(name: str) -> None:
    full, half = HoldemSolver(SPOTS[name]), HoldemSolver(SPOTS[name], bits=16)
    assert half.engine.storage[0].regret.nbytes * 2 == full.engine.storage[0].regret.nbytes
    for solver in (full, half):
        solver.run(300)
    pot = SPOTS[name].pot
    assert half.quality().values[0] == pytest.approx(full.quality().values[0], abs=0.001 * pot)
    assert half.quality().exploitability < full.quality().exploitability + 0.001 * pot


@pytest.mark.parametrize("bits", [16, 32])
def test_blocks_can_be_written_and_read(bits: int) -> None:
    solver = HoldemSolver(RIVER, bits=bits)
    _, shape = solver.engine.decision_rows(0, 0, 0)
    block = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    for name in ("regret", "policy_sum"):
        solver.engine.write(name, 0, 0, 0, block)
        np.testing.assert_allclose(solver.engine.read(name, 0, 0, 0), block, rtol=2**-11 if bits == 16 else 0)
    with pytest.raises(SolveError, match="16 or 32 bits"):
        HoldemSolver(RIVER, bits=8)
