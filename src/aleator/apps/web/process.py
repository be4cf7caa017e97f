"""A worker process as the server sees it: one call at a time, events on the way, a result or a reason at the end.

A call is one line of JSON on the worker's standard input. Answers are frames on its standard output: a line of JSON
that says what comes (`begun`, `event`, `result`, `refused`, `failed`) and how many bytes, then those bytes, which are
JSON too. The first call of a method says when it has `begun`, since it imports what it needs. Results go to the browser
as they are.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aleator.errors import AleatorError

OnEvent = Callable[[dict[str, Any]], None]
MAX_FRAME = 256 << 20
MAX_LOG = 4 << 20
START_SECONDS = 120.0  # until a first call has begun: the process starts and imports what it needs, on a busy machine
# Libraries that start a thread per core for every small product wait for each other when cores are busy.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class RefusedError(AleatorError):
    """What was asked for makes no sense; the worker's message says why."""


class TooSlowError(RefusedError):
    """What was asked for takes longer than it may."""


class WorkerFailedError(Exception):
    """The worker ran into an error of its own."""


class WorkerDiedError(Exception):
    """The worker process is gone; the message says how it ended."""


class WorkerProcess:
    """One worker process, started at its first call and started anew after it has died."""

    def __init__(self, *, memory_limit: int, niceness: int, log: Path) -> None:
        self._arguments = [str(memory_limit), str(niceness)]
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._is_sent = False  # whether the call that runs has been written
        self._wishes = b""  # stops of a call that waits for its process to start
        self._begun: set[str] = set()  # methods that this process has imported

    @property
    def pid(self) -> int | None:
        """The process id while the process runs."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if running and self._process else None

    async def start(self) -> None:
        """Starts the process unless it runs."""
        if self.pid is None:
            if self._log.exists() and self._log.stat().st_size > MAX_LOG:
                self._log.replace(self._log.with_suffix(".old.log"))
            self._begun.clear()
            with self._log.open("ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "aleator.apps.web.worker", *self._arguments,
                    stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log, limit=MAX_FRAME,
                    start_new_session=True, env=os.environ | _ONE_THREAD,
                )  # fmt: skip

    async def call(
        self, method: str, params: dict[str, Any], on_event: OnEvent | None = None, *, seconds: float | None = None
    ) -> bytes:
        """Returns the result of a call, as JSON; calls wait for each other.

        Args:
            method: a name in `aleator.apps.web.worker.METHODS`.
            params: its arguments.
            on_event: called with what the worker reports on the way.
            seconds: how long it may take once it has begun; then the process is killed.

        Raises:
            RefusedError: what was asked for makes no sense, or takes longer than it may.
            WorkerFailedError: an error of the worker's own.
            WorkerDiedError: the process is gone.
        """
        async with self._lock:
            self._is_sent, self._wishes = False, b""
            await self.start()
            try:
                known = seconds is None or method in self._begun
                async with asyncio.timeout(seconds if known else START_SECONDS) as limit:

                    def begin() -> None:
                        self._begun.add(method)
                        if seconds is not None:
                            limit.reschedule(asyncio.get_running_loop().time() + seconds)

                    return await self._exchange(method, params, begin, on_event)
            except TimeoutError:
                await self.kill()
                raise TooSlowError(f"this takes longer than {seconds:g} s, and was ended") from None
            except asyncio.CancelledError:
                await self.kill()  # an answer nobody waits for must not be taken for the next one
                raise

    async def _exchange(
        self, method: str, params: dict[str, Any], on_begin: Callable[[], None], on_event: OnEvent | None
    ) -> bytes:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps({"method": method, "params": params}).encode() + b"\n" + self._wishes)
            self._is_sent = True
            await process.stdin.drain()
            while True:
                header = json.loads(await process.stdout.readuntil(b"\n"))
                body = await process.stdout.readexactly(header["size"])
                if header["kind"] == "begun":
                    on_begin()
                    continue
                if header["kind"] == "event":
                    if on_event:
                        on_event(json.loads(body))
                    continue
                if header["kind"] == "result":
                    return body
                error = RefusedError if header["kind"] == "refused" else WorkerFailedError
                raise error(json.loads(body)["message"])
        except (asyncio.IncompleteReadError, ConnectionError):
            raise WorkerDiedError(_how_it_ended(await process.wait())) from None

    def ask_to_stop(self) -> None:
        """Asks the running call to end soon and to return what it has; also while its process still starts."""
        self._say(b'{"stop": true}\n')

    def ask_to_suspend(self) -> None:
        """Asks the running call to end soon such that it can go on later, in another process."""
        self._say(b'{"suspend": true}\n')

    def _say(self, line: bytes) -> None:
        if not self._is_sent:
            self._wishes += line  # in front of its call the worker would take it for one of the call before
        elif self.pid is not None and self._process and self._process.stdin:
            self._process.stdin.write(line)

    def end(self) -> None:
        """Ends the process at once, without waiting until it is gone."""
        if self.pid is not None and self._process:
            self._process.kill()

    async def kill(self) -> None:
        """Ends the process at once."""
        process = self._process
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()


def _how_it_ended(code: int) -> str:
    if code < 0:
        name = signal.Signals(-code).name
        return f"the worker process was killed by {name}" + (
            " (by the system if memory ran out)" if name == "SIGKILL" else ""
        )
    return f"the worker process ended unexpectedly with exit code {code}"
