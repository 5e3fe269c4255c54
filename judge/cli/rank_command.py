"""The command `ccrs judge rank`: which of several judges agrees better with people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.cli.column_options import NamedColumns, named_columns_options
from analysis.cli.given_options import Facts, check_given
from analysis.cli.read_scores import from_file
from analysis.cli.read_study import from_study
from analysis.cli.report_input import CannotRun, kind_option, say_declared, scale_option

if TYPE_CHECKING:
    from analysis.cli.report_input import ReportInput
    from analysis.core.analysis import Analysis
    from analysis.core.estimates import Estimate

#: As `judge_difference` has them in params.measure.
MEASURES = (
    "kendall_tau_b", "pairwise_accuracy", "calibrated_pairwise_accuracy", "pearson", "rmse",
    "cohen_kappa", "soft_pairwise_accuracy",
)  # fmt: skip


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="STUDY_OR_SCORES")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="NAME",
    help="Compare only these, two or more; p-values are adjusted for them alone. With --human "
    "their columns. Repeatable. Default: the first eight judges.",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    type=click.Choice(MEASURES),
    help="Measure of agreement. Repeatable. Default: tau-b, on nominal scales kappa; --out and "
    "--json have all.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write ranks and differences to this .csv or .json.",
)
@named_columns_options
@scale_option
@kind_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
def rank(
    source: Path,
    judges: tuple[str, ...],
    columns: NamedColumns,
    measures: tuple[str, ...],
    out: Path | None,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    as_json: bool,
) -> None:
    """Rank judges by how well they agree with people.

    STUDY_OR_SCORES is a study's folder or a table of scores. Every two judges are compared on the
    responses that both scored and people rated: the difference of their agreement with its
    interval, p by exchanging their scores query by query, and p adjusted for all pairs of judges
    and constructs (Holm). A judge's places are those that the significant differences leave. The
    report has the same figures.

    \b
    Examples:
      ccrs judge rank my-study
      ccrs judge rank my-study --judge llama-3-70b --judge gpt-4o
      ccrs judge rank scores.csv --scale 0:100 --measure pearson --measure rmse
      ccrs judge rank scores.csv --scale 0:100 --out judges.csv
      ccrs judge rank results.csv --judge gpt --judge llama --human anna --scale 1:5
    """
    from analysis.core.errors import AnalysisError
    from analysis.pipeline.estimation import comparison
    from analysis.render.terminal import working
    from study.errors import StudyError

    if not source.exists():
        raise CannotRun(f"{source} does not exist; name a study's folder or a table of scores")
    if out is not None and out.suffix not in {".csv", ".json"}:
        raise CannotRun(f"--out {out}: the file's name must end in .csv or .json")
    try:
        if source.is_dir():
            if scales or kinds or columns:
                raise CannotRun(
                    "--human, --scale and --kind describe a bare table; a study has them in "
                    f"{source / 'study.toml'}"
                )
            inputs = from_study(source, {})
        else:
            named = replace(columns, judge=judges if columns.human else ())
            inputs = from_file(source, scales, kinds, None, None, {}, columns=named)
        # With --human, --judge names columns, which are all compared.
        chosen = _chosen(inputs, () if columns.human else judges)
        with working("Comparing the judges"):
            analysis = comparison(inputs.scores, inputs.options, chosen, inputs.name)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    if not len(analysis.estimates):
        raise CannotRun(_nothing(analysis))
    differences = analysis.estimates.select("judge_difference")
    present = dict.fromkeys(e.params["measure"] for e in differences)
    check_given(Facts(inputs.scores, measures=tuple(map(str, present))))
    if out is not None:
        _write(out, _kept(analysis, measures))
    say_declared(inputs.declared)
    if as_json:
        click.echo(_json(_kept(analysis, measures)))
    else:
        for line in _lines(analysis, measures):
            click.echo(line)
        if out is not None:
            click.echo(f"Written: {out}")


def _chosen(inputs: ReportInput, judges: tuple[str, ...]) -> tuple[str, ...]:
    """The named scorers; an unknown name and a name alone are errors."""
    kinds = inputs.scores.scorer_kinds
    present = [name for name, kind in kinds.items() if kind in {"judge", "metric"}]
    unknown = [name for name in judges if name not in present]
    if unknown:
        raise CannotRun(
            f"--judge {unknown[0]}: no such judge or metric; there are {', '.join(present)}"
        )
    if len(set(judges)) == 1:
        raise CannotRun(f"--judge {judges[0]}: name a second judge to compare it with")
    return judges


def _nothing(analysis: Analysis) -> str:
    rated = any(not data.reference_missing for data in analysis.context.rated.values())
    if not rated:
        return "nothing to compare: people rated no response"
    return "nothing to compare: no construct that people rated has scores of two judges"


def _kept(analysis: Analysis, measures: tuple[str, ...]) -> list[Estimate]:
    """The ranks and the differences in the chosen measures, or all."""
    return [
        e
        for e in analysis.estimates
        if e.statistic == "judge_rank" or not measures or e.params["measure"] in measures
    ]


def _json(records: list[Estimate]) -> str:
    import json

    content = {
        key: [e.as_json() for e in records if e.statistic == statistic]
        for key, statistic in (("ranks", "judge_rank"), ("differences", "judge_difference"))
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def _write(path: Path, records: list[Estimate]) -> None:
    from analysis.core.estimates import to_frame
    from analysis.render.output_files import csv_text

    text = _json(records) + "\n" if path.suffix == ".json" else csv_text(to_frame(records))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotRun(f"{path} can't be written: {error.strerror}") from None


def _lines(analysis: Analysis, measures: tuple[str, ...]) -> list[str]:
    """For each construct the judges in order, and the differences of every two."""
    from analysis.render.formatting import listed
    from analysis.topics.agreement.judge_comparison import compared_judges, leading_measure
    from analysis.topics.agreement.judge_comparison_tables import SCOPES, measure_name, reading

    select, lines = analysis.estimates.select, []
    for data in analysis.context.rated.values():
        ranks = sorted(select("judge_rank", construct=data.construct), key=lambda e: e.value)
        if not ranks:
            continue
        leading = leading_measure(analysis.context, data.construct)
        name = measure_name(analysis.headings, leading)
        lines += [f"{data.construct}: by {name}, {SCOPES[ranks[0].scope]}"]
        width = max(len(e.scorers[0]) for e in ranks)
        for e in ranks:
            if not e.defined:
                lines.append(f"  {e.scorers[0]}: no rank, {e.reason}")
                continue
            places = f"{e.ci_low:.0f} to {e.ci_high:.0f}"
            judge = f"{e.scorers[0]:<{width}}"
            lines.append(f"  {e.value:2.0f}  {judge}  places {places}, group {e.params['group']}")
        scope = None if measures else ranks[0].scope
        for measure in measures or (leading,):
            differences = select(
                "judge_difference", construct=data.construct, scope=scope, measure=measure
            )
            lines += [f"  {_difference(analysis, e)}" for e in differences]
        left_out = [n for n in data.examined if n not in compared_judges(data)]
        if left_out:
            lines.append(f"  Not compared: {listed(left_out)}")
        lines.append("")
    return [*lines, *reading(analysis)]


def _difference(analysis: Analysis, e: Estimate) -> str:
    """'A minus B, tau-b within a query: .12 [.05, .19], p = .002, adjusted p = .006'."""
    from analysis.render.formatting import between, correlation, p_value, points
    from analysis.topics.agreement.judge_comparison_tables import SCOPES, measure_name

    measure = str(e.params["measure"])
    where = f"{measure_name(analysis.headings, measure)}, {SCOPES[e.scope]}"
    line = f"{e.scorers[0]} minus {e.scorers[1]}, {where}: "
    if not e.defined:
        return f"{line}undefined, {e.reason}"
    if measure == "rmse":
        scale = analysis.context.human_scale(e.constructs[0])
        line += f"{points(e.value, scale)} {between(e, scale, in_points=True)}"
    else:
        line += f"{correlation(e.value)} {between(e)}"
    tests = [("permutation_p", ""), ("holm", "adjusted "), ("williams_p", "Williams' ")]
    p = [(word, e.params.get(key)) for key, word in tests]
    return ", ".join(
        [line.rstrip(), *(f"{word}{p_value(v)}" for word, v in p if isinstance(v, float))]
    )
