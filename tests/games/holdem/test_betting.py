import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.games.holdem.betting import (
    CALL,
    FOLD,
    Action,
    BettingError,
    BettingRules,
    BettingState,
    IllegalActionError,
    LegalActions,
    raise_to,
)

HEADS_UP = BettingRules(small_blind=50, big_blind=100)
THREE = BettingRules(num_players=3, small_blind=50, big_blind=100)
FIVE = BettingRules(num_players=5, small_blind=50, big_blind=100)


def play(state: BettingState, *actions: Action) -> BettingState:
    for action in actions:
        state = state.act(action)
    return state


def on_flop(rules: BettingRules, *stacks: int, pot: int = 0) -> BettingState:
    return rules.start_on_street(1, pot=pot, stacks=stacks)


def test_heads_up_button_posts_the_small_blind_and_acts_first_preflop_last_later() -> None:
    state = HEADS_UP.start((20_000, 20_000))
    assert state.bets == (100, 50)
    assert state.player == 1
    state = play(state, CALL, CALL)
    assert (state.street, state.player) == (1, 0)
    state = play(state, CALL)
    assert state.player == 1


def test_three_players_blinds_come_first_and_the_button_opens() -> None:
    state = THREE.start((1_000, 1_000, 1_000))
    assert state.bets == (50, 100, 0)
    assert state.player == 2
    state = play(state, CALL, CALL)
    assert state.player == 1, "the big blind has the option"
    state = play(state, CALL)
    assert (state.street, state.player) == (1, 0)


def test_folded_players_are_skipped() -> None:
    state = play(THREE.start((1_000, 1_000, 1_000)), raise_to(200), FOLD, CALL)
    assert (state.street, state.player) == (1, 1)
    assert state.live_players == (1, 2)


def test_big_blind_wins_the_small_blind_when_everyone_folds() -> None:
    state = play(THREE.start((1_000, 1_000, 1_000)), FOLD, FOLD)
    assert state.is_over
    assert state.payoffs() == (-50, 50, 0)


def test_first_raise_is_at_least_the_big_blind_and_later_ones_at_least_the_last() -> None:
    state = HEADS_UP.start((20_000, 20_000))
    assert state.legal_actions() == LegalActions(True, 50, 200, 20_000)
    state = play(state, raise_to(500))
    assert state.legal_actions() == LegalActions(True, 400, 900, 20_000)
    state = play(state, CALL)
    assert state.legal_actions() == LegalActions(False, 0, 100, 19_500)


def test_all_in_below_the_minimum_is_legal() -> None:
    state = on_flop(HEADS_UP, 1_000, 130)
    state = play(state, raise_to(80 + 20))
    assert state.legal_actions() == LegalActions(True, 100, 130, 130)


def test_short_all_in_does_not_reopen_the_betting() -> None:
    state = play(on_flop(THREE, 1_000, 150, 1_000), raise_to(100), raise_to(150))
    assert state.legal_actions() == LegalActions(True, 150, 250, 1_000), "player 2 has not acted yet"
    state = play(state, CALL)
    assert state.player == 0
    assert state.legal_actions() == LegalActions(True, 50, None, None)


def test_full_all_in_reopens_the_betting() -> None:
    state = play(on_flop(THREE, 1_000, 200, 1_000), raise_to(100), raise_to(200), CALL)
    assert state.legal_actions() == LegalActions(True, 100, 300, 1_000)


def test_short_all_ins_that_add_up_to_a_full_raise_reopen_for_those_who_face_it() -> None:
    rules = BettingRules(num_players=4, small_blind=50, big_blind=100)
    state = play(on_flop(rules, 1_000, 150, 1_000, 200), raise_to(100), raise_to(150), CALL, raise_to(200))
    assert state.player == 0
    assert state.legal_actions() == LegalActions(True, 100, 300, 1_000)
    state = play(state, CALL)
    assert state.player == 2
    assert state.legal_actions() == LegalActions(True, 50, None, None), "player 2 called 150 and faces 50"


def test_sum_of_short_all_ins_is_kept_when_another_one_follows() -> None:
    stacks = (1_000, 160, 220, 250, 1_000)
    state = play(on_flop(FIVE, *stacks), raise_to(100), raise_to(160), raise_to(220), raise_to(250), CALL)
    assert state.legal_actions() == LegalActions(True, 150, 350, 1_000)


