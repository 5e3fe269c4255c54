"""The command `ccrs respond`: responses of systems, from a corpus and queries.

Only click is imported until the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judge.cli.engine_options import EngineOptionsCommand, settings_from
from judge.cli.inspect_commands import print_fields
from study.cli.options import AS_JSON, STUDY, comma_separated, progress
from study.cli.unused_options import unused_if
from study.text import counted, shell_word

# Options of a judge run that have no meaning for a reader.
_OF_JUDGES = frozenset(
    {
        *("name", "metric", "prompts", "constructs", "systems", "shuffle_passages", "repeats"),
        *("drift", "retry_unparsed", "for_reparse", "text_metrics"),
        *("accept_low_scores", "max_missing", "logprobs", "answer_schema", "structured"),
    }
)


@click.command(cls=EngineOptionsCommand, without=_OF_JUDGES)
@STUDY
@click.option(
    "--corpus",
    type=click.Path(exists=True, path_type=Path),
    required=True,
    metavar="FOLDER",
    help="Documents: a folder with corpus.jsonl, as BEIR has it, or with other files of "
    "documents; or one file. Each has an id (or _id), a text, and may have a title.",
)
@click.option(
    "--queries",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="Queries: JSON lines, CSV or Parquet with query_id (or _id), query (or text), and "
    "references where they are known.",
)
@click.option(
    "--systems",
    multiple=True,
    metavar="NAMES",
    help="Only these systems: A,B or A-F. Repeatable. Default: all.",
)
@click.option(
    "--preset",
    type=click.Choice(("ccrs-paper", "ccrs-paper-appendix")),
    help="Add the systems A to F of the CCRS paper: with the passages that its text states (300 "
    "tokens, overlap 60), or those that its appendix states (100, 20). Default: ccrs-paper where "
    "study.toml has no system with a reader.",
)
@click.option(
    "--prompt",
    metavar="NAME",
    help="Prompt of the readers in place of that of each system: rag-answer-v1, or a TOML file in "
    "the study's folder.",
)
@click.option(
    "--tokenizer",
    default="words",
    show_default=True,
    metavar="PATH_OR_NAME",
    help="What counts the tokens of passages: words (and each other sign), or the tokenizer in "
    "the folder of a model.",
)
@click.option(
    "--revise",
    is_flag=True,
    help="Make the responses current where a system has others in STUDY, which are refused without "
    "it.",
)
@click.option(
    "--engine",
    default="openai",
    show_default=True,
    metavar="NAME",
    help="Engine that asks the readers, as for `ccrs judge`.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Rank the passages and report the prompts to ask, their tokens and cost. Sends no prompt.",
)
@AS_JSON
@unused_if(
    "estimate", lambda given: given["dry_run"], "a dry run asks no prompt", "leave --dry-run out"
)
def respond(
    folder: Path,
    corpus: Path,
    queries: Path,
    systems: tuple[str, ...],
    preset: str | None,
    prompt: str | None,
    tokenizer: str,
    revise: bool,
    dry_run: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Make responses of RAG systems, and import them into STUDY.

    A system cuts the documents into passages, ranks them by BM25, by the vectors of --encoder or by
    both, and has its reader answer from the first ones. Systems are those of study.toml with a
    `reader`, or those of a preset; --model names one reader for all of them. Rankings and answers
    are kept in the study's folder `respond`: the same command continues a call that was stopped or
    killed, and asks no prompt twice.

    \b
    Examples:
      ccrs respond my-study --corpus corpus --queries queries.jsonl --base-url http://localhost:8000/v1
      ccrs respond my-study --corpus corpus --queries queries.jsonl --systems A,C,E --dry-run
      ccrs respond my-study --corpus corpus --queries queries.jsonl --estimate 20 --price 0.5 1.5
    """
    from judge.responding.respond import RespondStoppedError, respond_study
    from study.study import Study

    settings = settings_from(values)
    names = tuple(part for text in systems for part in comma_separated(text))
    try:
        with (
            Study.open(folder) as study,
            progress("Responding", hidden=as_json) as advance,
        ):
            outcome = respond_study(
                study,
                settings,
                corpus,
                queries,
                systems=names,
                preset=preset,
                prompt=prompt,
                tokenizer=tokenizer,
                revise=revise,
                dry_run=dry_run,
                advance=advance,
            )
    except RespondStoppedError as stopped:
        print_fields(stopped.outcome, as_json)
        raise
    to_ask = 0 if dry_run else sum(each.open for each in outcome.systems.values())
    is_done = not dry_run and not to_ask
    judge = f"Next: ccrs judge {shell_word(folder)} --base-url URL --model NAME"
    steps = [judge] if is_done else []
    # An engine of files names its next command itself.
    if to_ask and settings.estimate is not None:
        steps = ["Next: the same command without --estimate; it asks none of these again"]
    elif to_ask and not hasattr(settings, "answers"):
        steps = [f"Next: the same command again, for {counted(to_ask, 'response')} still to make"]
    qrels = sorted(corpus.glob("qrels/*.tsv")) if corpus.is_dir() and is_done else []
    steps += [
        f"      ccrs measure {shell_word(folder)} --metrics NDCG@10,RR --qrels {shell_word(path)}"
        for path in qrels[:1]
    ]
    print_fields(outcome, as_json, *steps)
    if outcome.falls_short:
        raise click.exceptions.Exit(1)
