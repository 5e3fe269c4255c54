"""The raters to whom work is assigned: their codes, database keys and languages."""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count as count_from, islice

from pydantic import ValidationError
from sqlalchemy import Connection, insert, select

from study.assignment.sampling_frame import SamplingFrame, primary
from study.errors import StudyError
from study.facts.departures import departures
from study.facts.scorers import machine_names, scorer_names
from study.schema import RaterBase
from study.schema.tables import raters as rater_table
from study.study import Study


@dataclass(frozen=True)
class RaterProfile:
    """A rater and the languages that they read."""

    id: int
    code: str
    languages: frozenset[str] | None
    """Primary languages; None: any."""

    def reads(self, language: str | None) -> bool:
        """Whether texts of a language may be assigned to the rater."""
        return language is None or self.languages is None or language in self.languages


def rater_profiles(
    connection: Connection, study: Study, codes: Mapping[str, int]
) -> list[RaterProfile]:
    """Return the raters' profiles; languages in study.toml precede stored ones."""
    stored = {
        row.id: (row.attributes or {}).get("languages")
        for row in connection.execute(select(rater_table.c.id, rater_table.c.attributes))
    }
    profiles = []
    for code, rater in codes.items():
        settings = study.config.raters.get(code)
        languages = (
            settings.languages if settings is not None and settings.languages else stored.get(rater)
        )
        profiles.append(RaterProfile(rater, code, _primaries(languages)))
    return profiles


def eligible_by_query(
    people: Iterable[RaterProfile], frame: SamplingFrame
) -> dict[int, frozenset[int]]:
    """Return for each query the indices of the raters to whom it may be assigned."""
    each = list(people)
    by_language: dict[str | None, frozenset[int]] = {}
    eligible = {}
    for query, question in frame.questions.items():
        language = question.language
        if language not in by_language:
            by_language[language] = frozenset(i for i, p in enumerate(each) if p.reads(language))
        eligible[query] = by_language[language]
    return eligible


def _primaries(languages: Collection[str] | None) -> frozenset[str] | None:
    if not languages:
        return None
    if isinstance(languages, str):
        return frozenset({primary(languages)})
    return frozenset(primary(str(language)) for language in languages)


MOST_RATERS = 1000
"""A larger number is more likely a typing error than a campaign."""


def raters_by_code(
    connection: Connection,
    study: Study,
    raters: Sequence[str] | int | None,
    *,
    dry_run: bool,
) -> dict[str, int]:
    """Return the codes of the raters with their database keys; new raters are stored.

    In a dry run a new rater's key is a negative number.

    Raises
    ------
    StudyError
        A code is invalid, named twice, a judge's or that of another rater but for capital letters,
        or there are no raters or too many.
    """
    stored = {
        row.code: row.id for row in connection.execute(select(rater_table.c.id, rater_table.c.code))
    }
    departed_ids = departures(connection)
    departed = {code for code, rater in stored.items() if rater in departed_ids}
    ids: dict[str, int] = {}
    machines = machine_names(connection) | set(study.config.combined)
    scorers = scorer_names(connection, study.config.combined)
    for index, code in enumerate(_codes(study, raters, stored, scorers, departed)):
        if code in departed:
            raise StudyError(
                f"Rater {code!r} has left {study.folder}. Name others, or readmit them "
                f"with `ccrs invite {study.folder} --readmit {code}`."
            )
        alike = next((c for c in (*stored, *ids) if c.casefold() == code.casefold()), code)
        if alike != code and code not in stored:
            raise StudyError(
                f"Rater {code!r} differs from rater {alike!r} only in capital letters. Write "
                f"{alike!r} if they are one person, or choose another code."
            )
        if code in machines:
            raise StudyError(
                f"{code!r} is the name of a judge or metric of {study.folder}; "
                "choose another code for the rater."
            )
        try:
            noun = RaterBase.model_validate({"code": code})
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise StudyError(f"Rater code {code!r}: {problem}.") from None
        if code in stored:
            ids[code] = stored[code]
        elif dry_run:
            ids[code] = -1 - index
        else:
            statement = insert(rater_table).values(**noun.model_dump()).returning(rater_table.c.id)
            ids[code] = connection.execute(statement).scalar_one()
    return ids


def _codes(
    study: Study,
    raters: Sequence[str] | int | None,
    stored: Mapping[str, int],
    scorers: Container[str],
    departed: Container[str],
) -> Sequence[str]:
    if raters is None:
        codes = [code for code in sorted(stored) if code not in departed]
        if not codes:
            raise StudyError(
                f"{study.folder} has no raters yet. Name them: --raters anna,ben,cara, "
                "or how many: --raters 3."
            )
        return codes
    count = raters if isinstance(raters, int) else len(raters)
    if not 1 <= count <= MOST_RATERS:
        raise StudyError(
            f"{count} raters: give 1 to {MOST_RATERS}. "
            "Slots for raters who join are created with --open."
        )
    if isinstance(raters, int):
        # A name under which ratings were imported belongs to another person.
        numbered = map("rater-{}".format, count_from(1))
        free = (c for c in numbered if c not in departed and (c in stored or c not in scorers))
        return list(islice(free, raters))
    twice = sorted({code for code in raters if raters.count(code) > 1})
    if twice:
        raise StudyError(f"Rater {twice[0]!r} is named twice; name each once.")
    return raters
