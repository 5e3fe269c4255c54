"""Every option of every command is given once: it is parsed, and the command does not break."""

import contextlib
import io
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import pytest

from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.cli import root
from tests.annotate_ui.label_studio.fake_server import StandIn, stand_in_for_sdk
from tests.command_cases import CASES, GATE, INPUT, commands, make_folder
from tests.judge.stub.process import running_stub

COMMANDS = commands()
STARS = (
    '<View><Text name="r" value="$answer"/><Header value="$question"/>'
    '<Rating name="stars" toName="r"/></View>'
)


def _word(number: int) -> str:
    return "good" if number % 4 else "bad"


def _scores(response: int, written: Callable[[int], str]) -> str:
    """Cells of four scorers."""
    return ",".join(written(response * factor % 101) for factor in (7, 8, 5, 9))


#: Commands that are started otherwise than in `CASES`, to do less.
INSTEAD: dict[str, str] = {
    "check": "check scores.csv --scale 0:100 --require rank_systems=yes",
    "fetch": "fetch ragchecker-meta fetched --from .",
    "judge pairs": f"{CASES['judge pairs']} --dry-run",
    "judge probe": f"{CASES['judge probe']} --dry-run",
    "judge run": f"{CASES['judge run']} --dry-run",
    "respond": f"{CASES['respond']} --dry-run",
    # One option of `invite` and of `enrol` does one thing.
    "invite --list": "invite study",
    "invite --revoke": "invite study",
    "invite --remove": "invite study",
    "invite --readmit": "invite study",
    "invite --reject": "invite study",
    "invite --restore": "invite study",
    "invite --item": "invite study --reject anna",
    **{f"enrol {option}": "enrol study" for option in ("--list", "--close", "--renew")},
    "judge run --estimate": CASES["judge run"].replace("--limit 2", ""),
    "respond --estimate": CASES["respond"].replace("--limit 1", ""),
    "judge run --rubric": f"{CASES['judge run']} --construct QR --dry-run",
    "judge run --drift": CASES["judge run"],
    **{f"{name} --dry-run": CASES[name].replace(" --yes", "") for name in ("assign", "adjudicate")},
    "judge rank --judge": "judge rank study --judge one",
    "assign --open": "assign study --per-item 4 --yes",
    "assign --for": "assign study --open --per-item 4 --yes",
    "assign --items": "assign study --yes",
    "pause --resume": "pause study",
    "watch --stopping": "watch study",
    "watch --items": "watch study",
    "watch --judge": "watch study",
    "plan --construct-column": "plan long.csv --queries 10 --raters 2 --runs 2 --wanted bias=4 "
    "--scale 0:100 --id response --judge other --human carl --human fourth",
    **{
        f"{command} {option}": f"{command} wide.csv {rest}"
        for option in ("--judge", "--human", "--id", "--query", "--system")
        for command, rest in {
            "report": "--judge other --human carl --no-verify",
            "check": "--judge other --human carl --require rank_systems=yes",
            "plan": "--judge other --human carl --human fourth --queries 10 --raters 2 --runs 2 "
            "--wanted bias=4",
            "doctor": "--judge other --human carl",
            "judge rank": "--judge other --judge third --human carl",
        }.items()
        if (command, option) != ("judge rank", "--judge")
    },
    **{
        f"{command} {option}": f"{command} judged.csv {rated} {rest}"
        for option, rated in (("--on", "rated.csv"), ("--allow-unmatched", "more.csv"))
        for command, rest in {
            "report": "--no-verify",
            "check": "--require rank_systems=yes",
            "plan": "--queries 10 --raters 2 --runs 2 --wanted bias=4",
            "doctor": "",
        }.items()
    },
    **{
        f"{command} --values": f"{command} words.csv --judge other --human carl {rest}"
        for command, rest in {
            "report": "--no-verify",
            "check": "--require rank_systems=yes",
            "plan": "--human fourth --queries 10 --raters 2 --runs 2 --wanted bias=4",
            "doctor": "",
            "judge rank": "--judge third",
        }.items()
    },
    **{
        f"{command} --construct": f"{command} long.csv --scale 0:100 --id response {rest}"
        for command, rest in {
            "report": "--judge other --human carl --no-verify",
            "check": "--judge other --human carl --require rank_systems=yes",
            "doctor": "--judge other --human carl",
            "judge rank": "--judge other --judge third --human carl",
        }.items()
    },
    **{
        f"{command} {option}": f"{command} scores.csv {rest}"
        for option in ("--scale", "--kind", "--same-judge", "--preferences", "--hypotheses")
        for command, rest in {
            "report": "--no-verify",
            "check": "--require rank_systems=yes",
            "plan": "--queries 10 --raters 2 --runs 2 --wanted bias=4",
            "judge rank": "",
        }.items()
    },
    "report --preference-scale": "report preferences.csv --no-verify",
    "report --text": "report wide.csv --judge other --human carl",
    "report --target-width": "report wide.csv --judge other --human carl --scale 0:100",
    "plan --construct": "plan scores.csv --scale 0:100 --queries 10 --raters 2 --runs 2",
    "plan --scorer": "plan scores.csv --scale 0:100 --queries 10 --raters 2 --runs 2",
}
#: What goes with an option.
WITH: dict[str, str] = {
    **{
        f"{name} {option}": "--price 1 2"
        for name in ("judge run", "judge pairs", "judge probe", "respond")
        for option in ("--price-cached", "--max-cost")
    },
    "judge show --construct": "--response q0/system-0",
    "judge show --metric": "--response q0/system-0",
    "judge prompts --of": "--new another-v1",
    "export --rater": "--out anna.json",
    "plan --judged": "--wanted ppi_mean=4",
    "plan --n-constructs": "--claim bias=5",
    "plan --n-judges": "--claim bias=5",
    "report --true-rate": "--cut human=50",
    "check --true-rate": "--cut human=50",
    "check --map": "--scale other:AC=0:200",
}
#: Values of options that any text or number does not suit, by option or by command and option.
VALUES: dict[str, str] = {
    "--answers": "judgments.jsonl",
    "--api-key-command": "echo key",
    "--api-key-env": "HOME",
    "--as": "scores",
    "--base-url": "http://127.0.0.1:9/v1",
    "--baseline": "empty.json",
    "--body": "top_k=1",
    "--claim": "bias=5",
    "--column": "note=query",
    "--components": "rater=8",
    "--construct": "AC",
    "--construct-column": "criterion",
    "--constructs": "QR",
    "--control": "stars=QR",
    "--cut": "human=50",
    "--engine": "openai",
    "--header": "X-Team=a",
    "--header-env": "X-Team=HOME",
    "--human": "carl",
    "--hypotheses": "hypotheses.toml",
    "--id": "response",
    "--judge": "other",
    "--kind": "carl=human",
    "--kinds": "length",
    "--languages": "de,en",
    "--limit": "2",
    "--map": "other=linear",
    "--metric": "ccrs",
    "--metrics": "F1",
    "--of": "ccrs-paper-v1",
    "--on": "AC",
    "--overall": "AC",
    "--preference-scale": "-2:2",
    "--preferences": "preferences.csv",
    "--project": "{project}",
    "--prompts": "ccrs-paper-v1",
    **{f"{name} --on": "response" for name in ("report", "check", "plan", "doctor")},
    "--query": "query",
    "--rater": "5=anna",
    "--raters": "2",
    "--readmit": "anna",
    "--remove": "anna",
    "--requests": "requests",
    "--require": "rank_systems=yes",
    "--response": "q0/system-0",
    "--revoke": "anna",
    "--same-judge": "other,third",
    "--scale": "0:100",
    "--second-metrics": "EM",
    "--settings": "settings.toml",
    "--campaign": "campaign.toml",
    "--systems": "system-0,system-1",
    "--text-metrics": "F1",
    "--thresholds": "gate.toml",
    "--token-file": "token",
    "--until": "2027-06-30",
    "--url": StandIn.url,
    "--value": "good=1",
    "--values": "good=1,bad=0",
    "--wanted": "bias=4",
    "--window": "4096",
    "adjudicate --rater": "dora",
    "export --rater": "anna",
    "fetch --from": ".",
    "import --scale": "stars=1:5",
    "judge rank --judge": "two",
    "judge export --out": "copy.csv",
    "judge rank --out": "ranks.csv",
    "watch --judge": "one",
    "judge reparse --metric": "metric.py",
    "judge show --metric": "metric.py",
    "--annotations": "ground-truth=ratings",
    "label-studio follow --column": "question=query",
    "label-studio follow --scale": "stars=1:5",
    "measure run --qrels": "qrels.txt",
    "respond --corpus": "corpus.jsonl",
    "respond --queries": "queries.jsonl",
    "respond --systems": "A-C,E",
    "respond --prompt": "rag-answer-v1",
    "respond --tokenizer": "words",
    "measure show --metrics": "EM",
    "plan --out": "plan.csv",
    "plan --queries": "10",
    "plan --scorer": "other",
    "enrol --close": "autumn",
    "enrol --renew": "autumn",
    "assign --strata": "domain",
    "assign --for": "autumn",
    "invite --reject": "anna",
    "invite --restore": "anna",
    "invite --item": "q1/system-0",
    "assign --items": "items.csv",
    "label-studio push --items": "disputed.csv",
    **{
        f"{name} {option}": value
        for name in ("report", "check", "plan", "doctor", "judge rank")
        for option, value in {
            "--system": "system",
            "--judge": "third",
            "--construct": "criterion",
        }.items()
        if (name, option) not in {("plan", "--construct"), ("judge rank", "--judge")}
    },
}
FILES = {
    "items.csv": "rater,query_id\ncara,q1\n",
    "disputed.csv": "construct,response_id,difference\nQR,q0/system-0,40\n",
    "empty.json": '{"estimates": []}',
    "gate.toml": GATE,
    "hypotheses.toml": '[[hypotheses]]\nname = "H1"\npairs = [["A", "B"]]\n',
    "judgments.jsonl": "",
    "metric.py": "",
    "qrels.txt": "q0 0 q0/0 1\n",
    "settings.toml": 'name = "Mine"\n',
    "campaign.toml": '[campaign]\nresponses = "rows.jsonl"\nraters = 3\n',
    "rows.jsonl": '{"query_id": "q", "query": "Q?", "system": "A", "response": "R.", '
    '"passages": ["P."], "references": ["R."]}\n',
    "token": "token\n",
    "preferences.csv": "query_id,response_a,response_b,construct,scorer,scorer_kind,value\n"
    + "".join(
        f"x{n},x{n}/A,x{n}/B,AC,{scorer},{kind},{(n + len(kind)) % 5 - 2}\n"
        for n in range(12)
        for scorer, kind in (("carl", "human"), ("other", "judge"))
    ),
    "judged.csv": "response,query,gpt4o\n"
    + "".join(f"r{n},q{n // 4},{n * 7 % 101}\n" for n in range(100)),
    "rated.csv": "response,human_1,human_2\n"
    + "".join(f"r{n},{n * 7 % 97},{n * 7 % 97 + n % 5}\n" for n in range(100)),
    "more.csv": "response,human_1,human_2\n"
    + "".join(f"r{n},{n * 7 % 97},{n * 7 % 97 + n % 5}\n" for n in range(110)),
    "wide.csv": "response,query,system,carl,other,third,fourth\n"
    + "".join(f"r{n},q{n // 2},{'AB'[n % 2]},{_scores(n, str)}\n" for n in range(24)),
    "words.csv": "response,query,system,carl,other,third,fourth\n"
    + "".join(f"r{n},q{n // 2},{'AB'[n % 2]},{_scores(n, _word)}\n" for n in range(24)),
    "long.csv": "response,criterion,carl,other,third,fourth\n"
    + "".join(f"r{n},{key},{_scores(n, str)}\n" for key in ("AC", "QR") for n in range(24)),
}  # fmt: skip
#: Options of which a case needs several.
REPEATED = {"--judge", "--scale", "--wanted"}
#: Options that are parsed only: with them the command lasts until Ctrl-C.
LASTING = {"label-studio follow --watch"}
#: Options that the case has no use for, or not this value; the message names them.
REFUSED: frozenset[str] = frozenset(
    {
        # Nothing is rejected.
        "invite --restore",
        # The files are pinned.
        *("fetch --from", "fetch --json"),
        # The file states its systems, has numbers, and is not an export of Label Studio.
        *(f"import {option}" for option in ("--system", "--scorer", "--value", "--values",
                                            "--column", "--control", "--scale", "--rater",
                                            "--rater-prefix", "--annotations")),
        "label-studio follow --value",
        # No threshold compares with it.
        "check --baseline",
        # Options of other engines.
        *(
            f"{command} {option}"
            for command in ("judge run", "judge pairs", "judge probe", "respond")
            for option in ("--requests", "--answers", "--format", "--revision",
                           "--structured", "--deterministic", "--cluster", "--replicas")
        ),
        # The system compares no vectors, or the other systems do.
        *("respond --encoder", "respond --encoder-url", "respond --systems"),
        # They identify another run, which has judged nothing yet.
        *(
            f"judge probe {option}"
            for option in ("--model", "--name", "--shuffle-passages", "--body")
        ),
        *("judge show --metric", "judge reparse --metric"),
        # The files name their model, and no batch has failed.
        *("judge batch submit --model", "judge batch submit --again"),
        # Of other metrics.
        *("measure run --encoder", "measure run --nli", "measure run --label-map",
          "measure run --base-url",
          "measure run --qrels", "measure run --value"),
        "restore --database",
        # There is no comment, endpoint or PostgreSQL.
        "archive --comments",
        "measure run --api-key-env",
        "measure run --api-key-command",
        "upgrade --backup-confirmed",
        # The study's queries have no attributes.
        "assign --strata",
        # Of other metrics, or of a sample.
        *(
            f"judge {command} {option}"
            for command in ("run", "probe")
            for option in ("--encoder", "--encoder-url")
        ),
        "judge run --for-reparse",
    }
)  # fmt: skip


