"""Reports: one spot solved on many flops, flop by flop, and what it does on them in the mean.

Every flop is a solve of its own, done by whoever works (`workers`); results are lines of a file as they come, so that a
report goes on where it was killed. A flop counts by its weight times the pairs of hands of both ranges that it leaves,
since ranges with many aces see fewer of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np

from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.betting_tree import BettingNode, NodeKind, action_name, find_node
from aleator.games.holdem.cards import blocked_hands, format_cards, parse_cards
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.hand_range import parse_hand_range
from aleator.games.holdem.node_path import NodePath, parse_path
from aleator.games.holdem.spot import Spot, SpotError
from aleator.games.holdem.spot_file import format_spot, parse_spot
from aleator.games.holdem.suits import HAND_MAPS
from aleator.solvers.holdem.estimate import HoldemEstimate
from aleator.solvers.holdem.flop_rows import ActionShare, FlopRow, NodeRow, WeightedFlop, mean_row
from aleator.solvers.holdem.problem import SpotProblem
from aleator.solvers.holdem.solver import compatible_weight
from aleator.solvers.holdem.view import HoldemView, NodeView
from aleator.solvers.limits import Progress
from aleator.solvers.solve import solve
from aleator.storage import StorageError
from aleator.storage.lines import LineFile, read_lines
from aleator.workers.base import Here, Workers

_KIND = "report"
_SECONDS_BETWEEN_LOOKS = 0.05  # at whether a flop is solved, or the report is stopped
_SHORT = 10.0  # seconds of iterations of a flop, besides which the rest of its solve counts
_MEASURED = {1: "Ks 8s 3s", 2: "Ks 8s 3d", 3: "Ks 8h 3d"}  # a flop of each number of suits


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportConfig:
    """What a report is of.

    Attributes:
        spot: begins on a flop; its board is replaced by each flop.
        flops: where it is solved.
        node: a node of the flop that is looked at besides the root; without cards.
        dtype: float32, or float16 for half the memory.
    """

    spot: Spot
    flops: tuple[WeightedFlop, ...]
    node: NodePath = field(default_factory=NodePath)
    dtype: str = "float32"

    def __post_init__(self) -> None:
        if self.spot.street != 1:
            raise SpotError(f"a report begins on the flop, and this board has {len(self.spot.board)} cards")
        if not self.flops:
            raise SpotError("a report needs one flop at least")
        if self.node.cards:
            raise SpotError(f"the node {self.node} of a report has cards, and flops differ: name actions only")
        if named := [str(lock.path) for lock in self.spot.locks if lock.path.cards]:
            raise SpotError(f"lock {named[0]}: a report's locks name no cards, since flops differ")
        if self.node_of(self.node).kind is not NodeKind.DECISION:
            raise SpotError(f"nobody acts at {self.node}; a report looks at decisions on the flop")
        weights = self.weights()
        if (weights[:, HAND_MAPS] != weights[:, None]).any():
            raise SpotError("a report needs ranges in which all suits weigh the same: a flop stands for others")

    def node_of(self, path: NodePath) -> BettingNode:
        """Returns the betting at a node, which is the same on all flops."""
        return find_node(self.spot.build_tree(), path, board=self.spot.board)

    def weights(self) -> FloatArray:
        """Returns both ranges before the flop, ``[2, 1326]``."""
        return np.stack([parse_hand_range(self.spot.oop), parse_hand_range(self.spot.ip)])

    def chances(self) -> FloatArray:
        """Returns how likely each flop is, given its weight and both ranges; sums to 1, ``[F]``."""
        weights = self.weights()
        left = [compatible_weight(np.where(blocked_hands(flop.cards), 0.0, weights)) for flop in self.flops]
        masses = np.array([flop.weight for flop in self.flops]) * left
        if not masses.sum() > 0:
            raise SpotError("none of the flops leaves both players a hand")
        return np.asarray(masses / masses.sum())

    def spot_on(self, cards: tuple[int, ...]) -> Spot:
        """Returns the spot on a flop."""
        return replace(self.spot, board=cards)

    def header(self) -> dict[str, Any]:
        """Returns what a file of this report begins with."""
        flops = [[format_cards(flop.cards), round(flop.weight, 9)] for flop in self.flops]
        spot = format_spot(replace(self.spot, board=self.flops[0].cards))
        return {"spot": spot, "node": str(self.node), "dtype": self.dtype, "flops": flops}

    @classmethod
    def from_header(cls, header: dict[str, Any]) -> ReportConfig:
        """Returns the report of a file by its first line; raises KeyError, TypeError or ValueError otherwise."""
        flops = tuple(WeightedFlop(parse_cards(text), float(weight)) for text, weight in header["flops"])
        node = parse_path(header["node"])
        return cls(spot=parse_spot(header["spot"]), flops=flops, node=node, dtype=str(header["dtype"]))


@dataclass(slots=True)
class FlopReport:
    """A report as far as it is.

    Attributes:
        config: what it is of.
        rows: the flops that are solved, in the order of the config.
        chances: of all flops of the config, ``[F]``.
    """

    config: ReportConfig
    rows: dict[tuple[int, ...], FlopRow]
    chances: FloatArray

    @property
    def wanted(self) -> list[tuple[int, ...]]:
        """The flops that both players can see."""
        return [flop.cards for flop, chance in zip(self.config.flops, self.chances, strict=True) if chance > 0]

    @property
    def is_done(self) -> bool:
        """Whether all flops are solved."""
        return len(self.rows) == len(self.wanted)

    def listed(self) -> list[tuple[FlopRow, float]]:
        """Returns the rows so far with how likely each flop is among them."""
        every = zip(self.config.flops, self.chances, strict=True)
        found = [(self.rows[flop.cards], float(chance)) for flop, chance in every if flop.cards in self.rows]
        total = sum(chance for _, chance in found)
        return [(row, chance / total) for row, chance in found]

    def mean(self, name: str) -> NodeRow:
        """Returns the mean over the flops so far of `root` or `node`; there every flop counts by how likely it is."""
        return mean_row([(getattr(row, name), chance) for row, chance in self.listed()])


class ReportFile(LineFile):
    """The file of a report: what it is of, then a line per flop."""

    def __init__(self, path: Path, config: ReportConfig) -> None:
        """Opens the file of a report, which is made if it is not there.

        Raises:
            StorageError: it is a file of something else.
        """
        self.rows: dict[tuple[int, ...], FlopRow] = {}
        super().__init__(path, _KIND, config.header())

    def take(self, number: int, document: dict[str, Any]) -> None:
        """Takes a flop that is there already."""
        row = _row(self.path, number, document)
        self.rows[row.cards] = row

    def add(self, row: FlopRow) -> None:
        """Appends a flop."""
        self.rows[row.cards] = row
        self.write([json.dumps(row.to_dict())])


def _row(path: Path, number: int, document: dict[str, Any]) -> FlopRow:
    try:
        return FlopRow.from_dict(document)
    except (KeyError, TypeError, ValueError, IndexError):
        raise StorageError(f"{path}, line {number}: not a flop of a report") from None


def read_report(path: Path) -> FlopReport:
    """Returns the report in a file, as far as it is.

    Raises:
        StorageError: the file is not a report.
    """
    lines = read_lines(path, _KIND)
    try:
        config = ReportConfig.from_header(next(lines)[1])
    except (StopIteration, KeyError, TypeError, ValueError) as error:
        raise error if isinstance(error, StorageError) else StorageError(f"{path}: not a report file") from None
    rows = {row.cards: row for row in (_row(path, number, document) for number, document in lines)}
    return FlopReport(config, rows, config.chances())


class FlopSolver:
    """Solves a spot on flops; made once in every worker."""

    def __init__(
        self, spot: str, node: str, dtype: str, device: str | None = None, stopped: Callable[[], bool] | None = None
    ) -> None:
        """Gets ready.

        Args:
            spot: the text of a spot file.
            node: the node to look at.
            dtype: how it is computed.
            device: cpu or cuda, for the batched engine; None for the engine of boards.
            stopped: asked on the way, where it is in this process; then what is being solved is given up.
        """
        self.spot, self.node, self.dtype, self.stopped = parse_spot(spot), parse_path(node), dtype, stopped
        self.device = device

    def __call__(self, cards: tuple[int, ...]) -> FlopRow | None:
        """Returns a flop, solved; None if it was stopped."""
        began, ended = perf_counter(), []

        def on_progress(now: Progress) -> bool:
            if self.stopped is not None and self.stopped():
                ended.append(now)
            return bool(ended)

        spot = replace(self.spot, board=cards)
        solution = solve(self._problem(spot), dtype=self.dtype, on_progress=on_progress)
        if ended:
            return None
        view = HoldemView(solution)
        whole = view.node("r")
        root = _node_row(whole, whole, spot)
        node = _node_row(view.node(self.node), whole, spot) if self.node.tokens else root
        share = solution.summary.exploitability / spot.pot
        return FlopRow(cards, root, node, share, solution.summary.iterations, perf_counter() - began)

    def _problem(self, spot: Spot) -> SpotProblem:
        if self.device is None:
            return SpotProblem(HoldemGame(spot))
        from aleator.solvers.holdem.device import DeviceSpotProblem  # loads PyTorch

        return DeviceSpotProblem(HoldemGame(spot), self.device)


def _node_row(view: NodeView, root: NodeView, spot: Spot) -> NodeRow:
    masses = [float(looked.weights[0] @ looked.matchups[0]) for looked in (view, root)]
    shares = []
    for index, (token, share) in enumerate(zip(view.node.tokens, view.frequencies, strict=True)):
        ev = view.mean_when_taken(index)
        shares.append(ActionShare(token, action_name(view.node, index, spot.stack), _finite(share), ev))
    evs, equities = ([view.mean(side, rows[side]) for side in (0, 1)] for rows in (view.evs, view.equities))
    return NodeRow(masses[0] / masses[1], (evs[0], evs[1]), (equities[0], equities[1]), tuple(shares))


def _finite(share: float) -> float:
    return share if share == share else 0.0


def make_report(
    config: ReportConfig,
    *,
    file: ReportFile | None = None,
    workers: Workers | None = None,
    device: str | None = None,
    on_flop: Callable[[FlopReport], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> FlopReport:
    """Returns a report when all flops are solved, or when it was stopped.

    Args:
        config: what it is of.
        file: where flops are written as they end; those that are there already are not solved again.
        workers: who solves; this process if None.
        device: cpu or cuda, for the batched engine; None for the engine of boards.
        on_flop: is told about the report after every flop.
        stopped: asked whether to end; what has been found is returned.
    """
    workers = workers or Here()
    report = FlopReport(config, dict(file.rows) if file is not None else {}, config.chances())
    left = [cards for cards in report.wanted if cards not in report.rows]
    solver = partial(FlopSolver, config.header()["spot"], str(config.node), config.dtype, device)
    here, given = isinstance(workers, Here), 0
    with workers.hire(partial(solver, stopped) if here else solver, most=max(len(left), 1)) as crew:
        while not stopped() and (given < len(left) or crew.given):
            while given < len(left) and crew.given < crew.count:
                crew.give(given, left[given])
                given += 1
            ended = crew.take(wait=here)
            for row in (done.result for done in ended if done.result is not None):
                report.rows[row.cards] = row
                if file is not None:
                    file.add(row)
                if on_flop is not None:
                    on_flop(report)
            if not ended:
                sleep(_SECONDS_BETWEEN_LOOKS)
    return report


class ReportEstimate(NamedTuple):
    """What a report will take.

    Attributes:
        flops: that are solved.
        memory: bytes of all solves that run at a time.
        seconds: of all flops, with so many at a time; NaN if it was not measured.
        largest: what the flop that takes most will take.
    """

    flops: int
    memory: int
    seconds: float
    largest: HoldemEstimate


def estimate_report(config: ReportConfig, *, at_once: int, measure: bool = True) -> ReportEstimate:
    """Returns what a report will take: one flop is measured, and others are compared by how many numbers they have.

    Where iterations take little, the rest of a solve is measured, too: its boards and tables, its last best response.

    Args:
        config: what it is of.
        at_once: how many flops are solved at a time.
        measure: whether speed is measured, for about a second.
    """
    suits = [len({card % 4 for card in flop.cards}) for flop in config.flops]
    most = max(suits)
    found = {
        count: SpotProblem(HoldemGame(config.spot_on(parse_cards(_MEASURED[count])))).estimate(
            dtype=config.dtype, measure=measure and count == most
        )
        for count in set(suits)
    }
    largest = found[most]
    shares = [found[count].numbers / max(largest.numbers, 1) for count in suits]
    at_once = min(at_once, len(suits))
    rest = _seconds_besides(config, parse_cards(_MEASURED[most])) if largest.seconds < _SHORT else 0.0
    seconds = (largest.seconds * sum(shares) + rest * len(suits)) / at_once
    return ReportEstimate(len(suits), largest.memory * at_once, seconds, largest)


def _seconds_besides(config: ReportConfig, cards: tuple[int, ...]) -> float:
    """Returns how long the solve of a flop takes that has one iteration."""
    once = replace(config.spot, solve=replace(config.spot.solve, max_iterations=1))
    solver = FlopSolver(format_spot(once), str(config.node), config.dtype)
    began = perf_counter()
    solver(cards)
    return perf_counter() - began


def report_columns(report: FlopReport) -> tuple[list[str], Iterator[list[str | float]]]:
    """Returns the names of the columns of a table of a report, and its rows; frequencies are shares."""
    names = ["flop", "chance", "suits", "pairing", "high", "connection"]
    places = ["root", "node"] if report.config.node.tokens else ["root"]
    listed = report.listed()
    first = listed[0][0] if listed else None
    for place in places:
        prefix = "" if place == "root" else f"{report.config.node} "
        names += [f"{prefix}{word} {side}" for word in ("ev", "equity") for side in POSITION_NAMES]
        names += [f"{prefix}reached"] if place == "node" else []
        actions = getattr(first, place).actions if first else ()
        names += [f"{prefix}{action.token} {word}" for action in actions for word in ("frequency", "ev")]
    names += ["exploitability", "iterations", "seconds"]

    def rows() -> Iterator[list[str | float]]:
        for row, chance in listed:
            cells: list[str | float] = [format_cards(row.cards), chance, *row.texture]
            for place in places:
                node: NodeRow = getattr(row, place)
                cells += [*node.ev, *node.equity, *([node.reached] if place == "node" else [])]
                for action in node.actions:
                    cells += [action.frequency, action.ev]
            yield [*cells, row.exploitability, row.iterations, row.seconds]

    return names, rows()
