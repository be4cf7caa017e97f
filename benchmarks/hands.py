"""Whole hands in the browser: seconds that an agent takes to answer, and decisions that the coach grades a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter, process_time
from typing import Any

import numpy as np

from aleator import shipped
from aleator.agents.whole_hands import load_hand_agent
from aleator.apps.benchmarking import Progress, Result
from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.coach import review_hand
from aleator.apps.web.worker.rivals import find_rival
from aleator.apps.web.worker.whole_hands import play
from aleator.arena.whole_hands.play import play_hands
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.variants import load_hand_game

SUMMARY = "whole hands: an agent's answers at the table of the browser, and decisions graded a minute"
GRADING = "grading"
CASES = ("tight-aggressive", "rebel-quick", "rebel", "deepstack", "modicum", "libratus", "pluribus", GRADING)
SECONDS = 60.0
"""How long each case is measured."""

_MOVES = ("c", "c", "c", "50%", "pot")


class _Nobody(Channel):
    """A channel that nobody listens to."""

    def __init__(self) -> None:
        self.stopped = self.suspended = False

    def send(self, kind: str, value: Any) -> None:
        """Forgets what is sent."""


def run(progress: Progress, cases: Sequence[str] = CASES) -> Result:
    """Returns a row per agent, and one of the coach; what is loaded at the first time is not counted."""
    rows = []
    for number, case in enumerate(cases):
        progress(number / len(cases), case)
        times = np.array(list(_timed(_graded_hands() if case == GRADING else _answers(case))))
        clock, processor = times[:, 0], times[:, 1]
        rows.append(
            {
                "what": "a decision graded" if case == GRADING else f"an answer of {case}",
                "measured": len(times),
                "p50, seconds": float(np.percentile(clock, 50)),
                "p95, seconds": float(np.percentile(clock, 95)),
                "p95, of a processor": float(np.percentile(processor, 95)),
                "a minute": 60 / float(clock.mean()),
                "a minute of a processor": 60 / float(processor.mean()),
            }
        )
    notes = [
        "An answer: from a move of the player to the next one, where the agent acts in between, perhaps several times.",
        "pluribus: five of them at a table of six, so an answer has up to five decisions, or more.",
        "Goals: an answer p95 5 s, 10 decisions graded a minute, on 2 cores.",
        "On a busy machine the processor's time says more than the clock's.",
    ]
    return Result(title="Whole hands of no-limit hold'em, as in the browser", rows=rows, notes=notes)


def _timed(calls: Iterator[Callable[[], int]]) -> Iterator[tuple[float, float]]:
    """Yields the seconds of each of a call's pieces, by the clock and of all processors, for a minute.

    The first call, which loads networks and kernels, is not counted.
    """
    next(calls)()
    end = perf_counter() + SECONDS
    for call in calls:
        before, worked = perf_counter(), process_time()
        if pieces := call():
            yield from [((perf_counter() - before) / pieces, (process_time() - worked) / pieces)] * pieces
        if perf_counter() > end:
            return


def _answers(opponent: str) -> Iterator[Callable[[], int]]:
    """Yields moves of a player who mostly calls; each returns 1 after the agent's answer, 0 if it had nothing to do."""
    rng, blueprints = np.random.default_rng(1), [str(file) for file in shipped.blueprints()]
    stack = find_rival(opponent, tuple(blueprints)).stack or 10_000
    state: dict[str, Any] = {"opponent": opponent, "stack": stack, "seed": 1, "dealt": 0, "hand": None}
    over, known = True, 0

    def ask(text: str | None) -> dict[str, Any]:
        played = play({"state": state, "move": text, "blueprints": blueprints}, _Nobody())
        hand: dict[str, Any] = played["view"]["hand"]
        return hand

    def move(text: str) -> Callable[[], int]:
        def call() -> int:
            nonlocal over, known
            hand = ask(text)
            new = hand["steps"][0 if text == "deal" else known :]
            over, known = hand["over"], len(hand["steps"])
            return int(any(step["player"] not in (None, hand["seat"]) for step in new))

        return call

    while True:
        legal = None if over else ask(None)["legal"]
        choice = str(rng.choice(_MOVES))
        yield move("deal" if legal is None else choice if choice == "c" or legal["min"] is not None else "c")


def _graded_hands() -> Iterator[Callable[[], int]]:
    """Yields hands of a rule bot, to be graded; each returns how many decisions it had."""
    setup = load_hand_game("hunl:stack=10000").setup
    bots = [load_hand_agent("tight-aggressive"), load_hand_agent("pot-odds")]
    number = 0
    while True:
        played = play_hands(setup, bots, np.arange(number, number + 1), 3)
        record = HandRecord.from_dict(played.hands.to_dict(0, number), setup)
        number += 1
        yield lambda record=record: len(review_hand(record, 0))  # type: ignore[misc]
