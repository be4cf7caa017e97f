"""Rounds against the equilibrium: the table's numbers, and secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.apps.web.worker.equilibrium import open_game
from aleator.apps.web.worker.judgement import OFTEN
from aleator.apps.web.worker.opponents import prepare
from aleator.apps.web.worker.play import PlayError, open_solved, play
from aleator.apps.web.worker.solved import SolvedGame, after, belief_of
from aleator.apps.web.worker.solved_spot import SolvedSpot
from aleator.games.holdem.game import HoldemState
from aleator.games.holdem.spot_file import spot_from_table
from aleator.games.table import PublicHistory, Table
from aleator.solvers.best_response import best_response_value
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from tests.apps.web.running import RIVER, RunningServer, Silent


@pytest.fixture(scope="module", params=["kuhn", "leduc", "liars-dice:1x4"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = solve(request.param, limits=Limits(exploitability=1e-5))
    path = tmp_path_factory.mktemp("games") / "game.solution"
    found.save(path)
    return path


def new_state(game: str, seat: str = "alternate", seed: int = 7) -> dict[str, Any]:
    totals = {"deals": 0, "won": 0.0, "skill": 0.0, "given_up": 0.0, "expected": 0.0}
    return {
        "game": game, "opponent": "equilibrium", "seat": seat, "solution": None, "seed": seed, "draws": 0, "deal": None,
        "totals": totals,
    }  # fmt: skip


def step(state: dict[str, Any], file: Path, move: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    answer = play({"state": state, "file": str(file), "move": move}, Silent())
    return answer["state"], answer["view"]


def first_history(solved: SolvedGame) -> PublicHistory:
    root = solved.game.root()
    return PublicHistory(solved.game.actor(root), root, ())


def test_beliefs_are_bayes_rule(file: Path) -> None:
    solved = SolvedGame(open_game(str(file)))
    history = first_history(solved)
    later = after(solved.game, history, 1)
    expected = solved.game.deal(history.state)[:, 0] * solved.agent.policy_at(history)[1]
    found = belief_of(solved.agent, later, 1, 0)
    assert found is not None
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-9)


def random_deals(file: Path, game: str, deals: int, **changes: Any) -> Iterator[dict[str, Any]]:
    """Yields deals in which the player takes any action, as the player sees them at the end."""
    rng, state = np.random.default_rng(7), new_state(game) | changes
    for _ in range(deals):
        state, view = step(state, file, "deal")
        while not view["deal"]["over"]:
            options = view["deal"]["options"]
            state, view = step(state, file, options[int(rng.integers(len(options)))]["label"])
        yield view["deal"]


def check_adds_up(deals: list[dict[str, Any]]) -> None:
    """Asserts that each deal adds up, and that luck has mean zero, |z| < 4."""
    for deal in deals:
        given_up = sum(shown["given_up"] for shown in deal["steps"] if shown["who"] == "you")
        assert deal["given_up"] == pytest.approx(given_up) and given_up >= 0
        assert deal["skill"] == deal["expected"] - deal["given_up"]
        assert deal["won"] == pytest.approx(deal["expected"] - deal["given_up"] + deal["luck"])
    luck = np.array([deal["luck"] for deal in deals])
    assert abs(luck.mean()) < 4 * luck.std() / np.sqrt(len(luck))


def check_grades(deals: list[dict[str, Any]]) -> None:
    """Asserts that no action is a mistake that the equilibrium, as it is shown, takes often."""
    shown = [step for deal in deals for step in deal["steps"] if step["who"] == "you"]
    for decision in shown:
        if decision["policy"] is None:
            assert decision["note"]
            continue
        lost = max(decision["values"]) - np.array(decision["values"])
        often = np.array(decision["policy"]) >= OFTEN
        assert (lost[often] <= decision["slack"]).all()
        assert decision["given_up"] == (0 if often[decision["taken"]] else pytest.approx(lost[decision["taken"]]))
    assert any(decision["policy"] is not None for decision in shown)


def test_deals_add_up_and_grades_agree_with_the_equilibrium(file: Path) -> None:
    """Result = seat's value - given up + luck in each deal; n = 1,200 a game, seed 7."""
    deals = list(random_deals(file, open_game(str(file)).summary.game, 1200))
    check_adds_up(deals)
    check_grades(deals)


