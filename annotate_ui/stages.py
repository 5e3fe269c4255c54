"""Which constructs are rated at which stage, and which fields a rater sees there.

A rater should know no more than the judge did. The judge sees for each construct only what its
prompt shows, so the fields of a response are shown in stages: first those that the constructs
without passages need, then the passages, then the reference.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from study.constructs import ConstructSpec
from study.words import Sees

FIELDS: tuple[Sees, ...] = ("question", "response", "context", "reference")
"""In the order in which a page shows them."""


@dataclass(frozen=True)
class Stage:
    """Constructs that are rated together, and everything that is shown by then."""

    number: int
    """From 1."""
    construct_keys: frozenset[str]
    fields: tuple[Sees, ...]
    """The union of what the constructs of this stage and of those before it may see."""


def stages(constructs: Iterable[ConstructSpec], *, staged: bool = True) -> tuple[Stage, ...]:
    """Return the stages in which these constructs are rated.

    Without `staged`, everything is shown and rated in one. Only stages that have a construct are
    there, numbered from 1.
    """
    by_rank: dict[int, list[ConstructSpec]] = {}
    for construct in constructs:
        by_rank.setdefault(_rank(construct) if staged else 0, []).append(construct)
    found: list[Stage] = []
    seen: set[Sees] = set()
    for rank in sorted(by_rank):
        together = by_rank[rank]
        seen.update(field for construct in together for field in construct.sees)
        found.append(
            Stage(
                number=len(found) + 1,
                construct_keys=frozenset(construct.key for construct in together),
                fields=in_order(seen),
            )
        )
    return tuple(found)


def stage_of(construct_key: str, of: Sequence[Stage]) -> Stage:
    """Return the stage at which a construct is rated."""
    return next(stage for stage in of if construct_key in stage.construct_keys)


def in_order(fields: Iterable[Sees]) -> tuple[Sees, ...]:
    """Return fields in the order of a page, each once."""
    found = set(fields)
    return tuple(field for field in FIELDS if field in found)


def _rank(construct: ConstructSpec) -> int:
    if "reference" in construct.sees:
        return 2
    return 1 if "context" in construct.sees else 0
