"""The self-improver: gaps are found and scored, menus filled, and what was trained is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.blueprint.betting import build_betting
from aleator.abstraction.blueprint.improving import Gap, filled, find_gaps, transplanted
from aleator.abstraction.blueprint.training import BlueprintConfig, BlueprintTrainer
from aleator.abstraction.buckets import AbstractionError, BucketConfig
from aleator.games.holdem.betting import CALL, FOLD, Action, raise_to
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.variants import load_hand_game

BUCKETS = BucketConfig(buckets=(8, 8, 8), features=("equity",) * 3)
MENU = ("100%; all-in", "100%; all-in", "100%; all-in", "100%; all-in")
SETUP = load_hand_game("hunl").setup


def hand(*actions: Action, board: tuple[int, ...] = ()) -> HandRecord:
    return HandRecord(setup=SETUP, hands=(None, None), board=board, actions=actions)


def test_gaps_are_scored_by_how_far_bets_are_from_the_menu() -> None:
    betting = build_betting("hunl", MENU, BUCKETS)
    flop = (0, 5, 10)
    hands = [
        hand(raise_to(300), FOLD),  # 100 % of the pot after a call: in the menu
        *[hand(raise_to(200), FOLD)] * 3,  # 50 %
        hand(raise_to(250), FOLD),  # 75 %
        hand(raise_to(300), CALL, CALL, raise_to(1_800), FOLD, board=flop),  # 300 %, up to 1,970 % all-in
        hand(raise_to(300), raise_to(20_000), FOLD),  # all-in is in the menu
    ]
    gaps = find_gaps(betting.root, betting.stack, hands)
    assert [(gap.street, gap.level, gap.bets) for gap in gaps] == [(1, 0, 1), (0, 0, 4)]
    assert gaps[0].score == pytest.approx(2.0) and gaps[1].score == pytest.approx(3 * 0.5 + 0.25)
    assert (gaps[1].below, gaps[1].above, gaps[1].middle) == (0.0, 1.0, 33)
    assert (gaps[0].below, gaps[0].above) == (1.0, pytest.approx(19_700 / 600, abs=0.01))


def test_menus_get_the_middle_of_a_gap() -> None:
    config = BlueprintConfig(menu=("75% 150%; 100% all-in", "100%", "100%", "100%"))
    more = filled(config, [Gap(0, 0, 0.75, 1.5), Gap(0, 5, 1.0, 3.0), Gap(1, 0, 0.0, 1.0)])
    assert more.menu == ("75% 106% 150%; 100% 167% all-in", "33% 100%", "100%", "100%")
    assert filled(more, [Gap(0, 0, 0.75, 1.5)]) == more
    with pytest.raises(AbstractionError, match="hulh is limit"):
        filled(BlueprintConfig.of("hulh"), [])


def test_what_was_trained_is_kept_and_new_lines_begin_with_the_most_similar_one() -> None:
    old = build_betting("hunl", MENU, BUCKETS)
    new = build_betting("hunl", ("50% 100%; all-in", *MENU[1:]), BUCKETS)
    table = np.random.default_rng(0).uniform(1.0, 2.0, old.size).astype(np.float32)
    made = transplanted(old, table, new, BUCKETS)
    np.testing.assert_array_equal(transplanted(old, table, old, BUCKETS), table)
    assert old.root.actions == (FOLD, CALL, raise_to(300)) and new.root.actions[2] == raise_to(200)
    before, after = table[: 169 * 2 * 3].reshape(169, 2, 3), made[: 169 * 2 * 4].reshape(169, 2, 4)
    np.testing.assert_array_equal(after[:, :, [0, 1, 3]], before)
    np.testing.assert_array_equal(after[:, 0, 2], before[:, 0, 2])  # the raise that was there
    assert not after[:, 1, 2].any()  # was never played
    row = {line: int(betting.arrays.row[betting.decision_of[node.number]]) for line, betting, node in (
        ("old", old, old.root.children[2]), ("same", new, new.root.children[3]), ("like", new, new.root.children[2]),
    )}  # fmt: skip
    size = 169 * 2 * 3  # fold, call, all-in
    theirs, same, like = (
        values[row[line] : row[line] + size].reshape(169, 2, 3)
        for line, values in (("old", table), ("same", made), ("like", made))
    )
    np.testing.assert_array_equal(same, theirs)
    np.testing.assert_allclose(like[:, 0], theirs[:, 0] * np.float32(300 / 400), rtol=1e-6)  # pots of 300 and 400
    np.testing.assert_allclose(like[:, 1], theirs[:, 1] * np.float32(0.1), rtol=1e-6)
    assert (made > 0.0).mean() > 0.9


@pytest.mark.slow
def test_the_command_improves_a_blueprint_in_its_file(tmp_path: Path) -> None:
    from aleator.abstraction.blueprint.file import Blueprint
    from aleator.apps.cli.train_blueprint import improved
    from aleator.arena.whole_hands.files import write_hands
    from aleator.errors import SolveError
    from tests.abstraction.blueprint.small import WHOLE_MENU, whole_buckets

    buckets, path = whole_buckets(), tmp_path / "whole.blueprint"
    buckets.save(tmp_path / "whole.bin")
    trainer = BlueprintTrainer(
        BlueprintConfig.of("hunl", menu=WHOLE_MENU, period=5_000), buckets, tmp_path / "whole.bin"
    )
    trainer.run(deals=5_000)
    trainer.save(path)
    write_hands(tmp_path / "hands.jsonl", [hand(raise_to(200), FOLD), hand(raise_to(300), FOLD)])
    better = improved(path, tmp_path / "whole.bin", tmp_path / "hands.jsonl", 3, quiet=True)
    assert better.config.menu == ("33% 100%; all-in", *WHOLE_MENU[1:])
    assert better.progress == trainer.progress
    better.run(deals=6_000)
    better.save(path)
    assert Blueprint(path).progress.deals == 6_000
    write_hands(tmp_path / "none.jsonl", [hand(raise_to(300), FOLD)])
    with pytest.raises(SolveError, match="no bet of its 1 hands falls into a gap"):
        improved(path, tmp_path / "whole.bin", tmp_path / "none.jsonl", 3, quiet=True)
    with pytest.raises(SolveError, match="does not exist"):
        improved(tmp_path / "no.blueprint", tmp_path / "whole.bin", tmp_path / "hands.jsonl", 3, quiet=True)
