"""Probing a run, and comparing pairs of responses: from the settings to the outcome."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from judge.engines.engine import Ready
from judge.metrics.pairwise import Pairwise
from judge.metrics.registry import PROMPTED_SUITES, expanded
from judge.perturbations.catalogue import select_probes
from judge.perturbations.perturbation import Probe
from judge.run_settings import JudgeSettings
from judge.running.pages import Place, places
from judge.running.pairs import ResponsePairs
from judge.running.plan import CallPlan
from judge.running.preview import ItemPreview, preview_items
from judge.running.probes import Probes, draw_sample, scored_constructs
from judge.running.run_outcome import Outcome
from judge.running.runner import judge_items
from judge.running.runs import likely_run, newest_run
from judge.running.scope import Scope, run_scope
from judge.running.session import OnProgress, open_session
from judge.running.unprompted_metrics import encoder_for
from study.errors import StudyError
from study.facts.pair_choices import compared_by_people
from study.study import Study

SAMPLE = 60
"""Default number of responses to probe."""

WhichPairs = Literal["all", "compared"]
"""All responses to a query with each other, or only the pairs that people compared."""


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

    def check(ready: Ready, order: list[Place], run_id: int | None) -> None:
        del ready, order
        if run_id is None:
            raise StudyError(
                "The study has no run under these settings. Judge first, with the same options: "
                f"ccrs judge {study.folder} ..."
            )

    with open_session(study, settings, scope, check=check) as session:
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
    run = likely_run(study, settings)
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
    with open_session(study, settings, scope) as session:
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
    prompts = scope.metric.prompts
    run = None if prompts is None else newest_run(study, settings, scope.metric.key, prompts.name)
    return preview_items(study, settings, scope, items, run)


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
