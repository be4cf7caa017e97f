"""The steps of an update as fused Triton kernels: each reads and writes every row once.

The arithmetic is that of `walk`; here a program handles a block of rows with all their hands, and loops over children.
The update is read from device memory, so that launches can be captured in a CUDA graph and replayed.

Shared arguments: `hands` H, `HP` H rounded up to a power of two, `BLOCK` rows per program; `clock` holds the number of
updates done before the captured ones, `offset` counts them from there (from 1).
"""

from __future__ import annotations

import triton
import triton.language as tl

CHANGING = ["rows", "offset", "begin", "end"]  # numbers that must not make Triton compile anew


@triton.jit
def _keeps(kept, subgame, update):
    """Returns where what an update writes is part of the policies that are kept: those after it, or after the next."""
    wanted = tl.load(kept + subgame)
    return (wanted == update) | (wanted == update + 1)


@triton.jit
def _weight(regret, SHARP: tl.constexpr):
    """Returns what policies are proportional to: positive regrets, or those to the power 1.5."""
    positive = tl.maximum(regret, 0.0)
    return positive * tl.sqrt(positive) if SHARP else positive


@triton.jit(do_not_specialize=CHANGING)
def evaluate_ends(
    row_of, matrix_of, stakes, worth, first_worth, matrices, reach, values, rows, hands,
    PLAYER: tl.constexpr, HP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Writes cfvs of rows without children: stake x matrix x the opponent's reach; at leaves x what they are worth.

    Entries from `first_worth` on are leaves; `worth` [leaves, H].
    """
    entry = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = entry < rows
    hand = tl.arange(0, HP)
    ok = there[:, None] & (hand < hands)[None, :]
    row = tl.load(row_of + entry, mask=there, other=0)
    matrix = tl.load(matrix_of + entry, mask=there, other=0) * hands * hands
    total = tl.zeros((BLOCK, HP), tl.float32)
    for other in range(hands):
        weight = tl.load(reach + row * hands + other, mask=there, other=0.0)
        if PLAYER == 0:
            at = matrix[:, None] + hand[None, :] * hands + other
        else:
            at = matrix[:, None] + other * hands + hand[None, :]
        total += tl.load(matrices + at, mask=ok, other=0.0) * weight[:, None]
    leaf = entry >= first_worth
    stake = tl.load(stakes + entry, mask=there, other=0.0)
    if PLAYER == 1:
        stake = tl.where(leaf, stake, -stake)
    factor = tl.load(worth + (entry - first_worth)[:, None] * hands + hand[None, :], mask=ok & leaf[:, None], other=1.0)
    tl.store(values + row[:, None] * hands + hand[None, :], total * stake[:, None] * factor, mask=ok)


@triton.jit(do_not_specialize=CHANGING)
def update_level(
    actor_of, first_of, count_of, subgame_of, kept, schedule, clock, values, regret, policy, kept_policy, value_sums,
    begin, end, offset, hands,
    PLAYER: tl.constexpr, RESPOND: tl.constexpr, SHARP: tl.constexpr, ROOT: tl.constexpr, HP: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Pulls cfvs up into one level; updates the traverser's regrets and policy, or writes its best response.

    `schedule` [T, 6] has the discounts of each update; at the roots the sum of values is updated, too.
    """
    row = begin + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = row < end
    hand = tl.arange(0, HP)
    count = tl.load(count_of + row, mask=there, other=0)
    inner = there & (count > 0)
    first = tl.load(first_of + row, mask=there, other=0)
    own = inner & (tl.load(actor_of + row, mask=there, other=-1) == PLAYER)
    subgame = tl.load(subgame_of + row, mask=there, other=0)
    update = tl.load(clock) + offset
    discounts = schedule + (update - 1) * 6
    keep = own & _keeps(kept, subgame, update)
    most = tl.max(tl.where(inner, count, 0), axis=0)
    exists_hand = (hand < hands)[None, :]
    value = tl.zeros((BLOCK, HP), tl.float32)
    best = tl.full((BLOCK, HP), float("-inf"), tl.float32)
    for k in range(most):
        ok = (inner & (k < count))[:, None] & exists_hand
        at = (first + k)[:, None] * hands + hand[None, :]
        below = tl.load(values + at, mask=ok, other=0.0)
        if RESPOND:
            best = tl.maximum(best, tl.where(ok, below, float("-inf")))
            value += tl.where(own[:, None], 0.0, below)
        else:
            chance = tl.load(policy + at, mask=ok & own[:, None], other=1.0)
            value += chance * below
    if RESPOND:
        value = tl.where(own[:, None], best, value)
    cells = row[:, None] * hands + hand[None, :]
    tl.store(values + cells, value, mask=inner[:, None] & exists_hand)
    if ROOT:
        ok = inner[:, None] & exists_hand
        sums = tl.load(value_sums + cells, mask=ok, other=0.0)
        tl.store(value_sums + cells, sums * tl.load(discounts + 2) + value * tl.load(discounts + 3), mask=ok)
    total = tl.zeros((BLOCK, HP), tl.float32)
    positive, negative, floor = tl.load(discounts), tl.load(discounts + 1), tl.load(discounts + 4)
    for k in range(most):
        ok = (own & (k < count))[:, None] & exists_hand
        at = (first + k)[:, None] * hands + hand[None, :]
        below = tl.load(values + at, mask=ok, other=0.0)
        if RESPOND:
            weight = tl.where(ok & (below == value), 1.0, 0.0)
        else:
            old = tl.load(regret + at, mask=ok, other=0.0)
            new = tl.maximum(tl.where(old > 0, old * positive, old * negative) + (below - value), floor)
            tl.store(regret + at, new, mask=ok)
            weight = tl.where(ok, _weight(new, SHARP), 0.0)
        total += weight
    for k in range(most):
        ok = (own & (k < count))[:, None] & exists_hand
        at = (first + k)[:, None] * hands + hand[None, :]
        if RESPOND:
            weight = tl.where(tl.load(values + at, mask=ok, other=0.0) == value, 1.0, 0.0)
        else:
            weight = _weight(tl.load(regret + at, mask=ok, other=0.0), SHARP)
        chance = tl.where(total > 0, weight / total, 1.0 / tl.maximum(count, 1).to(tl.float32)[:, None])
        tl.store(policy + at, chance, mask=ok)
        tl.store(kept_policy + at, chance, mask=ok & keep[:, None])


@triton.jit(do_not_specialize=CHANGING)
def push_level(
    parent_of, mover_of, subgame_of, kept, schedule, clock, policy, reach, sums, kept_sums,
    begin, end, offset, hands,
    PLAYER: tl.constexpr, ALL: tl.constexpr, AFTER: tl.constexpr, HP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Pushes the traverser's reach into one level and adds it to its sums.

    The old reach is added (the policy that was played), or AFTER it the new one (fictitious play). Without ALL only
    rows that the traverser moved into are summed, which is all that an average policy needs; with ALL they give
    beliefs, too.
    """
    row = begin + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = row < end
    hand = tl.arange(0, HP)
    ok = there[:, None] & (hand < hands)[None, :]
    parent = tl.load(parent_of + row, mask=there, other=0)
    moved = tl.load(mover_of + row, mask=there, other=-1) == PLAYER
    update = tl.load(clock) + offset
    decay = tl.load(schedule + (update - 1) * 6 + 2)
    share = tl.load(schedule + (update - 1) * 6 + 3)
    at = row[:, None] * hands + hand[None, :]
    chance = tl.load(policy + at, mask=ok & moved[:, None], other=1.0)
    above = tl.load(reach + parent[:, None] * hands + hand[None, :], mask=ok, other=0.0)
    new = above * chance
    summed = ok if ALL else ok & moved[:, None]
    added = new if AFTER else tl.load(reach + at, mask=summed, other=0.0)
    total = tl.load(sums + at, mask=summed, other=0.0) * decay + added * share
    tl.store(sums + at, total, mask=summed)
    tl.store(reach + at, new, mask=ok)
    if ALL:
        subgame = tl.load(subgame_of + row, mask=there, other=0)
        keep = moved & _keeps(kept, subgame, update)
        tl.store(kept_sums + at, total, mask=ok & keep[:, None])
