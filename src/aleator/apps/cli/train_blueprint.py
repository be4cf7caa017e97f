"""`aleator train blueprint`: a policy of the whole game in an abstraction, by sampling."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleator.apps.cli.output import note, out, print_json
from aleator.apps.cli.stopping import end
from aleator.apps.cli.training import duration, reporting
from aleator.apps.cli.workers import Processes, Ray, chosen_workers, work_text
from aleator.errors import SolveError
from aleator.games.holdem.betting import STREET_NAMES
from aleator.parsing import MAX_SEED, MAX_THREADS
from aleator.storage import StorageError, check_replaceable
from aleator.workers.base import Here

if TYPE_CHECKING:
    from aleator.abstraction.blueprint.file import Progress
    from aleator.abstraction.blueprint.merging import Work
    from aleator.abstraction.blueprint.training import BlueprintTrainer
    from aleator.abstraction.ring.training import RingTrainer

    Trainer = BlueprintTrainer | RingTrainer

_MINUTES = 30.0


def blueprint(
    abstraction: Annotated[Path | None, typer.Option(help="A file of buckets, from `aleator abstraction build`; "
                                                     "default: buckets.bin, which is made if it is missing.")] = None,
    game: Annotated[str, typer.Option(help="A game of whole hands: hunl, hulh, flop-holdem, ring:6 ...")] = "hunl",
    output: Annotated[Path | None, typer.Option("--out", help="The blueprint; default: GAME.blueprint. If it "
                                                "exists, it is trained further.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Minutes to train now; 30 unless --deals is given.")] = None,
    deals: Annotated[int | None, typer.Option(min=1, help="Train to this many deals, earlier runs included.")] = None,
    menu: Annotated[str | None, typer.Option(help="Bet sizes by street, between slashes: '50% 100%; all-in / ...'; "
                                             "sizes after a ; are for later bets of the street.")] = None,
    pruning: Annotated[str, typer.Option(help="pluribus, libratus or none.")] = "pluribus",
    threshold: Annotated[float, typer.Option(help="Prune regrets more than this many stacks below 0.")] = 25.0,
    prune_after: Annotated[int, typer.Option(min=0, help="Deals before anything is pruned.")] = 0,
    period: Annotated[int | None, typer.Option(min=1, help="Deals between two discounts; default: 500,000, with "
                                               "three or more players 150,000.")] = None,
    improve: Annotated[Path | None, typer.Option(help="Read hands that were played (.jsonl, .phhs) and add the bet "
                                                 "sizes that the blueprint in --out lacks most.")] = None,
    gaps: Annotated[int, typer.Option(min=1, help="How many sizes --improve may add.")] = 3,
    to_flop: Annotated[int, typer.Option(min=2, help="With three or more players: how many may see a flop.")] = 2,
    checkpoint_every: Annotated[float, typer.Option(help="Seconds between checkpoints.")] = 120.0,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of all randomness.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, max=MAX_THREADS, help="By default all cores.")] = None,
    processes: Processes = None,
    ray: Ray = None,
    chunk: Annotated[int | None, typer.Option(min=1, help="With workers: deals that a worker plays before its changes "
                                              "are added to the table; default: few at first, then more.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Train a blueprint by linear Monte Carlo CFR. Ctrl-C keeps it; the same command trains it further.

    Examples:  aleator train blueprint --game hunl --abstraction buckets.bin --minutes 30  |  aleator train blueprint
    --game flop-holdem --abstraction flop.bin --deals 1000000 --out flop.blueprint  |  aleator train blueprint
    --abstraction buckets.bin --out hunl.blueprint --improve match.jsonl --minutes 30  |  aleator train blueprint --game
    6max
    """
    if minutes is None and deals is None:
        minutes = _MINUTES
    if minutes is not None and not 0.0 < minutes < math.inf:
        raise SolveError(f"minutes must be a positive number, not {minutes}")
    from aleator.abstraction.blueprint.merging import train_by_workers
    from aleator.games.holdem.variants import load_hand_game

    workers = chosen_workers(processes, ray, usual=1)
    if isinstance(workers, Here) and chunk is not None:
        raise SolveError("--chunk is for workers: name them by --ray or --processes")
    if not isinstance(workers, Here) and threads is not None:
        raise SolveError("--threads is for this process alone: workers have a thread each")
    several = load_hand_game(game).rules.num_players > 2
    changes: dict[str, Any] = {"threshold": threshold, "seed": seed}
    changes["period"] = period or (150_000 if several else 500_000)
    if menu is not None:
        changes["menu"] = tuple(street.strip() for street in menu.split("/"))
    path, cores = output or Path(f"{game.replace(':', '-')}.blueprint"), threads or os.cpu_count() or 1
    check_replaceable(path)
    if abstraction is None:
        abstraction = Path("buckets.bin")
        if not abstraction.exists():
            make_buckets(abstraction, game, cores, quiet=json)
    trainer: Trainer
    if improve is not None:
        trainer = improved(path, abstraction, improve, gaps, quiet=json)
    elif several:
        trainer = _for_several(path, abstraction, pruning, prune_after, game=game, most_to_flop=to_flop, **changes)
    else:
        trainer = _for_two(path, abstraction, game, pruning=pruning, prune_after=prune_after, **changes)
    if not json:
        _announce(trainer, path, minutes, deals)
    stopped, work = False, None
    limits: dict[str, Any] = {"seconds": math.inf if minutes is None else 60.0 * minutes, "deals": deals or math.inf}
    with reporting("training", quiet=json) as report:
        limits["report"] = teller(trainer, path, minutes, deals, checkpoint_every, report)
        try:
            if isinstance(workers, Here):
                trainer.run(**limits, threads=cores)
            else:
                work = train_by_workers(trainer, workers, **limits, chunk=chunk)
        except KeyboardInterrupt:
            stopped = True
        trainer.save(path)
    _tell(trainer, path, work, json=json)
    end(stopped=stopped)


