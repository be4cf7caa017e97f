"""Brown's thesis, Fig. 4.9: continuous Leduc by abstractions that grow, and by fixed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from aleator.abstraction.growing.continuous import continuous_exploitability
from aleator.abstraction.growing.saef import GrowingCFR, GrowthRule, fixed_abstraction
from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.curves import powers_of_two
from aleator.apps.papers.kept import run_file, run_once
from aleator.apps.papers.parallel import run_beside
from aleator.solvers.cfr import CFR
from aleator.solvers.regret_rule import CFR as CFR_RULE
from aleator.storage import check_object

_FIXED = {
    "Branch-2": (0.01, 1.0),
    "Branch-3": (0.01, 1 / 3, 1.0),
    "Branch-5": (0.01, 1 / 7, 1 / 3, 3 / 5, 1.0),
}
_GROWN = {"Recovery-1.0": 1.0, "Recovery-1.01": 1.01, "Recovery-1.1": 1.1, "Recovery-2.0": 2.0}
_REMOVING, _REMOVAL = "Recovery-1.01, with removal", 0.01
_FIRST = 262_144
_MAIN = "Recovery-1.01"


class _Task(NamedTuple):
    """A run: its menu, or its threshold and removal, the nodes touched at which to look, and its file if it is kept."""

    sizes: tuple[float, ...]
    threshold: float
    removal: float
    looks: tuple[int, ...]
    file: Path | None


class _Curve(NamedTuple):
    """What a run found: (nodes touched, exploitability in the whole game), (nodes touched, size of the abstraction)."""

    quality: list[tuple[float, float]]
    size: list[tuple[float, float]]


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns exploitability and size over nodes touched, and whether the thesis' claims hold."""
    last = int(settings.choose(2 * _FIRST, 16 * _FIRST, 256 * _FIRST))
    looks = powers_of_two(_FIRST, last)
    kinds = {name: (sizes, 0.0, 0.0) for name, sizes in _FIXED.items()}
    kinds |= {name: ((), threshold, 0.0) for name, threshold in _GROWN.items()}
    kinds[_REMOVING] = (), _GROWN[_MAIN], _REMOVAL
    tasks = {name: _Task(*kind, looks, run_file(settings.keep, name)) for name, kind in kinds.items()}
    curves = run_beside(_solve, tasks, on_progress, settings.workers)
    on_progress(1.0, "")
    return Report(
        title="Continuous Leduc, bets of 1 % to 100 % of the pot (thesis, Fig. 4.9)",
        setting=f"to {looks[-1]:,} public states visited{settings.mode}",
        convention=(
            "Exploitability (NashConv / 2, antes) in the game with all sizes: bets between two sizes of a menu are "
            "taken for one of them by the pseudo-harmonic mapping, and the best response picks the best size exactly. "
            "Visits of recovery games count."
        ),
        columns=("abstraction", "nodes", *(f"at {look:,}" for look in looks)),
        rows=tuple(
            (name, round(curve.size[-1][1]), *(dict(curve.quality).get(float(look)) for look in looks))
            for name, curve in curves.items()
        ),
        claims=_claims(curves),
        panels={
            "exploitability in the whole game": {name: curve.quality for name, curve in curves.items()},
            "size of the abstraction, public states": {name: curve.size for name, curve in curves.items()},
        },
        x_label="public states visited",
        y_label="",
        deviations=(
            "aleator.abstraction.growing.saef says how bets are added. Who responds learns which size its bet was "
            "taken for. Best responses that look for bets are not counted as visits."
        ),
    )  # fmt: skip


def _claims(curves: dict[str, _Curve]) -> tuple[Claim, ...]:
    main = dict(curves[_MAIN].quality)
    claims = []
    for name in _FIXED:
        other = dict(curves[name].quality)
        ratios = [main[look] / other[look] for look in main if look in other]
        claims.append(
            Claim(
                text=f"{_MAIN} is ahead of {name} at every point",
                measured=f"{min(ratios):.2f} to {max(ratios):.2f} of its exploitability, {ratios[-1]:.2f} at the end",
                agrees=max(ratios) <= 1.0,
            )
        )
    ends = {name: curves[name].quality[-1][1] for name in _GROWN}
    claims.append(
        Claim(
            text="a threshold of 1.1 is comparable, 2.0 is worse",
            measured=", ".join(f"{name.removeprefix('Recovery-')}: {end:.3f}" for name, end in ends.items()),
            agrees=ends["Recovery-1.1"] <= 1.25 * ends[_MAIN] and ends["Recovery-2.0"] > ends[_MAIN],
        )
    )
    return tuple(claims)


def _solve(task: _Task) -> _Curve:
    """Returns the curve of one abstraction, or what was kept of it."""
    about = {"experiment": "growing-abstraction", **task._replace(file=None)._asdict()}
    return run_once(task.file, about, lambda: _grow(task), _decode, _Curve._asdict)


def _decode(value: Any) -> _Curve:
    fields = check_object(value, {"quality": list, "size": list})
    return _Curve(*([(at, found) for at, found in fields[name]] for name in ("quality", "size")))


def _grow(task: _Task) -> _Curve:
    """Returns the curve of one abstraction."""
    quality, size = [], []
    if task.sizes:
        tree = fixed_abstraction(task.sizes)
        solver = CFR(tree, CFR_RULE)
        for look in task.looks:
            wanted = look // (2 * tree.num_nodes)
            if wanted > solver.iteration:
                solver.run(wanted - solver.iteration)
                quality.append((float(look), continuous_exploitability(solver.average_policy())))
            size.append((float(look), float(tree.num_nodes)))
        return _Curve(quality, size)
    grown = GrowingCFR(GrowthRule(threshold=task.threshold, removal=task.removal))
    for look in task.looks:
        while grown.nodes_touched < look:
            grown.run(1)
        quality.append((float(look), grown.exploitability()))
        size.append((float(look), float(grown.tree.num_nodes)))
    return _Curve(quality, size)
