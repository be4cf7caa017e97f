"""`aleator evaluate`: the exploitability of a saved solution or of an agent, computed anew; blueprints compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aleator.apps.cli.output import heading, number, out, print_json, progress_bar
from aleator.errors import AgentError
from aleator.games.holdem.variants import is_hand_game
from aleator.games.registry import known_games, load_game
from aleator.parsing import MAX_SEED
from aleator.solvers.best_response import best_response_value, expected_value
from aleator.solvers.holdem.whole_solution import WholeSolution
from aleator.solvers.multiplayer.evaluation import evaluate
from aleator.solvers.multiplayer.problem import MultiplayerSolution
from aleator.solvers.solution import open_solution
from aleator.trees.policy import Policy


def run(
    what: Annotated[str, typer.Argument(metavar="FILE|GAME", help="A file of `solve --out`, or with --agent a game.")],
    agent: Annotated[str | None, typer.Option(help="An agent, as in `play`: what it plays in expectation.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Draw what a searching agent plays this often, not going "
                                                "through all it may draw.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of what is drawn.")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Threads, in games from the blinds on.")] = 1,
    game: Annotated[str | None, typer.Option(help="The game of FILE, if it is your own: python:FILE.py:CLASS.")] = None,
    against: Annotated[Path | None, typer.Option(help="With FILE a blueprint: what it wins against another one of the "
                                                 "same buckets and bet menu.")] = None,
    deals: Annotated[int, typer.Option(min=2, help="Of --against, each played in both seats.")] = 1_000_000,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Exploitability of a saved solution or an agent: best responses are computed anew, nothing is taken on trust.

    Examples:  aleator evaluate dice.solution  |  aleator evaluate leduc --agent search:cfr-d,rounds=1,iterations=20  |
    aleator evaluate liars-dice:1x4 --agent rebel --repeats 64  |
    aleator evaluate mine.solution --game python:mine.py:Mine  |
    aleator evaluate flop-holdem --agent tight-aggressive  |
    aleator evaluate new.blueprint --against old.blueprint --deals 10000000  |  aleator evaluate flop.blueprint
    """
    if against is not None:
        if agent is not None or game is not None:
            raise AgentError("--against compares two blueprints: leave --agent and --game out")
        _evaluate_against(Path(what), against, deals, seed, threads, json=json)
        return
    if agent is None and game is None and Path(what).suffix == ".blueprint":
        _evaluate_blueprint(Path(what), json=json)
        return
    if agent is not None and game is not None:
        raise AgentError(f"--game is for files; with --agent the game is named once, as in {game} --agent {agent}")
    if agent is not None and is_hand_game(what):
        _evaluate_whole(what, agent, repeats, threads, json=json)
        return
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
            if isinstance(saved, MultiplayerSolution):
                _evaluate_many(saved, json=json)
                return
            if isinstance(saved, WholeSolution):
                _evaluate_whole(what, None, repeats, threads, json=json, saved=saved)
                return
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
    out.print(heading(about["game"], f", {title}"))
    out.print(f"exploitability   {number(sum(gains) / 2)}   (NashConv / 2; NashConv {number(sum(gains))})")
    out.print(f"best responses   first player gains {number(gains[0])}, second player gains {number(gains[1])}")
    out.print(f"value            {value:+.6f}   (to the first player)")


def _evaluate_against(file: Path, other: Path, deals: int, seed: int, threads: int, *, json: bool) -> None:
    """Plays two blueprints of one abstraction against one another, inside the abstraction."""
    from aleator.abstraction.blueprint.deals import deal_tables
    from aleator.abstraction.blueprint.duel import duel
    from aleator.abstraction.blueprint.policy import open_policy

    first, second = open_policy(file), open_policy(other)
    with progress_bar("playing", quiet=json):
        score = duel(first, second, deal_tables(first.buckets), deals, seed=seed, threads=threads)
    unit = 1000.0 / first.game.rules.big_blind
    mean, error = unit * score.chips, unit * score.ci95
    if json:
        about = {"game": first.game.name, "first": str(file), "second": str(other), "seed": seed, "deals": deals}
        print_json(about | {"mbb_per_hand": mean, "ci95": error, "unit": "mbb/hand"})
        return
    out.print(heading(first.game.name, f", {deals:,} deals, each in both seats"))
    out.print(f"{file} wins {mean:+,.1f} ± {error:,.1f} mbb/hand against {other}", soft_wrap=True)


