"""`make curves`: draws the learning curves of docs/algorithms, exploitability of Leduc poker over iterations.

Each page of an iterative algorithm shows its own curves beside those that it is best compared with. Iterations update
both players. Curves are the same on every run, up to how a processor rounds; those that sample have a fixed seed.
"""

from __future__ import annotations

import json
from pathlib import Path

from aleator.apps.cli.output import note, plot_curves
from aleator.apps.papers.curves import Run, exploitability_curves, powers_of_two
from aleator.games import load_game
from aleator.trees import build_tree

GAME = "leduc"
ITERATIONS = 2048
FOLDER = Path(__file__).parent / "images" / "curves"
PAGES = {
    "cfr": ("cfr", "rm+", "cfr+", "cfr+quadratic"),
    "discounted-cfr": ("cfr", "lcfr", "lcfr+", "dcfr", "dcfr+", "sharp-dcfr+", "hs-dcfr"),
    "predictive-cfr": ("cfr+", "dcfr", "pcfr+", "pdcfr+", "hs-pcfr+"),
    "hedge": ("cfr", "hedge"),
    "fictitious-play": ("cfr", "fp", "linear-fp", "flop"),
    "mccfr": (
        "cfr",
        "mccfr:batch=100",
        "mccfr+:batch=100",
        "mccfr:outcome,batch=100",
        "mccfr:public-chance",
        "lmccfr:batch=100",
    ),
    "excessive-gap": ("cfr", "cfr+", "egt"),
    "pruning": ("cfr", "pp", "rbp", "brp"),
}
"""Page of docs/algorithms -> the algorithms on its chart."""
TRAINED = ("liars-dice-1x4", "liars-dice-1x5", "liars-dice-1x6", "liars-dice-1x7", "liars-dice-2x3")
"""Networks that come with the package, on the chart of docs/algorithms/rebel.md."""


def main() -> None:
    """Draws all pictures."""
    import matplotlib

    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "aleator"}
    tree, points = build_tree(load_game(GAME)), powers_of_two(1, ITERATIONS, per_octave=2)
    names = dict.fromkeys(name for algorithms in PAGES.values() for name in algorithms)
    runs = [Run((GAME, name), tree, name, points) for name in names]
    curves = exploitability_curves(runs, lambda share, text: None)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for page, algorithms in PAGES.items():
        shown = {name: curves[GAME, name] for name in algorithms}
        plot_curves(FOLDER / f"{page}.svg", "Leduc poker", "iterations", "exploitability, chips", shown)
        note(f"{page}: " + ", ".join(f"{name} {points[-1][1]:.2g}" for name, points in shown.items()))
    shown = {name: _losses(FOLDER.parents[2] / "models" / f"{name}.jsonl") for name in TRAINED}
    plot_curves(FOLDER / "rebel.svg", "Networks that come with it", "epochs", "loss", shown)


def _losses(log: Path) -> list[tuple[float, float]]:
    """Returns (epoch, loss) of a training run's log, from the fifth epoch on."""
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return [(row["epoch"], row["loss"]) for row in rows if row["epoch"] >= 5]


if __name__ == "__main__":
    main()
