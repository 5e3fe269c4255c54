"""The package of the manual's page on plugins: written, put on the path, and used as shown."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "data" / "manual" / "plugins.md"
FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GROUP = re.compile(
    r'^\[project\.entry-points\."([\w.]+)"\]\n((?:[\w-]+ = "[^"]+"\n)+)', re.MULTILINE
)
TABLE = "ticket,question,reply\n17,Is it open?,Until six.\n18,Is it far?,Ten minutes on foot.\n"


def installed(folder: Path) -> Path:
    """Write the package of the page as an installer would; return the folder on the path."""
    site = folder / "site"
    files = dict(FILE.findall(PAGE.read_text(encoding="utf-8")))
    about = site / "ccrs_example-1.0.dist-info"
    about.mkdir(parents=True)
    groups = GROUP.findall(files.pop("pyproject.toml"))
    lines = [f"[{name}]\n{points.replace(chr(34), '')}" for name, points in groups]
    (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ccrs-example\nVersion: 1.0\n")
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (site / "ccrs_example" / "__init__.py").touch()
    assert {name.removeprefix("ccrs.") for name, _ in groups} == {
        *("commands", "importers", "engines", "metrics", "controls")
    }
    return site


def test_the_package_of_the_page_does_what_the_page_shows(tmp_path: Path) -> None:
    # The program of this environment, be it activated or not.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(installed(tmp_path))}

    def started(*words: str) -> str:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    (tmp_path / "tickets.csv").write_text(TABLE, encoding="utf-8")
    started("ccrs", "init", "my-study")
    text = PAGE.read_text(encoding="utf-8")
    shown = {words.split()[1]: words.split() for words in COMMAND.findall(text)}
    assert list(shown) == ["longest", "import", "judge", "measure"]
    assert "2 responses" in started(*shown["import"])
    assert "18/desk: 20 characters" in started(*shown["longest"])
    assert "2 judgments" in started(*shown["judge"])
    assert "brevity" in started(*shown["measure"])
    started("ccrs", "export", "my-study", "--out", "tables")
    with (tmp_path / "tables" / "scores.csv").open(encoding="utf-8-sig") as stream:
        values = sorted((row["scorer"], row["value"]) for row in csv.DictReader(stream))
    assert [(name, float(value)) for name, value in values] == [
        *[("brevity", 100.0)] * 2,
        *[("echo", 83.0)] * 2,
    ]
    controls = text.rpartition("```python\n")[2].partition("```")[0]
    started(sys.executable, "-c", controls)
