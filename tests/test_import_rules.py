"""The house's rule: which package may import which of ours."""

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = {"study", "judge", "annotate_ui", "analysis"}
ALLOWED = {
    "study": set(),
    "judge": {"study"},
    "annotate_ui": {"study", "analysis"},
    "analysis": set(),
}
# The rooms of a package from the bottom to the top: a module, or a folder with all below it. The
# longest name that fits decides, so that a part of a folder can be a room of its own.
ROOMS: dict[str, tuple[str, ...]] = {
    "analysis": (
        "core",
        "statistics.discrimination",
        "statistics.reliability",
        "statistics.stability",
        "statistics.missingness",
        "statistics.correction",
        "statistics.probes",
        "statistics.answer_correctness",
        "statistics.agreement",
        "statistics.binary",
        "statistics.calibration",
        "statistics.distribution",
        "statistics.validity",
        "statistics",
        "decisions",
        "render",
        "topics.distribution",
        "topics.correction",
        "topics.agreement",
        "topics.binary",
        "topics.reliability",
        "topics.calibration",
        "topics.slices",
        "topics.probes",
        "topics.discrimination",
        "topics.stability",
        "topics.judges",
        "topics.validity",
        "topics.expected_score",
        "topics.answer_correctness",
        "topics.missingness",
        "topics.runs",
        "topics",
        "pipeline",
        "planning",
        "gate",
        "doctor",
        "verify",
        "cli",
    ),
    "study": (
        *("base.declaration", "base.scales", "base.analysis_settings", "base.hypotheses"),
        *("base.published_figures", "base"),
        *("errors", "types", "columns", "text", "sentences", "progress_bar"),
        *("entry_points", "pyarrow_extra", "settings", "schema", "facts", "study", "status"),
        *("importing", "assignment", "export", "lifecycle", "datasets", "example", "cli"),
    ),
    "annotate_ui": (
        "participation",
        "participants",
        "tasks",
        "monitoring",
        "label_studio",
        "web.controls",
        "web.translation",
        "web",
        "web.rater",
        "web.owner",
        "web.app",
        "server",
        "cli",
    ),
    "judge": (
        "text",
        "parsing",
        "prompts",
        "protocol",
        "metrics",
        "perturbations",
        "run_settings",
        "engines",
        "running",
        "responding",
        "inspect",
        "cli",
    ),
}
PRESENT = [name for name in sorted(OURS) if (ROOT / name).is_dir()]
FOREIGN_TO_ANALYSIS = {"sqlmodel", "sqlalchemy", "alembic", "flask", "aiohttp", "flask_wtf", "vllm"}


BASE = "study.base"
"""What all packages may import: scales, and the settings that both study and analysis declare."""


def top(module: str) -> str:
    """Return the top-level name of a module, or the base, which is a part of a package."""
    return BASE if f"{module}.".startswith(f"{BASE}.") else module.split(".", maxsplit=1)[0]


def imported(path: Path) -> Iterator[str]:
    """Yield the top-level name of everything that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (top(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield top(node.module or "")


def files(package: str) -> list[Path]:
    # What is installed as `ccrs_study` joins the four packages and is in none of them.
    found = sorted((ROOT / package).rglob("*.py"))
    return [path for path in found if "python_api" not in path.parts]


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(package: str, module: str) -> int:
    """Return the position of a module's room among those of its package."""
    inside = module.removeprefix(f"{package}.")
    fitting = [name for name in ROOMS[package] if f"{inside}.".startswith(f"{name}.")]
    assert fitting, f"{module} is in no room of {package}: {', '.join(ROOMS[package])}"
    return ROOMS[package].index(max(fitting, key=len))


