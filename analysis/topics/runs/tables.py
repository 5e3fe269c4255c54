"""Tables on the judge's runs: what each was made with, what it did and took, its calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from analysis.core.analysis import Analysis
from analysis.render.formatting import counted
from analysis.render.labels import quoted
from analysis.render.table import Cell, Table, TableBuilder
from analysis.topics.agreement.spent import NO_MODEL, Run, duration, spent

#: Calls of each run on the page; the CSV has all.
CALLS_SHOWN = 10

# Characters of a text on the page.
_MOST = 600

# What a call was for, where it was not the run itself.
_FOR = {"estimate": "a sample", "probe": "probes"}


def made_with(analysis: Analysis) -> Iterator[Table]:
    """Model, prompts and what was sent, a column for each run."""
    yield from _by_run(
        analysis.inputs.judge_runs,
        "judge-runs",
        "Model and settings of the runs",
        "A column for each run. What the server named is stored with every answer; the address of "
        "a private server is left out. Under other conditions there is another run.",
        _MADE_WITH,
    )


def worked(analysis: Analysis) -> Iterator[Table]:
    """What each run did, what it lacks, and what it took."""
    runs = [run for run in analysis.inputs.judge_runs if run.get("account")]
    yield from _by_run(
        runs,
        "judge-work",
        "Judgments, tokens, time and cost of the runs",
        "Judgments as the score table has them. Tokens as the server counted them, of all answers "
        "that are stored; time, retries and cost of the calls that were not killed. "
        "Figures of calls (their number, time, cost, tokens a second) include probes and "
        "drift; judgments and tokens do not. "
        "Computed: prompt tokens that the engine did not find in its cache, and the least that "
        "these prompts allow. The cost is by the prices that were given; without a price of cached "
        "tokens it is the most that it can be.",
        _WORKED,
    )


def scorers(analysis: Analysis) -> Iterator[Table]:
    """What judges and metrics lack and cost, where both have scores."""
    if not {"judge", "metric"} <= set(analysis.context.scores.scorer_kinds.values()):
        # Nothing is copied of millions of rows in vain.
        return
    first = analysis.context.scores.frame
    first = first[first["repeat"].eq(0) & first["scorer_kind"].isin(["judge", "metric"])]
    first = first.drop_duplicates(["response_id", "construct", "scorer"])
    kinds = first.drop_duplicates("scorer").set_index("scorer")["scorer_kind"].astype("str")
    if set(kinds) != {"judge", "metric"}:
        return
    built, records = TableBuilder(), []
    runs = {str(run["name"]): run for run in analysis.inputs.judge_runs if run.get("account")}
    for name, kind in kinds.items():
        rows = first[first["scorer"] == name]
        missing = Counter(rows.loc[rows["value"].isna(), "missing_reason"].dropna())
        responses = rows["response_id"].nunique()
        members = analysis.options.derived_from.get(str(name), ())
        took = spent(runs.get(str(name)), members, rows, responses)
        built.add(
            str(name),
            kind,
            f"{rows['value'].notna().sum():,}",
            _counts(dict(missing.most_common())),
            *_spent_in_words(took),
        )
        records.append(
            {
                "scorer": name,
                "kind": kind,
                "responses": responses,
                "scores": rows["value"].notna().sum(),
                "missing": missing.total(),
                "missing_by_reason": _counts(dict(missing.most_common())),
                **took,
            }
        )
    yield built.table(
        "scorers-cost",
        "Judges and metrics: missing scores and cost",
        "First scores on all constructs. Calls, tokens, time and cost are those of the run, and a "
        "metric without a run asks no judge. Answers that the metrics of a suite share are counted "
        "for the one that asked first. Of imported scores the cost is not known, and a jury or "
        "composite costs what its members do.",
        ("Scorer", "Kind", "Scores", "No value", "Answers of a model", "Answers a response",
         "Tokens", "Tokens a response", "Time", "Cost"),
        records=records,
    )  # fmt: skip


def _spent_in_words(took: Mapping[str, Any]) -> tuple[str, ...]:
    if took["counted_by"] == NO_MODEL:
        return ("0", "0", "0", "0", "", "0")
    if "calls" not in took:
        return (took["counted_by"].partition(":")[0], "", "", "", "", "")
    kinds = [name.removesuffix("_tokens") for name in took if name.endswith("_tokens")]
    seconds = took["seconds"]
    return (
        f"{took['answers']:,}",
        f"{took['answers_a_response']:.1f}",
        _counts({kind: took[f"{kind}_tokens"] for kind in kinds}),
        _number(took["tokens_a_response"], ",.0f"),
        "" if seconds is None else duration(seconds),
        _cost_in_words(took["cost"], took["unpriced"]),
    )


def calls(analysis: Analysis) -> Iterator[Table]:
    """Every call on each run, the newest last."""
    built, records = TableBuilder(), []
    for run in analysis.inputs.judge_runs:
        calls_of_run = (run.get("account") or {}).get("calls", ())
        records += [{"run": run["name"], **_flat(call)} for call in calls_of_run]
        for call in calls_of_run[-CALLS_SHOWN:]:
            ended = call["ended"] is not None
            built.add(
                run["name"],
                moment(call["began"]),
                _FOR.get(call["kind"], ""),
                f"{call['planned']:,}",
                f"{call['answered']:,}" if ended else "—",
                _total(call["retries"]),
                _total(call["failed"]),
                duration(call["seconds"]) if ended else "—",
                "" if call["cost"] is None else f"{call['cost']:,.2f}",
                call["ended"] or "killed, or still running",
            )
    yield built.table(
        "judge-calls",
        "Calls of the judge",
        f"Each call of the command, the last {CALLS_SHOWN} of each run; times in UTC. Of a call "
        "that was killed only its beginning is known; its judgments are in the run.",
        ("Run", "Began", "For", "Prompts", "Answered", "Tried again", "No answer", "Time", "Cost",
         "Ended"),
        heads=2,
        records=records,
    )  # fmt: skip


def _by_run(
    runs: Sequence[Run],
    key: str,
    title: str,
    caption: str,
    lines: Mapping[str, Callable[[Run], str]],
) -> Iterator[Table]:
    """A table with a column for each run; lines that no run has are left out."""
    if not runs:
        return
    built, records = TableBuilder(), []
    for name, text_of in lines.items():
        cells = [text_of(run) for run in runs]
        if any(cells):
            built.add(name, *map(_cell, cells))
            records += [
                {"run": run["name"], "property": name, "value": cell}
                for run, cell in zip(runs, cells, strict=True)
            ]
    names = [str(run["name"]) for run in runs]
    yield built.table(key, title, caption, ("", *names), records=records)


def _cell(text: str) -> Cell:
    return Cell("", quote=quoted(text, _MOST))


def _account(name: str) -> Callable[[Run], Any]:
    return lambda run: (run.get("account") or {}).get(name)


def _served(run: Run) -> str:
    servers = [
        f"{', '.join(filter(None, (server['model'], server['fingerprint']))) or 'not named'} "
        f"({server['answers']:,} answers from {moment(server['first'])})"
        for server in _account("served")(run) or ()
        if server["model"] or server["fingerprint"]
    ]
    return "; ".join(servers)


def _pairs(values: Mapping[str, Any] | None) -> str:
    texts = (
        (name.replace("_", " "), value if isinstance(value, str) else json.dumps(value))
        for name, value in (values or {}).items()
        if value not in (None, [], {})
    )
    return ", ".join(f"{name} {text}" for name, text in texts)


def _counts(counts: Mapping[str, int] | None) -> str:
    return ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in (counts or {}).items() if n)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _calls(name: str) -> Callable[[Run], Any]:
    return lambda run: run["account"]["account"][name]


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _computed(run: Run) -> str:
    figures = _calls("figures")(run)
    if "recomputed" not in figures:
        return ""
    least = figures.get("least_recomputed")
    return f"{figures['recomputed']:.1%}" + ("" if least is None else f" (least {least:.1%})")


def _cost(run: Run) -> str:
    return _cost_in_words(_calls("cost")(run), _calls("unpriced")(run))


def _cost_in_words(cost: float | None, unpriced: int) -> str:
    if cost is None:
        return ""
    return f"{cost:,.2f}" + (f" ({counted(unpriced, 'call')} without prices)" if unpriced else "")


def _ended(run: Run) -> str:
    number, unended = _calls("calls")(run), _calls("unended")(run)
    if not number:
        return "not recorded"
    return f"{number:,}" + (f" ({unended:,} without an end)" if unended else "")


_MADE_WITH: dict[str, Callable[[Run], str]] = {
    "Model": lambda run: run["model"],
    "Revision asked for": lambda run: _text(run["model_revision"]),
    "Served as": _served,
    "Engine": lambda run: run["engine"],
    "Endpoint": lambda run: _text(_account("host")(run)),
    "Prompts": lambda run: run["prompt_version"],
    "SHA-256 of the prompts": lambda run: run["prompt_hash"],
    "Layout of the prompts": lambda run: _text(run["layout"]),
    "Sent with each prompt": lambda run: _pairs(run["decoding"]),
    "Seed": lambda run: _text(run["seed"]),
    "Times that each prompt was asked": lambda run: str(run["repeats"]),
    "Detected at the start": lambda run: _pairs(_account("observed")(run)),
    "Software": lambda run: _pairs(_account("software")(run)),
    "SHA-256 of study.toml": lambda run: _text(_account("config_hash")(run)),
    "Begun (UTC)": lambda run: moment(_text(_account("begun")(run))),
}

_WORKED: dict[str, Callable[[Run], str]] = {
    "Judgments": lambda run: f"{run['account']['judgments']:,} of {run['account']['possible']:,}",
    "Without a value": lambda run: f"{run['account']['missing']:,}",
    "By reason": lambda run: _counts(run["account"]["missing_by_reason"]),
    "Flagged": lambda run: _counts(run["account"]["flags"]),
    "Calls of the command": _ended,
    "Tried again, after": lambda run: _counts(_calls("retries")(run)),
    "No answer, by reason": lambda run: _counts(_calls("failed")(run)),
    "Tokens": lambda run: _counts(run["account"]["tokens"]),
    "Cached": lambda run: _number(run["account"]["cached_share"], ".1%"),
    "Computed": _computed,
    "Requests of the engine itself": lambda run: _counts(_calls("overhead")(run)),
    "Time": lambda run: duration(_calls("seconds")(run)) if _calls("calls")(run) else "",
    "Tokens a second": lambda run: _number(_calls("tokens_a_second")(run), ",.0f"),
    "Mean time of an answer, ms": lambda run: _number(run["account"]["milliseconds"], ",.0f"),
    "Cost": _cost,
}


def moment(time: str) -> str:
    """A time of ISO 8601 to the minute."""
    return time[:16].replace("T", " ")


def _total(counts: Mapping[str, int]) -> str:
    return f"{sum(counts.values()):,}" if counts else ""


def _flat(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call with its counts in words, as in a cell of a CSV file."""
    return {name: _pairs(v) if isinstance(v, Mapping) else v for name, v in call.items()}
