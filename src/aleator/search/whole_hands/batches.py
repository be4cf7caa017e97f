"""Betting rounds of one shape, solved together in torch, on a CPU or a GPU.

Algorithm:
    CFR by the batched engine (`solvers.engines.batched_holdem.plain`). A constraint on the opponents is a RANGEGADGET
    above each root. The policy to play is that of one iteration, drawn with the weights of the average policy: what the
    leaves were priced for is then what is believed behind them (safe search), in expectation. Players are updated in
    turn; a player's policy of an iteration is the one against which the opponent is updated, which is also the one that
    is averaged. Cfvs of the root and behind its actions are means over iterations, weighed as the average policy.
    Nothing of an iteration leaves the device, so that a GPU can get it as one graph; there kernels do the betting
    (`solvers.engines.batched_holdem.round_kernels`).

Reference: DeepStack, Algorithm 1; ReBeL section 6.
Deviations: sharp DCFR+ instead of CFR+ and linear CFR.
Status: a game's result does not depend on what it is solved with (tests/search/whole_hands/test_batches.py); kernels
    equal torch (tests/search/whole_hands/test_rivers.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from aleator.caching import lru_cache
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode
from aleator.search.budget import spend
from aleator.search.whole_hands.rounds import RoundTask, RowPolicies, SolvedRound
from aleator.solvers.engines.batched_holdem.payoffs import Payoffs
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs, LeafPayoffs, PlainEngine, match_regrets
from aleator.solvers.engines.batched_holdem.round_kernels import RoundKernels
from aleator.solvers.engines.batched_holdem.shapes import BettingShape, betting_of
from aleator.solvers.engines.batched_holdem.whole_kernels import KernelPayoffs
from aleator.solvers.engines.torch_threads import one_thread
from aleator.solvers.holdem.solver import HOLDEM_RULE

Tensor = torch.Tensor
_KEPT_SHAPES = 1024
_WORTH_CAPTURING = 30  # iterations: capturing one as a graph takes as long as some of them


class RoundShape(NamedTuple):
    """The betting of a round as the engine has it.

    Attributes:
        shape: without amounts.
        slices: the rows of each decision, by its number in the betting tree.
        matched: ``[K]`` the chips that both players have put in on this street at each stake.
    """

    shape: BettingShape
    slices: dict[int, slice]
    matched: FloatArray


@lru_cache(maxsize=_KEPT_SHAPES)
def round_shape(root: BettingNode) -> RoundShape:
    """Returns the shape of the betting from a decision to the end of its street."""
    shape, stakes = betting_of(root, 1)
    numbers = tree_numbers(shape, root)
    return RoundShape(shape, {numbers[node]: shape.rows(node) for node in shape.decisions}, stakes - 0.5)


def tree_numbers(shape: BettingShape, root: BettingNode) -> list[int]:
    """Returns the numbers in the betting tree of the nodes of its shape from a decision on, ``[N]``."""
    numbers = [root.number] + [0] * (shape.num_nodes - 1)
    for node in shape.decisions:
        for child, number in zip(shape.children[node], root.tree.children(numbers[node]), strict=True):
            numbers[child] = number
    return numbers


class RoundBatch:
    """Rounds of one shape, all with a constraint or all without, and their hands in the order of the engine.

    Attributes:
        tasks: what is solved.
        shape: of the betting.
        stakes: ``[B, K]`` what is lost at each stake, in chips.
        hands: ``[B, H]`` the hand of each column.
        places: ``[B, 1326]`` the column of each hand; -1 for hands that are not there.
    """

    def __init__(
        self,
        tasks: Sequence[RoundTask],
        hands: npt.NDArray[np.int64],
        places: npt.NDArray[np.int64],
        shapes: Sequence[RoundShape] | None = None,
    ) -> None:
        self.tasks, self.hands, self.places = tasks, hands, places
        self.shapes = shapes or [round_shape(task.game.root) for task in tasks]
        self.shape = self.shapes[0].shape
        pots = np.array([task.game.pot for task in tasks])
        self.stakes = np.stack([shape.matched for shape in self.shapes]) + pots[:, None] / 2

    def reach(self, device: torch.device) -> Tensor:
        """Returns both players' reach at the roots, [B, 2, H]."""
        rows = np.stack([task.game.reach[:, hands] for task, hands in zip(self.tasks, self.hands, strict=True)])
        return torch.from_numpy(rows).to(device, torch.float32)

    def gadgets(self, reach: Tensor) -> RangeGadgets | None:
        """Returns what stands above the roots; None without constraints."""
        constraints = [task.constraint for task in self.tasks if task.constraint is not None]
        if not constraints:
            return None
        player = constraints[0].player
        cfvs, dealt = (
            torch.from_numpy(np.stack([row[hands] for row, hands in zip(rows, self.hands, strict=True)]))
            for rows in ([c.cfvs for c in constraints], [c.dealt for c in constraints])
        )
        return RangeGadgets(player, cfvs.to(reach.device), dealt.to(reach.device) * (reach[:, player] > 0.0))

    def drawn(self, iterations: int, device: torch.device) -> Tensor | None:
        """Returns [B]: the number of the iteration that each game plays; None if all play the average policy."""
        if all(task.draw is None for task in self.tasks):
            return None
        weights = iteration_weights(iterations)
        chosen = [iterations if task.draw is None else task.draw(weights) for task in self.tasks]
        return torch.tensor(chosen, device=device)

    def solved(self, averages: Tensor, played: Tensor | None, cfvs: Tensor) -> list[SolvedRound]:
        """Returns the rounds.

        Args:
            averages: [B, R, H].
            played: [B, R, H], zeros where a game plays the average; None if all do.
            cfvs: [2, B, 1 + A, H] of both players at the root and behind its actions.
        """
        average_rows = averages.cpu().numpy()
        played_rows = None if played is None else played.cpu().numpy()
        cfv_rows = cfvs.double().cpu().numpy()
        rounds = []
        for number, (task, shape, places) in enumerate(zip(self.tasks, self.shapes, self.places, strict=True)):
            policies = RowPolicies(average_rows[number], shape.slices, places)
            chosen = policies
            if played_rows is not None and task.draw is not None:
                chosen = RowPolicies(played_rows[number], shape.slices, places)
            spread = np.where(places >= 0, cfv_rows[:, number][..., places], 0.0)
            player = task.game.player
            after, own_after = tuple(spread[1 - player, 1:]), tuple(spread[player, 1:])
            rounds.append(SolvedRound(task.game, policies, chosen, spread[:, 0], after, own_after=own_after))
        return rounds


