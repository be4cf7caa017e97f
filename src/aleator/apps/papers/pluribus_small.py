"""Pluribus' search in three- to six-player Leduc, measured exactly (thesis 6.6, in kind)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.apps.papers.parallel import run_beside
from aleator.caching import lru_cache
from aleator.games.base import FloatArray
from aleator.games.multiplayer.leduc import LeducHistory, MultiplayerLeduc
from aleator.search.pluribus.small_games import MultiplayerSearch, MultiplayerSearcher
from aleator.solvers.multiplayer.cfr import MultiplayerCFR
from aleator.solvers.multiplayer.evaluation import Evaluation, evaluate
from aleator.solvers.regret_rule import CFR_PLUS
from aleator.trees.sequence_form import SequenceForm, build_sequence_form

Rules = TypeVar("Rules", bound=MultiplayerLeduc)
_CONVENTION = (
    "Chips a hand, exact: sums over all deals. A blueprint is CFR+ stopped early, or ('coarse cards') CFR+ in a game "
    "in which nobody tells all ranks apart: of its own card a player knows the half that it is in, and whether it "
    "pairs the table. 'search' is what a seat wins more than the blueprint would when it searches and all others play "
    "the blueprint; 'best' is what a best response wins more, the most that is there to win; 'others held' is what "
    "the seat wins more if its searches hold the others at the blueprint, which is what they really play; 'a quarter' "
    "if they take the others to play the blueprint on a quarter of the time, and to be free else; 'guarded' if "
    "infostates play the blueprint where the search is worth less, everybody playing the blueprint on. 'NashConv, "
    "searching' is that of the profile in which this seat searches: what all seats would gain by best responses to "
    "it. Searches begin in the second round, as Pluribus' do unless somebody bets off its menu; 'both rounds': in the "
    "first one, too, with four continuations for everybody at its end."
)
_DEVIATIONS = (
    "The paper reports matches of no-limit hold'em against people. Leaf values are exact sums, where Pluribus rolls "
    "out. Where the first round is searched, too, the continuations of a poor blueprint mislead the search, and it may "
    "lose in some seats; so may a nearly exact equilibrium of the whole game that one seat plays against blueprints."
)


class Case(NamedTuple):
    """A game, its blueprint, and how it is searched."""

    players: int
    ranks: int
    suits: int
    cap: int
    blueprint: int  # iterations
    coarse: bool = False
    both: bool = False

    @property
    def game(self) -> str:
        """The name of the game."""
        return f"leduc:players={self.players},ranks={self.ranks},suits={self.suits},cap={self.cap}"

    def make(self, kind: type[Rules]) -> Rules:
        """Returns the game, or one like it."""
        return kind(self.players, ranks=self.ranks, suits=self.suits, cap=self.cap, name=self.game)

    @property
    def title(self) -> str:
        """What is searched, and from what."""
        kind = ", coarse cards" * self.coarse + ", both rounds" * self.both
        return f"{self.players} players, blueprint of {self.blueprint}{kind}"


_TRUST = 0.25
_CASES = (
    Case(3, 4, 2, 2, 20),
    Case(3, 4, 2, 2, 300, coarse=True),
    Case(3, 4, 2, 2, 20, both=True),
    Case(4, 3, 3, 1, 20),
    Case(4, 3, 3, 1, 300, coarse=True),
    Case(5, 3, 2, 1, 20),
    Case(6, 2, 4, 1, 20),
)
_QUICK = (Case(3, 4, 2, 1, 20), Case(3, 4, 2, 1, 200, coarse=True), Case(3, 4, 2, 1, 20, both=True))


class CoarseLeduc(MultiplayerLeduc):
    """Leduc in which a player knows of its card the half that it is in, and whether it pairs the table."""

    def infostate(self, history: LeducHistory, player: int) -> Hashable:
        return self.coarse(super().infostate(history, player))

    def coarse(self, infostate: Any) -> Hashable:
        """Returns what is known in this game of an infostate of Leduc."""
        card, board, moves = infostate
        return 2 * card >= self.ranks, card in board, board, moves


def _average(form: SequenceForm, iterations: int) -> FloatArray:
    solver = MultiplayerCFR(form, CFR_PLUS)
    solver.run(iterations)
    return solver.average_profile()


def coarse_blueprint(form: SequenceForm, game: CoarseLeduc, iterations: int) -> FloatArray:
    """Returns [E]: the average of CFR+ in the coarse game, as a profile of the whole game."""
    coarse = build_sequence_form(game)
    average = _average(coarse, iterations)
    number = {(int(player), key): k for k, (player, key) in enumerate(zip(coarse.player, coarse.keys, strict=True))}
    infostates = [number[int(form.player[k]), game.coarse(key)] for k, key in enumerate(form.keys)]
    return np.concatenate([average[coarse.first[k] : coarse.first[k + 1]] for k in infostates])


class _Seat(NamedTuple):
    """A seat that searches, and how many iterations each of its searches has."""

    case: Case
    seat: int
    iterations: int


class _Won(NamedTuple):
    """What a seat wins: by the blueprint; more by searching, guarded, with trust of a quarter, others held, at best.

    Then NashConv of the blueprint and of the profile in which the seat searches, and how many searches there were.
    """

    value: float
    gain: float
    guarded: float
    quarter: float
    held: float
    best: float
    before: float
    after: float
    searches: int


@lru_cache(maxsize=1)
def _setting(case: Case) -> tuple[SequenceForm, FloatArray, Evaluation]:
    """Returns a case's game, its blueprint, and what that is worth."""
    form = build_sequence_form(case.make(MultiplayerLeduc))
    blueprint = (
        coarse_blueprint(form, case.make(CoarseLeduc), case.blueprint)
        if case.coarse
        else _average(form, case.blueprint)
    )
    return form, blueprint, evaluate(form, blueprint)


