"""Which constructs of a study a prompt version can judge."""

from collections.abc import Sequence

from judge.prompts.template import PromptVersion
from study.errors import StudyError, nearest
from study.study import Study


def wanted_constructs(
    study: Study, prompts: PromptVersion, chosen: Sequence[str]
) -> tuple[str, ...]:
    """Return the constructs to judge, in the study's order.

    Raises
    ------
    StudyError
        A construct is unknown, has no prompt, or its prompt shows what it may not see.
    """
    have = [c.key for c in study.config.constructs]
    prompted = [key for key in have if key in prompts.templates]
    for key in chosen:
        if key not in have:
            raise StudyError(
                f"The study has no construct {key!r}. {nearest(key, have)} "
                f"It has: {', '.join(have)}.".replace("  ", " ")
            )
        if key not in prompted:
            raise StudyError(
                f"The prompt version {prompts.name} has no prompt for the construct {key!r}; it "
                f"has prompts for {', '.join(prompts.templates)}."
            )
    wanted = tuple(key for key in prompted if not chosen or key in chosen)
    if not wanted:
        raise StudyError(
            f"The prompt version {prompts.name} has no prompt for any construct of the study "
            f"({', '.join(have)}); it has prompts for {', '.join(prompts.templates)}."
        )
    for construct in study.config.constructs:
        if construct.key in wanted:
            beyond = prompts.templates[construct.key].sees - set(construct.sees)
            if beyond:
                raise StudyError(
                    f"The prompt for {construct.key} shows the {', '.join(sorted(beyond))}, which "
                    "the construct may not see by study.toml (constructs.sees)."
                )
    return wanted


def unprompted(study: Study, prompts: PromptVersion, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence on the constructs that are wanted and have no prompt; none is silent."""
    without = [
        c.key for c in study.config.constructs if not chosen and c.key not in prompts.templates
    ]
    if not without:
        return ()
    return (f"Not judged: {', '.join(without)}, for which {prompts.name} has no prompt.",)


def check_scales(
    study: Study, prompts: PromptVersion, constructs: Sequence[str], name: str
) -> None:
    """Refuse prompts that ask for another range than the scorer's scale in the study.

    Raises
    ------
    StudyError
        They differ; the message holds the lines for study.toml.
    """
    asked = prompts.scale
    for key in constructs:
        scale = study.config.scale(key, name)
        if scale is not None and (scale.min, scale.max) != (asked.min, asked.max):
            raise StudyError(
                f"The prompts ask for {asked}, but {key} is measured from {scale} in this study. "
                f'Add to study.toml: [scorers."{name}"] with '
                f"scale = {{ min = {asked.min:g}, max = {asked.max:g} }}"
            )
