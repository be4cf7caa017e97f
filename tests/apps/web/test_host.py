"""`aleator serve --host`: devices of the network come in by addresses that work once."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import httpx
import pytest

from aleator.apps.cli.main import main
from aleator.apps.web.access import Access
from aleator.apps.web.config import ServerError, in_url, network_address
from tests.apps.web.running import SECONDS, RunningServer, free_port

TOKEN = "t" * 40
NETWORK = "127.0.0.2"  # of this machine, but not localhost
INVITED = re.compile(rb"once: (http://\S+)")


def test_a_one_time_token_lets_one_device_in() -> None:
    told: list[str] = []
    access = Access(TOKEN, 8421, told.append)
    first = access.reply("/", f"token={told[0]}", {})
    assert first is not None and first.status == 303
    cookie = SimpleCookie(dict(first.headers)[b"set-cookie"].decode())["aleator_8421"]
    assert cookie.value not in (TOKEN, told[0]) and not cookie["max-age"], "its own secret, until the browser closes"
    assert access.is_allowed({b"cookie": f"aleator_8421={cookie.value}"})
    assert access.is_allowed({b"authorization": f"Bearer {cookie.value}"})

    again = access.reply("/", f"token={told[0]}", {})
    assert again is not None and again.status == 401 and not again.headers and "works only once" in again.body
    assert len(told) == 2 and told[1] != told[0], "there is a new one for the next device"
    assert not access.is_allowed({b"authorization": f"Bearer {told[1]}"}), "it opens the page, and nothing else"
    assert not Access(TOKEN, 8421).is_allowed({b"cookie": f"aleator_8421={cookie.value}"}), "it ends with the server"


def test_without_a_host_there_is_no_one_time_token() -> None:
    for query in ("token=", "token=%00", ""):
        reply = Access(TOKEN, 8421).reply("/", query, {})
        assert reply is not None and reply.status == 401


@pytest.mark.parametrize("host", ["", "my-laptop", "192.168.1", "1.2.3.4:80", "http://1.2.3.4", "<b>"])
def test_other_words_are_refused(host: str) -> None:
    with pytest.raises(ServerError, match="not an address"):
        network_address(host)


def test_addresses_are_written_as_urls_have_them() -> None:
    assert in_url(network_address("192.168.1.20")) == "192.168.1.20"
    assert in_url(network_address("FE80::1")) == "[fe80::1]"


def test_an_address_of_another_machine_is_refused(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--host", "192.0.2.1", "--data-dir", str(empty), "--port", str(free_port())])
    assert ended.value.code == 2
    assert "192.0.2.1 is not an address of this machine" in capsys.readouterr().err


@pytest.fixture
def open_server(empty: Path) -> Iterator[RunningServer]:
    running = RunningServer(
        empty, "--host", NETWORK, stdout=subprocess.PIPE, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    )
    yield running.start()
    running.stop()
    assert running.process is not None and running.process.stdout is not None
    running.process.stdout.close()


def next_invitation(server: RunningServer) -> str:
    """Returns the next address that the server prints for another device."""
    assert server.process is not None and server.process.stdout is not None
    for line in server.process.stdout:
        if found := INVITED.search(line):
            return found[1].decode()
    raise AssertionError("no address was printed")


def test_a_phone_gets_in_by_its_address_and_nobody_else(open_server: RunningServer) -> None:
    address = next_invitation(open_server)
    base = f"http://{NETWORK}:{open_server.port}"
    assert address.startswith(f"{base}/?token=") and open_server.token not in address
    with (
        httpx.Client(base_url=base, timeout=SECONDS) as stranger,
        httpx.Client(base_url=base, timeout=SECONDS) as phone,
    ):
        assert stranger.get("/").status_code == 401 and stranger.get("/api/jobs").status_code == 401
        assert phone.get(address).status_code == 303
        assert phone.get("/").is_success and phone.get("/api/jobs").is_success
        assert phone.get("/api/jobs", headers={"origin": base}).is_success
        assert phone.get("/api/jobs", headers={"origin": "http://evil.example"}).status_code == 403
        assert phone.get("/api/jobs", headers={"host": "evil.example"}).status_code == 403
        assert phone.get("/api/jobs", headers={"sec-fetch-site": "cross-site"}).status_code == 403
        used = stranger.get(address)
        assert used.status_code == 401 and "works only once" in used.text
        assert stranger.get(next_invitation(open_server)).status_code == 303
        assert stranger.get("/api/jobs").is_success
    assert open_server.client.get("/api/jobs").is_success, "localhost is served as ever"


def test_ending_while_an_agent_thinks_says_nothing(empty: Path) -> None:
    """The answer never comes: the worker is stopped before it is asked."""
    server = RunningServer(empty, stderr=subprocess.PIPE).start()
    server.client.get("/api/hands/rivals")  # starts the reader
    ((reader, _),) = server.workers()
    os.kill(reader, signal.SIGSTOP)
    asking = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    asking.request("GET", "/api/hands/rivals", headers={"authorization": f"Bearer {server.token}"})
    for _ in range(20):  # whatever is answered later than it came shows that it has been passed on
        assert server.client.get("/api/about").is_success
    server.client.close()
    assert server.process is not None and server.process.stderr is not None
    server.process.send_signal(signal.SIGINT)
    assert asking.getresponse().status == 503
    asking.close()
    errors = server.process.stderr.read().decode()
    server.process.stderr.close()
    server.process.wait(SECONDS)
    assert errors == ""
