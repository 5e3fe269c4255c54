"""What a command analyzes: tables and options, from a study or from a file of scores."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from study.text import shell_word

if TYPE_CHECKING:
    from pandas import DataFrame

    from analysis.cli.column_options import NamedColumns
    from analysis.core.analysis import LabeledTexts
    from analysis.core.context import Context
    from analysis.core.mark_table import MarkTable
    from analysis.core.options import InstructionMismatch, Options
    from analysis.core.probe_table import ProbeTable
    from analysis.core.scales import Scale
    from analysis.core.tables import PreferenceTable, ScoreTable
    from study.settings.scorer_sections import CombinedSpec
    from study.settings.study_toml import StudyConfig


SCALE_FORM = "[[SCORER:]CONSTRUCT=]MIN:MAX[:STEP[:LEVEL]]"

scale_option = click.option(
    "--scale",
    "scales",
    multiple=True,
    metavar=SCALE_FORM,
    help="Scale of a table's constructs; of one construct; or of one scorer there. Repeatable.",
)

kind_option = click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="SCORER=KIND",
    help="human, adjudicated, judge or metric, where the table does not state it. Repeatable.",
)


Place = tuple[str, str, str]


def _no_reasons(places: Sequence[Place]) -> dict[Place, str]:
    del places
    return {}


class AnalysisInput(NamedTuple):
    """The inputs of a report."""

    scores: ScoreTable
    preferences: PreferenceTable | None
    options: Options
    name: str
    judge_runs: Sequence[dict[str, Any]] = ()
    """The conditions of the judges' runs, from a study."""
    edited: ScoreTable | None = None
    """The scores with what raters changed after the reveal, if they did."""
    probes: ProbeTable | None = None
    """Answers of judges to altered prompts, if there are any."""
    marks: MarkTable | None = None
    """Marks of people on sentences, if there are any."""
    reasons: Callable[[Sequence[Place]], dict[Place, str]] = _no_reasons
    """Returns judges' rationales of some scores (scorer, response, construct)."""
    labeled_texts: Callable[[Context], LabeledTexts] | None = None
    """Returns what metrics in steps and people said on texts of responses, from a study."""


class CannotRun(click.ClickException):
    """Bad input or usage; the command did nothing."""

    exit_code = 2


def from_study(folder: Path, chosen: dict[str, Any]) -> AnalysisInput:
    from analysis.cli.study_inputs import attributes, declared, mark_table, response_traits
    from analysis.core.options import Options
    from analysis.core.published_figures import PublishedFigures
    from analysis.core.scales import Scale
    from analysis.core.tables import PreferenceTable, ScoreTable
    from judge.inspect.show import run_record
    from judge.metrics.registry import is_low_good
    from study import Study
    from study.facts.judgments import judge_runs
    from study.facts.probe_table import probe_table, suspected_responses
    from study.facts.ratings import interim_analysis_counts, rules_of_raters
    from study.facts.score_table import compact_score_table, preference_table
    from study.settings.constructs import RETRIEVAL
    from study.status import current_systems

    with Study.open(folder) as study:
        config = study.config
        # One state of the study: people may be rating at this moment.
        with study.read() as connection:
            versions = study.construct_versions(connection)
            frame = compact_score_table(connection, versions, combined=config.combined)
            again = frame.attrs["edited"]
            last = (
                compact_score_table(connection, versions, "last", config.combined)
                if again
                else None
            )
            rows = preference_table(connection, versions)
            runs = judge_runs(connection)
            probed = probe_table(connection, versions)
            marks = mark_table(connection, versions)
            suspects = suspected_responses(connection)
            traits = response_traits(connection, _rated(frame))
            rules = rules_of_raters(connection, versions)
            interim_analyses = sum(interim_analysis_counts(connection).values())
            systems = tuple(current_systems(connection)) if config.hypotheses else ()
        described = {c.key: c for c in config.constructs}
        if (frame["construct"] == RETRIEVAL.key).any():
            described.setdefault(RETRIEVAL.key, RETRIEVAL)
        scales = {key: Scale(**c.scale.model_dump()) for key, c in described.items()}
        names = {key: c.name for key, c in described.items()}
        scorer_scales = _own_scales(config, frame["scorer"].unique(), tuple(scales))
        scores = ScoreTable.from_frame(frame, scales, scorer_scales, names)
        edited = None if last is None else ScoreTable.from_frame(last, scales, scorer_scales, names)
        runs = [
            {**run, "account": run_record(study, run["name"])}
            for run in runs
            if run["name"] in scores.scorer_kinds
        ]
        low_runs = {run["name"] for run in runs if run.pop("low_is_good")}
        compared = None
        if len(rows):
            scale = Scale(**config.preferences.scale.model_dump())
            compared = PreferenceTable.from_frame(rows, scale)
    if scores.frame.empty and compared is None:
        raise CannotRun(
            f"{folder} has no scores yet; import them with `ccrs import {shell_word(folder)} FILE`"
        )
    settings = {
        **_declared(config),
        # One that has no scores yet is mapped when it has.
        "map": {k: v for k, v in config.analysis.map.items() if k in scores.scorer_kinds},
        "cut": {k: v for k, v in config.analysis.cut.items() if _cuts_somebody(k, scores)},
        "interim_analyses": interim_analyses,
        "derived_from": _derived_from(scores, config.combined),
        "not_computed": _not_computed(scores, config.combined),
        "low_is_good": tuple(
            name
            for name, kind in scores.scorer_kinds.items()
            if name in low_runs or (kind == "metric" and is_low_good(name))
        ),
        "runs": attributes(runs),
        "instruction_mismatches": tuple(_instruction_mismatches(scores, rules, runs, folder)),
        "hypotheses": declared(config.hypotheses, scores, systems, tuple(scales)),
        "published_figures": tuple(
            PublishedFigures(**spec.model_dump()) for spec in config.published
        ),
    }
    options = Options(**{**settings, **chosen})
    probes = _probes(config, probed, suspects, traits)
    reasons = _reasons_of(folder, versions)
    return AnalysisInput(
        scores,
        compared,
        options,
        config.name,
        runs,
        edited,
        probes,
        marks,
        reasons,
        _labeled_texts_of(folder, runs),
    )


