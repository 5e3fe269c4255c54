"""One response of a run, as an auditor needs it: the prompt, the raw answer, how it was read."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from judge.inspect.distribution_figures import expected_figures, expected_line
from judge.inspect.run_metric import run_metric
from judge.metrics.metric import Metric
from judge.protocol.conditions import shuffle_of
from judge.protocol.exchange import REASONS
from judge.running.metric_requests import PlannedPrompt, planned_prompts
from judge.running.pages import Place
from judge.running.runs import run_of
from judge.running.scope import Scope
from judge.text import printable, printable_lines, quoted
from study.errors import StudyError, nearest
from study.facts.judgments import as_read, reason_before_score
from study.importing.existing_content import ExistingContent
from study.schema import Judgment, Reading, Response, table
from study.study import Study

_SHOWN = (
    "id",
    "construct_version",
    "repeat",
    "attempt",
    "value",
    "missing_reason",
    "rule",
    "parser_version",
    "raw_answer",
    "finish_reason",
    "served_model",
    "fingerprint",
    "flags",
    "distribution",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "milliseconds",
    "created_at",
)


@dataclass(frozen=True)
class Audited:
    """What a run has of one response on one construct."""

    construct: str
    prompt: str | None
    """The very text that is asked; None where nothing is, or the prompts are not at hand."""
    judgments: list[dict[str, Any]]
    """Columns of the judgment, with the newest reading and what its distribution comes to;
    `earlier` holds the readings before it, and `reason` what the answer says before its score,
    where a reason was read."""


@dataclass(frozen=True)
class RunResponse:
    """One response in a run."""

    run: str
    response_id: str
    query_id: str
    systems: list[str]
    """Systems that give it now; empty for one that a later response replaced."""
    constructs: list[Audited] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the response as values that JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the response as lines of text, without control characters."""
        systems = ", ".join(self.systems) or "no system now"
        lines = [
            f"Response {self.response_id} to query {self.query_id}, of {systems}; run {self.run}",
            *self.notes,
        ]
        for audited in self.constructs:
            lines += ["", f"{audited.construct}:"]
            if audited.prompt is not None:
                lines += ["  prompt:"]
                lines += [f"    | {line}" for line in printable_lines(audited.prompt)]
            for judgment in audited.judgments:
                lines += [f"  {line}" for line in _judgment_lines(judgment)]
            if not audited.judgments:
                lines.append("  not judged yet")
        # Prompts keep their tabs.
        return [line if line.startswith("    | ") else printable(line) for line in lines]


def show_response(
    study: Study, name: str, response_id: str, construct: str | None = None
) -> RunResponse:
    """Return the prompts and the raw answers of one response in a run.

    Parameters
    ----------
    study : Study
    name : str
        The run.
    response_id : str
        As in the tables: ID means the newest in use, ID@N version N.
    construct : str, optional
        Only this one. Without it, those that the run has judged of this response; where it has
        judged none, all of its prompts.

    Raises
    ------
    StudyError
        The study has no such run or response, or the run has no such construct.
    """
    with study.read() as connection:
        run = run_of(connection, name)
        held = ExistingContent(connection)
        response = held.find(response_id)
        if response is None:
            raise StudyError(
                f"The study has no response {response_id!r}. "
                f"{nearest(response_id, held.response_ids())}".rstrip()
            )
        judgments = _judgments(study, connection, run, response)
    metric = run_metric(run, study.folder)
    known = [*judgments, *(metric.constructs if metric else ())]
    if construct is not None and construct not in known:
        listed = ", ".join(dict.fromkeys(known)) or "none"
        raise StudyError(
            f"The run {name!r} has no construct {construct!r}. {nearest(construct, known)} "
            f"It has: {listed}.".replace("  ", " ")
        )
    keys = [construct] if construct else list(judgments) or known
    notes: list[str] = []
    if metric is None:
        notes.append(
            f"The prompts are not shown: this installation has none of {run['prompt_version']} "
            f"with the hash {run['prompt_hash']}."
        )
    return RunResponse(
        run=name,
        response_id=held.id_of(response),
        query_id=held.queries[held.responses[response].query].key,
        systems=sorted(
            system for (_, system), (given, _) in held.outputs.items() if given == response
        ),
        constructs=[
            Audited(
                key,
                _prompt(study, metric, key, response, shuffle_of(run)) if metric else None,
                judgments.get(key, []),
            )
            for key in keys
        ],
        notes=tuple(notes),
    )


