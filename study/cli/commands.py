"""The commands init, import, status, export, upgrade and fetch."""

import sys
from pathlib import Path
from typing import Any

import click

from study.cli.export_options import ExportNames, reads_export
from study.cli.options import AS_JSON, STUDY, print_result, progress
from study.cli.unused_options import unused_if
from study.text import shell_word


@click.command()
@STUDY
@click.option(
    "--settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Use this file as study.toml, for example with other constructs.",
)
@click.option(
    "--campaign",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Begin a campaign that this file describes: settings, responses, and raters or links.",
)
@AS_JSON
@unused_if("settings", lambda given: given["campaign"], "the file of --campaign has the settings")
def init(folder: Path, settings: Path | None, campaign: Path | None, as_json: bool) -> None:
    """Create a study: study.toml and an empty database.

    With --campaign, the responses are imported and assigned, and links for the raters are printed;
    `ccrs help campaign` shows such a file. After an error nothing is left of the study.

    \b
    Examples:
      ccrs init my-study
      ccrs init my-study --settings constructs.toml
      ccrs init my-study --campaign campaign.toml
    """
    from study.settings.template import study_toml
    from study.study import Study

    if campaign is not None:
        from study.cli.campaign_begin import begin

        begin(folder, campaign, as_json)
        return
    text = study_toml(folder) if settings is None else _settings(settings)
    with Study.create(folder, text) as study:
        keys = [c.key for c in study.config.constructs]
    print_result(
        {"folder": str(folder), "constructs": keys},
        [
            f"Created the study {folder} with the constructs {', '.join(keys)}.",
            f"Settings: {folder / 'study.toml'}",
            "A judge of your own: --prompts ccrs-json-v1 asks for an object with reason and score, "
            "which",
            "answers follow wherever the endpoint has schemas. The default is the paper's words.",
            f"Next: ccrs import {shell_word(folder)} RESPONSES   (JSON lines, CSV or Parquet)",
        ],
        as_json,
    )


