"""The options of a report, from a study: settings, hypotheses, and what is known of its runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.cli.report_input import cuts_somebody, derived_from

if TYPE_CHECKING:
    from analysis.core.options import InstructionMismatch, Options
    from analysis.core.tables import ScoreTable
    from study.base.hypotheses import Hypothesis
    from study.facts.analysis_input import AnalysisInput


def study_options(
    given: AnalysisInput,
    scores: ScoreTable,
    runs: Sequence[Mapping[str, Any]],
    folder: Path,
    chosen: Mapping[str, Any],
) -> Options:
    """The options of a study's report: `chosen` ones, those of study.toml, and what was stored."""
    from analysis.core.options import Options

    config, kinds = given.config, scores.scorer_kinds
    settings = {
        **asdict(config.analysis),
        "seed": config.seed,
        "scorer_notes": given.scorer_notes,
        # One that has no scores yet is mapped when it has.
        "map": {k: v for k, v in config.analysis.map.items() if k in kinds},
        "cut": {k: v for k, v in config.analysis.cut.items() if cuts_somebody(k, scores)},
        "interim_analyses": given.interim_analyses,
        "derived_from": derived_from(scores, config.combined),
        "not_computed": given.not_computed,
        "low_is_good": tuple(name for name in kinds if name in given.low_is_good),
        "runs": attributes(runs),
        "instruction_mismatches": tuple(_instruction_mismatches(scores, given.rules, runs, folder)),
        "hypotheses": declared(config.hypotheses, scores, given.systems, tuple(given.constructs)),
        "published_figures": config.published,
    }
    return Options(**{**settings, **chosen})


def declared(
    hypotheses: Sequence[Hypothesis],
    scores: ScoreTable,
    systems: Collection[str] = (),
    constructs: Collection[str] = (),
) -> tuple[Hypothesis, ...]:
    """Hypotheses about the systems and constructs of the table and of the study.

    Raises
    ------
    AnalysisError
        One names an unknown system, construct or scorer.
    """
    from analysis.statistics.discrimination.hypotheses import check_hypotheses
    from analysis.topics.distribution.estimates import MEAN_OF_RATERS

    scorers = [name for name, kind in scores.scorer_kinds.items() if kind != "human"]
    check_hypotheses(
        hypotheses,
        tuple(dict.fromkeys([*scores.systems, *systems])),
        tuple(dict.fromkeys([*scores.constructs, *constructs])),
        (*scorers, MEAN_OF_RATERS),
    )
    return tuple(hypotheses)


#: Value of an attribute that a run does not have.
NONE = "none"

_NAMES = {
    "engine": "engine",
    "model": "model",
    "model_revision": "revision",
    "prompt_version": "prompts",
    "prompt_hash": "words of the prompts",
    "seed": "seed",
}

#: Readable names of parts of the decoding; the others keep theirs.
_DECODING = {"shuffle_passages": "passage order"}

#: Attributes that follow from model, endpoint or prompts.
_FOLLOWING = {
    "chat_template_date",
    "chat_template_sha256",
    "ignored",
    "limit_sent_as",
    "max_tokens",
    "reasoning_tokens",
    "refused",
}


def attributes(runs: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Attributes of each run (as in `study.facts.judgments`) by the run's name.

    All runs have the same attributes, "none" where a run lacks one. Different prompts usually have
    different names, so that their hash is an attribute only where one name has several hashes.
    """
    by_run = {str(run["name"]): _run_attributes(run) for run in runs}
    keys = list(dict.fromkeys(key for entry in by_run.values() for key in entry))
    whole = {name: {key: entry.get(key, NONE) for key in keys} for name, entry in by_run.items()}
    words = {(entry["prompts"], entry["words of the prompts"]) for entry in whole.values()}
    if len(words) == len({prompts for prompts, _ in words}):
        for entry in whole.values():
            del entry["words of the prompts"]
    return whole


def _run_attributes(run: Mapping[str, Any]) -> dict[str, str]:
    entry = {name: _text(run[key]) for key, name in _NAMES.items()}
    decoding = {k: v for k, v in run["decoding"].items() if k not in _FOLLOWING}
    return entry | {_DECODING.get(key, key): _text(value) for key, value in decoding.items()}


def _text(value: Any) -> str:
    if value is None:
        return NONE
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _instruction_mismatches(
    scores: ScoreTable,
    rules: Mapping[str, Sequence[str]],
    runs: Sequence[Mapping[str, Any]],
    folder: Path,
) -> Iterator[InstructionMismatch]:
    """Compare the raters' rules with the words of each judge's prompts, where they are known."""
    from analysis.core.options import InstructionMismatch, missing_rules

    by_run = {run["name"]: run for run in runs}
    for construct, rater_rules in rules.items():
        for judge in scores.scorers(construct, "judge"):
            prompt = _prompt(by_run[judge], construct, folder) if judge in by_run else None
            yield InstructionMismatch(
                construct, judge, None if prompt is None else missing_rules(rater_rules, prompt)
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
