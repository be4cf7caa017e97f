"""What the routes share: the store, the queue, the two processes that answer questions, and recent answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from aleator.apps.web.catalogue import REBEL, opponents
from aleator.apps.web.config import ServerConfig
from aleator.apps.web.process import OnEvent, RefusedError, WorkerDiedError, WorkerFailedError, WorkerProcess
from aleator.apps.web.queue import JobQueue
from aleator.apps.web.store import Store
from aleator.caching import Kept

MAX_ANSWERS = 3000
SECONDS = 120.0
SECONDS_TO_READ = 8.0
SECONDS_WATCHED = 900.0


class Service:
    """One running server.

    Attributes:
        queue: jobs.
        reader: the process that reads what users write (ranges, spots) and what runs log.
        browser: the process that answers what a page waits for: nodes of solutions, moves of an equilibrium.
        player: the process of agents that search before they move.
        tools: the process for what takes a second or more: estimates, runouts, equilibria of small games.
        progress: how far what is computed for a page has come, from 0 to 1, by its name.
        coach: the process that grades decisions of whole hands by search.
    """

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        config.make_folders()
        config.remove_leftovers()
        self.store = Store(config.database)
        self.queue = JobQueue(config, self.store)
        self.reader, self.browser, self.player = self._worker(0), self._worker(0), self._worker(0)
        self.tools, self.coach = self._worker(5), self._worker(5)
        self._answers: Kept[bytes] = Kept(MAX_ANSWERS)
        self.progress: dict[str, float] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._background: set[asyncio.Task[Any]] = set()

    def _worker(self, niceness: int) -> WorkerProcess:
        log = self.config.data_dir / "worker.log"
        return WorkerProcess(memory_limit=self.config.memory_limit, niceness=niceness, log=log)

    async def start(self) -> None:
        """Goes to work; kernels are loaded in the background, so that the first answers are quick, too."""
        self.queue.start()
        if self.config.warm_up:
            self._in_background(self._warm_up())

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def think_ahead(self, params: dict[str, Any]) -> None:
        """Lets the coach search the first decision of a session while its player looks at the cards.

        Its networks are loaded by that, and the betting before the flop is solved: the first hint waits for neither.
        Whatever goes wrong is said by the hint that somebody asks for.
        """
        if self.config.warm_up:
            self._in_background(self._think_ahead(params))

    async def _think_ahead(self, params: dict[str, Any]) -> None:
        with contextlib.suppress(
            RefusedError, WorkerFailedError, WorkerDiedError
        ):  # a hint that is asked for says what is wrong
            await self.coach.call("hint", params)

    async def _warm_up(self) -> None:
        await asyncio.gather(
            self.tools.call("warm-up", {"holdem": False}), self.browser.call("warm-up", {"holdem": True})
        )
        for agent in opponents():
            if agent.name == REBEL:
                await self.equilibrium_file(agent.games[-1])
                await self.player.call("prepare", {"opponent": agent.name, "game": agent.games[-1]})

    async def stop(self) -> None:
        """Ends all processes and closes the store."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.queue.stop()
        for worker in (self.reader, self.browser, self.player, self.tools, self.coach):
            await worker.kill()
        self.store.close()

    def lock(self, name: str) -> asyncio.Lock:
        """Returns the lock of that name: of a play session, of a game that is being solved."""
        if len(self._locks) > 10_000:
            self._locks = {key: lock for key, lock in self._locks.items() if lock.locked()}
        return self._locks.setdefault(name, asyncio.Lock())

    async def ask(
        self,
        worker: WorkerProcess,
        method: str,
        params: dict[str, Any],
        *,
        keep: bool = False,
        on_event: OnEvent | None = None,
        seconds: float = SECONDS,
    ) -> bytes:
        """Returns a worker's answer as JSON; with `keep`, one that was given before is given again."""
        if not keep:
            return await worker.call(method, params, on_event, seconds=seconds)
        key = (method, *sorted(params.items()))
        async with self.lock(repr(key)):
            answer = self._answers.find(key) or await worker.call(method, params, on_event, seconds=SECONDS)
            return self._answers.keep(key, answer)

    async def ask_watched(self, name: str, worker: WorkerProcess, method: str, params: dict[str, Any]) -> bytes:
        """Returns an answer that may take minutes; how far it is, is in `progress` under a name."""

        def note(event: dict[str, Any]) -> None:
            self.progress[name] = event["done"]

        try:
            return await self.ask(worker, method, params, on_event=note, seconds=SECONDS_WATCHED)
        finally:
            self.progress.pop(name, None)

    async def read(self, method: str, params: dict[str, Any]) -> bytes:
        """Returns what the reader makes of something that a user has written, as JSON."""
        return await self.reader.call(method, params, seconds=SECONDS_TO_READ)

    async def equilibrium_file(self, game: str) -> Path:
        """Returns the file with the equilibrium of a game of the catalogue; it is solved at the first time."""
        file = self.config.data_dir / "games" / (game.replace(":", "-") + ".solution")
        async with self.lock(f"game {game}"):
            if not file.exists():
                await self.ask(self.tools, "equilibrium", {"game": game, "output": str(file)})
        return file
