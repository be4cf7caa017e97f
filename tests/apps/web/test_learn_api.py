"""Races of algorithms, and training runs that grow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aleator.agents.registry import known_agents
from aleator.apps.web.catalogue import MATCH, PLAYED, RACED, opponents, presets
from aleator.apps.web.models_play import Tree
from aleator.apps.web.worker.race import MAX_SHOWN, race, tree
from aleator.apps.web.worker.runs import read_run, run_files
from aleator.errors import SolveError
from aleator.games.registry import load_game
from aleator.learning.rebel.shipped import shipped_games
from aleator.solvers.algorithms import ALGORITHMS, find_algorithm
from tests.apps.web.running import RunningServer, Silent


def test_the_catalogue_can_be_loaded_and_solved() -> None:
    for game in {game.name: game for game in (*PLAYED, *RACED) if game != MATCH}.values():
        assert load_game(game.name).name == game.name
    assert len(presets()) == 5
    assert set(shipped_games()) <= {game.name for game in PLAYED}, "every size with a network can be played"
    families = {agent.family for agent in known_agents()}
    assert {agent.name for agent in opponents()} <= families


@pytest.mark.parametrize("game", [game.name for game in RACED])
def test_the_drawn_part_of_a_tree_is_connected(game: str) -> None:
    found = Tree.model_validate(tree({"game": game}, Silent()))
    known = {node.id for node in found.nodes}
    assert 1 < len(known) <= max(MAX_SHOWN, 2) and found.nodes[0].parent == -1
    assert all(node.parent in known for node in found.nodes[1:])
    assert any(node.actor >= 0 for node in found.nodes)


def test_a_race_reports_points_and_policies_of_every_algorithm() -> None:
    channel = Silent()
    names = ["cfr", "dcfr", "fp", "mccfr", "lp"]
    found = race({"game": "kuhn", "algorithms": names, "seconds": 60.0, "target": 2e-2, "seed": 1}, channel)
    last = {result["algorithm"]: result["exploitability"] for result in found["results"]}
    assert set(last) == set(names) and max(last.values()) <= 2e-2
    for name in names:
        points = [event for event in channel.events if event.get("algorithm") == name]
        policy = [event["policy"] for event in points if "policy" in event][-1]
        assert policy["0"].shape == (2, 3) and policy["0"].sum(axis=0) == pytest.approx([1, 1, 1], abs=1e-3)
        assert [point["iteration"] for point in points] == sorted(point["iteration"] for point in points)


def test_a_race_is_a_job_with_curves(server: RunningServer) -> None:
    body = {"game": "kuhn", "algorithms": ["cfr", "dcfr"], "seconds": 20, "target": 0.05}  # which ends it
    answer = server.client.post("/api/jobs/race", json=body)
    job = server.ended(answer.json()["id"])
    assert job["status"] == "done" and {event["algorithm"] for event in job["summary"]["events"]} == {"cfr", "dcfr"}
    for wrong in ({"game": "python:x.py:X", "algorithms": ["cfr"]}, {"game": "kuhn", "algorithms": ["magic"]}):
        assert server.client.post("/api/jobs/race", json=wrong).status_code == 400
    assert server.client.get("/api/learn/tree", params={"game": "holdem:/etc/passwd"}).status_code == 400


def test_the_pages_have_the_algorithms_and_settings_of_the_library(server: RunningServer) -> None:
    found = server.client.get("/api/algorithms").json()
    assert [one["name"] for one in found] == list(ALGORITHMS)
    assert server.client.get("/api/learn").json()["algorithms"] == found
    for one in found:
        known = ALGORITHMS[one["name"]]
        names = [known.name, *(variant["name"] for variant in one["variants"])]
        assert all(find_algorithm(name).runs_on_boards == one["holdem"] for name in names)
        assert [entry["name"] for entry in one["settings"]] == [entry.name for entry in known.settings]
    for wrong in ("mccfr:batch=0", "dcfr:1,2", "cfr/both"):
        answer = server.client.post("/api/jobs/race", json={"game": "kuhn", "algorithms": [wrong]})
        with pytest.raises(SolveError) as caught:
            find_algorithm(wrong)
        assert (answer.status_code, answer.json()["detail"]) == (400, str(caught.value))


def line_of(epoch: int) -> str:
    row = {"epoch": epoch, "seconds": 2.0 * epoch, "examples": 100 * epoch, "loss": 1 / (epoch + 1)}
    return json.dumps(row | ({"exploitability": 0.5 / (epoch + 1)} if epoch % 10 == 0 else {})) + "\n"


def write_run(folder: Path, epochs: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.jsonl").write_text("".join(map(line_of, range(epochs))) + '{"epoch": 99, "lo')
    (folder / "config.json").write_text('{"game": "liars-dice:1x4"}')
    return folder


def test_a_run_is_read_while_it_is_written(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "a", 5000)
    (tmp_path / "not-a-run").mkdir()
    write_run(tmp_path / "group" / "b", 3)
    found = run_files(tmp_path)
    assert {name for name in found if not name.startswith("shipped/")} == {"a", "group/b"}
    run = read_run("a", folder / "metrics.jsonl")
    assert run.points == 5000 and run.last["epoch"] == 4999 and run.live and run.config == {"game": "liars-dice:1x4"}
    assert len(run.columns["loss"]) <= 2600 and run.columns["epoch"][-1] == 4999
    assert sum(value is not None for value in run.columns["exploitability"]) == 500


def test_runs_of_shipped_networks_are_there(tmp_path: Path) -> None:
    found = run_files(tmp_path)
    assert "shipped/liars-dice-1x6" in found
    for name, path in found.items():
        run = read_run(name, path)
        assert not run.live and run.points > 20 and run.config["game"].replace(":", "-") == name.partition("/")[2]
        assert 0 < run.config["report"]["exploitability"] < 0.05 and run.columns["loss"][-1] is not None


def test_runs_are_listed_and_streamed(server: RunningServer) -> None:
    write_run(server.data_dir / "runs" / "dice", 12)
    assert "dice" in [run["name"] for run in server.client.get("/api/runs").json()]
    assert server.client.get("/api/runs/curves", params={"name": "dice"}).json()["columns"]["epoch"] == list(range(12))
    for name in ("../solutions", "nothing", "/etc"):
        assert server.client.get("/api/runs/curves", params={"name": name}).status_code == 404
    with server.client.stream("GET", "/api/runs/events", params={"name": "dice"}) as events:
        lines = events.iter_lines()
        first = next(line for line in lines if line.startswith("data:"))
        with (server.data_dir / "runs" / "dice" / "metrics.jsonl").open("a") as file:
            file.write('ss": 0.1}\n')  # at once, as a run does: what is half written is never seen
        second = next(line for line in lines if line.startswith("data:"))
    assert json.loads(first[5:])["points"] == 12 and json.loads(second[5:])["points"] == 13
