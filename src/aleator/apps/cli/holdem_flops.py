"""`aleator holdem report`: one spot on many flops."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from aleator.abstraction.flop_subsets import SUBSETS, chosen_flops
from aleator.abstraction.subset_errors import SubsetError, subset_errors
from aleator.apps.cli.device import check_device
from aleator.apps.cli.holdem_report import format_bytes, format_seconds
from aleator.apps.cli.output import heading, note, out, print_json, print_table, progress_bar
from aleator.apps.cli.stopping import end, interruptible
from aleator.apps.cli.workers import Processes, Ray, chosen_workers
from aleator.apps.flop_table import Filter, check_sort, parse_filter, report_csv, report_document, select
from aleator.errors import SolveError, TooBigError
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.cards import format_cards
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot_file import load_spot
from aleator.memory import available_memory
from aleator.solvers.holdem.flop_report import (
    FlopReport,
    ReportConfig,
    ReportEstimate,
    ReportFile,
    estimate_report,
    make_report,
    read_report,
)
from aleator.solvers.holdem.flop_rows import FlopRow, NodeRow, mean_row
from aleator.solvers.holdem.problem import prepare_spots
from aleator.storage import check_writable, exclusive, replace_file
from aleator.workers.base import Workers

_SHOWN = 30  # rows of a table unless all are asked for


def report(
    file: Annotated[Path, typer.Argument(help="A spot that begins on a flop (.toml), or the file of a report.")],
    flops: Annotated[str, typer.Option(help=f"{', '.join(map(str, SUBSETS))} flops that stand for all, all (the "
                                       "1,755), or a list such as AsKd7h,9s8s2d.")] = "25",
    node: Annotated[str, typer.Option(help="A decision on the flop to look at besides the root, such as r:0:c.")] = "r",
    output: Annotated[Path | None, typer.Option("--out", help="Keep the report here; the same command continues it."
                                                )] = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write all flops as a table (.csv).")] = None,
    sort: Annotated[str, typer.Option(help="ev, equity, chance, high, or an action such as b18; a - before it "
                                      "reverses the order.")] = "",
    only: Annotated[list[str] | None, typer.Option(help="Print these flops only: suits=monotone, pairing=paired, "
                                                   "high=A, connection=connected; may be repeated.")] = None,
    bits: Annotated[int, typer.Option(help="32, or 16 for half the memory.")] = 32,
    device: Annotated[str | None, typer.Option(help="cpu or cuda: the boards of a flop at once, in torch, flop by flop "
                                               "unless --processes are given.")] = None,
    subsets: Annotated[bool, typer.Option("--subsets", help="With a report of all flops: how near fewer flops come."
                                          )] = False,
    processes: Processes = None,
    ray: Ray = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Solve a spot on many flops: EVs, equities, frequencies flop by flop and in the mean. Ctrl-C keeps what is there.

    Flops are solved by processes on all cores, or by a Ray cluster. With --out, a report that was stopped or killed
    goes on where it was. The file can be printed again, sorted and filtered, without solving anything. It says
    beforehand how long it will take: the first example half an hour on two cores.

    Examples:  aleator holdem report examples/srp-flop.toml --flops 25 --node r:0:c --out srp.report
      |  aleator holdem report srp.report --sort -ev --only suits=monotone
      |  aleator holdem report all-flops.report --subsets
    """
    chosen = [parse_filter(text) for text in only or []]
    if csv_file is not None:
        check_writable(csv_file)
    if file.suffix == ".toml":
        place = None if device is None else check_device(device, None)
        config = _config(file, flops, node, bits)
        check_sort(config, sort)
        workers = chosen_workers(processes, ray, usual=1 if place else None, gpus=place == "cuda")
        found, stopped = _make(file.name, config, output, workers, place, is_here=ray is None, quiet=json)
    else:
        found, stopped = read_report(file), False
    if csv_file is not None:
        replace_file(csv_file, [report_csv(found).encode()])
    if subsets:
        _show_subsets(subset_errors(found), json=json)
    elif json:
        print_json(report_document(found, sort=sort, filters=chosen))
    elif found.rows:
        _print(found, sort, chosen)
    end(stopped=stopped)


def _config(file: Path, flops: str, node: str, bits: int) -> ReportConfig:
    if bits not in (16, 32):
        raise SolveError(f"--bits must be 32, or 16 for half the memory, not {bits}")
    spot, dtype = load_spot(file), f"float{bits}"
    return ReportConfig(spot=spot, flops=chosen_flops(flops), node=parse_path(node), dtype=dtype)


