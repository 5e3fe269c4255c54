"""What the first requests would wait for, done before any is taken.

After a restart all raters come back at one moment. Without this, each thread would first compile
the same templates and statements, while the others wait.
"""

from contextlib import suppress
from uuid import uuid4

from flask import Flask

from annotate_ui.work.commits import Commit
from annotate_ui.work.counting import values_done
from annotate_ui.work.refusals import NotYoursError
from annotate_ui.work.saving import save_within
from annotate_ui.work.steps import rater_work
from study.campaign import Study

# Database keys begin at 1.
_NOBODY = 0


def warm(application: Flask) -> None:
    """Compile what raters' pages are made of, and ask what they ask, for nobody."""
    for name in application.jinja_env.list_templates():
        if not name.startswith("owner/"):
            application.jinja_env.get_template(name)
    study: Study = application.config["STUDY"]
    commit = Commit.model_validate(
        {
            "construct": study.config.constructs[0].key,
            "status": "cannot_judge",
            "input_kind": "button",
            "base_revision": 0,
            "key": uuid4().hex,
        }
    )
    with study.write() as connection:
        rater_work(connection, study.config, _NOBODY)
        values_done(connection, study.config, _NOBODY)
        with suppress(NotYoursError):
            save_within(connection, study, _NOBODY, "nobody", 1, commit)
