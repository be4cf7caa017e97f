"""Streets of a whole spot by kernels (`street.cu`): what `whole` does in dozens of operations, in four launches.

Algorithm:
    `down` takes the opponent's reach from a street's roots to its ends, one thread per four hands of a board and root.
    `meet` says what folds are worth by sums over cards; showdowns are products with a matrix of signs where a board has
    many of them and matrices fit the memory, else sums in the order of strength (`show`); the street that follows says
    what leaves are worth. `up` brings values back and updates regrets. The betting is read from tables, so one
    compilation serves every spot. Reach and values between two decisions wait in slots of shared memory, as few as the
    betting needs.

Reference: as `whole`.

Deviations: for products with matrices reach is rounded to float16, in units of the largest weight over 2^15; sums are
    float32. Policies are uniform where regrets to the power of the rule add up to less than 1e-30.

Status: equal to `whole` on a device, and on a CPU where a C++ compiler can stand in for one
    (tests/solvers/batched_holdem/test_whole_kernels.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from aleator.caching import cache
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel
from aleator.solvers.engines.batched_holdem.source import device_code
from aleator.solvers.engines.batched_holdem.street_betting import StreetBetting
from aleator.solvers.engines.batched_holdem.whole_cards import WholeCards

Tensor = torch.Tensor
THREADS = 128
_WARP = 32
_CARDS = 64  # cards of a deck, rounded up to whole warps
_SLOT_BYTES = 16
_STRONGEST = 1 << 20  # than any hand
_LARGEST = 2.0**15  # the largest reach as a float16
_MANY_SHOWDOWNS = 20  # of a board, from which on a product with a matrix takes less time


@cache
def make_kernel(name: str, shared_bytes: int, device: int) -> Kernel:
    """Returns a kernel, compiled once per machine."""
    return Kernel(street_source(), name, {"THREADS": THREADS}, shared_bytes=shared_bytes)


def street_source() -> str:
    """Returns the source of all kernels."""
    return device_code("numbers.cu", "street.cu")


class StreetKernels:
    """The kernels of one street of whole spots that have the same betting."""

    def __init__(
        self, forest: StreetBetting, cards: WholeCards, payoffs: KernelPayoffs, most: float, signs: Tensor | None
    ) -> None:
        """Makes tables.

        Args:
            forest: the betting.
            cards: that make the boards of the street.
            payoffs: of hands on these boards.
            most: the largest weight of a hand.
            signs: float16 [B, H, H] what hands are worth against each other at showdowns, where they are products with
                matrices.
        """
        self._cards, self._payoffs, self._signs, self._scale = cards, payoffs, signs, _LARGEST / most
        river, num_folds = not forest.leaf_nodes, sum(map(len, forest.folds))
        ends = torch.cat([*forest.folds, forest.others]).tolist()
        self._tables = street_tables(
            forest.roots.tolist(), forest.row_node.tolist(), forest.row_parent.tolist(), forest.row_player.tolist(),
            ends, cards.live.device,
        )  # fmt: skip
        stakes = forest.stake[ends].repeat(2, 1)
        stakes[0, : len(forest.folds[0])] *= -1.0
        stakes[1, len(forest.folds[0]) : num_folds] *= -1.0
        if not river:
            stakes[:, num_folds:] = 1.0
        elif signs is not None:
            stakes[:, num_folds:] /= self._scale
        self._stakes = stakes
        self._counts = len(forest.roots), forest.num_rows, num_folds, len(forest.others)

    def traverse(
        self,
        player: int,
        parents: slice,
        boards: slice,
        above: Tensor,
        rows: Tensor,
        learning: tuple[Tensor, Tensor] | None,
        discounts: Tensor,
        leaves: Callable[[Tensor], Tensor] | None,
        *,
        sharp: bool,
        best: bool,
    ) -> Tensor:
        """Returns the player's cfvs at the roots [b, roots, H].

        Args:
            player: whose.
            parents: the boards before the card that `above` has.
            boards: of this street.
            above: [p, roots, H] the opponent's reach before the card.
            rows: [b, rows, H] policies are in proportion to these.
            learning: regrets and sums [b, rows, H] that are updated in place: the player's regrets, and the sums of the
                opponent's policies.
            discounts: [4] as `RegretRule.schedule` has them.
            leaves: from the opponent's reach at leaves [b, L, H] to what these are worth to the player; None on rivers.
            sharp: whether policies are in proportion to positive rows to the power 1.5.
            best: whether the player plays best responses.
        """
        batch, hands, device = boards.stop - boards.start, above.shape[2], above.device.index or 0
        num_roots, _, num_folds, num_others = self._counts
        folds = above.new_empty(batch, num_folds, hands)
        half = self._signs is not None
        others = above.new_empty(batch, num_others, hands, dtype=torch.float16 if half else torch.float32)
        values = above.new_empty(batch, num_roots, hands)
        regrets, sums = (None, None) if learning is None else learning
        blocks = num_roots * -(-batch * hands // (4 * THREADS))
        make_kernel("down", self._tables.shared_bytes, device)(
            blocks, THREADS, *self._tables.arrays, self._cards.parent[boards], self._cards.live[boards],
            above.contiguous(), rows, sums, folds, *((None, others) if half else (others, None)), discounts,
            parents.start, player, batch, hands, *self._counts, int(sharp), self._scale,
        )  # fmt: skip
        self._payoffs.meet(folds, boards)
        if leaves is not None:
            others = leaves(others).contiguous()
        elif self._signs is not None:
            others = _product(others, self._signs[boards])
        else:
            self._payoffs.show(others, boards)
        make_kernel("up", self._tables.shared_bytes, device)(
            blocks, THREADS, *self._tables.arrays, self._stakes[player], folds, others, rows, regrets, values, None,
            discounts, 0, player, batch, hands, *self._counts, int(sharp), int(best),
        )  # fmt: skip
        return values

    def gather(self, values: Tensor, total: Tensor, parents: slice, boards: slice) -> None:
        """Adds the cfvs [b, L, H] of some boards to those before the card, as `WholeCards.gather`."""
        cards, maps = self._cards, self._cards.maps(boards)
        make_kernel("gather", 0, values.device.index or 0)(
            total.shape[0] * total.shape[1] * -(-total.shape[2] // THREADS), THREADS, cards.first_map, cards.map_board,
            cards.place, values, total, total.shape[1], total.shape[2], parents.start, boards.start, maps.start,
            maps.stop, cards.chance,
        )  # fmt: skip


def uses_matrices(showdowns: int, boards: int, hands: int, device: torch.device) -> bool:
    """Returns whether showdowns of a street are worth a matrix for each board, and these fit the memory."""
    if showdowns < _MANY_SHOWDOWNS or not _adds_in_float32():
        return False
    return device.type != "cuda" or 4 * 2 * boards * hands**2 < torch.cuda.mem_get_info(device)[0]


def _adds_in_float32() -> bool:
    """Returns whether this torch has products of float16 whose result is float32: from 2.8 on."""
    major, minor = torch.__version__.split(".")[:2]
    return (int(major), int(minor)) >= (2, 8)


def _product(rows: Tensor, signs: Tensor) -> Tensor:
    """Returns the product of float16 [b, n, H] and [b, H, H], in float32."""
    return torch.bmm(rows, signs, out_dtype=torch.float32) if rows.is_cuda else rows.float() @ signs.float()


class KernelPayoffs:
    """What hands of boards are worth against each other, by `meet` and `show`."""

    def __init__(self, hand_cards: Tensor, spot: Tensor, strength: Tensor | None = None) -> None:
        """Makes tables.

        Args:
            hand_cards: [spots, H, 2].
            spot: [B] whose boards they are.
            strength: int32 [B, H] of hands on rivers, -1 where the board has a card of the hand.
        """
        self._spot = spot.int()
        held_by = torch.zeros(len(hand_cards), _CARDS, dtype=torch.int64, device=spot.device)
        held_by.scatter_add_(1, hand_cards.flatten(1), torch.ones_like(hand_cards.flatten(1)))
        lengths, order = held_by.amax(0).sort(descending=True)
        self._longest, self._shorter = int(lengths[0]), int(lengths[_WARP])
        columns = order.argsort()[hand_cards]  # cards that many hands hold come first
        begins = torch.where(columns < _WARP, columns, columns + _WARP * self._longest)
        self._cards = begins.to(torch.int16).contiguous()
        lists = _lists(columns, self._longest)
        self._lists = self._in_columns(lists)
        if strength is None:
            return
        count = strength.shape[1]
        self._per_lane = -(-count // _WARP) | 1  # odd: lanes then use different banks of shared memory
        ordered, order = strength.sort(1)
        order = torch.nn.functional.pad(order, (0, _WARP * self._per_lane - count), value=count)
        self._order = order.view(len(order), _WARP, -1).mT.to(torch.int16).contiguous()
        padded = torch.nn.functional.pad(strength, (0, 1), value=_STRONGEST)
        lists = lists[spot]  # [B, 64, longest]
        own, by_strength = padded.gather(1, lists.flatten(1)).view_as(lists).sort(2)
        lists = lists.gather(2, by_strength)
        self._board_lists = self._in_columns(lists)
        # counts among the hands of a card go to the hands: to the first or the second 16 bits, by which card it is
        second = torch.nn.functional.pad(columns[..., 1], (0, 1))[spot].gather(1, lists.flatten(1)).view_as(lists)
        slot = 2 * lists + (second == torch.arange(_CARDS, device=spot.device)[:, None])
        counts = torch.searchsorted(own, own) | torch.searchsorted(own, own, right=True) << 8
        held = lists.new_zeros(len(lists), 2 * count + 2).scatter_(1, slot.flatten(1), counts.flatten(1))
        held = held[:, 0:-2:2] | held[:, 1:-2:2] << 16
        weaker, not_stronger = (torch.searchsorted(ordered, strength, right=right) for right in (False, True))
        self._places = torch.stack([weaker | not_stronger << 16, held], 2).to(torch.int32)

    def _in_columns(self, lists: Tensor) -> Tensor:
        """Returns int16 [B, longest + shorter, 32] of lists [B, 64, longest]: lanes of a warp read side by side."""
        shorter = lists[:, _WARP:, : self._shorter]
        return torch.cat([lists[:, :_WARP].mT, shorter.mT], 1).to(torch.int16).contiguous()

    def meet(self, rows: Tensor, boards: slice) -> None:
        """Replaces reach [b, n, H] by that of hands that share no card."""
        self._launch("meet", _CARDS, rows, boards, self._lists)

    def show(self, rows: Tensor, boards: slice) -> None:
        """Replaces reach [b, n, H] by that of weaker less that of stronger hands that share no card."""
        tables = self._board_lists[boards], self._order[boards], self._places[boards]
        floats = _WARP * (self._longest + self._shorter + 2 + self._per_lane) + 4
        self._launch("show", floats, rows, boards, *tables, last=(self._per_lane,))

    def _launch(
        self, name: str, floats: int, rows: Tensor, boards: slice, *tables: Tensor, last: tuple[int, ...] = ()
    ) -> None:
        """Launches a kernel that has a warp for each row, with shared memory for a row and some more floats."""
        batch, each, hands = rows.shape
        if not batch * each:
            return
        warps = THREADS // _WARP
        make_kernel(name, 4 * warps * (floats + hands + 4), rows.device.index or 0)(
            -(-batch * each // warps), THREADS, self._spot[boards], self._cards, *tables, rows, batch * each, each,
            hands, self._longest, self._shorter, *last,
        )  # fmt: skip


def _lists(columns: Tensor, longest: int) -> Tensor:
    """Returns [spots, 64, longest]: the hands of each card, from the cards [spots, H, 2] of hands; H behind them."""
    spots, count, _ = columns.shape
    holds = torch.zeros(spots, _CARDS, count, dtype=torch.bool, device=columns.device)
    holds.scatter_(1, columns.mT, value=True)
    return torch.where(holds, torch.arange(count, device=columns.device), count).sort(2).values[..., :longest]


class StreetTables(NamedTuple):
    """A street's betting as `street.cu` reads it.

    Attributes:
        roots, decisions, targets: int32 [n, 3], [D, 4] and [rows].
        shared_bytes: what slots take.
    """

    roots: Tensor
    decisions: Tensor
    targets: Tensor
    shared_bytes: int

    @property
    def arrays(self) -> tuple[Tensor, Tensor, Tensor]:
        """The tables, in the order of the kernels' arguments."""
        return self.roots, self.decisions, self.targets


