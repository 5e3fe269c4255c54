"""What counts is decided in study/facts and nowhere else: other modules select from it.

The source of every module is read. An expression is a decision if it picks a revision, asks whether
a lease has run out, a slot was taken back or handed on, a rating withdrawn or a rater readmitted,
or names the purposes that measure; and so is a statement that reads ratings, decisions of raters or
departures otherwise than by a function of study/facts.
"""

import ast
from pathlib import Path

import pytest

from tests.study.facts.decisions import decisions

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("study", "judge", "annotate_ui", "analysis")


EXCEPTIONS = {
    "study/importing/existing_content.py": "writes the revisions of outputs",
    "annotate_ui/tasks/save.py": "writes the revisions of answers",
    "annotate_ui/tasks/replies.py": "writes the revisions of replies",
    "annotate_ui/participants/withdrawal.py": "releases slots, and undoes the releases of a moment",
    "annotate_ui/participants/rejection.py": "withdraws ratings and releases slots, or undoes it",
    "annotate_ui/web/owner/item_page.py": "lists every revision",
    "annotate_ui/tasks/sessions.py": "reads when something was saved",
    "annotate_ui/label_studio/revisions.py": "reads which annotation a revision came from",
    "judge/inspect/response_details.py": "lists every reading of an answer",
}

IMPORT = "from study.schema.tables import"


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
    assert {
        name: names for name, names in deciding.items() if names and name not in EXCEPTIONS
    } == {}


def test_every_listed_exception_decides_itself() -> None:
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
        "ratings[ratings['status'] != 'withdrawn']",
        "kind in ('withdrew', 'readmitted')",
        "assignments['purpose'].isin(['main', 'repeat'])",
        "~(work['handed_on'] | work['released'])",
        "not row.handed_on and not row.released",
        f"{IMPORT} ratings\nselect(ratings.c.id).where(ratings.c.id == 1).exists()",
        f"{IMPORT} ratings as rating_table\nselect(a.c.id).join_from(rating_table, a)",
        f"{IMPORT} departures\nselect(func.max(departures.c.id))",
        f"def f():\n    {IMPORT} decisions as d\n    exists().where(d.c.comparison_id == c.c.id)",
    ],
)
def test_a_decision_is_recognized(source: str) -> None:
    assert list(decisions(ast.parse(source)))


def test_the_condition_of_a_function_of_facts_is_no_decision() -> None:
    source = (
        "from study.facts.ratings import answered_constructs\n"
        f"{IMPORT} ratings\n"
        "select(answered_constructs(ratings.c.assignment_id == 1))"
    )
    assert list(decisions(ast.parse(source))) == []
