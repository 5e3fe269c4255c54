"""What metrics in steps read in responses: lists of claims, and the labels of each claim."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from judge.inspect.claims import LabeledClaims
from judge.inspect.suite_runs import replayed, suite_runs
from judge.metrics.metric import Metric
from judge.parsing.structured_answers import on_one_line
from judge.protocol.conditions import shuffle_of
from judge.running.pages import Place, pages
from judge.running.shown_texts import ShownTexts
from study.facts.current_responses import current_responses
from study.facts.marks_table import marked_by_people
from study.schema.tables import responses
from study.study import Study

OfResponse = tuple[str, str]
"""Construct and response, as in the score table."""


class TextWithLabels(NamedTuple):
    """A claim of a metric with its labels, or a sentence of a response with people's marks."""

    by: str
    of: str
    text: str
    labels: tuple[str, ...]


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
        suites = suite_runs(study, connection, set(scorers))
        versions = study.construct_versions(connection)
        ids = {keys[response] for _, response in wanted if response in keys}
        places = _places(connection, ids)
        marked = marked_by_people(connection, versions, ids)
    known = [of for of in wanted if of[1] in keys]
    read: list[tuple[str, dict[OfResponse, LabeledClaims]]] = []
    for by, members in suites:
        claims: dict[OfResponse, LabeledClaims] = {}
        for run, metric in members:
            _add_claims(study, run, metric, known, keys, places, claims)
        read.append((by, claims))
    texts = {
        of: [
            TextWithLabels(by, claim.of, claim.text, tuple(claim.labels))
            for by, claims in read
            if of in claims
            for claim in claims[of].listed()
        ]
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


def _add_claims(
    study: Study,
    run: Mapping[str, Any],
    metric: Metric,
    wanted: Sequence[OfResponse],
    keys: Mapping[str, int],
    places: Mapping[int, Place],
    found: dict[OfResponse, LabeledClaims],
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
        claims = found.setdefault((construct, response), LabeledClaims())
        shown = texts.input_of(content, construct)
        for prompt, known in replayed(study, run, metric, shown, content):
            claims.add(metric, shown, prompt, known.answer.text)


def _places(connection: Connection, ids: Iterable[int]) -> dict[int, Place]:
    columns = (responses.c.query_id, responses.c.context_hash, responses.c.id)
    rows = connection.execute(select(*columns).where(responses.c.id.in_(list(ids))))
    return {key: Place(query, bytes(context or b""), key) for query, context, key in rows}


def _marks(sentence: Any) -> tuple[str, ...]:
    return (f"marked by {sentence.marked} of {sentence.asked}",) if sentence.marked else ()