def street_tables(
    roots: Sequence[int],
    row_node: Sequence[int],
    row_parent: Sequence[int],
    row_player: Sequence[int],
    ends: Sequence[int],
    device: torch.device,
) -> StreetTables:
    """Returns the tables of a street.

    A decision's slot is free once the decision has been made, so its actions may use it.

    Args:
        roots: nodes where it begins.
        row_node, row_parent, row_player: [rows] the nodes after and before an action, and whose it is; rows of a
            decision stand side by side.
        ends: nodes where it ends: folds, then the others.
        device: where tables go.
    """
    rows: dict[int, list[int]] = {}
    for row, parent in enumerate(row_parent):
        rows.setdefault(parent, []).append(row)
    target = {node: ~end for end, node in enumerate(ends)}
    entries: list[tuple[int, ...]] = []
    decisions: list[tuple[int, ...]] = []
    num_slots = 1
    for root in roots:
        free, begin = list(range(len(row_node), 0, -1)), len(decisions)
        waiting = [root] if root in rows else []
        target |= dict.fromkeys(waiting, 0)
        while waiting:
            node = waiting.pop()
            own = rows[node]
            decisions.append((target[node], row_player[own[0]], own[0], len(own)))
            free.append(target[node])
            below = [row_node[row] for row in own if row_node[row] in rows]
            target |= {child: free.pop() for child in below}
            num_slots = max([num_slots, *(target[child] + 1 for child in below)])
            waiting += below
        entries.append((target[root], begin, len(decisions)))

    def table(numbers: list[Any], *columns: int) -> Tensor:
        return torch.tensor(numbers, dtype=torch.int32, device=device).reshape(-1, *columns)

    targets = [target[node] for node in row_node]
    return StreetTables(table(entries, 3), table(decisions, 4), table(targets), num_slots * THREADS * _SLOT_BYTES)
