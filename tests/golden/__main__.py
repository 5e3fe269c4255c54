"""`python -m tests.golden record FOLDER`, `compare FOLDER [--only PARTS] [--figures]`."""

import argparse
import difflib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.golden import database, interface, judged, pages, reports

PARTS: dict[str, Callable[[Path, Path], None]] = {
    "schema": database.record_schema,
    "help": interface.record_help,
    "routes": interface.record_routes,
    "pages": pages.record,
    "judge": judged.record,
    "doctor": reports.record_doctor,
    "tables": reports.record_tables,
    "example": reports.record_example,
    "real": reports.record_real,
}
FIGURES = ("example", "real")


def main() -> int:
    """Record, or compare with what was recorded; 1 where something differs."""
    parser = argparse.ArgumentParser("python -m tests.golden", description=__doc__)
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help=f"parts, of {','.join(PARTS)}")
    parser.add_argument("--figures", action="store_true", help="only the estimates of reports")
    parser.add_argument("--unordered", action="store_true", help="whatever order estimates have")
    parser.add_argument("--lines", type=int, default=12, help="lines of diff for each artefact")
    parser.add_argument("--keep", type=Path, help="leave what is compared in this new folder")
    options = parser.parse_args()
    parts = options.only.split(",") if options.only else list(PARTS)
    if options.figures:
        parts = [part for part in parts if part in FIGURES]
    if options.what == "record":
        _record(parts, options.folder.resolve())
        return 0
    with tempfile.TemporaryDirectory(prefix="golden-") as temporary:
        fresh = (options.keep or Path(temporary) / "fresh").resolve()
        _record(parts, fresh)
        compare = _compare_figures if options.figures else _compare
        if options.unordered:
            _sort_estimates(fresh)
            before = Path(temporary) / "before"
            shutil.copytree(options.folder, before)
            _sort_estimates(before)
            options.folder = before
        return sum(compare(options.folder / p, fresh / p, options.lines) for p in parts) > 0


def _record(parts: list[str], folder: Path) -> None:
    for part in parts:
        began = time.monotonic()
        shutil.rmtree(folder / part, ignore_errors=True)
        (folder / part).mkdir(parents=True)
        with tempfile.TemporaryDirectory(prefix="golden-work-") as work:
            PARTS[part](Path(work), folder / part)
        print(f"{part}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def _sort_estimates(folder: Path) -> None:
    for path in folder.rglob("report.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        document["estimates"].sort(key=lambda each: json.dumps(each, sort_keys=True))
        path.write_text(json.dumps(document, indent=1, sort_keys=True), encoding="utf-8")
    for path in folder.rglob("estimates.csv"):
        path.write_text("\n".join(sorted(path.read_text(encoding="utf-8").splitlines())))


def _compare(before: Path, after: Path, lines: int) -> int:
    names = {
        p.relative_to(root) for root in (before, after) for p in root.rglob("*") if p.is_file()
    }
    differing = 0
    for name in sorted(names):
        old, new = before / name, after / name
        label = f"{before.name}/{name}"
        if not (old.exists() and new.exists()):
            print(f"{'GONE' if old.exists() else 'NEW'}  {label}")
            differing += 1
        elif old.read_bytes() != new.read_bytes():
            print(f"DIFFERS  {label}")
            texts = (old.read_text().splitlines(), new.read_text().splitlines())
            shown = list(difflib.unified_diff(*texts, "before", "after", lineterm="", n=1))
            for line in shown[: lines + 2]:
                print(f"    {line[:300]}")
            if len(shown) > lines + 2:
                print(f"    ... {len(shown) - lines - 2} more lines")
            differing += 1
    print(f"{before.name}: {len(names)} artefacts, {differing} differ")
    return differing


# What an estimate is of, and what it says.
_OF = ("statistic", "constructs", "scorers", "systems", "scope", "target", "params")
_SAYS = (
    "value", "ci_low", "ci_high", "ci_level", "n_responses", "n_queries", "n_raters", "n_dropped",
)  # fmt: skip


def _compare_figures(before: Path, after: Path, lines: int) -> int:
    differing = 0
    for path in sorted(before.rglob("report.json")):
        name = path.relative_to(before)
        old, new = _figures(path), _figures(after / name)
        gone, added = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
        changed = sorted(k for k in old.keys() & new.keys() if old[k] != new[k])
        print(
            f"{before.name}/{name}: {len(old)} figures, {len(changed)} changed, {len(gone)} gone, "
            f"{len(added)} new"
        )
        for title, keys in (("CHANGED", changed), ("GONE", gone), ("NEW", added)):
            for key in keys[:lines]:
                print(f"    {title} {key}\n        {old.get(key)} -> {new.get(key)}")
        differing += len(changed) + len(gone)
    return differing


def _figures(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for estimate in json.loads(path.read_text(encoding="utf-8"))["estimates"]:
        of = json.dumps([estimate.get(k) for k in _OF], sort_keys=True)
        says: Any = [estimate.get(k) for k in _SAYS]
        found.setdefault(of, []).append(json.dumps(says))
    return {of: sorted(says) for of, says in found.items()}


if __name__ == "__main__":
    sys.exit(main())
