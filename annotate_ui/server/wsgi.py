"""The rating pages for another WSGI server, such as gunicorn with several processes.

    gunicorn --preload --workers 4 --threads 4 --bind 127.0.0.1:8350 \\
        'annotate_ui.server.wsgi:application("my-study", "/etc/ccrs/secret", 1)'

Several processes want PostgreSQL. Throttling counts by process: N of them allow N times as much.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from annotate_ui.server.error_log import log_errors
from annotate_ui.server.filesystem_check import check_file_system
from annotate_ui.server.public_check import check_public
from annotate_ui.server.secret_key import secret_key
from study.study import Study

if TYPE_CHECKING:
    from flask import Flask


def application(folder: str, secret_file: str, proxies: int = 1) -> "Flask":
    """Return the pages of the study in `folder`, as public ones.

    Parameters
    ----------
    folder
        The study's folder.
    secret_file
        Where the secret that signs sessions is kept; all processes share it.
    proxies
        Number of reverse proxies of your own in front.

    Raises
    ------
    StudyError
        As `ccrs serve --public`.
    """
    from annotate_ui.server.warm_up import warm
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
    # With --preload, each process that is forked from this one opens connections of its own.
    study.engine.dispose()
    return pages
