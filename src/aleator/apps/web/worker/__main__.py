"""`python -m aleator.apps.web.worker MEMORY NICENESS`: answers calls from standard input until it ends."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

from aleator.apps.web.worker import METHODS
from aleator.apps.web.worker.channel import Channel
from aleator.errors import AleatorError


def _limit(memory: int, niceness: int) -> None:
    """Limits the memory that this process can get, and lets others go first."""
    with contextlib.suppress(OSError):
        os.nice(niceness)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _listen(source: BinaryIO, calls: queue.SimpleQueue[dict[str, Any]], channel: Channel) -> None:
    """Reads calls and stops; when the server is gone, so is this process."""
    for line in source:
        message = json.loads(line)
        if message.get("stop"):
            channel.stopped = True
        elif message.get("suspend"):
            channel.suspended = True
        else:
            channel.stopped = channel.suspended = False
            calls.put(message)
    os._exit(0)


Method = Callable[[dict[str, Any], Channel], Any]


def _answer(message: dict[str, Any], channel: Channel, memory: int, imported: dict[str, Method]) -> None:
    try:
        method = message["method"]
        if method not in imported:
            module, _, name = METHODS[method].partition(":")
            imported[method] = getattr(importlib.import_module(f"aleator.apps.web.worker.{module}"), name)
            channel.send("begun", None)
        channel.send("result", imported[method](message["params"], channel))
    except AleatorError as error:
        channel.send("refused", {"message": str(error)})
    except MemoryError:
        channel.send("refused", {"message": f"out of memory: a worker may take {memory / 2**30:.1f} GiB"})
    except Exception as error:
        traceback.print_exc()
        channel.send("failed", {"message": f"{type(error).__name__}: {error}"})


def main() -> None:
    """Answers calls one by one."""
    memory, niceness = int(sys.argv[1]), int(sys.argv[2])
    _limit(memory, niceness)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):  # sent to all processes at once: the server decides
        signal.signal(number, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints goes to the log
    channel, calls = Channel(answers), queue.SimpleQueue[dict[str, Any]]()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, calls, channel), daemon=True).start()
    imported: dict[str, Method] = {}
    while True:
        _answer(calls.get(), channel, memory, imported)


if __name__ == "__main__":
    main()
