"""Runs of metrics in steps, by suite, and their prompts with the stored answers."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import Content, Metric, MetricInput, Prompt
from judge.metrics.registry import suite_of
from judge.protocol.conditions import metric_of, runs_of_other_metrics
from judge.running.items import Pending
from judge.running.metric_requests import answers_to_queries
from judge.running.runs import run_metric
from judge.running.scope import as_declared
from study.schema.tables import judge_runs
from study.study import Study


class RunOfMetric(NamedTuple):
    """A run with its metric."""

    run: Mapping[str, Any]
    metric: Metric


class SuiteRuns(NamedTuple):
    """Runs of the metrics of a suite under the same conditions, which share claims and labels."""

    name: str
    """Of the run; of several, with the suite in place of their metrics."""
    members: list[RunOfMetric]


def suite_runs(
    study: Study,
    connection: Connection,
    names: Container[str],
    files: Mapping[str, str] | None = None,
) -> list[SuiteRuns]:
    """Return the runs of these names, in groups that share claims.

    Other ways to ask for a label, and the same prompts at another temperature, may lead to other
    labels. Runs of metrics with a single prompt, or that are not installed, are left out; `files`
    are the Python files of others, by key.
    """
    rows = connection.execute(select(judge_runs).order_by(judge_runs.c.id)).mappings().all()
    found: dict[tuple[str, int], list[RunOfMetric]] = {}
    for run in map(dict, rows):
        if run["name"] not in names:
            continue
        metric = run_metric(run, study.folder, (files or {}).get(metric_of(run)))
        if metric is not None and not metric.single_prompt:
            first = min([run["id"], *runs_of_other_metrics(connection, run["id"])])
            group = found.setdefault((suite_of(metric.key), first), [])
            group.append(RunOfMetric(run, as_declared(study, metric)))
    return [SuiteRuns(_name(suite, members), members) for (suite, _), members in found.items()]


def replayed(
    study: Study, run: Mapping[str, Any], metric: Metric, shown: MetricInput, content: Content
) -> Iterator[tuple[Prompt, KnownAnswer]]:
    """Yield the prompts of a run about a response that have an answer, with the first answers.

    Raises
    ------
    StudyError
        The metric raises an exception, or reads a field that it does not declare.
    """
    answers = answers_to_queries(study, run["id"], [content.query])
    item = Pending(shown.construct, 0, (content,), (1,))
    found: list[tuple[Prompt, KnownAnswer]] = []

    def find(prompt: Prompt) -> KnownAnswer | None:
        known = answers.find(prompt, item)
        if known is not None:
            found.append((prompt, known))
        return known

    evaluate(metric, shown, find)
    yield from found


def _name(suite: str, members: Sequence[RunOfMetric]) -> str:
    names = [
        str(run["name"]).replace(metric.key, suite) if len(members) > 1 else str(run["name"])
        for run, metric in members
    ]
    return ", ".join(dict.fromkeys(names))
