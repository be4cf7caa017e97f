"""A small abstraction of no-limit hold'em that ends with the turn, built once for these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from aleator.abstraction.buckets import BucketConfig, Buckets, open_buckets
from aleator.abstraction.build import build_buckets
from aleator.abstraction.packed.buckets import pack_buckets

CONFIG = BucketConfig(game="nolimit-turn", buckets=(12, 10), features=("potential", "ochs"), boards=60, hands=20)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the buckets."""
    file = tmp_path_factory.mktemp("built") / "turn.bin"
    build_buckets(CONFIG, file, threads=2)
    return file


@pytest.fixture(scope="session")
def whole(built: Path) -> Buckets:
    """All of them."""
    return open_buckets(built)


@pytest.fixture(scope="session")
def packed(built: Path, whole: Buckets) -> Path:
    """The file of the packed buckets."""
    file = built.with_name("turn.packed")
    pack_buckets(whole, file, deals=20_000)
    return file
