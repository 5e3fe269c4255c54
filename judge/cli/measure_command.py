"""The command `ccrs measure`: scores by metrics that ask no judge, and what metrics measured.

Only click is imported until the command runs.
"""

from __future__ import annotations

from pathlib import Path

import click

from judge.cli.default_group import DefaultCommandGroup
from study.cli.options import AS_JSON, STUDY, comma_separated, print_result, progress
from study.cli.unused_options import unused_if
from study.text import counted, shell_word

_OF_AN_ENDPOINT = "no endpoint is asked", "name one with --base-url"


@click.group(cls=DefaultCommandGroup, invoke_without_command=False)
def measure() -> None:
    """Score the responses of STUDY with metrics that ask no judge.

    Without one of the commands below, `run` is used; its options are listed last. `show` shows one
    response with the values of all metrics, those of `ccrs judge --metric` included. A folder that
    has the name of a command is written with its place: ./show.

    \b
    Examples:
      ccrs measure my-study --metrics lexical,usage
      ccrs measure show my-study q1-A
    """


@measure.command()
@STUDY
@click.option(
    "--metrics",
    required=True,
    multiple=True,
    metavar="NAMES",
    help="Metrics by name; lexical for EM, EM-normalized, F1, BLEU, chrF, ROUGE-1, ROUGE-2 and "
    "ROUGE-L; usage for context-usage and novel-words; retrieval for RR (or MRR), hit (or hit "
    "rate), precision, recall, NDCG and AP; embedding for similarity, context-relevance and "
    "BERTScore; nli for NLI-faithfulness and NLI-hallucination. By name alone: a cut such as "
    "NDCG@10, passages in place of documents such as precision-passages@5, precision-ranked, "
    "NDCG-exp, BERTScore-P, BERTScore-R, a layer such as BERTScore@5, NLI-hallucination-max and "
    "NLI-faithfulness-joined. Repeatable.",
)
@click.option(
    "--on",
    multiple=True,
    metavar="CONSTRUCTS",
    help="Constructs that the values stand for. Default: those that each metric names, AC for "
    "the lexical ones, similarity and BERTScore, CC for usage and nli, and for retrieval and "
    "context-relevance `retrieval`, which is not a construct of the study. Repeatable.",
)
@click.option(
    "--qrels",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Relevance judgments for metrics of retrieval: a TREC file, CSV, TSV or JSON, or "
    "an export of Label Studio with values of passages.",
)
@click.option(
    "--value",
    "values",
    multiple=True,
    metavar="WORD=NUMBER",
    help="Grade of a word in the file of --qrels, such as relevant=1. Repeatable.",
)
@click.option(
    "--encoder",
    metavar="PATH_OR_NAME",
    help="Encoder for metrics of embedding: a model's folder, its name on the Hugging Face hub, or "
    "with --base-url a model of that endpoint.",
)
@click.option(
    "--nli",
    metavar="PATH_OR_NAME",
    help="Classifier for metrics of nli: the folder of a model with labels named entailment and "
    "contradiction, or of two labels such as consistent and hallucinated, or its name on the "
    "Hugging Face hub.",
)
@click.option(
    "--label-map",
    metavar="LABEL=MEANING,...",
    help="What the labels of --nli mean, where their names do not say it: entailment, "
    "contradiction, neutral, or of two labels not_entailment.",
)
@click.option(
    "--base-url", metavar="URL", help="Endpoint with /embeddings, such as http://localhost:8000/v1."
)
@click.option(
    "--api-key-env",
    default="OPENAI_API_KEY",
    show_default=True,
    metavar="VARIABLE",
    help="Environment variable with the endpoint's key, if any.",
)
@click.option(
    "--api-key-command",
    metavar="COMMAND",
    help="Command that prints the key; it is run again when the endpoint refuses the key.",
)
@click.option("--dry-run", is_flag=True, help="Compute and count everything; store nothing.")
@AS_JSON
@unused_if(
    "label_map", lambda given: not given["nli"], "no classifier is used", "name one with --nli"
)
@unused_if("values", lambda given: not given["qrels"], "no file has grades", "name it with --qrels")
@unused_if("api_key_env", lambda given: not given["base_url"], *_OF_AN_ENDPOINT)
@unused_if("api_key_command", lambda given: not given["base_url"], *_OF_AN_ENDPOINT)
def run(
    folder: Path,
    metrics: tuple[str, ...],
    on: tuple[str, ...],
    qrels: Path | None,
    values: tuple[str, ...],
    encoder: str | None,
    nli: str | None,
    label_map: str | None,
    base_url: str | None,
    api_key_env: str,
    api_key_command: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Score the responses of STUDY with metrics that ask no judge.

    Values are stored as scores, converted to the scale of the construct, with the version of the
    metric; a response that can't be measured has a missing value with its reason. The report
    compares the metrics with people as it does a judge. The same command again adds what is new
    or was interrupted, and changes nothing that is stored.

    Metrics that ask a model, such as those of ragchecker and ragas, are measured by `ccrs judge
    STUDY --metric NAMES`.

    \b
    Examples:
      ccrs measure my-study --metrics lexical,usage
      ccrs measure run my-study --metrics lexical,usage
      ccrs measure my-study --metrics F1,ROUGE-L --dry-run
      ccrs measure ragchecker --metrics lexical --on overall
      ccrs measure my-study --metrics RR,NDCG@10 --qrels qrels.txt
      ccrs measure my-study --metrics RR --qrels export.json --value yes=1 --value no=0
      ccrs measure my-study --metrics similarity,BERTScore --encoder all-MiniLM-L6-v2
    """
    from judge.running.text_scores import measure_study
    from judge.running.unprompted_metrics import MetricModels
    from study.cli.import_options import choice_value, unique_by_name
    from study.study import Study

    with Study.open(folder) as study, progress("Measuring", hidden=as_json) as advance:
        names, constructs = (
            [name for text in texts for name in comma_separated(text)] for texts in (metrics, on)
        )
        counts = measure_study(
            study,
            names,
            constructs,
            qrels=qrels,
            grades=unique_by_name("--value", values, choice_value),
            models=MetricModels(encoder, base_url, api_key_env, api_key_command, nli, label_map),
            dry_run=dry_run,
            advance=advance,
        )
    lines = []
    for name, count in counts.items():
        would = "would be stored" if dry_run else "stored"
        parts = [f"{counted(count['stored'], 'value')} {would}"]
        parts += [f"{count['existing']:,} were there before"] if count["existing"] else []
        if count["truncated"]:
            parts.append(f"{count['truncated']:,} of texts that were cut at the model's window")
        parts += [f"{n:,} missing: {reason}" for reason, n in count["missing"].items()]
        if count["differing"]:
            parts.append(f"stored before as another value, not changed: {count['differing']:,}")
        lines.append(f"{name}: {', '.join(parts)}.")
    if not dry_run:
        lines.append(f"Next: ccrs report {shell_word(folder)}")
    print_result(counts, lines, as_json)


@measure.command()
@STUDY
@click.argument("response", metavar="RESPONSE")
@click.option(
    "--metrics",
    multiple=True,
    metavar="NAMES",
    help="Only these metrics, suites, or Python files with a metric: ragchecker,F1. Repeatable.",
)
@AS_JSON
def show(folder: Path, response: str, metrics: tuple[str, ...], as_json: bool) -> None:
    """Show how metrics measured a RESPONSE of STUDY.

    The page has the response with its question, reference answer and passages, the value of each
    metric or the reason why it has none, the sentences that people marked, and for metrics in
    steps, such as those of ragchecker, each claim with its labels and the raw answers. Of several
    runs of a metric it shows the latest; `ccrs judge show` shows any run, with its prompts.
    Control characters in texts are escaped; --json prints the exact texts.

    \b
    Examples:
      ccrs measure show my-study q1-A
      ccrs measure show my-study q1-A --metrics ragchecker
    """
    from judge.inspect.measured_response import show_measurements
    from study.study import Study

    with Study.open(folder) as study:
        shown = show_measurements(study, response, metrics)
    print_result(shown.as_json(), shown.lines(), as_json)
