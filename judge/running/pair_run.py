"""Comparing pairs of responses: from the settings to the outcome."""

from typing import Literal

from judge.engines.engine import Ready
from judge.metrics.pairwise import Pairwise
from judge.run_settings import JudgeSettings
from judge.running.item_preview import ItemPreview, preview_items
from judge.running.pages import Place, places
from judge.running.pairs import ResponsePairs
from judge.running.plan import CallPlan
from judge.running.run_outcome import Outcome
from judge.running.runner import judge_items
from judge.running.runs import newest_run
from judge.running.scope import Scope, run_scope, select_constructs
from judge.running.session import OnProgress, open_session
from study.errors import StudyError
from study.facts.pair_choices import compared_by_people
from study.study import Study

WhichPairs = Literal["all", "compared"]
"""All responses to a query with each other, or only the pairs that people compared."""


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
    scope = _scope(study, settings)

    def check(ready: Ready, order: list[Place], run_id: int | None) -> None:
        del ready, order, run_id

    # Before the engine is started, which may take minutes.
    _check_pairs(study, settings, scope, pairs)
    with open_session(study, settings, scope, check=check) as session:
        return judge_items(session, _items(study, pairs), on_progress)


def preview_pairs(study: Study, settings: JudgeSettings, pairs: WhichPairs = "all") -> ItemPreview:
    """Return what `compare_pairs` would ask, without sending a prompt.

    Raises
    ------
    StudyError
        As `compare_pairs` does, as far as that is known without the engine.
    """
    scope = _scope(study, settings)
    _check_pairs(study, settings, scope, pairs)
    prompts = scope.metric.prompts
    run = None if prompts is None else newest_run(study, settings, scope.metric.key, prompts.name)
    return preview_items(study, settings, scope, _items(study, pairs), run)


def _scope(study: Study, settings: JudgeSettings) -> Scope:
    metric = Pairwise(study.config.constructs)
    constructs = select_constructs(study, metric, settings.constructs)
    return run_scope(study, settings, metric, constructs)


def _check_pairs(study: Study, settings: JudgeSettings, scope: Scope, pairs: WhichPairs) -> None:
    """Raise an error if there is no pair to compare."""
    items = _items(study, pairs)
    whole = CallPlan(study, scope, items.places(places(study, settings.systems)), None, items)
    if next(whole.prompts(texts=True), None) is not None:
        return
    if pairs == "compared":
        raise StudyError(
            "People compared no pair of current responses on these constructs; leave --pairs out "
            "to compare all responses to a query."
        )
    raise StudyError(
        "No query has two responses to compare. Import the responses of another system, or name "
        "more systems."
    )


def _items(study: Study, pairs: WhichPairs) -> ResponsePairs:
    if pairs == "all":
        return ResponsePairs()
    with study.read() as connection:
        return ResponsePairs(compared_by_people(connection))
