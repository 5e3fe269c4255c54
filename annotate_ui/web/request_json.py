"""What the page's script asks for: whose page it is, and what it sends."""

from typing import TypeVar

from flask import request
from pydantic import BaseModel, ValidationError
from werkzeug.exceptions import BadRequest

from annotate_ui.tasks.refusals import InvalidError
from annotate_ui.web.error_pages import OtherRaterError
from annotate_ui.web.rater_session import SignedIn, rater_here

Body = TypeVar("Body", bound=BaseModel)


def rater_of_page() -> SignedIn:
    """Return who is signed in, if the page that asks was theirs.

    Raises
    ------
    SignedOutError
        Nobody is signed in.
    OtherRaterError
        The page is another rater's.
    """
    rater = rater_here()
    if request.headers.get("X-Rater") != rater.public_id:
        raise OtherRaterError
    return rater


def body(kind: type[Body]) -> Body:
    """Return what was sent, checked.

    Raises
    ------
    InvalidError
        It is none of this kind; the error names the first field at fault.
    """
    try:
        return kind.model_validate(request.get_json())
    except RecursionError:
        raise BadRequest from None
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = str(fault["loc"][0]) if fault["loc"] else "body"
        message = fault["msg"].removeprefix("Value error, ")
        raise InvalidError(f"{field}: {message}", field) from None
