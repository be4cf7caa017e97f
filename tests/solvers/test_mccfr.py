"""MCCFR equals its recursive reference, whose expectation is exact; lemmas of the papers; threads, resuming, names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aleator.errors import SolutionError, SolveError
from aleator.games import load_game
from aleator.games.base import CHANCE
from aleator.games.size import measure
from aleator.solvers.algorithms import NAMED_RULES, rule_of
from aleator.solvers.best_response import nash_conv
from aleator.solvers.cfr import CFR
from aleator.solvers.engines.sampling.histories import FLAGS, MOVES, PUBLIC, RESTRICTED, HistoryRows, build_histories
from aleator.solvers.limits import Limits
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.sampling_rule import SamplingRule
from aleator.solvers.solution import TreeSolution, open_solution
from aleator.solvers.solve import make_solver, solve
from aleator.trees import build_tree
from aleator.trees.policy import uniform_policy
from aleator.trees.public_tree import PublicTree
from tests.games.random_game import RandomGame
from tests.solvers.reference import pull, reaches
from tests.solvers.sampling_reference import SamplingReference, all_draws, pairs_of, stream
from tests.trees.ties import without_ties

SCHEMES = ["external", "outcome", "outcome,epsilon=0", "robust1", "robust2", "chance", "public-chance"]
# games with public events, private draws and hidden moves, some with hands that lack actions
RANDOM = [RandomGame(seed, depth=4) for seed in (2, 3, 5, 11, 17, 26)]


def trees() -> list[PublicTree]:
    games = [load_game(name) for name in ("kuhn", "leduc", "goofspiel:3")] + RANDOM
    return [without_ties(build_tree(game)) for game in games]


def test_the_games_of_these_tests_have_everything() -> None:
    public_events = private_draws = hidden_moves = missing_actions = several_outcomes = 0
    for tree in trees():
        histories = build_histories(tree, HistoryRows(tree))
        events, moves = tree.actor == CHANCE, histories.nodes[:, MOVES] != PUBLIC
        public_events += int((events & (tree.num_children > 1)).sum())
        private_draws += int((events & (tree.num_children == 1)).sum())
        hidden_moves += int((moves & (tree.actor >= 0)).sum())
        missing_actions += int((histories.nodes[:, FLAGS] & RESTRICTED).sum())
        several_outcomes += int((np.diff(histories.move_at) > 1).sum())
    assert min(public_events, private_draws, hidden_moves, missing_actions, several_outcomes) >= 3


def vectors(reference: SamplingReference, blocks: dict[int, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Returns blocks as a pair of flat vectors in the tree's order."""
    tree = reference.tree
    first, second = (
        np.concatenate([blocks[int(node)].ravel() for node in tree.decisions(player)] or [np.zeros(0)])
        for player in (0, 1)
    )
    return first, second


def assert_equal(solver: MCCFR, reference: SamplingReference, tolerance: float = 1e-9) -> None:
    rows, state = HistoryRows(solver.tree), solver.state()
    for name, blocks in (("regret", reference.regret), ("policy_sum", reference.policy_sum)):
        expected = rows.from_vectors(vectors(reference, blocks))
        np.testing.assert_allclose(state[name], expected, rtol=tolerance, atol=tolerance, err_msg=name)
    assert solver.nodes_touched == reference.touched


def with_regrets(tree: PublicTree, rule: SamplingRule, seed: int, scale: float = 1.0) -> SamplingReference:
    """Returns a reference with random regrets, positive and negative."""
    reference, rng = SamplingReference(tree, rule), np.random.default_rng(seed)
    for node in reference.nodes:
        legal = reference.legal[node]
        reference.regret[node] = np.where(legal, np.round(rng.normal(size=legal.shape) * scale, 3), 0.0)
    return reference


@pytest.mark.parametrize("text", [*SCHEMES, "robust2,batch=3", "chance,batch=33", "public-chance,batch=2"])
def test_kernels_equal_the_reference(text: str) -> None:
    rule = rule_of(SamplingRule, f"mccfr:{text}")
    for tree in trees():
        solver, reference = MCCFR(tree, rule, seed=7), SamplingReference(tree, rule, seed=7)
        iterations = 2 if rule.batch > 3 else 12
        solver.run(iterations)
        reference.run(iterations)
        assert_equal(solver, reference)


