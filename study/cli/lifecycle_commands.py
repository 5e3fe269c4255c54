"""`ccrs backup`, `restore`, `archive` and `erase`. Only click is imported until they run."""

import sys
from pathlib import Path
from typing import Any

import click

STUDY = click.argument("folder", metavar="STUDY", type=click.Path(file_okay=False, path_type=Path))
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")


@click.command()
@STUDY
@click.option(
    "--to",
    metavar="FILE|FOLDER",
    type=click.Path(path_type=Path),
    help="Where the backup goes; beside STUDY unless given.",
)
@AS_JSON
def backup(folder: Path, to: Path | None, as_json: bool) -> None:
    """Copy STUDY into one compressed file, while people rate.

    The copy is of one moment and is read back before it gets its name. It holds everything, also
    what is personal: keep it as the study itself.

    \b
    Examples:
      ccrs backup my-study
      ccrs backup my-study --to backups
    """
    from study.lifecycle.backup import backup as back_up
    from study.study import Study

    with _progress("Backing up", hidden=as_json) as advance:
        done = back_up(Study.open(folder), to, progress=advance)
    files = "".join(f", {name}" for name in done.files)
    lines = [
        f"Wrote {done.path} ({_megabytes(done.bytes)}): {sum(done.rows.values()):,} rows of "
        f"{len(done.rows)} tables, study.toml{files}. It was read back.",
        f"Next, should it be needed: ccrs restore {done.path} NEW-FOLDER",
    ]
    _say(done.as_json(), lines, as_json)


@click.command()
@click.argument("source", metavar="BACKUP", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--database",
    metavar="ADDRESS",
    help="Of a PostgreSQL study: an empty database, instead of the one that its study.toml names.",
)
@AS_JSON
def restore(source: Path, folder: Path, database: str | None, as_json: bool) -> None:
    """Make a study in FOLDER, which is new or empty, from BACKUP.

    Everything in the file is checked before FOLDER gets its name. Whoever was erased since the
    backup was made is erased again.

    \b
    Examples:
      ccrs restore my-study-20260301T120000Z.ccrs-backup my-study-again
      ccrs restore large.ccrs-backup again --database postgresql+psycopg://me@db/again
    """
    from study.lifecycle.restore import restore as bring_back

    with _progress("Restoring", hidden=as_json) as advance:
        done = bring_back(source, folder, database=database, progress=advance)
    lines = [
        f"Restored {folder} as it was at {done.made_at}: {sum(done.rows.values()):,} rows of "
        f"{len(done.rows)} tables."
    ]
    if done.erased_again:
        lines.append(f"Erased again, as was done since: {_counted(done.erased_again, 'person')}.")
    if not done.list_found:
        lines.append(
            "No list of erasures is on this computer. If people were erased since the backup was "
            "made, erase them again."
        )
    lines.append(f"Next: ccrs status {folder}")
    _say(done.as_json(), lines, as_json)


@click.command()
@STUDY
@click.argument("out", metavar="OUT.zip", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--comments", is_flag=True, help="Put in raters' comments and reasons as well.")
@AS_JSON
def archive(folder: Path, out: Path, comments: bool, as_json: bool) -> None:
    """Pack STUDY for others: to mail, or to deposit with a paper.

    Without tokens, password hashes, ids from elsewhere, raters' attributes, remarks at the end,
    the completion code and, unless asked for, comments. Raters are codes.

    \b
    Examples:
      ccrs archive my-study my-study.zip
      ccrs archive my-study my-study.zip --comments
    """
    from study.lifecycle.archive import archive as pack
    from study.study import Study

    with _progress("Packing", hidden=as_json) as advance:
        done = pack(Study.open(folder), out, comments=comments, progress=advance)
    lines = [
        f"Wrote {done.path} ({_megabytes(done.bytes)}): {sum(done.rows.values()):,} rows of "
        f"{len(done.rows)} tables, tables with codebook, README."
    ]
    lines += [f"Left out: {count:,} {what}." for what, count in done.left_out.items()]
    if comments:
        lines.append("Comments are in it. Read them before you pass them on.")
    lines.append(f"Next: look at what is in {out} before you pass it on")
    _say(done.as_json(), lines, as_json)


@click.command()
@STUDY
@click.argument("rater", required=False)
@click.option(
    "--sever",
    is_flag=True,
    help="Keep the values under a fresh random code; everything else about the person goes.",
)
@click.option("--yes", is_flag=True, help="Erase without asking for the code once more.")
@AS_JSON
def erase(folder: Path, rater: str | None, sever: bool, yes: bool, as_json: bool) -> None:
    """Remove everything that STUDY holds about RATER, leaving no trace in its file.

    It is safe while `ccrs serve` runs. Copies of the study that are known are named afterwards.
    Without RATER, the database is written anew, as an interrupted erasure asks for.

    \b
    Examples:
      ccrs erase my-study rater-3
      ccrs erase my-study rater-3 --sever
      ccrs erase my-study rater-3 --yes --json
    """
    from study.lifecycle.erase import erase as erase_rater, held_about
    from study.lifecycle.secure_delete import rewrite
    from study.study import Study

    study = Study.open(folder)
    if rater is None:
        if sever:
            raise click.UsageError("--sever needs the code of a rater.")
        from study.schema import Noun

        notes = rewrite(study, Noun.metadata.tables)
        _say({"notes": list(notes)}, ["Wrote the database anew.", *notes], as_json)
        return
    held = held_about(study, rater)
    if not yes:
        _confirm(rater, held, sever, as_json)
    with _progress("Erasing", hidden=as_json) as advance:
        done = erase_rater(study, rater, sever=sever, progress=advance)
    rows = ", ".join(f"{count:,} of {name}" for name, count in done.rows.items())
    lines = [f"{'Severed' if sever else 'Removed'}: {rows} (rows by table)."]
    if done.reopened:
        lines.append(f"Unfinished and free for others now: {_counted(done.reopened, 'response')}.")
    lines += list(done.notes)
    if done.copies:
        lines.append("These may still hold the person's data; delete or replace them:")
        lines += [f"  {copy.path} ({copy.why})" for copy in done.copies]
    lines.append("Files that were exported, reported on or mailed elsewhere are not known here.")
    lines.append(f"Next: ccrs backup {folder}, or ccrs assign {folder} where ratings are missing")
    _say(done.as_json(), lines, as_json)


def _confirm(rater: str, held: dict[str, int], sever: bool, as_json: bool) -> None:
    if as_json or not _at_a_terminal():
        raise click.UsageError("Confirm with --yes; it can't be undone.")
    what = "cut off from the person" if sever else "removed"
    rows = ", ".join(f"{count:,} of {name}" for name, count in held.items())
    click.echo(f"To be {what}, for good: {rows} (rows by table).")
    if click.prompt("Type the rater's code to confirm", default="", show_default=False) != rater:
        raise click.UsageError("That is another code. Nothing was erased.")


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _counted(count: int, one: str) -> str:
    many = "people" if one == "person" else f"{one}s"
    return f"{count:,} {one if count == 1 else many}"


def _say(data: Any, lines: list[str], as_json: bool) -> None:
    if as_json:
        import json

        click.echo(json.dumps(data, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(lines))


def _progress(title: str, hidden: bool) -> Any:
    """Return a context that yields `advance(done, total)`; a bar where there is a terminal."""
    from study.progress import progress_bar

    return progress_bar(title, hidden=hidden)
