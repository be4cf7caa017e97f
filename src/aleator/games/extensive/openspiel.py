"""OpenSpiel's games: any two-player zero-sum game of https://github.com/google-deepmind/open_spiel, found by its name.

Simultaneous moves become moves in turn, the second one not seeing the first. Constant-sum games are played for the
difference to half the constant.
"""

from __future__ import annotations

import contextlib
import difflib
import faulthandler
import os
import random
import resource
import signal
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from aleator.errors import AleatorError, GameError, MissingExtraError, TooBigError, one_line, shown
from aleator.games.base import CHANCE, TERMINAL, FloatArray
from aleator.games.extensive.histories import HistoryGame
from aleator.games.extensive.positions import NotMergedError, PositionGame
from aleator.games.extensive.walk import walk
from aleator.memory import available_memory, limit_memory

_PATIENCE = 10  # seconds of computing: the machine may be busy with something else
_TRIED_MEMORY = 2 << 30  # bytes; a game whose first moves take more could not be walked
_TRIED_MOVES = 100


class OpenSpielGame(HistoryGame):
    """A game of OpenSpiel; `source` is the (turn-based) pyspiel game."""

    def __init__(self, source: Any, *, name: str) -> None:
        self.source = source
        super().__init__(walk(_first_history(source), name=name))


class OpenSpielPositions(PositionGame):
    """A game of OpenSpiel with perfect information and without chance; `source` is the pyspiel game."""

    def __init__(self, source: Any, *, name: str) -> None:
        self.source = source
        super().__init__(_first_history(source), name=name)

    def source_actions(self, state: int) -> Sequence[int]:
        """Returns for each action of a position its number in OpenSpiel."""
        return self._positions[state].actions()


class _SpielHistory:
    """A state of OpenSpiel as a `History`, and as a `Position` where everybody sees everything."""

    __slots__ = ("observe", "shift", "state")

    def __init__(self, state: Any, observe: Callable[[Any, int], str] | None, shift: float) -> None:
        self.state, self.observe, self.shift = state, observe, shift

    def actor(self) -> int:
        player: int = self.state.current_player()
        return player if player >= -1 else TERMINAL

    def actions(self) -> Sequence[int]:
        actions: list[int] = self.state.legal_actions()
        return actions

    def outcomes(self) -> Sequence[tuple[int, float]]:
        outcomes: list[tuple[int, float]] = self.state.chance_outcomes()
        return outcomes

    def child(self, action: int, /) -> _SpielHistory:
        return _SpielHistory(self.state.child(action), self.observe, self.shift)

    def infostate(self, player: int, /) -> Hashable:
        infostate: str = self.state.information_state_string(player)
        return infostate

    def public(self) -> Hashable:
        return self.observe(self.state, 0) if self.observe else None

    def utility(self) -> float:
        first, second = self.state.returns()
        utility: float = first - self.shift
        if abs(utility + second - self.shift) > 1e-9 * max(1.0, abs(utility)):
            raise GameError(f"OpenSpiel's {self.state.get_game()} pays {first} and {second}: it is not zero-sum")
        return utility

    def action_name(self, action: int, /) -> str:
        name: str = self.state.action_to_string(self.state.current_player(), action)
        return name

    def key(self) -> Hashable:
        return self.state.current_player(), str(self.state)

    def features(self) -> FloatArray | None:
        if not self.state.get_game().get_type().provides_observation_tensor:
            return None
        return np.array(self.state.observation_tensor(0))

    def picture(self) -> str:
        return str(self.state)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps OpenSpiel from writing its own error messages to the terminal."""
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


def import_pyspiel() -> Any:
    """Returns OpenSpiel's module; raises MissingExtraError where it is not installed."""
    try:
        import pyspiel
    except ImportError:
        raise MissingExtraError("open_spiel", "openspiel") from None
    return pyspiel


