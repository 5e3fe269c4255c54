"""For each option of `ccrs`: where it has no effect, or why it always has one.

`test_unused_options` tries the former. `report`, `check`, `plan`, `judge rank` and `doctor` have
theirs in tests/analysis/cli/test_given_options.py, `import` in
tests/study/importing/test_unused_options.py.
"""

from typing import NamedTuple

from tests.command_cases import commands
from tests.test_every_option import options_of

COMMANDS = commands()
ELSEWHERE = {"report", "check", "plan", "doctor", "judge rank", "import"}


class Unused(NamedTuple):
    """Words of a command in which the option changes nothing, and a part of the reason."""

    words: str
    why: str


Row = str | Unused
OUTPUT = "always: it is about what is printed or written"
STORES = "always: nothing is stored"
PERMITS = "always: it permits what is refused without it, and the command can be repeated with it"
CHOOSES = "always: it says what is done, and what does not exist is refused"
VALUE = "always: it is stored or sent as it is"
ALONE = "always: it is one of several things that the command does, of which only one is allowed"

NEW = "it is for a new link"
ONCE = "open slots have no rater yet"
TO_SERVER = {
    "--url": "always: the server that is asked",
    "--token-file": "always: it takes precedence over the environment",
}
RESPOND = "respond respond --corpus corpus.jsonl --queries queries.jsonl"
OF_CALLS = "always: a condition of each request; a dry run is of the same command line"
METRIC = "judge run study --base-url {stub} --model m --metric"
OF_BATCHES = "always: the next commands name it, also where nothing is submitted yet"

SHARED: dict[str, Row] = {
    "--engine": CHOOSES,
    "--dry-run": STORES,
    "--json": OUTPUT,
    "--model": CHOOSES,
    "--name": VALUE,
    "--metric": CHOOSES,
    "--prompts": CHOOSES,
    "--encoder": Unused(f"{METRIC} ccrs --encoder m", "no text is compared by ccrs"),
    "--encoder-url": Unused(
        f"{METRIC} ragas-faithfulness,crud-recall --encoder-url http://x/v1", "no text is compared"
    ),
    "--temperature": Unused(
        f"{METRIC} ccrs --temperature 0.5 --omit-temperature", "omit_temperature sends none"
    ),
    "--max-tokens": VALUE,
    "--seed": VALUE,
    "--shuffle-passages": "always: it is part of the run's identity",
    "--repeats": CHOOSES,
    "--constructs": Unused(
        f"{METRIC} ragas-faithfulness,crud-recall --constructs CC,XY", "none of the metrics"
    ),
    "--construct": "always: another name of --constructs",
    "--systems": CHOOSES,
    "--limit": Unused(f"{METRIC} ccrs --limit 3 --estimate 5", "leave limit out"),
    "--retry-unparsed": "always: answers without a score, of this call or of an earlier one",
    "--for-reparse": Unused(f"{METRIC} ccrs --for-reparse", "one prompt for a score"),
    "--window": "always: prompts are compared with it",
    "--skip-too-long": "always: it permits prompts beyond the window",
    "--text-metrics": CHOOSES,
    "--accept-low-scores": Unused(
        f"{METRIC} ragas-faithfulness --accept-low-scores", "follow from several answers"
    ),
    "--max-missing": "always: it decides the exit status",
    "--price": OUTPUT,
    "--price-cached": Unused(f"{METRIC} ccrs --price-cached 1", "needs price"),
    "--estimate": Unused(f"{METRIC} ccrs --dry-run --estimate 5", "--dry-run asks no prompt"),
    "--drift": Unused(f"{METRIC} ccrs --dry-run --drift 5", "--dry-run asks no prompt"),
}
#: Of some engines; with any other they are refused, which is tried for each.
OF_ENGINES: dict[str, Row] = {
    "--requests": CHOOSES,
    "--answers": CHOOSES,
    "--format": CHOOSES,
    "--body": VALUE,
    "--reasoning-tokens": "always: room in the limit of each answer, if the model reasons",
    "--omit-temperature": VALUE,
    "--logprobs": Unused(
        f"{METRIC} ccrs --logprobs on --answer-schema on", "have no probabilities of scores"
    ),
    "--answer-schema": Unused(
        f"{METRIC} ccrs --answer-schema on --body response_format={{{{}}}}", "leave one of them out"
    ),
    "--base-url": CHOOSES,
    "--api-key-env": Unused(
        f"{METRIC} ccrs --api-key-env KEY --api-key-command date", "leave one of them out"
    ),
    "--api-key-command": OF_CALLS,
    "--header": Unused(
        f"{METRIC} ccrs --header X-Team=a --header-env x-team=HOME", "leave one of them out"
    ),
    "--header-env": OF_CALLS,
    "--concurrency": OF_CALLS,
    "--timeout": OF_CALLS,
    "--tries": OF_CALLS,
    "--patience": OF_CALLS,
    "--max-cost": Unused(f"{METRIC} ccrs --max-cost 1", "needs price"),
    "--revision": CHOOSES,
    "--structured": "always: prompts that leave no room for it are refused",
    "--deterministic": VALUE,
    "--cluster": CHOOSES,
    "--replicas": CHOOSES,
}
OF_RUNS = SHARED | OF_ENGINES


