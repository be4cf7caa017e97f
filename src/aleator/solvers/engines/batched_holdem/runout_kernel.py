"""Strengths of all hands on all runouts of many boards, by one CUDA kernel: what `rounds` needs of a flop or a turn.

Algorithm:
    A block of threads has one board and one runout. It looks every hand's strength up as `games.holdem.evaluator` does,
    counts hands by strength in shared memory, and from running sums of these counts knows what part of the others each
    hand beats. The parts are summed over runouts in whole numbers, so that the order of the blocks does not matter.

Reference: none.

Deviations: none.

Status: equal to `rounds` on a CPU (tests/solvers/batched_holdem/test_runout_kernel.py, skipped without a device).
"""

from __future__ import annotations

from math import comb

import torch

from aleator.caching import cache
from aleator.games.holdem.cards import NUM_RANKS, NUM_SUITS
from aleator.games.holdem.evaluator import (
    COLUMN_MASK,
    FLUSH_BITS,
    FLUSH_CELL,
    NO_CARDS,
    ROW_MASK,
    ROW_SHIFT,
    SUIT_SHIFT,
)
from aleator.solvers.engines.batched_holdem.deck import Deck, evaluator_tensors
from aleator.solvers.engines.batched_holdem.nvrtc import Kernel

Tensor = torch.Tensor
_THREADS = 256
_STRENGTHS = 7_462  # different ones

SOURCE = rf"""
extern "C" __global__ void __launch_bounds__(THREADS) strengths(
        const long long* __restrict__ words, const long long* __restrict__ row, const long long* __restrict__ column,
        const int* __restrict__ strength, const long long* __restrict__ deck, const long long* __restrict__ boards,
        const long long* __restrict__ live, const long long* __restrict__ places, int num_runouts,
        short* __restrict__ runouts, int* __restrict__ total, unsigned long long* __restrict__ squares) {{
    // boards [B, BOARD], live [B, LIVE] places in the deck; places [R, DEALT] among the live cards
    __shared__ int count[STRENGTHS + 1];
    __shared__ int part[THREADS];
    __shared__ long long word[LIVE];
    __shared__ int card[LIVE];
    __shared__ bool dealt[LIVE];
    const long long board = blockIdx.x / num_runouts, runout = blockIdx.x % num_runouts;
    const long long* mine = places + runout * DEALT;
    for (int i = threadIdx.x; i <= STRENGTHS; i += THREADS) count[i] = 0;
    for (int i = threadIdx.x; i < LIVE; i += THREADS) {{
        card[i] = (int)deck[live[board * LIVE + i]];
        word[i] = words[card[i]];
        dealt[i] = false;
        for (int k = 0; k < DEALT; k++) dealt[i] |= mine[k] == i;
    }}
    __syncthreads();
    long long common = {NO_CARDS}LL;
    unsigned long long taken = 0;
    for (int k = 0; k < BOARD; k++) {{
        const int c = (int)deck[boards[board * BOARD + k]];
        common += words[c];
        taken |= 1ull << c;
    }}
    for (int k = 0; k < DEALT; k++) {{
        common += word[mine[k]];
        taken |= 1ull << card[mine[k]];
    }}
    short* found = runouts + (board * num_runouts + runout) * HANDS;
    for (int high = 1 + threadIdx.x / 32; high < LIVE; high += THREADS / 32)  // a warp has one high card
        for (int low = threadIdx.x % 32; low < high; low += 32) {{
            int value = -1;
            if (!dealt[high] && !dealt[low]) {{
                const long long all = common + word[high] + word[low];
                const int flush = (int)((all & {FLUSH_BITS}LL) >> {SUIT_SHIFT + 3});
                long long cell;
                if (flush) {{
                    const int suit = flush == 1 ? 0 : flush == 16 ? 1 : flush == 256 ? 2 : 3;
                    const unsigned long long held = taken | 1ull << card[high] | 1ull << card[low];
                    cell = {FLUSH_CELL};
                    for (int rank = 0; rank < {NUM_RANKS}; rank++)
                        cell += (long long)(held >> ({NUM_SUITS} * rank + suit) & 1) << rank;
                }} else
                    cell = row[all >> {ROW_SHIFT} & {ROW_MASK}LL] + column[all & {COLUMN_MASK}LL];
                value = strength[cell];
                atomicAdd(&count[value + 1], 1);
            }}
            found[high * (high - 1) / 2 + low] = (short)value;
        }}
    __syncthreads();
    const int width = (STRENGTHS + THREADS) / THREADS, first = threadIdx.x * width;
    int sum = 0;
    for (int i = first; i < first + width && i <= STRENGTHS; i++) sum += count[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {{
        const int before = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
        __syncthreads();
        part[threadIdx.x] += before;
        __syncthreads();
    }}
    sum = part[threadIdx.x] - sum;
    for (int i = first; i < first + width && i <= STRENGTHS; i++) count[i] = sum += count[i];
    __syncthreads();  // count[s] hands are weaker than s, count[s + 1] not stronger
    for (int hand = threadIdx.x; hand < HANDS; hand += THREADS) {{
        const int value = found[hand];
        if (value < 0) continue;
        const int twice = count[value] + count[value + 1];
        atomicAdd(&total[board * HANDS + hand], twice);
        atomicAdd(&squares[board * HANDS + hand], (unsigned long long)twice * twice);
    }}
}}
"""


def strengths(deck: Deck, boards: Tensor, cards: Tensor, places: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns what `RoundBoards` keeps of boards of three or four cards: runouts, strength and spread.

    Args:
        deck: on a CUDA device.
        boards: [B, n] places in the deck.
        cards: [B, C] places of the live cards.
        places: [R, 5 - n] all runouts, as numbers of live cards.
    """
    batch, live = cards.shape
    count, dealt = places.shape
    hands = comb(live, 2)
    runouts = torch.empty(batch, count, hands, dtype=torch.int16, device=deck.device)
    total = torch.zeros(batch, hands, dtype=torch.int32, device=deck.device)
    squares = torch.zeros(batch, hands, dtype=torch.int64, device=deck.device)
    kernel = _kernel(boards.shape[1], live, dealt, deck.device.index or 0)
    kernel(
        batch * count, _THREADS, *evaluator_tensors(deck.device), deck.cards, boards.contiguous(), cards.contiguous(),
        places.contiguous(), count, runouts, total, squares,
    )  # fmt: skip
    free, others = comb(live - 2, dealt), 2 * comb(live - dealt, 2)
    mean = total.double() / (free * others)
    variance = squares.double() / (free * others**2) - mean.square()
    return runouts, mean.float(), variance.clamp_min(0.0).sqrt().float()


def runout_sizes(board: int, live: int, dealt: int) -> dict[str, int]:
    """Returns what the kernel is compiled with."""
    sizes = {"BOARD": board, "LIVE": live, "DEALT": dealt, "HANDS": comb(live, 2)}
    return sizes | {"THREADS": _THREADS, "STRENGTHS": _STRENGTHS}


@cache
def _kernel(board: int, live: int, dealt: int, device: int) -> Kernel:
    return Kernel(SOURCE, "strengths", runout_sizes(board, live, dealt))
