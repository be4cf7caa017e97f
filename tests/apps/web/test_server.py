"""The application builds what it checks requests with, without a word in the terminal."""

from __future__ import annotations

import warnings
from pathlib import Path

from aleator.apps.web.config import ServerConfig
from aleator.apps.web.server import create_api


def test_models_of_requests_are_built_without_a_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paths = create_api(ServerConfig(data_dir=tmp_path)).openapi()["paths"]
    assert "requestBody" in paths["/api/jobs/solve"]["post"]
