"""Grades of a file of hands, by several processes at a time where cores and memory allow it.

What a hand is graded does not depend on who grades it: searches are kept from decision to decision of a hand, and so is
what several hands share, but all of it follows from public states alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import sleep
from typing import Any, Final, NamedTuple

from aleator.apps.web.worker.channel import Channel
from aleator.apps.web.worker.coach import grade_of_file, told_reasons
from aleator.errors import AleatorError
from aleator.games.holdem.betting import seat_names
from aleator.games.holdem.hand_record import HandRecord
from aleator.memory import available_memory
from aleator.workers.base import Workers
from aleator.workers.processes import local_workers

_SHOWN: Final = 5  # mistakes while a file is graded
_HANDS_EACH: Final = 5  # for fewer it does not pay to start a process, which loads networks and solves the blinds anew
_MEMORY_EACH: Final = 1 << 30
_SECONDS_BETWEEN_LOOKS: Final = 0.2


class _Hand(NamedTuple):
    """A hand to grade: its record as JSON values, and the name of the player."""

    record: dict[str, Any]
    player: str


class _Grades(NamedTuple):
    """The decisions of a hand, graded and without a grade, each with its place in the file; or why it has none."""

    decisions: list[dict[str, Any]]
    without: list[dict[str, Any]]
    problem: str = ""


def grade(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the grades of all decisions of a player in hands from a file, costliest first; progress is reported.

    `records` are hands as they were read, `player` a name, `processes` how many may grade. Reports tell the costliest
    mistakes so far.
    """
    hands = [_Hand(record, params["player"]) for record in params["records"]]
    workers = local_workers(_at_once(params.get("processes", 1), len(hands)))
    found = _grade_all(workers, hands, channel)
    problems = [found[place].problem for place in sorted(found) if found[place].problem]
    decisions = _costliest_first(found)
    ungraded = [one for place in sorted(found) for one in found[place].without]
    return {
        "player": params["player"],
        "hands": len(found) - len(problems),
        "decisions": decisions,
        "problems": [*params["problems"], *problems],
        "without": told_reasons(Counter(one["reason"] for one in ungraded)),
        "ungraded": ungraded,
        "note": f"stopped after {len(found)} of {len(hands)} hands" if len(found) < len(hands) else "",
        "given_up": sum(decision["given_up"] for decision in decisions),
        "mistakes": sum(decision["mistake"] for decision in decisions),
    }


def _at_once(processes: int, hands: int) -> int:
    """Returns how many processes grade so many hands."""
    return max(1, min(processes, hands // _HANDS_EACH, available_memory() // _MEMORY_EACH))


def _grade_all(workers: Workers, hands: list[_Hand], channel: Channel) -> dict[int, _Grades]:
    """Returns the grades of hands by their places, of all of them unless it is told to stop."""
    found: dict[int, _Grades] = {}
    given = 0

    def report() -> None:
        decisions = _costliest_first(found)
        worst = [decision for decision in decisions if decision["mistake"]][:_SHOWN]
        channel.report(stage="grading", hand=len(found), hands=len(hands), decisions=len(decisions), worst=worst)

    with workers.hire(_prepare, most=max(len(hands), 1)) as crew:
        report()
        while len(found) < len(hands) and not channel.stopped:
            while given < len(hands) and crew.given < crew.count:
                crew.give(given, (given, hands[given]))
                given += 1
            ended = crew.take(wait=crew.count == 1)
            found |= {done.number: done.result for done in ended}
            if not ended:
                sleep(_SECONDS_BETWEEN_LOOKS)
            elif len(found) < len(hands):
                report()
    return found


def _prepare() -> Callable[[tuple[int, _Hand]], _Grades]:
    """Returns what grades the hand at a place of a file."""
    return _grade_hand


def _grade_hand(task: tuple[int, _Hand]) -> _Grades:
    place, hand = task
    record = HandRecord.from_dict(hand.record)
    player = record.names.index(hand.player)
    try:
        decisions, without = grade_of_file(record, player)
    except AleatorError as error:
        return _Grades([], [], f"hand {record.number}: {error}")
    where = {"record": place, "number": record.number, "position": seat_names(record.setup.num_players)[player]}
    return _Grades([decision | where for decision in decisions], [decision | where for decision in without])


def _costliest_first(found: dict[int, _Grades]) -> list[dict[str, Any]]:
    """Returns all decisions: the costliest mistake first, then those furthest behind the best action."""
    decisions = [decision for place in sorted(found) for decision in found[place].decisions]
    return sorted(decisions, key=lambda decision: (-decision["given_up"], -decision["behind"]))
