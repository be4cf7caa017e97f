"""Settings: what can be typed behind the name of an algorithm or an agent, as in `mccfr:robust3,batch=1000`.

A setting is declared once, with its default, where the configuration is: as a field of a frozen dataclass.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Rule:
        batch: int = setting(1, least=1, most=10**6, unit="traversals", help="how many a player makes in an iteration")

The parser, the check of the fields (`check_settings`), usage lines, tables and the fields of forms come from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from math import inf, isfinite
from typing import Any

from aleator.errors import AleatorError, did_you_mean, shown
from aleator.parsing import MAX_WHOLE, parse_real, parse_whole, real_limits, whole_limits

# how a setting is typed: `name=value`; a word; a value alone, in its place; a number behind a word; after a slash
NAMED, WORD, PLACED, ATTACHED, SLASH = "named", "word", "placed", "attached", "slash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting of an algorithm or an agent.

    Attributes:
        name: as it is typed.
        key: the field of the configuration; by default the name.
        form: how it is typed: "named", "word", "placed", "attached" or "slash"; what is placed can be named, too.
        kind: `int`, `float` or `str`; words are of the kind of their values.
        default: taken if it is not typed.
        least, most: the numbers allowed; with `open_ends` these two are not.
        infinite: `inf` and `-inf` are allowed, too.
        choices: the words allowed, with the value that each means; empty if any text or number is.
        metavar: what stands for the value in a usage line.
        unit: of a number.
        help: what it does, in a line.
        read: turns a text into the value.
        required: it must be given.
    """

    name: str
    key: str = ""
    form: str = NAMED
    kind: type = str
    default: Any = None
    least: float = -inf
    most: float = inf
    open_ends: bool = False
    infinite: bool = False
    choices: Mapping[str, Any] = field(default_factory=dict)
    metavar: str = ""
    unit: str = ""
    help: str = ""
    read: Callable[[str], Any] | None = None
    required: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.key or self.name.replace("-", "_"))

    def parse(self, text: str, error: type[AleatorError]) -> Any:
        """Returns the value of a text.

        Raises:
            AleatorError: (or `error`) it is not allowed; the message says what is.
        """
        what = f"K of {self.usage}" if self.form == ATTACHED else self.name
        if self.choices:
            if text not in self.choices:
                hint = did_you_mean(text, self.choices)
                raise error(f"unknown {self.name} {shown(text)}; {hint}allowed: {', '.join(self.choices)}")
            return self.choices[text]
        if self.read is not None:
            return self.read(text)
        if self.kind is int:
            least, most = self._whole_ends
            return parse_whole(text, what, least=least, most=most, error=error)
        if self.kind is float:
            return parse_real(
                text, what, least=self.least, most=self.most, open_ends=self.open_ends, infinite=self.infinite,
                error=error,
            )  # fmt: skip
        return text

    def check(self, value: Any, error: type[AleatorError]) -> None:
        """Raises an error unless a value is allowed: a number is, if its text is."""
        if self.choices:
            if value not in self.choices.values() and not (self.kind is bool and isinstance(value, bool)):
                raise error(f"unknown {self.name} {shown(value)}; allowed: {', '.join(self.choices)}")
        elif self.kind in (int, float):
            self.parse(str(value), error)

    @property
    def _whole_ends(self) -> tuple[int, int]:
        return int(max(self.least, 0)), int(min(self.most, MAX_WHOLE))

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        if self.choices or self.kind not in (int, float):
            return ", ".join(self.choices)
        if self.kind is int:
            return whole_limits(*self._whole_ends)
        return real_limits(self.least, self.most, open_ends=self.open_ends, infinite=self.infinite)

    @property
    def usage(self) -> str:
        """How it is typed."""
        value = self.metavar or "|".join(self.choices) or {int: "N", float: "X"}.get(self.kind, self.name.upper())
        forms = {WORD: value, PLACED: self.metavar or self.name.upper(), ATTACHED: f"{self.name}K", SLASH: f"/{value}"}
        return forms.get(self.form, f"{self.name}={value}")

    @property
    def default_text(self) -> str:
        """The default, as people read it."""
        value = self.describe()["default"]
        if value is None:
            return ""
        if isinstance(value, bool):
            return "on" if value else "off"
        return f"{value:,g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

    def describe(self) -> dict[str, Any]:
        """Returns everything but the reader as a JSON value; no limit is null."""
        limits = {name: at if isfinite(at) else None for name, at in (("least", self.least), ("most", self.most))}
        default = self.default if isinstance(self.default, bool | int | str | None) else _number(self.default)
        if self.kind is bool and len(self.choices) == 1:
            default = [self.default] == list(self.choices.values())  # whether it is on
        elif default is not None and len(self.choices) > 1:
            default = next(word for word, value in self.choices.items() if value == default)
        return {
            "name": self.name, "form": self.form, "kind": self.kind.__name__, "default": default, **limits,
            "open_ends": self.open_ends, "infinite": self.infinite, "choices": list(self.choices), "unit": self.unit,
            "usage": self.usage, "help": self.help,
        }  # fmt: skip