def of(command: str) -> dict[str, Row]:
    """The rows of another command with options of a run."""
    there = {word for word, _ in options_of(COMMANDS[command])}
    return {option: row for option, row in OF_RUNS.items() if option in there}


#: By command, and by option: where it has no effect, or why it always has one.
TABLE: dict[str, dict[str, Row]] = {
    "help": {},
    "demo": {
        "--keep": "always: the study stays",
        "--out": OUTPUT,
        "--verify": OUTPUT,
        "--no-verify": OUTPUT,
        "--json": OUTPUT,
    },
    "fetch": {"--from": "always: nothing is downloaded", "--json": OUTPUT},
    "init": {
        "--settings": Unused(
            "init new --settings study/study.toml --campaign study/study.toml",
            "the file of --campaign has the settings",
        ),
        "--campaign": "always: it becomes the study",
        "--json": OUTPUT,
    },
    "assign": {
        "--raters": Unused("assign study --open --raters 2", "leave --raters out"),
        "--open": CHOOSES,
        "--for": Unused("assign study --for everyone", "no open slots are created"),
        "--items": "always: it says who rates what; items that do not exist are refused",
        "--channel": Unused("assign study --channel label_studio", "requires open slots"),
        "--constructs": Unused("assign pairs --constructs QR", "nothing is rated"),
        "--dry-run": STORES,
        "--yes": Unused("assign study --dry-run --yes", "--dry-run stores nothing"),
        "--json": OUTPUT,
        "--sample": "always: the number of units that are drawn",
        "--strata": "always: the stratum is stored with each assignment",
        "--per-item": "always: the raters of each response, or of the share of --overlap",
        "--overlap": Unused("assign study --per-item 1 --overlap 0.5", "has one rater"),
        "--calibration": Unused("assign study --open --calibration 1", ONCE),
        "--checks": Unused("assign study --open --checks 1", ONCE),
        "--repeats": Unused("assign study --open --repeats 0.5", ONCE),
        "--one-construct-a-pass": Unused(
            "assign study --constructs QR --one-construct-a-pass", "one construct is rated"
        ),
        "--no-one-construct-a-pass": "always: it overrides study.toml",
        "--layout": Unused("assign pairs --layout side_by_side", "nothing is rated"),
    },
    "adjudicate": {
        "--rater": CHOOSES,
        "--sample": "always: without it and --widest the command is refused",
        "--widest": "always: without it and --sample the command is refused",
        "--constructs": CHOOSES,
        "--dry-run": STORES,
        "--yes": Unused("adjudicate study --rater d --widest 2 --dry-run --yes", "stores nothing"),
        "--json": OUTPUT,
    },
    "invite": {
        "--new": Unused("invite study --remove anna --new 2", "no link is created"),
        "--renew": Unused("invite study --renew", "needs the names of raters"),
        "--out": Unused("invite study --revoke anna --out a.csv", "no link is created"),
        "--until": Unused("invite study --list --until 2999-01-01", "no link is created"),
        "--list": ALONE,
        "--revoke": ALONE,
        "--remove": ALONE,
        "--reject": ALONE,
        "--restore": ALONE,
        "--item": Unused("invite study anna --item q0", "nothing is rejected"),
        "--readmit": ALONE,
        "--json": OUTPUT,
    },
    "enrol": {
        "--quota": Unused("enrol study --list --quota 2", NEW),
        "--queries": Unused("enrol study --close autumn --queries 2", NEW),
        "--languages": Unused("enrol study --renew autumn --languages de", NEW),
        "--require-id": Unused("enrol study --renew autumn --require-id prolific", NEW),
        "--until": Unused("enrol study --close autumn --until 2999-01-01", "no address is created"),
        "--list": ALONE,
        "--close": ALONE,
        "--renew": ALONE,
        "--json": OUTPUT,
    },
    "serve": {
        "--host": "always: where it listens",
        "--port": "always: where it listens",
        "--proxies": "always: how many are trusted",
        "--secret-file": "always: the file is read or made",
        "--public": "always: it refuses what is not safe on the internet",
    },
    "owner-password": {"--stdin": "always: nothing is asked", "--json": OUTPUT},
    "watch": {
        "--agreement": ALONE,
        "--judge": ALONE,
        "--stopping": ALONE,
        "--items": Unused("watch study --items --agreement", "only one of"),
        "--json": OUTPUT,
    },
    "pause": {
        "--message": Unused("pause study --resume --message Later", "while a campaign is paused"),
        "--resume": CHOOSES,
        "--json": OUTPUT,
    },
    "label-studio push": {
        **TO_SERVER,
        "--title": "of new projects; that none was created is said, since a push can be repeated",
        "--items": "always: what it names is sent; items that do not exist are refused",
        "--json": OUTPUT,
    },
    "label-studio pull": {
        **TO_SERVER,
        "--rater": "always: it is stored, also of a user who has rated nothing yet",
        "--json": OUTPUT,
    },
    "label-studio sync": {
        **TO_SERVER,
        "--title": "always: of projects that any later round creates",
        "--rater": "always: it is stored, also of a user who has rated nothing yet",
        "--rounds": CHOOSES,
    },
    "label-studio follow": {
        **TO_SERVER,
        "--project": CHOOSES,
        "--control": Unused(
            "label-studio follow study --url {server} --project 1 --control star=QR "
            "--control stars=QR --scale stars=1:5",
            "star",
        ),
        **{
            f"--{option}": Unused(
                f"label-studio follow study --url {{server}} --{option} {text}",
                "name that with --project",
            )
            for option, text in {
                "scale": "a=1:5",
                "value": "a=1",
                "column": "a=query",
                "annotations": "prefilled=ratings",
            }.items()
        },
        "--rater": "always: it is stored, also of a user who has rated nothing yet",
        "--watch": CHOOSES,
        "--json": OUTPUT,
    },
    "judge run": {
        "--rubric": Unused(f"{METRIC} ragas --rubric Brief", "prompts of its own"),
        **OF_RUNS,
    },
    "judge pairs": {
        "--pairs": CHOOSES,
        **of("judge pairs"),
    },
    "judge probe": {
        "--kinds": CHOOSES,
        "--sample": CHOOSES,
        **of("judge probe"),
    },
    "judge batch submit": {
        "--model": Unused("judge batch submit requests --model m --dry-run", "name their model"),
        "--base-url": CHOOSES,
        "--api-key-env": OF_CALLS,
        "--price": OUTPUT,
        "--again": Unused("judge batch submit requests --again --dry-run", "no batch has failed"),
        "--dry-run": STORES,
        "--json": OUTPUT,
    },
    "judge batch status": {"--api-key-env": OF_BATCHES, "--json": OUTPUT},
    "judge batch fetch": {"--api-key-env": OF_BATCHES, "--json": OUTPUT},
    "judge prompts": {
        "--new": CHOOSES,
        "--of": Unused("judge prompts study --of ccrs-paper-v1", "nothing is copied"),
        "--json": OUTPUT,
    },
    "judge list": {"--json": OUTPUT},
    "judge show": {
        "--response": CHOOSES,
        "--construct": Unused("judge show study one --construct QR", "it is for one response"),
        "--metric": Unused("judge show study one --metric metric.py", "it is for one response"),
        "--suspects": Unused(
            "judge show study one --suspects --response q0/system-0", "it lists all responses"
        ),
        "--json": OUTPUT,
    },
    "judge compare": {"--json": OUTPUT},
    "judge export": {
        "--out": OUTPUT,
        "--format": OUTPUT,
        "--overwrite": PERMITS,
        "--json": OUTPUT,
    },
    "judge reparse": {
        "--dry-run": STORES,
        # Of a metric in steps: tests/judge/inspect/test_reparse_steps.py.
        "--accept-low-scores": PERMITS,
        "--metric": Unused("judge reparse study one --metric metric.py", "exactly one metric"),
        "--json": OUTPUT,
    },
    "respond": {
        **of("respond"),
        "--corpus": CHOOSES,
        "--queries": CHOOSES,
        "--systems": CHOOSES,
        "--preset": Unused(f"{RESPOND} --preset ccrs-paper --systems own", "none of its systems"),
        "--prompt": CHOOSES,
        "--revise": PERMITS,
        "--tokenizer": "always: it counts the tokens of each passage",
        "--encoder": Unused(f"{RESPOND} --systems own --encoder m", "dense or fused retrieval"),
        "--encoder-url": Unused(
            f"{RESPOND} --systems own --encoder-url http://x/v1", "dense or fused retrieval"
        ),
        "--limit": CHOOSES,
        "--estimate": Unused(f"{RESPOND} --dry-run --estimate 5", "a dry run asks no prompt"),
        "--temperature": Unused(
            f"{RESPOND} --systems own --base-url {{stub}} --temperature 0.5 --omit-temperature",
            "omit_temperature sends none",
        ),
        "--dry-run": "always: no prompt is sent",
    },
    "measure run": {
        "--metrics": CHOOSES,
        "--on": CHOOSES,
        "--qrels": Unused("measure run study --metrics F1 --qrels qrels.txt", "of retrieval only"),
        "--value": Unused(
            "measure run study --metrics F1 --value relevant=1", "no file has grades"
        ),
        "--encoder": Unused("measure run study --metrics F1 --encoder m", "of embedding only"),
        "--nli": Unused("measure run study --metrics F1 --nli m", "of nli only"),
        "--label-map": Unused(
            "measure run study --metrics F1 --label-map a=entailment", "no classifier is used"
        ),
        "--base-url": Unused(
            "measure run study --metrics F1 --base-url http://x/v1", "of embedding only"
        ),
        "--api-key-env": Unused(
            "measure run study --metrics F1 --api-key-env KEY", "no endpoint is asked"
        ),
        "--api-key-command": Unused(
            "measure run study --metrics F1 --api-key-command date", "no endpoint is asked"
        ),
        "--dry-run": STORES,
        "--json": OUTPUT,
    },
    "measure show": {"--metrics": CHOOSES, "--json": OUTPUT},
    "status": {"--json": OUTPUT},
    "export": {
        "--out": OUTPUT,
        "--format": Unused("export study --rater anna --out a.json --format csv", "is JSON"),
        "--overwrite": Unused("export study --rater anna --out a.json --overwrite", "a new file"),
        "--rater": CHOOSES,
        "--json": OUTPUT,
    },
    "backup": {"--out": OUTPUT, "--json": OUTPUT},
    "restore": {
        "--database": Unused("restore study.ccrs-backup again --database d", "PostgreSQL"),
        "--json": OUTPUT,
    },
    "archive": {
        "--out": OUTPUT,
        "--comments": Unused("archive pairs --comments", "no comment or reason"),
        "--json": OUTPUT,
    },
    "erase": {
        "--sever": Unused("erase study --sever", "nobody is erased"),
        "--yes": Unused("erase study --yes", "without asking"),
        "--json": OUTPUT,
    },
    "upgrade": {
        "--backup-confirmed": Unused("upgrade study --backup-confirmed", "is SQLite"),
        "--json": OUTPUT,
    },
}
