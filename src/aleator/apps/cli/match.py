"""`aleator match`: two agents play each other, and the result says how sure it is."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aleator.agents.base import Agent
from aleator.agents.registry import spot_to_solve
from aleator.apps.cli.holdem_report import format_seconds
from aleator.apps.cli.match_hands import pairs, run_match, run_round_robin
from aleator.apps.cli.output import note, out, print_json, print_table, progress_bar
from aleator.apps.cli.play import load_with_progress
from aleator.apps.cli.stopping import end, interruptible
from aleator.apps.cli.workers import Processes, Ray
from aleator.arena import Aivat, MatchResult, MoveTimes, Score, exact_match, play_match
from aleator.arena.match import check_seconds_per_move
from aleator.arena.whole_hands.match import HandMatch
from aleator.errors import AgentError, TooBigError
from aleator.games.base import Game
from aleator.games.holdem.variants import is_hand_game, load_hand_game
from aleator.games.registry import load_game
from aleator.intervals import SURE
from aleator.parsing import MAX_SEED
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from aleator.trees.public_tree import build_tree

_BASELINE = Limits(iterations=300, seconds=10.0)


def run(
    game: Annotated[str, typer.Argument(help="A game, as listed by `aleator games`.")],
    first: Annotated[str, typer.Argument(help="An agent, as in `aleator play`, or a file with a solution.")],
    second: Annotated[str, typer.Argument(help="Its opponent.")],
    others: Annotated[list[str] | None, typer.Argument(help="More: round-robin, or one table (ring:N).")] = None,
    deals: Annotated[int, typer.Option("--deals", "--hands", min=1, help="How many; seats alternate.")] = 1000,
    exact: Annotated[bool, typer.Option("--exact", help="Play no deals: enumerate what both agents do.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Do not remove luck, which saves solving the game first.")] = False,
    seconds_per_move: Annotated[float | None, typer.Option(help="Count the moves that take longer.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of hands and draws.")] = 0,
    output: Annotated[Path | None, typer.Option("--out", help="Whole hands: a file; continues if it exists.")] = None,
    phh: Annotated[Path | None, typer.Option(help="Whole hands: write them to this .phhs file, too.")] = None,
    aivat: Annotated[str, typer.Option(help="Whole hands: raw, pairs, ranges, playout, table, table-ranges, "
                                       "rest, paired or auto.")] = "auto",
    value: Annotated[Path | None, typer.Option(help="Whole hands: a river network or a blueprint for AIVAT.")] = None,
    stakes: Annotated[float | None, typer.Option(help="For a search against its blueprint: play a hand out with "
                                                 "probability pot / this many big blinds, and weigh it.")] = None,
    against: Annotated[str | None, typer.Option(help="With --aivat rest: a third agent. Prints how much more the first "
                                                "wins from it than the second does.")] = None,
    processes: Processes = None,
    ray: Ray = None,
    minutes: Annotated[float | None, typer.Option(min=0.0, help="Whole hands: begin no more after this time.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Let agents play each other. Prints what the first wins per deal without luck, the standard error, and
    how long each took for a move. Whole hands (hunl, hulh, flop-holdem) are scored in thousandths of a big blind. At a
    table of several, the second agent takes all seats but one, unless you name an agent for each.

    Examples:  aleator match leduc safe equilibrium --deals 500
      |  aleator match kuhn search:iterations=20 uniform --exact
      |  aleator match hunl tight-aggressive always-call --hands 10000 --out match.jsonl
      |  aleator match ring:3 tight-aggressive always-call random
      |  aleator match 6max tight-aggressive always-call
    """
    if is_hand_game(game):
        if exact or seconds_per_move is not None:
            raise AgentError("--exact and --seconds-per-move are for games that can be enumerated, not for whole hands")
        if raw and aivat not in ("auto", "raw"):
            raise AgentError(f"--raw leaves the luck in and --aivat {aivat} removes it: choose one")
        how, network = "raw" if raw else aivat, None if value is None else str(value)
        match = partial(
            HandMatch, game=game, hands=deals, seed=seed, aivat=how, value=network, stakes=stakes, against=against
        )
        settings: dict[str, Any] = {"processes": processes, "ray": ray, "minutes": minutes, "json": json}
        seats = load_hand_game(game).rules.num_players
        if not others or seats > 2:
            names = (first, second, *(others or [second] * (seats - 2)))
            run_match(match(agents=names), output=output, phh=phh, **settings)
            return
        if output is not None or phh is not None:
            raise AgentError("--out and --phh write one match; several agents play one for each pair")
        if stakes is not None:
            raise AgentError("--stakes is for two agents")
        run_round_robin([match(agents=pair) for pair in pairs([first, second, *others])], **settings)
        return
    of_hands = {"--out": output, "--phh": phh, "--aivat": None if aivat == "auto" else aivat, "--value": value,
                "--stakes": stakes, "--against": against, "--processes": processes, "--ray": ray,
                "--minutes": minutes, "more than two agents": others or None}  # fmt: skip
    if given := [name for name, what in of_hands.items() if what is not None]:
        raise AgentError(f"{', '.join(given)}: for whole hands (hunl, hulh, 6max ...), not for {game}")
    if exact and raw:
        raise AgentError("--exact plays no deals, so there is no luck for --raw to leave in")
    if exact and seconds_per_move is not None:
        raise AgentError("--exact plays no deals, so --seconds-per-move has nothing to time")
    check_seconds_per_move(seconds_per_move)
    rules = load_game(game)
    agents = [load_with_progress(name, rules, quiet=json) for name in (first, second)]
    if exact:
        with progress_bar("enumerating", quiet=json):
            result = exact_match(agents[0], agents[1], build_tree(rules))
        _print(game, first, second, result, "exactly", json=json)
        return
    baseline = None if raw else _baseline(rules, quiet=json)
    result, stopped = _play(agents, deals, seed, baseline, seconds_per_move, quiet=json)
    luck = "as won" if baseline is None else "without luck"
    _print(game, first, second, result, luck, seconds_per_move, json=json)
    end(stopped=stopped)