def test_all_in_below_the_minimum_bet_does_not_reopen_for_a_player_who_checked() -> None:
    state = play(on_flop(THREE, 1_000, 60, 1_000), CALL, raise_to(60))
    assert state.legal_actions() == LegalActions(True, 60, 160, 1_000)
    state = play(state, CALL)
    assert state.legal_actions() == LegalActions(True, 60, None, None)


def test_no_raise_when_nobody_could_call_it() -> None:
    state = play(on_flop(HEADS_UP, 500, 200), CALL, raise_to(200))
    assert state.legal_actions() == LegalActions(True, 200, None, None)


def test_no_fold_when_there_is_nothing_to_call() -> None:
    with pytest.raises(IllegalActionError, match=r"player 0 cannot fold: legal are check, raise to 100\.\.500"):
        on_flop(HEADS_UP, 500, 500).act(FOLD)


@pytest.mark.parametrize("amount", [199, 20_001])
def test_raise_outside_its_bounds_names_the_legal_ones(amount: int) -> None:
    with pytest.raises(IllegalActionError, match=rf"raise to {amount}: legal are fold, call 50, raise to 200\.\.20000"):
        HEADS_UP.start((20_000, 20_000)).act(raise_to(amount))


def test_nobody_acts_when_the_hand_is_over() -> None:
    state = play(HEADS_UP.start((500, 500)), FOLD)
    with pytest.raises(IllegalActionError, match="over"):
        state.act(CALL)


def test_called_all_in_ends_the_hand_on_its_street() -> None:
    state = play(HEADS_UP.start((1_000, 1_000)), raise_to(1_000), CALL)
    assert state.is_over
    assert state.street == 0
    assert state.payoffs([[2, 1]]) == (1_000, -1_000)
    assert state.payoffs([[1, 1]]) == (0, 0)


def test_two_players_bet_on_beside_an_all_in_one() -> None:
    state = play(THREE.start((1_000, 1_000, 300)), raise_to(300), CALL, CALL)
    assert (state.street, state.player) == (1, 0)
    state = play(state, raise_to(200), CALL, CALL, CALL, raise_to(500), CALL)
    assert state.is_over
    assert state.payoffs([[1, 2, 3]]) == (-1_000, 400, 600)


def test_uncalled_chips_come_back() -> None:
    state = play(HEADS_UP.start((1_000, 20_000)), raise_to(5_000), CALL)
    assert state.is_over
    assert state.payoffs([[1, 0]]) == (1_000, -1_000)


def test_no_forced_check_when_the_others_are_all_in() -> None:
    state = play(THREE.start((1_000, 1_000, 100)), CALL, FOLD)
    assert state.is_over, "the big blind has nothing to decide"
    assert state.payoffs([[9, 1, 2]]) == (-50, -100, 150)


def test_blinds_that_put_everybody_all_in_end_the_hand() -> None:
    state = HEADS_UP.start((40, 1_000))
    assert state.is_over
    assert state.payoffs([[1, 0]]) == (40, -40)


def test_small_blind_must_call_what_a_short_big_blind_posted() -> None:
    state = HEADS_UP.start((80, 1_000))
    assert state.legal_actions() == LegalActions(True, 30, None, None)


def test_limit_bets_are_fixed_and_capped() -> None:
    rules = BettingRules(small_blind=1, big_blind=2, fixed_bets=(2, 2, 4, 4), max_raises=(3, 4, 4, 4))
    state = rules.start((200, 200))
    for amount in (4, 6, 8):
        assert (state.legal_actions().min_raise_to, state.legal_actions().max_raise_to) == (amount, amount)
        state = state.act(raise_to(amount))
    assert state.legal_actions() == LegalActions(True, 2, None, None)
    state = play(state, CALL, CALL, CALL)
    assert state.street == 2
    assert state.legal_actions().min_raise_to == 4


def test_antes_are_posted_before_blinds_and_share_side_pots() -> None:
    rules = BettingRules(num_players=3, small_blind=50, big_blind=100, ante=10)
    state = rules.start((5, 1_000, 1_000))
    assert state.contributions == (5, 110, 10)
    state = play(state, CALL, CALL, CALL, CALL, CALL, CALL, CALL, CALL)
    assert state.payoffs([[9, 1, 2]]) == (10, -110, 100)


def test_big_blind_ante_is_dead_money_of_the_main_pot() -> None:
    rules = BettingRules(num_players=3, small_blind=50, big_blind=100, big_blind_ante=100)
    state = rules.start((1_000, 1_000, 1_000))
    assert (state.dead, state.pot, state.stacks) == (100, 250, (950, 800, 1_000))
    assert state.legal_actions().call_amount == 100
    assert play(state, FOLD, CALL, CALL, raise_to(100), FOLD).payoffs() == (200, -200, 0)


