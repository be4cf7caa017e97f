"""The doors by which texts come into the library, each with texts that are understood and what is done with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from aleator.agents.registry import known_agents, load_agent
from aleator.arena.acpc.game_file import read_game_file
from aleator.arena.whole_hands.files import read_hands
from aleator.arena.whole_hands.match_file import MatchFile
from aleator.arena.whole_hands.phh import format_phh
from aleator.games.holdem.bet_menu import Situation, parse_size
from aleator.games.holdem.betting_tree import find_node
from aleator.games.holdem.cards import parse_cards, parse_hand
from aleator.games.holdem.hand_range import format_hand_range, parse_hand_range
from aleator.games.holdem.hand_record import HandRecord, parse_actions, setup_to_dict
from aleator.games.holdem.lock import parse_lock
from aleator.games.holdem.spot import Spot
from aleator.games.holdem.spot_file import format_spot, parse_spot
from aleator.games.holdem.variants import HUNL, known_hand_games, load_hand_game
from aleator.games.registry import known_games, load_game
from aleator.learning.rebel.config import PRESETS, RebelConfig, parse_setting, preset
from aleator.meter import watch
from aleator.solvers.algorithms import ALGORITHMS
from aleator.solvers.mccfr import MCCFR
from aleator.solvers.solve import make_solver
from aleator.trees.public_tree import PublicTree, build_tree
from tests.apps.test_whole_hands_cli import STARS
from tests.fuzz.judge import fault_of_message

SPOT = """
board = "As Kd 7h 4c 2s"
pot = 100
stack = 200
oop = "AA,KQs:0.5,22-44"
ip = "random"
min_bet = 1
max_raises = 3
all_in_threshold = 1.5
force_all_in_threshold = 0.15
merge_threshold = 0.1
added = ["r:0:c:b33"]
[rake]
rate = 0.05
cap = 3
[river.oop]
bet = ["50%"]
raise = ["75%", "2.5x", "60c"]
donk = ["30%"]
[river.ip]
bet = ["geometric", "40c"]
[lock]
"r:0:c" = { c = 0.3, b33 = "rest" }
"r:0" = { c = "AA,KQs:0.5", b50 = "rest" }
[solve]
rule = "sharp-dcfr+"
target = 0.003
max_iterations = 2000
"""

SMALL = 'board = "As Kd 7h 4c 2s"\npot = 100\nstack = 200\noop = "AA"\nip = "KK"\n'
SPOTS = (
    SPOT, SMALL, f'{SMALL}[river.oop]\nbet = ["50%", "2e", "all-in"]\n', f'{SMALL}added = ["r:0:b7", "r:0:c:b33"]\n',
    f"{SMALL}[rake]\nrate = 0.9\n", f'{SMALL}[lock]\n"r:0" = {{ c = 1 }}\n', SMALL.replace(" 4c 2s", ""),
)  # fmt: skip


class Door(NamedTuple):
    """A door.

    Attributes:
        samples: texts that are understood, or nearly.
        words: more words that mean something behind it.
        enter: what is done with a text.
    """

    samples: Sequence[str]
    words: Sequence[str]
    enter: Callable[[str], object]


@cache
def kuhn() -> PublicTree:
    """Returns the tree of Kuhn poker."""
    return build_tree(load_game("kuhn"))


@cache
def spot() -> Spot:
    """Returns a small spot."""
    return parse_spot(SPOT)


def _game(name: str) -> None:
    if name.startswith("python:"):  # runs a file: what is in it is not ours
        name = f"python:{Path(name).name}"
    with watch(most=1500, memory=1 << 29):
        game = load_game(name)
        build_tree(game)


def _algorithm(name: str) -> None:
    make_solver(kuhn(), name)


def _solve(name: str) -> None:
    solver = make_solver(kuhn(), name)
    solver.run(1 if isinstance(solver, MCCFR) and solver.rule.batch > 1000 else 3)
    assert isfinite(solver.nash_conv())


def _agent(name: str) -> None:
    if name.startswith("python:"):
        name = f"python:{Path(name).name}"
    load_agent(name, kuhn().game, on_progress=lambda progress: True)


def _spot(text: str) -> None:
    read = parse_spot(text)
    assert parse_spot(format_spot(read)) == read
    with watch(most=2000):
        read.build_tree()


def _hand_range(text: str) -> None:
    weights = parse_hand_range(text)
    assert (parse_hand_range(format_hand_range(weights)) == weights).all() if weights.any() else True


def _lock(text: str) -> None:
    replace(spot(), locks=(parse_lock(text),))


def _path(text: str) -> None:
    find_node(spot().build_tree(), text, board=spot().board)


def _amount(text: str) -> None:
    for situation in (Situation(100, 0, 1, 900, 0, 1), Situation(300, 50, 100, 900, 2, 3)):
        amount = parse_size(text).raise_to(situation)
        assert amount is None or isinstance(amount, int)


def _setting(text: str) -> None:
    name, value = parse_setting(text)
    changes: dict[str, Any] = {name: value}
    assert isinstance(preset("demo", **{"game": "kuhn"} | changes), RebelConfig)


def _hand(text: str) -> None:
    name, _, actions = text.partition("|")
    load_hand_game(name)
    parse_actions(actions)


def _hands_file(suffix: str, text: str) -> None:
    path = Path(f"hands{suffix}")
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    records, problems = read_hands(path, "hunl")
    for record in records:
        assert sum(record.payoffs()) == 0
    for problem in problems:
        assert (fault := fault_of_message(problem)) is None, fault


def _match_file(text: str) -> None:
    path = Path("match.jsonl")
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with closing(MatchFile(path, _MATCH)) as file:
        for row in file.played:
            assert row.number >= 0 and row.weight >= 0.0, row
            assert all(map(isfinite, (*row.won, row.fair or 0.0, row.weight))), row


def _game_file(text: str) -> None:
    path = Path("one.game")
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    read_game_file(path).start()


_RECORD = HandRecord(
    setup=HUNL.setup, hands=(parse_hand("AsKs"), parse_hand("QdQc")), board=parse_cards("Ah 7c 2d"),
    actions=parse_actions("r300 c / c r600 f"), names=("ann", "bob"), number=3,
)  # fmt: skip
_MATCH = {"setup": setup_to_dict(HUNL.setup), "agents": ["ann", "bob"]}
_MATCH_LINES = (
    json.dumps({"kind": "aleator match", "version": 1, **_MATCH}) + "\n"
    + json.dumps(_RECORD.to_dict(with_setup=False) | {"seats": [1, 0], "won": [-300.0, 300.0], "fair": 12.5}) + "\n"
)  # fmt: skip
_LOG = "STATE:0:r300c/r600f:AsKs|QdQc/AhKd2c:-300|300:ann|bob\nSTATE:1:f:AsKs|QdQc:50|-50:bob|ann\n"
_GAME = (
    "GAMEDEF\nnolimit\nnumPlayers = 2\nnumRounds = 4\nstack = 20000 20000\nblind = 100 50\nfirstPlayer = 2 1 1 1\n"
    "numSuits = 4\nnumRanks = 13\nnumHoleCards = 2\nnumBoardCards = 0 3 1 1\nEND GAMEDEF\n"
)

OPENSPIEL = (
    "openspiel:kuhn_poker", "openspiel:leduc_poker(players=2)", "openspiel:goofspiel(imp_info=True,num_cards=3)",
    "openspiel:go(board_size=99999)", "openspiel:tic_tac_toe()", "openspiel:matrix_mp",
    "openspiel:oshi_zumo(coins=2,size=1)", "openspiel:nim(pile_sizes=1;2)",
)  # fmt: skip

_ALGORITHM_NAMES = [
    *ALGORITHMS, "dcfr:1.5,0,2", "dcfr:inf,-inf,1/simultaneous", "mccfr:robust3,batch=10", "mccfr:outcome,epsilon=0.5",
    "lmccfr:period=1e6", "mccfr+:public-chance,gamma=2",
    "mccfr:skip=pluribus,threshold=-100,rate=0.9,from=3,constant=5", "rbp:cfr+,skip=25",
    "pp:dcfr:1.5,0.5,2/simultaneous", "rbp:hedge,threshold=0.5", "brp,discard=0.1", "egt:threshold=0.01",
    "mccfr:chance,discount=linear",
]  # fmt: skip
_ALGORITHM_WORDS = ["batch=", "gamma=", "epsilon=", "robust", "/simultaneous", "/alternating", "respond", "greedy"]

DOORS: dict[str, Door] = {
    "games": Door(
        [example for known in known_games() for example in known.examples]
        + ["leduc:nolimit25", "leduc:bets=1+2/2+4,cap=3,ranks=4,suits=2,stack=20", "goofspiel:5,descending,win-loss",
           "matrix:100x100,seed=7", "flop-holdem:4x2", "coin-toss:2", "python:notes.py:Game", "holdem:river.toml",
           "one-card:1000"]
        + ["kuhn"] * 10,
        [known.family for known in known_games()] + ["cap=", "bets=", "stack=", "nolimit", "seed=", "win-loss"],
        _game,
    ),
    "openspiel": Door(OPENSPIEL, ["players=", "num_cards=", "imp_info=True", "True", "False"], _game),
    "algorithms": Door(_ALGORITHM_NAMES, _ALGORITHM_WORDS, _algorithm),
    "solves": Door(_ALGORITHM_NAMES, _ALGORITHM_WORDS, _solve),
    "agents": Door(
        [known.family for known in known_agents() if known.family != "rebel"]
        + ["equilibrium:100", "search:cfr-d,moves=2,iterations=10,unsafe", "search:rounds=1,weights=dcfr:1.5,0,2",
           "safe:resolve,blueprint=10",
           "nested:resolve,expensive,reach,off-tree=bet+fold,iterations=5",
           "multi-valued:count=2,both,rounds=1,seconds=0.1", "pluribus:moves=3,blueprint=5",
           "continual:uniform,iterations=9", "python:mine.py:Agent", "game.solution"],
        ["iterations=", "seconds=", "moves=", "rounds=", "blueprint=", "weights=", "count=", "off-tree="],
        _agent,
    ),
    "spots": Door(SPOTS, ["[", "]", "{", "}", "=", '"', "\n", "[flop.ip]"], _spot),
    "hand ranges": Door(
        ["AA", "AA,AKs,QQ:0.5,22+,A5s-A2s,AsKh,random", "77-22:0.25 JTs-76s:1e-3", "KTs+,QJo", "random:0.5"],
        ["AKs", "22+", "A5s-A2s", ":", ",", "-", "+", "Ah", "T9o", " - ", " : "],
        _hand_range,
    ),
    "locks": Door(
        ["r:0:c c=0.3 b33=rest", "r:0 c=AA,KQs:0.5 b50=rest", "r:0:c:b33 f=1", ""],
        ["r:0", "rest", "c=", "b50=", "f=", "=", " "],
        _lock,
    ),
    "node paths": Door(["r", "r:0", "r:0:c:b33:f", "r:0:b50:c", "r:0:c:c:8h"], ["b50", "b200", "c", "f", "8h", "Ah"],
    _path), "amounts": Door(
        ["50%", "2.5x", "geometric", "2e", "all-in", "120c", "0.5%", ".5x"], ["%", "x", "e", "c", "geo", "a"], _amount
    ),
    "settings": Door(
        ["searches=100_000", "seed=3", "learning_rate=1e-3", "halvings=0.4,0.8", "layer_norm=true", "search=cfr-d",
        "width=64"]
        + [f"{name}={value}" for values in PRESETS.values() for name, value in values.items()],
        sorted(RebelConfig().to_dict()),
        _setting,
    ),
    "hands as lines": Door([json.dumps(_RECORD.to_dict()) + "\n", _MATCH_LINES], ["null", "NaN", "{", "[]", "/"],
    partial(_hands_file, ".jsonl")), "matches": Door(
        [_MATCH_LINES], ["null", "NaN", "Infinity", "true", "{", "[]", "hand", "weight"], _match_file
    ),
    "hands as PHH": Door([format_phh(_RECORD)], ["p1", "cc", "cbr", "d db", "sm", "[", "]"],
    partial(_hands_file, ".phh")), "hands as logs": Door([_LOG], ["STATE:", "f", "c", "r", "|"],
    partial(_hands_file, ".log")), "hands as texts": Door([STARS], ["raises", "calls", "*** FLOP ***", "[", "$"],
    partial(_hands_file, ".txt")), "definitions of games": Door(
        [_GAME, _GAME.replace("nolimit", "limit\nraiseSize = 10 10 20 20\nmaxRaises = 3 4 4 4")],
        ["limit", "nolimit", "maxRaises", "stack", "=", "\n"], _game_file
    ),
    "whole hands": Door(
        [f"{name}:100bb|c r300 / c c f" for name in known_hand_games()] + ["hunl:stack=10000|f", "hunl|r20000 c"],
        [*known_hand_games(), "stack=", "bb", "r", "f", "c", "|"],
        _hand,
    ),
}  # fmt: skip
