"""DeepStack's Table 3 and ReBeL's Table 1: local best responses to agents that search, and their matches."""

from __future__ import annotations

from typing import NamedTuple

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.arena.whole_hands.match import HandMatch, HandScore, play_hand_match

_GAME = "hunl"
_QUICK = ":preflop=4,flop=4,turn=4,river=10"  # iterations of a search


class Cells(NamedTuple):
    """What is measured of an agent.

    Attributes:
        responses: menu, rounds, and what the paper's agent wins from that local best response, with its interval.
        opponents: agents that it plays against; the paper's own are not available.
        title: of the report.
        interval: what the paper's plus-minus is.
    """

    responses: tuple[tuple[str, str, float, float], ...]
    opponents: tuple[str, ...]
    title: str
    interval: str


_AGENTS = {
    "deepstack": Cells(
        (("fc", "1-4", 428.0, 87.0), ("fcpa", "3-4", 383.0, 219.0), ("56bets", "3-4", 775.0, 255.0)),
        (),
        "What local best response loses to deepstack, mbb/h (DeepStack Table 3)",
        "half of a 95 % interval",
    ),
    "rebel": Cells(
        (("fcpa", "3-4", 881.0, 94.0),),
        ("deepstack", "river-perfect", "tight-aggressive"),
        "What local best response and other agents lose to rebel, mbb/h (ReBeL Table 1)",
        "one standard deviation",
    ),
}
_DEVIATIONS = (
    "Networks of ours, of the streets that there are (docs/algorithms/hunl.md says which), and fewer iterations than "
    "the papers': the agents play in seconds on a CPU. The response is scored by AIVAT over both ranges. Slumbot and "
    "Baby Tartanian8, the papers' opponents, are not available offline; agents of this package take their place."
)


def run(settings: Settings, on_progress: OnProgress, agent: str) -> Report:
    """Returns what responses and opponents lose to an agent."""
    cells, played = _AGENTS[agent], agent + _QUICK * settings.quick
    hands = int(settings.choose(4, 400, 10_000))
    rows: list[tuple[Cell, ...]] = []
    claims = []
    steps = len(cells.responses) + len(cells.opponents)
    for number, (menu, rounds, paper, interval) in enumerate(cells.responses):
        on_progress(number / steps, f"local best response, {menu} {rounds}")
        names = ("local best response", played)
        match = HandMatch(game=_GAME, agents=names, hands=hands, seed=settings.seed, response=(menu, rounds))
        score = play_hand_match(match, workers=settings.workers).score()
        ours = HandScore(score.hands, -score.mbb_per_hand, score.ci95)
        rows.append((f"local best response, {menu} {rounds}", ours.hands, _text(paper, interval), _text(*ours[1:3])))
        claims.append(
            Claim(
                text=f"local best response with {menu} in rounds {rounds} loses {paper:.0f} or more",
                measured=_text(ours.mbb_per_hand, ours.ci95),
                agrees=ours.mbb_per_hand >= paper,
            )
        )
    for number, opponent in enumerate(cells.opponents, len(cells.responses)):
        on_progress(number / steps, f"against {opponent}")
        other = opponent + _QUICK * (settings.quick and opponent == "deepstack")
        match = HandMatch(game=_GAME, agents=(played, other), hands=hands, seed=settings.seed)
        score = play_hand_match(match, workers=settings.workers).score()
        rows.append((opponent, score.hands, None, _text(score.mbb_per_hand, score.ci95)))
        claims.append(
            Claim(
                text=f"{agent} beats {opponent}",
                measured=_text(score.mbb_per_hand, score.ci95),
                agrees=score.mbb_per_hand - score.ci95 > 0,
            )
        )
    return Report(
        title=cells.title,
        setting=f"{hands:,} hands a row, agent {played}{settings.mode}",
        convention=(
            "Thousandths of a big blind a hand that the agent wins, heads-up no-limit hold'em with 20,000 chips and "
            f"blinds of 50 and 100. Ours: ± is half of a 95 % interval; the paper's is {cells.interval}."
        ),
        columns=("against", "hands", "paper", "ours"),
        rows=tuple(rows),
        panels={"wins": {"paper": [(float(number + 1), cell[2]) for number, cell in enumerate(cells.responses)]}},
        x_label="row",
        y_label="mbb/h",
        deviations=_DEVIATIONS,
        claims=tuple(claims),
    )


def _text(mean: float, interval: float) -> str:
    return f"{mean:,.0f} ± {interval:,.0f}"
