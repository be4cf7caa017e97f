"""An agent that re-solves at each of its decisions, carrying its own reach and the opponent's values (DeepStack)."""

from __future__ import annotations

from typing import Any

from aleator.agents.searcher import SearcherAgent
from aleator.games.base import Game
from aleator.search.continual_resolving import ContinualSearch, ContinualSearcher
from aleator.trees.public_tree import PublicTree, build_tree


class ContinualAgent(SearcherAgent):
    """Plays by continual re-solving; it has no blueprint.

    Args:
        game: what it plays.
        config: how it re-solves.
        tree: of the game, if it is built already.
    """

    def __init__(
        self, game: Game[Any], config: ContinualSearch | None = None, *, tree: PublicTree | None = None
    ) -> None:
        self.config = config or ContinualSearch()
        whole = build_tree(game) if tree is None else tree
        super().__init__(
            whole,
            lambda seat: ContinualSearcher(whole, seat, self.config),
            name="continual",
            seconds=self.config.seconds,
        )
