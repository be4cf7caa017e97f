"""What the routes of reports, comparisons and preflop charts take and answer."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from aleator.apps.web.models import Action, Answer, Model, Name, Number, Path, SpotModel


class ReportRequest(Model):
    """A spot to solve on many flops: so many that stand for all, `all`, or a list."""

    name: Name = "Report"
    spot: SpotModel
    flops: Annotated[str, StringConstraints(max_length=20_000)] = "25"
    node: Path = "r:0"
    bits: Literal[16, 32] = 32
    processes: Annotated[int, Field(ge=1, le=64)] = 1


class ReportEstimate(Answer):
    """What a report will take."""

    flops: int
    memory: int
    free_memory: int
    fits: bool
    seconds: Number


class Said(Answer):
    """What was done on the way to a node, in words; the player is -1 where a card came."""

    player: int
    name: str


class ReportNode(Answer):
    """A decision that a report can look at."""

    path: str
    said: list[Said]


class FlopAction(Answer):
    """An action at a node: how often it is taken, and the mean EV of the hands that take it."""

    token: str
    name: str
    frequency: Number
    ev: Number


class FlopNode(Answer):
    """A node on a flop, or in the mean over flops."""

    reached: Number
    ev: list[Number]
    equity: list[Number]
    actions: list[FlopAction]


class FlopLine(Answer):
    """A flop of a report."""

    cards: str
    chance: Number
    texture: dict[str, str]
    root: FlopNode
    node: FlopNode
    exploitability: Number
    iterations: int
    seconds: Number


class Report(Answer):
    """A report as far as it is; `said` is what is done on the way to its node."""

    spot: dict[str, Any]
    node: str
    said: list[Said]
    players: dict[str, int]
    wanted: int
    solved: int
    mean: dict[str, FlopNode] | None
    flops: list[FlopLine]


class KindShare(Answer):
    """How often an action is taken in both solutions; null where one has no such action."""

    token: str
    first: Number
    second: Number


class ComparedLine(Answer):
    """A decision of the street in two solutions."""

    path: str
    said: list[Said]
    player: int
    reached: list[float]
    kinds: list[list[Number]]
    distance: Number


class ComparedNode(Answer):
    """A node of two solutions; what is by class has 169 entries, null for classes that do not get there."""

    path: str
    said: list[Said]
    board: str
    player: int
    pots: list[int]
    actions: list[list[Action]]
    shares: list[KindShare]
    kinds: list[str]
    class_kinds: list[list[list[Number]]]
    class_evs: list[list[list[Number]]]
    evs: list[list[Number]]
    distance: Number
    lines: list[ComparedLine]


class Stacks(IntEnum):
    """Stacks in big blinds that charts before the flop are solved for."""

    BB10 = 10
    BB15 = 15
    BB20 = 20
    BB25 = 25
    BB40 = 40
    BB50 = 50
    BB60 = 60
    BB100 = 100
    BB150 = 150
    BB200 = 200


class PreflopAction(Answer):
    """An action before the flop: how often it is taken, by all hands and by each of the 169 classes."""

    token: str
    name: str
    kind: Literal["fold", "call", "raise"]
    frequency: Number
    classes: list[float]


class PreflopPlace(Answer):
    """A place in the betting: who decides there."""

    path: str
    position: str


class PreflopStep(PreflopPlace):
    """A step of a line: who did what, and the place before it."""

    name: str


class PreflopPair(PreflopPlace):
    """Where somebody faces the usual raise of who opens, and all others have folded."""

    opener: str


class ChartsInfo(Answer):
    """A blueprint that has charts; its number, from 1 on, and the stacks in big blinds."""

    number: int
    title: str
    players: int
    stack: float


class PreflopNode(Answer):
    """A place in the betting before the flop; `spot` is what the flop begins with, if one comes for two players.

    `folds` is who decides behind if everybody before folds, `pairs` the charts of each pair of positions.
    """

    node: str
    agent: str
    positions: list[str]
    to_act: str | None
    pot: int
    stacks: list[int]
    folded: list[bool]
    big_blind: int
    stack: int
    is_flop: bool
    actions: list[PreflopAction]
    weights: list[float] = Field(default_factory=list)
    line: list[PreflopStep]
    folds: list[PreflopPlace]
    pairs: list[PreflopPair]
    spot: dict[str, Any] | None
