"""The application: routes, pages, errors, the processes behind them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles

from aleator import __version__
from aleator.apps.web import api_holdem, api_jobs, api_play
from aleator.apps.web.config import ServerConfig
from aleator.apps.web.guard import App, Guard
from aleator.apps.web.models import About
from aleator.apps.web.process import WorkerDiedError, WorkerFailedError
from aleator.apps.web.queue import QueueFullError
from aleator.apps.web.service import Service
from aleator.errors import AleatorError


def create_api(config: ServerConfig) -> FastAPI:
    """Returns the application without its guard; processes start and end with it."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        service = Service(config)
        app.state.service = service
        await service.start()
        yield
        await service.stop()

    app = FastAPI(title="Aleator", version=__version__, lifespan=life, docs_url=None, redoc_url=None)

    @app.exception_handler(AleatorError)
    async def refused(request: Request, error: AleatorError) -> JSONResponse:
        status = 429 if isinstance(error, QueueFullError) else 400
        return JSONResponse({"detail": str(error)}, status)

    @app.exception_handler(WorkerDiedError)
    async def died(request: Request, error: WorkerDiedError) -> JSONResponse:
        return JSONResponse({"detail": f"{error}; try again"}, 503)

    @app.exception_handler(WorkerFailedError)
    async def failed(request: Request, error: WorkerFailedError) -> JSONResponse:
        return JSONResponse({"detail": f"an error in the worker: {error}"}, 500)

    @app.get("/api/about", tags=["server"])
    def about(request: Request) -> About:
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
    app.include_router(api_play.router)
    app.include_router(api_jobs.router)
    pages = resources.files("aleator.apps.web").joinpath("static")
    app.mount("/", StaticFiles(directory=str(pages), html=True), name="pages")
    return app


def create_app(config: ServerConfig) -> App:
    """Returns the application behind its guard, as it is served."""
    return Guard(create_api(config), port=config.port, max_body=config.max_body, max_upload=config.max_upload)
