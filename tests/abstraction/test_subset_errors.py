"""How near subsets come to all flops: on numbers that are known for every flop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aleator.abstraction.flop_subsets import SUBSETS, load_subset
from aleator.abstraction.subset_errors import subset_errors
from aleator.errors import SolveError
from aleator.games.holdem.flops import all_flops
from aleator.games.holdem.spot_file import parse_spot
from aleator.solvers.holdem.flop_report import FlopReport, ReportConfig
from aleator.solvers.holdem.flop_rows import ActionShare, FlopRow, NodeRow, weighted
from tests.solvers.holdem.small import FLOP_SPOT


def row(cards: tuple[int, ...]) -> FlopRow:
    """Returns a flop on which the first player's EV and policy follow from the ranks of its cards."""
    height = sum(card // 4 for card in cards) / 36
    actions = (ActionShare("c", "check", 1 - height, 10.0), ActionShare("b20", "bet 20", height, 12.0))
    node = NodeRow(1.0, (20 * height, 20 - 20 * height), (0.5, 0.5), actions)
    return FlopRow(cards, node, node, 0.001, 10, 0.1)


@pytest.fixture(scope="module")
def report() -> FlopReport:
    config = ReportConfig(spot=parse_spot(FLOP_SPOT), flops=weighted(all_flops()))
    chances = config.chances()
    dealt = [flop.cards for flop, chance in zip(config.flops, chances, strict=True) if chance > 0]
    return FlopReport(config, {cards: row(cards) for cards in dealt}, chances)


def test_errors_are_those_of_the_means(report: FlopReport) -> None:
    found = subset_errors(report, draws=20)
    assert [error.flops for error in found] == list(SUBSETS)
    whole = report.mean("node").ev[0]
    subset = ReportConfig(spot=report.config.spot, flops=load_subset(25))
    mean = sum(
        chance * report.rows[flop.cards].root.ev[0]
        for flop, chance in zip(subset.flops, subset.chances(), strict=True)
        if chance > 0
    )
    assert found[0].ev == pytest.approx(abs(mean - whole) / 20)
    for error in found:
        assert error.frequency == pytest.approx(error.ev), "both are the same number here"
        assert error.equity == 0.0 == error.random_equity, "which is the same on every flop"
        assert 0 < error.random_ev == pytest.approx(error.random_frequency)
    assert sum(error.ev for error in found) < 0.5 * sum(error.random_ev for error in found)


def test_weights_may_be_rounded(report: FlopReport) -> None:
    rounded = tuple(flop._replace(weight=round(flop.weight, 6)) for flop in report.config.flops)
    assert abs(1 - sum(flop.weight for flop in rounded)) > 1e-8
    config = replace(report.config, flops=rounded)
    found = subset_errors(FlopReport(config, report.rows, config.chances()), draws=5)
    assert found[0].ev == pytest.approx(subset_errors(report, draws=5)[0].ev, abs=1e-4)


def test_a_report_without_all_flops_tells_nothing(report: FlopReport) -> None:
    config = ReportConfig(spot=report.config.spot, flops=load_subset(25))
    with pytest.raises(SolveError, match="of all 1,755"):
        subset_errors(FlopReport(config, {}, config.chances()))
    some = dict(list(report.rows.items())[:100])
    with pytest.raises(SolveError, match="this report has 100 flops"):
        subset_errors(FlopReport(report.config, some, report.chances))
