"""Routes of whole hands: a table against an agent, the history, and hands from files."""

from __future__ import annotations

import json
import math
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response

from aleator.apps.web.api_jobs import BUSY, NOT_FOUND, REFUSED, AnyId, FoundJob, Server, raw
from aleator.apps.web.hand_store import leaks
from aleator.apps.web.models import Job, Progress
from aleator.apps.web.models_hands import (
    HandMove,
    HandRow,
    HandSession,
    HandSessionRequest,
    Hint,
    History,
    Leak,
    PlayedHand,
    ReadHands,
    RivalInfo,
    Score,
    SessionRow,
)
from aleator.apps.web.process import RefusedError
from aleator.apps.web.queue import GRADE
from aleator.apps.web.service import Service
from aleator.intervals import SURE

BIG_BLIND = 100
_LEAST_FOR_A_BAND = 30  # hands: of fewer nobody knows how far their mean may be off
_TEXT: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

router = APIRouter(prefix="/api/hands", tags=["hands"])
Step = Annotated[int, Query(ge=0, le=1000)]
FileName = Annotated[str, Query(max_length=200)]
GameName = Annotated[str, Query(max_length=60, pattern=r"^[a-z0-9:=,-]*$")]


def score_of(hands: int, won: float, fair: float, squares: float) -> Score:
    """Returns a score from sums over hands of chips, of chips without luck, and of the squares of these."""
    scale = 1000 / BIG_BLIND
    mean = fair / hands if hands else math.nan
    spread = math.sqrt(max(squares - hands * mean * mean, 0.0) / (hands - 1)) if hands > 1 else math.nan

    def known(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return Score(
        hands=hands,
        won=won,
        raw=known(scale * won / hands) if hands else None,
        fair=known(scale * mean),
        band=known(SURE * scale * spread / math.sqrt(hands)) if hands >= _LEAST_FOR_A_BAND else None,
    )


def _scores(rows: list[dict[str, Any]]) -> Score:
    names = ("hands", "won", "fair", "squares")
    hands, won, fair, squares = (sum(row[name] for row in rows) for name in names)
    score = score_of(hands, won, fair, squares)
    if not all(_is_fair(row) for row in rows):
        score.fair = score.band = None
    return score


def _is_fair(session: dict[str, Any]) -> bool:
    """Returns whether luck is removed in a session: always heads-up, at tables of several since that is done."""
    known = session.get("fair_known")
    return session.get("players", 2) == 2 if known is None else bool(known)


def _blueprints(service: Service) -> list[str]:
    return [str(file) for file in service.config.known_blueprints]


@router.get("/rivals", response_model=list[RivalInfo])
async def list_rivals(service: Server) -> Response:
    """Whom whole hands can be played against, the easiest first."""
    return raw(await service.read("rivals", {"blueprints": _blueprints(service)}))


@router.post("/sessions", status_code=201, responses=REFUSED)
async def new_session(service: Server, body: HandSessionRequest) -> HandSession:
    """Begins a session and deals its first hand; an agent with networks loads them at the first time."""
    state = {
        "opponent": body.opponent, "stack": body.stack, "seed": secrets.randbits(62), "dealt": 0, "hand": None,
    }  # fmt: skip
    answer = await _play(service, state, "deal")
    session_id = service.store.hands.add_session(answer["state"])
    service.store.hands.save(session_id, answer["state"], answer["ended"])
    if not answer["ended"]:
        service.think_ahead({"state": answer["state"], "blueprints": _blueprints(service)})
    return _shown(service, session_id, answer["view"])


async def _play(service: Service, state: dict[str, Any], move: str | None, seen: str | None = None) -> dict[str, Any]:
    params = {"state": state, "move": move, "seen": seen, "blueprints": _blueprints(service)}
    answer: dict[str, Any] = json.loads(await service.ask(service.player, "hand", params))
    return answer


def _shown(service: Service, session_id: str, view: dict[str, Any]) -> HandSession:
    rows = [row for row in service.store.hands.sessions() if row["id"] == session_id]
    return HandSession(id=session_id, score=_scores(rows), **view)


def _found(service: Service, session_id: str) -> dict[str, Any]:
    state = service.store.hands.session(session_id)
    if state is None:
        raise HTTPException(404, "there is no such session")
    return state


@router.get("/sessions/{session_id}", responses=NOT_FOUND | REFUSED)
async def get_session(service: Server, session_id: AnyId) -> HandSession:
    """A session as its player may see it."""
    return _shown(service, session_id, (await _play(service, _found(service, session_id), None))["view"])


@router.post("/sessions/{session_id}/move", responses=NOT_FOUND | REFUSED)
async def move(service: Server, session_id: AnyId, body: HandMove) -> HandSession:
    """Takes an action, deals the next hand, or goes back to the last decision; the agent answers at once."""
    async with service.lock(f"hands {session_id}"):
        answer = await _play(service, _found(service, session_id), body.move, body.seen)
        service.store.hands.save(session_id, answer["state"], answer["ended"])
        return _shown(service, session_id, answer["view"])


@router.post("/sessions/{session_id}/hint", response_model=Hint, responses=NOT_FOUND | REFUSED)
async def hint(service: Server, session_id: AnyId) -> Response:
    """What the actions of the player's decision are worth; once that is told, the hand counts as practice."""
    async with service.lock(f"hands {session_id}"):
        state = _found(service, session_id)
        answer = await service.ask(service.coach, "hint", {"state": state, "blueprints": _blueprints(service)})
        advice = json.loads(answer)
        if advice["grade"] or advice["chart"]:  # who learns nothing does not practise
            state["hand"]["practice"] = True
            service.store.hands.save(session_id, state, None)
        return raw(answer)


@router.delete("/sessions/{session_id}", status_code=204, responses=NOT_FOUND)
async def forget_session(service: Server, session_id: AnyId) -> Response:
    """Forgets a session and its hands."""
    _found(service, session_id)
    service.store.hands.forget(session_id)
    return Response(status_code=204)


@router.get("/sessions/{session_id}/hands", responses=NOT_FOUND)
async def session_hands(service: Server, session_id: AnyId) -> list[HandRow]:
    """The hands of a session, the last one first."""
    fair = {} if _is_fair(_found(service, session_id)) else {"fair": None}
    return [HandRow(**(row | fair)) for row in service.store.hands.hands(session_id)]


@router.get("/history")
async def history(service: Server) -> History:
    """Everything that was played; the score is that of heads-up play."""
    rows = service.store.hands.sessions()
    names = ("id", "opponent", "stack", "players", "created", "updated")
    sessions = [
        SessionRow(**{name: row[name] for name in names}, practice=row["played"] - row["hands"], score=_scores([row]))
        for row in rows
        if row["played"]
    ]
    heads_up = [row for row in rows if row["players"] == 2]
    decisions = service.store.hands.decisions()
    costliest = [decision for decision in decisions if decision["mistake"]][:20]
    return History(
        score=_scores(heads_up), sessions=sessions, costliest=costliest, leaks=[Leak(**row) for row in leaks(decisions)]
    )


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}, **NOT_FOUND, **REFUSED},
)
async def export(service: Server, session: Annotated[str | None, Query(max_length=64)] = None) -> Response:
    """The hands of a session, or all, as PHH."""
    records = service.store.hands.records(session)
    if not records:
        raise HTTPException(404, "there are no hands to export")
    text = json.loads(await service.ask(service.tools, "phh", {"records": records}))
    headers = {"content-disposition": f'attachment; filename="aleator-{session or "hands"}.phhs"'}
    return Response(text, media_type="application/octet-stream", headers=headers)


