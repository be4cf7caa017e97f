"""Spot files: spots as TOML.

board = "3s 7h Td Ks"        # 3, 4 or 5 cards
pot = 2000                   # chips in the middle
stack = 19000                # chips behind, the same for both
oop = "random"               # hand range of the first to act
ip = "AA,AKs:0.5,77-22"
min_bet = 1                  # default 1
max_raises = 4               # bets and raises of a street together; default: no cap
all_in_threshold = 1.5       # these three: see `BetMenu`; default 0
force_all_in_threshold = 0.15
merge_threshold = 0.1
added = ["r:0:c:b333"]       # off-tree bets as node paths; default: none
[rake]                       # default: none
rate = 0.05
cap = 30                     # default: no cap
[turn.oop]                   # per street and player; a street without sizes is checked down
bet = ["50%", "all-in"]
raise = ["75%"]
donk = ["30%"]               # only oop; absent: as bet
[lock]                       # policies that are fixed: how often each action is taken, by all hands or by some
"r:0:c" = { c = 0.3, b50 = "rest" }
"r:0:c:c:b75" = { c = "AA,KK:0.5", f = "rest" }   # without its card: after every card
[solve]
rule = "sharp-dcfr+"         # the default
target = 0.003               # exploitability as a fraction of the pot
max_iterations = 2000
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from aleator.errors import did_you_mean, shown
from aleator.games.holdem.bet_menu import (
    IP,
    OOP,
    POSITION_NAMES,
    BetMenu,
    BetSize,
    BetSizeError,
    PlayerSizes,
    parse_sizes,
)
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.cards import CardError, format_cards, parse_cards
from aleator.games.holdem.lock import Lock, LockError
from aleator.games.holdem.node_path import NodePath, NodePathError, parse_path
from aleator.games.holdem.spot import Rake, SolveSettings, Spot, SpotError
from aleator.parsing import parse_toml

_STREETS: Final = STREET_NAMES[1:]
_MENU_KEYS: Final = ("max_raises", "all_in_threshold", "force_all_in_threshold", "merge_threshold")
_KEYS: Final = (
    "board",
    "pot",
    "stack",
    "oop",
    "ip",
    "min_bet",
    *_MENU_KEYS,
    "added",
    "rake",
    *_STREETS,
    "lock",
    "solve",
)
_SIZE_KEYS: Final = {"bet": "bets", "raise": "raises", "donk": "donks"}
_ABSENT: Final = object()


MAX_TEXT: Final = 400_000
"""Characters of a spot file: both ranges and twenty locks, each hand with a weight of its own, take less."""


def load_spot(path: str | Path) -> Spot:
    """Returns the spot of a TOML file.

    Raises:
        SpotError: the file cannot be read or is no spot; the message begins with its path.
    """
    try:
        return parse_spot(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SpotError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpotError(f"{path}: not a text file; a spot is a TOML file such as examples/river.toml") from None
    except ValueError as error:
        raise SpotError(f"{path}: {error}") from None


def parse_spot(text: str) -> Spot:
    """Returns the spot that a TOML text describes.

    Raises:
        SpotError: the text is not TOML, a key is unknown or missing, or a value is wrong.
    """
    if len(text) > MAX_TEXT:
        raise SpotError(f"a spot has at most {MAX_TEXT:,} characters, not {len(text):,}")
    return spot_from_table(parse_toml(text, "a spot", SpotError))


def spot_from_table(table: Mapping[str, Any]) -> Spot:
    """Returns the spot that a table describes, with the keys of the file; see `parse_spot`."""
    _check_keys(table, _KEYS, "")
    try:
        board = parse_cards(_get(table, "board", str))
    except CardError as error:
        raise SpotError(f"board: {error}") from None
    rake = _sub_table(table, "rake", ("rate", "cap"))
    solve = _sub_table(table, "solve", ("rule", "target", "max_iterations"))
    defaults = SolveSettings()
    return Spot(
        board=board,
        pot=_get(table, "pot", int),
        stack=_get(table, "stack", int),
        oop=_get(table, "oop", str),
        ip=_get(table, "ip", str),
        min_bet=_get(table, "min_bet", int, default=1),
        rake=Rake(
            rate=_get(rake, "rate", float, "rake.", default=0.0),
            cap=_get(rake, "cap", float, "rake.", default=math.inf),
        ),
        menu=_parse_menu(table),
        added=_parse_added(table),
        locks=_parse_locks(table),
        solve=SolveSettings(
            rule=_get(solve, "rule", str, "solve.", default=defaults.rule),
            target=_get(solve, "target", float, "solve.", default=defaults.target),
            max_iterations=_get(solve, "max_iterations", int, "solve.", default=defaults.max_iterations),
        ),
    )


def format_spot(spot: Spot) -> str:
    """Returns the TOML text of a spot, which parses back to an equal one; defaults are left out."""
    table = spot_table(spot)
    lines = _format_table("", {key: value for key, value in table.items() if not isinstance(value, dict)})
    for name, inner in table.items():
        if name in _STREETS:
            for position, sizes in inner.items():
                lines += _format_table(f"{name}.{position}", sizes)
        elif name == "lock":
            lines += ["", "[lock]", *map(_format_lock, spot.locks)]
        elif isinstance(inner, dict):
            lines += _format_table(name, inner)
    return "\n".join(lines) + "\n"


def spot_table(spot: Spot) -> dict[str, Any]:
    """Returns a spot as a table with the file's keys, which `spot_from_table` reads back; defaults are left out."""
    menu = spot.menu
    table: dict[str, Any] = {
        "board": format_cards(spot.board),
        "pot": spot.pot,
        "stack": spot.stack,
        "oop": spot.oop,
        "ip": spot.ip,
        "min_bet": spot.min_bet,
        **{key: getattr(menu, key) for key in _MENU_KEYS if getattr(menu, key)},
    }
    if spot.added:
        table["added"] = [str(path) for path in spot.added]
    if spot.rake != Rake():
        cap = {} if math.isinf(spot.rake.cap) else {"cap": spot.rake.cap}
        table["rake"] = {"rate": spot.rake.rate, **cap}
    for street in _STREETS:
        for position, sizes in zip(POSITION_NAMES, getattr(menu, street), strict=True):
            if sizes != PlayerSizes():
                table.setdefault(street, {})[position] = {
                    key: [str(size) for size in getattr(sizes, field)]
                    for key, field in _SIZE_KEYS.items()
                    if getattr(sizes, field) is not None
                }
    if spot.locks:
        table["lock"] = {str(lock.path): dict(lock.shares) for lock in spot.locks}
    solve = spot.solve
    table["solve"] = {"rule": solve.rule, "target": solve.target, "max_iterations": solve.max_iterations}
    return table


