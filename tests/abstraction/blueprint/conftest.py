"""A small abstraction of flop hold'em and the betting above it, made once for each file of tests."""

from __future__ import annotations

import pytest

from aleator.abstraction.blueprint.betting import Betting, build_betting
from aleator.abstraction.buckets import Buckets
from tests.abstraction.blueprint.small import GAME, small_buckets


@pytest.fixture(scope="module")
def buckets() -> Buckets:
    return small_buckets()


@pytest.fixture(scope="module")
def betting(buckets: Buckets) -> Betting:
    return build_betting(GAME, None, buckets.config)
