"""Whole hands by a solved spot: on its tree, between its bets, before it and beyond it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from aleator.abstraction.translation import nearest, pseudo_harmonic
from aleator.agents.whole_hands import HandAgent, HandPolicy, load_hand_agent
from aleator.agents.whole_hands.equilibrium import SpotTree, equilibrium_agent
from aleator.agents.whole_hands.pot_odds import PotOddsAgent
from aleator.agents.whole_hands.tree_agent import TreeAgent
from aleator.arena.whole_hands.lbr import LocalBestResponse
from aleator.arena.whole_hands.play import RANGES, RAW, play_hands
from aleator.errors import AgentError, GameError
from aleator.games.base import FloatArray
from aleator.games.holdem.bet_menu import BetMenu
from aleator.games.holdem.betting import CALL, FOLD, Action, BettingRules, raise_to
from aleator.games.holdem.betting_tree import BettingNode
from aleator.games.holdem.cards import blocked_hands, parse_cards, parse_hand
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import format_spot
from aleator.games.holdem.variants import HUNL, load_hand_game
from aleator.solvers.holdem.solution import HoldemSolution
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from aleator.storage.files import StorageError

RIVER = Spot(
    board=parse_cards("As Kd 7h 4c 2s"), pot=600, stack=9000, oop="random", ip="random", min_bet=100,
    menu=BetMenu.uniform(bets=("50%", "100%"), raises=("100%",), max_raises=2),
)  # fmt: skip
TURN = Spot(
    board=parse_cards("As Kd 7h 4c"), pot=600, stack=1800, oop="random", ip="random", min_bet=100,
    menu=BetMenu.uniform(bets=("100%",), raises=("all-in",), max_raises=2),
)  # fmt: skip
LIVING = ~blocked_hands(RIVER.board)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("spots")
    for name, spot, iterations in (("river", RIVER, 150), ("turn", TURN, 20)):
        (found / f"{name}.toml").write_text(format_spot(spot))
        solution = solve(spot, limits=Limits(iterations=iterations))
        assert isinstance(solution, HoldemSolution)
        solution.save(found / f"{name}.solution")
    solution.save(found / "short.solution", river=False)
    return found


@pytest.fixture(scope="module")
def river(folder: Path) -> HandState:
    return load_hand_game(f"spot:{folder / 'river.toml'}").setup.start()


def row(policy: HandPolicy, action: Action) -> FloatArray:
    """Returns how likely each hand takes an action, ``[1326]``; 0 if it is not considered."""
    rows = dict(zip(policy.actions, policy.probabilities, strict=True))
    return rows.get(action, np.zeros(1326))


def solved(folder: Path, *tokens: str) -> FloatArray:
    """Returns the solution's policy at a node of the river."""
    return solved_at(HoldemSolution.open(folder / "river.solution"), *tokens)


def solved_at(solution: HoldemSolution, *tokens: str) -> FloatArray:
    at = solution.start()
    for token in tokens:
        at = solution.follow(at, token)
    return solution.policy_at(at)


def node_at(solution: HoldemSolution, *tokens: str) -> BettingNode:
    at = solution.start()
    for token in tokens:
        at = solution.follow(at, token)
    return at.node


def test_on_its_tree_it_plays_the_solution(folder: Path, river: HandState) -> None:
    agent = equilibrium_agent(folder / "river.solution")
    for actions, tokens in (
        ((), ()),
        ((CALL,), ("c",)),
        ((raise_to(300),), ("b300",)),
        ((CALL, raise_to(600)), ("c", "b600")),
        ((CALL, raise_to(600), raise_to(2400)), ("c", "b600", "b2400")),
    ):
        state = river
        for action in actions:
            state = state.act(action)
        policy = agent.policy_at(state)
        expected = solved(folder, *tokens)
        assert len(policy.actions) == len(expected)
        np.testing.assert_allclose(policy.probabilities[:, LIVING], expected[:, LIVING], atol=1e-12)


