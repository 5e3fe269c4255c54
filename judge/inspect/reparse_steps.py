"""Metrics in steps, read again: a metric is evaluated on the stored answers, without a prompt."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Row, select

from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import Metric, Prompt
from judge.parsing.parse_answer import Parsed
from judge.protocol.conditions import shuffle_of
from judge.protocol.exchange import FINAL, Answer
from judge.running.items import EMPTY_RESPONSE, Pending
from judge.running.metric_requests import StepAnswers, answers_to_queries, parsed_result
from judge.running.pages import ContentPage, pages, places
from judge.running.scope import Scope, as_declared, scales
from judge.running.shown_texts import ShownTexts
from study.facts.judgments import counted_judgments
from study.schema.tables import judgments
from study.study import Study

_COLUMNS = (
    "id",
    "response_id",
    "construct_key",
    "construct_version",
    "repeat",
    "attempt",
    "value",
    "missing_reason",
    "rule",
    "parts",
    "raw_answer",
    "finish_reason",
    "revision",
)


class Changed(NamedTuple):
    """A score whose stored answers lead to another result now."""

    judgment: Row[Any]
    """The columns of the judgment, as it was read last."""
    parsed: Parsed
    parts: dict[str, float] | None = None


class StepReader:
    """Evaluates the metric of a run on its stored answers.

    Counts the scores that it has read, those that are waiting for prompts which were never asked,
    and those that do not depend on the text of an answer.
    """

    def __init__(
        self, study: Study, run: Mapping[str, Any], metric: Metric, counts: Counter[str]
    ) -> None:
        self.unasked: set[tuple[int, str, int]] = set()
        """Query, hash and repeat of the prompts that were never asked."""
        self._study = study
        self._run = run
        self._counts = counts
        self._metric = as_declared(study, metric)
        with study.read() as connection:
            versions = study.scored_versions(connection)
        keys = tuple(key for key in self._metric.constructs if key in versions)
        scope = Scope(self._metric, keys, versions, run["repeats"])
        self._scope = replace(scope, scales=scales(study, scope, run["name"]))
        self._texts = ShownTexts(self._metric, shuffle_of(run))

    def changes(self) -> Iterator[Changed]:
        """Yield the scores with another result; they are those of the score table."""
        for page in pages(self._study, places(self._study), None, texts=True):
            rows = self._rows([content.id for content in page.contents])
            if rows:
                yield from self._page_changes(page, rows)

    def _rows(self, page: Sequence[int]) -> list[Row[Any]]:
        counted = counted_judgments(
            _COLUMNS, judgments.c.run_id == self._run["id"], judgments.c.response_id.in_(page)
        )
        order = (counted.c.response_id, counted.c.construct_key, counted.c.repeat)
        with self._study.read() as connection:
            rows = connection.execute(select(counted).order_by(*order)).all()
        versions = self._scope.versions
        return [
            row
            for row in rows
            if row.construct_key in self._scope.constructs
            and row.construct_version == versions[row.construct_key]
        ]

    def _page_changes(self, page: ContentPage, rows: Sequence[Row[Any]]) -> Iterator[Changed]:
        contents = {content.id: content for content in page.contents}
        queries = {content.query for content in page.contents}
        answers = answers_to_queries(self._study, self._run["id"], queries)
        for row in rows:
            if row.missing_reason in FINAL or row.rule == EMPTY_RESPONSE:
                self._counts["not read"] += 1
                continue
            self._counts["read"] += 1
            content = contents[row.response_id]
            item = Pending(row.construct_key, row.repeat, (content,), (row.attempt,))
            shown = self._texts.input_of(content, row.construct_key)
            evaluation = evaluate(self._metric, shown, self._known(row, item, answers))
            if evaluation.result is None:
                self._counts["waiting"] += 1
                self.unasked |= {
                    (content.query, waiting.prompt.hash, row.repeat)
                    for waiting in evaluation.waiting
                }
                continue
            parsed = parsed_result(self._scope, row.construct_key, evaluation.result)
            parts = dict(evaluation.result.parts) or None
            if (parsed, parts) != (Parsed(row.value, row.missing_reason, row.rule), row.parts):
                yield Changed(row, parsed, parts)

    def _known(self, row: Row[Any], item: Pending, answers: StepAnswers) -> Any:
        if not self._metric.single_prompt:
            return lambda prompt: answers.find(prompt, item)
        # The answer to a single prompt is stored with its judgment.
        answer = KnownAnswer(Answer(row.raw_answer, row.finish_reason), row.response_id)

        def stored(prompt: Prompt) -> KnownAnswer:
            del prompt
            return answer

        return stored
