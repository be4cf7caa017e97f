"""The tables of docs/algorithms.md, made from the registry; `python -m tests.docs.algorithm_tables` writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from pathlib import Path

from aleator.settings import SLASH, Setting
from aleator.solvers.algorithms import ALGORITHMS, Algorithm
from aleator.solvers.regret_rule import HEDGE, SHARP_MATCHING, RegretRule

PAGE = Path(__file__).parents[2] / "docs" / "algorithms.md"
BLOCK = re.compile(r"<!-- algorithms: ([^\n]*) -->\n.*?<!-- /algorithms -->", flags=re.S)


def tables(title: str) -> str:
    """Returns the algorithms of a family as a table, and their settings as another one."""
    family = [known for known in ALGORITHMS.values() if known.family.title == title]
    rules = [known.rule for known in family]
    head, rows = ["name", "algorithm", "reference"], [row for known in family for row in _rows(known)]
    if all(isinstance(rule, RegretRule) for rule in rules):
        head.append("as a rule")
    else:
        rows = [row[:3] for row in rows]
    found = _table(head, rows)
    settings: dict[str, list[tuple[str, Setting]]] = {}
    for known in family:
        for one in known.settings:
            settings.setdefault(one.name, []).append((known.name, one))
    if settings:
        ordered = sorted(settings.values(), key=lambda uses: uses[0][1].form == SLASH)
        head = ["setting", "default", "allowed", "what it does"]
        found += "\n\n" + _table(head, [_setting(uses) for uses in ordered])
    return found


def page() -> str:
    """Returns the page as it should be."""
    return BLOCK.sub(
        lambda block: f"<!-- algorithms: {block[1]} -->\n{tables(block[1])}\n<!-- /algorithms -->", PAGE.read_text()
    )


def _rows(known: Algorithm) -> list[tuple[str, ...]]:
    rule = _rule(known.rule) if isinstance(known.rule, RegretRule) else ""
    variants = [(f"`{known.name}:{text}`", summary, reference, "") for text, summary, reference in known.variants]
    return [(f"`{known.name}`", known.summary, known.reference, rule), *variants]


def _rule(rule: RegretRule) -> str:
    sharp, hedge = "policy ∝ R^1.5", "policy ∝ exp(η R), η = √(ln A / (9 · variance · t))"
    parts = [{SHARP_MATCHING: sharp, HEDGE: hedge}.get(rule.minimiser, "")]
    parts += [_exponent("α", rule.alpha, rule.alpha_slope)] * (rule.alpha != inf)
    parts += [_exponent("β", rule.beta, rule.beta_slope)] * (rule.beta != inf)
    parts += ["floor"] * rule.floor + ["optimistic"] * rule.optimistic
    parts += [_exponent("γ", rule.gamma, rule.gamma_slope) if rule.gamma else "plain average"]
    parts += [f"s = min(t / {rule.horizon}, 1)"] * any((rule.alpha_slope, rule.beta_slope, rule.gamma_slope))
    return ", ".join(filter(None, parts)).replace("-", "−")


def _exponent(name: str, value: float, slope: float) -> str:
    return f"{name} = {value:g}" + (f" {'+' if slope > 0 else '-'} {abs(slope):g} s" if slope else "")


def _setting(uses: list[tuple[str, Setting]]) -> tuple[str, ...]:
    """Returns the row of a setting that some algorithms share; the first one's default, and others that differ."""
    one, default = uses[0][1], uses[0][1].default_text
    others = [f"`{name}`: {other.default_text}" for name, other in uses if other.default_text != default]
    allowed = "" if len(one.choices) == 1 else one.allowed
    help_text = one.help + (f" ({one.unit})" if one.unit else "")
    return f"`{one.usage}`".replace("|", "\\|"), "; ".join([default, *others]), allowed, help_text


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("| --- ", "|---").replace("|--- |", "|---|") for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page())
