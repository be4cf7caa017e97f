"""What the API takes and gives on the pages Play, Learn and Runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from aleator.apps.web.models import Answer, Job, JobId, Model, Number


class RaceRequest(Model):
    """Algorithms to race on a game."""

    game: Annotated[str, StringConstraints(max_length=40)]
    algorithms: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=60)]], Field(min_length=1, max_length=8)
    ]
    seconds: Annotated[float, Field(gt=0, le=600)] = 20.0
    target: Annotated[float, Field(ge=0, le=1)] = 1e-7
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


class GameInfo(Answer):
    """A game of the catalogue; `note` says what one may wonder about at its table."""

    name: str
    title: str
    summary: str
    family: str
    note: str = ""


class OpponentInfo(Answer):
    """An agent of the catalogue; `note` says what may surprise in what it does and believes."""

    name: str
    title: str
    summary: str
    games: list[str]
    note: str = ""


class PlayCatalogue(Answer):
    """What can be played, and against whom."""

    games: list[GameInfo]
    opponents: list[OpponentInfo]
    spots: list[Job]


class SessionRequest(Model):
    """A session to begin: a game of the catalogue, or `holdem` with the id of a solved spot."""

    game: Annotated[str, StringConstraints(max_length=40)]
    opponent: Annotated[str, StringConstraints(max_length=40)] = "equilibrium"
    seat: Literal["first", "second", "alternate"] = "alternate"
    solution: JobId | None = None


class MoveRequest(Model):
    """`deal` for a new one, or the label of an action."""

    move: Annotated[str, StringConstraints(max_length=40)]


class Session(Answer):
    """A play session as its player may see it; a row of `results` is what a deal won, its skill, what was given up.

    A `match` of Liar's Dice has the dice of the player and of the agent, matches won, and which game is `playing`.
    """

    id: str
    game: str
    opponent: str
    seat: str
    unit: str
    totals: dict[str, float]
    results: list[list[float]]
    deal: dict[str, Any] | None
    match: dict[str, Any] | None
    solution: str | None


class SettingInfo(Answer):
    """What can be typed behind the name of an algorithm; no limit is null."""

    name: str
    form: Literal["named", "word", "placed", "attached", "slash"]
    kind: Literal["bool", "int", "float", "str"]
    default: bool | int | float | str | None
    least: float | None
    most: float | None
    infinite: bool
    choices: list[str]
    unit: str
    help: str


class Variant(Answer):
    """An algorithm with settings that are worth a choice of their own."""

    name: str
    summary: str


class AlgorithmInfo(Variant):
    """An algorithm of the registry."""

    group: str
    reference: str
    settings: list[SettingInfo]
    variants: list[Variant]
    exact: bool
    holdem: bool


class LearnCatalogue(Answer):
    """Games and algorithms that can race."""

    games: list[GameInfo]
    algorithms: list[AlgorithmInfo]


class TreeNode(Answer):
    """A node of a public tree."""

    id: int
    parent: int
    label: str
    actor: int
    actions: list[str]
    hands: list[str]
    cut: bool
    chance: bool


class Tree(Answer):
    """The upper part of the public tree of a game."""

    game: str
    nodes: list[TreeNode]
    num_nodes: int
    num_infostates: int
    num_hands: list[int]


class Run(Answer):
    """A training run: its last metrics and how many there are."""

    name: str
    updated: float
    points: int
    live: bool
    last: dict[str, Any]
    config: dict[str, Any]


class RunCurves(Run):
    """A training run with its curves, column by column, at most 2,000 points."""

    columns: dict[str, list[Number]]
