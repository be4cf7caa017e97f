"""What both players' hands are worth at the end of a street, before its card: where search gets its leaf values.

`street_values("flop")` uses the network of the end of that street.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from aleator.caching import Kept
from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_CARDS, columns_of, format_cards
from aleator.learning.holdem.knot_network import KnotNetwork
from aleator.learning.holdem.leaves import network_leaves
from aleator.learning.holdem.model import load_holdem_model
from aleator.learning.holdem.network import HoldemValueNetwork, check_network
from aleator.learning.holdem.preflop_leaves import ClassLeaves
from aleator.learning.holdem.streets import ENDS
from aleator.shipped import directory
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.payoffs import PairPayoffs
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs
from aleator.solvers.engines.batched_holdem.rounds import RoundBoards, equity_matrices, round_boards
from aleator.solvers.engines.batched_holdem.whole_kernels import KernelPayoffs

Tensor = torch.Tensor
_KEPT_BOARDS: Final = 8
_KEPT_ON_DEVICE: Final = 512


class BoardRows(NamedTuple):
    """What one board means for hands: its live cards and hands, and the matrix of equities [1, H, H]."""

    boards: RoundBoards
    equities: Tensor


def board_rows(deck: Deck, boards: Sequence[tuple[int, ...]]) -> list[BoardRows]:
    """Returns what each board of one street means for hands."""
    rounds = round_boards(deck, torch.tensor(boards, dtype=torch.int64, device=deck.device).view(len(boards), -1))
    equities = equity_matrices(rounds)
    rounds = rounds._replace(runouts=rounds.runouts[:, :0])  # not needed any more, and large
    if len(boards) == 1:
        return [BoardRows(rounds, equities)]
    each = (torch.tensor([number], device=deck.device) for number in range(len(boards)))
    return [BoardRows(rounds.take(number), equities[number]) for number in each]  # copies, so that one can be dropped


class BoardLeaves:
    """Leaves on B boards of one street; see `search.whole_hands.depth_limited.BoardValues`."""

    def __init__(self, network: HoldemValueNetwork, boards: Sequence[BoardRows]) -> None:
        self._network = network
        fields = zip(*(rows.boards for rows in boards), strict=True)
        self._boards = RoundBoards(*(torch.cat(field) for field in fields))
        self._equities = boards[0].equities if len(boards) == 1 else torch.cat([rows.equities for rows in boards])
        self.device = self._equities.device
        self.hands: npt.NDArray[np.int64] = self._boards.hands.cpu().numpy()
        self.rows = columns_of(self.hands)
        self.payoffs: PairPayoffs | KernelPayoffs = PairPayoffs(self._boards.num_cards, self.device)
        if self.device.type == "cuda":
            games = torch.arange(len(boards), device=self.device)
            self.payoffs = KernelPayoffs(Deck(device=self.device).hand_cards[self._boards.hands], games)

    def leaves(self, pots: FloatArray, stacks: FloatArray) -> LeafCfvs:
        """Returns what prices leaves with these pots and stacks behind, both [B, L] in chips; cfvs come in chips."""
        chips, behind = (torch.from_numpy(rows).to(self.device, torch.float32) for rows in (pots, stacks / pots))
        return network_leaves(self._network, self._boards, self._equities, chips, behind)


Leaves = BoardLeaves | ClassLeaves
Boards = Sequence[tuple[int, ...]]


class StreetValues:
    """Leaf values at the end of one street.

    Attributes:
        street: preflop, flop or turn.
        source: where its values come from, in words.
    """

    def __init__(self, street: str, source: str, make: Callable[[Boards], Leaves]) -> None:
        self.street, self.source, self._make = street, source, make

    def on(self, boards: Boards) -> Leaves:
        """Returns the leaves on some boards."""
        for board in boards:
            if ENDS.get(len(board)) != self.street:
                raise SolveError(f"the board {format_cards(board)!r} is not one of the {self.street}")
        return self._make(boards)


def street_values(
    street: str, *, networks: Path | str | None = None, device: torch.device | str = "cpu"
) -> StreetValues:
    """Returns the leaf values at the end of a street.

    Args:
        street: preflop, flop or turn.
        networks: a folder with files such as ``flop.safetensors``; None for those that come with the package.
        device: where they are computed.

    Raises:
        SolveError: the street has no end with leaves, or the device is not there.
        StorageError: a file is damaged or not such a network.
    """
    if street not in ENDS.values():
        raise SolveError(f"leaf values are at the end of preflop, flop or turn, not of {street!r}")
    where = device_named(device)
    folder = directory() / "holdem" if networks is None else Path(networks)
    own = folder / f"{street}.safetensors"
    if not own.is_file():
        raise SolveError(f"{folder} has no {own.name}: train one with `aleator train holdem --street {street}`")
    network, source = _load(own, street), f"the network of the end of the {street}"
    if street == "preflop":
        return StreetValues(street, f"{source}, by hand classes", ClassLeaves(network, where).times)
    network, kept = network.to(where).eval(), _KeptBoards(Deck(device=where))
    if where.type == "cpu" and isinstance(network, KnotNetwork):
        from aleator.learning.holdem.compiled_network import CompiledValueNetwork

        network = CompiledValueNetwork(network)
    return StreetValues(street, source, lambda boards: BoardLeaves(network, kept.get(boards)))


class _KeptBoards:
    """What the last few boards mean for hands; a matrix of equities takes some MiB."""

    def __init__(self, deck: Deck) -> None:
        self._deck = deck
        self._kept: Kept[BoardRows] = Kept(_KEPT_ON_DEVICE if deck.device.type == "cuda" else _KEPT_BOARDS)

    def get(self, boards: Boards) -> list[BoardRows]:
        """Returns what some boards mean for hands."""
        there = {board: rows for board in boards if (rows := self._kept.find(board)) is not None}
        missing = [board for board in dict.fromkeys(boards) if board not in there]
        if missing:
            there |= dict(zip(missing, board_rows(self._deck, missing), strict=True))
        for board, rows in there.items():
            self._kept.keep(board, rows)
        return [there[board] for board in boards]


def _load(path: Path, street: str) -> HoldemValueNetwork:
    network = load_holdem_model(path).network
    check_network(network, street, NUM_CARDS, path)
    return network


def device_named(name: torch.device | str) -> torch.device:
    """Returns a device by its name; raises SolveError if it is unknown or not there."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SolveError(f"unknown device {name!r}; allowed: cpu, cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SolveError("no CUDA device was found: use device=cpu")
    return device
