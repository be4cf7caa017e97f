"""Brown's thesis, Fig. 3.1 to 3.4: discounting variants of CFR in four subgames of heads-up no-limit hold'em."""

from __future__ import annotations

from math import exp, log

from aleator.apps.papers.base import Claim, OnProgress, Points, Report, Settings
from aleator.apps.papers.curves import powers_of_two
from aleator.apps.papers.holdem_curves import TYPICAL, holdem_curve, make_spot
from aleator.games.holdem.cards import format_cards
from aleator.games.holdem.spot import Spot
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.holdem.problem import prepare_spots

BIG_BLIND, STACK = 100, 20_000
_ALGORITHMS = {
    "CFR+": "cfr+quadratic",
    "DCFR(3/2, 0, 2)": "dcfr",
    "DCFR(3/2, -inf, 2)": "dcfr:1.5,-inf,2",
    "DCFR(3/2, 1/2, 2)": "dcfr:1.5,0.5,2",
    "LCFR": "lcfr",
    "LCFR+": "lcfr+",
}
_TURN, _TURN_QUICK, _RIVER, _RIVER_QUICK = 512, 128, 32_768, 1024
# a factor that is hardly seen on a logarithmic axis
_SAME = 1.5


def subgame(number: int) -> Spot:
    """Returns one of the four subgames in kind: the thesis' pots and bet sizes, boards and ranges of ours."""
    board, pot = {
        1: ("3s 7h Td Ks", 500),
        2: ("Td 9d 6h Qc", 4780),
        3: ("Qs Jh 2h 8c 3d", 500),
        4: ("Td 9d 6h Qc Ks", 3750),
    }[number]
    sizes = {"bets": '"50%", "100%", "all-in"', "raises": '"100%", "all-in"'}
    return make_spot(board, pot, STACK - pot // 2, TYPICAL, rest=f"min_bet = {BIG_BLIND}\n", **sizes)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns the curves of the figures and whether what the thesis says about them holds."""
    on_progress(0.0, "compiling (first run only)")
    prepare_spots()
    turn, river = (_TURN_QUICK, _RIVER_QUICK) if settings.quick else (_TURN, _RIVER)
    looks = (turn // 8, turn)
    panels: dict[str, dict[str, Points]] = {}
    shares = {1: 0.6, 2: 0.2, 3: 0.1, 4: 0.1}  # of the time, about
    done = 0.0
    for number, share in shares.items():
        spot = subgame(number)
        points = powers_of_two(1, turn if spot.street == 2 else river, per_octave=2)
        curves: dict[str, Points] = {}
        for step, (shown, rule) in enumerate(_ALGORITHMS.items()):
            on_progress(done + share * step / len(_ALGORITHMS), f"subgame {number}, {shown}")
            curve = holdem_curve(spot, parse_rule(rule), points).points
            curves[shown] = [(iteration, percent / 100 * spot.pot / BIG_BLIND * 1000) for iteration, percent in curve]
        panels[f"subgame {number}"] = curves
        done += share
    on_progress(1.0, "")
    at = {title: {shown: dict(curve) for shown, curve in curves.items()} for title, curves in panels.items()}
    return Report(
        title="Exploitability in four HUNL subgames, mbb/g (thesis Fig. 3.1 to 3.4)",
        setting=f"{turn:,} iterations on the turn, {river:,} on the river (thesis: 32,768)"
        + ", quick" * settings.quick,
        convention=(
            "Blinds 50 and 100, stacks 20,000. Pots at the start: 500 (turn), 4,780 (turn), 500 (river), 3,750 "
            "(river). First bets of half the pot, the pot and all-in, raises of the pot and all-in. Updates alternate; "
            "an iteration updates both players. Exploitability is the average over the two players, in thousandths of "
            "a big blind. CFR+ averages with quadratic weights."
        ),
        columns=("algorithm", *(f"{title[-1]}: at {look}" for title in panels for look in looks)),
        rows=tuple(
            (shown, *(at[title][shown][float(look)] for title in panels for look in looks)) for shown in _ALGORITHMS
        ),
        claims=_claims(panels),
        panels=panels,
        x_label="iterations, each updates both players",
        y_label="exploitability, mbb/g",
        deviations=(
            "Libratus' boards and ranges at these subgames are not part of the paper; ours are "
            + ", ".join(f"{number}: {format_cards(subgame(number).board)}" for number in shares)
            + f", the first player's range {TYPICAL[0]}, the second's {TYPICAL[1]}. Minimum raises, float32. "
            "The figures show curves without numbers, so what the thesis says is judged on the geometric mean from 100 "
            f"iterations on; within a factor of {_SAME} is the same."
        ),
    )


def _late(curve: Points, first: float = 100.0, last: float = 1024.0) -> float:
    """Returns the geometric mean of a curve over the iterations that matter in practice (thesis: 100 to 1,000)."""
    late = [log(max(quality, 1e-9)) for iteration, quality in curve if first <= iteration <= last]
    return exp(sum(late) / len(late))


def _claims(panels: dict[str, dict[str, Points]]) -> tuple[Claim, ...]:
    """Returns what the thesis says, judged by exploitability relative to CFR+'s."""
    typical = {
        shown: [_late(curves[shown]) / _late(curves["CFR+"]) for curves in panels.values()] for shown in _ALGORITHMS
    }

    def listed(ratios: list[float]) -> str:
        return ", ".join(f"{ratio:.2f}" for ratio in ratios)

    dcfr, linear = typical["DCFR(3/2, 0, 2)"], typical["LCFR"]
    forgets = [a / b for a, b in zip(typical["DCFR(3/2, -inf, 2)"], dcfr, strict=True)]
    keeps = [a / b for a, b in zip(typical["DCFR(3/2, 1/2, 2)"], dcfr, strict=True)]
    both = [a / b for a, b in zip(typical["LCFR+"], linear, strict=True)]
    return (
        Claim(
            text="DCFR(3/2, 0, 2) matches or outperforms CFR+ across the board",
            measured=f"times CFR+'s exploitability in subgames 1 to 4: {listed(dcfr)}",
            agrees=max(dcfr) <= 1.1,
        ),
        Claim(
            text="the improvement is usually a factor of 2 or 3",
            measured=f"factors {listed([1 / ratio for ratio in dcfr])}",
            agrees=sum(1.5 <= 1 / ratio <= 4 for ratio in dcfr) >= 2,
        ),
        Claim(
            text="LCFR does particularly well in subgames 1 and 3, where mistakes are severe",
            measured=f"times CFR+'s: {listed(linear)}",
            agrees=max(linear[0], linear[2]) < min(linear[1], linear[3]),
        ),
        Claim(
            text="DCFR(3/2, -inf, 2) is generally equally strong",
            measured=f"times DCFR(3/2, 0, 2)'s: {listed(forgets)}",
            agrees=sum(ratio <= _SAME for ratio in forgets) >= 3,
        ),
        Claim(
            text="DCFR(3/2, 1/2, 2) performs very similarly to DCFR(3/2, 0, 2)",
            measured=f"times DCFR(3/2, 0, 2)'s: {listed(keeps)}",
            agrees=all(1 / _SAME <= ratio <= _SAME for ratio in keeps),
        ),
        Claim(text="LCFR+ performs poorly", measured=f"times LCFR's: {listed(both)}", agrees=min(both) > 1),
    )
