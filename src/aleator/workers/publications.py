"""What is published for all tasks, edition after edition, and which editions somebody needs who has an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]

_MOST_CHANGES = 4  # times all of it: what there may be to read for who begins late


class Edition(NamedTuple):
    """An edition, as it is kept.

    Attributes:
        version: from 1 on, in a row.
        whole: all of it; None if it is not kept.
        changes: since the edition before; None if all was published anew.
    """

    version: int
    whole: Any
    changes: Any


class Part(NamedTuple):
    """What is to be read of an edition: all of it, or its changes."""

    content: Any
    is_whole: bool


class Publications:
    """All editions that somebody may still need.

    Attributes:
        version: of the newest edition; 0 before there is one.
    """

    def __init__(self, keep: Callable[[Arrays], Any]) -> None:
        """Begins without any.

        Args:
            keep: puts arrays, as they are now, where those who need them find them; returns where.
        """
        self.version = 0
        self.editions: tuple[Edition, ...] = ()
        self._keep = keep
        self._size = self._changed = 0  # bytes: of the last whole edition, and of the changes since

    def publish(self, shared: Arrays) -> None:
        """Adds an edition, of which all is new."""
        self._add(self._keep(shared), None)
        self._size, self._changed = _bytes(shared), 0

    def amend(self, changes: Arrays, whole: Callable[[], Arrays]) -> None:
        """Adds an edition by what changes since the one before, and keeps all of it now and then."""
        self._changed += _bytes(changes)
        late = self._changed > _MOST_CHANGES * self._size
        contents = whole() if late else None
        self._add(None if contents is None else self._keep(contents), self._keep(changes))
        if contents is not None:
            self._size, self._changed = _bytes(contents), 0

    def forget(self, version: int) -> None:
        """Drops editions that nobody needs who has none, or one from here on, and wants one from here on."""
        kept = [number for number, edition in enumerate(self.editions) if edition.whole is not None]
        first = max((number for number in kept if self.editions[number].version <= version), default=0)
        self.editions = self.editions[first:]

    def _add(self, whole: Any, changes: Any) -> None:
        self.version += 1
        self.editions = (*self.editions, Edition(self.version, whole, changes))


def parts_between(editions: Sequence[Edition], had: int, wanted: int) -> list[Part]:
    """Returns what leads from a version, 0 for none, to a later one: changes if they are there, or all and changes."""
    missing = [edition for edition in editions if had < edition.version <= wanted]
    if len(missing) == wanted - had and all(edition.changes is not None for edition in missing):
        return [Part(edition.changes, is_whole=False) for edition in missing]
    until = [edition for edition in editions if edition.version <= wanted]
    last = max(number for number, edition in enumerate(until) if edition.whole is not None)
    return [
        Part(until[last].whole, is_whole=True),
        *(Part(edition.changes, is_whole=False) for edition in until[last + 1 :]),
    ]


def read_part(do: Any, content: Arrays, *, is_whole: bool) -> None:
    """Gives a part to what does tasks."""
    if is_whole:
        do.receive(content)
    else:
        do.amend(content)


def _bytes(arrays: Arrays) -> int:
    return sum(array.nbytes for array in arrays.values())
