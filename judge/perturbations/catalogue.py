"""Which probes there are, and which are wanted."""

from collections.abc import Sequence

from judge.perturbations import authority, identity, injection, layout, length, position
from judge.perturbations.perturbation import Probe
from study.errors import StudyError, nearest

PROBES: tuple[Probe, ...] = (
    *identity.PROBES,
    *injection.PROBES,
    *length.PROBES,
    *layout.PROBES,
    *position.PROBES,
    *authority.PROBES,
)
"""All of them, in the order of tables."""


def wanted_probes(names: Sequence[str]) -> tuple[Probe, ...]:
    """Return the probes of these kinds or names; all of them where none is given.

    Raises
    ------
    StudyError
        A name is neither a kind nor a probe.
    """
    known = list(dict.fromkeys([*(p.kind for p in PROBES), *(p.key for p in PROBES)]))
    for name in names:
        if name not in known:
            raise StudyError(
                f"There is no probe and no kind of probes {name!r}. {nearest(name, known)} "
                f"Kinds: {', '.join(dict.fromkeys(p.kind for p in PROBES))}.".replace("  ", " ")
            )
    return tuple(p for p in PROBES if not names or {p.kind, p.key} & set(names))
