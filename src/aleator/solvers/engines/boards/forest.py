"""The shape of the betting on one street: one betting tree for each line that leads to the street.

Nodes of a forest are in sibling order, tree after tree, so that children lie side by side. Each player's storage holds,
per board, a row of hands for every action of each of the player's decisions. Reach lives in *slots*: a slot per line for
the roots, then one per action of the player; a node's slot is that of the player's last action.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.spot import Rake
from aleator.solvers.engines.cpu.simd import WIDE

Int32Array = npt.NDArray[np.int32]
Float32Array = npt.NDArray[np.float32]

FOLD, SHOWDOWN, NEXT = 2, 3, 4
NOWHERE = -1


class Forest(NamedTuple):
    """What the kernels know about one street. N nodes, lanes padded to a multiple of WIDE; [2, ...] is per player."""

    kind: npt.NDArray[np.int8]  # [N] 0 or 1: that player acts; FOLD, SHOWDOWN, NEXT
    first_child: Int32Array  # [N]
    num_children: Int32Array  # [N]
    row: Int32Array  # [N] first storage row of a decision
    slot: Int32Array  # [2, N] the player's reach
    inner: Int32Array  # decisions, parents first
    roots: Int32Array  # [lines] the node that each line leads to
    next_nodes: Int32Array  # the nodes of kind NEXT; entry k is line k of the next street
    num_rows: Int32Array  # [2] storage rows per board
    num_slots: Int32Array  # [2]
    lane_slot: Int32Array  # [2, lanes] opponent's slot, per traverser
    lane_fold: Int32Array  # [2, lanes] the FOLD node whose value the lane gives, or NOWHERE
    lane_show: Int32Array  # [2, lanes] the SHOWDOWN node, or NOWHERE
    fold_amount: Float32Array  # [2, lanes] payoff per unit of reach of compatible hands
    show_amount: Float32Array  # [2, lanes] payoff per unit of (weaker - stronger) reach
    rake_amount: (
        Float32Array  # [2, lanes] payoff at a showdown per unit of reach of compatible hands: minus half the rake
    )
    num_lanes: Int32Array  # [2] lanes in use, padded to a multiple of WIDE


def build_forest(trees: Sequence[BettingNode], pot: int, rake: Rake, chance: float) -> tuple[Forest, list[BettingNode]]:
    """Returns the forest of a street and the betting node behind each of its nodes.

    Args:
        trees: the first node of the street for each line that leads to it.
        pot: chips in the middle at the start of the whole tree.
        rake: what the house takes.
        chance: probability of each board of this street, given both hands; payoffs are multiplied by it.
    """
    nodes: list[BettingNode] = list(trees)
    first_child, num_children = [0] * len(trees), [0] * len(trees)
    waiting = list(range(len(trees) - 1, -1, -1))
    while waiting:
        place = waiting.pop()
        if nodes[place].kind == NodeKind.DECISION:
            first_child[place], num_children[place] = len(nodes), len(nodes[place].children)
            waiting.extend(range(len(nodes) + num_children[place] - 1, len(nodes) - 1, -1))
            nodes.extend(nodes[place].children)
            first_child.extend([0] * num_children[place])
            num_children.extend([0] * num_children[place])
    codes = {NodeKind.FOLD: FOLD, NodeKind.SHOWDOWN: SHOWDOWN, NodeKind.NEXT_STREET: NEXT}
    kind = np.array([codes.get(node.kind, node.player) for node in nodes], dtype=np.int8)
    inner = np.flatnonzero(kind <= 1)
    row = np.zeros(len(nodes), dtype=np.int32)
    slot = np.zeros((2, len(nodes)), dtype=np.int32)
    slot[:, : len(trees)] = np.arange(len(trees))
    num_rows, num_slots = [0, 0], [len(trees), len(trees)]
    for place in inner:
        player, count = int(kind[place]), num_children[place]
        children = slice(first_child[place], first_child[place] + count)
        row[place] = num_rows[player]
        slot[player, children] = num_slots[player] + np.arange(count)
        slot[1 - player, children] = slot[1 - player, place]
        num_rows[player] += count
        num_slots[player] += count
    lanes = [_lanes(nodes, kind, slot, player, pot, rake, chance) for player in (0, 1)]
    width = max(len(lane["slot"]) for lane in lanes)
    return (
        Forest(
            kind=kind,
            first_child=np.array(first_child, dtype=np.int32),
            num_children=np.array(num_children, dtype=np.int32),
            row=row,
            slot=slot,
            inner=inner.astype(np.int32),
            roots=np.arange(len(trees), dtype=np.int32),
            next_nodes=np.flatnonzero(kind == NEXT).astype(np.int32),
            num_rows=np.array(num_rows, dtype=np.int32),
            num_slots=np.array(num_slots, dtype=np.int32),
            lane_slot=_stack(lanes, "slot", width, 0).astype(np.int32),
            lane_fold=_stack(lanes, "fold", width, NOWHERE).astype(np.int32),
            lane_show=_stack(lanes, "show", width, NOWHERE).astype(np.int32),
            fold_amount=_stack(lanes, "fold_amount", width, 0.0).astype(np.float32),
            show_amount=_stack(lanes, "show_amount", width, 0.0).astype(np.float32),
            rake_amount=_stack(lanes, "rake_amount", width, 0.0).astype(np.float32),
            num_lanes=np.array([len(lane["slot"]) for lane in lanes], dtype=np.int32),
        ),
        nodes,
    )


def _stack(lanes: list[dict[str, list[float]]], key: str, width: int, fill: float) -> npt.NDArray[np.float64]:
    return np.array([lane[key] + [fill] * (width - len(lane[key])) for lane in lanes])


def _lanes(
    nodes: list[BettingNode],
    kind: npt.NDArray[np.int8],
    slot: Int32Array,
    player: int,
    pot: int,
    rake: Rake,
    chance: float,
) -> dict[str, list[float]]:
    """Returns one lane per opponent's slot with terminals below: at most one fold and one showdown share a slot.

    Lanes with a showdown come first, so that whole batches can skip the scan.
    """
    fold: dict[int, int] = {}
    show: dict[int, int] = {}
    for place in np.flatnonzero((kind == FOLD) | (kind == SHOWDOWN)):
        target = fold if kind[place] == FOLD else show
        key = int(slot[1 - player, place])
        assert key not in target, "two terminals of one kind share a slot"
        target[key] = int(place)
    slots = sorted(show) + sorted(set(fold) - set(show))
    slots += slots[-1:] * (-len(slots) % WIDE)
    lanes: dict[str, list[float]] = {
        name: [] for name in ("slot", "fold", "show", "fold_amount", "show_amount", "rake_amount")
    }
    used: set[int] = set()
    for key in slots:
        padding = key in used
        used.add(key)
        fold_at = NOWHERE if padding else fold.get(key, NOWHERE)
        show_at = NOWHERE if padding else show.get(key, NOWHERE)
        won = lost = taken = 0.0
        if fold_at != NOWHERE:
            node = nodes[fold_at]
            matched = min(node.chips)
            lost = pot / 2 + matched
            won = lost - rake.amount(pot + 2 * matched)
            lost = -lost if node.player == player else won
        if show_at != NOWHERE:
            matched = min(nodes[show_at].chips)
            taken = rake.amount(pot + 2 * matched)
            won = pot / 2 + matched
        lanes["slot"].append(key)
        lanes["fold"].append(fold_at)
        lanes["show"].append(show_at)
        lanes["fold_amount"].append(lost * chance if fold_at != NOWHERE else 0.0)
        lanes["show_amount"].append((won - taken / 2) * chance if show_at != NOWHERE else 0.0)
        lanes["rake_amount"].append(-taken / 2 * chance)
    return lanes