@click.command("import")
@STUDY
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--as",
    "importer",
    metavar="FORMAT",
    help="Read FILES as this format, such as ragas; `ccrs help other-tools` lists the formats.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="SCORER=KIND",
    help="What a scorer is: human, adjudicated, judge or metric. Repeatable.",
)
@click.option("--scorer", metavar="NAME", help="Scorer of the scores, where the file names none.")
@click.option(
    "--construct", metavar="KEY", help="Construct of the scores, where the file names none."
)
@click.option(
    "--system", metavar="NAME", help="System of the responses, where the file names none."
)
@reads_export
@click.option(
    "--values",
    "word_values",
    multiple=True,
    metavar="WORD=NUMBER,...",
    help="Numbers of words in a table of scores, such as good=2,ok=1,bad=0,unsure= (missing). "
    "-1=,99= makes these numbers missing. Repeatable. Well-known words are read without it.",
)
@click.option(
    "--rater-prefix",
    metavar="TEXT",
    help="Prefix of the codes of other users, before their number. Default: ls-.",
)
@click.option(
    "--allow-unmatched",
    is_flag=True,
    help="Leave out scores of unknown responses and count them, instead of refusing the file.",
)
@click.option(
    "--revise",
    is_flag=True,
    help="Store changed responses as new versions; the old ones and their scores are kept, "
    "but leave the score table.",
)
@click.option(
    "--conflicts-as-repeats",
    is_flag=True,
    help="Store a second, different value of a scorer as its next repeat.",
)
@AS_JSON
def import_(
    folder: Path,
    files: tuple[Path, ...],
    importer: str | None,
    kinds: tuple[str, ...],
    scorer: str | None,
    construct: str | None,
    system: str | None,
    names: ExportNames,
    word_values: tuple[str, ...],
    rater_prefix: str | None,
    allow_unmatched: bool,
    revise: bool,
    conflicts_as_repeats: bool,
    as_json: bool,
) -> None:
    """Import responses, scores or preferences into STUDY.

    Each file is stored whole or not at all; every faulty row is listed. A file that was
    imported before changes nothing. The format is recognized from the content; --as overrides
    it. `ccrs help file-formats` and `ccrs help other-tools` describe the formats.

    \b
    Examples:
      ccrs import my-study responses.jsonl
      ccrs import my-study ratings.csv --kind anna=human --kind ben=human
      ccrs import my-study ccrs_results_A.json --system A --scorer llama-3
      ccrs import my-study export.json --control quality=AC --control stars=
      ccrs import my-study export.json --control stars=AC --scale stars=1:5 --rater 5=anna
      ccrs import my-study export.json --control verdict=AC --value good=100 --value bad=0
      ccrs import my-study labels.csv --values good=100,ok=50,bad=0,unsure=
      ccrs import my-study ragas.csv --control faithfulness=CC --scale faithfulness=0:1
    """
    from dataclasses import asdict

    from study.cli import import_options
    from study.errors import InputError, StudyError
    from study.importing.file_import import import_file
    from study.study import Study

    scorer_kinds = import_options.unique_by_name("--kind", kinds, import_options.kind)
    named = names.read()
    named["values"] = import_options.with_word_values(named["values"], word_values)
    summaries: list[dict[str, Any]] = []
    answers: dict[str, str] = {}
    with Study.open(folder) as study:
        for path in files:
            answered = {}
            if not as_json and sys.stdin.isatty():
                answered = import_options.prompt_for_constructs(
                    study, path, importer, named["controls"], answers
                )
            try:
                with progress(f"Reading {path.name}", hidden=as_json) as advance:
                    summary = import_file(
                        study,
                        path,
                        importer=importer,
                        kinds=scorer_kinds,
                        scorer=scorer,
                        construct=construct,
                        **{**named, "controls": {**named["controls"], **answered}},
                        rater_prefix=rater_prefix,
                        system=system,
                        allow_unmatched=allow_unmatched,
                        revise=revise,
                        conflicts_as_repeats=conflicts_as_repeats,
                        kinds_of_several_files=len(files) > 1,
                        progress=advance,
                    )
            except InputError as error:
                # A program gets the summaries of earlier files, and all faults of this one.
                if as_json:
                    faults = [asdict(fault) for fault in error.faults]
                    print_result(
                        [*summaries, {"source": error.source, "faults": faults}], [], as_json
                    )
                raise
            summaries.append(summary.as_json())
            if not as_json:
                click.echo("\n".join(summary.lines()))
        next_step = _next_step(study)
        unknown = import_options.unknown_scorers(study, scorer_kinds)
    print_result(summaries, [f"Next: {next_step}"], as_json)
    if unknown:
        raise StudyError(
            f"--kind {unknown[0]}={scorer_kinds[unknown[0]]} had no effect: none of the files has "
            f"the scorer {unknown[0]!r}. The files were imported."
        )


@click.command()
@STUDY
@AS_JSON
def status(folder: Path, as_json: bool) -> None:
    """Show the contents, progress and next step of STUDY.

    \b
    Example:
      ccrs status my-study
    """
    from study.status import study_status
    from study.study import Study

    with Study.open(folder) as study:
        current = study_status(study)
    if as_json:
        print_result(current.as_json(), [], as_json)
        return
    from study.cli.displays import show_status

    show_status(current)


@click.command()
@STUDY
@click.option(
    "--out",
    metavar="FOLDER|FILE",
    type=click.Path(path_type=Path),
    help="Folder for the files; default: STUDY/export. With --rater, a new file.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    show_default=True,
    help="CSV opens in spreadsheets; Parquet keeps types.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing export.")