class RangeGadgets:
    """`search.range_gadget.RangeGadget` for B games at once, on their device, nobody forced.

    Args:
        player: the opponent.
        constraint: [B, H] its cfvs for terminating.
        dealt: [B, H] how much of each hand is dealt and may choose.
    """

    def __init__(self, player: int, constraint: Tensor, dealt: Tensor) -> None:
        self.player, self._constraint, self._dealt = player, constraint, dealt
        self._regret = constraint.new_zeros(2, *constraint.shape)  # of following and of terminating
        self._follow = torch.full_like(constraint, 0.5)

    @property
    def reach(self) -> Tensor:
        """[B, H]: the opponent's reach at the roots."""
        return self._dealt * self._follow

    def update(self, cfvs: Tensor) -> Tensor:
        """Returns the opponent's next reach, given its cfvs [B, H] for following in this iteration."""
        mean = self._follow * cfvs + (1.0 - self._follow) * self._constraint
        self._regret += torch.stack([cfvs - mean, self._constraint - mean])
        self._regret.clamp_min_(0.0)
        total = self._regret.sum(0)
        self._follow.copy_(torch.where(total > 0.0, self._regret[0] / torch.where(total > 0.0, total, 1.0), 0.5))
        return self.reach


class WatchingEngine(PlainEngine):
    """An engine that keeps means of cfvs at the root and behind its actions, drawn iterations, and gadgets.

    Args:
        arguments, named: of `PlainEngine`.
        gadgets: above the roots.
        drawn: [B] the iteration whose policies are kept for each game.
    """

    def __init__(
        self, *arguments: Any, gadgets: RangeGadgets | None = None, drawn: Tensor | None = None, **named: Any
    ) -> None:
        super().__init__(*arguments, averages=True, **named)
        batch, _, hands = self.reach.shape
        self._sums = self.reach.new_zeros(2, batch, 1 + len(self.shape.children[0]), hands)
        self._gadgets, self._drawn = gadgets, drawn
        self._clock = torch.zeros((), dtype=torch.int64, device=self.reach.device)
        self._played = None if drawn is None else torch.zeros_like(self.regrets)
        self._entering = torch.zeros_like(self.reach[:, 0])
        if gadgets is not None:
            self.reach[:, gadgets.player] = gadgets.reach.to(self.reach)

    def means(self) -> Tensor:
        """Returns [2, B, 1 + A, H]: both players' mean cfvs at the root and behind its actions."""
        return self._sums / self._weight

    def played_policies(self) -> Tensor | None:
        """Returns [B, R, H]: the policies of the drawn iterations, zeros where none was; None if no game drew one."""
        return self._played

    def _iterate(self) -> None:
        self._sums *= self._discounts[2]
        super()._iterate()
        self._end_iteration()

    def _end_iteration(self) -> None:
        if self._gadgets is not None:
            self.reach[:, self._gadgets.player] = self._gadgets.update(self._entering.double()).to(self.reach)
        self._clock += 1

    def _update(self, player: int, cfvs: Tensor, policies: Tensor) -> None:
        self._sums[player] += cfvs[:, : self._sums.shape[2]]  # the root's children are the nodes that follow it
        self._enter(player, cfvs[:, 0])
        self._keep_drawn(1 - player, policies)
        super()._update(player, cfvs, policies)

    def _enter(self, player: int, cfvs: Tensor) -> None:
        """Remembers what following is worth [B, H] to whoever a gadget lets choose."""
        if self._gadgets is not None and player == self._gadgets.player:
            self._entering.copy_(cfvs)

    def _keep_drawn(self, player: int, rows: Tensor) -> None:
        """Keeps a player's rows [B, R, H] of the games that drew this iteration."""
        if self._played is not None and self._drawn is not None:
            own = self._at.rows[player]
            now = (self._drawn == self._clock)[:, None, None]
            self._played[:, own] = torch.where(now, rows[:, own], self._played[:, own])


