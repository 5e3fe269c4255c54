"""Counts of a study's contents, its progress and the next step."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, exists, func, select

from study.facts.combined_scorers import in_words, lacking, low_is_good
from study.facts.comparison_decisions import is_decided
from study.facts.current_responses import current_systems, is_answer
from study.facts.links import open_enrolment_links
from study.facts.rating_progress import RatingProgress, rating_progress
from study.facts.score_counts import ScorerStatus, score_counts
from study.schema import (
    Assignment,
    JudgeRun,
    Noun,
    Passage,
    Query,
    Rater,
    Response,
    table,
)
from study.schema.tables import (
    check_pairs,
    comparisons,
    expected_values,
    imported_files,
    pauses,
    preferences,
    queries,
    responses,
)
from study.text import shell_word

if TYPE_CHECKING:
    from study.study import Study


@dataclass(frozen=True)
class Status:
    """A study's counts, and the next sensible step."""

    name: str
    queries: int
    responses: int
    responses_without_passages: int
    queries_without_reference: int
    systems: dict[str, int]
    """System to number of its current outputs."""
    passages: int
    assignments: int
    raters: int
    judge_runs: int
    preferences: int
    """Comparisons that were imported or made here."""
    training: int
    """Responses that raters learn from."""
    checks: int
    """Responses that raters are checked with, damaged copies among them."""
    files: list[dict[str, Any]]
    scorers: list[ScorerStatus]
    combined: dict[str, str]
    """Jury or composite to its members, and which of them have no scores yet."""
    left_out: dict[str, int]
    """Why values do not enter the score table, with their number."""
    edited: int
    """Ratings that were changed after their rater had been shown more; the values before count."""
    rating: RatingProgress | None
    """None: nothing was assigned."""
    next_step: str

    def as_json(self) -> dict[str, Any]:
        """Return the status as plain objects for JSON."""
        rating = None if self.rating is None else self.rating.as_json()
        return {**asdict(self), "rating": rating}


def study_status(study: "Study") -> Status:
    """Count the contents of a study."""
    with study.read() as connection:
        versions = study.construct_versions(connection)
        scores = score_counts(connection, versions, study.config)
        low = low_is_good(connection, study.config)
        rating = rating_progress(connection, versions)
        counts: dict[type[Noun], int] = {
            noun: _count(connection, noun) for noun in (Passage, Assignment, Rater, JudgeRun)
        }
        answers = select(func.count()).select_from(responses).where(is_answer())
        counts[Response] = int(connection.execute(answers).scalar_one())
        # Queries that have only training or check material are not counted.
        answered = exists().where(responses.c.query_id == queries.c.id, is_answer())
        bare = connection.execute(
            select(func.count())
            .select_from(responses)
            .where(responses.c.context_hash.is_(None), is_answer())
        ).scalar_one()
        unanswered = sum(
            not references
            for (references,) in connection.execute(select(queries.c.references).where(answered))
        )
        counts[Query] = int(
            connection.execute(
                select(func.count()).select_from(queries).where(answered)
            ).scalar_one()
        )
        outputs = current_systems(connection)
        newest_pause = select(pauses.c.paused).order_by(pauses.c.id.desc()).limit(1)
        is_paused = bool(connection.execute(newest_pause).scalar())
        joins = open_enrolment_links(connection)
        material = _material(connection)
        decided = select(func.count()).select_from(comparisons).where(is_decided())
        imported = select(func.count()).select_from(preferences)
        compared = sum(int(connection.execute(of).scalar_one()) for of in (imported, decided))
        files = [
            {"name": row.name, "importer": row.importer, "imported": row.created_at.isoformat()}
            for row in connection.execute(select(imported_files).order_by(imported_files.c.id))
        ]
    rating_step = None
    if rating is not None:
        rating_step = _next_rating_step(shell_word(study.folder), rating, joins, is_paused)
    next_step = _next_step(
        study, counts[Response], scores.scorers, compared, rating_step, is_rated=rating is not None
    )
    return Status(
        name=study.config.name,
        queries=counts[Query],
        responses=counts[Response],
        responses_without_passages=int(bare),
        queries_without_reference=unanswered,
        systems=outputs,
        passages=counts[Passage],
        assignments=counts[Assignment],
        raters=counts[Rater],
        judge_runs=counts[JudgeRun],
        preferences=compared,
        training=len(material["training"]),
        checks=len(material["check"]),
        files=files,
        scorers=scores.scorers,
        combined=_combined(study, scores.scorers, low),
        left_out=scores.left_out,
        edited=scores.edited,
        rating=rating,
        next_step=next_step,
    )


