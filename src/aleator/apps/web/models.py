"""What the API takes and gives, with the limits of what it takes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from aleator.games.holdem.spot import DEFAULT_RULE

Text = Annotated[str, StringConstraints(max_length=40_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
Path = Annotated[str, StringConstraints(max_length=500)]
Size = Annotated[str, StringConstraints(max_length=20)]
Sizes = Annotated[list[Size], Field(max_length=10)]
Chips = Annotated[int, Field(ge=1, le=1_000_000_000)]
Share = float | Annotated[str, StringConstraints(max_length=50_000)]
JobId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
HandClass = Annotated[str, StringConstraints(pattern=r"^[2-9TJQKA]{2}[so]?$")]
Number = float | None


class Answer(BaseModel):
    """What the server sends; what checks it is built at its first use, so that the server starts sooner."""

    model_config = ConfigDict(defer_build=True)


class Model(BaseModel):
    """A request: unknown keys are refused, numbers are finite.

    What checks it is built at once: built later, it would warn of the alias that FastAPI gives to every body.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Problem(Answer):
    """Why a request was refused."""

    detail: str


class PlayerSizes(Model):
    """Bet sizes of one player on one street; see the page on spots."""

    bet: Sizes = []
    raise_: Annotated[Sizes, Field(alias="raise")] = []
    donk: Sizes | None = None


class StreetSizes(Model):
    """Bet sizes of a street."""

    oop: PlayerSizes = PlayerSizes()
    ip: PlayerSizes = PlayerSizes()


class RakeModel(Model):
    """What the house takes."""

    rate: Annotated[float, Field(ge=0, le=1)] = 0.0
    cap: Annotated[float, Field(ge=0)] | None = None


class SolveModel(Model):
    """How a spot is solved."""

    rule: Annotated[str, StringConstraints(max_length=60)] = DEFAULT_RULE
    target: Annotated[float, Field(ge=0, le=10)] = 0.003
    max_iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 2_000


class SpotModel(Model):
    """A hold'em spot, with the keys of a spot file."""

    board: Annotated[str, StringConstraints(max_length=40)]
    pot: Chips
    stack: Chips
    oop: Text
    ip: Text
    min_bet: Chips = 1
    max_raises: Annotated[int, Field(ge=1, le=100)] | None = None
    all_in_threshold: Annotated[float, Field(ge=0, le=1000)] = 0.0
    force_all_in_threshold: Annotated[float, Field(ge=0, le=1000)] = 0.0
    merge_threshold: Annotated[float, Field(ge=0, le=1000)] = 0.0
    added: Annotated[list[Path], Field(max_length=50)] = []
    rake: RakeModel = RakeModel()
    flop: StreetSizes = StreetSizes()
    turn: StreetSizes = StreetSizes()
    river: StreetSizes = StreetSizes()
    lock: Annotated[dict[Path, dict[Size, Share]], Field(max_length=20)] = {}
    solve: SolveModel = SolveModel()

    def table(self) -> dict[str, Any]:
        """Returns the table of a spot file."""
        return self.model_dump(by_alias=True, exclude_none=True)


class SpotText(Model):
    """A spot as the text of a file."""

    toml: Annotated[str, StringConstraints(max_length=200_000)]


class RangeText(Model):
    """A hand range as text."""

    text: Text


class RangeReport(Answer):
    """A hand range: its canonical text, the number of hands, and the mean weight of each of the 169 classes.

    `mixed` has the classes whose hands weigh differently, hand by hand.
    """

    canonical: str
    num_hands: float
    weights: list[float]
    mixed: dict[str, dict[str, float]]


class Preset(Answer):
    """A spot to begin with."""

    name: str
    summary: str
    spot: SpotModel


class EstimateRequest(Model):
    """What a solve would take; seconds are measured, for about a second, if `measure` is set."""

    spot: SpotModel
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    bits: Literal[16, 32] = 32
    measure: bool = False


