"""`aleator evaluate`: the exploitability of a saved solution or of an agent, computed anew; blueprints compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aleator.apps.cli.evaluate_hands import evaluate_against, evaluate_blueprint, evaluate_whole, how_found
from aleator.apps.cli.output import heading, number, out, print_json, progress_bar
from aleator.apps.cli.solve import print_exploitability, print_values
from aleator.errors import AgentError
from aleator.games.holdem.variants import is_hand_game
from aleator.games.multiplayer.registry import is_multiplayer
from aleator.games.registry import known_games, load_game
from aleator.parsing import MAX_SEED
from aleator.solvers.best_response import best_response_value, expected_value
from aleator.solvers.holdem.whole_solution import WholeSolution
from aleator.solvers.multiplayer.evaluation import evaluate
from aleator.solvers.multiplayer.problem import MultiplayerSolution
from aleator.solvers.solution import open_solution
from aleator.trees.policy import Policy


def run(
    what: Annotated[str, typer.Argument(metavar="FILE|GAME", help="A file of `solve --out`; with --agent, a game.")],
    agent: Annotated[str | None, typer.Option(help="Evaluate this agent, as in `play`.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Draw a searching agent's policy this many times, "
                                                "instead of going through all that it may draw.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of all draws.")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Threads, in games from the blinds on.")] = 1,
    game: Annotated[str | None, typer.Option(help="The game of FILE, if it is your own: python:FILE.py:CLASS.")] = None,
    against: Annotated[Path | None, typer.Option(help="With FILE a blueprint: what it wins against another one of the "
                                                 "same buckets and bet menu.")] = None,
    deals: Annotated[int, typer.Option(min=2, help="Deals for --against, each played in both seats.")] = 1_000_000,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Compute the exploitability of a saved solution or an agent anew, by best responses.

    Examples:  aleator evaluate dice.solution  |  aleator evaluate leduc --agent search:cfr-d,rounds=1,iterations=20  |
    aleator evaluate liars-dice:1x4 --agent rebel --repeats 64  |
    aleator evaluate mine.solution --game python:mine.py:Mine  |
    aleator evaluate flop-holdem --agent tight-aggressive  |
    aleator evaluate new.blueprint --against old.blueprint --deals 10000000  |  aleator evaluate flop.blueprint
    """
    if against is not None:
        if agent is not None or game is not None:
            raise AgentError("--against compares two blueprints: leave --agent and --game out")
        evaluate_against(Path(what), against, deals, seed, threads, json=json)
        return
    if agent is None and game is None and Path(what).suffix == ".blueprint":
        evaluate_blueprint(Path(what), json=json)
        return
    if agent is not None and game is not None:
        raise AgentError(f"--game is for files; with --agent the game is named once, as in {game} --agent {agent}")
    if agent is not None and is_hand_game(what):
        evaluate_whole(what, agent, repeats, threads, json=json)
        return
    with progress_bar("evaluating", quiet=json):
        if agent is None:
            if not Path(what).exists() and is_multiplayer(what):
                raise AgentError(
                    f"{what} is a game of many players: evaluate the FILE that `aleator solve {what} --out FILE` writes"
                )
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
            title, about = how_found(saved.summary)
            if isinstance(saved, MultiplayerSolution):
                evaluation = evaluate(saved.form, saved.profile)
                gains: list[float] = (evaluation.best - evaluation.values).tolist()
                _print(about, title, evaluation.values.tolist(), gains, json=json)
                return
            if isinstance(saved, WholeSolution):
                evaluate_whole(what, None, repeats, threads, json=json, saved=saved)
                return
            policy = saved.policy
        else:
            policy = _policy(what, agent, repeats, seed)
            title = f"the agent {agent}" + (f", {repeats:,} draws" if repeats else "")
            about = {"game": policy.tree.game.name, "agent": agent, "repeats": repeats}
        value = expected_value(policy)
        best = [best_response_value(policy, player) for player in (0, 1)]
    _print(about, title, (value, -value), [best[0] - value, best[1] + value], json=json)


def _print(about: dict[str, Any], title: str, values: Sequence[float], gains: list[float], *, json: bool) -> None:
    """Prints what everybody wins on average, and would gain by a best response."""
    players, conv, zero_sum = len(values), sum(gains), len(values) == 2 and values[0] == -values[1]
    if json:
        won = {"value": values[0]} if zero_sum else {"values": list(values)}
        print_json(about | won | {"gains": gains, "nash_conv": conv, "exploitability": conv / players})
        return
    out.print(heading(about["game"], f", {title}"))
    print_exploitability(conv, players)
    if zero_sum:
        out.print(f"best responses   first player gains {number(gains[0])}, second player gains {number(gains[1])}")
    else:
        out.print(f"best responses   gain {', '.join(map(number, gains))}   (each player, in the order of the seats)")
    print_values(values[:1] if zero_sum else values)


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
