"""The command `ccrs check`: a gate for automation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.cli.source import CannotRun, from_file, from_study, kind_option, scale_option
from study.cli.options import AS_JSON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.gate.evaluation import Checked


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="STUDY_OR_SCORES")
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
@scale_option
@kind_option
@AS_JSON
def check(
    source: Path,
    thresholds: Path | None,
    baseline: Path | None,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    as_json: bool,
) -> None:
    """Check figures against thresholds, for use in automation.

    Exit status: 0 all thresholds are met, 1 at least one is not, 2 the check could not be done (a
    figure is undefined or unknown, a file can't be read).

    \b
    Examples:
      ccrs check my-study
      ccrs check my-study --baseline my-study/report/report.json
      ccrs check scores.csv --scale 0:100 --thresholds gate.toml
    """
    from analysis.core.errors import AnalysisError
    from analysis.gate.evaluation import check as checked, read_baseline
    from analysis.gate.thresholds import Threshold
    from analysis.pipeline.estimation import analyse
    from analysis.render.terminal import working
    from study.errors import StudyError
    from study.settings.study_toml import read_checks, read_config

    for path in filter(None, (source, thresholds, baseline)):
        if not path.exists():
            raise CannotRun(f"{path} does not exist")
    try:
        if source.is_dir():
            if scales or kinds or thresholds:
                raise CannotRun(
                    "--scale, --kind and --thresholds describe a bare table; a study has them in "
                    f"{source / 'study.toml'}"
                )
            specs = read_config(source / "study.toml")[0].check
            inputs = from_study(source, {})
        else:
            if thresholds is None:
                raise CannotRun("name a file of thresholds with --thresholds FILE")
            specs = read_checks(thresholds)
            inputs = from_file(source, scales, kinds, None, None, {})
        limits = [
            Threshold(construct=spec.construct_key, **spec.model_dump(exclude={"construct_key"}))
            for spec in specs
        ]
        earlier = None if baseline is None else read_baseline(baseline)
        with working("Computing every figure"):
            analysis = analyse(
                inputs.scores, inputs.preferences, inputs.options, inputs.name, inputs.edited
            )
            results = checked(analysis, limits, earlier)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    if as_json:
        _say_json(results)
    else:
        _say(results)
    if not all(result.holds for result in results):
        raise click.exceptions.Exit(1)


def _say(results: Sequence[Checked]) -> None:
    """A line for each figure, and how many thresholds are met."""
    from analysis.gate.thresholds import DIFFERENCE

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
    short = sum(not result.holds for result in results)
    click.echo(f"{len(results) - short} of {len(results)} hold")


def _say_json(results: Sequence[Checked]) -> None:
    import json

    content = {
        "holds": all(result.holds for result in results),
        "figures": [result.as_json() for result in results],
    }
    click.echo(json.dumps(content, ensure_ascii=False, indent=1))
