"""What the first requests would wait for, done before any is taken.

After a restart all raters come back at one moment. Without this, each thread would first compile
the same templates and the largest statements, while the others wait.
"""

from flask import Flask

from annotate_ui.tasks.assignments import values_done
from annotate_ui.tasks.steps import rater_work
from study.study import Study

# Database keys begin at 1.
_NOBODY = 0


def warm(application: Flask) -> None:
    """Compile the templates of raters' pages, and ask for the work of nobody."""
    for name in application.jinja_env.list_templates():
        if not name.startswith("owner/"):
            application.jinja_env.get_template(name)
    study: Study = application.config["STUDY"]
    with study.read() as connection:
        rater_work(connection, study.config, _NOBODY)
        values_done(connection, study.config, _NOBODY)