@pytest.mark.parametrize(
    "text",
    [
        "mccfr+", "mccfr+:robust1,batch=5", "lmccfr:period=50", "lmccfr:batch=2,period=300",
        "mccfr:discount=initial,period=90", "mccfr:skip=libratus,threshold=-1,constant=2",
        "mccfr:skip=libratus,threshold=-1,constant=0.5,from=10,batch=2", "mccfr:skip=pluribus,threshold=-0.5,rate=0.7",
        "mccfr:skip=pluribus,threshold=-0.5,from=20",
    ],
)  # fmt: skip
def test_plus_discounts_and_skipping_equal_the_reference(text: str) -> None:
    rule = rule_of(SamplingRule, text)
    for tree in trees():
        solver, reference = MCCFR(tree, rule, seed=3), SamplingReference(tree, rule, seed=3)
        solver.run(9)
        solver.run(13)
        reference.run(22)
        assert_equal(solver, reference)


@pytest.mark.parametrize("text", [text for text in SCHEMES if text != "outcome,epsilon=0"])  # which explores too little
@pytest.mark.parametrize(
    "game", ["kuhn", RandomGame(3, depth=3), RandomGame(11, depth=3), RandomGame(17, depth=3)], ids=str
)
def test_sampled_regrets_are_unbiased(text: str, game: str | RandomGame) -> None:
    """The mean over *all* random outcomes is the regret of CFR, and the opponent's reach times its policy."""
    tree = build_tree(load_game(game) if isinstance(game, str) else game)
    reference = with_regrets(tree, rule_of(SamplingRule, f"mccfr:{text}"), seed=1)
    policy = {node: np.stack([reference.policy(node, hand) for hand in range(reference.legal[node].shape[1])], axis=1)
              for node in reference.nodes}  # fmt: skip
    for player in (0, 1):
        regret, policy_sum, total = reference.zeros(), reference.zeros(), 0.0
        for chance, (sampled, added, _) in all_draws(lambda draw, player=player: reference.sample(player, draw)):
            total += chance
            for node in reference.nodes:
                regret[node] += chance * sampled[node]
                policy_sum[node] += chance * added[node]
        assert total == pytest.approx(1.0, abs=1e-12)
        exact = reference.zeros()

        def choose(node: int, q: np.ndarray) -> np.ndarray:
            values = (policy[node] * q).sum(axis=0)
            exact[node] = np.where(reference.legal[node], q - values, 0.0)  # noqa: B023
            return values

        pull(tree, player, 0, reaches(tree, policy, 1 - player), choose)
        own = reaches(tree, policy, 1 - player)
        for node in reference.nodes:
            np.testing.assert_allclose(regret[node], exact[node], atol=1e-11)
            if tree.actor[node] == 1 - player:
                mass = 1.0 if text == "public-chance" else reference.deal[node].sum(axis=player)
                np.testing.assert_allclose(policy_sum[node], policy[node] * own[node] * mass, atol=1e-11)
            else:
                assert not policy_sum[node].any()


def test_kernels_are_unbiased_in_a_bigger_game() -> None:
    """Leduc, n = 60 batches of 4,000 traversals, seeds 0 to 59: all sampled regrets within z = 4.8 standard errors.

    Of 336 entries one is to be expected beyond that in 4 of 1,000 such tests.
    """
    tree = build_tree(load_game("leduc"))
    reference = with_regrets(tree, SamplingRule(), seed=2)
    start = HistoryRows(tree).from_vectors(vectors(reference, reference.regret))
    found = []
    for seed in range(60):
        solver = MCCFR(tree, rule_of(SamplingRule, "mccfr:batch=4000"), seed=seed)
        solver.state()["regret"][:] = start
        solver.run(1)
        found.append(solver.state()["regret"] - start)
    first = HistoryRows(tree).offsets[0]  # player 1 is updated against player 0's new policy, which is random itself
    mean, error = np.mean(found, axis=0)[first], (np.std(found, axis=0, ddof=1) / np.sqrt(60))[first]
    policy = {node: np.stack([reference.policy(node, hand) for hand in range(3)], axis=1) for node in reference.nodes}
    values = reference.zeros()

    def choose(node: int, q: np.ndarray) -> np.ndarray:
        values[node] = q - (policy[node] * q).sum(axis=0)
        return (policy[node] * q).sum(axis=0)

    pull(tree, 0, 0, reaches(tree, policy, 1), choose)
    expected = vectors(reference, values)[0]
    assert (error > 0).sum() > 200
    np.testing.assert_array_less(np.abs(mean - expected), 4.8 * error + 1e-12)


