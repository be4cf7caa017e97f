"""`aleator train rebel`: value networks by self-play."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleator.apps.cli import training
from aleator.apps.cli.device import check_device
from aleator.apps.cli.output import note, number, out, print_json, progress_bar
from aleator.apps.cli.stopping import end, interruptible
from aleator.apps.cli.train_hunl import GAME, train_hunl
from aleator.apps.cli.workers import InStep, Processes, Ray, check_in_step, chosen_workers, work_text
from aleator.errors import SolveError
from aleator.parsing import MAX_THREADS
from aleator.workers.base import AHEAD, Here, Workers

if TYPE_CHECKING:
    from aleator.games.base import Game
    from aleator.learning.rebel.checkpoint import RunDirectory
    from aleator.learning.rebel.config import RebelConfig
    from aleator.learning.rebel.run import Moment
    from aleator.learning.rebel.training import Trainer

_DEVICE, _PLAYTHROUGHS = "auto", 256  # unless something else is asked for
_USUAL = {"--device": _DEVICE, "--checkpoint-every": training.CHECKPOINT_SECONDS, "--playthroughs": _PLAYTHROUGHS}


def rebel(
    game: Annotated[str | None, typer.Option(help="A game whose moves everybody sees, such as liars-dice:1x6; or "
                                                  "hunl, which trains on whole hands in slices. With "
                                                  "--resume: a game of your own.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="paper (published), fast (GPU), demo (minutes on a CPU) or perfect-information "
                                 "(minutes on a CPU, one search iteration); by default demo on a CPU, fast on a GPU."),
    ] = None,
    device: training.Device = _DEVICE,
    output: training.Out = None,
    resume: training.Resume = None,
    start: Annotated[
        Path | None, typer.Option("--from", help="A network.safetensors to begin with, instead of random parameters; "
                                  "for hunl a directory of them."),
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Minutes of a slice of hunl.")] = None,
    changes: training.Changes = None,
    seed: training.Seed = None,
    checkpoint_every: training.CheckpointEvery = training.CHECKPOINT_SECONDS,
    evaluate_every: Annotated[
        int | None, typer.Option(help="Epochs between evaluations; 0: at the end. By default ten of them on a GPU, one "
                                 "on a CPU."),
    ] = None,
    playthroughs: Annotated[int, typer.Option(help="Playthroughs of an evaluation; 0 for none.")] = _PLAYTHROUGHS,
    tensorboard: training.TensorBoard = False,
    threads: Annotated[int | None, typer.Option(min=1, max=MAX_THREADS, help="Threads on a CPU; default: all.")] = None,
    processes: Processes = None,
    ray: Ray = None,
    in_step: InStep = False,
    json: training.Json = False,
) -> None:  # fmt: skip
    """Train a value network by ReBeL's self-play. Ctrl-C saves a checkpoint; --resume goes on from it. The first
    example takes a minute on a CPU.

    Examples:  aleator train rebel --game liars-dice:1x3  |  aleator train rebel --game liars-dice:1x4  |
    aleator train rebel --game liars-dice:1x6 --preset paper --device cuda --out runs/dice  |
    aleator train rebel --resume runs/dice  |  aleator train rebel --game leduc --set searches=20000 --seed 1  |
    aleator train rebel --game liars-dice:1x4 --from runs/dice/network.safetensors --set updates=1024  |
    aleator train rebel --game hunl --device cuda --minutes 9 --out runs/hunl
    """
    computed_on = check_device(device, threads)
    if game == GAME:
        refused = {"--resume": resume, "--set": changes, "--evaluate-every": evaluate_every,
                   "--tensorboard": tensorboard, "--processes": processes, "--ray": ray,
                   "--in-step": in_step}  # fmt: skip
        train_hunl(computed_on=computed_on, preset=preset, output=output, start=start, minutes=minutes, seed=seed,
                   refused=refused, json=json)  # fmt: skip
        return
    if minutes is not None:
        raise SolveError("--minutes is for slices of hunl; other games end after the searches of their settings")
    training.check_tensorboard(tensorboard)
    workers = chosen_workers(processes, ray, usual=1, gpus=computed_on == "cuda")
    check_in_step(in_step, workers)
    from aleator.games.registry import is_recorded_elsewhere, load_game
    from aleator.learning.rebel.checkpoint import RunDirectory
    from aleator.learning.rebel.crew_blocks import played_by
    from aleator.learning.rebel.run import Pace, train

    rules = load_game(game) if game else None  # with --resume, one's own: the run knows its fingerprint
    if resume:
        training.check_resumed({"--preset": preset, "--set": changes, "--seed": seed, "--out": output, "--from": start})
        run = RunDirectory(resume)
        config = run.config()
    elif rules is None:
        raise SolveError("--game is missing, as in: aleator train rebel --game liars-dice:1x4")
    else:
        preset = preset or ("fast" if computed_on == "cuda" else "demo")
        config = _settings(preset, rules.name, changes, seed, workers)
        run = RunDirectory(output or training.free_directory(config.game, preset))
    own = game if is_recorded_elsewhere(config.game) else None
    asked = {"--game": own, "--device": device, "--checkpoint-every": checkpoint_every,
             "--evaluate-every": evaluate_every, "--playthroughs": playthroughs, "--threads": threads,
             "--tensorboard": tensorboard, "--processes": processes, "--ray": ray, "--in-step": in_step}  # fmt: skip
    if evaluate_every is None:
        evaluate_every = max(config.epochs // 10, 1) if computed_on == "cuda" else 0
    pace = Pace(checkpoint_seconds=checkpoint_every, evaluate_epochs=evaluate_every, playthroughs=playthroughs)
    with ExitStack() as stack:
        interrupted = stack.enter_context(interruptible())
        trainer = stack.enter_context(_opened(run, config, rules, computed_on, start, is_new=not resume))
        curves = stack.enter_context(training.Curves(run.path if tensorboard else None, trainer.epoch))
        if not isinstance(workers, Here):
            stack.enter_context(played_by(workers, trainer, own, in_step=in_step, device=computed_on))
        if not json:
            announce(trainer, run.path, workers)
        on_epoch = stack.enter_context(watch(trainer, curves.add, quiet=json))
        moment = train(trainer, run, pace, on_epoch=on_epoch, stopped=interrupted)
    again = training.resume_command("rebel", run.path, asked, _USUAL)
    report(trainer, moment, run.metrics(), run.path, again=again, json=json)
    end(stopped=not trainer.done)


@contextmanager
def _opened(
    run: RunDirectory, config: RebelConfig, rules: Game[Any] | None, device: str, start: Path | None, *, is_new: bool
) -> Iterator[Trainer]:
    """Yields a trainer where its run stands, which is locked meanwhile; with the networks in `start`, if there are."""
    from aleator.learning.rebel.model import load_model
    from aleator.learning.rebel.training import Trainer

    trainer = Trainer(config, rules, device=device)
    if start:
        model = load_model(start)
        trainer.begin_with(model.network, model.policy)
    if is_new:
        run.create(config, trainer.subgames.fingerprint)
    with run.locked():
        run.restore(trainer)
        if start:
            run.save(trainer)  # a run that is resumed before its first checkpoint begins with these networks, too
        yield trainer


def _settings(preset: str, game: str, changes: list[str] | None, seed: int | None, workers: Workers) -> RebelConfig:
    """Returns the settings of a new run: those of a preset with some changes; workers need blocks of games."""
    from aleator.learning.rebel.config import parse_setting
    from aleator.learning.rebel.config import preset as named_settings

    changed = training.parse_changes(parse_setting, changes, seed)
    config = named_settings(preset, **changed, game=game)
    if "blocks" not in changed and not isinstance(workers, Here):
        config = replace(config, blocks=min(AHEAD * workers.count, config.games))
    return config


def announce(trainer: Trainer, path: Path, workers: Workers) -> None:
    """Says what is going to happen and what it will take."""
    from aleator.learning.rebel.estimate import estimate

    config, left = trainer.config, trainer.config.epochs - trainer.epoch
    if not left:
        return
    begun = f", {trainer.epoch:,} done" if trainer.epoch else ""
    note(
        f"{config.game}: {config.epochs:,} epochs of {config.games:,} searches{begun}; {config.search}, "
        f"{config.updates:,} update{'s' * (config.updates > 1)}, depth {config.depth}; {trainer.device.type}, in {path}"
    )
    if not isinstance(workers, Here):
        note(f"{workers.count} workers, {config.blocks:,} blocks of games")
        return
    with progress_bar("measuring this machine", quiet=False):
        cost = estimate(trainer)
    note(
        f"about {training.duration(cost.seconds)} without evaluations "
        f"({cost.searches_per_second:,.0f} searches per second), {max(cost.memory / 1e6, 1):,.0f} MB of memory"
    )


@contextmanager
def watch(
    trainer: Trainer, keep: Callable[[dict[str, Any]], None], *, quiet: bool
) -> Iterator[Callable[[Moment, dict[str, Any]], None]]:
    """Yields what is told about every epoch: it shows where the run stands, and gives the line of metrics to `keep`."""
    epochs, died = trainer.config.epochs, 0
    with training.watching(f"{trainer.config.game}, training", quiet=quiet, begun=trainer.epoch / epochs) as show:

        def on_epoch(moment: Moment, line: dict[str, Any]) -> None:
            nonlocal died
            show(moment.metrics.epoch / epochs, _text(moment))
            keep(line)
            if line.get("replaced", 0) > died:
                died = line["replaced"]
                note(f"{died:,} workers died and were replaced; what they were doing is done again")

        yield on_epoch


def _text(moment: Moment) -> str:
    metrics = moment.metrics
    parts = [
        f"{metrics.searches:,} searches ({metrics.searches_per_second:,.0f}/s)",
        f"{metrics.examples:,} examples ({2 * metrics.searches_per_second:,.0f}/s)",
    ]
    if metrics.loss is not None:
        parts.append(f"loss {metrics.loss:.2e}")
    if moment.exploitability is not None:
        parts.append(f"exploitability {quality(moment.exploitability, moment.error)}")
    if work := work_text(metrics.work):
        parts.append(work)
    if moment.activity != "training":
        parts.append(moment.activity)
    return ", ".join(parts)


def quality(exploitability: float | None, error: float | None) -> str:
    """Returns an exploitability with its standard error."""
    return "-" if exploitability is None else f"{exploitability:.4f} ± {number(error, 2)}"


def report(
    trainer: Trainer, moment: Moment | None, metrics: list[dict[str, Any]], path: Path, *, again: str, json: bool
) -> None:
    """Prints what came of a run; `again` is the command that goes on with it."""
    last = metrics[-1] if metrics else {}
    measured: dict[str, Any] = next((line for line in reversed(metrics) if line.get("exploitability") is not None), {})
    if json:
        names = ("epoch", "searches", "examples", "steps", "loss", "seconds")
        qualities = ("exploitability", "error", "playthroughs")
        print_json(
            {
                "game": trainer.config.game,
                "directory": str(path),
                "done": trainer.done,
                **{name: last.get(name) for name in names},
                **{name: measured.get(name) for name in qualities},
            }
        )
        return
    if not trainer.done:
        training.tell_stopped(trainer.epoch, trainer.config.epochs, again)
        return
    if moment is None:
        out.print(f"the run in {path} is finished", soft_wrap=True)
    out.print(
        f"{trainer.config.game}: {trainer.epoch * trainer.config.games:,} searches, {trainer.steps:,} training steps, "
        f"{training.duration(trainer.seconds)}",
        soft_wrap=True,
    )
    if measured:
        shown = quality(measured["exploitability"], measured.get("error"))
        number_of = measured.get("playthroughs")
        how = "exact" if number_of == 1 else f"{number_of} playthroughs"
        out.print(f"exploitability   {shown}   (NashConv / 2, {how})")
    out.print(f"written: {path / 'network.safetensors'}", soft_wrap=True)
