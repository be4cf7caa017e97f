"""Lisý and Bowling 2017, Table 2: what local best response wins against players that do not look at their cards."""

from __future__ import annotations

from functools import partial

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.arena.whole_hands.match import HandMatch, HandScore, MatchState, play_hand_match

_GAME = "hunl"
_HANDS_PER_BOARD = 16
# agent, menu, rounds, the paper's big blinds a hand (None: not in its table), half of its 95 % interval
_CELLS = (
    ("always-fold", "fc", "1-4", 0.25, 0.0),
    ("always-fold", "fcpa", "3-4", 0.75, 0.0),
    ("always-call", "fc", "1-4", 0.0, 0.0),
    ("always-call", "fcpa", "1-4", 34.0, 0.5),
    ("always-call", "fcpa", "3-4", 49.0, 0.4),
    ("half-call-half-raise", "fc", "1-4", 7.1, 0.5),
    ("half-call-half-raise", "fc", "3-4", None, 0.0),
    ("half-call-half-raise", "fcpa", "1-4", 23.1, 0.5),
    ("half-call-half-raise", "fcpa", "3-4", 24.4, 0.6),
    ("random", "fc", "1-4", 15.7, 0.4),
    ("random", "fcpa", "1-4", 39.1, 0.6),
    ("random", "fcpa", "3-4", 80.7, 0.7),
)
_CONVENTION = (
    "Big blinds a hand, heads-up no-limit hold'em with 20,000 chips and blinds of 50 and 100; ± is half of a 95 % "
    "interval. A cell agrees if the two intervals touch."
)
_DEVIATIONS = (
    "The paper samples single hands and scores by duplicate deals; here the response answers for all its hands and is "
    "scored by AIVAT over both ranges, 16 deals to a board. What amounts the paper's chumps bet is not known here: "
    "'random' is read as every legal action alike, each amount being one; half-call-half-raise as a raise to any "
    "amount from nothing to all chips, of which those that are too little become the smallest raise, as dealers of the "
    "ACPC mend them. 32 amounts stand for all. So read, every cell agrees but the 7.1 of fc 1-4 against "
    "half-call-half-raise, a second-hand number that is not reproduced: raises that let fc win so little let fcpa 3-4 "
    "win 27 and more, unless it decides once for the whole hand (docs/algorithms/local-best-response.md). fc 3-4, "
    "which the paper does not have, is shown beside it: it wins about as much."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns all cells of the table."""
    hands = int(settings.choose(320, 12_800, 100_000))
    rows: list[tuple[Cell, ...]] = []
    claims = []
    curves: dict[str, list[tuple[float, float]]] = {"paper": [], "ours": []}
    for number, (agent, menu, rounds, paper, interval) in enumerate(_CELLS):
        match = HandMatch(
            game=_GAME,
            agents=("local best response", agent),
            hands=hands,
            seed=settings.seed,
            response=(menu, rounds),
            hands_per_board=_HANDS_PER_BOARD,
        )
        on_piece = partial(_tell, on_progress, number, f"{agent}, {menu} {rounds}")
        ours = _in_big_blinds(play_hand_match(match, workers=settings.workers, on_piece=on_piece).score())
        measured = _text(ours.mbb_per_hand, ours.ci95)
        rows.append((agent, menu, rounds, "-" if paper is None else _text(paper, interval), measured))
        curves["ours"].append((number + 1.0, max(ours.mbb_per_hand, 0.01)))
        if paper is None:
            continue
        curves["paper"].append((number + 1.0, max(paper, 0.01)))
        apart = abs(ours.mbb_per_hand - paper)
        claims.append(
            Claim(
                text=f"{agent} loses {_text(paper, interval)} to {menu} {rounds}",
                measured=measured,
                agrees=apart <= interval + ours.ci95 + 1e-9,
            )
        )
    return Report(
        title="What local best response wins, big blinds a hand (Lisý and Bowling 2017)",
        setting=f"{hands:,} hands a cell{settings.mode}",
        convention=_CONVENTION,
        columns=("against", "menu", "rounds", "paper", "ours"),
        rows=tuple(rows),
        panels={"local best response": curves},
        x_label="cell",
        y_label="big blinds a hand",
        deviations=_DEVIATIONS,
        claims=tuple(claims),
    )


def _tell(on_progress: OnProgress, number: int, cell: str, state: MatchState) -> bool:
    on_progress((number + state.played / state.match.num_hands) / len(_CELLS), f"{cell}, hand {state.played:,}")
    return False


def _in_big_blinds(score: HandScore) -> HandScore:
    return HandScore(score.hands, score.mbb_per_hand / 1000, score.ci95 / 1000)


def _text(mean: float, interval: float) -> str:
    return f"{mean:.2f} ± {interval:.2f}"
