"""Malformed requests, made from the OpenAPI schema, never end in a server error."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

from tests.apps.web.running import SECONDS, RunningServer

schemathesis = pytest.importorskip("schemathesis")

STREAMS = ("/api/jobs/{job_id}/events", "/api/runs/events")


def check_operations(server: RunningServer, examples: int) -> int:
    """Returns how many operations were tried with made-up requests, well and badly formed; a 5xx fails."""
    schema = schemathesis.openapi.from_dict(server.client.get("/openapi.json").json())
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path in STREAMS:
            continue
        for mode in schemathesis.GenerationMode:
            with contextlib.suppress(Unsatisfiable):  # nothing can be wrong in a request without parameters
                _attempt(operation.as_strategy(generation_mode=mode), server, examples)
        tried += 1
    return tried


def _attempt(cases: Any, server: RunningServer, examples: int) -> None:
    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=cases)
    def attempt(case: Any) -> None:
        answer = case.call(base_url=server.url, headers={"authorization": f"Bearer {server.token}"}, timeout=SECONDS)
        assert answer.status_code < 500, f"{answer.status_code} {answer.text}"

    attempt()


def test_no_request_ends_in_a_server_error(server: RunningServer) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check_operations(server, examples=2) >= 24


@pytest.mark.slow
def test_no_request_of_many_ends_in_a_server_error(server: RunningServer) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check_operations(server, examples=150) >= 24
