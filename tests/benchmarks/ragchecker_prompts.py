"""Calls and tokens of RAGChecker's eleven metrics here, and by its package's default scheme.

`python -m tests.benchmarks ragchecker_prompts [FILE]` measures a study of the size of RAGChecker's
meta-evaluation (280 queries), with six systems of two retrievers and 20 passages a context, over
an engine in this process that returns claims of 12.2 tokens each.

- A token is a word or a punctuation mark, for both sides. Lengths are those of the meta-evaluation:
  a question 13.6 tokens, a reference answer 174.8, a response 128.1, on average; a passage 270.
- *Computed* tokens are those outside of the longest beginning that a prompt shares with an
  earlier one of its query or with the template: a server whose cache holds one query's prompts.
- The package (ragchecker 0.1.9 with RefChecker, default `joint_check_num` 5) is not installed. Its
  scheme is counted here as published: each system's file is processed alone, so claims of a
  reference answer are listed, and checked against the passages, once for each system; five claims
  are checked by a prompt; the instructions before and after the texts have 481 tokens where claims
  are listed, and 168 and 8 before and 75 after the claims where they are checked. The claims are
  ours, although its triples are longer.

Fails where calls or sent tokens are above .65, or computed tokens above .11, of the package's.
"""

import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from pathlib import Path
from random import Random
from unittest import mock

from judge import judge_metrics
from judge.metrics.ragchecker import CLAIMS_A_PROMPT
from judge.protocol.exchange import Answer, Request
from study import Study
from tests.judge.small_studies import Scripted, ScriptedSettings, store

QUERIES, SYSTEMS, PASSAGES = 280, "ABCDEF", 20
CLAIM = 12.2
"""Tokens of a claim, on average."""
LENGTHS = {"question": 13.6, "reference": 174.8, "response": 128.1, "passage": 270.0}
LIST_HEAD, CHECK_HEAD, CHECK_TAIL = 481, 168 + 8, 75
ALLOWED = {"calls": 0.65, "sent": 0.65, "computed": 0.11}
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass
class Counts:
    """What was asked."""

    calls: int = 0
    sent: int = 0
    computed: int = 0

    def add(self, sent: int, computed: int | None = None) -> None:
        """Count a prompt; without a cache all of it is computed."""
        self.calls += 1
        self.sent += sent
        self.computed += sent if computed is None else computed


@dataclass
class Texts:
    """The texts of one query."""

    question: str
    reference: str
    responses: dict[str, str] = field(default_factory=dict)
    passages: dict[str, list[str]] = field(default_factory=dict)
    """By system; systems of one retriever have the same."""


def main() -> None:
    """Print the counts and their ratios, and write them to FILE if one is named."""
    out = Path(sys.argv[-1]) if sys.argv[-1].endswith(".json") else None
    with tempfile.TemporaryDirectory() as folder:
        found = compared(Path(folder), QUERIES)
    print(json.dumps(found, indent=1))
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    above = {name: found["ratios"][name] for name, most in ALLOWED.items()
             if found["ratios"][name] > most}  # fmt: skip
    if above:
        sys.exit(f"above what is allowed: {above}")


def compared(folder: Path, queries: int) -> dict[str, dict[str, float]]:
    """Return the counts of both sides, and ours divided by the package's."""
    texts = list(made_texts(queries))
    here, package = ours(folder, texts), of_package(texts)
    ratios = {name: getattr(here, name) / getattr(package, name) for name in ALLOWED}
    return {
        "ours": vars(here),
        "package's default scheme, as counted here": vars(package),
        "ratios": {name: round(ratio, 4) for name, ratio in ratios.items()},
    }


def made_texts(queries: int) -> Iterator[Texts]:
    """Yield texts of random words with the lengths of the meta-evaluation."""
    draw = Random(20261125)

    def text(kind: str) -> str:
        mean = LENGTHS[kind]
        # Lengths from half of the mean to one and a half; those of passages are cut at one size.
        length = round(mean if kind == "passage" else mean * draw.uniform(0.5, 1.5))
        return " ".join(f"w{draw.randrange(10**6)}" for _ in range(length))

    for _ in range(queries):
        made = Texts(text("question"), text("reference"))
        for first in (0, 3):
            context = [text("passage") for _ in range(PASSAGES)]
            for system in SYSTEMS[first : first + 3]:
                made.responses[system] = text("response")
                made.passages[system] = context
        yield made


