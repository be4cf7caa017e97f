"""The commands of whole hands: match, lbr, hands, acpc, dealer, and the paper's table of chumps."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.apps.calls import call, quick_paper
from tests.apps.processes import PATIENCE, wait_for

STARS = """PokerStars Hand #1: Hold'em No Limit ($0.50/$1.00) - 2020/01/01 00:00:00 ET
Table 'x' 2-max Seat #1 is the button
Seat 1: ann ($100.00 in chips)
Seat 2: bob ($100.00 in chips)
ann: posts small blind $0.50
bob: posts big blind $1.00
*** HOLE CARDS ***
Dealt to ann [As Ah]
ann: raises $2.00 to $3.00
bob: folds
Uncalled bet ($2.00) returned to ann
ann collected $2.00 from pot
*** SUMMARY ***
Total pot $2.00 | Rake $0

"""

CALLER = """import numpy as np
from aleator.agents.whole_hands import HandAgent, HandPolicy
from aleator.games.holdem.betting import CALL


class Mine(HandAgent):
    def policy_at(self, state):
        print("thinking")
        return HandPolicy((CALL,), np.ones((1, 1326)))
"""


def test_a_match_says_who_wins_and_how_sure_that_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    arguments = ("match", "hunl", "always-call", "always-fold", "--hands", "200", "--json", "--out", str(file))
    code, text, error = call(capsys, *arguments)
    found = json.loads(text)
    assert code == 0, error
    assert (found["hands"], found["mbb_per_hand"], found["ci95"], found["aivat"]) == (200, 250.0, 0.0, "ranges")
    assert found["raw"]["hands"] == 200 and found["raw"]["ci95"] > 0
    assert found["decisions"][0]["decisions"] > 200
    assert call(capsys, *arguments)[1].split('"seconds"')[0].split('"decisions"')[0] == text.split('"decisions"')[0]
    code, text, _ = call(capsys, "match", "hunl", "always-call", "always-fold", "--hands", "10")
    assert code == 0 and "+250.0" in text and "mbb/hand" in text


def test_three_agents_play_a_round_robin(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = call(capsys, "match", "hulh", "always-call", "always-fold", "random", "--hands", "40", "--json")
    assert code == 0 and len(json.loads(text)["matches"]) == 3
    code, text, _ = call(capsys, "match", "hulh", "always-call", "always-fold", "random", "--hands", "40")
    assert code == 0 and "+250 ± 0" in text


def test_local_best_response_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, error = call(capsys, "lbr", "hunl", "always-fold", "--rounds", "3-4", "--hands", "64", "--json")
    found = json.loads(text)
    assert code == 0, error
    assert (found["hands"], found["mbb_per_hand"], found["ci95"]) == (64, 750.0, 0.0)


def test_minutes_end_a_match_that_goes_on_from_its_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("lbr", "hunl", "always-fold", "--hands", "512", "--processes", "1", "--json")
    short = (*arguments, "--minutes", "0", "--out", str(tmp_path / "hands.jsonl"))
    assert [json.loads(call(capsys, *short)[1])["hands"] for _ in range(2)] == [128, 256]  # a piece each
    assert json.loads(call(capsys, *arguments)[1])["hands"] == 512


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lbr", "hunl", "random", "--minutes", "-1"), "--minutes"),
        (("match", "leduc", "uniform", "uniform", "--minutes", "1"), "--minutes: for whole hands"),
        (("match", "hunl", "randon", "random"), "did you mean 'random'"),
        (("match", "hunl:7x", "random", "random"), "stack=CHIPS"),
        (("match", "hunl", "random", "random", "--exact"), "can be enumerated"),
        (("match", "hunl", "always-call", "always-fold", "--minutes", "nan"), "--minutes must be 0 or more, not nan"),
        (("match", "hunl", "always-call", "always-fold", "--raw", "--aivat", "pairs"), "--aivat pairs removes it"),
        (("match", "hunl", "always-call", "always-fold", "--out", "x", "--phh", "x.py"), "must end in .phhs or .phh"),
        (("play", "hunl", "--agent", "equilibrium"), "equilibrium is written equilibrium:FILE"),
        (("holdem", "preflop", "r:0:b300:c", "--out", "my.py"), "a name that ends in .toml"),
        (("match", "leduc", "uniform", "uniform", "--out", "x.jsonl"), "--out: for whole hands"),
        (("match", "hunl", "random", "random", "random"), "different agents"),
        (("match", "hunl", "random", "random", "--aivat", "much"), "unknown AIVAT mode"),
        (("match", "hunl", "random", "random", "--phh", "x.phhs"), "--phh needs --out"),
        (("lbr", "hunl", "random", "--menu", "x"), "unknown menu 'x'"),
        (("lbr", "hunl", "random", "--rounds", "9"), "rounds '9'"),
        (("solve", "hunl"), "is played"),
        (("games", "hunl:7x"), "stack=CHIPS"),
        (("games", "ring:99"), "2 to 10 players"),
        (("solve", "flop-holdem", "--algorithm", "mccfr"), "public states with every card apart"),
        (("acpc", "127.0.0.1", "9", "--agent", "random"), "no dealer"),
        (("acpc", "x" * 300, "9", "--agent", "random"), "no dealer"),
        (("acpc", "a\0b", "9", "--agent", "random"), "no dealer"),
        (("dealer", "hunl", "--ports", "x"), "--ports 'x'"),
        (("dealer", "hunl", "--ports", "9" * 5_000), "--ports '9"),
        (("dealer", "hunl", "--ports", "0"), "players need"),
        (("dealer", "hunl", "--wait", "nan"), "--wait must be a positive number, not nan"),
        (("dealer", "hunl", "--names", "a,a"), "each player needs one of its own"),
        (("hands", "show", "no.phh"), "cannot read no.phh"),
        (("hands", "show", "pyproject.toml"), "unknown kind of file"),
    ],
)
def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    code, _, error = call(capsys, *arguments)
    assert code == 2 and message in error and len(error.strip().splitlines()) == 1


def test_hands_are_converted_and_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    match, phhs, lines = tmp_path / "m.jsonl", tmp_path / "m.phhs", tmp_path / "back.jsonl"
    assert (
        call(
            capsys, "match", "hunl", "random", "always-call", "--hands", "20", "--out", str(match), "--phh", str(phhs)
        )[0]
        == 0
    )
    code, text, _ = call(capsys, "hands", "convert", str(phhs), str(lines), "--json")
    assert code == 0 and json.loads(text)["hands"] == 20
    code, text, _ = call(capsys, "hands", "show", str(match), "--number", "3")
    assert code == 0 and "hand 3: blinds 50/100" in text and "always-call" in text and "result:" in text
    first, second = (call(capsys, "hands", "show", str(path), "--number", "3")[1] for path in (phhs, lines))
    assert first == second == text
    lines.write_text(lines.read_text() + "nonsense\n" + '{"hand": 1}\n')
    code, text, error = call(capsys, "hands", "convert", str(lines), str(tmp_path / "again.phhs"))
    assert code == 0 and "20 hands" in text and "2 left out" in text
    assert "line 21: not JSON" in error and "line 22: setup must be" in error


def test_a_file_is_not_converted_into_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    assert call(capsys, "match", "hunl", "random", "always-call", "--hands", "4", "--out", str(file))[0] == 0
    before = file.read_bytes()
    code, _, error = call(capsys, "hands", "convert", str(file), str(file))
    assert code == 2 and "choose another name" in error and file.read_bytes() == before
    other = tmp_path / "other.jsonl"
    other.write_text("precious")
    code, _, error = call(capsys, "hands", "convert", str(file), str(other))
    assert code == 2 and "--force" in error and other.read_text() == "precious"
    assert call(capsys, "hands", "convert", str(file), str(other), "--force")[0] == 0
    assert len(other.read_text().splitlines()) == 4
    other.write_text("nonsense\n")
    code, _, error = call(capsys, "hands", "convert", str(other), str(tmp_path / "none.phhs"))
    assert code == 2 and "no hand that can be read" in error and not (tmp_path / "none.phhs").exists()
    code, _, error = call(capsys, "hands", "convert", str(file), str(tmp_path / "m.phhs"), "--game", "hunl")
    assert code == 2 and "--game is for ACPC logs" in error and not (tmp_path / "m.phhs").exists()


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_site_marks_its_text_and_names_its_games(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, start: str
) -> None:
    site = tmp_path / "site.txt"
    site.write_text(start + STARS + STARS.replace("PokerStars Hand #1", "PokerStars Zoom Hand #27"), encoding="utf-8")
    _, text, error = call(capsys, "hands", "show", str(site), "--json")
    assert error == "" and [hand["hand"] for hand in json.loads(text)] == [1, 27]


def test_a_hand_that_a_file_does_not_have(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    assert call(capsys, "match", "hunl", "random", "always-call", "--hands", "4", "--out", str(file))[0] == 0
    for options in ((), ("--json",)):
        code, text, error = call(capsys, "hands", "show", str(file), "--number", "99", *options)
        assert (code, text) == (2, "")
        assert error == f"error: {file} has no hand 99; it has 4 hands, numbers 0 to 3\n"
    site = tmp_path / "site.txt"
    site.write_text(STARS)
    assert "it has hand 1 only" in call(capsys, "hands", "show", str(site), "--number", "0")[2]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "hunl",
            ("2 players", "20,000 chips", "blinds are 50 and 100", "100 or more", "preflop, flop, turn and river"),
        ),
        ("hunl:100bb", ("10,000 chips",)),
        ("hulh", ("raises are of 2/2/4/4 chips", "at most 3/4/4/4")),
        ("flop-holdem", ("preflop and flop", "blinds are 1 and 2")),
        ("ring:6", ("6 players", "10,000 chips")),
        ("nolimit-turn", ("preflop, flop and turn",)),
        ("turn-endgame", ("begins on the turn", "2,000 chips in the pot and 3s 7h Td Ks", "turn and river", "19,000")),
    ],
)
def test_games_of_whole_hands_say_their_rules(
    capsys: pytest.CaptureFixture[str], name: str, words: tuple[str, ...]
) -> None:
    code, text, error = call(capsys, "games", name)
    assert code == 0 and text.startswith(f"{name}: "), error
    assert all(part in " ".join(text.split()) for part in words), text
    (row,) = json.loads(call(capsys, "games", name, "--json")[1])
    assert row["game"] == name and row["players"] == (6 if name == "ring:6" else 2)
    assert all(part in row["rules"] for part in words)


def test_hand_histories_of_a_site_are_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    site, target = tmp_path / "site.txt", tmp_path / "hands.jsonl"
    site.write_text(STARS + STARS.replace("No Limit", "Pot Limit Omaha Hi/Lo").replace("#1", "#2"))
    code, text, error = call(capsys, "hands", "convert", str(site), str(target), "--json")
    found = json.loads(text)
    assert code == 0 and found["hands"] == 1 and len(found["left_out"]) == 1, error
    assert "line 16" in found["left_out"][0]
    (record,) = (json.loads(line) for line in target.read_text().splitlines())
    assert record["actions"] == "r300 f" and record["setup"]["stacks"] == [10_000, 10_000]  # in cents


def test_a_dealer_and_two_players_in_processes_of_their_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log, said = tmp_path / "dealer.log", tmp_path / "said.txt"
    command = [sys.executable, "-m", "aleator"]
    dealer = subprocess.Popen(
        [*command, "dealer", "hunl", "--ports", "0,0", "--names", "a,b", "--hands", "5", "--log", str(log), "--json",
         "--seconds-per-action", "100", "--seconds-per-hand", "200"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert dealer.stderr is not None
    ports = [word.split()[1] for word in dealer.stderr.readline().strip().split(": ")[1].split(", ")]
    other = threading.Thread(
        target=subprocess.run,
        args=([*command, "acpc", "127.0.0.1", ports[0], "--agent", "always-call", "--json"],),
        kwargs={"capture_output": True},
    )
    other.start()
    code, text, error = call(capsys, "acpc", "127.0.0.1", ports[1], "--agent", "random", "--json", "--log", str(said))
    other.join(PATIENCE)
    output, _ = dealer.communicate(timeout=PATIENCE)
    assert code == 0, error
    assert json.loads(text)["hands"] == json.loads(output)["hands"] == 5
    assert json.loads(output)["chips"][1] == json.loads(text)["chips"]
    assert json.loads(output)["mbb_per_hand"] == pytest.approx([2 * chips for chips in json.loads(output)["chips"]])
    assert said.read_text().startswith("< VERSION:2.0.0")
    code, text, _ = call(capsys, "hands", "show", str(log), "--game", "hunl", "--json")
    assert code == 0 and len(json.loads(text)) == 5


def test_a_dealer_keeps_what_its_log_has_and_ends_while_it_waits(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "dealer.log"
    log.write_text("dear diary\n")
    code, _, error = call(capsys, "dealer", "hunl", "--log", str(log))
    assert code == 2 and "no ACPC log" in error and log.read_text() == "dear diary\n"
    log.write_text("STATE:0:r300f:2c2d|9s8h:100|-100:a|b\n")
    words = [sys.executable, "-m", "aleator", "dealer", "ring:3", "--log", str(log)]
    dealer = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert dealer.stderr is not None
    assert dealer.stderr.readline().count(",") == 2  # three ports
    dealer.send_signal(signal.SIGTERM)
    output, error = dealer.communicate(timeout=PATIENCE)
    assert (dealer.returncode, output) == (128 + signal.SIGTERM, "") and "before a hand was dealt" in error
    assert log.read_text() == "STATE:0:r300f:2c2d|9s8h:100|-100:a|b\n"


def test_an_agent_that_is_interrupted_at_a_dealer_says_its_score(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "aleator"]
    dealer = subprocess.Popen([*command, "dealer", "hunl", "--hands", "100000"], stderr=subprocess.PIPE, text=True)
    assert dealer.stderr is not None
    ports = [word.split()[1] for word in dealer.stderr.readline().strip().split(": ")[1].split(", ")]
    players = [
        subprocess.Popen(
            [*command, "acpc", "127.0.0.1", port, "--agent", "always-call", "--json", "--log", str(tmp_path / port)],
            stdout=subprocess.PIPE, text=True,
        )
        for port in ports
    ]  # fmt: skip
    wait_for(lambda: all((tmp_path / port).exists() for port in ports) and hands_in(tmp_path / ports[0]) > 3, dealer)
    players[0].send_signal(signal.SIGINT)
    text = players[0].communicate(timeout=PATIENCE)[0]
    assert players[0].returncode == 128 + signal.SIGINT and json.loads(text)["hands"] >= 3
    dealer.send_signal(signal.SIGINT)
    assert "it has gone" in dealer.communicate(timeout=PATIENCE)[1] and dealer.returncode == 128 + signal.SIGINT
    players[1].communicate(timeout=PATIENCE)


def hands_in(conversation: Path) -> int:
    """Returns how many hands have begun in the log of a conversation with a dealer."""
    return len({line.split(":")[2] for line in conversation.read_text().splitlines() if "MATCHSTATE" in line})


def test_a_match_goes_on_only_with_the_same_version_of_an_agent(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    agent, file = tmp_path / "mine.py", tmp_path / "match.jsonl"
    agent.write_text(CALLER)
    words = ("match", "hunl", f"python:{agent}:Mine", "always-fold", "--out", str(file), "--processes", "1", "--json")
    code, text, error = call(capsys, *words, "--hands", "4")
    assert code == 0 and json.loads(text)["hands"] == 4, error  # whatever the agent prints
    assert "thinking" in error
    assert call(capsys, *words, "--hands", "6")[0] == 0
    before = file.read_bytes()
    agent.write_text(CALLER.replace("thinking", "pondering"))
    code, _, error = call(capsys, *words, "--hands", "8")
    assert code == 2 and "is another match: files" in error and file.read_bytes() == before


def test_hands_that_are_added_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    _, text, error = call(capsys, "match", "hunl", "always-call", "always-fold", "--hands", "7")
    assert "8 hands instead of 7" in error and "+250" in text


def test_the_table_of_chumps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = quick_paper(capsys, "lbr-chumps", tmp_path)
    assert [row["ours"] for row in document["rows"][:3]] == ["0.25 ± 0.00", "0.75 ± 0.00", "0.00 ± 0.00"]
    agree = {claim["text"].split(" loses")[0]: claim["agrees"] for claim in document["claims"][:5]}
    assert agree == {"always-fold": True, "always-call": True}


def test_a_table_is_filled_with_the_second_agent(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("match", "ring:3", "tight-aggressive", "always-call", "--hands", "6", "--processes", "1", "--json")
    code, text, _ = call(capsys, *words)
    document = json.loads(text)
    assert code == 0 and document["agents"] == ["tight-aggressive", "always-call", "always-call"]
    assert document["aivat"] == "table" and document["hands"] == 6


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("exit(3)", r"failed: SystemExit: 3 \(mine.py, line 8\)"),
        ("1 / 0", r"failed: ZeroDivisionError: division by zero \(mine.py, line 8\)"),
        ("None", "answered None: it must be a HandPolicy of actions"),
        ('HandPolicy(("call",), np.ones((1, 1326)))', "it must be a HandPolicy of actions"),
        ("HandPolicy((raise_to(250.5),), np.ones((1, 1326)))", r"answered raise to 250\.5: chips are whole numbers"),
        ("HandPolicy((CALL,), [[1.0]])", r"gave probabilities of shape \(1, 1\), not \(1, 1326\)"),
    ],
)
@pytest.mark.parametrize("command", ["match", "lbr"])
def test_an_agent_of_ones_own_that_fails_is_named_with_the_line(
    command: str, answer: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import numpy as np\nfrom aleator.agents.whole_hands import HandAgent, HandPolicy\n"
        "from aleator.games.holdem.betting import CALL, raise_to\n\n\nclass Mine(HandAgent):\n"
        f"    def policy_at(self, state):\n        return {answer}\n"
    )
    agents = [f"python:{file}:Mine"] + ["always-call"] * (command == "match")
    code, text, error = call(capsys, command, "hunl", *agents, "--hands", "32", "--processes", "1")
    assert (code, text) == (2, "") and re.search(message, error) and len(error.strip().splitlines()) == 1, error


def test_matches_need_no_torch_and_networks_say_what_they_lack() -> None:
    script = """
import sys
sys.modules["torch"] = None
from aleator import HandMatch, play_hand_match
match = HandMatch(game="hunl", agents=("always-call", "always-fold"), hands=2, seed=1, aivat="raw")
print(play_hand_match(match).score().hands)
from aleator.apps.cli.main import main
main(["holdem", "preflop"])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    missing = "torch is not installed: pip install 'aleator[neural]'"
    assert (done.returncode, done.stdout.strip(), done.stderr.strip()) == (2, "2", f"error: {missing}")
