"""All probes, and the selection of some by kind or name."""

from collections.abc import Sequence

from judge.metrics.metric import Content
from judge.perturbations import injection, length_and_layout, position
from judge.perturbations.perturbation import Change, Probe
from study.errors import StudyError, nearest


def _unchanged(_content: Content) -> Change:
    return Change()


PROBES: tuple[Probe, ...] = (
    # The same prompt again: the noise with which the other shifts are compared. At temperature 0
    # it comes from batching and from the server.
    Probe("again", "again", "either", False, _unchanged),
    *injection.PROBES,
    *length_and_layout.PROBES,
    *position.PROBES,
    *injection.CLAIMS,
)
"""All of them, in the order of tables."""


def select_probes(names: Sequence[str]) -> tuple[Probe, ...]:
    """Return the probes of these kinds or names; all of them if `names` is empty.

    Raises
    ------
    StudyError
        A name is neither that of a kind nor of a probe.
    """
    kinds = list(dict.fromkeys(probe.kind for probe in PROBES))
    candidates = [*kinds, *(probe.key for probe in PROBES)]
    for name in names:
        if name not in candidates:
            raise StudyError(
                f"Unknown probe or kind of probes {name!r}. {nearest(name, candidates)} "
                f"Kinds: {', '.join(kinds)}.".replace("  ", " ")
            )
    return tuple(probe for probe in PROBES if not names or {probe.kind, probe.key} & set(names))
