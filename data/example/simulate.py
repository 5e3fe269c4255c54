"""Simulate the ratings and judge scores of the example study.

Reads `responses.jsonl` and `quality.csv`, writes `scores.csv`. No person rated these responses
and no language model scored them: every value of a rater or of the judge is drawn here, around the
hand-written quality of each response, with the planted facts that are constants below.
Only EM is computed from the texts. The same seed gives the same file, byte for byte.

    python data/example/simulate.py
"""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

HERE: Final = Path(__file__).resolve().parent
SEED: Final = 20250620
CONSTRUCTS: Final = ("CC", "QR", "ID", "AC", "IR")
LOW, HIGH = 0.0, 100.0

# The raters. Severity and noise are in points; a rater's habit is the step that answers are
# rounded to and the share of answers to which the habit applies (the rest are whole numbers).
RATER_SEVERITY: Final = {
    "simulated-rater-1": -6.0,
    "simulated-rater-2": 3.0,
    "simulated-rater-3": -1.0,
    "simulated-rater-4": 4.0,
    "simulated-rater-5": 0.0,
}
RATER_NOISE_SD: Final = {
    "simulated-rater-1": 11.0,
    "simulated-rater-2": 13.0,
    "simulated-rater-3": 9.0,
    "simulated-rater-4": 14.0,
    "simulated-rater-5": 14.0,
}
RATER_HABIT: Final = {
    "simulated-rater-1": (5, 0.8),
    "simulated-rater-2": (10, 0.8),
    "simulated-rater-3": (5, 0.3),
    "simulated-rater-4": (5, 0.6),
    "simulated-rater-5": (10, 1.0),
}
# All raters find some queries' responses better or worse than they are, by this many points.
QUERY_EFFECT_SD: Final = 4.0

# The careless rater reads only this share of the responses; for the others the value is drawn
# from a few favorites without a look at the text. The careless rater uses no other value, except
# the 0 that everybody gives an empty response.
CARELESS_RATER: Final = "simulated-rater-5"
CARELESS_ATTENTION: Final = 0.3
CARELESS_VALUES: Final = (50, 70, 80, 90)

# Missing ratings: most responses go to all raters but one; a few assigned ratings are skipped,
# but never so many that a response has fewer than MIN_RATERS values on a construct.
LEFT_OUT_SHARE: Final = 0.9
SKIPPED_SHARE: Final = 0.025
MIN_RATERS: Final = 3

# The judge. It is too kind by JUDGE_SHIFT points before its answers stop at 100. JUDGE_SLOPE is
# the share that it sees of the differences in quality between the responses to one query.
JUDGE: Final = "simulated-judge"
JUDGE_SHIFT: Final = 12.0
JUDGE_SLOPE: Final = {"CC": 0.9, "QR": 1.0, "ID": 0.3, "AC": 1.0, "IR": 0.9}
JUDGE_NOISE_SD: Final = {"CC": 13.0, "QR": 8.0, "ID": 15.0, "AC": 20.0, "IR": 14.0}
JUDGE_STEP: Final = 5
# This share of the judge's QR scores is exactly 100, and the others stay below.
QR_CEILING_SHARE: Final = 0.75
JUDGE_MISSING: Final = {
    ("lib-06-a", "ID"): "unparsed",
    ("plot-09-d", "IR"): "unparsed",
    ("plot-12-d", "CC"): "refused",
}

METRIC: Final = "EM"


class Text(NamedTuple):
    """A response, as far as the simulation uses it."""

    response_id: str
    query_id: str
    response: str
    references: tuple[str, ...]


class Row(NamedTuple):
    """One line of `scores.csv`; `value` is None where the score is missing."""

    response_id: str
    construct: str
    scorer: str
    scorer_kind: str
    repeat: int
    value: int | None
    missing_reason: str
    source: str


def read_texts(path: Path = HERE / "responses.jsonl") -> list[Text]:
    """The distinct responses in file order (two systems may share one)."""
    texts: dict[str, Text] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        text = Text(
            item["response_id"], item["query_id"], item["response"], tuple(item["references"])
        )
        if texts.setdefault(text.response_id, text) != text:
            raise ValueError(f"{path.name}: {text.response_id} has two different texts")
    return list(texts.values())


