"""Our agents at our dealer over real sockets, and a client at dealers that misbehave."""

from __future__ import annotations

import re
import socket
import threading
from dataclasses import replace

import numpy as np
import pytest

from aleator.agents.whole_hands.registry import load_hand_agent
from aleator.arena.acpc.client import AcpcResult, connect, play_acpc
from aleator.arena.acpc.dealer import DealerConfig, DealerResult, deal_match, listen, read_log
from aleator.arena.acpc.lines import Lines
from aleator.arena.acpc.match_state import AcpcError
from aleator.games.holdem.betting import BettingRules
from aleator.games.holdem.hand_record import HandRecord
from aleator.games.holdem.hand_state import HandSetup
from aleator.games.holdem.variants import HULH, HUNL

THREE = HandSetup(rules=BettingRules(num_players=3, small_blind=50, big_blind=100), stacks=(20_000,) * 3)


def match(setup: HandSetup, agents: list[str], hands: int) -> tuple[DealerResult, list[str], list[AcpcResult]]:
    listening = listen([0] * len(agents))
    names = tuple(f"{name}{place}" for place, name in enumerate(agents))
    config = DealerConfig(
        setup=setup, names=names, hands=hands, seed=4, seconds_per_hand=120.0, seconds_per_action=60.0
    )
    results: list[AcpcResult] = [AcpcResult()] * len(agents)

    def sit(place: int) -> None:
        lines = connect("127.0.0.1", listening[place].getsockname()[1])
        results[place] = play_acpc(lines, load_hand_agent(agents[place]), setup, np.random.default_rng(place))

    threads = [threading.Thread(target=sit, args=(place,)) for place in range(len(agents))]
    for thread in threads:
        thread.start()
    log: list[str] = []
    result = deal_match(config, listening, on_log=log.append)
    for thread in threads:
        thread.join(120)
    for server in listening:
        server.close()
    return result, log, results


@pytest.mark.parametrize(
    ("setup", "agents"),
    [
        (HUNL.setup, ["tight-aggressive", "random"]),
        (HULH.setup, ["random", "always-call"]),
        (THREE, ["random", "always-call", "always-fold"]),
    ],
    ids=["nolimit", "limit", "three players"],
)
def test_a_match_over_sockets(setup: HandSetup, agents: list[str]) -> None:
    result, log, told = match(setup, agents, 12)
    assert result.hands == 12 and sum(result.won) == 0 and result.mistakes == [0] * len(agents)
    assert [found.hands for found in told] == [12] * len(agents)
    for place, found in enumerate(told):
        if len(found.won) == 12:
            assert sum(found.won.values()) == result.won[place]
    assert log[-1].startswith("SCORE:")
    records = read_log("\n".join(log), setup)
    assert len(records) == 12
    for line, record in zip(log, records, strict=False):
        assert isinstance(record, HandRecord)
        assert "|".join(map(str, record.payoffs())) == line.split(":")[4]


def rude_dealer(*said: str) -> int:
    """Returns the port of a dealer that says some lines, whatever it is told, and closes."""
    (server,) = listen([0])

    def talk() -> None:
        connection = server.accept()[0]
        with connection:
            for line in said:
                connection.sendall(line.encode() + b"\r\n")
            connection.settimeout(60)
            try:
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
            except OSError:
                pass
        server.close()

    threading.Thread(target=talk, daemon=True).start()
    return int(server.getsockname()[1])


def visit(*said: str) -> tuple[AcpcResult, list[str]]:
    log: list[str] = []
    lines = connect("127.0.0.1", rude_dealer(*said))
    result = play_acpc(
        lines, load_hand_agent("always-call"), HUNL.setup, np.random.default_rng(0), on_line=log.append, patience=60.0
    )
    return result, log


def test_a_dealer_that_repeats_itself_and_closes_in_the_middle() -> None:
    state = "MATCHSTATE:1:0::|AsAh"
    result, log = visit("# hello", state, state)
    assert result.actions == 1 and result.unfinished == state
    assert log[-2:] == [f"< {state}:c", f"> {state}"]


@pytest.mark.parametrize("line", ["HELLO", "MATCHSTATE:1:0:zz:|AsAh", "MATCHSTATE:0:0:c:|", "x" * 10_000])
def test_a_dealer_that_talks_nonsense(line: str) -> None:
    with pytest.raises(AcpcError):
        visit(line)


