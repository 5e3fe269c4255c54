"""Probing a run, and comparing pairs of responses: from the settings to the outcome."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import ClassVar, Literal

from sqlalchemy import Connection, FromClause

from judge.engines.engine import Ready
from judge.metrics.metric import Content
from judge.metrics.pairwise import Pairwise
from judge.metrics.registry import PROMPTED_SUITES, expanded
from judge.perturbations.catalogue import select_probes
from judge.perturbations.perturbation import Probe
from judge.run_settings import JudgeSettings
from judge.running.answer_store import OnProgress
from judge.running.items import EMPTY_RESPONSE, Item, Items, Pending, Skipped, is_due
from judge.running.pages import ContentPage, Place, places
from judge.running.plan import CallPlan
from judge.running.preview import ItemPreview, preview_items
from judge.running.rounds import in_turns, selected_places
from judge.running.run_outcome import Outcome
from judge.running.runner import judge_items
from judge.running.runs import likely_run
from judge.running.scope import Scope, run_scope
from judge.running.session import open_session, start_engine
from judge.running.shown_texts import shuffled
from judge.running.unprompted_metrics import encoder_for
from study.errors import StudyError
from study.facts.judgments import as_read
from study.facts.pair_choices import ComparedPairs, compared_by_people
from study.schema import CallKind
from study.schema.tables import judgments, pair_answers, probe_answers
from study.study import Study

SAMPLE = 60
"""Default number of responses to probe."""

WhichPairs = Literal["all", "compared"]
"""All responses to a query with each other, or only the pairs that people compared."""

ScoredConstructs = Mapping[int, frozenset[str]]
"""Response (database key) to the constructs on which the run has a score for it."""

_Asked = dict[tuple[int, int | None, str, int], list[str | None]]
"""Missing reasons of the stored answers in the order of their attempts, None for a value, by the
first and the second response (database keys), construct and repeat."""


def probe_study(
    study: Study,
    settings: JudgeSettings,
    kinds: Sequence[str] = (),
    sample: int = SAMPLE,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Ask altered prompts of a run, under the conditions of the run.

    The answers are stored separately from the judgments of the run. After an interruption the same
    call continues; no prompt is asked twice.

    Parameters
    ----------
    study : Study
    settings : JudgeSettings
        The settings of the run to be probed.
    kinds : sequence of str
        Kinds or names of probes; default: all.
    sample : int
        Number of responses to probe, drawn by the study's seed from those that the run has scored.
    on_progress : callable, optional
        Called with a `RunProgress` after every commit, from any thread.

    Raises
    ------
    RunStoppedError
        It was interrupted, or could not continue; its `outcome` contains the result so far.
    StudyError
        The study has no run under these settings, the engine cannot answer altered prompts, or
        another process works on the run.
    """
    probes = select_probes(kinds)
    scope = _probe_scope(study, settings)
    scope = replace(scope, encoder=encoder_for([scope.metric], settings))

    def check(plan: CallPlan, settings: JudgeSettings, ready: Ready) -> None:
        del settings, ready
        if plan.run_id is None:
            raise StudyError(
                "The study has no run under these settings. Judge first, with the same options: "
                f"ccrs judge {study.folder} ..."
            )

    with (
        start_engine(study, settings, scope) as engine,
        open_session(study, settings, scope, engine, check) as session,
    ):
        items = _probes(study, settings, session.scope, probes, session.run.id, sample)
        # The probes have the passages in the order of the run already.
        in_order = replace(session, scope=replace(session.scope, shuffle=None))
        return judge_items(in_order, on_progress, items)


def preview_probes(
    study: Study, settings: JudgeSettings, kinds: Sequence[str] = (), sample: int = SAMPLE
) -> ItemPreview:
    """Return what `probe_study` would ask, without sending a prompt.

    Raises
    ------
    StudyError
        As `probe_study` does, as far as that is known without the engine.
    """
    probes = select_probes(kinds)
    scope = _probe_scope(study, settings)
    run = likely_run(study, settings, scope.metric)
    if run is None:
        raise StudyError("The study has no run under these settings. Judge first.")
    items = _probes(study, settings, scope, probes, run[0], sample)
    return preview_items(study, settings, replace(scope, shuffle=None), items, run)