def test_payoffs_from_a_street_sum_to_the_pot_it_began_with() -> None:
    state = play(on_flop(HEADS_UP, 900, 900, pot=201), raise_to(200), FOLD)
    assert state.payoffs() == (201, 0)
    state = play(on_flop(HEADS_UP, 900, 900, pot=201), CALL, CALL, CALL, CALL, CALL, CALL)
    assert state.payoffs([[1, 1]]) == (101, 100)


def test_number_of_streets_is_a_parameter() -> None:
    rules = BettingRules(small_blind=1, big_blind=2, num_streets=2)
    state = play(rules.start((100, 100)), CALL, CALL, CALL, CALL)
    assert state.is_over
    assert state.street == 1


def test_payoffs_need_the_end_of_the_hand_and_a_strength_for_each_player() -> None:
    state = HEADS_UP.start((1_000, 1_000))
    with pytest.raises(BettingError, match="player 1 has to act"):
        state.payoffs([[1, 2]])
    state = play(state, raise_to(1_000), CALL)
    with pytest.raises(BettingError, match=r"\[boards, 2\]"):
        state.payoffs()
    with pytest.raises(BettingError, match=r"\[boards, 2\]"):
        state.payoffs([[1, 2, 3]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_players": 11}, "2..10"),
        ({"num_players": 1}, "2..10"),
        ({"straddles": (4,)}, "room for 0 straddles"),
        ({"num_players": 4, "straddles": (4, 4)}, "must grow"),
        ({"small_blind": 3}, "3/2"),
        ({"small_blind": 0, "big_blind": 0}, "0/0"),
        ({"ante": -1}, "-1"),
        ({"ante": 1, "big_blind_ante": 2}, "not both"),
        ({"num_streets": 0}, "num_streets"),
        ({"fixed_bets": (2, 2)}, "each of 4 streets"),
        ({"max_raises": (3, 0, 4, 4)}, "max_raises must be positive"),
    ],
)
def test_impossible_rules_are_refused(change: dict[str, int], message: str) -> None:
    with pytest.raises(BettingError, match=message):
        BettingRules(**{"small_blind": 1, "big_blind": 2, **change})  # type: ignore[arg-type]


def test_impossible_starts_are_refused() -> None:
    with pytest.raises(BettingError, match="positive stack each"):
        HEADS_UP.start((100, 0))
    with pytest.raises(BettingError, match="positive stack each"):
        HEADS_UP.start((100, 100, 100))
    with pytest.raises(BettingError, match=r"street must be 0\.\.3, not 4"):
        HEADS_UP.start_on_street(4, pot=1, stacks=(1, 1))
    with pytest.raises(BettingError, match="-1"):
        HEADS_UP.start_on_street(1, pot=-1, stacks=(1, 1))


@settings(max_examples=150, deadline=None)
@given(data=st.data(), stacks=st.lists(st.integers(1, 60), min_size=2, max_size=6), ante=st.integers(0, 3))
def test_random_hands_end_and_conserve_chips(data: st.DataObject, stacks: list[int], ante: int) -> None:
    state = BettingRules(num_players=len(stacks), small_blind=2, big_blind=4, ante=ante).start(stacks)
    for _ in range(400):
        assert sum(state.stacks) + state.pot == sum(stacks)
        assert sum(pot.amount for pot in state.pots()) == state.pot
        if state.is_over:
            break
        legal = state.legal_actions()
        assert legal.can_fold == (legal.call_amount > 0)
        assert legal.call_amount or legal.min_raise_to is not None, "a player is asked only to decide something"
        choices = [CALL] + [FOLD] * legal.can_fold
        if legal.min_raise_to is not None and legal.max_raise_to is not None:
            choices.append(raise_to(data.draw(st.integers(legal.min_raise_to, legal.max_raise_to))))
        state = state.act(data.draw(st.sampled_from(choices)))
    assert state.is_over
    strengths = data.draw(st.lists(st.integers(0, 3), min_size=len(stacks), max_size=len(stacks)))
    payoffs = state.payoffs([strengths])
    assert sum(payoffs) == 0
    assert all(payoff >= -stack for payoff, stack in zip(payoffs, stacks, strict=True))
    assert all(payoffs[player] <= 0 for player in range(len(stacks)) if state.folded[player])