def measure(task: _Seat) -> _Won:
    """Returns what a seat wins, exactly."""
    case, seat = task.case, task.seat
    form, blueprint, before = _setting(case)
    search = MultiplayerSearch(iterations=task.iterations, first_round=0 if case.both else 1)
    searcher = MultiplayerSearcher(form, blueprint, seat, search)
    after = evaluate(form, searcher.profile())
    value = float(before.values[seat])

    def more(config: MultiplayerSearch) -> float:
        profile = MultiplayerSearcher(form, blueprint, seat, config).profile()
        return float(evaluate(form, profile).values[seat]) - value

    return _Won(
        value=value,
        gain=float(after.values[seat]) - value,
        guarded=more(replace(search, guard=True)),
        quarter=more(replace(search, trust=_TRUST)),
        held=more(replace(search, trust=1.0)),
        best=float(before.best[seat]) - value,
        before=before.nash_conv,
        after=after.nash_conv,
        searches=searcher.searches,
    )


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns what search wins in every seat; quick: three players, one bet a round."""
    cases, iterations = _QUICK if settings.quick else _CASES, 100 if settings.quick else 200
    tasks = {
        f"{case.title}, seat {seat}": _Seat(case, seat, iterations) for case in cases for seat in range(case.players)
    }
    measured = run_beside(measure, tasks, on_progress, settings.workers)
    rows: list[tuple[Cell, ...]] = []
    by_case: dict[Case, list[_Won]] = {}
    for name, task in tasks.items():
        rows.append((task.case.title, task.seat, *measured[name]))
        by_case.setdefault(task.case, []).append(measured[name])
    gains = {case.title: [won.gain for won in seats] for case, seats in by_case.items()}
    later = {case.title: seats for case, seats in by_case.items() if not case.both}
    free = {title: [won.gain for won in seats] for title, seats in later.items()}
    quarter = {title: [won.quarter for won in seats] for title, seats in later.items()}
    guarded = {case.title: [won.guarded for won in seats] for case, seats in by_case.items()}
    held = {case.title: [won.held for won in seats] for case, seats in by_case.items()}
    return Report(
        title="Pluribus' search in one seat against blueprints in all others, exactly (thesis 6.6, in kind)",
        setting=f"searches of {iterations} iterations of linear CFR; "
        + ", ".join(dict.fromkeys(case.game for case in cases)),
        convention=_CONVENTION,
        columns=(
            "players, blueprint",
            "seat",
            "blueprint",
            "search",
            "guarded",
            "a quarter",
            "others held",
            "best",
            "NashConv, blueprint",
            "NashConv, searching",
            "searches",
        ),
        rows=tuple(rows),
        panels={
            "gain of search by seat": {
                title: [(float(seat), gain) for seat, gain in enumerate(won)] for title, won in gains.items()
            }
        },
        x_label="seat",
        y_label="chips a hand above the blueprint",
        deviations=_DEVIATIONS,
        claims=(
            _every_seat("search wins at least as much as the blueprint in every seat", free),
            _every_seat("guarded it does, and in both rounds, too", guarded),
            _every_seat("so it does if the others are trusted to play the blueprint a quarter of the time", quarter),
            _every_seat("with the others held at the blueprint inside its searches every seat wins", held),
            Claim(
                text="and search wins more on average",
                measured="; ".join(f"{title}: {np.mean(won):+.4f}" for title, won in free.items()),
                agrees=all(np.mean(won) > 0.0 for won in free.values()),
            ),
        ),
    )


def _every_seat(text: str, gains: dict[str, list[float]]) -> Claim:
    """Returns a claim that no seat loses."""
    return Claim(
        text=text,
        measured="; ".join(f"{title}: at least {min(won):+.4f}" for title, won in gains.items()),
        agrees=all(min(won) >= 0.0 for won in gains.values()),
    )
