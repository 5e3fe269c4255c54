"""What metrics in steps read in responses: lists of claims, and the labels of each claim."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from judge.inspect.step_overview import read_answer
from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import Content, Metric, MetricInput, Prompt
from judge.metrics.registry import suite_of
from judge.parsing.structured_answers import on_one_line
from judge.protocol.conditions import runs_of_other_metrics, shuffle_of
from judge.running.metric_requests import stored_answers
from judge.running.pages import Place, pages
from judge.running.remaining_work import Pending
from judge.running.runs import run_metric
from judge.running.scope import as_declared
from judge.running.shown_texts import ShownTexts
from study.facts.current_responses import current_responses
from study.facts.marks_table import marked_by_people
from study.schema.tables import judge_runs, responses
from study.study import Study

_NUMBERED = re.compile(r"(\d+)\. (.*)")
# Characters of a text that has no name.
_SHOWN = 60

OfResponse = tuple[str, str]
"""Construct and response, as in the score table."""

_RunOfMetric = tuple[Mapping[str, Any], Metric]


class TextWithLabels(NamedTuple):
    """A claim of a metric with its labels, or a sentence of a response with people's marks."""

    by: str
    of: str
    text: str
    labels: tuple[str, ...]


class _Claims:
    """The claims of one response by the runs of a suite, with their labels."""

    def __init__(self) -> None:
        self._labels: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
        """(What it is, text) to label to the names of the texts for which it was given."""

    def add(self, metric: Metric, shown: MetricInput, prompt: Prompt, answer: str | None) -> None:
        """Add what a prompt and its answer say."""
        fields = prompt.parts[1::2]
        read = read_answer(prompt.step, answer)
        if isinstance(read, list) and fields:
            for item in read:
                of = f"{prompt.step} of {_name(shown, fields[-1])}"
                self._labels.setdefault((of, on_one_line(item)), {})
        elif isinstance(read, dict) and len(fields) > 1:
            by = _name(shown, fields[-2])
            for match in map(_NUMBERED.fullmatch, fields[-1].splitlines()):
                if match is not None:
                    label, names = _in_words(metric, shown, read.get(match[1], "(no label)"), by)
                    self._label(prompt.step, on_one_line(match[2]), label, names)

    def _label(self, step: str, text: str, label: str, names: Iterable[str]) -> None:
        listed = [key for key in self._labels if key[1] == text] or [(step, text)]
        for key in listed:
            of_label = self._labels.setdefault(key, {}).setdefault(label, {})
            of_label.update(dict.fromkeys(names))

    def texts(self, by: str) -> Iterator[TextWithLabels]:
        """Yield the claims with their labels."""
        for (of, text), labels in self._labels.items():
            given = tuple(
                f"{label}: {', '.join(names)}" if names else label
                for label, names in labels.items()
            )
            yield TextWithLabels(by, of, text, given)


def labeled_texts(
    study: Study, scorers: Iterable[str], wanted: Sequence[OfResponse]
) -> dict[OfResponse, tuple[TextWithLabels, ...]]:
    """Return the sentences of responses with people's marks, and the claims that metrics read.

    Parameters
    ----------
    study
    scorers
        Names of runs; those of metrics with a single prompt, or that are not installed, read none.
    wanted
        Constructs and responses; those without any claim are left out.

    Raises
    ------
    StudyError
        A metric cannot be evaluated on the stored answers: it raises an exception, or reads a field
        of the responses that it does not declare.
    """
    with study.read() as connection:
        keys = {response.response_id: response.id for response in current_responses(connection)[0]}
        suites = _suite_runs(study, connection, set(scorers))
        versions = study.construct_versions(connection)
        ids = {keys[response] for _, response in wanted if response in keys}
        places = _places(connection, ids)
        marked = marked_by_people(connection, versions, ids)
    known = [of for of in wanted if of[1] in keys]
    read: list[tuple[str, dict[OfResponse, _Claims]]] = []
    for by, members in suites:
        claims: dict[OfResponse, _Claims] = {}
        for run, metric in members:
            _add_claims(study, run, metric, known, keys, places, claims)
        read.append((by, claims))
    texts = {
        of: [text for by, claims in read if of in claims for text in claims[of].texts(by)]
        for of in known
    }
    return {
        of: (
            *(
                TextWithLabels("people", "sentence", on_one_line(sentence.text), _marks(sentence))
                for sentence in marked.get((of[0], keys[of[1]]), ())
            ),
            *listed,
        )
        for of, listed in texts.items()
        if listed
    }


