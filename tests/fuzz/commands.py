"""Command lines: every command with every option, values that are understood and values that are not, in this process.

What would take minutes is cut short: solves, matches and training end as if Ctrl-C had been pressed at once, and
experiments, benchmarks and servers do not begin.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from aleator.apps.cli.main import _VERBS, _command, main
from aleator.arena.acpc.game_file import format_game
from aleator.arena.whole_hands.files import write_hands
from aleator.errors import MAX_MESSAGE, AleatorError
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.variants import HUNL
from aleator.meter import watch
from aleator.solvers.limits import Limits
from aleator.solvers.solve import solve
from tests.fuzz.doors import DOORS, SMALL, SPOT
from tests.fuzz.texts import NUMBERS, ODD, Texts

MOST_RUNS = 10  # of deals, draws or playthroughs that are worth waiting for
GAMES = (
    "kuhn",
    "leduc",
    "liars-dice:1x3",
    "rps-plus",
    "coin-toss",
    "goofspiel:3",
    "holdem:small.toml",
    "openspiel:kuhn_poker",
)
HAND_GAMES = ("hunl", "hunl:100bb", "hulh", "flop-holdem", "nolimit-turn", "ring:3", "spot:small.toml", "two.game")
HAND_AGENTS = (
    "always-call", "always-fold", "half-call-half-raise", "tight-aggressive", "pot-odds", "river-perfect:iterations=2",
    "equilibrium:small.solution", "python:mine.py:Agent", "always-cal",
)  # fmt: skip
AGENTS = (
    "uniform", "first", "last", "equilibrium:10", "search:iterations=3", "safe:iterations=3,blueprint=3",
    "kuhn.solution", "pluribus:iterations=3,blueprint=3", "continual:iterations=3", "nested:iterations=3,blueprint=3",
    "bluffer", "search:depth=2", "rebel:x",
)  # fmt: skip
FILES = (
    "small.toml", "spot.toml", "kuhn.solution", "small.solution", "noise.bin", "empty", "folder", "missing/file",
    "new.solution", "new.png", "new.svg", "new.txt", "/dev/null/x", "kuhn", "match.jsonl", "match.phhs", "match.phh",
    "dealer.log", "two.game", "new.jsonl", "new.phhs",
)  # fmt: skip
# by the name of a parameter: what is understood there, or nearly
VALUES: dict[str, Sequence[str]] = {
    "game": GAMES + HAND_GAMES, "name": (*GAMES, *HAND_GAMES, "rebel-table2", "tabular", "web"),
    "algorithm": DOORS["algorithms"].samples, "rule": DOORS["algorithms"].samples, "agent": AGENTS + HAND_AGENTS,
    "first": AGENTS + HAND_AGENTS, "second": AGENTS + HAND_AGENTS, "others": HAND_AGENTS, "you": AGENTS + HAND_AGENTS,
    "menu": ("fc", "fcpa", "56bets"), "rounds": ("1-4", "3-4", "4", "4-3"), "host": ("localhost", "127.0.0.1", "::1"),
    "aivat": ("raw", "pairs", "ranges", "playout", "auto"), "ports": ("0,0", "0", "0,0,0", "18791,18792", "99999,0"),
    "names": ("a,b", "a", "a,b,c", "a b,c"),
    "node": DOORS["node paths"].samples, "hands": DOORS["hand ranges"].samples, "lock": DOORS["locks"].samples,
    "changes": DOORS["settings"].samples, "player": ("oop", "ip"),
    "preset": ("demo", "fast", "paper", "perfect-information"), "device": ("cpu", "auto", "cuda"),
    "dtype": ("float64", "float32", "float16"), "plot_over": ("iterations", "seconds", "nodes"),
    "what": (*FILES, *GAMES), "bits": ("16", "32"), "seat": ("0", "1"),
}  # fmt: skip


# what goes together: games and their agents, whole hands and theirs
USUAL: tuple[dict[str, Sequence[str]], ...] = (
    dict.fromkeys(("game", "name"), GAMES) | dict.fromkeys(("agent", "first", "second", "you"), AGENTS[:-3])
    | {"what": FILES[:4], "others": ()},
    dict.fromkeys(("game", "name"), HAND_GAMES[:6])
    | dict.fromkeys(("agent", "first", "second", "others", "you"), HAND_AGENTS[:6]),
)  # fmt: skip

# what takes no kernels that would have to be compiled first
FEW_KERNELS: dict[str, Sequence[str]] = {
    "algorithm": ("dcfr", "cfr+", "lp", "dcfr:1.5,0,2", "magic"), "rule": ("sharp-dcfr+", "magic"),
    "dtype": ("float64", "double"), "agent": AGENTS[:4], "first": AGENTS[:4], "second": AGENTS[:4], "you": AGENTS[:4],
    "game": GAMES,
}  # fmt: skip


class ReachedError(AleatorError):
    """What would have taken minutes was about to begin."""


def _reached(*arguments: Any, **settings: Any) -> Any:
    raise ReachedError("it would begin now")


@contextlib.contextmanager
def _pressed() -> Iterator[Any]:
    yield lambda: True


def prepare(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes some files in a folder to work in, and cuts short what takes long."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    (folder / "small.toml").write_text(SMALL)
    (folder / "spot.toml").write_text(SPOT)
    (folder / "noise.bin").write_bytes(random.Random(0).randbytes(1000))
    (folder / "empty").touch()
    (folder / "folder").mkdir()
    solve("kuhn", limits=Limits(iterations=3)).save(folder / "kuhn.solution")
    with contextlib.suppress(SystemExit):
        main(["holdem", "solve", "small.toml", "--iterations", "3", "--out", "small.solution", "--json"])
    record = HandRecord(setup=HUNL.setup, hands=(0, 700), board=(), actions=parse_actions("r300 f"))
    for name in ("match.jsonl", "match.phhs", "match.phh"):
        write_hands(folder / name, [record])
    (folder / "dealer.log").write_text("STATE:0:r300f:2c2d|9s8h:100|-100:a|b\n")
    (folder / "two.game").write_text(format_game(HUNL.setup))
    for module in ("match", "match_hands", "solving", "train_rebel", "train_sampled"):
        monkeypatch.setattr(importlib.import_module(f"aleator.apps.cli.{module}"), "interruptible", _pressed)
    for place in (
        "aleator.learning.rebel.training.Trainer", "aleator.learning.holdem.slices.Slices.run",
        "aleator.learning.sampled.run.train_sampled", "aleator.abstraction.build.build_buckets",
        "aleator.abstraction.blueprint.training.BlueprintTrainer.run",
        "aleator.abstraction.ring.training.RingTrainer.run",
        "aleator.solvers.holdem.whole_problem.WholeProblem.make_solver",
        "aleator.solvers.holdem.evaluation.evaluate_policy", "aleator.agents.whole_hands.preflop.PreflopAgent",
        "aleator.learning.holdem.self_play_slices.SelfPlaySlices.run", "aleator.apps.cli.paper.find_experiment",
        "aleator.apps.cli.bench.load_benchmark", "aleator.apps.web.server.create_app",
        "aleator.apps.cli.serve.webbrowser.open", "aleator.apps.cli.dealer.deal_match",
    ):  # fmt: skip
        monkeypatch.setattr(place, _reached)
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # hands are played in this process
    monkeypatch.setattr("aleator.arena.whole_hands.match.piece_size", lambda match, agents, share: match.cluster)


class Commands:
    """Random command lines."""

    def __init__(self, seed: int, *, quick: bool = False) -> None:
        self._rng = random.Random(seed)
        self._values = VALUES | (FEW_KERNELS if quick else {})
        self._usual = [self._values] if quick else [self._values | values for values in USUAL]
        self._texts = {name: Texts(values, seed=seed) for name, values in self._values.items()}
        self._files = Texts(FILES, seed=seed)
        self._commands = list(_all_commands())

    def next(self) -> list[str]:
        """Returns the arguments of the next command: every second has few options, and only values that are usual."""
        rng = self._rng
        path, parameters = rng.choice(self._commands)
        words, usual = list(path), rng.choice(self._usual) if rng.random() < 0.5 else None
        for parameter in parameters:
            if parameter.param_type_name == "argument":
                if rng.random() < (0.95 if parameter.required or not usual else 0.2):
                    words += self._values_of(parameter, usual)
            elif "--help" not in parameter.opts and (
                rng.random() < (0.07 if usual else 0.2) or (usual and parameter.required)
            ):
                words.append(rng.choice([*parameter.opts, *parameter.secondary_opts]))
                if not parameter.is_flag:
                    words += self._values_of(parameter, usual) or [""]
        if rng.random() < 0.05:
            words.insert(rng.randrange(len(words) + 1), rng.choice(("--json", "--", "-x", "--no-such", *ODD)))
        if rng.random() < 0.05:
            del words[rng.randrange(len(words))]
        return [word for word in words if _can_be_typed(word)]

    def _values_of(self, parameter: Any, usual: dict[str, Sequence[str]] | None) -> list[str]:
        """Returns a value for a parameter, or none if usually there is none."""
        if usual is None:
            return [self._value(parameter)]
        if parameter.type.name.startswith(("integer", "float")):
            return [self._rng.choice(("1", "2", "3", "7", "10"))]
        values = usual.get(parameter.name, FILES)
        return [self._rng.choice(values)] if values else []

    def _value(self, parameter: Any) -> str:
        rng, kind = self._rng, parameter.type.name
        if kind.startswith(("integer", "float")):
            numbers = [text for text in NUMBERS if not _takes_long(parameter.name, text)]
            return rng.choice(numbers[:10] if rng.random() < 0.6 else numbers)
        values = self._values.get(parameter.name)
        if values is None:
            return rng.choice(FILES) if rng.random() < 0.6 else self._files.next()
        if rng.random() < 0.7 or set(values) <= {*AGENTS, *HAND_AGENTS}:
            return rng.choice(values)
        return self._texts[parameter.name].next()


def _all_commands() -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    for verb in _VERBS:
        command = _command(verb).commands[verb]
        if hasattr(command, "commands"):
            yield from (((verb, name), inner.params) for name, inner in command.commands.items())
        else:
            yield (verb,), command.params


def _takes_long(name: str, text: str) -> bool:
    """Returns whether somebody asks for so many runs that they are not worth waiting for."""
    if name not in ("deals", "hands", "processes", "repeats", "playthroughs"):
        return False
    try:
        return float(text) > (1 if name == "processes" else MOST_RUNS)
    except ValueError:
        return False


def _can_be_typed(word: str) -> bool:
    try:
        return b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        return False


def run(arguments: list[str]) -> None:
    """Runs a command line; raises AssertionError if it ends in another way than commands may end."""
    printed, complained = io.StringIO(), io.StringIO()
    answers, sys.stdin = sys.stdin, io.StringIO("0\nx\n?\nq\n")
    try:
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(complained),
            watch(most=3000, memory=1 << 29),
        ):
            main(list(arguments))
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.stdin = answers
    said = complained.getvalue()
    assert code in (0, 2, 130), f"exit code {code}: {said[:300]}"
    if code == 2 and "Usage: " not in said + printed.getvalue():
        lines = [line for line in said.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1 and said.endswith(f"{lines[0]}\n"), f"not one line of an error: {said[:500]!r}"
        assert len(lines[0]) <= MAX_MESSAGE + len("error: "), f"an error of {len(lines[0]):,} characters"
        assert lines[0].isprintable(), f"an error that cannot be printed: {lines[0]!r}"