class Estimate(Answer):
    """What a solve will take: per street its nodes and boards, bytes, seconds."""

    nodes: list[int]
    boards: list[int]
    hands: list[int]
    memory: int
    free_memory: int
    fits: bool
    seconds_per_iteration: Number
    iterations: int
    seconds: Number


class LockEdit(Model):
    """Hands (as range text) and the policy they are to play, a share per action."""

    hands: Text
    policy: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1, max_length=20)]


class LockModel(Model):
    """A decision that keeps its policy: that of the solution it was locked in, with edits."""

    path: Path
    edits: Annotated[list[LockEdit], Field(max_length=50)] = []


class SolveRequest(Model):
    """A spot to solve."""

    name: Name = "Spot"
    spot: SpotModel
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    bits: Literal[16, 32] = 32


class ResolveRequest(Model):
    """A solved spot to solve again around locked decisions."""

    name: Name = "Locked"
    locks: Annotated[list[LockModel], Field(min_length=1, max_length=20)]


class Rename(Model):
    """A new name."""

    name: Name


class Job(Answer):
    """A piece of work; `loading` is a file being uploaded, times are seconds since 1970, `spot` is what is solved."""

    id: str
    kind: Literal["solve", "race", "grade", "report"]
    name: str
    status: Literal["queued", "running", "loading", "done", "failed", "cancelled"]
    error: str | None
    parent: str | None
    created: float
    started: float | None
    finished: float | None
    attempts: int
    spot: dict[str, Any] | None
    summary: dict[str, Any] | None


class JobDetail(Job):
    """A job with what it was asked to do."""

    request: dict[str, Any]


class Action(Answer):
    """An action of a decision in a solved spot."""

    token: str
    name: str
    kind: Literal["fold", "call", "raise"]
    all_in: bool
    frequency: Number = None
    ev: Number = None


class LineStep(Answer):
    """A node on the way."""

    path: str
    kind: str
    player: int
    pot: int
    actions: list[Action]
    taken: str | None


class HandType(Answer):
    """A made hand or a draw that a player can have at a node: how often, its equity, and the policy it plays."""

    kind: Literal["made", "draw"]
    name: str
    share: float
    equity: Number
    policy: list[float]


class Side(Answer):
    """One player at a node; lists run over the 169 hand classes, `equity_curve` over the range, weakest first."""

    num_hands: float
    ev: Number
    equity: Number
    weights: list[float]
    of_range: list[float]
    evs: list[Number]
    equities: list[Number]
    equity_curve: list[Number]
    types: list[HandType]


class Node(Answer):
    """A node of a solved spot; `policy` is [A, 169]."""

    path: str
    board: str
    kind: str
    street: int
    player: int
    folded: int
    pot: int
    chips: list[int]
    stack: int
    actions: list[Action]
    policy: list[list[float]]
    players: list[Side]
    line: list[LineStep]
    resolved: bool
    values: bool


class Hand(Answer):
    """A single hand at a node."""

    hand: str
    weight: float
    ev: Number
    equity: Number
    policy: list[float]
    action_evs: list[Number]


class Hands(Answer):
    """The hands of a class."""

    hand_class: str
    player: int
    hands: list[Hand]


class NodeRanges(Answer):
    """The ranges that get to a node, those that take each action there, and its board, pot and stack."""

    path: str
    players: list[str]
    actions: list[str]
    board: str
    pot: int
    stack: int


class Runout(Answer):
    """What happens if a card comes."""

    card: str
    chance: Number
    frequencies: list[Number]
    evs: list[Number]
    equities: list[Number]


class Runouts(Answer):
    """All cards that can come at a node."""

    path: str
    player: int
    actions: list[Action]
    cards: list[Runout]


class About(Answer):
    """This server."""

    version: str
    cores: int
    memory_limit: int
    max_upload: int
    runs_dir: str
    queued: int
    running: int


class Progress(Answer):
    """How far something has come, from 0 to 1; None before it begins and when it is done."""

    done: float | None
