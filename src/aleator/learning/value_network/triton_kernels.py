"""The value network at leaves as two Triton kernels: beliefs into inputs, and the whole perceptron at once.

Hidden activations never leave the multiprocessor: a program takes a block of inputs through all layers in low precision
with float32 sums, LayerNorm and GELU in between.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["leaves"])
def encode_beliefs(
    row_of, state_of, swaps, marginal, reach0, reach1, inputs, leaves, hands, first,
    WIDTH: tl.constexpr, HP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Writes both players' beliefs at leaves into the columns of `inputs` [leaves, WIDTH] from `first` on."""
    leaf = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = leaf < leaves
    hand = tl.arange(0, HP)
    ok = there[:, None] & (hand < hands)[None, :]
    row = tl.load(row_of + leaf, mask=there, other=0)
    state = tl.load(state_of + leaf, mask=there, other=0)
    swap = tl.load(swaps + state, mask=there, other=0)
    at = row[:, None] * hands + hand[None, :]
    for player in tl.static_range(2):
        chance = tl.load(marginal + (state * 2 + player)[:, None] * hands + hand[None, :], mask=ok, other=0.0)
        weight = chance * tl.load((reach0 if player == 0 else reach1) + at, mask=ok, other=0.0)
        total = tl.sum(weight, axis=1)[:, None]
        belief = tl.where(total > 0, weight / total, chance)
        offset = first + tl.where(swap != 0, 1 - player, player) * hands
        tl.store(
            inputs + leaf[:, None] * WIDTH + offset[:, None] + hand[None, :],
            belief.to(inputs.dtype.element_ty),
            mask=ok,
        )


@triton.jit
def _gelu(x):
    """Returns GELU(x) in its tanh form; tanh(u) = 1 - 2 / (1 + exp(2 u))."""
    inner = 0.7978845608028654 * x * (1.0 + 0.044715 * x * x)
    return x * (1.0 - 1.0 / (1.0 + tl.exp(2.0 * inner)))


@triton.jit
def _activate(a, b, scale, shift, NORM: tl.constexpr, HALF: tl.constexpr):
    """Returns GELU(LayerNorm(x)) of x = [a b], each [BLOCK, HALF], in the same two halves."""
    unit = tl.arange(0, HALF)
    if NORM:
        mean = (tl.sum(a, axis=1) + tl.sum(b, axis=1)) / (2 * HALF)
        a = a - mean[:, None]
        b = b - mean[:, None]
        spread = tl.rsqrt((tl.sum(a * a, axis=1) + tl.sum(b * b, axis=1)) / (2 * HALF) + 1e-5)[:, None]
        a = a * spread * tl.load(scale + unit)[None, :] + tl.load(shift + unit)[None, :]
        b = b * spread * tl.load(scale + HALF + unit)[None, :] + tl.load(shift + HALF + unit)[None, :]
    return _gelu(a), _gelu(b)


@triton.jit(do_not_specialize=["leaves"])
def perceptron(
    inputs, w_in, b_in, w_hidden, b_hidden, scales, shifts, w_out, b_out, values, leaves, hands,
    LAYERS: tl.constexpr, NORM: tl.constexpr, WIDTH: tl.constexpr, DEPTH: tl.constexpr, HP: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Writes values [leaves, H] of inputs [leaves, WIDTH] through LAYERS hidden layers of DEPTH units.

    Weights are [in, out] in low precision, `w_hidden` [LAYERS - 1, DEPTH, DEPTH], `w_out` [DEPTH, HP]; the rest is
    float32. The units of a layer are held in two halves: a quarter of a matrix at a time fits in registers on its way,
    a whole one does not.
    """
    HALF: tl.constexpr = DEPTH // 2
    leaf = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, unit, hand = tl.arange(0, WIDTH), tl.arange(0, HALF), tl.arange(0, HP)
    there = leaf < leaves
    x = tl.load(inputs + leaf[:, None] * WIDTH + column[None, :], mask=there[:, None], other=0.0)
    low = x.dtype
    w = w_in + column[:, None] * DEPTH + unit[None, :]
    a = tl.dot(x, tl.load(w)) + tl.load(b_in + unit)[None, :]
    b = tl.dot(x, tl.load(w + HALF)) + tl.load(b_in + HALF + unit)[None, :]
    a, b = _activate(a, b, scales, shifts, NORM, HALF)
    for layer in tl.static_range(LAYERS - 1):
        p = a.to(low)
        q = b.to(low)
        w = w_hidden + layer * DEPTH * DEPTH + unit[:, None] * DEPTH + unit[None, :]
        a = tl.dot(p, tl.load(w))
        a = tl.dot(q, tl.load(w + HALF * DEPTH), a)
        b = tl.dot(p, tl.load(w + HALF))
        b = tl.dot(q, tl.load(w + HALF * DEPTH + HALF), b)
        a += tl.load(b_hidden + layer * DEPTH + unit)[None, :]
        b += tl.load(b_hidden + layer * DEPTH + HALF + unit)[None, :]
        norm = (layer + 1) * DEPTH
        a, b = _activate(a, b, scales + norm, shifts + norm, NORM, HALF)
    w = w_out + unit[:, None] * HP + hand[None, :]
    x = tl.dot(a.to(low), tl.load(w))
    x = tl.dot(b.to(low), tl.load(w + HALF * HP), x) + tl.load(b_out + hand)[None, :]
    tl.store(values + leaf[:, None] * hands + hand[None, :], x, mask=there[:, None] & (hand < hands)[None, :])