def compare_pairs(
    study: Study,
    settings: JudgeSettings,
    pairs: WhichPairs = "all",
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Ask which of two responses to a query is better, on each construct and in both orders.

    The same choice in both orders is a preference, two different ones are a tie; they are in the
    preference table of the study beside the comparisons of people. After an interruption the same
    call continues; no prompt is asked twice.

    Parameters
    ----------
    study : Study
    settings : JudgeSettings
        Its `metric` and `prompts` are not used.
    pairs : {"all", "compared"}
        The pairs to ask.
    on_progress : callable, optional
        Called with a `RunProgress` after every commit, from any thread.

    Raises
    ------
    RunStoppedError
        It was interrupted, or could not continue; its `outcome` contains the result so far.
    StudyError
        There is no pair to compare, the engine cannot answer, or another process works on the run.
    """
    scope = run_scope(study, settings, Pairwise(study.config.constructs))
    # Before the engine is started, which may take minutes.
    items = _pairs(study, settings, scope, pairs)
    with (
        start_engine(study, settings, scope) as engine,
        open_session(study, settings, scope, engine) as session,
    ):
        return judge_items(session, on_progress, items)


def preview_pairs(study: Study, settings: JudgeSettings, pairs: WhichPairs = "all") -> ItemPreview:
    """Return what `compare_pairs` would ask, without sending a prompt.

    Raises
    ------
    StudyError
        As `compare_pairs` does, as far as that is known without the engine.
    """
    scope = run_scope(study, settings, Pairwise(study.config.constructs))
    items = _pairs(study, settings, scope, pairs)
    run = likely_run(study, settings, scope.metric)
    return preview_items(study, settings, scope, items, run)


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
    scored = {p.response: p for p in order if p.selected and p.response in scores}
    drawn = in_turns(((p.query, (p.response,)) for p in scored.values()), seed)
    sample = [scored[response] for (response,) in drawn[:size]]
    return sorted(sample, key=lambda place: (place.query, place.context_hash, place.response))


@dataclass(frozen=True)
class Probes(Items):
    """Responses of a run, each altered by every probe."""

    probes: Sequence[Probe]
    sample: Collection[int]
    """The responses to probe (database keys)."""
    scores: ScoredConstructs
    shuffle: int | None = None
    """Seed of the order of passages in the run, which probes alter."""
    kind: ClassVar[CallKind] = "probe"
    answers: ClassVar[FromClause] = probe_answers
    reads_passages: ClassVar[bool] = True

    def places(self, order: Sequence[Place]) -> Sequence[Place]:
        """Return the responses to the queries of the sample, which is selected."""
        return selected_places(order, self.sample)

    def work(
        self, page: ContentPage, scope: Scope, constructs: Sequence[str]
    ) -> Iterator[Pending | Skipped]:
        """Yield the prompts to ask, altered, and the probes that are not asked."""
        asked: dict[tuple[int, str], set[str | None]] = defaultdict(set)
        for row in page.answers:
            if row.construct_version == scope.versions.get(row.construct_key):
                asked[row.response_id, row.construct_key].add(row.probe)
        for content in page.contents:
            if content.selected:
                shown = self._in_order(content)
                for key in constructs:
                    if key in self.scores.get(content.id, ()):
                        yield from self._altered(shown, key, scope, asked[content.id, key])

    def _in_order(self, content: Content) -> Content:
        """Return a response with its passages in the order of the run."""
        if self.shuffle is None or not content.passages:
            return content
        order = shuffled(content.passages, self.shuffle, content.context_hash)
        return replace(content, passages=order)

    def _altered(
        self, content: Content, key: str, scope: Scope, asked: Collection[str | None]
    ) -> Iterator[Pending | Skipped]:
        reads = scope.metric.reads(key)
        for probe in self.probes:
            if probe.key in asked:
                yield Skipped(probe.key, asked_before=True)
                continue
            if probe.needs_passages and "context" not in reads:
                continue
            change = probe.alter(content)
            if change is None:
                yield Skipped(probe.key, asked_before=False)
            elif change.response is None or "response" in reads:
                item = Item(probe=probe, change=change)
                yield Pending(key, 0, (change.applied(content),), (1,), item=item)


@dataclass(frozen=True)
class ResponsePairs(Items):
    """Responses to a query, each beside each other one, in both orders."""

    compared: ComparedPairs | None = None
    """The pairs to ask; None: all."""
    kind: ClassVar[CallKind] = "pairs"
    answers: ClassVar[FromClause] = pair_answers
    reads_passages: ClassVar[bool] = True

    def places(self, order: Sequence[Place]) -> Sequence[Place]:
        """Return the responses that are compared with each other."""
        return [place for place in order if place.selected]

    def work(self, page: ContentPage, scope: Scope, constructs: Sequence[str]) -> Iterator[Pending]:
        """Yield the prompts to ask, both orders of a pair one after the other.

        Asked again is a pair whose earlier prompts did not reach the model, or not whole.
        """
        asked: _Asked = defaultdict(list)
        for row in sorted(page.answers, key=lambda row: row.attempt):
            if row.construct_version == scope.versions.get(row.construct_key):
                key = (row.response_id, row.second_response_id, row.construct_key, row.repeat)
                asked[key].append(row.missing_reason)
        for _, group in groupby(page.contents, lambda content: content.query):
            contents = list(group)
            for construct in constructs:
                for pair in combinations(contents, 2):
                    if self._is_wanted(construct, *pair):
                        yield from self._both_orders(construct, *pair, scope, asked)

    def _is_wanted(self, construct: str, one: Content, other: Content) -> bool:
        return self.compared is None or (construct, frozenset((one.id, other.id))) in self.compared

    def _both_orders(
        self, construct: str, one: Content, other: Content, scope: Scope, asked: _Asked
    ) -> Iterator[Pending]:
        for repeat in range(scope.repeats):
            for first, second in ((one, other), (other, one)):
                earlier = asked.get((first.id, second.id, construct, repeat), [])
                if is_due(earlier, retry_unparsed=scope.retry_unparsed):
                    attempt = len(earlier) + 1
                    yield Pending(construct, repeat, (first,), (attempt,), item=Item(second=second))


def _probe_scope(study: Study, settings: JudgeSettings) -> Scope:
    keys = expanded(settings.metric)
    if len(keys) != 1:
        is_suite = settings.metric.strip() in PROMPTED_SUITES
        what = "is a suite of" if is_suite else "names"
        one = f"name one of {', '.join(keys)}" if keys else "name the metric of the run"
        raise StudyError(
            f"--metric: a call probes one metric; {settings.metric!r} {what} {len(keys)}: {one}."
        )
    update = {"retry_unparsed": False, "for_reparse": False, "accept_low_scores": False}
    return run_scope(study, settings.model_copy(update={"metric": keys[0], **update}))


def _probes(
    study: Study,
    settings: JudgeSettings,
    scope: Scope,
    probes: Sequence[Probe],
    run_id: int,
    sample: int,
) -> Probes:
    with study.read() as connection:
        scores = scored_constructs(connection, run_id, scope)
    drawn = draw_sample(places(study, settings.systems), scores, sample, study.config.seed)
    if not drawn:
        raise StudyError("The run has no score yet that a probe could shift. Judge first.")
    return Probes(probes, {place.response for place in drawn}, scores, scope.shuffle)


def _pairs(study: Study, settings: JudgeSettings, scope: Scope, pairs: WhichPairs) -> ResponsePairs:
    """Return the pairs to compare; none at all is an error."""
    items = ResponsePairs()
    if pairs == "compared":
        with study.read() as connection:
            items = ResponsePairs(compared_by_people(connection))
    whole = CallPlan(study, scope, items.places(places(study, settings.systems)), None, items)
    if next(whole.prompts(texts=True), None) is not None:
        return items
    if pairs == "compared":
        raise StudyError(
            "People compared no pair of current responses on these constructs; leave --pairs out "
            "to compare all responses to a query."
        )
    raise StudyError(
        "No query has two responses to compare. Import the responses of another system, or name "
        "more systems."
    )
