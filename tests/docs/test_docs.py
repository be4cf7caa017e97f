"""The documentation is true: its code runs and prints what it says, its tables, names, links and files exist."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aleator import __version__
from aleator.agents import known_agents
from aleator.apps.cli.main import main
from aleator.games import known_games, load_game
from aleator.solvers.algorithms import ALGORITHMS, find_algorithm
from aleator.solvers.limits import Limits
from aleator.solvers.solve import make_solver, solve
from aleator.trees import build_tree
from tests.docs import algorithm_tables
from tests.trees.ties import other_rounding

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]

# commands that take minutes: here it is checked only that what they name exists
LONG = ("paper", "bench", "demo", "train")
SHORT_TRAINING = "docs/rebel.md"  # its runs take a second
MORE_SIZES = ("leduc:nolimit10", "liars-dice:1x8", "goofspiel:5,descending", "goofspiel:6", "matrix:100x100")
VALUES = {
    "kuhn": "−1/18", "one-card:5": "−1/15", "leduc": "−0.085606424", "leduc:5": "−0.120167",
    "leduc:nolimit": "−0.080417285", "leduc:nolimit10": "−0.069430337", "liars-dice:1x4": "1/16",
    "liars-dice:1x5": "1/125", "liars-dice:1x6": "−7/258", "liars-dice:2x3": "5/81", "goofspiel:4": "0",
    "goofspiel:5": "0", "goofspiel:6": "0", "goofspiel:5,descending": "0", "coin-toss": "0", "rps-plus": "0",
    "matrix:100x100": "0.004160602",
}  # fmt: skip
SLOW_VALUES = ("leduc:5", "leduc:nolimit10", "liars-dice:1x6", "liars-dice:2x3", "goofspiel:6")


class Block(NamedTuple):
    """A fenced block of a page: its language, text, line number, and the HTML comment right above it."""

    language: str
    text: str
    line: int
    comment: str


def blocks(page: Path) -> list[Block]:
    """Returns the fenced blocks of a page in order."""
    found, lines = [], page.read_text().splitlines()
    start = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start = number
        else:
            comment = lines[start - 1] if start and lines[start - 1].startswith("<!--") else ""
            text = "".join(row + "\n" for row in lines[start + 1 : number])
            found.append(Block(lines[start][3:], text, start + 1, comment))
            start = None
    assert start is None, f"{page.name}: the block that begins at line {start} has no end"
    return found


def prose(page: Path) -> str:
    """Returns a page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)


def commands(block: Block) -> list[list[str]]:
    """Returns the lines of a shell block that call `aleator`, as lists of arguments."""
    lines = [shlex.split(line, comments=True) for line in block.text.replace("\\\n", " ").splitlines()]
    return [words[1:] for words in lines if words and words[0].removeprefix(".venv/bin/") == "aleator"]


