"""Prompts of probes, as an engine is asked them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from judge.engines.engine import Ready
from judge.metrics.content import Content
from judge.perturbations.perturbation import Change, Probe
from judge.protocol.request import Request
from judge.running.pages import Place, pages
from judge.running.probe_sample import Judged
from judge.running.work_items import Asked, Contexts, Scope, parts, request, shuffled
from study.schema import DRIFT, Fault
from study.study import Study

Done = frozenset[tuple[int, str, str, int]]
"""Response, construct, probe and round of what a run has asked already."""


@dataclass(frozen=True, slots=True)
class ProbeRequest(Request):
    """A prompt of a run, altered or asked once more; its answer is no judgment."""

    kind: str = DRIFT
    probe: str = DRIFT
    round: int = 0
    fault: Fault = "either"
    change: Change = field(default_factory=Change)

    @property
    def prompt_hash(self) -> str:
        """SHA-256 (hexadecimal) of the prompt."""
        return sha256(self.prompt.encode("utf-8", "surrogatepass")).hexdigest()


def as_probe(
    made: Request, change: Change, *, probe: Probe | None = None, number: int = 0
) -> ProbeRequest:
    """Return a request as one of a probe; without one, of a round of drift."""
    given = {one.name: getattr(made, one.name) for one in fields(Request)}
    if probe is None:
        return ProbeRequest(**given, round=number)
    return ProbeRequest(**given, kind=probe.kind, probe=probe.key, fault=probe.fault, change=change)


class ProbeItem(NamedTuple):
    """A probe of one response on one construct, and whether its prompt fits the window."""

    probe: Probe
    asked: Asked
    change: Change
    fits: bool


@dataclass(frozen=True)
class ProbePlan:
    """What is to be asked of which responses."""

    scope: Scope
    probes: Sequence[Probe]
    places: Sequence[Place]
    judged: Judged
    done: Done

    def items(self, study: Study, ready: Ready) -> Iterator[tuple[ProbeItem, Contexts] | Probe]:
        """Yield what is still to be asked, prompts that begin alike side by side.

        A probe alone stands for one that a response can't be altered by.
        """
        version = self.scope.version
        for constructs in self.scope.passes():
            contexts = Contexts(version)
            for page in pages(study, self.places, None, texts=True):
                for content in map(self._as_shown, page.contents):
                    for key in constructs:
                        if key not in self.judged.get(content.id, ()):
                            continue
                        yield from self._of(content, key, ready, contexts)

    def _as_shown(self, content: Content) -> Content:
        """Return a response with its passages in the run's order, which probes alter."""
        seed = self.scope.shuffle
        if seed is None or not content.passages:
            return content
        order = shuffled(content.passages, seed, content.context_hash)
        return replace(content, passages=order)

    def _of(
        self, content: Content, key: str, ready: Ready, contexts: Contexts
    ) -> Iterator[tuple[ProbeItem, Contexts] | Probe]:
        version = self.scope.version
        for probe in self.probes:
            if probe.needs_passages and "context" not in version.templates[key].sees:
                continue
            if (content.id, key, probe.key, 0) in self.done:
                continue
            change = probe.alter(content)
            if change is None:
                yield probe
                continue
            asked = Asked(key, 0, (change.applied(content),), (1,))
            fits = ready.fits(asked.size(version), partial(parts, asked, version, contexts))
            yield ProbeItem(probe, asked, change, fits), contexts


def made(item: ProbeItem, scope: Scope, contexts: Contexts) -> ProbeRequest:
    """Return the request of an item, with its prompt's text."""
    return as_probe(request(item.asked, scope.version, contexts), item.change, probe=item.probe)
