"""Hold'em on a CUDA device: rivers by shape, labelled examples, turns with a network at leaves, whole spots."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from aleator.apps.benchmarking import Progress, Result
from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_HANDS
from aleator.games.holdem.game import HoldemGame
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import parse_spot
from aleator.learning.holdem.examples import Labelling, ranges_on, river_examples
from aleator.learning.holdem.gates import round_spot
from aleator.learning.holdem.leaves import round_engine
from aleator.learning.holdem.model import load_holdem_model
from aleator.learning.holdem.shipped import shipped_holdem_path
from aleator.learning.holdem.situations import random_ranges
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.fused import FusedRivers
from aleator.solvers.engines.batched_holdem.order import order_of
from aleator.solvers.engines.batched_holdem.rounds import equity_matrices, round_boards
from aleator.solvers.engines.batched_holdem.shapes import PotMenu
from aleator.solvers.engines.batched_holdem.whole import WholeEngine
from aleator.solvers.engines.boards.plan import BoardPlan
from aleator.solvers.holdem.device import DeviceSpotProblem
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from benchmarks.holdem import SPOTS

SUMMARY = "Rivers and turns in batches on a GPU, games per second by betting shape, and whole spots; needs CUDA."

_RIVERS = 2_112  # 16 per multiprocessor of an H200
_TURNS = 512
_EXACT_TURNS = 64
_ITERATIONS = 250


def run(progress: Progress) -> Result:
    """Returns games per second beside what the memory bandwidth of the same run would allow."""
    if not torch.cuda.is_available():
        raise SolveError("this benchmark needs a CUDA device that torch can use")
    deck, generator = Deck(device="cuda"), torch.Generator("cuda").manual_seed(0)
    bandwidth = _bandwidth()
    rows = []
    shapes = [(bets, stack) for bets in ((1.0,), (0.5, 1.0)) for stack in (0.4, 2.0, 6.0, 50.0)]
    for place, (bets, stack) in enumerate(shapes):
        progress(place / (len(shapes) + 2), f"rivers, bets {bets}, stack {stack}")
        rows.append(_rivers(deck, bets, stack, bandwidth, generator))
    progress(0.8, "labelled examples")
    chunk = 16_896
    river_examples(deck, chunk, Labelling(), generator)
    seconds = _seconds(lambda: river_examples(deck, chunk, Labelling(), generator), 2)
    notes = [f"labelled examples of DeepStack's mixture: {chunk / seconds:,.0f} a second"]
    for stack in (3.0, 20.0):
        progress(0.9, f"turns, stack {stack}")
        notes.append(_turns(deck, stack, generator))
    for stack in (1.0, 3.0):
        progress(0.93, f"exact turns, stack {stack}")
        notes.append(_exact_turns(deck, stack, generator))
    flop = Path(__file__).parents[1] / "examples" / "flop.toml"
    for name, text in [(name, text) for name, text, _ in SPOTS[1:]] + [("flop, typical ranges", flop.read_text())]:
        progress(0.95, name)
        notes.append(_spot(name, parse_spot(text), bandwidth))
    device = torch.cuda.get_device_name()
    title = f"{_ITERATIONS} iterations of sharp-dcfr+ on {device}, full ranges; {bandwidth / 1e12:.1f} TB/s"
    return Result(title=title, rows=rows, notes=notes)


def _rivers(
    deck: Deck, bets: tuple[float, ...], stack: float, bandwidth: float, generator: torch.Generator
) -> dict[str, Any]:
    order = order_of(deck, deck.random_boards(_RIVERS, 5, generator), generator)
    reach = random_ranges(2 * _RIVERS, order.num_hands, generator).view(_RIVERS, 2, -1)
    betting = PotMenu(bets=bets).betting(stack)
    stakes = torch.tensor(betting.stakes([stack] * _RIVERS), device="cuda")
    engine = FusedRivers(betting.shape, stakes, reach, order, parse_rule("sharp-dcfr+"))
    engine.run(2)
    seconds = _seconds(lambda: engine.run(_ITERATIONS), 3)
    # float16 regrets are read by both passes and written by one
    moved = 3 * 2 * betting.shape.num_rows * order.num_hands * _ITERATIONS
    return {
        "bets (pots)": ", ".join(f"{bet:g}" for bet in bets) + ", all-in",
        "stack (pots)": stack,
        "actions": betting.shape.num_rows,
        "games/s": _RIVERS / seconds,
        "roofline games/s": bandwidth / moved,
        "ratio": _RIVERS / seconds * moved / bandwidth,
    }


def _turns(deck: Deck, stack: float, generator: torch.Generator) -> str:
    network = load_holdem_model(shipped_holdem_path("turn"), device="cuda").network
    turn = round_boards(deck, deck.random_boards(_TURNS, 4, generator))
    reach = ranges_on(turn, generator)
    betting = PotMenu(to_showdown=False).betting(stack)
    tables = _seconds(lambda: equity_matrices(turn), 1)
    stacks = torch.full((_TURNS,), stack, device="cuda")
    network.compile()
    engine = round_engine(network, turn, betting, stacks, reach, parse_rule("sharp-dcfr+/simultaneous"))
    engine.run(3)
    seconds = _seconds(lambda: engine.run(_ITERATIONS, captured=True), 2) / _ITERATIONS
    leaves = len(betting.shape.leaves)
    speed = f"{_TURNS / (seconds * _ITERATIONS):,.0f} games/s of {_ITERATIONS} simultaneous iterations"
    return (
        f"turns with a network at {leaves} leaves, stack {stack:g}: {speed}, {1e3 * seconds:.2f} ms an iteration of "
        f"{_TURNS}; equities {_TURNS / tables:,.0f} boards/s"
    )


def _exact_turns(deck: Deck, stack: float, generator: torch.Generator) -> str:
    """Returns how many turns a second are solved together to the end of the hand, laying them out included."""
    turn = round_boards(deck, deck.random_boards(_EXACT_TURNS, 4, generator))
    reach = torch.zeros(_EXACT_TURNS, 2, NUM_HANDS, device="cuda")
    reach.scatter_(2, turn.hands[:, None].expand(-1, 2, -1), ranges_on(turn, generator))
    boards, rows = turn.boards.cpu().numpy(), reach.double().cpu().numpy()
    began = time.perf_counter()
    plans = [BoardPlan(round_spot(board, stack, row)) for board, row in zip(boards, rows, strict=True)]
    engine = WholeEngine(plans, parse_rule("sharp-dcfr+"), device="cuda")
    engine.run(5)
    torch.cuda.synchronize()
    laid_out = time.perf_counter() - began
    seconds = _seconds(lambda: engine.run(_ITERATIONS), 2)
    return (
        f"turns solved to the end of the hand, stack {stack:g}, pot and all-in: {_EXACT_TURNS / seconds:,.0f} a second "
        f"of {_ITERATIONS} iterations, {_EXACT_TURNS} together; laying them out and compiling took {laid_out:.1f} s"
    )


def _spot(name: str, spot: Spot, bandwidth: float) -> str:
    """Returns what an iteration of a whole spot takes, and a solve to 0.3 % of the pot with all that belongs to it."""
    game = HoldemGame(spot)
    limits = Limits(exploitability=0.003 * spot.pot, iterations=5_000)
    began = time.perf_counter()
    solved = solve(DeviceSpotProblem(game, "cuda"), "sharp-dcfr+", limits=limits).summary
    in_all = time.perf_counter() - began
    engine = WholeEngine([BoardPlan(spot)], parse_rule("sharp-dcfr+"), device="cuda")
    engine.run(5)  # the first are not captured
    seconds = _seconds(lambda: engine.run(20), 3) / 20
    # regrets and sums are read and written once, regrets once more for the opponent's reach
    moved = 5 * sum(street.regrets.nbytes for street in engine.streets)
    return (
        f"{name}: {1e3 * seconds:.2f} ms an iteration, {seconds * bandwidth / moved:.1f} times the roofline; "
        f"0.3 % of the pot after {solved.iterations} iterations, {in_all:.1f} s with building and "
        "compiling, if kernels were not kept"
    )


def _seconds(call: Callable[[], Any], repeats: int) -> float:
    """Returns the median time of a few calls, by the device's clock."""
    found = []
    for _ in range(repeats):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        before.record()
        call()
        after.record()
        torch.cuda.synchronize()
        found.append(before.elapsed_time(after) / 1e3)
    return float(np.median(found))


def _bandwidth() -> float:
    """Returns the bytes per second of a copy on the device, read and written."""
    one = torch.rand(1 << 29, device="cuda")
    two = torch.empty_like(one)
    two.copy_(one)
    return 2 * one.nbytes / _seconds(lambda: two.copy_(one), 5)
