"""The rating pages for another WSGI server, such as gunicorn with several processes.

    gunicorn --preload --workers 4 --threads 4 --bind 127.0.0.1:8350 \\
        'annotate_ui.server.wsgi:application("my-study", "/etc/ccrs/secret", 1)'

Several processes need PostgreSQL. Each process counts requests for itself, so that N processes
allow N times the rates.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from annotate_ui.server.error_log import log_errors
from annotate_ui.server.secret_key import secret_key
from annotate_ui.server.start_checks import check_public
from study.lifecycle.file_system import check_file_system
from study.study import Study

if TYPE_CHECKING:
    from flask import Flask

# Database keys begin at 1.
_NO_RATER = 0


def application(folder: str, secret_file: str, proxies: int = 1) -> "Flask":
    """Return the pages of the study in `folder`, for the internet.

    Parameters
    ----------
    folder
        The study's folder.
    secret_file
        File of the secret that signs sessions; all processes share it.
    proxies
        Number of your own reverse proxies in front.

    Raises
    ------
    StudyError
        As `ccrs serve --public`.
    """
    from annotate_ui.web.app import create_app

    study = Study.open(folder)
    try:
        check_file_system(study)
        check_public(study, proxies=proxies, secret_file=Path(secret_file))
    except BaseException:
        study.close()
        raise
    log_errors()
    pages = create_app(study, secret_key(study.folder, Path(secret_file)), proxies=proxies)
    warm(pages)
    # With --preload, each forked process opens its own connections.
    study.engine.dispose()
    return pages


def warm(application: "Flask") -> None:
    """Compile the templates of raters' pages and the largest statements before the first request.

    After a restart all raters come back at once. Without this, each thread would first compile the
    same templates and statements, while the others wait.
    """
    from annotate_ui.tasks.assignments import values_done
    from annotate_ui.tasks.steps import rater_work

    for name in application.jinja_env.list_templates():
        if not name.startswith("owner/"):
            application.jinja_env.get_template(name)
    study: Study = application.config["STUDY"]
    with study.read() as connection:
        rater_work(connection, study.config, _NO_RATER)
        values_done(connection, study.config, _NO_RATER)
