"""Public belief states as inputs: layout, beliefs by Bayes' rule, symmetry."""

from __future__ import annotations

import numpy as np
import pytest

from aleator.errors import SolveError
from aleator.games import load_game

torch = pytest.importorskip("torch")

from aleator.learning.rebel.subgames import Subgames  # noqa: E402
from aleator.learning.value_network.encoding import Encoding  # noqa: E402


def test_the_papers_input_for_liars_dice() -> None:
    game = load_game("liars-dice:1x4")
    state = game.child(game.child(game.root(), 0), 2)  # bids 0 and 3; player 0 acts
    encoding = Encoding(game, [state], 4, kind="absolute")
    assert encoding.size == 2 + 8 + 2 * 4  # agent, acting agent, last bid, beliefs
    reach = (torch.tensor([[1.0, 0.0, 1.0, 0.0]]), torch.tensor([[2.0, 2.0, 2.0, 2.0]]))
    (row,) = encoding.encode(torch.tensor([0]), 1, reach).tolist()
    assert row == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.5, 0, 0.5, 0, 0.25, 0.25, 0.25, 0.25]


def test_relative_inputs_do_not_tell_players_apart() -> None:
    game = load_game("liars-dice:1x3")
    first = game.child(game.child(game.root(), 0), 1)  # player 0 acts after bids 0, 2
    second = first._replace(player=1)
    encoding = Encoding(game, [first, second], 3)
    mine, other = torch.tensor([[0.2, 0.3, 0.5]]), torch.tensor([[0.6, 0.4, 0.0]])
    acting = encoding.encode(torch.tensor([0]), 0, (mine, other))
    swapped = encoding.encode(torch.tensor([1]), 1, (other, mine))
    torch.testing.assert_close(acting, swapped)
    assert not torch.equal(acting, encoding.encode(torch.tensor([0]), 1, (mine, other)))


def test_beliefs_are_bayes_rule() -> None:
    game = load_game("leduc")
    subgames = Subgames(game, 2)
    states, hands, encoding = subgames.states, subgames.shapes.num_hands, subgames.encoding
    rng = np.random.default_rng(0)
    for number, state in enumerate(states):
        reach = rng.random((2, hands))
        joint = game.deal(state)
        for player in (0, 1):
            weight = joint.sum(axis=1 - player) * reach[player]
            tensors = tuple(torch.tensor(reach[seat][None], dtype=torch.float32) for seat in (0, 1))
            found = encoding.beliefs(torch.tensor([number]), (tensors[0], tensors[1]))[player][0]
            np.testing.assert_allclose(found, weight / weight.sum(), atol=1e-6)


def test_where_nobody_comes_chance_alone_decides() -> None:
    game = load_game("liars-dice:2x2")
    encoding = Encoding(game, [game.root()], 3)
    nobody = torch.zeros((1, 3))
    np.testing.assert_allclose(encoding.beliefs(torch.tensor([0]), (nobody, nobody))[0][0], [0.25, 0.5, 0.25])


def test_unknown_and_unfit_encodings_are_refused() -> None:
    game = load_game("leduc")
    with pytest.raises(SolveError, match="allowed: auto, absolute, relative"):
        Encoding(game, [game.root()], 6, kind="mystic")
    with pytest.raises(SolveError, match="same for both players"):
        Encoding(game, [game.root()], 6, kind="relative")
