"""Brown's thesis, Fig. 4.8: the opening bet of heads-up no-limit hold'em, optimised while a blueprint is trained."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.opening_bet import OpeningRule, OpeningStep, optimise_opening
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.buckets import BucketConfig, open_buckets
from aleator.abstraction.build import build_buckets
from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.kept import keep_run, read_run, run_file
from aleator.apps.papers.parallel import run_beside

FILE = Path("buckets.bin")
_STARTS = (0.5, 1.0, 1.5, 2.0)
_FIXED = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_THESIS = 0.77
_AFTER_FLOP = "50% 100% all-in; 100% all-in; all-in"
_MENU = ("100% all-in; 100% all-in; all-in", *(_AFTER_FLOP,) * 3)
_QUICK_MENU = ("100% all-in; all-in", *("100%; all-in",) * 3)
_ALWAYS = 10**9  # periods with discounts: more steps go on from fewer
_SAVED = 10  # steps between two blueprints that are kept
_CONVENTION = (
    "Sizes are in pots after the call: .77 raises to 2.54 big blinds. Found is the mean over all steps, later ones "
    "with more weight; values are what the opener (small blind, button) wins in milli-big-blinds a hand by the average "
    "policies, ± half of a 95 % interval, pooled over the last quarter of the steps. What sizes win is compared by the "
    "integral of the gradients at them, since values have too much luck."
)
_DEVIATIONS = (
    "The thesis' betting is Tartanian5's of 2012, of which it says what the first action is: fold, call, a raise, "
    "all-in. Ours has that, too, a raise of the pot and all-in in answer, and half the pot, the pot and all-in after "
    "the flop. Its runs have a billion iterations of chance-sampled CFR; aleator.abstraction.blueprint.opening_bet "
    "says how ours move."
)


class _Task(NamedTuple):
    """A run: the buckets, the game, its menu, where it begins, how it moves, the seed, and its file if it is kept."""

    buckets: Path
    game: str
    menu: tuple[str, ...]
    start: float
    rule: OpeningRule
    seed: int
    file: Path | None


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns sizes over steps from four starts; full: also values at fixed sizes. Quick: to the flop, two starts."""
    rule = OpeningRule(
        steps=int(settings.choose(20, 300, 500)), deals=2_000 if settings.quick else 100_000,
        sample=20_000 if settings.quick else 50_000,
    )  # fmt: skip
    starts = _STARTS[::3] if settings.quick else _STARTS
    fixed = _FIXED if settings.full else ()
    with TemporaryDirectory() as folder:
        config, menu = BucketConfig(), _MENU
        if settings.quick:
            config = BucketConfig(
                game="nolimit-flop", buckets=(10,), features=("equity",), boards=50, hands=32, rounds=3
            )
            menu = _QUICK_MENU
        file = FILE.absolute() if FILE.exists() and not settings.quick else (settings.keep or Path(folder)) / FILE
        if not file.exists():
            on_progress(0.0, "buckets")
            build_buckets(config, file, threads=settings.workers.count)
        held = OpeningRule(steps=rule.steps, deals=rule.deals, sample=rule.sample, rate=0.0)
        moves = {f"from {start:g}": (start, rule) for start in starts}
        moves |= {f"held at {size:g}": (size, held) for size in fixed}
        tasks = {
            name: _Task(file, config.game, menu, start, how, settings.seed, run_file(settings.keep, name))
            for name, (start, how) in moves.items()
        }
        runs = run_beside(_solve, tasks, on_progress, settings.workers)
    on_progress(1.0, "")
    moved = {name: steps for name, steps in runs.items() if tasks[name].rule is rule}
    ends = {name: steps[-1].size for name, steps in moved.items()}
    return Report(
        title="The opening bet of heads-up no-limit hold'em (thesis, Fig. 4.8)",
        setting=(
            f"{rule.steps} steps of {rule.deals:,} deals, {'/'.join(map(str, (169, *config.buckets)))} buckets, "
            f"{config.game}{settings.mode}"
        ),
        convention=_CONVENTION,
        columns=("run", "half way", "found", "gradient", "± gradient", "mbb/h", "±"),
        rows=tuple(
            (name, steps[len(steps) // 2 - 1].size, steps[-1].size,
             *_pooled([step.gradient for step in steps[-_tail(steps) :]]),
             *(1000.0 * number for number in _pooled([step.value for step in steps[-_tail(steps) :]])))
            for name, steps in runs.items()
        ),
        claims=_claims(ends, {tasks[name].start: runs[name] for name in runs if name not in moved}),
        panels={
            "opening bet, pots": {
                name: [(float(step.number * rule.deals), step.size) for step in steps] for name, steps in moved.items()
            }
        },
        x_label="deals",
        y_label="",
        y_scale="linear",
        deviations=_DEVIATIONS,
    )  # fmt: skip


def _claims(ends: dict[str, float], held: dict[float, tuple[OpeningStep, ...]]) -> tuple[Claim, ...]:
    values = list(ends.values())
    claims = [
        Claim(
            text=f"all starts end at {_THESIS} ± .01 pots, in kind",
            measured=", ".join(f"{name}: {end:.3f}" for name, end in ends.items()),
            agrees=abs(float(np.mean(values)) - _THESIS) < 0.2,
        ),
        Claim(
            text="they end at one size, ± .01",
            measured=f"{min(values):.3f} to {max(values):.3f}",
            agrees=max(values) - min(values) <= 0.02,
        ),
    ]
    if held:
        worth = _gained(
            {size: _pooled([step.gradient for step in steps[-_tail(steps) :]])[0] for size, steps in held.items()}
        )
        order = sorted(worth, key=lambda size: -worth[size])
        claims.append(
            Claim(
                text="of the sizes .5, .6 … 1.0 .8 wins most, then .7",
                measured=", ".join(f"{size:g}: {1000.0 * worth[size]:+.1f} mbb" for size in order),
                agrees=order[:2] == [0.8, 0.7],
            )
        )
    return tuple(claims)


def _gained(gradients: dict[float, float]) -> dict[float, float]:
    """Returns what each size wins more than the first: the integral of the gradients, whose luck is far less."""
    sizes = sorted(gradients)
    slopes = np.array([gradients[size] for size in sizes])
    parts = 0.5 * np.diff(sizes) * (slopes[1:] + slopes[:-1])
    return dict(zip(sizes, [0.0, *np.cumsum(parts).tolist()], strict=True))


def _tail(steps: tuple[OpeningStep, ...]) -> int:
    return max(len(steps) // 4, 1)


def _pooled(estimates: list[tuple[float, float]]) -> tuple[float, float]:
    """Returns the mean of independent estimates, and half of its 95 % interval."""
    means, errors = np.array(estimates).T
    return float(means.mean()), float(np.sqrt((errors**2).sum()) / len(errors))


def _solve(task: _Task) -> tuple[OpeningStep, ...]:
    """Returns the steps of one run; if runs are kept it goes on from the last blueprint that was."""
    buckets, rule = open_buckets(task.buckets), task.rule
    config = BlueprintConfig.of(
        task.game, menu=task.menu, period=rule.deals, linear_periods=_ALWAYS, seed=task.seed
    )  # fmt: skip
    trainer = BlueprintTrainer(config, buckets, task.buckets)
    about: dict[str, Any] = {
        "experiment": "opening-bet", "buckets": buckets.fingerprint, "blueprint": config.to_json(),
        "start": task.start, "deals": rule.deals, "sample": rule.sample, "rate": rule.rate,
    }  # fmt: skip
    done = (read_run(task.file, about, _decode) or ())[: rule.steps]
    if len(done) == rule.steps:
        return done
    blueprint = task.file and task.file.with_suffix(".blueprint")
    if blueprint and blueprint.exists():
        trainer.restore(Blueprint(blueprint))
    done = done[: trainer.progress.deals // rule.deals]
    seen = list(done)

    def on_step(step: OpeningStep) -> None:
        seen.append(step)
        keep_run(task.file, about, seen)
        if blueprint and step.number % _SAVED == 0:
            trainer.save(blueprint)

    return optimise_opening(trainer, task.start, rule, done=done, on_step=on_step)


def _decode(value: Any) -> tuple[OpeningStep, ...]:
    return tuple(OpeningStep(number, size, tuple(value), tuple(slope)) for number, size, value, slope in value)
