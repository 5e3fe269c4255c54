"""Options that describe a bare table, --scale and --kind: read, then checked against the table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from analysis.core.errors import AnalysisError
from analysis.core.scales import Scale, parse_scale
from analysis.core.table_checks import KINDS


@dataclass(frozen=True, eq=False)
class ByConstruct(Mapping[str, Scale]):
    """Scales by construct; every construct without one of its own has `general`, if given."""

    own: Mapping[str, Scale]
    general: Scale | None = None

    def __getitem__(self, construct: str) -> Scale:
        found = self.own.get(construct, self.general)
        if found is None:
            raise KeyError(construct)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.own)

    def __len__(self) -> int:
        return len(self.own)

    def __bool__(self) -> bool:
        """Whether any scale is declared; the general one is no entry of its own."""
        return bool(self.own) or self.general is not None

    def of(self, constructs: Sequence[str]) -> dict[str, Scale]:
        """The scales of these constructs; those without one are left out."""
        return {key: self[key] for key in constructs if key in self}


def read_scales(texts: Sequence[str]) -> tuple[ByConstruct, dict[tuple[str, str], Scale]]:
    """Scales by construct and by (scorer, construct), from `[[SCORER:]CONSTRUCT=]MIN:MAX...`.

    Raises
    ------
    AnalysisError
        A scale can't be read.
    """
    general: Scale | None = None
    own: dict[str, Scale] = {}
    by_scorer: dict[tuple[str, str], Scale] = {}
    for text in texts:
        key, named, scale = text.rpartition("=")
        scorer, _, construct = key.rpartition(":")
        if not named:
            general = general or parse_scale(scale)
        elif scorer:
            by_scorer[scorer, construct] = parse_scale(scale)
        else:
            own[construct] = parse_scale(scale)
    return ByConstruct(own, general), by_scorer


def check_scales(
    by_construct: ByConstruct,
    by_scorer: Collection[tuple[str, str]],
    present: Collection[tuple[str, str]],
) -> None:
    """Refuse scales of constructs and scorers that the table lacks; `present` are its pairs.

    Raises
    ------
    AnalysisError
        With the nearest name that is there.
    """
    constructs = list(dict.fromkeys(construct for _, construct in present))
    for construct in (*by_construct, *(key for _, key in by_scorer)):
        if construct not in constructs:
            raise AnalysisError(
                f"--scale {construct}=...: {_lacks('construct', construct, constructs)}"
            )
    for scorer, construct in by_scorer:
        scorers = list(dict.fromkeys(name for name, key in present if key == construct))
        if scorer not in scorers:
            lacks = _lacks(f"scorer on {construct}", scorer, scorers)
            raise AnalysisError(f"--scale {scorer}:{construct}=...: {lacks}")


def read_kinds(texts: Sequence[str]) -> dict[str, str]:
    """Kinds by scorer, from `SCORER=KIND`.

    Raises
    ------
    AnalysisError
        A text has another form, or the kind does not exist.
    """
    found = {}
    for text in texts:
        scorer, named, kind = text.rpartition("=")
        if not (scorer and named and kind):
            raise AnalysisError(f"--kind {text}: write SCORER=KIND")
        if kind not in KINDS:
            raise AnalysisError(
                f"--kind {text}: {kind!r} is none of {', '.join(KINDS)}.{_nearest(kind, KINDS)}"
            )
        found[scorer] = kind
    return found


def check_kinds(given: Mapping[str, str], present: Sequence[str]) -> None:
    """Refuse kinds of scorers that the tables lack; `present` are those they have.

    Raises
    ------
    AnalysisError
        With the nearest name that is there.
    """
    for scorer, kind in given.items():
        if scorer not in present:
            raise AnalysisError(f"--kind {scorer}={kind}: {_lacks('scorer', scorer, present)}")


def _lacks(what: str, name: str, present: Sequence[str]) -> str:
    listed = ", ".join(present)
    return f"the table has no {what} {name!r}; it has {listed}.{_nearest(name, present)}"


def _nearest(name: str, present: Sequence[str]) -> str:
    close = get_close_matches(name, present, n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""