def options_of(command: click.Command) -> Iterator[tuple[str, click.Option]]:
    """Yield every long word of every option, also those that switch a flag off."""
    for parameter in command.get_params(click.Context(command)):
        if isinstance(parameter, click.Option):
            for word in (*parameter.opts, *parameter.secondary_opts):
                if word.startswith("--") and word != "--help":
                    yield word, parameter


def words_of(name: str, word: str, option: click.Option) -> list[str]:
    """Return the option with a value that is valid as such."""
    if option.is_flag:
        return [word]
    given = VALUES.get(f"{name} {word}", VALUES.get(word))
    if given is not None:
        return [word, given]
    if isinstance(option.type, click.Choice):
        return [word, str(option.type.choices[0])]
    if isinstance(option.type, click.Tuple):
        return [word, *("1" for _ in option.type.types)]
    if isinstance(option.type, click.IntRange | click.FloatRange):
        return [word, _within(option.type)]
    return [word, word.strip("-")]


def _within(limits: click.IntRange | click.FloatRange) -> str:
    """Return a number in a range."""
    least = 0 if limits.min is None else limits.min
    if isinstance(limits, click.IntRange):
        return str(max(int(least), 2))
    return str(0.6 if least < 0.6 else least)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with running_stub() as started:
        yield started.base_url


