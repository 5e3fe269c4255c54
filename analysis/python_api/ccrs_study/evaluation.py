"""A judge compared with people in one line of Python."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis.cli.report_input import say_declared
from analysis.core.analysis import Analysis
from analysis.core.errors import TableError, did_you_mean
from analysis.core.estimates import to_frame
from analysis.core.options import Options
from analysis.core.tables import COUNT_ONCE, PreferenceTable, ScoreTable
from analysis.core.understood_scales import (
    SCALE_UNDERSTOOD,
    check_odd_values,
    with_understood_scales,
)
from analysis.core.word_scales import with_word_scales
from analysis.decisions.answers import decisions
from analysis.decisions.records import UseDecision
from analysis.pipeline.estimation import completed, headline
from analysis.pipeline.report_files import as_document, write_document
from analysis.pipeline.unused_options import PYTHON, check_unused
from analysis.render.decision_words import answers_reading, as_record
from analysis.render.opening import JudgeOpening, lines as opening_lines
from analysis.render.opening_of_analysis import openings_of
from analysis.render.panels import panels
from analysis.render.verdicts import verdict_subjects, verdicts
from ccrs_study.frame_words import with_word_values
from ccrs_study.from_a_file import read_file
from ccrs_study.long_frames import known_names
from ccrs_study.named_frames import long_scores
from ccrs_study.recognized_frame import check_one_table, evident_columns
from ccrs_study.wide_faults import check_values
from ccrs_study.written_scales import Scales, scales_by_construct
from study.importing.readers.value_words import checked_values
from study.importing.score_columns.column_purposes import ColumnNames

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def evaluate(
    data: pd.DataFrame | Path | str,
    judge: ColumnNames | None = None,
    human: ColumnNames | None = None,
    *,
    id: str | None = None,  # noqa: A002  (the name that the commands have)
    query: str | None = None,
    system: str | None = None,
    construct: str | None = None,
    scale: Scales | None = None,
    values: Mapping[str, float | None] | None = None,
    title: str = "Judge against people",
    **options: Any,
) -> Evaluation:
    """Compare a judge with people.

    Parameters
    ----------
    data
        One row for each response, with a column for each judge and each rater; or a long table of
        scores, whose columns `ccrs help score-table` describes. A path is read as by `ccrs report`.
    judge, human
        Columns of judges and of raters: a name, several, or by construct ``{"QR": "llm_qr"}``.
        Without both they are taken by their names where these tell it, such as llm and human.
    id, query, system, construct
        Columns that identify the response, its question, the system that gave it, and the
        construct. Name `query` if several responses answer one question: their scores are not
        independent, and the order within a question is what a judge is mostly used for.
    scale
        Range of the values, ``(0, 100)``, ``"1-5"`` or ``"1:5:1"`` (lowest value, highest value and
        the step of people's values), or ranges by construct.
    values
        Numbers of words, such as ``{"good": 2, "ok": 1, "bad": 0, "unsure": None}``; None is
        missing. Well-known words are read without it.
    options
        Fields of `Options`, such as ``seed=7`` or ``level=0.9``.

    Raises
    ------
    TableError
        The table has faults; the message lists all.
    AnalysisError
        An option is unsuitable, or has no effect on these scores.

    Warns
    -----
    UserWarning
        Rows of a data frame that may be of one response, or that repeat others and count once.

    Examples
    --------
    >>> from ccrs_study import evaluate
    >>> result = evaluate("scores.csv", scale=(0, 100))
    >>> print(result.verdict.splitlines()[2].strip())
    Bias: +8 points [7, 8]
    >>> result.report("evaluated").name
    'report.html'
    """
    check_one_table(data, judge, human)
    if (judge is None) != (human is None):
        raise TypeError("name the columns of both judge and human, or of neither (a long table)")
    if isinstance(data, Path | str):
        identifying = {"id": id, "query": query, "system": system, "construct": construct}
        inputs = read_file(Path(data), judge, human, identifying, scale, values, _known(options))
        evaluation = _evaluated(inputs.scores, inputs.options, title, options, inputs.preferences)
        say_declared(inputs.declared)
        return evaluation
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"data is a {type(data).__name__}; give a DataFrame, or the path of a file")
    if judge is None and human is None:
        evident = evident_columns(data)
        judge, human = evident.get("judge"), evident.get("human")
        id, query = id or evident.get("id"), query or evident.get("query")  # noqa: A001
        system = system or evident.get("system")
        construct = construct or evident.get("construct")
        if not evident:
            data = known_names(data, id=id, query=query, system=system, construct=construct)
    rows, doubts = None, ()
    if judge is not None and human is not None:
        rows = len(data)
        data = long_scores(
            data, judge, human, id=id, query=query, system=system, construct=construct
        )
        doubts = tuple(data.attrs.pop("doubts", ()))
    constructs = [str(key) for key in dict.fromkeys(data.get("construct", pd.Series(dtype=str)))]
    scales = scales_by_construct(scale, constructs)
    data, read_as = with_word_values(data, _checked(values), lambda _, key: scales.get(key), rows)
    declared = with_word_scales(data, scales, {})
    if rows is not None:
        check_values(data, rows, *declared)
    scores = ScoreTable.from_frame(data, *declared)
    check_odd_values(data, scores, in_python=True)
    scores = with_understood_scales(data, scores, *declared, in_python=True)
    once = [line for line in scores.warnings if line.endswith(COUNT_ONCE)]
    for line in (*doubts, *once):
        warnings.warn(line, stacklevel=2)
    scores = replace(scores, warnings=(*doubts, *read_as, *scores.warnings))
    return _evaluated(scores, Options(**_known(options)), title, options)


def _evaluated(
    scores: ScoreTable,
    options: Options,
    title: str,
    given: Mapping[str, Any],
    preferences: PreferenceTable | None = None,
) -> Evaluation:
    leading = headline(scores, preferences, options, title)
    check_unused(leading.context, given, PYTHON)
    return Evaluation(leading)


def _known(options: dict[str, Any]) -> dict[str, Any]:
    """The options, all of which are fields of `Options`."""
    names = [field.name for field in fields(Options)]
    for name in options:
        if name not in names:
            raise TypeError(
                f"evaluate() has no option {name!r}.{did_you_mean(name, names)} The options are "
                f"{', '.join(names)}"
            )
    return options


def _checked(values: Mapping[str, float | None] | None) -> dict[str, float | None]:
    try:
        return checked_values((values or {}).items())
    except ValueError as error:
        raise TableError("values", [str(error)]) from None


class Evaluation:
    """The comparison of judges with people; what takes longer is computed when it is asked for.

    Examples
    --------
    >>> from ccrs_study import evaluate
    >>> evaluate("scores.csv", scale=(0, 100)).analysis.title
    'Judge against people'
    """

    def __init__(self, leading: Analysis) -> None:
        self._leading = leading

    @cached_property
    def analysis(self) -> Analysis:
        """Every figure of the report, as `analysis.analyse` returns it."""
        return completed(self._leading)

    @cached_property
    def _decided(self) -> list[UseDecision]:
        return decisions(self._leading, verdict_subjects(self._leading))

    @cached_property
    def _openings(self) -> list[JudgeOpening]:
        return openings_of(self._leading, self._decided)

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """For what each judge can be used: the records of report.json under `decisions`.

        Each has construct (None for the judge as a whole), scorer, use, target (these_raters or
        raters_like_these), answer (yes, likely, open, unlikely, no, or not_applicable where the
        table cannot be asked), the probability beside it, what decides, its threshold, and what
        would settle it.
        """
        return [as_record(self._leading, decision) for decision in self._decided]

    @property
    def verdict(self) -> str:
        """What was compared, the agreement and the answers, as `ccrs report` prints them first.

        Then order and level in words: a paragraph for each construct and judge, with its notes,
        and the scale that was understood, if none is declared.
        """
        lines = [line for opening in self._openings for line in opening_lines(opening)]
        lines += self._reading
        for verdict in verdicts(self._leading):
            lines += [verdict.sentence, *(f"    {note}" for note in verdict.notes)]
        return "\n".join([*lines, *self._understood])

    @property
    def _reading(self) -> list[str]:
        """What the answers mean, if there are any."""
        asked = any(d.answer != "not_applicable" for d in self._decided)
        return [answers_reading(self._leading, self._decided)] if asked else []

    @property
    def _understood(self) -> list[str]:
        """Which scale the answers are computed on, where none is declared."""
        notes = self._leading.warnings
        return [f"Note: {line}." for line in notes if line.startswith(SCALE_UNDERSTOOD)]

    def to_frame(self) -> pd.DataFrame:
        """Every figure in a row: statistic, value, interval, sample sizes, reason."""
        return to_frame(self.analysis.estimates)

    def plot(self) -> Figure:
        """People's values across and the judge's up, a panel for each construct and judge."""
        from matplotlib.figure import Figure

        shown = list(panels(self._leading))
        figure = Figure(figsize=(3.2 * max(1, len(shown)), 3.4), layout="constrained")
        for number, panel in enumerate(shown, start=1):
            axes = figure.add_subplot(1, len(shown), number)
            axes.plot([panel.low, panel.high], [panel.low, panel.high], color="0.6", linestyle="--")
            axes.scatter(panel.data.reference, panel.judge, s=14, alpha=0.6, linewidths=0)
            axes.set(title=f"{panel.construct}: {panel.scorer}", xlabel="people", ylabel="judge")
        return figure

    def report(self, folder: Path | str, *, full: bool = False) -> Path:
        """Write report.html, report.json and tables to a folder; return the path of report.html.

        With `full` nothing is folded on the page, as for printing.
        """
        return write_document(as_document(self.analysis), folder, full)

    def _repr_html_(self) -> str:
        first = "".join(map(_as_html, self._openings))
        small = (*self._reading, *self._understood)
        first += "".join(f"<p><small>{escape(line)}</small></p>" for line in small)
        items = "".join(
            f"<li>{escape(verdict.sentence)}"
            + "".join(f"<br><small>{escape(note)}</small>" for note in verdict.notes)
            + "</li>"
            for verdict in verdicts(self._leading)
        )
        return f"<p><strong>{escape(self._leading.title)}</strong></p>{first}<ul>{items}</ul>"

    def __repr__(self) -> str:
        return f"<Evaluation: {self._leading.title}>\n{self.verdict}"


def _as_html(opening: JudgeOpening) -> str:
    """The first lines about one judge, for a notebook."""
    parts = [f"<p>{escape(opening.compared)}</p>"]
    for of in opening.constructs:
        heading = f"<strong>{escape(of.name)}</strong>" if len(opening.constructs) > 1 else ""
        notes = (f"Note: {pattern}." for pattern in of.patterns)
        items = "".join(f"<li>{escape(line)}</li>" for line in (*of.agreement, *notes))
        parts.append(f"{heading}<ul>{items}</ul>")
        if of.confusion:
            rows = (
                "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
                for row, tag in zip(of.confusion, ["th", "td", "td"], strict=True)
            )
            parts.append(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")
    answers = "".join(
        f"<tr><th>{escape(answer.name)}</th><td>{escape(answer.word)}</td>"
        f"<td>{escape(answer.why)}</td></tr>"
        for answer in opening.answers
    )
    if answers:
        parts.append(f"<p>Can {escape(opening.scorer)} be used to ...</p>")
        parts.append(f"<table>{answers}</table>")
    parts += (f"<p>{escape(text)}</p>" for text in (opening.remarks, opening.not_asked) if text)
    return "".join(parts)