def _parse_menu(table: Mapping[str, Any]) -> BetMenu:
    streets: dict[str, tuple[PlayerSizes, PlayerSizes]] = {}
    for street in _STREETS:
        players = _sub_table(table, street, POSITION_NAMES)
        both = [
            _parse_sizes(_sub_table(players, position, tuple(_SIZE_KEYS), f"{street}."), f"{street}.{position}.")
            for position in POSITION_NAMES
        ]
        if both[IP].donks is not None:
            raise SpotError(f"{street}.ip.donk: only oop acts first on a street and can donk")
        streets[street] = (both[OOP], both[IP])
    try:
        return BetMenu(
            flop=streets["flop"],
            turn=streets["turn"],
            river=streets["river"],
            max_raises=_get(table, "max_raises", int, default=None),
            all_in_threshold=_get(table, "all_in_threshold", float, default=0.0),
            force_all_in_threshold=_get(table, "force_all_in_threshold", float, default=0.0),
            merge_threshold=_get(table, "merge_threshold", float, default=0.0),
        )
    except BetSizeError as error:
        raise SpotError(str(error)) from None


def _parse_sizes(table: Mapping[str, Any], prefix: str) -> PlayerSizes:
    sizes: dict[str, tuple[BetSize, ...]] = {}
    for key in table:
        try:
            sizes[_SIZE_KEYS[key]] = parse_sizes(_texts(table, key, prefix), is_raise=key == "raise")
        except BetSizeError as error:
            raise SpotError(f"{prefix}{key}: {error}") from None
    return PlayerSizes(**sizes)


def _parse_added(table: Mapping[str, Any]) -> tuple[NodePath, ...]:
    try:
        return tuple(NodePath(parse_path(text).actions) for text in _texts(table, "added", ""))
    except NodePathError as error:
        raise SpotError(f"added: {error}") from None


def _parse_locks(table: Mapping[str, Any]) -> tuple[Lock, ...]:
    locks = []
    for path, shares in _get(table, "lock", dict, default={}).items():
        if not isinstance(shares, dict):
            raise SpotError(
                f'lock.{path[:60]} must be a table such as {{ c = 0.3, b50 = "rest" }}, not {shown(shares)}'
            )
        for token, share in shares.items():
            if isinstance(share, bool) or not isinstance(share, int | float | str):
                raise SpotError(
                    f"lock.{path[:60]}.{token[:20]} must be a number, a hand range or 'rest', not {shown(share)}"
                )
        try:
            texts = tuple((token, share if isinstance(share, str) else repr(share)) for token, share in shares.items())
            locks.append(Lock(path=parse_path(path), shares=texts))
        except (LockError, NodePathError) as error:
            raise SpotError(str(error)) from None
    return tuple(locks)


def _format_lock(lock: Lock) -> str:
    shares = ", ".join(f"{json.dumps(token)} = {json.dumps(text, ensure_ascii=False)}" for token, text in lock.shares)
    return f"{json.dumps(str(lock.path))} = {{ {shares} }}"


def _texts(table: Mapping[str, Any], key: str, prefix: str) -> list[str]:
    values = _get(table, key, list, prefix, default=[])
    for value in values:
        if not isinstance(value, str):
            raise SpotError(f'{prefix}{key} must be a list of texts such as ["50%"], not one with {shown(value)}')
    return list(values)


def _check_keys(table: Mapping[str, Any], allowed: Iterable[str], prefix: str) -> None:
    for key in table:
        if key not in allowed:
            hint = did_you_mean(key, allowed)
            raise SpotError(f"unknown key {shown(prefix + key)}: {hint}allowed are {', '.join(allowed)}")


def _sub_table(table: Mapping[str, Any], key: str, allowed: Iterable[str], prefix: str = "") -> Mapping[str, Any]:
    inner: Mapping[str, Any] = _get(table, key, dict, prefix, default={})
    _check_keys(inner, allowed, f"{prefix}{key}.")
    return inner


def _get(table: Mapping[str, Any], key: str, kind: type, prefix: str = "", *, default: Any = _ABSENT) -> Any:
    """Returns a value of the right kind; a whole number also serves as a float."""
    if key not in table:
        if default is _ABSENT:
            raise SpotError(f"missing key {prefix + key!r}")
        return default
    value = table[key]
    is_right = isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool)
    if not is_right:
        words = {str: "a text", int: "a whole number", float: "a number", list: "a list", dict: "a table"}
        raise SpotError(f"{prefix}{key} must be {words[kind]}, not {shown(value)}")
    return value


def _format_table(name: str, values: Mapping[str, Any]) -> list[str]:
    lines = ["", f"[{name}]"] if name else []
    return lines + [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
