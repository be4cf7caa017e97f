"""A solved hold'em spot that is played: as its file says, in whatever suits, and refuses other spots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aleator.agents.base import play_game
from aleator.agents.blueprint import BlueprintAgent
from aleator.agents.registry import load_agent, spot_to_solve
from aleator.agents.scripted import ScriptedAgent
from aleator.errors import AgentError, AleatorError
from aleator.games import load_game
from aleator.games.holdem.game import HoldemGame
from aleator.games.table import Table
from aleator.solvers.best_response import expected_value, exploitability
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.holdem.stored_policy import StoredPolicy
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from aleator.trees import build_tree
from aleator.trees.beliefs import reach_at
from aleator.trees.policy import uniform_policy
from tests.solvers.holdem.test_solver import RIVER, TURN, spot

SPOTS = {"river": RIVER, "turn": TURN}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Returns the files of both spots, and of the turn without its river."""
    folder, found = tmp_path_factory.mktemp("solutions"), {}
    for name, solved in SPOTS.items():
        found[name] = folder / f"{name}.solution"
        solution = solve(solved, limits=Limits(iterations=200))
        solution.save(found[name])
    found["short"] = folder / "short.solution"
    solution.save(found["short"], river=False)
    return found


@pytest.mark.parametrize("name", ["river", "turn"])
def test_it_plays_the_solution_of_the_file(name: str, files: dict[str, Path]) -> None:
    """On the tree of the game, where every card is apart, the policy is as good as the file says it is."""
    game = HoldemGame(SPOTS[name])
    agent, tree, quality = (
        load_agent(str(files[name]), game),
        build_tree(game),
        HoldemSolution.open(files[name]).summary,
    )
    assert isinstance(agent, BlueprintAgent) and isinstance(agent.blueprint, StoredPolicy)
    assert spot_to_solve(str(files[name]), game) is None
    policy = agent.policy(tree)
    policy.check()
    assert expected_value(policy) == pytest.approx(quality.values[0], abs=0.01)  # of a pot of 100
    assert exploitability(policy) == pytest.approx(quality.exploitability, abs=0.01)


@pytest.mark.parametrize("name", ["river", "turn", "short"])
def test_the_table_plays_the_policy(name: str, files: dict[str, Path]) -> None:
    game, rng = HoldemGame(SPOTS.get(name, TURN)), np.random.default_rng(3)
    agent, tree = load_agent(str(files[name]), game), build_tree(game)
    policy = None if name == "short" else agent.policy(tree)
    for seat in (0, 1, 0, 1):
        table = Table(game, rng)
        agent.begin(seat, rng)
        while not table.is_over:
            seen = table.observe()
            if seen.seat == seat:
                found, belief = agent.policy_at(seen.history)[:, seen.hand], agent.belief(seen.history)
                assert belief is not None and found.sum() == pytest.approx(1.0)
                if policy is not None:
                    node = tree.node_at(seen.events)
                    np.testing.assert_allclose(found, policy[node][:, seen.hand], atol=1e-9)
                    there = reach_at(policy, node)
                    np.testing.assert_allclose(
                        belief.beliefs[1 - seat], there[1 - seat] / there[1 - seat].sum(), atol=1e-9
                    )
                table.act(agent.act(seen))
            else:
                table.act(int(rng.choice(seen.legal)))


def test_rivers_that_the_file_lacks_are_solved_again(files: dict[str, Path]) -> None:
    game = HoldemGame(TURN)
    tree = build_tree(game)
    whole, short = (load_agent(str(files[name]), game).policy(tree) for name in ("turn", "short"))
    short.check()
    first = [node for node in tree.decisions(0) if len(tree.states[node].board) == 4]  # type: ignore[attr-defined]
    assert all(np.array_equal(whole[int(node)], short[int(node)]) for node in first)
    assert exploitability(short) < 0.05 * exploitability(uniform_policy(tree))


def test_a_file_as_the_blueprint_of_an_agent_that_searches(files: dict[str, Path]) -> None:
    game = HoldemGame(RIVER)
    agent = load_agent(f"multi-valued:iterations=5,blueprint={files['river']}", game)
    assert play_game((agent, ScriptedAgent(game, "last")), np.random.default_rng(0)).is_over


@pytest.mark.parametrize(
    ("played", "message"),
    [
        (replace(RIVER, board=(*RIVER.board[:4], 0)), "its board is Qs Jh 2h 8c 3d, not Qs Jh 2h 8c 2c"),
        (replace(RIVER, pot=120), "its pot is 100, not 120"),
        (replace(RIVER, stack=150), "its stack is 300, not 150"),
        (replace(RIVER, ip="QQ"), "the range of ip is another one"),
        (spot("Qs Jh 2h 8c 3d", RIVER.oop, RIVER.ip, menu=""), "at r:0 it knows .*, and the game has c$"),
    ],
)
def test_other_spots_are_refused(played, message: str, files: dict[str, Path]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AgentError, match=f"river.solution: this is not a solution of .*: {message}"):
        load_agent(str(files["river"]), HoldemGame(played))


def test_files_that_cannot_be_played(files: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"river.solution: this is a solution of holdem:QsJh2h8c3d, not of kuhn"):
        load_agent(str(files["river"]), load_game("kuhn"))
    cut, other = tmp_path / "cut.solution", tmp_path / "notes.txt"
    cut.write_bytes(files["river"].read_bytes()[:-100])
    other.write_text("no solution at all")
    for file, message in (
        (cut, r"is damaged: its arrays take [0-9,]+ bytes, but it has"),
        (other, "not a file of arrays"),
    ):
        with pytest.raises(AleatorError, match=message):
            load_agent(str(file), HoldemGame(RIVER))
