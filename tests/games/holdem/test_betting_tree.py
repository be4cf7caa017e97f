import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aleator.errors import TooBigError
from aleator.games.holdem.bet_menu import CHECK_DOWN, BetMenu, PlayerSizes, parse_sizes
from aleator.games.holdem.betting import CALL, FOLD, BettingRules, raise_to
from aleator.games.holdem.betting_tree import (
    BettingNode,
    BettingTreeError,
    NodeKind,
    TreeConfig,
    build_tree,
    build_tree_from_state,
    count_nodes,
    find_node,
)
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.node_path import NodePath, NodePathError, parse_path
from aleator.games.holdem.suits import card_classes, symmetries

FLOP, TURN, RIVER = 1, 2, 3


def add_line(tree: TreeConfig, path: str) -> TreeConfig:
    """Returns what a tree is built from with one more bet or raise, after building it."""
    line = NodePath(parse_path(path).actions)
    extended = tree if line in tree.added else replace(tree, added=(*tree.added, line))
    build_tree(extended)
    return extended


TWO_SIZES = BetMenu.uniform(bets=["50%", "100%", "all-in"], raises=["75%", "all-in"])


def config(street: int, menu: BetMenu, pot: int = 100, stack: int = 1_000, **options: int) -> TreeConfig:
    return TreeConfig(pot=pot, stack=stack, street=street, menu=menu, **options)  # type: ignore[arg-type]


def tokens_at(tree: TreeConfig, path: str) -> tuple[str, ...]:
    return find_node(build_tree(tree), path, any_card=True).tokens


def facts(node: BettingNode) -> tuple[NodeKind, int, int, tuple[int, int]]:
    assert node.actions == () and node.children == ()
    return node.kind, node.street, node.player, node.chips


def lines(root: BettingNode) -> list[tuple[object, ...]]:
    """Returns everything about a tree, to compare it with another one."""
    return [(node.kind, node.street, node.player, node.chips, node.tokens) for node in root.walk()]


def test_numbers_are_in_preorder_and_subtrees_are_ranges() -> None:
    tree = build_tree(config(FLOP, TWO_SIZES)).tree
    assert tree.parent[0] == -1 and tree.end[0] == tree.num_nodes and (tree.parent[1:] < range(1, tree.num_nodes)).all()
    for node in range(tree.num_nodes):
        children = tree.children(node)
        assert [int(tree.parent[child]) for child in children] == [node] * len(children)
        assert tree.end[node] == (tree.end[children[-1]] if children else node + 1)
    rows = tree.first_rows(0, 1)
    own = [node for node in range(tree.num_nodes) if rows[node] >= 0]
    assert own == [
        node.number for node in BettingNode(tree, 0).walk() if node.kind is NodeKind.DECISION and node.player == 1
    ]
    used = dict.fromkeys((FLOP, TURN, RIVER), 0)
    for node in own:
        assert rows[node] == used[int(tree.street[node])]
        used[int(tree.street[node])] += len(tree.children(node))


def test_checked_down_street_is_two_checks_and_a_card() -> None:
    assert count_nodes(build_tree(config(FLOP, CHECK_DOWN))) == (0, 3, 3, 3)
    root = build_tree(config(RIVER, CHECK_DOWN))
    assert (root.player, root.actions) == (0, (CALL,))
    assert (root.children[0].player, root.children[0].actions) == (1, (CALL,))
    assert facts(root.children[0].children[0]) == (NodeKind.SHOWDOWN, RIVER, -1, (0, 0))


def test_shove_or_check_is_nine_nodes() -> None:
    root = build_tree(config(RIVER, BetMenu.uniform(bets=["all-in"], raises=[])))
    assert count_nodes(root) == (0, 0, 0, 9)
    shove = root.children[1]
    assert shove.actions == (FOLD, CALL)
    assert facts(shove.children[0]) == (NodeKind.FOLD, RIVER, 1, (1_000, 0))
    assert facts(shove.children[1]) == (NodeKind.SHOWDOWN, RIVER, -1, (1_000, 1_000))