def _hand(service: Service, hand_id: str) -> dict[str, Any]:
    hand = service.store.hands.hand(hand_id)
    if hand is None:
        raise HTTPException(404, "there is no such hand")
    return hand


@router.get("/played/{hand_id}", responses=NOT_FOUND | REFUSED)
async def get_hand(service: Server, hand_id: AnyId) -> PlayedHand:
    """A hand to look at again."""
    found = _hand(service, hand_id)
    params = {"record": found["record"], "seat": found["seat"]}
    view = json.loads(await service.read("hand-view", params))
    session = service.store.hands.session(found["session"]) or {}
    if not _is_fair(session):
        found["fair"] = None
    names = ("id", "session", "seat", "won", "fair", "practice", "review")
    return PlayedHand(**{name: found[name] for name in names}, opponent=session.get("opponent", ""), view=view)


@router.post("/played/{hand_id}/review", responses=NOT_FOUND | REFUSED)
async def review_hand(service: Server, hand_id: AnyId) -> dict[str, Any]:
    """The grades of one's decisions in a hand, by search; they are kept."""
    async with service.lock(f"review {hand_id}"):
        found = _hand(service, hand_id)
        review: dict[str, Any] | None = found["review"]
        if review is None:
            session = service.store.hands.session(found["session"]) or {}
            params = {
                "record": found["record"], "seat": found["seat"], "opponent": session.get("opponent", ""),
                "blueprints": _blueprints(service),
            }  # fmt: skip
            answer = await service.ask_watched(f"review {hand_id}", service.coach, "review", params)
            review = dict(json.loads(answer))
            service.store.hands.keep_review(hand_id, review)
        return review


