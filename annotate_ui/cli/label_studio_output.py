"""The messages of `ccrs label-studio` about a push and a pull."""

from __future__ import annotations

from typing import TYPE_CHECKING

from study.text import counted, shell_word

if TYPE_CHECKING:
    from annotate_ui.label_studio.results import (
        Followed,
        Pulled,
        Pushed,
        Rejection,
        StatedProject,
    )

SHOWN = 10
"""Number of rejected values that are listed; --json lists all."""
_SENT_AGAIN = (
    "are no longer on the server. Ratings that were pulled stay; push sends unrated responses "
    "again."
)


def pushed_lines(done: Pushed) -> list[str]:
    """Return the messages about a push."""
    lines = [
        f"Stage {project.stage} ({', '.join(project.constructs)}): "
        f"{counted(project.tasks, 'task')} with {counted(project.overlap, 'place')} each, "
        f"{'new' if project.is_new else 'existing'} project. "
        f"{project.url}"
        for project in done.projects
    ]
    return [
        *lines,
        f"{counted(done.tasks - done.adopted, 'task was', 'tasks were')} sent; "
        f"{done.existing:,} existed already.",
        *done.counts(),
        *_projects(
            done.unknown_projects,
            "were made for this study but are not stored in it: it was restored from an earlier "
            "backup, or a copy of it was pushed. Their ratings are not pulled; export them in "
            "Label Studio before you delete the projects.",
        ),
        *_projects(done.missing_projects, _SENT_AGAIN),
        *(f"design.{name} of study.toml does not apply here." for name in done.ignored_settings),
    ]


def stated_lines(projects: list[StatedProject], place: str) -> list[str]:
    """Return the messages about projects of stated responses; `place` are words of a command."""
    lines = [
        f"{project.construct}{f', {project.scorer}' if project.scorer else ''}: {project.tasks:,} "
        f"tasks were sent, {'new' if project.is_new else 'existing'} project. {project.url}"
        for project in projects
    ]
    lines.append("Mark the value that you settle on as ground truth (the star). Then:")
    return lines + [
        f"Next: ccrs label-studio follow {place} --project {project.number} --control "
        f"{project.control}={shell_word(project.construct)} --annotations ground-truth=reference"
        for project in projects
    ]


def pulled_lines(done: Pulled) -> list[str]:
    """Return the messages about what was pulled."""
    return [
        *_read_lines(done, _SENT_AGAIN),
        *_listed(
            done.rejected,
            f"{counted(len(done.rejected), 'value was', 'values were')} rejected, "
            f"{done.rejected_new:,} of them new:",
        ),
        *_listed(
            done.doubtful,
            f"{counted(len(done.doubtful), 'value is', 'values are')} stored that a decimal "
            "comma explains, which the field of Label Studio drops; ask the rater, and correct "
            "them there:",
        ),
    ]


def followed_lines(done: Followed) -> list[str]:
    """Return the messages about following projects."""
    lines = _read_lines(done, "are no longer on the server. Their values stay.")
    return [*lines, *(f"Warning: {warning}" for warning in done.warnings)]


def _read_lines(done: Followed, kept: str) -> list[str]:
    """Return the messages about what was read; `kept` says what becomes of deleted projects."""
    return [
        f"{counted(done.new, 'new value')}, {done.changed:,} edited, {done.withdrawn:,} withdrawn, "
        f"{done.unchanged:,} unchanged; from {counted(done.annotations, 'annotation')}.",
        *(f"{n:,} {noun} were imported from the tasks." for noun, n in done.imported.items()),
        *(f"Range of {control} in Label Studio: {r}." for control, r in done.ranges.items()),
        *(f"Accepted: {rule} ({count:,})." for rule, count in done.rules.items()),
        *(f"Left out: {content} ({count:,})." for content, count in done.left_out.items()),
        *_projects(done.missing_projects, kept),
        *done.counts(),
        *(f"User {user} is rater {code}." for code, user in done.raters.items()),
    ]


def _listed(values: list[Rejection], heading: str) -> list[str]:
    lines = [heading] if values else []
    for row in values[:SHOWN]:
        place = " ".join(part for part in (row.rater, row.response, row.construct) if part)
        lines.append(f"  {place or 'a task'}: {(row.value or 'missing')[:60]}: {row.reason}")
    if len(values) > SHOWN:
        lines.append(f"  and {len(values) - SHOWN:,} more; --json lists all.")
    return lines


def _projects(numbers: list[int], text: str) -> list[str]:
    return [f"Projects {', '.join(map(str, numbers))} {text}"] if numbers else []
