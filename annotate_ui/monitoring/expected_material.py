"""Responses with expected values that study.toml asks for and the study lacks."""

from sqlalchemy import Connection, func, or_, select

from study.assignment.checks import LEAST_WORDS
from study.facts.current_responses import is_answer
from study.facts.slots import is_open
from study.schema.tables import assignments, check_pairs, expected_values, responses
from study.settings.design import DesignSpec
from study.study import Study
from study.text import counted, shell_word

_MOST_READ = 100


def lacking_warnings(study: Study) -> list[str]:
    """Return a sentence with a remedy for each kind of material that is lacking."""
    design = study.config.design
    settings = {
        "training": "design.training or design.training_attempts"
        if design.training_attempts > 1
        else "design.training",
        "checks": "design.checks",
    }
    with study.read() as connection:
        lacking = lacking_material(connection, design)
    return [
        f"The study has {text}. Add some with `ccrs import {shell_word(study.folder)} FILE`, or "
        f"lower {settings[material]} in {study.folder / 'study.toml'}."
        for material, text in lacking
    ]


def lacking_material(connection: Connection, design: DesignSpec) -> list[tuple[str, str]]:
    """Return what study.toml asks for and the study lacks: `training` or `checks`, with a text."""
    lacking = []
    if design.training:
        available = _training_responses(connection)
        needed = design.training * design.training_attempts
        if available < needed:
            text = (
                f"{counted(available, 'response')} with expected values for the training; "
                f"{counted(design.training_attempts, 'attempt')} at {design.training} "
                f"{'needs' if design.training_attempts == 1 else 'need'} {needed}"
            )
            lacking.append(("training", text))
    if design.checks:
        available = _check_queries(connection)
        if available < design.checks and not _makes_checks_later(connection):
            text = f"{counted(available, 'check')}; each rater should get {design.checks}"
            lacking.append(("checks", text))
    return lacking


def _makes_checks_later(connection: Connection) -> bool:
    """Return whether there are open slots whose checks are made when a rater takes them."""
    texts = (
        select(responses.c.text)
        .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
        .where(is_open(), assignments.c.purpose == "main")
        .limit(_MOST_READ)
    )
    return any(len(text.split()) >= LEAST_WORDS for text in connection.execute(texts).scalars())


def _training_responses(connection: Connection) -> int:
    count = (
        select(func.count(expected_values.c.response_id.distinct()))
        .join_from(expected_values, responses, expected_values.c.response_id == responses.c.id)
        # A response that is also the output of a system is measured, and not used for training.
        .where(expected_values.c.purpose == "training", ~is_answer())
    )
    return int(connection.execute(count).scalar_one())


def _check_queries(connection: Connection) -> int:
    """Return the number of queries with responses that are checks."""
    imported = select(expected_values.c.response_id).where(expected_values.c.purpose == "check")
    is_check = or_(
        responses.c.id.in_(select(check_pairs.c.damaged_id)), responses.c.id.in_(imported)
    )
    count = select(func.count(responses.c.query_id.distinct())).where(is_check)
    return int(connection.execute(count).scalar_one())
