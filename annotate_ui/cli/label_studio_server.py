"""The server that a command of `ccrs label-studio` reaches, and its token."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from study.cli.options import STUDY
from study.text import shell_word

if TYPE_CHECKING:
    from annotate_ui.label_studio.client import Server
    from study.study import Study

VARIABLE = "LABEL_STUDIO_API_KEY"
_OPTIONS = (
    click.option(
        "--url",
        metavar="URL",
        help="Address of the server, including its path if it has one. Default: label_studio.url "
        "in study.toml, else the server of the last project pushed.",
    ),
    click.option(
        "--token-file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="File with the access token, outside the study. Default: the environment variable "
        "LABEL_STUDIO_API_KEY.",
    ),
)


def reaches_server(command: Callable[..., None]) -> Any:
    """Give a command the study and the options of its server, as a `ServerPlace`."""

    @wraps(command)
    def with_place(folder: Path, url: str | None, token_file: Path | None, **others: Any) -> None:
        command(ServerPlace(folder, url, token_file), **others)

    made: Any = with_place
    for option in reversed((STUDY, *_OPTIONS)):
        made = option(made)
    return made


@dataclass(frozen=True)
class ServerPlace:
    """A study and where its server is, as the caller names them."""

    folder: Path
    url: str | None
    token_file: Path | None

    @contextmanager
    def opened(self) -> Iterator[tuple[Study, Server]]:
        """Open the study, whose constructs stay as they are now, and the server."""
        from annotate_ui.label_studio.client import Server
        from study.facts.label_studio_address import label_studio_address
        from study.study import Study

        with Study.open(self.folder).pinned() as study:
            with study.read() as connection:
                address = self.url or label_studio_address(connection, study.config)
            if address is None:
                raise click.UsageError(
                    "Name the server with --url, or set label_studio.url in study.toml."
                )
            token = read_token(study.folder, self.token_file)
            with Server(address, token) as server:
                yield study, server

    def needed_options(self, study: Study, server: Server) -> list[str]:
        """Return the options without which a later command does not reach the same server."""
        from study.facts.label_studio_address import label_studio_address

        with study.read() as connection:
            remembered = label_studio_address(connection, study.config)
        options = (
            ("--url", None if (remembered or "").rstrip("/") == server.url else server.url),
            ("--token-file", self.token_file),
        )
        return [f"{name} {shell_word(value)}" for name, value in options if value is not None]


def read_token(study_folder: Path, file: Path | None = None) -> str:
    """Return the token in `file`, or in the environment if there is no file.

    Raises
    ------
    StudyError
        There is no token, or the file is in the study's folder, which may be shared.
    """
    from study.errors import StudyError

    if file is None:
        token = os.environ.get(VARIABLE, "").strip()
        if not token:
            raise StudyError(
                f"The access token is missing. Set {VARIABLE}, or name a file outside the study "
                "with --token-file. Label Studio shows tokens under Account & Settings."
            )
    else:
        if file.resolve().is_relative_to(study_folder.resolve()):
            raise StudyError(
                f"{file} is inside the study's folder, which may be shared. Store the token "
                "elsewhere."
            )
        try:
            token = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"{file} cannot be read as a token ({error}).") from None
        if not token:
            raise StudyError(f"{file} is empty; put the token in it.")
    if not token.isascii() or any(c.isspace() for c in token):
        raise StudyError(
            "The token contains white space or other invalid characters; copy it again."
        )
    return token
