"""Fictitious play, linear fictitious play, and fictitious linear optimistic play (FLOP).

Algorithm:
    On iteration t a player best responds to a mixture of the opponent's average policy and last best response,
    and mixes the response into its own average, which begins with the uniform policy, with weight w_t:
        fictitious play           responds to the average,                          w_t = 1 / (t + 1)
        linear fictitious play    responds to the average,                          w_t = 2 / (t + 2)
        FLOP                      responds to t/(t+2) average + 2/(t+2) last,       w_t = 2 / (t + 2)
    Policies are mixed as whole policies, that is, their reach is: pi = (1 - w) pi + w pi_t.

Reference: ReBeL App. D.

Deviations:
    The paper writes w_t = 1/t and 2/(t+1), which forget the uniform policy at t = 1; then parts of the tree stay
    unreached and responses there are arbitrary (Liar's Dice 1x6 after 512 updates per player: .22 instead of .039).
    Here the uniform policy counts as one iteration; the authors' release keeps it too. The FP row of the paper's Table
    2 was made with linear weights, the default of the release: compare it with linear fictitious play.
    Updates alternate unless told otherwise: the second player responds to the first one's new average. Ties between
    best actions go to the first; results depend on how ties are broken, hence on rounding.

Status: tests/solvers/test_fictitious_play.py; ReBeL Table 2 and Fig. 3 by `aleator paper rebel-table2`, `rebel-fig3`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aleator.solvers.engines.cpu.engine import CpuEngine
from aleator.solvers.fictitious_rule import FICTITIOUS_PLAY, FictitiousRule
from aleator.solvers.update_solver import UpdateSolver
from aleator.solvers.updates import FictitiousUpdate
from aleator.trees.beliefs import Reach
from aleator.trees.public_tree import PublicTree


class FictitiousPlay(UpdateSolver):
    """A solver by fictitious play with the same interface as `CFR`, root reach included."""

    def __init__(
        self,
        tree: PublicTree,
        rule: FictitiousRule = FICTITIOUS_PLAY,
        *,
        dtype: npt.DTypeLike = np.float64,
        threads: int = 1,
        root_reach: Reach | None = None,
    ) -> None:
        self.rule = rule
        engine = CpuEngine(tree, dtype, threads)
        super().__init__(tree, engine, FictitiousUpdate(engine, rule, root_reach), root_reach)
