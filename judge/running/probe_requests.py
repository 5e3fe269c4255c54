"""Prompts of probes: a run's prompts with a perturbation, as an engine is asked them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

from judge.metrics.metric import Content
from judge.perturbations.perturbation import Change, Probe
from judge.running.metric_requests import MetricRequest, PlannedPrompt
from judge.running.pages import Place, pages
from judge.running.probe_sample import Judged
from judge.running.scope import Scope
from judge.running.shown_texts import ShownTexts, shuffled
from judge.running.work_items import Pending
from study.schema import DRIFT, Fault
from study.study import Study

Done = frozenset[tuple[int, str, str, int]]
"""Response, construct, probe and round of what a run has asked already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRequest(MetricRequest):
    """A prompt of a run, altered or asked once more; its answer is no judgment."""

    kind: str = DRIFT
    probe: str = DRIFT
    round: int = 0
    fault: Fault = "either"
    change: Change = field(default_factory=Change)


def as_probe(
    made: MetricRequest, change: Change, *, probe: Probe | None = None, number: int = 0
) -> ProbeRequest:
    """Return a request as one of a probe; without one, of a round of drift."""
    values = {one.name: getattr(made, one.name) for one in fields(MetricRequest)}
    if probe is None:
        return ProbeRequest(**values, round=number)
    return ProbeRequest(
        **values, kind=probe.kind, probe=probe.key, fault=probe.fault, change=change
    )


class ProbeItem(NamedTuple):
    """A probe of one response on one construct."""

    probe: Probe
    change: Change
    prompt: PlannedPrompt

    def request(self) -> ProbeRequest:
        """Return the request, with its prompt's text."""
        return as_probe(self.prompt.request(), self.change, probe=self.probe)


@dataclass(frozen=True)
class ProbePlan:
    """What is to be asked of which responses."""

    scope: Scope
    probes: Sequence[Probe]
    places: Sequence[Place]
    judged: Judged
    done: Done

    def items(self, study: Study) -> Iterator[ProbeItem | Probe]:
        """Yield what is still to be asked, prompts that begin alike side by side.

        A probe alone stands for one that a response can't be altered by.
        """
        for constructs in self.scope.passes():
            texts = ShownTexts(self.scope.metric)
            for page in pages(study, self.places, None, texts=True):
                for content in map(self._as_shown, page.contents):
                    for key in constructs:
                        if key in self.judged.get(content.id, ()):
                            yield from self._of(content, key, texts)

    def _as_shown(self, content: Content) -> Content:
        """Return a response with its passages in the run's order, which probes alter."""
        seed = self.scope.shuffle
        if seed is None or not content.passages:
            return content
        order = shuffled(content.passages, seed, content.context_hash)
        return replace(content, passages=order)

    def _of(self, content: Content, key: str, texts: ShownTexts) -> Iterator[ProbeItem | Probe]:
        for probe in self.probes:
            if probe.needs_passages and "context" not in self.scope.metric.reads(key):
                continue
            if (content.id, key, probe.key, 0) in self.done:
                continue
            change = probe.alter(content)
            if change is None:
                yield probe
                continue
            item = Pending(key, 0, (change.applied(content),), (1,))
            yield ProbeItem(probe, change, PlannedPrompt(item, texts))
