"""Scores in exports of other tools: which construct a metric measures, and under which scorer."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from study.errors import Fault, nearest
from study.importing.importers import FormatOptions
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import RecordSource
from study.importing.readers.value_words import best_of, folded_word
from study.importing.readers.written_values import ScoredCell
from study.importing.rows import ResponseRow, Rows, ScoreRow
from study.importing.score_columns.names import construct_in_name, kind_of
from study.importing.score_columns.words import ONLY_CONSTRUCT
from study.importing.tool_exports import made_id, page_records, passages
from study.text import abbreviate, shell_word

MAPPED = "values mapped linearly from their range (--scale) to the construct's scale"


@dataclass(frozen=True)
class ScoredResponse:
    """The response that scores belong to."""

    response_id: str | None
    query: str | None = None
    """Text of its query, where the file has it."""
    system: str | None = None

    def row(
        self, cells: RecordCells, answer: Any, context: Any, references: Sequence[Any] = ()
    ) -> Rows:
        """Yield the response itself, with what was retrieved for it."""
        yield from cells.row(
            ResponseRow,
            response_id=self.response_id,
            query=self.query,
            response=answer,
            system=self.system,
            passages=passages(context),
            references=references,
        )

    @property
    def query_id(self) -> str | None:
        """Id of the query in a table without a study; each response has its own without a text."""
        return self.response_id if self.query is None else made_id("query", self.query)


@dataclass
class ToolScores:
    """The scores of an export. A metric measures the construct that it is mapped to or named after.

    `tool` begins the names of automatic scorers, as in `ragas:faithfulness`. `from_0_to_1` states
    that the tool documents its automatic scores as numbers from 0 to 1.
    """

    source: RecordSource
    options: FormatOptions
    tool: str
    from_0_to_1: bool = False
    ahead: list[ScoredCell] | None = None
    """The judgments of a record while the file is read ahead for its words."""
    _constructs: dict[str, str | None] = field(default_factory=dict)
    _unnamed: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        names = self.options.names
        by_name = {_simplified(name): key for key, name in names.items()}
        self._unnamed = by_name | {_simplified(key): key for key in self.options.constructs}

    def construct_of(self, metric: str) -> str | None:
        """Return the construct that a metric measures; None where it measures none."""
        if metric not in self._constructs:
            default = _without_scorer(metric) if self.options.metrics_are_constructs else None
            same_name = self._unnamed.get(_simplified(metric), default)
            self._constructs[metric] = self.options.controls.get(metric, same_name) or None
        return self._constructs[metric]

    def rows(
        self,
        cells: RecordCells,
        response: ScoredResponse,
        metric: str,
        value: Any,
        *,
        kind: str,
        scorer: str | None = None,
        missing_reason: str | None = None,
        from_0_to_1: bool = False,
    ) -> Rows:
        """Yield the score of a metric; one that measures no construct is left out and counted.

        `value` is a number, or true, false or a word for pass or fail. `kind` applies where
        nothing else declares the scorer's; `scorer` is a person's name. `from_0_to_1` states the
        range of this score, as the field of that name does for all.
        """
        construct = self.construct_of(metric)
        if construct is None:
            name = metric if metric.isprintable() else "NAME"
            option = f"--control {shell_word(f'{name}=CONSTRUCT')}"
            cells.left_out(
                f"scores {abbreviate(metric)} of {self.tool}, mapped to no construct ({option})"
            )
            return
        name = scorer or self.options.scorer or f"{self.tool}:{metric}"
        if self.ahead is not None:
            self.ahead.append(ScoredCell(name, construct, value, cells.number))
            return
        number, word_range = cells.judged(metric, (name, construct), value)
        if number is not None and word_range is None:
            if kind != "human" and (from_0_to_1 or self.from_0_to_1):
                self._check_range(cells, metric, name, construct)
            number = self._mapped(cells, metric, construct, number)
        without_study = self.options.metrics_are_constructs
        yield from cells.row(
            ScoreRow,
            response_id=response.response_id,
            query_id=response.query_id if without_study else None,
            system=response.system if without_study or response.response_id is None else None,
            construct_key=construct,
            scorer=name,
            scorer_kind=self.options.kinds.get(name, kind),
            value=number,
            word_range=word_range,
            missing_reason=missing_reason if number is None else None,
        )

    def read(self, reader: Reader, rows_of: Callable[[RecordCells], Rows]) -> Rows:
        """Yield the rows of each record, with the labels of a metric read by one vocabulary."""

        def scored(cells: RecordCells) -> list[ScoredCell]:
            found: list[ScoredCell] = []
            self.ahead = found
            for _ in rows_of(cells):
                continue
            self.ahead = None
            return found

        words = self.options.read_values(reader, scored, page_records)
        yield from reader.rows(rows_of, page_records(self.source))
        yield from words.concluded(self.source.report)
        yield from self.wrong_controls()

    def knows(self, label: Any) -> bool:
        """Whether a label is a word with a value."""
        if isinstance(label, bool):
            return True
        declared = {folded_word(word) for word in self.options.words}
        return isinstance(label, str) and (
            best_of([label]) is not None or folded_word(label) in declared
        )

    def wrong_controls(self) -> Iterator[Fault]:
        """Yield a fault for each --control and --scale whose metric the export does not have."""
        for option, names in (
            ("--control", self.options.declared_controls),
            ("--scale", self.options.ranges),
        ):
            for name in names:
                if name not in self._constructs:
                    listed = ", ".join(map(repr, self._constructs)) or "none"
                    hint = nearest(name, self._constructs)
                    yield Fault(
                        f"{option} names {name!r}; the file's metrics are: {listed}.",
                        f"{hint} Correct the option, or leave it out.".strip(),
                    )
        for metric, key in self._constructs.items():
            known = self.options.constructs
            if key is not None and key not in known and not self.options.metrics_are_constructs:
                yield Fault(
                    f"the metric {metric!r} is mapped to {key!r}, which is not a construct.",
                    f"{nearest(key, known)} Map it to one of {', '.join(known)}.".strip(),
                )

    def _mapped(
        self, cells: RecordCells, metric: str, construct: str, value: float
    ) -> float | None:
        """Return a value on the construct's scale, where the metric's range is declared."""
        scale = self.options.scales.get(construct)
        if metric not in self.options.ranges or scale is None:
            return value
        low, high = self.options.ranges[metric]
        if not low <= value <= high:
            problem = f"{value:g} is outside of the range {low:g} to {high:g} of --scale."
            cells.fault(problem, "Give the metric's range.", metric)
            return None
        self.source.report.rules[MAPPED] += 1
        return scale.min + (value - low) / (high - low) * (scale.max - scale.min)

    def _check_range(self, cells: RecordCells, metric: str, scorer: str, construct: str) -> None:
        """Add a fault where values from 0 to 1 would be taken as points of another scale."""
        scale = self.options.scales.get(construct)
        if scale is None or (scale.min, scale.max) == (0, 1):
            return
        if metric in self.options.ranges or scorer in self.options.scorer_scales:
            return
        cells.fault_once(
            f"{self.tool} scores from 0 to 1, and {construct} is rated from {scale}.",
            f"Map the values with --scale {shell_word(f'{metric}=0:1')}, or keep them and "
            f'declare in study.toml: [scorers."{scorer}"] scale = {{min = 0, max = 1}}.',
            metric,
        )


def _without_scorer(metric: str) -> str:
    """The construct of a metric that is named after its scorer, too, as human_correctness is."""
    return construct_in_name(metric) or ONLY_CONSTRUCT if kind_of(metric) else metric


def _simplified(name: str) -> str:
    """Return a name as it is compared: `Answer Relevancy [GEval]` is `answer_relevancy`."""
    return re.sub(r"[\s_-]+", "_", re.sub(r"\s*\[[^]]*\]$", "", name).casefold())
