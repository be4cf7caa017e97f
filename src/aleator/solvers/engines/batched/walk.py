"""The steps of an update on a forest, in plain torch.

The same steps as in the CPU engine (push reach down, evaluate the ends of the tree, pull counterfactual values up,
update regrets), each as a few operations on all rows of a level. `triton_walk` has them fused for CUDA and is tested
against these.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from aleator.solvers.engines.batched.forest import Forest

Tensor = torch.Tensor


class Level(NamedTuple):
    """The rows of one level as children: a slice of all rows, and how they hang on the level above."""

    rows: slice
    above: slice
    parent: Tensor  # [n] place of the parent in the level above
    moved: tuple[Tensor, Tensor]  # per player: [n, 1] bool, the player moved into the row
    lengths: Tensor  # [rows above] children
    uniform: Tensor  # [n, 1] 1 / siblings


def levels_of(forest: Forest) -> tuple[Level, ...]:
    """Returns levels 1, 2, ... of a forest."""
    levels = []
    for level in range(1, forest.num_levels):
        rows = slice(forest.bounds[level], forest.bounds[level + 1])
        above = slice(forest.bounds[level - 1], forest.bounds[level])
        if rows.start == rows.stop:
            break
        parent, mover = forest.parent[rows], forest.mover[rows]
        lengths = forest.num_children[above]
        uniform = (1.0 / forest.num_children[parent].to(forest.shapes.dtype))[:, None]
        moved = ((mover == 0)[:, None], (mover == 1)[:, None])
        levels.append(Level(rows, above, parent - above.start, moved, lengths, uniform))
    return tuple(levels)


def push_reach(levels: tuple[Level, ...], player: int, policy: Tensor, reach: Tensor) -> None:
    """Pushes a player's reach [R, H] from the roots down under a policy [R, H] (the action into each row)."""
    for level in levels:
        step = torch.where(level.moved[player], policy[level.rows], 1.0)
        torch.mul(reach[level.above][level.parent], step, out=reach[level.rows])


def sum_children(level: Level, rows: Tensor) -> Tensor:
    """Returns [rows above, H]: the sum of `rows` [n, H] over the children of each row above."""
    result = torch.zeros((len(level.lengths), rows.shape[1]), dtype=rows.dtype, device=rows.device)
    return result.index_add_(0, level.parent, rows)


def match(level: Level, weights: Tensor) -> Tensor:
    """Returns the policy [n, H] proportional to weights [n, H] >= 0 among siblings; uniform where all are zero."""
    total = sum_children(level, weights)[level.parent]
    return torch.where(total > 0, weights / total, level.uniform)


def update_regrets(
    levels: tuple[Level, ...], player: int, values: Tensor, regret: Tensor, policy: Tensor,
    positive: float, negative: float, floor: float, power: float,
) -> None:  # fmt: skip
    """Pulls the traverser's cfvs [R, H] up and updates its regrets and policy [R, H] on the way.

    `values` holds the cfvs of rows without children and zero elsewhere; old positive and negative regrets are
    discounted, and none falls below the floor; policies are proportional to positive regrets to a power.
    """
    for level in reversed(levels):
        moved, below = level.moved[player], values[level.rows]
        current = policy[level.rows]
        values[level.above] += sum_children(level, torch.where(moved, current * below, below))
        gain = below - values[level.above][level.parent]
        old = regret[level.rows]
        new = torch.where(old > 0, old * positive, old * negative).add_(gain).clamp_(min=floor)
        regret[level.rows] = torch.where(moved, new, old)
        policy[level.rows] = torch.where(moved, match(level, new.clamp_(min=0.0).pow_(power)), current)


def pull_values(levels: tuple[Level, ...], player: int, policy: Tensor, values: Tensor) -> None:
    """Pulls the traverser's cfvs [R, H] up under a fixed policy."""
    for level in reversed(levels):
        below = values[level.rows]
        values[level.above] += sum_children(level, torch.where(level.moved[player], policy[level.rows] * below, below))


def best_actions(level: Level, worth: Tensor) -> Tensor:
    """Returns [n, H]: probabilities among siblings by what they are worth [n, H]; equally good ones share."""
    best = torch.full((len(level.lengths), worth.shape[1]), -torch.inf, dtype=worth.dtype, device=worth.device)
    best.scatter_reduce_(0, level.parent[:, None].expand_as(worth), worth, "amax")
    return match(level, (worth == best[level.parent]).to(worth.dtype))


def respond(levels: tuple[Level, ...], player: int, values: Tensor, policy: Tensor) -> None:
    """Pulls the traverser's best-response cfvs up and writes the best response; equal actions share the probability."""
    for level in reversed(levels):
        moved, below = level.moved[player], values[level.rows]
        choice = best_actions(level, below)
        policy[level.rows] = torch.where(moved, choice, policy[level.rows])
        values[level.above] += sum_children(level, torch.where(moved, choice * below, below))


def pull_minimax(levels: tuple[Level, ...], player: int, values: Tensor, policy: Tensor) -> None:
    """Pulls a player's values [R, 1] up, both taking their best actions, and writes the player's policy [R, 1]."""
    for level in reversed(levels):
        moved, below = level.moved[player], values[level.rows]
        choice = best_actions(level, torch.where(moved, below, -below))
        policy[level.rows] = torch.where(moved, choice, policy[level.rows])
        values[level.above] += sum_children(level, torch.where(moved | level.moved[1 - player], choice * below, below))