def test_deals_of_a_spot_add_up(tmp_path: Path) -> None:
    """Mistakes bring hands to where the solution has no policy for them; these are judged all the same. n = 400."""
    spot = RIVER | {"river": RIVER["river"], "solve": {"target": 0.001, "max_iterations": 400}}
    solve(spot_from_table(spot)).save(tmp_path / "river.solution")
    deals = list(random_deals(tmp_path / "river.solution", "holdem", 400))
    check_adds_up(deals)
    check_grades(deals)
    notes = {shown["note"] for deal in deals for shown in deal["steps"] if shown["who"] == "you"}
    assert any("never gets here with your hand" in note for note in notes)


def test_what_an_action_is_worth_counts_on_no_mistake_later(tmp_path: Path) -> None:
    """Whatever the average policy of a weightless hand is later, it changes nothing in the judgement of an earlier
    action."""
    found = solve("leduc", limits=Limits(exploitability=1e-4))
    solved = SolvedGame(found)
    history = first_history(solved)
    expected = best_response_value(found.policy, 0)
    deal = solved.game.deal(history.state)
    best = sum(deal[hand].sum() * np.asarray(solved.judgement(history, hand).values).max() for hand in range(len(deal)))
    assert best == pytest.approx(expected, abs=1e-9)
    assert solved.seat_value(0) == pytest.approx(expected, abs=1e-12)


def test_who_plays_the_equilibrium_gives_up_nothing(file: Path) -> None:
    solution = open_game(str(file))
    solved = open_solved(solution.summary.game, str(file))
    state = new_state(solution.summary.game)
    for _ in range(30):
        state, view = step(state, file, "deal")
        while not view["deal"]["over"]:
            now = state["deal"]
            table = Table.resumed(solved.game, now["events"], now["hands"], np.random.default_rng(0))
            policy = solved.agent.policy_at(table.observe().history)[:, now["hands"][-1][now["seat"]]]
            state, view = step(state, file, view["deal"]["options"][int(policy.argmax())]["label"])
    assert state["totals"]["given_up"] < 0.02
    assert state["totals"]["skill"] == pytest.approx(state["totals"]["expected"], abs=0.02)


def test_nothing_secret_is_shown_before_the_end(file: Path) -> None:
    game = open_game(str(file)).summary.game
    state, view = step(new_state(game, seat="second"), file, "deal")
    while not view["deal"]["over"]:
        assert view["deal"]["agent_hand"] is None
        assert not any({"belief", "policy", "values", "mixture", "why"} & set(shown) for shown in view["deal"]["steps"])
        state, view = step(state, file, view["deal"]["options"][-1]["label"])
    assert view["deal"]["agent_hand"] is not None and all("belief" in shown for shown in view["deal"]["steps"])
    own = [shown for shown in view["deal"]["steps"] if shown["who"] == "you"]
    assert own and all(shown["why"] for shown in own)


def test_an_agent_that_searches_plays_its_own_policy_and_tells_its_own_beliefs(tmp_path: Path) -> None:
    found = solve("kuhn", limits=Limits(exploitability=1e-5))
    found.save(tmp_path / "kuhn.solution")
    state = new_state("kuhn", seat="second") | {"opponent": "search"}
    state, view = step(state, tmp_path / "kuhn.solution", "deal")
    again = step(new_state("kuhn", seat="second") | {"opponent": "search"}, tmp_path / "kuhn.solution", "deal")[1]
    assert again == view, "the same seed gives the same deal"
    while not view["deal"]["over"]:
        state, view = step(state, tmp_path / "kuhn.solution", view["deal"]["options"][-1]["label"])
    acted = [shown for shown in view["deal"]["steps"] if shown["who"] == "agent"]
    assert acted and all(sum(shown["policy"]) == pytest.approx(1) for shown in acted)
    assert all(sum(shown["belief"]["shares"]) == pytest.approx(1) for shown in view["deal"]["steps"])


