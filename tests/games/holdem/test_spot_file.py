from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.patience import patience

from aleator.games.holdem.bet_menu import BetMenu, BetSize, PlayerSizes, SizeKind, parse_sizes
from aleator.games.holdem.betting_tree import count_nodes
from aleator.games.holdem.cards import parse_cards
from aleator.games.holdem.node_path import parse_path
from aleator.games.holdem.spot import Rake, SolveSettings, Spot, SpotError
from aleator.games.holdem.spot_file import MAX_TEXT, format_spot, load_spot, parse_spot

EXAMPLES = Path(__file__).parents[3] / "examples"
FULL = """
board = "3s 7h Td Ks"        # 3, 4 or 5 cards
pot = 2000
stack = 19000
oop = "random"
ip = "AA,AKs:0.5,77-22,A5s-A2s,KTs+"
min_bet = 100
max_raises = 5
all_in_threshold = 1.5
force_all_in_threshold = 0.15
merge_threshold = 0.1
added = ["r:0:c:b333", "r:0:c:c:2h:b444"]
[rake]
rate = 0.05
cap = 30
[turn.oop]
bet = ["50%", "100%", "all-in"]
raise = ["75%", "all-in"]
[turn.ip]
bet = ["50%"]
raise = ["2.5x"]
[river.oop]
bet = ["geo"]
donk = ["30%"]
[river.ip]
[solve]
rule = "cfr+"
target = 0.001
max_iterations = 77
"""
SHORT = 'board = "3s 7h Td Ks"\npot = 2000\nstack = 19000\noop = "random"\nip = "random"\n'


def test_every_key_is_read() -> None:
    assert parse_spot(FULL) == Spot(
        board=parse_cards("3s 7h Td Ks"),
        pot=2_000,
        stack=19_000,
        oop="random",
        ip="AA,AKs:0.5,77-22,A5s-A2s,KTs+",
        min_bet=100,
        rake=Rake(rate=0.05, cap=30),
        menu=BetMenu(
            turn=(
                PlayerSizes(bets=parse_sizes(["50%", "100%", "all-in"]), raises=parse_sizes(["75%", "all-in"])),
                PlayerSizes(bets=parse_sizes(["50%"]), raises=parse_sizes(["2.5x"])),
            ),
            river=(PlayerSizes(bets=parse_sizes(["geo"]), donks=parse_sizes(["30%"])), PlayerSizes()),
            max_raises=5,
            all_in_threshold=1.5,
            force_all_in_threshold=0.15,
            merge_threshold=0.1,
        ),
        added=(parse_path("r:0:c:b333"), parse_path("r:0:c:c:b444")),
        solve=SolveSettings(rule="cfr+", target=0.001, max_iterations=77),
    )


def test_defaults() -> None:
    spot = parse_spot(SHORT)
    assert (spot.min_bet, spot.rake, spot.menu, spot.added, spot.solve) == (1, Rake(), BetMenu(), (), SolveSettings())
    assert spot.solve == SolveSettings(rule="sharp-dcfr+", target=0.003, max_iterations=2_000)


@pytest.mark.parametrize("text", [FULL, SHORT, SHORT + "[rake]\nrate = 0.1\n", SHORT + "[turn.oop]\ndonk = []\n"])
def test_spots_are_printed_back(text: str) -> None:
    spot = parse_spot(text)
    assert parse_spot(format_spot(spot)) == spot


SIZES = st.builds(
    BetSize,
    st.sampled_from([SizeKind.POT, SizeKind.CHIPS]),
    st.integers(1, 400).map(lambda number: parse_sizes([f"{number}c"])[0].number),
)
PLAYERS = st.builds(
    PlayerSizes,
    bets=st.lists(SIZES, max_size=3).map(tuple),
    raises=st.lists(SIZES, max_size=3).map(tuple),
)


