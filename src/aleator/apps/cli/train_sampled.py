"""`aleator train deep-cfr|nfsp|double-neural`: train networks by methods that sample histories."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleator.apps.cli import training
from aleator.apps.cli.device import check_device
from aleator.apps.cli.output import note, out, print_json
from aleator.apps.cli.stopping import end, interruptible
from aleator.apps.cli.workers import Processes, Ray, chosen_workers, work_text
from aleator.errors import SolveError
from aleator.workers.base import AHEAD, Here, Workers

if TYPE_CHECKING:
    from aleator.learning.sampled.methods import Method
    from aleator.learning.sampled.run import SampledRun
    from aleator.learning.sampled.trainer import SampledTrainer

_EVALUATIONS = 20
_USUAL = {"--device": "cpu", "--checkpoint-every": training.CHECKPOINT_SECONDS}

Game = Annotated[str | None, typer.Option(help="A two-player game, such as leduc. With --resume: a game of your own.")]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Named settings: small (on a CPU), demo, paper; deep-cfr and nfsp also have fhp (flop hold'em on a GPU)."
    ),
]
EvaluateEvery = Annotated[
    int | None,
    typer.Option(help="Epochs between exact evaluations; 0 for the end only. By default 20 evaluations in all."),
]

HELP = {
    "deep-cfr": """Train by Deep CFR, or by SD-CFR with --set average=mixture. Ctrl-C saves a checkpoint; --resume goes
    on from it, with more iterations if --set iterations=N says so. The first example takes a quarter of a minute.

    Examples:  aleator train deep-cfr --game kuhn --preset demo  |  aleator train deep-cfr --game leduc  |
    aleator train deep-cfr --game leduc --set average=mixture --out runs/sd-cfr  |
    aleator train deep-cfr --resume runs/sd-cfr
    """,
    "nfsp": """Train by neural fictitious self-play (NFSP). Ctrl-C saves a checkpoint; --resume goes on from it.
    The first example takes a quarter of a minute.

    Examples:  aleator train nfsp --game kuhn --preset demo --out runs/nfsp  |  aleator train nfsp --game leduc  |
    aleator train nfsp --resume runs/nfsp
    """,
    "double-neural": """Train by Double Neural CFR. Ctrl-C saves a checkpoint; --resume goes on from it. The first
    example takes a quarter of a minute.

    Examples:  aleator train double-neural --game kuhn --preset demo  |  aleator train double-neural --game
    leduc:nolimit5  |  aleator train double-neural --game one-card:5 --set average=table --out runs/rsn-only  |
    aleator train double-neural --resume runs/rsn-only
    """,
}  # of the commands, one per method


def train_command(kind: str) -> Callable[..., None]:
    """Returns the command that trains by one of the methods."""

    def train(
        game: Game = None,
        preset: Preset = None,
        device: training.Device = "cpu",
        output: training.Out = None,
        resume: training.Resume = None,
        changes: training.Changes = None,
        seed: training.Seed = None,
        checkpoint_every: training.CheckpointEvery = training.CHECKPOINT_SECONDS,
        evaluate_every: EvaluateEvery = None,
        tensorboard: training.TensorBoard = False,
        processes: Processes = None,
        ray: Ray = None,
        json: training.Json = False,
    ) -> None:
        computed_on = check_device(device, None)
        training.check_tensorboard(tensorboard)
        from aleator.games.registry import is_recorded_elsewhere, load_game
        from aleator.learning.run_files import RunPace
        from aleator.learning.sampled.crew_traversals import traversed_by
        from aleator.learning.sampled.deep_cfr import DeepCFR
        from aleator.learning.sampled.methods import find_method
        from aleator.learning.sampled.run import SampledRun, train_sampled

        method = find_method(kind)
        workers = chosen_workers(processes, ray, usual=1, gpus=computed_on == "cuda")
        if not isinstance(workers, Here) and kind != DeepCFR.kind:
            raise SolveError(f"--ray and --processes are for {DeepCFR.kind}; {kind} trains in one process")
        if resume:
            training.check_resumed({"--preset": preset, "--seed": seed, "--out": output})
            run = SampledRun(resume, method)
            if changes:
                _lengthen(run, method, changes)
            config = run.config()
            rules = load_game(game) if game else None  # one's own is named again; the run knows its fingerprint
        else:
            if game is None:
                raise SolveError(f"--game is missing, as in: aleator train {kind} --game leduc")
            rules = load_game(game)
            config = _new_config(method, preset, changes, seed, rules.name, workers)
            run = SampledRun(output or training.free_directory(config.game, kind), method)
        evaluate_epochs = max(config.epochs // _EVALUATIONS, 1) if evaluate_every is None else evaluate_every
        pace = RunPace(checkpoint_seconds=checkpoint_every, evaluate_epochs=evaluate_epochs)
        with ExitStack() as stack:
            interrupted = stack.enter_context(interruptible())
            trainer = method.trainer(config, rules, device=computed_on)
            if not resume:
                run.create(trainer)
            stack.enter_context(run.locked())
            run.restore(trainer)
            own = game if is_recorded_elsewhere(config.game) else None
            if isinstance(trainer, DeepCFR) and not isinstance(workers, Here):
                stack.enter_context(traversed_by(workers, trainer, own, device=computed_on))
            curves = stack.enter_context(training.Curves(run.path if tensorboard else None, trainer.epoch))
            title = f"{config.game}, {trainer.title}"
            show = stack.enter_context(training.watching(title, quiet=json, begun=trainer.epoch / config.epochs))
            if not json and not trainer.done:
                begun = f", {trainer.epoch:,} done" if trainer.epoch else ""
                note(f"{config.game}: {config.epochs:,} epochs of {trainer.title}{begun}; in {run.path}")
            known: dict[str, Any] = {}  # exploitabilities are measured now and then

            def on_epoch(line: dict[str, Any]) -> None:
                known.update((name, value) for name, value in line.items() if value is not None)
                show(line["epoch"] / config.epochs, _text(known))
                curves.add(line)

            train_sampled(trainer, run, pace, on_epoch=on_epoch, stopped=interrupted)
        asked = {
            "--game": own,
            "--device": device,
            "--checkpoint-every": checkpoint_every,
            "--evaluate-every": evaluate_every,
            "--tensorboard": tensorboard,
            "--processes": processes,
            "--ray": ray,
        }
        end(stopped=not _report(trainer, run, training.resume_command(kind, run.path, asked, _USUAL), json=json))

    train.__doc__ = HELP[kind]
    return train


def _new_config(
    method: Method, preset: str | None, changes: list[str] | None, seed: int | None, game: str, workers: Workers
) -> Any:
    """Returns the settings of a new run; with workers there are enough blocks for all of them."""
    from aleator.learning import settings
    from aleator.learning.sampled.crew_traversals import check_shared

    changed = training.parse_changes(partial(settings.parse_setting, method.config), changes, seed)
    config: Any = method.preset(preset, **changed, game=game)
    if isinstance(workers, Here):
        return config
    check_shared(config)
    return config if "blocks" in changed else replace(config, blocks=AHEAD * workers.count)


def _lengthen(run: SampledRun, method: Method, changes: list[str]) -> None:
    """Has a run go on to more iterations."""
    from aleator.learning import settings

    changed = training.parse_changes(partial(settings.parse_setting, method.config), changes, None)
    for name in changed:
        if name != "iterations":
            raise SolveError(f"a resumed run keeps its settings, all but its iterations: leave out --set {name}")
    with run.locked():
        run.lengthen(changed["iterations"])


def _text(line: dict[str, Any]) -> str:
    """Returns where a run stands, given its metrics and the last exploitability."""
    forms = {
        "epoch": "epoch {:,}",
        "nodes": "{:,} nodes",
        "loss": "loss {:.2e}",
        "exploitability": "exploitability {:.4f}",
    }
    parts = [form.format(line[name]) for name, form in forms.items() if line.get(name) is not None]
    return ", ".join([*parts, *filter(None, [work_text(line)])])


def _report(trainer: SampledTrainer, run: SampledRun, again: str, *, json: bool) -> bool:
    """Prints what came of a run, and returns whether it is over; `again` is the command that goes on with it."""
    from aleator.learning.run_files import NETWORK

    metrics = run.metrics()
    last = metrics[-1] if metrics else {}
    measured = [line["exploitability"] for line in metrics if line.get("exploitability") is not None]
    exploitability = measured[-1] if measured else None
    done = trainer.done and "exploitability" in last  # a run ends with an evaluation
    if json:
        names = ("epoch", "nodes", "samples", "loss", "seconds")
        facts = {name: last.get(name) for name in names}
        about = {"method": trainer.kind, "game": trainer.config.game, "directory": str(run.path), "done": done}
        print_json({**about, **facts, "exploitability": exploitability})
        return done
    if not done:
        training.tell_stopped(trainer.epoch, trainer.config.epochs, again)
        return done
    out.print(
        f"{trainer.config.game}: {trainer.epoch:,} epochs of {trainer.title}, {trainer.nodes:,} nodes, "
        f"{training.duration(trainer.seconds)}",
        soft_wrap=True,
    )
    if exploitability is not None:
        unit = f"{trainer.unit}; " if trainer.unit else ""
        out.print(f"exploitability   {exploitability:.5f}   ({unit}NashConv / 2, exact)")
    path = run.path / NETWORK
    out.print(f"written: {path}; play it by --agent {trainer.kind}:{path}", soft_wrap=True)
    return done