def _rated(frame: DataFrame) -> set[str]:
    """Responses with a value of a person."""
    return set(frame.loc[frame["scorer_kind"].isin(["human", "adjudicated"]), "response_id"])


def _own_scales(
    config: StudyConfig, scorers: Iterable[str], constructs: Sequence[str]
) -> dict[tuple[str, str], Scale]:
    """Scales of scorers that differ from the constructs' scales."""
    from analysis.core.scales import Scale

    return {
        (name, key): Scale(**scale.model_dump())
        for name in scorers
        if (scale := config.own_scale(name)) is not None
        for key in constructs
    }


def _declared(config: StudyConfig) -> dict[str, Any]:
    """Options that study.toml declares."""
    return {
        **config.analysis.model_dump(),
        "seed": config.seed,
        "scorer_notes": _notes(config),
    }


def _probes(
    config: StudyConfig, probed: Any, suspects: Mapping[str, tuple[int, int]], traits: Any
) -> ProbeTable:
    """Answers to probes, with traits of responses and families of scorers and systems."""
    from analysis.core.probe_table import ProbeTable, Suspects
    from study.columns import EXPECTED

    suspected = {name: Suspects(*counts) for name, counts in suspects.items()}
    return replace(
        ProbeTable.from_frame(probed, suspected),
        traits=traits,
        scorer_families={
            scorer: spec.family
            for name, spec in config.scorers.items()
            if spec.family is not None
            for scorer in (name, name + EXPECTED)
        },
        system_families={name: spec.family for name, spec in config.systems.items()},
    )


def _reasons_of(
    folder: Path, versions: Mapping[str, int]
) -> Callable[[Sequence[Place]], dict[Place, str]]:
    """A function that reads the judges' rationales of some scores."""

    def reasons(places: Sequence[Place]) -> dict[Place, str]:
        from study import Study
        from study.facts.judgments import judge_reasons

        with Study.open(folder) as opened, opened.read() as connection:
            return judge_reasons(connection, versions, places)

    return reasons


def _labeled_texts_of(
    folder: Path, runs: Sequence[Mapping[str, Any]]
) -> Callable[[Context], LabeledTexts]:
    """A function that reads the claims of metrics in steps for the responses to read."""
    from judge.protocol.conditions import METRIC

    scorers = {run["name"] for run in runs if METRIC in run["decoding"]}

    def read(context: Context) -> LabeledTexts:
        from analysis.core.analysis import LabeledText, LabeledTexts
        from analysis.topics.agreement.labeled_claims import responses_to_read
        from judge.inspect.labeled_texts import labeled_texts
        from study import Study

        chosen, number = responses_to_read(context, scorers)
        places = [(construct, key) for construct, keys in chosen.items() for key in keys]
        if not places:
            return LabeledTexts()
        with Study.open(folder) as study:
            found = labeled_texts(study, scorers, places)
        made = {of: tuple(LabeledText(*text) for text in texts) for of, texts in found.items()}
        return LabeledTexts(made, number)

    return read


def _notes(config: StudyConfig) -> dict[str, str]:
    """Remarks on scorers; that on a jury or composite begins with its members."""
    from study.facts.scorers import in_words

    notes = {name: spec.note for name, spec in config.scorers.items() if spec.note}
    for name, spec in config.combined.items():
        notes[name] = ". ".join(filter(None, [in_words(spec), notes.get(name)]))
    return notes


