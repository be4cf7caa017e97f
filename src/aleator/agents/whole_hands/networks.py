"""Whole hands by what Deep CFR or NFSP has trained on flop hold'em."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aleator.agents.whole_hands.pot_odds import PotOddsAgent
from aleator.agents.whole_hands.tree_agent import KnownTree, TreeAgent
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.whole_game import load_whole_game
from aleator.learning.sampled.board_play import BoardPlay
from aleator.learning.sampled.model import board_policies, load_model
from aleator.learning.sampled.traversal import Policies
from aleator.shipped import directory

_GAME = "flop-holdem"


class NetworkPosition(NamedTuple):
    """A betting node, and the cards that were dealt."""

    node: BettingNode
    board: tuple[int, ...]


class NetworkTree(KnownTree[NetworkPosition]):
    """The betting tree of a game from the blinds on, with what policies of networks say there."""

    def __init__(self, play: BoardPlay, policies: Policies) -> None:
        self._play, self._policies, self.dead, self.most = play, policies, 0, play.whole.stack

    def begins_at(self, state: HandState) -> bool:
        return state == self._play.whole.variant.setup.start()

    def start(self) -> NetworkPosition:
        return NetworkPosition(BettingNode(self._play.tree, 0), ())

    def betting(self, position: NetworkPosition) -> BettingNode:
        return position.node

    def act(self, position: NetworkPosition, action: int) -> NetworkPosition:
        return position._replace(node=position.node.children[action])

    def deal(self, position: NetworkPosition, cards: Sequence[int]) -> NetworkPosition:
        return NetworkPosition(position.node.children[0], (*position.board, *cards))

    def policy_at(self, position: NetworkPosition) -> FloatArray:
        block: FloatArray = self._play.policy(self._policies, position.node.number, [position.board])[0]
        return block


def network_agent(kind: str, file: Path | str | None = None) -> TreeAgent[NetworkPosition]:
    """Returns the agent that plays what `aleator train KIND --game flop-holdem` has trained.

    Args:
        kind: of networks.
        file: of networks; None: those that come with the package.

    Raises:
        StorageError: the file is none of these, or damaged.
        AgentError: it is of another kind, or its networks play a game that is not one of whole hands.
    """
    name = kind if file is None else f"{kind}:{file}"
    file = file or directory() / kind / f"{_GAME}.safetensors"
    model = load_model(file)
    if model.kind != kind:
        raise AgentError(f"{file} was trained by {model.kind}: play it as {model.kind}:{file}")
    if model.config.game != _GAME:
        raise AgentError(f"{file} was trained for {model.config.game}, which is not a game of whole hands: {_GAME} is")
    play = BoardPlay(load_whole_game(model.config.game))
    return TreeAgent(name, NetworkTree(play, board_policies(model, play)), PotOddsAgent())