def test_rebel_sits_at_the_table(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="ReBeL's network needs PyTorch")
    found = solve("liars-dice:1x4", limits=Limits(exploitability=1e-4))
    file = tmp_path / "dice.solution"
    found.save(file)
    assert prepare({"opponent": "rebel", "game": "liars-dice:1x4"}, Silent()) == {}
    state, view = step(new_state("liars-dice:1x4", seat="second") | {"opponent": "rebel"}, file, "deal")
    (first,) = [shown for shown in state["deal"]["steps"] if shown["who"] == "agent"]
    assert sum(first["policy"]) == pytest.approx(1) and len(first["policy"]) == 8
    while not view["deal"]["over"]:
        state, view = step(state, file, view["deal"]["options"][-1]["label"])
    assert all(sum(shown["belief"]["shares"]) == pytest.approx(1) for shown in view["deal"]["steps"])


def test_moves_out_of_turn_are_refused(file: Path) -> None:
    game = open_game(str(file)).summary.game
    state, _ = step(new_state(game, seat="first"), file, "deal")
    with pytest.raises(PlayError, match="not over"):
        step(state, file, "deal")
    with pytest.raises(PlayError, match="not possible here"):
        step(state, file, "jump")
    with pytest.raises(PlayError, match="nothing is dealt: deal first"):
        step(new_state(game), file, "check")


def test_the_house_takes_its_rake_from_what_is_won_at_a_spot(tmp_path: Path) -> None:
    """Both players' winnings add up to what the house takes, and a winner gets the pot less that."""
    table = RIVER | {"rake": {"rate": 0.1, "cap": 20}, "solve": {"target": 0, "max_iterations": 5}}
    found = solve(spot_from_table(table))
    found.save(tmp_path / "raked.solution")
    solved, rng = SolvedSpot(str(tmp_path / "raked.solution")), np.random.default_rng(4)
    for _ in range(40):
        game = Table(solved.game, rng)
        while not game.is_over:
            game.act(int(rng.choice(game.observe().legal)))
        state = game.state
        assert isinstance(state, HoldemState)
        matched = min(solved.game.betting(state).chips)
        taken = min(0.1 * (RIVER["pot"] + 2 * matched), 20)
        first, second = (solved.payoff(game, player) for player in (0, 1))
        assert first + second == pytest.approx(-taken)
        if game.payoff(0) > 0:
            assert first == pytest.approx(RIVER["pot"] / 2 + matched - taken)


def test_a_solved_spot_can_be_played(server: RunningServer, river: str) -> None:
    session = server.client.post("/api/play/sessions", json={"game": "holdem", "solution": river}).json()
    for _ in range(6):
        while not session["deal"]["over"]:
            move = session["deal"]["options"][0]["label"]
            session = server.client.post(f"/api/play/sessions/{session['id']}/move", json={"move": move}).json()
        assert session["deal"]["steps"][-1]["belief"]["form"] == "grid"
        session = server.client.post(f"/api/play/sessions/{session['id']}/move", json={"move": "deal"}).json()
    totals, results = session["totals"], session["results"]
    assert totals["deals"] == len(results) == 6 and totals["given_up"] >= 0
    summed = [totals[name] for name in ("won", "skill", "given_up")]
    room = 5e-6 * np.abs(results).sum(axis=0)  # results and totals have seven digits after every deal
    assert (np.abs(np.sum(results, axis=0) - summed) <= room).all(), (results, summed)
    assert "hands" not in json.dumps(session["deal"]["steps"])


@pytest.mark.parametrize(
    "request_",
    [
        {"game": "chess"},
        {"game": "kuhn", "opponent": "nobody"},
        {"game": "holdem"},
        {"game": "holdem", "solution": "0" * 16},
    ],
)
def test_impossible_sessions_are_refused(server: RunningServer, request_: dict[str, str]) -> None:
    assert server.client.post("/api/play/sessions", json=request_).status_code == 400
