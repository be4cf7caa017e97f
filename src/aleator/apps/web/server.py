"""The application: routes, pages, errors, the processes behind them."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError

from aleator import __version__
from aleator.apps.web import api_hands, api_holdem, api_jobs, api_play, api_reports
from aleator.apps.web.access import Access, load_token
from aleator.apps.web.config import ServerConfig
from aleator.apps.web.connections import report_error
from aleator.apps.web.guard import App, Guard
from aleator.apps.web.models import About
from aleator.apps.web.pages import Pages
from aleator.apps.web.process import WorkerDiedError, WorkerFailedError
from aleator.apps.web.queue import QueueFullError
from aleator.apps.web.service import Service
from aleator.apps.web.system import is_full
from aleator.errors import AleatorError

MAX_DETAIL = 2_000


def create_api(config: ServerConfig) -> FastAPI:
    """Returns the application without its guard; processes start and end with it."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_exception_handler(report_error)
        service = Service(config)
        app.state.service = service
        await service.start()
        yield
        await service.stop()

    app = FastAPI(title="Aleator", version=__version__, lifespan=life, docs_url=None, redoc_url=None)

    _answer_errors(app)

    @app.get("/api/about", tags=["server"])
    async def about(request: Request) -> About:
        """This server."""
        service: Service = request.app.state.service
        return About(
            version=__version__,
            cores=os.cpu_count() or 1,
            memory_limit=config.memory_limit,
            max_upload=config.max_upload,
            runs_dir=str(config.runs),
            queued=service.store.count("queued"),
            running=service.store.count("running"),
        )

    app.include_router(api_holdem.router)
    app.include_router(api_reports.router)
    app.include_router(api_play.router)
    app.include_router(api_hands.router)
    app.include_router(api_jobs.router)
    app.mount("/", Pages(Path(str(resources.files("aleator.apps.web").joinpath("static")))), name="pages")
    return app


def _answer_errors(app: FastAPI) -> None:
    """Makes every error that can be expected an answer of one line."""

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        return _problem(422, [{name: entry[name] for name in ("loc", "msg", "type")} for entry in error.errors()])

    @app.exception_handler(AleatorError)
    async def refused(request: Request, error: AleatorError) -> Response:
        return _problem(429 if isinstance(error, QueueFullError) else 400, str(error)[:MAX_DETAIL])

    @app.exception_handler(WorkerDiedError)
    async def died(request: Request, error: WorkerDiedError) -> Response:
        return _problem(503, f"{error}; try again")

    @app.exception_handler(WorkerFailedError)
    async def failed(request: Request, error: WorkerFailedError) -> Response:
        return _problem(500, f"an error in the worker: {error}"[:MAX_DETAIL])

    @app.exception_handler(sqlite3.OperationalError)
    async def not_kept(request: Request, error: sqlite3.OperationalError) -> Response:
        return _problem(507, f"this cannot be kept: {error}")

    @app.exception_handler(OSError)
    async def system_refused(request: Request, error: OSError) -> Response:
        return _problem(507 if is_full(error) else 503, f"the system refuses: {error.strerror or error}")


def _problem(status: int, detail: Any) -> Response:
    """Returns an answer in ASCII, whatever characters the request has brought."""
    return Response(json.dumps({"detail": detail}), status, media_type="application/json")


def create_app(config: ServerConfig, on_invitation: Callable[[str], None] | None = None) -> App:
    """Returns the application behind its guard, as it is served.

    Args:
        config: how it is served.
        on_invitation: called with each one-time token for another device, if the server has a `host`.
    """
    config.make_folders()
    access = Access(load_token(config.data_dir), config.port, on_invitation if config.host else None)
    return Guard(
        create_api(config), access, port=config.port, max_body=config.max_body, max_upload=config.max_upload,
        addresses=config.addresses,
    )  # fmt: skip
