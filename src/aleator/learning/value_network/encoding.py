"""Public belief states as inputs of a network.

Algorithm:
    The input is: what the network is told about the public state and the player whose values are asked for, then the
    belief over the hands of one player, then over those of the other. A belief is the chance of each hand, given the
    public state and the player's own reach.

Reference: ReBeL App. G: for Liar's Dice agent index, acting agent, one-hot last bid, beliefs of both agents.

Deviations:
    "relative" names players by who acts: "the one to act" and "the other" instead of 0 and 1. In games whose rules are
    the same for both players that halves what there is to learn. The paper's own encoding is "absolute"; "auto" is
    relative where that is possible.
    Games say themselves what a network is told (`Game.features`); OpenSpiel's observation tensors where everybody sees
    everything. Other games get a one-hot public state.

Status: tests/learning/value_network/test_encoding.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import torch

from aleator.errors import SolveError, check_known
from aleator.games.base import FloatArray, Game
from aleator.solvers.engines.batched.growing import Growing

Tensor = torch.Tensor
ENCODINGS = ("auto", "absolute", "relative")


class Encoding:
    """Turns beliefs at public states into network inputs.

    Attributes:
        states: the public states, S.
        num_hands: H.
        features: [S, 2, F]: public features as seen for the values of each player.
        swap: [S] bool: player 1's belief comes first.
        marginal: [S, 2, H]: the chance of each hand as far as chance alone is concerned.
        size: length of an input, F + 2H.
        independent: at all of the public states each player's hand says nothing about the other's, but for their play.
    """

    features: Tensor
    swap: Tensor
    marginal: Tensor

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
        """Describes some public states, at least one; in games without `features` there will never be others."""
        check_known(kind, ENCODINGS, "encoding")
        if kind == "auto":
            kind = "relative" if game.seats_are_alike else "absolute"
        if kind == "relative" and not game.seats_are_alike:
            raise SolveError(f"{game.name}: the relative encoding needs rules that are the same for both players")
        self.game, self.num_hands, self.kind = game, num_hands, kind
        self._device, self._dtype = device, dtype
        self._number: dict[Any, int] | None = None  # of the one in the features of a game that has none
        if game.features(states[0]) is None:
            self._number = {state: index for index, state in enumerate(states)}
        self.clear()
        self.extend(states)
        self.size = int(self.features.shape[2]) + 2 * num_hands

    def clear(self) -> None:
        """Forgets all public states."""
        self.states: list[Any] = []
        self.independent = True
        self._tables: dict[str, Growing] = {}

    def extend(self, states: Sequence[Any]) -> None:
        """Describes more public states: `states` begins with those that are known.

        Raises:
            SolveError: the game has no features, and a public state was not there from the beginning.
        """
        features, swap, marginal = [], [], []
        for state in states[len(self.states) :]:
            actor, public = self.game.actor(state), self._public(state)
            for player in (0, 1):
                flags = [player == actor] if self.kind == "relative" else [player, actor]
                features.append(np.concatenate([np.asarray(flags, dtype=np.float64), public]))
            swap.append(self.kind == "relative" and actor == 1)
            deal = self.game.deal_operator(state)
            self.independent &= deal.is_independent()
            for chance in (deal.marginal(0), deal.marginal(1)):
                marginal.append(np.pad(chance / chance.sum(), (0, self.num_hands - len(chance))))
        if not swap:
            return
        self._append("features", np.reshape(features, (len(swap), 2, -1)), self._dtype)
        self._append("swap", swap, torch.bool)
        self._append("marginal", np.reshape(marginal, (len(swap), 2, -1)), self._dtype)
        self.states.extend(states[len(self.states) :])

    def _append(self, name: str, rows: Any, dtype: torch.dtype) -> None:
        """Adds rows to a table."""
        if name not in self._tables:
            self._tables[name] = Growing(*np.shape(rows)[1:], dtype=dtype, device=self._device)
        setattr(self, name, self._tables[name].append(rows))

    def _public(self, state: Any) -> FloatArray:
        """Returns what a network is told about a public state, besides who acts and who asks."""
        features = self.game.features(state)
        if features is not None:
            return features
        if self._number is None or state not in self._number:
            raise SolveError(f"the network was not trained for {state} of {self.game.name}, which has no features")
        features = np.zeros(len(self._number))
        features[self._number[state]] = 1.0
        return features

    @property
    def first_flag(self) -> float:
        """The first feature of a player whose belief is the first of the two."""
        return 1.0 if self.kind == "relative" else 0.0

    def of(self, states: Sequence[Any]) -> Encoding:
        """Returns the same encoding of other public states."""
        other = copy(self)
        other.clear()
        other.extend(states)
        return other

    def beliefs(self, index: Tensor, reach: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Returns per player [n, H] the belief over its hands; where nobody would come, chance alone decides.

        Args:
            index: [n] numbers of public states.
            reach: per player [n, H], up to a factor.
        """
        beliefs = []
        for player in (0, 1):
            weight = self.marginal[index, player] * reach[player]
            total = weight.sum(dim=1, keepdim=True)
            beliefs.append(torch.where(total > 0, weight / total, self.marginal[index, player]))
        return beliefs[0], beliefs[1]

    def encode(self, index: Tensor, player: int | Tensor, reach: tuple[Tensor, Tensor]) -> Tensor:
        """Returns inputs [n, F + 2H] for the values of a player, or of one in each row ([n])."""
        first, second = self.beliefs(index, reach)
        swap = self.swap[index][:, None]
        return torch.cat(
            [self.features[index, player], torch.where(swap, second, first), torch.where(swap, first, second)], dim=1
        )