@pytest.fixture(scope="module")
def server() -> StandIn:
    """Return a server of Label Studio with a project that people made there."""
    made = StandIn()
    project = made.create_project(description="", xml=STARS)
    made.import_tasks(project, [{"data": {"question": "What?", "answer": "That."}}])
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, endpoint: str, server: Any) -> Path:
    """Return the folder of the cases, with further files and tasks in Label Studio."""
    folder = tmp_path_factory.mktemp("made")
    make_folder(folder, endpoint)
    for file, text in FILES.items():
        (folder / file).write_text(text)
    started(["enrol", "study", "autumn", "--quota", "2"], folder)
    with Study.open(folder / "study") as study:
        assign(study, per_item=3, open_slots=True, channel="label_studio")
        push(study, server)
    return folder


@pytest.fixture
def _little_is_computed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: StandIn) -> None:
    """Write no report, open no browser, and reach a server of Label Studio in memory."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "token")
    for module in ("report", "demo"):
        monkeypatch.setattr(f"analysis.cli.{module}.write", lambda *_, **__: None)
    monkeypatch.setattr(click, "launch", lambda *_: 0)
    stand_in_for_sdk(monkeypatch)
    monkeypatch.setattr("annotate_ui.cli.label_studio.PAUSE", 0.0)
    monkeypatch.setattr(
        "annotate_ui.label_studio.client.Server", lambda *_, **__: nullcontext(deepcopy(server))
    )


def started(words: list[str], folder: Path, text: str = "") -> tuple[int, str]:
    """Run `ccrs` in this process; any exception that it does not handle is raised."""
    output = io.StringIO()
    with (
        contextlib.chdir(folder),
        patch.object(sys, "argv", ["ccrs", *words]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
        pytest.raises(SystemExit) as end,
    ):
        root.main()
    code = end.value.code
    assert isinstance(code, int)
    return code, output.getvalue()


@pytest.mark.usefixtures("_little_is_computed")
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_reaches_the_command(
    name: str, made: Path, endpoint: str, tmp_path: Path
) -> None:
    places = {"stub": endpoint, "label_studio": StandIn.url, "project": 1, "data": "nowhere"}
    for number, (word, option) in enumerate(options_of(COMMANDS[name])):
        both = f"{name} {word}"
        case = INSTEAD.get(both, INSTEAD.get(name, CASES[name])).format(**places).split()
        given = [text.format(**places) for text in words_of(name, word, option)]
        words = [*without(case, word), *given, *WITH.get(both, "").split()]
        if name == "serve" or both in LASTING:
            arguments = words[len(name.split()) :]
            COMMANDS[name].make_context(name, arguments, parent=click.Context(root.cli))
            continue
        folder = Path(shutil.copytree(made, tmp_path / f"{number}"))
        code, output = started(words, folder, INPUT.get(name, ""))
        assert code in ({2} if both in REFUSED else {0, 1}), (words, output)
        for problem in ("No such option", "Invalid value for", "requires an argument"):
            assert problem not in output, (words, output)
        shutil.rmtree(folder)


def without(case: list[str], word: str) -> list[str]:
    """The words of a case without an option with a value, which is given another one."""
    if word not in case or word in REPEATED:
        return case
    place = case.index(word)
    end = place + 1 if place + 1 == len(case) or case[place + 1].startswith("--") else place + 2
    return case[:place] + case[end:]