def read_quality(texts: list[Text], path: Path = HERE / "quality.csv") -> NDArray[np.float64]:
    """Quality in points, shape (responses, constructs), in the order of `texts`."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = {
            row["response_id"]: [float(row[key]) for key in CONSTRUCTS]
            for row in csv.DictReader(file)
        }
    ids = {text.response_id for text in texts}
    if rows.keys() != ids:
        raise ValueError(f"{path.name} and responses.jsonl differ in: {sorted(rows.keys() ^ ids)}")
    return np.array([rows[text.response_id] for text in texts])


def _query_index(texts: list[Text]) -> NDArray[np.intp]:
    return np.unique([text.query_id for text in texts], return_inverse=True)[1]


def _to_step(values: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    return np.clip(np.round(values / step) * step, LOW, HIGH)


def rater_values(
    quality: NDArray[np.float64], query: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    """The value of each rater, in points, shape (raters, responses, constructs)."""
    shared = rng.normal(0.0, QUERY_EFFECT_SD, (query.max() + 1, quality.shape[1]))[query]
    out = []
    for rater, severity in RATER_SEVERITY.items():
        noise = rng.normal(0.0, RATER_NOISE_SD[rater], quality.shape)
        felt = quality + shared + severity + noise
        step, share = RATER_HABIT[rater]
        habitual = rng.random(quality.shape) < share
        value = np.where(habitual, _to_step(felt, step), _to_step(felt, 1))
        if rater == CARELESS_RATER:
            favorites = np.array(CARELESS_VALUES, dtype=float)
            nearest = favorites[np.abs(felt[..., None] - favorites).argmin(axis=-1)]
            read = rng.random(quality.shape) < CARELESS_ATTENTION
            value = np.where(read, nearest, rng.choice(favorites, quality.shape))
        out.append(value)
    return np.stack(out)


def rater_missing(n_responses: int, rng: np.random.Generator) -> NDArray[np.str_]:
    """Why a rating is missing ("" where it is not), shape (raters, responses, constructs)."""
    n_raters, n_constructs = len(RATER_SEVERITY), len(CONSTRUCTS)
    reason = np.full((n_raters, n_responses, n_constructs), "", dtype="U16")
    chosen = rng.permutation(n_responses)[: round(LEFT_OUT_SHARE * n_responses)]
    left_out = np.arange(len(chosen)) % n_raters
    reason[left_out, chosen] = "not_assigned"
    skips = (rng.random(reason.shape) < SKIPPED_SHARE) & (reason == "")
    for rater in range(n_raters):
        enough = (reason == "").sum(axis=0) > MIN_RATERS
        reason[rater][skips[rater] & enough] = "skipped"
    return reason


def judge_values(
    quality: NDArray[np.float64], query: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    """The score of the judge, in points, shape (responses, constructs)."""
    members = np.bincount(query)
    out = np.empty_like(quality)
    for column, construct in enumerate(CONSTRUCTS):
        true = quality[:, column]
        typical = (np.bincount(query, true) / members)[query]
        perceived = typical + JUDGE_SLOPE[construct] * (true - typical)
        felt = perceived + JUDGE_SHIFT + rng.normal(0.0, JUDGE_NOISE_SD[construct], len(true))
        answer = _to_step(felt, JUDGE_STEP)
        if construct == "QR":
            full = felt >= np.quantile(felt, 1.0 - QR_CEILING_SHARE)
            answer = np.where(full, HIGH, np.minimum(answer, HIGH - JUDGE_STEP))
        out[:, column] = answer
    return out


def simulate(seed: int = SEED) -> list[Row]:
    """All rows of `scores.csv`, by response, construct and scorer."""
    texts = read_texts()
    quality, query = read_quality(texts), _query_index(texts)
    # A stream for each part: a change in one part leaves the draws of the others alone.
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3)]
    rated = rater_values(quality, query, streams[0])
    why = rater_missing(len(texts), streams[1])
    judged = judge_values(quality, query, streams[2])

    rows = []
    for i, text in enumerate(texts):
        # The prompts' own rule, which the raters follow too: no response is worth 0.
        worth = 0.0 if not text.response.strip() else 1.0
        for c, construct in enumerate(CONSTRUCTS):
            key = (text.response_id, construct)
            for r, rater in enumerate(RATER_SEVERITY):
                reason = str(why[r, i, c])
                value = None if reason else round(worth * rated[r, i, c])
                rows.append(Row(*key, rater, "human", 0, value, reason, "simulated"))
            reason = JUDGE_MISSING.get(key, "")
            value = None if reason else round(worth * judged[i, c])
            rows.append(Row(*key, JUDGE, "judge", 0, value, reason, "simulated"))
            if construct == "AC":
                value = 100 if text.response.strip() in text.references else 0
                rows.append(Row(*key, METRIC, "metric", 0, value, "", "computed"))
    return rows


def write_scores(rows: Iterable[Row], path: Path = HERE / "scores.csv") -> None:
    """Write the rows as CSV: UTF-8, line feeds, an empty cell for a missing value."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(rows)


if __name__ == "__main__":
    scores = simulate()
    write_scores(scores)
    missing = sum(row.value is None for row in scores)
    print(f"scores.csv: {len(scores)} rows, {missing} without a value")
