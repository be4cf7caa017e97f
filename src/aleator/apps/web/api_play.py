"""Routes of the pages Play, Learn and Runs."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Response
from fastapi.responses import StreamingResponse

from aleator.apps.web import dice_match
from aleator.apps.web.api_jobs import BUSY, NOT_FOUND, REFUSED, AnyId, Server, raw
from aleator.apps.web.catalogue import EQUILIBRIUM, PLAYED, RACED, opponents
from aleator.apps.web.models import Job
from aleator.apps.web.models_play import (
    AlgorithmInfo,
    LearnCatalogue,
    MoveRequest,
    PlayCatalogue,
    RaceRequest,
    Run,
    RunCurves,
    Session,
    SessionRequest,
    Tree,
)
from aleator.apps.web.process import RefusedError
from aleator.apps.web.queue import RACE, SOLVE
from aleator.apps.web.service import Service
from aleator.caching import cache
from aleator.errors import SolveError
from aleator.solvers.algorithms import ALGORITHMS, find_algorithm

SECONDS_BETWEEN_LOOKS = 0.5
KEPT_DEALS = 200
_SHOWN = ("game", "opponent", "seat", "solution", "totals", "results", "match")

router = APIRouter(prefix="/api")


@router.get("/play", tags=["play"])
async def play_catalogue(service: Server) -> PlayCatalogue:
    """What can be played, and against whom."""
    spots = [job for job in service.store.jobs(SOLVE) if job.status == "done"]
    for job in spots:
        job.summary = {"spot": (job.summary or {}).get("spot")}
    return PlayCatalogue(games=PLAYED, opponents=opponents(), spots=spots)


@router.post("/play/sessions", status_code=201, tags=["play"], response_model=Session, responses=REFUSED)
async def new_session(service: Server, body: SessionRequest) -> Response:
    """Begins a session and makes its first deal; the equilibrium of a game is solved at the first time."""
    state: dict[str, Any] = {
        "game": body.game,
        "opponent": body.opponent,
        "seat": body.seat,
        "solution": body.solution if body.game == "holdem" else None,
        "seed": secrets.randbits(62),
        "draws": 0,
        "deal": None,
        "totals": {"deals": 0, "won": 0.0, "skill": 0.0, "given_up": 0.0, "expected": 0.0},
        "results": [],
        "match": dice_match.begin(body.game),
    }
    _check_opponent(body)
    if state["match"]:
        dice_match.next_round(state["match"])
    file = await _table_file(service, state)
    answer = await _move(service, state, file, "deal")
    return _session(service.store.add_session(answer["state"]), answer, status=201)


def _check_opponent(body: SessionRequest) -> None:
    known = opponents()
    chosen = next((agent for agent in known if agent.name == body.opponent), None)
    if chosen is None:
        raise RefusedError(f"there is no opponent {body.opponent!r}; known: {', '.join(agent.name for agent in known)}")
    if body.game not in chosen.games and not (body.game == "holdem" and chosen.name == EQUILIBRIUM):
        raise RefusedError(f"{chosen.title} does not play {body.game!r}; it plays {', '.join(chosen.games)}")


async def _table_file(service: Service, state: dict[str, Any]) -> str:
    if state["game"] != "holdem":
        return str(await service.equilibrium_file(dice_match.game_of(state)))
    job = service.store.job(state["solution"] or "")
    if job is None or job.kind != SOLVE or job.status != "done":
        raise RefusedError("to play hold'em, name a spot that is solved")
    return str(service.queue.solution_file(job.id))


async def _move(service: Service, state: dict[str, Any], file: str, move: str | None) -> dict[str, Any]:
    """Returns the `state` after a move and the `view` of it; results of earlier deals need not travel to the worker."""
    worker = service.browser if state["opponent"] == EQUILIBRIUM else service.player
    results = state.pop("results")
    answer: dict[str, Any] = json.loads(await service.ask(worker, "play", {"state": state, "file": file, "move": move}))
    deal = answer["state"]["deal"]
    if move is not None and deal["over"]:
        results = [*results, [deal[name] for name in ("won", "skill", "given_up")]][-KEPT_DEALS:]
    answer["state"]["results"] = results
    return answer


def _session(session_id: str, answer: dict[str, Any], *, status: int = 200) -> Response:
    """Returns a `Session` as JSON; to check it against its model again would take as long as all the rest."""
    shown = {name: answer["state"].get(name) for name in _SHOWN}
    content = json.dumps({"id": session_id, **shown, **answer["view"]}, separators=(",", ":"))
    return Response(content, status, media_type="application/json")


@router.get("/play/sessions/{session_id}", tags=["play"], response_model=Session, responses=NOT_FOUND | REFUSED)
async def get_session(service: Server, session_id: AnyId) -> Response:
    """A session as its player may see it."""
    return await _step(service, session_id, None)


@router.post("/play/sessions/{session_id}/move", tags=["play"], response_model=Session, responses=NOT_FOUND | REFUSED)
async def move(service: Server, session_id: AnyId, body: MoveRequest) -> Response:
    """Takes an action, or asks for a new deal; the agent answers at once."""
    return await _step(service, session_id, body.move)


async def _step(service: Service, session_id: str, wanted: str | None) -> Response:
    async with service.lock(f"session {session_id}"):
        state = service.store.session(session_id)
        if state is None:
            raise HTTPException(404, "there is no such session")
        if wanted == "deal" and state.get("match") and state["deal"]["over"]:
            dice_match.next_round(state["match"])
            state["deal"] = None  # it was of another game
        answer = await _move(service, state, await _table_file(service, state), wanted)
        if wanted is not None:
            service.store.save_session(session_id, answer["state"])
        return _session(session_id, answer)


@cache
def _algorithms() -> list[AlgorithmInfo]:
    return [AlgorithmInfo(**known.describe()) for known in ALGORITHMS.values()]


@cache
def _learn_catalogue() -> bytes:
    return LearnCatalogue(games=RACED, algorithms=_algorithms()).model_dump_json().encode()


@router.get("/learn", tags=["learn"], response_model=LearnCatalogue)
async def learn_catalogue() -> Response:
    """Games and algorithms that can race."""
    return raw(_learn_catalogue())


@router.get("/algorithms", tags=["learn", "hold'em"])
async def list_algorithms() -> list[AlgorithmInfo]:
    """All algorithms, with what can be set; `holdem` says whether spots can be solved by one."""
    return _algorithms()


def _check_game(game: str) -> None:
    if game not in [known.name for known in RACED]:
        raise RefusedError(f"there is no game {game!r} to race on; known: {', '.join(known.name for known in RACED)}")


@router.get("/learn/tree", tags=["learn"], response_model=Tree, responses=REFUSED)
async def get_tree(service: Server, game: Annotated[str, Query(max_length=40)]) -> Response:
    """The upper part of the public tree of a game."""
    _check_game(game)
    return raw(await service.ask(service.tools, "tree", {"game": game}, keep=True))


@router.post("/jobs/race", status_code=201, tags=["learn"], responses=REFUSED | BUSY)
async def race(service: Server, body: RaceRequest) -> Job:
    """Puts a race in the queue."""
    _check_game(body.game)
    try:
        for name in body.algorithms:
            find_algorithm(name)
    except SolveError as error:
        raise RefusedError(str(error)) from None
    request = body.model_dump() | {"algorithms": list(dict.fromkeys(body.algorithms))}
    return service.queue.submit(RACE, body.game, request)


@router.get("/runs", tags=["runs"], response_model=list[Run])
async def list_runs(service: Server) -> Response:
    """Training runs, the newest first, then those of the networks that come with the package."""
    return raw(await service.read("runs", {"root": str(service.config.runs)}))


@router.get("/runs/curves", tags=["runs"], response_model=RunCurves, responses=NOT_FOUND)
async def get_run(service: Server, name: Annotated[str, Query(max_length=300)]) -> Response:
    """A training run with its curves."""
    return raw(await service.read("run", {"name": name, "file": await _metrics(service, name)}))


async def _metrics(service: Service, name: str) -> str:
    """Returns the file of a run's metrics, or answers 404."""
    run = json.loads(await service.read("find-run", {"root": str(service.config.runs), "name": name}))
    if run is None:
        raise HTTPException(404, "there is no such run")
    return str(run)


@router.get(
    "/runs/events",
    tags=["runs"],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}, **NOT_FOUND},
)
async def run_events(service: Server, name: Annotated[str, Query(max_length=300)]) -> StreamingResponse:
    """Server-sent events: the curves of a run, whenever it has grown."""
    events = _run_events(service, name, Path(await _metrics(service, name)))
    return StreamingResponse(events, media_type="text/event-stream")


async def _run_events(service: Service, name: str, metrics: Path) -> AsyncIterator[bytes]:
    size = -1
    while metrics.exists():
        now = metrics.stat().st_size
        if now != size:
            size = now
            curves = await service.read("run", {"name": name, "file": str(metrics)})
            yield b"event: run\ndata: %s\n\n" % curves
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
