"""How a judge's answers were read, and its agreement from answers that are a bare number only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER, Statistic
from analysis.core.table_columns import NO_REASON
from analysis.render.formatting import percent
from analysis.render.table import Cell, Table, TableBuilder
from analysis.render.verdict_order import leading_scope, target
from analysis.topics.agreement.association import compared
from analysis.topics.agreement.human_ceiling import AGAINST_A_RATER, SCOPES, ceilings_of

#: The rule of an answer that is only a number, and the value of params.answers.
BARE = "bare"

#: The rule of a response without text: the prompts give its score, so no answer had to be read.
EMPTY_RESPONSE = "empty_response"

#: In place of the rule where the table gives none.
NO_RULE = NO_REASON


def answers_read(context: Context) -> Iterator[Estimate]:
    """Shares by rule and reason, and correlations from bare numbers only (params.answers = bare).

    Of the judges that have a value by another rule; for others all answers are alike. Values by
    another rule, or by none that the table gives, are missing in the figures of bare numbers.
    """
    constructs = context.scores.constructs
    first: dict[str, int] = {}
    for construct in constructs:
        rows = _judged(context, construct)
        read = rows["value"].notna() & rows["rule"].notna()
        by_rule = rows.loc[read & ~rows["rule"].isin([BARE, EMPTY_RESPONSE]), "scorer"]
        for row, judge in by_rule.drop_duplicates().items():
            first[judge] = min(int(str(row)), first.get(judge, len(context.scores.frame)))
    for construct in constructs if first else ():
        rows = _judged(context, construct)
        for judge in sorted(first, key=first.__getitem__):
            of_judge = rows[rows["scorer"] == judge]
            if len(of_judge):
                yield from _shares(construct, judge, of_judge)
                yield from _from_bare_numbers(context, construct, judge, of_judge)


def _judged(context: Context, construct: str) -> pd.DataFrame:
    """Judges' first scores on a construct, one for each response; all rows would take twice the
    table's memory."""
    frame = context.scores.frame
    chosen = frame["scorer_kind"] == "judge"
    chosen &= (frame["repeat"] == 0) & (frame["construct"] == construct)
    columns = ["response_id", "query_id", "scorer", "value", "rule", "missing_reason"]
    return frame.loc[chosen, columns].drop_duplicates(["response_id", "scorer"])


def _shares(construct: str, judge: str, rows: pd.DataFrame) -> Iterator[Estimate]:
    missing = rows["value"].isna()
    rules = rows.loc[~missing, "rule"].astype("object").fillna(NO_RULE).value_counts()
    reasons = rows.loc[missing, "missing_reason"].astype("object").value_counts()
    for name, counts in (("rule", rules), ("reason", reasons)):
        for reading, count in counts.items():
            yield Estimate(
                "answer_share",
                (construct,),
                (judge,),
                value=int(count) / len(rows),
                n_responses=len(rows),
                n_queries=rows["query_id"].nunique(),
                n_dropped=int(count) if name == "reason" else 0,
                params={name: str(reading), "count": int(count)},
            )


def _from_bare_numbers(
    context: Context, construct: str, judge: str, rows: pd.DataFrame
) -> Iterator[Estimate]:
    data = context.rated[construct]
    if judge not in data.scorers:
        return
    bare_responses = rows.loc[rows["rule"].isin([BARE, EMPTY_RESPONSE]), "response_id"].astype(
        "object"
    )
    bare = np.where(np.isin(data.responses, list(bare_responses)), data.scorers[judge], np.nan)
    scored = ComparedScores(data, judge, bare, None)
    for estimate in (
        *compared(context, scored, ORDER, only=SCOPES),
        *ceilings_of(context, scored, (ORDER,)),
    ):
        yield replace(estimate, params={**estimate.params, "answers": BARE})


STATISTICS = (
    Statistic(
        "answer_share",
        "Share of answers",
        "of a judge that has a value by another rule than `bare`: share of its responses by "
        'params.rule ("not given" where the table has none), or by params.reason where there is '
        "no value; params.count",
        answers_read,
        range=(0, 1),
    ),
)


_VALUES: tuple[tuple[str, dict[str, str]], ...] = (
    ("all", {}),
    ("bare only", {"answers": BARE}),
)


def answers_read_tables(analysis: Analysis) -> Iterator[Table]:
    """By which rule each judge's answers were read, and why some have no score."""
    built = TableBuilder()
    for construct, judge, shares in _judges(analysis):
        built.used += shares
        rules = {str(e.params["rule"]): e for e in shares if "rule" in e.params}
        plain = [[rules.pop(name)] if name in rules else [] for name in (BARE, EMPTY_RESPONSE)]
        unsaid = [rules.pop(NO_RULE)] if NO_RULE in rules else []
        built.add(
            construct,
            judge,
            *(_count(share) for share in plain),
            _count([*rules.values()], "rule"),
            _count(unsaid),
            _count([e for e in shares if "reason" in e.params], "reason"),
            f"{shares[0].n_responses:,}",
        )
    yield built.table(
        "answers-read",
        "How a judge's answers were read",
        f"{analysis.headings['answer_share']} by how each was read, with its number. Judges with "
        "at least one answer that was more than a bare number. Other rules take the one number in "
        "the answer, with marks, a label or JSON around it. Labels are known in English only: an "
        "answer labelled in another language has no score. An empty response has the score that "
        "the prompts give it, without an answer.",
        ("Construct", "Scorer", "Bare number", "Empty response", "Another rule", "Rule not given",
         "No score", "Responses"),
        heads=2,
    )  # fmt: skip


def from_bare_numbers(analysis: Analysis) -> Iterator[Table]:
    """The figure that the verdict leads with, and the same figure from bare numbers only."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct, judge, _ in _judges(analysis):
        data = analysis.rated[construct]
        if data.reference_missing:
            continue
        scope, _ = leading_scope(analysis, construct, judge)
        where = {"construct": construct, "scorer": judge, "scope": scope}
        whom = target(analysis, construct, judge)
        difference = first("human_ceiling_difference", measure=ORDER, **where)
        against_rater = difference is not None and difference.defined
        for name, answers in _VALUES:
            parts: list[Estimate | None] = [
                first(statistic, measure=ORDER, target=whose, **where, **answers)
                if against_rater
                else None
                for statistic, whose in zip(
                    AGAINST_A_RATER, ("these_raters", "these_raters", whom), strict=True
                )
            ]
            plain = None if against_rater else first(ORDER, **where, **answers)
            leading = parts[-1] or plain
            built.add(
                construct,
                judge,
                name,
                *(built.r(part) for part in parts),
                built.r(plain),
                f"{leading.n_responses:,}" if leading else "",
                "within a query" if scope == "within_query" else "pooled",
            )
    yield built.table(
        "bare-numbers",
        "The verdict from bare numbers only",
        "The tau-b that the verdict leads with, from all values, and with those missing "
        "that were read by another rule or by one that is not given. Scores of empty responses "
        "stay. Both rows of a pair are compared with people on their own responses.",
        ("Construct", "Scorer", "Values",
         *(analysis.headings[name] for name in (*AGAINST_A_RATER, ORDER)), "Responses",
         "Scope"),
        heads=3,
    )  # fmt: skip


def _judges(analysis: Analysis) -> Iterator[tuple[str, str, list[Estimate]]]:
    by_judge: dict[tuple[str, str], list[Estimate]] = {}
    for share in analysis.estimates.select("answer_share"):
        by_judge.setdefault((share.constructs[0], share.scorers[0]), []).append(share)
    for (construct, judge), shares in by_judge.items():
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
