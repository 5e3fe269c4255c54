"""Which constructs are rated at which stage, and which fields a rater sees there.

A rater should know no more than the judge did. The judge sees for each construct only what its
prompt shows, so the fields of a response are shown in stages: first those that the constructs
without passages need, then the passages, then the reference.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from study.settings.constructs import ConstructSpec
from study.settings.study_toml import StudyConfig
from study.types import Sees

FIELDS: tuple[Sees, ...] = ("question", "response", "context", "reference")
"""In the order in which a page shows them."""


@dataclass(frozen=True)
class Stage:
    """Constructs that are rated together, and everything that is shown by then."""

    number: int
    """What its constructs need: 1 neither passages nor reference, 2 passages, 3 the reference.

    It is stored with what was shown, so it stays the same whichever other constructs there are.
    """
    construct_keys: frozenset[str]
    fields: tuple[Sees, ...]
    """The union of what the constructs of this stage and of those before it may see."""


def stages(constructs: Iterable[ConstructSpec], *, staged: bool = True) -> tuple[Stage, ...]:
    """Return the stages in which these constructs are rated.

    Without `staged`, everything is shown and rated in one, the third. Only stages that have a
    construct are there.
    """
    by_number: dict[int, list[ConstructSpec]] = {}
    for construct in constructs:
        by_number.setdefault(_number(construct) if staged else _ALL, []).append(construct)
    ordered: list[Stage] = []
    seen: set[Sees] = set()
    for number in sorted(by_number):
        together = by_number[number]
        seen.update(field for construct in together for field in construct.sees)
        ordered.append(
            Stage(
                number=number,
                construct_keys=frozenset(construct.key for construct in together),
                fields=in_order(seen),
            )
        )
    return tuple(ordered)


def stages_of(config: StudyConfig, construct_keys: Iterable[str]) -> tuple[Stage, ...]:
    """Return the stages in which these constructs of the study are rated."""
    wanted = set(construct_keys)
    return stages(
        (construct for construct in config.constructs if construct.key in wanted),
        staged=config.rating.disclosure == "staged",
    )


def in_order(fields: Iterable[Sees]) -> tuple[Sees, ...]:
    """Return fields in the order of a page, each once."""
    unique = set(fields)
    return tuple(field for field in FIELDS if field in unique)


_ALL = 3


def _number(construct: ConstructSpec) -> int:
    if "reference" in construct.sees:
        return 3
    return 2 if "context" in construct.sees else 1
