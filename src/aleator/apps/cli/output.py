"""What all commands share: the console, tables, JSON, progress, and plots."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, NoReturn, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from aleator.apps.cli.stopping import stopped
from aleator.errors import MissingExtraError, one_line
from aleator.meter import Walked, watch
from aleator.storage import StorageError, check_writable, replace_file

# names of games and files are printed as they are, whatever brackets and colons they have
out = Console(highlight=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, markup=False, emoji=False)

_documents: list[TextIO] = []  # where documents go while standard output is kept for them
_NUMBER = re.compile(r"[-+]?[\d.,]*(e[-+]?\d+)?( ?[%×x])?|-")
_FEW_POWERS = 200.0  # of the ends of an axis: the first and the last number

Curves = Mapping[str, Sequence[tuple[float, float]]]
Bands = Mapping[str, Mapping[str, Sequence[tuple[float, float, float]]]]


def print_json(value: Any) -> None:
    """Prints one JSON document on standard output; numbers that JSON lacks become null."""
    print(json.dumps(_finite(value), indent=2), file=_documents[-1] if _documents else sys.stdout)


@contextmanager
def documents_alone(*, json: bool) -> Iterator[None]:
    """Keeps standard output for JSON documents if `json`: what anybody's code prints in the block goes to the error."""
    if not json:
        yield
        return
    _documents.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _documents.pop()


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return value


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; columns of numbers are aligned right. What is too wide for the console is printed row by row."""
    numeric = [all(_NUMBER.fullmatch(row[index]) for row in rows) for index in range(len(columns))]
    cells = [[column, *(row[index] for row in rows)] for index, column in enumerate(columns)]
    longest = [max((len(word) for cell in column for word in cell.split()), default=0) for column in cells]
    width, room = [max(len(cell) for cell in column) for column in cells], out.width - 3 * len(columns)
    if sum(longest) > room and len(columns) > 2:  # words and numbers would be broken
        _print_rows(title, columns, rows)
        return
    while sum(width) > room and width != longest:
        width[max(range(len(columns)), key=lambda index: width[index] - longest[index])] -= 1
    if title:
        out.print(Text(title, "bold"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, right, wide in zip(columns, numeric, width, strict=True):
        table.add_column(column, justify="right" if right else "left", overflow="fold", width=wide)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    out.print(table)


def _print_rows(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table as one block per row: its first cell, and below it the others with the names of their columns."""
    if title:
        out.print(Text(f"\n{title}", "bold"))
    for row in rows:
        out.print(Text(f"\n{row[0]}", "bold"))
        block = Table.grid(padding=(0, 2))
        for column, cell in zip(columns[1:], row[1:], strict=True):
            block.add_row(Text(f"  {column}"), Text(cell))
        out.print(block)
    out.print()


def heading(name: str, rest: str = "") -> Text:
    """Returns a line that begins with a name in bold."""
    return Text.assemble((name, "bold"), rest)


def number(value: float | None, digits: int = 4) -> str:
    """Returns a number as people read it: 0.01234, 1,234, 1.2e-07, or a dash."""
    if value is None or math.isnan(value):
        return "-"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


Move = Callable[[float | None, str], None]
_SOON = 2.0  # seconds of a walk before it gets a bar
_moves: list[Move] = []  # of the bars that are shown, the last one on top


@contextmanager
def progress_bar(description: str, *, quiet: bool) -> Iterator[Move]:
    """Yields a function (share done or None, text) that moves a bar on standard error; nothing is shown if quiet."""
    if quiet or not err.is_terminal:
        yield lambda share, text: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(),
        TextColumn("{task.fields[text]}", markup=False), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(description, total=None, text="")

        def move(share: float | None, text: str) -> None:
            total = None if share is None else 1.0
            progress.update(task, total=total, completed=min(share or 0.0, 1.0), text=text)

        _moves.append(move)
        try:
            yield move
        finally:
            _moves.remove(move)


@contextmanager
def walks_shown(*, quiet: bool) -> Iterator[None]:
    """Shows every walk through a game that takes its time: on the bar that is shown already, or on one of its own.

    Ctrl-C and other signals end a walk: nothing has been found yet that could be kept.
    """
    hidden = quiet or not err.is_terminal
    with ExitStack() as own:
        bars: dict[str, Move] = {}

        def show(walked: Walked) -> None:
            if stopped():
                raise KeyboardInterrupt
            if hidden:
                return
            if walked.done:
                own.close()
                bars.clear()
            elif walked.seconds >= _SOON:
                if not _moves:
                    bars[walked.task] = own.enter_context(progress_bar(walked.task, quiet=False))
                text = str(walked) if walked.task in bars else f"{walked.task}: {walked}"
                _moves[-1](walked.share, text)

        with watch(show):
            yield


def check_plot(path: Path | None) -> None:
    """Raises, before anything long begins, if a plot could not be drawn or written."""
    if path is None:
        return
    check_writable(path)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise StorageError(f"cannot plot to {path}: the name must end in .png, .svg or .pdf")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None


def plot_curves(path: Path, title: str, x_label: str, y_label: str, curves: Curves) -> None:
    """Draws curves on doubly logarithmic axes and writes the picture atomically."""
    plot_panels(path, x_label, y_label, {title: curves})


def plot_panels(
    path: Path, x_label: str, y_label: str, panels: Mapping[str, Curves], bands: Bands | None = None,
    *, y_scale: str = "log",
) -> None:  # fmt: skip
    """Draws one picture with a panel of curves per title, on doubly logarithmic axes, and writes it atomically.

    A band of (x, low, high) is drawn around the curve of the same title and label. With a linear `y_scale` points may
    be 0 or less. A label has one colour in all panels.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker

    columns = min(len(panels), 2)
    lines = -(-len(panels) // columns)
    size = (7, 4.5) if columns == 1 else (11, 4 * lines)
    figure, grid = pyplot.subplots(lines, columns, figsize=size, layout="constrained", squeeze=False)
    labels = list(dict.fromkeys(label for curves in panels.values() for label in curves))
    for axes, (title, curves) in zip(grid.flat, panels.items(), strict=False):
        for label, points in curves.items():
            shown = [(x, y) for x, y in points if x > 0 and (y > 0 or y_scale == "linear")]
            colour = f"C{labels.index(label)}"
            axes.plot([x for x, _ in shown], [y for _, y in shown], label=label, linewidth=1.5, color=colour)
            if band := (bands or {}).get(title, {}).get(label):
                axes.fill_between(*zip(*band, strict=True), color=colour, alpha=0.2, linewidth=0)
        axes.set(title=title, xlabel=x_label, ylabel=y_label, xscale="log", yscale=y_scale)
        first, last = axes.get_xlim()
        if last < _FEW_POWERS * first:  # powers of ten would be too few numbers, and all others too many
            axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter(ticker.NullFormatter())
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(frameon=False)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:].lower(), dpi=150)
    pyplot.close(figure)
    replace_file(path, [buffer.getvalue()])


def note(text: str) -> None:
    """Prints a line for people on standard error."""
    err.print(text, soft_wrap=True)


def fail(message: object) -> NoReturn:
    """Prints an error as one line of printable characters, whatever it says, and ends the program with exit code 2."""
    err.print(Text.assemble(("error: ", "bold red"), one_line(message)), soft_wrap=True)
    sys.exit(2)
