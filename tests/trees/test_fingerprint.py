"""Fingerprints: equal for equal games, other for every other game, up to rounding and names."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from aleator.games import load_game
from aleator.games.base import FloatArray
from aleator.games.one_card import OneCardPoker
from aleator.games.registry import known_games
from aleator.trees import build_tree
from aleator.trees.fingerprint import Fingerprint, fingerprint, parse_fingerprint

EXAMPLES = [example for known in known_games() for example in known.examples if example != "goofspiel:5"]


class Changed(OneCardPoker):
    """Kuhn poker with one payoff of one terminal changed, or all of them rounded otherwise."""

    def __init__(self, change: float, *, rounding: float = 0.0) -> None:
        super().__init__(3)
        self.change, self.rounding = change, rounding

    def utility(self, state: Any) -> FloatArray:
        """Returns what player 0 wins."""
        found = np.array(super().utility(state)) * (1.0 + self.rounding)
        if tuple(build_tree(OneCardPoker(3)).states).index(state) == 3:
            found[0, 1] += self.change
        return found


def test_games_differ_and_are_equal_to_themselves() -> None:
    prints = {name: fingerprint([build_tree(load_game(name))]) for name in EXAMPLES}
    for name, found in prints.items():
        assert found.fits(fingerprint([build_tree(load_game(name))]))
        assert [other for other in EXAMPLES if prints[other].fits(found)] == [name]


def test_equal_rules_under_other_names_are_equal() -> None:
    first, second = (fingerprint([build_tree(load_game(name))]) for name in ("kuhn", "one-card:3"))
    assert first.fits(second)


def test_one_payoff_is_enough_and_rounding_is_not() -> None:
    kuhn = fingerprint([build_tree(OneCardPoker(3))])
    for change in (1.0, -1.0, 1e-6):
        assert not kuhn.fits(fingerprint([build_tree(Changed(change))]))
    assert kuhn.fits(fingerprint([build_tree(Changed(0.0))]))
    assert kuhn.fits(fingerprint([build_tree(Changed(0.0, rounding=4e-16))]))


def test_it_is_the_same_in_every_version() -> None:
    """Files of before must be read: this is what stands in them."""
    found = fingerprint([build_tree(load_game("kuhn"))])
    assert found.fits(
        Fingerprint(
            "0e824d96458b5ed58d2330702d62d75e7f05d45cda91c2e5383a0f86190361b8",
            (2.208005355604897, 0.4980118764037767),
            38.09520084305185,
        )
    )


def test_it_is_read_back_and_anything_else_is_refused() -> None:
    found = fingerprint([build_tree(load_game("leduc"))])
    assert parse_fingerprint(json.loads(json.dumps(found.to_dict()))) == found
    for wrong in (None, {}, [], {**found.to_dict(), "scale": "x"}, {**found.to_dict(), "payoffs": [1.0]}):
        with pytest.raises(ValueError, match=r"expected an object|missing|scale is 'x'|not 2 numbers"):
            parse_fingerprint(wrong)


def test_several_trees_are_one_fingerprint_in_their_order() -> None:
    kuhn, leduc = (build_tree(load_game(name)) for name in ("kuhn", "leduc"))
    assert fingerprint([kuhn, leduc]).fits(fingerprint(iter([kuhn, leduc])))
    assert not fingerprint([kuhn, leduc]).fits(fingerprint([leduc, kuhn]))