def _play(
    agents: list[Agent], deals: int, seed: int, baseline: Aivat | None, limit: float | None, *, quiet: bool
) -> tuple[MatchResult, bool]:
    """Returns the result of a match, as far as it came, and whether a signal such as Ctrl-C ended it."""
    with interruptible() as interrupted, progress_bar("playing", quiet=quiet) as move:

        def on_deal(number: int) -> bool:
            move(number / deals, f"deal {number:,}")
            return interrupted()

        rng = np.random.default_rng(seed)
        result = play_match(agents[0], agents[1], deals, rng, aivat=baseline, on_deal=on_deal, seconds_per_move=limit)
        return result, interrupted()


def _baseline(rules: Game[Any], *, quiet: bool) -> Aivat | None:
    """Returns values of a rough solution, by which luck is measured; None if the game is too big for that."""
    try:
        if size := spot_to_solve("equilibrium", rules):
            size.check_fits(rules.name)
        with progress_bar("solving the game to measure luck by", quiet=quiet):
            return Aivat(solve(build_tree(rules), limits=_BASELINE).policy)
    except TooBigError as error:
        note(f"luck stays in the result: {error}")
        return None


def _print(
    game: str, first: str, second: str, result: MatchResult, how: str, limit: float | None = None, *, json: bool
) -> None:
    if json:
        report = {"game": game, "first": first, "second": second, "deals": result.deals, "how": how}
        scores = {"score": result.score, "as_first": result.seats[0], "as_second": result.seats[1], "won": result.won}
        times = {"first_moves": result.times[0], "second_moves": result.times[1]}
        report |= {name: value and value._asdict() for name, value in (scores | times).items()}
        print_json(report | {"seconds_per_move": limit})
        return
    deals = "" if not result.deals else f", {result.deals:,} deal" + "s" * (result.deals != 1)
    title = f"{game}: what {first} wins against {second}{deals}"
    out.print(title, style="bold", soft_wrap=True)
    rows = [(how, *_cells(result.score))]
    rows += [
        (f"in the {name} seat", *_cells(score))
        for name, score in zip(("first", "second"), result.seats, strict=True)
        if score and result.deals != 1
    ]
    if result.won is not None and how != "as won":
        rows.append(("as won", *_cells(result.won)))
    print_table("", ("", "per deal", "standard error", "95 % interval"), rows)
    out.print("in units of the game's payoffs", style="dim")
    _print_times((first, second), result.times, limit)


def _print_times(names: tuple[str, str], times: tuple[MoveTimes | None, MoveTimes | None], limit: float | None) -> None:
    """Prints how long the agents took for their moves, and how many took too long if there is a limit."""
    rows = [
        (name, f"{spent.moves:,}", *map(format_seconds, spent[1:4]), f"{spent.over or 0:,}")
        for name, spent in zip(names, times, strict=True)
        if spent
    ]
    if rows:
        columns = ("", "moves", "median", "mean", "slowest", f"over {limit:g} s" if limit else "")
        shown = len(columns) - (limit is None)
        print_table("", columns[:shown], [row[:shown] for row in rows])


def _cells(score: Score) -> tuple[str, str, str]:
    if score.standard_error is None:
        return f"{score.mean:+.4g}", "-", "-"
    if not score.standard_error:
        return f"{score.mean:+.4g}", "0", "-"
    low, high = (score.mean + side * SURE * score.standard_error for side in (-1, 1))
    return f"{score.mean:+.4g}", f"{score.standard_error:.2g}", f"{low:+.3g} to {high:+.3g}"
