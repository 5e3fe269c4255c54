"""The commands beside a run: prompts, list, show, export, reparse.

Only click is imported until a command runs.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from study.cli.options import AS_JSON, STUDY, print_result

RUN = click.argument("name", metavar="RUN")


@click.command()
@STUDY
@click.option("--new", metavar="NAME", help="Begin a prompt version of the study's own: a copy.")
@click.option(
    "--of",
    "original",
    metavar="VERSION",
    help="With --new: the version to copy. Default: ccrs-paper-v1.",
)
@AS_JSON
def prompts(folder: Path, new: str | None, original: str | None, as_json: bool) -> None:
    """List the prompt versions that STUDY can be judged with, or begin one of its own.

    A study's own lie in its folder `prompts`: a folder each, with one file a construct and
    version.toml. Words that a run was made with keep their name; changed words need another.

    \b
    Examples:
      ccrs judge prompts my-study
      ccrs judge prompts my-study --new ccrs-german-v1
    """
    from judge.prompts.prompt_versions import copy_version, list_versions
    from judge.prompts.template import PAPER
    from study.study import Study

    if original is not None and new is None:
        raise click.UsageError("--of goes with --new NAME.")
    Study.open(folder).close()
    if new is not None:
        made = copy_version(folder, new, original or PAPER)
        print_result(
            {"name": new, "folder": str(made)},
            [
                f"{made} holds a copy of {original or PAPER}; change its words.",
                f"Next: ccrs judge {folder} --prompts {new} --dry-run",
            ],
            as_json,
        )
        return
    found = list_versions(folder)
    lines = [
        f"{one.name}  ({', '.join(one.constructs)}; {one.hash[:12]}"
        f"{'; of this study' if one.own else ''})"
        for one in found
    ]
    print_result([asdict(one) for one in found], lines, as_json)


@click.command("list")
@STUDY
@AS_JSON
def list_(folder: Path, as_json: bool) -> None:
    """List the runs of STUDY, with how far each has come.

    "judged" counts what is in the score table, out of all responses on the constructs that the
    run has judged.

    \b
    Example:
      ccrs judge list my-study
    """
    from judge.inspect.list import list_runs, print_runs
    from study.study import Study

    with Study.open(folder) as study:
        runs = list_runs(study)
    if runs and not as_json:
        print_runs(runs)
        return
    start = f"ccrs judge {folder} --base-url URL --model NAME"
    lines = ["The study has no run yet.", f"Next: {start}"]
    print_result([found.as_json() for found in runs], lines, as_json)


@click.command()
@STUDY
@RUN
@click.option(
    "--response",
    metavar="ID",
    help="One response: prompts, raw answers, and how they were read.",
)
@click.option("--construct", metavar="KEY", help="With --response: only this construct.")
@click.option(
    "--suspects",
    is_flag=True,
    help="List responses and passages with what may be an instruction to the judge.",
)
@AS_JSON
def show(
    folder: Path,
    name: str,
    response: str | None,
    construct: str | None,
    suspects: bool,
    as_json: bool,
) -> None:
    """Show all that is known of a RUN of STUDY, or of one response in it.

    Control characters in what models and servers said are shown escaped; --json has every text
    as it is.

    \b
    Examples:
      ccrs judge show my-study llama-3-70b
      ccrs judge show my-study llama-3-70b --response q1-A --construct CC
      ccrs judge show my-study llama-3-70b --suspects
    """
    from judge.inspect.response_details import show_response
    from judge.inspect.show import show_run
    from study.study import Study

    if construct is not None and response is None:
        raise click.UsageError("--construct goes with --response ID.")
    if suspects and response is not None:
        raise click.UsageError("--suspects lists all responses; leave --response out.")
    with Study.open(folder) as study:
        if suspects:
            from judge.inspect.suspects import list_suspects, suspect_lines

            listed = list_suspects(study, name)
            print_result([one.as_json() for one in listed], suspect_lines(listed), as_json)
            return
        found: Any = (
            show_run(study, name)
            if response is None
            else show_response(study, name, response, construct)
        )
    print_result(found.as_json(), found.lines(), as_json)


@click.command()
@STUDY
@RUN
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write: .csv, .parquet or .jsonl.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "jsonl"]),
    help="Where the file's ending does not say it.",
)
@click.option("--overwrite", is_flag=True, help="Replace a file that is there already.")
@AS_JSON
def export(
    folder: Path, name: str, out: Path, form: str | None, overwrite: bool, as_json: bool
) -> None:
    """Write every judgment of a RUN of STUDY into a file, with its raw answer.

    A row each, further attempts included. Text cells that a spreadsheet would run as a formula
    are defused in CSV. The engine `recorded` reads such files.

    \b
    Examples:
      ccrs judge export my-study llama-3-70b --out judgments.csv
      ccrs judge export my-study llama-3-70b --out judgments.parquet --overwrite
    """
    from judge.inspect.export import export_run
    from study.study import Study

    with Study.open(folder) as study:
        done = export_run(study, name, out, form, overwrite=overwrite)
    print_result(done.as_json(), done.lines(), as_json)


@click.command()
@STUDY
@RUN
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@AS_JSON
def reparse(folder: Path, name: str, dry_run: bool, as_json: bool) -> None:
    """Read the raw answers of a RUN of STUDY again with this version's parser.

    What comes out differently is stored beside the first reading, and the score table takes the
    newest. Nothing is asked, and no judgment is changed.

    \b
    Examples:
      ccrs judge reparse my-study llama-3-70b --dry-run
      ccrs judge reparse my-study llama-3-70b
    """
    from judge.inspect.reparse import reparse_run
    from study.study import Study

    with Study.open(folder) as study:
        done = reparse_run(study, name, dry_run=dry_run)
    print_result(done.as_json(), done.lines(), as_json)
