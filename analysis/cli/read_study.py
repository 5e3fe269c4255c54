"""The input of an analysis, from a study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.cli.analysis_input import AnalysisInput, CannotRun, Place, cuts_somebody, derived_from
from study.text import shell_word

if TYPE_CHECKING:
    from pandas import DataFrame

    from analysis.core.analysis import LabeledTexts
    from analysis.core.context import Context
    from analysis.core.options import InstructionMismatch
    from analysis.core.probe_table import ProbeTable
    from analysis.core.scales import Scale
    from analysis.core.tables import ScoreTable
    from study.settings.scorer_sections import CombinedSpec
    from study.settings.study_toml import StudyConfig


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
        "cut": {k: v for k, v in config.analysis.cut.items() if cuts_somebody(k, scores)},
        "interim_analyses": interim_analyses,
        "derived_from": derived_from(scores, config.combined),
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
