"""Reading a run from the database: its conditions, figures and usage."""

import json
import re
from collections import Counter
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Text, cast, func, select, union_all

from judge.inspect.run_details import ConstructFigures, RunDetails
from judge.protocol.exchange import REASONS, TOKENS
from judge.running.calls import account, calls_of
from judge.running.items import EMPTY_RESPONSE
from judge.running.judgments import PairCount, count, pair_counts, served
from judge.running.runs import run_metric, run_of
from judge.text import by_number
from study.facts.current_responses import count_current_responses
from study.schema.tables import judgments, run_answers, run_step_answers
from study.study import Study

BARE = "bare"
"""Rule of an answer that is only the number."""
NOT_RECORDED = "not_recorded"
"""In place of the rule, for values without one."""

_STORED = (
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
_IN_REPORT = (
    "begun",
    "config_hash",
    "software",
    "judgments",
    "possible",
    "missing",
    "tokens",
    "cached_share",
    "milliseconds",
    "served",
    "account",
)

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
# Endings of host names that exist only inside a network.
_PRIVATE = (".internal", ".local", ".localhost", ".lan", ".home", ".corp", ".intranet", ".invalid")


def show_run(study: Study, name: str) -> RunDetails:
    """Return a run with its conditions, figures and usage.

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
        versions = study.scored_versions(connection)
        by = ("value", "missing_reason", "rule", "parser_version", "revision")
        counts = count(connection, versions, by, run["id"])
        responses = count_current_responses(connection)
        usage = _usage(connection, run["id"])
        answered_by = served(connection, run["id"])
        flags = _flags(connection, run["id"])
        calls = calls_of(connection, run["id"])
        compared = pair_counts(connection).get(run["id"], PairCount(0, 0))
    keys = [key for key in versions if any(group[0] == key for group in counts.by)]
    figures = [_figures(study, key, name, counts.by) for key in keys]
    parsers: Counter[str] = Counter()
    read_again = 0
    for (*_, parser, revision), number in counts.by.items():
        if parser is not None:
            parsers[parser] += number
        read_again += number if revision else 0
    judgments = counts.by.total()
    metric = run_metric(run, study.folder)
    explained = {**REASONS, **(metric.reasons if metric is not None else {})}
    missing = {reason for figure in figures for reason in figure.missing}
    return RunDetails(
        **{column: run[column] for column in _STORED},
        has_prompts=metric is not None,
        begun=run["created_at"].isoformat(timespec="seconds"),
        judgments=judgments,
        possible=responses * len(figures) * run["repeats"],
        pairs=compared.pairs,
        pairs_missing=compared.missing,
        missing=judgments - sum(figure.values for figure in figures),
        left_out=counts.left_out,
        constructs=figures,
        reasons={reason: explained[reason] for reason in sorted(missing & explained.keys())},
        parsers=dict(parsers),
        read_again=read_again,
        **usage,
        served=answered_by,
        flags=flags,
        calls=calls,
        account=account(calls),
    )


def _figures(
    study: Study, key: str, run: str, counts: Counter[tuple[Any, ...]]
) -> ConstructFigures:
    scale = study.config.scale(key, run)
    assert scale is not None  # noqa: S101  (only constructs of the study are counted)
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
    total = values.total()
    read = total - rules[EMPTY_RESPONSE] - rules[NOT_RECORDED]
    return ConstructFigures(
        construct=key,
        scale=[scale.min, scale.max],
        judgments=total + missing.total(),
        values=total,
        distinct=len(values),
        mean=sum(value * number for value, number in values.items()) / total if total else None,
        at_min=values[scale.min] / total if total else None,
        at_max=values[scale.max] / total if total else None,
        missing=dict(by_number(+missing)),
        rules=dict(by_number(+rules)),
        bare=rules[BARE] / read if read else None,
    )


def _usage(connection: Connection, run: int) -> dict[str, Any]:
    """Return tokens and times of a run's answers, those to the steps of a metric included."""
    columns = [f"{name}_tokens" for name in TOKENS]
    answers = union_all(
        *(
            select(*(t.c[name] for name in (*columns, "milliseconds"))).where(t.c.run_id == run)
            for t in (run_answers, run_step_answers)
        )
    ).subquery()
    has_cached = answers.c.cached_tokens.is_not(None)
    statement = select(
        *(func.sum(answers.c[name]) for name in columns),
        func.sum(answers.c.prompt_tokens).filter(has_cached),
        func.avg(answers.c.milliseconds),
    )
    *sums, compared, milliseconds = connection.execute(statement).one()
    further = select(func.count()).where(judgments.c.run_id == run, judgments.c.attempt > 1)
    tokens = {name: int(n) for name, n in zip(TOKENS, sums, strict=True) if n is not None}
    return {
        "tokens": tokens,
        "cached_share": tokens["cached"] / int(compared) if compared else None,
        "milliseconds": None if milliseconds is None else float(milliseconds),
        "further_attempts": int(connection.execute(further).scalar_one()),
    }


def _flags(connection: Connection, run: int) -> dict[str, int]:
    counts: Counter[str] = Counter()
    # PostgreSQL compares JSON as text only.
    text = cast(run_answers.c.flags, Text)
    statement = select(text, func.count()).where(run_answers.c.run_id == run).group_by(text)
    for flags, number in connection.execute(statement):
        for flag in json.loads(flags or "[]"):
            counts[flag] += int(number)
    return dict(by_number(counts))


def run_record(study: Study, name: str) -> dict[str, Any]:
    """Return the figures of a run for the report's section on runs, as values for its JSON.

    Reports are passed on, so of the endpoint only the host of a public provider is included, and
    neither notes nor prices of calls.

    Raises
    ------
    StudyError
        The study has no run of this name.
    """
    run = show_run(study, name)
    record = run.as_json()
    missing: Counter[str] = Counter()
    for construct in run.constructs:
        missing.update(construct.missing)
    flags: Counter[str] = Counter()
    for flag, number in run.flags.items():
        flags[without_addresses(flag)] += number
    return {
        **{field: record[field] for field in _IN_REPORT},
        "observed": {name: without_addresses(value) for name, value in run.observed.items()},
        "flags": dict(flags),
        "host": public_host(run.endpoint),
        "missing_by_reason": dict(missing),
        "constructs": [
            {name: figures[name] for name in ("construct", "judgments", "values", "missing")}
            for figures in record["constructs"]
        ],
        "calls": [
            {name: call[name] for name in call if name not in {"notes", "prices", "software"}}
            for call in record["calls"]
        ],
    }


def without_addresses(value: Any) -> Any:
    """Return a value in which addresses are replaced by their public host or "a private server".

    Examples
    --------
    >>> without_addresses(["answered at http://gpu7:8000/v1"])
    ['answered at a private server']
    """
    if isinstance(value, str):
        return _ADDRESS.sub(lambda match: public_host(match[0]) or "a private server", value)
    if isinstance(value, list):
        return [without_addresses(item) for item in value]
    if isinstance(value, dict):
        return {without_addresses(name): without_addresses(item) for name, item in value.items()}
    return value


def public_host(endpoint: str | None) -> str | None:
    """Return the host of a public address; None for an address in a private network.

    Examples
    --------
    >>> public_host("https://api.openai.com/v1")
    'api.openai.com'
    >>> public_host("http://gpu7.internal:8000/v1") is None
    True
    """
    host = (urlsplit(endpoint).hostname or "") if endpoint else ""
    try:
        ip_address(host)
    except ValueError:
        return host if "." in host and not host.endswith(_PRIVATE) else None
    return None
