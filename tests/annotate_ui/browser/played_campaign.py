"""The demo study as a campaign: designed, invited and served with the commands that owners use."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from click.testing import CliRunner

from study import Study
from study.cli.root import cli as root
from tests.annotate_ui.browser.pages import Served
from tests.annotate_ui.browser.relay import Wire
from tests.annotate_ui.browser.server import Server, free_port

PASSWORD = "three plain random words"
CODE = "PLAYED-7"
CONSTRUCTS = ("QR", "CC", "AC")
EXAMPLE = Path(__file__).parents[3] / "data" / "example"

_SETTINGS = """name = "Town services: how good are the answers?"
seed = 7

[design]
sample = 30
per_item = 2
overlap = 0.2
calibration = 1
training = 2
pass_mark = 0.8
training_attempts = 3
checks = 3
repeats = 0.06
repeat_after_hours = 0

[rating]
base_url = "ADDRESS"
consent = "consent.md"
instructions = "instructions.md"
session_minutes = 30
break_minutes = 0.2
completion_code = "PLAYED-7"
completion_url = "https://recruiter.example/complete?cc={code}"

[stopping]
half_width = 25
constructs = ["QR", "CC", "AC"]

[analysis]
resamples = 200
"""
_CONSENT = """You read answers of machines to questions about a town, and say how good they are.

| what is kept | how long |
|---|---|
| your values and comments, under a code | as long as the study |
| when you saved them | as long as the study |

You may stop at any time. **Nothing** else of you is stored.
"""
_INSTRUCTIONS = """1. Read the question, then the answer.
2. Say how good it is on the scale, *before* you are shown more.
3. Take a break when you are tired.

Two answers with the same content deserve the same value.
"""
# A query beyond the 30 of the example: calibration takes one of them away.
_FURTHER = {
    "harbor": "From the desk.",
    "meadow": "From the desk, for 2 dollars.",
    "quarry": "There is none.",
    "thicket": "Ask at the desk; a new card costs 2 dollars, and the old one is blocked.",
}


def ccrs(*words: str, entered: str | None = None) -> str:
    """Run a command in this process, which saves its start, and return what it prints."""
    done = CliRunner().invoke(root, words, input=entered)
    assert done.exit_code == 0, f"ccrs {' '.join(words)}\n{done.output}\n{done.exception!r}"
    return done.output


@contextmanager
def played(folder: Path) -> Iterator[Served]:
    """Serve a campaign for anna and ben, who get links, and for one who enrols by `spring`."""
    port = free_port()
    with ExitStack() as ends:
        wire = Wire(port)
        ends.callback(wire.close)
        place = _study(folder, f"http://127.0.0.1:{wire.port}")
        links = _links(place)
        study = Study.open(place)
        ends.callback(study.close)
        server = Server(place, folder / "state", port)
        ends.callback(server.stop)
        server.start()
        yield Served(study, server, wire, links)


def _study(folder: Path, address: str) -> Path:
    settings, place = folder / "settings.toml", folder / "study"
    settings.write_text(_SETTINGS.replace("ADDRESS", address), encoding="utf-8")
    ccrs("init", str(place), "--settings", str(settings))
    (place / "consent.md").write_text(_CONSENT, encoding="utf-8")
    (place / "instructions.md").write_text(_INSTRUCTIONS, encoding="utf-8")
    files = [EXAMPLE / "responses.jsonl", *_own_files(folder), EXAMPLE / "training.jsonl"]
    ccrs("import", str(place), *map(str, files))
    keys = ["--constructs", ",".join(CONSTRUCTS), "--yes"]
    ccrs("assign", str(place), "--raters", "anna,ben", *keys)
    # A third rater for half of what two rate: the rest of it is left for an adjudicator.
    output = ccrs("assign", str(place), "--open", "--per-item", "3", "--overlap", "0.1", *keys)
    assert "open slots" in output
    ccrs("owner-password", str(place), "--stdin", entered=f"{PASSWORD}\n")
    return place


def _own_files(folder: Path) -> Sequence[Path]:
    """Return the further query, and the example's scores without those of people."""
    further, judged = folder / "further.jsonl", folder / "judged.csv"
    passage = "A lost card is replaced at the desk for 2 dollars. The old one is blocked at once."
    rows = [
        {
            "query_id": "lib-further",
            "query": "Where do I get a new card when I have lost mine?",
            "system": system,
            "response": response,
            "passages": [passage],
            "references": ["At the desk, for 2 dollars."],
            "attributes": {"domain": "library"},
        }
        for system, response in _FURTHER.items()
    ]
    further.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    scores = (EXAMPLE / "scores.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    machines = [line for line in scores if ",human," not in line]
    judged.write_text("".join(machines), encoding="utf-8")
    return further, judged


def _links(place: Path) -> dict[str, str]:
    address = r"(http://127\S+)"
    output = ccrs("invite", str(place))
    links = dict(re.findall(rf"^(\w+)\s+{address}", output, re.M))
    output = ccrs("enrol", str(place), "spring", "--quota", "1", "--queries", "8")
    match = re.search(address, output)
    assert match is not None, output
    return {**links, "rater-1": match[1]}


def simulated_values() -> dict[tuple[str, str, int], float]:
    """Return what the example's simulated raters say, by response, construct and rater."""
    with (EXAMPLE / "scores.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["response_id"], row["construct"], int(row["scorer"].rpartition("-")[2])): float(
                row["value"]
            )
            for row in csv.DictReader(file)
            if row["scorer_kind"] == "human" and row["value"]
        }
