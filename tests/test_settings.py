"""Settings: declared once, then parsed, checked and described."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import inf
from typing import Any

import pytest

from aleator.errors import AleatorError, SolveError
from aleator.settings import (
    ATTACHED,
    PLACED,
    SLASH,
    WORD,
    Setting,
    Words,
    check_settings,
    parse_settings,
    setting,
    settings_of,
    usage,
)
from aleator.solvers.sampling_rule import SCHEMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Oven:
    """Something with a setting of each form."""

    power: float = setting(2.0, form=PLACED, least=0.0, most=9.0, infinite=True, help="how hot")
    minutes: int = setting(30, form=PLACED, least=1, most=600, unit="minutes", help="how long")
    mode: str = setting("air", form=WORD, choices=("air", "grill"), metavar="MODE")
    height: int = setting(1, name="grill", form=ATTACHED, least=1, most=4)
    light: bool = setting(False, form=WORD, choices={"light": True})
    share: float = setting(0.5, name="fan", least=0.0, most=1.0, open_ends=True)
    cooled: bool = setting(True, name="end", form=SLASH, choices={"hot": False, "cool": True})
    brand: str = "none"

    def __post_init__(self) -> None:
        check_settings(self, SolveError)


def parsed(text: str) -> Oven:
    return Oven(**parse_settings("oven", text, settings_of(Oven()), error=SolveError))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Oven()),
        ("3,45", Oven(power=3.0, minutes=45)),
        ("minutes=1e2", Oven(minutes=100)),
        ("inf,1,light", Oven(power=inf, minutes=1, light=True)),
        ("air, fan=.25", Oven(share=0.25)),
        ("grill", Oven(mode="grill")),
        ("grill3,fan=0.1/hot", Oven(mode="grill", height=3, share=0.1, cooled=False)),
        ("/cool", Oven()),
    ],
)
def test_texts_become_configurations(text: str, expected: Oven) -> None:
    assert parsed(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "'oven:3': expected 2 values, power, minutes; not 1"),
        ("3,4,5", "expected 2 values, power, minutes; not 3"),
        ("minutes=0", "minutes must be a whole number from 1 to 600, not '0'"),
        ("power=10", "power must be a number from 0 to 9 or inf, not '10'"),
        ("fan=1", "fan must be a number above 0 and below 1, not '1'"),
        ("grill5", "K of grillK must be a whole number from 1 to 4, not '5'"),
        ("fann=1", "'oven:fann=1': unknown 'fann=1'; did you mean 'fan'? allowed: POWER, MINUTES, air, grill, "),
        ("/warm", "unknown end 'warm'; allowed: hot, cool"),
        ("light=1", "unknown 'light=1'"),
    ],
)  # fmt: skip
def test_what_is_not_allowed_is_refused(text: str, message: str) -> None:
    with pytest.raises(SolveError) as caught:
        parsed(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "values", [{"minutes": 0}, {"power": float("nan")}, {"share": 1.0}, {"mode": "steam"}, {"light": "on"}]
)
def test_fields_are_checked_by_their_settings(values: dict[str, Any]) -> None:
    with pytest.raises(SolveError, match=next(iter({"share": "fan"}.get(name, name) for name in values))):
        Oven(**values)


def test_nothing_to_set_and_something_that_must_be() -> None:
    with pytest.raises(AleatorError, match="stove takes no settings, not 'hot'"):
        parse_settings("stove", "hot", ())
    assert parse_settings("stove", "", ()) == {}
    file = Setting(name="file", form=PLACED, required=True)
    assert usage("stove", (file,)) == "stove:FILE" and usage("stove", (file, *settings_of(Oven(), "share"))) == (
        "stove:FILE[,fan=X]"
    )
    assert parse_settings("stove", "a,b=c", (file,)) == {"file": "a,b=c"}, "the only one takes all"
    with pytest.raises(AleatorError, match="stove is written stove:FILE, not 'stove'"):
        parse_settings("stove", "", (file,))
    with pytest.raises(AleatorError, match="stove is written stove:FILE"):
        parse_settings("stove", "fan=0.5", (file, *settings_of(Oven(), "share")))


def test_words_of_another_module_are_imported_when_they_are_looked_at() -> None:
    words = Words("aleator.solvers.sampling_rule", "SCHEMES")
    assert list(words) == list(SCHEMES) and words["outcome"] == "outcome" and len(words) == len(SCHEMES)
    assert "luck" not in words


def test_settings_describe_themselves_with_the_defaults_of_a_configuration() -> None:
    hot = settings_of(Oven(power=inf, cooled=False, light=True))
    assert usage("oven", hot) == "oven[:POWER,MINUTES][,MODE][,grillK][,light][,fan=X][/hot|cool]"
    described = {one["name"]: one for one in (setting.describe() for setting in hot)}
    json.dumps(list(described.values()), allow_nan=False)
    assert described["power"] | {"help": ""} == {
        "name": "power", "form": "placed", "kind": "float", "default": "inf", "least": 0.0, "most": 9.0,
        "open_ends": False, "infinite": True, "choices": [], "unit": "", "usage": "POWER", "help": "",
    }  # fmt: skip
    assert (described["end"]["default"], described["light"]["default"], described["fan"]["default"]) == (
        "hot",
        True,
        0.5,
    )
    assert [one.key for one in settings_of(Oven(), "share", "mode")] == ["share", "mode"]
    assert hot[1].allowed == "a whole number from 1 to 600" and hot[2].allowed == "air, grill"
