"""Training runs on disk: directories with `metrics.jsonl` and `config.json`, read as they grow; shipped networks'."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

from aleator import shipped
from aleator.apps.web.models_play import Run, RunCurves
from aleator.apps.web.worker.channel import Channel
from aleator.caching import lru_cache
from aleator.storage import ArrayFile

MAX_RUNS = 200
KEPT = 400
MAX_POINTS = 2000
MAX_BYTES = 64 << 20
LIVE_SECONDS = 120.0
SHIPPED = "shipped"


def list_runs(params: dict[str, Any], channel: Channel) -> list[dict[str, Any]]:
    """Returns the runs below `root`, without their curves."""
    runs = []
    for name, path in run_files(Path(params["root"])).items():
        state = path.stat()
        runs.append(_brief(name, path, state.st_mtime_ns, state.st_size) | {"live": _is_live(path)})
    return runs


@lru_cache(maxsize=KEPT)
def _brief(name: str, path: Path, changed: int, size: int) -> dict[str, Any]:
    return Run.model_validate(read_run(name, path).model_dump(exclude={"columns"})).model_dump()


def find_run(params: dict[str, Any], channel: Channel) -> str | None:
    """Returns the file with the metrics of the run `name` below `root`, None if there is no such run."""
    path = run_files(Path(params["root"])).get(params["name"])
    return None if path is None else str(path)


def show_run(params: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Returns the run `name` with its curves, from the metrics in `file`."""
    return read_run(params["name"], Path(params["file"])).model_dump()


def run_files(root: Path) -> dict[str, Path]:
    """Returns runs' metrics by name: of folders one or two levels down, the newest first, then of shipped networks."""
    files: dict[str, Path] = {}
    for pattern in ("*/metrics.jsonl", "*/*/metrics.jsonl"):
        for path in sorted(root.glob(pattern)):
            files["/".join(path.parent.relative_to(root).parts)] = path
    newest = sorted(files.items(), key=lambda item: -item[1].stat().st_mtime)
    logs = {f"{SHIPPED}/{path.stem}": path for path in sorted(shipped.directory().glob("*.jsonl"))}
    return dict(newest[:MAX_RUNS]) | logs


def read_run(name: str, metrics: Path) -> RunCurves:
    """Returns a run with its curves; a line that is not whole yet is left for the next time."""
    rows = []
    with metrics.open("rb") as lines:
        for line in lines.read(MAX_BYTES).splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                rows.append(row)
    is_shipped = metrics.parent == shipped.directory()
    return RunCurves(
        name=name,
        updated=metrics.stat().st_mtime,
        points=len(rows),
        live=_is_live(metrics),
        last=rows[-1] if rows else {},
        config=_shipped_config(metrics) if is_shipped else _config(metrics.parent),
        columns=_columns(rows),
    )


def _is_live(metrics: Path) -> bool:
    return metrics.parent != shipped.directory() and time.time() - metrics.stat().st_mtime < LIVE_SECONDS


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _shipped_config(metrics: Path) -> dict[str, Any]:
    """Returns the settings and the report of a shipped network, which lies beside its log."""
    metadata = ArrayFile(metrics.with_suffix(".safetensors")).metadata
    config: dict[str, Any] = json.loads(metadata["config"]) | {"report": json.loads(metadata["report"])}
    return config


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[float | None]]:
    """Returns the numeric columns, thinned to at most `MAX_POINTS`; rare ones, as the exploitability, keep all."""
    names = list(dict.fromkeys(name for row in rows for name, value in row.items() if _is_number(value)))
    step = max(1, math.ceil(len(rows) / MAX_POINTS))
    kept = [
        row
        for at, row in enumerate(rows)
        if at % step == 0 or at + 1 == len(rows) or row.get("exploitability") is not None
    ]
    return {name: [_number(row.get(name)) for row in kept] for name in names}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> float | None:
    return float(value) if _is_number(value) and math.isfinite(value) else None