def claims_of(text: str, tokens_a_word: float = 1) -> list[str]:
    """Cut a text into claims of 12.2 tokens on average, at least one."""
    words = text.split()
    number = max(1, round(len(words) * tokens_a_word / CLAIM))
    cuts = [round(place * len(words) / number) for place in range(number + 1)]
    return [" ".join(words[start:end]) for start, end in pairwise(cuts)]


def ours(folder: Path, texts: Sequence[Texts]) -> Counts:
    """Judge a study with the suite, and count what the engine is asked."""
    rows = [
        {
            "query_id": f"q{number}",
            "query": of_query.question,
            "references": [of_query.reference],
            "system": system,
            "response": response,
            "passages": of_query.passages[system],
        }
        for number, of_query in enumerate(texts)
        for system, response in of_query.responses.items()
    ]
    counts = Counts()
    study = Study.create(folder / "study")
    for start in range(0, len(rows), 600):
        store(study, *rows[start : start + 600])
    asked = requests_of(study)
    study.close()
    by_query: dict[str, list[str]] = defaultdict(list)
    for request in asked:
        by_query[request.group.split()[0]].append(request.prompt)
    heads: set[tuple[str, ...]] = set()
    for prompts in by_query.values():
        _count([tuple(_TOKEN.findall(prompt)) for prompt in prompts], heads, counts)
    return counts


def requests_of(study: Study) -> list[Request]:
    """Return what the suite asks about a study, in order, of an engine in this process."""
    engine = type("Recorder", (Scripted,), {"asked": [], "at_a_time": 500})
    engine.answer = staticmethod(_answer)
    with (
        mock.patch("judge.engines.engine.load_engine", return_value=engine),
        mock.patch("judge.running.session.load_engine", return_value=engine),
    ):
        outcomes = judge_metrics(study, ScriptedSettings(metric="ragchecker", text_metrics=()))
    assert not any(outcome.missing or outcome.remaining for outcome in outcomes)
    return engine.asked


def _count(prompts: list[tuple[str, ...]], heads: set[tuple[str, ...]], counts: Counts) -> None:
    """Count a query's prompts: in lexical order each shares most with its neighbour."""
    before: tuple[str, ...] = ()
    for prompt in sorted(prompts):
        shared = max(_shared(prompt, other) for other in (before, *heads))
        counts.add(len(prompt), len(prompt) - shared)
        before = prompt
    # The template's words are in the cache from the first query on.
    heads |= {min(prompts), max(prompts)} if not heads else set()


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    same = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        same += 1
    return same


def _answer(prompt: str) -> Answer:
    if "JSON array" in prompt:
        return Answer(json.dumps(claims_of(prompt.rsplit("Text:\n", 1)[1])))
    lines = prompt.rsplit("Claims:\n", 1)[1].split("\n")
    # Some of each kind, so that every metric has a value.
    words = ["entailed" if sum(map(ord, line)) % 3 else "neutral" for line in lines]
    words[0] = "entailed"
    return Answer(json.dumps({str(n): word for n, word in enumerate(words, 1)}))


def of_package(texts: Sequence[Texts]) -> Counts:
    """Count what the package's default scheme asks."""
    counts = Counts()
    for of_query in texts:
        question = len(of_query.question.split())
        reference_claims = claims_of(of_query.reference)
        for system, response in of_query.responses.items():
            claims = claims_of(response)
            for text in (response, of_query.reference):
                counts.add(LIST_HEAD + question + len(text.split()))
            _check(counts, question, claims, [of_query.reference, *of_query.passages[system]])
            _check(counts, question, reference_claims, [response, *of_query.passages[system]])
    return counts


def _check(counts: Counts, question: int, claims: Sequence[str], texts: Sequence[str]) -> None:
    for text in texts:
        for block in range(ceil(len(claims) / CLAIMS_A_PROMPT)):
            some = claims[block * CLAIMS_A_PROMPT : (block + 1) * CLAIMS_A_PROMPT]
            # Each claim has its number and a full stop, as here.
            of_claims = sum(len(claim.split()) + 2 for claim in some)
            counts.add(CHECK_HEAD + question + len(text.split()) + of_claims + CHECK_TAIL)


if __name__ == "__main__":
    main()
