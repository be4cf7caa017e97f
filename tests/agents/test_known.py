"""Families of agents describe their settings, and read them."""

from __future__ import annotations

import json

import pytest

from aleator.agents.known import KnownFamily, switch, words_of
from aleator.agents.registry import known_agents
from aleator.agents.whole_hands import known_hand_agents
from aleator.errors import AgentError


@pytest.mark.parametrize("known", [*known_agents(), *known_hand_agents()], ids=lambda known: known.family)
def test_settings_describe_themselves(known: KnownFamily) -> None:
    described = json.loads(json.dumps(known.describe(), allow_nan=False))
    assert len({one.key for one in known.settings}) == len(described["settings"]), "each sets something of its own"
    assert all(one.help for one in known.settings)
    needed = ["x"] if any(one.required for one in known.settings) else []
    for one in known.settings:
        if one.form == "named" and one.kind is int:
            assert known.values(",".join([*needed, f"{one.name}=7"]))[one.key] == 7
            with pytest.raises(AgentError, match=f"{known.family}: {one.name} must be {one.allowed}, not '-1'"):
                known.values(",".join([*needed, f"{one.name}=-1"]))


def test_words_and_switches() -> None:
    gadget = words_of("gadget", "aleator.search.safe", "GADGETS", "what makes it safe")
    known = KnownFamily(family="tame", summary="", settings=(gadget, switch("wild", "is not", key="tame", value=False)))
    assert known.usage == "tame[:GADGET][,wild]"
    assert [one.default_text for one in known.settings] == ["", "off"]
    assert known.values("resolve, wild") == {"gadget": "resolve", "tame": False}
    with pytest.raises(AgentError, match="'tame:x': unknown 'x'; allowed: unsafe, resolve, maxmargin, wild"):
        known.values("x")
