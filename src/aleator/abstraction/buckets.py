"""Buckets: hands that an abstraction takes for one another, by street, in a file that is read where it is asked.

Before the flop the 169 classes are told apart. On later streets a table has the bucket of each of the 1,326 hands on
each board up to suits (`abstraction.boards`). What infostates are told apart by is a *number*:

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
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from aleator.errors import AleatorError, did_you_mean, one_line, shown
from aleator.games.holdem.betting import STREET_NAMES
from aleator.games.holdem.cards import HAND_CLASSES, NUM_HAND_CLASSES, NUM_HANDS
from aleator.games.holdem.hand_state import BOARD_CARDS
from aleator.games.holdem.variants import load_hand_game, load_recorded_hand_game
from aleator.parsing import MAX_SEED
from aleator.storage import ArrayFile, StorageError, StoredArray, check_object, parse_json, write_arrays

FORMAT: Final = "aleator buckets 1"
FEATURES: Final = ("equity", "ochs", "histogram", "potential")
"""What hands are compared by; `abstraction.features` says what each is."""
MOST_BUCKETS: Final = 65_535
_MOST_NUMBERS: Final = 2**31 - 1

Table = npt.NDArray[np.unsignedinteger]


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
    """Buckets in memory or in a file.

    Args:
        config: what they were made from.
        tables: of each street from the flop on, ``[boards, 1326]``.
        equities: the mean equity of each bucket of these streets.
        flops: the public cluster of each flop, ``[1755]``.
        report: what making them took.
    """

    def __init__(
        self,
        config: BucketConfig,
        tables: Sequence[Table | StoredArray],
        equities: Sequence[npt.NDArray[np.floating]],
        flops: npt.NDArray[np.int16],
        report: Mapping[str, Any],
    ) -> None:
        self.config, self.equities, self.flops, self.report = config, equities, flops, dict(report)
        self._tables = tables

    def table(self, street: int) -> Table:
        """Returns the whole table of a street, 1 for the flop, after its checksums were compared.

        Raises:
            StorageError: it is damaged.
        """
        return self._checked(street, np.asarray(self._tables[street - 1]))

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
    def fingerprint(self) -> str:
        """What tells these buckets from others; blueprints remember it."""
        return str(self.report["fingerprint"])

    def save(self, path: Path | str) -> None:
        """Writes the buckets to a file, replacing it atomically."""
        names = STREET_NAMES[1:]
        arrays: dict[str, npt.NDArray[Any]] = {
            name: np.asarray(table) for name, table in zip(names, self._tables, strict=False)
        }
        arrays |= {f"{name} equity": np.asarray(row) for name, row in zip(names, self.equities, strict=False)}
        arrays["flop clusters"] = self.flops
        metadata = {"format": FORMAT, "config": self.config.to_json(), "report": json.dumps(self.report)}
        write_arrays(path, arrays, metadata)


def open_buckets(path: Path | str) -> Buckets:
    """Returns the buckets in a file; tables are read where they are asked.

    Raises:
        StorageError: the file cannot be read, is damaged, or is something else.
    """
    file = ArrayFile(path)
    if file.metadata.get("format") != FORMAT:
        raise StorageError(f"{path} has no buckets: its format is {shown(file.metadata.get('format'))}, not {FORMAT!r}")
    try:
        if not file.checked:
            raise ValueError("its checksums are missing")
        config = BucketConfig.parse(file.metadata["config"])
        report = parse_json(file.metadata["report"])
        if not isinstance(report, dict) or not isinstance(report.get("fingerprint"), str):
            raise ValueError("its report has no fingerprint")
        names = STREET_NAMES[1 : config.last_street + 1]
        tables, equities = [file[name] for name in names], [np.asarray(file[f"{name} equity"]) for name in names]
        for street, table in enumerate(tables, start=1):
            _check_table(street, table, config)
            _check_equities(street, equities[street - 1], config)
        flops = np.asarray(file["flop clusters"])
        if flops.shape != (1755,) or flops.dtype != np.int16 or flops.min() < 0 or flops.max() >= config.public_flops:
            raise ValueError("its clusters of flops are wrong")
        return Buckets(config, tables, equities, flops, report)
    except StorageError:
        raise
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise StorageError(f"{path} is damaged: {one_line(error)}") from error


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