def _make(
    name: str, config: ReportConfig, output: Path | None, workers: Workers, device: str | None, *, is_here: bool,
    quiet: bool,
) -> tuple[FlopReport, bool]:  # fmt: skip
    """Returns a report after its flops were solved, and whether it was stopped before its end."""
    spot = config.spot
    with ExitStack() as stack:
        kept = None
        if output is not None:
            check_writable(output)
            stack.enter_context(exclusive(output, f"{output} is being written by another process"))
            kept = ReportFile(output, config)
            stack.callback(kept.close)
            if kept.rows and not quiet:
                note(f"{output}: {len(kept.rows):,} flops are there already")
        if device is None:
            with progress_bar("compiling (first run only)", quiet=quiet):
                prepare_spots(spot.solve.rule, config.dtype, raked=spot.rake.rate > 0)
        if device is None and (kept is None or len(kept.rows) < len(config.flops)):
            with progress_bar("measuring", quiet=quiet):
                expected = estimate_report(config, at_once=workers.count)
            _check_fits(expected, is_here=is_here)
            if not quiet:
                note(_expected(expected, workers.count))
        interrupted = stack.enter_context(interruptible())
        move = stack.enter_context(progress_bar(f"{name}, {len(config.flops):,} flops", quiet=quiet))

        def on_flop(now: FlopReport) -> None:
            last = format_cards(next(reversed(now.rows)))
            move(len(now.rows) / len(now.wanted), f"flop {len(now.rows):,} of {len(now.wanted):,}, {last}")

        report = make_report(config, file=kept, workers=workers, device=device, on_flop=on_flop, stopped=interrupted)
        stopped = interrupted()
    if stopped:
        how = "; the same command goes on" if output else "; with --out it could go on later"
        note(f"stopped after {len(report.rows):,} of {len(report.wanted):,} flops{how}")
    return report, stopped


def _check_fits(expected: ReportEstimate, *, is_here: bool) -> None:
    free = available_memory()
    if is_here and expected.memory > free:
        raise TooBigError(
            f"solving so many flops at a time would take about {expected.memory / 2**30:.1f} GiB; {free / 2**30:.1f} "
            "GiB are free: use fewer --processes, --bits 16 or fewer bet sizes"
        )


def _expected(expected: ReportEstimate, count: int) -> str:
    memory, largest = format_bytes(expected.memory), format_seconds(expected.largest.seconds)
    at_once = f"{count} at a time" if count > 1 else "one at a time"
    return (
        f"{expected.flops:,} flops, {at_once}: about {format_seconds(expected.seconds)} and {memory}; "
        f"the largest takes about {largest}"
    )


def _print(report: FlopReport, sort: str, filters: list[Filter]) -> None:
    spot, node = report.config.spot, report.config.node
    place = "node" if node.tokens else "root"
    listed = select(report, sort, filters)
    every, shown = report.mean(place), listed[:_SHOWN]
    where = f"at {node}" if node.tokens else "at the root"
    actor = POSITION_NAMES[report.config.node_of(node).player]
    title = heading(f"{len(report.rows):,} flops", f", pot {spot.pot:,}: what {actor} does {where}")
    out.print(title, soft_wrap=True)
    columns = ["flop", "chance", "EV oop", "EV ip", "equity oop", *(action.name for action in every.actions)]
    rows = [_cells(format_cards(row.cards), chance, getattr(row, place)) for row, chance in shown]
    if filters and listed:
        rows.insert(0, _cells("these flops", sum(chance for _, chance in listed), _mean(listed, place)))
    rows.insert(0, _cells("all flops" if report.is_done else "flops so far", 1.0, every))
    print_table("", columns, rows)
    if len(listed) > len(shown):
        note(f"{len(listed) - len(shown):,} more; --csv FILE writes all, --only chooses by texture")


def _show_subsets(errors: list[SubsetError], *, json: bool) -> None:
    """Prints how far means over few flops are from those over all."""
    if json:
        print_json([error._asdict() for error in errors])
        return
    columns = ["flops", "EV oop", "equity oop", "how often", "drawn at random: EV oop", "equity oop", "how often"]
    shares = ("ev", "equity", "frequency", "random_ev", "random_equity", "random_frequency")
    rows = [[str(error.flops), *(f"{100 * getattr(error, share):.2f} %" for share in shares)] for error in errors]
    out.print(heading("How far means over few flops are from those over all", ", EVs in shares of the pot"))
    print_table("", columns, rows)


def _mean(listed: list[tuple[FlopRow, float]], place: str) -> NodeRow:
    return mean_row([(getattr(row, place), chance) for row, chance in listed])


def _cells(name: str, chance: float, row: NodeRow) -> list[str]:
    evs: list[Any] = ["-" if math.isnan(ev) else f"{ev:,.2f}" for ev in row.ev]
    shares = [row.equity[0], *(action.frequency for action in row.actions)]
    return [name, f"{100 * chance:.2f} %", *evs, *("-" if math.isnan(x) else f"{100 * x:.1f} %" for x in shares)]
