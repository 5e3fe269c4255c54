"""The commands `ccrs report` and `ccrs demo`: read scores, hand them to analysis, write the report.

Only click is imported until a command runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from analysis.compose import Options
    from analysis.rules import RulesApart
    from analysis.tables import PreferenceTable, ScoreTable


class Source(NamedTuple):
    """What a report is made of."""

    scores: ScoreTable
    preferences: PreferenceTable | None
    options: Options
    name: str
    judge_runs: Sequence[dict[str, Any]] = ()
    """What the judges' scores were made with, where a study knows it."""
    edited: ScoreTable | None = None
    """The scores with what raters changed after they had been shown more, where they did."""


class CannotRun(click.ClickException):
    """Bad input or usage: nothing was done."""

    exit_code = 2


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="STUDY_OR_SCORES")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the report. Default: report/ in the study, or NAME-report/ beside NAME.csv.",
)
@click.option(
    "--scale",
    "scales",
    multiple=True,
    metavar="[[SCORER:]CONSTRUCT=]MIN:MAX[:STEP[:LEVEL]]",
    help="Scale of a table's constructs; of one construct; or of one scorer there. Repeatable.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="SCORER=KIND",
    help="human, adjudicated, judge or metric, where the table does not say it. Repeatable.",
)
@click.option(
    "--preferences",
    type=click.Path(path_type=Path),
    help="Table of comparisons of two responses, beside a table of scores.",
)
@click.option("--preference-scale", metavar="MIN:MAX", help="Scale of that table's values.")
@click.option(
    "--reference",
    type=click.Choice(["mean_of_raters", "adjudicated"]),
    help="What judges are compared with. Default: as in study.toml, else mean_of_raters.",
)
@click.option("--resamples", type=click.IntRange(100, 100_000), help="Default: 2000.")
@click.option("--seed", type=click.IntRange(0), help="Default: as in study.toml, else 0.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    help="Confidence level of intervals. Default: 0.95.",
)
@click.option("--ac-lambda", type=click.FloatRange(0, 1), help="Weight of EM in composed AC.")
@click.option("--title", help="Title of the report. Default: the study's or the file's name.")
@click.option(
    "--verify/--no-verify",
    default=True,
    show_default=True,
    help="Check figures against krippendorff, pingouin and scipy afterwards.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary for programs.")
@click.option("--open", "show", is_flag=True, help="Open the report in the browser.")
def report(
    source: Path,
    out: Path | None,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    preferences: Path | None,
    preference_scale: str | None,
    reference: str | None,
    resamples: int | None,
    seed: int | None,
    level: float | None,
    ac_lambda: float | None,
    title: str | None,
    verify: bool,
    as_json: bool,
    show: bool,
) -> None:
    """Say how far each judge agrees with people, and write the report.

    STUDY_OR_SCORES is a study's folder, or a table of scores (CSV, TSV, JSON lines or
    Parquet).

    \b
    ccrs report my-study
    ccrs report scores.csv --scale 0:100
    ccrs report scores.csv --scale AC=0:1 --scale my-metric:AC=0:100 --kind anna=human
    """
    from analysis.errors import AnalysisError
    from analysis.report.folder import check_folder
    from study.errors import StudyError

    for path in filter(None, (source, preferences)):
        if not path.exists():
            raise CannotRun(f"{path} does not exist; name a study's folder or a table of scores")
    folder = out or default_folder(source)
    given = {
        "reference": reference,
        "resamples": resamples,
        "seed": seed,
        "level": level,
        "ac_lambda": ac_lambda,
    }
    chosen = {key: value for key, value in given.items() if value is not None}
    try:
        check_folder(folder)
        if source.is_dir():
            if scales or kinds or preferences or preference_scale:
                raise CannotRun(
                    "--scale, --kind and --preferences describe a bare table; a study has them in "
                    f"{source / 'study.toml'}"
                )
            found = _from_study(source, chosen)
        else:
            found = _from_file(source, scales, kinds, preferences, preference_scale, chosen)
        _report(found, title or found.name, folder, verify, as_json)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    if show:
        click.launch(str(folder / "report.html"))


