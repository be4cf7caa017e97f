"""What checking down is worth between every two hands, as one matrix per board.

Algorithm:
    W[h, h'] counts the runouts on which h beats h'. A hand that the runout blocks counts as weaker than all where it
    stands in a row and as stronger than all where it stands in a column, so that one comparison per runout decides. W -
    W' over the number of runouts free of both hands is the equity in [-1, 1].

Reference: none; every two hands without a common card see the same number of runouts.

Deviations: none.

Status: equal to enumeration (tests/learning/holdem/test_leaves.py), the three ways equal to each other
    (tests/solvers/batched_holdem/test_equity.py; the CUDA kernel is skipped where there is no device).
"""

from __future__ import annotations

from math import comb

import torch

from aleator.caching import cache
from aleator.games.holdem.equity import NEVER_BEATEN, count_wins
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel

Tensor = torch.Tensor
_BOARDS = 64  # at a time
_TILE, _THREADS = 64, 256  # hands of a block of threads in each direction; 4 x 4 pairs a thread

_SOURCE = r"""
extern "C" __global__ void __launch_bounds__(THREADS) count_wins(
        const short* __restrict__ rows, const short* __restrict__ columns, short* __restrict__ wins,
        int runouts, int hands) {
    // rows, columns [boards, runouts, hands]; wins [boards, hands, hands]. A block has TILE x TILE pairs of one board.
    __shared__ short own[32][TILE], other[32][TILE];
    const int tiles = (hands + TILE - 1) / TILE;
    const long long board = blockIdx.x / (tiles * tiles);
    const int tile = blockIdx.x % (tiles * tiles);
    const int first_row = tile / tiles * TILE, first_column = tile % tiles * TILE;
    const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;
    int count[4][4] = {};
    for (int first = 0; first < runouts; first += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 32 * TILE; i += THREADS) {
            const int runout = first + i / TILE, hand = i % TILE;
            const long long at = (board * runouts + runout) * hands;
            const bool there = runout < runouts;
            own[i / TILE][hand] = there && first_row + hand < hands ? rows[at + first_row + hand] : -1;
            other[i / TILE][hand] = there && first_column + hand < hands ? columns[at + first_column + hand] : 32767;
        }
        __syncthreads();
        for (int i = 0; i < 32; i++)
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++) count[a][b] += own[i][row + a] > other[i][column + b];
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (first_row + row + a < hands && first_column + column + b < hands)
                wins[(board * hands + first_row + row + a) * hands + first_column + column + b] = (short)count[a][b];
}
"""


def equity_matrices(runouts: Tensor, num_cards: int, dealt: int) -> Tensor:
    """Returns [B, H, H]: what hand h wins against hand h' if nobody bets more, in [-1, 1]; 0 where they share a card.

    float16 on a CUDA device, float32 elsewhere.

    Args:
        runouts: int16 [B, R, H] strengths on each runout, over all pairs of the live cards; -1 if it blocks the hand.
        num_cards: C, live cards.
        dealt: cards of a runout.
    """
    device = runouts.device
    pairs = torch.tril_indices(num_cards, num_cards, -1, device=device)
    holds = torch.zeros(pairs.shape[1], num_cards, device=device).scatter_(1, pairs.T, 1.0)
    apart = (holds @ holds.T) == 0
    matrices = torch.empty(
        len(runouts), *apart.shape, dtype=torch.float16 if runouts.is_cuda else torch.float32, device=device
    )
    free = comb(num_cards - 4, dealt)
    for first in range(0, len(runouts), _BOARDS):
        wins = (
            count_wins_on_device(runouts[first : first + _BOARDS])
            if runouts.is_cuda
            else _wins(runouts[first : first + _BOARDS])
        )
        matrices[first : first + _BOARDS] = (wins - wins.mT) * apart / free
    return matrices


def _wins(runouts: Tensor) -> Tensor:
    return torch.stack([torch.from_numpy(count_wins(board.numpy())) for board in runouts])


def count_wins_on_device(runouts: Tensor) -> Tensor:
    """Returns int16 [B, H, H]: on how many runouts the row's hand beats the column's; on a CUDA device."""
    batch, count, hands = runouts.shape
    if count > NEVER_BEATEN:
        raise ValueError(f"at most {NEVER_BEATEN} runouts can be counted, not {count}")
    rows = runouts.contiguous()
    columns = torch.where(rows < 0, NEVER_BEATEN, rows).contiguous()
    wins = torch.empty(batch, hands, hands, dtype=torch.int16, device=runouts.device)
    tiles = -(-hands // _TILE)
    _kernel(runouts.device.index or 0)(batch * tiles * tiles, _THREADS, rows, columns, wins, count, hands)
    return wins


@cache
def _kernel(device: int) -> Kernel:
    return Kernel(_SOURCE, "count_wins", {"TILE": _TILE, "THREADS": _THREADS})
