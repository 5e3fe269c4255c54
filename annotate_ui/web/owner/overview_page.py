"""The overview (action items, progress, pausing the campaign) and the download of the data."""

import tempfile
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from flask import redirect, render_template, request, send_file
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import BadRequest

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.raters_page import rater_identities
from annotate_ui.web.owner.snapshot_cache import current_snapshot
from annotate_ui.web.rate_limits import computations
from annotate_ui.web.rater_session import study
from study.errors import StudyError
from study.types import storable


@pages.get("")
def overview() -> ResponseReturnValue:
    """Show the state of the campaign."""
    from annotate_ui.participation import paused

    with study().read() as connection:
        message = paused(connection)
        ids = {code: rater.public_id for code, rater in rater_identities(connection).items()}
    snapshot = current_snapshot()
    return render_template(
        "owner/overview.html",
        page="overview",
        progress=snapshot.progress,
        at=snapshot.at,
        paused=message,
        ids=ids,
    )


@pages.post("/pause")
def pause() -> ResponseReturnValue:
    """Open nothing new to raters from now on."""
    from annotate_ui.participation import pause as pause_study

    try:
        message = storable(request.form.get("message", "").strip())
    except ValueError as error:
        raise StudyError(f"The message {error}.") from None
    pause_study(study(), message)
    return redirect("/owner", 303)


@pages.post("/resume")
def resume() -> ResponseReturnValue:
    """Resume the campaign."""
    from annotate_ui.participation import resume as resume_study

    resume_study(study())
    return redirect("/owner", 303)


def _formats() -> tuple[str, ...]:
    """Return the formats of an export: Parquet where the extra `parquet` is installed."""
    return ("csv", "parquet") if find_spec("pyarrow") else ("csv",)


@pages.get("/export")
def export() -> ResponseReturnValue:
    """Show what the file contains, and the choice of a format."""
    return render_template("owner/export.html", page="export", formats=_formats())


@pages.post("/export")
@computations
def download() -> ResponseReturnValue:
    """Send the tables and their codebook as a zip file."""
    from study.export.study_export import export_study

    file_format = request.form.get("format")
    if file_format not in _formats():
        raise BadRequest
    from annotate_ui.monitoring.people import PEOPLE_COLUMNS, people_rows

    # Without a name on disk, so that no file is left after an error.
    packed = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the answer that sends it)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            export_study(
                study(), folder, file_format, people=(PEOPLE_COLUMNS, people_rows(study()))
            )
            with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
                for path in sorted(folder.iterdir()):
                    archive.write(path, path.name)
        packed.seek(0)
    except BaseException:
        packed.close()
        raise
    return send_file(
        packed, mimetype="application/zip", as_attachment=True, download_name="export.zip"
    )