@click.command()
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Leave the study in this folder, and its report in report/ there.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the report. Default: ccrs-demo-report/, or report/ in the kept study.",
)
@click.option(
    "--verify/--no-verify",
    default=True,
    show_default=True,
    help="Check figures against krippendorff, pingouin and scipy afterwards.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary for programs.")
def demo(keep: Path | None, out: Path | None, verify: bool, as_json: bool) -> None:
    """Build the example study, say its verdict, write its report. Offline, in seconds.

    The study has 30 questions, 4 systems, 5 raters and a judge. The raters and the judge are
    simulated, with known faults for the report to find; data/example/README.md names them.

    \b
    ccrs demo
    ccrs demo --keep my-demo
    """
    from contextlib import nullcontext
    from tempfile import TemporaryDirectory

    from analysis.errors import AnalysisError
    from analysis.report.folder import check_folder
    from study.errors import StudyError
    from study.example import build_example

    report_folder = out or (Path("ccrs-demo-report") if keep is None else keep / "report")
    try:
        check_folder(report_folder)
        with TemporaryDirectory() if keep is None else nullcontext(str(keep)) as place:
            folder = Path(place) / "study" if keep is None else keep
            build_example(folder).close()
            if not as_json:
                click.echo("An example: the raters and the judge are simulated.\n")
            found = _from_study(folder, {})
            _report(found, found.name, report_folder, verify, as_json)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    if not as_json:
        click.echo(
            f"        or `ccrs status {keep}`"
            if keep
            else "        or keep the study: `ccrs demo --keep DIR`"
        )


def default_folder(source: Path) -> Path:
    """Where a report goes unless --out says otherwise."""
    if source.is_dir():
        return source / "report"
    return source.with_name(f"{source.stem}-report")


def _report(source: Source, title: str, folder: Path, verify: bool, as_json: bool) -> None:
    from analysis.compose import completed, headline
    from analysis.report import terminal
    from analysis.report.verdict import verdicts

    # The verdict first: what it needs takes a fraction of the whole.
    first = headline(source.scores, source.preferences, source.options, title, source.edited)
    found = verdicts(first)
    if not as_json:
        terminal.say_verdicts(first, found)

    from analysis.report import as_document, write_document

    with terminal.working("Computing every figure"):
        analysis = completed(first)
    with terminal.working("Drawing and writing"):
        content = as_document(analysis, _command(), found, source.judge_runs)
        page = write_document(content, folder)
    checks: list[Any] = []
    if verify:
        from analysis.verify import verify as verified

        with terminal.working("Checking against krippendorff, pingouin and scipy"):
            checks = [check.as_json() for check in verified(source.scores)]
            write_document(content.with_checks(checks), folder)
    differing = [check for check in checks if check["agrees"] is False]
    if as_json:
        terminal.say_json(page, content, checks if verify else None)
    else:
        terminal.say_written(page, analysis, checks if verify else None)
    if differing:
        raise click.exceptions.Exit(1)


def _from_study(folder: Path, chosen: dict[str, Any]) -> Source:
    from analysis.compose import Options
    from analysis.scales import Scale
    from analysis.tables import PreferenceTable, ScoreTable
    from study import Study
    from study.judge_runs import judge_runs
    from study.rater_rules import rules_of_raters
    from study.table import preference_table, score_table

    study = Study.open(folder)
    try:
        config = study.config
        scales = {c.key: Scale(**c.scale.model_dump()) for c in config.constructs}
        own = {
            (name, key): Scale(**spec.scale.model_dump())
            for name, spec in config.scorers.items()
            if spec.scale is not None
            for key in scales
        }
        names = {c.key: c.name for c in config.constructs}
        # One state of the study: people may be rating at this moment.
        with study.read() as connection:
            versions = study.construct_versions(connection)
            frame = score_table(connection, versions)
            last = score_table(connection, versions, "last") if frame.attrs["edited"] else None
            rows = preference_table(connection, versions)
            runs = judge_runs(connection)
            rules = rules_of_raters(connection, versions)
        scores = ScoreTable.from_frame(frame, scales, own, names)
        edited = None if last is None else ScoreTable.from_frame(last, scales, own, names)
        runs = [run for run in runs if run["name"] in scores.scorer_kinds]
        compared = None
        if len(rows):
            scale = Scale(**config.preferences.scale.model_dump())
            compared = PreferenceTable.from_frame(rows, scale)
    finally:
        study.close()
    if scores.frame.empty and compared is None:
        raise CannotRun(
            f"{folder} holds no scores yet; bring them in with `ccrs import {folder} FILE`"
        )
    settings = {
        "reference": config.analysis.reference,
        "resamples": config.analysis.resamples,
        "level": config.analysis.ci_level,
        "ac_lambda": config.analysis.ac_lambda,
        "seed": config.seed,
        "scorer_notes": {name: spec.note for name, spec in config.scorers.items() if spec.note},
        "rules_apart": tuple(_rules_apart(scores, rules, runs)),
    }
    options = Options(**{**settings, **chosen})
    return Source(scores, compared, options, config.name, runs, edited)