def test_called_all_in_runs_out_the_streets() -> None:
    root = build_tree(config(FLOP, BetMenu.uniform(bets=["all-in"], raises=[])))
    node = find_node(root, "r:0:b1000:c")
    for street in (FLOP, TURN):
        assert (node.kind, node.street, node.actions, len(node.children)) == (NodeKind.NEXT_STREET, street, (), 1)
        node = node.children[0]
    assert facts(node) == (NodeKind.SHOWDOWN, RIVER, -1, (1_000, 1_000))


def test_river_of_the_benchmark_has_69_nodes() -> None:
    menu = BetMenu.uniform(bets=["50%", "100%", "all-in"], raises=["100%", "all-in"])
    assert count_nodes(build_tree(config(RIVER, menu, pot=1_000, stack=9_000))) == (0, 0, 0, 69)


def test_turn_endgame_has_81_nodes_and_443_per_river() -> None:
    counts = count_nodes(build_tree(config(TURN, TWO_SIZES, pot=2_000, stack=19_000)))
    assert counts == (0, 0, 81, 443)
    assert 48 * counts[RIVER] == 21_264


def flop_example() -> TreeConfig:
    sizes = PlayerSizes(bets=parse_sizes(["60%", "geometric", "all-in"]), raises=parse_sizes(["2.5x"]))
    both = (sizes, sizes)
    menu = BetMenu(
        flop=both,
        turn=both,
        river=(replace(sizes, donks=parse_sizes(["50%"])), sizes),
        all_in_threshold=1.5,
        force_all_in_threshold=0.15,
        merge_threshold=0.1,
    )
    return config(FLOP, menu, pot=200, stack=900)


def test_flop_of_the_benchmark_has_its_nodes_up_to_suits() -> None:
    counts = count_nodes(build_tree(flop_example()))
    assert counts == (0, 27, 139, 304)
    flop = parse_cards("Td 9d 6h")
    group = symmetries(flop)
    turns = card_classes(group, flop).representatives
    rivers = 0
    for turn in turns:
        board = (*flop, int(turn))
        rivers += len(card_classes(symmetries([turn], within=group), board).representatives)
    assert (27, len(turns) * 139, rivers * 304) == (27, 5_004, 434_416)


def test_tree_of_one_street_stops_at_its_cards() -> None:
    whole = build_tree(config(TURN, TWO_SIZES, pot=2_000, stack=19_000))
    street = build_tree(config(TURN, TWO_SIZES, pot=2_000, stack=19_000), one_street=True)
    assert count_nodes(street) == (0, 0, 81, 0)
    leaves = [node for node in street.walk() if node.kind is NodeKind.NEXT_STREET]
    ends = [node for node in whole.walk() if node.kind is NodeKind.NEXT_STREET]
    assert [leaf.chips for leaf in leaves] == [end.chips for end in ends]
    assert not any(leaf.children for leaf in leaves)


def test_bets_round_halves_up_and_raises_go_on_top_of_the_bet_faced() -> None:
    menu = BetMenu.uniform(bets=["50%"], raises=["50%"])
    assert tokens_at(config(RIVER, menu, pot=5), "r:0") == ("c", "b3")
    # facing 3 the pot after calling is 11: the raise is to 3 + round(5.5) = 9
    assert tokens_at(config(RIVER, menu, pot=5), "r:0:b3") == ("f", "c", "b9")


def test_minimum_raise_is_the_bet_faced_plus_the_last_increment() -> None:
    menu = BetMenu.uniform(bets=["50%"], raises=["1%"])
    root = build_tree(config(RIVER, menu))
    assert find_node(root, "r:0:b50").tokens == ("f", "c", "b100")
    assert find_node(root, "r:0:b50:b100").tokens == ("f", "c", "b150")
    bigger = BetMenu.uniform(bets=["50%"], raises=["1%", "200%"])
    # a raise to 50 + 2 * 200 = 450 adds 400, so that the next one is to 850 at least
    assert tokens_at(config(RIVER, bigger), "r:0:b50:b450") == ("f", "c", "b850", "b1000")


def test_minimum_bet_is_a_parameter() -> None:
    menu = BetMenu.uniform(bets=["1%"], raises=[])
    assert tokens_at(config(RIVER, menu, pot=10), "r:0") == ("c", "b1")
    assert tokens_at(config(RIVER, menu, pot=10, min_bet=20), "r:0") == ("c", "b20")
    assert tokens_at(config(RIVER, menu, pot=10, stack=7, min_bet=20), "r:0") == ("c", "b7")


