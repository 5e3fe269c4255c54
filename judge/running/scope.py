"""The scope of a call: metric, constructs and repeats, checked against the study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.metrics.embedding import Encoder
from judge.metrics.metric import Metric
from judge.metrics.registry import expanded, load_metric
from judge.prompts.template import PromptVersion
from judge.run_settings import JudgeSettings, option_name
from study.base.scales import Scale
from study.errors import StudyError, nearest, without_effect
from study.settings.constructs import RETRIEVAL
from study.study import Study


@dataclass(frozen=True)
class Scope:
    """What a call evaluates."""

    metric: Metric
    constructs: tuple[str, ...]
    """Keys of the constructs, in the order of the study."""
    versions: Mapping[str, int]
    """Current version of each construct."""
    repeats: int
    retry_unparsed: bool = False
    shuffle: int | None = None
    """Seed of the order of passages; None: rank order."""
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """Scales by construct to which values of a metric in steps are converted; empty: none is."""
    for_reparse: bool = False
    """Whether prompts are asked that answers, read again, lead to."""
    encoder: Encoder | None = None
    """Answers the comparisons of the metric; None: it has none, or they wait."""

    def passes(self) -> tuple[tuple[str, ...], ...]:
        """Return the constructs whose prompts show passages, then the others.

        Responses with the same context follow each other, so a server finds the beginning of a
        prompt in its cache; prompts without passages would only displace it. Constructs of a
        metric with several steps stay together, since they may share prompts.
        """
        if self.metric.steps > 1:
            return (self.constructs,)
        shows = {key: "context" in self.metric.reads(key) for key in self.constructs}
        parts = (
            tuple(key for key in self.constructs if shows[key]),
            tuple(key for key in self.constructs if not shows[key]),
        )
        return tuple(part for part in parts if part)


def as_declared(study: Study, metric: Metric) -> Metric:
    """Return a metric with the constructs that study.toml declares for it, if any.

    Raises
    ------
    StudyError
        Its prompts are each for one construct, which can't stand for another.
    """
    spec = study.config.metrics.get(metric.key.split(" ")[0])
    if spec is not None and metric.single_prompt:
        raise StudyError(
            f'study.toml, metrics."{metric.key}": its prompts are named by their constructs; make '
            "a prompt version with other names (`ccrs judge prompts`)."
        )
    if spec is not None:
        metric.constructs = spec.on
    return metric


def run_scope(study: Study, settings: JudgeSettings, metric: Metric | None = None) -> Scope:
    """Return the scope of a call with these settings, on their metric if none is given.

    Raises
    ------
    StudyError
        As `select_constructs` does; or the metric of the settings can't be loaded, or a setting has
        no effect on it.
    """
    if metric is None:
        metric = as_declared(study, load_metric(settings.metric, settings.prompts, study.folder))
        check_used(settings, [metric])
    constructs = select_constructs(study, metric, settings.constructs)
    with study.read() as connection:
        versions = study.scored_versions(connection)
    return Scope(
        metric,
        constructs,
        versions,
        settings.repeats,
        settings.retry_unparsed,
        settings.shuffle_passages,
        for_reparse=settings.for_reparse,
    )


def fitting_metrics(study: Study, settings: JudgeSettings) -> list[tuple[JudgeSettings, Metric]]:
    """Return the metrics that measure a construct to judge, each with its settings.

    A name becomes the beginning of the run's name; constructs are those that the metric measures.
    Settings that are for others of the metrics are at their defaults.

    Raises
    ------
    StudyError
        None does, a metric cannot be loaded, or a setting is for none of them.
    """
    keys = expanded(settings.metric)
    wanted = {*settings.constructs} or {c.key for c in study.config.constructs} | {RETRIEVAL.key}
    metrics = [as_declared(study, load_metric(key, settings.prompts, study.folder)) for key in keys]
    fitting = [
        (key, metric)
        for key, metric in zip(keys, metrics, strict=True)
        if wanted.intersection(metric.constructs)
    ]
    if not fitting:
        raise StudyError(
            f"None of the metrics {', '.join(keys)} is on one of the constructs "
            f"{', '.join(sorted(wanted))}."
        )
    found = {construct for _, metric in fitting for construct in metric.constructs}
    unmeasured = [construct for construct in settings.constructs if construct not in found]
    if unmeasured:
        why = f"none of the metrics {', '.join(keys)} is on it"
        raise StudyError(without_effect("--constructs", unmeasured, why))
    check_used(settings, [metric for _, metric in fitting])
    each = []
    for key, metric in fitting:
        own: dict[str, Any] = {
            "for_reparse" if metric.single_prompt else "accept_low_scores": False
        }
        if not metric.compares_texts:
            own |= {"encoder": None, "encoder_url": None}
        own["metric"] = key
        own["name"] = settings.name and f"{settings.name} {metric.key}"
        own["constructs"] = tuple(c for c in settings.constructs if c in metric.constructs)
        each.append((settings.model_copy(update=own), metric))
    return each


def check_used(settings: JudgeSettings, metrics: Sequence[Metric]) -> None:
    """Check that each setting that is for some metrics has an effect on one of these.

    Raises
    ------
    StudyError
        One has none; the message names the metrics that it is for.
    """
    named = ", ".join(metric.key for metric in metrics)
    faults = []
    if not any(metric.compares_texts for metric in metrics):
        why = f"no text is compared by {named}"
        remedy = "name a metric that compares texts, such as ragas-answer-relevance"
        faults += [
            without_effect(option_name(name), getattr(settings, name), why, remedy)
            for name in ("encoder", "encoder_url")
            if getattr(settings, name)
        ]
    if settings.for_reparse and all(metric.single_prompt for metric in metrics):
        why = f"{named} asks one prompt for a score, so that none can be missing"
        faults.append(without_effect("--for-reparse", True, why))
    if settings.accept_low_scores and not any(metric.single_prompt for metric in metrics):
        why = f"scores of {named} follow from several answers, and may be low everywhere"
        faults.append(without_effect("--accept-low-scores", True, why))
    if faults:
        raise StudyError("\n".join(faults))


def select_constructs(study: Study, metric: Metric, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the constructs to judge, in the order of the study.

    Parameters
    ----------
    chosen
        Keys of constructs; empty: all that the metric has a prompt for.

    Raises
    ------
    StudyError
        A construct is unknown, has no prompt, or its prompt shows a field that `constructs.sees`
        of study.toml does not allow.
    """
    keys = [c.key for c in study.config.constructs]
    if RETRIEVAL.key in metric.constructs:
        keys = [*dict.fromkeys([*keys, RETRIEVAL.key])]
    prompted = [key for key in keys if key in metric.constructs]
    version = f"The prompt version {_version(metric)}"
    for key in chosen:
        if key not in keys:
            raise StudyError(
                f"The study has no construct {key!r}. {nearest(key, keys)} "
                f"It has: {', '.join(keys)}.".replace("  ", " ")
            )
        if key not in prompted:
            raise StudyError(
                f"{version} has no prompt for the construct {key!r}; it has prompts for "
                f"{', '.join(metric.constructs)}."
            )
    selected = tuple(key for key in prompted if not chosen or key in chosen)
    if not selected:
        raise StudyError(
            f"{version} has no prompt for any construct of the study ({', '.join(keys)}); "
            f"it has prompts for {', '.join(metric.constructs)}."
        )
    for construct in study.config.constructs:
        # What a metric in steps reads is part of its definition.
        if construct.key in selected and isinstance(metric.prompts, PromptVersion):
            hidden = metric.reads(construct.key) - set(construct.sees)
            if hidden:
                raise StudyError(
                    f"The prompt for {construct.key} shows the {', '.join(sorted(hidden))}, which "
                    "the construct may not see by study.toml (constructs.sees)."
                )
    return selected