def _number(value: Any) -> float | str:
    return value if isinstance(value, float) and isfinite(value) else str(value)


class Words(Mapping[str, Any]):
    """Choices that another module has by name: they are imported when they are looked at."""

    def __init__(self, module: str, name: str) -> None:
        self._place = module, name

    @cached_property
    def _words(self) -> Mapping[str, Any]:
        module, name = self._place
        return {word: word for word in getattr(import_module(module), name)}

    def __getitem__(self, word: str) -> Any:
        return self._words[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)


def setting(
    default: Any,
    *,
    name: str = "",
    kind: type | None = None,
    choices: Iterable[str] | Mapping[str, Any] = (),
    **more: Any,
) -> Any:
    """Returns the default of a dataclass's field that can be typed; `more` are other attributes of its `Setting`."""
    words = choices if isinstance(choices, Mapping) else {word: word for word in choices}
    made = Setting(name=name, kind=kind or type(default), choices=words, default=default, **more)
    return field(default=default, metadata={"setting": made})


def settings_of(config: Any, *names: str) -> tuple[Setting, ...]:
    """Returns the settings of a configuration, with its values as defaults: of the fields named, or of all."""
    by_name = {}
    for one in fields(config):
        made = one.metadata.get("setting")
        if made is not None and (not names or one.name in names):
            by_name[one.name] = replace(
                made, name=made.name or one.name, key=one.name, default=getattr(config, one.name)
            )
    return tuple(by_name[name] for name in names or by_name)


def check_settings(config: Any, error: type[AleatorError]) -> None:
    """Raises an error if a field of a configuration has a value that its setting does not allow; None is none."""
    for one in settings_of(config):
        if one.default is not None:
            one.check(one.default, error)


def usage(name: str, settings: Iterable[Setting]) -> str:
    """Returns how a name is written with its settings: `dcfr[:ALPHA,BETA,GAMMA][/simultaneous]`."""
    settings = list(settings)
    placed = ",".join(one.usage for one in settings if one.form == PLACED)
    parts = [placed] if placed else []
    parts += [one.usage for one in settings if one.form not in (PLACED, SLASH)]
    marks, required = [":", *"," * len(parts)], any(one.required for one in settings)
    slash = "".join(f"[{one.usage}]" for one in settings if one.form == SLASH)
    written = [f"[{mark}{part}]" for mark, part in zip(marks, parts, strict=False)]
    return "".join([name, *(part.strip("[]") for part in written[:required]), *written[required:], slash])


def parse_settings(
    name: str, text: str, settings: Iterable[Setting], *, error: type[AleatorError] = AleatorError
) -> dict[str, Any]:
    """Returns the values of a text such as `robust3,batch=1000`, by field.

    Args:
        name: whose settings they are.
        text: parts with commas between them.
        settings: what is allowed.
        error: raised for anything else.

    Raises:
        AleatorError: (or `error`) a part that is unknown or not allowed; the message says what is.
    """
    settings, chosen = list(settings), {}

    def value_of(one: Setting, typed: str) -> Any:
        try:
            return one.parse(typed, error)
        except error as problem:
            raise error(f"{name}: {problem}") from None

    if text and not settings:
        raise error(f"{name} takes no settings, not {shown(text)}")
    for one in settings:
        if one.form == SLASH:
            text, slash, word = text.partition("/")
            if slash and word:
                chosen[one.key] = value_of(one, word)
    words = {word: one for one in settings if one.form == WORD for word in one.choices}
    named = {one.name: one for one in settings if one.form in (NAMED, PLACED)}
    attached = {one.name: one for one in settings if one.form == ATTACHED}
    placed, values = [one for one in settings if one.form == PLACED], []
    only = placed == settings and len(placed) == 1  # it takes all
    for part in filter(None, (part.strip() for part in ([text] if only else text.split(",")))):
        key, equals, value = part.partition("=")
        stem = next((stem for stem in attached if part.startswith(stem) and part != stem and not equals), None)
        if equals and key in named:
            chosen[named[key].key] = value_of(named[key], value)
        elif part in words:
            chosen[words[part].key] = words[part].choices[part]
        elif stem is not None:
            chosen[attached[stem].key] = value_of(attached[stem], part.removeprefix(stem))
            chosen[words[stem].key] = words[stem].choices[stem]
        elif only or (placed and not equals):
            values.append(part)
        else:
            hint = did_you_mean(key, [*words, *named])
            allowed = ", ".join(one.allowed if one.form == WORD else one.usage for one in settings)
            raise error(f"{shown(f'{name}:{text}')}: unknown {shown(part)}; {hint}allowed: {allowed}")
    if len(placed) == 1 and values:
        values = [",".join(values)]
    if values and len(values) != len(placed):
        names = ", ".join(one.name for one in placed)
        raise error(f"{shown(f'{name}:{text}')}: expected {len(placed)} values, {names}; not {len(values)}")
    chosen |= {one.key: value_of(one, value) for one, value in zip(placed, values, strict=False)}
    if any(one.required and one.key not in chosen for one in settings):
        typed = f"{name}:{text}" if text else name
        raise error(f"{name} is written {usage(name, settings)}, not {shown(typed)}")
    return chosen