def test_a_bet_between_two_sizes_is_taken_for_both(folder: Path, river: HandState) -> None:
    agent = equilibrium_agent(folder / "river.solution")
    state = river.act(raise_to(457))  # of a pot of 600, between 300 and 600
    chance = pseudo_harmonic(0.5, 1.0, 457 / 600)
    expected = chance * solved(folder, "b300") + (1 - chance) * solved(folder, "b600")
    policy = agent.policy_at(state)
    np.testing.assert_allclose(row(policy, FOLD)[LIVING], expected[0, LIVING])
    np.testing.assert_allclose(row(policy, CALL)[LIVING], expected[1, LIVING])
    raises = {action.amount for action in policy.actions if action.amount}
    assert raises == {457 + 600 + 2 * 457}  # a raise of the whole pot, whatever the bet was taken for
    other = equilibrium_agent(folder / "river.solution", translation=nearest).policy_at(state)
    np.testing.assert_allclose(row(other, FOLD)[LIVING], solved(folder, "b600")[0, LIVING])


def test_a_tiny_bet_is_mostly_taken_for_a_check(folder: Path, river: HandState) -> None:
    agent = equilibrium_agent(folder / "river.solution")
    state = river.act(CALL).act(raise_to(100))
    chance = pseudo_harmonic(0.0, 0.5, 100 / 600)
    assert chance == pytest.approx(4 / 7)
    policy, answer = agent.policy_at(state), solved(folder, "c", "b300")
    np.testing.assert_allclose(row(policy, FOLD)[LIVING], (1 - chance) * answer[0, LIVING])
    np.testing.assert_allclose(row(policy, CALL)[LIVING], chance + (1 - chance) * answer[1, LIVING])


def test_all_draws_followed_at_once_play_like_one_that_is_remembered(folder: Path, river: HandState) -> None:
    """Checks, raises a bet off the tree, and is raised: the product of answers is the mean over all draws."""
    agent, otherwise = equilibrium_agent(folder / "river.solution"), PotOddsAgent()
    bet = river.act(CALL).act(raise_to(420))
    raised = bet.act(raise_to(420 + 600 + 840))
    again = raised.act(raise_to(6000))  # after two raises the tree has no third, so that pot odds decide
    played = row(agent.policy_at(river), CALL) * row(agent.policy_at(bet), raised.actions[-1])
    assert played[LIVING].max() > 0.1
    small = pseudo_harmonic(0.5, 1.0, 420 / 600)
    drawn = small * solved(folder, "c", "b300")[2] + (1 - small) * solved(folder, "c", "b600")[2]
    np.testing.assert_allclose(played[LIVING], (solved(folder)[0] * drawn)[LIVING], atol=1e-12)
    np.testing.assert_allclose(row(agent.policy_at(again), CALL)[LIVING], row(otherwise.policy_at(again), CALL)[LIVING])


def test_what_it_did_says_what_it_took_a_bet_for(folder: Path) -> None:
    """On the next street a hand answers as the line it came by: the product is the mean over both draws."""
    setup = load_hand_game(f"spot:{folder / 'turn.toml'}").setup
    agent = equilibrium_agent(folder / "turn.solution")
    solution = HoldemSolution.open(folder / "turn.solution")
    bet = setup.start().act(CALL).act(raise_to(200))  # between a check and the pot of 600
    facing = bet.act(CALL).deal(parse_cards("2s")).act(CALL).act(raise_to(1600))  # all-in
    played = row(agent.policy_at(bet), CALL) * row(agent.policy_at(facing), CALL)
    check = pseudo_harmonic(0.0, 1.0, 200 / 600)
    expected = np.zeros(1326)
    for tokens, chance, calls in ((("c", "c"), check, None), (("c", "b600", "c"), 1 - check, ("c", "b600"))):
        own = np.full(1326, chance)
        if calls:
            own *= solved_at(solution, *calls)[1]
        own *= solved_at(solution, *tokens, "2s")[0]  # the check before the all-in; the whole hand has it, too
        last = [token for token in node_at(solution, *tokens, "2s", "c").tokens if token.startswith("b")][-1]
        expected += own * (1.0 - solved_at(solution, *tokens, "2s", "c", last)[0])  # nobody can raise an all-in
    first = row(agent.policy_at(bet.act(CALL).deal(parse_cards("2s"))), CALL)
    living = ~blocked_hands(facing.board)
    np.testing.assert_allclose((played * first)[living], expected[living], atol=1e-9)


