"""Rivers in batches equal those of the exact engine of boards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.level_menu import LevelMenu
from aleator.search.whole_hands.exact import solve_exactly
from aleator.search.whole_hands.rivers import solve_rivers
from aleator.search.whole_hands.rounds import Constraint, RoundTask, SolvedRound, round_game
from aleator.solvers.engines.batched_holdem import whole_kernels
from aleator.solvers.engines.batched_holdem.deck import Deck
from tests.cuda_on_cpu import compile_for_the_cpu, needs_compiler
from tests.search.whole_hands.hands import BOARD, dealt, random_reach
from tests.search.whole_hands.test_exact import judged

FEW_BETS = LevelMenu.parse("100% all-in", "100% all-in", "100% all-in", "100% all-in; all-in")
BOARDS = (BOARD, (0, 17, 30, 51, 8), (4, 9, 22, 23, 40))


def tasks(*, constrained: bool) -> list[RoundTask]:
    """Returns rivers with pots, boards and reach of their own, and one shape."""
    found = []
    for number, (opening, board) in enumerate(zip((2_000, 2_400, 1_700), BOARDS, strict=True)):
        game = round_game(replace(dealt(3, opening), board=board), FEW_BETS, random_reach(number), to_the_end=True)
        rng = np.random.default_rng(number)
        promise = Constraint(1, rng.normal(0.0, 5e5, NUM_HANDS), rng.uniform(0.2, 1.0, NUM_HANDS))
        found.append(RoundTask(game, promise if constrained else None))
    return found


@pytest.mark.parametrize("constrained", [False, True])
def test_rivers_in_a_batch_are_worth_what_the_exact_engine_says(constrained: bool) -> None:
    games = tasks(constrained=constrained)
    for task, solved in zip(games, solve_rivers(games, Deck(), 150), strict=True):
        exact = solve_exactly(task.game, 150, constraint=task.constraint)
        unit = task.game.pot * task.game.reach.sum()
        for one, other in ((solved.root_cfvs, exact.root_cfvs), (np.stack(solved.after), np.stack(exact.after))):
            apart = np.abs(one - other) / unit
            assert apart.mean() < 1e-3 and apart.max() < 0.02
        assert sorted(solved.policies) == sorted(exact.policies)
        assert constrained or judged(solved).exploitability() / task.game.pot < 0.002


@needs_compiler
@pytest.mark.parametrize("constrained", [False, True])
def test_kernels_equal_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, constrained: bool) -> None:
    compiled = compile_for_the_cpu(whole_kernels.street_source(), {"THREADS": whole_kernels.THREADS}, tmp_path)
    monkeypatch.setattr(whole_kernels, "make_kernel", lambda name, shared_bytes, device: compiled[name])
    games = tasks(constrained=constrained)
    compare(solve_rivers(games, Deck(), 6), solve_rivers(games, Deck(), 6, kernels=True))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("constrained", [False, True])
def test_rivers_on_a_device_equal_those_on_a_cpu(constrained: bool) -> None:
    games = tasks(constrained=constrained)
    there = solve_rivers(games, Deck(device="cuda"), 150)
    compare(solve_rivers(games, Deck(), 150), there)
    for solved in there:
        assert constrained or judged(solved).exploitability() / solved.game.pot < 0.003


def compare(here: list[SolvedRound], there: list[SolvedRound]) -> None:
    """Asserts that rivers are worth the same, up to rounding that chose between actions that are nearly alike."""
    for one, other in zip(here, there, strict=True):
        unit = one.game.pot * one.game.reach.sum()
        for rows, others in ((one.root_cfvs, other.root_cfvs), (np.stack(one.after), np.stack(other.after))):
            apart = np.abs(rows - others) / unit
            assert apart.mean() < 2e-3 and apart.max() < 0.03
