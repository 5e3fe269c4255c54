"""Judgments into the study: committed before the slot of their prompt is free again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func, insert, select

from judge.parsing import PARSER_VERSION, Form, Parsed, parse_answer
from judge.protocol.answer import Answer
from judge.protocol.request import Request
from judge.running.work_items import SHARED, Settled
from study.scales import RatingScale
from study.schema import Judgment, JudgmentBase, now, table
from study.schema.database import writing
from study.study import Study

Pair = tuple[Request, Answer]


class Store:
    """Writes the judgments of one run, and counts what it wrote."""

    def __init__(
        self,
        study: Study,
        run_id: int,
        scale: RatingScale,
        construct_versions: Mapping[str, int],
        confirm: Callable[[], None] = lambda: None,
        form: Form = "score",
    ) -> None:
        self._confirm = confirm
        self._form: Form = form
        self._engine = study.engine
        self._run_id = run_id
        self._scale = scale
        self._versions = construct_versions
        self._insert = insert(table(Judgment))
        self.missing: Counter[str] = Counter()
        """First judgments without a value, by reason; one for each response."""
        self.judged = 0
        self.flags: Counter[str] = Counter()

    def commit(self, pairs: Sequence[Pair]) -> None:
        """Store answers; return when they are on disk.

        Raises
        ------
        StudyError
            The database is busy for too long, or the disk is full; nothing of these was stored.
        """
        self._confirm()
        rows = [row for request, answer in pairs for row in self._rows(request, answer)]
        with writing(self._engine) as connection:
            connection.execute(self._insert, rows)
        self._count(rows)

    def settle(self, settled: Iterable[Settled]) -> int:
        """Store judgments that need no call; return their number."""
        some = list(settled)
        if not some:
            return 0
        self._confirm()
        copied = self._originals([s.copy_of for s in some if s.copy_of is not None])
        rows = [self._settled_row(s, copied) for s in some]
        with writing(self._engine) as connection:
            connection.execute(self._insert, rows)
        self._count(rows)
        return len(rows)

    def _count(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            self.judged += 1
            if row["missing_reason"] is not None:
                self.missing[row["missing_reason"]] += 1
            self.flags.update(row["flags"])

    def _rows(self, request: Request, answer: Answer) -> list[dict[str, Any]]:
        found = parsed(answer, self._scale, self._form)
        rows = []
        for number, (response, attempt) in enumerate(
            zip(request.response_ids, request.attempts, strict=True)
        ):
            first = number == 0
            judgment = JudgmentBase(
                construct_key=request.construct_key,
                construct_version=self._versions[request.construct_key],
                repeat=request.repeat,
                attempt=attempt,
                value=found.value,
                missing_reason=found.reason,
                rule=found.rule,
                parser_version=PARSER_VERSION,
                raw_answer=answer.text,
                finish_reason=answer.finish_reason,
                served_model=answer.served_model,
                fingerprint=answer.fingerprint,
                distribution=answer.distribution,
                flags=[*request.flags] if first else [*request.flags, SHARED],
                # What was spent once is counted once.
                prompt_tokens=answer.prompt_tokens if first else None,
                completion_tokens=answer.completion_tokens if first else None,
                reasoning_tokens=answer.reasoning_tokens if first else None,
                cached_tokens=answer.cached_tokens if first else None,
                milliseconds=answer.milliseconds if first else None,
            )
            rows.append(self._placed(judgment, response))
        return rows

    def _settled_row(
        self, settled: Settled, originals: Mapping[int, Mapping[str, Any]]
    ) -> dict[str, Any]:
        given: dict[str, Any] = {
            "value": settled.value,
            "missing_reason": settled.missing_reason,
            "rule": settled.rule,
        }
        if settled.copy_of is not None:
            given = dict(originals[settled.copy_of])
            given["flags"] = sorted({*given["flags"], SHARED})
        judgment = JudgmentBase(
            construct_key=settled.construct_key,
            construct_version=self._versions[settled.construct_key],
            repeat=settled.repeat,
            attempt=settled.attempt,
            **given,
        )
        return self._placed(judgment, settled.response)

    def _originals(self, judgments: list[int]) -> dict[int, dict[str, Any]]:
        j = table(Judgment)
        columns = (
            j.c.value,
            j.c.missing_reason,
            j.c.rule,
            j.c.parser_version,
            j.c.raw_answer,
            j.c.finish_reason,
            j.c.served_model,
            j.c.fingerprint,
            j.c.flags,
            j.c.distribution,
        )
        found = {}
        with self._engine.connect() as connection:
            for start in range(0, len(judgments), 500):
                some = judgments[start : start + 500]
                rows = connection.execute(select(j.c.id, *columns).where(j.c.id.in_(some)))
                found.update({row.id: dict(row._mapping) for row in rows})
        for row in found.values():
            del row["id"]
        return found

    def _placed(self, judgment: JudgmentBase, response: int) -> dict[str, Any]:
        return {
            **judgment.model_dump(),
            "run_id": self._run_id,
            "response_id": response,
            "created_at": now(),
        }


def parsed(answer: Answer, scale: RatingScale, form: Form = "score") -> Parsed:
    """Return the value of an answer, or the reason why it has none."""
    if answer.missing is not None:
        return Parsed(None, answer.missing, None)
    return parse_answer(answer.text, scale, answer.finish_reason, form=form)


def served(study: Study, run_id: int) -> dict[str, int]:
    """Return the answers of a run by the model and fingerprint that the server named."""
    j = table(Judgment)
    statement = (
        select(j.c.served_model, j.c.fingerprint, func.count())
        .where(j.c.run_id == run_id, j.c.raw_answer.is_not(None))
        .group_by(j.c.served_model, j.c.fingerprint)
        .order_by(func.min(j.c.id))
    )
    with study.read() as connection:
        rows = connection.execute(statement).all()
    return {
        ", ".join(part for part in (model or "(not named)", fingerprint) if part): int(count)
        for model, fingerprint, count in rows
    }