def _not_computed(scores: ScoreTable, combined: Mapping[str, CombinedSpec]) -> dict[str, str]:
    """Juries and composites without a row, and which of their members have no scores."""
    from study.facts.scorers import in_words, without_scores

    names = scores.scorer_kinds
    return {
        name: "; ".join(
            [
                in_words(spec),
                *(without_scores(spec, names) or ["they have no construct in common"]),
            ]
        )
        for name, spec in combined.items()
        if name not in names
    }


def _derived_from(
    scores: ScoreTable, combined: Mapping[str, CombinedSpec] | None = None
) -> dict[str, tuple[str, ...]]:
    """Scorers that follow from others: juries, composites, and means of a judge's distributions."""
    from study.columns import EXPECTED

    names = scores.scorer_kinds
    expected = {
        name: (of,)
        for name in names
        if name.endswith(EXPECTED) and (of := name.removesuffix(EXPECTED)) in names
    }
    return expected | {
        name: tuple(spec.of) for name, spec in (combined or {}).items() if name in names
    }


def _instruction_mismatches(
    scores: ScoreTable,
    rules: Mapping[str, Sequence[str]],
    runs: Sequence[dict[str, Any]],
    folder: Path,
) -> Iterator[InstructionMismatch]:
    """Compare the raters' rules with the words of each judge's prompts, where they are known."""
    from analysis.core.options import InstructionMismatch, missing_rules

    by_run = {run["name"]: run for run in runs}
    for construct, of_raters in rules.items():
        for judge in scores.scorers(construct, "judge"):
            prompt = _prompt(by_run[judge], construct, folder) if judge in by_run else None
            yield InstructionMismatch(
                construct, judge, None if prompt is None else missing_rules(of_raters, prompt)
            )


def _prompt(run: Mapping[str, Any], construct: str, folder: Path) -> str | None:
    """Return the text of a judge's prompt; None where this version has another or none."""
    from judge.prompts.prompt_versions import prompt_version
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
    columns: NamedColumns | None = None,
    *,
    propose: bool = True,
) -> AnalysisInput:
    """Read a table of scores: long, wide, or with `columns` of judges and raters.

    Columns that are not named are recognized; a line says what was taken as what. `propose`:
    whether likely scales are printed.
    """
    from analysis.cli.column_options import NamedColumns
    from analysis.cli.column_reading import read_named_columns
    from analysis.cli.column_recognition import in_words, recognized_columns
    from analysis.cli.study_inputs import declared
    from analysis.core.options import Options
    from analysis.core.scales import parse_scale
    from analysis.core.table_declarations import check_kinds, check_scales, read_kinds, read_scales
    from analysis.core.tables import PreferenceTable, ScoreTable
    from study import read_scores
    from study.importing.read_table import read_preferences

    if preference_scale and preferences is None:
        raise CannotRun("--preference-scale describes the table of --preferences, which is missing")
    of_kind = read_kinds(kinds)
    by_construct, by_scorer = read_scales(scales)
    if not (columns and (columns.judge or columns.human)) and (
        recognized := recognized_columns(path)
    ):
        # What the user names takes precedence over what columns are called.
        named = {key: value for key, value in vars(columns or NamedColumns()).items() if value}
        columns = replace(recognized, **named)
        if not of_kind:
            click.echo(in_words(columns, path), err=True)
    # The readers check the ranges, since they know a value's row in the file.
    if columns:
        if of_kind:
            raise CannotRun(
                "--judge and --human state the kind of each column; leave --kind out: "
                f"{columns.options()}"
            )
        frame = read_named_columns(path, columns, by_construct, by_scorer)
    else:
        only = _only_construct(path)
        frame = read_scores(
            path, kinds=of_kind, construct=only, scales=by_construct, scorer_scales=by_scorer
        )
        if only is not None:
            click.echo(f"No column names a construct; it is called {only}.", err=True)
    _check_likely_scales(frame, by_construct, by_scorer)
    present = dict.fromkeys(zip(frame["scorer"], frame["construct"], strict=True))
    check_scales(by_construct, by_scorer, present)
    constructs = list(dict.fromkeys(frame["construct"]))
    scores = ScoreTable.from_frame(frame, by_construct.of(constructs), by_scorer)
    if columns and propose:
        _propose_scales(scores)
        _propose_cut(scores, chosen.get("cut", {}))
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
        from study.settings.study_toml import read_hypotheses

        chosen = chosen | {"hypotheses": declared(read_hypotheses(hypotheses), scores)}
    options = Options(**{"derived_from": _derived_from(scores), **chosen})
    return AnalysisInput(scores, compared, options, path.stem)


# Names that columns with constructs have elsewhere; such a column is to be renamed.
_LIKE_CONSTRUCTS = {"metric", "criterion", "dimension", "aspect", "category", "measure"}


