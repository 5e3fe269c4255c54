"""`ccrs init --campaign`: what it prints. Only click is imported until it runs."""

from pathlib import Path

import click

from study.cli.options import print_result, progress
from study.text import shell_word


def begin(folder: Path, path: Path, as_json: bool) -> None:
    """Create the study that a file describes, and print the links and the command that serves."""
    from annotate_ui.monitoring.expected_material import lacking_warnings
    from annotate_ui.participants.campaign import begin_campaign
    from annotate_ui.server.sockets import is_local
    from study.cli.displays import show_assigned
    from study.study import Study

    with progress("Reading the responses", hidden=as_json) as advance:
        begun = begin_campaign(folder, path, advance)
    base_url = begun.config.rating.base_url
    place = shell_word(folder)
    named = " ".join(map(shell_word, begun.links))
    renew = [f"enrol {place} --renew {shell_word(name)}" for name in begun.links]
    renew = renew if begun.joins else [f"invite {place} {named} --renew"]
    lines = [f"{name}  {link}" for name, link in begun.links.items()]
    lines.append("These links are not shown again. Anyone who has a link can rate with it.")
    with Study.open(folder) as study:
        warnings = lacking_warnings(study)
    if is_local(base_url):
        warnings.append(
            f"These links open on this computer only ({base_url}). For others, set rating.base_url "
            f"in {folder / 'study.toml'} and make new ones: "
            f"{', '.join(f'`ccrs {words}`' for words in renew)}."
        )
    lines += [f"Warning: {warning}" for warning in warnings]
    lines.append(f"Next: ccrs serve {place}")
    if not as_json:
        click.echo(f"Created the study {folder} from {path}.")
        for summary in begun.imported:
            click.echo("\n".join(summary.lines()))
        show_assigned(begun.assigned)
    print_result(
        {
            "folder": str(folder),
            "imported": [summary.as_json() for summary in begun.imported],
            "assigned": begun.assigned.as_json(),
            "links": begun.links,
            "warnings": warnings,
        },
        lines,
        as_json,
    )