@click.option(
    "--rater",
    metavar="CODE",
    help="Write everything stored about this person to one JSON file instead.",
)
@AS_JSON
@unused_if("form", lambda given: given["rater"], "what is stored about a person is JSON")
@unused_if("overwrite", lambda given: given["rater"], "--rater writes a new file")
def export(
    folder: Path, out: Path | None, form: str, overwrite: bool, rater: str | None, as_json: bool
) -> None:
    """Export responses, scores, ratings and people of STUDY.

    The files are CSV or Parquet; a codebook describes their columns. The table of people has the
    ids of a recruiter, codes, hours and signals, for paying them: keep it to yourself. In CSV,
    text cells that a spreadsheet would run as a formula are escaped; `ccrs import` restores them.

    \b
    Examples:
      ccrs export my-study
      ccrs export my-study --format parquet --out deposit
      ccrs export my-study --rater rater-3 --out rater-3.json
    """
    from study.cli.export_people import people_table
    from study.export.study_export import export_study
    from study.study import Study

    if rater is not None:
        with Study.open(folder) as study:
            _export_rater(study, rater, out, as_json)
        return
    with Study.open(folder) as study:
        done = export_study(
            study,
            out or folder / "export",
            format=form,
            overwrite=overwrite,
            people=people_table(study),
        )
    print_result(done.as_json(), done.lines(), as_json)


@click.command()
@STUDY
@click.option(
    "--backup-confirmed",
    is_flag=True,
    help="A backup of the PostgreSQL database exists. SQLite databases are copied automatically.",
)
@AS_JSON
def upgrade(folder: Path, backup_confirmed: bool, as_json: bool) -> None:
    """Upgrade the database of STUDY to this version's schema.

    The upgrade is done completely or not at all.

    \b
    Example:
      ccrs upgrade my-study
    """
    from study.schema.upgrade import upgrade_study

    done = upgrade_study(folder, backup_confirmed=backup_confirmed)
    if done.before == done.after:
        lines = [f"{folder} is already at schema {done.after}; nothing was changed."]
    else:
        lines = [f"{folder} was upgraded from schema {done.before} to {done.after}."]
        if done.copy is not None:
            lines.append(f"Copy of the database before the upgrade: {done.copy}")
    lines.append(f"Next: ccrs status {shell_word(folder)}")
    copy = None if done.copy is None else str(done.copy)
    print_result({"before": done.before, "after": done.after, "copy": copy}, lines, as_json)


@click.command()
@click.argument("name", metavar="DATASET")
@click.argument(
    "folder", metavar="[STUDY]", required=False, type=click.Path(file_okay=False, path_type=Path)
)
@click.option(
    "--from",
    "source",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Take the files from this folder instead of downloading them.",
)
@AS_JSON
def fetch(name: str, folder: Path | None, source: Path | None, as_json: bool) -> None:
    """Create a study from a public data set.

    STUDY is a new folder; default: ./DATASET. The files are pinned by commit and SHA-256. DATASET
    is openqa-nq301 (1,490 answers of 12 systems, two raters and an adjudicated verdict; Kamalloo
    et al. 2023) or ragchecker-meta (280 pairs of responses with preferences of two raters; Ru et
    al. 2024).

    \b
    Examples:
      ccrs fetch openqa-nq301
      ccrs fetch ragchecker-meta study-2 --from downloads/ragchecker
    """
    from study.datasets.dataset_study import fetch as fetch_dataset

    target = folder or Path(name)
    with progress(f"Fetching {name}", hidden=as_json) as advance:
        done = fetch_dataset(name, target, source=source, progress=advance)
    print_result(
        done.as_json(), [*done.lines(), f"Next: ccrs report {shell_word(target)}"], as_json
    )


def _export_rater(study: Any, rater: str, out: Path | None, as_json: bool) -> None:
    from study.lifecycle.rater_export import export_rater

    if out is None:
        raise click.UsageError("--rater needs a file: --out FILE.json")
    rows = export_rater(study, rater, out)
    counts = ", ".join(f"{count:,} of {name}" for name, count in rows.items())
    print_result(
        {"path": str(out), "rows": rows},
        [
            f"Wrote {out}: {counts} (rows by table). Only you can read it.",
            f"Next: give {out} to the person it is about, and delete it",
        ],
        as_json,
    )


def _settings(path: Path) -> str:
    from study.settings.study_toml import parse_config, read_settings

    text = read_settings(path)
    parse_config(text, str(path))
    return text


def _next_step(study: Any) -> str:
    from study.status import study_status

    return study_status(study).next_step
