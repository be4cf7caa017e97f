"""What rounds are worth that are solved with a hold'em network at their leaves, by exact exploitability."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from aleator.apps.benchmarking import Progress, Result
from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_HANDS
from aleator.learning.holdem.examples import ranges_on
from aleator.learning.holdem.gates import judge, round_of, round_policies, round_spot
from aleator.learning.holdem.model import HoldemModel, load_holdem_model
from aleator.learning.holdem.shipped import shipped_holdem_path
from aleator.learning.holdem.streets import STREETS
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.rounds import round_boards
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.device import DeviceSolver
from aleator.solvers.holdem.solver import HOLDEM_RULE, HoldemSolver

SUMMARY = (
    "Exploitability of turns and flops played with a hold'em network at their leaves; ALEATOR_NETWORK names another."
)

_STACKS = (1.0, 3.0, 6.0)
_SEARCHED, _JUDGED = 100, 200
_RULE = "sharp-dcfr+/simultaneous"


def run(progress: Progress) -> Result:
    """Returns exploitability in % of the pot beside an exact solve of as many iterations."""
    model, name = _model()
    street, rows = STREETS[model.network.shape.street], []
    if street.starts or street.board == 0:
        raise SolveError(f"gates are for the ends of the turn and the flop, not for the {street}")
    generator = torch.Generator().manual_seed(0)
    for place, stack in enumerate(_STACKS):
        for ranges in ("R(S, p)", "all hands"):
            progress((place + (ranges == "all hands") / 2) / len(_STACKS), f"stack {stack:g}, {ranges}")
            rows.append(_row(model, street.board, stack, ranges, generator))
    title = f"{name}: {_SEARCHED} iterations of {_RULE}, judged by exact solves of {_JUDGED}, % of the pot"
    return Result(title=title, rows=rows)


def _model() -> tuple[HoldemModel, str]:
    path = os.environ.get("ALEATOR_NETWORK")
    file = Path(path) if path else shipped_holdem_path("turn")
    return load_holdem_model(file, device=_device() or "cpu"), file.name


def _device() -> str | None:
    """Returns cuda where it is, which judges a flop in seconds; the CPU's own solver judges elsewhere."""
    return "cuda" if torch.cuda.is_available() else None


def _row(model: HoldemModel, cards: int, stack: float, ranges: str, generator: torch.Generator) -> dict[str, Any]:
    deck = Deck()
    boards = round_boards(deck, deck.random_boards(1, cards, generator))
    hands, reach = boards.hands[0].numpy(), np.zeros((2, NUM_HANDS))
    reach[:, hands] = ranges_on(boards, generator)[0].numpy() if ranges != "all hands" else 1.0
    spot = round_spot(boards.boards[0].tolist(), stack, reach)
    shape, _ = round_of(spot)
    policies = round_policies(spot, model.network, parse_rule(_RULE), _SEARCHED)
    gate = judge(spot, shape, policies, iterations=_JUDGED, device=_device())
    exact = DeviceSolver(BoardPlan(spot), HOLDEM_RULE, device="cuda") if _device() else HoldemSolver(spot)
    exact.run(_SEARCHED)
    return {
        "stack": stack,
        "ranges": ranges,
        "network": 100 * gate.exploitability,
        "exact solve": 100 * exact.quality().exploitability / spot.pot,
        "judged to within": 100 * gate.tolerance,
    }
