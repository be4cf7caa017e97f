"""The luck of a review is the sum over the deal's draws, computed anew from the rules, and all its parts add up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator.apps.web.worker.equilibrium import open_game
from aleator.apps.web.worker.judgement import NEVER
from aleator.apps.web.worker.opponents import open_opponent
from aleator.apps.web.worker.play import play
from aleator.apps.web.worker.solved import SolvedGame
from aleator.arena.luck import luck_of_draw
from aleator.games.base import TERMINAL, FloatArray, Game
from aleator.games.registry import load_game
from aleator.games.table import PublicHistory
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from tests.apps.web.running import Silent
from tests.apps.web.test_play import new_state

Events = tuple[int, ...]


def solved_file(name: str, folder: Path) -> Path:
    path = folder / "game.solution"
    solve(name, limits=Limits(exploitability=1e-4)).save(path)
    return path


def deals(file: Path, name: str, opponent: str, count: int) -> Iterator[dict[str, Any]]:
    """Yields deals that are over, with all secrets; the player takes any action."""
    rng = np.random.default_rng(11)
    state = new_state(name) | {"opponent": opponent}
    for _ in range(count):
        move = "deal"
        while True:
            answer = play({"state": state, "file": str(file), "move": move}, Silent())
            state, deal = answer["state"], answer["view"]["deal"]
            if deal["over"]:
                break
            move = deal["options"][int(rng.integers(len(deal["options"])))]["label"]
        yield state["deal"]


class Reference:
    """What an infostate is worth against a policy, from the rules of a game, one hand after the other.

    Args:
        least: share of the deals with a hand below which nothing says what an infostate is worth.
    """

    def __init__(
        self, game: Game[Any], policy: Callable[[PublicHistory], FloatArray], player: int, least: float = 0.0
    ) -> None:
        self.game, self.policy, self.player, self.least = game, policy, player, least
        self._worth: dict[tuple[Events, int], float] = {}
        self._reach: dict[Events, FloatArray] = {}

    def state(self, events: Events) -> Any:
        state = self.game.root()
        for event in events:
            state = self.game.children(state)[event].state
        return state

    def likely(self, events: Events, hand: int) -> FloatArray:
        """How likely are this hand and each of the agent's, and all that chance and the agent did?"""
        if events not in self._reach:
            reach = np.ones(len(self.game.hands(self.game.root(), 1 - self.player)))
            for number, event in enumerate(events):
                state = self.state(events[:number])
                if self.game.actor(state) == 1 - self.player:
                    reach = reach * self.policy(PublicHistory(1 - self.player, state, events[:number]))[event]
            self._reach[events] = reach
        deal = self.game.deal(self.state(events))
        row: FloatArray = (deal[hand] if self.player == 0 else deal[:, hand]) * self._reach[events]
        return row

    def wins(self, events: Events, hand: int) -> FloatArray:
        """What does the player win against each hand?"""
        utility = self.game.utility(self.state(events))
        row: FloatArray = utility[hand] if self.player == 0 else -utility[:, hand]
        return row

    def worth(self, events: Events, hand: int) -> float:
        """What does the player win with no mistake, times how likely it is to get here?"""
        if (events, hand) not in self._worth:
            actor, after = self.game.actor(self.state(events)), self.children(events)
            if actor == TERMINAL:
                worth = float(self.likely(events, hand) @ self.wins(events, hand))
            else:
                worth = (max if actor == self.player else sum)(self.worth(child, hand) for child in after)
            self._worth[events, hand] = worth
        return self._worth[events, hand]

    def children(self, events: Events) -> list[Events]:
        state = self.state(events)
        return [] if self.game.actor(state) == TERMINAL else [
            (*events, number) for number in range(len(self.game.children(state)))
        ]  # fmt: skip

    def value(self, events: Events, hand: int) -> float:
        likely, deal = float(self.likely(events, hand).sum()), self.game.deal(self.state(events))
        dealt = deal[hand] if self.player == 0 else deal[:, hand]
        return self.worth(events, hand) / likely if likely > self.least * dealt.sum() else float("nan")


