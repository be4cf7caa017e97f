"""`aleator acpc`: an agent of ours plays at an ACPC dealer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TextIO

import numpy as np
import typer

from aleator.agents.whole_hands import load_hand_agent
from aleator.apps.cli.output import out, print_json
from aleator.apps.cli.stopping import cut_short, end, interruptible
from aleator.arena.acpc.client import AcpcResult, connect, play_acpc
from aleator.arena.acpc.game_file import read_game_file
from aleator.arena.acpc.match_state import AcpcError
from aleator.games.holdem.variants import load_hand_game
from aleator.parsing import MAX_SEED
from aleator.storage import check_writable


def run(
    host: Annotated[str, typer.Argument(help="The address of the dealer.")],
    port: Annotated[int, typer.Argument(min=1, max=65535, help="The port for our seat.")],
    agent: Annotated[str, typer.Option(help="An agent of whole hands, as in `aleator agents`.")] = "tight-aggressive",
    game: Annotated[str, typer.Option(help="The dealer's game: FILE.game, or hunl, hunl:100bb, hulh ...")] = "hunl",
    log: Annotated[Path | None, typer.Option(help="Write every line of the conversation to this file.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=MAX_SEED, help="Seed of the agent's draws.")] = None,
    patience: Annotated[float | None, typer.Option(min=0.001, help="Seconds to wait for the dealer.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Play at a dealer that speaks the protocol of the Annual Computer Poker Competition, version 2.0.0.

    Examples:  aleator acpc localhost 18791 --agent tight-aggressive --log match.txt
    --game holdem.nolimit.2p.reverse_blinds.game
    """
    setup = read_game_file(Path(game)) if game.endswith(".game") else load_hand_game(game).setup
    player = load_hand_agent(agent, setup.num_players)
    file: TextIO | None = None
    if log is not None:
        check_writable(log)
        file = log.open("a", encoding="utf-8")
    try:
        lines = connect(host, port)
        with interruptible() as interrupted:
            result = play_acpc(
                lines,
                player,
                setup,
                np.random.default_rng(seed),
                on_line=None if file is None else lambda line: print(line, file=file, flush=True),
                patience=patience,
                playing=cut_short,
            )
            stopped = interrupted()
    finally:
        if file is not None:
            file.close()
    _report(result, setup.rules.big_blind, json=json)
    end(stopped=stopped)
    if result.unfinished is not None:
        raise AcpcError(f"the dealer closed in the middle of a hand: {result.unfinished}")


def _report(result: AcpcResult, big_blind: int, *, json: bool) -> None:
    won = sum(result.won.values())
    if json:
        print_json({"hands": result.hands, "chips": won, "decisions": result.actions, "unfinished": result.unfinished})
    else:
        mean = f", {1000 * won / big_blind / len(result.won):+,.0f} mbb/hand" if result.won else ""
        out.print(f"{result.hands:,} hands, {won:+,} chips{mean}, {result.actions:,} decisions")
