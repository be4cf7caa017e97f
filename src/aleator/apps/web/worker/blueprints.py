"""Blueprints that the server was given: what game each is of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aleator.abstraction.blueprint.policy import open_blueprint
from aleator.abstraction.ring.file import is_ring_blueprint, open_ring_blueprint
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
    opened = open_ring_blueprint if is_ring_blueprint(file) else open_blueprint
    return load_recorded_hand_game(json.loads(opened(file).config_text)["game"])


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
