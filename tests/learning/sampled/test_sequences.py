"""Sequences tell all infostates apart, and a network that shares their beginnings answers as one that does not."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from aleator.games import load_game
from aleator.games.base import Game
from aleator.learning.sampled.play import TreePlay
from aleator.learning.sampled.recurrent import SequenceNetwork
from aleator.learning.sampled.sequences import InfostateSequences
from aleator.trees import build_tree
from tests.learning.sampled.test_encoding import GAMES

Tensor = torch.Tensor


def sequences_of(game: str | Game[Any]) -> tuple[TreePlay, InfostateSequences]:
    play = TreePlay(build_tree(load_game(game) if isinstance(game, str) else game))
    return play, InfostateSequences(play)


def spelled(found: InfostateSequences, infostate: int) -> list[int]:
    """Returns the symbols of an infostate's sequence."""
    cell, symbols = int(found.cell_of[infostate]), []
    while cell >= 0:
        symbols.append(int(found.symbol[cell]))
        cell = int(found.parent[cell])
    return symbols[::-1]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_sequences_are_injective(game: str | Game[Any]) -> None:
    play, found = sequences_of(game)
    assert len(torch.unique(found.cell_of)) == play.num_infostates
    written = {tuple(spelled(found, infostate)) for infostate in range(play.num_infostates)}
    assert len(written) == play.num_infostates


def test_what_leduc_reads() -> None:
    play, found = sequences_of("leduc")
    node = play.tree.find(["check", "bet 2", "call", "Q"])
    infostate = int(play._infostate_at[node]) + 1
    names = [found.symbols[symbol] for symbol in spelled(found, infostate)]
    assert names == ["hand 1", "0 check #1", "1 bet 2 #1", "0 call #1", "chance Q #1"]


def read_alone(network: SequenceNetwork, symbols: list[int]) -> Tensor:
    """Returns [O]: what the network says after reading one sequence, cell by cell as Eq. 8 has it."""
    width = network.width
    hidden = state = attended = torch.zeros(width)
    for symbol in symbols:
        gates = network.inputs.weight[symbol] + network.recurrent.weight @ hidden + network.recurrent.bias
        forget, enter, leave, candidate = gates.split(width)
        state = torch.sigmoid(forget) * state + torch.sigmoid(enter) * torch.tanh(candidate)
        hidden = torch.sigmoid(leave) * torch.tanh(state)
        attended = attended + torch.relu(network.attention(hidden)) * hidden
    spread = (attended - attended.mean()) / (attended.var(correction=0) + 1e-5).sqrt()
    answers: Tensor = network.output(torch.relu(spread))
    return answers


@pytest.mark.parametrize("game", ["leduc", "goofspiel:3"])
def test_a_walk_is_equal_to_reading_every_sequence(game: str) -> None:
    play, found = sequences_of(game)
    network = SequenceNetwork(len(found.symbols), 4, 8, torch.Generator().manual_seed(0))
    some = torch.arange(play.num_infostates).flip(0)[::7]
    walked = network(found.walk(some))
    alone = torch.stack([read_alone(network, spelled(found, int(infostate))) for infostate in some])
    torch.testing.assert_close(walked, alone, atol=1e-5, rtol=1e-5)


def test_a_walk_visits_a_cell_once() -> None:
    play, found = sequences_of("leduc")
    walk = found.walk(torch.arange(play.num_infostates))
    cells = sum(len(level.symbols) for level in walk.levels)
    symbols = sum(len(spelled(found, infostate)) for infostate in range(play.num_infostates))
    assert cells == len(found.parent) < symbols / 4
    assert sum(len(level.symbols) for level in found.walk(torch.tensor([0])).levels) == len(spelled(found, 0))
