"""What an experiment is, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from aleator.errors import AleatorError
from aleator.workers.base import Here, Workers

Cell = str | int | float | None
Points = Sequence[tuple[float, float]]
Band = Sequence[tuple[float, float, float]]
OnProgress = Callable[[float, str], None]


class PaperError(AleatorError):
    """An experiment that does not exist, or an impossible setting of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to run an experiment.

    Attributes:
        quick: fewer iterations, where the usual run takes more than a few seconds.
        seed: of whatever an experiment draws at random.
        full: more iterations, where the usual run stops earlier than the paper does to end within minutes.
        workers: who runs what can be run beside each other.
        keep: a folder of runs that have ended, which are not made again; None for none.
    """

    quick: bool = False
    seed: int = 0
    full: bool = False
    workers: Workers = field(default_factory=Here)
    keep: Path | None = None

    def __post_init__(self) -> None:
        if self.quick and self.full:
            raise PaperError("an experiment cannot be both quick and full")
        if self.seed < 0:
            raise PaperError(f"the seed must be 0 or more, not {self.seed}")

    def choose(self, quick: float, usual: float, full: float) -> float:
        """Returns the one of three sizes that is asked for."""
        return quick if self.quick else full if self.full else usual

    @property
    def mode(self) -> str:
        """What to say about a run that is not the usual one."""
        return " (quick)" * self.quick + " (full)" * self.full


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that the paper says, what we measured, and whether that agrees."""

    text: str
    measured: str
    agrees: bool


def less(text: str, first: float, second: float) -> Claim:
    """Returns the claim that a number is below another one."""
    return Claim(text=text, measured=f"{first:.3g} against {second:.3g}", agrees=bool(first < second))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an experiment found.

    Attributes:
        title: what the table shows.
        setting: iterations and whatever else was chosen for this run.
        convention: how the paper counts and measures, and how that maps to ours.
        columns, rows: the table, the paper's numbers beside ours; None where there is nothing to say.
        claims: what the paper says in words.
        panels: title of a panel -> label of a curve -> points (x, y).
        bands: the same for (x, low, high), where a curve is the mean of several runs; `setting` says how many.
        x_label, y_label: of all panels.
        y_scale: "log" or "linear".
        deviations: where ours differs from the paper, and why.
        seconds: how long it took.
    """

    title: str
    setting: str
    convention: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    panels: Mapping[str, Mapping[str, Points]]
    x_label: str
    y_label: str
    deviations: str
    claims: tuple[Claim, ...] = ()
    bands: Mapping[str, Mapping[str, Band]] = field(default_factory=dict)
    y_scale: str = "log"
    seconds: float = 0.0

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns: {row}")

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as JSON values, a row of the table as a mapping from columns."""
        fields = asdict(self) | {"rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows]}
        return {name: value for name, value in fields.items() if name not in ("columns", "y_scale")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A table or figure that can be reproduced.

    Attributes:
        name: what it is called on the command line.
        source: where the paper shows it.
        summary: one line.
        run: settings and a function that is told the share done, and what is being done, to a report.
        keeps: whether it can keep its runs in a folder.
    """

    name: str
    source: str
    summary: str
    run: Callable[[Settings, OnProgress], Report]
    keeps: bool = False

    def reproduce(self, settings: Settings, on_progress: OnProgress) -> Report:
        """Returns the report of a run, with the seconds it took.

        Raises:
            PaperError: runs are to be kept, and it has none.
        """
        if settings.keep is not None and not self.keeps:
            raise PaperError(f"{self.name} keeps no runs: leave --keep out")
        started = perf_counter()
        report = self.run(settings, on_progress)
        return replace(report, seconds=perf_counter() - started)