def _evaluate_blueprint(file: Path, *, json: bool) -> None:
    """Evaluates a blueprint inside its abstraction, exactly, if its game ends on the flop."""
    from aleator.abstraction.blueprint.policy import open_policy
    from aleator.abstraction.flop_exploitability import count_pairs, evaluate_table

    policy = open_policy(file)
    if policy.buckets.config.last_street > 1:
        raise AgentError(
            f"{file} is a blueprint of {policy.game.name}, which is too large to evaluate exactly: compare it with "
            "another one by --against, or see what `aleator lbr` wins from it"
        )
    with progress_bar("evaluating", quiet=json):
        values = evaluate_table(policy.blueprint.table(), policy.betting, count_pairs(policy.buckets))
    unit = 1000.0 / policy.game.rules.big_blind
    gains = [unit * (values.best[0] - values.first), unit * (values.best[1] + values.first)]
    if json:
        about = {"game": policy.game.name, "file": str(file), "deals": policy.blueprint.progress.deals}
        fields = {"button_mbb": -unit * values.first, "gains_mbb": gains, "nash_conv_mbb": sum(gains)}
        print_json(about | fields | {"exploitability_mbb": sum(gains) / 2})
        return
    out.print(heading(policy.game.name, ", inside its abstraction"))
    out.print(f"exploitability   {sum(gains) / 2:,.2f} mbb a hand   (NashConv / 2; NashConv {sum(gains):,.2f})")
    out.print(f"best responses   big blind gains {gains[0]:,.2f} mbb, button gains {gains[1]:,.2f} mbb")
    out.print(f"value            {-unit * values.first:+,.2f} mbb a hand   (to the button)")


def _evaluate_many(saved: MultiplayerSolution, *, json: bool) -> None:
    """Evaluates a profile of many players: everybody's value, and what everybody would gain by a best response."""
    evaluation, summary = evaluate(saved.form, saved.profile), saved.summary
    gains, players = (evaluation.best - evaluation.values).tolist(), saved.form.num_players
    if json:
        about = {"game": summary.game, "algorithm": summary.algorithm, "iterations": summary.iterations}
        about |= {"values": evaluation.values.tolist(), "gains": gains, "nash_conv": evaluation.nash_conv}
        print_json(about | {"exploitability": evaluation.nash_conv / players})
        return
    out.print(heading(summary.game, f", {summary.iterations:,} iterations of {summary.algorithm}"))
    out.print(
        f"exploitability   {number(evaluation.nash_conv / players)}   (NashConv / {players}; NashConv "
        f"{number(evaluation.nash_conv)})"
    )
    out.print(f"best responses   gain {', '.join(map(number, gains))}   (each player, in the order of the seats)")
    values = "  ".join(f"{value:+.6f}" for value in evaluation.values)
    out.print(f"values           {values}   (to each player)")


def _evaluate_whole(
    what: str, agent: str | None, repeats: int | None, threads: int, *, json: bool, saved: WholeSolution | None = None
) -> None:
    """Evaluates an agent, or what was solved, in a game from the blinds on: on all flops, in thousandths of a blind."""
    from aleator.agents.whole_hands import load_hand_agent
    from aleator.arena.whole_hands.exact import agent_answer
    from aleator.games.holdem.whole_game import load_whole_game
    from aleator.solvers.holdem.evaluation import evaluate_policy
    from aleator.solvers.holdem.problem import prepare_spots

    if repeats is not None:
        raise AgentError("--repeats is for agents that search games of a tree, not for whole hands")
    about: dict[str, Any]
    if saved is None:
        assert agent is not None
        whole, playing = load_whole_game(what), load_hand_agent(agent)
        answer, at_once, title = agent_answer(playing, whole), playing.hands_at_once, f"the agent {agent}"
        about = {"game": what, "agent": agent}
    else:
        whole, answer, at_once, summary = saved.whole, saved.answer, 64, saved.summary
        title = f"{summary.iterations:,} iterations of {summary.algorithm}"
        about = {"game": summary.game, "algorithm": summary.algorithm, "iterations": summary.iterations}
    with progress_bar("evaluating", quiet=json) as move:
        move(None, "compiling (first run only)")
        prepare_spots()
        evaluation = evaluate_policy(
            whole, answer, threads=threads, boards_at_once=at_once,
            on_progress=lambda share: move(share, "asking at every decision"),
        )  # fmt: skip
    unit = 1000.0 / whole.big_blind
    gains = [unit * (best - value) for best, value in zip(evaluation.best, evaluation.values, strict=True)]
    if json:
        fields = {"button_mbb": unit * evaluation.values[1], "gains_mbb": gains, "nash_conv_mbb": sum(gains)}
        print_json(about | fields | {"exploitability_mbb": sum(gains) / 2})
        return
    out.print(heading(about["game"], f", {title}"))
    out.print(
        f"exploitability   {sum(gains) / 2:,.2f} mbb a hand   (NashConv / 2; NashConv {sum(gains):,.2f}), on all flops"
    )
    out.print(f"best responses   big blind gains {gains[0]:,.2f} mbb, button gains {gains[1]:,.2f} mbb")
    out.print(f"value            {unit * evaluation.values[1]:+,.2f} mbb a hand   (to the button)")


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
