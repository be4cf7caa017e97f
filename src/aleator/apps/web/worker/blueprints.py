"""Blueprints that the server was given: what game each is of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.ring.file import RingBlueprint, is_ring_blueprint
from aleator.apps.web.worker.channel import Channel
from aleator.caching import lru_cache
from aleator.games.holdem.variants import HoldemVariant, load_recorded_hand_game
from aleator.storage import StorageError


@lru_cache(maxsize=16)
def blueprint_game(file: str) -> HoldemVariant:
    """Returns the game of a blueprint.

    Raises:
        StorageError: its file is not there, or no blueprint.
    """
    kind = RingBlueprint if is_ring_blueprint(file) else Blueprint
    return load_recorded_hand_game(json.loads(kind(Path(file)).config_text)["game"])


def with_charts(params: dict[str, Any], channel: Channel) -> list[dict[str, Any]]:
    """Returns which of `blueprints` have charts before the flop, without where their files are."""
    found = []
    for number, file in enumerate(params["blueprints"], start=1):
        try:
            game = blueprint_game(file)
        except StorageError:  # it is gone; who wants to play it is told
            continue
        if game.first_street == 0 and game.rules.fixed_bets is None:
            players, blinds = game.rules.num_players, game.stack / game.rules.big_blind
            found.append({"number": number, "title": Path(file).stem, "players": players, "stack": blinds})
    return found
