"""`aleator train deep-cfr|nfsp|double-neural`: train networks by methods that sample histories."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleator.apps.cli.device import check_device
from aleator.apps.cli.output import err, note, out, print_json, progress_bar
from aleator.apps.cli.stopping import end, interruptible
from aleator.apps.cli.training import (
    PLAIN_SECONDS,
    Curves,
    check_tensorboard,
    duration,
    free_directory,
    resume_command,
)
from aleator.errors import SolveError
from aleator.parsing import MAX_SEED

if TYPE_CHECKING:
    from aleator.learning.sampled.run import SampledRun
    from aleator.learning.sampled.trainer import SampledTrainer

_CHECKPOINT_SECONDS, _EVALUATIONS = 60.0, 20
_USUAL = {"--device": "cpu", "--checkpoint-every": _CHECKPOINT_SECONDS}

Game = Annotated[str | None, typer.Option(help="A two-player game, as leduc. With --resume: one of your own.")]
Preset = Annotated[str | None, typer.Option(help="Named settings: small (small games on a CPU), demo or paper.")]
Device = Annotated[str, typer.Option(help="cpu, cuda or auto.")]
Out = Annotated[Path | None, typer.Option("--out", help="The directory of the run; by default a new one in runs/.")]
Resume = Annotated[Path | None, typer.Option(help="Go on with the run in this directory.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of the preset; may be repeated."),
]
Seed = Annotated[int | None, typer.Option(min=0, max=MAX_SEED, help="Seed of all randomness.")]
CheckpointEvery = Annotated[float, typer.Option(help="Seconds between checkpoints.")]
EvaluateEvery = Annotated[
    int | None,
    typer.Option(help="Epochs between exact evaluations; 0 for the end only. By default 20 evaluations in all."),
]
TensorBoard = Annotated[bool, typer.Option("--tensorboard", help="Write curves for TensorBoard, too.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def deep_cfr(
    game: Game = None,
    preset: Preset = None,
    device: Device = "cpu",
    output: Out = None,
    resume: Resume = None,
    changes: Changes = None,
    seed: Seed = None,
    checkpoint_every: CheckpointEvery = _CHECKPOINT_SECONDS,
    evaluate_every: EvaluateEvery = None,
    tensorboard: TensorBoard = False,
    json: Json = False,
) -> None:
    """Train by Deep CFR, or by SD-CFR with --set average=mixture. Ctrl-C saves a checkpoint; --resume goes on from it.

    Examples:  aleator train deep-cfr --game leduc  |  aleator train deep-cfr --game leduc --set average=mixture --out
    runs/sd-cfr  |  aleator train deep-cfr --resume runs/sd-cfr  |  aleator train deep-cfr --game kuhn --preset demo
    """
    asked = {"--device": device, "--checkpoint-every": checkpoint_every, "--evaluate-every": evaluate_every}
    _train("deep-cfr", game, preset, output, resume, changes, seed, {**asked, "--tensorboard": tensorboard}, json=json)


def nfsp(
    game: Game = None,
    preset: Preset = None,
    device: Device = "cpu",
    output: Out = None,
    resume: Resume = None,
    changes: Changes = None,
    seed: Seed = None,
    checkpoint_every: CheckpointEvery = _CHECKPOINT_SECONDS,
    evaluate_every: EvaluateEvery = None,
    tensorboard: TensorBoard = False,
    json: Json = False,
) -> None:
    """Train by neural fictitious self-play (NFSP). Ctrl-C saves a checkpoint; --resume goes on from it.

    Examples:  aleator train nfsp --game leduc  |  aleator train nfsp --game kuhn --preset demo --out runs/nfsp  |
    aleator train nfsp --resume runs/nfsp
    """
    asked = {"--device": device, "--checkpoint-every": checkpoint_every, "--evaluate-every": evaluate_every}
    _train("nfsp", game, preset, output, resume, changes, seed, {**asked, "--tensorboard": tensorboard}, json=json)


def double_neural(
    game: Game = None,
    preset: Preset = None,
    device: Device = "cpu",
    output: Out = None,
    resume: Resume = None,
    changes: Changes = None,
    seed: Seed = None,
    checkpoint_every: CheckpointEvery = _CHECKPOINT_SECONDS,
    evaluate_every: EvaluateEvery = None,
    tensorboard: TensorBoard = False,
    json: Json = False,
) -> None:
    """Train by Double Neural CFR. Ctrl-C saves a checkpoint; --resume goes on from it.

    Examples:  aleator train double-neural --game leduc:nolimit5  |  aleator train double-neural --game one-card:5 --set
    average=table --out runs/rsn-only  |  aleator train double-neural --resume runs/rsn-only
    """
    asked = {"--device": device, "--checkpoint-every": checkpoint_every, "--evaluate-every": evaluate_every}
    _train(
        "double-neural", game, preset, output, resume, changes, seed, {**asked, "--tensorboard": tensorboard}, json=json
    )


def _train(
    kind: str,
    game: str | None,
    preset: str | None,
    output: Path | None,
    resume: Path | None,
    changes: list[str] | None,
    seed: int | None,
    asked: dict[str, Any],
    *,
    json: bool,
) -> None:
    """Trains by one of the methods; `asked` has the options of how to run it, which the run does not keep."""
    place = check_device(asked["--device"], None)
    check_tensorboard(asked["--tensorboard"])
    from aleator.games.registry import is_recorded_elsewhere, load_game
    from aleator.learning import settings
    from aleator.learning.sampled.methods import find_method
    from aleator.learning.sampled.run import SampledPace, SampledRun, train_sampled

    method = find_method(kind)
    if resume:
        fixed = {"--preset": preset, "--set": changes, "--seed": seed, "--out": output}
        for name, given in fixed.items():
            if given is not None:
                raise SolveError(f"a resumed run keeps its settings and directory: leave out {name}")
        run = SampledRun(resume, method)
        config = run.config()
        rules = load_game(game) if game else None  # a game of one's own is named again; the run knows its fingerprint
    else:
        if game is None:
            raise SolveError(f"--game is missing, as in: aleator train {kind} --game leduc")
        rules = load_game(game)
        changed = dict(settings.parse_setting(method.config, text) for text in changes or [])
        if "game" in changed:
            raise SolveError("the game is set by --game")
        if seed is not None:
            changed["seed"] = seed
        config = method.preset(preset, **changed, game=rules.name)
        run = SampledRun(output or free_directory(config.game, kind), method)
    own = game if is_recorded_elsewhere(config.game) else None
    every = asked["--evaluate-every"]
    pace = SampledPace(
        checkpoint_seconds=asked["--checkpoint-every"],
        evaluate_epochs=max(config.epochs // _EVALUATIONS, 1) if every is None else every,
    )
    with ExitStack() as stack:
        interrupted = stack.enter_context(interruptible())
        trainer = method.trainer(config, rules, device=place)
        if not resume:
            run.create(trainer)
        stack.enter_context(run.locked())
        run.restore(trainer)
        curves = stack.enter_context(Curves(run.path if asked["--tensorboard"] else None, trainer.epoch))
        watch = stack.enter_context(Watch(trainer, run, quiet=json))

        def show(line: dict[str, Any]) -> None:
            watch.show(line)
            curves.add(line)

        train_sampled(trainer, run, pace, on_epoch=show, stopped=interrupted)
    _report(trainer, run, resume_command(kind, run.path, {"--game": own, **asked}, _USUAL), json=json)
    end(stopped=not trainer.done)


class Watch:
    """Shows a run while it runs: a moving line with the time left, or a plain one every few seconds."""

    def __init__(self, trainer: SampledTrainer, run: SampledRun, *, quiet: bool) -> None:
        self._epochs = trainer.config.epochs
        self._plain, self._last = not quiet and not err.is_terminal, time.monotonic()
        self._began, self._first = time.monotonic(), trainer.epoch
        self._exploitability: float | None = None
        self._bar = progress_bar(f"{trainer.config.game}, {trainer.title}", quiet=quiet)
        if not quiet and not trainer.done:
            begun = f", {trainer.epoch:,} done" if trainer.epoch else ""
            note(f"{trainer.config.game}: {self._epochs:,} epochs of {trainer.title}{begun}; in {run.path}")

    def __enter__(self) -> Watch:
        self._move = self._bar.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.__exit__(*error)

    def show(self, line: dict[str, Any]) -> None:
        """Shows where the run stands."""
        self._exploitability = line.get("exploitability", self._exploitability)
        parts = [f"epoch {line['epoch']:,}", f"{line['nodes']:,} nodes"]
        if line.get("loss") is not None:
            parts.append(f"loss {line['loss']:.2e}")
        if self._exploitability is not None:
            parts.append(f"exploitability {self._exploitability:.4f}")
        text = ", ".join(parts)
        self._move(line["epoch"] / self._epochs, text)
        now = time.monotonic()
        if self._plain and (now - self._last >= PLAIN_SECONDS or line["epoch"] == self._epochs):
            self._last = now
            left = (now - self._began) / (line["epoch"] - self._first) * (self._epochs - line["epoch"])
            note(f"{text}, {duration(left)} left" if left else text)


def _report(trainer: SampledTrainer, run: SampledRun, again: str, *, json: bool) -> None:
    """Prints what came of a run; `again` is the command that goes on with it."""
    from aleator.learning.run_files import NETWORK

    metrics = run.metrics()
    last = metrics[-1] if metrics else {}
    measured = [line["exploitability"] for line in metrics if line.get("exploitability") is not None]
    found = measured[-1] if measured else None
    if json:
        names = ("epoch", "nodes", "samples", "loss", "seconds")
        facts = {name: last.get(name) for name in names}
        about = {"method": trainer.kind, "game": trainer.config.game, "directory": str(run.path), "done": trainer.done}
        print_json({**about, **facts, "exploitability": found})
        return
    if not trainer.done:
        out.print(f"stopped after epoch {trainer.epoch:,} of {trainer.config.epochs:,}; go on with", markup=False)
        out.print(f"  {again}", markup=False, soft_wrap=True)
        return
    out.print(
        f"{trainer.config.game}: {trainer.epoch:,} epochs of {trainer.title}, {trainer.nodes:,} nodes, "
        f"{duration(trainer.seconds)}",
        markup=False,
        soft_wrap=True,
    )
    if found is not None:
        out.print(f"exploitability   {found:.5f}   (NashConv / 2, exact)", markup=False)
    path = run.path / NETWORK
    out.print(f"written: {path}; play it by --agent {trainer.kind}:{path}", markup=False, soft_wrap=True)