def imported_modules(path: Path, known: set[str]) -> Iterator[tuple[int, str]]:
    """Yield line and full name of every module that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield node.lineno, full if full in known else node.module


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_no_import_inside_a_package_goes_up(package: str) -> None:
    known = {dotted(path): path for path in files(package)}
    upward = []
    for module, path in known.items():
        if module == package:
            continue  # the package's public names, loaded on demand
        for line, target in imported_modules(path, set(known)):
            if target == package:
                upward.append(f"{path.relative_to(ROOT)}:{line} imports the package's root")
            elif target.startswith(f"{package}.") and room(package, target) > room(package, module):
                upward.append(f"{path.relative_to(ROOT)}:{line} imports {target}")
    assert not upward, "\n".join(upward)


def test_no_modules_import_each_other() -> None:
    known = {dotted(path): path for package in sorted(ROOMS) for path in files(package)}
    needs = {
        module: {target for _, target in imported_modules(path, set(known))} - {module}
        for module, path in known.items()
        if module not in ROOMS  # a package's public names, loaded on demand
    }
    TopologicalSorter(needs).prepare()  # raises CycleError, which names the modules


@pytest.mark.parametrize("package", sorted(ROOMS))
def test_no_two_modules_of_a_package_have_one_name(package: str) -> None:
    # The topics of the report have the same parts: estimates, tables, figures, section.
    names = Counter(
        path.stem
        for path in files(package)
        if path.name != "__init__.py" and not dotted(path).startswith("analysis.topics.")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_no_two_public_classes_have_one_name() -> None:
    where = defaultdict[str, list[str]](list)
    for package in sorted(ROOMS):
        for path in files(package):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    where[node.name].append(dotted(path))
    assert {name: places for name, places in where.items() if len(places) > 1} == {}


@pytest.mark.parametrize("package", PRESENT)
def test_a_package_imports_only_what_the_house_allows(package: str) -> None:
    for path in files(package):
        if path.relative_to(ROOT / package).parts[0] in {"cli.py", "cli"}:
            continue
        ours = set(imported(path)) & OURS - {package}
        assert ours <= ALLOWED[package], f"{path.relative_to(ROOT)} imports {ours}"


def test_the_root_command_imports_no_package_above_it() -> None:
    for name in ("root.py", "commands.py"):
        assert set(imported(ROOT / "study" / "cli" / name)) & OURS <= {"study"}


def test_the_base_needs_the_standard_library_alone() -> None:
    for path in sorted((ROOT / "study" / "base").glob("*.py")):
        assert set(imported(path)) <= {*sys.stdlib_module_names, BASE}, path


def test_analysis_knows_no_database_and_no_web() -> None:
    for path in files("analysis"):
        assert not set(imported(path)) & FOREIGN_TO_ANALYSIS, path


def test_the_python_interface_imports_no_web_pages() -> None:
    for path in sorted((ROOT / "analysis" / "python_api").rglob("*.py")):
        assert set(imported(path)) & OURS <= OURS - {"annotate_ui"}, path


def test_the_example_stands_alone() -> None:
    for path in sorted((ROOT / "data" / "example").glob("*.py")):
        assert not set(imported(path)) & OURS, path


@pytest.mark.parametrize(
    "module",
    [
        "study.cli.root",
        "study.cli.commands",
        "study.cli.assignment_commands",
        "judge.cli.judge_command",
        "judge.cli.inspect_commands",
        "judge.cli.batch_commands",
        "judge.cli.measure_command",
        "judge.cli.respond_command",
        "study.cli.lifecycle_commands",
        "annotate_ui.cli.enrol",
        "annotate_ui.cli.invite",
        "annotate_ui.cli.label_studio",
        "annotate_ui.cli.label_studio_server",
        "annotate_ui.cli.owner_password",
        "annotate_ui.cli.pause",
        "annotate_ui.cli.serve",
        "annotate_ui.cli.watch",
        "analysis.cli.report",
        "analysis.cli.demo",
        "analysis.cli.check",
        "analysis.cli.plan",
        "analysis.cli.doctor",
    ],
)
def test_a_module_of_commands_imports_only_click_until_it_runs(module: str) -> None:
    heavy = (
        "numpy",
        "pandas",
        "sqlmodel",
        "pydantic",
        "rich",
        "matplotlib",
        "scipy",
        "aiohttp",
        "flask",
        "label_studio_sdk",
    )
    code = (
        f"import sys, {module}; found = [m for m in {heavy!r} if m in sys.modules]; "
        "sys.exit(', '.join(found) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_rating_pages_are_served_without_tables_of_scores() -> None:
    code = (
        "import sys, annotate_ui.server.application, annotate_ui.server.wsgi, annotate_ui.web.app; "
        "sys.exit(', '.join({'pandas', 'scipy', 'matplotlib'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_bare_table_is_read_without_a_database() -> None:
    code = (
        "import sys; from study import read_scores; "
        "sys.exit(', '.join({'sqlalchemy', 'sqlmodel'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", PRESENT)
def test_every_name_that_a_package_exports_is_there(package: str) -> None:
    from importlib import import_module
    from types import ModuleType

    module = import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert not isinstance(getattr(module, name), ModuleType), name
    with pytest.raises(AttributeError):
        _ = module.no_such_name
