"""Reading what a user has written: hand ranges and spots, as text and as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import ValidationError

from aleator.apps.web.models import SpotModel
from aleator.apps.web.worker.channel import Channel
from aleator.games.holdem.cards import HAND_CLASS_NAMES, HAND_CLASSES, NUM_HAND_CLASSES, format_hand
from aleator.games.holdem.hand_range import format_hand_range, parse_hand_range
from aleator.games.holdem.spot import SpotError
from aleator.games.holdem.spot_file import format_spot, parse_spot, spot_from_table, spot_table


def read_range(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the hand range `text`: its canonical text, the number of hands, the mean weight of each class.

    Classes whose hands weigh differently are under `mixed`, hand by hand.
    """
    if not params["text"].strip():
        return {"canonical": "", "num_hands": 0.0, "weights": [0.0] * NUM_HAND_CLASSES, "mixed": {}}
    weights = parse_hand_range(params["text"])
    sizes = np.bincount(HAND_CLASSES, minlength=NUM_HAND_CLASSES)
    classes = np.bincount(HAND_CLASSES, weights=weights, minlength=NUM_HAND_CLASSES) / sizes
    canonical = format_hand_range(weights, digits=3) if weights.any() else ""
    mixed = {
        HAND_CLASS_NAMES[number]: {format_hand(int(hand)): float(weights[hand].round(4)) for hand in hands}
        for number in np.unique(HAND_CLASSES[np.abs(weights - classes[HAND_CLASSES]) > 1e-6])
        for hands in [np.flatnonzero(number == HAND_CLASSES)]
    }
    return {"canonical": canonical, "num_hands": weights.sum(), "weights": classes.round(4), "mixed": mixed}


def parse(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the spot of the spot file `toml` as the pages edit it.

    Raises:
        SpotError: the text is not a spot, or one beyond the limits of the web app.
    """
    table = spot_table(parse_spot(params["toml"]))
    try:
        return SpotModel.model_validate(table).model_dump(by_alias=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part)[:40] for part in first["loc"])
        raise SpotError(f"{key} is beyond the limits of the web app: {first['msg']}") from None


def format(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the spot file of the table `spot`."""
    return {"toml": format_spot(spot_from_table(params["spot"]))}


def check(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns nothing if the table `spot` is a spot; refuses it otherwise."""
    spot_from_table(params["spot"])
    return {}