def luck_and_loss(values: Reference, draws: Reference, events: Events, hands: tuple[int, int]) -> tuple[float, float]:
    """What did all draws bring, which come as `draws` says, and what did all decisions give up?"""
    player, game = values.player, values.game
    hand = hands[player]
    dealt = range(len(game.hands(game.root(), player)))
    drawn = [(hand, [(draws.likely((), own).sum(), values.value((), own)) for own in dealt])]  # the player's hand
    loss = 0.0
    for number, event in enumerate(events):
        after = values.children(events[:number])
        if game.actor(values.state(events[:number])) == player:
            worth = [values.value(child, hand) for child in after]
            loss += max(worth) - worth[event]
        else:
            drawn.append((event, [(draws.likely(child, hand).sum(), values.value(child, hand)) for child in after]))
    held = draws.likely(events, hand)  # what the agent holds is drawn, too: it is seen at the end
    drawn.append((hands[1 - player], list(zip(held, values.wins(events, hand), strict=True))))
    luck = 0.0
    for which, outcomes in drawn:
        total = sum(chance for chance, _ in outcomes)
        luck += outcomes[which][1] - sum(chance * value for chance, value in outcomes if chance) / total
    return luck, loss


def check_parts(deal: dict[str, Any]) -> None:
    assert deal["skill"] == pytest.approx(deal["expected"] - deal["given_up"] + deal["given_away"])
    assert deal["won"] == pytest.approx(deal["skill"] + deal["luck"])


def of_player(deal: dict[str, Any]) -> tuple[Events, tuple[int, int]]:
    first, second = deal["hands"][0]
    return tuple(deal["events"]), (first, second)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "liars-dice:1x4", "one-card:5"])
def test_luck_is_the_sum_over_all_draws(name: str, tmp_path: Path) -> None:
    """n = 1,000 a game, seed 11. What is forgiven, at most the slack at a decision, counts as luck."""
    file = solved_file(name, tmp_path)
    solved, game = SolvedGame(open_game(str(file))), load_game(name)
    references = [Reference(game, solved.agent.policy_at, player) for player in (0, 1)]
    forgave = 0
    for deal in deals(file, name, "equilibrium", 1000):
        check_parts(deal)
        assert deal["given_away"] == 0
        reference = references[deal["seat"]]
        luck, loss = luck_and_loss(reference, reference, *of_player(deal))
        forgiven = loss - deal["given_up"]
        assert deal["luck"] == pytest.approx(luck - forgiven, abs=1e-6)
        decisions = sum(step["who"] == "you" for step in deal["steps"])
        assert -1e-6 <= forgiven <= decisions * solved.slack
        forgave += forgiven > 1e-6
    assert forgave, "the case has been tried"


@pytest.mark.parametrize("name", ["kuhn", "liars-dice:1x4"])
def test_what_another_agent_gives_away_is_no_luck(name: str, tmp_path: Path) -> None:
    """Draws come by the agent's own policy, values from the equilibrium; n = 150, seed 11, |z| < 4."""
    file = solved_file(name, tmp_path)
    solved, game = SolvedGame(open_game(str(file))), load_game(name)
    values = [Reference(game, solved.agent.policy_at, player, NEVER) for player in (0, 1)]
    lucks, gifts, checked = [], [], 0
    for number, deal in enumerate(deals(file, name, "search", 150)):
        check_parts(deal)
        opponent = open_opponent("search", name, solved, 1 - deal["seat"], (7, number))
        draws = Reference(game, opponent.policy, deal["seat"])
        luck, loss = luck_and_loss(values[deal["seat"]], draws, *of_player(deal))
        lucks.append(deal["luck"])
        gifts.append(deal["given_away"])
        if np.isfinite([luck, loss]).all():  # else it went where the equilibrium never goes
            assert deal["luck"] == pytest.approx(luck - (loss - deal["given_up"]), abs=1e-6)
            checked += 1
    assert checked > 75
    assert abs(np.mean(lucks)) < 4 * np.std(lucks) / np.sqrt(len(lucks))
    assert np.std(gifts) > 0


def test_what_draws_bring_is_measured_from_their_mean() -> None:
    values, chances = np.array([[1.0, -1.0], [4.0, -4.0]]), np.array([0.75, 0.25])
    np.testing.assert_allclose(luck_of_draw(values, chances, 0), [-0.75, 0.75])
    np.testing.assert_allclose(chances @ [luck_of_draw(values, chances, drawn) for drawn in (0, 1)], 0.0)
