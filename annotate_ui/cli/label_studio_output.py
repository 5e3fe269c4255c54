"""What `ccrs label-studio` says of a push and of a pull, in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotate_ui.label_studio.results import Pulled, Pushed

SHOWN = 10
"""Of what was kept aside, so many are shown; --json has all."""


def pushed_lines(done: Pushed) -> list[str]:
    """Return what a push says."""
    lines = [
        f"Stage {one.stage} ({', '.join(one.constructs)}): {one.tasks:,} tasks for {one.overlap} "
        f"each, {'made now' if one.made else 'there before'}. {one.url}"
        for one in done.projects
    ]
    new = done.tasks - done.adopted
    lines.append(f"{new:,} tasks were sent; {done.there:,} were there already.")
    if done.adopted:
        lines.append(f"{done.adopted:,} had been sent by a push that was interrupted.")
    if done.gone:
        lines.append(
            f"{done.gone:,} tasks had been deleted over there; what nobody had rated is sent again."
        )
    if done.unknown:
        named = ", ".join(str(number) for number in done.unknown)
        lines.append(
            f"Projects {named} were made for this study, and it knows nothing of them: it was "
            "restored to an earlier backup, or a copy of it was pushed. Their ratings are not "
            "pulled; export them over there before they are deleted."
        )
    if done.missing:
        named = ", ".join(str(number) for number in done.missing)
        lines.append(
            f"Projects {named} are no longer on the server. What was pulled of them stays; what "
            "nobody had rated is sent again."
        )
    if done.lost:
        lines.append(
            f"{done.lost:,} places are held over there by people whose value can't count (counted "
            "elsewhere, left or erased); open slots get further tasks."
        )
    if done.renewed:
        lines.append(
            f"{done.renewed:,} tasks that nobody had touched asked an earlier version of a "
            "construct and were replaced."
        )
    if done.earlier:
        lines.append(
            f"{done.earlier:,} tasks that somebody has rated still ask an earlier version of a "
            "construct; such values are kept and leave the score table."
        )
    if done.doubled:
        lines.append(f"{done.doubled:,} were there twice and unrated, and were removed.")
    if done.waiting:
        lines.append(
            f"{done.waiting:,} of {done.slots:,} slots wait until the earlier stages of their "
            "query are rated and pulled."
        )
    return lines


def pulled_lines(done: Pulled) -> list[str]:
    """Return what a pull says."""
    lines = [
        f"{done.new:,} new values, {done.changed:,} edited, {done.withdrawn:,} taken back, "
        f"{done.unchanged:,} unchanged; from {done.annotations:,} annotations."
    ]
    if done.missing:
        named = ", ".join(str(number) for number in done.missing)
        lines.append(
            f"Projects {named} are no longer on the server. What was pulled of them stays; the "
            "next push sends again what nobody had rated."
        )
    if done.skipped:
        lines.append(f"{done.skipped:,} of these say that the task was skipped.")
    if done.earlier:
        lines.append(
            f"{done.earlier:,} values are of an earlier version of their construct (study.toml was "
            "edited since it was pushed); they are kept and leave the score table."
        )
    if done.drafts:
        lines.append(f"{done.drafts:,} drafts are no ratings and were left where they are.")
    if done.by_another:
        lines.append(
            f"{done.by_another:,} annotations were last changed by another account than their "
            "rater's."
        )
    if done.erased:
        lines.append(f"{done.erased:,} annotations are of people erased from the study.")
    lines += [f"User {user} is rater {code}." for code, user in done.raters.items()]
    if done.aside:
        lines.append(
            f"{len(done.aside):,} values can't be ratings and are kept aside, "
            f"{done.aside_new:,} of them new:"
        )
    for one in done.aside[:SHOWN]:
        place = " ".join(part for part in (one.rater, one.response, one.construct) if part)
        lines.append(f"  {place or 'a task'}: {(one.value or 'nothing')[:60]}: {one.reason}")
    if len(done.aside) > SHOWN:
        lines.append(f"  and {len(done.aside) - SHOWN:,} more; --json has all.")
    return lines
