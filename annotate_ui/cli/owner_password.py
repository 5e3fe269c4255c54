"""The command `ccrs owner-password`. Only click is imported until it runs."""

import sys
from pathlib import Path

import click

from study.cli.options import AS_JSON, STUDY, print_result
from study.text import shell_word


@click.command("owner-password")
@STUDY
@click.option(
    "--stdin", "from_stdin", is_flag=True, help="Read the password from the first line of input."
)
@AS_JSON
def owner_password(folder: Path, from_stdin: bool, as_json: bool) -> None:
    """Set the password of STUDY's owner pages.

    The command asks for it twice without showing it. A new password replaces the old one and ends
    its sessions. Only a hash is stored.

    \b
    Examples:
      ccrs owner-password my-study
      pass show my-study | ccrs owner-password my-study --stdin
    """
    from annotate_ui.web.owner.password import set_password
    from study.study import Study

    with Study.open(folder) as study:
        if from_stdin:
            password = sys.stdin.readline().rstrip("\r\n")
        else:
            password = click.prompt(
                "Password of the owner's pages", hide_input=True, confirmation_prompt=True
            )
        set_password(study, password)
        address = f"{study.config.rating.base_url.rstrip('/')}/owner"
    lines = [
        f"The password is set. The owner's pages are at {address} while the study is served.",
        f"Next: ccrs serve {shell_word(folder)}",
    ]
    print_result({"address": address}, lines, as_json)
