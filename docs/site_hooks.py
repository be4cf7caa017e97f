"""What MkDocs does not do by itself.

New guides and algorithms in the navigation, pages from the repository's root, what modules say about themselves on the
pages of algorithms, formulas without JavaScript.
"""

from __future__ import annotations

import ast
import html
import re
import textwrap
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
STATED = {"Reference", "Deviations", "Status"}
PACKAGES = ("solvers", "search", "learning", "agents", "arena")  # where algorithms are; games have their own page
OTHERS = "<!-- other modules -->"
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

_ROOT_LINK = re.compile(rf"\]\((?:\.\./)+({'|'.join(re.escape(name) for name in PAGES)})(#[^)]*)?\)")
_ARITHMATEX = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)
_NOTEBOOK_TEXT = re.compile(r'(<div class="jp-RenderedHTMLCommon[^>]*text/markdown"[^>]*>)(.*?)(</div>)', re.S)
_SCRIPT = re.compile(r"<script\b.*?</script>", re.S)
_SOURCE = re.compile(r"^Source: (.+)\.$", re.M)
_BLOCK = re.compile(r"^(Algorithm|Reference|Deviations|Status):[ \n](.*?)(?=^\w+:[ \n]|\Z)", re.M | re.S)
_DOLLARS = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<line>[^$\n]+?)\$", re.S)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds guides and algorithms that mkdocs.yml does not place to the end of theirs."""
    assert config.nav is not None
    placed = str(config.nav)
    for title, folder in (("Guides", ""), ("Algorithms", "algorithms/")):
        section = next(section[title] for section in config.nav if title in section)
        pages = [f"{folder}{page.name}" for page in sorted((ROOT / "docs" / folder).glob("*.md"))]
        section += [page for page in pages if f"'{page}'" not in placed]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that live in the repository's root."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text().replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Leads links to the repository's root to the pages of the site; adds what the modules of an algorithm say."""
    if page.file.src_uri.startswith("algorithms/"):
        markdown = _SOURCE.sub(lambda _: "\n\n".join(map(module_text, source_modules(markdown))), markdown)
    if page.file.src_uri == "algorithms.md":
        markdown = markdown.replace(OTHERS, "\n\n".join(map(module_text, other_modules())))
    top = "../" * page.file.src_uri.count("/")
    return _ROOT_LINK.sub(lambda link: f"]({top}{PAGES[link[1]]}{link[2] or ''})", markdown)


def on_page_content(content: str, page: Page, **_: Any) -> str:
    """Turns LaTeX into MathML, on pages and in the text of notebooks; drops notebooks' scripts, which fetch others."""
    if page.file.src_uri.endswith(".ipynb"):
        content = _SCRIPT.sub("", content)
    content = _ARITHMATEX.sub(lambda found: _mathml(found[2], block=found[1] == "div"), content)
    return _NOTEBOOK_TEXT.sub(lambda cell: cell[1] + _DOLLARS.sub(_formula, cell[2]) + cell[3], content)


def source_modules(markdown: str) -> list[str]:
    """Returns the modules that a page names in its line `Source:`; `package.*` is all of its that state a reference."""
    found = []
    for name in re.findall(r"`([\w.*]+)`", " ".join(_SOURCE.findall(markdown))):
        package = name.removesuffix(".*")
        files = sorted((ROOT / "src" / package.replace(".", "/")).glob("[a-z]*.py")) if package != name else []
        named = [f"{package}.{file.stem}" for file in files] or [name]
        found += [module for module in named if module == name or set(module_blocks(module)) >= STATED]
    return found


def other_modules() -> list[str]:
    """Returns the modules that state a reference, deviations and a status, and that no page names as its source."""
    pages = (ROOT / "docs" / "algorithms").glob("*.md")
    named = {module for page in pages for module in source_modules(page.read_text())}
    files = [path for package in PACKAGES for path in sorted((ROOT / "src" / "aleator" / package).rglob("*.py"))]
    modules = [".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in files]
    return [module for module in modules if module not in named and set(module_blocks(module)) >= STATED]


def module_blocks(name: str) -> dict[str, str]:
    """Returns a module docstring's blocks by title (Algorithm, Reference, Deviations, Status), its first line as ""."""
    path = ROOT / "src" / (name.replace(".", "/") + ".py")
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    text = re.sub(r"^\*(\w+)\.\*", r"\1:", text, flags=re.M)
    blocks = {block[1]: textwrap.dedent(block[2]).strip() for block in _BLOCK.finditer(text)}
    return {"": text.partition("\n")[0]} | blocks


def module_text(name: str) -> str:
    """Returns what a module says about itself, as Markdown."""
    blocks = module_blocks(name)
    parts = [f"### `{name}`", blocks[""]]
    if "Algorithm" in blocks:
        opened = "<details markdown='1'><summary>The algorithm, as the source has it</summary>"
        parts.append(f"{opened}\n\n```text\n{blocks['Algorithm']}\n```\n\n</details>")
    for title in ("Reference", "Deviations", "Status"):
        if title in blocks:
            told = re.sub(r"^none", "None", re.sub(r"\s*\n\s*", " ", blocks[title]))
            parts.append(f"**{title}.** {html.escape(told, quote=False)}")
    return "\n\n".join(parts)


def _formula(found: re.Match[str]) -> str:
    return _mathml(found["block"] or found["line"], block=found["block"] is not None)


def _mathml(latex: str, *, block: bool) -> str:
    return convert(html.unescape(latex).strip(), display="block" if block else "inline")
