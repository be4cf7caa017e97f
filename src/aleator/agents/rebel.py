"""ReBeL as an agent: search by a random iteration with a trained value network at the leaves, from a policy network on.

Reference: ReBeL section 6, Algorithm 2.
Deviations: an iteration of the paper updates one player, one of the agent's both: its 512 are the paper's 1,024.
Status: tests/agents/test_rebel.py; its exploitability by `aleator paper rebel-liars-dice`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aleator.agents.search import SearchAgent
from aleator.games.base import Game
from aleator.learning.rebel.model import load_model
from aleator.learning.rebel.network_value import NetworkValue
from aleator.learning.rebel.shipped import shipped_path
from aleator.search.budget import check_budget
from aleator.search.random_iteration import SearchConfig
from aleator.trees.subgame import DepthLimit


class RebelAgent(SearchAgent):
    """Searches by the rule that its network was trained with.

    Args:
        game: what it plays.
        network: the file of a value network; None for the one that comes with the game.
        iterations: of a search, each of which updates both players; minimax takes one.
        seconds: for one search, if fewer iterations fit in; None for no limit.
    """

    name = "rebel"

    def __init__(
        self, game: Game[Any], network: Path | str | None = None, *, iterations: int = 512, seconds: float | None = None
    ) -> None:
        check_budget(iterations, seconds)
        model = load_model(network or shipped_path(game.name))
        value = NetworkValue(model, game)
        config = SearchConfig(
            limit=DepthLimit(moves=model.config.depth),
            rule=model.config.rule,
            iterations=1 if model.config.rule.minimax else iterations,
            seconds=seconds,
            start=value.start,
        )
        super().__init__(game, config, value)

    def begin(self, seat: int, rng: np.random.Generator) -> None:
        """Begins a new game; the first search, the same in all games, is done before the first of them."""
        super().begin(seat, rng)
        self.prepare()
