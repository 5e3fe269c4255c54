"""Download of the study's tables as one file."""

import tempfile
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from flask import render_template, request, send_file
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import BadRequest

from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.rate_limits import computations
from annotate_ui.web.rater_session import study
from study.export.study_export import export_study

_FORMATS = ("csv", "parquet")


@pages.get("/export")
def export() -> ResponseReturnValue:
    """Show what the file contains, and the choice of a format."""
    return render_template("owner/export.html", page="export")


@pages.post("/export")
@computations
def download() -> ResponseReturnValue:
    """Send the tables and their codebook as a zip file."""
    file_format = request.form.get("format")
    if file_format not in _FORMATS:
        raise BadRequest
    # Without a name on disk, so that no file is left after an error.
    packed = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the answer that sends it)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            export_study(study(), folder, file_format)
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
