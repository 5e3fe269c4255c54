"""The command `ccrs report`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analysis.cli.column_options import NamedColumns, named_columns_options
from analysis.cli.first_lines import first_lines
from analysis.cli.given_options import Facts, check_given
from analysis.cli.read_scores import as_input, compares, from_preferences, read_file
from analysis.cli.read_study import from_study
from analysis.cli.report_input import (
    CannotRun,
    ReportInput,
    kind_option,
    say_declared,
    scale_option,
)
from analysis.cli.second_file import SecondFile, second_file_options
from analysis.cli.typed_command import typed_command
from study.cli.options import (
    AS_JSON,
    SettingsCommand,
    chosen_settings,
    comma_separated,
    overriding_options,
)

if TYPE_CHECKING:
    from analysis.core.analysis import Analysis
    from analysis.core.tables import ScoreTable


def analysis_options() -> list[click.Option]:
    """The options that override settings under [analysis]."""
    from study.base.analysis_settings import AnalysisSettings
    from study.settings.study_toml import StudyConfig

    return overriding_options(AnalysisSettings, StudyConfig)


@click.command(cls=SettingsCommand, settings=analysis_options, only_if_typed=True)
@click.argument("source", type=click.Path(path_type=Path), metavar="STUDY_OR_SCORES")
@second_file_options
@click.option(
    "--out",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder of the report. Default: report/ in the study, or NAME-report/ next to NAME.csv.",
)
@named_columns_options
@scale_option
@kind_option
@click.option(
    "--preferences",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Table of comparisons of two responses, in addition to a table of scores.",
)
@click.option("--preference-scale", metavar="MIN:MAX", help="Scale of that table's values.")
@click.option(
    "--same-judge",
    "same_judge",
    multiple=True,
    metavar="RUN,RUN",
    help="Scorers of a table that are runs of one judge under the same conditions. Repeatable. "
    "Default: each is a separate judge.",
)
@click.option(
    "--layout",
    type=click.Choice(["single", "side_by_side"]),
    help="Which of people's ratings are used, where they rated in two layouts of the page. "
    "Default: the one with more values.",
)
@click.option(
    "--hypotheses",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML file with [[hypotheses]] about the systems of a table.",
)
@click.option(
    "--title",
    metavar="TEXT",
    help="Title of the report. Default: the study's or the file's name.",
)
@click.option(
    "--verify/--no-verify",
    default=True,
    show_default=True,
    help="Check figures against krippendorff, pingouin and scipy afterwards.",
)
@click.option(
    "--full",
    is_flag=True,
    help="Fold nothing on the page and show every table and row, for printing.",
)
@click.option(
    "--text",
    is_flag=True,
    help="Print the agreement and the answers only, without writing a report.",
)
@AS_JSON
@click.option("--open", "show", is_flag=True, help="Open the report in the browser.")
def report(
    source: Path,
    second: SecondFile,
    out: Path | None,
    columns: NamedColumns,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    preferences: Path | None,
    preference_scale: str | None,
    same_judge: tuple[str, ...],
    layout: str | None,
    hypotheses: Path | None,
    title: str | None,
    verify: bool,
    full: bool,
    text: bool,
    as_json: bool,
    show: bool,
    **options: Any,
) -> None:
    """Report how far each judge agrees with people.

    STUDY_OR_SCORES is a study's folder, or a table of scores (CSV, TSV, JSON lines, Excel or
    Parquet), or one of comparisons alone, with columns response_a and response_b. Judges' scores
    and people's scores in two files are joined by the ids of responses. Options of the
    same name override the settings under [analysis] in study.toml, and its seed.

    \b
    Examples:
      ccrs report my-study
      ccrs report results.csv --text
      ccrs report scores.csv --scale 0:100
      ccrs report scores.csv --scale AC=0:1 --scale my-metric:AC=0:100 --kind anna=human
      ccrs report results.csv --judge llm_score --human human_score --query question --scale 1:5
      ccrs report judge.csv human.csv --on session_id
      ccrs report results.csv --judge QR=llm_qr --human QR=human_qr --judge CC=llm_cc
        --human CC=human_cc

    A table with a column for each judge and rater is read by --judge and --human. Without them its
    columns are recognized if their names are unambiguous, and a line says what was taken as what.
    """
    from analysis.core.errors import AnalysisError
    from study.errors import StudyError

    _check_files(source, preferences, hypotheses)
    _check_text_alone(text)
    folder, opened = _folder(source, out, text), False
    chosen = chosen_settings({"layout": layout, **options})
    given = {*chosen, *(["hypotheses"] if hypotheses else ())}
    try:
        if source.is_dir():
            if any((scales, kinds, preferences, preference_scale, hypotheses, same_judge, columns)):
                raise CannotRun(
                    "--judge, --human, --scale, --kind, --preferences, --same-judge and "
                    "--hypotheses describe a bare table; a study has them in "
                    f"{source / 'study.toml'}"
                )
            inputs = from_study(source, chosen)
        elif second.path is None and compares(source, columns):
            if any((scales, preferences, hypotheses, "map" in chosen, same_judge, columns)):
                raise CannotRun(
                    f"{source} compares responses and has no scores; --judge, --human, --scale, "
                    "--map, --preferences, --same-judge and --hypotheses describe scores, "
                    "--preference-scale the comparisons"
                )
            inputs = from_preferences(source, kinds, preference_scale, chosen)
        else:
            runs = {"runs": _runs(same_judge)} if same_judge else {}
            if preference_scale and preferences is None:
                raise CannotRun(
                    "--preference-scale describes the table of --preferences, which is missing"
                )
            read = read_file(source, scales, kinds, columns, second)
            if not (runs or preferences or hypotheses or as_json or len(scales) > 1):
                opened = first_lines(read, chosen, title or source.stem)
            if opened and text:
                return
            inputs = as_input(
                read, preferences, preference_scale, chosen | runs, hypotheses, quiet=opened
            )
            _check_runs(inputs.options.runs, inputs.scores)
        _check_names(chosen.get("second_metrics", ()), inputs.scores)
        check_given(Facts(inputs.scores))
        title = title or inputs.name
        if text:
            print_text(inputs, title, given)
        else:
            write(inputs, title, folder, verify, as_json, full, given=given, opened=opened)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    if show:
        click.launch(str(folder / "report.html"))


def _runs(declared: Sequence[str]) -> dict[str, dict[str, str]]:
    """The attributes of scorers that were declared to be runs of one judge."""
    runs: dict[str, dict[str, str]] = {}
    for text in declared:
        for name in comma_separated(text):
            if name in runs:
                raise CannotRun(f"--same-judge: {name} is named twice")
            runs[name] = {"judge": text}
    return runs


def _check_runs(runs: Iterable[str], scores: ScoreTable) -> None:
    judges = [name for name, kind in scores.scorer_kinds.items() if kind == "judge"]
    for name in runs:
        if name not in judges:
            raise CannotRun(
                f"--same-judge {name}: the table has no such judge; there are "
                f"{', '.join(judges) or 'none'}"
            )


def _check_names(names: tuple[str, ...], scores: ScoreTable) -> None:
    kinds = scores.scorer_kinds
    names_present = [
        *scores.constructs,
        *(n for n, kind in kinds.items() if kind in {"judge", "metric"}),
    ]
    for name in names:
        if name not in names_present:
            raise CannotRun(
                f"--second-metrics {name}: the table has no such construct or scorer; "
                f"there are {', '.join(dict.fromkeys(names_present))}"
            )


def print_text(source: ReportInput, title: str, given: Collection[str]) -> None:
    """Print the agreement and the answers alone."""
    _print_answers(_headline(source, title, given), opened=False)


def _headline(source: ReportInput, title: str, given: Collection[str]) -> Analysis:
    from analysis.pipeline.estimation import headline

    analysis = headline(
        source.scores,
        source.preferences,
        source.options,
        title,
        source.probes,
        source.marks,
        given=given,
    )
    say_declared(source.declared)
    return analysis


def _print_answers(first: Analysis, *, opened: bool) -> None:
    from analysis.decisions.answers import decisions
    from analysis.decisions.corrected_means import corrected_means
    from analysis.render import terminal
    from analysis.render.verdicts import verdict_subjects

    about = verdict_subjects(first)
    terminal.print_answers(
        first, decisions(first, about), corrected_means(first, about), opened=opened
    )


def _folder(source: Path, out: Path | None, text: bool) -> Path:
    """The folder of the report, in which no other files may be; with `text` none is written."""
    from analysis.core.errors import AnalysisError
    from analysis.render.report_folder import check_folder

    folder = out or default_folder(source)
    try:
        if not text:
            check_folder(folder)
    except AnalysisError as error:
        raise CannotRun(str(error)) from None
    return folder


def _check_files(source: Path, *others: Path | None) -> None:
    for path in filter(None, (source, *others)):
        if not path.exists():
            raise CannotRun(f"{path} does not exist; name a study's folder or a table of scores")


def _check_text_alone(text: bool) -> None:
    """Refuse options of a report that is written, next to --text."""
    if not text:
        return
    context = click.get_current_context()
    for name, option in (
        ("out", "--out"), ("verify", "--verify and --no-verify"), ("full", "--full"),
        ("as_json", "--json"), ("show", "--open"),
    ):  # fmt: skip
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise CannotRun(f"{option}: no report is written with --text; leave one of them out")


def default_folder(source: Path) -> Path:
    """The folder of a report without --out."""
    if source.is_dir():
        return source / "report"
    return source.with_name(f"{source.stem}-report")


def write(
    source: ReportInput,
    title: str,
    folder: Path,
    verify: bool,
    as_json: bool,
    full: bool = False,
    *,
    given: Collection[str] = (),
    opened: bool = False,
) -> None:
    """Print the answers and write the report.

    `given` are the options that were typed; `opened`: the first lines were printed before.
    """
    from analysis.pipeline.estimation import completed
    from analysis.render import terminal

    # The answers come first: their computation takes a fraction of the whole.
    first = _headline(source, title, given)
    if not as_json:
        _print_answers(first, opened=opened)

    from analysis.pipeline.report_files import as_document, write_document
    from analysis.topics.agreement.largest_disagreements import largest_disagreements

    with terminal.working("Computing every figure"):
        analysis = completed(first)
    with terminal.working("Drawing and writing"):
        responses = [
            (a.scorer, a.response_id, a.construct)
            for a in largest_disagreements(analysis.context.ordered)
        ]
        reasons = source.reasons(responses)
        texts = source.labeled_texts(analysis.context.ordered) if source.labeled_texts else None
        # Files by name only, since a report is shared.
        command = typed_command(whole_paths=False)
        content = as_document(analysis, command, source.judge_runs, reasons, texts)
        page = write_document(content, folder, full)
    checks: list[Any] = []
    if verify:
        from analysis.verify import verify as verified

        with terminal.working("Checking against krippendorff, pingouin and scipy"):
            checks = [check.as_json() for check in verified(analysis.scores)]
            write_document(content.with_checks(checks), folder, full)
    differing = [check for check in checks if check["agrees"] is False]
    if as_json:
        terminal.print_json(page, content, checks if verify else None)
    else:
        terminal.print_written(page, analysis, checks if verify else None)
    if differing:
        raise click.exceptions.Exit(1)