def _judgments(
    study: Study, connection: Connection, run: Mapping[str, Any], response: int
) -> dict[str, list[dict[str, Any]]]:
    j = table(Judgment)
    of = (j.c.run_id == run["id"], j.c.response_id == response)
    order = (j.c.construct_key, j.c.construct_version, j.c.repeat, j.c.attempt)
    statement = as_read(("construct_key", "revision", *_SHOWN), *of).order_by(*order)
    found: dict[str, list[dict[str, Any]]] = {}
    for row in connection.execute(statement).all():
        judgment = {name: _plain(row._mapping[name]) for name in _SHOWN}
        key = judgment.pop("id")
        scale = study.config.scale(row.construct_key, run["name"])
        judgment |= expected_figures(judgment["distribution"], scale)
        judgment["reason"] = reason_before_score(judgment["raw_answer"], judgment["rule"])
        judgment["earlier"] = _earlier(connection, key) if row.revision else []
        found.setdefault(row.construct_key, []).append(judgment)
    return found


def _earlier(connection: Connection, judgment: int) -> list[dict[str, Any]]:
    """Return the readings before the newest, the first one among them."""
    j, g = table(Judgment), table(Reading)
    names = ("parser_version", "value", "missing_reason", "rule")
    first = select(*(j.c[name] for name in names)).where(j.c.id == judgment)
    later = select(*(g.c[name] for name in names)).where(g.c.judgment_id == judgment)
    rows = [
        *connection.execute(first).mappings(),
        *connection.execute(later.order_by(g.c.revision)).mappings(),
    ]
    return [dict(row) for row in rows[:-1]]


def _plain(value: Any) -> Any:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


def _prompt(
    study: Study, metric: Metric, key: str, response: int, shuffle: int | None
) -> str | None:
    """Return the first prompt of a response as it is made for a run; None where none is asked."""
    if key not in metric.constructs:
        return None
    r = table(Response)
    with study.read() as connection:
        versions = study.construct_versions(connection)
        row = connection.execute(
            select(r.c.query_id, r.c.context_hash).where(r.c.id == response)
        ).one()
    place = Place(row.query_id, bytes(row.context_hash or b""), response)
    scope = Scope(metric, (key,), versions, repeats=1, shuffle=shuffle)
    planned = planned_prompts(study, [place], scope, None, texts=True)
    return next((item.prompt.text for item in planned if isinstance(item, PlannedPrompt)), None)


def _judgment_lines(judgment: Mapping[str, Any]) -> list[str]:
    numbers = [
        f"{word} {judgment[name]}"
        for word, name in (("repeat", "repeat"), ("attempt", "attempt"))
        if judgment[name] != {"repeat": 0, "attempt": 1}[name]
    ]
    told = [
        judgment["created_at"],
        *(judgment[name] for name in ("served_model", "fingerprint") if judgment[name]),
        *([f"ended by {judgment['finish_reason']}"] if judgment["finish_reason"] else []),
        *judgment["flags"],
    ]
    title = " of ".join(["answer", ", ".join(numbers)]) if numbers else "answer"
    lines = [f"{title}: {quoted(judgment['raw_answer'])}", f"  read as {_read(judgment)}"]
    if judgment["reason"] is not None:
        lines.append("  its reason:")
        lines += [f"    {line}" for line in printable_lines(judgment["reason"])]
    lines += [f"  before: {_read(reading)}" for reading in judgment["earlier"]]
    expected = expected_line(judgment)
    lines += [f"  {expected}"] if expected else []
    return [*lines, f"  {', '.join(told)}"]


def _read(reading: Mapping[str, Any]) -> str:
    by = f" by parser {reading['parser_version']}" if reading["parser_version"] else ""
    if reading["value"] is None:
        reason = reading["missing_reason"]
        return f"missing, {reason} ({REASONS.get(reason, 'no further word')}){by}"
    rule = f", {reading['rule']}" if reading["rule"] else ""
    return f"{reading['value']:g}{rule}{by}"