@router.get("/played/{hand_id}/review/progress")
async def review_progress(service: Server, hand_id: AnyId) -> Progress:
    """How far the review of a hand has come that a page waits for."""
    return Progress(done=service.progress.get(f"review {hand_id}"))


@router.get("/played/{hand_id}/spot", responses=NOT_FOUND | REFUSED)
async def spot_of_hand(service: Server, hand_id: AnyId, step: Step) -> dict[str, Any]:
    """The spot of the street of a decision, with the ranges that got there."""
    found = _hand(service, hand_id)
    return await _spot(service, {"record": found["record"], "seat": found["seat"], "step": step})


async def _spot(service: Service, params: dict[str, Any]) -> dict[str, Any]:
    spot: dict[str, Any] = json.loads(await service.ask(service.coach, "hand-spot", params))
    return spot


async def _read(service: Service, request: Request, name: str, game: str) -> dict[str, Any]:
    text = (await request.body()).decode("utf-8-sig", "replace")
    params = {"text": text, "name": name, "game": game}
    hands: dict[str, Any] = json.loads(await service.ask(service.tools, "read-hands", params))
    return hands


@router.post("/files", responses=REFUSED, openapi_extra=_TEXT)
async def read_file(service: Server, request: Request, name: FileName, game: GameName = "hunl") -> ReadHands:
    """What a file of hands has (PHH, an ACPC log, PokerStars' text, JSON lines); nothing of it is kept."""
    hands = await _read(service, request, name, game)
    return ReadHands(hands=len(hands.pop("records")), **hands)


@router.post("/files/grade", status_code=201, responses=REFUSED | BUSY, openapi_extra=_TEXT)
async def grade_file(
    service: Server,
    request: Request,
    name: FileName,
    player: Annotated[str, Query(max_length=200)],
    game: GameName = "hunl",
) -> Job:
    """Puts in the queue the grading of a player's decisions in a file of hands."""
    hands = await _read(service, request, name, game)
    if player not in [known for known, _ in hands["players"]]:
        raise RefusedError(f"there is no player {player!r} in {name}")
    records = [record for record in hands["records"] if player in record.get("names", [])]
    params = {"player": player, "records": records, "problems": hands["problems"]}
    return service.queue.submit(GRADE, f"{name}: {player}"[:100], params)


@router.get("/files/{job_id}/hand", responses=NOT_FOUND | REFUSED)
async def graded_hand(service: Server, job: FoundJob, record: Step) -> dict[str, Any]:
    """A hand of a graded file to look at."""
    params = _graded(service, job, record)
    view: dict[str, Any] = json.loads(await service.read("hand-view", params))
    return view


@router.get("/files/{job_id}/spot", responses=NOT_FOUND | REFUSED)
async def spot_of_graded(service: Server, job: FoundJob, record: Step, step: Step) -> dict[str, Any]:
    """The spot of the street of a decision in a graded file."""
    return await _spot(service, _graded(service, job, record) | {"step": step})


def _graded(service: Service, job: Job, number: int) -> dict[str, Any]:
    request = service.store.request(job.id)
    if job.kind != GRADE or number >= len(request["records"]):
        raise HTTPException(404, "there is no such hand")
    record = request["records"][number]
    return {"record": record, "seat": record["names"].index(request["player"])}
