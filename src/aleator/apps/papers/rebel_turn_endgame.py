"""ReBeL Fig. 2 and App. C.2: a turn endgame solved with a value network at its leaves, beside tabular CFR."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from aleator.apps.papers.base import Claim, OnProgress, Report, Settings
from aleator.apps.papers.curves import powers_of_two
from aleator.apps.papers.holdem_curves import ALL_HANDS, HoldemCurve, holdem_curve, make_spot
from aleator.games.holdem.spot import Spot
from aleator.learning.holdem.gates import judge, round_of, round_policies
from aleator.learning.holdem.model import load_holdem_model
from aleator.learning.holdem.shipped import shipped_holdem_path
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.holdem.problem import prepare_spots

POT, _STACK, _QUICK_STACK = 2_000, 19_000, 2_000
_PAPER = 125  # tabular iterations that ReBeL's play is worth
_QUICK_BOUND = 16  # with a stack of one pot and fewer iterations
_CONVENTION = (
    "The board 3s7hTdKs, 1,000 chips of each player in the pot and 19,000 behind, all hands. First bets of half the "
    "pot, the pot and all-in, raises of three quarters and all-in. Exploitability is exact, in % of the pot: each "
    "player's turn is fixed as it was found, its river solved exactly."
)
_DEVIATIONS = (
    "The paper trains a network for this endgame alone by self-play, and one on random beliefs, which learns nothing "
    "useful there. Ours is the shipped network of all turns, trained on random situations with bets of the pot and "
    "all-in. Simultaneous updates; the tabular curve is alternating linear CFR. ReBeL's random iteration is not drawn: "
    "the average policy is judged."
)


def endgame(stack: int = _STACK) -> Spot:
    """Returns the paper's turn."""
    return make_spot("3s 7h Td Ks", POT, stack, ALL_HANDS, bets='"50%", "100%", "all-in"', raises='"75%", "all-in"')


def worth(curve: HoldemCurve, percent: float) -> float:
    """Returns how many tabular iterations have the same exploitability, between two looks geometrically."""
    points = curve.points
    if percent >= points[0][1]:
        return points[0][0]
    for (one, high), (two, low) in pairwise(points):
        if low <= percent < high:
            part = (np.log(high) - np.log(percent)) / (np.log(high) - np.log(low))
            return float(one * (two / one) ** part)
    return points[-1][0]


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns both exploitabilities and how many tabular iterations the network's play is worth."""
    on_progress(0.0, "compiling (first run only)")
    prepare_spots("lcfr")
    spot = endgame(_QUICK_STACK if settings.quick else _STACK)
    last, searched, judged = (
        int(settings.choose(*sizes)) for sizes in ((64, 256, 1_024), (40, 250, 1_000), (60, 200, 500))
    )
    on_progress(0.05, f"linear CFR, {last} iterations")
    tabular = holdem_curve(spot, parse_rule("lcfr"), powers_of_two(4, last, per_octave=2))
    on_progress(0.4, f"search with the network, {searched} iterations")
    network = load_holdem_model(shipped_holdem_path("turn")).network
    shape, _ = round_of(spot)
    exploited = {}
    for number, (name, rule) in enumerate((("linear CFR", "lcfr"), ("sharp DCFR+", "sharp-dcfr+"))):
        policies = round_policies(spot, network, parse_rule(f"{rule}/simultaneous"), searched)
        on_progress(0.55 + 0.2 * number, f"judging {name}")
        exploited[name] = judge(spot, shape, policies, iterations=judged)
    on_progress(1.0, "")
    percent = {name: 100 * gate.exploitability for name, gate in exploited.items()}
    equal = {name: worth(tabular, value) for name, value in percent.items()}
    best, bound = max(equal.values()), _QUICK_BOUND if settings.quick else _PAPER
    return Report(
        title="Turn endgame: a value network at the leaves beside tabular CFR, % of the pot (ReBeL Fig. 2)",
        setting=f"stack {spot.stack:,}, {searched} iterations of search, judged by solves of {judged}{settings.mode}",
        convention=_CONVENTION,
        columns=(
            "search",
            "% of the pot",
            "exact solves off by at most",
            "tabular iterations of equal quality",
            "paper",
        ),
        rows=tuple(
            (name, percent[name], 100 * gate.tolerance, equal[name], _PAPER) for name, gate in exploited.items()
        ),
        claims=(
            Claim(
                text=f"play with the network is worth {bound} tabular iterations"
                + " of this short game" * settings.quick,
                measured=f"{best:.0f}" + " or more" * (best >= last),
                agrees=best >= bound,
            ),
        ),
        panels={
            "turn endgame": {
                "linear CFR, tabular": tabular.points,
                **{f"network, {name}": [(float(searched), value)] for name, value in percent.items()},
            }
        },
        x_label="iterations, each updates both players",
        y_label="exploitability, % of the pot",
        deviations=_DEVIATIONS,
    )
