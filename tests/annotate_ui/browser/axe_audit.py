"""axe-core on the page that is open."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.conftest import absent

_SCRIPT = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.map(({ id, impact, help, nodes }) => ({
    id, impact, help,
    nodes: nodes.map((node) => `${node.target.join(" ")}: ${node.failureSummary}`),
  }));
}"""
_GRAVE = {"serious", "critical"}
# Moderate to axe-core, yet people who go from landmark to landmark miss what is in none.
_GRAVE_BY_RULE = {"region"}


@cache
def _axe() -> str:
    if not _SCRIPT.is_file():
        absent("axe-core is not installed: npm ci --prefix tests/annotate_ui/browser")
    return _SCRIPT.read_text(encoding="utf-8")


def grave_violations(page: Page) -> str:
    """Return what axe-core finds serious, critical or outside of landmarks, "" if nothing."""
    # Evaluated, not added as a script element: the page's policy forbids those.
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(_axe())
    violations: list[dict[str, Any]] = page.evaluate(_RUN)
    grave = [
        violation
        for violation in violations
        if violation["impact"] in _GRAVE or violation["id"] in _GRAVE_BY_RULE
    ]
    return json.dumps(grave, indent=1, ensure_ascii=False) if grave else ""
