"""The tables of a report on how a judge's answers were read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import percent
from analysis.render.table import Cell, Table, TableBuilder
from analysis.render.verdict.verdicts import leading_scope
from analysis.topics.agreement.bare_answers import BARE, EMPTY_RESPONSE, NO_RULE

_VALUES: tuple[tuple[str, dict[str, str]], ...] = (
    ("all", {}),
    ("bare only", {"answers": BARE}),
)


def answers_read(analysis: Analysis) -> Iterator[Table]:
    """By which rule each judge's answers were read, and why some hold no score."""
    built = TableBuilder()
    for construct, judge, shares in _judges(analysis):
        built.used += shares
        rules = {str(e.params["rule"]): e for e in shares if "rule" in e.params}
        plain = [[rules.pop(name)] if name in rules else [] for name in (BARE, EMPTY_RESPONSE)]
        unsaid = [rules.pop(NO_RULE)] if NO_RULE in rules else []
        built.add(
            construct,
            judge,
            *(_count(found) for found in plain),
            _count([*rules.values()], "rule"),
            _count(unsaid),
            _count([e for e in shares if "reason" in e.params], "reason"),
            f"{shares[0].n_responses:,}",
        )
    yield built.table(
        "answers-read",
        "How a judge's answers were read",
        "Of the judges with an answer that was more than a bare number. Other rules take the one "
        "number that stands there with marks, a label or JSON around it. Labels are known in "
        "English only: an answer labelled in another language has no score. An empty response "
        "has the score that the prompts give it, without an answer.",
        ("Construct", "Scorer", "Bare number", "Empty response", "Another rule", "Rule not given",
         "No score", "Responses"),
        heads=2,
    )  # fmt: skip


def from_bare_numbers(analysis: Analysis) -> Iterator[Table]:
    """The figure that the verdict leads with, beside that from bare numbers only."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct, judge, _ in _judges(analysis):
        data = analysis.rated[construct]
        if data.reference_missing:
            continue
        scope, _ = leading_scope(analysis, construct, judge)
        where = {"construct": construct, "scorer": judge, "scope": scope}
        difference = first("human_ceiling_difference", measure="pearson", **where)
        against_rater = difference is not None and difference.defined
        for name, answers in _VALUES:
            parts: list[Estimate | None] = [
                first(statistic, measure="pearson", **where, **answers) if against_rater else None
                for statistic in ("judge_against_others", "human_ceiling",
                                  "human_ceiling_difference")
            ]  # fmt: skip
            r = None if against_rater else first("pearson", **where, **answers)
            leading = parts[-1] or r
            built.add(
                construct,
                judge,
                name,
                *(built.r(part) for part in parts),
                built.r(r),
                f"{leading.n_responses:,}" if leading else "",
                "within a query" if scope == "within_query" else "pooled",
            )
    yield built.table(
        "bare-numbers",
        "The verdict from bare numbers only",
        "The correlations that the verdict leads with, from all values, and with those missing "
        "that were read by another rule or by one that is not given. Scores of empty responses "
        "stay. Both rows of a pair are compared with people on their own responses.",
        ("Construct", "Scorer", "Values", "Judge", "Rater", "Difference", "r", "Responses",
         "Scope"),
        heads=3,
    )  # fmt: skip


def _judges(analysis: Analysis) -> Iterator[tuple[str, str, list[Estimate]]]:
    found: dict[tuple[str, str], list[Estimate]] = {}
    for share in analysis.estimates.select("answer_share"):
        found.setdefault((share.constructs[0], share.scorers[0]), []).append(share)
    for (construct, judge), shares in found.items():
        yield construct, judge, shares


def _count(shares: Sequence[Estimate], parts: str = "") -> Cell:
    """How many, with their share; with `parts`, what they are made of."""
    if not shares:
        return Cell("")
    total = sum(int(e.params["count"] or 0) for e in shares)
    if not parts:
        return Cell(f"{total:,}", parts=(percent(shares[0].value),))
    return Cell(
        f"{total:,}",
        parts=tuple(
            f"{e.params['count']:,} {str(e.params[parts]).replace('_', ' ')}" for e in shares
        ),
    )
