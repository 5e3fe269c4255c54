"""For each command of `ccrs`: words with which it does its work on a small study."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from annotate_ui.tasks.workflow import open_next
from judge import judge_study
from judge.engines.engine_settings import FilesSettings, OpenAISettings
from study import Study
from study.cli.root import cli
from tests.annotate_ui.rated_campaign import fill, finish_step, give

#: Words after `ccrs`, by command, in a folder that `make_folder` made. `{stub}` is the address of
#: an endpoint. The study is `study`, with raters anna and ben and the runs one and two.
CASES: dict[str, str] = {
    "help": "help csv",
    "demo": "demo --no-verify --keep demo",
    "fetch": "fetch ragchecker-meta fetched --from {data}/ragchecker_meta",
    "init": "init new",
    "import": "import study ratings.csv",
    "doctor": "doctor scores.csv",
    "plan": "plan --queries 10 --raters 2 --runs 2 --wanted krippendorff_alpha=0.1",
    "assign": "assign study --raters cara --per-item 3 --yes",
    "invite": "invite study anna --renew",
    "enrol": "enrol study spring --quota 3",
    "serve": "serve study --port 0",
    "owner-password": "owner-password study --stdin",
    "watch": "watch study --agreement",
    "pause": "pause study --message Later.",
    "adjudicate": "adjudicate study --rater dora --widest 2 --yes",
    "label-studio push": "label-studio push study --url {label_studio}",
    "label-studio pull": "label-studio pull study --url {label_studio}",
    "label-studio sync": "label-studio sync study --url {label_studio} --rounds 1",
    "label-studio follow": (
        "label-studio follow study --url {label_studio} --project {project} "
        "--control stars=QR --scale stars=1:5"
    ),
    "judge run": "judge run study --base-url {stub} --model stub-judge --name three --limit 2",
    "judge pairs": (
        "judge pairs study --base-url {stub} --model stub-judge --constructs QR --max-missing 1"
    ),
    "judge probe": (
        "judge probe study --base-url {stub} --model stub-judge --seed 0 --kinds length --sample 2"
    ),
    "judge batch submit": "judge batch submit requests --dry-run",
    "judge batch status": "judge batch status requests",
    "judge batch fetch": "judge batch fetch requests",
    "judge prompts": "judge prompts study --new own-v1",
    "judge list": "judge list study",
    "judge show": "judge show study one",
    "judge compare": "judge compare study one two",
    "judge rank": "judge rank study",
    "judge export": "judge export study one --out one.csv",
    "judge reparse": "judge reparse study one --dry-run",
    "respond": (
        "respond study --corpus corpus.jsonl --queries queries.jsonl --systems A --base-url {stub} "
        "--model stub-judge --limit 1"
    ),
    "measure run": "measure run study --metrics F1",
    "measure show": "measure show study q0/system-0",
    "status": "status study",
    "report": "report study --resamples 100 --no-verify",
    "check": "check scores.csv --scale 0:100 --thresholds gate.toml --resamples 100",
    "export": "export study",
    "backup": "backup study",
    "restore": "restore study.ccrs-backup restored",
    "archive": "archive study",
    "erase": "erase study anna --yes",
    "upgrade": "upgrade study",
}

GATE = '[[check]]\nstatistic = "pearson"\nscope = "pooled"\nminimum = -1\n'

#: What a command reads from its standard input.
INPUT = {"owner-password": "a long password of an owner\n"}


def commands() -> dict[str, click.Command]:
    """Return every command without subcommands by its words, as "judge show"."""
    return dict(_below(cli, click.Context(cli), ()))


def _below(
    command: click.Command, context: click.Context, words: tuple[str, ...]
) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(words), command
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        inside = click.Context(inner, parent=context, info_name=name)
        yield from _below(inner, inside, (*words, name))


def make_folder(folder: Path, stub: str) -> None:
    """Make a rated study with two judge runs, requests, a backup, tables of scores, a threshold."""
    from study.lifecycle.backup import backup

    with contextlib.chdir(folder):
        with Study.create(Path("study")) as study:
            fill(study, queries=3)
            for number, code in enumerate(("anna", "ben")):
                _rate(study, code, 30.0 + 10 * number)
            for seed, name in enumerate(("one", "two")):
                judge_study(
                    study,
                    OpenAISettings(base_url=stub, model="stub-judge", name=name, seed=seed),
                )
            judge_study(study, FilesSettings(model="other", requests=Path("requests"), limit=2))
            backup(study, Path("study.ccrs-backup"))
        _write("ratings.csv", ("q0/system-0", "q1/system-1"), {"carl": "human"})
        Path("gate.toml").write_text(GATE, encoding="utf-8")
        document = '{"id": "d1", "text": "The pool is open from 8 to 20."}\n'
        Path("corpus.jsonl").write_text(document, encoding="utf-8")
        query = '{"id": "pool", "query": "When is the pool open?"}\n'
        Path("queries.jsonl").write_text(query, encoding="utf-8")
        people = {"carl": "human", "dana": "human"}
        responses = [f"x{query}/{system}" for query in range(12) for system in "AB"]
        _write("scores.csv", responses, people | {"other": "judge", "third": "judge"})


def _rate(study: Study, code: str, value: float) -> None:
    """Rate everything as a person, each response a little higher."""
    rater = give(study, code)
    assert rater is not None
    while open_next(study, rater).step is not None:
        finish_step(study, rater, value)
        value += 1


def _write(name: str, responses: Sequence[str], scorers: Mapping[str, str]) -> None:
    """Write a table in which every scorer has another opinion of each response on AC."""
    columns = ("response_id", "query_id", "system", "construct", "scorer", "scorer_kind", "value")
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        for number, response in enumerate(responses):
            for place, (scorer, kind) in enumerate(scorers.items()):
                value = (number * 7 + place * (number % 3)) % 101
                rows.writerow((response, *response.split("/"), "AC", scorer, kind, value))
