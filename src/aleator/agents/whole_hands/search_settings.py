"""How agents search whole hands, as values that can be typed: `deepstack:flop=100,river=500`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aleator.agents.known import MAX_NUMBER
from aleator.errors import AgentError
from aleator.settings import check_settings, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How whole hands are searched."""

    preflop: int = setting(300, least=1, most=MAX_NUMBER, help="iterations of a search that begins before the flop")
    flop: int = setting(
        100, least=1, most=MAX_NUMBER, help="iterations on the flop, and on turns that are not solved to the end"
    )
    turn: int = setting(80, least=1, most=MAX_NUMBER, help="iterations on turns that are solved to the end")
    river: int = setting(400, least=1, most=MAX_NUMBER, help="iterations of a search that begins on the river")
    exact_turn: int = setting(
        100, name="exact-turn", most=MAX_NUMBER, unit="nodes",
        help="the largest betting of a turn that is solved to the end of the hand, not to that of the street",
    )  # fmt: skip
    device: str = setting(
        "cpu",
        metavar="cpu|cuda",
        help="where rounds are solved; on cuda in batches, turns always to the end of the street",
    )
    networks: Path | None = setting(
        None, kind=str, metavar="FOLDER", read=Path, help="with the networks; by default those of the package"
    )
    menu: Path | None = setting(
        None, kind=str, metavar="FILE.toml", read=Path, help="with bet sizes by street; by default those of DeepStack"
    )
    tremble: float = setting(
        0.3, kind=float, least=0.0, most=1.0,
        help="how often the opponent is believed to take any action, whatever it holds",
    )  # fmt: skip
    seed: int = setting(0, most=MAX_NUMBER, help="of what is drawn")

    def __post_init__(self) -> None:
        check_settings(self, AgentError)

    def iterations(self, street: int, *, to_the_end: bool) -> int:
        """Returns how many iterations a search takes that begins on a street."""
        return (self.preflop, self.flop, self.turn if to_the_end else self.flop, self.river)[street]


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedSettings:
    """How whole hands are searched from a blueprint."""

    flop: int = setting(100, least=1, most=MAX_NUMBER, help="iterations of a search that begins on the flop")
    turn: int = setting(100, least=1, most=MAX_NUMBER, help="iterations of a search that begins on the turn")
    river: int = setting(400, least=1, most=MAX_NUMBER, help="iterations of a search that begins on the river")
    seconds: float | None = setting(
        None, kind=float, least=0.0, most=MAX_NUMBER, open_ends=True, metavar="N", unit="seconds",
        help="for a search, if fewer iterations fit in",
    )  # fmt: skip
    menu: Path | None = setting(
        None, kind=str, metavar="FILE.toml", read=Path,
        help="with bet sizes of searches that begin on each street, such as the blueprint's, which then need no search",
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_settings(self, AgentError)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluribusSettings:
    """How rounds of several players are searched from a blueprint.

    Attributes:
        guard: whether hands play the blueprint where a search's policy is worth less, if both play the blueprint on.
    """

    preflop: int = setting(
        8000, most=MAX_NUMBER,
        help="traversals by each player of a search before the flop, which bets that the blueprint lacks bring about; "
        "0: there is none",
    )  # fmt: skip
    flop: int = setting(3000, least=1, most=MAX_NUMBER, help="traversals by each player of a search on the flop")
    turn: int = setting(4000, least=1, most=MAX_NUMBER, help="traversals by each player of a search on the turn")
    river: int = setting(20_000, least=1, most=MAX_NUMBER, help="traversals by each player of a search on the river")
    nodes: int = setting(400, least=1, most=MAX_NUMBER, help="decisions of a round, before its menu is cut")
    seed: int = setting(0, most=MAX_NUMBER, help="of what is drawn")
    guard: bool = False

    def __post_init__(self) -> None:
        check_settings(self, AgentError)
