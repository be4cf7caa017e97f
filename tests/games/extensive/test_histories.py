"""Games given as histories: the public form is compared with a plain walk over the histories."""

from __future__ import annotations

import zlib
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.errors import GameError, TooBigError
from aleator.games.base import CHANCE, TERMINAL
from aleator.games.contract import check_game
from aleator.games.extensive.histories import HistoryGame, game_from_histories
from aleator.solvers.best_response import expected_value, nash_conv
from aleator.solvers.linear_program import solve_linear_program
from aleator.trees import Policy, build_tree
from aleator.trees.policy import random_policy, uniform_policy

Table = dict[tuple[int, Hashable], dict[int, float]]


def as_table(policy: Policy) -> Table:
    """Returns the policy by player, infostate and action of the source; every infostate must occur exactly once."""
    tree, game = policy.tree, policy.tree.game
    assert isinstance(game, HistoryGame)
    table: Table = {}
    for player in (0, 1):
        for node in tree.decisions(player):
            for hand in range(tree.num_hands[player, node]):
                infostate = game.infostate(tree.states[node], hand)
                if infostate is not None:
                    assert (player, infostate) not in table
                    actions = game.source_actions(tree.states[node], hand)
                    table[player, infostate] = {
                        source: policy[int(node)][action, hand] for action, source in actions.items()
                    }
    return table


def moves(history: Any, table: Table) -> list[tuple[Any, float]]:
    actor = history.actor()
    weights = history.outcomes() if actor == CHANCE else table[actor, history.infostate(actor)].items()
    return [(history.child(action), weight) for action, weight in weights]


def value(history: Any, table: Table) -> float:
    if history.actor() == TERMINAL:
        return float(history.utility())
    return sum(weight * value(child, table) for child, weight in moves(history, table))


def best_value(group: list[tuple[Any, float]], player: int, table: Table) -> float:
    """Returns what a best response of `player` wins from histories that it cannot tell apart, with their cf_reach."""
    total, decisions, waiting = 0.0, {}, list(group)
    while waiting:
        history, reach = waiting.pop()
        if history.actor() == TERMINAL:
            total += reach * history.utility() * (1 - 2 * player)
        elif history.actor() == player:
            decisions.setdefault(history.infostate(player), []).append((history, reach))
        else:
            waiting += [(child, reach * weight) for child, weight in moves(history, table)]
    for histories in decisions.values():
        actions = histories[0][0].actions()
        total += max(best_value([(h.child(a), reach) for h, reach in histories], player, table) for a in actions)
    return total


def compare(root: Any, game: HistoryGame, seed: int = 0) -> Table:
    """Checks the game against the histories with a random policy; returns the policy as a table."""
    report = check_game(game)
    tree = build_tree(game)
    policy = random_policy(tree, np.random.default_rng(seed))
    policy.check()
    table = as_table(policy)
    assert report.size.public_states == tree.num_nodes
    assert expected_value(policy) == pytest.approx(value(root, table), abs=1e-12)
    reference = sum(best_value([(root, 1.0)], player, table) for player in (0, 1))
    assert nash_conv(policy) == pytest.approx(reference, abs=1e-12)
    return table


class Moves:
    """A history that is the tuple of its moves; without public observations."""

    def __init__(self, *moves: int) -> None:
        self.moves = moves

    def child(self, action: int) -> Any:
        return type(self)(*self.moves, action)

    def outcomes(self) -> list[tuple[int, float]]:
        return []

    def public(self) -> Hashable:
        return None

    def action_name(self, action: int) -> str:
        return str(action)


class Kuhn(Moves):
    """Kuhn poker: two cards, then 0 (check, fold) or 1 (bet, call)."""

    def actor(self) -> int:
        betting = self.moves[2:]
        if len(self.moves) < 2:
            return CHANCE
        return TERMINAL if len(betting) > 1 and betting != (0, 1) else len(betting) % 2

    def actions(self) -> list[int]:
        return [0, 1]

    def outcomes(self) -> list[tuple[int, float]]:
        left = [card for card in range(3) if card not in self.moves]
        return [(card, 1 / len(left)) for card in left]

    def infostate(self, player: int) -> Hashable:
        return (self.moves[player], self.moves[2:])

    def utility(self) -> float:
        first, second, *betting = self.moves
        if betting in ([1, 0], [0, 1, 0]):
            return 1.0 if betting == [1, 0] else -1.0
        return (1.0 + (1 in betting)) * (1 if first > second else -1)


class KuhnSeen(Kuhn):
    """Kuhn poker that says what everybody sees: the last bet."""

    def public(self) -> Hashable:
        return self.moves[-1] if len(self.moves) > 2 else "cards"


