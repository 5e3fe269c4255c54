"""Which metrics a page of measurements was asked for, and what it does not show of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from judge.inspect.measured_values import MeasuredValues
from judge.metrics.registry import (
    PROMPTED_SUITES,
    SUITES,
    WITHOUT_PROMPTS,
    load_metric,
    metric_names,
    suite_of,
)
from judge.protocol.conditions import metric_of
from judge.running.runs import run_metric
from study.errors import StudyError, nearest
from study.facts.find_response import FoundResponse
from study.text import shell_word

_WITHOUT_MODEL = frozenset(WITHOUT_PROMPTS)


def asked_metrics(
    parts: Sequence[str], files: Mapping[str, str], stored: MeasuredValues
) -> dict[str, tuple[str, ...]]:
    """Return the metrics that each name stands for.

    `files` are the Python files among the names, by the key of their metric.

    Raises
    ------
    StudyError
        A name is neither that of a metric or suite nor of a stored one.
    """
    suites = {**SUITES, **PROMPTED_SUITES, **{file: (key,) for key, file in files.items()}}
    known = {*metric_names(), *_WITHOUT_MODEL, *stored.values, *stored.outdated}
    for part in parts:
        if part not in suites and part not in known and not _has_no_model(part):
            measured = ", ".join(sorted(stored.values)) or "nothing yet"
            hint = nearest(part, {*suites, *known})
            raise StudyError(
                f"Unknown metric {part!r}. {hint} Measured are: {measured}.".replace("  ", " ")
            )
    return {part: suites.get(part, (part,)) for part in parts}


def not_measured(
    folder: Path,
    response: FoundResponse,
    asked: Mapping[str, tuple[str, ...]],
    stored: MeasuredValues,
) -> StudyError:
    """Return the error for a response without values of the metrics that were asked for."""
    by = f" by {', '.join(asked)}" if asked else ""
    text = f"The response {response.response_id!r} has not been measured{by}."
    if stored.values:
        text += f" Measured are: {', '.join(sorted(stored.values))}."
    if not response.in_use:
        return StudyError(f"{text} A later response replaced it, so it is not measured any more.")
    keys = {*chain(*asked.values())} if asked else None
    text = " ".join([text, *outdated_notes(stored, keys)])
    commands = [_remedy(folder, part) for part in asked or ("F1", "ragchecker")]
    return StudyError(f"{text} Measure it: {', or '.join(dict.fromkeys(commands))}.")


def not_measured_note(folder: Path, response: FoundResponse, part: str) -> str:
    """Return that one of several metrics has no value, and the remedy."""
    if not response.in_use:
        return f"Not measured by {part}, and a later response replaced this one."
    return f"Not measured by {part}: {_remedy(folder, part)}."


def _remedy(folder: Path, part: str) -> str:
    """Return the command that measures by a metric or suite."""
    if part in SUITES or _has_no_model(part):
        return f"ccrs measure {shell_word(folder)} --metrics {shell_word(part)}"
    metric = shell_word(part)
    return f"ccrs judge {shell_word(folder)} --metric {metric} --base-url URL --model NAME"


def outdated_notes(stored: MeasuredValues, only: Iterable[str] | None) -> Iterator[str]:
    """Yield a sentence for each construct that metrics measured in an earlier version alone."""
    by_construct: dict[str, list[str]] = {}
    for key, constructs in stored.outdated.items():
        if only is None or key in only:
            for construct in constructs:
                by_construct.setdefault(construct, []).append(key)
    for construct, keys in sorted(by_construct.items()):
        yield f"Measured for an earlier version of {construct} only, and not shown: " + (
            f"{', '.join(keys)}."
        )


def unread_notes(
    folder: Path, runs: Sequence[Mapping[str, Any]], files: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each suite whose answers cannot be read here, with the cause."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for run in runs:
        key = metric_of(run)
        if run_metric(run, folder, files.get(key)) is None:
            found.setdefault((suite_of(key), str(run["prompt_hash"])), []).append(run)
    for (suite, digest), suite_runs in found.items():
        key = metric_of(suite_runs[0])
        name = key if len(suite_runs) == 1 else suite
        if _is_installed(key):
            yield (
                f"The prompts {suite_runs[0]['prompt_version']} with the hash {digest}, by {name}, "
                "are neither installed nor in the study, so claims and answers are not shown. "
                "Install the version of the package that made the runs."
            )
        else:
            yield (
                f"The metric {name!r} is not installed, so claims and answers are not shown: "
                "name its file, --metrics FILE.py."
            )


def repeats_note(
    folder: Path, response: FoundResponse, names: Iterable[str], stored: MeasuredValues
) -> Iterator[str]:
    """Yield a sentence where runs, by name, have several repeats."""
    last = max(
        (each.repeat for each in chain(*stored.values.values()) if each.scorer in set(names)),
        default=0,
    )
    if last:
        yield (
            f"Claims and answers are those of the first of {last + 1} repeats; the others: ccrs "
            f"judge show {shell_word(folder)} RUN --response {shell_word(response.response_id)}."
        )


def _has_no_model(key: str) -> bool:
    """Return whether this is a metric without a model; it may have a cut, as NDCG@10 has."""
    return key.partition("@")[0] in _WITHOUT_MODEL


def _is_installed(key: str) -> bool:
    try:
        load_metric(key)
    except StudyError:
        return False
    return True