def _suite_runs(
    study: Study, connection: Connection, names: Container[str]
) -> list[tuple[str, list[_RunOfMetric]]]:
    """Return the runs of metrics in steps in groups that share claims, each with a name.

    They are the metrics of a suite under the same conditions. Other ways to ask for a label, and
    the same prompts at another temperature, may lead to other labels.
    """
    rows = connection.execute(select(judge_runs).order_by(judge_runs.c.id)).mappings().all()
    found: dict[tuple[str, int], list[_RunOfMetric]] = {}
    for run in map(dict, rows):
        metric = run_metric(run, study.folder) if run["name"] in names else None
        if metric is not None and not metric.single_prompt:
            first = min([run["id"], *runs_of_other_metrics(connection, run["id"])])
            group = found.setdefault((suite_of(metric.key), first), [])
            group.append((run, as_declared(study, metric)))
    return [(_name_of_runs(suite, members), members) for (suite, _), members in found.items()]


def _name_of_runs(suite: str, members: Sequence[_RunOfMetric]) -> str:
    """Return the name of a run; of several, with the suite in place of their metrics."""
    names = [
        str(run["name"]).replace(metric.key, suite) if len(members) > 1 else str(run["name"])
        for run, metric in members
    ]
    return ", ".join(dict.fromkeys(names))


def _add_claims(
    study: Study,
    run: Mapping[str, Any],
    metric: Metric,
    wanted: Sequence[OfResponse],
    keys: Mapping[str, int],
    places: Mapping[int, Place],
    found: dict[OfResponse, _Claims],
) -> None:
    """Add the claims that a run read, by evaluating its metric on the stored answers."""
    own = [
        (construct, response) for construct, response in wanted if construct in metric.constructs
    ]
    order = sorted(
        {places[keys[response]] for _, response in own},
        key=lambda place: (place.query, place.context_hash, place.response),
    )
    texts = ShownTexts(metric, shuffle_of(run))
    contents = {
        content.id: content
        for page in pages(study, order, None, texts=True)
        for content in page.contents
    }
    for construct, response in own:
        content = contents[keys[response]]
        claims = found.setdefault((construct, response), _Claims())
        shown = texts.input_of(content, construct)
        for prompt, known in _replayed(study, run, metric, shown, content):
            claims.add(metric, shown, prompt, known.answer.text)


def _replayed(
    study: Study, run: Mapping[str, Any], metric: Metric, shown: MetricInput, content: Content
) -> Iterator[tuple[Prompt, KnownAnswer]]:
    with study.read() as connection:
        of_query = select(responses.c.id).where(responses.c.query_id == content.query)
        ids = list(connection.execute(of_query).scalars())
    answers = stored_answers(study, run["id"], ids)
    item = Pending(shown.construct, 0, (content,), (1,))
    replayed: list[tuple[Prompt, KnownAnswer]] = []

    def find(prompt: Prompt) -> KnownAnswer | None:
        known = answers.find(prompt, item)
        if known is not None:
            replayed.append((prompt, known))
        return known

    evaluate(metric, shown, find)
    yield from replayed


def _places(connection: Connection, ids: Iterable[int]) -> dict[int, Place]:
    columns = (responses.c.query_id, responses.c.context_hash, responses.c.id)
    rows = connection.execute(select(*columns).where(responses.c.id.in_(list(ids))))
    return {key: Place(query, bytes(context or b""), key) for query, context, key in rows}


def _marks(sentence: Any) -> tuple[str, ...]:
    return (f"marked by {sentence.marked} of {sentence.asked}",) if sentence.marked else ()


def _in_words(metric: Metric, shown: MetricInput, value: Any, by: str) -> tuple[str, list[str]]:
    """Return what an answer says of an item, and the names of the texts for which it says it."""
    word = metric.label_of_numbers
    if word is None or not isinstance(value, list):
        return str(value), [by]
    passages = shown.shown_passages
    if not all(type(number) is int and 1 <= number <= len(passages) for number in value):
        return f"unreadable answer {value}", ["the passages"]
    named = [_name(shown, passages[number - 1]) for number in value]
    return (word, named) if named else (f"{word} by no passage", [])


def _name(shown: MetricInput, text: str) -> str:
    """Return what a text of a prompt is; passages have their rank as number."""
    content = shown.content
    named = {
        shown.shown_context: "the passages",
        **{passage: f"passage {n}" for n, passage in enumerate(content.passages or (), 1)},
        **dict.fromkeys(content.references, "the reference"),
        content.text: "the response",
    }
    names = {on_one_line(key): name for key, name in named.items() if key}
    line = on_one_line(text)
    return names.get(line, line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…")