def test_before_and_off_its_tree_another_agent_answers(folder: Path, river: HandState) -> None:
    agent, calls = equilibrium_agent(folder / "river.solution"), PotOddsAgent()
    for state in (HUNL.setup.start(), HUNL.setup.start().act(raise_to(457))):
        ours, other = agent.policy_at(state), calls.policy_at(state)
        assert ours.actions == other.actions
        np.testing.assert_array_equal(ours.probabilities, other.probabilities)
    capped = river.act(raise_to(300)).act(raise_to(1000)).act(raise_to(1750))
    ours, other = agent.policy_at(capped), calls.policy_at(capped)  # after two raises the tree has no third
    np.testing.assert_allclose(row(ours, CALL)[LIVING], row(other, CALL)[LIVING])


def checked_down(state: HandState) -> HandState:
    """Returns the river of a hand after a raise to 300 and a call, on the board of the spot."""
    state = state.act(raise_to(300)).act(CALL)
    for count in (3, 1, 1):
        state = state.deal(RIVER.board[len(state.board) : len(state.board) + count])
        state = state if len(state.board) == 5 else state.act(CALL).act(CALL)
    return state


@pytest.mark.parametrize(("scale", "begins"), [(1, True), (2, False)])
def test_whole_hands_come_to_the_spot(folder: Path, scale: int, begins: bool) -> None:
    """600 chips in the pot and 9,000 behind are the spot; 18,300 behind are another one."""
    agent = equilibrium_agent(folder / "river.solution")
    state = checked_down(load_hand_game(f"hunl:stack={9300 * scale}").setup.start())
    policy = agent.policy_at(state)
    assert [action.amount for action in policy.actions] == ([0, 300, 600] if begins else [0])


def test_chips_may_be_scaled(folder: Path) -> None:
    """Three times the chips, in the pot and behind, are the same spot."""
    agent = equilibrium_agent(folder / "river.solution")
    rules = BettingRules(small_blind=0, big_blind=300)
    setup = HandSetup(rules=rules, stacks=(27_000, 27_000), first_street=3, pot=1800, board=RIVER.board)
    assert [action.amount for action in agent.policy_at(setup.start()).actions] == [0, 900, 1800]


@pytest.mark.parametrize("file", ["turn.solution", "short.solution"])
def test_streets_follow_and_missing_rivers_are_solved(folder: Path, file: str) -> None:
    setup = load_hand_game(f"spot:{folder / 'turn.toml'}").setup
    agent = equilibrium_agent(folder / file)
    state = setup.start().act(raise_to(450)).act(CALL).deal(parse_cards("2s"))
    policy = agent.policy_at(state)
    living = ~blocked_hands(state.board)
    np.testing.assert_allclose(policy.probabilities.sum(axis=0)[living], 1.0)
    assert {str(action) for action in policy.actions} == {"call", "raise to 1350"}  # pot, which is all-in
    facing = agent.policy_at(state.act(CALL).act(raise_to(700)))
    assert row(facing, FOLD)[parse_hand("9c8d")] > 0.3 and row(facing, FOLD)[parse_hand("AhAd")] < 1e-3


