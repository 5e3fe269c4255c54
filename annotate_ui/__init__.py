"""Human ratings: the pages on which raters rate, and the links that let them in."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotate_ui.inviting import invite as invite, revoke as revoke
    from annotate_ui.serving.server import serve as serve
    from annotate_ui.web.app import create_app as create_app

_HOME = {
    "create_app": "annotate_ui.web.app",
    "invite": "annotate_ui.inviting",
    "revoke": "annotate_ui.inviting",
    "serve": "annotate_ui.serving.server",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): importing `annotate_ui` costs nothing until something of it is used.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'annotate_ui' has no attribute {name!r}")
