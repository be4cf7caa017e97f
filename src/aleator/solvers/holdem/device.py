"""Spots solved by the batched engine, on a CUDA device or in the same operations on a CPU; needs torch.

Status: values and files equal those of `HoldemSolver` (tests/solvers/holdem/test_device.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from aleator.errors import SolveError, TooBigError
from aleator.games.holdem.game import HoldemGame
from aleator.memory import available_memory
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem.whole import AVERAGE, BEST, WholeEngine
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.problem import SpotProblem
from aleator.solvers.holdem.solver import Quality, SpotSolver, compatible_weight
from aleator.solvers.regret_rule import RegretRule
from aleator.solvers.state import restore_vectors


class DeviceSolver(SpotSolver):
    """CFR on a spot by the batched engine."""

    first_check: ClassVar[int] = 10

    def __init__(self, plan: BoardPlan, rule: RegretRule, *, device: str) -> None:
        self.plan, self.spot, self.rule = plan, plan.spot, rule
        self.engine = WholeEngine([plan], rule, device=device)
        self.deals = compatible_weight(plan.weights)

    @property
    def iteration(self) -> int:  # type: ignore[override]
        """How many iterations have been run."""
        return self.engine.iteration

    @property
    def bits(self) -> int:
        """Rows are float32."""
        return 32

    def run(self, iterations: int) -> None:
        """Runs some more iterations, each of which updates both players."""
        self.engine.run(iterations)

    def _mean(self, player: int, mode: int) -> float:
        reach = self.engine.reach[player, 0].double()
        return float(reach @ self.engine.traverse(player, mode)[0].double()) / self.deals

    def values(self) -> tuple[float, float]:
        """Returns what both players win on average under the average policy, in chips in the zero-sum form."""
        return self._mean(0, AVERAGE), self._mean(1, AVERAGE)

    def quality(self) -> Quality:
        """Returns values and best-response values of the average policy, in chips."""
        return Quality(values=self.values(), best=(self._mean(0, BEST), self._mean(1, BEST)))

    def nash_conv(self) -> float:
        """Returns the NashConv of the average policy in chips."""
        return self._mean(0, BEST) + self._mean(1, BEST)

    def board_policies(self, level: int, player: int) -> Iterator[npt.NDArray[np.float32]]:
        """Returns `[R, H]` for each board of a street; see `SpotSolver`."""
        return self.engine.average_policies(level, player, self.plan.hands[player])

    def free_regrets(self) -> None:
        """Does nothing: regrets go with the engine."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the rows of all streets, copied from a device that is not the CPU."""
        return {
            f"{name}_{level}": tensor.cpu().numpy()
            for level, street in enumerate(self.engine.streets)
            for name, tensor in (("regrets", street.regrets), ("sums", street.sums))
        }

    def restore(self, iteration: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Goes on from the state of another such solver of the same spot and rule.

        Raises:
            ValueError: a vector is missing or has another shape or type.
        """
        own = self.state()
        restore_vectors(own, state)
        for level, street in enumerate(self.engine.streets):
            street.regrets.copy_(torch.from_numpy(own[f"regrets_{level}"]))
            street.sums.copy_(torch.from_numpy(own[f"sums_{level}"]))
        self.engine.iteration = iteration


class DeviceSpotProblem(SpotProblem):
    """A spot, solved by `DeviceSolver`; see `solvers.solve.Problem`."""

    def __init__(self, game: HoldemGame, device: str) -> None:
        super().__init__(game)
        self.device = device

    def prepare(self, algorithm: str, dtype: str) -> None:
        """Has nothing to compile."""

    def check_fits(self, algorithm: str, dtype: str) -> None:
        """Raises TooBigError, with advice, if a solve does not fit the memory of the device."""
        if dtype != "float32":
            raise SolveError(f"--device keeps rows in float32, not in {dtype}")
        hands = int((self.plan.weights > 0).any(0).sum())
        rows = sum(
            len(boards) * int(sum(forest.num_rows))
            for boards, forest in zip(self.plan.boards, self.plan.forests, strict=True)
        )
        needed = 8 * rows * hands
        cuda = self.device == "cuda"
        free = torch.cuda.mem_get_info()[0] if cuda else available_memory()
        if needed * 1.2 > free:
            raise TooBigError(
                f"the spot needs {needed / 2**30:.1f} GiB on the device, of which {free / 2**30:.1f} are free: "
                "use fewer bet sizes, or solve it without --device, where ranges take less"
            )

    def make_solver(self, algorithm: str, *, dtype: str, threads: int, seed: int) -> DeviceSolver:
        """Returns a solver at its beginning; nothing is sampled, so the seed does not matter."""
        return DeviceSolver(self.plan, parse_rule(algorithm), device=self.device)
