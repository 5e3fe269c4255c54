"""Ids under which recruiters know people: one form for each id, and what an id must look like."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from study.errors import StudyError
from study.types import storable

LONGEST_ID = 200
"""Maximum length of a recruiter's id, in characters."""

FORMS = {"prolific": "[0-9a-f]{24}"}
"""What the ids of a recruiter look like, by the recruiter's name."""

#: Under this name an enrolment link stores the form that ids must have.
_FORM = "id_form"


def normalized_id(text: str | None) -> str | None:
    """Return an id as it is stored; None for an empty one.

    Characters have their compatibility form (NFKC, so that full-width digits are digits);
    invisible format characters, such as a zero-width space, and white space around it are removed.
    Case is kept.

    Raises
    ------
    ValueError
        The id is too long, can't be stored, or is a placeholder that a recruiter did not fill in.
    """
    if text is None:
        return None
    composed = unicodedata.normalize("NFKC", storable(text))
    visible = "".join(sign for sign in composed if unicodedata.category(sign) != "Cf")
    id_ = unicodedata.normalize("NFKC", visible).strip()
    if not id_:
        return None
    if len(id_) > LONGEST_ID:
        raise ValueError(f"The external id has {len(id_)} characters; the maximum is {LONGEST_ID}.")
    if id_.startswith(("{", "$", "%")):
        # All visitors would have the same id, and only the first could join.
        raise ValueError("The external id is a placeholder.")
    return id_


def is_same_id(one: str | None, other: str | None) -> bool:
    """Return whether two ids, as they are stored, are one person's: case makes no difference."""
    return _compared(one) == _compared(other)


def _compared(id_: str | None) -> str:
    try:
        # Earlier versions stored ids as they came.
        return (normalized_id(id_) or "").casefold()
    except ValueError:
        return (id_ or "").casefold()


def checked_form(form: str) -> str:
    """Return the regular expression of a form, which is one or names one of `FORMS`.

    Raises
    ------
    StudyError
        It is not a regular expression.
    """
    form = FORMS.get(form.casefold(), form)
    try:
        re.compile(form)
    except re.error as error:
        raise StudyError(
            f"{form!r} is not a regular expression ({error}). Name what the whole id looks like, "
            f"as in [A-Z0-9]{{14}}, or a recruiter: {', '.join(FORMS)}."
        ) from None
    return form


def with_form(attributes: Mapping[str, Any], form: str | None) -> dict[str, Any]:
    """Return what a link stores, with the form that ids must have."""
    return {**attributes, _FORM: form} if form is not None else dict(attributes)


def form_of(attributes: Mapping[str, Any]) -> str | None:
    """Return the form that ids must have; None: any, and none is needed."""
    form = attributes.get(_FORM)
    return None if form is None else str(form)


def rater_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a link stores of the raters who join: all but the form of their ids."""
    return {name: value for name, value in attributes.items() if name != _FORM}


def has_form(id_: str | None, form: str | None) -> bool:
    """Return whether an id may join by a link that asks for a form; case makes no difference."""
    if form is None:
        return True
    return id_ is not None and re.fullmatch(form, id_, re.IGNORECASE) is not None
