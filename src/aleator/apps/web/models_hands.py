"""What the API takes and gives about whole hands."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from aleator.apps.web.models import Answer, Model, Number


class RivalInfo(Answer):
    """Somebody to play whole hands against; level 1 is the easiest, 5 the strongest; `face` is a hue in degrees.

    `players` is how many sit at the table, the player included; `stack` the chips of everybody if there is no choice,
    with a big blind of 100.
    """

    name: str
    title: str
    face: int
    level: int
    summary: str
    players: int
    stack: int | None


class HandSessionRequest(Model):
    """A session to begin: an opponent of the list, and the chips that both have at the start of every hand."""

    opponent: Annotated[str, StringConstraints(max_length=40)]
    stack: Annotated[int, Field(ge=1000, le=25_000)] = 10_000


class HandMove(Model):
    """`deal`, `undo`, `undo 5` (to the decision after 5 actions), or an action: `f`, `c`, `r300`, `75%`, `all-in`.

    `seen` is the `moment` of the session that the player looks at; a move made for another moment is refused.
    """

    move: Annotated[str, StringConstraints(max_length=40)]
    seen: Annotated[str, StringConstraints(max_length=10_000)] | None = None


class Score(Answer):
    """A score in thousandths of a big blind a hand: as it went, and without luck, with half of its 95 % interval.

    At a table of several players who search luck is not removed.
    """

    hands: int
    won: float
    raw: Number
    fair: Number
    band: Number


class HandSession(Answer):
    """A session as its player may see it; `players` is how many sit at the table, `moment` how far it is."""

    id: str
    opponent: str
    stack: int
    players: int
    dealt: int
    moment: str
    hand: dict[str, Any] | None
    score: Score


class SessionRow(Answer):
    """A session of the history; `players` is how many sat at the table, `practice` how many hands do not count."""

    id: str
    opponent: str
    stack: int
    players: int
    created: float
    updated: float
    practice: int
    score: Score


class HandRow(Answer):
    """A hand of the history, with one's own cards; what decisions gave up in big blinds is known after a review."""

    id: str
    session: str
    number: int
    seat: int
    players: int
    cards: str
    board: str
    won: float
    fair: Number
    practice: bool
    played: float
    given_up: Number


class Leak(Answer):
    """What graded decisions of a street gave up, in big blinds: all of them, or those of a `kind` of action."""

    street: str
    kind: str
    decisions: int
    mistakes: int
    given_up: float


class History(Answer):
    """All that was played: the score of heads-up play, sessions, and which decisions cost most."""

    score: Score
    sessions: list[SessionRow]
    costliest: list[dict[str, Any]]
    leaks: list[Leak]


class PlayedHand(Answer):
    """A hand to look at again, and its review if there is one."""

    id: str
    session: str
    opponent: str
    seat: int
    won: float
    fair: Number
    practice: bool
    view: dict[str, Any]
    review: dict[str, Any] | None


class Hint(Answer):
    """What the actions of a decision are worth, at a table of several what a blueprint does, or why nothing is told."""

    note: str
    grade: dict[str, Any] | None
    chart: dict[str, Any] | None


class ReadHands(Answer):
    """What a file of hands has: the players with how many hands each, and what could not be read.

    The `hero` is the one player whose cards nearly all hands show; they come first.
    """

    hands: int
    players: list[list[Any]]
    hero: str | None
    problems: list[str]
