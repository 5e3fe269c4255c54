"""Reports of the example, of published data and of degenerate tables; what plans and checks say."""

import json
from pathlib import Path

from tests.golden import normal, tables
from tests.golden.product import EXAMPLE, SHARED_DATA, ccrs

RESAMPLES = ("--resamples", "100")
# The files that a page carries for download are held by themselves.
_CARRIED = (r'href="data:text/csv;[^"]+"', 'href="DATA"')
_SECONDS = (r"\b\d+(\.\d+)? (s|seconds?)\b", "SECONDS")


def record_example(work: Path, out: Path) -> None:
    """Record the demo's report, and the example's with other options."""
    said = ccrs("demo", "--keep", "demo", cwd=work)
    _keep(said, work / "demo" / "report", work, out / "demo")
    said = ccrs("check", "demo", "--baseline", "demo/report/report.json", cwd=work)
    _write(out / "check-without-thresholds.txt", said, work)
    with (work / "demo" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(
            '[[check]]\nstatistic = "krippendorff_alpha"\nconstruct_key = "AC"\nminimum = 0.5\n'
            'params = { level = "interval" }\n'
            '[[check]]\nstatistic = "pearson"\nscope = "pooled"\nminimum = 0.9\n'
        )
    said = ccrs("check", "demo", "--baseline", "demo/report/report.json", cwd=work)
    _write(out / "check.txt", said, work)


def record_real(work: Path, out: Path) -> None:
    """Record the reports of NQ301 and RAGChecker."""
    for name, folder in (
        ("openqa-nq301", "openqa_nq301"),
        ("ragchecker-meta", "ragchecker_meta"),
    ):
        said = ccrs("fetch", name, name, "--from", SHARED_DATA / folder, cwd=work)
        _write(out / f"{name}-fetch.txt", said, work)
        said = ccrs("report", name, *RESAMPLES, "--out", f"{name}-report", cwd=work)
        _keep(said, work / f"{name}-report", work, out / name)


def record_tables(work: Path, out: Path) -> None:
    """Record the reports of small tables."""
    tables.write_all(work)
    for name, (_, options) in tables.CASES.items():
        if name == "no-people":
            options = (*options, "--no-verify")  # noqa: PLW2901
        said = ccrs(
            "report", f"{name}.csv", *options, *RESAMPLES, "--out", f"{name}-report", cwd=work
        )
        _keep(said, work / f"{name}-report", work, out / name)


def record_doctor(work: Path, out: Path) -> None:
    """Record what the doctor says of tables and files, and plans."""
    tables.write_all(work)
    for name in ("nominal", "ragged", "one-rater", "adjudicated"):
        _write(out / f"doctor-{name}.txt", ccrs("doctor", f"{name}.csv", cwd=work), work)
    _write(out / "doctor-preferences.txt", ccrs("doctor", "preferences.csv", cwd=work), work)
    for name in ("responses.jsonl", "scores.csv", "training.jsonl"):
        _write(out / f"doctor-{name}.txt", ccrs("doctor", EXAMPLE / name, cwd=work), work)
    said = ccrs("doctor", "ragged.csv", "--scale", "0:100", "--json", cwd=work)
    _write(out / "doctor-ragged-json.txt", said, work)
    small = ("--runs", "4", "--queries", "20,40", "--raters", "2,3", "--judged", "60")
    said = ccrs(
        "plan", "--components", "rater=8,judge=15", *small, "--scale", "0:100",
        "--wanted", "bias=4", "--out", "plan.svg", cwd=work,
    )  # fmt: skip
    _write(out / "plan-components.txt", said, work)
    _write(out / "plan.svg", normal.taken(work / "plan.svg"), work)
    said = ccrs("plan", "five-levels.csv", "--scale", "1:5:1:ordinal", *small, "--json", cwd=work)
    _write(out / "plan-pilot.txt", said, work)


def _keep(said: str, report: Path, work: Path, out: Path) -> None:
    _write(out / "terminal.txt", said, work)
    if not (report / "report.json").exists():
        return
    document = json.loads((report / "report.json").read_text(encoding="utf-8"))
    _write(out / "report.json", normal.pretty(document), work)
    _write(out / "report.html", (report / "report.html").read_text(encoding="utf-8"), work)
    for table in sorted((report / "tables").glob("*")):
        _write(out / "tables" / table.name, table.read_text(encoding="utf-8"), work)


def _write(path: Path, raw: str, work: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(normal.text(raw, work, _SECONDS, _CARRIED), encoding="utf-8")