def _rules_apart(
    scores: ScoreTable, rules: Mapping[str, Sequence[str]], runs: Sequence[dict[str, Any]]
) -> Iterator[RulesApart]:
    """Compare the raters' rules with the words of each judge's prompts, where they are known."""
    from analysis.rules import RulesApart, lacking

    made = {run["name"]: run for run in runs}
    for construct, of_raters in rules.items():
        for judge in scores.scorers(construct, "judge"):
            prompt = _prompt(made[judge], construct) if judge in made else None
            yield RulesApart(
                construct, judge, None if prompt is None else lacking(of_raters, prompt)
            )


def _prompt(run: Mapping[str, Any], construct: str) -> str | None:
    """Return the words put to a judge; None where this version of ours has others or none."""
    from judge.prompts import prompt_version
    from study.errors import StudyError

    try:
        version = prompt_version(run["prompt_version"])
    except StudyError:
        return None
    template = version.templates.get(construct)
    return template.text if template and version.hash == run["prompt_hash"] else None


def _from_file(
    path: Path,
    scales: Sequence[str],
    kinds: Sequence[str],
    preferences: Path | None,
    preference_scale: str | None,
    chosen: dict[str, Any],
) -> Source:
    from analysis.compose import Options
    from analysis.scales import parse_scale
    from analysis.table_options import check_kinds, check_scales, read_kinds, read_scales
    from analysis.tables import PreferenceTable, ScoreTable
    from study import read_scores
    from study.importing import read_preferences

    if preference_scale and preferences is None:
        raise CannotRun("--preference-scale describes the table of --preferences, which is missing")
    of_kind = read_kinds(kinds)
    by_construct, by_scorer = read_scales(scales)
    # The readers check the ranges, since they know a value's row in the file.
    frame = read_scores(path, kinds=of_kind, scales=by_construct, scorer_scales=by_scorer)
    present = dict.fromkeys(zip(frame["scorer"], frame["construct"], strict=True))
    check_scales(by_construct, by_scorer, present)
    constructs = list(dict.fromkeys(frame["construct"]))
    scores = ScoreTable.from_frame(frame, by_construct.of(constructs), by_scorer)
    for line in frame.attrs.get("summary", ()):
        click.echo(line, err=True)
    scorers = dict.fromkeys(frame["scorer"])
    compared = None
    if preferences is not None:
        scale = parse_scale(preference_scale) if preference_scale else None
        rows = read_preferences(preferences, kinds=of_kind, scale=scale)
        compared = PreferenceTable.from_frame(rows, scale)
        scorers |= dict.fromkeys(rows["scorer"])
    check_kinds(of_kind, list(scorers))
    return Source(scores, compared, Options(**chosen), path.stem)


def _command() -> str:
    """The command as given, with files by name only: a report is passed on."""
    import shlex

    context = click.get_current_context()
    words = [f"ccrs {context.info_name}"]
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        for item in value if isinstance(value, tuple) else (value,):
            text = item.name if isinstance(item, Path) else str(item)
            if isinstance(parameter, click.Argument):
                words.append(shlex.quote(text))
            elif isinstance(item, bool):
                options = parameter.opts if item else parameter.secondary_opts
                words.append(options[0])
            else:
                words.append(f"{parameter.opts[0]} {shlex.quote(text)}")
    return " ".join(words)
