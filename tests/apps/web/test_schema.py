"""Malformed requests, made from the OpenAPI schema, never end in a server error."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, settings

from tests.apps.web.running import RunningServer

schemathesis = pytest.importorskip("schemathesis")

STREAMS = ("/api/jobs/{job_id}/events", "/api/runs/events")


def check_operations(server: RunningServer, examples: int) -> int:
    """Returns how many operations were tried with made-up requests, good and bad; a 5xx fails."""
    schema = schemathesis.openapi.from_dict(server.client.get("/openapi.json").json())
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path in STREAMS:
            continue

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def attempt(case: object) -> None:
            answer = case.call(base_url=server.url)  # type: ignore[attr-defined]
            assert answer.status_code < 500, f"{answer.status_code} {answer.text}"

        from hypothesis import given

        given(case=operation.as_strategy())(attempt)()
        tried += 1
    return tried


def test_no_request_ends_in_a_server_error(server: RunningServer) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check_operations(server, examples=6) >= 24


@pytest.mark.slow
def test_no_request_of_many_ends_in_a_server_error(server: RunningServer) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check_operations(server, examples=150) >= 24
