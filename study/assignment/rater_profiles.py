"""What is known of the raters: the languages they read."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from study.assignment.sampling_frame import SamplingFrame, primary
from study.schema import Rater, table
from study.study import Study


@dataclass(frozen=True)
class RaterProfile:
    """A rater who is to be given work."""

    id: int
    code: str
    languages: frozenset[str] | None
    """Primary languages; None: any."""

    def reads(self, language: str | None) -> bool:
        """Whether texts of a language may be given to the rater."""
        return language is None or self.languages is None or language in self.languages


def rater_profiles(
    connection: Connection, study: Study, codes: Mapping[str, int]
) -> list[RaterProfile]:
    """Return what is known of raters, those of study.toml before those of the store."""
    w = table(Rater)
    stored = {
        row.id: (row.attributes or {}).get("languages")
        for row in connection.execute(select(w.c.id, w.c.attributes))
    }
    profiles = []
    for code, rater in codes.items():
        settings = study.config.raters.get(code)
        languages = (
            settings.languages if settings is not None and settings.languages else stored.get(rater)
        )
        profiles.append(RaterProfile(rater, code, _primaries(languages)))
    return profiles


def able_by_query(
    people: Iterable[RaterProfile], frame: SamplingFrame
) -> dict[int, frozenset[int]]:
    """Return the places of the raters who may be given each query."""
    each = list(people)
    by_language: dict[str | None, frozenset[int]] = {}
    able = {}
    for query, question in frame.questions.items():
        language = question.language
        if language not in by_language:
            by_language[language] = frozenset(i for i, p in enumerate(each) if p.reads(language))
        able[query] = by_language[language]
    return able


def _primaries(languages: Collection[str] | None) -> frozenset[str] | None:
    if not languages:
        return None
    if isinstance(languages, str):
        return frozenset({primary(languages)})
    return frozenset(primary(str(language)) for language in languages)
