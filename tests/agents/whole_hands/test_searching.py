"""Both searching agents answer every state, keep their books by Bayes' rule, and say in one line what is wrong."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from aleator.agents.whole_hands import HandAgent, load_hand_agent
from aleator.agents.whole_hands.base import ask_policies
from aleator.agents.whole_hands.deepstack import DeepStackAgent
from aleator.agents.whole_hands.rebel import RebelHandAgent
from aleator.agents.whole_hands.search_settings import SearchSettings
from aleator.errors import AgentError, AleatorError
from aleator.games.holdem.betting import CALL, Action, raise_to
from aleator.games.holdem.cards import blocked_hands, parse_cards
from aleator.games.holdem.hand_batch import HandBatch
from aleator.games.holdem.hand_state import HandSetup, HandState
from aleator.games.holdem.variants import HULH, HUNL
from aleator.search.whole_hands.rounds import RoundTask, SolvedRound
from aleator.shipped import directory

QUICK = SearchSettings(preflop=3, flop=3, turn=3, river=20, exact_turn=60)
BOARD = parse_cards("3s 7h Td Ks 2c")
LINE: tuple[Action, ...] = (
    raise_to(250), CALL,  # before the flop, off the tree
    CALL, raise_to(400), CALL,  # flop
    raise_to(777), raise_to(3_000), CALL,  # turn
    CALL, raise_to(2_222),  # river; the rest is for the tests
)  # fmt: skip


def states(line: tuple[Action, ...] = LINE, board: tuple[int, ...] = BOARD) -> list[HandState]:
    """Returns the decisions along a line, the last one after all of it."""
    state, found = HUNL.setup.start(), []
    for action in line:
        found.append(state)
        state = state.act(action)
        while due := state.cards_due:
            state = state.deal(board[len(state.board) : len(state.board) + due])
    return [*found, state]


@pytest.fixture(scope="module")
def deepstack() -> DeepStackAgent:
    return DeepStackAgent(QUICK)


@pytest.fixture(scope="module")
def rebel() -> RebelHandAgent:
    return RebelHandAgent(QUICK)


@pytest.fixture(params=["deepstack", "rebel"])
def agent(request: pytest.FixtureRequest) -> HandAgent:
    found: HandAgent = request.getfixturevalue(request.param)
    return found


def test_every_state_of_a_hand_is_answered_in_both_seats(agent: HandAgent) -> None:
    for state in states():
        policy = agent.policy_at(state)
        assert all(state.legal_actions().allows(action) for action in policy.actions)
        np.testing.assert_allclose(policy.probabilities.sum(axis=0), 1.0, atol=1e-6)
        assert policy.probabilities.min() >= 0.0
        assert (policy.probabilities[:, ~blocked_hands(state.board)].std(axis=1) > 0.0).any()  # hands differ


def test_an_all_in_is_called_or_folded(agent: HandAgent) -> None:
    river = states()[-1]
    shoved = river.act(raise_to(river.legal_actions().max_raise_to or 0))
    policy = agent.policy_at(shoved)
    assert [str(action.kind) for action in policy.actions] == ["fold", "call"]
    best, worst = parse_hands("TsTh", "5c4c")
    assert policy.probabilities[1, best] > 0.9 > 0.1 > policy.probabilities[1, worst]


def parse_hands(*texts: str) -> list[int]:
    from aleator.games.holdem.cards import parse_hand

    return [parse_hand(text) for text in texts]


@pytest.mark.slow
def test_answers_do_not_depend_on_what_was_asked_before(agent: HandAgent) -> None:
    last = states()[-1]
    before = agent.policy_at(last)
    fresh = type(agent)(QUICK).policy_at(last)  # type: ignore[call-arg]
    assert fresh.actions == before.actions
    np.testing.assert_allclose(fresh.probabilities, before.probabilities, atol=1e-9)


def test_many_hands_at_once_are_answered_like_one(agent: HandAgent) -> None:
    some = states()[:3]
    batch = HandBatch.of_states(some)
    codes, probabilities = ask_policies(agent, batch, np.arange(len(some)))
    for place, state in enumerate(some):
        policy = agent.policy_at(state)
        np.testing.assert_allclose(probabilities[place, : len(policy.actions)], policy.probabilities, atol=1e-6)
    assert codes.shape == probabilities.shape[:2]


@pytest.mark.parametrize("kind", [DeepStackAgent, RebelHandAgent])
def test_batches_answer_like_single_searches(kind: type[DeepStackAgent] | type[RebelHandAgent]) -> None:
    """As on a device, where rounds of one betting shape are solved together: all streets, several boards and lines.

    Few iterations: regrets near 0 make more of a difference in the last bits with each of them, tenfold in a few.
    """
    settings = SearchSettings(preflop=3, flop=2, turn=2, river=3)
    batched, single = kind(settings), kind(settings)
    for agent in (batched, single):
        agent.search.on_device = True  # torch and batches throughout, though on a CPU
    sizes: list[int] = []
    solve_alike = batched.search._solve_alike

    def counted(street: int, tasks: Sequence[RoundTask]) -> list[SolvedRound]:
        sizes.append(len(tasks))
        return solve_alike(street, tasks)

    batched.search._solve_alike = counted  # type: ignore[method-assign]
    line = (raise_to(300), CALL, CALL, raise_to(300), CALL, CALL, CALL, CALL)
    some = [state for board in (BOARD, parse_cards("Ah Qh 4d 4c 9s")) for state in states(line, board)[-2:]]
    some += states((CALL, CALL))[-1:]
    answers = batched.policies_of(some)
    for state, answer in zip(some, answers, strict=True):
        alone = single.policy_at(state)
        assert alone.actions == answer.actions
        live = ~blocked_hands(state.board)
        apart = np.abs(alone.probabilities[:, live] - answer.probabilities[:, live])  # in 32 bits, over networks
        assert apart.max() < 0.03 and apart.mean() < 2e-3, "answers to other states differ by tenths"
    assert max(sizes) > 1


def bayes(agent: HandAgent, line: tuple[Action, ...], seat: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Returns the reach of a seat by its own answers, action by action, one factor after the other."""
    reach = np.ones(1326)
    for state, action in zip(states(line), line, strict=False):
        if state.player == seat:
            policy = agent.policy_at(state)
            reach = reach * policy.probabilities[policy.actions.index(action)]
    return reach


