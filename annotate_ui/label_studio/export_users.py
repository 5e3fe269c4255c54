"""The people of an export: which scorer each user is."""

from annotate_ui.label_studio.annotation_reader import user_of, whole
from annotate_ui.label_studio.export_inventory import annotations_of
from study.errors import Fault, InputError
from study.importing.formats.format_options import FormatOptions
from study.importing.readers.source import RecordSource
from study.text import quoted_names

PREFIX = "ls-"


def users(source: RecordSource, options: FormatOptions) -> dict[int, str | None]:
    """Return the scorer that each user of an export is; None: said to be left out.

    Raises
    ------
    InputError
        A user without --rater would get the code of a rater who was pulled, or is erased; or
        --rater names nobody of the file.
    """
    prefix = PREFIX if options.rater_prefix is None else options.rater_prefix
    found: dict[int, str | None] = {}
    faults = []
    for record in source.records():
        for annotation in annotations_of(record):
            user = whole(user_of(annotation.get("completed_by")))
            if user is None or user in found:
                continue
            said = options.raters.get(str(user))
            code = found[user] = f"{prefix}{user}" if said is None else said or None
            if said is not None:
                continue
            for server, number, owner in options.pulled:
                if owner == code or (
                    owner is None and number == str(user) and options.rater_prefix is None
                ):
                    who = f"the rater {code}" if owner else "erased from the study"
                    faults.append(
                        Fault(
                            f"user {user} of {server} is {who}; is user {user} of this file, too?",
                            f"Say who it is with --rater {user}=CODE (--rater {user}= leaves them "
                            "out), or give people of another server codes of their own with "
                            "--rater-prefix TEXT.",
                        )
                    )
                    break
    there = [str(user) for user in found]
    for number, code in options.raters.items():
        if number not in there:
            faults.append(
                Fault(
                    f"no user {number} rated in this file. Its users: "
                    f"{quoted_names(there) or 'none'}.",
                    f"Correct --rater {number}={code}, or leave it out; files of "
                    "different people are imported one by one.",
                )
            )
    if faults:
        raise InputError(source.path.name, faults)
    again = sorted(
        str(code)
        for user, code in found.items()
        if code in options.kinds and str(user) not in options.raters
    )
    if again:
        source.tally.warnings.append(
            f"{', '.join(again)}: values of theirs are in the study already, and these are taken "
            "for the same people's. If they are others, import with --rater-prefix."
        )
    return found
