"""`aleator show`: the policy of a solved game, decision by decision."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated

import typer

from aleator.apps.cli.output import number, out, print_json, print_table
from aleator.errors import SolutionError, SolveError, check_known
from aleator.games.registry import load_game
from aleator.solvers.limits import Limits
from aleator.solvers.multiplayer.problem import MultiplayerSolution
from aleator.solvers.solution import Solution, open_solution
from aleator.solvers.solve import solve
from aleator.trees.policy import Policy
from aleator.trees.policy_table import START, node_of, path_of, rows_at
from aleator.trees.profile_table import ProfileRow, profile_rows

_LIMITS = Limits(exploitability=1e-4, seconds=20.0)


def run(
    what: Annotated[str, typer.Argument(help="A file saved by aleator solve --out, or a game to solve.")],
    node: Annotated[
        str,
        typer.Argument(
            help="Where: labels with slashes, such as check/bet; with many players a public state as --csv has it."
        ),
    ] = "start",
    game: Annotated[
        str | None, typer.Option(help="The game of a file, if it is your own: python:FILE.py:CLASS.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the whole policy as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the whole policy as CSV.")] = False,
) -> None:
    """Show what an equilibrium does with every hand. A game given by its name is solved first.

    Examples:  aleator show kuhn  |  aleator show kuhn check/bet  |  aleator show leduc.solution --csv > leduc.csv  |
    aleator show mine.solution --game python:mine.py:Mine
    """
    if json and as_csv:
        raise SolveError("--json and --csv are two forms of the same table: choose one")
    if Path(what).suffix == ".blueprint":
        raise SolutionError(
            f"{what} is a blueprint: aleator holdem preflop --game GAME --agent blueprint:{what} shows its charts"
        )
    is_file = Path(what).is_file()
    if game is not None and not is_file:
        raise SolutionError(f"--game is for files, and {what!r} is none: name the game alone, as in {game}")
    if is_file:
        solution: Solution = open_solution(what, None if game is None else load_game(game))
    else:
        solution = solve(what, limits=_LIMITS)
    if isinstance(solution, MultiplayerSolution):
        _show_profile(solution, node, json=json, as_csv=as_csv)
        return
    if not isinstance(solution, Solution) or not isinstance(getattr(solution, "policy", None), Policy):
        raise SolutionError(f"{what} has no table of a policy: aleator holdem show looks into hold'em spots")
    policy = solution.policy
    if json:
        print_json({"game": policy.game.name, "policy": policy.to_dict()})
    elif as_csv:
        sys.stdout.write(policy.to_csv())
    else:
        _show(solution, policy, node)


def _show_profile(solution: MultiplayerSolution, public: str, *, json: bool, as_csv: bool) -> None:
    """Shows what a profile of many players does: all of it as JSON or CSV, or a table of one public state."""
    if json:
        rows = [row._asdict() for row in profile_rows(solution.form, solution.profile)]
        print_json({"game": solution.summary.game, "profile": rows})
        return
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(ProfileRow._fields)
        writer.writerows(profile_rows(solution.form, solution.profile))
        return
    form, rows_of = solution.form, dict[str, list[ProfileRow]]()
    for row in profile_rows(form, solution.profile):
        rows_of.setdefault(row.public or START, []).append(row)
    if public == START and START not in rows_of:
        public = str(form.publics.keys[form.public.min()])
    check_known(public, rows_of, f"public state of {solution.summary.game}")
    there = rows_of[public]
    actions = list(dict.fromkeys(row.action for row in there))
    shares = {(row.infostate, row.action): row.probability for row in there}
    table = [
        [infostate, *(f"{100 * shares[infostate, action]:.1f} %" for action in actions)]
        for infostate in dict.fromkeys(row.infostate for row in there)
    ]
    print_table(f"{solution.summary.game}, {public}: player {there[0].player} acts", ["infostate", *actions], table)
    out.print(f"exploitability {number(solution.summary.exploitability)}")


def _show(solution: Solution, policy: Policy, path: str) -> None:
    tree = policy.tree
    try:
        node = node_of(policy, path)
    except LookupError as error:
        raise SolveError(str(error.args[0])) from None
    if tree.actor[node] < 0:
        following = ", ".join(tree.labels[child] for child in tree.children(node)) or "nothing: the game is over"
        raise SolveError(f"nobody acts after {path_of(policy, node)}; what follows: {following}")
    rows = list(rows_at(policy, node))
    actions = list(dict.fromkeys(row.action for row in rows))
    shares = {(row.hand, row.action): row.probability for row in rows}
    title = f"{policy.game.name}, {path_of(policy, node)}: the {('first', 'second')[rows[0].player]} player acts"
    table = [
        [hand, *(f"{100 * shares[hand, action]:.1f} %" for action in actions)]
        for hand in dict.fromkeys(row.hand for row in rows)
    ]
    print_table(title, ["hand", *actions], table)
    out.print(f"exploitability {number(solution.summary.exploitability)}")
