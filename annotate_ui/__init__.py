"""Human ratings: the pages on which raters rate, and the links that let them in."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotate_ui.participants.enrolment import (
        close_link as close_link,
        enrol as enrol,
        make_link as make_link,
        renew_link as renew_link,
    )
    from annotate_ui.participants.invitation import invite as invite, revoke as revoke
    from annotate_ui.participants.withdrawal import leave as leave, readmit as readmit
    from annotate_ui.server.application import serve as serve
    from annotate_ui.web.app import create_app as create_app

_HOME = {
    "close_link": "annotate_ui.participants.enrolment",
    "create_app": "annotate_ui.web.app",
    "enrol": "annotate_ui.participants.enrolment",
    "invite": "annotate_ui.participants.invitation",
    "leave": "annotate_ui.participants.withdrawal",
    "make_link": "annotate_ui.participants.enrolment",
    "readmit": "annotate_ui.participants.withdrawal",
    "renew_link": "annotate_ui.participants.enrolment",
    "revoke": "annotate_ui.participants.invitation",
    "serve": "annotate_ui.server.application",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing `annotate_ui` costs nothing until something of it is used.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'annotate_ui' has no attribute {name!r}")
