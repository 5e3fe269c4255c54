"""Opening the next step: the moment at which a rater is shown more, which is recorded."""

from dataclasses import dataclass

from sqlalchemy import insert

from annotate_ui.work.leasing import lock_rater, lock_slots, renew, take_slots
from annotate_ui.work.steps import Step, rater_work
from study.campaign import Study
from study.nouns import Reveal, table


@dataclass(frozen=True)
class Opened:
    """What came of asking for the next step."""

    step: Step | None
    """The step whose turn it is; None when nothing is left to do now."""
    has_worked: bool
    """Whether the rater has rated anything."""


def open_next(study: Study, rater_id: int) -> Opened:
    """Open the step whose turn it is, and record that its fields are shown.

    A rater whose own work is done is handed open slots, if there are any. Asked twice, the same
    step is opened once.
    """
    with study.write() as connection:
        lock_rater(connection, rater_id)
        work = rater_work(connection, study.config, rater_id)
        step = work.frontier
        if step is None or step.item.leased_until is not None:
            lock_slots(connection)
            if step is None:
                take_slots(connection, study, rater_id)
            else:
                renew(connection, study, rater_id, step.item.query_id)
            # Read again: a slot may have been handed on before it was locked.
            work = rater_work(connection, study.config, rater_id)
            step = work.frontier
        if step is not None and not step.opened:
            connection.execute(
                insert(table(Reveal)).values(
                    assignment_id=step.item.id,
                    stage=step.stage.number,
                    fields=list(step.stage.fields),
                )
            )
        return Opened(step, work.progress.done > 0)
