"""What both players' hands are worth at the end of a street, before its card: where search gets its leaf values.

`street_values("flop")` uses the network of the end of that street if there is a file for it. Where none is, the
network of the end of the turn stands in. It knows hands by two numbers only, equity and the spread of strength over
the cards to come, and both exist on every street; so it can be asked about flops and about hands before the flop as
well. What it adds to checking down is what one more betting round changes. Two rounds change more, the deeper the
more: the correction is multiplied by a factor that was fitted to solved turns (`StandIn`, docs/algorithms/hunl.md).
Before the flop a table of hand classes stands in (`preflop_table`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch

from aleator.errors import SolveError
from aleator.games.base import FloatArray
from aleator.games.holdem.cards import NUM_CARDS, NUM_HANDS, format_cards
from aleator.learning.holdem.leaves import PairPayoffs, network_leaves
from aleator.learning.holdem.model import load_holdem_model
from aleator.learning.holdem.network import HoldemValueNetwork, Situation
from aleator.learning.holdem.preflop_table import FILE, ClassLeaves, load_table
from aleator.learning.holdem.streets import street_named
from aleator.learning.value_network.shipped import directory
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs
from aleator.solvers.engines.batched_holdem.rounds import equity_matrices, round_boards

Tensor = torch.Tensor
_STREETS: Final = {0: "preflop", 3: "flop", 4: "turn"}  # by cards on the board
_KEPT_BOARDS: Final = 8


class StandIn(torch.nn.Module):
    """The turn's network, asked about another street: its correction times 1 + `SLOPE` log(1 + stack)."""

    SLOPE: Final = 0.64

    def __init__(self, network: HoldemValueNetwork, num_cards: int) -> None:
        super().__init__()
        self.network = HoldemValueNetwork(network.shape, num_cards)
        self.network.load_state_dict(network.state_dict())

    def forward(self, situation: Situation) -> Tensor:
        """Returns [B, 2, H]: both players' cfvs in pots."""
        factor = 1.0 + self.SLOPE * torch.log1p(situation.stack)[:, None, None]
        values: Tensor = situation.checked + factor * (self.network(situation) - situation.checked)
        return values


class BoardLeaves:
    """Leaves on one board; see `search.whole_hands.depth_limited.BoardValues`."""

    def __init__(self, network: torch.nn.Module, deck: Deck, board: tuple[int, ...]) -> None:
        self.device = deck.device
        self._network = network
        self._boards = round_boards(deck, torch.tensor([board], dtype=torch.int64, device=deck.device).view(1, -1))
        self._equities = equity_matrices(self._boards)
        self._boards = self._boards._replace(runouts=self._boards.runouts[:, :0])  # not needed any more, and large
        self.hands: npt.NDArray[np.int64] = self._boards.hands[0].cpu().numpy()
        self.rows = np.full(NUM_HANDS, -1)
        self.rows[self.hands] = np.arange(len(self.hands))
        self.payoffs = PairPayoffs(self._boards.num_cards, deck.device)

    def leaves(self, pots: FloatArray, stacks: FloatArray) -> LeafCfvs:
        """Returns what prices leaves with these pots and stacks behind, both [L] in chips; cfvs come in chips."""
        chips = torch.from_numpy(pots).to(self.device, torch.float32)[None]
        behind = torch.from_numpy(stacks / pots).to(self.device, torch.float32)[None]
        network: HoldemValueNetwork = self._network  # type: ignore[assignment]
        return network_leaves(network, self._boards, self._equities, chips, behind)


Leaves = BoardLeaves | ClassLeaves


class StreetValues:
    """Leaf values at the end of one street.

    Attributes:
        street: preflop, flop or turn.
        source: where its values come from, in words.
    """

    def __init__(self, street: str, source: str, make: Callable[[tuple[int, ...]], Leaves]) -> None:
        self.street, self.source, self._make = street, source, make
        self._boards: OrderedDict[tuple[int, ...], Leaves] = OrderedDict()

    def on(self, board: tuple[int, ...]) -> Leaves:
        """Returns the leaves on a board; the last few boards are kept."""
        if _STREETS.get(len(board)) != self.street:
            raise SolveError(f"the board {format_cards(board)!r} is not one of the {self.street}")
        if board not in self._boards:
            self._boards[board] = self._make(board)
            if len(self._boards) > _KEPT_BOARDS:
                self._boards.popitem(last=False)
        self._boards.move_to_end(board)
        return self._boards[board]


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
    if street not in _STREETS.values():
        raise SolveError(f"leaf values are at the end of preflop, flop or turn, not of {street!r}")
    where = _device(device)
    folder = directory() / "holdem" if networks is None else Path(networks)
    own, turn = folder / f"{street}.safetensors", folder / "turn.safetensors"
    if own.is_file():
        return _by_network(street, f"the network of the end of the {street}", _load(own, street), where)
    if street == "preflop" and (table := folder / FILE).is_file():
        leaves = ClassLeaves(load_table(table), where)
        return StreetValues(street, "checking down, corrected by a table of hand classes", lambda board: leaves)
    if not turn.is_file():
        raise SolveError(
            f"{folder} has neither {own.name} nor {turn.name}: train one with `aleator train holdem --street turn`"
        )
    cards = NUM_CARDS - street_named(street).board
    source = "the turn network's correction of checking down, enlarged for the betting of two more streets"
    return _by_network(street, source, StandIn(_load(turn, "turn"), cards), where)


def _by_network(street: str, source: str, network: torch.nn.Module, device: torch.device) -> StreetValues:
    network, deck = network.to(device).eval(), Deck(device=device)
    return StreetValues(street, source, lambda board: BoardLeaves(network, deck, board))


def _load(path: Path, street: str) -> HoldemValueNetwork:
    network = load_holdem_model(path).network
    cards = NUM_CARDS - street_named(street).board
    if network.shape.street != street or network.num_cards != cards:
        raise SolveError(
            f"{path} is a network of the {network.shape.street} with {network.num_cards} live cards, "
            f"not of the {street} with {cards}"
        )
    return network


def _device(name: torch.device | str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SolveError(f"unknown device {name!r}; allowed: cpu, cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SolveError("no CUDA device was found: use device=cpu")
    return device
