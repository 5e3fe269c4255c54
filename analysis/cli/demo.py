"""The command `ccrs demo`."""

from __future__ import annotations

from pathlib import Path

import click

from analysis.cli.read_study import from_study
from analysis.cli.report import write
from analysis.cli.report_input import CannotRun
from study.cli.options import AS_JSON


@click.command()
@click.option(
    "--keep",
    metavar="STUDY",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the study in this folder, and its report in report/ there.",
)
@click.option(
    "--out",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the report. Default: ccrs-demo-report/, or report/ in the kept study.",
)
@click.option(
    "--verify/--no-verify",
    default=True,
    show_default=True,
    help="Check figures against krippendorff, pingouin and scipy afterwards.",
)
@AS_JSON
def demo(keep: Path | None, out: Path | None, verify: bool, as_json: bool) -> None:
    """Create the example study and write its report.

    Needs no network and takes seconds. The study has 30 questions, 4 systems, 5 raters and a
    judge. The raters and the judge are simulated, with known faults for the report to find;
    `ccrs help example` names them.

    \b
    Examples:
      ccrs demo
      ccrs demo --keep my-demo
    """
    from contextlib import nullcontext
    from tempfile import TemporaryDirectory

    from analysis.core.errors import AnalysisError
    from analysis.render.report_folder import check_folder
    from study.errors import StudyError
    from study.example import build_example

    report_folder = out or (Path("ccrs-demo-report") if keep is None else keep / "report")
    try:
        check_folder(report_folder)
        with TemporaryDirectory() if keep is None else nullcontext(str(keep)) as place:
            folder = Path(place) / "study" if keep is None else keep
            build_example(folder).close()
            if not as_json:
                click.echo("An example: the raters and the judge are simulated.\n")
            inputs = from_study(folder, {})
            write(inputs, inputs.name, report_folder, verify, as_json)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    if not as_json:
        click.echo(
            f"        or `ccrs status {keep}`"
            if keep
            else "        or keep the study: `ccrs demo --keep STUDY`"
        )