@pytest.mark.parametrize("batch", [1, 100])
def test_lemma_3_robust_sampling_of_all_actions_is_external_sampling(batch: int) -> None:
    for tree in trees():
        most = max(1, int(tree.num_actions.max()))
        robust = MCCFR(tree, SamplingRule(scheme="robust", actions=most, batch=batch), seed=5)
        external = MCCFR(tree, SamplingRule(batch=batch), seed=5)
        robust.run(40)
        external.run(40)
        for name, vector in external.state().items():
            np.testing.assert_array_equal(vector, robust.state()[name])


@pytest.mark.parametrize("exploration", [0.0, 0.6, 1.0])
def test_lemma_4_one_action_drawn_by_the_policy_is_outcome_sampling(exploration: float) -> None:
    """Against outcome sampling as Lanctot et al. define it: one trajectory z, weights u(z) pi_{-i}(z[I]) / q(z)."""
    rule = SamplingRule(scheme="outcome", exploration=exploration)
    for tree in trees():
        solver, own = MCCFR(tree, rule, seed=11), SamplingReference(tree, rule, seed=11)
        for iteration in range(1, 30):
            solver.run(1)
            for player in (0, 1):
                for node, hand, gains in outcome_regrets(own, player, exploration, stream(11, iteration, player, 0)):
                    own.regret[node][:, hand] += gains
        expected = HistoryRows(tree).from_vectors(vectors(own, own.regret))
        np.testing.assert_allclose(solver.state()["regret"], expected, rtol=1e-9, atol=1e-9)


def test_robust_sampling_of_one_action_is_outcome_sampling_with_full_exploration() -> None:
    for tree in trees():
        robust = MCCFR(tree, SamplingRule(scheme="robust", actions=1), seed=5)
        outcome = MCCFR(tree, SamplingRule(scheme="outcome", exploration=1.0), seed=5)
        robust.run(30)
        outcome.run(30)
        np.testing.assert_allclose(robust.state()["regret"], outcome.state()["regret"], rtol=1e-12, atol=1e-12)


def outcome_regrets(reference: SamplingReference, player: int, exploration: float, draw):
    """Yields (node, hand, sampled regrets) of the infostates on one trajectory."""
    tree, deal = reference.tree, reference.deal
    pairs = pairs_of(deal[0])
    index = draw([deal[0][pair] for pair in pairs])
    hands, node, trajectory = pairs[index], 0, []
    chance = sampled = deal[0][hands]
    reach = [1.0, 1.0]
    while tree.num_children[node]:
        actor, action = int(tree.actor[node]), None
        if actor >= 0:
            policy = reference.policy(node, hands[actor])
            legal = np.flatnonzero(reference.legal[node][:, hands[actor]])
            shares = np.zeros(len(policy))
            shares[legal] = exploration / len(legal)
            shares = shares + (1 - exploration) * policy if actor == player else policy
            action = draw(list(shares)) if actor != player or len(legal) > 1 else int(legal[0])
            trajectory.append((node, hands, actor, action, policy, chance, list(reach)))
            reach[actor] *= policy[action]
            sampled *= shares[action]
        following = reference._after(node, hands, action)
        index = draw([share for share, _, _ in following]) if len(following) > 1 else 0
        share, node, hands = following[index]
        chance *= share
        sampled *= share
    payoff = tree.payoffs[tree.payoff_group[node]]
    payoff = np.asarray(payoff if isinstance(payoff, np.ndarray) else payoff.todense())
    utility = payoff[hands] * tree.stake[node] / deal[node][hands] * (1 if player == 0 else -1)
    tail = 1.0  # the traverser's own probability of playing on to the end
    for at, held, actor, action, policy, *_ in reversed(trajectory):
        if actor != player:
            continue
        weight = utility * chance * reach[1 - player] / sampled
        gains = np.full(len(policy), -weight * tail * policy[action])
        gains[action] += weight * tail
        tail *= policy[action]
        yield at, held[actor], np.where(reference.legal[at][:, held[actor]], gains, 0.0)


def test_outcome_sampling_needs_exploration() -> None:
    """On policy alone, actions of probability 0 stay untried: Kuhn's NashConv stays high; exploring, it does not."""
    tree = build_tree(load_game("kuhn"))
    quality = {}
    for exploration in (0.0, 0.6):
        solver = MCCFR(tree, SamplingRule(scheme="outcome", exploration=exploration), seed=1)
        solver.run(100_000)
        quality[exploration] = solver.nash_conv()
    assert quality[0.6] < 0.05
    assert quality[0.0] > 0.3


