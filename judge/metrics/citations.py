"""Citation recall and precision of ALCE (Gao et al. 2023, arXiv 2305.14627, section 3).

Statements are the sentences of the response without their citations. A citation such as [1],
[1][2], [1, 2] or [1-3] names passages by rank, and belongs to the sentence that it is in, or that
it follows: after a full stop to the one before.

- Recall: the share of statements that their cited passages support together. A statement that cites
  nothing, or a passage that there is not, is not supported, as in the authors' code.
- Precision: the share of citations that are needed. A citation counts if its statement is supported
  and it is not irrelevant; of several, one is irrelevant that does not support the statement alone
  while the others do without it. It is 0 where a response cites nothing, as in the authors' code.

The authors ask a classifier about one statement at a time; here the judge's model labels the
statements of the same passages together. The code leaves all citations of a statement out of the
precision where one names no passage; here they count as not needed, and a passage that is cited
twice in a statement counts once.
"""

import re
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from judge.metrics.metric import Metric, MetricInput, MetricValue, NoValueError, Prompt, Steps
from judge.metrics.step_readers import labels_in
from judge.parsing.structured_answers import numbered, on_one_line
from judge.prompts.answer_schema import labels_schema
from judge.prompts.step_prompts import step_prompts
from judge.protocol.exchange import Answer
from study.base.scales import Scale
from study.sentences import sentence_ranges
from study.types import Sees

STATEMENTS_A_PROMPT = 10
"""Statements on the same passages that one prompt labels."""
_SUPPORTED = "supported"
_LABELS = (_SUPPORTED, "unsupported")
_NUMBERS = r"\d{1,3}(?:\s*[-–]\s*\d{1,3})?"
_CITATION = re.compile(rf"\s*\[({_NUMBERS}(?:\s*[,;]\s*{_NUMBERS})*)\]")
_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")

Cited = frozenset[int]
"""Numbers of passages, from 1."""
Pair = tuple[int, Cited]
"""Place of a statement, and passages that may support it."""
Known = dict[Pair, bool]
Asking = Generator[Sequence[Prompt], Sequence[Answer], None]


@dataclass(frozen=True)
class Statement:
    """A sentence of a response without its citations."""

    text: str
    cited: Cited


def cited_statements(text: str) -> list[Statement]:
    """Return the sentences of a text with the numbers that each cites.

    Examples
    --------
    >>> [(s.text, sorted(s.cited)) for s in cited_statements("It opens at 8. [1][3] It is old.")]
    [('It opens at 8.', [1, 3]), ('It is old.', [])]
    """
    plain = ""
    places: list[tuple[int, set[int]]] = []
    end = 0
    for match in _CITATION.finditer(text):
        plain += text[end : match.start()]
        places.append((len(plain), _numbers(match[1])))
        end = match.end()
    plain += text[end:]
    ranges = sentence_ranges(plain)
    cited: list[set[int]] = [set() for _ in ranges]
    for place, numbers in places if ranges else ():
        # The last sentence that begins before the citation, or the first one.
        before = sum(start < place for start, _ in ranges)
        cited[max(before - 1, 0)] |= numbers
    return [
        Statement(on_one_line(plain[start:end]), frozenset(numbers))
        for (start, end), numbers in zip(ranges, cited, strict=True)
    ]


def _numbers(inside: str) -> set[int]:
    """Return the numbers in the brackets of a citation."""
    found: set[int] = set()
    for match in _RANGE.finditer(inside):
        first, last = int(match[1]), int(match[2] or match[1])
        found |= {*range(first, last + 1)} or {first, last}
    return found


class Citations(Metric):
    """Base of the metrics: asks which statements their cited passages support."""

    key = "citations"
    constructs: tuple[str, ...] = ()
    fields: tuple[Sees, ...] = ("response", "context")
    scorer_kind = "metric"
    scale = Scale(min=0, max=1)
    prompts = step_prompts(__file__)

    def _statements(self, response: MetricInput) -> list[Statement]:
        """Return the statements.

        Raises
        ------
        NoValueError
            There are none.
        """
        statements = cited_statements(response.response)
        if not statements:
            raise NoValueError("no_statements")
        return statements

    def _ask(
        self,
        response: MetricInput,
        statements: Sequence[Statement],
        pairs: Iterable[Pair],
        known: Known,
    ) -> Asking:
        """Add to `known` whether each pair's passages together support its statement.

        Passages that there are not, or without text, support nothing and are not asked about.
        """
        passages = _by_rank(response)
        places: dict[Cited, list[int]] = {}
        for place, cited in dict.fromkeys(pairs):
            if (place, cited) not in known:
                known[place, cited] = False
                if cited and cited <= passages.keys() and any(passages[n] for n in cited):
                    places.setdefault(cited, []).append(place)
        blocks = [
            (cited, statement_places[first : first + STATEMENTS_A_PROMPT])
            for cited, statement_places in places.items()
            for first in range(0, len(statement_places), STATEMENTS_A_PROMPT)
        ]
        if not blocks:
            return
        answers = yield [
            self.prompt(
                "support",
                labels_schema(len(block), _LABELS),
                passages="\n\n".join(passages[n] for n in sorted(cited) if passages[n]),
                statements=numbered([statements[place].text for place in block]),
            )
            for cited, block in blocks
        ]
        for (cited, block), answer in zip(blocks, answers, strict=True):
            labels = labels_in(answer, len(block), _LABELS)
            for place, label in zip(block, labels, strict=True):
                known[place, cited] = label == _SUPPORTED


def _by_rank(response: MetricInput) -> dict[int, str]:
    """Return the passages by rank, whatever the order in which the run shows them."""
    ranked = response.content.passages if response.passages else ()
    return {rank: text.strip() for rank, text in enumerate(ranked or (), 1)}


class CitationRecall(Citations):
    """Share of the statements that their cited passages support."""

    key = "citation-recall"
    constructs = ("CC",)

    def score(self, response: MetricInput) -> Steps:
        """Label each statement by all passages that it cites."""
        statements = self._statements(response)
        known: Known = {}
        pairs = [(place, statement.cited) for place, statement in enumerate(statements)]
        yield from self._ask(response, statements, pairs, known)
        supported = sum(known[pair] for pair in pairs)
        cited = sum(bool(statement.cited) for statement in statements)
        parts = {"counted": supported, "of": len(statements), "cited": cited}
        return MetricValue(supported / len(statements), parts=parts)


class CitationPrecision(Citations):
    """Share of the citations that support their statement and are needed for it."""

    key = "citation-precision"
    constructs = ("CC",)
    steps = 3

    def score(self, response: MetricInput) -> Steps:
        """Label statements by all cited passages, by each of several, and by the others."""
        statements = self._statements(response)
        known: Known = {}
        pairs = [(place, statement.cited) for place, statement in enumerate(statements)]
        citations = [(place, number) for place, cited in pairs for number in sorted(cited)]
        if not citations:
            return MetricValue(0.0, "no_citations")
        yield from self._ask(response, statements, pairs, known)
        supported_citations = [(p, n) for p, n in citations if known[p, statements[p].cited]]
        alone = {(p, n): (p, frozenset({n})) for p, n in supported_citations}
        yield from self._ask(response, statements, alone.values(), known)
        doubtful = [each for each in supported_citations if not known[alone[each]]]
        others = {(p, n): (p, statements[p].cited - {n}) for p, n in doubtful}
        yield from self._ask(response, statements, others.values(), known)
        needed = len(supported_citations) - sum(known[pair] for pair in others.values())
        parts = {"counted": needed, "of": len(citations)}
        return MetricValue(needed / len(citations), parts=parts)