OWN = (
    raise_to(300),
    CALL,
    CALL,
    raise_to(300),
    CALL,
    raise_to(600),
    CALL,
    CALL,
)  # on the tree, so that it is in answers


@pytest.mark.parametrize("seat", [0, 1])
def test_rebel_believes_what_it_plays(rebel: RebelHandAgent, seat: int) -> None:
    last = states(OWN)[-1]
    live = ~blocked_hands(last.board)
    own, believed = bayes(rebel, OWN, seat), rebel.beliefs_at(last, seat).reach[seat]
    likely = live & (own > 1e-6 * own[live].max())  # below that reach is kept from vanishing
    np.testing.assert_allclose(believed[likely] / believed[likely].max(), own[likely] / own[likely].max(), rtol=1e-6)
    assert 0.01 < likely.mean() < 1.0


@pytest.mark.parametrize("kind", [DeepStackAgent, RebelHandAgent])
def test_an_opponent_that_trembles_may_hold_anything(kind: type[DeepStackAgent] | type[RebelHandAgent]) -> None:
    """One's own range is still what one plays; the opponent keeps at least its trembles, action by action."""
    line, seat, tremble = OWN[:2], 0, 0.2
    agent = kind(replace(QUICK, tremble=tremble))
    last = states(line)[-1]
    live = ~blocked_hands(last.board)
    followed = agent.beliefs_at(last, seat) if isinstance(agent, RebelHandAgent) else agent.carried_at(last, seat)
    own, believed = bayes(agent, line, seat), followed.reach[seat]
    likely = live & (own > 1e-3 * own[live].max())
    np.testing.assert_allclose(believed[likely] / believed[likely].max(), own[likely] / own[likely].max(), rtol=1e-3)
    opponent = followed.reach[1 - seat]
    asked = agent.policy_at(states(line)[1])  # how it would act itself in the other seat has the same number of actions
    least = tremble / len(asked.actions)
    assert least <= opponent.min() < opponent.max() == 1.0
    with pytest.raises(AgentError, match=r"tremble must be .*1\.5"):
        replace(QUICK, tremble=1.5)


def test_both_seats_share_what_is_solved_before_anybody_acts() -> None:
    agent, solved = RebelHandAgent(QUICK), []
    solve = agent.search.solve
    agent.search.solve = lambda requests: solved.extend(requests) or solve(requests)  # type: ignore[method-assign, func-returns-value]
    first, second = states((CALL, CALL))[:2]
    agent.policies_of([first, second])
    assert [request.state for request in solved] == [first]


