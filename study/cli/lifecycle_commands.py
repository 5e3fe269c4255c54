"""`ccrs backup`, `restore`, `archive` and `erase`. Only click is imported until they run."""

import sys
from pathlib import Path

import click

from study.cli.options import AS_JSON, STUDY, print_result, progress
from study.cli.unused_options import unused_if
from study.text import counted, shell_word


@click.command()
@STUDY
@click.option(
    "--out",
    metavar="FILE|FOLDER",
    type=click.Path(path_type=Path),
    help="New file, or the folder for it; default: the folder that contains STUDY.",
)
@AS_JSON
def backup(folder: Path, out: Path | None, as_json: bool) -> None:
    """Copy STUDY into one compressed file.

    Raters can continue meanwhile: the copy is of one moment, and is read back before it gets its
    name. It contains everything, including personal data: protect it like the study itself.

    \b
    Examples:
      ccrs backup my-study
      ccrs backup my-study --out backups
    """
    from study.lifecycle.backup import backup as back_up
    from study.study import Study

    with Study.open(folder) as study, progress("Backing up", hidden=as_json) as advance:
        done = back_up(study, out, progress=advance)
    files = "".join(f", {name}" for name in done.files)
    lines = [
        f"Wrote {done.path} ({_megabytes(done.bytes)}): {sum(done.rows.values()):,} rows of "
        f"{len(done.rows)} tables, study.toml{files}. It was read back.",
        f"To restore it: ccrs restore {done.path} NEW-STUDY",
    ]
    print_result(done.as_json(), lines, as_json)


@click.command()
@click.argument("source", metavar="BACKUP", type=click.Path(dir_okay=False, path_type=Path))
@STUDY
@click.option(
    "--database",
    metavar="ADDRESS",
    help="For a PostgreSQL study: an empty database instead of the one in its study.toml.",
)
@AS_JSON
def restore(source: Path, folder: Path, database: str | None, as_json: bool) -> None:
    """Create STUDY from a backup.

    STUDY is a new or empty folder. The whole file is checked before the study gets its name.
    People who were erased after the backup was made are in it; erase them again.

    \b
    Examples:
      ccrs restore my-study-20260301T120000Z.ccrs-backup my-study-again
      ccrs restore large.ccrs-backup again --database postgresql+psycopg://me@db/again
    """
    from study.lifecycle.restore import restore as bring_back

    with progress("Restoring", hidden=as_json) as advance:
        done = bring_back(source, folder, database=database, progress=advance)
    lines = [
        f"Restored {folder} as it was at {done.made_at}: "
        f"{counted(sum(done.rows.values()), 'row')} of {counted(len(done.rows), 'table')}."
    ]
    lines.append("If people were erased since the backup was made, erase them again.")
    lines.append(f"Next: ccrs status {shell_word(folder)}")
    print_result(done.as_json(), lines, as_json)


@click.command()
@STUDY
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="New zip file; default: STUDY-archive.zip next to STUDY.",
)
@click.option("--comments", is_flag=True, help="Include raters' comments and reasons.")
@AS_JSON
def archive(folder: Path, out: Path | None, comments: bool, as_json: bool) -> None:
    """Pack STUDY for others, without what identifies people.

    To mail, or to deposit with a paper. Left out are tokens, password hashes, external ids,
    raters' attributes, closing remarks, the completion code and, by default, comments. Raters
    are named by their codes.

    \b
    Examples:
      ccrs archive my-study
      ccrs archive my-study --out deposit.zip --comments
    """
    from study.lifecycle.archive import archive as pack
    from study.study import Study

    out = out or folder.resolve().with_name(f"{folder.resolve().name}-archive.zip")
    with Study.open(folder) as study, progress("Packing", hidden=as_json) as advance:
        done = pack(study, out, comments=comments, progress=advance)
    lines = [
        f"Wrote {done.path} ({_megabytes(done.bytes)}): {sum(done.rows.values()):,} rows of "
        f"{len(done.rows)} tables, tables with codebook, README."
    ]
    lines += [f"Left out: {content} ({count:,})." for content, count in done.left_out.items()]
    if comments:
        lines.append("It contains comments. Read them before you share it.")
    lines.append(f"Next: check the contents of {out} before you share it")
    print_result(done.as_json(), lines, as_json)


@click.command()
@STUDY
@click.argument("rater", required=False)
@click.option(
    "--sever",
    is_flag=True,
    help="Keep the values under a new random code; erase everything else about the person.",
)
@click.option("--yes", is_flag=True, help="Erase without asking for confirmation.")
@AS_JSON
@unused_if("sever", lambda given: not given["rater"], "nobody is erased", "name the RATER")
@unused_if("yes", lambda given: not given["rater"], "the file is rewritten without asking")
def erase(folder: Path, rater: str | None, sever: bool, yes: bool, as_json: bool) -> None:
    """Erase everything that STUDY stores about RATER.

    No trace stays in the database file. It is safe while `ccrs serve` runs. Copies of the
    study are not changed. Without RATER, the database file is rewritten, as is needed after an
    interrupted erasure.

    \b
    Examples:
      ccrs erase my-study rater-3
      ccrs erase my-study rater-3 --sever
      ccrs erase my-study rater-3 --yes --json
    """
    from study.lifecycle.erase import erase as erase_rater, stored_about
    from study.lifecycle.secure_delete import rewrite_database
    from study.study import Study

    if rater is None:
        from study.schema import Noun

        with Study.open(folder) as study:
            notes = rewrite_database(study, Noun.metadata.tables)
        print_result({"notes": list(notes)}, ["Rewrote the database file.", *notes], as_json)
        return
    with Study.open(folder) as study:
        counts = stored_about(study, rater)
        if not yes:
            _confirm(rater, counts, sever, as_json)
        with progress("Erasing", hidden=as_json) as advance:
            done = erase_rater(study, rater, sever=sever, progress=advance)
    rows = ", ".join(f"{count:,} of {name}" for name, count in done.rows.items())
    lines = [f"{'Severed' if sever else 'Removed'}: {rows} (rows by table)."]
    if done.reopened:
        lines.append(f"Unfinished and free for others now: {counted(done.reopened, 'response')}.")
    lines += list(done.notes)
    lines.append(
        "Backups, archives, exports, reports and databases from before an upgrade may still "
        "contain the person's data; delete or replace them."
    )
    named = shell_word(folder)
    lines.append(f"Next: ccrs backup {named}, or ccrs assign {named} where ratings are missing")
    print_result(done.as_json(), lines, as_json)


def _confirm(rater: str, counts: dict[str, int], sever: bool, as_json: bool) -> None:
    if as_json or not _at_a_terminal():
        raise click.UsageError("Confirm with --yes; it can't be undone.")
    content = "cut off from the person" if sever else "removed"
    rows = ", ".join(f"{count:,} of {name}" for name, count in counts.items())
    click.echo(f"To be {content}, for good: {rows} (rows by table).")
    if click.prompt("Type the rater's code to confirm", default="", show_default=False) != rater:
        raise click.UsageError("The code differs. Nothing was erased.")


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
