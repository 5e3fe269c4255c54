"""What a command analyzes: the tables and the options, from a study or from a file of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from analysis.compose import Options
    from analysis.rules import RulesApart
    from analysis.tables import PreferenceTable, ScoreTable
    from study import Study


Place = tuple[str, str, str]


def _no_reasons(places: Sequence[Place]) -> dict[Place, str]:
    del places
    return {}


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
    reasons: Callable[[Sequence[Place]], dict[Place, str]] = _no_reasons
    """What a judge wrote before some of its scores (scorer, response, construct)."""


class CannotRun(click.ClickException):
    """Bad input or usage: nothing was done."""

    exit_code = 2


def from_study(folder: Path, chosen: dict[str, Any]) -> Source:
    from analysis.cli.hypotheses import declared
    from analysis.compose import Options
    from analysis.scales import Scale
    from analysis.tables import PreferenceTable, ScoreTable
    from study import Study
    from study.interim_looks import interim_looks
    from study.judge_runs import judge_runs
    from study.rater_rules import rules_of_raters
    from study.status import current_systems
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
            looks = sum(interim_looks(connection).values())
            systems = tuple(current_systems(connection)) if config.hypotheses else ()
        scores = ScoreTable.from_frame(frame, scales, own, names)
        edited = None if last is None else ScoreTable.from_frame(last, scales, own, names)
        runs = _with_accounts(study, runs, scores)
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
        "second_metrics": config.analysis.second_metrics,
        "published": config.analysis.published,
        "non_inferiority_margin": config.analysis.non_inferiority_margin,
        "bias_margin": config.analysis.bias_margin,
        "alt_test_epsilon": config.analysis.alt_test_epsilon,
        "overall": config.analysis.overall,
        "wanted_width": config.analysis.wanted_width,
        "seed": config.seed,
        "looks": looks,
        "scorer_notes": {name: spec.note for name, spec in config.scorers.items() if spec.note},
        "rules_apart": tuple(_rules_apart(scores, rules, runs, folder)),
        "hypotheses": declared(config.hypotheses, scores, systems, tuple(scales)),
    }
    options = Options(**{**settings, **chosen})
    return Source(
        scores, compared, options, config.name, runs, edited, partial(_reasons, folder, versions)
    )


def _with_accounts(study: Study, runs: Sequence[Any], scores: ScoreTable) -> list[dict[str, Any]]:
    """Return the runs behind these scores with what they did and took."""
    from judge.audit.reporting import run_record

    behind = (run for run in runs if run["name"] in scores.scorer_kinds)
    return [{**run, "account": run_record(study, run["name"])} for run in behind]


def _reasons(
    folder: Path, versions: Mapping[str, int], places: Sequence[Place]
) -> dict[Place, str]:
    from study import Study
    from study.judge_reasons import judge_reasons

    opened = Study.open(folder)
    try:
        with opened.read() as connection:
            return judge_reasons(connection, versions, places)
    finally:
        opened.close()


def _rules_apart(
    scores: ScoreTable,
    rules: Mapping[str, Sequence[str]],
    runs: Sequence[dict[str, Any]],
    folder: Path,
) -> Iterator[RulesApart]:
    """Compare the raters' rules with the words of each judge's prompts, where they are known."""
    from analysis.rules import RulesApart, lacking

    made = {run["name"]: run for run in runs}
    for construct, of_raters in rules.items():
        for judge in scores.scorers(construct, "judge"):
            prompt = _prompt(made[judge], construct, folder) if judge in made else None
            yield RulesApart(
                construct, judge, None if prompt is None else lacking(of_raters, prompt)
            )


def _prompt(run: Mapping[str, Any], construct: str, folder: Path) -> str | None:
    """Return the words put to a judge; None where this version of ours has others or none."""
    from judge.versions import prompt_version
    from study.errors import StudyError

    try:
        version = prompt_version(run["prompt_version"], folder)
    except StudyError:
        return None
    template = version.templates.get(construct)
    return template.text if template and version.hash == run["prompt_hash"] else None


def from_file(
    path: Path,
    scales: Sequence[str],
    kinds: Sequence[str],
    preferences: Path | None,
    preference_scale: str | None,
    chosen: dict[str, Any],
    hypotheses: Path | None = None,
) -> Source:
    from analysis.cli.hypotheses import declared
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
    if hypotheses is not None:
        from study.config import read_hypotheses

        chosen = chosen | {"hypotheses": declared(read_hypotheses(hypotheses), scores)}
    return Source(scores, compared, Options(**chosen), path.stem)
