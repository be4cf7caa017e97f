"""Small abstractions for tests, with made-up buckets that need no build: flop hold'em, and hunl."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aleator.abstraction.blueprint.file import Blueprint
from aleator.abstraction.blueprint.policy import BlueprintPolicy
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.boards import all_boards
from aleator.abstraction.buckets import BucketConfig, Buckets
from aleator.abstraction.features import STEPS
from aleator.abstraction.translation import pseudo_harmonic
from aleator.agents.whole_hands.blueprint import BlueprintAgent, BlueprintTree
from aleator.agents.whole_hands.pot_odds import PotOddsAgent
from aleator.games.holdem.cards import HANDS, blocked_hands
from aleator.games.holdem.equity import hand_strengths

GAME = "flop-holdem"


def small_buckets(count: int = 10, *, perfect_recall: bool = False) -> Buckets:
    """Returns buckets by the strength on the flop, equally wide."""
    config = BucketConfig(game=GAME, buckets=(count,), features=("equity",), perfect_recall=perfect_recall)
    table = np.zeros((1755, 1326), np.uint8)
    for row, board in enumerate(all_boards(1)):
        strengths = np.where(blocked_hands(board), 0.0, hand_strengths(board))
        table[row] = np.minimum(strengths * count, count - 1)
    middle = (np.arange(count) + 0.5) / count
    report, centres = {"fingerprint": f"small {count}", "seconds": 0}, np.floor(STEPS["equity"] * middle)[:, None]
    return Buckets(config, [table], [middle], np.zeros(1755, np.int16), report, [centres.astype(np.float32)])


def whole_buckets() -> Buckets:
    """Returns eight buckets on each street of hunl: four levels of hands, with and without a pair on the board."""
    config = BucketConfig(buckets=(8, 8, 8), features=("equity",) * 3)
    level = (np.argsort(np.argsort(hand_strengths(np.zeros(0, np.int8)))) * 4 // 1326).astype(np.uint8)
    tables = []
    for street in (1, 2, 3):
        ranks = all_boards(street) // 4
        seen = np.zeros((len(ranks), 13), np.uint8)
        np.put_along_axis(seen, ranks.astype(np.int64), 1, axis=1)
        paired = seen[:, HANDS[:, 0] // 4] | seen[:, HANDS[:, 1] // 4]
        tables.append(np.ascontiguousarray(level + 4 * paired))  # as files have them: kernels are compiled for those
    middle = (np.arange(8) + 0.5) / 8
    return Buckets(config, tables, [middle] * 3, np.zeros(1755, np.int16), {"fingerprint": "whole 8", "seconds": 0})


WHOLE_MENU = ("100%; all-in", "100%; all-in", "100%; all-in", "100%; all-in")


def whole_blueprint(folder: Path, *, deals: int) -> BlueprintAgent:
    """Returns an agent that plays a small blueprint of hunl, trained here and now."""
    buckets = whole_buckets()
    config = BlueprintConfig.of("hunl", menu=WHOLE_MENU, period=10_000)
    trainer = BlueprintTrainer(config, buckets, folder / "whole.bin")
    trainer.run(deals=deals)
    trainer.save(folder / "whole.blueprint")
    tree = BlueprintTree(BlueprintPolicy(Blueprint(folder / "whole.blueprint"), buckets))
    return BlueprintAgent("blueprint:whole", tree, PotOddsAgent(), pseudo_harmonic)