def test_a_dealer_that_is_not_there_or_says_nothing() -> None:
    (server,) = listen([0])
    port = server.getsockname()[1]
    lines = connect("127.0.0.1", port)
    with pytest.raises(AcpcError, match="nothing was said"):
        play_acpc(lines, load_hand_agent("random"), HUNL.setup, np.random.default_rng(0), patience=0.05)
    with pytest.raises(AcpcError, match="cannot listen"):
        listen([port])
    server.close()
    with pytest.raises(AcpcError, match="no dealer"):
        connect("127.0.0.1", port)


def test_players_who_answer_nonsense_fold() -> None:
    listening = listen([0, 0])
    config = DealerConfig(setup=HUNL.setup, names=("good", "bad"), hands=4, seconds_per_action=60.0)

    def good() -> None:
        lines = connect("127.0.0.1", listening[0].getsockname()[1])
        play_acpc(lines, load_hand_agent("always-call"), HUNL.setup, np.random.default_rng(0))

    def bad() -> None:
        lines = Lines(socket.create_connection(("127.0.0.1", listening[1].getsockname()[1])))
        lines.write("VERSION:2.0.0")
        while (line := lines.read(60)) is not None:
            lines.write(f"{line}:r7")
        lines.close()

    for sit in (good, bad):
        threading.Thread(target=sit, daemon=True).start()
    faults: list[tuple[str, str]] = []
    result = deal_match(config, listening, on_log=lambda line: None, on_fault=lambda *fault: faults.append(fault))
    assert result.hands == 4 and result.mistakes[0] == 0 and result.mistakes[1] > 0 and result.won[1] < 0
    assert len(faults) == result.mistakes[1] and {name for name, _ in faults} == {"bad"}
    assert re.fullmatch(r"hand 0: 'r7' is illegal after MATCHSTATE:.*: it may fold, .*raise to .*", faults[0][1])
    for server in listening:
        server.close()


def test_strangers_at_a_port_are_refused_and_the_dealer_waits_on() -> None:
    listening = listen([0, 0])
    places = [server.getsockname() for server in listening]
    config = DealerConfig(setup=HUNL.setup, names=("a", "b"), hands=2, seconds_per_action=60.0)
    faults: list[tuple[str, str]] = []

    def come() -> None:
        stranger = Lines(socket.create_connection(places[0]))
        stranger.write("GET / HTTP/1.1")
        stranger.read(60)
        stranger.close()
        socket.create_connection(places[0]).close()
        for host, port in places:
            sit = threading.Thread(
                target=lambda lines: play_acpc(
                    lines, load_hand_agent("always-call"), HUNL.setup, np.random.default_rng(0)
                ),
                args=(connect(host, port),),
                daemon=True,
            )
            sit.start()

    threading.Thread(target=come, daemon=True).start()
    result = deal_match(config, listening, on_log=lambda line: None, on_fault=lambda *fault: faults.append(fault))
    assert result.hands == 2 and result.mistakes == [0, 0]
    assert [name for name, _ in faults] == ["a", "a"]
    assert "said 'GET / HTTP/1.1'" in faults[0][1] and "left without a word" in faults[1][1]
    for server in listening:
        server.close()


def test_a_dealer_that_is_stopped_while_it_waits_deals_nothing() -> None:
    (first, second) = listen([0, 0])
    config = DealerConfig(setup=HUNL.setup, names=("a", "b"), hands=2)
    log: list[str] = []
    result = deal_match(config, [first, second], on_log=log.append, stopped=lambda: True)
    assert (result.hands, result.won, log) == (0, [0, 0], [])
    with pytest.raises(AcpcError, match=r"a did not come to its port within 0\.01 s"):
        deal_match(replace(config, seconds_to_come=0.01), [first, second], on_log=log.append)
    for server in (first, second):
        server.close()


def test_a_log_of_another_game_is_told_by_its_results() -> None:
    line = "STATE:0:r300c/cc/cc/cc:2c2d|9s8h/3h4h5h/9c/Kd:-300|300:a|b"
    (hand,) = read_log(line, HUNL.setup)
    assert isinstance(hand, HandRecord)
    (error,) = read_log(line.replace("-300|300", "-450|450"), HUNL.setup)
    assert isinstance(error, AcpcError) and "players won -450|450, but in this game they won -300|300" in str(error)


def test_players_have_names_of_their_own() -> None:
    with pytest.raises(AcpcError, match="names a, a: each player needs one of its own"):
        DealerConfig(setup=HUNL.setup, names=("a", "a"), hands=1)
