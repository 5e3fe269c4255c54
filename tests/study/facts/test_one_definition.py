"""What counts is decided in study/facts and nowhere else: other modules select from it.

The source of every module is read. An expression that picks a revision, or that asks whether a
lease has run out, a slot was taken back or handed on, is a decision.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("study", "judge", "annotate_ui", "analysis")

REVISION = {"revision"}
SLOT = {"leased_until", "released_at", "replaces_id"}

EXCEPTIONS = {
    "study/importing/existing_content.py": "writes the revisions of outputs",
    "annotate_ui/tasks/save_rating.py": "writes the revisions of ratings",
    "annotate_ui/tasks/comparisons.py": "writes the revisions of decisions",
    "annotate_ui/participants/withdrawal.py": "releases slots, and undoes the releases of a moment",
    "annotate_ui/web/owner/items_page.py": "lists every revision",
    "judge/inspect/response_details.py": "lists every reading of an answer",
}


def decisions(tree: ast.AST) -> Iterator[str]:
    """Yield the columns on which a module decides what counts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                yield from columns(side, SLOT | {"after_reveal"})
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name == "row_number":
                yield name
            if name in {"order_by", "max", "min", "over", "desc", "asc"}:
                for part in (*node.args, *(keyword.value for keyword in node.keywords)):
                    yield from columns(part, REVISION)
            if name in {"is_", "is_not", "desc", "asc", "in_", "not_in"}:
                yield from columns(node.func.value, SLOT | REVISION)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            yield from columns(node.operand, {"after_reveal"})


def columns(node: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield the columns of these names, such as `g.c.revision`, in an expression."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in names:
            of = part.value
            if isinstance(of, ast.Attribute) and of.attr == "c":
                yield part.attr


def modules() -> list[Path]:
    return [
        path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.is_relative_to(ROOT / "study" / "facts")
        and not path.is_relative_to(ROOT / "study" / "schema")
    ]


def test_no_other_module_decides_what_counts() -> None:
    deciding = {
        str(path.relative_to(ROOT)): sorted(set(decisions(ast.parse(path.read_text("utf-8")))))
        for path in modules()
    }
    found = {name: names for name, names in deciding.items() if names}
    assert {name: found[name] for name in found.keys() - EXCEPTIONS.keys()} == {}


def test_every_exception_is_one() -> None:
    for name in EXCEPTIONS:
        assert list(decisions(ast.parse((ROOT / name).read_text("utf-8")))), name


@pytest.mark.parametrize(
    "source",
    [
        "select(g).order_by(g.c.revision)",
        "select(func.max(g.c.revision))",
        "func.row_number().over(order_by=rating.c.revision)",
        "select(g).order_by(g.c.revision.desc()).limit(1)",
        "func.row_number().over(partition_by=j.c.response_id, order_by=j.c.attempt)",
        "select(a).where(a.c.leased_until < now())",
        "select(a).where(a.c.released_at.is_(None))",
        "exists().where(successor.c.replaces_id == a.c.id)",
        "select(g).where(~g.c.after_reveal)",
    ],
)
def test_a_decision_is_recognized(source: str) -> None:
    assert list(decisions(ast.parse(source)))