def test_facing_an_all_in_there_is_only_fold_and_call() -> None:
    for node in build_tree(config(TURN, TWO_SIZES)).walk():
        if node.kind is NodeKind.DECISION and max(node.chips) == 1_000:
            assert node.tokens == ("f", "c")


def test_bets_count_chips_since_the_start_of_the_tree() -> None:
    root = build_tree(config(TURN, TWO_SIZES))
    assert find_node(root, "r:0:b50:c:2h").tokens == ("c", "b150", "b250", "b1000")
    assert find_node(root, "r:0:b50:c:2h").actions == (CALL, raise_to(100), raise_to(200), raise_to(950))
    assert find_node(root, "r:0:b50:c:2h:b150").chips == (150, 50)


def test_donk_is_for_the_first_to_act_who_called_on_the_street_before() -> None:
    sizes = PlayerSizes(bets=parse_sizes(["50%"]), raises=parse_sizes(["100%"]))
    oop = replace(sizes, donks=parse_sizes(["10%"]))
    menu = BetMenu(flop=(oop, sizes), turn=(oop, sizes), river=(oop, sizes))
    root = build_tree(config(FLOP, menu))
    assert find_node(root, "r:0").tokens == ("c", "b50"), "nothing was called before the root"
    assert find_node(root, "r:0:c:b50:c:2h").tokens == ("c", "b70"), "called a bet"
    assert find_node(root, "r:0:b50:b250:c:2h").tokens == ("c", "b310"), "called a raise"
    assert find_node(root, "r:0:b50:c:2h").tokens == ("c", "b150"), "the other one called"
    assert find_node(root, "r:0:c:c:2h").tokens == ("c", "b50"), "nobody bet"
    assert find_node(root, "r:0:c:b50:c:2h:c:c:3h").tokens == ("c", "b150"), "called two streets before"
    assert find_node(root, "r:0:c:b50:c:2h:c").tokens == ("c", "b150"), "only the first to act donks"


def test_cap_ends_the_raising_of_each_street() -> None:
    menu = BetMenu.uniform(bets=["50%"], raises=["50%"], max_raises=2)
    assert tokens_at(config(FLOP, menu), "r:0:b50:b150") == ("f", "c")
    assert tokens_at(config(FLOP, menu), "r:0:b50:b150:c:b350:b750") == ("f", "c")


@pytest.mark.parametrize("path", ["r:0:c:b333", "r:0:c:2h:b333", "r:c:b333"])
def test_added_amounts_appear_at_their_node_only(path: str) -> None:
    extended = add_line(config(TURN, TWO_SIZES), path)
    root = build_tree(extended)
    assert find_node(root, "r:0:c").tokens == ("c", "b50", "b100", "b333", "b1000")
    assert find_node(root, "r:0").tokens == ("c", "b50", "b100", "b1000")
    assert find_node(root, "r:0:c:b333").tokens == ("f", "c", "b908", "b1000"), "333 + round(0.75 * 766) = 908"
    assert add_line(extended, path) == extended


def test_added_amounts_can_follow_each_other_on_later_streets() -> None:
    extended = add_line(add_line(config(TURN, TWO_SIZES), "r:0:c:c:2h:b7"), "r:0:c:c:2h:b7:b21")
    root = build_tree(extended)
    assert "b7" in find_node(root, "r:0:c:c:9d").tokens
    assert find_node(root, "r:0:c:c:9d:b7").tokens == ("f", "c", "b21", "b93", "b1000")
    assert lines(build_tree(extended, one_street=True)) == lines(build_tree(config(TURN, TWO_SIZES), one_street=True))


def test_added_amount_is_kept_by_merging_and_by_the_cap() -> None:
    menu = replace(BetMenu.uniform(bets=["100%"], raises=["100%"], max_raises=1), merge_threshold=0.5)
    extended = add_line(add_line(config(RIVER, menu), "r:0:b99"), "r:0:b99:b300")
    root = build_tree(extended)
    assert root.tokens == ("c", "b99", "b100")
    assert find_node(root, "r:0:b99").tokens == ("f", "c", "b300")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("r:0:b50:b60", r"cannot add 'b60' at r:0:b50: legal are b100 to b1000"),
        ("r:0:b1001", r"cannot add 'b1001' at r:0: legal are b1 to b1000"),
        ("r:0:b1000:b1000", r"cannot add 'b1000' at r:0:b1000: no bet or raise is legal there"),
        ("r:0:c", "must end in a bet"),
        ("r:0", "must end in a bet"),
    ],
)
def test_impossible_amounts_are_refused(path: str, message: str) -> None:
    with pytest.raises(BettingTreeError, match=message):
        add_line(config(RIVER, TWO_SIZES), path)


