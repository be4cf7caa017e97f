"""Public belief states as inputs of a network.

Algorithm:
    The input is: what the network is told about the public state and the player whose values are asked for, then the
    belief over the hands of one player, then over those of the other. A belief is the chance of each hand, given the public
    state and the player's own reach.

Reference: ReBeL App. G: for Liar's Dice agent index, acting agent, one-hot last bid, beliefs of both agents.

Deviations:
    "relative" names players by who acts: "the one to act" and "the other" instead of 0 and 1. In games whose rules are the
    same for both players that halves what there is to learn. The paper's own encoding is "absolute"; "auto" is relative
    where that is possible.
    Games say themselves what a network is told (`Game.features`); OpenSpiel's observation tensors where everybody sees
    everything. Other games get a one-hot public state.

Status: tests/learning/test_encoding.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import torch

from aleator.errors import SolveError
from aleator.games.base import FloatArray, Game

Tensor = torch.Tensor
ENCODINGS = ("auto", "absolute", "relative")


def public_features(game: Game[Any], state: Any, states: Sequence[Any]) -> FloatArray:
    """Returns what a network is told about a public state, besides who acts and who asks.

    Args:
        game: the game.
        state: the public state.
        states: all public states that can be asked about, for the one-hot encoding of games without `features`.
    """
    told = game.features(state)
    if told is not None:
        return told
    features = np.zeros(len(states))
    features[states.index(state)] = 1.0
    return features


class Encoding:
    """Turns beliefs at a fixed list of public states into network inputs.

    Attributes:
        states: the public states, S.
        num_hands: H.
        features: [S, 2, F]: public features as seen for the values of each player.
        swap: [S] bool: player 1's belief comes first.
        marginal: [S, 2, H]: the chance of each hand as far as chance alone is concerned.
        size: length of an input, F + 2H.
        independent: at all of the public states each player's hand says nothing about the other's, but for their play.
    """

    def __init__(
        self,
        game: Game[Any],
        states: Sequence[Any],
        num_hands: int,
        *,
        kind: str = "auto",
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        if kind not in ENCODINGS:
            raise SolveError(f"unknown encoding {kind!r}; allowed: {', '.join(ENCODINGS)}")
        if kind == "auto":
            kind = "relative" if game.seats_are_alike else "absolute"
        if kind == "relative" and not game.seats_are_alike:
            raise SolveError(f"{game.name}: the relative encoding needs rules that are the same for both players")
        self.states, self.num_hands, self.kind = list(states), num_hands, kind
        rows, swap, marginal = [], [], []
        for state in self.states:
            actor, public = game.actor(state), public_features(game, state, self.states)
            if kind == "relative":
                rows.append([np.concatenate([[float(player == actor)], public]) for player in (0, 1)])
            else:
                rows.append([np.concatenate([[float(player), float(actor)], public]) for player in (0, 1)])
            swap.append(kind == "relative" and actor == 1)
            deal = game.deal(state)
            chances = np.zeros((2, num_hands))
            for player in (0, 1):
                of_player = deal.sum(axis=1 - player)
                chances[player, : len(of_player)] = of_player / of_player.sum()
            marginal.append(chances)
        self.features = torch.tensor(np.array(rows), dtype=dtype, device=device)
        self.swap = torch.tensor(swap, dtype=torch.bool, device=device)
        self.marginal = torch.tensor(np.array(marginal), dtype=dtype, device=device)
        self.size = int(self.features.shape[2]) + 2 * num_hands
        self.independent = all(
            np.allclose(deal := game.deal(state), np.outer(deal.sum(axis=1), deal.sum(axis=0)) / deal.sum())
            for state in self.states
        )

    @property
    def first_flag(self) -> float:
        """The first feature of a player whose belief is the first of the two."""
        return 1.0 if self.kind == "relative" else 0.0

    def of(self, states: Sequence[Any]) -> Encoding:
        """Returns the encoding of some of the public states, in the given order."""
        other = copy(self)
        number = {state: place for place, state in enumerate(self.states)}
        places = torch.tensor([number[state] for state in states], dtype=torch.int64, device=self.swap.device)
        other.states = list(states)
        other.features, other.swap, other.marginal = self.features[places], self.swap[places], self.marginal[places]
        return other

    def beliefs(self, index: Tensor, reach: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Returns per player [n, H] the belief over its hands; where nobody would come, chance alone decides.

        Args:
            index: [n] numbers of public states.
            reach: per player [n, H], up to a factor.
        """
        found = []
        for player in (0, 1):
            weight = self.marginal[index, player] * reach[player]
            total = weight.sum(dim=1, keepdim=True)
            found.append(torch.where(total > 0, weight / total, self.marginal[index, player]))
        return found[0], found[1]

    def encode(self, index: Tensor, player: int | Tensor, reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns inputs [n, F + 2H] for the values of a player, or of one in each row ([n])."""
        first, second = self.beliefs(index, reach)
        swap = self.swap[index][:, None]
        return torch.cat(
            [self.features[index, player], torch.where(swap, second, first), torch.where(swap, first, second)], dim=1
        )
