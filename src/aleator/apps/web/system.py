"""What the system gives a server: descriptors, and space on its disk."""

from __future__ import annotations

import errno
import logging
import time

MOST_DESCRIPTORS = 4096
SECONDS_OF_SILENCE = 60.0
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def descriptors() -> int:
    """Returns how many descriptors this process may have, after it has asked for more than the few that are usual."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return 512
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(MOST_DESCRIPTORS, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return soft


def is_full(error: BaseException | None) -> bool:
    """Returns whether an error, or the one it was made of, says that a disk has no space left."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        error = error.__cause__
    return False


class Log:
    """Lines for who watches the server; something that happens again and again is said once a minute."""

    def __init__(self) -> None:
        self._said: dict[str, float] = {}

    def say(self, text: str) -> None:
        """Says something now."""
        logging.getLogger("aleator.web").warning("%s", text)

    def say_seldom(self, text: str) -> None:
        """Says something unless it was said within the last minute."""
        now = time.monotonic()
        if now - self._said.get(text, -SECONDS_OF_SILENCE) >= SECONDS_OF_SILENCE:
            self._said = {other: at for other, at in self._said.items() if now - at < SECONDS_OF_SILENCE} | {text: now}
            self.say(text)


log = Log()
