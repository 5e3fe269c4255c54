"""The systems that `ccrs respond` knows: those of study.toml, and those of the CCRS paper."""

from collections.abc import Iterable, Mapping

from study.errors import StudyError, nearest
from study.settings.scorer_sections import SystemSpec

# Muhamed 2025 (arXiv 2506.20128), sections 3.2 and 3.3: a reader with BM25, then with E5-Mistral.
_READERS = {
    "AB": ("mistral", "mistralai/Mistral-7B-Instruct-v0.3"),
    "CD": ("llama", "meta-llama/Meta-Llama-3-8B-Instruct"),
    "EF": ("llama", "meta-llama/Llama-3.2-3B-Instruct"),
}
_CHUNKS = {"ccrs-paper": (300, 60), "ccrs-paper-appendix": (100, 20)}
"""Tokens of a chunk, and of the overlap."""
PRESETS = tuple(_CHUNKS)

DISCREPANCY = (
    "The paper's text states passages of 300 tokens with an overlap of 60 (--preset ccrs-paper), "
    "the file names of its appendix F 100 tokens and 20% (ccrs-paper-appendix)."
)
OTHER_WORDS = (
    "The words of the paper's prompt (figure 1) are not in this package: rag-answer-v1 has words "
    "of its own. Name a file with the paper's in --prompt."
)


def preset(name: str) -> dict[str, SystemSpec]:
    """Return the systems A to F of the CCRS paper.

    `ccrs-paper` has the chunks that the paper's text states, `ccrs-paper-appendix` those that the
    names of the files in its appendix F state.
    """
    tokens, overlap = _CHUNKS[name]
    retrievers: tuple[Mapping[str, str], ...] = ({"retriever": "bm25"}, {"retriever": "dense"})
    return {
        system: SystemSpec.model_validate(
            {
                "family": family,
                "reader": reader,
                "chunk_tokens": tokens,
                "chunk_overlap": overlap,
                **retriever,
            }
        )
        for systems, (family, reader) in _READERS.items()
        for system, retriever in zip(systems, retrievers, strict=True)
    }


def chosen_systems(
    declared: Mapping[str, SystemSpec], names: Iterable[str], preset_name: str | None
) -> tuple[dict[str, SystemSpec], str | None]:
    """Return the systems to make responses of, and the preset that some of them are from.

    Parameters
    ----------
    declared
        The systems of study.toml. Those without a reader have responses from elsewhere.
    names
        Names, or ranges of single letters such as A-F; none: all.
    preset_name
        The preset whose systems join them; None: `ccrs-paper` if none of them has a reader.

    Raises
    ------
    StudyError
        A name is unknown, a system is in both, or none of a preset is chosen.
    """
    own = {name: spec for name, spec in declared.items() if spec.reader is not None}
    if preset_name is None and not own:
        preset_name = PRESETS[0]
    preset_parts = {} if preset_name is None else preset(preset_name)
    both = sorted(set(own) & set(preset_parts))
    if both:
        raise StudyError(
            f"study.toml and the preset {preset_name} both have the system {both[0]}; rename it in "
            "study.toml, or leave --preset out."
        )
    known = {**preset_parts, **own}
    wanted = [name for text in names for name in _expanded(text, known)]
    for name in wanted:
        if name not in known:
            hint = nearest(name, known)
            raise StudyError(
                f"Unknown system {name!r}. {hint} Systems with a reader: {', '.join(known)}. "
                "Declare others in study.toml, or add the paper's with --preset.".replace("  ", " ")
            )
    chosen = {name: known[name] for name in dict.fromkeys(wanted or known)}
    if preset_name is not None and not chosen.keys() & preset_parts.keys():
        raise StudyError(
            f"--preset {preset_name} has no effect: --systems names none of its systems "
            f"({', '.join(preset_parts)}). Leave it out, or name one of them."
        )
    return chosen, preset_name


def _expanded(text: str, known: Mapping[str, SystemSpec]) -> list[str]:
    """Return the names that a text means: itself, or the letters of a range."""
    first, dash, last = text.partition("-")
    if text in known or not dash or len(first) != 1 or len(last) != 1 or first > last:
        return [text]
    return [chr(code) for code in range(ord(first), ord(last) + 1)]