def _for_two(path: Path, abstraction: Path, game: str, **settings: Any) -> BlueprintTrainer:
    """Returns what trains a game of two players, from a file on if it is there."""
    from aleator.abstraction.blueprint.file import Blueprint
    from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
    from aleator.abstraction.buckets import open_buckets

    trainer = BlueprintTrainer(BlueprintConfig.of(game, **settings), open_buckets(abstraction), abstraction)
    if path.exists():
        trainer.restore(Blueprint(path))
    return trainer


def _for_several(path: Path, abstraction: Path, pruning: str, prune_after: int, **settings: Any) -> RingTrainer:
    """Returns what trains a game of three and more players, from a file on if it is there."""
    from aleator.abstraction.buckets import open_buckets
    from aleator.abstraction.ring.file import RingBlueprint
    from aleator.abstraction.ring.training import NO_PRUNING, RingConfig, RingTrainer

    if pruning not in ("pluribus", "none"):
        raise SolveError(f"with several players --pruning must be pluribus or none, not {pruning!r}")
    if prune_after:
        raise SolveError("--prune-after is for two players")
    if pruning == "none":
        settings["threshold"] = NO_PRUNING
    trainer = RingTrainer(RingConfig(**settings), open_buckets(abstraction), abstraction)
    if path.exists():
        trainer.restore(RingBlueprint(path))
    return trainer


def make_buckets(path: Path, game: str, threads: int, *, quiet: bool) -> None:
    """Makes the buckets of a game's streets as `aleator abstraction build` does unless told otherwise."""
    from aleator.abstraction.buckets import BucketConfig
    from aleator.abstraction.build import build_buckets, core_seconds, size_of
    from aleator.games.holdem.variants import load_hand_game

    config, streets = BucketConfig(), load_hand_game(game).rules.num_streets - 1
    if streets != config.last_street:
        features = ("potential",) * (streets - 1) + ("ochs",)
        config = BucketConfig(game=game, buckets=(200,) * streets, features=features)
    if not quiet:
        on = f" on {threads} cores" if threads > 1 else ""
        note(
            f"{path} does not exist and is made first: {size_of(config) / 1e6:,.0f} MB of buckets, in about "
            f"{duration(core_seconds(config) / threads)}{on}"
        )
    with reporting("making buckets", quiet=quiet) as report:
        build_buckets(config, path, threads=threads, report=report)