class KuhnLying(Kuhn):
    """Kuhn poker that calls a card public which player 0 does not know."""

    def public(self) -> Hashable:
        return self.moves[1]


class KuhnLeaking(Kuhn):
    """Kuhn poker whose infostates of the player who only watches say too much."""

    def infostate(self, player: int) -> Hashable:
        return super().infostate(player) if self.actor() == player else self.moves


class Phantom(Moves):
    """Players occupy cells 0..3 in turn; who hits an occupied cell learns so and moves again, unnoticed by the other.

    The first to own two of cells 0, 1, 3 wins; cell 2 is worthless.
    """

    def _replay(self) -> tuple[int, dict[int, int], list[list[tuple[int, bool]]]]:
        turn, owner, log = 0, {}, [[], []]
        for cell in self.moves:
            log[turn].append((cell, cell not in owner))
            if cell not in owner:
                owner[cell] = turn
                turn = 1 - turn
        return turn, owner, log

    def _points(self, player: int) -> int:
        return sum(self._replay()[1].get(cell) == player for cell in (0, 1, 3))

    def actor(self) -> int:
        turn, owner, _ = self._replay()
        return TERMINAL if len(owner) == 4 or self._points(0) > 1 or self._points(1) > 1 else turn

    def actions(self) -> list[int]:
        turn, _, log = self._replay()
        return [cell for cell in range(4) if cell not in dict(log[turn])]

    def infostate(self, player: int) -> Hashable:
        return tuple(self._replay()[2][player])

    def utility(self) -> float:
        return float((self._points(0) > 1) - (self._points(1) > 1)) + 0.1 * self.moves[0]


class RandomOrder(Moves):
    """Chance decides who moves first and tells nobody; if the two bits are equal, the first mover picks again."""

    def actor(self) -> int:
        if not self.moves:
            return CHANCE
        if len(self.moves) == 2:
            return 1 - self.moves[0]
        again = len(self.moves) == 3 and self.moves[1] == self.moves[2]
        return self.moves[0] if len(self.moves) == 1 or again else TERMINAL

    def outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.25), (1, 0.75)]

    def actions(self) -> list[int]:
        return [0, 1, 2] if len(self.moves) == 3 else [0, 1]

    def infostate(self, player: int) -> Hashable:
        return ("again", self.moves[1]) if len(self.moves) == 3 else "pick"

    def utility(self) -> float:
        return _dice(0, self.moves, 17) - 8.0


def _dice(seed: int, what: object, sides: int) -> int:
    return zlib.crc32(repr((seed, what)).encode()) % sides


class Arbitrary(Moves):
    """An arbitrary game of at most five moves: anybody may move, see a bit of what happened, or see nothing at all."""

    seed = 0
    tell = 2

    def actor(self) -> int:
        over = len(self.moves) == 5 or (len(self.moves) > 1 and _dice(self.seed, ("over", self.moves), 4) == 0)
        return TERMINAL if over else (0, 1, 0, 1, CHANCE)[_dice(self.seed, ("actor", self.moves), 5)]

    def outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.125), (1, 0.5), (2, 0.375)]

    def infostate(self, player: int) -> Hashable:
        log: list[Any] = []
        for length, move in enumerate(self.moves):
            before = type(self)(*self.moves[:length])
            if before.actor() == player:
                log.append(("I", move))
            signal = _dice(self.seed, ("signal", player, self.moves[: length + 1]), 2 * self.tell)
            if signal < self.tell:
                log.append(("saw", signal))
        return tuple(log)

    def actions(self) -> list[int]:
        actor = self.actor()
        code = _dice(self.seed, ("menu", actor, self.infostate(actor)), 7) + 1
        return [action for action in range(3) if code >> action & 1]

    def utility(self) -> float:
        return float(_dice(self.seed, self.moves, 21) - 10)


@pytest.mark.parametrize("rules", [Kuhn, KuhnSeen, KuhnLying])
def test_kuhn_is_found_with_or_without_public_observations(rules: type[Kuhn]) -> None:
    game = game_from_histories(rules(), name="kuhn")
    tree = build_tree(game)
    assert (tree.num_nodes, tree.num_infostates) == (9, 12)
    assert (tree.origin_start < 0).all()  # all moves are public and hands keep their numbers
    assert tree.labels == ("", "0", "1", "0", "1", "0", "1", "0", "1")
    assert game.hands(game.root(), 0) == ("(0, ())", "(1, ())", "(2, ())")
    compare(rules(), game)
    assert nash_conv(uniform_policy(tree)) == pytest.approx(11 / 12, abs=1e-12)
    assert solve_linear_program(tree)[0] == pytest.approx(-1 / 18, abs=1e-9)


