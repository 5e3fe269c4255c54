"""All that is known of a run: under what it answers, what it gave, what it cost."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Text, cast, func, select, union_all

from judge.inspect.run_details import ConstructFigures, RunDetails, Served
from judge.inspect.run_metric import run_metric
from judge.running.calls import account, calls_of
from judge.running.judgments import count
from judge.running.runs import run_of
from judge.running.work_items import EMPTY_RESPONSE
from study.facts.current_responses import current_responses
from study.scales import RatingScale
from study.schema import Judgment, StepAnswer, table
from study.study import Study

BARE = "bare"
"""Rule of an answer that is the number and nothing else."""
NOT_RECORDED = "not_recorded"
"""Stands for the rule of values stored before rules were."""


def show_run(study: Study, name: str) -> RunDetails:
    """Return all that is known of a run.

    Raises
    ------
    StudyError
        The study has no run of this name.

    Examples
    --------
    >>> show_run(Study.open("my-study"), "llama-3-70b").constructs[0].mean  # doctest: +SKIP
    71.25
    """
    with study.read() as connection:
        run = run_of(connection, name)
        versions = study.construct_versions(connection)
        by = ("value", "missing_reason", "rule", "parser_version", "revision")
        counted = count(connection, versions, by, run["id"])
        responses = len(current_responses(connection)[0])
        spent = _spent(connection, run["id"])
        served = _served(connection, run["id"])
        flags = _flags(connection, run["id"])
        calls = calls_of(connection, run["id"])
    keys = [key for key in versions if any(group[0] == key for group in counted.by)]
    figures = [_figures(key, _scale(study, key, name), counted.by) for key in keys]
    parsers: Counter[str] = Counter()
    read_again = 0
    for (_, _, _, _, parser, revision), number in counted.by.items():
        if parser is not None:
            parsers[parser] += number
        read_again += number if revision else 0
    judgments = counted.by.total()
    return RunDetails(
        **{field: run[field] for field in _AS_STORED},
        prompts_at_hand=has_prompts(run, study.folder),
        begun=run["created_at"].isoformat(timespec="seconds"),
        judgments=judgments,
        possible=responses * len(figures) * run["repeats"],
        missing=judgments - sum(figure.values for figure in figures),
        left_out=counted.left_out,
        constructs=figures,
        parsers=dict(parsers),
        read_again=read_again,
        **spent,
        served=served,
        flags=flags,
        calls=calls,
        account=account(calls),
    )


def has_prompts(run: Mapping[str, Any], study_folder: Path) -> bool:
    """Tell whether the package or the study has the very prompts of a stored run."""
    return run_metric(run, study_folder) is not None


_AS_STORED = (
    "name",
    "engine",
    "endpoint",
    "model",
    "model_revision",
    "prompt_version",
    "prompt_hash",
    "decoding",
    "seed",
    "repeats",
    "observed",
    "software",
    "config_hash",
)


def _scale(study: Study, construct: str, run: str) -> RatingScale:
    scale = study.config.scale(construct, run)
    assert scale is not None  # noqa: S101  (only constructs of study.toml are counted)
    return scale


def _figures(key: str, scale: RatingScale, counts: Counter[tuple[Any, ...]]) -> ConstructFigures:
    values: Counter[float] = Counter()
    missing: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    for (construct, value, reason, rule, *_), number in counts.items():
        if construct != key:
            continue
        if value is None:
            missing[reason] += number
        else:
            values[value] += number
            rules[rule or NOT_RECORDED] += number
    whole = values.total()
    read = whole - rules[EMPTY_RESPONSE] - rules[NOT_RECORDED]
    return ConstructFigures(
        construct=key,
        scale=[scale.min, scale.max],
        judgments=whole + missing.total(),
        values=whole,
        distinct=len(values),
        mean=sum(value * number for value, number in values.items()) / whole if whole else None,
        at_min=values[scale.min] / whole if whole else None,
        at_max=values[scale.max] / whole if whole else None,
        missing=_most(missing),
        rules=_most(rules),
        bare=rules[BARE] / read if read else None,
    )


def _most(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted((+counts).items(), key=lambda item: (-item[1], item[0])))


_TOKENS = ("prompt", "completion", "reasoning", "cached")


def _spent(connection: Connection, run: int) -> dict[str, Any]:
    """Return what the answers of a run took, those to the steps of a metric included."""
    j, s = table(Judgment), table(StepAnswer)
    counts = [f"{name}_tokens" for name in _TOKENS]
    answers = union_all(
        *(
            select(*(t.c[name] for name in (*counts, "milliseconds"))).where(t.c.run_id == run)
            for t in (j, s)
        )
    ).subquery()
    told = answers.c.cached_tokens.is_not(None)
    statement = select(
        *(func.sum(answers.c[name]) for name in counts),
        func.sum(answers.c.prompt_tokens).filter(told),
        func.avg(answers.c.milliseconds),
    )
    *tokens, compared, milliseconds = connection.execute(statement).one()
    further = select(func.count()).where(j.c.run_id == run, j.c.attempt > 1)
    counted = {name: int(n) for name, n in zip(_TOKENS, tokens, strict=True) if n is not None}
    return {
        "tokens": counted,
        "cached_share": counted["cached"] / int(compared) if compared else None,
        "milliseconds": None if milliseconds is None else float(milliseconds),
        "further_attempts": int(connection.execute(further).scalar_one()),
    }


def _served(connection: Connection, run: int) -> list[Served]:
    answers = union_all(
        *(
            select(t.c.id, t.c.served_model, t.c.fingerprint, t.c.created_at).where(
                t.c.run_id == run, t.c.raw_answer.is_not(None)
            )
            for t in (table(Judgment), table(StepAnswer))
        )
    ).subquery()
    first, last = func.min(answers.c.created_at), func.max(answers.c.created_at)
    statement = (
        select(answers.c.served_model, answers.c.fingerprint, func.count(), first, last)
        .group_by(answers.c.served_model, answers.c.fingerprint)
        .order_by(func.min(answers.c.id))
    )
    return [
        Served(model, fingerprint, int(number), _time(begun), _time(ended))
        for model, fingerprint, number, begun, ended in connection.execute(statement)
    ]


def _time(moment: Any) -> str:
    return str(moment.isoformat(timespec="seconds"))


def _flags(connection: Connection, run: int) -> dict[str, int]:
    j = table(Judgment)
    # PostgreSQL compares JSON as text only.
    text = cast(j.c.flags, Text)
    statement = select(text, func.count()).where(j.c.run_id == run).group_by(text)
    found: Counter[str] = Counter()
    for flags, number in connection.execute(statement):
        for flag in json.loads(flags or "[]"):
            found[flag] += int(number)
    return _most(found)