def _only_construct(path: Path) -> str | None:
    """The construct of a table that has a row for each score and names none."""
    from analysis.core.named_columns import ONLY_CONSTRUCT
    from study.importing.formats.scores import FIELDS
    from study.importing.readers.column_layout import folded, has
    from study.importing.readers.source import RecordSource

    columns = RecordSource(path).head.columns
    of_scores = has(FIELDS, columns, "scorer", "value")
    named = has(FIELDS, columns, "construct_key") or folded(columns) & _LIKE_CONSTRUCTS
    return ONLY_CONSTRUCT if of_scores and not named else None


def _propose_scales(scores: ScoreTable) -> None:
    """Print the scales that values without a declared one look like."""
    from analysis.core.likely_scales import likely_scales

    likely = likely_scales(scores)
    if likely:
        options = " ".join(f"--scale {shlex.quote(text)}" for text in likely)
        click.echo(
            "No scale is declared. The values look as if they were on the scale of these options "
            f"(MIN:MAX:STEP); if they are, add {options}", err=True
        )  # fmt: skip


def _cuts_somebody(key: str, scores: ScoreTable) -> bool:
    """Whether a declared cut is of people, or of a scorer that has scores already."""
    return any(
        key in {name, *(f"{name}:{construct}" for construct in scores.constructs)}
        for name in ("human", *scores.scorer_kinds)
    )


def _propose_cut(scores: ScoreTable, cuts: Mapping[str, float]) -> None:
    """Print how people's graded values are compared with a scorer that passes or fails."""
    from analysis.core.cuts import PEOPLE, declared_cut, passing_without_cut

    for construct in scores.constructs:
        machines = (*scores.scorers(construct, "judge"), *scores.scorers(construct, "metric"))
        for scorer in machines:
            if declared_cut(cuts, PEOPLE, construct) is None and passing_without_cut(
                scores, construct, scorer
            ):
                click.echo(
                    f"{scorer} passes or fails {construct}, which people grade. `ccrs report` and "
                    "`ccrs check` compare them with --cut human=VALUE, the lowest value with which "
                    "people pass.", err=True
                )  # fmt: skip


# A scale is contradicted where so many values or more, which differ, are in its lowest tenth.
_VALUES_THAT_CONTRADICT, _LOWEST = 10, 0.1
# Points of a scale that is too short to be taken for another one.
_SHORT_SCALE = 10


def _check_likely_scales(
    frame: DataFrame,
    by_construct: Mapping[str, Scale],
    by_scorer: Mapping[tuple[str, str], Scale],
) -> None:
    """Refuse a declared scale of which values use a small part at the lower end.

    A scale that is declared for the scorer is not questioned.
    """
    from analysis.core.likely_scales import looks_like

    for key, rows in frame.groupby(["construct", "scorer"], sort=False):
        construct, scorer = map(str, key) if isinstance(key, tuple) else (str(key), "")
        scale = by_construct.get(construct)
        values = rows["value"].dropna().to_numpy(dtype=float)
        if scale is None or (scorer, construct) in by_scorer or scale.width <= _SHORT_SCALE:
            continue
        likely = looks_like(values)
        many = len(values) >= _VALUES_THAT_CONTRADICT
        if many and likely and values.max() <= scale.min + _LOWEST * scale.width:
            option = shlex.quote(f"{scorer}:{construct}={likely}")
            asserted = shlex.quote(f"{scorer}:{construct}={scale.min:g}:{scale.max:g}")
            raise CannotRun(
                f"{scorer} on {construct}: all {len(values)} values are within "
                f"{values.min():g} to {values.max():g}, on a declared scale of {scale}; nothing "
                f"was written. Its scale is probably {likely}: add --scale {option}, or --scale "
                f"{likely} if all scorers use it. If the scale is right, add --scale {asserted}."
            )


def from_preferences(
    path: Path, kinds: Sequence[str], preference_scale: str | None, chosen: dict[str, Any]
) -> AnalysisInput:
    """A table of comparisons alone: people's preferences, and those of judges."""
    import pandas as pd

    from analysis.core.options import Options
    from analysis.core.scales import parse_scale
    from analysis.core.table_declarations import check_kinds, read_kinds
    from analysis.core.tables import PreferenceTable, ScoreTable
    from study.columns import SCORE_COLUMNS
    from study.importing.read_table import read_preferences

    of_kind = read_kinds(kinds)
    scale = parse_scale(preference_scale) if preference_scale else None
    rows = read_preferences(path, kinds=of_kind, scale=scale)
    check_kinds(of_kind, list(dict.fromkeys(rows["scorer"])))
    nothing = ScoreTable.from_frame(pd.DataFrame(columns=list(SCORE_COLUMNS)))
    compared = PreferenceTable.from_frame(rows, scale)
    return AnalysisInput(nothing, compared, Options(**chosen), path.stem)
