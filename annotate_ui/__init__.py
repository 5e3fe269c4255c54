"""Human ratings: the pages on which raters rate, and the links that let them in."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotate_ui.inviting import invite as invite, revoke as revoke
    from annotate_ui.serving.server import serve as serve
    from annotate_ui.taking_part.enrolling import (
        close_link as close_link,
        enrol as enrol,
        make_link as make_link,
        renew_link as renew_link,
    )
    from annotate_ui.taking_part.leaving import leave as leave, readmit as readmit
    from annotate_ui.web.app import create_app as create_app

_HOME = {
    "close_link": "annotate_ui.taking_part.enrolling",
    "create_app": "annotate_ui.web.app",
    "enrol": "annotate_ui.taking_part.enrolling",
    "invite": "annotate_ui.inviting",
    "leave": "annotate_ui.taking_part.leaving",
    "make_link": "annotate_ui.taking_part.enrolling",
    "readmit": "annotate_ui.taking_part.leaving",
    "renew_link": "annotate_ui.taking_part.enrolling",
    "revoke": "annotate_ui.inviting",
    "serve": "annotate_ui.serving.server",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing `annotate_ui` costs nothing until something of it is used.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'annotate_ui' has no attribute {name!r}")