def test_line_below_a_missing_node_is_refused() -> None:
    with pytest.raises(NodePathError, match=r"no 'b51' at r:0: possible are c, b50, b100, b1000"):
        add_line(config(RIVER, TWO_SIZES), "r:0:b51:b200")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("r:0:b75", r"no 'b75' at r:0: possible are c, b50, b100, b1000"),
        ("r:0:f", r"no 'f' at r:0: possible are c, b50"),
        ("r:0:b50:2h", r"no '2h' at r:0:b50: possible are f, c"),
        ("r:0:b50:c:c", r"no 'c' at r:0:b50:c: a card is dealt here"),
        ("r:0:b50:f:c", r"no 'c' at r:0:b50:f: the hand is over"),
        ("r:0:c:c:2h:c:c:3h", r"no '3h' at r:0:c:c:2h:c:c: the hand is over"),
        ("r:0:c:c:As", r"card As of r:0:c:c:As is dealt already"),
    ],
)
def test_paths_that_lead_nowhere_name_the_token_and_the_possible_ones(path: str, message: str) -> None:
    root = build_tree(config(TURN, TWO_SIZES))
    with pytest.raises(NodePathError, match=message):
        find_node(root, path, board=parse_cards("As Kd 7c 2c"))


def test_tree_of_a_whole_hand_begins_with_the_blinds() -> None:
    rules = BettingRules(small_blind=50, big_blind=100, num_streets=2)
    menu = BetMenu.uniform(bets=["100%"], raises=["100%"], max_raises=2)
    root = build_tree_from_state(rules.start((20_000, 20_000)), menu)
    assert (root.player, root.chips, root.tokens) == (1, (100, 50), ("f", "c", "b300"))
    assert find_node(root, "r:0:c").tokens == ("c", "b300"), "the big blind may raise"
    flop = find_node(root, "r:0:b300:c").children[0]
    assert (flop.player, flop.tokens) == (0, ("c", "b900"))


def test_big_blind_donks_after_calling_a_raise_but_not_after_a_limp() -> None:
    rules = BettingRules(small_blind=50, big_blind=100, num_streets=2)
    sizes = PlayerSizes(bets=parse_sizes(["100%"]), raises=parse_sizes(["100%"]), donks=parse_sizes(["50%"]))
    root = build_tree_from_state(rules.start((900, 900)), BetMenu(preflop=(sizes, sizes), flop=(sizes, sizes)))
    assert find_node(root, "r:0:b300:c").children[0].tokens == ("c", "b600")
    assert find_node(root, "r:0:c:c").children[0].tokens == ("c", "b300")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pot": 0}, "pot"),
        ({"stack": 0}, "stack"),
        ({"min_bet": 0}, "min_bet"),
        ({"street": 4}, r"street must be 0\.\.3"),
        ({"num_streets": 5}, "num_streets"),
    ],
)
def test_impossible_configs_are_refused(change: dict[str, int], message: str) -> None:
    with pytest.raises(BettingTreeError, match=message):
        replace(config(FLOP, CHECK_DOWN), **change)  # type: ignore[arg-type]


def test_impossible_states_are_refused() -> None:
    rules = BettingRules(small_blind=1, big_blind=2)
    with pytest.raises(BettingTreeError, match="equal stacks"):
        build_tree_from_state(rules.start((10, 20)), CHECK_DOWN)
    with pytest.raises(BettingTreeError, match="needs a bet menu"):
        build_tree_from_state(rules.start((10, 10)), None)
    with pytest.raises(BettingTreeError, match="2 players"):
        build_tree_from_state(replace(rules, num_players=3).start((10, 10, 10)), CHECK_DOWN)


def test_trees_too_big_are_refused_before_they_are_built() -> None:
    with pytest.raises(TooBigError, match="raises on a street"):
        build_tree(config(RIVER, BetMenu.uniform(bets=["1%"], raises=["1%"]), stack=100_000))


