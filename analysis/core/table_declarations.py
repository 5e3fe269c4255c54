"""The options --scale and --kind, which describe a table: reading them and checking them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from analysis.core.errors import AnalysisError, did_you_mean
from analysis.core.scales import parse_scale
from study.base.scales import Scale


@dataclass(frozen=True, eq=False)
class ByConstruct(Mapping[str, Scale]):
    """Scales by construct; a construct that is not in `named` has the scale `general`, if any."""

    named: Mapping[str, Scale]
    general: Scale | None = None

    def __getitem__(self, construct: str) -> Scale:
        scale = self.named.get(construct, self.general)
        if scale is None:
            raise KeyError(construct)
        return scale

    def __iter__(self) -> Iterator[str]:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)

    def __bool__(self) -> bool:
        """Whether any scale is declared; the general one is not an entry of the mapping."""
        return bool(self.named) or self.general is not None

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
    named: dict[str, Scale] = {}
    by_scorer: dict[tuple[str, str], Scale] = {}
    for text in texts:
        key, separator, scale = text.rpartition("=")
        scorer, _, construct = key.rpartition(":")
        if not separator:
            general = general or parse_scale(scale)
        elif scorer:
            by_scorer[scorer, construct] = parse_scale(scale)
        else:
            named[construct] = parse_scale(scale)
    return ByConstruct(named, general), by_scorer


def check_scales(
    by_construct: ByConstruct,
    by_scorer: Collection[tuple[str, str]],
    present: Collection[tuple[str, str]],
) -> None:
    """Check that the table has these constructs and scorers; `present` are its pairs.

    Raises
    ------
    AnalysisError
        A name is unknown; the message suggests the most similar one.
    """
    constructs = list(dict.fromkeys(construct for _, construct in present))
    for construct in (*by_construct, *(key for _, key in by_scorer)):
        scorer_construct = next((key for scorer, key in present if scorer == construct), None)
        if construct not in constructs and scorer_construct is not None:
            raise AnalysisError(
                f"--scale {construct}=...: {construct!r} is a scorer; name the construct too: "
                f"--scale {construct}:{scorer_construct}=..."
            )
        if construct not in constructs:
            raise AnalysisError(
                f"--scale {construct}=...: {_unknown('construct', construct, constructs)}"
            )
    for scorer, construct in by_scorer:
        scorers = list(dict.fromkeys(name for name, key in present if key == construct))
        if scorer not in scorers:
            unknown = _unknown(f"scorer on {construct}", scorer, scorers)
            raise AnalysisError(f"--scale {scorer}:{construct}=...: {unknown}")


def read_kinds(texts: Sequence[str]) -> dict[str, str]:
    """Kinds by scorer, from `SCORER=KIND`.

    Raises
    ------
    AnalysisError
        A text has another form, or the kind is unknown.
    """
    if not texts:
        return {}
    # Imported here: it loads pandas.
    from analysis.core.table_checks import KINDS

    kinds = {}
    for text in texts:
        scorer, _, kind = text.rpartition("=")
        kind = kind.strip().casefold()
        if not (scorer and kind):
            raise AnalysisError(f"--kind {text}: write SCORER=KIND")
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS)
            raise AnalysisError(f"--kind {text}: {kind!r} is not one of {', '.join(KINDS)}.{hint}")
        kinds[scorer] = kind
    return kinds


def check_kinds(kinds: Mapping[str, str], present: Sequence[str]) -> None:
    """Check that the tables have these scorers; `present` are theirs.

    Raises
    ------
    AnalysisError
        A scorer is unknown; the message suggests the most similar one.
    """
    for scorer, kind in kinds.items():
        if scorer not in present:
            raise AnalysisError(f"--kind {scorer}={kind}: {_unknown('scorer', scorer, present)}")


def _unknown(noun: str, name: str, present: Sequence[str]) -> str:
    listed = ", ".join(present)
    return f"the table has no {noun} {name!r}; it has {listed}.{did_you_mean(name, present)}"
