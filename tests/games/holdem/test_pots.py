from aleator.games.holdem.pots import Pot, side_pots, winnings


def test_equal_contributions_are_one_pot() -> None:
    assert side_pots((100, 100, 100), (0, 1, 2)) == (Pot(300, (0, 1, 2)),)


def test_short_all_ins_make_side_pots_and_an_uncalled_bet_is_the_last() -> None:
    assert side_pots((100, 50, 20), (0, 1, 2)) == (Pot(60, (0, 1, 2)), Pot(60, (0, 1)), Pot(50, (0,)))


def test_chips_of_folded_players_stay_in_and_levels_of_the_same_players_merge() -> None:
    assert side_pots((100, 30, 100, 10), (0, 2)) == (Pot(240, (0, 2)),)


def test_dead_chips_belong_to_the_main_pot_even_of_a_player_who_put_in_nothing() -> None:
    assert side_pots((0, 40, 40), (0, 1, 2), dead=9) == (Pot(9, (0, 1, 2)), Pot(80, (1, 2)))


def test_best_hand_of_each_pot_wins_it() -> None:
    pots = side_pots((100, 50, 20), (0, 1, 2))
    assert winnings(pots, [[1, 2, 3]]) == (50, 60, 60)
    assert winnings(pots, [[3, 2, 1]]) == (170, 0, 0)


def test_odd_chips_go_to_the_first_winner() -> None:
    assert winnings((Pot(101, (0, 1, 2)),), [[0, 5, 5]]) == (0, 51, 50)
    assert winnings((Pot(11, (0, 1, 2)),), [[7, 7, 7]]) == (5, 3, 3)


def test_two_boards_split_each_pot_and_the_odd_chip_goes_to_the_first_board() -> None:
    assert winnings((Pot(7, (0, 1)),), [[0, 1], [1, 0]]) == (3, 4)
