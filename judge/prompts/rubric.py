"""A prompt version of a study from a rubric of one sentence."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

from judge.prompts.prompt_versions import (
    STUDY_PROMPTS,
    prompt_version,
    refuse_invalid_name,
    version_files,
)
from judge.prompts.template import PAPER, SHOWN, Field
from study.errors import StudyError, nearest
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import storable

_HEADINGS: dict[Field, str] = {
    "question": "Question",
    "context": "Retrieved passages",
    "response": "Response",
    "ground_truth": "Reference answer",
}
_BRACED = re.compile(r"\{[a-z_]+\}")


def store_rubric(
    study: Study, sentence: str, constructs: Sequence[str] = (), name: str = PAPER
) -> str:
    """Store a prompt version that asks for a score by a rubric of one sentence.

    The prompt shows what the construct may see, and asks for a reason and a score on the
    construct's scale as a JSON object, in the form of `ccrs-json-v1`.

    Parameters
    ----------
    study
        Its folder `prompts` gets the version; one that is there with the same words is used.
    sentence
        What a response is scored by, such as "The response is in the language of the question."
    constructs
        Key of the construct that is scored; empty: the only one of the study.
    name
        Name of the version; that of the paper's words stands for one that follows from the
        sentence, such as rubric-AC-1f0c9a52.

    Returns
    -------
    str
        The name of the version.

    Raises
    ------
    StudyError
        The sentence is blank or has a name in braces, not exactly one construct is meant, or there
        is a version of this name with other words.
    """
    rubric = " ".join(sentence.split())
    if not rubric:
        raise StudyError("The rubric is empty: write the sentence by which responses are scored.")
    try:
        storable(rubric)
    except ValueError as error:
        raise StudyError(f"The rubric {error}.") from None
    if braced := _BRACED.search(rubric):
        raise StudyError(
            f"The rubric has {braced[0]}, which a prompt takes for a field; write it without "
            "braces. The prompt shows what `sees` of the construct names in study.toml."
        )
    construct = _only(study, constructs)
    files = _files(rubric, construct)
    digest = sha256("".join(files.values()).encode()).hexdigest()[:8]
    if name == PAPER:
        name = f"rubric-{re.sub(r'[^A-Za-z0-9._-]+', '-', construct.key)}-{digest}"
    _write(study.folder, name, files)
    return name


def _only(study: Study, constructs: Sequence[str]) -> ConstructSpec:
    """Return the construct that is meant."""
    known = {construct.key: construct for construct in study.config.constructs}
    for key in constructs:
        if key not in known:
            raise StudyError(
                f"The study has no construct {key!r}. {nearest(key, known)} It has: "
                f"{', '.join(known)}.".replace("  ", " ")
            )
    chosen = [known[key] for key in dict.fromkeys(constructs or known)]
    if len(chosen) != 1:
        keys = ", ".join(construct.key for construct in chosen)
        raise StudyError(
            f"A rubric scores one construct, and these are several: {keys}. Name the one that it "
            f"scores, such as --construct {chosen[0].key}."
        )
    if "response" not in chosen[0].sees:
        raise StudyError(
            f"constructs.sees of {chosen[0].key} in study.toml lacks the response, which a rubric "
            'scores; add "response" to it.'
        )
    return chosen[0]


def _files(rubric: str, construct: ConstructSpec) -> dict[str, str]:
    """Return the files of the version by name."""
    low, high = (f"{end:g}" for end in (construct.scale.min, construct.scale.max))
    fields = [
        f"{heading}: {{{field}}}"
        for field, heading in _HEADINGS.items()
        if SHOWN[field] in construct.sees
    ]
    lines = [
        f"Score a response by this rubric: {rubric}",
        *fields,
        f"Scoring: Score from {low} to {high} how well the response meets the rubric, where {low} "
        f"is not at all and {high} is completely.",
        'Output: Print a JSON object with two fields: "reason", a text of at most three sentences, '
        f'and "score", a number from {low} to {high}.',
    ]
    settings = [
        f"source = {json.dumps(f'A rubric of one sentence: {rubric}', ensure_ascii=False)}",
        f"scale = [{low}, {high}]",
        'form = "json"',
        "structured = true",
        "max_tokens = 400",
        "",
        "[fields]",
        'reason = "text"',
        'score = "score"',
    ]
    return {
        f"{construct.key}.txt": "".join(f"{line}\n" for line in lines),
        "version.toml": "".join(f"{line}\n" for line in settings),
    }


def _write(study_folder: Path, name: str, files: dict[str, str]) -> None:
    """Write the files of a version that is new, or check that they are there as they would be."""
    refuse_invalid_name(name)
    folder = study_folder / STUDY_PROMPTS / name
    another = "Choose another name with --prompts, or leave --prompts out."
    if folder.exists():
        if not folder.is_dir():
            raise StudyError(f"{folder} is a file, not the folder of a prompt version. {another}")
        found = {path.name: _content(path) for path in version_files(folder)}
        expected = {file: text.encode() for file, text in files.items()}
        if found != expected:
            others = {name for name, _ in found.items() ^ expected.items()}
            raise StudyError(
                f"{folder} has other words than this rubric, in {', '.join(sorted(others))}: a "
                f"prompt version keeps its words. {another}"
            )
        return
    folder.mkdir(parents=True)
    try:
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
        prompt_version(name, study_folder)
    except BaseException:
        rmtree(folder)
        raise


def _content(path: Path) -> bytes | None:
    """Return what a file has; None: it is a folder."""
    return None if path.is_dir() else path.read_bytes()
