"""Write the pictures of first screens: `python data/manual/take_pictures.py`.

That of the table in README.md, and those of the example study. Needs Chromium, playwright and
pillow, which the tests bring. Pictures differ between versions of Chromium, so that no test
compares them: take them again where the first screen changes.
"""

import shutil
import tempfile
from pathlib import Path

from click.testing import CliRunner

from study.cli.root import cli

MANUAL = Path(__file__).resolve().parent
FOLDER = MANUAL / "pictures"
WINDOWS = {"wide": (1280, 900), "phone": (390, 844)}

#: The table whose report README.md shows, its picture, and the size of the window.
TABLE = MANUAL / "tables" / "grades.csv"
OF_TABLE = FOLDER / "report-of-a-table.png"
TABLE_WINDOW = (1280, 800)


def main() -> None:
    """Write a picture of the table's report, and of each window in light and dark."""
    with tempfile.TemporaryDirectory() as folder:
        table, example = Path(folder) / "table", Path(folder) / "example"
        CliRunner().invoke(cli, ["report", str(TABLE), "--no-verify", "--out", str(table)])
        CliRunner().invoke(cli, ["demo", "--no-verify", "--out", str(example)])
        _take(table, OF_TABLE, TABLE_WINDOW)
        for name, window in WINDOWS.items():
            for scheme in ("light", "dark"):
                path = FOLDER / f"first-screen-{name}-{scheme}.png"
                _take(example, path, window, dark=scheme == "dark")


def _take(report: Path, path: Path, window: tuple[int, int], *, dark: bool = False) -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    width, height = window
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        page.goto((report / "report.html").as_uri())
        page.screenshot(path=path)
        browser.close()
    # Text and flat colors need few of them.
    Image.open(path).convert("RGB").quantize(48).save(path, optimize=True)


if __name__ == "__main__":
    main()
