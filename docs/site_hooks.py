"""What MkDocs does not do by itself: new guides in the navigation, pages from the root, formulas without JavaScript."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

_ROOT_LINK = re.compile(rf"\]\((?:\.\./)+({'|'.join(re.escape(name) for name in PAGES)})(#[^)]*)?\)")
_ARITHMATEX = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)
_NOTEBOOK_TEXT = re.compile(r'(<div class="jp-RenderedHTMLCommon[^>]*text/markdown"[^>]*>)(.*?)(</div>)', re.S)
_SCRIPT = re.compile(r"<script\b.*?</script>", re.S)
_DOLLARS = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<line>[^$\n]+?)\$", re.S)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds guides that mkdocs.yml does not place to the end of the guides."""
    assert config.nav is not None
    placed = str(config.nav)
    guides = next(section["Guides"] for section in config.nav if "Guides" in section)
    guides += [page.name for page in sorted((ROOT / "docs").glob("*.md")) if f"'{page.name}'" not in placed]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that live in the repository's root."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text().replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Leads links to the repository's root to the pages of the site."""
    top = "../" * page.file.src_uri.count("/")
    return _ROOT_LINK.sub(lambda link: f"]({top}{PAGES[link[1]]}{link[2] or ''})", markdown)


def on_page_content(content: str, page: Page, **_: Any) -> str:
    """Turns LaTeX into MathML, on pages and in the text of notebooks; drops the scripts of notebooks, which fetch others."""
    if page.file.src_uri.endswith(".ipynb"):
        content = _SCRIPT.sub("", content)
    content = _ARITHMATEX.sub(lambda found: _mathml(found[2], block=found[1] == "div"), content)
    return _NOTEBOOK_TEXT.sub(lambda cell: cell[1] + _DOLLARS.sub(_formula, cell[2]) + cell[3], content)


def _formula(found: re.Match[str]) -> str:
    return _mathml(found["block"] or found["line"], block=found["block"] is not None)


def _mathml(latex: str, *, block: bool) -> str:
    return convert(html.unescape(latex).strip(), display="block" if block else "inline")