def run_command(arguments: list[str]) -> tuple[int, str]:
    """Returns the exit code of a command and what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), pytest.raises(SystemExit) as exit:
        main(arguments)
    return int(exit.value.code or 0), printed.getvalue()


_MEASURED = re.compile(r"\d(?:\.\d+)?e-\d+")


def same(expected: str, printed: str) -> bool:
    """Returns whether a text is as expected: spaces do not count, `...` is anything, 2e-04 half to twice as much.

    Numbers written like that say how far a solve has come; where regrets tie, that depends on how a processor rounds.
    """
    expected, printed = " ".join(expected.split()), " ".join(printed.split())
    literals = [re.escape(part).replace(re.escape("..."), ".*?") for part in _MEASURED.split(expected)]
    match = re.fullmatch(f"({_MEASURED.pattern})".join(literals), printed)
    if match is None:
        return False
    pairs = zip(_MEASURED.findall(expected), match.groups(), strict=True)
    return all(0.5 <= float(found) / float(wanted) <= 2 for wanted, found in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_code_runs_and_prints_what_the_page_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "examples"))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    page, names = ROOT / name, {"__name__": "page"}
    printed = ""
    for block in blocks(page):
        place = f"{name}, line {block.line}"
        if block.language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(block.text, place, "exec"), names)
            printed = output.getvalue()
        elif block.language == "sh":
            printed = ""
            for arguments in commands(block):
                if arguments and arguments[0] in LONG and name != SHORT_TRAINING:
                    continue
                code, text = run_command(arguments)
                assert code == (2 if text.startswith("error:") else 0), (
                    f"{place}: {arguments} ended with {code}: {text}"
                )
                printed += text
        elif block.language == "text":
            assert same(block.text, printed), f"{place}: the page says\n{block.text}\nbut it prints\n{printed}"


def test_the_comparison_of_texts_can_fail() -> None:
    assert same("a ... c\nd", "a b  c d\n")
    assert not same("a ... c", "a b d")
    assert not same("0.5", "0x5")
    assert same("a 2e-04, b ...", "a 1.3e-4, b 7")
    assert not same("a 2e-04, b", "a 9e-05, b")
    assert not same("a 2e-04, b", "a 5e-04, b")
    assert not same("a 2e-04, b", "a 2e-04, c")


@pytest.mark.parametrize("name", NAMES)
def test_long_commands_exist(name: str) -> None:
    called = [arguments for block in blocks(ROOT / name) if block.language == "sh" for arguments in commands(block)]
    called += [shlex.split(call) for call in re.findall(r"`aleator ([^`]+)`", prose(ROOT / name))]
    for verb, *rest in [arguments for arguments in called if arguments and arguments[0] in LONG]:
        names = [word for word in rest if not word.startswith("-") and word.upper() != word][:1]
        code, text = run_command([verb, "--help"] if verb in ("demo", "train") else [verb, "--json"])
        assert code == 0
        assert all(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) for word in names), (
            f"{name}: aleator {verb} knows no {names}: {text}"
        )


def test_examples_are_on_the_pages_as_they_are() -> None:
    shown: dict[str, str] = {}
    for page in PAGES:
        for block in blocks(page):
            if match := re.fullmatch(r"<!-- file: (\S+) -->", block.comment):
                shown[match[1]] = block.text
    assert set(shown) == {path.relative_to(ROOT).as_posix() for path in EXAMPLES}
    for name, text in shown.items():
        assert text == (ROOT / name).read_text(), f"{name} is not what the page shows"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 60


def size_table() -> str:
    """Returns the table of docs/games.md as it should be."""
    rows = json.loads(run_command(["games", "--json"])[1])
    for name in MORE_SIZES:
        rows += json.loads(run_command(["games", name, "--json"])[1])
    rows.sort(key=lambda row: (_family_place(row["game"]), row["infostates"], row["histories"]))
    lines = ["| game | public states | histories | infostates | value |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        counts = " | ".join(f"{row[column]:,}" for column in ("public_states", "histories", "infostates"))
        lines.append(f"| `{row['game']}` | {counts} | {VALUES.get(row['game'], '')} |")
    return "\n".join(lines)


def _family_place(name: str) -> int:
    return [known.family for known in known_games()].index(name.partition(":")[0])


def test_sizes_are_those_of_the_games() -> None:
    page = (ROOT / "docs" / "games.md").read_text()
    table = page.partition("<!-- sizes -->")[2].partition("<!-- /sizes -->")[0].strip()
    assert table == size_table(), f"docs/games.md should have\n{size_table()}"


def check_value(name: str) -> None:
    """Checks a value in the table of sizes against the linear program, to the digits that are given."""
    text = VALUES[name].replace("−", "-")
    numerator, _, denominator = text.partition("/")
    expected = float(numerator) / float(denominator or 1)
    digits = 9 if denominator or text == "0" else len(text.partition(".")[2])
    assert solve(name, "lp").summary.value == pytest.approx(expected, abs=0.6 * 10**-digits)


@pytest.mark.parametrize("name", [name for name in VALUES if name not in SLOW_VALUES])
def test_values_are_exact(name: str) -> None:
    check_value(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SLOW_VALUES if name != "goofspiel:6"])
def test_values_of_bigger_games_are_exact(name: str) -> None:
    check_value(name)


def first_cells(text: str) -> list[str]:
    """Returns the names in backticks in the first column of all tables of a text."""
    cells = re.findall(r"^\| (`[^|]*`) \|", text, flags=re.M)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("page", ["docs/algorithms.md", "README.md"])
def test_algorithms_are_those_that_can_be_typed(page: str) -> None:
    text = prose(ROOT / page)
    if page == "README.md":
        text = text.partition("## Algorithms")[2].partition("\n## ")[0]
    names = set(first_cells(text))
    assert set(ALGORITHMS) <= names
    settings = {one.usage.replace("|", "\\|") for known in ALGORITHMS.values() for one in known.settings}
    for name in names - settings - {"dcfr:A,B,G"}:
        find_algorithm(name)


def test_tables_of_algorithms_are_those_of_the_registry() -> None:
    made = algorithm_tables.page()
    assert made == algorithm_tables.PAGE.read_text(), "python -m tests.docs.algorithm_tables writes them"
    assert set(algorithm_tables.BLOCK.findall(made)) == {known.family.title for known in ALGORITHMS.values()}


def comparison() -> list[tuple[str, str, float, float]]:
    """Returns (algorithm, game, least, most) for each cell of the table of exploitabilities."""
    table = (ROOT / "docs" / "algorithms.md").read_text().partition("<!-- comparison -->")[2].partition("<!-- /")[0]
    head, _, *rows = [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in table.strip().splitlines()]
    found = []
    for algorithm, *cells in rows:
        for game, cell in zip(head[1:], cells, strict=True):
            least, _, most = cell.removeprefix("<").partition(" to ")
            found.append((algorithm, game, 0.0 if cell.startswith("<") else float(least), float(most or least)))
    return found


def test_algorithms_compare_as_the_page_says() -> None:
    scores: dict[tuple[str, str], float] = {}
    for algorithm, game, least, most in comparison():
        found = scores[game, algorithm] = solve(game, algorithm, limits=Limits(iterations=1000)).summary.exploitability
        slack = 1.25 if least == most else 2.0
        assert least / slack <= found <= most * slack, f"{algorithm} on {game}: {found}"
    games, algorithms = {game for game, _ in scores}, {algorithm for _, algorithm in scores}
    swept = {name for name, known in ALGORITHMS.items() if known.family.title not in ("Sampling", "Pruning", "Exact")}
    assert algorithms >= swept
    for game in games:
        if game != "goofspiel:4":
            assert scores[game, "hs-dcfr"] > scores[game, "dcfr"]
        if game == "leduc":
            assert scores[game, "dcfr"] < min(scores[game, "pdcfr+"], scores[game, "hs-pcfr+"]) / 4
        else:
            assert max(scores[game, "pdcfr+"], scores[game, "hs-pcfr+"]) < scores[game, "dcfr"] / 100


@pytest.mark.slow
@pytest.mark.parametrize("game", ["kuhn", "leduc", "liars-dice:1x4", "goofspiel:4"])
def test_rounding_changes_what_algorithms_reach_as_much_as_the_page_says(game: str) -> None:
    tree = build_tree(load_game(game))
    for algorithm, _, least, most in [row for row in comparison() if row[1] == game]:
        found = []
        for seed in range(12):
            solver = make_solver(other_rounding(tree, seed), algorithm)
            solver.run(1000)
            found.append(solver.nash_conv() / 2)
        slack = 1.25 if least == most else 2.0
        assert least / slack <= min(found) and max(found) <= most * slack, f"{algorithm} on {game}: {found}"
        assert max(found) >= most / 5 or most <= 1e-12, f"{algorithm} on {game}: the page allows too much"
        assert min(found) <= least * 5, f"{algorithm} on {game}: the page allows too much"


def test_experiments_on_their_page_are_those_that_can_be_run() -> None:
    names = [known["name"] for known in json.loads(run_command(["paper", "--json"])[1])]
    assert first_cells(prose(ROOT / "docs" / "papers.md")) == names
    assert f"lists {len(names)} experiments" in prose(ROOT / "README.md")


def test_games_of_the_readme_are_those_that_can_be_typed() -> None:
    text = prose(ROOT / "README.md").partition("## Games")[2].partition("\n## ")[0]
    families = {name.partition(":")[0] for name in first_cells(text)}
    assert families == {known.family for known in known_games()}


def test_agents_are_those_that_can_be_typed() -> None:
    table = prose(ROOT / "docs" / "search.md").partition("| agent | what it does |")[2].partition("\n\n")[0]
    assert re.findall(r"`([^`]+)`", table) == [known.usage for known in known_agents()]


def test_every_package_has_its_place_in_the_architecture() -> None:
    layers = (ROOT / "docs" / "architecture.md").read_text().partition("## Layers")[2].partition("\n## ")[0]
    source = ROOT / "src" / "aleator"
    packages = [f"aleator.{path.parent.name}" for path in source.glob("*/__init__.py")]
    engines = [path.parent.name for path in source.glob("solvers/engines/*/__init__.py")]
    assert len(packages) > 5 and len(engines) > 3
    for name in packages + engines:
        assert re.search(rf"\b{re.escape(name)}\b", layers), name


@pytest.mark.parametrize("name", NAMES)
def test_what_a_page_names_exists(name: str) -> None:
    page, text = ROOT / name, prose(ROOT / name)
    for dotted in set(re.findall(r"`(aleator(?:\.\w+)+)`", text)):
        resolve(dotted)
    for path in set(re.findall(r"`((?:src|tests|docs|examples|benchmarks)/[\w./-]+)`", text)):
        assert (ROOT / path).exists(), f"{name} names {path}"
    for target in set(re.findall(r"\]\(([^)]+)\)", text)):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path) if path else page
        assert linked.exists(), f"{name} links to {target}"
        if anchor:
            assert anchor in anchors(linked), f"{name} links to {target}, there are {anchors(linked)}"


def resolve(dotted: str) -> Any:
    """Returns the module or object of a dotted name; raises if there is none."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            found: Any = importlib.import_module(".".join(parts[:length]))
            for part in parts[length:]:
                found = getattr(found, part)
            return found
    raise ModuleNotFoundError(dotted)


