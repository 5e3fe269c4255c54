"""The command `ccrs check`: a gate for automation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analysis.cli.column_options import NamedColumns, named_columns_options
from analysis.cli.given_options import OF_REPORTS, Facts, check_given
from analysis.cli.read_scores import compares, from_file, from_preferences
from analysis.cli.read_study import from_study
from analysis.cli.report import analysis_options
from analysis.cli.report_input import CannotRun, kind_option, say_declared, scale_option
from analysis.cli.second_file import SecondFile, second_file_options
from study.cli.options import AS_JSON, SettingsCommand, chosen_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.gate.evaluation import Checked
    from analysis.gate.requirements import Answered


def _settings() -> list[click.Option]:
    """Those of a report on which answers depend."""
    return [option for option in analysis_options() if option.name not in OF_REPORTS]


@click.command(cls=SettingsCommand, settings=_settings)
@click.argument("source", type=click.Path(path_type=Path), metavar="STUDY_OR_SCORES")
@second_file_options
@click.option(
    "--thresholds",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML file with [[check]] for a table of scores. A study has them in study.toml.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="report.json of an earlier report, for allowed_drop and allowed_rise.",
)
@click.option(
    "--require",
    "required",
    multiple=True,
    metavar="USE=ANSWER",
    help="Answer that each judge must have, such as rank_systems=yes, or QR:report_level=likely "
    "for one construct. Repeatable.",
)
@named_columns_options
@scale_option
@kind_option
@AS_JSON
def check(
    source: Path,
    second: SecondFile,
    columns: NamedColumns,
    thresholds: Path | None,
    baseline: Path | None,
    required: tuple[str, ...],
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Check figures against thresholds, for use in automation.

    Exit status: 0 all thresholds and required answers are met, 1 at least one is not, 2 the check
    could not be done (a figure is undefined or unknown, a file can't be read). Options of the same
    name override the settings under [analysis] in study.toml.

    \b
    Examples:
      ccrs check my-study
      ccrs check my-study --baseline my-study/report/report.json
      ccrs check scores.csv --scale 0:100 --thresholds gate.toml
      ccrs check scores.csv --scale 0:100 --require rank_systems=yes
      ccrs check results.csv --judge llm --human human --require report_level=likely
    """
    from analysis.core.errors import AnalysisError
    from analysis.gate.evaluation import check as checked, read_baseline
    from analysis.gate.requirements import answered, requirement
    from analysis.gate.thresholds import Threshold
    from analysis.pipeline.estimation import analyse, headline
    from analysis.render.terminal import working
    from study.errors import StudyError
    from study.settings.study_toml import read_checks, read_config

    for path in filter(None, (source, thresholds, baseline)):
        if not path.exists():
            raise CannotRun(f"{path} does not exist")
    chosen = chosen_settings(options)
    try:
        requirements = [requirement(text) for text in required]
        if source.is_dir():
            if scales or kinds or thresholds or columns:
                raise CannotRun(
                    "--judge, --human, --scale, --kind and --thresholds describe a bare table; a "
                    f"study has them in {source / 'study.toml'}"
                )
            specs = read_config(source / "study.toml")[0].check
            inputs = from_study(source, chosen)
        else:
            if thresholds is None and not requirements:
                raise CannotRun(
                    "name a file of thresholds with --thresholds FILE, or an answer, such as "
                    "--require rank_systems=yes"
                )
            specs = () if thresholds is None else read_checks(thresholds)
            if second.path is None and not scales and compares(source, columns):
                inputs = from_preferences(source, kinds, None, chosen)
            else:
                inputs = from_file(
                    source, scales, kinds, None, None, chosen, columns=columns, second=second
                )
        limits = [
            Threshold(construct=spec.construct_key, **spec.model_dump(exclude={"construct_key"}))
            for spec in specs
        ]
        check_given(Facts(inputs.scores, thresholds=limits))
        earlier = None if baseline is None else read_baseline(baseline)
        # Answers need a fraction of the figures.
        compute = analyse if limits or not requirements else headline
        with working("Computing the figures"):
            analysis = compute(
                inputs.scores,
                inputs.preferences,
                inputs.options,
                inputs.name,
                given=set(chosen),
            )
            results = checked(analysis, limits, earlier) if limits or not requirements else []
            answers = answered(analysis, requirements)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    say_declared(inputs.declared)
    if as_json:
        _say_json(results, answers)
    else:
        _say(results, answers)
    if not (all(r.holds for r in results) and all(a.holds for a in answers)):
        raise click.exceptions.Exit(1)


def _say(results: Sequence[Checked], answers: Sequence[Answered]) -> None:
    """A line for each figure and each required answer, and how many are met."""
    from analysis.gate.thresholds import DIFFERENCE
    from analysis.render.decision_words import answer_word

    for result in results:
        e = result.estimate
        scorer = " minus ".join(e.scorers[: 2 if e.statistic == DIFFERENCE else 1])
        whose = f"{', '.join(e.constructs)}, {scorer}" if e.scorers else str(e.constructs)
        bounds = [
            f"{word} {bound:g}"
            for word, bound in (
                ("at least", result.threshold.minimum),
                ("at most", result.threshold.maximum),
                ("may drop", result.threshold.allowed_drop),
                ("may rise", result.threshold.allowed_rise),
            )
            if bound is not None
        ]
        number = "" if result.threshold.on == "value" else f" {result.threshold.on}"
        line = (
            f"{'holds' if result.holds else 'SHORT'}  {e.statistic}{number} ({whose}; {e.scope}) "
            f"{result.number:.4g}, {', '.join(bounds)}"
        )
        if result.before is not None:
            line += f"; baseline {result.before:.4g}"
        if result.noise is not None:
            line += f", repeats differ by {result.noise:.2g}"
        click.echo(line)
        for shortfall in result.shortfalls:
            click.echo(f"       {shortfall}")
    for answer in answers:
        name, sentence = answer.decision.scorer, answer.record["deciding"]["sentence"]
        click.echo(
            f"{'holds' if answer.holds else 'SHORT'}  {answer.requirement} ({name}): "
            f"{answer_word(answer.decision)}; {sentence}"
        )
        if answer.without_scores:
            click.echo(
                f"       {name} has no scores on {', '.join(answer.without_scores)}, which people "
                "rated: the answer is on the other constructs only"
            )
        settle = answer.record["settle"]
        # A reason that the sentence has in full is not repeated as what is needed.
        if settle and not answer.holds and (answer.decision.missing or settle) not in sentence:
            click.echo(f"       {settle}")
    held = sum(r.holds for r in results) + sum(a.holds for a in answers)
    click.echo(f"{held} of {len(results) + len(answers)} hold")


def _say_json(results: Sequence[Checked], answers: Sequence[Answered]) -> None:
    import json

    content = {
        "holds": all(r.holds for r in results) and all(a.holds for a in answers),
        "figures": [result.as_json() for result in results],
        "decisions": [answer.as_json() for answer in answers],
    }
    click.echo(json.dumps(content, ensure_ascii=False, indent=1))