@given(
    st.tuples(PLAYERS, PLAYERS),
    st.floats(0, 1),
    st.one_of(st.just(float("inf")), st.floats(0, 1e6)),
    st.integers(1, 10**9),
    st.text("AKQ2", min_size=2, max_size=2),
)
def test_random_spots_are_printed_back(
    sizes: tuple[PlayerSizes, PlayerSizes], rate: float, cap: float, pot: int, hands: str
) -> None:
    spot = Spot(
        board=parse_cards("3s 7h Td"),
        pot=pot,
        stack=9,
        oop=hands,
        ip="random",
        rake=Rake(rate=rate, cap=cap),
        menu=BetMenu(flop=sizes, all_in_threshold=rate),
    )
    assert parse_spot(format_spot(spot)) == spot


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SHORT + "pott = 3\n", "unknown key 'pott': did you mean 'pot'"),
        (SHORT + "colour = 3\n", "unknown key 'colour': allowed are board, pot, stack"),
        (SHORT + "[rake]\nrat = 3\n", "unknown key 'rake.rat': did you mean 'rate'"),
        (SHORT + "[turn.opp]\n", "unknown key 'turn.opp': did you mean 'oop'"),
        (SHORT + "[turn.oop]\nbets = []\n", "unknown key 'turn.oop.bets': did you mean 'bet'"),
        (SHORT + "[solve]\niterations = 3\n", "unknown key 'solve.iterations': did you mean 'max_iterations'"),
        (SHORT.replace("pot = 2000\n", ""), "missing key 'pot'"),
        (SHORT.replace("2000", "0"), "pot must be a whole number from 1 to 1,000,000,000, not 0"),
        (SHORT.replace("2000", "2.5"), r"pot must be a whole number, not 2\.5"),
        (SHORT.replace("2000", "true"), "pot must be a whole number, not True"),
        (SHORT.replace("2000", '"many"'), "pot must be a whole number, not 'many'"),
        (SHORT.replace("Ks", "3s"), "board: card '3s' comes twice"),
        (SHORT.replace("Ks", "1s"), "board: unknown rank '1'"),
        (SHORT.replace(" Td Ks", ""), "board must have 3, 4 or 5 cards"),
        (SHORT.replace('oop = "random"', 'oop = "AAs"'), "oop: 'AAs' at position 0"),
        (SHORT.replace('oop = "random"', 'oop = "Ks3s"'), "oop: the board 3s 7h Td Ks leaves no hand of 'Ks3s'"),
        (SHORT + '[turn.oop]\nbet = ["50"]\n', "turn.oop.bet: '50' is not a bet size"),
        (SHORT + '[turn.oop]\nbet = ["2x"]\n', "turn.oop.bet: '2x' is a multiple of the bet faced"),
        (SHORT + '[turn.oop]\ndonk = ["2x"]\n', "turn.oop.donk: '2x' is a multiple of the bet faced"),
        (SHORT + "[turn.oop]\nbet = [50]\n", "turn.oop.bet must be a list of texts"),
        (SHORT + '[turn.oop]\nbet = "50%"\n', "turn.oop.bet must be a list, not '50%'"),
        (SHORT + '[turn.ip]\ndonk = ["50%"]\n', "turn.ip.donk: only oop"),
        (SHORT + "turn = 5\n", "turn must be a table, not 5"),
        (SHORT + "max_raises = 0\n", "max_raises must be at least 1"),
        (SHORT + "merge_threshold = -0.1\n", "merge_threshold must be a number from 0 up"),
        (SHORT + 'added = ["r:0:x"]\n', "added: token 'x'"),
        (SHORT + 'added = ["r:0:b99999"]\n', "added: cannot add 'b99999' at r:0: legal are b1 to b19000"),
        (SHORT + "[rake]\nrate = 2\n", r"rake.rate must be in \[0, 1\], not 2"),
        (SHORT + "[solve]\nmax_iterations = 0\n", "solve.max_iterations must be from 1 to 1,000,000,000, not 0"),
        (SHORT.replace("2000", "2000000000"), "pot must be a whole number from 1 to 1,000,000,000, not 2000000000"),
        ("board = ", "not a TOML file"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(SpotError, match=message):
        parse_spot(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "[" * 5_000, "nested at most 16 deep"),
        ("x = " + "{a=" * 5_000, "nested at most 16 deep"),
        ("a." * 50_000 + "a = 1", "nested at most 16 deep"),
        ("[" + "a." * 50_000 + "a]", "nested at most 16 deep"),
        ("pot = " + "9" * 5_000, "at most 100 characters"),
        ("pot = 0x" + "f" * 5_000, "at most 100 characters"),
        ("a" * 300_000 + " = 1", "at most 100 characters"),
        (SHORT + "# " + "x" * MAX_TEXT, "at most 400,000 characters"),
        (SHORT.replace("random", 200_000 * " ", 1), "at most 100,000 characters"),
        (SHORT.replace("random", 90_000 * " ", 1), "is empty"),
        ('"""' + '\\"""' * 50_000, "not a TOML file"),
        ('"' + '\\"' * 100_000, "not a TOML file"),
        (SHORT + "zz" * 40 + " = 3", "unknown key 'zzzz"),
        (SHORT + f'added = ["r{":c" * 100_000}"]', "at most 500 steps"),
        (SHORT + f'added = ["r:0:b{"9" * 5_000}"]', "should be 'f', 'c'"),
        (SHORT + f'[turn.oop]\nbet = ["{"9" * 5_000}%"]', "is not a bet size"),
        (SHORT + f'[lock]\n"r:0" = {{ c = "{"AA," * 30_000}x" }}', "unknown|is not a class of hands"),
    ],
    ids=lambda value: value[:20],
)
def test_what_would_keep_a_parser_busy_is_refused_in_a_line(text: str, message: str) -> None:
    with patience(), pytest.raises(SpotError, match=message) as refused:
        parse_spot(text)
    assert len(str(refused.value)) < 400 and len(str(refused.value).splitlines()) == 1


