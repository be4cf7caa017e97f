"""A small blueprint of three players for tests, trained here and now."""

from __future__ import annotations

from pathlib import Path

from aleator.abstraction.ring.policy import RingPolicy, open_ring_policy
from aleator.abstraction.ring.training import RingConfig, RingTrainer
from tests.abstraction.blueprint.small import WHOLE_MENU, whole_buckets


def three_players(folder: Path, *, deals: int = 3000) -> Path:
    """Returns the file of a blueprint of ring:3 with eight buckets on each street; its buckets lie beside it."""
    buckets = whole_buckets()
    buckets.save(folder / "whole.bin")
    trainer = RingTrainer(
        RingConfig(game="ring:3", menu=WHOLE_MENU, period=1000, linear_periods=2), buckets, folder / "whole.bin"
    )
    trainer.run(deals=deals)
    trainer.save(folder / "three.blueprint")
    return folder / "three.blueprint"


def three_players_policy(folder: Path) -> RingPolicy:
    """Returns the policy of `three_players`."""
    return open_ring_policy(three_players(folder))