@pytest.mark.parametrize("seat", [0, 1])
def test_deepstack_carries_what_it_plays(deepstack: DeepStackAgent, seat: int) -> None:
    last = states(OWN)[-1]
    live = ~blocked_hands(last.board)
    own, carried = bayes(deepstack, OWN, seat), deepstack.carried_at(last, seat).reach[seat]
    likely = live & (own > 1e-3 * own[live].max())
    np.testing.assert_allclose(carried[likely] / carried[likely].max(), own[likely] / own[likely].max(), rtol=1e-3)


def test_deepstack_re_solves_below_a_promise(deepstack: DeepStackAgent) -> None:
    """The opponent's carried cfvs follow its own actions unchanged, and change with the agent's."""
    flop = [state for state in states() if len(state.board) == 3]
    carried = [deepstack.carried_at(state, 0) for state in flop]
    assert carried[0].cfvs is None and carried[1].cfvs is not None
    np.testing.assert_array_equal(carried[1].cfvs, carried[2].cfvs)  # player 1 has bet


def test_rebel_plays_one_iteration_or_the_average() -> None:
    first = HUNL.setup.start()
    settings = replace(QUICK, preflop=20)
    average = RebelHandAgent(settings, safe=False).policy_at(first).probabilities
    drawn = [RebelHandAgent(replace(settings, seed=seed)).policy_at(first).probabilities for seed in range(4)]
    assert all(np.abs(policy - average).max() > 0.01 for policy in drawn)
    assert len({policy.tobytes() for policy in drawn}) > 1


def test_other_games_and_stacks_are_refused(agent: HandAgent) -> None:
    with pytest.raises(AgentError, match="no-limit hold'em to the river only: give it the game hunl"):
        agent.policy_at(HULH.setup.start())
    uneven = HandSetup(rules=HUNL.rules, stacks=(20_000, 10_000))
    with pytest.raises(AgentError, match="needs equal stacks, not 20,000 and 10,000"):
        agent.policy_at(uneven.start())
    with pytest.raises(AgentError, match="up to 250 big blinds, not 400"):
        agent.policy_at(HandSetup(rules=HUNL.rules, stacks=(40_000, 40_000)).start())


def test_networks_that_are_missing_or_foreign_are_named(tmp_path: Path) -> None:
    with pytest.raises(AleatorError, match=r"has no flop.safetensors: train one with"):
        load_hand_agent(f"rebel:networks={tmp_path}").search.values(1)  # type: ignore[attr-defined]
    shutil.copy(directory() / "holdem" / "river.safetensors", tmp_path / "flop.safetensors")
    agent = RebelHandAgent(SearchSettings(networks=tmp_path, preflop=1))
    with pytest.raises(AleatorError, match="is a network of the river with 47 live cards, not of the flop with 49"):
        agent.search.values(1)
    shutil.copy(directory() / "holdem" / "river.safetensors", tmp_path / "preflop.safetensors")
    with pytest.raises(AgentError, match=r"rebel: .*is a network of the river with 47 live cards, not of the preflop"):
        agent.policy_at(HUNL.setup.start())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rebel:tremble=-0.1", "rebel: tremble must be a number from 0 to 1, not '-0.1'"),
        ("rebel:flop=0", "rebel: flop must be a whole number from 1 to 1,000,000,000, not '0'"),
        ("deepstack:average", "unknown 'average'; allowed: preflop=N"),
        ("tight-aggressive:bluff=7", "bluff must be a number from 0 to 1, not '7'"),
        ("rebel:device=tpu,preflop=1", "unknown device 'tpu'; allowed: cpu, cuda"),
    ],
)
def test_bad_parameters_are_refused(name: str, message: str) -> None:
    with pytest.raises(AleatorError, match=message):
        load_hand_agent(name).policy_at(HUNL.setup.start())


def test_no_cuda_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(AgentError, match="no CUDA device was found: use device=cpu"):
        load_hand_agent("rebel:device=cuda").policy_at(HUNL.setup.start())


def test_too_little_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aleator.agents.whole_hands.searching.available_memory", lambda: 100 << 20)
    with pytest.raises(AgentError, match=r"takes 0.7 GiB of memory and 0.1 GiB are left: free some"):
        RebelHandAgent(QUICK).policy_at(HUNL.setup.start())
