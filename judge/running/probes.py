"""Probes of a run: the sample of responses, the altered prompts, and their stored answers."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b, sha256
from itertools import islice
from typing import Any

from sqlalchemy import Connection, insert, select

from judge.metrics.evaluation import Evaluation
from judge.metrics.metric import Content
from judge.perturbations.perturbation import Change, Probe
from judge.protocol.exchange import TOO_LONG, Answer
from judge.running.judgment_store import answer_columns, decision_columns, step_columns
from judge.running.metric_requests import MetricRequest, PlannedPrompt, parsed_result
from judge.running.pages import Place, pages
from judge.running.remaining_work import EMPTY_RESPONSE, Pending
from judge.running.scope import Scope
from judge.running.shown_texts import ShownTexts, shuffled
from study.facts.judgments import as_read
from study.schema import DRIFT, Fault, ProbeAnswerBase, StepAnswerBase, now
from study.schema.database import writing
from study.schema.tables import judgments, probe_answers, probe_step_answers
from study.study import Study

# Rows that are stored together.
_BATCH = 200

_TURNED: dict[Fault, Fault] = {"rise": "fall", "fall": "rise", "either": "either"}

ScoredConstructs = Mapping[int, frozenset[str]]
"""Response (database key) to the constructs on which the run has a score for it."""

AskedProbes = frozenset[tuple[int, str, str, int]]
"""Response (database key), construct, probe and round of the stored answers of a run."""


def scored_constructs(connection: Connection, run_id: int, scope: Scope) -> ScoredConstructs:
    """Return the scores of a run that a probe can shift: those that the judge was asked for."""
    names = ("response_id", "construct_key", "construct_version", "value", "rule")
    scores: dict[int, set[str]] = {}
    rows = connection.execute(as_read(names, judgments.c.run_id == run_id, judgments.c.repeat == 0))
    for response, key, version, value, rule in rows:
        current = key in scope.constructs and version == scope.versions.get(key)
        if current and value is not None and rule != EMPTY_RESPONSE:
            scores.setdefault(response, set()).add(key)
    return {response: frozenset(keys) for response, keys in scores.items()}


def draw_sample(
    order: Iterable[Place], scores: ScoredConstructs, size: int, seed: int
) -> list[Place]:
    """Draw responses of a run, one for each query until every query has one.

    The draw depends only on the seed: a larger sample contains the smaller one, other runs of the
    study are probed on the same responses, and an interrupted call continues with the same ones.
    """
    by_query: dict[int, list[Place]] = {}
    for place in order:
        if place.selected and place.response in scores:
            by_query.setdefault(place.query, []).append(place)
    turns: list[tuple[int, bytes, Place]] = []
    for query, places in by_query.items():
        mixed = sorted(places, key=lambda place: draw_rank(seed, place.response))
        turns += [(turn, draw_rank(seed, -query), place) for turn, place in enumerate(mixed)]
    sample = [place for _, _, place in sorted(turns, key=lambda item: item[:2])[:size]]
    return sorted(sample, key=lambda place: (place.query, place.context_hash, place.response))


def draw_rank(seed: int, *key: object) -> bytes:
    """Return the position of an item in a random order that is the same every time."""
    return blake2b(repr((seed, *key)).encode(), digest_size=8).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRequest(MetricRequest):
    """A prompt of a run, altered or repeated; its answer is not a judgment."""

    kind: str = DRIFT
    probe: str = DRIFT
    round: int = 0
    fault: Fault = "either"
    change: Change = field(default_factory=Change)


def as_probe(
    request: MetricRequest,
    change: Change,
    *,
    probe: Probe | None = None,
    number: int = 0,
    low_is_good: bool = False,
) -> ProbeRequest:
    """Return a request as one of a probe; without a probe, of a round of drift."""
    values = {f.name: getattr(request, f.name) for f in fields(MetricRequest)}
    values["purpose"] = f"drift {number}" if probe is None else f"probe {probe.key}"
    if probe is None:
        return ProbeRequest(**values, round=number)
    # A value that is good when it is low moves the other way.
    fault = _TURNED[probe.fault] if low_is_good else probe.fault
    return ProbeRequest(**values, kind=probe.kind, probe=probe.key, fault=fault, change=change)


@dataclass(frozen=True)
class PlannedProbe(PlannedPrompt):
    """A prompt of a run, altered or repeated; of a metric in steps, an evaluation or its prompt."""

    probe: Probe | None = None
    """None: a round of drift."""
    change: Change = field(default_factory=Change)
    round: int = 0

    @property
    def name(self) -> str:
        """Name of the probe in tables."""
        return DRIFT if self.probe is None else self.probe.key

    @property
    def key(self) -> tuple[int, str, str, int]:
        """What `AskedProbes` contains."""
        item = self.item
        return item.contents[0].id, item.construct_key, self.name, self.round

    def request(self) -> ProbeRequest:
        """Return the request with the text of its prompt."""
        low_is_good = self.texts.metric.low_is_good
        return as_probe(
            super().request(),
            self.change,
            probe=self.probe,
            number=self.round,
            low_is_good=low_is_good,
        )


@dataclass(frozen=True)
class ProbePlan:
    """The responses to probe, and the probes."""

    scope: Scope
    probes: Sequence[Probe]
    places: Sequence[Place]
    scores: ScoredConstructs
    stored: AskedProbes

    def items(self, study: Study) -> Iterator[PlannedProbe | Probe]:
        """Yield the prompts to ask; prompts with the same beginning follow each other.

        For a metric in steps they are evaluations, of which `StepProbes` makes prompts. Where a
        probe cannot alter a response, the probe itself is yielded.
        """
        for constructs in self.scope.passes():
            texts = ShownTexts(self.scope.metric)
            for page in pages(study, self.places, None, texts=True):
                for content in map(self._in_order, page.contents):
                    for key in constructs:
                        if key in self.scores.get(content.id, ()):
                            yield from self._items_of(content, key, texts)

    def _in_order(self, content: Content) -> Content:
        """Return a response with its passages in the order of the run, which probes alter."""
        seed = self.scope.shuffle
        if seed is None or not content.passages:
            return content
        return replace(content, passages=shuffled(content.passages, seed, content.context_hash))

    def _items_of(
        self, content: Content, key: str, texts: ShownTexts
    ) -> Iterator[PlannedProbe | Probe]:
        reads = self.scope.metric.reads(key)
        for probe in self.probes:
            if probe.needs_passages and "context" not in reads:
                continue
            if (content.id, key, probe.key, 0) in self.stored:
                continue
            change = probe.alter(content)
            if change is None:
                yield probe
                continue
            if change.response is not None and "response" not in reads:
                continue
            item = Pending(key, 0, (change.applied(content),), (1,))
            yield PlannedProbe(item, texts, probe=probe, change=change)


def asked_probes(connection: Connection, run_id: int, versions: Mapping[str, int]) -> AskedProbes:
    """Return the probes of a run that are stored for the current versions of constructs."""
    rows = connection.execute(
        select(
            probe_answers.c.response_id,
            probe_answers.c.construct_key,
            probe_answers.c.probe,
            probe_answers.c.round,
            probe_answers.c.construct_version,
        ).where(probe_answers.c.run_id == run_id)
    )
    return frozenset(
        (response, key, probe, number)
        for response, key, probe, number, version in rows
        if version == versions.get(key)
    )


class ProbeStore:
    """Writes the answers to the probes of one run, and counts those without a value."""

    def __init__(
        self, study: Study, run_id: int, scope: Scope, confirm: Callable[[], None]
    ) -> None:
        self._engine = study.engine
        self._run_id = run_id
        self._scope = scope
        self._confirm = confirm
        self.missing: Counter[str] = Counter()
        self.steps = 0
        """Answers to steps."""

    def commit(self, pairs: Sequence[tuple[MetricRequest, Answer]]) -> int:
        """Store answers; return 0 once they are on disk, since none of them is a judgment."""
        if self._scope.metric.single_prompt:
            self._write([self._row(request, answer) for request, answer in pairs])
            return 0
        rows = [self._step_row(request, answer) for request, answer in pairs]
        self._confirm()
        with writing(self._engine) as connection:
            connection.execute(insert(probe_step_answers), rows)
        self.steps += len(rows)
        return 0

    def store_results(self, results: Iterable[tuple[PlannedProbe, Evaluation]]) -> None:
        """Store what evaluations of a metric in steps came to."""
        rows = [self._result_row(planned, evaluation) for planned, evaluation in results]
        if rows:
            self._write(rows)

    def _write(self, rows: list[dict[str, Any]]) -> None:
        self._confirm()
        with writing(self._engine) as connection:
            connection.execute(insert(probe_answers), rows)
        self.missing.update(row["missing_reason"] for row in rows if row["missing_reason"])

    def store_too_long(self, requests: Iterable[ProbeRequest]) -> None:
        """Store probes whose prompt exceeds the window as missing, without asking them."""
        remaining = iter(requests)
        while batch := list(islice(remaining, _BATCH)):
            self.commit([(request, Answer(None, missing=TOO_LONG)) for request in batch])

    def _row(self, request: MetricRequest, answer: Answer) -> dict[str, Any]:
        request = _checked(request)
        row = ProbeAnswerBase(
            construct_key=request.construct_key,
            construct_version=self._scope.versions[request.construct_key],
            repeat=request.repeat,
            flags=[*request.flags],
            kind=request.kind,
            probe=request.probe,
            round=request.round,
            fault=request.fault,
            change=request.change.as_json(),
            prompt_hash=request.prompt_hash,
            **decision_columns(self._scope, request, answer),
            **answer_columns(answer),
        )
        return self._of_run(row, request.response_ids[0])

    def _step_row(self, request: MetricRequest, answer: Answer) -> dict[str, Any]:
        request = _checked(request)
        row = step_columns(self._scope.metric, request, answer)
        of_run = self._of_run(row, request.response_ids[0])
        return of_run | {"probe": request.probe, "round": request.round}

    def _result_row(self, planned: PlannedProbe, evaluation: Evaluation) -> dict[str, Any]:
        assert evaluation.result is not None  # noqa: S101  (checked by the caller)
        probe, item = planned.probe, planned.item
        key, content, metric = item.construct_key, item.contents[0], self._scope.metric
        value, reason, rule = parsed_result(self._scope, key, evaluation.result)
        fault: Fault = "either" if probe is None else probe.fault
        hashes = "\n".join(prompt.hash for prompt in evaluation.asked)
        last = evaluation.used[-1].answer if evaluation.used else None
        row = ProbeAnswerBase(
            construct_key=key,
            construct_version=self._scope.versions[key],
            value=value,
            missing_reason=reason,
            rule=rule,
            parts=dict(evaluation.result.parts) or None,
            parser_version=metric.version,
            flags=[*planned.texts.flags(content, key)],
            served_model=None if last is None else last.served_model,
            fingerprint=None if last is None else last.fingerprint,
            kind=DRIFT if probe is None else probe.kind,
            probe=planned.name,
            round=planned.round,
            fault=_TURNED[fault] if metric.low_is_good else fault,
            change=planned.change.as_json(),
            prompt_hash=sha256(hashes.encode()).hexdigest(),
        )
        return self._of_run(row, content.id)

    def _of_run(self, row: ProbeAnswerBase | StepAnswerBase, response: int) -> dict[str, Any]:
        return {
            **row.model_dump(),
            "run_id": self._run_id,
            "response_id": response,
            "created_at": now(),
        }


def _checked(request: MetricRequest) -> ProbeRequest:
    assert isinstance(request, ProbeRequest)  # noqa: S101  (engines return what they got)
    return request