@pytest.mark.parametrize("text", ["mccfr", "mccfr:outcome", "mccfr+:robust1,batch=5", "mccfr:public-chance,batch=2"])
@pytest.mark.parametrize("gamma", [3, 90])
def test_weights_are_the_same_in_any_unit(text: str, gamma: int) -> None:
    """Weights t^gamma are divided by a large number now and then; 1e300 is never reached here."""
    tree = build_tree(load_game("leduc"))
    averages = []
    for largest in (1e300, 1e100, 1e12, 50.0):
        solver = make_solver(tree, text + (",gamma=" if ":" in text else ":gamma=") + str(gamma), seed=1)
        solver._largest = largest
        for iterations in (1, 7, 300, 700):
            solver.run(iterations)
        averages.append(np.concatenate(solver.average_policy().probabilities))
    for average in averages[1:]:
        np.testing.assert_allclose(average, averages[0], atol=1e-12)
    assert len(averages[0]) > 300 and (averages[0] > 0).sum() > 100


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("text", ["mccfr:gamma=100", "mccfr:outcome,gamma=1000", "mccfr+:gamma=40,batch=3"])
def test_large_weights_stay_in_range(text: str, dtype: str, tmp_path: Path) -> None:
    found = solve("leduc", text, dtype=dtype, limits=Limits(iterations=3000), seed=1)
    assert np.isfinite(found.state["policy_sum"]).all() and 0 < found.summary.exploitability < 1.5  # uniform: 2.37
    found.save(tmp_path / "found")
    again = open_solution(tmp_path / "found")
    again.policy.check()
    assert again.summary.exploitability == found.summary.exploitability


@pytest.mark.parametrize(
    ("text", "name"), [("public-chance", "kuhn"), ("public-chance", "goofspiel:3"), ("chance", "goofspiel:3")]
)
def test_without_events_to_sample_it_is_cfr(text: str, name: str) -> None:
    tree = without_ties(build_tree(load_game(name)))
    sampled, full = MCCFR(tree, rule_of(SamplingRule, f"mccfr:{text}")), CFR(tree, NAMED_RULES["cfr"])
    sampled.run(60)
    full.run(60)
    for player in (0, 1):
        np.testing.assert_allclose(
            sampled.current_policy().probabilities[player], full.current_policy().probabilities[player], atol=1e-9
        )


@pytest.mark.parametrize(
    ("text", "iterations"),
    [
        ("mccfr", 100_000), ("mccfr:robust1", 400_000), ("mccfr:robust2", 150_000), ("mccfr:outcome", 400_000),
        ("mccfr:chance", 50_000), ("mccfr:public-chance", 8_000), ("mccfr:batch=500", 300), ("mccfr+:batch=500", 300),
        ("lmccfr:period=2e5", 100_000), ("mccfr:discount=initial,period=2e5", 100_000),
    ],
)  # fmt: skip
def test_every_scheme_converges_on_leduc(text: str, iterations: int) -> None:
    tree = build_tree(load_game("leduc"))
    solver = make_solver(tree, text, seed=1)
    solver.run(iterations)
    solver.average_policy().check()
    solver.current_policy().check()
    assert 0 <= solver.nash_conv() < nash_conv(uniform_policy(tree)) / 10


def test_skipping_touches_fewer_nodes_and_still_converges() -> None:
    tree = build_tree(load_game("leduc"))
    touched = {}
    for skip in ("none", "libratus", "pluribus"):
        rule = SamplingRule(skip=skip, threshold=-2000.0, constant=500.0, skip_from=50_000)
        solver = MCCFR(tree, rule, seed=1)
        solver.run(150_000)
        touched[skip] = solver.nodes_touched
        assert solver.nash_conv() < nash_conv(uniform_policy(tree)) / 10
    assert touched["libratus"] < 0.95 * touched["none"]
    assert touched["pluribus"] < 0.97 * touched["none"]


@pytest.mark.parametrize(
    "text",
    [
        "mccfr:batch=1000",
        "mccfr+:robust2,batch=300",
        "mccfr:public-chance,batch=64",
        "lmccfr:chance,batch=257,period=1e5",
    ],
)
def test_same_seed_same_result_at_any_number_of_threads(text: str) -> None:
    tree = build_tree(load_game("leduc"))
    states = []
    for threads in (1, 2, 3):
        solver = make_solver(tree, text, threads=threads, seed=9)
        solver.run(4)
        states.append(solver.state())
    for name, vector in states[0].items():
        np.testing.assert_array_equal(vector, states[1][name])
        np.testing.assert_array_equal(vector, states[2][name])
    other = make_solver(tree, text, seed=10)
    other.run(4)
    assert (other.state()["regret"] != states[0]["regret"]).any()


