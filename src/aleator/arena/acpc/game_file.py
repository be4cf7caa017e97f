"""Game definition files of the ACPC dealer (`holdem.nolimit.2p.reverse_blinds.game`), read and written.

Hold'em with two hole cards and 52 cards is read; other games are refused by the line that makes them others.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from aleator.arena.acpc.match_state import AcpcError
from aleator.errors import AleatorError
from aleator.games.holdem.betting import BettingRules
from aleator.games.holdem.hand_state import HandSetup

_ENDLESS = 2**31 - 1  # how the dealer's own files say that there is no limit
_NAMES = {
    "numplayers", "numrounds", "stack", "blind", "raisesize", "firstplayer", "maxraises", "numsuits", "numranks",
    "numholecards", "numboardcards",
}  # fmt: skip


def read_game_file(path: Path) -> HandSetup:
    """Returns how hands of a game file begin.

    Raises:
        AcpcError: a line that cannot be read, or a game that is not hold'em; the message has file and line.
    """
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise AcpcError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
    try:
        return parse_game(text)
    except AleatorError as error:
        raise AcpcError(f"{path}: {error}") from None


def parse_game(text: str) -> HandSetup:
    """Returns how hands of a game definition begin; see `read_game_file`."""
    fields: dict[str, list[int]] = {}
    kind, inside = None, False
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#")[0].strip()
        if not line:
            continue
        lower = line.lower()
        if lower in ("gamedef", "end gamedef"):
            inside = lower == "gamedef"
        elif lower in ("limit", "nolimit"):
            kind = lower
        elif match := re.fullmatch(r"(\w+)\s*=\s*(\d{1,10}(?:\s+\d{1,10})*)", line, re.ASCII):
            name = match[1].lower()
            if name not in _NAMES:
                raise AcpcError(f"line {number}: unknown {match[1]!r}")
            fields[name] = [int(word) for word in match[2].split()]
        else:
            raise AcpcError(f"line {number}: {line[:60]!r} is not NAME = NUMBERS")
    if inside or kind is None:
        raise AcpcError("a game begins with GAMEDEF and limit or nolimit, and ends with END GAMEDEF")
    return _setup(kind, fields)


def _setup(kind: str, fields: dict[str, list[int]]) -> HandSetup:
    players = _one(fields, "numplayers")
    rounds = _one(fields, "numrounds")
    if not 2 <= players <= 10 or not 1 <= rounds <= 4:
        raise AcpcError(f"{players} players and {rounds} rounds; allowed: 2 to 10 players, 1 to 4 rounds")
    for name, wanted in (
        ("numsuits", [4]),
        ("numranks", [13]),
        ("numholecards", [2]),
        ("numboardcards", [0, 3, 1, 1][:rounds]),
    ):
        if fields.get(name, wanted) != wanted:
            raise AcpcError(f"{name} = {fields[name]}: hold'em has {wanted}")
    blinds = fields.get("blind", [])
    if len(blinds) != players:
        raise AcpcError(f"blind = {blinds}: {players} numbers are needed")
    holder, payer = (0, 1) if players == 2 else (1, 0)
    if any(blind for player, blind in enumerate(blinds) if player not in (holder, payer)):
        raise AcpcError(f"blind = {blinds}: only the first two players post blinds")
    first = fields.get("firstplayer", [1] * rounds)
    usual = [2 if players == 2 else 3, *([1] * (rounds - 1))]
    if first != usual:
        raise AcpcError(f"firstPlayer = {first}: hold'em has {usual}")
    limit: dict[str, Any] = {}
    caps = fields.get("maxraises")
    if kind == "limit":
        sizes = fields.get("raisesize", [])
        if len(sizes) != rounds:
            raise AcpcError(f"raiseSize = {sizes}: one for each of {rounds} rounds")
        limit["fixed_bets"] = tuple(sizes)
    if caps is not None:
        if len(caps) != rounds:
            raise AcpcError(f"maxRaises = {caps}: one for each of {rounds} rounds")
        limit["max_raises"] = tuple(None if cap > 1000 else cap for cap in caps)
    rules = BettingRules(
        num_players=players, small_blind=blinds[payer], big_blind=blinds[holder], num_streets=rounds, **limit
    )
    stacks = fields.get("stack", [_ENDLESS] * players)
    if len(stacks) != players:
        raise AcpcError(f"stack = {stacks}: {players} numbers are needed")
    most = 1_000_000
    return HandSetup(rules=rules, stacks=tuple(min(stack, most) if kind == "limit" else stack for stack in stacks))


def format_game(setup: HandSetup) -> str:
    """Returns the game definition of a setup for the ACPC dealer.

    Raises:
        AcpcError: antes, straddles and hands that begin later have no place in such a file.
    """
    rules = setup.rules
    if setup.first_street or rules.ante or rules.big_blind_ante or rules.straddles:
        raise AcpcError("antes, straddles and hands that begin after the blinds have no game definition")
    players, rounds = setup.num_players, rules.num_streets
    blinds = [0] * players
    blinds[rules.small_blind_player], blinds[rules.big_blind_player] = rules.small_blind, rules.big_blind
    lines = [
        "GAMEDEF",
        "nolimit" if rules.fixed_bets is None else "limit",
        f"numPlayers = {players}",
        f"numRounds = {rounds}",
    ]
    if rules.fixed_bets is None:
        lines.append(f"stack = {_words(setup.stacks)}")
    lines.append(f"blind = {_words(blinds)}")
    if rules.fixed_bets is not None:
        lines.append(f"raiseSize = {_words(rules.fixed_bets)}")
    lines.append(f"firstPlayer = {_words([2 if players == 2 else 3, *([1] * (rounds - 1))])}")
    if rules.max_raises is not None:
        lines.append(f"maxRaises = {_words([255 if cap is None else cap for cap in rules.max_raises])}")
    lines += ["numSuits = 4", "numRanks = 13", "numHoleCards = 2", f"numBoardCards = {_words([0, 3, 1, 1][:rounds])}"]
    return "\n".join([*lines, "END GAMEDEF", ""])


def _one(fields: dict[str, list[int]], name: str) -> int:
    values = fields.get(name, [])
    if len(values) != 1:
        raise AcpcError(f"{name} needs one number, not {values}")
    return values[0]


def _words(numbers: Any) -> str:
    return " ".join(str(number) for number in numbers)
