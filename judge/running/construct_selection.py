"""Which constructs of a study a prompt version can judge."""

from collections.abc import Sequence

from judge.metrics.metric import Metric
from study.errors import StudyError, nearest
from study.study import Study


def wanted_constructs(study: Study, metric: Metric, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the constructs to judge, in the study's order.

    Raises
    ------
    StudyError
        A construct is unknown, has no prompt, or its prompt shows what it may not see.
    """
    have = [c.key for c in study.config.constructs]
    prompted = [key for key in have if key in metric.constructs]
    for key in chosen:
        if key not in have:
            raise StudyError(
                f"The study has no construct {key!r}. {nearest(key, have)} "
                f"It has: {', '.join(have)}.".replace("  ", " ")
            )
        if key not in prompted:
            raise StudyError(
                f"{_words(metric)} has no prompt for the construct {key!r}; it has prompts for "
                f"{', '.join(metric.constructs)}."
            )
    wanted = tuple(key for key in prompted if not chosen or key in chosen)
    if not wanted:
        raise StudyError(
            f"{_words(metric)} has no prompt for any construct of the study ({', '.join(have)}); "
            f"it has prompts for {', '.join(metric.constructs)}."
        )
    for construct in study.config.constructs:
        if construct.key in wanted:
            beyond = metric.reads(construct.key) - set(construct.sees)
            if beyond:
                raise StudyError(
                    f"The prompt for {construct.key} shows the {', '.join(sorted(beyond))}, which "
                    "the construct may not see by study.toml (constructs.sees)."
                )
    return wanted


def unprompted(study: Study, metric: Metric, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence on the constructs that are wanted and have no prompt; none is silent."""
    without = [
        c.key for c in study.config.constructs if not chosen and c.key not in metric.constructs
    ]
    if not without:
        return ()
    return (f"Not judged: {', '.join(without)}, for which {_name(metric)} has no prompt.",)


def check_scales(study: Study, metric: Metric, constructs: Sequence[str], name: str) -> None:
    """Refuse prompts that ask for another range than the scorer's scale in the study.

    Raises
    ------
    StudyError
        They differ; the message holds the lines for study.toml.
    """
    asked = metric.scale
    for key in constructs:
        scale = study.config.scale(key, name)
        if scale is not None and (scale.min, scale.max) != (asked.min, asked.max):
            raise StudyError(
                f"The prompts ask for {asked}, but {key} is measured from {scale} in this study. "
                f'Add to study.toml: [scorers."{name}"] with '
                f"scale = {{ min = {asked.min:g}, max = {asked.max:g} }}"
            )


def _name(metric: Metric) -> str:
    return metric.prompts.name if metric.prompts is not None else metric.key


def _words(metric: Metric) -> str:
    return f"The prompt version {_name(metric)}"
