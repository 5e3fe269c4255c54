"""Probes and rounds of drift of a metric in steps: evaluated list by list, resumed as runs are.

A prompt that a probe leaves as it was has its answer in the run. Where nothing is altered (the
probe `again`, a round of drift) all prompts are asked anew, so that the shift includes every step.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from sqlalchemy import Connection, func, select

from judge.engines.engine import Ready
from judge.metrics.embedding import Encoder
from judge.metrics.evaluation import Evaluation, KnownAnswer, evaluate
from judge.metrics.metric import Prompt
from judge.perturbations.perturbation import Change, Probe
from judge.protocol.conditions import runs_of_other_metrics
from judge.protocol.exchange import TOO_LONG, Answer
from judge.running.comparisons import Comparisons
from judge.running.metric_requests import StepAnswers, known_answer, stored_answers
from judge.running.probes import PlannedProbe, ProbeRequest, ProbeStore
from judge.running.session import AnswerDelivery
from study.schema import DRIFT
from study.schema.tables import probe_step_answers, responses
from study.study import Study

_BATCH = 200

_Altered = dict[tuple[str, int, str], KnownAnswer]
"""Answers to prompts of probes, by probe, round and hash."""


class StepProbes:
    """Evaluates a metric in steps on altered or repeated responses of one run."""

    def __init__(self, study: Study, run_id: int, ready: Ready) -> None:
        self._study = study
        self._run_id = run_id
        self._ready = ready
        self._done: set[tuple[int, str, str, int]] = set()
        self._query: int | None = None
        self._of_run = StepAnswers()
        self._altered: _Altered = {}

    def rounds(
        self,
        items: Callable[[], Iterable[PlannedProbe]],
        store: ProbeStore,
        delivery: AnswerDelivery,
        encoder: Encoder | None = None,
        limit: int | None = None,
    ) -> Iterator[Iterator[ProbeRequest]]:
        """Yield the prompts of each round: those of the first steps, then those that follow.

        Parameters
        ----------
        items
            Returns the evaluations, anew for each round.
        store
            Receives what evaluations come to, and cosines.
        delivery
            Counts the answers so far.
        encoder
            Answers the comparisons of the metric.
        limit
            Largest number of prompts.
        """
        compare = None if encoder is None else Comparisons(encoder, store)
        while True:
            before = store.steps
            self._query = None
            prompts = self._requests(items(), store, delivery, compare)
            # The first one is made here, so that no round without prompts begins.
            first = list(islice(prompts, 1))
            left = None if limit is None else limit - delivery.answered
            if not first or left == 0:
                # What the last answers came to is stored, and nothing more is asked.
                for _ in prompts:
                    pass
                return
            yield islice(chain(first, prompts), left)
            if store.steps == before:
                return

    def waiting(self, items: Iterable[PlannedProbe | Probe]) -> Iterator[PlannedProbe | Probe]:
        """Yield the prompts that evaluations wait for; probes without a change as they are."""
        self._query = None
        planned: set[tuple[int, str, int, str]] = set()
        for item in items:
            if isinstance(item, Probe):
                yield item
            else:
                yield from _new(item, self._evaluate(item), planned)

    def _requests(
        self,
        items: Iterable[PlannedProbe],
        store: ProbeStore,
        delivery: AnswerDelivery,
        compare: Comparisons | None,
    ) -> Iterator[ProbeRequest]:
        planned: set[tuple[int, str, int, str]] = set()
        results: list[tuple[PlannedProbe, Evaluation]] = []
        for item in items:
            if item.key in self._done:
                continue
            evaluation = self._evaluate(item)
            while compare and (due := [p for p in _prompts(item, evaluation) if _compared(p)]):
                compare(due)
                self._query = None
                evaluation = self._evaluate(item)
            too_long = [p for p in _prompts(item, evaluation) if not p.fits(self._ready)]
            if too_long:
                store.commit([(too_long[0].request(), Answer(None, missing=TOO_LONG))])
                self._query = None
                evaluation = self._evaluate(item)
            if evaluation.result is not None:
                self._done.add(item.key)
                results.append((item, evaluation))
                if len(results) == _BATCH:
                    store.store_results(results)
                    results = []
            for prompt in _new(item, evaluation, planned):
                request = prompt.request()
                if (request.prompt_hash, request.repeat) not in delivery.failed_prompts:
                    yield request
        store.store_results(results)

    def _evaluate(self, planned: PlannedProbe) -> Evaluation:
        item, content = planned.item, planned.item.contents[0]
        if content.query != self._query:
            self._read(content.query)

        def known(prompt: Prompt) -> KnownAnswer | None:
            found = self._altered.get((planned.name, planned.round, prompt.hash))
            if found is None and planned.change != Change():
                return self._of_run.find(prompt, item)
            return found

        shown = planned.texts.input_of(content, item.construct_key)
        return evaluate(planned.texts.metric, shown, known)

    def _read(self, query: int) -> None:
        """Read the answers for the responses to a query, which share equal prompts."""
        with self._study.read() as connection:
            of_query = select(responses.c.id).where(responses.c.query_id == query)
            ids = list(connection.execute(of_query).scalars())
            self._altered = _altered(connection, self._run_id, ids)
        self._of_run = stored_answers(self._study, self._run_id, ids)
        self._query = query


def last_round(connection: Connection, run_id: int) -> int | None:
    """Return the last round of drift with an answer to a step; None: there is none."""
    number = connection.execute(
        select(func.max(probe_step_answers.c.round)).where(
            probe_step_answers.c.run_id == run_id, probe_step_answers.c.probe == DRIFT
        )
    ).scalar_one()
    return None if number is None else int(number)


def _altered(connection: Connection, run_id: int, ids: list[int]) -> _Altered:
    # The metrics of a suite share the answers to their probes as well.
    runs = [run_id, *runs_of_other_metrics(connection, run_id)]
    columns = probe_step_answers.c
    statement = (
        select(probe_step_answers)
        .where(columns.run_id.in_(runs), columns.response_id.in_(ids))
        .order_by(columns.run_id == run_id, columns.id)
    )
    # Those of the run itself come last, and replace the others.
    return {
        (row.probe, row.round, row.prompt_hash): known_answer(row)
        for row in connection.execute(statement)
        if row.probe != DRIFT or row.run_id == run_id
    }


def _prompts(item: PlannedProbe, evaluation: Evaluation) -> list[PlannedProbe]:
    return [
        PlannedProbe(
            item.item, item.texts, waiting, probe=item.probe, change=item.change, round=item.round
        )
        for waiting in evaluation.waiting
    ]


def _compared(planned: PlannedProbe) -> bool:
    return planned.prompt.compared is not None


def _new(
    item: PlannedProbe, evaluation: Evaluation, planned: set[tuple[int, str, int, str]]
) -> Iterator[PlannedProbe]:
    """Yield the prompts of an evaluation that are not planned yet, for the query and probe."""
    for prompt in _prompts(item, evaluation):
        key = (item.item.contents[0].query, item.name, item.round, prompt.prompt.hash)
        if key not in planned and not _compared(prompt):
            planned.add(key)
            yield prompt
