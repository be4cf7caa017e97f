"""Inputs of networks tell all infostates apart, and outputs all actions."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from aleator.errors import TooBigError
from aleator.games import load_game
from aleator.games.base import Game
from aleator.learning.sampled import encoding
from aleator.learning.sampled.encoding import InfostateEncoding
from aleator.learning.sampled.play import TreePlay
from aleator.trees import build_tree
from tests.games.random_game import RandomGame

GAMES = [
    "kuhn", "one-card:5", "leduc", "leduc:nolimit", "leduc:bets=1+2/2+4,cap=2", "liars-dice:1x4", "liars-dice:2x2",
    "goofspiel:3", "goofspiel:4", "flop-holdem:4x2", "coin-toss:2", "rps-plus", "matrix:3x4", RandomGame(2),
    RandomGame(26),
]  # fmt: skip


def encoded(game: str | Game[Any]) -> tuple[TreePlay, InfostateEncoding]:
    play = TreePlay(build_tree(load_game(game) if isinstance(game, str) else game))
    return play, InfostateEncoding(play)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_encodings_are_injective(game: str | Game[Any]) -> None:
    play, found = encoded(game)
    everything = torch.arange(play.num_infostates)
    inputs = found.inputs(everything)
    assert inputs.shape == (play.num_infostates, found.size) and bool(inputs.isfinite().all())
    assert len(torch.unique(inputs, dim=0)) == play.num_infostates
    numbers = torch.arange(found.num_outputs, dtype=torch.float64).expand(play.num_infostates, -1)
    outputs, legal = found.of_actions(everything, numbers), play.legal(everything)
    for row, allowed in zip(outputs.tolist(), legal.tolist(), strict=True):
        used = [output for output, here in zip(row, allowed, strict=True) if here]
        assert len(set(used)) == len(used)


def test_what_leduc_is_told() -> None:
    play, found = encoded("leduc")
    tree = play.tree
    assert found.names == ["call", "bet", "fold"] and found.groups == (3, 3)
    node = tree.find(["check", "bet 2", "call", "Q", "bet 4"])
    infostate = int(play._infostate_at[node]) + 2  # a king of player 1
    row = found.inputs(torch.tensor([infostate]))[0].tolist()
    assert row[:3] == [0, 0, 1] and row[3:6] == [0, 1, 0] and row[-1] == 1
    #          check   bet 2 into 2   call 2 into 4   nothing   bet 4 into 6
    betting = [1, 0, 1, 1, 1, 0.5, 0, 0, 1, pytest.approx(4 / 6), *[0] * 6]
    assert row[6:-1] == betting


def test_cards_are_rank_suit_and_card() -> None:
    play, found = encoded("flop-holdem:4x2")
    assert found.groups == (4 + 2 + 8, 4 + 2 + 8)
    inputs = found.inputs(torch.arange(play.num_infostates))
    assert (inputs[:, :4].sum(dim=1) == 2).all() and (inputs[:, 4:6].sum(dim=1) == 2).all()
    flop = inputs[:, 14:18].sum(dim=1)
    assert set(flop.tolist()) == {0.0, 3.0}


def test_what_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    play = TreePlay(build_tree(load_game("leduc")))
    monkeypatch.setattr(encoding, "available_memory", lambda: 1000)
    with pytest.raises(TooBigError, match="inputs of networks for leduc would take"):
        InfostateEncoding(play)
