"""Solving and looking at solutions through the API of a real server."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.apps.spot_report import solve_report
from aleator.apps.web.models import Estimate, Hands, Node, Runouts
from aleator.apps.web.worker.channel import plain
from aleator.apps.web.worker.holdem import estimate, solve
from aleator.errors import SolveError
from aleator.games.holdem.cards import blocked_hands
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.view import HoldemView
from tests.apps.web.running import LONG, RIVER, TURN, RunningServer, Silent


def test_a_range_comes_back_canonical_with_the_weight_of_each_class(server: RunningServer) -> None:
    found = server.client.post("/api/holdem/range", json={"text": "KK,AA,AKs:0.5"}).json()
    assert found["canonical"] == "KK+,AKs:0.5"
    assert found["num_hands"] == 14
    assert found["weights"][:2] == [1.0, 0.5] and found["weights"][14] == 1.0 and sum(found["weights"]) == 2.5
    assert server.client.post("/api/holdem/range", json={"text": "AXs"}).status_code == 400


def test_a_spot_is_written_and_read_back(server: RunningServer) -> None:
    toml = server.client.post("/api/holdem/spot/format", json=TURN).json()["toml"]
    spot = server.client.post("/api/holdem/spot/parse", json={"toml": toml}).json()
    assert spot["turn"]["oop"]["bet"] == ["75%"] and spot["board"] == "Qs Jh 2h 8c"
    answer = server.client.post("/api/holdem/spot/parse", json={"toml": "board = 3"})
    assert answer.status_code == 400 and "board must be a text" in answer.json()["detail"]


def test_an_estimate_says_nodes_memory_and_whether_it_fits(server: RunningServer) -> None:
    found = Estimate.model_validate_json(server.client.post("/api/holdem/estimate", json={"spot": RIVER}).content)
    assert found.fits and found.boards == [1] and found.seconds is None
    measured = server.client.post("/api/holdem/estimate", json={"spot": RIVER, "measure": True}).json()
    assert measured["nodes"] == found.nodes and measured["seconds"] > 0


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"board": "Qs Qs 2h"}, "comes twice"),
        ({"oop": "QsQh"}, "leaves no hand"),
        ({"river": {"oop": {"bet": ["x"]}}}, "bet size"),
    ],
)
def test_spots_that_make_no_sense_are_refused_before_they_wait(
    server: RunningServer, change: dict[str, object], detail: str
) -> None:
    answer = server.client.post("/api/jobs/solve", json={"spot": RIVER | change})
    assert answer.status_code == 400 and detail in answer.json()["detail"]


def test_the_report_of_a_solve_is_that_of_the_command_line(server: RunningServer, river: str) -> None:
    kept = server.job(river)["summary"]
    printed = plain(solve_report(HoldemSolution.open(server.data_dir / "solutions" / f"{river}.solution")))
    assert {name: kept[name] for name in printed} == printed
    assert set(kept) - set(printed) == {"spot", "curve", "stopped"}
    assert kept["exploitability_fraction"] == pytest.approx(kept["exploitability"] / RIVER["pot"], rel=1e-6)


def test_nodes_say_what_the_solution_says(server: RunningServer, river: str) -> None:
    view = HoldemView(HoldemSolution.open(server.data_dir / "solutions" / f"{river}.solution"))
    answer = server.client.get(f"/api/solutions/{river}/node", params={"path": "r:0:c"})
    node, expected = Node.model_validate_json(answer.content), view.node("r:0:c")
    assert [action.frequency for action in node.actions] == pytest.approx(expected.frequencies, rel=1e-6)
    assert node.players[0].ev == pytest.approx(expected.mean(0, expected.evs[0]), rel=1e-6)
    assert (node.players[0].ev or 0) + (node.players[1].ev or 0) == pytest.approx(RIVER["pot"])
    assert sum(node.players[1].weights) == pytest.approx(expected.weights[1].sum(), rel=1e-5)
    assert [step.taken for step in node.line] == ["c", None]
    types = node.players[1].types
    assert sum(one.share for one in types) == pytest.approx(1, abs=1e-5) and {one.kind for one in types} == {"made"}
    for action, frequency in enumerate(expected.frequencies):
        assert sum(one.share * one.policy[action] for one in types) == pytest.approx(frequency, abs=1e-5)
    assert [one.name for one in types if (one.equity or 0) > 0.9] == ["three of a kind"]
    answer = server.client.get(
        f"/api/solutions/{river}/hands", params={"path": "r:0:c", "hand_class": "JTs", "player": 1}
    )
    hands = Hands.model_validate_json(answer.content)
    assert [one.hand for one in hands.hands] == ["JsTs", "JdTd", "JcTc"]
    assert all(sum(one.policy) == pytest.approx(1, abs=1e-4) for one in hands.hands)


def test_ranges_at_a_node_as_text_and_by_equity(server: RunningServer, river: str) -> None:
    view = HoldemView(HoldemSolution.open(server.data_dir / "solutions" / f"{river}.solution"))
    expected = view.node("r:0:c")
    found = server.client.get(f"/api/solutions/{river}/ranges", params={"path": "r:0:c"}).json()
    assert (found["board"], found["pot"], found["stack"]) == (RIVER["board"], RIVER["pot"], RIVER["stack"])
    live = ~blocked_hands(expected.board)
    for text, weights in zip(found["players"], expected.weights, strict=True):
        np.testing.assert_allclose(parse_hand_range(text) * live, weights, atol=6e-4)
    by_action = [parse_hand_range(text) * live for text in found["actions"]]
    np.testing.assert_allclose(sum(by_action), expected.weights[1], atol=2e-3)
    after = server.client.get(f"/api/solutions/{river}/ranges", params={"path": "r:0:b75"}).json()
    assert (after["pot"], after["stack"]) == (175, 225)
    assert parse_hand_range(after["players"][0]).sum() < parse_hand_range(RIVER["oop"]).sum()
    node = Node.model_validate_json(server.client.get(f"/api/solutions/{river}/node", params={"path": "r:0:c"}).content)
    for side in node.players:
        curve = [equity or 0.0 for equity in side.equity_curve]
        assert curve == sorted(curve) and 0 <= curve[0] < curve[-1] <= 1
        assert sum(curve) / len(curve) == pytest.approx(side.equity, abs=0.01), "a range's mean is its equity"


def test_there_is_no_way_past_the_tree(server: RunningServer, river: str) -> None:
    for path in ("r:0:x", "r:0:c:c:c", "../../etc/passwd", "r:0:8h"):
        answer = server.client.get(f"/api/solutions/{river}/node", params={"path": path})
        assert answer.status_code == 400, path
    assert server.client.get("/api/solutions/..%2F..%2Fjobs/node").status_code == 404
    assert server.client.get(f"/api/solutions/{'0' * 16}/node").status_code == 404


def test_a_locked_node_keeps_its_policy_and_the_rest_answers(server: RunningServer, river: str) -> None:
    """Who is made to fold to every bet is bet into with everything that can gain by it."""
    free = Node.model_validate_json(server.client.get(f"/api/solutions/{river}/node").content)
    lock = {"path": "r:0:b75", "edits": [{"hands": "random", "policy": [1, 0, 0]}]}
    answer = server.client.post(f"/api/solutions/{river}/resolve", json={"name": "Folds", "locks": [lock]})
    job = server.ended(answer.json()["id"])
    assert job["status"] == "done", job["error"]
    assert job["parent"] == river and list(job["summary"]["spot"]["lock"]) == ["r:0:b75"]
    locked = Node.model_validate_json(server.client.get(f"/api/solutions/{job['id']}/node").content)
    assert (free.actions[1].frequency or 0) < 0.9 < (locked.actions[1].frequency or 0)
    answer = server.client.post(f"/api/solutions/{river}/resolve", json={"locks": [lock | {"path": "r:0:c:c"}]})
    assert "nobody decides" in server.ended(answer.json()["id"])["error"]


@pytest.mark.parametrize(
    ("spot", "cards"), [(TURN, 48), (TURN | {"board": "Qs Jh 2h", "oop": "AKs,88", "ip": "QQ,A2s"}, 49)]
)
def test_every_next_card_has_its_evs(server: RunningServer, spot: dict[str, Any], cards: int) -> None:
    job = server.ended(server.solve(spot | {"solve": {"max_iterations": 20}}))
    runouts = Runouts.model_validate_json(
        server.client.get(f"/api/solutions/{job['id']}/runouts", params={"path": "r:0:c:c"}).content
    )
    assert len(runouts.cards) == cards
    assert sum(card.chance or 0 for card in runouts.cards) == pytest.approx(1)
    assert all(sum(card.evs) == pytest.approx(TURN["pot"], rel=1e-5) for card in runouts.cards)  # type: ignore[arg-type]


def test_a_solve_stopped_early_is_kept(server: RunningServer) -> None:
    job_id = server.solve(LONG)
    server.running(job_id)
    assert server.client.post(f"/api/jobs/{job_id}/stop").is_success
    job = server.ended(job_id)
    assert job["status"] == "done" and job["summary"]["stopped"] and 0 < job["summary"]["iterations"] < 1_000_000
    assert server.client.get(f"/api/solutions/{job_id}/node").is_success


def test_a_solution_travels_as_a_file(server: RunningServer, river: str, tmp_path: Path) -> None:
    file = server.client.get(f"/api/solutions/{river}/file").content
    job = server.client.post("/api/solutions/upload", params={"name": "Again"}, content=file).json()
    assert job["status"] == "done" and job["name"] == "Again"
    nodes = [
        server.client.get(f"/api/solutions/{one}/node", params={"path": "r:0:c"}).json() for one in (river, job["id"])
    ]
    assert nodes[0] == nodes[1]
    changed = bytearray(file)
    changed[len(file) * 3 // 4] ^= 1  # somewhere in a policy that no page has asked for yet
    for broken in (file[:1000], b"", b"x" * 100, bytes(changed)):
        assert server.client.post("/api/solutions/upload", content=broken).status_code == 400
    assert server.client.delete(f"/api/jobs/{job['id']}").status_code == 204
    assert not list((server.data_dir / "solutions").glob(f"{job['id']}*")) and not list(
        server.data_dir.glob("solutions/*.tmp")
    )


def test_a_killed_worker_fails_its_job_and_nothing_else(server: RunningServer, river: str) -> None:
    victim = server.solve(LONG)
    waiting = server.solve(RIVER)
    server.running(victim)
    assert server.job(waiting)["status"] == "queued"
    server.kill_solver()
    job = server.ended(victim)
    assert job["status"] == "failed" and "killed by SIGKILL" in job["error"]
    assert server.ended(waiting)["status"] == "done"
    assert server.client.get(f"/api/solutions/{river}/node").is_success


def test_a_deleted_job_is_gone_at_once(server: RunningServer) -> None:
    running, waiting = server.solve(LONG), server.solve(LONG)
    server.running(running)
    for job_id in (waiting, running):
        assert server.client.delete(f"/api/jobs/{job_id}").status_code == 204
        assert server.client.get(f"/api/jobs/{job_id}").status_code == 404
    assert server.ended(server.solve(RIVER))["status"] == "done"


def test_what_is_too_big_is_refused_with_advice() -> None:
    params = {"spot": TURN, "threads": 1, "bits": 32, "measure": False, "memory_limit": 10_000}
    assert not estimate(params, Silent())["fits"]
    with pytest.raises(SolveError, match=r"a worker may take .* use 16 bits"):
        solve(params | {"locks": [], "base": None, "output": "", "checkpoint": ""}, Silent())


def test_jobs_results_and_games_are_found_again_after_a_crash(empty: Path) -> None:
    first = RunningServer(empty).start()
    session = first.client.post("/api/play/sessions", json={"game": "kuhn", "seat": "first"}).json()
    done = first.solve(RIVER)
    first.ended(done)
    running, waiting = first.solve(LONG), first.solve(RIVER, name="After the restart")
    first.running(running)
    first.stop(signal.SIGKILL)
    second = RunningServer(empty).start()
    try:
        assert second.client.get(f"/api/solutions/{done}/node").is_success
        game = f"/api/play/sessions/{session['id']}"
        assert second.client.get(game).json() == session
        assert second.client.post(f"{game}/move", json={"move": "check"}).json()["deal"]["position"][0] == "check"
        second.running(running)
        assert second.job(running)["attempts"] == 2
        assert second.client.delete(f"/api/jobs/{running}").is_success
        assert second.ended(waiting)["name"] == "After the restart"
    finally:
        second.stop()


def test_downloads_are_called_as_the_spot_is(server: RunningServer, river: str) -> None:
    def name_of(job_id: str) -> str:
        with server.client.stream("GET", f"/api/solutions/{job_id}/file") as answer:
            return str(answer.headers["content-disposition"])

    assert "A%20river.solution" in name_of(river)
    server.client.patch(f"/api/jobs/{river}", json={"name": 'a/b\\c"\u00e9'}).raise_for_status()
    assert '"a_b_c__.solution"' in name_of(river)
    server.client.patch(f"/api/jobs/{river}", json={"name": "A river"}).raise_for_status()
