"""What the Liar's Dice experiments of ReBeL share: the games, the convention of counting, the published numbers."""

from __future__ import annotations

from aleator.apps.papers.base import Points

GAMES = {"1x4f": "liars-dice:1x4", "1x5f": "liars-dice:1x5", "1x6f": "liars-dice:1x6", "2x3f": "liars-dice:2x3"}
TABLE_2 = {
    "FP": {"1x4f": 0.012, "1x5f": 0.024, "1x6f": 0.039, "2x3f": 0.057},
    "CFR": {"1x4f": 0.001, "1x5f": 0.001, "1x6f": 0.002, "2x3f": 0.002},
}
TABLE_2_REBEL = {
    "flop": {"1x4f": 0.041, "1x5f": 0.020, "1x6f": 0.040, "2x3f": 0.020},
    "cfr-d": {"1x4f": 0.017, "1x5f": 0.015, "1x6f": 0.024, "2x3f": 0.017},
}
TABLE_2_ITERATIONS = 1024
CONVENTION = (
    "An iteration of the paper updates one player, one of ours both: its {paper:,} iterations are {ours:,} of ours. "
    "Exploitability is NashConv / 2 of the average policy. CFR is linear CFR (our lcfr)."
)
X_LABEL, Y_LABEL = "iterations, each updates one player", "exploitability (NashConv / 2)"


def convention(paper: int) -> str:
    """Returns the convention of counting for that many iterations of the paper."""
    return CONVENTION.format(paper=paper, ours=paper // 2)


def one_player(points: Points) -> list[tuple[float, float]]:
    """Returns a curve over our iterations as one over the paper's, which update one player each."""
    return [(2 * iteration, exploitability) for iteration, exploitability in points]