def test_an_all_in_of_the_tree_is_called_to_the_end(folder: Path) -> None:
    setup = load_hand_game(f"spot:{folder / 'turn.toml'}").setup
    agent = equilibrium_agent(folder / "turn.solution")
    state = setup.start().act(raise_to(600)).act(raise_to(1750)).act(CALL).deal(parse_cards("2s"))
    taken = agent.policy_at(state)  # the raise to 1,750 was mostly taken for all of 1,800 chips
    assert row(taken, CALL)[parse_hand("AhAd")] > 0.5


def test_it_loses_little_to_bets_that_it_does_not_know(folder: Path, river: HandState) -> None:
    """Local best response with sizes off the tree: rounding to the nearest size can be exploited more than drawing."""
    found = {}
    for name in ("pseudo-harmonic", "nearest"):
        agent = load_hand_agent(f"equilibrium:{folder / 'river.solution'},translation={name}")
        response = LocalBestResponse(agent, (0.25, 0.35, 0.71, 0.74, 0.8), (3,))
        played = play_hands(river.setup, [response, agent], np.arange(32), 1, aivat=RANGES, hands_per_board=16)
        fair = played.fair_winnings(0)
        assert fair is not None
        found[name] = float(fair.mean()) / RIVER.pot
    assert found["pseudo-harmonic"] < 0.06 < 0.1 < found["nearest"]  # of the pot


class Bettor(HandAgent):
    """Bets an amount that is on nobody's tree, whatever it holds."""

    name = "bettor"

    def policy_at(self, state: HandState) -> HandPolicy:
        legal = state.legal_actions()
        action = CALL
        if legal.min_raise_to is not None and legal.max_raise_to is not None and not any(state.betting.bets):
            action = raise_to(min(max(legal.min_raise_to, 437), legal.max_raise_to))
        return HandPolicy((action,), np.ones((1, 1326)))


def test_hands_are_played_to_the_end(folder: Path) -> None:
    for name, setup in (("river", None), ("turn", None)):
        setup = load_hand_game(f"spot:{folder / f'{name}.toml'}").setup
        agent = equilibrium_agent(folder / f"{name}.solution")
        played = play_hands(setup, [agent, Bettor()], np.arange(40), 3, aivat=RAW)
        assert abs(played.payoffs.sum()) < 1e-9
        assert played.winnings(0).mean() > 0.0  # who bets everything blindly loses


def test_errors_are_one_line(folder: Path) -> None:
    for name, message in (
        ("equilibrium", "is written equilibrium:FILE"),
        (f"equilibrium:{folder / 'river.solution'},translation=nearst", "did you mean 'nearest'"),
        (f"equilibrium:{folder / 'river.solution'},otherwise=nobody", "unknown agent of whole hands 'nobody'"),
        (f"equilibrium:{folder / 'river.solution'},speed=3", "unknown 'speed=3'"),
    ):
        with pytest.raises(AgentError, match=message):
            load_hand_agent(name)
    with pytest.raises(StorageError, match="not a file of arrays"):
        load_hand_agent(f"equilibrium:{folder / 'river.toml'}")
    (folder / "ranges.toml").write_text(format_spot(Spot(board=RIVER.board, pot=10, stack=10, oop="AA", ip="KK")))
    with pytest.raises(GameError, match="must be 'random'"):
        load_hand_game(f"spot:{folder / 'ranges.toml'}")


def test_answers_do_not_depend_on_what_was_asked_before(folder: Path, river: HandState) -> None:
    tree = SpotTree(HoldemSolution.open(folder / "river.solution"))
    kept: TreeAgent[object] = TreeAgent("kept", tree, PotOddsAgent())  # type: ignore[arg-type]
    for first, second in itertools.product((CALL, raise_to(250)), (raise_to(900), raise_to(1800))):
        state = river.act(first).act(second)
        fresh = TreeAgent("fresh", tree, PotOddsAgent()).policy_at(state)
        asked = kept.policy_at(state)
        assert asked.actions == fresh.actions
        np.testing.assert_array_equal(asked.probabilities, fresh.probabilities)
