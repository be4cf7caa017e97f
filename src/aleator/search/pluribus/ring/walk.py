"""Monte Carlo CFR in a round of several players: all hands of one player at a time, the others' hands sampled.

Algorithm:
    A traversal draws a board and the hands of all but one player from everybody's beliefs, and goes down the round: at
    the traverser's decisions every action is followed, at the others' one is drawn. Values are rows over the
    traverser's hands, 0 for hands that share a card with what was drawn, so that every traversal updates the regrets of
    every hand. Hands are told apart in the round that is searched (before the flop up to suits), and fall into the
    blueprint's buckets later. At leaves everybody has chosen a continuation of the blueprint (`leaves`).

Reference: Brown and Sandholm 2019 (Science 365), supplement: "depth-limited search"; M. Johanson, N. Bard, M. Lanctot,
    R. Gibson, M. Bowling, "Efficient Nash Equilibrium Approximation through Monte Carlo Counterfactual Regret
    Minimization" (AAMAS 2012): opponent-public chance sampling.
Deviations: Pluribus updates one hand in a traversal of a large round, or all hands of all players in small ones. Folded
    players' cards are not dealt.
Status: tests/search/pluribus/ring/test_search.py compares traversals with a recursion.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aleator.jit import kernel
from aleator.search.pluribus.ring.arrays import Chances, Floats, Guide, Room
from aleator.search.pluribus.ring.leaves import end_values, leaf_values
from aleator.search.pluribus.ring.matching import draw_column, update_columns, update_searched
from aleator.search.pluribus.ring.tree import DECISION, END, TreeArrays
from aleator.solvers.engines.sampling.random import advance, pick, stream, uniform


@kernel()
def search_deals(
    seed: np.uint64, first: int, count: int, root: int, tree: TreeArrays, guide: Guide, chances: Chances,
    fixed: Floats, held: npt.NDArray[np.int64], regrets: Floats, room: Room,
) -> tuple[int, int]:  # fmt: skip
    """Updates the regrets of all players who are in, each by some traversals; returns visits, and deals that failed.

    Args:
        seed: of all randomness.
        first: the number of the first traversal of each player.
        count: how many.
        root: the node with which traversals begin.
        tree: the round.
        guide: the blueprint.
        chances: boards, and beliefs at the root.
        fixed: policies that are held, each ``[actions][columns]``.
        held: ``[N]`` where that of a node begins; -1: it is solved.
        regrets: updated.
        room: working memory.
    """
    visits, failed = 0, 0
    for number in range(first, first + count):
        for traverser in range(tree.paid.shape[1]):
            if not tree.live[root] >> traverser & 1:
                continue
            state = stream(seed, number, 0, 1 + traverser)
            state, board = _deal(state, traverser, int(tree.live[root]), chances, room)
            if board < 0:
                failed += 1
                continue
            visits += traverse(state, traverser, board, root, tree, guide, chances, fixed, held, regrets, room)
    return visits, failed


@kernel()
def _deal(state: np.uint64, traverser: int, live: int, chances: Chances, room: Room) -> tuple[np.uint64, int]:
    """Draws a board and the others' hands, none with a common card; returns the stream and the board, -1 for none."""
    hands = len(chances.masks)
    for _ in range(200):
        state = advance(state)
        board = min(int(uniform(state) * len(chances.boards)), len(chances.boards) - 1)
        taken, fits = chances.boards[board], True
        for player in range(len(room.hands)):
            if player == traverser or not live >> player & 1:
                continue
            state = advance(state)
            hand = pick(chances.ends[player], 0, hands, uniform(state))
            if chances.masks[hand] & taken:
                fits = False
                break
            taken |= chances.masks[hand]
            room.hands[player] = hand
        if fits:
            for hand in range(hands):
                room.alive[hand] = np.float32(0.0) if chances.masks[hand] & taken else np.float32(1.0)
            return state, board
    return state, -1


@kernel()
def traverse(
    state: np.uint64, traverser: int, board: int, root: int, tree: TreeArrays, guide: Guide, chances: Chances,
    fixed: Floats, held: npt.NDArray[np.int64], regrets: Floats, room: Room,
) -> int:  # fmt: skip
    """Updates a player's regrets by the deal that is in the room; returns the visits.

    The traverser's values at the root are left in the first row of ``room.values``.
    """
    hands, columns = len(chances.masks), chances.columns
    visits, place = 1, 0
    room.visit[0] = root
    while place < visits:  # down
        node = int(room.visit[place])
        room.below[place] = visits
        if tree.kind[node] == DECISION and tree.live[node] >> traverser & 1:
            begin, actions = int(tree.first[node]), int(tree.first[node + 1] - tree.first[node])
            if tree.player[node] == traverser:
                for action in range(actions):
                    room.visit[visits + action] = tree.child[begin + action]
                visits += actions
            else:
                hand = int(room.hands[int(tree.player[node])])
                column = int(chances.numbers[board, tree.street[node], hand])
                state = advance(state)
                number = uniform(state)
                if held[node] >= 0:
                    action = draw_column(number, fixed, int(held[node]) + column, columns, actions, room.odds)
                else:
                    at, width = int(tree.row[node]) + column, _width(node, tree, guide, columns)
                    action = draw_column(number, regrets, at, width, actions, room.odds)
                room.visit[visits] = tree.child[begin + action]
                visits += 1
        place += 1
    for place in range(visits - 1, -1, -1):  # up
        node, below = int(room.visit[place]), int(room.below[place])
        if not tree.live[node] >> traverser & 1 or tree.kind[node] == END:
            end_values(node, traverser, board, tree, chances, room, room.values[place])
        elif tree.kind[node] != DECISION:
            state = leaf_values(state, node, traverser, board, tree, guide, chances, regrets, room, room.values[place])
        elif tree.player[node] != traverser:
            for hand in range(hands):
                room.values[place, hand] = room.values[below, hand]
        else:
            actions, width = int(tree.first[node + 1] - tree.first[node]), _width(node, tree, guide, columns)
            children, numbers = room.values[below : below + actions], chances.numbers[board, tree.street[node]]
            at, values = int(tree.row[node]), room.values[place]
            block = regrets[at : at + actions * width]
            if held[node] >= 0:
                _held_values(fixed, int(held[node]), columns, actions, numbers, children, values)
            elif tree.street[node] == tree.street[0]:
                update_searched(block, actions, traverser, numbers, chances, children, room.policy, values)
            else:
                beliefs = chances.beliefs[traverser]
                update_columns(block, actions, width, numbers, beliefs, children, room.policy, values)
    return visits


@kernel(forceinline=True)
def _width(node: int, tree: TreeArrays, guide: Guide, columns: int) -> int:
    return columns if tree.street[node] == tree.street[0] else int(guide.counts[tree.street[node]])


@kernel()
def _held_values(
    fixed: Floats, at: int, columns: int, actions: int, numbers: npt.NDArray[np.int16], children: Floats,
    values: Floats,
) -> None:  # fmt: skip
    """Writes what hands are worth at a decision whose policy is held."""
    for hand in range(len(values)):
        values[hand] = np.float32(0.0)
    for action in range(actions):
        for hand in range(len(values)):
            values[hand] += fixed[at + action * columns + numbers[hand]] * children[action, hand]