@pytest.mark.parametrize("text", ["mccfr", "lmccfr:batch=64,period=5e4", "mccfr:outcome"])
def test_resuming_equals_never_stopping(text: str, tmp_path: Path) -> None:
    straight = solve("leduc", text, limits=Limits(iterations=60), seed=4)
    half = solve("leduc", text, limits=Limits(iterations=23), seed=4)
    half.save(tmp_path / "half")
    half = open_solution(tmp_path / "half")
    resumed = solve("leduc", text, limits=Limits(iterations=60), resume=half)
    for name, vector in straight.state.items():
        np.testing.assert_array_equal(vector, resumed.state[name])
    with pytest.raises(SolutionError, match="cannot be resumed"):
        solve("leduc", text, dtype="float64", resume=TreeSolution.of_policy(half.summary, half.policy, {}))


@pytest.mark.slow
def test_single_precision_is_close() -> None:
    tree = build_tree(load_game("leduc"))
    solver = make_solver(tree, "mccfr", dtype="float32", seed=1)
    solver.run(50_000)
    assert solver.dtype == np.float32
    assert solver.nash_conv() < 0.4


def test_tables_are_shared_and_bounded_by_the_pairs_of_hands() -> None:
    dice = build_tree(load_game("liars-dice:1x5"))
    histories = build_histories(dice, HistoryRows(dice))
    assert (len(histories.hands), len(histories.outcome_end)) == (25, 0)
    leduc = build_tree(load_game("leduc:nolimit"))
    histories = build_histories(leduc, HistoryRows(leduc))
    assert len(histories.hands) == 9 + 3 * 8  # before the board, and for each board; a pair of it is impossible
    assert len(histories.outcome_end) == 3 * 8
    for name in ("goofspiel:5", "openspiel:leduc_poker"):
        tree = build_tree(load_game(name))
        histories = build_histories(tree, HistoryRows(tree))
        bound = measure(tree.game).histories
        assert len(histories.hands) <= bound and len(histories.outcome_end) <= bound


def test_names() -> None:
    assert rule_of(SamplingRule, "mccfr") == SamplingRule()
    assert rule_of(SamplingRule, "mccfr+:robust3,batch=5e3") == SamplingRule(
        scheme="robust", actions=3, batch=5000, floor=True, gamma=1.0
    )
    assert rule_of(SamplingRule, "lmccfr:outcome,epsilon=0.1,period=1e6") == SamplingRule(
        scheme="outcome", exploration=0.1, discount="linear", period=10**6
    )
    assert rule_of(SamplingRule, "mccfr:skip=pluribus,from=100").skip_from == 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mccfr:externel", "did you mean 'external'"), ("mccfr:batch=0", "batch must be"),
        ("mccfr:batch=1.5", "whole number"), ("mccfr:batch=many", "batch must be a whole number"),
        ("mccfr:robust0", "K of robustK must be a whole number from 1"),
        ("mccfr:batch=1e15", "batch must be a whole number from 1 to 1,000,000"), ("mccfr:size=3", "unknown 'size=3'"),
        ("mccfr:outcome,epsilon=2", "epsilon must be a number from 0 to 1"),
        ("mccfr:skip=some", "none, libratus, pluribus"), ("mccfr:chance,skip=libratus", "external sampling only"),
        ("mccfr:threshold=5", "must be a number below 0"), ("lmccfr:discount=square", "none, linear, initial"),
        ("mccfr:gamma=-1", "gamma"), ("mccfr:gamma=1001", "from 0 to 1,000"), ("mccfrr", "unknown algorithm"),
        ("mccfr:period=inf", "whole number"),
    ],
)  # fmt: skip
def test_impossible_rules_are_refused(text: str, message: str) -> None:
    with pytest.raises(SolveError, match=message):
        make_solver(build_tree(load_game("kuhn")), text)


def test_impossible_seeds_are_refused() -> None:
    with pytest.raises(SolveError, match="seed"):
        solve("kuhn", "mccfr", limits=Limits(iterations=1), seed=-1)
    with pytest.raises(SolveError, match="threads"):
        MCCFR(build_tree(load_game("kuhn")), threads=0)
