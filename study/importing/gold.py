"""Storing expected values of training and check responses."""

from typing import Literal, NamedTuple

from sqlalchemy import Connection, select

from study.errors import nearest
from study.facts.current_responses import is_answer
from study.importing.bulk_insert import Batch
from study.importing.content_store import ContentStore
from study.importing.import_report import TWICE, ImportReport
from study.importing.rows import ExpectedRange, ExpectedRow, LocatedRow
from study.schema import ExpectedValueBase, now
from study.schema.tables import expected_values, responses
from study.settings.study_toml import StudyConfig

NEW_RESPONSE = (
    "Expected values never change once they are stored: give the new range to a new response, "
    "whose text differs."
)


class _Key(NamedTuple):
    response: int
    construct: str
    purpose: Literal["training", "check"]


class _Bounds(NamedTuple):
    low: float
    high: float
    why: str | None


class ExpectedStore:
    """Adds responses with their expected values; a range that is stored never changes."""

    def __init__(
        self,
        connection: Connection,
        config: StudyConfig,
        content: ContentStore,
        report: ImportReport,
    ) -> None:
        self._connection = connection
        self._config = config
        self._content = content
        self._report = report
        self._batch: Batch | None = None
        self._stored: dict[_Key, _Bounds] = {}
        self._rows_of: dict[_Key, int] = {}
        self._answers: frozenset[int] = frozenset()

    def add(self, located: LocatedRow, row: ExpectedRow) -> None:
        """Add a row, or a fault."""
        if self._batch is None:
            # Created only if the source has such rows.
            self._batch = Batch(self._connection, expected_values)
            self._load()
        fits = [self._fits(located, row, key, bounds) for key, bounds in row.expected.items()]
        if not row.expected:
            self._fault(located, "has no expected value.", "Give a range for a construct.")
        response = self._content.add(located.number, row)
        if response is None or not fits or not all(fits):
            return
        if row.purpose == "training" and response in self._answers:
            self._fault(
                located,
                "is a response that the study measures; raters would know it before they rate it.",
                "Train with other responses, such as to other queries.",
                "response",
            )
            return
        blind = [key for key in row.expected if self._lacks_reference(response, key)]
        if blind:
            self._fault(
                located,
                f"{', '.join(blind)}: raters see the reference for it, and the query has none.",
                f"Give references, or leave {', '.join(blind)} out.",
            )
            return
        for key, bounds in row.expected.items():
            self._enter(self._batch, located, _Key(response, key, row.purpose), bounds)

    def finish(self) -> None:
        """Write what was added; the responses are written before."""
        if self._batch is not None:
            self._batch.finish()

    def _enter(self, batch: Batch, located: LocatedRow, key: _Key, expected: ExpectedRange) -> None:
        bounds = _Bounds(expected.low, expected.high, expected.why)
        before = self._stored.get(key)
        if before is None:
            noun = ExpectedValueBase(
                construct_key=key.construct,
                purpose=key.purpose,
                low=bounds.low,
                high=bounds.high,
                explanation=bounds.why,
            )
            batch.add(**noun.model_dump(), response_id=key.response, created_at=now())
            self._stored[key] = bounds
            self._rows_of[key] = located.number
            self._report.added["expected values"] += 1
        elif before == bounds:
            if key in self._rows_of:
                self._report.rules[TWICE] += 1
            else:
                self._report.already["expected values"] += 1
        else:
            where = f"row {self._rows_of[key]}" if key in self._rows_of else "the study"
            stored = "another explanation" if before[:2] == bounds[:2] else _range(before)
            self._fault(
                located,
                f"expects {_range(bounds)} on {key.construct}, but {where} has {stored} for this "
                "response.",
                NEW_RESPONSE,
                "expected",
            )

    def _fits(
        self, located: LocatedRow, row: ExpectedRow, key: str, expected: ExpectedRange
    ) -> bool:
        spec = self._config.construct_spec(key)
        if spec is None:
            keys = [construct.key for construct in self._config.constructs]
            self._fault(
                located,
                f"the study has no construct {key!r}.",
                f"{nearest(key, keys)} It has: {', '.join(keys)}.".strip(),
                "expected",
            )
            return False
        problem = spec.scale.problem(expected.low) or spec.scale.problem(expected.high)
        if problem is None and expected.low > expected.high:
            problem = f"low {expected.low:g} is above high {expected.high:g}"
        remedy = "Correct the range."
        if problem is None and "context" in spec.sees and not row.passages:
            problem = "raters see passages for it, and the response has none"
            remedy = f"Give passages, or leave {key} out."
        if problem is None:
            return True
        self._fault(located, f"{key}: {problem}.", remedy, "expected")
        return False

    def _lacks_reference(self, response: int, key: str) -> bool:
        spec = self._config.construct_spec(key)
        return (
            spec is not None
            and "reference" in spec.sees
            and not self._content.has_reference(response)
        )

    def _fault(
        self, located: LocatedRow, problem: str, remedy: str, field: str = "expected"
    ) -> None:
        self._report.fault(problem, remedy, located.number, located.column(field))

    def _load(self) -> None:
        answers = self._connection.execute(select(responses.c.id).where(is_answer()))
        self._answers = frozenset(answers.scalars())
        self._stored = {
            _Key(row.response_id, row.construct_key, row.purpose): _Bounds(
                row.low, row.high, row.explanation
            )
            for row in self._connection.execute(select(expected_values))
        }


def _range(bounds: _Bounds) -> str:
    return f"{bounds.low:g} to {bounds.high:g}"
