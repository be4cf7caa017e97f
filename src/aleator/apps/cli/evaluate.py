"""`aleator evaluate`: the exploitability of a saved solution or of an agent, computed anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aleator.apps.cli.output import number, out, print_json, progress_bar
from aleator.errors import AgentError
from aleator.games.registry import known_games, load_game
from aleator.parsing import MAX_SEED
from aleator.solvers.best_response import best_response_value, expected_value
from aleator.solvers.solution import open_solution
from aleator.trees.policy import Policy


def run(
    what: Annotated[str, typer.Argument(metavar="FILE|GAME", help="A file of `solve --out`, or with --agent a game.")],
    agent: Annotated[str | None, typer.Option(help="An agent, as in `play`: what it plays in expectation.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Draw what a searching agent plays this often, not going "
                                                "through all it may draw.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of those draws.")] = 0,
    game: Annotated[str | None, typer.Option(help="The game of FILE, if it is your own: python:FILE.py:CLASS.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Exploitability of a saved solution or an agent: best responses are computed anew, nothing is taken on trust.

    Examples:  aleator evaluate dice.solution  |  aleator evaluate leduc --agent search:cfr-d,rounds=1,iterations=20  |
    aleator evaluate liars-dice:1x4 --agent rebel --repeats 64  |
    aleator evaluate mine.solution --game python:mine.py:Mine
    """
    if agent is not None and game is not None:
        raise AgentError(f"--game is for files; with --agent the game is named once, as in {game} --agent {agent}")
    with progress_bar("evaluating", quiet=json):
        if agent is None:
            if not Path(what).exists() and what.partition(":")[0] in {known.family for known in known_games()}:
                raise AgentError(
                    f"{what} is a game: evaluate an agent there with --agent, or name a file with a solution"
                )
            if Path(what).suffix == ".safetensors":
                raise AgentError(
                    f"{what} is a network: name its game, with --agent rebel:{what}, and --repeats to draw what it "
                    "plays"
                )
            saved = open_solution(what, load_game(game) if game else None)
            policy, summary = saved.policy, saved.summary
            title = f"{summary.iterations:,} iterations of {summary.algorithm}"
            about: dict[str, Any] = {
                "game": policy.tree.game.name,
                "algorithm": summary.algorithm,
                "iterations": summary.iterations,
            }
        else:
            policy = _policy(what, agent, repeats, seed)
            title = f"the agent {agent}" + (f", {repeats:,} draws" if repeats else "")
            about = {"game": policy.tree.game.name, "agent": agent, "repeats": repeats}
        value = expected_value(policy)
        best = [best_response_value(policy, player) for player in (0, 1)]
    gains = [best[0] - value, best[1] + value]
    if json:
        print_json(about | {"value": value, "gains": gains, "nash_conv": sum(gains), "exploitability": sum(gains) / 2})
        return
    out.print(f"[bold]{about['game']}[/], {title}")
    out.print(f"exploitability   {number(sum(gains) / 2)}   (NashConv / 2; NashConv {number(sum(gains))})")
    out.print(f"best responses   first player gains {number(gains[0])}, second player gains {number(gains[1])}")
    out.print(f"value            {value:+.6f}   (to the first player)")


def _policy(game: str, name: str, repeats: int | None, seed: int) -> Policy:
    """Returns what an agent plays in expectation, exactly or by drawing."""
    from aleator.agents.registry import load_agent
    from aleator.agents.search import SearchAgent
    from aleator.trees.public_tree import build_tree

    agent = load_agent(name, load_game(game))
    tree = build_tree(agent.game)
    if repeats is None:
        return agent.policy(tree)
    if not isinstance(agent, SearchAgent):
        raise AgentError(f"--repeats is for agents that search, not for {name}: what it plays is known exactly")
    return agent.sampled_policy(tree, np.random.default_rng(seed), repeats)
