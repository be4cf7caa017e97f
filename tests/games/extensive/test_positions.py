"""Games of perfect information by their positions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from aleator.errors import GameError, TooBigError
from aleator.games import TERMINAL, check_game, load_game, measure
from aleator.games.extensive.positions import NotMergedError, PositionGame
from aleator.solvers.linear_program import solve_linear_program
from aleator.trees import build_tree
from tests.games.subtraction import Matches, subtraction


def histories(matches: int) -> int:
    """Returns how many ways there are to begin the subtraction game, by counting them one by one."""
    return 1 + sum(histories(matches - taken) for taken in range(1, min(matches, 3) + 1))


def test_histories_that_lead_to_the_same_position_are_one_state() -> None:
    game = subtraction(10)
    # 10 matches with the first player to move, 9 with the second, fewer with either
    assert len(game._positions) == len({(left, moves % 2) for left, moves in _reachable(10)}) == 20
    assert check_game(game).states == len(game._positions)
    assert measure(game).public_states == build_tree(game).num_nodes == histories(10)


def _reachable(matches: int) -> set[tuple[int, int]]:
    found, waiting = set(), [(matches, 0)]
    while waiting:
        left, moves = waiting.pop()
        found.add((left, moves))
        waiting += [(left - taken, moves + 1) for taken in range(1, min(left, 3) + 1)]
    return found


@pytest.mark.parametrize(("matches", "value"), [(8, -1.0), (9, 1.0), (10, 1.0), (12, -1.0)])
def test_whoever_faces_a_multiple_of_four_loses(matches: int, value: float) -> None:
    assert solve_linear_program(build_tree(subtraction(matches)))[0] == pytest.approx(value, abs=1e-9)


def test_features_and_pictures_are_the_positions_own() -> None:
    game = subtraction(5)
    assert (game.picture(0), game.actions(0)) == ("|||||", ("take 1", "take 2", "take 3"))
    after = game.child(0, 1)
    assert (game.picture(after), game.actor(after)) == ("|||", 1)
    np.testing.assert_array_equal(game.features(after), [0.3, 1.0, 0.0])


def test_keys_that_leave_something_out_are_found_out() -> None:
    with pytest.raises(NotMergedError, match="go on differently"):
        PositionGame(Matches(8, keyed=("left",)), name="matches without a player")


class Priceless(Matches):
    def utility(self) -> float:
        return float("nan")


def test_payoffs_that_are_not_finite_are_refused() -> None:
    with pytest.raises(GameError, match=r"the payoff at .* is not a finite number"):
        PositionGame(Priceless(5), name="matches")


def test_too_many_positions_are_refused() -> None:
    with pytest.raises(TooBigError, match="more than the 15 positions that are allowed"):
        PositionGame(Matches(10), name="matches", max_positions=15)
    with pytest.raises(TooBigError, match="histories; at most 200,000 positions are allowed"):
        PositionGame(Matches(1000), name="matches")


def test_tic_tac_toe_has_5478_positions() -> None:
    pytest.importorskip("pyspiel")
    game = load_game("openspiel:tic_tac_toe")
    assert isinstance(game, PositionGame)
    assert check_game(game).size.public_states == 549_946  # histories, as OpenSpiel counts them
    ends = [state for state in range(len(game._positions)) if game.actor(state) == TERMINAL]
    # of 958 final positions, 626 are won by the first player, 316 by the second
    assert Counter(game.utility(state).item() for state in ends) == {1.0: 626, -1.0: 316, 0.0: 16}
    assert len(game._positions) == 5478
    assert game.picture(game.child(0, 4)) == "...\n.x.\n..."
    features = game.features(game.child(0, 4))
    assert features is not None and features.shape == (27,) and features[22] == 1.0


def test_without_enough_in_its_text_a_game_goes_by_histories() -> None:
    pytest.importorskip("pyspiel")
    # Go forbids positions that were there before, which its picture of the board does not say
    assert not isinstance(load_game("openspiel:go(board_size=2)"), PositionGame)
