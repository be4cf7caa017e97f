"""JSON from files that may say anything: what comes back has the shape asked for, or there is one line of error."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Set
from typing import Any

from aleator.errors import shown

_MOST = 2**63  # no count or size is as large


def parse_json(text: bytes | str) -> Any:
    """Returns the value of a JSON text.

    Raises:
        ValueError: it is not JSON, is nested without end, or has NaN, infinite numbers or characters that cannot be
            printed; the message is one line.
    """
    try:
        text = text.decode() if isinstance(text, bytes) else text
        value = json.loads(text, parse_constant=_refuse)
        if "\\u" in text:  # escapes can make half characters
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeError:
        raise ValueError("it has characters that are not valid") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error.msg} at {error.pos:,}") from None


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not a number")


def check_object(value: Any, kinds: Mapping[str, type], *, optional: Set[str] = frozenset()) -> dict[str, Any]:
    """Returns a JSON value that is an object with the fields of `kinds`, each of its type.

    Whole numbers are taken for float, and must lie within 64 bits; float must be finite. Fields of type `object` may be
    anything.

    Args:
        value: from `parse_json`.
        kinds: the type of every field.
        optional: fields that may be null or missing.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, not {shown(value)}")
    for name in value:
        if name not in kinds:
            raise ValueError(f"there is no field {shown(name)}")
    for name, kind in kinds.items():
        if value.get(name) is None and name in optional:
            continue
        if name not in value:
            raise ValueError(f"{name} is missing")
        if not is_a(value[name], kind):
            raise ValueError(f"{name} is {shown(value[name])}, not {_KINDS[kind]}")
    return value


_KINDS: dict[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def is_a(value: Any, kind: type) -> bool:
    """Returns whether a JSON value is of a type; see `check_object`."""
    if kind is object:
        return True
    if kind in (int, float) and type(value) is int:
        return -_MOST <= value < _MOST
    if kind is float:
        return type(value) is float and math.isfinite(value)
    return type(value) is kind
