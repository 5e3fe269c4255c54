"""The help of every command, and the map of routes."""

import re
from pathlib import Path

import click

from tests.golden import normal
from tests.golden.product import ccrs, commands, make_app


def record_help(work: Path, out: Path) -> None:
    """Record the help of each command in a file of its own."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "ccrs.txt").write_text(ccrs("--help", cwd=work), encoding="utf-8")
    for words, command in commands().items():
        context = click.Context(command, info_name=words, terminal_width=100, max_content_width=100)
        shown = command.get_help(context)
        for parameter in command.params:
            default = parameter.default
            shown += f"\n[{parameter.name}: {parameter.opts} {parameter.type!r} {default!r}]"
        shown = re.sub(r" at 0x[0-9a-f]+", "", shown)
        (out / f"{words.replace(' ', '-')}.txt").write_text(shown + "\n", encoding="utf-8")


def record_routes(work: Path, out: Path) -> None:
    """Record the address, methods and endpoint of each route."""
    out.mkdir(parents=True, exist_ok=True)
    ccrs("init", "routes", cwd=work)
    app, study = make_app(work / "routes")
    found = [
        f"{rule.rule} {sorted(rule.methods or ())} {rule.endpoint}"
        for rule in app.url_map.iter_rules()
    ]
    study.close()
    shown = re.sub(r"/static/[0-9a-f]{12}", "/static/VERSION", "\n".join(sorted(found)))
    (out / "routes.txt").write_text(normal.text(shown, work) + "\n", encoding="utf-8")
