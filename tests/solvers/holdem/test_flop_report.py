"""One spot on many flops: means, files that go on, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from aleator.errors import AleatorError
from aleator.games.holdem.cards import blocked_hands, format_cards, parse_cards
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot import Spot, SpotError
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.holdem.flop_report import (
    FlopReport,
    FlopSolver,
    ReportConfig,
    ReportFile,
    estimate_report,
    make_report,
    read_report,
    report_columns,
)
from aleator.solvers.holdem.flop_rows import FlopRow, mean_row, named_flops
from aleator.storage import StorageError
from aleator.workers.processes import Processes
from tests.solvers.holdem.small import FLOP_SPOT

SPOT = parse_spot(FLOP_SPOT)
FLOPS = "9s6s2s, 8s8h8d, QsJs5s"


def config(flops: str = FLOPS, node: str = "r:0:c", spot: Spot = SPOT) -> ReportConfig:
    return ReportConfig(spot=spot, flops=named_flops(flops), node=parse_path(node))


@pytest.mark.parametrize(
    "text", ["9s6s2s, 7h5s6h", "9s6s2s; 7h5s6h", " 9s6s2s 7h5s6h ", "9s6s2s\n7h5s6h\n", "6s9s2s,\r\n 7h 5s 6h;;"]
)
def test_listed_flops_keep_their_suits_whatever_is_between_them(text: str) -> None:
    flops = named_flops(text)
    assert [format_cards(flop.cards) for flop in flops] == ["9s 6s 2s", "7h 6h 5s"]
    assert [flop.weight for flop in flops] == [4 / 16, 12 / 16], "two of a suit are dealt three times as often"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" ,\n; ", "no flops are named"),
        ("AsKd", "three cards, not 2"),
        ("AsKd7h 9s 8s 2d", "three cards, not 6"),
        ("9s8s2d 9h8h2c", "9h 8h 2c comes twice, up to suits"),
        ("AsAs2d", "comes twice"),
    ],
)
def test_lists_that_are_not_of_flops_are_refused(text: str, message: str) -> None:
    with pytest.raises(AleatorError, match=message):
        named_flops(text)


@pytest.fixture(scope="module")
def report() -> FlopReport:
    return make_report(config())


def test_a_flop_is_what_solving_it_alone_gives(report: FlopReport) -> None:
    alone = FlopSolver(config().header()["spot"], "r:0:c", "float32")(parse_cards("8s 8h 8d"))
    row = report.rows[parse_cards("8s 8h 8d")]
    assert alone is not None and alone._replace(seconds=row.seconds) == row
    assert report.is_done and sum(row.root.ev) == pytest.approx(20)  # of the pot
    assert row.root.reached == 1.0 and row.node.reached == pytest.approx(row.root.actions[0].frequency, abs=0.05)
    for node in (row.root, row.node):
        assert sum(action.frequency for action in node.actions) == pytest.approx(1)
        actor = 0 if node is row.root else 1
        mean = sum(action.frequency * action.ev for action in node.actions if action.frequency)
        assert mean == pytest.approx(node.ev[actor])  # hands that never act so have no part in either


def test_flops_count_by_how_often_they_are_dealt_to_these_ranges(report: FlopReport) -> None:
    """Pairs of hands that a flop leaves, on every flop that one stands for, counted one by one."""
    weights = config().weights()
    masses = []
    for flop in report.config.flops:
        images = {
            frozenset(4 * (card // 4) + suits[card % 4] for card in flop.cards) for suits in permutations(range(4))
        }
        total = 0.0
        for image in images:
            first, second = np.where(blocked_hands(tuple(image)), 0.0, weights)
            hands = [np.flatnonzero(row) for row in (first, second)]
            apart = [[not _share(one, other) for other in hands[1]] for one in hands[0]]
            total += first[hands[0]] @ np.array(apart, float) @ second[hands[1]]
        masses.append(total)
    np.testing.assert_allclose(report.chances, np.array(masses) / sum(masses))
    by_hand = sum(chance * report.rows[flop.cards].root.ev[0]
                  for flop, chance in zip(report.config.flops, report.chances, strict=True))  # fmt: skip
    assert report.mean("root").ev[0] == pytest.approx(by_hand)


def _share(one: int, other: int) -> bool:
    from aleator.games.holdem.cards import HANDS

    return bool(set(HANDS[one].tolist()) & set(HANDS[other].tolist()))


def test_means_at_a_node_are_given_that_it_is_reached(report: FlopReport) -> None:
    rows = list(report.rows.values())
    never = rows[0].node._replace(reached=0.0)
    assert mean_row([(never, 0.5), (rows[1].node, 0.5)])._replace(reached=0.0) == rows[1].node._replace(reached=0.0)
    assert np.isnan(mean_row([(never, 1.0)]).ev).all()


def test_a_report_goes_on_from_a_file_that_was_cut_off(tmp_path: Path, report: FlopReport) -> None:
    path = tmp_path / "flops.report"
    asked: list[int] = []

    def stop() -> bool:
        asked.append(0)
        return len(asked) > 1 and path.read_bytes().count(b"\n") >= 2

    file = ReportFile(path, config())
    first = make_report(config(), file=file, stopped=stop)
    file.close()
    assert 1 <= len(first.rows) < 3
    path.write_bytes(path.read_bytes()[:-7])  # killed while it wrote
    file = ReportFile(path, config())
    assert len(file.rows) == len(first.rows) - 1
    second = make_report(config(), file=file, workers=Processes(2))
    file.close()
    assert read_report(path).rows == second.rows
    assert _same(second) == _same(report) == _same(read_report(path))


def _same(report: FlopReport) -> list[FlopRow]:
    return [row._replace(seconds=0.0) for row, _ in report.listed()]


def test_what_is_no_report_is_said_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "flops.report"
    ReportFile(path, config()).close()
    with pytest.raises(StorageError, match="is another report: node r:0:c, not r:0"):
        ReportFile(path, config(node="r"))
    with path.open("a") as file:
        file.write(json.dumps({"cards": "8s 8h 8d"}) + "\n")
    for read in (lambda: ReportFile(path, config()), lambda: read_report(path)):
        with pytest.raises(StorageError, match="line 2: not a flop of a report"):
            read()
    path.write_text('{"kind": "aleator report", "flops": 3}\n')
    with pytest.raises(StorageError, match="not a report file"):
        read_report(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: config(node="r:0:c:c:8h"), "has cards"),
        (lambda: config(node="r:0:c:c"), "nobody acts at r:0:c:c"),
        (lambda: config(spot=replace(SPOT, oop="AsKs,QQ")), "all suits weigh the same"),
        (lambda: config(spot=replace(SPOT, board=parse_cards("Ks 7s 2d 3d"))), "this board has 4 cards"),
        (lambda: config("9s6s"), "three cards, not 2"),
        (lambda: config("9s6s2s, 9d6d2d"), "comes twice, up to suits"),
        (lambda: config("AsAhAd", spot=replace(SPOT, oop="AA")).chances(), "leaves both players a hand"),
    ],
)
def test_what_cannot_be_reported_on_is_refused(make: object, message: str) -> None:
    with pytest.raises(SpotError, match=message):
        make()  # type: ignore[operator]


def test_a_flop_that_nobody_can_see_is_left_out() -> None:
    found = config("AsAhAd, 9s6s2s", spot=replace(SPOT, oop="AA"))
    assert found.chances().tolist() == [0.0, 1.0]
    report = FlopReport(found, {}, found.chances())
    assert [format_cards(cards) for cards in report.wanted] == ["9s 6s 2s"]


def test_an_estimate_adds_flops_up_by_their_suits() -> None:
    one, three = config("9s6s2h"), config("9s6s2h, KsQs2h, 7s3s2h")
    alone, together = (estimate_report(found, at_once=2, measure=False) for found in (one, three))
    assert (alone.memory, together.memory) == (alone.largest.memory, 2 * alone.largest.memory)
    monotone = estimate_report(config("9s6s2s"), at_once=1, measure=False)
    assert monotone.largest.numbers < alone.largest.numbers


def test_a_table_has_a_column_for_each_number(report: FlopReport) -> None:
    names, rows = report_columns(report)
    listed = list(rows)
    assert len(listed) == 3 and {len(row) for row in listed} == {len(names)}
    assert names[:3] == ["flop", "chance", "suits"] and "r:0:c b20 frequency" in names
    row = dict(zip(names, listed[1], strict=True))
    assert row["flop"] == "8s 8h 8d" and row["pairing"] == "trips"
    assert row["r:0:c reached"] == report.rows[parse_cards("8s 8h 8d")].node.reached


def test_the_batched_engine_finds_the_same(report: FlopReport) -> None:
    pytest.importorskip("torch", reason="the batched engine needs PyTorch")
    (batched,) = make_report(config("8s8h8d"), device="cpu").rows.values()
    alone = report.rows[batched.cards]
    assert batched.root.ev == pytest.approx(alone.root.ev, abs=0.02 * SPOT.pot)
    assert batched.root.equity == pytest.approx(alone.root.equity)
    assert batched.exploitability <= SPOT.solve.target