def reference_lines(
    pot: int, stack: int, bets: list[int | None], raises: list[int | None], streets: int, min_bet: int
) -> set[str]:
    """Returns all betting lines by the text of the rules, for sizes in percent (None: all-in), both players alike."""

    def amount(base: int, percent: int | None, pot_after_call: int, low: int, high: int) -> int:
        if percent is None:
            return high
        return min(max(base + math.floor(Fraction(percent, 100) * pot_after_call + Fraction(1, 2)), low), high)

    lines: set[str] = set()

    def street(line: str, paid: int, left: int) -> None:
        if left == 0 or paid == stack:
            return
        high = stack - paid
        low = min(min_bet, high)
        for bet in {amount(0, percent, pot + 2 * paid, low, high) for percent in bets}:
            facing(f"{line}:b{paid + bet}", paid, bet, bet, left)
            facing(f"{line}:c:b{paid + bet}", paid, bet, bet, left)
        lines.update((f"{line}:c", f"{line}:c:c"))
        street(f"{line}:c:c", paid, left - 1)

    def facing(line: str, paid: int, faced: int, increment: int, left: int) -> None:
        lines.update((line, f"{line}:f", f"{line}:c"))
        street(f"{line}:c", paid + faced, left - 1)
        high = stack - paid
        if faced == high:
            return
        low = min(faced + max(increment, min_bet), high)
        for to in {amount(faced, percent, pot + 2 * (paid + faced), low, high) for percent in raises}:
            facing(f"{line}:b{paid + to}", paid, to, to - faced, left)

    street("r:0", 0, streets)
    return lines


PERCENTS = st.lists(st.one_of(st.none(), st.integers(20, 300)), max_size=2)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(1, 500), PERCENTS, PERCENTS, st.integers(1, 3), st.integers(1, 30))
def test_lines_are_those_of_the_text_of_the_rules(
    pot: int, stack: int, bets: list[int | None], raises: list[int | None], streets: int, min_bet: int
) -> None:
    texts = [[f"{percent}%" if percent else "all-in" for percent in sizes] for sizes in (bets, raises)]
    menu = BetMenu.uniform(bets=texts[0], raises=texts[1])
    root = build_tree(config(4 - streets, menu, pot=pot, stack=stack, min_bet=min_bet))
    lines: set[str] = set()

    def collect(node: BettingNode, path: NodePath) -> None:
        for token, child in zip(node.tokens, node.children, strict=False):
            lines.add(str(path.then(token)))
            collect(child, path.then(token))
        if node.kind is NodeKind.NEXT_STREET:
            collect(node.children[0], path)

    collect(root, NodePath())
    assert lines == reference_lines(pot, stack, bets, raises, streets, min_bet)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 200),
    st.integers(1, 600),
    st.lists(st.sampled_from(["33%", "80%", "geo", "2e", "all-in", "45c"]), max_size=3),
    st.lists(st.sampled_from(["50%", "2.5x", "geo", "all-in"]), max_size=2),
    st.floats(0, 2),
    st.floats(0, 0.5),
    st.floats(0, 0.5),
)
def test_every_node_is_consistent(
    pot: int, stack: int, bets: list[str], raises: list[str], add: float, force: float, merge: float
) -> None:
    menu = BetMenu.uniform(bets=bets, raises=raises, max_raises=4)
    menu = replace(menu, all_in_threshold=add, force_all_in_threshold=force, merge_threshold=merge)
    for node in build_tree(config(TURN, menu, pot=pot, stack=stack)).walk():
        assert 0 <= min(node.chips) <= max(node.chips) <= stack
        if node.kind is NodeKind.DECISION:
            assert node.player in (0, 1)
            assert len(node.actions) == len(node.children) == len(set(node.tokens))
            raised = [action.amount for action in node.actions if action.amount]
            assert raised == sorted(raised)
            assert node.actions[: len(node.actions) - len(raised)] == (
                (FOLD, CALL) if node.chips[0] != node.chips[1] else (CALL,)
            )
        elif node.kind is NodeKind.FOLD:
            assert node.chips[node.player] < node.chips[1 - node.player]
        else:
            assert node.chips[0] == node.chips[1]
            assert (node.kind is NodeKind.SHOWDOWN) == (node.street == RIVER)