def load_source(name: str) -> Any:
    """Returns OpenSpiel's game of that name."""
    pyspiel = import_pyspiel()
    short = name.partition("(")[0].strip()
    known = pyspiel.registered_names()
    if short not in known:
        near = difflib.get_close_matches(short[:100], known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise GameError(f"OpenSpiel has no game {shown(short)}{hint}")
    if "(" in name:
        _try_out(pyspiel, name)
    with asking(name), quiet():
        return pyspiel.load_game(name)


def _try_out(pyspiel: Any, name: str) -> None:
    """Plays a game with parameters in a process of its own first: bad ones may crash OpenSpiel's C++, or hang it.

    Raises:
        GameError: it does not survive that.
    """
    if not hasattr(os, "fork"):
        return
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads: the child runs OpenSpiel and nothing else
        child = os.fork()
    if not child:
        _play_and_exit(pyspiel, name, writing)
    os.close(writing)
    with open(reading, "rb") as pipe:
        begun, _, complaint = pipe.read().decode(errors="replace").partition("\n")
    _, status = os.waitpid(child, 0)
    if complaint:
        raise GameError(f"OpenSpiel cannot load {shown(name)}: {one_line(complaint, 300)}")
    if os.WIFSIGNALED(status) and not (begun and os.WTERMSIG(status) == signal.SIGPROF):
        ended = signal.Signals(os.WTERMSIG(status)).name
        reason = f"it does not begin within {_PATIENCE} seconds" if ended == "SIGPROF" else f"it crashes ({ended})"
        raise GameError(f"OpenSpiel cannot load {shown(name)}: {reason}")


def _play_and_exit(pyspiel: Any, name: str, writing: int) -> NoReturn:
    """Plays a game at random and ends the process; writes a word when the game begins, then what is wrong with it."""
    try:
        faulthandler.disable()
        limit_memory(min(available_memory() // 2, _TRIED_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for descriptor in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, _PATIENCE)
        first = _first_history(_turn_based(pyspiel.load_game(name), name))
        _moves(first)
        os.write(writing, b"begun")
        signal.setitimer(signal.ITIMER_PROF, _PATIENCE / 3)
        _play(first, random.Random(0))
    except AleatorError:  # which whoever loads the game next will raise as well
        os._exit(0)
    except MemoryError:
        os.write(writing, b"\nits moves take too much memory")
        os._exit(1)
    except BaseException as error:
        os.write(writing, f"\n{next(iter(str(error).splitlines()), type(error).__name__)[:1000]}".encode())
        os._exit(1)
    os._exit(0)


def _moves(history: _SpielHistory) -> Sequence[int]:
    """Returns what can happen next, by chance or by whoever acts."""
    return [move for move, _ in history.outcomes()] if history.actor() == CHANCE else history.actions()


def _play(first: _SpielHistory, rng: random.Random) -> None:
    """Makes some moves at random, and asks whatever a walk asks."""
    history = first
    for _ in range(_TRIED_MOVES):
        actor = history.actor()
        if actor == TERMINAL:
            history.utility()
            history = first
            continue
        moves = _moves(history)
        if first.state.get_game().get_type().provides_information_state_string and actor >= 0:
            history.infostate(0), history.infostate(1), history.public()
        history.key(), history.features()
        move = rng.choice(moves)
        history.action_name(move)
        history = history.child(move)


@contextlib.contextmanager
def asking(name: str) -> Iterator[None]:
    """Turns whatever OpenSpiel's C++ throws inside the block into a GameError; our own errors pass."""
    try:
        yield
    except (AleatorError, NotMergedError):
        raise
    except MemoryError:
        raise TooBigError(
            f"OpenSpiel takes more memory for {shown(name)} than there is: choose a smaller game"
        ) from None
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GameError(f"OpenSpiel cannot load {shown(name)}: {one_line(reason, 300)}") from None


def _turn_based(source: Any, name: str) -> Any:
    """Returns the game with moves in turn, after checking that it is one we can solve."""
    pyspiel = import_pyspiel()
    kind = source.get_type()
    if source.num_players() != 2:
        raise GameError(f"{name} has {source.num_players()} players; two are needed")
    if kind.utility not in (pyspiel.GameType.Utility.ZERO_SUM, pyspiel.GameType.Utility.CONSTANT_SUM):
        raise GameError(f"{name} is {kind.utility.name.lower().replace('_', '-')}; a zero-sum game is needed")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise GameError(f"{name} samples its chance moves; explicit probabilities are needed")
    if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        source = pyspiel.convert_to_turn_based(source)
    elif kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise GameError(f"{name} is a {kind.dynamics.name.lower()} game; a sequential or simultaneous one is needed")
    if not _sees_everything(source) and not source.get_type().provides_information_state_string:
        raise GameError(f"{name} does not say what a player knows (it has no information_state_string)")
    return source


def _sees_everything(source: Any) -> bool:
    """Returns whether a game has perfect information and no chance."""
    kind, known = source.get_type(), import_pyspiel().GameType
    return bool(
        kind.information == known.Information.PERFECT_INFORMATION
        and kind.chance_mode == known.ChanceMode.DETERMINISTIC
        and kind.dynamics == known.Dynamics.SEQUENTIAL
    )


def _first_history(source: Any) -> _SpielHistory:
    with quiet():
        first = source.new_initial_state()
    return _SpielHistory(first, _observer(source), (source.utility_sum() or 0.0) / 2)


def _observer(source: Any) -> Callable[[Any, int], str] | None:
    """Returns a function (state, player) -> what everybody saw last, None if the game has no public observations."""
    pyspiel = import_pyspiel()
    from open_spiel.python.observation import make_observation

    wanted = pyspiel.IIGObservationType(
        perfect_recall=False, public_info=True, private_info=pyspiel.PrivateInfoType.NONE
    )
    try:
        with quiet():
            observation = make_observation(source, wanted)
    except Exception:  # OpenSpiel raises whatever its C++ throws
        return None
    if observation is None:
        return None
    describe: Callable[[Any, int], str] = observation.string_from
    return describe


def load_openspiel(game: Any) -> OpenSpielGame | OpenSpielPositions:
    """Returns a game of OpenSpiel in public form; by its positions if it has perfect information and no chance.

    Args:
        game: a name as OpenSpiel writes it, such as `leduc_poker` or `goofspiel(imp_info=True,num_cards=5)`, or a
            `pyspiel.Game`.

    Raises:
        MissingExtraError: OpenSpiel is not installed.
        GameError: no such game, not two players, not zero-sum, without infostates, or with imperfect recall.
        TooBigError: too many histories or positions.
    """
    source = load_source(game.strip()) if isinstance(game, str) else game
    name = f"openspiel:{game.strip() if isinstance(game, str) else str(game).removesuffix('()')}"
    with asking(name.removeprefix("openspiel:")):
        source = _turn_based(source, name)
        if _sees_everything(source):
            with contextlib.suppress(NotMergedError):  # its texts leave something out: go by histories
                return OpenSpielPositions(source, name=name)
        return OpenSpielGame(source, name=name)
