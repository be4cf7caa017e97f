"""`aleator demo`: train ReBeL on Liar's Dice from nothing on this CPU, and compare with what is published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleator.apps.cli.device import check_device
from aleator.apps.cli.output import (
    check_plot,
    note,
    number,
    out,
    plot_curves,
    print_json,
    print_table,
    progress_bar,
)
from aleator.apps.cli.train_rebel import quality, watch
from aleator.apps.cli.training import duration
from aleator.apps.papers.rebel import TABLE_2, TABLE_2_ITERATIONS, TABLE_2_REBEL
from aleator.parsing import MAX_SEED, MAX_THREADS
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from aleator.storage import make_folder

if TYPE_CHECKING:
    from aleator.learning.rebel.evaluation import Played
    from aleator.learning.rebel.model import ModelSearch
    from aleator.learning.rebel.training import Trainer
    from aleator.solvers.engines.batched.engine import BatchedValue

GAME, LABEL = "liars-dice:1x4", "1x4f"
PLAYTHROUGHS, FIRST_PLAYTHROUGHS, CURVE_PLAYTHROUGHS = 512, 64, 16
UPDATES = 512  # of one player each, of searches in the comparison
_POINTS = 5  # evaluations on the way, for the curve
_PICTURE = "demo.png"


def run(
    output: Annotated[Path | None, typer.Option("--out", help=f"Write {_PICTURE} to this directory.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of all randomness.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, max=MAX_THREADS, help="Threads; by default all cores.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Train ReBeL on Liar's Dice by self-play, from nothing, and compare with the paper. Takes minutes on two cores.

    Examples:  aleator demo  |  aleator demo --out results
    """
    check_device("cpu", threads)
    picture = output / _PICTURE if output else None
    if output:
        make_folder(output)
        check_plot(picture)
    from aleator.learning.rebel.config import preset
    from aleator.learning.rebel.model import ModelSearch
    from aleator.learning.rebel.shipped import shipped_model
    from aleator.learning.rebel.training import Trainer

    trainer = Trainer(preset("demo", game=GAME, seed=seed))
    config = trainer.config
    if not json:
        note(
            f"{GAME}: ReBeL from nothing. {config.searches:,} subgames of depth {config.depth} are searched with "
            f"{config.updates} updates by {config.search}, valued by {config.layers} x {config.width} units."
        )
    untrained = _evaluate("untrained network", trainer, trainer.leaf_values(), FIRST_PLAYTHROUGHS, quiet=json)
    curve = [(float(config.games), untrained.exploitability), *_train(trainer, quiet=json)]
    trained = _evaluate("trained network", trainer, trainer.leaf_values(), PLAYTHROUGHS, quiet=json)
    curve.append((float(config.searches), trained.exploitability))
    model = shipped_model(GAME)
    searcher = ModelSearch(model)
    shipped = _evaluate("shipped network", searcher, searcher.leaf_values, PLAYTHROUGHS, quiet=json)
    tabular = solve(GAME, "lcfr", limits=Limits(iterations=TABLE_2_ITERATIONS // 2)).summary
    if picture:
        known = {"shipped network": shipped.exploitability, "paper": TABLE_2_REBEL["cfr-d"][LABEL]}
        lines = {name: [(curve[0][0], value), (curve[-1][0], value)] for name, value in known.items()}
        label = "subgames searched in training"
        plot_curves(picture, GAME, label, "exploitability (NashConv / 2)", {"trained here": curve, **lines})
    rows = [
        _row("untrained network", 0, untrained),
        _row("trained here", config.searches, trained, trainer.seconds),
        _row("shipped network", model.report["searches"], shipped, model.report["seconds"]),
        {"what": "tabular CFR on the whole game", "exploitability": tabular.exploitability, "seconds": tabular.seconds,
         "paper": TABLE_2["CFR"][LABEL]},
    ]  # fmt: skip
    for row in rows[1:3]:
        row["paper"] = TABLE_2_REBEL["cfr-d"][LABEL]
    if json:
        print_json({"game": GAME, "rows": rows, "curve": curve, "picture": picture and str(picture)})
    else:
        _show(rows, picture, model.report)


def _train(trainer: Trainer, *, quiet: bool) -> list[tuple[float, float]]:
    """Trains to the end; returns (searches, exploitability) on the way."""
    from aleator.learning.rebel.run import Pace, train

    points: list[tuple[float, float]] = []
    every = max(trainer.config.epochs // (_POINTS + 1), 1)
    pace = Pace(evaluate_epochs=every, playthroughs=CURVE_PLAYTHROUGHS, last_playthroughs=0)

    def keep(line: dict[str, Any]) -> None:
        if "exploitability" in line:
            points.append((float(line["searches"]), line["exploitability"]))

    with watch(trainer, keep, quiet=quiet) as on_epoch:
        train(trainer, None, pace, on_epoch=on_epoch)
    return points


def _evaluate(
    name: str, player: Trainer | ModelSearch, values: BatchedValue, playthroughs: int, *, quiet: bool
) -> Played:
    """Returns how exploitable search with a network is, with a bar while it is measured."""
    import torch

    from aleator.learning.rebel.evaluation import play_out
    from aleator.trees.public_tree import build_tree

    # every second sequence of bids is the root of a subgame, and some are never reached
    expected = playthroughs * len(player.subgames.states) ** 2
    with progress_bar(f"evaluating the {name}", quiet=quiet) as move:
        played = play_out(
            build_tree(player.game),
            player.subgames,
            values,
            player.config.rule,
            updates=UPDATES,
            playthroughs=playthroughs,
            generator=torch.Generator().manual_seed(0),
            chunk=1024,
            on_progress=lambda done: move(min(done / expected, 1.0), f"{done:,} searches"),
        )
    if not quiet:
        note(f"{name}: exploitability {played.exploitability:.4f} ± {number(played.error, 2)}")
    return played


def _row(what: str, searches: int, played: Played, seconds: float | None = None) -> dict[str, Any]:
    """Returns a row of the table."""
    return {
        "what": what,
        "searches": searches,
        "seconds": seconds,
        "exploitability": played.exploitability,
        "error": played.error,
        "playthroughs": played.playthroughs,
        "paper": None,
    }


def _show(rows: list[dict[str, Any]], picture: Path | None, recorded: dict[str, Any]) -> None:
    """Prints the table, and beside it what is recorded about the shipped network."""
    cells = [
        (
            row["what"],
            f"{row['searches']:,}" if row.get("searches") else "-",
            duration(row["seconds"]) if row.get("seconds") else "-",
            number(row["exploitability"], 3),
            number(row.get("error"), 2),
            number(row["paper"], 3),
        )
        for row in rows
    ]
    print_table(GAME, ("policy", "searches in training", "time", "exploitability", "±", "ReBeL Table 2"), cells)
    out.print(
        f"Exploitability is NashConv / 2, of the mean of {PLAYTHROUGHS} playthroughs ({FIRST_PLAYTHROUGHS} for the "
        f"untrained network), an upper estimate; ± is a standard error. Searches take {UPDATES} updates of one player "
        f"here, and {TABLE_2_ITERATIONS:,} in the paper, whose network was trained on 3.2 million of them; tabular CFR "
        f"takes {TABLE_2_ITERATIONS:,}, too. The shipped network was trained on a GPU, and measured there at "
        f"{quality(recorded['exploitability'], recorded['error'])} with {recorded['search_iterations']:,} updates and "
        f"{recorded['playthroughs']:,} playthroughs."
    )
    if picture:
        out.print(f"written: {picture}", soft_wrap=True)
