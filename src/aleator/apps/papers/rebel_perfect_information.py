"""ReBeL section 5.4: with perfect information the same self-play, with one iteration, learns to play perfectly."""

from __future__ import annotations

from typing import Any

import torch

from aleator.apps.papers.base import Cell, Claim, OnProgress, Report, Settings
from aleator.learning.rebel.config import preset
from aleator.learning.rebel.perfect_information import SearchedPositions, search_positions
from aleator.learning.rebel.training import Trainer
from aleator.solvers.engines.batched.forest import Forest
from aleator.solvers.minimax import position_values

# name in the table -> (game of OpenSpiel, searches: quick, usual, full)
_GAMES = {
    "tic-tac-toe": ("tic_tac_toe", (0, 60_000, 200_000)),
    "nim 1, 3, 5": ("nim(pile_sizes=1;3;5)", (6_000, 20_000, 50_000)),
}
_CONVENTION = (
    "Untrained, trained: the least that search with the network wins in a seat, over all answers of the opponent and "
    "all draws among equally good actions. Value: the most that anybody can guarantee. Error: mean of |search - exact "
    "value|, untrained and after training, over all positions in which the game is not over; met: over those that are "
    "met if one player does what search does."
)
_DEVIATIONS = (
    "The paper names the special case and has no numbers for it. One iteration of search is minimax in a subgame of "
    "two moves. Positions are told apart by what is on the board, not by how it came about. The exploring player "
    "always acts at random (the paper's ε is .25): minimax does not mix, so that nothing else leads off the best line. "
    "A network of three layers of 128 units."
)


class _Exact:
    """A value function at leaves that is right."""

    def __init__(self, trainer: Trainer, values: dict[Any, float]) -> None:
        self._values = torch.tensor([values[state] for state in trainer.subgames.complete().states])[:, None]

    def bind(self, forest: Forest) -> Any:
        return lambda player, _: self._values[forest.leaf_states] * (1 - 2 * player)


def _errors(searched: SearchedPositions, exact: dict[Any, float]) -> tuple[float, float]:
    """Returns the mean error of values over all positions, and over those that can be met."""
    met = searched.met()
    wrong = {moment: abs(value - exact[moment[0]]) for moment, value in searched.values.items()}  # type: ignore[index]
    return sum(wrong.values()) / len(wrong), sum(wrong[moment] for moment in met) / len(met)


def _listed(games: dict[str, tuple[str, int]]) -> str:
    """Returns how many searches each game was trained with, in words."""
    return ", ".join(f"{label}: {searches:,} searches" for label, (_, searches) in games.items())


def run(settings: Settings, on_progress: OnProgress) -> Report:
    """Returns what search plays before and after training, against every opponent."""
    rows: list[tuple[Cell, ...]] = []
    claims: list[Claim] = []
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    games = {label: (name, int(settings.choose(*sizes))) for label, (name, sizes) in _GAMES.items()}
    games = {label: entry for label, entry in games.items() if entry[1]}
    total, before = sum(searches for _, searches in games.values()), 0
    for label, (name, searches) in games.items():
        config = preset(
            "perfect-information",
            game=f"openspiel:{name}",
            searches=searches,
            replay=searches // 2,  # values that were learnt from worse ones are forgotten
            seed=settings.seed,
        )
        trainer = Trainer(config)
        exact = position_values(trainer.game)
        untrained = searched = trainer.searched_positions()
        curves: dict[str, list[tuple[float, float]]] = {"exploitability": [], "value error, positions met": []}
        for metrics in trainer.run():
            on_progress((before + metrics.searches) / (total + config.games), label)
            if metrics.epoch % max(config.epochs // 10, 1) == 0 or trainer.done:
                searched = trainer.searched_positions()
                curves["exploitability"].append((metrics.searches, searched.exploitability()))
                curves["value error, positions met"].append((metrics.searches, _errors(searched, exact)[1]))
        before += searches
        panels[label] = curves
        errors = (_errors(untrained, exact), _errors(searched, exact))
        for seat, turn in enumerate(("first", "second")):
            value = exact[trainer.game.root()] * (1 - 2 * seat) + 0.0
            worst = [entry.worst(seat) for entry in (untrained, searched)]
            wrong = (*errors[0], *errors[1]) if seat == 0 else (None,) * 4
            rows.append((label, len(exact), turn, value, *worst, *wrong))
            claims.append(
                Claim(
                    text=f"{label}, moving {turn}: trained, it gets what the game is worth from every opponent",
                    measured=f"at worst {worst[1]:g}, the game is worth {value:g}; untrained {worst[0]:g}",
                    agrees=worst[1] == value,
                )
            )
        solved = search_positions(trainer.subgames, _Exact(trainer, exact), config.rule).exploitability()
        claims.append(
            Claim(
                text=f"{label}: one search iteration is enough (section 5.4)",
                measured=f"exploitability {solved:.1g} with exact values at the leaves of every subgame",
                agrees=abs(solved) < 1e-12,
            )
        )
    return Report(
        title="Games of perfect information by self-play with one search iteration (ReBeL section 5.4)",
        setting=f"subgames of two moves; {_listed(games)}; from scratch on a CPU{settings.mode}",
        convention=_CONVENTION,
        columns=(
            "game", "positions", "seat", "value", "untrained", "trained", "error", "met", "error after", "met after",
        ),
        rows=tuple(rows),
        claims=tuple(claims),
        panels=panels,
        x_label="subgames searched",
        y_label="exploitability (NashConv / 2), error",
        deviations=_DEVIATIONS,
    )  # fmt: skip
