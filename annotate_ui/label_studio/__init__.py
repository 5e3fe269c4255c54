"""The bridge to Label Studio: raters rate there; the study assigns, stores and reports."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotate_ui.label_studio.client import Server as Server
    from annotate_ui.label_studio.sync import sync_once as sync_once

CHANNEL = "label_studio"
"""The channel of assignments that are rated in Label Studio."""
FOLLOWED = "label_studio_followed"
"""The channel of assignments that were rated in projects which the study did not push.

They are nobody's task; their ratings have the channel `CHANNEL` like all of Label Studio.
"""

_HOME = {
    "Server": "annotate_ui.label_studio.client",
    "sync_once": "annotate_ui.label_studio.sync",
}

__all__ = ["CHANNEL", "FOLLOWED", "Server", "sync_once"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'annotate_ui.label_studio' has no attribute {name!r}")
