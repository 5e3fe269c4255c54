"""The page in a real browser: nothing is wider than the window, nothing is fetched or run."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from study.cli.root import cli
from tests.conftest import absent

# The page of the example takes seconds to make: one test of its text is beside those that draw it.
pytestmark = pytest.mark.browser

# The page stands in a frame of the wanted width, since a headless window has a least width.
FRAME = """<!doctype html><meta charset="utf-8"><body>
<iframe id="page" style="width:{width}px;height:2000px;border:0" srcdoc="{page}"></iframe>
<pre id="found"></pre>
<script>
addEventListener("load", () => {{
  const inside = document.getElementById("page").contentDocument;
  const wide = [...inside.querySelectorAll("body *")].filter((element) => {{
    if (element.closest("svg") && element.tagName !== "svg") return false;
    for (let p = element.parentElement; p; p = p.parentElement)
      if (["auto", "scroll"].includes(inside.defaultView.getComputedStyle(p).overflowX))
        return false;
    return element.getBoundingClientRect().right > {width} + 1;
  }});
  document.getElementById("found").textContent = JSON.stringify({{
    width: inside.documentElement.scrollWidth,
    wide: wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 120)),
    over: [...inside.querySelectorAll(".answers td")]
      .filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent),
    figures: inside.querySelectorAll("svg").length,
    scripts: inside.querySelectorAll("script").length,
  }});
}});
</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("demo") / "report"
    result = CliRunner().invoke(cli, ["demo", "--no-verify", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_window(page: str, width: int, tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        absent("chromium is not installed")
        return
    framed = tmp_path / "framed.html"
    unfolded = page.replace("<details", "<details open")
    framed.write_text(FRAME.format(width=width, page=html.escape(unfolded)), encoding="utf-8")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
        framed.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    assert match, done.stderr
    record = json.loads(html.unescape(match.group(1)))
    assert record["wide"] == []
    assert record["over"] == []
    assert record["width"] <= width
    assert record["figures"] >= 10
    assert record["scripts"] == 0


def test_the_page_asks_for_nothing_from_outside(page: str) -> None:
    addresses = re.findall(r"""\b(?:src|href|action)=["']([^"']+)|url\(["']?([^"')]+)""", page)
    addresses = [quoted or bare for quoted, bare in addresses]
    assert len(addresses) > 10
    assert all(address.startswith(("#", "tables/")) for address in addresses), addresses[:5]
    assert "@import" not in page
    assert "default-src 'none'" in page
