"""`aleator dealer`: a dealer for other people's bots that speak ACPC."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, TextIO

import typer

from aleator.apps.cli.output import note, out, print_json, progress_bar
from aleator.apps.cli.stopping import end, interruptible
from aleator.arena.acpc.dealer import DealerConfig, DealerResult, deal_match, listen
from aleator.arena.acpc.game_file import read_game_file
from aleator.arena.acpc.match_state import AcpcError
from aleator.games.holdem.variants import load_hand_game
from aleator.parsing import MAX_SEED
from aleator.storage import StorageError, check_writable

_FAULTS_TOLD = 5  # of each player


def run(
    game: Annotated[str, typer.Argument(help="FILE.game, or hunl, hunl:100bb, hulh ...")],
    ports: Annotated[
        str | None, typer.Option(help="One port per player, separated by commas; 0, as without it, for any free one.")
    ] = None,
    names: Annotated[str | None, typer.Option(help="Names of the players, separated by commas.")] = None,
    hands: Annotated[int, typer.Option(min=1, help="How many hands.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of the cards.")] = 0,
    log: Annotated[Path | None, typer.Option(help="Write an ACPC log to this file, behind what it has.")] = None,
    seconds_per_action: Annotated[float, typer.Option(help="Time for one answer.")] = 10.0,
    seconds_per_hand: Annotated[float, typer.Option(help="Time for all answers of a player in a hand.")] = 60.0,
    wait: Annotated[float, typer.Option(help="Seconds to wait for all players.")] = 600.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Deal for bots on this machine. A late or illegal answer counts as a fold.

    Examples:  aleator dealer hunl --ports 18791,18792 --hands 3000 --log match.log
    """
    setup = read_game_file(Path(game)) if game.endswith(".game") else load_hand_game(game).setup
    wanted = ["0"] * setup.num_players if ports is None else [part.strip() for part in ports.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 5 and int(part) < 65536 for part in wanted):
        raise AcpcError(f"--ports {ports!r}: give numbers from 0 to 65535, separated by commas")
    if len(wanted) != setup.num_players:
        raise AcpcError(f"--ports {ports!r}: {setup.num_players} players need as many ports")
    called = (
        [name.strip() for name in names.split(",")] if names else [f"player{index + 1}" for index in range(len(wanted))]
    )
    limits = {"--wait": wait, "--seconds-per-action": seconds_per_action, "--seconds-per-hand": seconds_per_hand}
    for option, seconds in limits.items():
        if not 0 < seconds < math.inf:  # NaN, too
            raise AcpcError(f"{option} must be a positive number, not {seconds}")
    config = DealerConfig(
        setup=setup,
        names=tuple(called),
        hands=hands,
        seed=seed,
        seconds_per_action=seconds_per_action,
        seconds_per_hand=seconds_per_hand,
        seconds_to_come=wait,
    )
    with ExitStack() as stack:
        file: TextIO | None = None
        if log is not None:
            check_writable(log)
            _check_log(log)
            file = stack.enter_context(log.open("a", encoding="ascii", errors="replace"))
        listening = listen([int(part) for part in wanted])
        for server in listening:
            stack.callback(server.close)
        shown = ", ".join(f"{name} {server.getsockname()[1]}" for name, server in zip(called, listening, strict=True))
        interrupted = stack.enter_context(interruptible())
        note(f"waiting for players on 127.0.0.1: {shown}")
        move = stack.enter_context(progress_bar("dealing", quiet=json))

        def on_hand(result: DealerResult) -> bool:
            move(result.hands / hands, f"hand {result.hands:,}")
            return interrupted()

        def on_log(line: str) -> None:
            if file is not None:
                print(line, file=file, flush=True)

        faults = Counter[str]()

        def on_fault(name: str, fault: str) -> None:
            faults[name] += 1
            if faults[name] <= _FAULTS_TOLD:
                note(f"{name}: {fault}" + ("; more are only counted" if faults[name] == _FAULTS_TOLD else ""))

        result = deal_match(config, listening, on_log=on_log, on_hand=on_hand, on_fault=on_fault, stopped=interrupted)
        stopped = interrupted()
    means = [1000 * won / setup.rules.big_blind / result.hands if result.hands else None for won in result.won]
    if json:
        print_json(
            {"hands": result.hands, "names": called, "chips": result.won, "mbb_per_hand": means}
            | {"mistakes": result.mistakes}
        )
    elif not result.hands:
        note("stopped before a hand was dealt")
    else:
        for name, won, mean, mistakes in zip(called, result.won, means, result.mistakes, strict=True):
            late = f", {mistakes:,} answers late or illegal" if mistakes else ""
            out.print(f"{name}: {won:+,} chips, {mean:+,.0f} mbb/hand{late}")
    end(stopped=stopped)


def _check_log(path: Path) -> None:
    """Raises StorageError for a file that is there and no ACPC log, so that nothing is written into another's."""
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        begins = file.read(10)
    if not begins.startswith((b"STATE:", b"#", b"SCORE:")):
        raise StorageError(f"{path} is there and no ACPC log: choose another name, so that nothing is lost")
