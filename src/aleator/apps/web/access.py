"""Who may use this server: who knows its token.

Any user of a machine can connect to its localhost. So `aleator serve` prints an address with a token in it. The first
page opened there sets a cookie that no other site's request carries and no script reads; programs send the token as
`Authorization: Bearer`. The token is kept in the data directory, which only its owner can read, so that addresses and
cookies outlive a restart.

With `--host`, other devices of the network come in by an address with a token that works once. The device that opens it
gets a cookie of its own, which ends with the server; the token of the data directory never travels over the network.
"""

from __future__ import annotations

import hmac
import html
import os
import re
import secrets
from collections import deque
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

from aleator.apps.web.config import ServerError

TOKEN_FILE, OPEN_FILE = "token", "open.html"
_TOKEN = re.compile(r"[\w-]{32,64}", re.ASCII)
_YEAR = 365 * 24 * 3600
NO_TOKEN = "this server needs its token: open the address that `aleator serve` printed"
SPENT = "this address has been used, and works only once: `aleator serve` has printed a new one"
MAX_DEVICES = 100

Headers = dict[bytes, str]


class Reply(NamedTuple):
    """An answer of the guard itself: an HTML page, or a redirection."""

    status: int
    body: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Access:
    """Tells requests with the token from others.

    Args:
        token: that of the data directory.
        port: of the server; it names the cookie, since cookies are shared by all ports of a host.
        on_invitation: called with a new one-time token: at the start, and whenever the last one has been used. Without
            it there are none.
    """

    def __init__(self, token: str, port: int, on_invitation: Callable[[str], None] | None = None) -> None:
        self.token, self.cookie = token, f"aleator_{port}"
        self._on_invitation, self._invitation = on_invitation, ""
        self._used: deque[str] = deque(maxlen=MAX_DEVICES)
        self._devices: deque[str] = deque(maxlen=MAX_DEVICES)
        self.invite()

    def invite(self) -> None:
        """Makes a new one-time token, if there are such, and tells it."""
        if self._on_invitation is not None:
            self._invitation = secrets.token_urlsafe(16)
            self._on_invitation(self._invitation)

    def is_allowed(self, headers: Headers) -> bool:
        """Returns whether a request carries the token, as a cookie or as a header."""
        kind, _, given = headers.get(b"authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._is_token(given.strip())
        try:
            cookie = SimpleCookie(headers.get(b"cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, text: str) -> bool:
        return any(_is_same(text, secret) for secret in (self.token, *self._devices))

    def _secret_for(self, token: str) -> str | None:
        """Returns the secret of a cookie for who comes with a token in the address; a one-time token is spent by it."""
        if _is_same(token, self.token):
            return self.token
        if not self._invitation or not _is_same(token, self._invitation):
            return None
        secret = secrets.token_urlsafe(32)
        self._devices.append(secret)
        self._used.append(self._invitation)
        self.invite()
        return secret

    def reply(self, path: str, query: str, headers: Headers) -> Reply | None:
        """Returns how a request for a page is answered by the guard itself; None if the page may be shown."""
        values = parse_qs(query, keep_blank_values=True, max_num_fields=20) if query.count("&") < 20 else {}
        token = values.get("token", [""])[0]
        if token and (secret := self._secret_for(token)):
            age = f" Max-Age={_YEAR};" if secret == self.token else ""
            cookie = f"{self.cookie}={secret}; Path=/;{age} HttpOnly; SameSite=Strict"
            return _redirect((b"set-cookie", cookie.encode()))
        if self.is_allowed(headers):
            return _redirect() if "again" in values else None
        if headers.get(b"sec-fetch-site") == "cross-site" and "again" not in values:
            # a link on another page: the cookie does not come along, but it does when this server's own page asks again
            return Reply(200, _page('<meta http-equiv="refresh" content="0; url=/?again" />', "Aleator", ""))
        why = SPENT if token in self._used else NO_TOKEN
        text = html.escape(why[0].upper() + why[1:]).replace("`aleator serve`", "<code>aleator serve</code>")
        return Reply(401, _page("", "Aleator", f"<p>{text}.</p>"))


def _is_same(text: str, secret: str) -> bool:
    return hmac.compare_digest(text.encode(errors="replace"), secret.encode())


def _redirect(*headers: tuple[bytes, bytes]) -> Reply:
    return Reply(303, "", ((b"location", b"/"), (b"cache-control", b"no-store"), *headers))


def _page(head: str, title: str, body: str) -> str:
    start = f'<!doctype html><html lang="en"><head><meta charset="utf-8" />{head}<title>{title}</title></head>'
    return f"{start}<body><h1>{title}</h1>{body}</body></html>\n"


def load_token(data_dir: Path) -> str:
    """Returns the token of a data directory, which is made at the first time.

    Raises:
        ServerError: the file belongs to another user, or cannot be read or written.
    """
    path = data_dir / TOKEN_FILE
    try:
        token = _read_own(path)
        if token is None or not _TOKEN.fullmatch(token):
            token = secrets.token_urlsafe(32)
            write_private(path, token + "\n")
    except OSError as error:
        raise ServerError(f"cannot keep the server's token in {path}: {error.strerror}") from error
    return token


def _read_own(path: Path) -> str | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    with os.fdopen(file, encoding="ascii", errors="replace") as lines:
        if os.fstat(lines.fileno()).st_uid != os.getuid():
            raise ServerError(f"{path} belongs to another user: choose another directory with --data-dir")
        os.fchmod(lines.fileno(), 0o600)
        return lines.read(200).strip()


def write_private(path: Path, text: str) -> None:
    """Writes a file that only its owner can read."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def write_open_page(data_dir: Path, address: str) -> Path:
    """Returns a private page that leads to an address with token: every user can read the command line of a browser."""
    path = data_dir / OPEN_FILE
    write_private(path, _page(f'<meta http-equiv="refresh" content="0; url={html.escape(address)}" />', "Aleator", ""))
    return path
