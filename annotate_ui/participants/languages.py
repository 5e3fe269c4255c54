"""The languages of queries, and those that raters read."""

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from study.schema.tables import raters
from study.settings.rating import LANGUAGE_TAG
from study.settings.study_toml import StudyConfig


def language_of(attributes: Mapping[str, Any], config: StudyConfig) -> str:
    """Return the language of a query's texts: its attribute `language`, else the study's."""
    named = attributes.get("language")
    # Data may contain anything here; a page needs a valid language code.
    if isinstance(named, str) and re.fullmatch(LANGUAGE_TAG, named):
        return named
    return config.rating.language


def languages_of(
    connection: Connection, config: StudyConfig, rater_id: int
) -> frozenset[str] | None:
    """Return the languages that a rater reads, as primary subtags; None: all.

    The rater's languages in study.toml take precedence over those stored with the rater.
    """
    row = connection.execute(
        select(raters.c.code, raters.c.attributes).where(raters.c.id == rater_id)
    ).one()
    spec = config.raters.get(row.code)
    named: Any = spec.languages if spec is not None and spec.languages else None
    if named is None:
        named = row.attributes.get("languages")
    if isinstance(named, str):
        named = [named]
    if not isinstance(named, (list, tuple)) or not named:
        return None
    return frozenset(_primary(str(name)) for name in named)


def can_read(languages: frozenset[str] | None, attributes: Mapping[str, Any]) -> bool:
    """Whether a rater of these languages can read a query; a query without language suits all.

    A rater who reads "de" can read "de-AT".
    """
    named = attributes.get("language")
    if languages is None or not isinstance(named, str) or not named:
        return True
    return _primary(named) in languages


def _primary(tag: str) -> str:
    return tag.replace("_", "-").split("-")[0].lower()