def improved(path: Path, abstraction: Path, hands: Path, most: int, *, quiet: bool) -> BlueprintTrainer:
    """Returns what goes on from the blueprint in a file, with the sizes that some hands show to be missing."""
    from aleator.abstraction.blueprint.file import Blueprint
    from aleator.abstraction.blueprint.improving import filled, find_gaps, transplanted
    from aleator.abstraction.blueprint.policy import BlueprintPolicy
    from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
    from aleator.abstraction.buckets import open_buckets
    from aleator.arena.whole_hands.files import read_hands

    if not path.exists():
        raise SolveError(f"{path} does not exist: --improve needs a trained blueprint")
    blueprint, buckets = Blueprint(path), open_buckets(abstraction)
    old = BlueprintPolicy(blueprint, buckets)
    records, errors = read_hands(hands)
    for error in errors:
        note(f"left out: {error}")
    gaps = find_gaps(old.betting.root, old.betting.stack, records)[:most]
    if not gaps:
        raise SolveError(f"{hands}: no bet of its {len(records):,} hands falls into a gap of the blueprint's menu")
    trainer = BlueprintTrainer(filled(BlueprintConfig.parse(blueprint.config_text), gaps), buckets, abstraction)
    table = transplanted(old.betting, blueprint.table(), trainer.betting, buckets.config)
    trainer.begin_with(table, blueprint.progress)
    for gap in gaps if not quiet else []:
        note(
            f"{STREET_NAMES[gap.street]}, {gap.level} bets before: {gap.middle} % of the pot, between "
            f"{100 * gap.below:.0f} and {100 * gap.above:.0f} %, where {gap.bets:,} bets fell"
        )
    return trainer


def teller(
    trainer: Trainer, path: Path, minutes: float | None, deals: int | None, every: float, report: Any
) -> Callable[[Progress], bool]:
    """Returns what tells how far a training is, and saves now and then."""
    began = saved = time.monotonic()
    before = trainer.progress

    def tell(progress: Progress) -> bool:
        nonlocal saved
        now = time.monotonic()
        parts = [] if minutes is None else [(now - began) / (60.0 * minutes)]
        parts += [] if deals is None else [progress.deals / deals]
        speed = (progress.visits - before.visits) / max(now - began, 1e-9)
        report(max(parts), f"{progress.deals:,} deals, {speed / 1e6:.1f} M nodes a second")
        if now - saved > every:
            try:
                trainer.save(path)
            except StorageError as error:  # there may be space again at the end
                note(f"{error}; the training goes on")
            saved = time.monotonic()
        return False

    return tell


def _announce(trainer: Trainer, path: Path, minutes: float | None, deals: int | None) -> None:
    betting, bytes_of = trainer.betting, sum(table.nbytes for table in trainer.tables().values())
    begun = f", {trainer.progress.deals:,} deals done" if trainer.progress.deals else ""
    until = [f"{duration(60.0 * minutes)} from now"] if minutes is not None else []
    until += [f"{deals:,} deals"] if deals is not None else []
    note(
        f"{trainer.config.game}: {betting.decisions:,} decisions, {betting.infostates:,} infostates, "
        f"{bytes_of / 1e6:,.0f} MB of tables in memory; {path}{begun}; until {' or '.join(until)}"
    )


def _tell(trainer: Trainer, path: Path, work: Work | None, *, json: bool) -> None:
    progress, betting = trainer.progress, trainer.betting
    met = trainer.count_met()
    facts = work._asdict() if work else {}
    if json:
        print_json({"file": str(path), **progress._asdict(), "infostates": betting.infostates, "met": met, **facts})
        return
    if work:
        note(work_text(facts))
    out.print(
        f"{path}: {progress.deals:,} deals and {progress.visits:,} nodes in {duration(progress.seconds)}; "
        f"{met:,} of {betting.infostates:,} infostates met",
        soft_wrap=True,
    )