def _combined(study: "Study", scorers: list[ScorerStatus], low: Collection[str]) -> dict[str, str]:
    scored: dict[str, list[str]] = {}
    for status in scorers:
        scored.setdefault(status.scorer, []).append(status.construct)
    return {
        name: ". ".join([in_words(spec, low), *lacking(spec, scored)])
        for name, spec in study.config.combined.items()
    }


def _material(connection: Connection) -> dict[str, set[int]]:
    """Return the responses with expected values by purpose; damaged copies are checks."""
    material: dict[str, set[int]] = {"training": set(), "check": set()}
    for purpose, response in connection.execute(
        select(expected_values.c.purpose, expected_values.c.response_id)
    ):
        material[purpose].add(response)
    material["check"].update(connection.execute(select(check_pairs.c.damaged_id)).scalars())
    return material


def _count(connection: Connection, noun: type[Noun]) -> int:
    return int(connection.execute(select(func.count()).select_from(table(noun))).scalar_one())


def _next_step(
    study: "Study",
    responses: int,
    scorers: list[ScorerStatus],
    preferences: int,
    rating_step: str | None,
    *,
    is_rated: bool,
) -> str:
    folder = shell_word(study.folder)
    kinds = {scorer.kind for scorer in scorers if scorer.values}
    if not responses:
        return f"ccrs import {folder} RESPONSES   (JSON lines, CSV or Parquet)"
    if rating_step is not None:
        return rating_step
    judge = f"ccrs judge {folder} --base-url URL --model NAME   "
    if not kinds and not preferences:
        return f"{judge}(or ccrs import: judge scores and ratings; ccrs assign: people rate)"
    if not kinds & {"human", "adjudicated"} and not preferences:
        return f"ccrs assign {folder} --raters N   (or ccrs import: human ratings)"
    if is_rated and not kinds & {"judge", "metric"} and not preferences:
        return f"{judge}(or ccrs report: people among themselves)"
    return f"ccrs report {folder}"


def _next_rating_step(
    folder: str, rating: RatingProgress, joins: list[str], is_paused: bool
) -> str | None:
    """Return the next step of the rating; None if it is done or no rater is left.

    `joins` are the enrolment links by which raters may join.
    """
    at_work = {rater.link for rater in rating.raters if rater.own_left}
    if "none" in at_work:
        return f"ccrs invite {folder}   (links for raters)"
    invited = any(rater.link == "live" for rater in rating.raters)
    if rating.open_slots and not invited and not joins:
        return f"ccrs invite {folder} --new N   (raters for the open slots)"
    if rating.open_slots or "live" in at_work:
        if is_paused:
            return f"ccrs pause {folder} --resume   (rating is paused; or ccrs report)"
        why = "the rating pages; or ccrs report: what there is so far"
        if rating.open_slots and joins and not invited:
            noun = "link" if len(joins) == 1 else "links"
            why = f"raters join by the enrolment {noun} {', '.join(joins)}"
        return f"ccrs serve {folder}   ({why})"
    if rating.open_elsewhere:
        return f"ccrs label-studio sync {folder}   (or ccrs report: what there is so far)"
    return None
