"""The command `ccrs serve`. Only click is imported until it runs."""

import gc
from pathlib import Path

import click

from study.cli.options import STUDY


@click.command()
@STUDY
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen. An address that other computers reach requires --proxies.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8350,
    show_default=True,
    metavar="N",
    help="Port to listen on; with 0 the system chooses a free one.",
)
@click.option(
    "--proxies",
    type=click.IntRange(0, 8),
    default=0,
    show_default=True,
    metavar="N",
    help="Number of your reverse proxies in front, which are trusted to name the client's address.",
)
@click.option(
    "--secret-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File of the secret that signs sessions, outside the study's folder.",
)
@click.option(
    "--public",
    is_flag=True,
    help="For pages on the internet: refuse to start without an https address in "
    "rating.base_url, --proxies and an existing --secret-file.",
)
def serve(
    folder: Path, host: str, port: int, proxies: int, secret_file: Path | None, public: bool
) -> None:
    """Serve the rating pages of STUDY until Ctrl-C.

    Raters open them with the links of `ccrs invite`. After Ctrl-C or SIGTERM, running requests are
    finished. study.toml is read once, at the start.

    \b
    Examples:
      ccrs serve my-study
      ccrs serve my-study --port 8351
      ccrs serve my-study --proxies 1
      ccrs serve my-study --public --proxies 1 --secret-file /etc/ccrs/secret
    """
    # Nothing that is loaded here is ever garbage, and looking for some takes a tenth of the start.
    gc.disable()
    try:
        from annotate_ui.server.application import serve as serve_pages
        from annotate_ui.web import app  # noqa: F401  (loaded now; the server makes one later)
        from study.study import Study
    finally:
        gc.freeze()
        gc.enable()

    with Study.open(folder) as study:
        serve_pages(
            study,
            host,
            port,
            proxies=proxies,
            secret_file=secret_file,
            public=public,
            say=click.echo,
        )
