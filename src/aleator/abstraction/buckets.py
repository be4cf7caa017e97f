"""Buckets: hands that an abstraction takes for one another, by street, in a file that is read where it is asked.

Before the flop the 169 classes are told apart. On later streets a table has the bucket of each of the 1,326 hands on
each board up to suits (`abstraction.boards`); where that would be too large a file, boards are made when they are asked
for (`abstraction.made_rows`). What infostates are told apart by is a *number*:

* with imperfect recall, the bucket, whatever it was on earlier streets; with public flop clusters, that and the
  cluster of the flop;
* with perfect recall, the buckets of all streets so far.

Buckets are in the order of their mean equity.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from aleator.errors import AleatorError, did_you_mean, one_line, shown
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HAND_CLASSES, NUM_HANDS
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.variants import load_hand_game, load_recorded_hand_game
from aleator.parsing import MAX_SEED
from aleator.storage import ArrayFile, StorageError, StoredArray, check_object, parse_json, write_arrays

if TYPE_CHECKING:
    from aleator.abstraction.blueprint.chances import NumberChances

FORMAT: Final = "aleator buckets 1"
PACKED_FORMAT: Final = "aleator packed buckets 1"
FEATURES: Final = ("equity", "ochs", "histogram", "potential")
"""What hands are compared by; `abstraction.features` says what each is."""
MOST_BUCKETS: Final = 65_535
_MOST_NUMBERS: Final = 2**31 - 1

Table = npt.NDArray[np.unsignedinteger]


class Rows(Protocol):
    """The buckets of the hands on each board of a street: a table, or what makes its rows."""

    def __getitem__(self, row: int, /) -> Table: ...


class AbstractionError(AleatorError):
    """Settings that make no abstraction, or a game that one was not made for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketConfig:
    """What buckets are made from.

    Attributes:
        game: a game of whole hands; it says on which street hands are compared.
        buckets: how many on each street from the flop on.
        features: what hands are compared by on each of these streets; `potential` needs a street after it.
        perfect_recall: whether numbers remember the buckets of earlier streets.
        public_flops: clusters of flops that are told apart, 1 for none; only with imperfect recall.
        boards: that clusters are fitted on, drawn at random, per street.
        hands: on each of these boards.
        rounds: of k-means, at most.
        seed: of all randomness.
    """

    game: str = "hunl"
    buckets: tuple[int, ...] = (200, 200, 200)
    features: tuple[str, ...] = ("potential", "potential", "ochs")
    perfect_recall: bool = False
    public_flops: int = 1
    boards: int = 2000
    hands: int = 64
    rounds: int = 25
    seed: int = 0

    def __post_init__(self) -> None:
        streets = load_hand_game(self.game).rules.num_streets - 1
        for name, values in (("buckets", self.buckets), ("features", self.features)):
            if len(values) != streets:
                raise AbstractionError(f"{self.game} has {streets} streets from the flop on, not {len(values)} {name}")
        for feature in self.features:
            if feature not in FEATURES:
                hint = did_you_mean(feature, FEATURES)
                raise AbstractionError(f"unknown feature {shown(feature)}; {hint}allowed: {', '.join(FEATURES)}")
        if self.features[-1] == "potential":
            raise AbstractionError("the last street has no potential: its feature is one of equity, ochs, histogram")
        limits = {"public_flops": (1, 1755), "boards": (1, 10**6), "hands": (1, NUM_HANDS), "rounds": (1, 10**4)}
        numbers = [("buckets", count, 1, MOST_BUCKETS) for count in self.buckets]
        numbers += [(name, getattr(self, name), *ends) for name, ends in limits.items()]
        for name, value, least, most in [*numbers, ("seed", self.seed, 0, MAX_SEED)]:
            if not least <= value <= most:
                raise AbstractionError(f"{name} must be from {least} to {most:,}, not {shown(value)}")
        if self.perfect_recall and self.public_flops > 1:
            raise AbstractionError("perfect recall remembers the flop's bucket: public_flops must be 1")
        if self.count(streets) > _MOST_NUMBERS:
            raise AbstractionError(
                f"perfect recall of {self.buckets} buckets has {self.count(streets):,} numbers: too many"
            )

    @property
    def last_street(self) -> int:
        """The street of the showdown: 1 flop to 3 river."""
        return len(self.buckets)

    @property
    def showdown_cards(self) -> int:
        """Cards on the board when hands are compared."""
        return BOARD_CARDS[self.last_street]

    def count(self, street: int) -> int:
        """Returns how many numbers hands have on a street, 0 for preflop."""
        if street == 0:
            return NUM_HAND_CLASSES
        before = self.count(street - 1) if self.perfect_recall else self.public_flops
        return before * self.buckets[street - 1]

    def to_json(self) -> str:
        """Returns it as text."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> BucketConfig:
        """Returns the settings of a text that `to_json` gave.

        Raises:
            ValueError: it is another text.
        """
        kinds = {"game": str, "buckets": list, "features": list, "perfect_recall": bool, "public_flops": int}
        kinds |= dict.fromkeys(("boards", "hands", "rounds", "seed"), int)
        values = check_object(parse_json(text), kinds)
        for name, kind in (("buckets", int), ("features", str)):
            if not all(type(value) is kind for value in values[name]):
                raise ValueError(f"{name} are {shown(values[name])}")
            values[name] = tuple(values[name])
        load_recorded_hand_game(values["game"])
        return cls(**values)


class Buckets:
    """Buckets in memory, in a file, or made when they are asked for.

    Args:
        config: what they were made from.
        tables: of each street from the flop on, ``[boards, 1326]``.
        equities: the mean equity of each bucket of these streets.
        flops: the public cluster of each flop, ``[1755]``.
        report: what making them took.
        centres: of each of these streets: the centre of each bucket, in whole steps of its feature, ``[K, D]``; None in
            files of old.
        chances: what cards do to numbers, if it was counted before.
    """

    def __init__(
        self,
        config: BucketConfig,
        tables: Sequence[Rows],
        equities: Sequence[npt.NDArray[np.floating]],
        flops: npt.NDArray[np.int16],
        report: Mapping[str, Any],
        centres: Sequence[npt.NDArray[np.float32]] | None = None,
        chances: NumberChances | None = None,
    ) -> None:
        self.config, self.equities, self.flops, self.report = config, equities, flops, dict(report)
        self.centres, self.chances, self._tables = centres, chances, tables

    def table(self, street: int) -> Table:
        """Returns the whole table of a street, 1 for the flop, after its checksums were compared.

        Raises:
            StorageError: it is damaged.
            AbstractionError: its boards are made one by one.
        """
        table = self._tables[street - 1]
        if not isinstance(table, np.ndarray | StoredArray):
            raise AbstractionError(
                "these buckets are made board by board, which is for play: make a file of all of them by "
                "`aleator abstraction build FILE --like THESE`"
            )
        return self._checked(street, np.asarray(table))

    def _checked(self, street: int, numbers: Table) -> Table:
        """Returns a part of a street's table whose numbers are those of buckets: kernels look up what they say."""
        if numbers.max() >= self.config.buckets[street - 1]:
            raise StorageError(f"the buckets of the {STREET_NAMES[street]} are damaged: no bucket {numbers.max()}")
        return numbers

    def numbers(self, board: Sequence[int] | npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """Returns the number of each hand on a board, ``[1326]``; hands that share a card with it do not matter.

        Args:
            board: no cards, or 3 to 5 in the order in which they came.
        """
        from aleator.abstraction.boards import hand_map

        cards = np.asarray(board, np.int8)
        numbers, last = HAND_CLASSES.astype(np.int64), BOARD_CARDS.index(len(cards))
        for street in range(1, last + 1):
            if 1 < street < last and not self.config.perfect_recall:
                continue
            row, maps = hand_map(cards[: BOARD_CARDS[street]])
            if street == 1:
                cluster = int(self.flops[row])
                if last > 1 and not self.config.perfect_recall:
                    continue
            before = numbers if self.config.perfect_recall else cluster
            inside = self._checked(street, self._tables[street - 1][row][maps])
            numbers = before * self.config.buckets[street - 1] + inside.astype(np.int64)
        return numbers

    @property
    def is_whole(self) -> bool:
        """Whether all boards are there; else they are made when they are asked for."""
        return all(isinstance(table, np.ndarray | StoredArray) for table in self._tables)

    @property
    def fingerprint(self) -> str:
        """What tells these buckets from others; blueprints remember it."""
        return str(self.report["fingerprint"])

    def save(self, path: Path | str) -> None:
        """Writes the buckets to a file, replacing it atomically."""
        names = STREET_NAMES[1:]
        streets = range(1, self.config.last_street + 1)
        arrays: dict[str, npt.NDArray[Any]] = {STREET_NAMES[street]: self.table(street) for street in streets}
        arrays |= {f"{name} equity": np.asarray(row) for name, row in zip(names, self.equities, strict=False)}
        arrays |= {f"{name} centres": row for name, row in zip(names, self.centres or (), strict=False)}
        arrays["flop clusters"] = self.flops
        metadata = {"format": FORMAT, "config": self.config.to_json(), "report": json.dumps(self.report)}
        write_arrays(path, arrays, metadata)


class Parts(NamedTuple):
    """What a file has of buckets by street: see `Buckets`."""

    tables: Sequence[Rows]
    centres: Sequence[npt.NDArray[np.float32]] | None
    chances: NumberChances | None = None


def open_buckets(path: Path | str) -> Buckets:
    """Returns the buckets in a file: tables are read where they are asked, those that are packed made there.

    Raises:
        StorageError: the file cannot be read, is damaged, or is something else.
    """
    file = ArrayFile(path)
    if file.metadata.get("format") not in (FORMAT, PACKED_FORMAT):
        raise StorageError(f"{path} has no buckets: its format is {shown(file.metadata.get('format'))}, not {FORMAT!r}")
    try:
        if not file.checked:
            raise ValueError("its checksums are missing")
        config = BucketConfig.parse(file.metadata["config"])
        report = parse_json(file.metadata["report"])
        if not isinstance(report, dict) or not isinstance(report.get("fingerprint"), str):
            raise ValueError("its report has no fingerprint")
        equities = [np.asarray(file[f"{name} equity"]) for name in STREET_NAMES[1 : config.last_street + 1]]
        for street, equity in enumerate(equities, start=1):
            _check_equities(street, equity, config)
        flops = np.asarray(file["flop clusters"])
        if flops.shape != (1755,) or flops.dtype != np.int16 or flops.min() < 0 or flops.max() >= config.public_flops:
            raise ValueError("its clusters of flops are wrong")
        if file.metadata["format"] == FORMAT:
            parts = _parts(file, config)
        else:
            from aleator.abstraction.packed.buckets import unpack_parts

            parts = unpack_parts(file, config, equities)
        return Buckets(config, parts.tables, equities, flops, report, parts.centres, parts.chances)
    except StorageError:
        raise
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise StorageError(f"{path} is damaged: {one_line(error)}") from error


def _parts(file: ArrayFile, config: BucketConfig) -> Parts:
    """Returns what a file of whole tables has; raises ValueError if it does not fit the settings."""
    names = STREET_NAMES[1 : config.last_street + 1]
    tables = [file[name] for name in names]
    for street, table in enumerate(tables, start=1):
        _check_table(street, table, config)
    if f"{names[0]} centres" not in file:
        return Parts(tables, None)
    centres = [np.asarray(file[f"{name} centres"]) for name in names]
    for street, rows in enumerate(centres, start=1):
        check_centres(street, rows, config)
    return Parts(tables, centres)


def bucket_type(buckets: int) -> type[np.unsignedinteger]:
    """Returns the smallest type that has so many buckets."""
    return np.uint8 if buckets <= 256 else np.uint16


def _check_table(street: int, table: StoredArray, config: BucketConfig) -> None:
    from aleator.abstraction.boards import board_indexer

    shape, dtype = (len(board_indexer(street)), NUM_HANDS), np.dtype(bucket_type(config.buckets[street - 1]))
    if table.shape != shape or table.dtype != dtype:
        raise ValueError(f"its {STREET_NAMES[street]} is {table.dtype} {list(table.shape)}, not {dtype} {list(shape)}")


def _check_equities(street: int, equities: npt.NDArray[Any], config: BucketConfig) -> None:
    """Raises ValueError if these are not the equities of a street's buckets; one that nobody has may be anything."""
    if equities.shape != (config.buckets[street - 1],) or equities.dtype.kind != "f":
        raise ValueError(f"its equities of the {STREET_NAMES[street]} are {equities.dtype} {list(equities.shape)}")


def check_centres(street: int, centres: npt.NDArray[Any], config: BucketConfig) -> None:
    """Raises ValueError if these are not the centres of a street's buckets: whole numbers of steps."""
    from aleator.abstraction.features import STEPS, width_of

    feature = config.features[street - 1]
    following = config.buckets[street] if feature == "potential" else 0
    shape = (config.buckets[street - 1], width_of(feature, following))
    if centres.shape != shape or centres.dtype != np.float32:
        raise ValueError(
            f"its centres of the {STREET_NAMES[street]} are {centres.dtype} {list(centres.shape)}, not {list(shape)}"
        )
    if not (centres.min() >= 0.0 and centres.max() <= STEPS[feature] and (centres == np.floor(centres)).all()):
        raise ValueError(f"its centres of the {STREET_NAMES[street]} are no whole numbers of steps")