def test_what_stands_in_strings_and_comments_is_not_nested() -> None:
    many = "[" * 40 + "." * 40
    plain = parse_spot(SHORT)
    assert parse_spot(f"# {many}\n{SHORT}") == plain
    quoted = SHORT.replace('ip = "random"', f'ip = """\\\n  random"""\n"{many}" = 1')
    with pytest.raises(SpotError, match="unknown key '"):
        parse_spot(quoted)
    assert parse_spot(SHORT.replace('ip = "random"', 'ip = """\\\n  random"""')) == plain
    assert parse_spot(SHORT.replace('ip = "random"', "ip = '''random'''")) == plain


def test_mistakes_in_a_file_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "spot.toml"
    with pytest.raises(SpotError, match=r"spot\.toml: No such file"):
        load_spot(path)
    path.write_text(SHORT + "pott = 3\n", encoding="utf-8")
    with pytest.raises(SpotError, match=r"spot\.toml: unknown key 'pott'"):
        load_spot(path)
    path.write_bytes(b"\xff")
    with pytest.raises(SpotError, match=r"spot\.toml: not a text file; a spot is a TOML file"):
        load_spot(path)


@pytest.mark.parametrize(
    ("name", "nodes", "hands"),
    [
        ("river", (0, 0, 0, 69), (1_081, 1_081)),
        ("turn-endgame", (0, 0, 81, 443), (1_128, 1_128)),
        ("turn-typical", (0, 0, 81, 443), (174, 253)),
        ("one-bet-river", (0, 0, 0, 15), (55, 49)),
        ("flop", (0, 27, 139, 304), (180, 265)),
        ("srp-flop", (0, 30, 191, 563), (245, 224)),
        ("three-bet-flop", (0, 12, 40, 70), (87, 138)),
    ],
)
def test_examples_have_their_nodes_and_hands(name: str, nodes: tuple[int, ...], hands: tuple[int, int]) -> None:
    spot = load_spot(EXAMPLES / f"{name}.toml")
    assert count_nodes(spot.build_tree()) == nodes
    assert tuple((spot.weights() > 0).sum(axis=1)) == hands
    assert parse_spot(format_spot(spot)) == spot


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.toml")} == {
        "river",
        "one-bet-river",
        "turn-endgame",
        "turn-typical",
        "flop",
        "srp-flop",
        "three-bet-flop",
    }
