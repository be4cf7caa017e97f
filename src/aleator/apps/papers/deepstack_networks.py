"""DeepStack's supplement, "Deep Counterfactual Value Networks": Huber losses on situations that nobody trained on."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.errors import SolveError
from aleator.learning.holdem.examples import Examples, Labelling
from aleator.learning.holdem.fitting import Errors, errors_of, measure
from aleator.learning.holdem.model import load_holdem_model
from aleator.learning.holdem.network import HoldemValueNetwork
from aleator.learning.holdem.shipped import shipped_holdem_path
from aleator.learning.holdem.streets import STREETS
from aleator.learning.holdem.teaching import ExampleMaker
from aleator.solvers.engines.batched_holdem.deck import Deck

# street, the paper's Huber loss, Supremus'; situations and iterations if quick, usually, on a GPU
_STREETS = (
    ("river", None, 0.015, (8, 64, 8_192), (60, 250, 1_000)),
    ("turn", 0.026, 0.010, (1, 6, 1_056), (40, 150, 500)),
)
_SEED = 999_983  # as in training, which never draws these
_CONVENTION = (
    "Errors of counterfactual values in pots over all hands alike: the mean Huber loss, quadratic up to one pot. "
    "Situations are DeepStack's: random boards, pots and ranges R(S, p). Labels are solved to the end of the game."
)
_DEVIATIONS = (
    "DeepStack's turn network is of the start of the turn, ours of its end, before the river card: that is where it "
    "sits in a search. Labels bet the pot or all-in. Networks of the flop and preflop are measured by their slices, "
    "against solves with the next network at the leaves (docs/algorithms/hunl.md)."
)


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns a row per shipped network whose situations can be solved to the end."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows: list[tuple[Cell, ...]] = []
    claims = []
    for number, (street, paper, supremus, sizes, iterations) in enumerate(_STREETS):
        size, often = (sizes[2], iterations[2]) if device == "cuda" and not settings.quick else (
            int(settings.choose(sizes[0], sizes[1], 4 * sizes[1])), int(settings.choose(*iterations))
        )  # fmt: skip
        on_progress(number / len(_STREETS), f"{street}: {size:,} situations")
        model = load_holdem_model(shipped_holdem_path(street), device=device)
        ours, checked = errors_on(model.network, size, often, device)
        trained = model.report.get("all_examples")
        rows.append((street, trained, size, checked.huber, ours.huber, ours.weighted, ours.ev, paper, supremus))
        best = paper if paper is not None else supremus
        claims.append(
            Claim(
                text=f"{street}: Huber loss of at most {best} on held-out situations",
                measured=f"{ours.huber:.4f}, checking down {checked.huber:.4f}",
                agrees=ours.huber <= best,
            )
        )
    return Report(
        title="Value networks on situations that were never trained on (DeepStack's supplement)",
        setting=f"single networks as shipped, on {device}{settings.mode}",
        convention=_CONVENTION,
        columns=(
            "street", "trained on", "measured on", "checking down", "Huber", "range-weighted", "EV", "DeepStack",
            "Supremus",
        ),
        rows=tuple(rows),
        panels={"Huber loss": {"ours": [(float(index + 1), float(row[4] or 0)) for index, row in enumerate(rows)]}},
        x_label="network",
        y_label="Huber loss, pots",
        deviations=_DEVIATIONS,
        claims=tuple(claims),
    )  # fmt: skip


def errors_on(network: HoldemValueNetwork, count: int, iterations: int, device: str) -> tuple[Errors, Errors]:
    """Returns the errors of a network and of checking down on so many situations of its street, solved to the end.

    Raises:
        SolveError: what comes after the street is too much to be solved for every situation.
    """
    street = STREETS[network.shape.street]
    if street.name not in ("river", "turn"):
        raise SolveError(f"situations of the {street} cannot be solved to the end; allowed: river, turn")
    generator = torch.Generator(device).manual_seed(_SEED)
    labelling = Labelling(iterations=iterations, deep_iterations=2 * iterations)
    maker = ExampleMaker(street, Deck(device=device), labelling)
    parts = [maker.make(min(256, count - first), generator) for first in range(0, count, 256)]
    examples = _joined(parts)
    return measure(network, examples), errors_of(examples.rows[:, 2:4], examples)


def _joined(parts: Sequence[Examples]) -> Examples:
    return Examples(*(torch.cat(fields) for fields in zip(*parts, strict=True)))
