from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction import build as building
from aleator.abstraction.boards import all_boards, hand_map
from aleator.abstraction.buckets import AbstractionError, BucketConfig, Buckets, open_buckets
from aleator.abstraction.build import build_buckets, core_seconds, size_of
from aleator.games.holdem.cards import HAND_CLASSES, blocked_hands, parse_cards, parse_hand
from aleator.games.holdem.equity import hand_strengths
from aleator.games.holdem.suits import CARD_MAPS, HAND_MAPS
from aleator.storage import StorageError

CONFIG = BucketConfig(game="flop-holdem", buckets=(20,), features=("ochs",), boards=100, public_flops=7)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("buckets") / "flop.bin"
    build_buckets(CONFIG, file, threads=2)
    return file


@pytest.fixture(scope="module")
def buckets(path: Path) -> Buckets:
    return open_buckets(path)


def test_buckets_are_in_the_order_of_equity_and_keep_like_with_like(buckets: Buckets) -> None:
    assert (np.diff(buckets.equities[0]) > 0).all() and len(buckets.equities[0]) == 20
    board = np.array(parse_cards("Ah7c2d"), np.int8)
    row, maps = hand_map(board)
    own, strengths, alive = buckets.table(1)[row][maps], hand_strengths(board), ~blocked_hands(board)
    within = sum(strengths[alive & (own == bucket)].var() * (alive & (own == bucket)).sum() for bucket in set(own))
    assert within / alive.sum() < 0.01 * strengths[alive].var()
    assert own[parse_hand("AsAd")] == 19 and own[parse_hand("4c3c")] < 5


def test_hands_that_are_the_same_up_to_suits_share_a_bucket(buckets: Buckets) -> None:
    for board in all_boards(1)[::97]:
        numbers, alive = buckets.numbers(board), ~blocked_hands(board)
        for renaming in (5, 14, 23):
            others = buckets.numbers(CARD_MAPS[renaming][board])
            np.testing.assert_array_equal(others[HAND_MAPS[renaming]][alive], numbers[alive])


def test_public_clusters_tell_flops_apart(buckets: Buckets) -> None:
    assert sorted(set(buckets.flops.tolist())) == list(range(7)) and CONFIG.count(1) == 140
    row, _ = hand_map(np.array(parse_cards("Ah7c2d")))
    np.testing.assert_array_equal(buckets.numbers(parse_cards("Ah7c2d")) // 20, buckets.flops[row])
    assert set(np.concatenate([buckets.numbers(board) for board in all_boards(1)[::50]]).tolist()) <= set(range(140))


def test_perfect_recall_remembers_the_bucket_before(buckets: Buckets) -> None:
    config = BucketConfig(game="flop-holdem", buckets=(20,), features=("ochs",), perfect_recall=True)
    assert config.count(0) == 169 and config.count(1) == 169 * 20
    remembering = Buckets(config, [buckets.table(1)], buckets.equities, np.zeros(1755, np.int16), {})
    board = parse_cards("Ah7c2d")
    before, after = np.divmod(remembering.numbers(board), 20)
    np.testing.assert_array_equal(before, HAND_CLASSES)
    np.testing.assert_array_equal(after, buckets.numbers(board) % 20)


def test_a_file_has_what_was_built(path: Path, buckets: Buckets) -> None:
    assert buckets.config == CONFIG and path.stat().st_size > size_of(CONFIG) == 1755 * 1326
    again = build_buckets(CONFIG, path.with_name("again.bin"))
    np.testing.assert_array_equal(again.table(1), buckets.table(1))  # whatever the number of threads
    assert again.fingerprint == buckets.fingerprint and not list(path.parent.glob("*.part"))


def test_what_a_build_takes_is_told_before() -> None:
    usual = core_seconds(BucketConfig())
    assert 60.0 < usual < 600.0  # 151 seconds of a core when it was measured
    assert core_seconds(BucketConfig(buckets=(2000, 2000, 2000))) > 5.0 * usual
    assert core_seconds(CONFIG) < 0.1 * usual


def test_a_build_that_was_stopped_goes_on_with_the_streets_that_are_done(
    path: Path, buckets: Buckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = path.with_name("stopped.bin")
    with monkeypatch.context() as stopping:
        stopping.setattr(Buckets, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            build_buckets(CONFIG, file)
    part = file.with_name("stopped.bin.flop.part")
    assert part.exists() and not file.exists()
    made: list[int] = []
    monkeypatch.setattr(building._Builder, "build", lambda self: made.append(self.street))
    build_buckets(CONFIG, file)
    assert not made and not part.exists()
    np.testing.assert_array_equal(open_buckets(file).table(1), buckets.table(1))


def test_a_stopped_build_of_other_settings_is_not_used(path: Path) -> None:
    file = path.with_name("other.bin")
    street = building.Street(np.zeros((1755, 1326), np.uint8), np.zeros(20, np.float32), np.zeros((20, 8), np.float32))
    building._write_part(file.with_name("other.bin.flop.part"), BucketConfig(), street)
    assert building._read_part(file.with_name("other.bin.flop.part"), CONFIG, None) is None
    file.with_name("other.bin.flop.part").write_bytes(b"damaged")
    assert building._read_part(file.with_name("other.bin.flop.part"), CONFIG, None) is None


def test_damage_is_noticed_where_it_is_read(path: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.bin"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(StorageError, match="damaged"):
        open_buckets(damaged).table(1)
    damaged.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(StorageError):
        open_buckets(damaged)
    damaged.write_text("not a file of arrays")
    with pytest.raises(StorageError):
        open_buckets(damaged)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"buckets": (200, 200)}, "3 streets from the flop on, not 2 buckets"),
        ({"features": ("potential", "potential", "potential")}, "last street has no potential"),
        ({"features": ("potential", "historgam", "ochs")}, "did you mean 'histogram'"),
        ({"buckets": (200, 200, 0)}, "buckets must be from 1 to 65,535, not 0"),
        ({"perfect_recall": True, "public_flops": 3}, "public_flops must be 1"),
        ({"perfect_recall": True, "buckets": (400, 400, 400)}, "too many"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_mistakes_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(AbstractionError, match=message):
        BucketConfig(**changes)  # type: ignore[arg-type]


def test_fewer_different_hands_than_buckets_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    config = BucketConfig(game="flop-holdem", buckets=(900,), features=("equity",), boards=1, hands=20)
    with pytest.raises(AbstractionError, match=r"flop: 900 buckets .* only \d+ different features \(equity\)"):
        build_buckets(config, tmp_path / "few.bin")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_potential_is_built_from_the_buckets_of_the_next_street(tmp_path: Path) -> None:
    config = BucketConfig(game="nolimit-turn", buckets=(15, 20), features=("potential", "histogram"), boards=60)
    buckets = build_buckets(config, tmp_path / "turn.bin", threads=2)
    numbers = buckets.numbers(parse_cards("Ah7h2d"))
    assert numbers[parse_hand("AsAd")] == 14
    flush_draw, middle_pair = numbers[parse_hand("KhQh")], numbers[parse_hand("8c8d")]
    assert flush_draw != middle_pair  # near in equity, not in what becomes of them