def unprompted_note(study: Study, metric: Metric, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence that names the constructs without a prompt; empty if there are none.

    A metric in steps is defined on its constructs, so that no prompt is missed on others.
    """
    if not metric.single_prompt:
        return ()
    without = [
        c.key for c in study.config.constructs if not chosen and c.key not in metric.constructs
    ]
    if not without:
        return ()
    return (f"Not judged: {', '.join(without)}, for which {_version(metric)} has no prompt.",)


def later_steps_note(metric: Metric) -> tuple[str, ...]:
    """Return a sentence on the prompts that depend on answers; empty for a single step."""
    if metric.steps < 2:
        return ()
    return (
        f"The metric {metric.key} asks in up to {metric.steps} steps: only prompts that can be "
        "asked now are counted. Later steps depend on the answers.",
    )


def scales(study: Study, scope: Scope, name: str) -> dict[str, Scale]:
    """Return the scales to which values are converted: those of the scorer in the study.

    The answer to a single prompt is a point of the scale that the prompt states, and stays as it
    is: `check_scales`.
    """
    if scope.metric.single_prompt:
        return {}
    found = {key: study.config.scale(key, name) for key in scope.constructs}
    return {key: scale for key, scale in found.items() if scale is not None}


def check_scales(study: Study, metric: Metric, constructs: Sequence[str], name: str) -> None:
    """Check that a single prompt asks for the range that the scorer's scale has in the study.

    Raises
    ------
    StudyError
        They differ; the message contains the lines for study.toml.
    """
    if not metric.single_prompt:
        return
    for key in constructs:
        prompted, scale = metric.scale_of(key), study.config.scale(key, name)
        if scale is not None and (scale.min, scale.max) != (prompted.min, prompted.max):
            one = all(metric.scale_of(other) == prompted for other in constructs)
            table = f'[scorers."{name}"]' if one else f"the table of {key} in [[constructs]]"
            raise StudyError(
                f"The prompts ask for {prompted}, but {key} is measured from {scale} in this "
                f"study. Add to study.toml: {table} with "
                f"scale = {{ min = {prompted.min:g}, max = {prompted.max:g} }}"
                + ("" if one else ", or judge it by a prompt version with a single scale.")
            )


def _version(metric: Metric) -> str:
    return metric.prompts.name if metric.prompts is not None else metric.key
