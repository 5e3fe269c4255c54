"""Whether a response that the study has can take another content, as its next version."""

from study.importing.existing_content import Held

OWN_ID = "Give this response an id of its own."

Problem = tuple[str, str]
"""What is wrong, and what to do."""


def not_revisable(
    held: Held, key: str, current: int, same: int | None, system: str | None
) -> Problem | None:
    """Say why an id can't take another content; None when it can.

    `current` is the response that the id means now, `same` the one with the new content where
    the study has it, and `system` the one that the row names.
    """
    was = held.responses[current]
    if key != was.key:
        further = key in held.further_keys
        what = "a further id" if further else f"version {was.version}"
        return f"{key!r} is {what} of response {was.key!r}, with another content.", OWN_ID
    if same is not None:
        return _not_revertible(held, key, same, system)
    # Tables name the first version too once there is a second.
    for version in (1, held.versions(key) + 1):
        taken = held.find(f"{key}@{version}")
        if taken is not None and held.responses[taken].key != key:
            return (
                f"response {key!r} can't be revised: {f'{key}@{version}'!r}, the id of its "
                f"version {version}, is that of another response.",
                OWN_ID,
            )
    return None


def _not_revertible(held: Held, key: str, same: int, system: str | None) -> Problem | None:
    """Say why an id can't go back to a content that the study has."""
    was = held.responses[same]
    if was.key == key and (system is not None or held.in_use(same)):
        return None
    problem = (
        f"response {key!r} can't be revised: its content is that of {was.key!r}, version "
        f"{was.version}."
    )
    if was.key == key:
        return problem, f"Name the system that went back to it. {OWN_ID}"
    return problem, OWN_ID