class KernelEngine(WatchingEngine):
    """The same with the betting done by kernels.

    Args:
        arguments, named: of `WatchingEngine`; payoffs are `KernelPayoffs`, rows are over a multiple of four hands.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        assert isinstance(self.payoffs, KernelPayoffs) and self.policy_sum is not None and self.rule.alternating
        assert not isinstance(self.leaf_cfvs, LeafPayoffs)
        self._kernels = RoundKernels(self.shape, self.stakes, self.payoffs, self.leaf_cfvs)

    def played_policies(self) -> Tensor | None:
        if self._played is None or self._drawn is None:
            return None
        policies = match_regrets(self.shape, self._played, self.rule.power)
        return torch.where((self._drawn < self.iteration)[:, None, None], policies, 0.0)

    def _iterate(self) -> None:
        for player in (0, 1):
            self._keep_drawn(1 - player, self.regrets)
            cfvs = self._kernels.update(
                player, self.reach, self.regrets, self.policy_sum, self._sums[player], self._discounts,
                sharp=self.rule.power != 1.0,
            )  # fmt: skip
            self._enter(player, cfvs)
        self._end_iteration()


def solve_batch(
    batch: RoundBatch,
    payoffs: Payoffs | KernelPayoffs,
    iterations: int,
    device: torch.device,
    leaf_cfvs: LeafCfvs | LeafPayoffs | None = None,
    *,
    seconds: float | None = None,
    on_done: Callable[[int], object] | None = None,
) -> list[SolvedRound]:
    """Returns the rounds of a batch, solved.

    Args:
        batch: the rounds.
        payoffs: of folds and showdowns, over the batch's order of hands; `KernelPayoffs` if kernels do the betting.
        iterations: of CFR.
        device: where.
        leaf_cfvs: prices the leaves, if there are any; in chips.
        seconds: after which no further iterations are begun; None for no limit, which drawn iterations need.
        on_done: called with the number of iterations so far, where there is no limit.
    """
    reach = batch.reach(device)
    engine = (KernelEngine if isinstance(payoffs, KernelPayoffs) else WatchingEngine)(
        batch.shape,
        torch.from_numpy(batch.stakes).to(reach),
        reach,
        payoffs,
        HOLDEM_RULE,
        leaf_cfvs=leaf_cfvs,
        gadgets=batch.gadgets(reach),
        drawn=batch.drawn(iterations, device),
    )
    with one_thread():
        captured = device.type == "cuda" and iterations >= _WORTH_CAPTURING
        spend(partial(engine.run, captured=captured), iterations, seconds, on_done)
    return batch.solved(engine.average_policies(), engine.played_policies(), engine.means())


def iteration_weights(iterations: int) -> FloatArray:
    """Returns how much each iteration counts in the average policy, ``[iterations]``, summing to 1."""
    decays = HOLDEM_RULE.schedule(1, iterations)[:, 2]
    weights = np.append(np.cumprod(decays[:0:-1])[::-1], 1.0)
    return np.asarray(weights / weights.sum())
