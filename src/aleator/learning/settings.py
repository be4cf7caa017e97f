"""Settings of training runs: frozen dataclasses whose fields all have defaults, from JSON and from NAME=VALUE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

from aleator.errors import SolveError, check_known, shown
from aleator.parsing import parse_real, parse_whole
from aleator.storage import is_a

Config = TypeVar("Config")
_KIND_NAMES = {
    str: "a name",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    tuple: "a list of numbers",
}


def kinds(config: type[Any]) -> dict[str, type]:
    """Returns the type of each field."""
    return {field.name: type(field.default) for field in fields(config)}


def from_dict(config: type[Config], values: Any) -> Config:
    """Returns the settings that `dataclasses.asdict` gave.

    Raises:
        SolveError: a field is unknown or has an impossible value.
    """
    if not isinstance(values, dict):
        raise SolveError(f"training settings are fields by name, not {shown(values)}")
    known = kinds(config)
    for name, value in values.items():
        if name not in known:
            raise SolveError(f"unknown training setting {shown(name)}; allowed: {', '.join(sorted(known))}")
        kind = known[name]
        fits = is_a(value, kind) or type(value) is kind  # what is too large or not finite is named below
        if kind is tuple:
            fits = isinstance(value, list | tuple) and all(is_a(entry, float) for entry in value)
        if not fits:
            raise SolveError(f"{name} must be {_KIND_NAMES[kind]}, not {shown(value)}")
    return config(**{name: known[name](value) for name, value in values.items()})


def parse_setting(config: type[Any], text: str) -> tuple[str, Any]:
    """Returns name and value of a setting that was typed as NAME=VALUE; lists as `0.4,0.8`.

    Raises:
        SolveError: there is no such field, or the value is not of its kind.
    """
    name, equals, value = text.partition("=")
    known = kinds(config)
    if not equals or not name:
        raise SolveError(f"a setting is NAME=VALUE, not {shown(text)}; names: {', '.join(sorted(known))}")
    check_known(name, sorted(known), "setting")
    kind = known[name]
    if kind is int:
        return name, parse_whole(value.replace(",", ""), name, error=SolveError)
    if kind is float:
        return name, parse_real(value, name, error=SolveError)
    if kind is tuple:
        return name, tuple(parse_real(part, name, error=SolveError) for part in value.split(",") if part)
    if kind is bool:
        if value.lower() not in ("true", "false"):
            raise SolveError(f"{name} must be {_KIND_NAMES[kind]}, not {shown(value)}")
        return name, value.lower() == "true"
    return name, value


def from_preset(config: type[Config], presets: Mapping[str, dict[str, Any]], name: str, **changes: Any) -> Config:
    """Returns a named setting with some fields changed.

    Raises:
        SolveError: no such setting; the message lists them.
    """
    check_known(name, presets, "preset")
    defaults: Any = config()
    return from_dict(config, {**asdict(defaults), **presets[name], **changes})


def check_at_least(config: Any, least: int, *names: str) -> None:
    """Raises SolveError if a whole number among the fields is below `least`, or too large to be one."""
    for name in names:
        if not least <= (value := getattr(config, name)) < 2**63:
            below = " and less than 2^63" * (value >= 2**63 or least == 0)
            raise SolveError(f"{name} must be at least {least}{below}, not {shown(value)}")


def check_positive(config: Any, *names: str) -> None:
    """Raises SolveError if a number among the fields is not above 0, or not finite."""
    for name in names:
        if not 0.0 < (value := getattr(config, name)) < float("inf"):
            raise SolveError(f"{name} must be positive, not {value}")


def check_not_negative(config: Any, *names: str) -> None:
    """Raises SolveError if a number among the fields is below 0, or not finite."""
    for name in names:
        if not 0.0 <= (value := getattr(config, name)) < float("inf"):
            raise SolveError(f"{name} must be at least 0, not {value}")