class KuhnNan(Kuhn):
    def utility(self) -> float:
        return super().utility() if self.moves[0] else float("nan")


def test_payoffs_that_are_not_finite_are_refused() -> None:
    with pytest.raises(GameError, match="kuhn: some history ends with a payoff that is not a finite number"):
        game_from_histories(KuhnNan(), name="kuhn")


def test_what_a_watching_player_seems_to_know_but_forgets_does_not_count() -> None:
    game = game_from_histories(KuhnLeaking(), name="kuhn")
    assert len(compare(KuhnLeaking(), game)) == 12
    assert solve_linear_program(build_tree(game))[0] == pytest.approx(-1 / 18, abs=1e-9)


def test_time_that_is_not_public_becomes_forced_moves() -> None:
    game = game_from_histories(Phantom(), name="phantom")
    table = compare(Phantom(), game)
    tree = build_tree(game)
    waiting = tree.num_infostates - len(table)
    assert waiting > 0
    assert any(len(infostate) == 2 and not infostate[0][1] for _, infostate in table)  # who failed once moves again


def test_decisions_without_a_common_order() -> None:
    game = game_from_histories(RandomOrder(), name="random order")
    table = compare(RandomOrder(), game)
    assert set(table) == {(player, known) for player in (0, 1) for known in ("pick", ("again", 0), ("again", 1))}


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), tell=st.integers(1, 3))
def test_arbitrary_games_equal_their_histories(seed: int, tell: int) -> None:
    rules = type("Rules", (Arbitrary,), {"seed": seed, "tell": tell})
    compare(rules(), game_from_histories(rules(), name="arbitrary"), seed)


class Neighbours(Moves):
    """Both get a number below 200; player 1's is the same or the next one; player 1 names the kind."""

    def actor(self) -> int:
        return (CHANCE, CHANCE, 0, 1, TERMINAL)[len(self.moves)]

    def outcomes(self) -> list[tuple[int, float]]:
        return [(k, 1 / 200) for k in range(200)] if not self.moves else [(self.moves[0] + k, 0.5) for k in (0, 1)]

    def actions(self) -> list[int]:
        return [0, 1]

    def infostate(self, player: int) -> Hashable:
        return self.moves[player], self.moves[2:]

    def utility(self) -> float:
        first, second, _, guess = self.moves
        return 1.0 - 2.0 * (guess == second - first)


def test_few_pairs_of_many_hands_are_stored_sparsely() -> None:
    game = game_from_histories(Neighbours(), name="neighbours")
    tree = build_tree(game)
    assert {type(payoff).__name__ for payoff in tree.payoffs} == {"csr_array"}
    # number 0 and number 200 give player 0's away (1/400 each), otherwise both kinds are as likely
    assert solve_linear_program(tree)[0] == pytest.approx(-2 / 400, abs=1e-9)


class Forgetful(Kuhn):
    def infostate(self, player: int) -> Hashable:
        return self.moves[player] if len(self.moves) < 5 else "?"

    def actor(self) -> int:
        return TERMINAL if len(self.moves) == 6 else 0 if len(self.moves) in (2, 4, 5) else super().actor()


class TwoMenus(Kuhn):
    def actions(self) -> list[int]:
        return [0, 1] if self.moves[1] else [0]


class BadDeal(Kuhn):
    def outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.4)]


class ThirdPlayer(Kuhn):
    def actor(self) -> int:
        return 2 if len(self.moves) == 3 else super().actor()


class Speechless(Kuhn):
    def actions(self) -> list[int]:
        return []


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (Forgetful, r"the infostate .* of player 0 forgets what its player did"),
        (TwoMenus, r"the infostate .* of player 0 has different legal actions"),
        (BadDeal, "not a distribution"),
        (ThirdPlayer, "the actor of a history is 0, 1, CHANCE or TERMINAL, not 2"),
        (Speechless, "player 0 has no action"),
    ],
)
def test_broken_rules_are_named(rules: type[Kuhn], message: str) -> None:
    with pytest.raises(GameError, match=message):
        game_from_histories(rules(), name="broken")


class Endless(Moves):
    def actor(self) -> int:
        return len(self.moves) % 2

    def actions(self) -> list[int]:
        return [0, 1]

    def infostate(self, player: int) -> Hashable:
        return self.moves


def test_too_many_histories_are_refused_before_they_are_walked() -> None:
    with pytest.raises(TooBigError, match=r"endless has more than 1e\+30 histories; at most 1,000 are allowed"):
        game_from_histories(Endless(), name="endless", max_histories=1000)  # type: ignore[arg-type]
    with pytest.raises(TooBigError, match="kuhn has more than the 50 histories that are allowed"):
        game_from_histories(Kuhn(), name="kuhn", max_histories=50)