def anchors(page: Path) -> set[str]:
    """Returns the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_tests_that_modules_name_exist() -> None:
    named = {
        (source.relative_to(ROOT).as_posix(), name)
        for source in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"\btests/[\w/]+\.py", source.read_text())
    }
    assert len(named) > 50
    assert [pair for pair in sorted(named) if not (ROOT / pair[1]).is_file()] == []


def test_tests_of_the_page_on_robustness_exist() -> None:
    rows = [line.split(" | ") for line in prose(ROOT / "docs" / "robustness.md").splitlines() if line.startswith("| ")]
    cells = [cell for row in rows for cell in row[1:]]
    named = [name for cell in cells for name in re.findall(r"`([\w/]+\.py(?:::\w+)?)`", cell)]
    assert len(named) > 70
    for name in named:
        path, _, function = name.partition("::")
        text = (ROOT / "tests" / path).read_text()
        assert f"def {function}" in text, f"there is no test {name}"


def test_versions_agree() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__
    assert re.search(rf"^version: {re.escape(__version__)}$", (ROOT / "CITATION.cff").read_text(), flags=re.M)
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_every_make_target_named_exists() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for page in PAGES:
        named = set(re.findall(r"`make ([\w-]+)`|^make ([\w-]+)", page.read_text(), flags=re.M))
        assert {first or second for first, second in named} <= targets, page.name
