"""The plan of a call: the prompts that a run waits for, in their order."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random
from typing import Any

from judge.engines.engine import Ready
from judge.metrics.evaluation import Evaluation
from judge.running.items import (
    ALL_RESPONSES,
    Items,
    Pending,
    Resolved,
    Responses,
    Skipped,
)
from judge.running.metric_requests import (
    MetricRequest,
    PlannedPrompt,
    PromptKey,
    PromptName,
    StepAnswers,
    evaluate_pending,
    flags_of,
    parsed_result,
    stored_answers,
)
from judge.running.pages import ContentPage, Place, pages
from judge.running.scope import Scope
from judge.running.shown_texts import ShownTexts
from study.study import Study

_SAMPLE = 12

Compare = Callable[[Sequence[PlannedPrompt]], None]
"""Stores the answers to prompts that compare two texts."""

Planned = PlannedPrompt | Pending | Resolved | Skipped


@dataclass(frozen=True)
class CallPlan:
    """What a call evaluates, and what its run has answered already."""

    study: Study
    scope: Scope
    places: Sequence[Place]
    """The responses in the order of work."""
    run_id: int | None = None
    """None: everything that a new run would ask is left."""
    items: Items = ALL_RESPONSES

    def prompts(self, *, texts: bool, compare: Compare | None = None) -> Iterator[Planned]:
        """Yield the prompts that the run waits for, and the items that need no further answer.

        Prompts with the same beginning follow each other. An evaluation that waits only for
        prompts of other evaluations is yielded as `Pending`.

        Parameters
        ----------
        texts
            Whether the texts of the prompts are needed. Without them, passages are read only for
            metrics and items whose prompts have no size in advance.
        compare
            Stores the answers to comparisons, so that evaluations continue; None: they wait.
        """
        single = self.scope.metric.single_prompt
        with_passages = texts or not single or self.items.reads_passages
        for constructs in self.scope.passes():
            shown = ShownTexts(self.scope.metric, self.scope.shuffle)
            for page in pages(
                self.study,
                self.places,
                self.run_id,
                texts=with_passages,
                answers=self.items.answers,
            ):
                work = self.items.work(page, self.scope, constructs)
                if single:
                    for left in work:
                        yield PlannedPrompt(left, shown) if isinstance(left, Pending) else left
                else:
                    yield from self._planned_steps(page, list(work), shown, compare)

    def requests(
        self, ready: Ready, sample: Container[PromptName] | None = None
    ) -> Iterator[MetricRequest]:
        """Yield the prompts to ask that fit the window; those of one context follow each other.

        Constructs whose prompts show no passages, such as QR, are a separate pass. With a
        `sample`, only its prompts are yielded.
        """
        for planned in self.fitting(ready, texts=True):
            if sample is None or planned.name in sample:
                yield planned.request()

    def sizes(self, ready: Ready) -> dict[PromptName, int]:
        """Return the length of each prompt that can be asked now and that fits the window.

        In tokens where the engine counts them, else in bytes.
        """
        fitting = self.fitting(ready, texts=ready.count is not None)
        return {planned.name: planned.length(ready) for planned in fitting}

    def fitting(self, ready: Ready, *, texts: bool) -> Iterator[PlannedPrompt]:
        """Yield the prompts that can be asked now and that fit the window."""
        for planned in self.prompts(texts=texts):
            if isinstance(planned, PlannedPrompt) and planned.fits(ready):
                yield planned

    def _planned_steps(
        self,
        page: ContentPage,
        work: Sequence[Pending | Resolved | Skipped],
        texts: ShownTexts,
        compare: Compare | None,
    ) -> Iterator[Planned]:
        """Yield what `prompts` does for a page, for a metric that asks in steps."""
        answers = self._answers(page)
        while compare and (due := _comparisons(work, texts, answers)):
            compare(due)
            answers = self._answers(page)
        query, planned = -1, dict[PromptKey, PlannedPrompt]()
        for pending in work:
            if not isinstance(pending, Pending):
                yield pending
                continue
            if pending.contents[0].query != query:
                yield from _in_order(planned.values())
                query, planned = pending.contents[0].query, {}
            evaluation = evaluate_pending(pending, texts, answers)
            if evaluation.result is not None and not pending.for_reparse:
                yield from self._resolved(pending, evaluation, texts)
            any_new = False
            for waiting in evaluation.waiting:
                # Equal prompts of a query are asked once; the others find the stored answer.
                key = _key(pending, waiting.prompt.hash)
                if key not in planned and waiting.prompt.compared is None:
                    planned[key] = PlannedPrompt(pending, texts, waiting)
                    any_new = True
            if evaluation.waiting and not any_new:
                yield pending
        yield from _in_order(planned.values())

    def _answers(self, page: ContentPage) -> StepAnswers:
        responses = [content.id for content in page.contents]
        with_probes = not isinstance(self.items, Responses)
        return stored_answers(self.study, self.run_id, responses, with_probes=with_probes)

    def _resolved(
        self, pending: Pending, evaluation: Evaluation, texts: ShownTexts
    ) -> Iterator[Resolved]:
        """Yield the answers on an item whose evaluation is complete."""
        result = evaluation.result
        assert result is not None  # noqa: S101  (checked by the caller)
        value, reason, rule = parsed_result(self.scope, pending.construct_key, result)
        flags = flags_of(pending, texts)
        yield from pending.answered(
            flags,
            value=value,
            missing_reason=reason,
            rule=rule,
            parts=result.parts,
            parser_version=self.scope.metric.version if evaluation.used else None,
            further={} if pending.item.is_response else _origin(evaluation),
        )


def _key(pending: Pending, prompt_hash: str) -> PromptKey:
    item = pending.item
    return PromptKey(prompt_hash, pending.repeat, item.probe_name or "", item.round or 0)


def _origin(evaluation: Evaluation) -> dict[str, Any]:
    """Return the hash of the prompts of an evaluation, and the model that answered last."""
    hashes = "\n".join(prompt.hash for prompt in evaluation.asked)
    last = evaluation.used[-1].answer if evaluation.used else None
    return {
        "prompt_hash": sha256(hashes.encode()).hexdigest(),
        "served_model": None if last is None else last.served_model,
        "fingerprint": None if last is None else last.fingerprint,
    }


def _in_order(prompts: Iterable[PlannedPrompt]) -> list[PlannedPrompt]:
    """Return the prompts of a query in an order in which each shares most with its neighbours.

    Prompts on one passage follow each other, whichever responses they are about: a cache need not
    hold all passages of a context.
    """
    return sorted(prompts, key=lambda prompt: (prompt.context, prompt.prompt.parts))


def _comparisons(
    work: Iterable[Pending | Resolved | Skipped], texts: ShownTexts, answers: StepAnswers
) -> list[PlannedPrompt]:
    """Return the comparisons that evaluations wait for, equal ones of a query once."""
    found: dict[tuple[int, PromptKey], PlannedPrompt] = {}
    for pending in work:
        if isinstance(pending, Pending):
            for waiting in evaluate_pending(pending, texts, answers).waiting:
                if waiting.prompt.compared is not None:
                    key = (pending.contents[0].query, _key(pending, waiting.prompt.hash))
                    found.setdefault(key, PlannedPrompt(pending, texts, waiting))
    return list(found.values())


def draw_prompts(prompts: dict[PromptName, int], number: int, seed: int) -> frozenset[PromptName]:
    """Draw prompts at equal steps through the constructs, and through the lengths within each.

    Every prompt has the same probability (systematic sampling with a random start: Cochran 1977,
    Sampling Techniques, chapter 8); each construct has its share to within one prompt. If there
    are fewer prompts than `number`, all are drawn.
    """
    if len(prompts) <= number:
        return frozenset(prompts)
    order = sorted(prompts, key=lambda name: (name.construct_key, prompts[name], name))
    step = len(order) / number
    start = Random(seed).random() * step  # noqa: S311  (not for cryptography)
    return frozenset(order[int(start + k * step)] for k in range(number))


def draw_queries(order: Sequence[Place], number: int, seed: int) -> frozenset[int]:
    """Draw queries (database keys) with selected responses; all if there are no more.

    The draw depends only on the seed, so that all metrics and calls have the same sample.
    """
    queries = sorted({place.query for place in order if place.selected})
    if len(queries) <= number:
        return frozenset(queries)
    return frozenset(Random(seed).sample(queries, number))  # noqa: S311  (not for cryptography)


def sample_prompts(study: Study, order: Sequence[Place], scope: Scope) -> list[str]:
    """Return some prompts, spread over the study, for an engine to test itself on."""
    selected = [place for place in order if place.selected]
    step = max(1, len(selected) // _SAMPLE)
    # A response without passages has only prompts of the second pass.
    keys = [constructs[0] for constructs in scope.passes()]
    fresh = replace(scope, constructs=tuple(keys), repeats=1, retry_unparsed=False)
    prompts = []
    for place in selected[::step][:_SAMPLE]:
        planned = CallPlan(study, fresh, [place]).prompts(texts=True)
        first = next((each for each in planned if isinstance(each, PlannedPrompt)), None)
        if first is not None:
            prompts.append(first.prompt.text)
    return prompts
