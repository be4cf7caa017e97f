"""What `aleator evaluate` says of whole hands: blueprints, agents and solutions, in thousandths of a big blind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aleator.apps.cli.output import heading, out, print_json, progress_bar
from aleator.errors import AgentError
from aleator.solvers.holdem.whole_solution import WholeSolution
from aleator.solvers.summary import Summary


def how_found(summary: Summary) -> tuple[str, dict[str, Any]]:
    """Returns how a solution was found: in words, and as JSON values."""
    title = f"{summary.iterations:,} iterations of {summary.algorithm}"
    return title, {"game": summary.game, "algorithm": summary.algorithm, "iterations": summary.iterations}


def evaluate_against(file: Path, other: Path, deals: int, seed: int, threads: int, *, json: bool) -> None:
    """Plays two blueprints of one abstraction against one another, inside the abstraction."""
    from aleator.abstraction.blueprint.deals import deal_tables
    from aleator.abstraction.blueprint.duel import duel
    from aleator.abstraction.blueprint.policy import open_policy

    first, second = open_policy(file), open_policy(other)
    buckets = first.buckets if first.buckets.is_whole else second.buckets
    with progress_bar("playing", quiet=json):
        score = duel(first, second, deal_tables(buckets), deals, seed=seed, threads=threads)
    unit = 1000.0 / first.game.rules.big_blind
    mean, error = unit * score.chips, unit * score.ci95
    if json:
        about = {"game": first.game.name, "first": str(file), "second": str(other), "seed": seed, "deals": deals}
        print_json(about | {"mbb_per_hand": mean, "ci95": error, "unit": "mbb/hand"})
        return
    out.print(heading(first.game.name, f", {deals:,} deals, each in both seats"))
    out.print(f"{file} wins {mean:+,.1f} ± {error:,.1f} mbb/hand against {other}", soft_wrap=True)


def evaluate_blueprint(file: Path, *, json: bool) -> None:
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
        quality = evaluate_table(policy.blueprint.table(), policy.betting, count_pairs(policy.buckets))
    about = {"game": policy.game.name, "file": str(file), "deals": policy.blueprint.progress.deals}
    values = (quality.first, -quality.first)
    _print(about, "inside its abstraction", values, quality.best, policy.game.rules.big_blind, json=json)


def evaluate_whole(
    what: str, agent: str | None, repeats: int | None, threads: int, *, json: bool, saved: WholeSolution | None = None
) -> None:
    """Evaluates an agent, or what was solved, in a game from the blinds on: on all flops."""
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
        answer, at_once = agent_answer(playing, whole), playing.hands_at_once
        title, about = f"the agent {agent}", {"game": what, "agent": agent}
    else:
        whole, answer, at_once = saved.whole, saved.answer, 64
        title, about = how_found(saved.summary)
    with progress_bar("evaluating", quiet=json) as move:
        move(None, "compiling (first run only)")
        prepare_spots()
        quality = evaluate_policy(
            whole, answer, threads=threads, boards_at_once=at_once,
            on_progress=lambda share: move(share, "asking at every decision"),
        )  # fmt: skip
    _print(about, f"{title}, on all flops", quality.values, quality.best, whole.big_blind, json=json)


def _print(
    about: dict[str, Any], title: str, values: Sequence[float], best: Sequence[float], big_blind: int, *, json: bool
) -> None:
    """Prints what both players win on average and by best responses; the button is the second one."""
    button, *gains = (1000.0 / big_blind * chips for chips in (values[1], best[0] - values[0], best[1] - values[1]))
    if json:
        fields = {"button_mbb": button, "gains_mbb": gains, "nash_conv_mbb": sum(gains)}
        print_json(about | fields | {"exploitability_mbb": sum(gains) / 2})
        return
    out.print(heading(about["game"], f", {title}"))
    out.print(f"exploitability   {sum(gains) / 2:,.2f} mbb a hand   (NashConv / 2; NashConv {sum(gains):,.2f})")
    out.print(f"best responses   big blind gains {gains[0]:,.2f} mbb, button gains {gains[1]:,.2f} mbb")
    out.print(f"value            {button:+,.2f} mbb a hand   (to the button)")
