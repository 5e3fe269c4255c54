"""What the server tells the page's script."""

from typing import Any

from annotate_ui.tasks.stored_answer import StoredAnswer


def stored_json(stored: StoredAnswer) -> dict[str, Any]:
    """Return a rating as JSON for the page's script."""
    return {
        "construct": stored.construct,
        "revision": stored.revision,
        "value": stored.value,
        "status": stored.status,
        "reason": stored.reason,
        "comment": stored.comment,
        "flags": list(stored.flags),
        "saved_at": stored.saved_at.isoformat(),
        "unchanged": stored.unchanged,
        "late": stored.late,
    }
