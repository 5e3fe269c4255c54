"""A judge's scores as predictions, which raters see before they rate. Off unless asked for."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from annotate_ui.label_studio.configuration import TARGET
from study.errors import StudyError, nearest
from study.schema import JudgeRun, Judgment, Score, table
from study.study import Study

WARNING = (
    "Raters see the judge's scores before they give theirs, and are drawn towards them: their "
    "agreement with this judge, and with each other, says nothing of what they would say unaided."
)


def predicted(
    connection: Connection,
    study: Study,
    scorer: str | None,
    controls: Mapping[str, Mapping[str, Any]],
) -> dict[int, list[dict[str, Any]]]:
    """Return for each response what a judge's scores are as a prediction over there.

    Raises
    ------
    StudyError
        There is no judge of this name.
    """
    if scorer is None:
        return {}
    values = _values(connection, study, scorer)
    found: dict[int, list[dict[str, Any]]] = {}
    for response, scores in values.items():
        result = [
            {
                "id": name,
                "from_name": name,
                "to_name": TARGET,
                "type": "number",
                "value": {"number": scores[meaning["construct"]]},
            }
            for name, meaning in controls.items()
            if meaning["kind"] == "number" and meaning["construct"] in scores
        ]
        if result:
            found[response] = [{"model_version": scorer, "result": result}]
    return found


def _values(connection: Connection, study: Study, scorer: str) -> dict[int, dict[str, float]]:
    """Return the judge's first value of each construct of each response."""
    versions = study.construct_versions(connection)
    j, run, s = table(Judgment), table(JudgeRun), table(Score)
    rows = [
        *connection.execute(
            select(j.c.response_id, j.c.construct_key, j.c.construct_version, j.c.value)
            .join_from(j, run, j.c.run_id == run.c.id)
            .where(run.c.name == scorer, j.c.repeat == 0, j.c.value.is_not(None))
            .order_by(j.c.attempt)
        ),
        *connection.execute(
            select(s.c.response_id, s.c.construct_key, s.c.construct_version, s.c.value).where(
                s.c.scorer == scorer,
                s.c.scorer_kind == "judge",
                s.c.repeat == 0,
                s.c.value.is_not(None),
            )
        ),
    ]
    if not rows:
        judges = set(connection.execute(select(run.c.name)).scalars())
        judges |= set(
            connection.execute(select(s.c.scorer).where(s.c.scorer_kind == "judge")).scalars()
        )
        raise StudyError(
            f"{scorer!r} is no judge of {study.folder} with scores. {nearest(scorer, judges)} "
            f"Judges: {', '.join(sorted(judges)) or 'none'}."
        )
    found: dict[int, dict[str, float]] = {}
    for response, construct, version, value in rows:
        if versions.get(construct) == version:
            found.setdefault(response, {}).setdefault(construct, float(value))
    return found
