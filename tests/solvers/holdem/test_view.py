"""What is read from a solved spot agrees with the engine, with closed forms, and with itself from node to node."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.errors import AleatorError, SolutionError, SolveError, TooBigError
from aleator.games.holdem.betting_tree import NodeKind
from aleator.games.holdem.cards import HANDS, blocked_hands, format_card, parse_hand
from aleator.games.holdem.evaluator import strengths
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.node_path import NodePathError
from aleator.games.holdem.spot import Rake, Spot
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.holdem import estimate as holdem_estimate
from aleator.solvers.holdem.board_solution import ONE
from aleator.solvers.holdem.estimate import HoldemEstimate
from aleator.solvers.holdem.problem import SpotProblem, pot_fraction
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.solver import HoldemSolver
from aleator.solvers.holdem.view import HoldemView, NodeView
from aleator.solvers.limits import Limits, Progress
from aleator.solvers.solve import solve
from aleator.storage import StorageError, write_arrays

SIZES = """
[flop.oop]
bet = ["100%"]
[turn.oop]
bet = ["50%", "all-in"]
[turn.ip]
bet = ["100%"]
raise = ["all-in"]
[river.oop]
bet = ["all-in"]
[river.ip]
bet = ["75%"]
"""


NO_RAKE = Rake()


def spot(board: str, oop: str, ip: str, *, sizes: str = SIZES, rake: Rake = NO_RAKE) -> Spot:
    text = f'board = "{board}"\npot = 100\nstack = 300\noop = "{oop}"\nip = "{ip}"\n{sizes}'
    return replace(parse_spot(text), rake=rake)


RIVER = spot("Qs Jh 2h 8c 3d", "AA,KK:0.5,QJs,T9s,A5s,76s:0.25,22", "QQ-TT,AQo,98s,KTs:0.7,5h4h")
TURN = spot("3s 7h Td Ks", "AA,76s,AsKh,T9s:0.3", "KK-TT,A7s,98s:0.6")
FLOP = spot("7s 7h 2d", "AKs,88", "QQ,A2s")
RAKED = replace(TURN, rake=Rake(rate=0.05, cap=8.0))
SPOTS = {"river": RIVER, "turn": TURN, "raked turn": RAKED, "flop": FLOP}


def solved(spot: Spot, iterations: int, *, isomorphism: bool = True) -> tuple[HoldemSolver, HoldemSolution]:
    solver = HoldemSolver(spot, isomorphism=isomorphism)
    solver.run(iterations)
    return solver, HoldemSolution.of_solver(solver, "dcfr")


def mass(view: NodeView) -> float:
    """Returns the weight of all pairs of hands that get to a node."""
    return float(view.weights[0] @ view.matchups[0])


@pytest.mark.parametrize("name", list(SPOTS))
def test_values_at_the_root_are_those_of_the_engine(name: str) -> None:
    solver, solution = solved(SPOTS[name], 20)
    view = HoldemView(solution).node("r")
    for player in (0, 1):
        rows = solver.plan.rows(player, solver.plan.boards[0][0])
        cfvs = ((view.evs[player] - 50) * view.matchups[player])[rows]
        scale = view.matchups[player].max()
        np.testing.assert_allclose(cfvs / scale, solver.root_values(player) / scale, atol=0.02)
        assert view.mean(player, view.evs[player]) - 50 == pytest.approx(solver.quality().values[player], abs=0.01)
    assert view.mean(0, view.equities[0]) + view.mean(1, view.equities[1]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", list(SPOTS))
def test_best_responses_at_the_root_are_those_of_the_engine(name: str) -> None:
    """Also where suits are renamed, and with rake."""
    solver, solution = solved(SPOTS[name], 20)
    view, quality = HoldemView(solution, best=True).node("r"), solver.quality()
    for player in (0, 1):
        assert view.mean(player, view.evs[player]) - 50 == pytest.approx(quality.best[player], abs=0.01)
    assert sum(quality.best) > sum(quality.values) + 0.1, "something is left to gain"


@pytest.mark.parametrize("rake", [Rake(), Rake(rate=0.1, cap=7.0)])
def test_checking_down_a_river_gives_each_hand_its_equity_of_the_pot(rake: Rake) -> None:
    checked = spot("Qs Jh 2h 8c 3d", RIVER.oop, RIVER.ip, sizes="", rake=rake)
    view = HoldemView(solved(checked, 1)[1]).node("r")
    weights, order = checked.weights(), strengths(checked.board).astype(int)
    for hand in np.flatnonzero(weights[0]):
        apart = ~(HANDS[:, :, None] == HANDS[hand]).any(axis=(1, 2))
        others = weights[1] * apart
        share = others @ ((order[hand] > order) + 0.5 * (order[hand] == order)) / others.sum()
        assert view.matchups[0][hand] == pytest.approx(others.sum(), abs=1e-12)
        assert view.equities[0][hand] == pytest.approx(share, abs=1e-12)
        assert view.evs[0][hand] == pytest.approx(share * (100 - rake.amount(100)), abs=1e-9)


def test_equity_of_a_pair_of_hands_on_the_turn_counts_the_rivers() -> None:
    duel = spot("Ks 7h Td 3s", "AsAh", "9s8s")
    view = HoldemView(solved(duel, 1)[1]).node("r")
    wins = [
        strengths([*duel.board, card])[parse_hand("AsAh")] > strengths([*duel.board, card])[parse_hand("9s8s")]
        for card in range(52)
        if format_card(card) not in ("Ks", "7h", "Td", "3s", "As", "Ah", "9s", "8s")
    ]
    assert len(wins) == 44 and 0.5 < np.mean(wins) < 0.9
    assert view.equities[0][parse_hand("AsAh")] == pytest.approx(np.mean(wins), abs=1e-12)
    assert view.equities[1][parse_hand("9s8s")] == pytest.approx(1 - np.mean(wins), abs=1e-12)


@pytest.mark.parametrize("name", ["turn", "raked turn", "flop"])
def test_nodes_agree_with_the_nodes_below_them(name: str) -> None:
    view = HoldemView(solved(SPOTS[name], 8)[1])
    for path in ("r", "r:0:c", "r:0:c:c"):
        here = view.node(path)
        if here.node.kind is NodeKind.DECISION:
            below = [view.node(here.path.then(token)) for token in here.node.tokens]
            chances = np.array([mass(child) for child in below])
            np.testing.assert_allclose(chances / mass(here), here.frequencies, atol=1e-9)
        else:
            cards = [card for card in range(52) if card not in here.board]
            below = [view.node(here.path.then(format_card(card))) for card in cards]
            chances = np.array([mass(child) for child in below])
            assert chances.sum() == pytest.approx(mass(here) * (48 - len(here.board)), rel=1e-6)
        for player in (0, 1):
            means = [child.mean(player, child.evs[player]) for child in below]
            known = chances > 0
            mean = chances[known] @ np.array(means)[known] / chances.sum()
            assert here.mean(player, here.evs[player]) == pytest.approx(mean, abs=1e-7)
        rake = 100 - here.mean(0, here.evs[0]) - here.mean(1, here.evs[1])
        assert rake == pytest.approx(0.0, abs=1e-4) if "raked" not in name else 5.0 - 1e-4 <= rake <= 8.0


def test_boards_that_are_stored_under_other_suits_read_like_boards_of_their_own() -> None:
    folded, plain = (HoldemView(solved(FLOP, 2, isomorphism=flag)[1]) for flag in (True, False))
    stored = {board.cards for board in folded.solution.boards[2]}
    found = 0
    for turn, river in (("Ac", "Kc"), ("As", "9c"), ("Ah", "8h"), ("9s", "9c"), ("3c", "3h")):
        for path in (f"r:0:c:c:{turn}", f"r:0:c:c:{turn}:c:b100", f"r:0:c:c:{turn}:c:c:{river}"):
            ours, theirs = folded.node(path), plain.node(path)
            found += ours.board not in stored
            for player in (0, 1):
                np.testing.assert_allclose(ours.weights[player], theirs.weights[player], atol=1e-4)
                np.testing.assert_allclose(ours.equities[player], theirs.equities[player], atol=1e-4)
                np.testing.assert_allclose(ours.evs[player], theirs.evs[player], atol=0.05)
            alive = ours.weights[ours.player] > 1e-3
            np.testing.assert_allclose(ours.policy[:, alive], theirs.policy[:, alive], atol=2e-3)
            assert not ours.weights[0][blocked_hands(ours.board)].any()
    assert found > 5, "some boards are stored under other suits"
    assert len(folded.solution.boards[2]) < len(plain.solution.boards[2])


def test_policies_are_the_average_policies_of_the_solver() -> None:
    solver, solution = solved(RIVER, 30)
    view = HoldemView(solution).node("r")
    rows, shape = solver.engine.decision_rows(0, 0, 0)
    hands = solver.plan.rows(0, solver.plan.boards[0][0])
    sums = solver.engine.storage[0].policy_sum[rows].reshape(shape)[:, : len(hands)]
    np.testing.assert_allclose(view.policy[:, hands], sums / sums.sum(axis=0), atol=1.5 / ONE)
    np.testing.assert_allclose(view.policy[:, hands].sum(axis=0), 1.0, atol=1e-12)
    best = view.action_evs[:, hands].max(axis=0)
    mix = np.einsum("ah,ah->h", view.policy, np.nan_to_num(view.action_evs))[hands]
    np.testing.assert_allclose(view.evs[0][hands], mix, atol=1e-9)
    assert (best >= mix - 1e-9).all()


def test_a_file_holds_everything(tmp_path: Path) -> None:
    _, solution = solved(TURN, 10)
    file = tmp_path / "turn.solution"
    solution.save(file)
    opened = HoldemSolution.open(file)
    assert opened.spot == TURN and opened.summary == solution.summary
    for path in ("r", "r:0:c:b100", "r:0:c:c:2c:b300"):
        ours, theirs = HoldemView(opened).node(path), HoldemView(solution).node(path)
        np.testing.assert_array_equal(ours.policy, theirs.policy)
        np.testing.assert_array_equal(ours.evs, theirs.evs)
    opened.save(tmp_path / "again.solution", river=False)
    assert (tmp_path / "again.solution").stat().st_size < file.stat().st_size / 5


def test_a_river_that_was_left_out_is_solved_again(tmp_path: Path) -> None:
    _, solution = solved(TURN, 400)
    solution.save(tmp_path / "x", river=False)
    view, full = HoldemView(HoldemSolution.open(tmp_path / "x")), HoldemView(solution)
    assert np.isnan(view.node("r").evs[0]).all() and not view.node("r").resolved
    np.testing.assert_array_equal(view.node("r:0:c").policy, full.node("r:0:c").policy)
    for path in ("r:0:c:c:2c", "r:0:c:c:2c:c", "r:0:b50:c:Ah"):
        ours, theirs = view.node(path), full.node(path)
        assert ours.resolved and not theirs.resolved
        assert (ours.path, ours.board, ours.node.tokens) == (theirs.path, theirs.board, theirs.node.tokens)
        held = theirs.weights[1] > 1e-4  # hands that never get here are not part of what is solved again
        np.testing.assert_allclose(ours.matchups[1][held], theirs.matchups[1][held], rtol=0.2, atol=0.1)
        assert held.sum() > 10
        for player in (0, 1):
            expected = theirs.mean(player, theirs.evs[player])
            assert ours.mean(player, ours.evs[player]) == pytest.approx(expected, abs=2.0), "2 % of the pot"


def test_files_that_are_no_solutions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    write_arrays(tmp_path / "other", {"a": np.zeros(2)}, {})
    write_arrays(tmp_path / "empty", {}, {"format": "holdem-1", "spot": "", "summary": "{}"})
    with pytest.raises(StorageError, match="not a file of arrays"):
        HoldemSolution.open(tmp_path / "text")
    with pytest.raises(SolutionError, match="not a solution: its format is None"):
        HoldemSolution.open(tmp_path / "other")
    with pytest.raises(AleatorError, match="damaged"):
        HoldemSolution.open(tmp_path / "empty")


def test_files_whose_spot_was_changed_are_refused(tmp_path: Path) -> None:
    _, solution = solved(TURN, 1)
    solution.spot = replace(TURN, oop="AA,76s")
    solution.save(tmp_path / "x")
    with pytest.raises(SolutionError, match="but the game needs"):
        HoldemSolution.open(tmp_path / "x")


def test_nodes_that_nobody_reaches_have_no_means() -> None:
    _, solution = solved(spot("As Ks Qs Js 2d", "4c3c", "Ts9s"), 200)
    assert HoldemView(solution).node("r:0:c").evs[1][parse_hand("Ts9s")] == pytest.approx(100.0, abs=0.5)
    policy = solution._arrays["policy0_0"]
    policy[0, 1] = 0  # the root comes first: its rows are check and bet
    view = HoldemView(solution).node("r:0:b300")
    assert not view.weights[0].any() and view.weights[1].any()
    assert all(np.isnan(share) for share in view.frequencies) and len(view.frequencies) == 2
    assert np.isnan(view.mean(1, view.evs[1])) and np.isnan(view.evs[1]).all()


def test_nodes_that_are_not_there_are_named() -> None:
    view = HoldemView(solved(TURN, 1)[1])
    for path, message in (("r:0:b77", "possible are"), ("r:0:c:c:7h", "dealt already"), ("x", "must begin with 'r'")):
        with pytest.raises(NodePathError, match=message):
            view.node(path)


def test_a_solve_stops_at_its_target_and_when_asked() -> None:
    found = solve(TURN, limits=Limits(exploitability=0.01 * TURN.pot, iterations=2000))
    curve = [point.exploitability for point in found.summary.curve]
    assert curve[-1] <= 1.0 < min(curve[:-1]), "1 % of the pot of 100"
    assert found.summary.iterations < 2000 and found.summary.exploitability == curve[-1]
    half = solve(TURN, limits=Limits(exploitability=0.01 * TURN.pot, iterations=2000), dtype="float16").summary
    assert half.values[0] == pytest.approx(found.summary.values[0], abs=2.0)
    assert solve(RIVER, "pcfr+", limits=Limits(iterations=37)).summary.iterations == 37
    seen: list[Progress] = []

    def stop(now: Progress) -> bool:
        seen.append(now)
        return len(seen) == 3

    stopped = solve(TURN, limits=Limits(iterations=10**9), on_progress=stop)
    assert stopped.summary.iterations > 0
    assert len(seen) <= 4


def test_the_estimate_is_what_the_solver_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    def estimate(case: Spot, **settings: Any) -> HoldemEstimate:
        return SpotProblem(HoldemGame(case)).estimate("dcfr", **settings)

    for small in (RIVER, TURN):
        found, solver = estimate(small, measure=False), HoldemSolver(small)
        memory = solver.engine.memory()
        assert list(found.nodes) == solver.plan.num_nodes()
        assert found.numbers * 8 == pytest.approx(memory["storage"], rel=0.1)
    wide = spot("3s 7h Td Ks", "22+,A2s+,KTo+", "22+,A2s+,KTo+")
    memory = HoldemSolver(wide).engine.memory()
    assert estimate(wide, measure=False).memory == pytest.approx(sum(memory.values()), rel=0.1)
    half = HoldemSolver(wide, bits=16).engine.memory()
    assert estimate(wide, dtype="float16", measure=False).memory == pytest.approx(sum(half.values()), rel=0.15)
    measured = estimate(TURN)
    assert 0 < measured.seconds_per_iteration < 1 and measured.seconds > measured.seconds_per_iteration
    monkeypatch.setattr(holdem_estimate, "available_memory", lambda: 1000)
    with pytest.raises(TooBigError, match="fewer bet sizes"):
        solve(TURN)


def test_impossible_limits_are_refused() -> None:
    for target in (-1.0, float("nan"), float("inf")):
        with pytest.raises(SolveError, match="fraction of the pot"):
            pot_fraction(TURN, target)
    with pytest.raises(SolveError, match="in float32, or in float16 for half the memory, not in float64"):
        solve(TURN, dtype="float64")
