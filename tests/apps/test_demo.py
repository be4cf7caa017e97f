"""The demonstration: a live line, the published numbers beside ours, a plot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aleator.apps.cli import demo
from aleator.apps.cli.main import main


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the demonstration shorter; the row that is compared with the paper stays as it is."""
    monkeypatch.setattr(demo, "_DICE_ITERATIONS", 300)
    monkeypatch.setattr(demo, "_LEDUC_ITERATIONS", 3000)


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Returns exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


def test_demo_shows_progress_and_published_numbers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"
    code, text, error = call(capsys, "demo", "--out", str(folder))
    assert code == 0, error
    assert [path.name for path in folder.iterdir()] == ["demo.png"]
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "0.002" in text and text.count("-0.085606") >= 4 and "NashConv / 2" in text
    lines = error.strip().splitlines()
    assert len(lines) >= 9 and all("exploitability" in line for line in lines)
    assert lines[0].startswith("liars-dice:1x6, lcfr: iteration")


def test_demo_solves_both_games(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, error = call(capsys, "demo", "--json")
    assert code == 0 and error == ""
    document = json.loads(text)
    assert document["picture"] is None
    rows = {(row["game"], row["algorithm"]): row for row in document["rows"]}
    assert len(rows) == 9
    table = rows["liars-dice:1x6", "lcfr"]
    assert table["iterations"] == 512 and table["published"] == 0.002
    assert round(table["exploitability"], 3) == 0.002, "as in ReBeL Table 2"
    for algorithm in ("cfr", "cfr+", "dcfr", "pcfr+"):
        assert rows["liars-dice:1x6", algorithm]["exploitability"] < 0.012
        leduc = rows["leduc", algorithm]
        assert leduc["published"] == -0.085606
        assert leduc["value"] == pytest.approx(leduc["published"], abs=1e-3)
    assert rows["leduc", "dcfr"]["value"] == pytest.approx(-0.085606, abs=2e-5)
    assert rows["leduc", "dcfr"]["exploitability"] < 1e-4 < rows["leduc", "cfr"]["exploitability"]


def test_a_plot_that_cannot_be_written_ends_the_demo_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "demo.png").mkdir()
    code, text, error = call(capsys, "demo", "--out", str(tmp_path))
    assert (code, text) == (2, "") and "it is a directory" in error
