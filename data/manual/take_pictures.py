"""Write the pictures of the example's first screen: `python data/manual/take_pictures.py`.

Needs Chromium, playwright and pillow, which the tests bring.
"""

import shutil
import tempfile
from pathlib import Path

from click.testing import CliRunner
from PIL import Image
from playwright.sync_api import sync_playwright

from study.cli.root import cli

FOLDER = Path(__file__).parent / "pictures"
WINDOWS = {"wide": (1280, 900), "phone": (390, 844)}


def main() -> None:
    """Write a picture of each window in light and dark."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "report"
        CliRunner().invoke(cli, ["demo", "--no-verify", "--out", str(report)])
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, (width, height) in WINDOWS.items():
            for scheme in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": width, "height": height},
                    color_scheme="dark" if scheme == "dark" else "light",
                )
                page.goto((report / "report.html").as_uri())
                path = FOLDER / f"first-screen-{name}-{scheme}.png"
                page.screenshot(path=path)
                # Text and flat colors need few of them.
                Image.open(path).convert("RGB").quantize(48).save(path, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
