"""Several endpoints as one judge: only where nothing tells them apart."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge.engines.engine import Ready
from study.errors import StudyError

# Two servers with one tokenizer count the same tokens in the same text, but for rounding.
_ALIKE = 0.01


def together(ready: Mapping[str, Ready], without: Mapping[str, StudyError]) -> Ready:
    """Return what holds for all endpoints that can be asked.

    Parameters
    ----------
    ready
        What each of these found out, by its address; at least one.
    without
        Why others can't be asked, by their addresses: the run says so, and goes on.

    Raises
    ------
    StudyError
        Two endpoints would answer under other conditions, or serve other models.
    """
    (first, one), *others = ready.items()
    for url, other in others:
        found = [*_differences(one, other)]
        if found:
            raise StudyError(
                f"{first} and {url} are not one judge: {'; '.join(found)}. Judge with each in a "
                "run of its own, or make them alike."
            )
    if not others and not without:
        return one
    windows = [r.window for r in ready.values() if r.window is not None]
    notes = dict.fromkeys(note for r in ready.values() for note in r.notes)
    gone = [f"{url} is not asked: {error}" for url, error in without.items()]
    observed = {**(one.conditions.observed or {}), "endpoints": list(ready)}
    spent: Counter[str] = Counter()
    for each in ready.values():
        spent.update(each.spent)
    return replace(
        one,
        spent=dict(spent),
        conditions=replace(one.conditions, observed=observed),
        window=min(windows, default=None),
        notes=(*notes, *gone),
    )


def _differences(one: Ready, other: Ready) -> list[str]:
    """Return in words what tells two endpoints apart."""
    served = [(r.conditions.observed or {}).get("served_model") for r in (one, other)]
    pairs: dict[str, tuple[Any, Any]] = {
        "model": (one.conditions.model, other.conditions.model),
        "seed": (one.conditions.seed, other.conditions.seed),
        "served model": (served[0], served[1]),
    }
    mine, yours = one.conditions.decoding or {}, other.conditions.decoding or {}
    pairs |= {name: (mine.get(name), yours.get(name)) for name in sorted({*mine, *yours})}
    found = [f"{name} {a!r} and {b!r}" for name, (a, b) in pairs.items() if a != b]
    if one.tokens.calibrated and other.tokens.calibrated:
        rates = one.tokens.per_byte, other.tokens.per_byte
        if abs(rates[0] - rates[1]) > _ALIKE * max(rates):
            found.append(f"{rates[0]:.3f} and {rates[1]:.3f} tokens a byte of the same text")
    return found
